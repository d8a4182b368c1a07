"""One choice of a turn: its calls, the labels by which they were found, and all other state that is kept until its end.

Theory of operation. Choices are alternative answers of the model (`n` of chat completions): each has its own calls,
indices and ids. A `Choice` is the state that the functions of this package share. It opens calls and numbers them;
`by_index`, `by_id` and `slots` record which calls have a label, and the binders (`labels`, `slots`) read them.

`fast` maps an index to the one call to which text at this index is simply appended, so that most fragments need no
binder; `fast_slots` does the same for slots. `enable_fast_path` adds an entry, `disable_fast_path` removes those of a
call whose phase changes.
Text, blocks of reasoning, calls and other parts are kept in the order in which they began (`places`), for the view of
the turn (see `content`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from sys import maxsize
from typing import Any, ClassVar, Literal, Union

from wholecall.calls.output.events import TERMINAL, Event
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import Index, ReasoningFragment
from wholecall.limits import Limits
from wholecall.machine.answer import Answer, OutputWanted
from wholecall.machine.budget import Budget
from wholecall.machine.call import Call
from wholecall.machine.evidence import Evidence
from wholecall.machine.kept import Kept
from wholecall.machine.record import Record
from wholecall.machine.said import ReasoningText, SaidText
from wholecall.machine.sameness import Place, Told
from wholecall.policy import Policy
from wholecall.types import Anomaly, Kind, TurnReason

_SPARE = 64  # entries of calls that opened again, before they are searched


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
        response: the wire's id of the answer, None if it has none.
        calls: in order of first appearance.
        overflow: the one call that represents all beyond `Limits.max_calls`, None if there are none.
        record: the fragments since labels were first odd, None as long as they are as documented.
        turns: the calls alternated while labels were as documented; `latest` is the one that opened last.
        holds: whether the policy judges calls when the choice has ended.
        max_labels: how many labels of a kind a call may learn.
        held: the call that the wire closed, whose verdict waits for later events.
        slots: the calls of each slot, except those that had ended when another call took it.
        opened: the slotted calls that are open, perhaps with some that are not; `n_open` counts the open ones.
        fresh: the same, for those that opened since text without an owner last came; `unowned`: those that it may
            belong to.
        orphans: the calls that collect text without an owner, by its index.
        unrepeated: of a message that was restarted, the earlier calls that have not been repeated yet.
        round: how often the message was restarted.
        step: how many further steps of the message began.
        cancelled: the ids by which calls were taken back, by the calls' numbers.
        replaced: the frame at hand held bytes that are not UTF-8.
        holed: text was lost, and no delta has come since.
        numbered: the last number that was appended to an id to make another id.
        places: where each part began, in characters of `text` before it: its number in `calls`, `reasoning`, `kept`
            (blocks that go back as they came) or `listed` (ids of calls that a list of parts named in their place).
        answer: the answer as a value, None if none was requested; `wanted` is its type.
        reason: why the choice ended, None while no reason is known.
    """

    turn: int
    number: int
    response: str | None
    budget: Budget
    calls: list[Call]
    by_index: dict[Index, Call]
    by_id: dict[str, list[Call]]
    slots: dict[Union[Index, None], list[Call]]
    opened: list[Call]
    fresh: list[Call]
    unowned: set[Call]
    orphans: dict[Union[Index, None], Call]
    unrepeated: list[Call]
    n_open: int
    round: int
    step: int
    fast: dict[Index | None, Call]
    fast_slots: dict[Index | None, Call]
    anomalies: set[Anomaly]
    text: SaidText
    reasoning: list[ReasoningText]
    places: list[tuple[int, tuple[Literal["call", "reasoning", "text", "block", "listed"], int]]]
    kept: list[Kept]
    listed: list[str]
    emitted: list[Event]
    cancelled: dict[int, str]
    waiting: list[tuple[Call, list[Event]]]
    taken_ids: set[str]
    numbered: dict[str, int]
    record: Record | None
    latest: Call | None
    turns: bool
    overflow: Call | None
    n_overflow: int
    n_numbered: int
    held: Call | None
    answer: Union[Answer, None]
    reason: TurnReason | None
    provider_reason: str | None
    ended: bool
    replaced: bool
    holed: bool
    abort_detail: str

    __slots__ = (*__annotations__, "out", "policy", "limits", "tools", "wanted", "holds", "max_labels")
    DERIVED: ClassVar = frozenset({"out", "policy", "limits", "tools", "wanted", "holds", "max_labels"})

    def __init__(
        self,
        turn: int,
        number: int,
        out: Outbox,
        budget: Budget,
        policy: Policy,
        limits: Limits,
        tools: Tools[Any] | None,
        wanted: OutputWanted | None = None,
    ) -> None:
        self.turn = turn
        self.number = number
        self.response = None
        self.out = out
        self.budget = budget
        self.policy = policy
        self.limits = limits
        self.tools = tools
        self.wanted = wanted
        self.answer = None if wanted is None else Answer()
        self.holds = policy.holds
        self.max_labels = maxsize if limits.max_aliases is None else limits.max_aliases
        super().__init__()
        self.turns = self.ended = self.replaced = self.holed = False
        self.record = self.latest = self.overflow = self.held = self.reason = self.provider_reason = None
        self.n_overflow = self.n_numbered = self.n_open = self.round = self.step = 0
        self.opened, self.fresh, self.unowned, self.unrepeated, self.orphans = [], [], set(), [], {}
        self.abort_detail = "the turn was aborted"
        self.calls = []
        self.by_index = {}
        self.by_id = {}
        self.slots = {}
        self.fast = {}
        self.fast_slots = {}
        self.anomalies = set()
        self.text = SaidText()
        self.reasoning = []
        self.places = []
        self.kept = []
        self.listed = []
        self.emitted = []
        self.cancelled = {}
        self.waiting = []
        self.taken_ids = set()
        self.numbered = {}

    def remade(self) -> None:
        """Check that a choice can be in this state.

        Raises:
            ValueError: it cannot.
        """
        super().remade()
        claimants = [call for calls in self.by_id.values() for call in calls]
        named = [
            *(call for calls in self.slots.values() for call in calls),
            *(call.original for call in self.calls),
            *self.opened,
            *self.fresh,
            *self.unowned,
            *self.unrepeated,
            *self.orphans.values(),
            *self.by_index.values(),
            *(self.record.shown if self.record is not None else ()),
            self.latest,
            *claimants,
            *(call for call, _ in self.waiting),
            self.held,
            self.overflow,
        ]
        if any((call.turn, call.choice) != (self.turn, self.number) for call in self.calls):
            raise ValueError("a call is another choice's")
        known = {None, *self.calls}
        if not known.issuperset(named):
            raise ValueError("a call is not among its calls")
        opened = {call for call in self.opened if call.opened}
        if opened != {call for call in self.calls if call.opened} or len(opened) != self.n_open:
            raise ValueError("the open calls are others")
        if not (all(self.slots.values()) and all(self.by_id.values())):
            raise ValueError("a label has no call")
        for slotted, table in ((False, self.fast), (True, self.fast_slots)):
            if any(
                call.phase != "streaming"
                or call not in known
                or index not in call.fast_at
                or call.slotted != slotted
                for index, call in table.items()
            ):
                raise ValueError("a call is on the fast path that did not begin")
        if any(not call.indices <= self.by_index.keys() for call in self.calls):
            raise ValueError("a call has an index that nothing knows")
        sizes = {"reasoning": len(self.reasoning), "block": len(self.kept), "listed": len(self.listed)}
        if any(what in sizes and not 0 <= number < sizes[what] for _, (what, number) in self.places):
            raise ValueError("a part of the answer is not there")
        last = [*self.emitted, *(events[-1] if events else None for _, events in self.waiting)]
        if not all(isinstance(event, TERMINAL) for event in last):
            raise ValueError("a call ends with an event that is not terminal")

    @property
    def place(self) -> Place:
        """The place of its calls."""
        return Place(self.turn, self.number, self.response)

    # Calls and their labels.

    def open(
        self, kind: Kind, *, slotted: bool = False, tentative: bool = False, id: str | None = None
    ) -> Call:
        """Return a new call, or the one that represents all beyond the limit; `id` is the one that it will have."""
        limit = self.limits.max_calls
        if limit is not None and len(self.calls) >= limit:
            return self._overflow(kind, limit)
        call = Call(self.turn, self.number, kind, slotted=slotted)
        self.calls.append(call)
        call.step = self.step
        call.tentative, call.withheld = (
            tentative,
            self.out.told.compares and self.out.told.knows(self.place, id),
        )
        if not (tentative or call.withheld):
            self.materialise(call)
        return call

    def having(self, id: str | None, step: int | None = None) -> list[Call]:
        """Return the calls of a step that have an id, by default of the current step."""
        calls = self.by_id.get(id, ()) if id is not None else ()
        return [call for call in calls if call.step == (self.step if step is None else step)]

    def materialise(self, call: Call) -> None:
        """Give the call its number: from now on it exists for users."""
        number = self.n_numbered
        self.n_numbered = number + 1
        call.appear(number)
        self.places.append((self.text.size, ("call", number)))

    # Slotted calls.

    def reopen(self, call: Call) -> None:
        """Mark the call as open, and note which calls are open at the same time."""
        if call.opened:
            return
        call.opened, call.round = True, self.round
        if call.closed:
            call.note("reopened")
        if self.held is call:
            self.held = None
        call.beside = self.n_open > 0
        if call.beside and (other := self.sole_open) is not None:
            other.beside = True
        self.n_open += 1
        # A call is listed as often as it opened.
        if len(self.opened) + len(self.fresh) > 4 * len(self.calls) + _SPARE:
            self.opened = [call for call in dict.fromkeys(self.opened) if call.opened]
            self.fresh = list(dict.fromkeys(self.fresh))
        self.opened.append(call)
        self.fresh.append(call)

    def shut(self, call: Call) -> None:
        """Mark the call as no longer open: later text at its slot may be another call's."""
        if call.opened:
            call.opened = False
            self.n_open -= 1
            self.disable_fast_path(call)

    @property
    def sole_open(self) -> Call | None:
        """The one slotted call that is open, None if there are none or several."""
        if self.n_open != 1:
            return None
        if len(self.opened) > 1:
            self.opened = [call for call in self.opened if call.opened]
        return self.opened[0]

    def _overflow(self, kind: Kind, limit: int) -> Call:
        self.n_overflow += 1
        if self.overflow is None:
            self.overflow = Call(self.turn, self.number, kind)
            self.overflow.refuse("too_many_calls", f"beyond the limit of {limit}")
            self.calls.append(self.overflow)
            self.materialise(self.overflow)
        return self.overflow

    def claim_index(self, call: Call, index: Index) -> None:
        """Let the call learn an index, taking it from an earlier call; the overflow call learns only taken indices."""
        known = self.by_index.get(index)
        if known is call:
            return
        if known is not None or (call is not self.overflow and len(call.indices) < self.max_labels):
            self.by_index[index] = call
            call.indices.add(index)
            self.fast.pop(index, None)

    def give_id(self, call: Call, id: str) -> bool:
        """Give the call its public id if it has none; return False if it is too long."""
        limit = self.limits.max_id_chars
        if limit is not None and len(id) > limit:
            call.refuse("id_too_long", f"an id of {len(id)} characters")
            return False
        call.id = call.id or id
        return True

    def claim_id(self, call: Call, id: str) -> None:
        """Let the call learn an id: the first is public, later ones are aliases (quirks 10, 11)."""
        is_first = call.id is None
        if not self.give_id(call, id):
            return
        if is_first:
            self._learn(call, id)
        elif not (id in self.by_id and id in call.aliases) and call is not self.overflow:
            call.flags.add("id_churn")
            if len(call.aliases) < self.max_labels:
                self._learn(call, id)

    def rename(self, call: Call, id: str) -> None:
        """Make an id the call's public id, in place of the earlier one."""
        self.claim_id(call, id)
        if self.give_id(call, id):
            call.id = id

    def _learn(self, call: Call, label: str) -> None:
        if len(call.aliases) < self.max_labels and label not in call.aliases:
            call.aliases.append(label)
            self.by_id.setdefault(label, []).append(call)

    def claim_alias(self, call: Call, alias: str) -> None:
        """Let the call be found by a label other than its id."""
        if alias not in call.aliases and call is not self.overflow:
            if alias in self.by_id:
                self.fast_slots.clear()
            self._learn(call, alias)

    def free_ids(self, calls: Iterable[Call]) -> None:
        """Let other calls have the ids of calls that are taken back."""
        for call in calls:
            for label in call.aliases:
                others = [other for other in self.by_id.pop(label, ()) if other is not call]
                if others:
                    self.by_id[label] = others
            self.taken_ids.discard(call.id or "")

    def lose_text(self) -> None:
        """Note on each open call that text was lost which may have been its own."""
        self.holed = True
        self.note("lost_text")
        if self.record is not None:
            self.record.n_lost = len(self.record.pieces)
        for call in self.calls:
            if not call.is_over and call.source is None:  # otherwise it came whole
                call.note("lost_text")

    def block_of(self, delta: ReasoningFragment) -> ReasoningText:
        """Return the block of a piece of reasoning; a new block number opens a new block, and so does a seal.

        A signature seals a block once anything else was said: Gemini's parts have no numbers.
        """
        blocks = self.reasoning
        if not blocks or blocks[-1].block != delta.block or self._is_sealed(blocks[-1]):
            self.places.append((self.text.size, ("reasoning", len(blocks))))
            blocks.append(ReasoningText(delta.block))
        blocks[-1].label(delta)
        return blocks[-1]

    def _is_sealed(self, block: ReasoningText) -> bool:
        if not block.is_sealed:
            return False
        place, (what, _) = self.places[-1] if self.places else (0, ("text", 0))
        return what != "reasoning" or place < self.text.size

    def join(self) -> None:
        """Join the pieces of all texts."""
        for said in (self.text, *self.reasoning, *(part.pieces for part in self.kept)):
            said.join()

    def forget(self) -> None:
        """Clear text, reasoning and other parts, and the places of calls in them.

        A requested answer takes its text first.
        """
        if self.answer is not None:
            self.answer.gather(self.text.text, self.places, self.limits)
            self.answer.forget()
        for held in (self.text, self.places, self.kept, self.listed):
            held.clear()
        del self.reasoning[:-1]
        for block in self.reasoning:  # the last one may continue
            block.clear()

    @property
    def holds_orphans(self) -> bool:
        """Whether argument text without a name came here: some servers count chunks in the choice number (quirk 14)."""
        return any(call.name is None and not call.blank for call in self.calls)

    # The fast path.

    def enable_fast_path(self, call: Call, index: Index, alias: str | None = None) -> None:
        """Let fragments at the index be appended to the call at once, if they cannot mean anything else."""
        simple = call.phase == "streaming" and call.plain
        if call.slotted:
            table, simple = self.fast_slots, simple and call.opened and self.slots.get(index) == [call]
            call.fast_alias = alias
        else:
            table, simple = self.fast, simple and self.by_index.get(index) is call and self.record is None
            simple = simple and not call.holds_placeholder
        if simple:
            table[index] = call
            call.fast_at.add(index)
        else:
            table.pop(index, None)

    def disable_fast_path(self, call: Call) -> None:
        """Take the call off the fast path: its phase changed, so its fragments go through the binder again."""
        if call.fast_at:
            table = self.fast_slots if call.slotted else self.fast
            for index in call.fast_at:
                if table.get(index) is call:
                    del table[index]
            call.fast_at.clear()
