"""A file's bytes, decompressed, with a buffer for looking ahead.

Theory of operation. A source is an iterator of pieces with a buffer in front of it. Every error of the disk or of a
compressed file becomes a `BadRecording` that names the file and the byte. The bytes of a pipe are passed on at once.

gzip, zlib and Zstandard are decompressed piece by piece (`framing.codings`), and the output is counted: a few kilobytes
can decode to gigabytes. The output is limited to 64 MiB, or 200 times the input read so far, whichever is more:
recordings compress to a tenth or a fiftieth. Callers that trust a file pass a limit, and then only that counts.
"""

from __future__ import annotations

import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext
from itertools import chain
from pathlib import Path
from typing import BinaryIO, Final

from wholecall.errors import BadRecording
from wholecall.framing.codings import LARGEST_WINDOW, Decoder, UndecodableError, decoder_for
from wholecall.recordings.finding import STDIN, Place

PIECE = 64 * 1024  # bytes of one read
_MAGIC_BYTES = 4
_MAX_LINE = 256 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
DAMAGE = (ValueError, ImportError)  # the exceptions of `inflated`
_ANYWAY: Final = 64 * 1024 * 1024
_TIMES: Final = 200
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_ZLIB_METHOD, _ZLIB_CHECK = 8, 31


class Source:
    """The bytes of one file.

    Args:
        place: where it is.
        pieces: its bytes; exceptions from it are passed on.
    """

    def __init__(self, place: Place, pieces: Iterable[bytes]) -> None:
        self.place = place
        self.path = place.path
        self.position = 0  # bytes that were taken
        self.closed = False
        self._pieces = iter(pieces)
        self._held = b""

    @property
    def head(self) -> bytes:
        """The bytes that are read and not taken yet."""
        return self._held

    @property
    def is_over(self) -> bool:
        """Whether the reader has moved on to another file, but this one can be read again from its beginning."""
        return self.closed and self.position == 0 and self.path != STDIN

    def fill(self) -> bool:
        """Read one more piece into the head; False at the end of the file."""
        for piece in self._pieces:
            self._held += piece
            return True
        return False

    def take(self) -> bytes:
        """Return the next piece in its size, `b""` at the end.

        Raises:
            BadRecording: the file cannot be read any further.
            ValueError: the source is closed.
        """
        if self.closed:
            raise ValueError(f"{self.path} is closed: take the chunks of a recording before the next one")
        if not self._held:
            self.fill()
        piece, self._held = self._held, b""
        self.position += len(piece)
        return piece

    def put_back(self, piece: bytes, size: int) -> bytes:
        """Return the first bytes of a taken piece, and put the others back."""
        self._held = piece[size:] + self._held
        self.position -= len(piece) - size
        return piece[:size]

    def take_at_least(self, size: int) -> bytes:
        """Return the next bytes, less than `size` only at the end."""
        pieces = [piece := self.take()]
        total = len(piece)
        while piece and total < size:
            piece = self.take()
            pieces.append(piece)
            total += len(piece)
        return b"".join(pieces)

    def pieces(self) -> Iterator[bytes]:
        """Take everything, piece by piece."""
        while piece := self.take():
            yield piece

    def lines(self) -> Iterator[bytes]:
        """Take everything line by line, without the line ends.

        Raises:
            BadRecording: a line is longer than 256 MiB.
        """
        begun: list[bytes] = []
        size = 0
        for piece in self.pieces():
            first, *others = piece.split(b"\n")
            begun.append(first)
            size += len(first)
            if others:
                yield b"".join(begun)
                yield from others[:-1]
                begun = [others[-1]]
                size = len(others[-1])
            if size > _MAX_LINE:
                raise BadRecording(f"{self.path}: a line is longer than {_MAX_LINE:,} bytes")
        if size:
            yield b"".join(begun)

    def skip_mark(self) -> None:
        """Leave out a byte order mark at the beginning."""
        self._held = self._held.removeprefix(_BOM)


@contextmanager
def opened(place: Place) -> Generator[Source]:
    """Open a file and close it at the end; standard input stays open.

    Raises:
        BadRecording: it cannot be opened, or later it cannot be read.
    """
    raw = _pieces(place)
    # We do not close standard input; the holder of its recording can take it later.
    with nullcontext() if place.path == STDIN else closing(raw):
        head = _beginning(raw)
        pieces: Iterator[bytes] = chain([head], raw)
        coding = coding_of(head)
        source = Source(place, _decompressed(place, pieces, coding) if coding else pieces)
        try:
            yield source
        finally:
            source.closed = place.path != STDIN


