"""The book of one AG-UI run: the events of its calls, in order, to be read at the end if a label was odd.

Theory of operation. Calls are emitted when the run finishes, not before. Therefore pieces whose ids are absent, shared
or unknown need not be assigned at once: reports before the end are for display only, and at the end the book is read in
each way in which a server can mean it. A snapshot that comes after an oddity waits for the end, too.

A piece of text joins the one before it if it has the same label, and cannot begin, repeat or restate a text. The book
is closed for good by anything that it has no place for: a result, a call that continues after a snapshot, or more than
it may hold.
"""

from __future__ import annotations

from wholecall.arguments.placeholders import BEGINNINGS
from wholecall.deltas import CallWhole, Delta, Marked, Reread
from wholecall.dialects.remembered import keep_piece

__all__ = ["Book"]

_MOST = 4096  # pieces
_LONGEST = 1 << 22  # characters


class Book:
    """The pieces of one run.

    Attributes:
        odd: a label was not as documented.
    """

    odd: bool
    _open: bool
    _chunks: bool
    _pieces: list[Marked]
    _rest: list[str]
    _n_rest: int
    _room: int
    _listed: list[CallWhole]

    def __init__(self) -> None:
        self.odd = False
        self._open = True  # more may be added
        self._chunks = False  # some pieces came in chunks
        self._pieces = []
        self._rest = []  # the continuation of the last piece's text, that piece included
        self._n_rest = 0  # the number of wire pieces in it
        self._room = _LONGEST
        self._listed = []  # the calls of the last snapshot

    def remade(self) -> None:
        """Check that a continuation has a beginning.

        Raises:
            ValueError: it has no beginning.
        """
        if bool(self._rest) != bool(self._n_rest) or (self._rest and not self._pieces):
            raise ValueError("a text goes on from no piece")

    def start(self, id_: str | None, name: str | None, slot: int, *, chunk: bool = False) -> None:
        """Note that a call starts."""
        self._chunks = self._chunks or chunk
        self._add(Marked("S", slot, id_, name))

    def text(self, id_: str | None, slot: int | None, text: str) -> None:
        """Note a piece of text."""
        rest = self._rest
        if rest and text and text[0] not in BEGINNINGS and self._room > 0 and id_ == self._pieces[-1].id:
            keep_piece(rest, text)
            self._n_rest += 1
            self._room -= len(text)
        elif self._open:
            self._add(Marked("T", slot, id_, None, text))
            self._rest = [text] if text and self._open else []
            self._n_rest = len(self._rest)

    def end(self, id_: str | None, slot: int | None) -> None:
        """Note the end of a call."""
        self._add(Marked("E", slot, id_, None))

    def _add(self, piece: Marked) -> None:
        self._join()
        self._room -= len(piece.text)
        self._open = self._open and not self._listed and self._room >= 0 and len(self._pieces) < _MOST
        if self._open:
            self._pieces.append(piece)
        else:
            self._pieces.clear()

    def _join(self) -> None:
        if self._n_rest > 1:
            self._pieces[-1].text = "".join(self._rest)
            self._pieces[-1].n = self._n_rest
        self._rest, self._n_rest = [], 0

    def lists(self, calls: list[CallWhole]) -> bool:
        """Keep the calls of a snapshot for the end; False if they are to be reported at once."""
        if self._open and self.odd:
            self._listed = calls
            return True
        if calls:
            self.close()
        return False

    def close(self) -> list[CallWhole]:
        """Discard the pieces, and take no more; return the calls of a snapshot that waited."""
        listed, self._listed = self._listed, []
        self._open, self._rest, self._n_rest = False, [], 0
        self._pieces.clear()
        return listed

    def read(self) -> list[Delta]:
        """Report the whole book, if it is to be read."""
        self._join()
        if not (self.odd and (self._pieces or self._listed)):
            return []
        return [Reread(0, tuple(self._pieces), tuple(self._listed), self._chunks)]
