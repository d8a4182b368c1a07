"""Explain each byte of a stream: its frame, and the effect of that frame on every call."""

from wholecall.timeline.steps import Step, Timeline, timeline

__all__ = ["Step", "Timeline", "timeline"]
