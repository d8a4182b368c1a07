"""Find the strings of a binary event stream, and correct its checksums.

Theory of operation. Messages are found by their lengths; a payload is a region, and so is the message of an error in
the headers. After the payloads were changed, the checksum of each message is recomputed, but only where it was right
before. After a wrong length no message can be found: the rest must not be published.
"""

from __future__ import annotations

from collections.abc import Iterator
from zlib import crc32

from wholecall.framing.eventstream import PRELUDE_BYTES, is_prelude
from wholecall.redacting.leaves import Frame, Leaf, Region, scan_value

__all__ = ["Messages"]

_EVENT, _MESSAGE = b":event-type", b":error-message"
_STRING = 7  # the type of text values in headers


class Messages:
    """The messages of a stream.

    Args:
        data: the stream; changed in place by `close`.

    Raises:
        ValueError: no messages can be found after some position.
    """

    def __init__(self, data: bytearray) -> None:
        self._data = data
        self._sound: list[tuple[int, int]] = []
        self._regions: list[tuple[int, int, Region]] = []

    def leaves(self) -> Iterator[Leaf]:
        """Yield the strings of all messages.

        Raises:
            ValueError: the lengths of a message are wrong.
        """
        start, data = 0, self._data
        while start < len(data):
            head = bytes(data[start : start + PRELUDE_BYTES])
            if len(head) < PRELUDE_BYTES:
                return
            if not is_prelude(head):
                raise ValueError(f"the lengths of the message at byte {start:,} are damaged")
            end, body = start + int.from_bytes(head[:4], "big"), start + PRELUDE_BYTES
            body += int.from_bytes(head[4:8], "big")
            if body > end - 4:
                raise ValueError(f"the lengths of the message at byte {start:,} are impossible")
            if end <= len(data) and crc32(data[start : end - 4]) == int.from_bytes(
                data[end - 4 : end], "big"
            ):
                self._sound.append((start, end))
            yield from self._message(start, body, min(end, len(data) + 4) - 4)
            start = end

    def _message(self, start: int, body: int, end: int) -> Iterator[Leaf]:
        frame = Frame()
        places: list[tuple[int, int]] = []
        for name, first, last in self._headers(start + PRELUDE_BYTES, min(body, len(self._data))):
            if name == _EVENT:
                frame.event = self._data[first:last].decode("utf-8", "replace")
            elif name == _MESSAGE:
                places.append((first, last))
        for first, last in places:
            region = self._region(first, last)
            yield Leaf(region, 0, last - first, "", frame, bare=True)
        yield from scan_value(self._region(body, end), frame)

    def _headers(self, at: int, end: int) -> Iterator[tuple[bytes, int, int]]:
        """Yield the names of headers and the positions of their values, as long as those are text."""
        data = self._data
        while at < end:
            name = bytes(data[at + 1 : at + 1 + data[at]])
            at += 1 + len(name)
            if at >= end or data[at] != _STRING:
                return
            size = int.from_bytes(data[at + 1 : at + 3], "big")
            yield name, at + 3, at + 3 + size
            at += 3 + size

    def _region(self, start: int, end: int) -> Region:
        region = Region(self._data[start : max(end, start)], start)
        self._regions.append((start, end, region))
        return region

    def close(self) -> None:
        """Write the regions back, and new checksums where the old ones were right."""
        for start, end, region in self._regions:
            self._data[start : max(end, start)] = region.data
        for start, end in self._sound:
            self._data[end - 4 : end] = crc32(self._data[start : end - 4]).to_bytes(4, "big")
