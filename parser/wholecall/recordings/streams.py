"""A raw file: one stream, or several that were written one after the other (`cat a.sse b.sse`).

Theory of operation. The beginning of another stream is found event by event, or line by line, as they come; bytes wait
only for the end of their event. Anything that is not plainly the beginning of another stream belongs to the previous
stream: a session of several turns stays one recording, and so does a stream that begins again before its end.

A stream ends at an explicit end (`[DONE]`, `message_stop`, `response.completed`, Ollama's `"done": true`), and the next
one begins with an opening event of its kind; Gemini's streams have no end, but an id in each chunk. A WebSocket's
session of many Responses is one recording: a response that names a previous one goes on with it, and in lanes side by
side (`stream_id`) none ends the recording. An event is examined closely only if it holds a relevant word, or if a stream
has ended: nearly all of a file is passed over at the speed of a search. The first event of a stream selects the relevant
words, if it begins as no other kind of stream does; otherwise all words are relevant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress

import msgspec

from wholecall.errors import BadRecording
from wholecall.framing.opening import framing_of
from wholecall.recordings.finding import STDIN
from wholecall.recordings.model import Chunk, Recording
from wholecall.recordings.source import Source, opened

_JSON = rb"(?m)^(?:data:[ ]?)?\{\s*"
_EVENT = rb'(?m)^(?:event:[ ]?|(?:data:[ ]?)?\{\s*"type"\s*:\s*")'
_BEGINNING = re.compile(_EVENT + rb"(?:message_start|message-start|response\.created)\b")
_END = re.compile(_EVENT + rb"(?:message_stop|message-end|response\.(?:completed|failed|incomplete))\b")
_GOES_ON = re.compile(rb'"previous_response_id"\s*:\s*"')
_DONE = re.compile(rb"(?m)^data:[ ]?\[DONE\]")
_IN_LANE = re.compile(rb'"stream_id"\s*:\s*"')
_CHOICES = re.compile(_JSON + rb'[^\n]*"choices"\s*:\s*\[\s*\{')
_CANDIDATES = re.compile(_JSON + rb'"candidates"[^\n]*"responseId"\s*:\s*"([^"]+)"')
_LINE = b'"done"'
_LINE_WORDS = (b'"done":true', b'"done": true')
# One of the words is in every event that ends a stream, or that has an id, if its first event has the sign.
_WORDS_BY_SIGN: dict[bytes, tuple[bytes, ...]] = {
    b'"choices"': (),
    b"message_start": (b"message_stop",),
    b"message-start": (b"message-end",),
    b"response.created": (b"response.completed", b"response.failed", b"response.incomplete"),
    b'"candidates"': (b'"responseId"',),
    _LINE: _LINE_WORDS,
}
_ANY_STREAM = b"[DONE]"
_ALL_WORDS = (_ANY_STREAM, *(word for words in _WORDS_BY_SIGN.values() for word in words))
FRAMINGS = ("sse", "jsonl")
_SHOWN = 256 * 1024  # bytes of an event to wait for
_LONGEST_END = 3  # bytes of the end of an event that a piece may have cut off


class _Line(msgspec.Struct):
    """A line of Ollama's; the first may say that the model is loaded."""

    done: bool = False
    done_reason: str | None = None


_LINES = msgspec.json.Decoder(_Line)


class Judge:
    """Decides for each event or line whether another stream begins with it.

    Args:
        framing: the framing of the file, one of `FRAMINGS`.

    Attributes:
        words: an event without any of these is irrelevant, unless a stream has ended.
    """

    def __init__(self, framing: str) -> None:
        self.words: tuple[bytes, ...] = ()
        self._has_lines = framing == "jsonl"
        self._id: bytes | None = None  # of Gemini's response
        self._ended = False

    @property
    def is_passing(self) -> bool:
        """Whether events without any of the words are irrelevant: a stream has begun, and has not ended."""
        return bool(self.words) and not self._ended

    def _passes(self, unit: bytes) -> bool:
        return self.is_passing and not any(word in unit for word in self.words)

    def begins(self, unit: bytes) -> bool:
        """Take the beginning of an event or line; return whether it begins another stream."""
        if self._passes(unit):
            return False
        id = _id_of(unit)
        new = self._is_new(unit, id)
        if new or not self.words:
            self.words = _words_after(unit)
        self._id = id or (None if new else self._id)
        self._ended = (self._ended and not new) or _ends(unit)
        return new

    def _is_new(self, unit: bytes, id: bytes | None) -> bool:
        if self._ended and (_BEGINNING.search(unit) or _CHOICES.search(unit)):
            return not self._has_lines or _GOES_ON.search(unit) is None
        if self._ended and self._has_lines and _LINE in unit:
            return True
        return self._id is not None and id not in {None, self._id}


def _words_after(unit: bytes) -> tuple[bytes, ...]:
    """Return the relevant words of a stream that begins with an event."""
    signs = [sign for sign in _WORDS_BY_SIGN if sign in unit]
    return (_ANY_STREAM, *(word for sign in signs for word in _WORDS_BY_SIGN[sign])) if signs else _ALL_WORDS


def _id_of(unit: bytes) -> bytes | None:
    """Return the id of Gemini's response to which an event belongs."""
    found = _CANDIDATES.search(unit)
    return found[1] if found else None


def _ends(unit: bytes) -> bool:
    """Return whether a stream ends with an event or line."""
    if _DONE.search(unit) or _END.search(unit):
        return _IN_LANE.search(unit) is None
    if not any(word in unit for word in _LINE_WORDS):
        return False
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        line = _LINES.decode(unit)
        return line.done and line.done_reason != "load"
    return False


class Marks:
    """Finds the relevant words in some bytes, one after the other; each byte is searched once for each word.

    Args:
        words: the words.
        data: the bytes.
        start: where the search begins.
    """

    def __init__(self, words: Iterable[bytes], data: bytes, start: int) -> None:
        self._data = data
        self._next = {word: at for word in words if (at := data.find(word, start)) >= 0}

    def first(self, start: int) -> int:
        """Return the place of the first word from a place on, the end of the bytes without one; places rise."""
        for word, at in list(self._next.items()):
            if at < start:
                self._next[word] = self._data.find(word, start)
                if self._next[word] < 0:
                    del self._next[word]
        return min(self._next.values(), default=len(self._data))


class Units:
    """Finds the ends of events or lines.

    Args:
        framing: as for `Judge`.
    """

    def __init__(self, framing: str) -> None:
        self._end = b"\n" if framing == "jsonl" else b"\n\n"
        self._usual_ends = (b"\n",) if framing == "jsonl" else (b"\n\n", b"\r\n\r\n")
        self._any_end = None if framing == "jsonl" else re.compile(rb"\r?\n\r?\n|\r\r")

    def last(self, data: bytes, start: int, stop: int) -> int:
        """Return the start of the last unit between two places, or the first place, if none is seen at once."""
        for end in self._usual_ends:
            at = data.rfind(end, start, stop)
            if at >= 0:
                return at + len(end)
        return start

    def end(self, data: bytes, start: int) -> int | None:
        """Return the end of the unit that begins at a place, None if it is not among these bytes."""
        at = data.find(self._end, start)
        if self._any_end is None or data.find(b"\r", start, None if at < 0 else at) < 0:
            return None if at < 0 else at + len(self._end)
        found = self._any_end.search(data, start)
        return found.end() if found else None


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
