"""A call: its phase, its labels, and the evidence for and against it.

Theory of operation. A `Call` is the mutable record of one tool call: all that the wire has sent for it so far. Its
text, and the effect of each fragment on it, are in the base class (`call_text`). A `Call` decides little by itself: its
phase is changed by `phases` only, the binders (`labels` and `slots`) find the call that a fragment belongs to, and
`verdicts` decides how it ends.

Calls are found in one of two ways. Those of chat streams are found by *labels* (index, id, name), which servers fill in
many ways. Those of other dialects are found by *slots* (the number of a block or an item).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, ClassVar, Literal

from wholecall.calls.arguments.placeholders import is_placeholder
from wholecall.calls.output.call_events import ArgumentsDelta
from wholecall.deltas import OBJECT, Index
from wholecall.machine.call_text import CallText
from wholecall.types import DropReason, EditKind, Kind

Phase = Literal["pending", "streaming", "settled", "ended"]


class Call(CallText):
    """The state of one call.

    Attributes:
        number: its index in events, dense per choice in order of first appearance; -1 for a tentative call.
        to_event: makes the event for a piece of its text; set once the call has its number.
        phase: `pending`, `streaming`, `settled` or `ended`; only `phases` changes it.
        id: the public id, the first non-empty one; `aliases` holds all of them, `indices` the indices.
        name: the name so far, in the wire's form; `public_name` the one that events carry, once it is final.
        fast_at: the indices at which its fragments take the fast path; `fast_alias` is the alias that they carry there.
        extra: fields of the provider that are to be sent back; `extra_size` is their size, as the budget counts it.

    Of calls that were written as text:
        source: all text that the model wrote for it; None for all other calls.
        edits: the changes that made it readable.

    Of calls that are found by labels:
        withheld: it may be the same as a call of another turn: without a number and without events until it ends.
        tentative: perhaps only repeated labels: without a number and without events until its choice is settled.
        head: characters of its first fragment; `labelled`: of later ones that came with its id.
        bare: a fragment without labels and text came before any text.

    Of calls that are found by slots:
        slotted: it is one of these; `slot` is the number of its slot, and `n_slots` counts those by which it was found.
        block: its slots are numbers of the wire, not of its dialect.
        opened: the wire did not end it yet; `beside`: another call was open at the same time.
        orphan: not a call of the wire, but a container for text without an owner (see `claims`).
        round: how often its message had been restarted when it was announced.
        step: how many further steps of its message had begun.
        original: the earlier call that this one seems to repeat; None if it repeats none.
        own: different calls have its id, which identifies nothing, so that equal calls are separate, too.
    """

    turn: int
    choice: int
    number: int
    to_event: partial[ArgumentsDelta]
    phase: Phase
    id: str | None
    name: str | None
    public_name: str | None
    namespace: str | None
    aliases: list[str]
    indices: set[Index]
    fast_at: set[Index]
    fast_alias: str | None
    extra: dict[str, Any] | None
    extra_size: int
    source: str | None
    edits: tuple[EditKind, ...]
    withheld: bool
    tentative: bool
    head: int
    labelled: int
    bare: bool
    slotted: bool
    slot: Index | None
    n_slots: int
    block: bool
    opened: bool
    beside: bool
    orphan: bool
    round: int
    step: int
    original: Call | None
    own: bool

    __slots__ = tuple(__annotations__)
    DERIVED: ClassVar = frozenset({"to_event"})

    def __init__(
        self,
        turn: int,
        choice: int,
        kind: Kind,
        *,
        slotted: bool = False,
        tentative: bool = False,
        withheld: bool = False,
        original: Call | None = None,
    ) -> None:
        super().__init__(kind)
        self.turn, self.choice, self.slotted = turn, choice, slotted
        self.tentative, self.withheld, self.original = tentative, withheld, original
        self.number, self.phase = -1, "pending"
        self.id = self.name = self.public_name = self.namespace = self.slot = self.extra = None
        self.fast_alias = None
        self.own = self.bare = self.block = self.opened = self.beside = self.orphan = False
        self.source, self.edits = None, ()
        self.head = self.labelled = self.round = self.step = self.n_slots = self.extra_size = 0
        self.aliases, self.indices, self.fast_at = [], set(), set()

    def __repr__(self) -> str:
        return f"<Call {self.number} {self.phase} id={self.id!r} name={self.name!r}>"

    def appear(self, number: int) -> None:
        """Give the call its number: it is neither tentative nor withheld, and exists for users from now on."""
        self.number = number
        self.tentative = self.withheld = False
        self.to_event = partial(ArgumentsDelta, self.turn, self.choice, number)

    def vanish(self, *, withheld: bool) -> None:
        """Take back the number of a call that no event has reported: it ends without any, or is `withheld` until it ends."""
        self.number = -1
        self.tentative, self.withheld = not withheld, withheld

    def remade(self) -> None:
        """Restore the state that snapshots do not hold.

        Raises:
            ValueError: a call cannot be in this state.
        """
        super().remade()
        if self.phase in ("streaming", "settled") and (self.name is None or self.public_name is None):
            raise ValueError("it has no name in a phase that wants one")
        preset = (
            self.restated is None or (self.slotted and self.rank == OBJECT) or is_placeholder(self.restated)
        )
        if self.phase == "pending" and self.reportable and not self.full and (self.parts or not preset):
            raise ValueError("it has a name and a text, and did not begin")
        self.to_event = partial(ArgumentsDelta, self.turn, self.choice, self.number)

    @property
    def is_over(self) -> bool:
        """Whether its terminal event is decided."""
        return self.phase == "ended"

    @property
    def reportable(self) -> bool:
        """Whether events may report it: it has a name, and repeats no other call."""
        return self.name is not None and self.original is None and not (self.tentative or self.withheld)

    @property
    def says_nothing(self) -> bool:
        """Whether it only announces a call: no text came, and it did not come whole."""
        return self.empty and not self.came_whole

    @property
    def unfinished(self) -> bool:
        """Whether the text so far needs more: it is not a whole value, or is more than one."""
        if self.is_over or self.empty or self.restated is not None:
            return False
        scan = self._lexical()
        return not scan.complete or scan.overfull

    def refuse(self, reason: DropReason, detail: str) -> None:
        """Note a reason why this call cannot be emitted; the first one stands."""
        self.note("refused", reason, detail)

    def learn_kind(self, kind: Kind) -> None:
        """Take the kind that the wire says, as long as no event has said another."""
        if self.phase == "pending":
            self.kind = kind

    def leave_to_server(self) -> None:
        """Note that the server executes the call itself, whatever events have said: it is not for the client."""
        self.kind = "server"

    def take_extra(self, extra: Mapping[str, Any], size: int = 0) -> None:
        """Keep fields of the provider's; `size` is their excess over the fields that they replace, as a budget counts it."""
        if self.extra is None:
            self.extra = {}
        self.extra.update(extra)
        self.extra_size += size

    def stand_alone(self, *, own: bool) -> None:
        """Note that the call repeats no other one; `own`: their id identifies nothing."""
        self.original, self.own = None, own

    def mark_owned(self) -> None:
        """Note that the text of an orphan has an owner: it is a call's, or another call has it."""
        self.orphan = False

    def start_over(self) -> None:
        """Clear labels, text and objections, except for a limit that was exceeded; it repeats no call that began before."""
        self.clear_text()
        self.stand_alone(own=self.own)
        self.id, self.extra, self.extra_size = None, None, 0
        if self.refusal not in ("id_too_long", "name_too_long", "arguments_too_large"):
            self.note("permitted")
        for labels in (self.aliases, self.indices, self.flags):
            labels.clear()
