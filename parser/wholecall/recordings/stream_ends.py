"""Where one stream of a raw file ends and another one begins.

Theory of operation. A stream is over where it says so (`[DONE]`, `message_stop`, `response.completed`, Ollama's
`"done": true`), and the next one begins with what begins such a stream; Gemini's have no end, but an id in each chunk.
An event is looked at closely only if it holds a word that matters, or if a stream has ended: nearly all of a file is
passed over at the speed of a search.
"""

from __future__ import annotations

import re
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
# One of these is in every event that ends a stream, or that has an id.
_RESPONSE_ENDS = (b"response.completed", b"response.failed", b"response.incomplete")
_WORDS = (b"[DONE]", b"message_stop", b"message-end", *_RESPONSE_ENDS, b'"responseId"')
_LINE_WORDS = (b'"done":true', b'"done": true')
FRAMINGS = {"sse": _WORDS, "jsonl": (*_WORDS, *_LINE_WORDS)}


class _Line(msgspec.Struct):
    """A line of Ollama's; the first may say that the model is loaded."""

    done: bool = False
    done_reason: str | None = None


_LINES = msgspec.json.Decoder(_Line)


class Judge:
    """Says of each event or line whether another stream begins with it.

    Args:
        framing: of the file, a key of `FRAMINGS`.
    """

    def __init__(self, framing: str) -> None:
        self._words = FRAMINGS[framing]
        self._has_lines = framing == "jsonl"
        self._id: bytes | None = None  # of Gemini's response
        self._ended = False

    @property
    def is_passing(self) -> bool:
        """Whether events without any of the words matter for nothing: no stream has ended."""
        return not self._ended

    def _passes(self, unit: bytes) -> bool:
        return not self._ended and not any(word in unit for word in self._words)

    def begins(self, unit: bytes) -> bool:
        """Take the beginning of an event or line; return whether it is that of another stream."""
        if self._passes(unit):
            return False
        id = _id_of(unit)
        new = self._is_new(unit, id)
        self._id = id or (None if new else self._id)
        self._ended = (self._ended and not new) or _ends(unit)
        return new

    def _is_new(self, unit: bytes, id: bytes | None) -> bool:
        if self._ended and (_BEGINNING.search(unit) or _CHOICES.search(unit)):
            return True
        if self._ended and self._has_lines and _LINE in unit:
            return True
        return self._id is not None and id not in {None, self._id}


def _id_of(unit: bytes) -> bytes | None:
    """Return the id of Gemini's response that an event is a piece of."""
    found = _CANDIDATES.search(unit)
    return found[1] if found else None


def _ends(unit: bytes) -> bool:
    """Whether a stream ends with an event or line."""
    if _DONE.search(unit) or _END.search(unit):
        return True
    if not any(word in unit for word in _LINE_WORDS):
        return False
    with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        line = _LINES.decode(unit)
        return line.done and line.done_reason != "load"
    return False


class Marks:
    """Finds the words that matter in some bytes, one after the other; each byte is looked at once for each word.

    Args:
        framing: as for `Judge`.
        data: the bytes.
    """

    def __init__(self, framing: str, data: bytes) -> None:
        self._data = data
        self._next = {word: at for word in FRAMINGS[framing] if (at := data.find(word)) >= 0}

    def first(self, start: int) -> int:
        """Return where the first word from a place on is, the end of the bytes if there is none; places rise."""
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
        """Return where the last unit begins that begins between two places, or the first place, if none is seen at once."""
        for end in self._usual_ends:
            at = data.rfind(end, start, stop)
            if at >= 0:
                return at + len(end)
        return start

    def end(self, data: bytes, start: int) -> int | None:
        """Return where the unit ends that begins at a place, None if that is not among these bytes."""
        at = data.find(self._end, start)
        if self._any_end is None or data.find(b"\r", start, None if at < 0 else at) < 0:
            return None if at < 0 else at + len(self._end)
        found = self._any_end.search(data, start)
        return found.end() if found else None
