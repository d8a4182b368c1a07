"""A recording cut into the pieces in which a server may send it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from tests.support.frames import pieces
from wholecall import ToolCallParser, Turn


def frames(data: bytes, suffix: str) -> list[bytes]:
    """Cut a recording after each of its frames: events of SSE, lines, or binary messages."""
    if suffix == "bin":
        return list(_messages(data))
    return re.findall(rb"(?s:.+?(?:\r?\n){2}|.+\Z)" if suffix == "sse" else rb".+\n?", data)


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of a binary event stream; each begins with its length, four bytes."""
    while data:
        size = int.from_bytes(data[:4], "big")
        yield data[:size]
        data = data[size:]


# Ways to cut a recording.
CUTS: dict[str, Callable[[bytes, str], list[bytes]]] = {
    "frame by frame": frames,
    "byte by byte": lambda data, _: pieces(data, 1),
    "in odd pieces": lambda data, _: pieces(data, 37),
    "with other line ends": lambda data, suffix: [
        data if suffix == "bin" else data.replace(b"\r\n", b"\n").replace(b"\n", b"\r\n")
    ],
}


def n_until(parts: list[bytes], there: Callable[[Turn], object]) -> int:
    """Return how many pieces are needed until something is there in the turn, if the stream went no further."""
    for n in range(1, len(parts)):
        if there(failed_after(parts[:n])):
            return n
    raise AssertionError("it is not there before the end")


def failed_after(parts: list[bytes]) -> Turn:
    """Return the turn of a stream whose source failed after these pieces."""
    parser = ToolCallParser()
    parser.feed(b"".join(parts))
    parser.fail("cut")
    return parser.turn
