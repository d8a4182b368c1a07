"""Decide when a call's end is emitted: at once, or at the turn's end if the policy judges all calls together.

Theory of operation. Some policies depend on later events: whether another call of the turn is dropped, whether the turn
is cut, whether a finish reason comes at all. Under such a policy every verdict waits in its choice (`Choice.waiting`);
at the end of the turn (`release`) all are emitted in the order of the calls, or all calls are dropped for the same
reason. Under other policies `conclude` emits the verdict at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.calls.output.events import TERMINAL, Event
from wholecall.machine.verdicts import drop
from wholecall.types import CUT_REASONS, DropReason

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

_MOST = 256  # calls and events of one choice that are searched for the same call


def conclude(choice: Choice, call: Call, events: list[Event]) -> None:
    """Emit the events that end a call, or keep them until the turn ends if the policy says so."""
    if choice.options.holds:
        choice.waiting.append((call, events))
    else:
        _emit(choice, call, events)


def release(choice: Choice) -> None:
    """Emit the verdicts that the policy held back, or drops in their place."""
    if not choice.waiting:
        return
    waiting, choice.waiting = choice.waiting, []
    against = _objection_to_all(choice, waiting)
    for call, events in sorted(waiting, key=lambda item: item[0].number):
        if against is not None and call.dropped is None and call.kind != "server":
            _emit(choice, call, [drop(choice, call, *against)])
        else:
            _emit(choice, call, events)


def _objection_to_all(
    choice: Choice, waiting: list[tuple[Call, list[Event]]]
) -> tuple[DropReason, str] | None:
    policy = choice.options.policy
    if policy.require_reason and choice.reason is None:
        return "unterminated", "no reason came for the turn's end, and the policy wants one"
    if policy.truncated_turn == "drop" and choice.reason in CUT_REASONS:
        return "truncated", "the turn was cut, and the policy drops all of its calls"
    bad = any(call.dropped not in (None, "told_twice") for call, _ in waiting)
    if policy.on_bad_sibling == "reject_all" and bad:
        return "aborted", "a sibling was dropped, and the policy rejects all calls then"
    if policy.on_bad_sibling == "reject_all" and "unread_call" in choice.anomalies:
        return (
            "aborted",
            "the turn seems to hold another call that was not read, and the policy rejects all calls then",
        )
    return None


def _emit(choice: Choice, call: Call, events: list[Event]) -> None:
    told = choice.out.told
    beside = [] if call.own or call.id is None else choice.labels.by_id.get(call.id, [])
    if told.compares or len(beside) > 1:
        here = _beside(choice, call, beside)
        if told.holds_event(choice.place, call, events[-1], here):  # its id came too late to withhold it
            events = [drop(choice, call, "told_twice", "the same call came out before")]
        if told.compares:
            told.note(choice.place, call, events[-1])
    choice.out.events.extend(events)
    choice.emitted.append(events[-1])


def _beside(choice: Choice, call: Call, claimants: list[Call]) -> list[Event]:
    """Return the last events of the other calls that have the id of a call, in its step of the message."""
    last = claimants[-_MOST:]
    numbers = {other.number for other in last if other.step == call.step}
    last_events = choice.emitted[-_MOST:] if numbers else []
    return [event for event in last_events if isinstance(event, TERMINAL) and event.index in numbers]
