"""The text of a call: the fragments in force, a restated whole text, and their meaning so far.

Theory of operation. A call holds at most two texts: its fragments in order, and a whole text that the wire restated,
with a rank (see `deltas`). The effect of a fragment on the text is decided here and nowhere else:

* it is appended, unless the text so far proves that it cannot be a continuation. Only white space may follow a complete
  object, so an equal fragment repeats it (quirk 23), and an object after `{}` replaces that placeholder (quirk 25);
* a fragment that begins with all of the text so far is a snapshot (quirk 24), unless JSON allows that text to occur
  again, as in `{"a":` + `{"a":1}` or `{"` + `{":1}`. There both readings are kept, and the snapshot is believed only if
  the other one turns out not to parse;
* a restatement adds and replaces, but never erases.

The free text of custom tools has none of these rules: its fragments are always appended.

The questions about the text (is it complete, is it an object) are asked while it streams, so that no text is read
twice: a lexical scan continues where it stopped, and an object that was found is remembered with its size.
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall.calls.arguments import placeholders, tokens
from wholecall.calls.arguments.lexical import Scan, begins_object, is_object
from wholecall.deltas import HYDRATION, OBJECT
from wholecall.machine.evidence import CallEvidence
from wholecall.types import Flag, Kind


class CallText(CallEvidence):
    """The text of one call.

    Attributes:
        kind: `custom` calls have free text, all others JSON.
        flags: the oddities of the call; here, of the way in which its text came.
        parts: the fragments in force; those that were counted or read are joined to blocks.
        half: half of a character whose other half has not come (quirk 35).
        restated: the whole text of the highest `rank` that came so far; None if none came.
        reading: a text and its value, kept for the next restatement (see `restating`).
        full: a limit was met; no more text is taken.
        snapshots: a fragment repeated the text so far and added to it.
        shown: how many characters of the fragments were emitted, None for all of them.
        bytes: the size of the fragments that were counted.
        length: characters of all fragments, without those that the fast path appended since the last grant.
        room: characters that the fast path may still append at once; `granted` is its value at the last grant, and
            `charged` and `charged_whole` are the bytes that the turn's budget has counted (see `budget`).
    """

    kind: Kind
    flags: set[Flag]
    parts: list[str]
    half: str
    restated: str | None
    rank: int
    reading: tuple[str, dict[str, Any] | None] | None
    full: bool
    snapshots: bool
    shown: int | None
    length: int
    bytes: int
    charged: int
    charged_whole: int
    granted: int
    room: int
    _counted: int  # parts whose size is in `length` and `bytes`
    _scan: Scan | None
    _scanned: int  # characters that the scan has seen
    _n_whole: int  # size of the text when it was found to be an object
    _other_at: int  # where the text begins, should an undecidable fragment prove to be a snapshot; 0 if there was none

    __slots__ = tuple(__annotations__)
    DERIVED: ClassVar = frozenset({"reading", "_scan", "_scanned", "_n_whole"})

    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.kind, self.flags = kind, set()
        self.full = self.snapshots = False
        self.restated = self.reading = self.shown = self._scan = None
        self.rank = self.length = self.bytes = self.charged = self.charged_whole = self.granted = 0
        self.room = self._counted = self._scanned = self._n_whole = self._other_at = 0
        self.half = ""
        self.parts = []

    def remade(self) -> None:
        """Restore the state that snapshots do not hold.

        Raises:
            ValueError: a text cannot be in this state.
        """
        super().remade()
        if self.half and not "\ud800" <= self.half <= "\udbff":
            raise ValueError("half of a character is none")
        if not (self.full or all(self.parts)) or not 0 <= self._counted <= len(self.parts):
            raise ValueError("a piece of its text is empty, or not there")
        if not 0 <= self._other_at <= self.size:
            raise ValueError("its other reading begins nowhere")

    def flag(self, *flags: Flag) -> None:
        """Note oddities of the call."""
        self.flags.update(flags)

    # Both texts.

    @property
    def size(self) -> int:
        """Characters of the fragments in force."""
        return self.length + self.granted - self.room

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
            if counted:  # otherwise it is counted as one block, when that is needed
                self.count()
            if len(parts) > 1:
                self._join(0, counted=bool(counted))
        return parts[0] if parts else ""

    @property
    def pending_text(self) -> str:
        """The fragments in force, with half of a character whose other half has not come."""
        return self.text + self.half

    @property
    def other_reading(self) -> str:
        """The text, should an undecidable fragment prove to be a snapshot; empty if there was none."""
        return self.tail(self._other_size)

    @property
    def _other_size(self) -> int:
        return self.size - self._other_at if self._other_at else 0

    def count(self) -> None:
        """Join the fragments that came since the last count into one block, and count its size."""
        parts, counted = self.parts, self._counted
        if len(parts) > counted:
            self.bytes += tokens.utf8_size(self._join(counted, counted=True))
        self.grant(self.room)

    def grant(self, characters: int, grown: int = 0) -> None:
        """Let the fast path append so many characters; `grown`: by how many the text grew otherwise, or shrank."""
        self.length += self.granted - self.room + grown
        self.granted = self.room = characters

    def _join(self, first: int, *, counted: bool) -> str:
        """Join the fragments from this one on into one block, the last one, and return it."""
        block = "".join(self.parts[first:])
        self.parts[first:] = [block]
        self._counted = first + counted
        return block

    # Taking text.

    def take(self, text: str) -> str | None:
        """Take a fragment; return the text to emit, or None if the text that was emitted has been replaced."""
        if self.half or not text.isascii():
            text = self._whole_characters(text) if text else ""
        if not text:
            return ""
        if text[0] == "{" and self.parts and self.kind != "custom":
            size = self.size
            if len(text) >= size or size <= placeholders.PLACEHOLDER_SIZE:
                return self._take_object(text)
        if self._other_at:
            return self._appended(text)
        self.append(text)
        return text

    def append(self, text: str) -> None:
        """Take a text as it is."""
        self.parts.append(text)
        self.grant(self.room - len(text), len(text))

    def flush(self) -> str:
        """Return the fragments in force, with a surrogate whose other half never came: the text has ended."""
        if self.half:
            self.shown = self.size
            self.append(self._take_half())
        return self.text

    def _take_half(self) -> str:
        """Return half of a character, whose other half comes no more."""
        half, self.half = self.half, ""
        return half

    def restate(self, text: str, rank: int) -> bool:
        """Take a whole text; return whether it agrees with the call's text.

        An empty object proves nothing: it counts only if nothing else comes.
        """
        if rank == OBJECT and not self.blank:
            return self.is_restated_by(text)
        if placeholders.is_placeholder(text) and not (self.empty or self.holds_placeholder):
            self.rank = max(rank, self.rank)
            return True
        if rank >= HYDRATION and self.lacks_text:
            self.note("restored")
        if self.restated is None or rank >= self.rank:
            agrees = self.restated in (None, text) or rank > self.rank
            self.restated, self.rank = text, rank
            return agrees
        return text == self.restated

    def replace_whole(self, text: str | None, rank: int) -> None:
        """Let this be the restated text, whatever came before; None for none."""
        self.restated, self.rank = text, rank

    def clear_text(self) -> None:
        """Clear the text, except for the sample of a text that exceeded a limit."""
        self.note("started_over")
        self.replace_whole(None, 0)
        self.snapshots = False
        self._take_half()
        if not self.full:
            self._empty()

    def cut_to(self, size: int, text: str) -> None:
        """Take no more text: keep the first `size` bytes as a sample."""
        self.shown = self.size
        sample = (self.text + text)[:size].encode("utf-8", "surrogatepass")[:size]
        self._replace(sample.decode("utf-8", "ignore"))
        self.full = True

    def tail(self, count: int) -> str:
        """Return the last characters of the fragments in force; unlike `text` it changes nothing."""
        found: list[str] = []
        for part in reversed(self.parts):
            if count <= 0:
                break
            found.append(part[-count:])
            count -= len(part)
        return "".join(reversed(found))

    def _take_object(self, text: str) -> str | None:
        if self._other_at:
            return self._appended(text)
        before = self.text
        if self.complete:
            return self._after_complete(before, text)
        if not (before[:1] == "{" and text.startswith(before)):
            return self._appended(text)
        if not self.snapshots and self._may_hold_itself(before):
            return self._append_undecided(text)
        self.snapshots = True
        self.flag("snapshots")
        self._replace(text)
        return text[len(before) :]

    def _may_hold_itself(self, before: str) -> bool:
        """Return whether JSON allows all of the text to come again: as a value, or inside the first key."""
        if self._lexical().value_may_start:
            return True
        return len(before) <= placeholders.PLACEHOLDER_SIZE and "".join(before.split()) == '{"'

    def _after_complete(self, before: str, text: str) -> str | None:
        if text == before:
            self.flag("repeated")
            return ""
        if placeholders.is_placeholder(before):
            self.flag("placeholder")
            self._replace(text)
            return None
        return self._appended(text)

    def _appended(self, text: str) -> str:
        """Append; the text may be a snapshot of the other reading as well."""
        if (
            self._other_at
            and text[0] == "{"
            and len(text) >= self._other_size
            and text.startswith(self.other_reading)
        ):
            return self._append_undecided(text)
        self.append(text)
        return text

    def _append_undecided(self, text: str) -> str:
        """Append a text that may be a snapshot: the other reading begins with it."""
        self._other_at = self.size
        self.append(text)
        return text

    def _replace(self, text: str) -> None:
        self._empty()
        self.append(text)

    def _empty(self) -> None:
        """Forget the fragments, and all that was counted and read of them."""
        self.parts.clear()
        self.grant(self.granted, -self.size)
        self._counted = self.bytes = self._scanned = self._n_whole = self._other_at = 0
        self._scan = None

    def _whole_characters(self, text: str) -> str:
        """Join the halves of a surrogate pair that the wire cut in two (quirk 35)."""
        if self.half and "\udc00" <= text[0] <= "\udfff":
            text = tokens.joined_surrogates(self.half, text[0]) + text[1:]
        else:
            text = self.half + text
        self.half = text[-1] if "\ud800" <= text[-1] <= "\udbff" else ""
        return text[:-1] if self.half else text

    # Questions about the text so far.

    @property
    def complete(self) -> bool:
        """Whether the text is one whole value; only text that is new is scanned."""
        if self.restated is not None:
            return True
        if not self.parts or self._lexical().complete:
            return bool(self.parts)
        return len(self.parts) <= placeholders.PLACEHOLDER_SIZE and self.holds_placeholder

    @property
    def plain(self) -> bool:
        """Whether a fragment simply appends, unless it begins an object."""
        return not (self.full or self.half or self._other_at)

    @property
    def has_two_readings(self) -> bool:
        """Whether a fragment may have been a snapshot, so that the text may be whole already."""
        return bool(self._other_at)

    @property
    def takes_value(self) -> bool:
        """Whether an object, or text that looks like one, can follow the text so far."""
        scan = self._lexical()
        return self.restated is None and (scan.inside_string or scan.value_may_start)

    @property
    def blank(self) -> bool:
        """Whether the next text may be all of it: so far there is none, only a placeholder, or white space."""
        if self.restated is not None:
            return placeholders.is_placeholder(self.restated)
        return self.size <= placeholders.PLACEHOLDER_SIZE and (
            not self.text.strip() or placeholders.is_placeholder(self.text)
        )

    @property
    def holds_placeholder(self) -> bool:
        """Whether the text is only a placeholder, which the next fragment may replace (quirk 25)."""
        if self.restated is not None:
            return placeholders.is_placeholder(self.restated)
        return self.size <= placeholders.PLACEHOLDER_SIZE and placeholders.is_placeholder(self.text)

    @property
    def holds_object(self) -> bool:
        """Whether the text in force is exactly one JSON object; a text is read once."""
        if self.restated is not None:
            return is_object(self.restated)
        if not (self._n_whole and self._n_whole == self.size):
            if not is_object(self.text):
                return False
            self._n_whole = self.size
        return True

    @property
    def begins_object(self) -> bool:
        """Whether the text in force begins with a brace."""
        return begins_object(self.parts if self.restated is None else (self.restated,))

    def is_restated_by(self, text: str) -> bool:
        """Return whether the text is the call's present text, in either reading."""
        if self._other_at and len(text) == self._other_size and text == self.other_reading:
            return True
        return text == self.restated or (len(text) == self.size and text == self.text)

    def grows_by(self, text: str) -> bool:
        """Return whether the text is the next snapshot, if the call's fragments are snapshots."""
        return self.has_two_readings and len(text) >= self._other_size and text.startswith(self.other_reading)

    def may_be_repeated_by(self, text: str) -> bool:
        """Return whether a fragment could repeat all of the text, or replace a placeholder."""
        if self.kind == "custom" or self.empty or text[0] not in placeholders.BEGINNINGS:
            return False
        return self.holds_placeholder or (len(text) >= self.size and text.startswith(self.text))

    def may_be_replaced_by(self, text: str) -> bool:
        """Return whether the text may turn out to restate the fragments in force instead of following them."""
        return self.kind != "custom" and text[:1] == "{" and len(text) >= self.size

    def _lexical(self) -> Scan:
        scan = self._scan = self._scan or Scan()
        size = self.size
        if self._scanned < size:
            scan.feed(self.tail(size - self._scanned) if self._scanned else "".join(self.parts))
            self._scanned = size
        return scan
