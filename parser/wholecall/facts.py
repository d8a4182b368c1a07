"""What each fact does to its choice: finds the call, and tells it the news.

Theory of operation. One function per kind of delta that belongs to a choice, in the table `_FACTS`. Labelled
facts are bound by `binding`, slotted ones by `slots`; what the news does to the call is the business of
`phases`. Ends of turns and faults concern more than one choice and are the assembler's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from wholecall import slots
from wholecall.binding import bind
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Finish,
    Fragment,
    Labelled,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
)
from wholecall.endings import CUT_REASONS, outranks
from wholecall.events import ReasoningDelta, TextDelta
from wholecall.phases import advance
from wholecall.verdicts import drop

if TYPE_CHECKING:
    from collections.abc import Callable

    from wholecall.calls import Call
    from wholecall.choices import Choice
    from wholecall.events import Event
    from wholecall.verdicts import Ended

__all__ = ["action_of", "judge_all", "take_back"]


# Labelled facts.


def _labelled(choice: Choice, delta: Labelled) -> None:
    call = bind(choice, delta)
    if call is None:
        return
    if delta.kind == "custom" and call.empty:
        call.kind = "custom"
    if delta.extra:
        _add_extra(call, delta.extra)
    if delta.name is not None:
        advance(choice, call, "name", delta.name)
    _take_text(choice, call, delta.text, delta.rank)
    if delta.index is not None:
        choice.heat(call, delta.index)


def _fragment(choice: Choice, delta: Fragment) -> None:
    _labelled(choice, Labelled(delta.choice, delta.index, None, None, delta.text))


def _take_text(choice: Choice, call: Call, text: str, rank: int = 0) -> None:
    if not text:
        return
    if text == call.restated and rank and not call.hole:
        call.rank = max(rank, call.rank)
        return
    if call.phantom:
        call.phantom = False
        choice.materialise(call)
    if choice.replaced and "\ufffd" in text:
        call.refuse("invalid_utf8", "the argument text held bytes that are not UTF-8")
    if rank:
        advance(choice, call, "whole", (text, rank))
    else:
        advance(choice, call, "fragment", text)


def _add_extra(call: Call, extra: dict[str, Any]) -> None:
    if call.phase == "ended":  # its last event holds what was known
        return
    call.extra = extra if call.extra is None else {**call.extra, **extra}


# Slotted facts.


def _slot(choice: Choice, delta: Slot) -> None:
    call = _placed(choice, delta, slots.find(choice, delta))
    _take_text(choice, call, delta.text)
    if delta.index is not None:
        choice.heat(call, delta.index)


def _call_seen(choice: Choice, delta: CallSeen) -> None:
    call = slots.find(choice, delta)
    if call is not None and slots.is_another(call, delta):
        call = None
    _learn(choice, _placed(choice, delta, call), delta)


def _call_whole(choice: Choice, delta: CallWhole) -> None:
    if delta.rank == HYDRATION:
        call = slots.find_restated(choice, delta) or _opened(choice, delta)
    else:
        call = _placed(choice, delta, slots.find(choice, delta))
    if delta.id_wins and delta.id is not None and call.id not in (None, delta.id):
        choice.claim_id(call, delta.id)
        call.id = delta.id
    _learn(choice, call, delta)
    _take_text(choice, call, delta.text, delta.rank)
    if delta.closes:
        _close(choice, call, truncated=False)


def _placed(choice: Choice, delta: Union[Slot, CallSeen, CallWhole], call: Call | None) -> Call:
    """Return the call in the delta's slot, opened if there is none; it knows the slot then."""
    if call is None:
        return _opened(choice, delta)
    alias = delta.alias
    if call.slot != delta.index or (alias is not None and alias not in choice.by_id):
        slots.learn_slot(choice, call, delta)
    return call


def _opened(choice: Choice, delta: Union[Slot, CallSeen, CallWhole]) -> Call:
    if choice.held is not None:
        _release_held(choice)
    return slots.open_slot(choice, delta)


def _learn(choice: Choice, call: Call, delta: Union[CallSeen, CallWhole]) -> None:
    if delta.kind != call.kind and (call.phase == "pending" or _is_taken_over(call, delta)):
        call.kind = delta.kind
    if delta.id is not None and delta.id != call.id and call.phase != "ended":
        choice.claim_id(call, delta.id)
    if delta.namespace:
        call.namespace = call.namespace or delta.namespace
    if delta.flags:
        call.flags.update(delta.flags)
    if delta.extra:
        _add_extra(call, delta.extra)
    if delta.name is not None and delta.name != call.name:
        advance(choice, call, "name", delta.name)


