"""Accounts for text without an owner at the end of its choice: some of it is repeated, under labels or in order.

Theory of operation. Text that no label and no order gave to a call is kept by orphans (see `claims`), and the calls that
could lack it are `unowned`. Servers that leave out labels send most texts several times, so the texts are compared with
those of calls that came whole:

* a done event without labels is that of the call whose text it repeats. Remaining done events belong to the remaining
  open calls that began before them, in their order, if no other reading exists: there are as many of each, each text
  fits its call, another order would give the same calls (of one name, or with one text), and all pieces then have an
  owner. Such calls are flagged as `bound_by_order`, unless there is only one;
* pieces without labels are those of a call that came whole and that had no pieces under labels.

Each call accounts for one orphan of each kind. An orphan that was accounted for vanishes. If all were, no call lacks text,
except a call that did not come whole and has the text of an orphan: that text may be another call's, and its own may be
lost.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import DONE, HYDRATION
from wholecall.machine import phases
from wholecall.machine.matching import first_of, pairs
from wholecall.machine.sameness import Said, text_of

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

_MOST = 64  # calls of a choice, orphans among them, that are compared with each other


def account(choice: Choice, *, ended: bool) -> None:
    """Let those orphans of a choice vanish that its calls account for; `ended` means that no more of it can come."""
    if not choice.slots.orphans or choice.overflow is not None or len(choice.calls) > _MOST:
        return
    orphans = [call for call in choice.calls if call.orphan and not call.is_over]
    if any(orphan.size and orphan.restated is not None for orphan in orphans):
        return  # pieces that a done event does not continue: more was lost
    calls = [call for call in choice.calls if call.slotted and not call.orphan and call.original is None]
    places = (
        {call: place for place, call in enumerate(choice.calls)} if ended and not choice.lost_text else None
    )
    told, owned = _accounts([orphan for orphan in orphans if orphan.tentative], calls, places)
    for orphan, call in told.items():
        if call.rank < DONE and not call.is_over:
            is_only = len(calls) == 1 and orphan is choice.slots.orphans.get(
                None
            )  # and no label says otherwise
            if not is_only and (call.empty or not _same(orphan, call)):
                call.flag("bound_by_order")
            phases.advance(choice, call, "whole", (text_of(orphan), DONE))
    for orphan in (*told, *owned):
        orphan.mark_owned()  # the rest is a tentative call, which no event reports
    if not any(orphan.orphan for orphan in orphans):
        choice.slots.orphans.clear()
        for call in calls:
            if call.rank >= HYDRATION or not any(_same(orphan, call) for orphan in orphans):
                call.note("accounted")


def _accounts(
    orphans: list[Call], calls: list[Call], places: dict[Call, int] | None
) -> tuple[dict[Call, Call], dict[Call, Call]]:
    """Return the calls of the done events, and those of the pieces."""
    dones = [orphan for orphan in orphans if orphan.restated is not None]
    pieces = [orphan for orphan in orphans if orphan.restated is None]
    told = _pairs(dones, [call for call in calls if not call.empty and call.rank != DONE])
    whole = [call for call in calls if call.rank >= HYDRATION and not call.size]
    left = [orphan for orphan in dones if orphan not in told]
    bound = _in_order(left, [call for call in calls if call not in told.values()], places) if places else {}
    if bound:
        # The pieces of a call without any other text are repeated whole by its done event.
        owned = _pairs(pieces, [*whole, *(orphan for orphan, call in bound.items() if not call.size)])
        if len(owned) == len(pieces):
            return told | bound, owned
    again = _pairs(left, [call for call in calls if call.rank == DONE])  # its done event came before
    return told | again, _pairs(pieces, whole)


def _pairs(orphans: list[Call], calls: list[Call]) -> dict[Call, Call]:
    """Return the call of the same text for each orphan that has one, each call once; first the calls that came whole."""
    found = pairs(orphans, sorted(calls, key=lambda call: -call.rank), [first_of(_same)])
    return {orphans[n]: call for n, call in found.items()}


def _same(one: Call, other: Call) -> bool:
    """Return whether two texts have the same value; each is read once, and no text counts as an empty object."""
    return Said.of(one).is_equal(Said.of(other))


def _in_order(dones: list[Call], calls: list[Call], places: dict[Call, int]) -> dict[Call, Call]:
    """Return the calls that lack a whole text, by their done events; none if another order gives other calls."""
    lacking = [call for call in calls if call.rank < DONE and not call.is_over]
    if len(dones) != len(lacking):
        return {}
    is_one_text = all(_same(dones[0], orphan) for orphan in dones[1:])

    def first_begun(orphan: Call, left: list[Call]) -> Call | None:
        began = [call for call in left if places[call] < places[orphan] and _fits(orphan, call)]
        is_clear = is_one_text or len({call.name for call in began}) == 1
        return began[0] if began and is_clear else None

    found = pairs(dones, lacking, [first_begun])
    return {dones[n]: call for n, call in found.items()} if len(found) == len(dones) else {}


def _fits(orphan: Call, call: Call) -> bool:
    """Return whether a done event can be a call's: its text continues the pieces that came."""
    return (
        call.block and call.kind == orphan.kind and (call.blank or text_of(orphan).startswith(text_of(call)))
    )
