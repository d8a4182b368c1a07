"""The short way for dialects most of whose frames are a piece of one text.

Theory of operation. A dialect reads its usual frame by a view as narrow as it can be, which refuses anything odd. It
gives two values for the frame: a *key*, which distinguishes the texts of the dialect, and the text. While the key stays
the same, a text is only appended to the *run*, one delta for all pieces of a read; at a new key the dialect is asked
for the common fields of that text's pieces. The key of the last piece outlives the read, so that a text continues after
it without a second look. All other frames, and pieces that mean more than a piece, are translated one by one. A frame
is only tried as the kind of the frame before it, for a view that refuses costs as much as a wide one. Whole calls,
which some dialects send many in a row, may have a narrow view as well.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable
from itertools import repeat
from typing import ClassVar, Final, Literal, TypeVar, Union

from wholecall import deltas
from wholecall.dialects import decode, translator
from wholecall.dialects.hidden_text import has_bare, with_doubts
from wholecall.framing.frame import Frame, Like

Key = tuple[object, object]
NO_KEY: Key = ("none", "none")  # the key of no piece
NO_PIECE: Final = (NO_KEY, "")
_NOTHING_SAID: Final = deltas.TextFragment(0, "")
_PIECES: Final[frozenset[type]] = frozenset({deltas.Slot, deltas.TextFragment, deltas.ReasoningFragment})
_Was = Literal["", "piece", "call"]
Read = Callable[[str], tuple[Key, str]]
_OfT = TypeVar("_OfT", bound=Union[deltas.Piecewise, None])


class Runs:
    """The run of one stream that the next piece may continue.

    Attributes:
        key: of the last piece; `NO_KEY` where anything else came after it.
        of: the common fields of the run's pieces. The first piece of a read that continues the run of the read before
            begins another `Run` of it.
        known: the common fields of the texts whose pieces came since anything else did.
    """

    __slots__ = ("key", "known", "of")
    DERIVED: ClassVar = frozenset({"key", "known", "of"})  # a stream that moved begins its runs anew

    def __init__(self) -> None:
        self.known: dict[Key, deltas.Piecewise] = {}
        self.stop()

    def stop(self) -> Key:
        """Note that something other than a piece came: the next piece begins a run. Return `NO_KEY`."""
        self.key: Key = NO_KEY
        self.of: deltas.Piecewise = _NOTHING_SAID
        self.known.clear()
        return NO_KEY

    def learn(self, key: Key, of: _OfT) -> _OfT:
        """Keep and return the common fields of a text's pieces, for those that come in turn with pieces of others."""
        if len(self.known) >= translator.MOST_SLOTS:
            self.known.clear()
        if of is not None:
            self.known[key] = of
        return of


def no_piece(_data: str) -> tuple[Key, str]:
    """Read a frame that is never a piece."""
    return NO_PIECE


def _names(like: Like) -> Iterable[str]:
    return repeat(like.event) if isinstance(like, Frame) else [frame.event for frame in like]


def _kind_of(said: list[deltas.Delta]) -> _Was:
    kinds = set(map(type, said))
    if deltas.CallWhole in kinds:
        return "call"
    return "" if _PIECES.isdisjoint(kinds) else "piece"


class PieceTranslator(translator.TextTranslator, translator.TurnTranslator):
    """A translator of messages most of whose frames are pieces of texts."""

    DERIVED = frozenset({"_runs"})

    _was: _Was

    def __init__(self) -> None:
        super().__init__()
        self._runs = Runs()
        self._was = ""  # the kind of the last frame

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame; later pieces start again."""
        self._runs.stop()
        return super().translate(frame)

    def translate_texts(self, texts: list[str], like: Like) -> list[deltas.Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        told: list[deltas.Delta] = []
        runs = self._runs
        now = runs.key
        run: list[str] | None = None  # texts of the last run in `told`
        event, read = "", self._reader("")
        left = iter(texts)
        for text, name in zip(left, _names(like), strict=False):
            if name != event:
                event, read = name, self._reader(name)
            try:
                key, piece = read(text) if self._was == "piece" else NO_PIECE
            except decode.UNREADABLE:
                key, piece = NO_PIECE
            if key != now or not piece:
                of = self.in_common(key) if piece else None
                if of is None:
                    now = runs.stop()
                    told += self._singly(translator.frame_of(texts, left, like))
                    continue
                now = runs.key = key
                runs.of, run = of, [piece]
                told.append(deltas.Run(of, run))
            elif run is None:
                run = [piece]
                told.append(deltas.Run(runs.of, run))
            else:
                run.append(piece)
        return told

    def _singly(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of a frame that is not a piece, or more than one."""
        said = self._called(frame.data) if self._was == "call" else None
        if said is None:
            said = self.told(frame)
            self._was = _kind_of(said)
            return said
        return with_doubts(said, frame.data) if has_bare(said) else said

    @abstractmethod
    def _reader(self, event: str, /) -> Read:
        """Return the reader of the usual frames of an event's name: it returns the key and the text of a piece.

        It raises one of `UNREADABLE`, or returns an empty text, for a frame that is to be translated as any other
        frame.
        """

    def _called(self, _data: str, /) -> list[deltas.Delta] | None:
        """Return the deltas of a frame that holds whole calls and nothing unusual, None for any other."""
        return None

    @abstractmethod
    def in_common(self, key: Key, /) -> deltas.Piecewise | None:
        """Return the common fields of a text's pieces, at its first piece; None if that means more than a piece."""
