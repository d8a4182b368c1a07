"""Find the ends of Zstandard blocks (RFC 8878), so that each can be decoded by itself.

Theory of operation. A block decodes to 128 KiB at most, whatever its size. Thus a body with blocks of four bytes can
decode to gigabytes. The bytes are cut after each block: between two cuts is the end of one block at most. Only
lengths are read here; the library decides whether the bytes are right, and where they cannot be read nothing
is cut any more.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Final

_private = True

_MAGIC: Final = 0xFD2FB528
_SKIPPABLE: Final = 0x184D2A5  # and four more bits
_RLE: Final = 1  # a block of one byte, repeated
_ID_SIZES: Final = (0, 1, 2, 4)  # of the dictionary, by the last two bits of the descriptor
_LENGTH_SIZES: Final = (0, 2, 4, 8)  # of the content's length, by the first two
_EVER: Final = 1 << 62

# A request of the reader: that many bytes to look at; if negative, that many to skip without a look; if 0, a cut.
_Reader = Generator[int, bytes, None]


class Blocks:
    """Cuts the bytes of one body after each block and each frame."""

    def __init__(self) -> None:
        self._reader = _frames()
        self._wanted = next(self._reader)
        self._seen = b""  # of the bytes it wants to look at

    def cut(self, data: bytes) -> Iterator[bytes]:
        """Yield the next bytes in pieces, none of them empty."""
        start = place = 0
        while place < len(data):
            place += self._taken(data, place)
            if self._wanted == 0:
                yield data[start:place]
                start = place
                self._wanted = self._reader.send(b"")
        if start < place:
            yield data[start:]

    def _taken(self, data: bytes, place: int) -> int:
        """Give the reader the bytes it wants, and return how many those were; it continues up to the next cut."""
        if self._wanted > 0:
            part = data[place : place + self._wanted - len(self._seen)]
            self._seen += part
            if len(self._seen) == self._wanted:
                seen, self._seen = self._seen, b""
                self._wanted = self._reader.send(seen)
            return len(part)
        size = min(-self._wanted, len(data) - place)
        self._wanted += size
        if self._wanted == 0:
            self._wanted = self._reader.send(b"")
        return size


def _frames() -> _Reader:
    while True:
        magic = int.from_bytes((yield 4), "little")
        if magic >> 4 == _SKIPPABLE:
            yield from _skip(int.from_bytes((yield 4), "little"))
        elif magic == _MAGIC:
            yield from _frame()
        else:
            yield from _skip(_EVER)
        yield 0


def _frame() -> _Reader:
    descriptor = (yield 1)[0]
    is_single = bool(descriptor & 0x20)
    yield from _skip(
        (_LENGTH_SIZES[descriptor >> 6] or is_single) + _ID_SIZES[descriptor & 3] + (not is_single)
    )
    is_last = False
    while not is_last:
        head = int.from_bytes((yield 3), "little")
        is_last = bool(head & 1)
        yield from _skip(1 if head >> 1 & 3 == _RLE else head >> 3)
        if not is_last:
            yield 0
    yield from _skip(4 if descriptor & 4 else 0)  # the checksum


def _skip(size: int) -> _Reader:
    if size:
        yield -size
