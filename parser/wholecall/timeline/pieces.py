"""Cut a stream into pieces at which its frames can end, so that the bytes of each frame are known.

Theory of operation
-------------------
Only the framing knows where a frame ends: it returns the frame then. Therefore this module does not read frames. The
stream is cut where a frame *can* end, each piece is fed separately, and a returned frame belongs to the bytes up to
there. Too many cuts do no harm, because no framing depends on how its bytes are cut.

There are three kinds of pieces. A frame can end with an `end`: the rest of a line and its terminator, a closing
bracket, a whole binary message. A frame can only end before a `head`: the first bytes of a line, because a new line
ends a cut JSON value, and a comma or an opening bracket, which end a word. Everything between is `open`, and decides
nothing. The cuts of the input change only the open pieces; a frame has the same bytes for every cut of the stream. For
this reason a CR at the end of the bytes so far waits for the LF that may belong to it.

Not handled here: frames that only the end of the stream completes; all remaining bytes belong to them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple, Protocol

from wholecall.framing.eventstream import PRELUDE_BYTES, is_prelude

__all__ = ["Piece", "Pieces", "pieces_of"]

_LINE = re.compile(rb"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_HEAD = len(b"event: ")  # of a line: the longest prefix by which a framing recognises the line
_TOKEN = re.compile(rb"[^,\[\]{}]+|.", re.DOTALL)
_KINDS: dict[bytes, Kind] = {b",": "head", b"[": "head", b"{": "head", b"]": "end", b"}": "end"}

Kind = Literal["head", "open", "end"]


class Piece(NamedTuple):
    """Consecutive bytes, never empty, and whether a frame may end before them, after them or not there."""

    data: bytes
    kind: Kind


class Pieces(Protocol):
    """A cutter of one stream."""

    def cut(self, data: bytes) -> Iterator[Piece]:
        """Yield the next bytes of the stream in pieces; a part of them may wait for the next call."""
        ...

    def rest(self) -> bytes:
        """Return the waiting bytes, at the end of the stream."""
        ...


def pieces_of(framing: str) -> Pieces:
    """Return the cutter for a stream of this framing."""
    return _CUTTERS.get(framing, _Lines)()


class _Lines:
    """Lines that end in LF, CR or both."""

    def __init__(self) -> None:
        self._column = 0
        self._held = b""

    def cut(self, data: bytes) -> Iterator[Piece]:
        data = self._held + data
        self._held = b"\r" if data.endswith(b"\r") else b""
        for line in _LINE.findall(data, 0, len(data) - len(self._held)):
            yield from self._cut_line(line)

    def _cut_line(self, line: bytes) -> Iterator[Piece]:
        text = line.rstrip(b"\r\n")
        head = text[: max(_HEAD - self._column, 0)]
        ended = len(text) < len(line)
        self._column = 0 if ended else self._column + len(text)
        if head:
            yield Piece(head, "head")
        if len(head) < len(line):
            yield Piece(line[len(head) :], "end" if ended else "open")

    def rest(self) -> bytes:
        return self._held


class _Elements:
    """The elements of a JSON array, and everything between two of its brackets or commas."""

    def cut(self, data: bytes) -> Iterator[Piece]:
        for match in _TOKEN.finditer(data):
            yield Piece(match[0], _KINDS.get(match[0], "open"))

    def rest(self) -> bytes:
        return b""


class _Messages:
    """The messages of an Amazon event stream; each begins with its length."""

    def __init__(self) -> None:
        self._held = bytearray()
        self._lost = False  # the beginning of the next message is unknown

    def cut(self, data: bytes) -> Iterator[Piece]:
        held = self._held
        held += data
        while len(held) >= PRELUDE_BYTES and not self._lost:
            prelude = bytes(held[:PRELUDE_BYTES])
            self._lost = not is_prelude(prelude)
            size = PRELUDE_BYTES if self._lost else max(int.from_bytes(prelude[:4], "big"), PRELUDE_BYTES)
            if len(held) < size:
                return
            yield Piece(bytes(held[:size]), "end")
            del held[:size]
        if self._lost and held:
            yield Piece(bytes(held), "open")
            held.clear()

    def rest(self) -> bytes:
        return bytes(self._held)


_CUTTERS: dict[str, Callable[[], Pieces]] = {"jsonarray": _Elements, "eventstream": _Messages}
