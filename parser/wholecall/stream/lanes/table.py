"""Which streams have a fast lane: those of a dialect that has one, with options that ask for nothing that a lane does not know."""

from __future__ import annotations

from typing import Final

from wholecall.limits import Limits
from wholecall.policy import Policy
from wholecall.stream.lanes.chat import ChatLane
from wholecall.stream.lanes.lane import Lane

__all__ = ["LIMITS", "POLICY", "Lane", "lane_for"]

POLICY: Final = Policy()
LIMITS: Final = Limits()
_LANES: Final[dict[str, type[Lane]]] = {"auto": ChatLane, "chat-completions": ChatLane}
_KIB: Final = 1024
# What a lane may take before it looks at any limit but that of calls; each is some times what it can come to there.
_LEAST: Final = {
    "max_line_bytes": 256 * _KIB,
    "max_event_bytes": 256 * _KIB,
    "max_pending_frames_bytes": 256 * _KIB,
    "max_arguments_bytes": 64 * _KIB,
    "max_total_arguments_bytes": 64 * _KIB,
    "max_id_chars": 64,
    "max_name_chars": 64,
    "max_choices": 1,
    "max_turns": 1,
}


def lane_for(dialect: str, framing: str | None, policy: Policy, limits: Limits) -> Lane | None:
    """Return the lane of a new stream, None if it has none: its calls are judged in another way, or its limits are close."""
    lane = _LANES.get(dialect) if framing in (None, "sse") else None
    if lane is None or (policy is not POLICY and policy != POLICY):
        return None
    return lane(policy, limits) if limits is LIMITS or _are_far(limits) else None


def _are_far(limits: Limits) -> bool:
    far = all((most := getattr(limits, name)) is None or most >= least for name, least in _LEAST.items())
    return far and limits.max_stream_bytes is None
