"""JSON values on one line each (NDJSON), or over many lines.

Theory of operation
-------------------
Lines end in LF; one CR before it is dropped, blank lines are skipped, the last LF may be missing. A line that
is one JSON value is a frame. A line that only begins one (a pretty-printed body) is joined with the following
lines until its brackets balance. So that a cut line does not swallow the rest of the stream, joining
also ends where no JSON text could continue: at a line end inside a string, and before a line that begins
with a bracket where no value may begin. The text joined until then is delivered unchanged, and so is every
line that does not begin with a bracket: the dialect decides whether it makes sense.

A read of whole lines, each of which begins and ends like an object, is cut at its line ends at once: whatever the
content of such a line, it is not joined with another one that begins so. Only the last of them is inspected.

A value beyond `max_event_bytes` is skipped; reading continues at the next line that begins with a bracket.
"""

from __future__ import annotations

from itertools import repeat

from wholecall.framing.base import DEFAULT_LIMITS, LF, BytesLike, LineFraming, is_one_value
from wholecall.framing.frame import Frame, Like
from wholecall.framing.nesting import Nesting
from wholecall.limits import Limits

_OPENERS = (b"{", b"[")
_BEFORE_A_VALUE = (b":", b",", b"[")
_LIKE = Frame("", "")


def _objects_of(lines: bytes) -> list[str]:
    """Return the texts of lines of an object each, the last one without its LF; none if one is unusual."""
    if lines[:1] != b"{" or lines[-1:] != b"}":
        return []
    n_more = lines.count(b"\n")
    if n_more and not n_more == lines.count(b"}\n") == lines.count(b"\n{"):
        return []
    if not is_one_value(lines[lines.rfind(b"\n") + 1 :] if n_more else lines):
        return []
    try:
        text = lines.decode()
    except UnicodeDecodeError:
        return []
    return text.split("\n") if n_more else [text]


class JSONLinesFraming(LineFraming):
    """Frames of newline-delimited JSON; their event name is `""`."""

    DERIVED = LineFraming.DERIVED | {"_unlimited"}

    _value: bytearray
    _last: bytes
    _nesting: Nesting
    _lost: bool

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._unlimited = min(self._max_line, self._max_event)  # no limit can be passed by fewer bytes
        self._value = bytearray()  # the lines of a value that is not whole yet, each followed by LF
        self._last = b""  # its last byte that is not white space
        self._nesting = Nesting()
        self._lost = False  # a value grew too large: wait for a line that begins with a bracket

    def read(self, data: BytesLike) -> tuple[list[str], Like]:
        """Read the next bytes of the stream; usual lines are not made frames yet."""
        if self._guarded or type(data) is not bytes or LF not in data:
            return super().read(data)
        frames: list[Frame] = []
        texts, rest = self._objects(data)
        if rest:
            self._read_lines(rest, frames)
        return (texts, _LIKE) if texts else ([frame.data for frame in frames], frames)

    def _read(self, data: bytes, frames: list[Frame]) -> None:
        texts, rest = self._objects(data)
        frames += map(Frame, repeat(""), texts)
        if rest:
            self._read_lines(rest, frames)

    def _objects(self, data: bytes) -> tuple[list[str], bytes]:
        """Return the texts of the lines that a usual read ends, and the rest; of any other read all of it.

        In a usual read each line that ends is an object, and no limit is near: the rest gives no frame and no fault.
        """
        usual = not (self._value or self._lost or self._skipping) and LF in data
        if not usual or len(self._partial) + len(data) > self._unlimited:
            return [], data
        if self._within_line:
            data = self._take_partial() + data
            self._within_line = False
        lines, _, rest = data.rpartition(b"\n")
        texts = _objects_of(lines)
        return (texts, rest) if texts else ([], data)

    def _read_line(self, line: bytes, frames: list[Frame]) -> None:
        if self._is_unwanted(line):
            return
        self._end_if_cut(line, frames)
        if not self._fits(line, 0, self._value, frames):
            return
        text = line.removesuffix(b"\r")
        if not text.strip():
            return
        if self._value:
            self._join(text, frames)
        elif not text.lstrip().startswith(_OPENERS) or is_one_value(text):
            frames.append(self._frame("", text))
        else:
            self._nesting = Nesting()
            self._join(text, frames)

    def _is_unwanted(self, line: bytes | bytearray) -> bool:
        if line.startswith(_OPENERS):
            self._lost = False
        return self._lost

    def _end_if_cut(self, line: bytes | bytearray, frames: list[Frame]) -> None:
        """End a value that the line cannot belong to: in JSON an object or array follows only `:`, `,` or `[`."""
        if self._value and line.startswith(_OPENERS) and self._last not in _BEFORE_A_VALUE:
            self._end_value(frames)

    def _join(self, text: bytes, frames: list[Frame]) -> None:
        self._value += text
        self._value += b"\n"
        self._last = text.rstrip()[-1:]
        if self._nesting.scan(text) >= 0 or self._nesting.in_string:
            self._end_value(frames)

    def _end_value(self, frames: list[Frame]) -> None:
        self._value.pop()
        frames.append(self._frame("", self._value))
        self._value = bytearray()

    def _measure(self, line: bytearray, frames: list[Frame]) -> int | None:
        if self._is_unwanted(line):
            return -1
        self._end_if_cut(line, frames)
        return min(self._max_line, self._event_room(0, self._value))

    def _drop_event(self) -> None:
        self._value = bytearray()
        self._lost = True

    def _end(self, frames: list[Frame]) -> None:
        if self._partial:
            self._read_line(self._take_partial(), frames)
        if self._value and not self._dead:
            self._end_value(frames)
