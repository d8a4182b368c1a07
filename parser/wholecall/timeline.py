"""Explain each byte of a stream: its frame, and the effect of that frame on every call."""

from __future__ import annotations

from wholecall.recordings.timeline.steps import Step, Timeline, timeline

__all__ = ["Step", "Timeline", "timeline"]
