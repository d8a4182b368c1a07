"""What each byte of a stream did: which frame it was in, and what that did to every call."""

from wholecall.timeline.steps import Step, Timeline, timeline

__all__ = ["Step", "Timeline", "timeline"]
