"""Accounts for text without an owner at the end of its choice: some of it is repeated, under labels or in order.

Theory of operation. Text that no label and no order gave to a call is kept by strays (see `claims`), and the calls that
could lack it are `unowned`. Servers that leave out labels send most texts several times, so the texts are compared with
those of calls that came whole:

* a done event without labels is that of the call whose text it repeats. Remaining done events belong to the remaining
  open calls that began before them, in their order, if no other reading exists: there are as many of each, each text
  fits its call, another order would give the same calls (of one name, or with one text), and all pieces then have an
  owner. Such calls are flagged as `bound_by_order`, unless there is only one;
* pieces without labels are those of a call that came whole and that had no pieces under labels.

Each call accounts for one stray of each kind. A stray that was accounted for vanishes. If all were, no call lacks text,
except a call that did not come whole and has the text of a stray: that text may be another call's, and its own may be
lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.arguments.equal import same_value
from wholecall.deltas import DONE, HYDRATION
from wholecall.machine.phases import advance
from wholecall.machine.sameness import held_value, text_of

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

__all__ = ["account"]

_MOST = 64  # calls of a choice, strays among them, that are compared with each other


def account(choice: Choice, *, ended: bool) -> None:
    """Let those strays of a choice vanish that its calls account for; `ended` means that no more of it can come."""
    if not choice.strays or choice.overflow is not None or len(choice.calls) > _MOST:
        return
    strays = [call for call in choice.calls if call.stray and not call.is_over]
    if any(stray.size and stray.restated is not None for stray in strays):
        return  # pieces that a done event does not continue: more was lost
    calls = [call for call in choice.calls if call.slotted and not call.stray and call.echo is None]
    places = {call: place for place, call in enumerate(choice.calls)} if ended and not choice.lost else None
    told, owned = _accounts([stray for stray in strays if stray.phantom], calls, places)
    for stray, call in told.items():
        if call.rank < DONE and not call.is_over:
            is_only = len(calls) == 1 and stray is choice.strays.get(None)  # and no label says otherwise
            if not is_only and (call.empty or not _same(stray, call)):
                call.flags.add("bound_by_order")
            advance(choice, call, "whole", (text_of(stray), DONE))
    for stray in (*told, *owned):
        stray.stray = False  # the rest is a phantom, which no event reports
    if not any(stray.stray for stray in strays):
        choice.strays.clear()
        for call in calls:
            if call.rank >= HYDRATION or not any(_same(stray, call) for stray in strays):
                call.unowned = False


def _accounts(
    strays: list[Call], calls: list[Call], places: dict[Call, int] | None
) -> tuple[dict[Call, Call], dict[Call, Call]]:
    """Return the calls of the done events, and those of the pieces."""
    dones = [stray for stray in strays if stray.restated is not None]
    pieces = [stray for stray in strays if stray.restated is None]
    told = _pairs(dones, [call for call in calls if not call.empty and call.rank != DONE])
    whole = [call for call in calls if call.rank >= HYDRATION and not call.size]
    left = [stray for stray in dones if stray not in told]
    bound = _in_order(left, [call for call in calls if call not in told.values()], places) if places else {}
    if bound:
        # The pieces of a call without any other text are repeated whole by its done event.
        owned = _pairs(pieces, [*whole, *(stray for stray, call in bound.items() if not call.size)])
        if len(owned) == len(pieces):
            return told | bound, owned
    again = _pairs(left, [call for call in calls if call.rank == DONE])  # its done event came before
    return told | again, _pairs(pieces, whole)


def _pairs(strays: list[Call], calls: list[Call]) -> dict[Call, Call]:
    """Return the call of the same text for each stray that has one, each call once; first the calls that came whole."""
    left = sorted(calls, key=lambda call: -call.rank)
    pairs: dict[Call, Call] = {}
    for stray in strays:
        call = next((call for call in left if _same(stray, call)), None)
        if call is not None:
            pairs[stray] = call
            left.remove(call)
    return pairs


def _same(one: Call, other: Call) -> bool:
    """Return whether two texts have the same value; each is read once, and no text counts as an empty object."""
    texts = [text_of(call) or "{}" for call in (one, other)]
    if texts[0] == texts[1]:
        return True
    values = [held_value(call, text) for call, text in zip((one, other), texts, strict=True)]
    return values[0] is not None and values[1] is not None and same_value(*values)


def _in_order(dones: list[Call], calls: list[Call], places: dict[Call, int]) -> dict[Call, Call]:
    """Return the calls that lack a whole text, by their done events; none if another order gives other calls."""
    lacking = [call for call in calls if call.rank < DONE and not call.is_over]
    if len(dones) != len(lacking):
        return {}
    is_one_text = all(_same(dones[0], stray) for stray in dones[1:])
    pairs: dict[Call, Call] = {}
    for stray in dones:
        began = [call for call in lacking if places[call] < places[stray] and _fits(stray, call)]
        if not began or not (is_one_text or len({call.name for call in began}) == 1):
            return {}
        pairs[stray] = began[0]
        lacking.remove(began[0])
    return pairs


def _fits(stray: Call, call: Call) -> bool:
    """Return whether a done event can be a call's: its text continues the pieces that came."""
    return call.block and call.kind == stray.kind and (call.blank or text_of(stray).startswith(text_of(call)))
