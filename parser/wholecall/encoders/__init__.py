"""Encoders: events of any dialect to a strict stream of one."""

from __future__ import annotations

from wholecall.encoders.base import Encoder, argument_text
from wholecall.encoders.chat import ChatEncoder

__all__ = ["ChatEncoder", "Encoder", "argument_text"]
