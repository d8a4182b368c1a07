"""Which call a final message restates: matched one to one, by labels, then by what they say.

Theory of operation. A finished response or message lists calls that events told before. Its positions are no slots:
bridges number their items otherwise (quirk 99). So a restated call is found by its id, else by its item's id, else it
is the one that says the same, begins so, or lacks its text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.arguments.equal import same_value
from wholecall.deltas import HYDRATION
from wholecall.parse import parse_arguments

if TYPE_CHECKING:
    from wholecall.deltas import CallWhole, Restated
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

__all__ = ["find_restated", "matched"]


def find_restated(choice: Choice, delta: CallWhole) -> Call | None:
    """Return the call that a final message restates: by id, else by alias, else the one that fits best."""
    for label in (delta.id, delta.alias):
        claimants = choice.by_id.get(label, []) if label is not None else []
        named = [call for call in claimants if _may_be_restated(call, delta)]
        if len(named) == 1 and (named[0].rank != HYDRATION or named[0].is_restated_by(delta.text)):
            return named[0]
        if claimants:
            return _best_fit(choice, delta, named) or _told_apart(claimants)
    nameable = [call for call in choice.calls if _may_be_restated(call, delta)]
    return _best_fit(choice, delta, nameable)


def _told_apart(claimants: list[Call]) -> Call | None:
    """The message restates more calls than the deltas told: one of those is two, and nobody knows which."""
    if claimants[-1].is_over:
        return claimants[-1]
    for call in claimants:
        call.refuse("ambiguous", "a final message tells two calls apart that the deltas did not")
    return None


def _may_be_restated(call: Call, delta: CallWhole) -> bool:
    if call.kind != delta.kind:
        return False
    return call.name is None or delta.name is None or call.name.strip() == delta.name.strip()


def _best_fit(choice: Choice, delta: CallWhole, calls: list[Call]) -> Call | None:
    """Return the call that fits best; among equals the one in the same position, else the first."""
    calls = [call for call in calls if call.rank != HYDRATION]
    if not calls:
        return None
    says = parse_arguments(delta.text).arguments
    fits = [(fit, call) for call in calls if (fit := _fit(call, delta, says))]
    if not fits:
        return None
    best = max(fit for fit, _ in fits)
    equals = [call for fit, call in fits if fit == best]
    here = choice.slots.get(delta.index, ())
    return next((call for call in equals if call in here), equals[0])


def _fit(call: Call, delta: CallWhole, says: dict[str, Any] | None) -> int:
    """Return how well a restated text fits the call; 0 if it does not. Two known ids ask for equal text.

    Two texts that say the same may be spelled differently. `says` is what the restated one says, and each
    call keeps what it says: a message can restate many calls, so no text is read twice.
    """
    if call.id is not None and call.id in delta.told and call.id != delta.id:
        return 0  # the message restates that call by its own id
    held = call.restated if call.restated is not None else call.text
    if held == delta.text or (held and says is not None and same_value(says, _held_says(call, held))):
        return 4
    if not call.blank and delta.text.startswith(held):
        return 3
    if call.id is not None and delta.id is not None:
        return 0
    return 2 if call.blank else int(not call.complete)


def _held_says(call: Call, held: str) -> dict[str, Any] | None:
    if call.reading is None or call.reading[0] != held:
        call.reading = held, parse_arguments(held).arguments
    return call.reading[1]


def matched(choice: Choice, delta: Restated) -> list[tuple[CallWhole, Call | None]]:
    """Return the restated calls with those that they tell again, each once; None for what is new.

    By labels, else by name and value, else the only one that is left of the name. Where several are left nobody knows
    which is meant, and none of them is sure.
    """
    found: dict[int, Call | None] = {}
    left = [call for call in choice.calls if not call.stray and not delta.told.intersection(call.aliases)]
    for rule in (_by_label, _by_value, _by_name):
        for n, whole in enumerate(delta.calls):
            if n in found:
                continue
            call = rule(choice, whole, [call for call in left if _may_be_restated(call, whole)])
            if call is not None:
                found[n] = call
                left.remove(call)
    told = []
    for n, whole in enumerate(delta.calls):
        rest = [call for call in left if _may_be_restated(call, whole)] if n not in found else []
        for call in rest:
            call.hole = True
        if not rest:
            told.append((whole, found.get(n)))
    return told


def _by_label(choice: Choice, whole: CallWhole, left: list[Call]) -> Call | None:
    claimants = choice.by_id.get(whole.id or "", []) or choice.by_id.get(whole.alias or "", [])
    named = [call for call in claimants if call in left]
    return named[0] if len(named) == 1 else None


def _by_value(_: Choice, whole: CallWhole, left: list[Call]) -> Call | None:
    says = parse_arguments(whole.text or "{}").arguments
    return next((call for call in left if says is not None and same_value(says, _says(call))), None)


def _by_name(_: Choice, _whole: CallWhole, left: list[Call]) -> Call | None:
    return left[0] if len(left) == 1 else None


def _says(call: Call) -> dict[str, Any] | None:
    return _held_says(call, (call.restated if call.restated is not None else call.text) or "{}")
