"""Repair inside a server: an ASGI middleware that gives every client whole tool calls or none."""

from __future__ import annotations

from wholecall.repairing.asgi import AnswerEnded, RepairMiddleware

__all__ = ["AnswerEnded", "RepairMiddleware"]
