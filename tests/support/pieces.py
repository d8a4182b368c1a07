"""A recording cut into the pieces in which a server may send it."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from tests.support.frames import pieces
from wholecall import ToolCallParser

__all__ = ["CUTS", "frames", "n_frames_until_a_call"]


def frames(data: bytes, suffix: str) -> list[bytes]:
    """Cut a recording after each of its frames: events of SSE, lines, or binary messages."""
    if suffix == "bin":
        return list(_messages(data))
    mark = b"\n\n" if suffix == "sse" else b"\n"
    return [piece + mark for piece in data.split(mark) if piece.strip()]


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


def n_frames_until_a_call(parts: list[bytes]) -> int:
    """Return how many pieces are needed for the first call."""
    parser = ToolCallParser()
    for n, part in enumerate(parts, 1):
        parser.feed(part)
        if parser.turn.calls:
            return n
    raise AssertionError("no call comes out before the end")
