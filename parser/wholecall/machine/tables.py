"""The tables of a choice: which calls are found by a label, which by a slot, and which of them are open.

Theory of operation. Calls of chat streams are found by labels (`LabelTable`), those of other dialects by slots
(`SlotTable`). The tables only keep what is known; which call a delta is about is decided by `labels` and `slots`, which
read them. A snapshot holds both; every call that they name is one of the choice's calls.
"""

from __future__ import annotations

from typing import Union

from wholecall.deltas import Index
from wholecall.machine.call import Call
from wholecall.machine.record import Record

_MOST_DOUBTED = 256  # labels; beyond, every call is in doubt
_SPARE = 64  # entries of calls that opened again, before they are searched


class LabelTable:
    """The labels of a choice, and its calls that are found by them.

    Attributes:
        by_index: the call of each index.
        by_id: the calls of each id, or alias; slotted calls have some as well.
        doubted: ids and names of calls whose objects held content that no dialect reads (see `TextUnread`).
        fast: the call of each index to which text there is simply appended.
        latest: the call that opened last while labels were as documented, None before the first one.
        alternated: the calls alternated while labels were as documented.
        record: the fragments since labels were first odd, None as long as they are as documented.
    """

    by_index: dict[Index, Call]
    by_id: dict[str, list[Call]]
    doubted: set[str]
    fast: dict[Union[Index, None], Call]
    latest: Call | None
    alternated: bool
    record: Record | None

    __slots__ = tuple(__annotations__)

    def __init__(self) -> None:
        self.by_index, self.by_id, self.fast, self.doubted = {}, {}, {}, set()
        self.latest, self.record, self.alternated = None, None, False

    def doubt(self, label: str) -> None:
        """Note that content of the call with an id or a name is not read."""
        if len(self.doubted) < _MOST_DOUBTED:
            self.doubted.add(label)

    def doubts(self, call: Call) -> bool:
        """Return whether content of a call may not have been read."""
        known = self.doubted
        return len(known) == _MOST_DOUBTED or call.name in known or not known.isdisjoint(call.aliases)

    def calls(self) -> list[Call | None]:
        """Return all calls that it names."""
        with_ids = (call for calls in self.by_id.values() for call in calls)
        shown = self.record.shown if self.record is not None else ()
        return [*self.by_index.values(), *with_ids, *self.fast.values(), *shown, self.latest]


class SlotTable:
    """The slots of a choice, and its calls that are found by them.

    Attributes:
        at: the calls of each slot, except those that had ended when another call took it.
        fast: the call of each slot to which text there is simply appended.
        opened: the calls that are open, perhaps with some that are not; `n_open` counts the open ones.
        fresh: the same, for those that opened since text without an owner last came.
        unowned: the calls that such text may belong to.
        orphans: the calls that collect text without an owner, by its index.
        by_order: the calls to which text was bound by order, by the labels of the text, which no call had.
        held: the call that the wire closed, whose verdict waits for later events.
        unrepeated: of a message that was restarted, the earlier calls that have not been repeated yet.
        round: how often the message was restarted.
        record: the pieces since labels were first odd, None as long as they are as documented (see `blocks`);
            `may_reread`: they may be kept, as nothing came that is no piece of a block.
    """

    at: dict[Union[Index, None], list[Call]]
    fast: dict[Union[Index, None], Call]
    opened: list[Call]
    fresh: list[Call]
    unowned: set[Call]
    orphans: dict[Union[Index, None], Call]
    by_order: dict[Union[Index, None], Call]
    held: Call | None
    unrepeated: list[Call]
    n_open: int
    round: int
    record: Record | None
    may_reread: bool

    __slots__ = tuple(__annotations__)

    def __init__(self) -> None:
        self.at, self.fast, self.orphans, self.by_order = {}, {}, {}, {}
        self.opened, self.fresh, self.unrepeated, self.unowned = [], [], [], set()
        self.held = self.record = None
        self.may_reread = True
        self.n_open = self.round = 0

    def calls(self) -> list[Call | None]:
        """Return all calls that it names."""
        at_slots = (call for calls in self.at.values() for call in calls)
        orphans = self.orphans.values()
        shown = self.record.shown if self.record is not None else ()
        return [
            *shown,
            *at_slots,
            *self.opened,
            *self.fresh,
            *self.unowned,
            *self.unrepeated,
            *orphans,
            *self.fast.values(),
            *self.by_order.values(),
            self.held,
        ]

    def reopen(self, call: Call) -> None:
        """Mark the call as open, and note which calls are open at the same time."""
        if call.opened:
            return
        call.opened, call.round = True, self.round
        if call.closed:
            call.note("reopened")
        if self.held is call:
            self.take_held()
        call.beside = self.n_open > 0
        if call.beside and (other := self.sole_open) is not None:
            other.beside = True
        self.n_open += 1
        self.opened.append(call)
        self.fresh.append(call)

    def take_held(self) -> Call | None:
        """Return the held call, which is not held from now on."""
        held, self.held = self.held, None
        return held

    def take_record(self) -> Record | None:
        """Return the record, which is not kept from now on."""
        record, self.record = self.record, None
        return record

    def spoil(self) -> None:
        """Keep no record: something came that is no piece of a block."""
        self.take_record()
        self.may_reread = False

    def tidy(self, n_calls: int) -> None:
        """Forget entries of calls that opened often: a call is listed as often as it opened."""
        if len(self.opened) + len(self.fresh) > 4 * n_calls + _SPARE:
            self.opened = [call for call in dict.fromkeys(self.opened) if call.opened]
            self.fresh = list(dict.fromkeys(self.fresh))

    @property
    def sole_open(self) -> Call | None:
        """The one call that is open, None if there are none or several."""
        if self.n_open != 1:
            return None
        if len(self.opened) > 1:
            self.opened = [call for call in self.opened if call.opened]
        return self.opened[0]
