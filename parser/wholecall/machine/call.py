"""A call, the labels it went by, and its text in force.

Theory of operation. A `Call` is the mutable record of the project. It gathers what the wire said of one call:
its labels, its name, and at most two texts: the fragments in order, and a restated whole with its rank. What
a fragment means is decided here and nowhere else:

* it is appended, unless the text so far proves that it cannot be a continuation. Only white space may follow
  a complete object, so an equal fragment repeats it (quirk 23), and an object after `{}` replaces that
  placeholder (quirk 25);
* a fragment that begins with all of the text so far is a snapshot (quirk 24), unless JSON allows that text to
  come again, as in `{"a":` + `{"a":1}` or `{"` + `{":1}`. There both readings are kept, and the snapshot is
  believed only if the other one turns out not to parse;
* a restatement fills and replaces, never erases.

Free text of custom tools knows none of this: its fragments are always appended.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from wholecall.arguments.lexical import Scan, is_object
from wholecall.arguments.placeholders import PLACEHOLDER_SIZE, is_placeholder
from wholecall.arguments.tokens import joined_surrogates, utf8_size
from wholecall.deltas import HYDRATION, OBJECT
from wholecall.machine.call_text import TextQuestions
from wholecall.output.events import ArgumentsDelta

if TYPE_CHECKING:
    from wholecall.deltas import Index
    from wholecall.types import DropReason, Flag, Kind

__all__ = ["Call", "Phase"]

Phase = Literal["pending", "streaming", "settled", "ended"]


class Call(TextQuestions):
    """What is known of one call.

    Attributes:
        number: its index in events, dense per choice in order of first appearance; -1 for a phantom.
        parts: the fragments in force, those that were counted or read joined to blocks.
        phase: `pending`, `streaming`, `settled` or `ended`; only `phases` changes it.
        name: the name as the wire has it so far; `public_name` the one that events carry, once it is final.
        id: the public id, the first non-empty one; `aliases` holds all of them, `indices` the indices.
        hole: text that could be this call's was lost; a restatement heals it.
        tell: makes the event that shows a piece of its text; there once the call has its number.
        phantom: perhaps only labels that came again: without a number, and not told, until its choice is settled.
        head: characters of its first fragment; `labelled`: of later ones that came with its id.
        bare: a fragment without labels and text came before any text.
        reasoned: a finish reason, or another end of its turn, came after it began.
        slotted: opened by slot, not by labels; `slot` is the number of its slot.
        block: its slots are numbers of the wire, not of its dialect.
        opened: slotted, and the wire did not end it yet; `beside` says that another one was open with it.
        stray: no call of the wire, but text that has no owner (see `slots`).
        round: how often its message had been begun anew when it was announced.
        echo: the call that this one seems to tell again; None if it is one of its own.
        dropped: why it was dropped, None if it was not.
        closed, cut: the wire ended this call; and called it incomplete.
        refusal: why it cannot be emitted, whatever its text says.
        reading: a text and what it says, kept for the next restatement (see `slots`).
        shown: characters of the fragments that were shown, None for all of them.
        room: characters that the hot path may append before the sizes are counted (see `budget`).
    """

    turn: int
    choice: int
    kind: Kind
    slotted: bool
    number: int
    tell: partial[ArgumentsDelta]
    phase: Phase
    id: str | None
    name: str | None
    public_name: str | None
    namespace: str | None
    aliases: list[str]
    indices: set[Index]
    heated: set[Index]  # where its fragments may take the hot path
    slot: Index | None
    n_slots: int  # numbers of slots that it went by
    block: bool
    opened: bool
    beside: bool
    stray: bool
    round: int
    echo: Call | None
    heard: str | None  # the alias under which its fragments may take the hot path
    elsewhere: Index | None  # under which text came that was bound by order
    flags: set[Flag]
    extra: dict[str, Any] | None
    refusal: DropReason | None
    detail: str
    dropped: DropReason | None
    hole: bool
    healed: bool
    phantom: bool
    bare: bool
    reasoned: bool
    head: int
    labelled: int
    closed: bool
    cut: bool
    full: bool
    snapshots: bool
    restated: str | None
    reading: tuple[str, dict[str, Any] | None] | None
    rank: int
    parts: list[str]
    shown: int | None
    length: int
    bytes: int
    charged: int
    charged_whole: int
    granted: int
    room: int
    _counted: int  # parts whose size is in `length` and `bytes`
    _scan: Scan | None
    _scanned: int  # parts that the scan has seen
    _surrogate: str
    _n_whole: int  # characters in which an object was found
    _other_reading: list[str]
    _other_size: int

    __slots__ = tuple(__annotations__)
    DERIVED: ClassVar = frozenset({"tell", "reading", "_scan", "_scanned", "_other_size", "_n_whole"})

    def __init__(self, turn: int, choice: int, kind: Kind, *, slotted: bool = False) -> None:
        self.turn, self.choice, self.kind, self.slotted = turn, choice, kind, slotted
        self.number, self.phase = -1, "pending"
        self.id = self.name = self.public_name = self.namespace = self.slot = self.extra = None
        self.refusal = self.dropped = self.restated = self.reading = self.shown = self._scan = None
        self.bare = self.reasoned = self.hole = self.healed = self.phantom = self.closed = self.cut = (
            self.full
        ) = self.snapshots = False
        self.block = self.opened = self.beside = self.stray = False
        self.echo = self.heard = self.elsewhere = None
        self.head = self.labelled = self._n_whole = self.round = 0
        self.n_slots = self.rank = self.length = self.bytes = self.charged = self.charged_whole = 0
        self.granted = self.room = self._counted = self._scanned = self._other_size = 0
        self.detail = self._surrogate = ""
        self.aliases, self.parts, self._other_reading = [], [], []
        self.indices, self.heated, self.flags = set(), set(), set()

    def __repr__(self) -> str:
        return f"<Call {self.number} {self.phase} id={self.id!r} name={self.name!r}>"

    def appear(self, number: int) -> None:
        """Take a number: the call has come to be."""
        self.number = number
        self.tell = partial(ArgumentsDelta, self.turn, self.choice, number)

    @property
    def size(self) -> int:
        """Characters of the fragments in force."""
        return self.length + self.granted - self.room

    @property
    def tellable(self) -> bool:
        """Whether events may tell of it: it has a name, and is no echo of another call."""
        return self.name is not None and self.echo is None and not self.phantom

    @property
    def empty(self) -> bool:
        """Whether no text at all has come."""
        return not self.parts and self.restated is None

    @property
    def text(self) -> str:
        """The fragments in force, joined."""
        parts = self.parts
        if len(parts) > 1:
            counted = self._counted
            if counted:  # else it is counted when that is needed, as one
                self.count()
            if len(parts) > 1:
                self._join(0)
                self._counted = min(counted, 1)
        return parts[0] if parts else ""

    @property
    def other_reading(self) -> str:
        """The text if an undecidable fragment was a snapshot, empty if there was none."""
        return "".join(self._other_reading)

    def count(self) -> None:
        """Join the fragments that came since the last count into one block, and count its size."""
        parts, counted = self.parts, self._counted
        if len(parts) > counted:
            block = self._join(counted)
            self._counted = counted + 1
            self.length += len(block)
            self.bytes += utf8_size(block)
        self.granted = self.room

    def _join(self, first: int) -> str:
        """Make one block of the fragments from this one on, and return it; the scan has seen them then."""
        parts = self.parts
        if self._scan is not None:
            self._lexical()
            self._scanned = first + 1
        block = "".join(parts[first:])
        parts[first:] = [block]
        return block

    def remade(self) -> None:
        """Find out anew what snapshots do not hold.

        Raises:
            ValueError: the state is none that a call can be in.
        """
        parts = self.parts
        if self.phase in ("streaming", "settled") and (self.name is None or self.public_name is None):
            raise ValueError("it has no name in a phase that wants one")
        preset = (
            self.restated is None or (self.slotted and self.rank == OBJECT) or is_placeholder(self.restated)
        )
        told = not (self.phantom or self.full)
        if self.phase == "pending" and self.name is not None and told and (parts or not preset):
            raise ValueError("it has a name and a text, and did not begin")
        if self._surrogate and not "\ud800" <= self._surrogate <= "\udbff":
            raise ValueError("half of a character is none")
        if not (self.full or all(parts)) or not 0 <= self._counted <= len(parts):
            raise ValueError("a piece of its text is empty, or not there")
        self.appear(self.number)
        self._other_size = sum(map(len, self._other_reading))

    def tail(self, count: int) -> str:
        """Return the last characters of the fragments in force; unlike `text` it changes nothing."""
        found: list[str] = []
        for part in reversed(self.parts):
            if count <= 0:
                break
            found.append(part[-count:])
            count -= len(part)
        return "".join(reversed(found))

    def cut_to(self, size: int, text: str) -> None:
        """Take no more text: keep the first `size` bytes as a sample."""
        self.shown = self.size
        sample = (self.text + text)[:size].encode("utf-8", "surrogatepass")[:size]
        self._replace(sample.decode("utf-8", "ignore"))
        self.full = True

    # What the end of a choice asks.

    @property
    def holds_object(self) -> bool:
        """Whether the text in force is one whole object, strictly; it is read once."""
        if self.restated is not None:
            return is_object(self.restated)
        if not (self._n_whole and self._n_whole == self.size):
            if not (self.begins_object and is_object(self.text)):
                return False
            self._n_whole = self.size
        return True

    @property
    def pending_text(self) -> str:
        """The fragments in force, with half of a character whose other half has not come."""
        return self.text + self._surrogate

    def start_over(self) -> None:
        """Let go of labels, text and what speaks against the call, but for a limit that it met."""
        self.id = self.extra = self.restated = self._scan = None
        self.hole = self.healed = self.snapshots = False
        self.rank = self._counted = self.length = self.bytes = self._scanned = self._n_whole = 0
        self._surrogate = ""
        if self.refusal not in ("id_too_long", "name_too_long", "arguments_too_large"):
            self.refusal, self.detail = None, ""
        if not self.full:
            self.parts.clear()
            self.room = self.granted
        self._other_reading, self._other_size = [], 0
        for labels in (self.aliases, self.indices, self.flags):
            labels.clear()

    def put(self, text: str) -> None:
        """Take a text as it is."""
        if text:
            self._put(text)

    def _lexical(self) -> Scan:
        scan = self._scan = self._scan or Scan()
        n, parts = self._scanned, self.parts
        if n < len(parts):
            scan.feed(parts[n] if n == len(parts) - 1 else "".join(parts[n:]))
            self._scanned = len(parts)
        return scan

    # What the wire says.

    def refuse(self, reason: DropReason, detail: str) -> None:
        """Keep the first reason why this call cannot be emitted."""
        if self.refusal is None:
            self.refusal, self.detail = reason, detail

    def take(self, text: str) -> str | None:
        """Take a fragment; return the text to show, or None if what was shown has been replaced."""
        if self._surrogate or not text.isascii():
            text = self._whole_characters(text) if text else ""
        if not text:
            return ""
        if text[0] == "{" and self.parts and self.kind != "custom":
            size = self.size
            if len(text) >= size or size <= PLACEHOLDER_SIZE:
                return self._take_object(text)
        return self._appended(text) if self._other_reading else self._put(text)

    def may_be_replaced_by(self, text: str) -> bool:
        """Whether the text may turn out to restate the fragments in force instead of following them."""
        return self.kind != "custom" and text[:1] == "{" and len(text) >= self.size

    def _take_object(self, text: str) -> str | None:
        if self._other_reading:
            return self._appended(text)
        before = self.text
        if self.complete:
            return self._after_complete(before, text)
        if not (before[:1] == "{" and text.startswith(before)):
            return self._put(text)
        if not self.snapshots and self._may_hold_itself(before):
            self._other_reading, self._other_size = [text], len(text)
            return self._put(text)
        self.snapshots = True
        self.flags.add("snapshots")
        self._replace(text)
        return text[len(before) :]

    def _may_hold_itself(self, before: str) -> bool:
        """Whether JSON allows all of the text to come again: as a value, or inside the first key."""
        if self._lexical().value_may_start:
            return True
        return len(before) <= PLACEHOLDER_SIZE and "".join(before.split()) == '{"'

    def _after_complete(self, before: str, text: str) -> str | None:
        if text == before:
            self.flags.add("repeated")
            return ""
        if is_placeholder(before):
            self.flags.add("placeholder")
            self._replace(text)
            return None
        return self._put(text)

    def _appended(self, text: str) -> str:
        """Append to both readings."""
        if text[0] == "{" and len(text) >= self._other_size and text.startswith(self.other_reading):
            self._other_reading, self._other_size = [], 0
        self._other_reading.append(text)
        self._other_size += len(text)
        return self._put(text)

    def _put(self, text: str) -> str:
        self.parts.append(text)
        self.room -= len(text)
        return text

    def _replace(self, text: str) -> None:
        self.parts[:] = [text]
        self._counted = self.length = self.bytes = 0
        self.room = self.granted - len(text)
        self._scan, self._scanned = None, 0

    def _whole_characters(self, text: str) -> str:
        """Join the halves of a surrogate pair that the wire cut in two (quirk 35)."""
        if self._surrogate and "\udc00" <= text[0] <= "\udfff":
            text = joined_surrogates(self._surrogate, text[0]) + text[1:]
        else:
            text = self._surrogate + text
        self._surrogate = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        return text[:-1] if self._surrogate else text

    def flush(self) -> None:
        """Keep a surrogate whose other half never came: the text has ended."""
        if self._surrogate:
            self.shown = self.size
            self.parts.append(self._surrogate)
            self._surrogate = ""

    def restate(self, text: str, rank: int) -> bool:
        """Take a whole text; return whether it agrees with what the call holds.

        An empty object says nothing: it counts only if nothing else comes.
        """
        if rank == OBJECT and not self.hollow:
            return self.is_restated_by(text)
        if is_placeholder(text) and not (self.empty or self.holds_placeholder):
            self.rank = max(rank, self.rank)
            return True
        if rank >= HYDRATION and self.hole:
            self.hole, self.healed = False, True
        if self.restated is None or rank >= self.rank:
            agrees = self.restated in (None, text) or rank > self.rank
            self.restated, self.rank = text, rank
            return agrees
        return text == self.restated
