"""The slots of a choice: which calls are found at them, and how calls get their slots and labels.

Theory of operation. A slot is the number of a block or an item of the wire. Usually one call has it. But several open
calls can share a slot, where a server starts a block before it has ended the one before, so a slot keeps all of its
open calls, and the last call that was open.

Argument text whose call cannot be determined has no *owner*. It is collected by an *orphan*: a call without a name and
without a slot, which ends as a dropped call, so that users see the text. Which text has an owner is decided in `slots`;
here are the operations that change the `SlotTable`: its slots, its orphans, its open calls.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wholecall.deltas import HYDRATION

if TYPE_CHECKING:
    from wholecall.deltas import CallSeen, CallWhole, Index
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.types import Kind


def opened_call(choice: Choice, kind: Kind, id: str | None, original: Call | None = None) -> Call:
    """Return a new slotted call that is open; a duplicate gets its number only if it proves not to be one."""
    call = choice.open(kind, slotted=True, id=id, original=original)
    if call is not choice.overflow:
        choice.reopen(call)
    return call


def orphan_of(choice: Choice, index: Index | None, text: str, *, is_named: bool) -> Call:
    """Return the orphan that collects text without an owner at an index; each object that begins there has its own.

    Text under an id may be that of a call which is announced later, so it has a number, and does not vanish.
    """
    orphan = choice.slots.orphans.get(index)
    is_over = orphan is not None and orphan.complete and text.lstrip().startswith("{")
    if orphan is None or orphan.is_over or is_over:
        orphan = choice.slots.orphans[index] = choice.open("function", slotted=True, tentative=not is_named)
        orphan.orphan = orphan is not choice.overflow
    return orphan


def adopt(choice: Choice, orphan: Call) -> None:
    """Make an orphan that has got its name an ordinary call."""
    orphan.mark_owned()
    show(choice, orphan)
    choice.slots.orphans = {index: call for index, call in choice.slots.orphans.items() if call is not orphan}
    choice.reopen(orphan)


def show(choice: Choice, orphan: Call) -> None:
    """Give an orphan its number, so that an event can report it: no call accounts for it."""
    if orphan.tentative:
        choice.materialise(orphan)


def learn_labels(choice: Choice, call: Call, delta: CallSeen | CallWhole) -> None:
    """Let the call be found by the index and the alias of an announcement, which shows whether they are the wire's."""
    if call.slotted and call.name is None and (delta.begins or delta.alias is not None):
        call.block = True
    if call.slot == delta.index and (delta.alias is None or delta.alias in call.aliases):
        return
    if choice.slots.by_order:
        _claim_text(choice, call, delta)
    if delta.index is not None:
        claim_slot(choice, call, delta.index)
    if delta.alias is not None:
        choice.claim_alias(call, delta.alias)


def _claim_text(choice: Choice, call: Call, delta: CallSeen | CallWhole) -> None:
    """Note that text which was bound to an open call by order is this one's, unless a whole text replaced it there.

    content_block_delta  index 1   bound to the only open call
    content_block_start  index 1   another call
    """
    for label in (delta.index, delta.alias):
        taker = choice.slots.by_order.pop(label, call)
        if taker is not call and taker.opened and taker.rank < HYDRATION:
            taker.note("lost_text", detail="text came under the labels of a call that began later")
            call.note("lost_text", detail="its text came before it did, and was bound to another call")


def claim_slot(choice: Choice, call: Call, index: Index) -> None:
    """Let the call be found by the number of a slot, next to other open calls there."""
    claimants = choice.slots.at.get(index, ())
    if call in claimants or call.n_slots >= choice.options.max_labels:
        return
    choice.slots.at[index] = [*(other for other in claimants if other.opened), call]
    call.slot = index
    call.n_slots += 1
    choice.slots.fast.pop(index, None)


def at_slot(choice: Choice, index: Index | None) -> list[Call]:
    """Return the open calls at a slot; if none is open, its last call, where that can be meant."""
    claimants = choice.slots.at.get(index)
    if claimants is None:
        return []
    last = claimants[-1]
    if len(claimants) == 1 and last.opened:
        return claimants
    opened = [call for call in claimants if call.opened]
    return opened or ([] if last.block and choice.slots.n_open else [last])


def begin_again(choice: Choice) -> None:
    """Note that the message starts again from its beginning: open calls were cut, and slots are assigned again."""
    choice.slots.round += 1
    choice.slots.spoil()
    choice.slots.unrepeated = [call for call in choice.calls if call.slotted and not call.orphan]
    choice.slots.at.clear()
    choice.slots.by_order.clear()
    for call in choice.slots.opened:
        if call.opened or call.lacks_text:
            call.note("lost_text", detail="the message started again while it was open")
        choice.shut(call)
