"""The reason of a choice's end in our words, and the last event of each choice.

Theory of operation. The provider's finish reason is only a hint, because the calls decide. A choice with calls to
execute ended for `tool_calls` with any reason (quirk 43); a choice whose reason promises calls and which has none
did not (quirk 47); a choice whose every call was dropped is `malformed`. A cut, a filter and a pause are facts of the
turn, and calls do not outrank them. A reason that does not fit the calls is noted as an anomaly.

`ending` combines the reason with the way in which the stream ended, which decides how open calls are judged.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import EXECUTABLE, TurnFinished
from wholecall.types import CUT_REASONS, TurnReason

if TYPE_CHECKING:
    from wholecall.deltas import Finish
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

_FACTS = CUT_REASONS | {"error", "aborted", "pause"}
_ALLOWING = frozenset({"stop", "unknown"})  # besides `tool_calls`, where calls have no separate ends
_NO_CLAIM = frozenset(
    {"completed", "STOP", "success", "turnComplete", "end_of_turn"}
)  # the only reasons of some dialects


def allows_calls(finish: Finish, *, own_ends: bool) -> bool:
    """Return whether calls without text that began before a finish reason can have ended with it, and have no
    arguments.

    Where calls have their own ends (`content_block_stop`), only a reason that is about calls can replace a missing end:
    `end_turn` is that of an answer without calls, or of a gateway after a cut. Chat has no such ends, and servers send
    `stop` for calls, too, or their own word; but `malformed_function_call` or `pause_turn` is not the reason of a whole
    call. A reason under other labels than the rest of the message does not end a call without text.
    """
    allows = finish.reason == "tool_calls" or (finish.reason in _ALLOWING and not own_ends)
    return allows and not finish.foreign


def ending(reason: TurnReason | None, ended: Ended) -> Ended:
    """Return how a choice ended: a known reason outranks the way in which the stream ended."""
    if ended == "aborted" or reason is None:
        return ended
    return "length" if reason in CUT_REASONS else "clean"


def turn_finished(choice: Choice, usage: dict[str, Any] | None) -> TurnFinished:
    """Return the last event of a choice."""
    emitted = choice.emitted
    dropped = [event for event in emitted if isinstance(event, ToolCallDropped)]
    executables = [event for event in emitted if isinstance(event, EXECUTABLE)]
    executable = bool(executables)
    claimed = choice.reason
    if claimed is None:
        choice.anomalies.add("missing_finish")
    is_bad = any(event.reason != "told_twice" for event in dropped)
    reason = _reason(claimed, executable=executable, dropped=is_bad)
    if claimed == "tool_calls" and not emitted and "repeated_call" not in choice.anomalies:
        choice.anomalies.add("reason_without_call")
    claims_none = claimed == "stop" and choice.provider_reason not in _NO_CLAIM
    # Of a call that was written as text the server knows nothing.
    if claims_none and any("from_text" not in event.flags for event in executables):
        choice.anomalies.add("finish_reason_mismatch")
    return TurnFinished(
        choice.turn,
        choice.number,
        reason,
        choice.provider_reason,
        len(emitted) - len(dropped),
        len(dropped),
        usage,
        tuple(sorted(choice.anomalies)),
    )


def _reason(claimed: TurnReason | None, *, executable: bool, dropped: bool) -> TurnReason:
    if claimed in _FACTS:
        return claimed
    if executable:
        return "tool_calls"
    if dropped:
        return "malformed"
    return "stop" if claimed == "tool_calls" else claimed or "unknown"
