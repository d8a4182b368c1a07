"""Which call a slotted fact belongs to: slots can be trusted, their aliases rotate.

Theory of operation. Responses and Anthropic number their blocks. The number is the key of a call; item ids are
aliases that some relays change with every event (quirk 69), and the call id is what a restatement in the
finished message is matched by (quirks 98, 99). A fact without any identifier goes to the sole open call, or
to the first one that still lacks its text (flag `bound_by_order`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from wholecall.arguments import parse_arguments
from wholecall.deltas import HYDRATION, CallSeen, CallWhole, Slot
from wholecall.verdicts import same_value

if TYPE_CHECKING:
    from wholecall.calls import Call
    from wholecall.choices import Choice
    from wholecall.deltas import CallClosed

__all__ = ["find", "find_restated", "is_another", "learn_slot", "open_slot"]

Located = Union[Slot, CallSeen, CallWhole]


def find(choice: Choice, delta: Located | CallClosed) -> Call | None:
    """Return the call in the delta's slot: by index, else by alias, else by id, else by order."""
    index = delta.index
    if index is not None:  # also where it cannot be an index: such a slot is one of its own
        call = choice.slots.get(index)
        if call is not None:
            return call
    call, alias = None, delta.alias
    if alias in choice.by_id:
        call = _elsewhere(choice, delta, alias)
    if call is None and isinstance(delta, (CallSeen, CallWhole)) and delta.id in choice.by_id:
        call = _elsewhere(choice, delta, delta.id)
    if call is None and index is None and alias is None:
        call = _by_order(choice, delta)
    return call


def _elsewhere(choice: Choice, delta: Located | CallClosed, label: str) -> Call | None:
    """Return the call that has the label, unless it was announced in one slot and this is another's."""
    call = choice.with_id(label)
    announced = isinstance(delta, CallSeen) and delta.index is not None
    return None if announced and call is not None and call.slot is not None else call


def _by_order(choice: Choice, delta: Located | CallClosed) -> Call | None:
    if isinstance(delta, CallSeen) or (isinstance(delta, CallWhole) and delta.id is not None):
        return None
    calls = [call for call in choice.calls if call.phase != "ended"]
    if isinstance(delta, CallWhole):
        lacking = next((call for call in calls if call.restated is None), None)
        if lacking is not None and len(calls) > 1:
            lacking.flags.add("bound_by_order")
        return lacking
    return calls[0] if len(calls) == 1 else None


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
    if claimants[-1].phase == "ended":
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
    here = choice.slots.get(delta.index) if delta.index is not None else None
    return here if here in equals else equals[0]


def _fit(call: Call, delta: CallWhole, says: dict[str, Any] | None) -> int:
    """Return how well a restated text fits the call; 0 if it does not. Two known ids ask for equal text.

    Two texts that say the same may be spelled differently. `says` is what the restated one says, and each
    call keeps what it says: a message can restate many calls, so no text is read twice.
    """
    if call.id is not None and call.id in delta.told and call.id != delta.id:
        return 0  # the message restates that call by its own id
    held = call.restated if call.restated is not None else call.text
    if held and (held == delta.text or (says is not None and same_value(says, _held_says(call, held)))):
        return 4
    if not call.hollow and delta.text.startswith(held):
        return 3
    if call.id is not None and delta.id is not None:
        return 0
    return 2 if call.hollow else int(not call.complete)


def _held_says(call: Call, held: str) -> dict[str, Any] | None:
    if call.reading is None or call.reading[0] != held:
        call.reading = held, parse_arguments(held).arguments
    return call.reading[1]


def is_another(call: Call, delta: CallSeen) -> bool:
    """Return whether an announcement in the slot of a call announces another one."""
    if delta.id is None or call.id is None or delta.id == call.id:
        return False
    return call.closed or call.phase == "ended"


def open_slot(choice: Choice, delta: Located) -> Call:
    """Open a call in the delta's slot."""
    kind = "function" if isinstance(delta, Slot) else delta.kind
    whole = isinstance(delta, CallWhole) and delta.rank == HYDRATION
    call = choice.open(kind, slotted=not whole)
    learn_slot(choice, call, delta)
    return call


def learn_slot(choice: Choice, call: Call, delta: Located | CallClosed) -> None:
    """Let the call learn the slot's index and alias."""
    index, taken = delta.index, choice.slots
    if index is not None and call.n_slots < choice.max_labels and taken.get(index) is not call:
        taken[index] = call
        call.slot = index
        call.n_slots += 1
        choice.hot_slots.pop(index, None)
    if delta.alias is not None:
        choice.claim_alias(call, delta.alias)
