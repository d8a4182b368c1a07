"""Why a turn ended, in our words, and what was odd about it: the last event of each choice.

Theory of operation. What the provider claims is a hint: calls are there or they are not. A choice with calls to
execute ended for `tool_calls` whatever was claimed (quirk 43), one that claims calls and has none did not
(quirk 47), and one whose every call was dropped is `malformed`. A cut, a filter and a pause are facts of
the turn that calls do not outrank.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.output.events import EXECUTABLE, ToolCallDropped, TurnFinished
from wholecall.types import CUT_REASONS

if TYPE_CHECKING:
    from typing import Any

    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended
    from wholecall.types import TurnReason

__all__ = ["ending", "outranks", "turn_finished"]

_FACTS = CUT_REASONS | {"error", "aborted", "pause"}
_PRECEDENCE = ("aborted", "error", "content_filter", "length")
_NO_CLAIM = frozenset(
    {"completed", "STOP", "success", "turnComplete", "end_of_turn"}
)  # that is all that some dialects ever say


def outranks(new: TurnReason, old: TurnReason | None) -> bool:
    """Return whether a second reason replaces the first: the worse one stands, else the last."""
    if old in _PRECEDENCE:
        return new in _PRECEDENCE and _PRECEDENCE.index(new) <= _PRECEDENCE.index(old)
    return True


def ending(reason: TurnReason | None, ended: Ended) -> Ended:
    """Return how a choice ended: a reason that is known outranks how the stream did."""
    if ended == "aborted" or reason is None:
        return ended
    return "length" if reason in CUT_REASONS else "clean"


def turn_finished(choice: Choice, usage: dict[str, Any] | None) -> TurnFinished:
    """Return the last event of a choice."""
    emitted = choice.emitted
    n_dropped = sum(isinstance(event, ToolCallDropped) for event in emitted)
    executable = any(isinstance(event, EXECUTABLE) for event in emitted)
    claimed = choice.reason
    if claimed is None:
        choice.anomalies.add("missing_finish")
    reason = _reason(claimed, executable=executable, dropped=n_dropped > 0)
    if claimed == "tool_calls" and not emitted:
        choice.anomalies.add("reason_without_call")
    if claimed == "stop" and executable and choice.provider_reason not in _NO_CLAIM:
        choice.anomalies.add("finish_reason_mismatch")
    return TurnFinished(
        choice.turn,
        choice.number,
        reason,
        choice.provider_reason,
        len(emitted) - n_dropped,
        n_dropped,
        usage,
        tuple(sorted(choice.anomalies)),
    )


def _reason(claimed: TurnReason | None, *, executable: bool, dropped: bool) -> TurnReason:
    if claimed is not None and claimed in _FACTS:
        return claimed
    if executable:
        return "tool_calls"
    if dropped:
        return "malformed"
    return "stop" if claimed == "tool_calls" else claimed or "unknown"
