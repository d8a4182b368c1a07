"""Calls that are taken back: by the provider, or because they were executed elsewhere.

Theory of operation. `take_back` is called with the id of such a call. A call whose terminal event was not emitted yet,
because it is open or because the policy holds it back, is dropped as `aborted`. For a call that was already emitted the
caller emits a `ToolCallCancelled`; its number is remembered in `Choice.cancelled`, so that the turn leaves it out.

Where the stream contains the result of a call (`answered`), it was executed elsewhere. Then only an emitted call is
taken back; a call that is still open becomes a call of the server. The same holds if the server sends a call once more,
under its id and name, as a call that it executes itself (`take_over`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.calls.output.call_events import ToolCallCancelled
from wholecall.calls.output.events import EXECUTABLE
from wholecall.machine import phases, verdicts

if TYPE_CHECKING:
    from wholecall.deltas import CallCancelled
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

_TAKEN_BACK = "the provider took the call back"
_RUN_AGAIN = "the server runs the step again"


def take_back(choice: Choice | None, delta: CallCancelled) -> bool:
    """Drop the calls of an id that were not emitted yet, and remember all of them as cancelled.

    Return whether to report the cancellation. A call that has its result is taken back only if it was emitted.
    """
    if choice is None:
        return not delta.answered
    calls = choice.labels.by_id.get(delta.id, [])
    if delta.answered:
        calls = [call for call in calls if _is_out(choice, call)]
        if not calls:
            return False
    _withdraw(choice, calls, dict.fromkeys((call.number for call in calls), delta.id))
    return True


def take_step_back(choice: Choice) -> None:
    """Drop the calls of the current step that were not emitted yet, and report that all others of it are taken back."""
    calls = [call for call in choice.calls if call.step == choice.step and call.kind != "server"]
    numbers = {call.number for call in calls} - choice.cancelled.keys()
    out = {
        one.index: one.id for one in choice.emitted if isinstance(one, EXECUTABLE) and one.index in numbers
    }
    _withdraw(choice, calls, out, _RUN_AGAIN)
    choice.free_ids(calls)
    choice.out.events.extend(ToolCallCancelled(choice.turn, choice.number, id) for id in out.values())


def take_over(choice: Choice, calls: list[Call]) -> None:
    """Leave calls of one id to the server, which claims them late; report those that were emitted as taken back."""
    ours = [
        call for call in calls if call.kind in ("function", "custom") and call.number not in choice.cancelled
    ]
    out = [call for call in ours if call.is_over and call.dropped is None and call.number >= 0]
    for call in ours:
        if not call.is_over:
            call.leave_to_server()
    if out and (id := out[0].id) is not None:
        _withdraw(choice, out, dict.fromkeys((call.number for call in out), id))
        choice.out.events.append(ToolCallCancelled(choice.turn, choice.number, id))


def _withdraw(
    choice: Choice, calls: list[Call], cancelled: dict[int, str], detail: str = _TAKEN_BACK
) -> None:
    """Drop those of the calls that were not emitted; `cancelled` are the ids by the numbers of the emitted calls."""
    choice.cancelled.update(cancelled)
    for call in calls:
        call.note("aborted", detail=detail)
        phases.advance(choice, call, "end", "aborted")
    choice.waiting = [
        (call, [verdicts.drop(choice, call, "aborted", detail)])
        if call in calls and call.dropped is None and call.kind != "server"
        else (call, events)
        for call, events in choice.waiting
    ]


def _is_out(choice: Choice, call: Call) -> bool:
    """Return whether a call that was executed elsewhere is to be taken back, because it was emitted.

    An open call is the server's from now on; if the wire closed it, its result shows that it was whole.
    """
    if call.is_over:
        return call.kind != "server" and call.dropped is None and call.number not in choice.cancelled
    call.leave_to_server()
    if call.closed:
        if choice.slots.held is call:
            choice.slots.take_held()
        phases.advance(choice, call, "close", False)
    return False