def _is_taken_over(call: Call, delta: Union[CallSeen, CallWhole]) -> bool:
    """Whether the wire says late that it executes the call itself: the call must not be executed again."""
    return call.kind in ("function", "custom") and delta.kind == "server" and call.phase != "ended"


def _call_closed(choice: Choice, delta: CallClosed) -> None:
    call = slots.find(choice, delta)
    if call is None:
        return
    if delta.final or delta.truncated:
        _close(choice, call, truncated=delta.truncated)
    elif call.phase != "ended":
        _release_others(choice, call)
        call.closed = True
        choice.held = call


def _close(choice: Choice, call: Call, *, truncated: bool) -> None:
    if not truncated and choice.held is not None and call.phase != "ended":
        _release_others(choice, call)
    advance(choice, call, "close", truncated)


def _release_others(choice: Choice, call: Call) -> None:
    if choice.held is not call:
        _release_held(choice)


def _call_refused(choice: Choice, delta: CallRefused) -> None:
    slot = Slot(delta.choice, delta.index, delta.alias, delta.text)
    call = _placed(choice, slot, slots.find(choice, slot))
    _take_text(choice, call, delta.text)
    if call is not choice.overflow:  # that one goes on counting
        call.refuse(delta.reason, delta.detail)
        advance(choice, call, "end", "clean")


def _release_held(choice: Choice) -> None:
    """The next block begins or ends: the one before it was whole."""
    held, choice.held = choice.held, None
    if held is not None:
        advance(choice, held, "close", False)


# Text, reasons and ends.


def _text(choice: Choice, delta: TextFragment) -> None:
    choice.text.append(delta.text)
    choice.out.events.append(TextDelta(choice.turn, choice.number, delta.text))


def _reasoning(choice: Choice, delta: ReasoningFragment) -> None:
    choice.reason_with(delta)
    if delta.text:
        choice.out.events.append(ReasoningDelta(choice.turn, choice.number, delta.text))


def _noted(choice: Choice, delta: Noted) -> None:
    choice.anomalies.add(delta.anomaly)


def _finish(choice: Choice, delta: Finish) -> None:
    if outranks(delta.reason, choice.reason):
        choice.reason, choice.provider_reason = delta.reason, delta.provider_reason
    if delta.drops:
        judge_all(choice, "aborted")
    if delta.drops or delta.ends:
        return
    ended: Ended = "length" if choice.reason in CUT_REASONS else "clean"
    held, choice.held = choice.held, None
    for call in choice.calls:
        if call is not held:
            advance(choice, call, "finish", ended)
        elif ended == "length":  # a cut turn can close a block whose last members are missing
            advance(choice, call, "end", ended)
        else:
            advance(choice, call, "close", False)


_TAKEN_BACK = "the provider took the call back"


def take_back(choice: Choice, id: str) -> None:
    """Drop the calls of this id that did not come out yet, open or held by the policy, and remember them all."""
    calls = choice.by_id.get(id, [])
    choice.cancelled.update({call.number: id for call in calls})
    detail, choice.abort_detail = choice.abort_detail, _TAKEN_BACK
    for call in calls:
        advance(choice, call, "abort", "aborted")
    choice.abort_detail = detail
    choice.waiting = [
        (call, [drop(choice, call, "aborted", _TAKEN_BACK)])
        if call in calls and call.dropped is None and call.kind != "server"
        else (call, events)
        for call, events in choice.waiting
    ]


def judge_all(choice: Choice, ended: Ended) -> None:
    """End every open call: hollow ones last, as their text may have gone to one that is dropped."""
    news = "abort" if ended == "aborted" else "end"
    out = choice.out.events
    before = len(out)
    said: dict[int, list[Event]] = {}
    for call in sorted(choice.calls, key=lambda call: (call.phase != "ended" and call.hollow, call.number)):
        advance(choice, call, news, ended)
        said[call.number] = out[before:]
        del out[before:]
    for number in sorted(said):
        out.extend(said[number])
    choice.held = None
    choice.release()


_FACTS: dict[type, Callable[[Choice, Any], None]] = {
    Fragment: _fragment,
    Labelled: _labelled,
    Slot: _slot,
    CallSeen: _call_seen,
    CallWhole: _call_whole,
    CallClosed: _call_closed,
    CallRefused: _call_refused,
    TextFragment: _text,
    ReasoningFragment: _reasoning,
    Finish: _finish,
    Noted: _noted,
}
action_of = _FACTS.get
