"""A call: its phase, the labels it went by, and what speaks for and against it.

Theory of operation. A `Call` is the mutable record of the project: what the wire said of one call so far. Its text is
in the base class, with what fragments mean; who changes its phase is `phases`, which call a fragment is of is found
by `labels` and `slots`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wholecall.arguments.placeholders import is_placeholder
from wholecall.deltas import OBJECT
from wholecall.machine.call_text import CallText
from wholecall.output.events import ArgumentsDelta

if TYPE_CHECKING:
    from wholecall.deltas import Index
    from wholecall.types import DropReason, Kind

__all__ = ["Call", "Phase"]

Phase = Literal["pending", "streaming", "settled", "ended"]


class Call(CallText):
    """What is known of one call.

    Attributes:
        number: its index in events, dense per choice in order of first appearance; -1 for a phantom.
        tell: makes the event that shows a piece of its text; there once the call has its number.
        phase: `pending`, `streaming`, `settled` or `ended`; only `phases` changes it.
        id: the public id, the first non-empty one; `aliases` holds all of them, `indices` the indices.
        name: the name as the wire has it so far; `public_name` the one that events carry, once it is final.
        heated: the indices at which its fragments take the hot path; `heard` is the alias that they then have.
        extra: fields of the provider that are to be sent back.
        refusal: why it cannot be emitted, whatever its text says; `detail` is for people.
        dropped: why it was dropped, None if it was not.
        closed, cut: the wire ended this call; and called it incomplete.
        reasoned: a finish reason, or another end of its turn, came after it began.

    Of calls that are found by labels:
        phantom: perhaps only labels that came again: without a number, and not told, until its choice is settled.
        head: characters of its first fragment; `labelled`: of later ones that came with its id.
        bare: a fragment without labels and text came before any text.

    Of calls that are found by slots:
        slotted: it is one of these; `slot` is the number of its slot, and `n_slots` says how many it went by.
        block: its slots are numbers of the wire, not of its dialect.
        opened: the wire did not end it yet; `beside` says that another one was open with it.
        stray: no call of the wire, but text that has no owner (see `claims`).
        elsewhere: the index under which text came that was bound by order.
        round: how often its message had been begun anew when it was announced.
        echo: the call that this one seems to tell again; None if it is one of its own.
    """

    turn: int
    choice: int
    number: int
    tell: partial[ArgumentsDelta]
    phase: Phase
    id: str | None
    name: str | None
    public_name: str | None
    namespace: str | None
    aliases: list[str]
    indices: set[Index]
    heated: set[Index]
    heard: str | None
    extra: dict[str, Any] | None
    refusal: DropReason | None
    detail: str
    dropped: DropReason | None
    closed: bool
    cut: bool
    reasoned: bool
    phantom: bool
    head: int
    labelled: int
    bare: bool
    slotted: bool
    slot: Index | None
    n_slots: int
    block: bool
    opened: bool
    beside: bool
    stray: bool
    elsewhere: Index | None
    round: int
    echo: Call | None

    __slots__ = tuple(__annotations__)
    DERIVED: ClassVar = frozenset({"tell"})

    def __init__(self, turn: int, choice: int, kind: Kind, *, slotted: bool = False) -> None:
        super().__init__(kind)
        self.turn, self.choice, self.slotted = turn, choice, slotted
        self.number, self.phase = -1, "pending"
        self.id = self.name = self.public_name = self.namespace = self.slot = self.extra = None
        self.refusal = self.dropped = self.echo = self.heard = self.elsewhere = None
        self.closed = self.cut = self.reasoned = self.phantom = self.bare = False
        self.block = self.opened = self.beside = self.stray = False
        self.head = self.labelled = self.round = self.n_slots = 0
        self.detail = ""
        self.aliases, self.indices, self.heated = [], set(), set()

    def __repr__(self) -> str:
        return f"<Call {self.number} {self.phase} id={self.id!r} name={self.name!r}>"

    def appear(self, number: int) -> None:
        """Take a number: the call has come to be."""
        self.number = number
        self.tell = partial(ArgumentsDelta, self.turn, self.choice, number)

    def remade(self) -> None:
        """Find out anew what snapshots do not hold.

        Raises:
            ValueError: the state is none that a call can be in.
        """
        super().remade()
        if self.phase in ("streaming", "settled") and (self.name is None or self.public_name is None):
            raise ValueError("it has no name in a phase that wants one")
        preset = (
            self.restated is None or (self.slotted and self.rank == OBJECT) or is_placeholder(self.restated)
        )
        told = not (self.phantom or self.full)
        if self.phase == "pending" and self.name is not None and told and (self.parts or not preset):
            raise ValueError("it has a name and a text, and did not begin")
        self.appear(self.number)

    @property
    def is_over(self) -> bool:
        """Whether its terminal event is decided."""
        return self.phase == "ended"

    @property
    def tellable(self) -> bool:
        """Whether events may tell of it: it has a name, and is no echo of another call."""
        return self.name is not None and self.echo is None and not self.phantom

    @property
    def unfinished(self) -> bool:
        """Whether the text so far asks for more: it is no whole value, or more than one."""
        if self.is_over or self.empty or self.restated is not None:
            return False
        scan = self._lexical()
        return not scan.complete or scan.overfull

    def refuse(self, reason: DropReason, detail: str) -> None:
        """Keep the first reason why this call cannot be emitted."""
        if self.refusal is None:
            self.refusal, self.detail = reason, detail

    def start_over(self) -> None:
        """Let go of labels, text and what speaks against the call, but for a limit that it met."""
        self.clear_text()
        self.id = self.extra = None
        if self.refusal not in ("id_too_long", "name_too_long", "arguments_too_large"):
            self.refusal, self.detail = None, ""
        for labels in (self.aliases, self.indices, self.flags):
            labels.clear()
