"""Find the boundaries between the streams of a raw file.

Theory of operation. A stream ends at an explicit end (`[DONE]`, `message_stop`, `response.completed`, Ollama's `"done":
true`), and the next one begins with an opening event of its kind; Gemini's streams have no end, but an id in each
chunk. An event is examined closely only if it holds a relevant word, or if a stream has ended: nearly all of a file is
passed over at the speed of a search. The first event of a stream selects the relevant words, if it begins as no other
kind of stream does; otherwise all words are relevant.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from contextlib import suppress

import msgspec

__all__ = ["FRAMINGS", "Judge", "Marks", "Units"]

_JSON = rb"(?m)^(?:data:[ ]?)?\{\s*"
_EVENT = rb'(?m)^(?:event:[ ]?|(?:data:[ ]?)?\{\s*"type"\s*:\s*")'
_BEGINNING = re.compile(_EVENT + rb"(?:message_start|message-start|response\.created)\b")
_END = re.compile(_EVENT + rb"(?:message_stop|message-end|response\.(?:completed|failed|incomplete))\b")
_DONE = re.compile(rb"(?m)^data:[ ]?\[DONE\]")
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
            return True
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
        return True
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
