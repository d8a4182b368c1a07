"""A raw file: one stream, or several that were written one after the other (`cat a.sse b.sse`).

Theory of operation. The beginning of another stream is found event by event, or line by line, as they come
(`stream_ends`); bytes wait only for the end of their event. Anything that is not plainly the beginning of another
stream belongs to the previous stream: a session of several turns stays one recording, and so does a stream that begins
again before its end.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress

from wholecall.errors import BadRecording
from wholecall.framing.opening import framing_of
from wholecall.recordings.finding import STDIN
from wholecall.recordings.model import Chunk, Recording
from wholecall.recordings.source import Source, opened
from wholecall.recordings.stream_ends import FRAMINGS, Judge, Marks, Units

__all__ = ["read_streams"]

_SHOWN = 256 * 1024  # bytes of an event to wait for
_LONGEST_END = 3  # bytes of the end of an event that a piece may have cut off


class _Cutter:
    """Numbers the pieces of a file by the stream that they belong to."""

    def __init__(self, framing: str) -> None:
        self._judge = Judge(framing)
        self._units = Units(framing)
        self._number = 1
        self._held = b""  # of the event that is open
        self._is_known = False  # whether the start of that event is classified

    def feed(self, piece: bytes) -> Iterator[tuple[int, bytes]]:
        """Take a piece and yield the bytes that can be passed on, without empty pieces."""
        data = self._held + piece
        sent = start = 0  # the end of passed-on bytes; the start of an event
        words, marks = self._judge.words, Marks(self._judge.words, data, start)
        end: int | None = 0
        while end is not None:
            start = self._skipped(data, start, marks)
            end = self._units.end(data, start)
            if self._begins(data, start, end):
                yield from self._some(data[sent:start])
                self._number, sent = self._number + 1, start
            if words is not self._judge.words:
                words, marks = self._judge.words, Marks(self._judge.words, data, start)
            if end is not None:
                start, self._is_known = end, False
        keep = max(start, len(data) - _LONGEST_END) if self._is_known else start
        yield from self._some(data[sent:keep])
        self._held = data[keep:]

    def _skipped(self, data: bytes, start: int, marks: Marks) -> int:
        """Return the start of the next event that may be relevant."""
        if not self._judge.is_passing:
            return start
        there = self._units.last(data, start, marks.first(start))
        self._is_known = self._is_known and there == start
        return there

    def close(self) -> Iterator[tuple[int, bytes]]:
        """Yield the remaining bytes."""
        self._number += not self._is_known and self._judge.begins(self._held[:_SHOWN])
        yield from self._some(self._held)

    def _begins(self, data: bytes, start: int, end: int | None) -> bool:
        """Return whether another stream begins with an event, as soon as enough of it has come."""
        if self._is_known or (end is None and len(data) - start < _SHOWN):
            return False
        self._is_known = True
        return self._judge.begins(data[start:end][:_SHOWN])

    def _some(self, data: bytes) -> Iterator[tuple[int, bytes]]:
        if data:
            yield self._number, data


def _numbered(pieces: Iterable[bytes], framing: str) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes of a file, each piece with the number of the stream that it belongs to."""
    cutter = _Cutter(framing)
    try:
        for piece in pieces:
            yield from cutter.feed(piece)
    except BadRecording:  # available bytes come first
        yield from cutter.close()
        raise
    yield from cutter.close()


class _Streams:
    """The pieces of a file; the first piece of the next stream is put back."""

    def __init__(self, source: Source, framing: str) -> None:
        self.source = source
        self._pieces = _numbered(source.pieces(), framing)
        self._next: tuple[int, bytes] | None = None
        self.number = 1  # the stream of the current pieces

    def take(self) -> bytes:
        """Return the next piece of the stream, `b""` at its end."""
        if self._next is None:
            self._next = next(self._pieces, None)
        if self._next is None or self._next[0] != self.number:
            return b""
        piece, self._next = self._next[1], None
        return piece

    def go_on(self) -> bool:
        """Skip the rest of the stream; return whether there is another one.

        Untaken standard input is left to a later reader.
        """
        if self.source.path == STDIN and self.source.position == 0:
            return False
        with suppress(BadRecording):  # the taker of the recording meets it
            while self.take():
                pass
        self.number += 1
        return self._next is not None


def read_streams(source: Source, _skipped: object) -> Iterator[Recording]:
    """Yield the streams of a file, one for most; the second and later are called `path#n`."""
    framing = framing_of(source.head)
    while framing is None and source.fill():
        framing = framing_of(source.head)
    if framing not in FRAMINGS:
        yield Recording(name=source.path, chunks=_whole(source))
        return
    streams = _Streams(source, framing)
    there = True
    while there:
        number = streams.number
        name = source.path if number == 1 else f"{source.path}#{number}"
        yield Recording(name=name, chunks=_chunks(name, streams, number))
        there = streams.go_on()


def _whole(source: Source) -> Iterator[Chunk]:
    if not source.is_over:
        yield from ((None, piece) for piece in source.pieces())
        return
    with opened(source.place) as again:
        yield from ((None, piece) for piece in again.pieces())


def _chunks(name: str, streams: _Streams, mine: int) -> Iterator[Chunk]:
    if streams.number != mine or streams.source.closed:
        yield from _chunks_again(name, streams, mine)
        return
    while piece := streams.take():
        yield None, piece
        if streams.number != mine:
            raise ValueError(f"{name}: take the chunks of a recording before the next one")


def _chunks_again(name: str, streams: _Streams, mine: int) -> Iterator[Chunk]:
    """Yield the chunks of a recording that the reader has passed."""
    if streams.source.path == STDIN:
        raise ValueError(f"{name}: take the chunks of a recording before the next one")
    with opened(streams.source.place) as source:
        for number, recording in enumerate(read_streams(source, None), 1):
            if number == mine:
                yield from recording.chunks
                return
