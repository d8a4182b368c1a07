"""Repairing streams: the bytes of an event stream in, the bytes of a strict one out, without any I/O."""

from __future__ import annotations

from wholecall.repairing.repairer import Repairer
from wholecall.repairing.report import Report

__all__ = ["Repairer", "Report"]
