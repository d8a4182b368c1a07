"""Read a stream through a framing, cut in many ways: the frames must not depend on the cuts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import pairwise

from wholecall.deltas import WireFault
from wholecall.framing import Frame, Framing
from wholecall.framing.frame import framed

Item = Frame | WireFault
_BEGUN = 6  # bytes of the first read, "data: " or more: later bytes take the usual way of reads


def pieces(stream: bytes, size: int) -> list[bytes]:
    """Cut a stream into reads of one size."""
    return [stream[start : start + size] for start in range(0, len(stream), size)]


def split(stream: bytes, cuts: Iterable[int]) -> list[bytes]:
    """Cut a stream at these places; those beyond its end do not count."""
    bounds = [0, *sorted(cut for cut in cuts if cut < len(stream)), len(stream)]
    return [stream[start:end] for start, end in pairwise(bounds)]


def read(framing: Framing, chunks: Iterable[bytes], *, by_texts: bool = False) -> list[Item]:
    """Return the frames and faults of a stream in their order; `by_texts` reads it as a parser does."""
    feed = partial(_by_texts, framing) if by_texts else framing.feed
    items: list[Item] = []
    for chunk in chunks:
        items += _in_order(framing, feed(chunk))
    return items + _in_order(framing, framing.close())


def _by_texts(framing: Framing, chunk: bytes) -> list[Frame]:
    """Return the frames of a read that is made by texts; each has its text, in any order of access."""
    texts, like = framing.read(chunk)
    frames = framed(texts, like)
    assert texts == [frame.data for frame in frames]
    if not isinstance(like, Frame):
        assert frames[::-1] == [like[at] for at in reversed(range(len(texts)))]
    return frames


def _in_order(framing: Framing, frames: Iterable[Frame]) -> list[Item]:
    """Return the frames of a read with the faults between them; the last goes in first, to keep positions true."""
    items: list[Item] = [*frames]
    for position, fault in reversed(framing.take_faults()):
        items.insert(position, fault)
    return items


def read_all_ways(start: Callable[[], Framing], stream: bytes, sizes: Sequence[int] = (1,)) -> list[Item]:
    """Read a stream whole, in reads of these sizes, and cut at every place with an empty read there; all must agree."""
    whole = read(start(), [stream])
    for size in sizes:
        assert whole == read(start(), pieces(stream, size)), size
        assert whole == read(start(), pieces(stream, size), by_texts=True), size
    assert whole == read(start(), [stream], by_texts=True)
    for cut in range(len(stream)):
        parts = split(stream, (_BEGUN, cut, cut))
        assert whole == read(start(), parts), cut
        assert whole == read(start(), parts, by_texts=True), cut
    return whole


def kinds(items: Iterable[Item]) -> list[str]:
    """Return the data of frames and the kinds of faults."""
    return [item.data if isinstance(item, Frame) else item.kind for item in items]
