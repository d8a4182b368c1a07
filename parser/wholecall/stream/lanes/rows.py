"""The record of a lane: its calls, its reasoning, and the log of its frames and pieces of text.

An entry of the log is a frame that is not a piece, as it came, or a `Row` of pieces, as their place in their text. Where
pieces of several calls take turns, the row is a part of their `Weave`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, NamedTuple, Union

from wholecall.calls.output.turns import ReasoningBlock
from wholecall.framing.frame import Frame
from wholecall.machine.kept import Kept
from wholecall.machine.said import SaidText

FIRST: Final = 256  # characters of a call whose pieces are kept as they came


class LaneCall:
    """A call: its labels, the members to send back to its provider, and its text.

    The first pieces of the text are kept as they came, because they decide its meaning; the rest is one text. A place
    in it is counted in pieces, and beyond these in characters.
    """

    __slots__ = ("extra", "id", "index", "name", "parts", "rest", "size")

    def __init__(self, index: int, id: str | None, name: str, extra: dict[str, Any] | None) -> None:
        self.index, self.id, self.name, self.extra = index, id, name, extra
        self.parts: list[str] = []
        self.rest: SaidText | None = None
        self.size = 0

    def add(self, text: str) -> None:
        """Append a piece."""
        if self.size < FIRST:
            self.parts.append(text)
        else:
            self.later().add(text)
        self.size += len(text)

    def add_all(self, pieces: list[str], text: str) -> None:
        """Append several, which are this text together."""
        if self.size < FIRST:
            self.parts += pieces
        else:
            self.later().add(text)
        self.size += len(text)

    def later(self) -> SaidText:
        """Return the text after the first pieces, which begins with this."""
        rest = self.rest
        if rest is None:  # most calls are short
            rest = self.rest = SaidText()
        return rest

    @property
    def text(self) -> str:
        """All of it."""
        text = "".join(self.parts)
        return text if self.rest is None else text + self.rest.text

    @property
    def end(self) -> int:
        """The place of the next piece."""
        n = len(self.parts)
        return n if self.rest is None else n + self.rest.size

    def pieces(self, start: int, end: int) -> list[str]:
        """Return the text between two places."""
        n = len(self.parts)
        rest = self.later().text[max(start - n, 0) : end - n] if end > n else ""
        return self.parts[start:end] + ([rest] if rest else [])


class Thought(SaidText):
    """A block of reasoning, and the parts to send back to its provider: see `ReasoningBlock`."""

    __slots__ = ("data", "id", "signature", "was_told")

    def __init__(self) -> None:
        super().__init__()
        self.was_told = False  # before it was forgotten
        self.id: str | None = None
        self.signature: str | None = None
        self.data: str | None = None

    def __bool__(self) -> bool:
        return bool(self.size or self.was_told or self.id or self.signature or self.data)

    def forget(self) -> None:
        """Forget its text."""
        self.was_told = bool(self)
        self.clear()

    def seen(self) -> ReasoningBlock:
        """Return the block for users."""
        return ReasoningBlock(self.text, self.id, self.signature, self.data)


# A call among several that are open at once, after the wire's label of it.
Strand = tuple[Any, LaneCall]
_FIRST, _SECOND = itemgetter(0), itemgetter(1)


class Weave:
    """Pieces of several calls that take turns, as they came.

    Attributes:
        strands: of each piece its call, also of pieces that were read and are not taken yet.
        texts: the pieces that were taken.
    """

    __slots__ = ("strands", "texts")

    def __init__(self) -> None:
        self.strands: list[Strand] = []
        self.texts: list[str] = []

    @property
    def size(self) -> int:
        """The number of pieces that were taken."""
        return len(self.texts)

    def turn_to(self, strand: Strand, n: int) -> None:
        """Note the call of the next piece, before which this many pieces were read and are not taken yet."""
        strands, n = self.strands, len(self.texts) + n
        if len(strands) > n:  # those of pieces that were read once more
            del strands[n:]
        strands.append(strand)

    def runs(self, start: int, end: int) -> Iterator[tuple[Any, list[str]]]:
        """Yield the pieces between two places that one call has in a row, after the wire's label of it."""
        pieces = zip(self.strands[start:end], self.texts[start:end], strict=True)
        for (label, _), run in groupby(pieces, _FIRST):
            yield label, [*map(_SECOND, run)]


Source = Union[SaidText, LaneCall, Weave]
# The place in the text where a part of the answer began, and the part; None stands for another text.
Place = tuple[int, Union[LaneCall, Thought, Kept, None]]


class Row(NamedTuple):
    """A row of pieces: the call or the text of the pieces, the wire's label of it, and the part of it that they are.

    Places in text and reasoning are counted in characters, those in a call as the call counts them, and those in a weave,
    which has no label, in pieces. `number` is the next event's, where events are numbered; `counts` are the token counts
    so far, if some came with the pieces.
    """

    of: Source
    label: Any
    start: int
    end: int
    number: int
    counts: dict[str, Any] | None

    @property
    def texts(self) -> list[str]:
        """Their texts."""
        if isinstance(self.of, LaneCall):
            return self.of.pieces(self.start, self.end)
        if isinstance(self.of, Weave):
            return self.of.texts[self.start : self.end]
        return [self.of.text[self.start : self.end]]

    @property
    def runs(self) -> Iterable[tuple[Any, list[str]]]:
        """Those of one text in a row, each after the wire's label of the text."""
        if isinstance(self.of, Weave):
            return self.of.runs(self.start, self.end)
        return ((self.label, self.texts),)


def something() -> SaidText:
    """Return a placeholder for a text that was forgotten."""
    said = SaidText()
    said.add(".")
    return said


def size_of(of: Source) -> int:
    """Return the size of a text, as rows count it."""
    return of.end if isinstance(of, LaneCall) else of.size


Entry = Union[Frame, Row, None]  # None: the text before it was forgotten


def content_of(places: Iterable[Place], text: str) -> Iterator[Any]:
    """Yield text, reasoning and calls in the order in which they began."""
    done = 0
    for place, what in places:
        if place > done:
            yield text[done:place]
            done = place
        if isinstance(what, LaneCall):
            yield what.index
        elif isinstance(what, Kept):
            yield what.seen("")
        elif what:
            yield what.seen()
    if done < len(text):
        yield text[done:]
