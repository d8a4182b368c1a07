"""One choice of a turn: its calls, the tables by which they are found, and all other state that is kept until its end.

Theory of operation. Choices are alternative answers of the model (`n` of chat completions): each has its own calls,
indices and ids. A `Choice` is the state that the functions of this package share. It opens calls and numbers them;
`labels` and `slots` record which calls have a label or a slot, and the binders (the modules of these names) read them.
Text, blocks of reasoning, calls and other parts are kept in the order in which they began (`content`), for the view of
the turn.

Both tables have a `fast` part. It maps an index to the one call to which text at this index is simply appended, so
that most fragments need no binder. `enable_fast_path` adds an entry, `disable_fast_path` removes those of a call whose
phase changes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import maxsize
from typing import Any, ClassVar, Union

from wholecall.calls.output.events import TERMINAL, Event
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import Index
from wholecall.limits import Limits
from wholecall.machine.answer import Answer, OutputWanted
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.content import Content
from wholecall.machine.evidence import Evidence
from wholecall.machine.public_ids import PublicIds
from wholecall.machine.sameness import Place, Told
from wholecall.machine.tables import LabelTable, SlotTable
from wholecall.policy import Policy
from wholecall.types import Anomaly, Kind, TurnReason


class Options:
    """The caller's wishes, shared by all choices of a parser.

    Attributes:
        policy, limits, tools: as the parser got them.
        wanted: the type of the answer, if it is to be a value.
        holds: whether the policy judges calls when the choice has ended.
        max_labels: how many labels of a kind a call may learn.
    """

    __slots__ = ("holds", "limits", "max_labels", "policy", "tools", "wanted")
    DERIVED: ClassVar = frozenset(__slots__)  # a parser makes them of its own options

    def __init__(
        self, policy: Policy, limits: Limits, tools: Tools[Any] | None, wanted: OutputWanted | None = None
    ) -> None:
        self.policy, self.limits, self.tools, self.wanted = policy, limits, tools, wanted
        self.holds = policy.holds
        self.max_labels = maxsize if limits.max_aliases is None else limits.max_aliases


class Outbox:
    """The events that were not taken yet.

    Attributes:
        events: in their order; taking them replaces the list by a new one.
        pieces: whether pieces of text are reported, too (see `PIECES`); if not, no event is made for a piece.
        told: the emitted calls.
    """

    __slots__ = ("events", "pieces", "told")
    DERIVED: ClassVar = frozenset(__slots__)  # between two feeds there are none

    def __init__(self, *, pieces: bool) -> None:
        self.events: list[Event] = []
        self.pieces = pieces
        self.told = Told()

    def add_piece(self, make: Callable[..., Event], *fields: Any) -> None:
        """Report a piece of text, or that the pieces so far are void; make its event only if it is wanted."""
        if self.pieces:
            self.events.append(make(*fields))


class Choice(Evidence):
    """The state of one choice.

    Attributes:
        out: where events go, shared by all choices of a parser.
        options: the caller's wishes.
        response: the wire's id of the answer, None if it has none.
        calls: in order of first appearance; `n_numbered` of them exist for users.
        overflow: the one call that represents all beyond `Limits.max_calls`, None if there are none; `n_overflow`
            counts them.
        labels, slots: which calls are found by a label, and which by a slot.
        ids: the public ids that are taken.
        content: what the choice says besides calls.
        step: how many further steps of the message began.
        replaced: the frame at hand held bytes that are not UTF-8.
        holed: text was lost, and no delta has come since.
        emitted: the terminal events so far; `waiting` are those that the policy holds back.
        cancelled: the ids by which calls were taken back, by the calls' numbers.
        answer: the answer as a value, None if none was requested.
        reason: why the choice ended, None while no reason is known.
    """

    turn: int
    number: int
    response: str | None
    budget: Budget
    calls: list[Call]
    n_numbered: int
    overflow: Call | None
    n_overflow: int
    labels: LabelTable
    slots: SlotTable
    ids: PublicIds
    content: Content
    step: int
    anomalies: set[Anomaly]
    replaced: bool
    holed: bool
    emitted: list[Event]
    waiting: list[tuple[Call, list[Event]]]
    cancelled: dict[int, str]
    answer: Union[Answer, None]
    reason: TurnReason | None
    provider_reason: str | None
    ended: bool

    __slots__ = (*__annotations__, "options", "out")
    DERIVED: ClassVar = frozenset({"options", "out"})

    def __init__(self, turn: int, number: int, out: Outbox, budget: Budget, options: Options) -> None:
        super().__init__()
        self.turn, self.number, self.response = turn, number, None
        self.out, self.budget, self.options = out, budget, options
        self.calls, self.overflow = [], None
        self.labels, self.slots, self.ids, self.content = LabelTable(), SlotTable(), PublicIds(), Content()
        self.answer = None if options.wanted is None else Answer()
        self.ended = self.replaced = self.holed = False
        self.reason = self.provider_reason = None
        self.n_overflow = self.n_numbered = self.step = 0
        self.anomalies, self.cancelled = set(), {}
        self.emitted, self.waiting = [], []

    def remade(self) -> None:
        """Check that a choice can be in this state.

        Raises:
            ValueError: it cannot.
        """
        super().remade()
        named = [
            *(call.original for call in self.calls),
            *self.labels.calls(),
            *self.slots.calls(),
            *(call for call, _ in self.waiting),
            self.overflow,
        ]
        if any((call.turn, call.choice) != (self.turn, self.number) for call in self.calls):
            raise ValueError("a call is another choice's")
        known = {None, *self.calls}
        if not known.issuperset(named):
            raise ValueError("a call is not among its calls")
        opened = {call for call in self.slots.opened if call.opened}
        if opened != {call for call in self.calls if call.opened} or len(opened) != self.slots.n_open:
            raise ValueError("the open calls are others")
        if not (all(self.slots.at.values()) and all(self.labels.by_id.values())):
            raise ValueError("a label has no call")
        for slotted, table in ((False, self.labels.fast), (True, self.slots.fast)):
            if any(
                call.phase != "streaming"
                or call not in known
                or index not in call.fast_at
                or call.slotted != slotted
                for index, call in table.items()
            ):
                raise ValueError("a call is on the fast path that did not begin")
        if any(not call.indices <= self.labels.by_index.keys() for call in self.calls):
            raise ValueError("a call has an index that nothing knows")
        last = [*self.emitted, *(events[-1] if events else None for _, events in self.waiting)]
        if not all(isinstance(event, TERMINAL) for event in last):
            raise ValueError("a call ends with an event that is not terminal")

    @property
    def place(self) -> Place:
        """The place of its calls."""
        return Place(self.turn, self.number, self.response)

    # Calls and their labels.

    def open(
        self,
        kind: Kind,
        *,
        slotted: bool = False,
        tentative: bool = False,
        id: str | None = None,
        original: Call | None = None,
    ) -> Call:
        """Return a new call, or the one that represents all beyond the limit; `id` is the one that it will have."""
        limit = self.options.limits.max_calls
        if limit is not None and len(self.calls) >= limit:
            return self._overflow(kind, limit)
        withheld = self.out.told.compares and self.out.told.knows(self.place, id)
        call = Call(
            self.turn,
            self.number,
            kind,
            slotted=slotted,
            tentative=tentative,
            withheld=withheld,
            original=original,
        )
        self.calls.append(call)
        call.step = self.step
        if not (tentative or withheld or original is not None):
            self.materialise(call)
        return call

    def having(self, id: str | None, step: int | None = None) -> list[Call]:
        """Return the calls of a step that have an id, by default of the current step."""
        calls = self.labels.by_id.get(id, ()) if id is not None else ()
        return [call for call in calls if call.step == (self.step if step is None else step)]

    def materialise(self, call: Call) -> None:
        """Give the call its number: from now on it exists for users."""
        number = self.n_numbered
        self.n_numbered = number + 1
        call.appear(number)
        self.content.place_numbered(number)

    def reopen(self, call: Call) -> None:
        """Mark the slotted call as open."""
        self.slots.reopen(call)
        self.slots.tidy(len(self.calls))

    def shut(self, call: Call) -> None:
        """Mark the slotted call as no longer open: later text at its slot may be another call's."""
        if call.opened:
            call.opened = False
            self.slots.n_open -= 1
            self.disable_fast_path(call)

    def _overflow(self, kind: Kind, limit: int) -> Call:
        self.n_overflow += 1
        if self.overflow is None:
            self.overflow = Call(self.turn, self.number, kind)
            self.overflow.refuse("too_many_calls", f"beyond the limit of {limit}")
            self.calls.append(self.overflow)
            self.materialise(self.overflow)
        return self.overflow

    # Labels.

    def claim_index(self, call: Call, index: Index) -> None:
        """Let the call learn an index, taking it from an earlier call; the overflow call learns only taken indices."""
        known = self.labels.by_index.get(index)
        if known is call:
            return
        if known is not None or (call is not self.overflow and len(call.indices) < self.options.max_labels):
            self.labels.by_index[index] = call
            call.indices.add(index)
            self.labels.fast.pop(index, None)

    def give_id(self, call: Call, id: str, *, wins: bool = False) -> bool:
        """Give the call its public id if it has none, or if this one wins; return False if it is too long."""
        limit = self.options.limits.max_id_chars
        if limit is not None and len(id) > limit:
            call.refuse("id_too_long", f"an id of {len(id)} characters")
            return False
        call.id = id if wins else call.id or id
        return True

    def claim_id(self, call: Call, id: str) -> None:
        """Let the call learn an id: the first is public, later ones are aliases (quirks 10, 11)."""
        is_first = call.id is None
        if not self.give_id(call, id):
            return
        if is_first:
            self._learn(call, id)
        elif not (id in self.labels.by_id and id in call.aliases) and call is not self.overflow:
            call.flag("id_churn")
            if len(call.aliases) < self.options.max_labels:
                self._learn(call, id)

    def rename(self, call: Call, id: str) -> None:
        """Make an id the call's public id, in place of the earlier one."""
        if call.id == id and id in call.aliases and id in self.labels.by_id:
            return
        self.claim_id(call, id)
        self.give_id(call, id, wins=True)

    def _learn(self, call: Call, label: str) -> None:
        if len(call.aliases) < self.options.max_labels and label not in call.aliases:
            call.aliases.append(label)
            self.labels.by_id.setdefault(label, []).append(call)

    def claim_alias(self, call: Call, alias: str) -> None:
        """Let the call be found by a label other than its id."""
        if alias not in call.aliases and call is not self.overflow:
            if alias in self.labels.by_id:
                self.slots.fast.clear()
            self._learn(call, alias)

    def free_ids(self, calls: Iterable[Call]) -> None:
        """Let other calls have the ids of calls that are taken back."""
        for call in calls:
            for label in call.aliases:
                others = [other for other in self.labels.by_id.pop(label, ()) if other is not call]
                if others:
                    self.labels.by_id[label] = others
            self.ids.taken.discard(call.id or "")

    def lose_text(self) -> None:
        """Note on each open call that text was lost which may have been its own."""
        self.holed = True
        self.note("lost_text")
        if self.labels.record is not None:
            self.labels.record.note_loss()
        for call in self.calls:
            if not call.is_over and call.source is None:  # otherwise it came whole
                call.note("lost_text")

    def lose_text_of(self, ids: Iterable[str], *, whole: bool) -> None:
        """Note that text was lost on the open calls with one of some ids; a `whole` text may repeat that of a call."""
        for calls in (self.labels.by_id.get(id, ()) for id in ids):
            repeats = whole and not all(call.blank for call in calls)
            for call in calls:
                if not (repeats or call.is_over):
                    call.note("lost_text")

    def forget(self) -> None:
        """Clear what was said besides calls; a requested answer takes its text first."""
        if self.answer is not None:
            self.answer.gather(self.content.text.text, self.content.places, self.options.limits)
            self.answer.forget()
        self.content.forget()

    @property
    def holds_orphans(self) -> bool:
        """Whether argument text without a name came here: some servers count chunks in the choice number (quirk 14)."""
        return any(call.name is None and not call.blank for call in self.calls)

    # The fast path.

    def enable_fast_path(self, call: Call, index: Index, alias: str | None = None) -> None:
        """Let fragments at the index be appended to the call at once, if they cannot mean anything else."""
        simple = call.phase == "streaming" and call.plain
        if call.slotted:
            table, simple = self.slots.fast, simple and call.opened and self.slots.at.get(index) == [call]
            call.fast_alias = alias
        else:
            table, simple = (
                self.labels.fast,
                simple and self.labels.by_index.get(index) is call and self.labels.record is None,
            )
            simple = simple and not call.holds_placeholder
        if simple:
            table[index] = call
            call.fast_at.add(index)
        else:
            table.pop(index, None)

    def disable_fast_path(self, call: Call) -> None:
        """Take the call off the fast path: its phase changed, so its fragments go through the binder again."""
        if call.fast_at:
            table = self.slots.fast if call.slotted else self.labels.fast
            for index in call.fast_at:
                if table.get(index) is call:
                    del table[index]
            call.fast_at.clear()
