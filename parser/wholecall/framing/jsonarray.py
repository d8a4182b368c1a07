"""One JSON array, element by element: Gemini's stream without SSE.

Theory of operation
-------------------
Between elements white space, commas and the brackets of the array itself are skipped. An object or array
is a frame as soon as its brackets balance, not when the comma after it comes: that comma often travels
with the next element. Any other text is a frame at the next comma or bracket; no API sends such
elements, and the dialect will call them undecodable. `Nesting` reads each byte once, whatever the reads.

The frame holds the element's own text. That is why ijson is not used here: its events carry values, and a
number written again is no longer the number that was sent (`1.0`, `1e2`), its C backend gives no offsets
into the text, and it is quadratic for one long string in small reads.

Counting brackets is slow, and streams bring whole elements that begin alike. Therefore an object is first taken up to
the next object that begins like it, or up to the end of the read; if that is one JSON value, it is the element.

Text outside the array is read as if it were inside: an error object may follow or replace the array.
"""

from __future__ import annotations

import re

from wholecall.framing.base import DEFAULT_LIMITS, ByteFraming, is_one_value
from wholecall.framing.frame import Frame
from wholecall.framing.nesting import Nesting
from wholecall.limits import Limits

_BEGINNING = re.compile(rb"[^\s,\]}]")
_WORD_END = re.compile(rb"[,\[\]{}]")
_OPENERS = frozenset(b"{[")
_ARRAY, _OBJECT = b"[{"
_BETWEEN = b" \t\r\n,]"  # bytes allowed between two objects, or after the last one
_ALIKE = 12  # bytes with which all elements begin


class JSONArrayFraming(ByteFraming):
    """Frames of the elements of a JSON array; their event name is `""`."""

    _in_array: bool
    _element: bytearray
    _nesting: Nesting | None
    _within: bool
    _dropping: bool

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._in_array = False
        self._element = bytearray()
        self._nesting = None  # of the element, if that is an object or an array
        self._within = False
        self._dropping = False  # this element grew too large

    def _read(self, data: bytes, frames: list[Frame]) -> None:
        position = 0
        while position < len(data):
            if not self._within:
                position = self._find_element(data, position)
                if self._within and data[position] == _OBJECT:
                    position = self._take_object(data, position, frames)
                continue
            end = self._find_end(data, position)
            self._take(data[position:] if end < 0 else data[position:end], frames)
            if end < 0:
                return
            self._end_element(frames)
            position = end

    def _find_element(self, data: bytes, position: int) -> int:
        """Return the start of an element, or the end of the data."""
        beginning = _BEGINNING.search(data, position)
        end = beginning.start() if beginning else len(data)
        if data.find(b"]", position, end) >= 0:
            self._in_array = False
        if end == len(data):
            return end
        if data[end] == _ARRAY and not self._in_array:
            self._in_array = True
            return end + 1
        self._within = True
        self._nesting = Nesting() if data[end] in _OPENERS else None
        return end

    def _take_object(self, data: bytes, position: int, frames: list[Frame]) -> int:
        """Take the object at `position`, if it is whole; return its end, the same position if it is not."""
        after = data.find(data[position : position + _ALIKE], position + 1)
        text = data[position:after].rstrip(_BETWEEN) if after >= 0 else data[position:].rstrip(_BETWEEN)
        if not (text.endswith(b"}") and len(text) <= self._max_event and is_one_value(text)):
            return position
        frames.append(self._frame("", text))
        self._within = False
        return position + len(text)

    def _find_end(self, data: bytes, position: int) -> int:
        """Return the end of the element, or -1."""
        if self._nesting is not None:
            return self._nesting.scan(data, position)
        word_end = _WORD_END.search(data, position)
        return word_end.start() if word_end else -1

    def _take(self, piece: bytes, frames: list[Frame]) -> None:
        if self._dropping:
            return
        if len(self._element) + len(piece) <= self._max_event:
            self._element += piece
            return
        kept = min(self._max_event, self._max_raw)
        raw = bytes(self._element[:kept]) + piece[:kept]
        self._note_too_large(raw[:kept], frames)
        self._element = bytearray()
        self._dropping = True

    def _end_element(self, frames: list[Frame]) -> None:
        if not self._dropping:
            frames.append(self._frame("", self._element.rstrip()))
        self._element = bytearray()
        self._within = self._dropping = False

    def _end(self, frames: list[Frame]) -> None:
        if self._within:
            self._end_element(frames)
