"""Finds the calls that a final message restates: by labels, else by their content, each at most once.

Theory of operation. A finished response or message lists the calls that were reported while it streamed. The positions
in the list are not slots, because bridges number their items differently (quirk 99). A restated call is found by its
id, else by its item's id; else it is the call that fits best: the same value, then a text that it continues, then a
call that lacks its text or is not complete.

`find_restated` does this for one call at a time; `matched` does it for a whole message, for dialects that report its
calls together.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.arguments.equal import same_value
from wholecall.calls.parse import parse_arguments
from wholecall.deltas import HYDRATION, CallWhole, Restated
from wholecall.machine.sameness import held_value, same_text, text_of

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
    same = (
        call
        for call in claimants
        if _is_listed(call) and _may_be_restated(call, delta) and same_text(text_of(call), delta.text)
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
    return call.name is None or delta.name is None or call.name.strip() == delta.name.strip()


def _best_fit(choice: Choice, delta: CallWhole, calls: list[Call]) -> Call | None:
    """Return the call that fits best; among equals the call in the same position, else the first."""
    calls = [call for call in calls if call.rank != HYDRATION]
    if not calls:
        return None
    value = parse_arguments(delta.text).arguments
    fits = [(fit, call) for call in calls if (fit := _fit(call, delta, value))]
    if not fits:
        return None
    best = max(fit for fit, _ in fits)
    equals = [call for fit, call in fits if fit == best]
    here = choice.slots.at.get(delta.index, ())
    return next((call for call in equals if call in here), equals[0])


def _fit(call: Call, delta: CallWhole, value: dict[str, Any] | None) -> int:
    """Return how well a restated text fits the call; 0 if it does not fit.

    Where both have an id, a text must equal or continue the call's. Two texts of the same value may be spelled
    differently. `value` is that of the restated text, and each call keeps its own: a message can restate many calls, so
    no text is read twice.
    """
    if call.id is not None and call.id in delta.restated_ids and call.id != delta.id:
        return 0  # the message restates that call by its own id
    held = text_of(call)
    if held == delta.text or (held and value is not None and same_value(value, held_value(call, held))):
        return 4
    if not call.blank and delta.text.startswith(held):
        return 3
    if call.id is not None and delta.id is not None:
        return 0
    return 2 if call.blank else int(not call.complete)


def matched(choice: Choice, delta: Restated) -> list[tuple[CallWhole, Call | None]]:
    """Return the restated calls, each with the call that it repeats, or None for a new call.

    They are matched by labels, else by name and value, else because only one call of the name is left. Where several
    are left, it is unknown which is meant: then the restated call is left out, and none of them is sure.
    """
    found: dict[int, Call | None] = {}
    left = [
        call for call in choice.calls if not call.orphan and not delta.restated_ids.intersection(call.aliases)
    ]
    for rule in (_by_label, _by_value, _by_name):
        for n, whole in enumerate(delta.calls):
            if n in found:
                continue
            call = rule(choice, whole, [call for call in left if _may_be_restated(call, whole)])
            if call is not None:
                found[n] = call
                left.remove(call)
    pairs = []
    for n, whole in enumerate(delta.calls):
        rest = [call for call in left if _may_be_restated(call, whole)] if n not in found else []
        for call in rest:
            call.note("lost_text", detail="a message lists several calls that it could be")
        if not rest:
            pairs.append((whole, found.get(n)))
    return pairs


def _by_label(choice: Choice, whole: CallWhole, left: list[Call]) -> Call | None:
    claimants = choice.labels.by_id.get(whole.id or "", []) or choice.labels.by_id.get(whole.alias or "", [])
    named = [call for call in claimants if call in left]
    return named[0] if len(named) == 1 else None


def _by_value(_: Choice, whole: CallWhole, left: list[Call]) -> Call | None:
    value = parse_arguments(whole.text or "{}").arguments
    return next((call for call in left if value is not None and same_value(value, _value(call))), None)


def _by_name(_: Choice, _whole: CallWhole, left: list[Call]) -> Call | None:
    return left[0] if len(left) == 1 else None


def _value(call: Call) -> dict[str, Any] | None:
    return held_value(call, text_of(call) or "{}")
