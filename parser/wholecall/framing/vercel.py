r"""Lines of the data stream protocol of the Vercel AI SDK: `9:{"toolCallId":"c1",…}`.

Theory of operation. Each line is a frame: its one character before the colon is the event's name, the rest
is one JSON value, which holds no raw line end. Lines end in LF; one CR before it is dropped, blank lines are
skipped, the last LF may be missing. A line without such a code is a frame unchanged, with the event name
`""`: an error of a proxy, for instance. `max_event_bytes` counts the JSON text; a line that is too large is skipped.
"""

from __future__ import annotations

from wholecall.framing.base import LineFraming
from wholecall.framing.frame import Frame

_CODES = b"0123456789abcdefghijk"
_CODE_SIZE = 2  # with the colon


def is_coded(line: bytes | bytearray) -> bool:
    """Return whether the line begins with a code."""
    return line[1:2] == b":" and line[0] in _CODES


class VercelFraming(LineFraming):
    """Frames of coded lines, named by their codes."""

    def _read(self, data: bytes, frames: list[Frame]) -> None:
        self._read_lines(data, frames)

    def _read_line(self, line: bytes, frames: list[Frame]) -> None:
        overhead = _CODE_SIZE if is_coded(line) else 0
        if not self._fits(line, overhead, bytearray(), frames):
            return
        text = line.removesuffix(b"\r")
        if text.strip():
            frames.append(self._frame(text[: overhead - 1].decode() if overhead else "", text[overhead:]))

    def _measure(self, line: bytearray, frames: list[Frame]) -> int | None:  # noqa: ARG002 - others note a fault
        if len(line) < _CODE_SIZE:
            return None
        return min(self._max_line, self._event_room(_CODE_SIZE if is_coded(line) else 0, bytearray()))

    def _drop_event(self) -> None:
        """Do nothing: no event is longer than a line."""

    def _end(self, frames: list[Frame]) -> None:
        if self._partial:
            self._read_line(self._take_partial(), frames)