def _beginning(pieces: Iterator[bytes]) -> bytes:
    head = b""
    while len(head) < _MAGIC_BYTES and (piece := next(pieces, b"")):
        head += piece
    return head


def _decompressed(place: Place, pieces: Iterable[bytes], coding: str) -> Iterator[bytes]:
    position = 0
    try:
        for piece in inflated(pieces, coding, place.max_bytes):
            position += len(piece)
            yield piece
    except DAMAGE as error:
        raise BadRecording(f"{place.path}: {error} (after byte {position} of its contents)") from None


def _pieces(place: Place) -> Generator[bytes]:
    if place.path == STDIN and place.trouble is None:
        yield from _read(_stdin(), place.path)
        return
    with _file(place) as file:
        yield from _read(file, place.path)


def _stdin() -> BinaryIO:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise BadRecording(f"{STDIN}: there is no standard input")
    return stream


def _file(place: Place) -> BinaryIO:
    if place.trouble is not None:
        raise BadRecording(f"{place.path}: {place.trouble}")
    try:
        return place.opens() if place.opens else Path(place.path).open("rb")
    except OSError as error:
        raise BadRecording(f"{place.path}: {error.strerror or error}") from error


def _read(file: BinaryIO, path: str) -> Iterator[bytes]:
    read = getattr(file, "read1", file.read)  # bytes of a live stream are passed on at once
    position = 0
    while True:
        try:
            piece: bytes = read(PIECE)
        except OSError as error:
            raise BadRecording(f"{path}: {error.strerror or error} (at byte {position})") from error
        if not piece:
            return
        position += len(piece)
        yield piece


def inflated(pieces: Iterable[bytes], coding: str, max_bytes: int | None = None) -> Iterator[bytes]:
    """Yield the content of compressed bytes.

    Args:
        pieces: the compressed bytes, cut anywhere.
        coding: `"gzip"`, `"deflate"` or `"zstd"`.
        max_bytes: the largest output; by default 64 MiB, or 200 times their size.

    Raises:
        ValueError: they are damaged or cut, or hold more than the limit; the message says which.
        ImportError: for Zstandard, where neither Python (before 3.14) nor the extra `cli` brings it.
    """
    decoder = decoder_for(coding, window=LARGEST_WINDOW)
    if decoder is None:
        raise ImportError("Zstandard needs Python 3.14 or the extra `cli`: pip install 'wholecall[cli]'")
    size = came = 0
    for data in pieces:
        came += len(data)
        most = max(_ANYWAY, _TIMES * came) if max_bytes is None else max_bytes
        for piece in _decoded(decoder, data, coding):
            size += len(piece)
            if size > most:
                raise ValueError(_too_large(coding, most, is_usual=max_bytes is None))
            yield piece
    try:
        decoder.close()
    except UndecodableError:
        raise ValueError(f"its {coding} data is cut") from None


def _decoded(decoder: Decoder, data: bytes, coding: str) -> Iterator[bytes]:
    try:
        yield from decoder.feed(data)
    except UndecodableError:
        raise ValueError(f"its {coding} data is damaged") from None


def _too_large(coding: str, most: int, *, is_usual: bool) -> str:
    why = f", {_TIMES} times its size" if is_usual and most > _ANYWAY else ""
    return (
        f"its {coding} data holds more than {most:,} bytes{why}; max_bytes (--max-bytes N) lets it hold more"
    )


def coding_of(head: bytes, named: str | None = None) -> str | None:
    """Return the compression of bytes from their beginning, None if they are not compressed.

    Args:
        head: four bytes at least, if there are so many.
        named: the response's content encoding. A name alone is not believed: tools keep the header of bytes that they
            have decompressed. `"deflate"` has no marker and counts only if named.
    """
    if head.startswith(_GZIP):
        return "gzip"
    if head.startswith(_ZSTD):
        return "zstd"
    is_zlib = len(head) > 1 and head[0] & 15 == _ZLIB_METHOD and (head[0] << 8 | head[1]) % _ZLIB_CHECK == 0
    return "deflate" if named == "deflate" and is_zlib else None
