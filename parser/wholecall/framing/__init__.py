"""Framings: from bytes to frames, without regard to the meaning of the frames."""

from __future__ import annotations

from wholecall.framing.eventstream import EventStreamFraming
from wholecall.framing.frame import Frame
from wholecall.framing.jsonarray import JSONArrayFraming
from wholecall.framing.jsonl import JSONLinesFraming
from wholecall.framing.sse import SSEFraming
from wholecall.framing.table import FRAMINGS, Framing
from wholecall.framing.vercel import VercelFraming

__all__ = [
    "FRAMINGS",
    "EventStreamFraming",
    "Frame",
    "Framing",
    "JSONArrayFraming",
    "JSONLinesFraming",
    "SSEFraming",
    "VercelFraming",
]
