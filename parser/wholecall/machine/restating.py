"""Finds the calls that a final message restates: by labels, else by their content, each at most once.

Theory of operation. A finished response or message lists the calls that were reported while it streamed. The positions
in the list are not slots, because bridges number their items differently (quirk 99). A restated call is found by its
id, else by its item's id; else it is the call that fits best: the same value, then a text that it continues, then a
call that lacks its text or is not complete.

`find_restated` does this for one call at a time; `matched` does it for a whole message, for dialects that report its
calls together. The rules of both are tried by `matching`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from wholecall.deltas import HYDRATION, CallWhole, Restated
from wholecall.machine.matching import Listed, first_of, only_of, pairs
from wholecall.machine.readings.partitions import final_name
from wholecall.machine.sameness import Said, text_of

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice


def find_restated(choice: Choice, delta: CallWhole) -> Call | None:
    """Return the call that a final message restates: by id, else by alias, else the call that fits best."""
    for label in (delta.id, delta.alias):
        claimants = choice.labels.by_id.get(label, []) if label is not None else []
        if claimants and all(map(_is_listed, claimants)):
            return _listed_again(choice, delta)
        named = [call for call in claimants if _may_be_restated(call, delta)]
        if len(named) == 1 and (named[0].rank != HYDRATION or named[0].is_restated_by(delta.text)):
            return named[0]
        if claimants:
            return _best_fit(choice, delta, named) or _refuse_split(claimants)
    nameable = [call for call in choice.calls if _may_be_restated(call, delta)]
    return _best_fit(choice, delta, nameable)


def _is_listed(call: Call) -> bool:
    """Return whether only a final message holds the call: several calls can share an id in one message."""
    return not call.slotted and call.slot is not None


def _listed_again(choice: Choice, delta: CallWhole) -> Call | None:
    """Return the same call of the final message at hand, if it is listed once more."""
    claimants = choice.labels.by_id.get(delta.id, ()) if delta.id is not None else ()
    said = Said.whole(delta)
    same = (
        call
        for call in claimants
        if _is_listed(call) and _may_be_restated(call, delta) and said.is_equal(Said.of(call))
    )
    return next(same, None)


def _refuse_split(claimants: list[Call]) -> Call | None:
    """Refuse the calls of an id that the message lists more often than the deltas did: none of them is certain."""
    if claimants[-1].is_over:
        return claimants[-1]
    for call in claimants:
        call.refuse("ambiguous", "a final message lists two calls where the deltas showed one")
    return None


def _may_be_restated(call: Call, delta: CallWhole) -> bool:
    if call.kind != delta.kind:
        return False
    return call.name is None or delta.name is None or final_name(call.name) == final_name(delta.name)


def _best_fit(choice: Choice, delta: CallWhole, calls: list[Call]) -> Call | None:
    """Return the call that fits best; among equals the call in the same position, else the first."""
    here = choice.slots.at.get(delta.index, ())
    left = [call for call in calls if call.rank != HYDRATION and not _is_listed_elsewhere(call, delta)]
    left.sort(key=lambda call: call not in here)
    return pairs([Listed.of(delta)], left, _FITS).get(0) if left else None


def _is_listed_elsewhere(call: Call, delta: CallWhole) -> bool:
    """Return whether the message restates the call by its own id."""
    return call.id is not None and call.id != delta.id and call.id in delta.restated_ids


def _has_value(listed: Listed, call: Call) -> bool:
    """Return whether both have the same value; a call without text has none yet."""
    said = Said.of(call)
    return bool(said.text or not listed.whole.text) and said.is_equal(listed.said)


def _goes_on(listed: Listed, call: Call) -> bool:
    return not call.blank and listed.continues(text_of(call))


def _lacks_text(listed: Listed, call: Call) -> bool:
    return call.blank and not _has_another_id(listed, call)


def _is_incomplete(listed: Listed, call: Call) -> bool:
    return not (call.complete or _has_another_id(listed, call))


def _has_another_id(listed: Listed, call: Call) -> bool:
    """Return whether both have an id, which are not the same: then only their texts can show that they are one."""
    return call.id is not None and listed.whole.id is not None


_FITS = tuple(map(first_of, (_has_value, _goes_on, _lacks_text, _is_incomplete)))  # best first


def matched(choice: Choice, delta: Restated) -> list[tuple[CallWhole, Call | None]]:
    """Return the restated calls, each with the call that it repeats, or None for a new call.

    They are matched by labels, else by name and value, else because only one call of the name is left. Where several
    are left, it is unknown which is meant: then the restated call is left out, and none of them is sure.
    """
    calls = [
        call for call in choice.calls if not call.orphan and not delta.restated_ids.intersection(call.aliases)
    ]
    rules = partial(_by_label, choice), first_of(_is_equal), only_of(_may_be)
    found = pairs([*map(Listed.of, delta.calls)], calls, rules)
    left = [call for call in calls if call not in found.values()]
    told: list[tuple[CallWhole, Call | None]] = []
    for n, whole in enumerate(delta.calls):
        rest = [call for call in left if _may_be_restated(call, whole)] if n not in found else []
        for call in rest:
            call.note("lost_text", detail="a message lists several calls that it could be")
        if not rest:
            told.append((whole, found.get(n)))
    return told


def _by_label(choice: Choice, listed: Listed, left: list[Call]) -> Call | None:
    by_id, whole = choice.labels.by_id, listed.whole
    claimants = by_id.get(whole.id or "", []) or by_id.get(whole.alias or "", [])
    named = [call for call in claimants if call in left and _may_be_restated(call, whole)]
    return named[0] if len(named) == 1 else None


def _is_equal(listed: Listed, call: Call) -> bool:
    return _may_be(listed, call) and listed.said.is_equal(Said.of(call))


def _may_be(listed: Listed, call: Call) -> bool:
    return _may_be_restated(call, listed.whole)
