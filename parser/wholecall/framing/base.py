"""Base class of framings: the input of bytes, the limits of a stream, and lines that span reads.

Theory of operation
-------------------
`ByteFraming.feed` is the only way in. It takes any bytes-like object, strips one byte order mark, counts
the stream against `max_stream_bytes` and hands the rest to `_read`. Damage on the wire never raises: it is a
`WireFault`, recorded together with its *position*, the number of frames of its read before it, so that a
parser can put frames and faults in one order which does not depend on how the stream was cut.
A fatal fault makes the framing dead: any later input yields nothing.

`LineFraming` adds lines that end in LF. Whole lines go to `_read_line` at once. The unfinished last line is
kept in a bytearray, which grows in amortised constant time, so a line that arrives byte by byte costs
linear work. `_measure` decides from its first bytes whether it will be wanted; if not, it is not kept
at all, and a comment of any length takes no memory. A kept line that exceeds its limit is read before
its end has come, because it can only give a fault.

Everything here works on bytes and decodes late. UTF-8 never hides an ASCII byte inside another character.
Therefore cutting at terminators and brackets first and decoding afterwards gives the same text, with the same
number of U+FFFD, as decoding the stream first (WHATWG Encoding, "UTF-8 decode").
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from typing import ClassVar, Union

import msgspec

from wholecall.deltas import WireFault
from wholecall.framing.frame import Frame, Like
from wholecall.limits import Limits
from wholecall.types import FaultKind

BytesLike = Union[bytes, bytearray, memoryview]
BOM = b"\xef\xbb\xbf"
DEFAULT_LIMITS = Limits()
_CHECKER = msgspec.json.Decoder(msgspec.Raw)  # checks the grammar, builds nothing
LF, CR = b"\n\r"  # as numbers: testing bytes for a number is ten times faster


def checked(data: BytesLike) -> bytes:
    """Return the bytes of a caller's input; text is refused, with advice."""
    if isinstance(data, str):
        raise TypeError("feed takes bytes; encode text with .encode()")
    return bytes(memoryview(data))


def decode(data: bytes | bytearray) -> tuple[str, bool]:
    """Decode UTF-8; the flag is true if an invalid sequence was replaced by U+FFFD."""
    try:
        return data.decode(), False
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), True


def is_one_value(text: bytes) -> bool:
    """Return whether the text is one whole JSON value; five times faster than counting its brackets."""
    try:
        _CHECKER.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return False
    return True


def _bound(limit: int | None) -> int:
    return sys.maxsize if limit is None else limit


class ByteFraming(ABC):
    """The base of every framing.

    Attributes:
        faults: the faults that were not taken yet; empty on a healthy stream.
        replaced: whether any frame so far held bytes that are not UTF-8.
    """

    DERIVED: ClassVar = frozenset({"faults", "_positions", "_max_line", "_max_event", "_max_raw"})

    faults: list[WireFault]
    replaced: bool
    _dead: bool
    _head: bytes | None
    _guarded: bool
    _stream_room: int | None

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        self.faults = []
        self.replaced = False
        self._positions: list[int] = []  # of faults: how many frames of its read precede each
        self._dead = False
        self._head = b""  # the possible beginning of a BOM; None once that is settled
        self._guarded = True  # the BOM is not settled yet, the stream has a limit, or it is over
        self._stream_room = limits.max_stream_bytes
        self._max_line = _bound(limits.max_line_bytes)
        self._max_event = _bound(limits.max_event_bytes)
        self._max_raw = _bound(limits.max_raw_bytes)

    @property
    def room(self) -> int | None:
        """How many bytes may still come, None if the stream has no limit."""
        return self._stream_room

    @room.setter
    def room(self, room: int | None) -> None:
        self._stream_room = room

    def feed(self, data: BytesLike) -> list[Frame]:
        """Read the next bytes of the stream and return the frames that they complete."""
        frames: list[Frame] = []
        if not isinstance(data, bytes):
            data = bytes(data)
        if self._guarded:
            self._read_guarded(data, frames)
        elif data:
            self._read(data, frames)
        return frames

    def read(self, data: BytesLike) -> tuple[list[str], Like]:
        """Read the next bytes like `feed`; return the texts of the frames, and their other properties (see `framed`).

        This is faster for most of a stream: a frame is made only where its text is not enough.
        """
        frames = self.feed(data)
        if len(frames) == 1 and not frames[0].replaced:  # as usual in live streams
            return [frames[0].data], frames[0]
        return [frame.data for frame in frames], frames

    def close(self) -> list[Frame]:
        """End the stream and return the frames that its end completes; idempotent."""
        frames: list[Frame] = []
        if not self._dead and self._head:
            self._read(self._head, frames)
        if not self._dead:
            self._end(frames)
        self._dead = self._guarded = True
        return frames

    def take_faults(self) -> list[tuple[int, WireFault]]:
        """Return the faults and forget them, each with the number of frames before it that its read returned."""
        taken = list(zip(self._positions, self.faults, strict=True))
        self.faults = []
        self._positions = []
        return taken

    def _read_guarded(self, data: bytes, frames: list[Frame]) -> None:
        if self._dead:
            return
        room = self._stream_room
        if room is not None:
            self._stream_room = max(room - len(data), 0)
        allowed = data if room is None else data[:room]
        if self._head is not None:
            allowed = self._strip_bom(self._head + allowed)
        if allowed:
            self._read(allowed, frames)
        if room is not None and len(data) > room and not self._dead:
            self._settle(frames)
            self._fail("stream_too_large", "the stream is larger than max_stream_bytes", b"", frames)

    def _strip_bom(self, data: bytes) -> bytes:
        if len(data) < len(BOM) and BOM.startswith(data):
            self._head = data
            return b""
        self._head = None
        self._guarded = self._stream_room is not None
        return data.removeprefix(BOM)

    def _note(self, fault: WireFault, frames: list[Frame]) -> None:
        self.faults.append(fault)
        self._positions.append(len(frames))

    def _fail(self, kind: FaultKind, detail: str, raw: bytes, frames: list[Frame]) -> None:
        self._note(WireFault(kind, detail, fatal=True, raw=self._raw_text(raw)), frames)
        self._dead = self._guarded = True

    def _raw_text(self, raw: bytes) -> str:
        return raw[: self._max_raw].decode("utf-8", "replace")

    def _note_too_large(self, raw: bytes, frames: list[Frame]) -> None:
        detail = f"one event is larger than {self._max_event} bytes and was skipped"
        self._note(WireFault("event_too_large", detail, raw=self._raw_text(raw), hole=True), frames)

    def _frame(self, event: str, data: bytes | bytearray, id: str = "", retry: int | None = None) -> Frame:
        text, replaced = decode(data)
        self.replaced = self.replaced or replaced
        return Frame(event, text, id, retry, replaced)

    @abstractmethod
    def _read(self, data: bytes, frames: list[Frame]) -> None:
        """Read bytes that are within the stream's limit; never empty."""

    def _settle(self, frames: list[Frame]) -> None:  # noqa: B027 - most framings put nothing off
        """Read postponed input, so that a fatal fault comes at the same point for every chunking."""

    @abstractmethod
    def _end(self, frames: list[Frame]) -> None:
        """Read the frames that the end of the stream completes."""


class LineFraming(ByteFraming):
    """A framing of lines that end in LF; a subclass reads them one by one."""

    _partial: bytearray
    _room: int | None
    _skipping: bool
    _within_line: bool

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._partial = bytearray()  # the line whose end has not come
        self._room = None  # bytes that this line may have; None: its kind is not known yet
        self._skipping = False  # the rest of this line is not needed
        self._within_line = False

    def feed(self, data: BytesLike) -> list[Frame]:
        """Read the next bytes of the stream and return the frames that they complete."""
        # Small reads inside one long line are frequent: they are kept without a further look.
        room = self._room
        if room is None or self._guarded or type(data) is not bytes or LF in data or CR in data:
            return ByteFraming.feed(self, data)
        self._partial += data
        frames: list[Frame] = []
        if len(self._partial) > room:
            self._keep(b"", frames)
        return frames

    def _read_lines(self, data: bytes, frames: list[Frame]) -> None:
        lines = data.split(b"\n")
        rest = lines.pop()
        if lines and self._within_line:
            if self._skipping:
                del lines[0]
            else:
                lines[0] = self._take_partial(lines[0])
            self._skipping = self._within_line = False
        lines.reverse()
        while lines and not self._dead:
            self._read_line(lines.pop(), frames)  # which frees it: it may be large
        if self._dead:
            return
        if rest:
            self._keep(rest, frames)

    def _take_partial(self, end: bytes = b"") -> bytes:
        self._partial += end
        line = bytes(self._partial)
        self._partial = bytearray()
        self._room = None
        return line

    def _keep(self, piece: bytes, frames: list[Frame]) -> None:
        """Keep the beginning of a line, unless it will not be read."""
        self._within_line = True
        if self._skipping:
            return
        self._partial += piece
        if self._room is None:
            self._room = self._measure(self._partial, frames)
        if self._room is not None and len(self._partial) > self._room:
            self._skipping = True
            if self._room == self._max_line:  # not read, because the longest lines should not be copied
                self._fail_line(self._partial, frames)
            else:  # the subclass does not want the line, or finds that its event is too large
                self._read_line(self._take_partial(), frames)

    def _fits(self, line: bytes, overhead: int, buffer: bytearray, frames: list[Frame]) -> bool:
        """Return whether `line`, less `overhead`, may be added to the event in `buffer`.

        Both limits can be passed by one line. The limit whose byte comes first counts: a reader of single bytes
        would see the same.
        """
        room = self._event_room(overhead, buffer)
        if len(line) <= self._max_line and len(line) <= room:
            return True
        if self._max_line <= room:
            self._fail_line(line, frames)
            return False
        kept = min(self._max_event, self._max_raw)
        raw = bytes(buffer[:kept]) + line[overhead : overhead + kept]
        self._note_too_large(raw[:kept], frames)
        self._drop_event()
        return False

    def _fail_line(self, line: bytes | bytearray, frames: list[Frame]) -> None:
        detail = f"a line is longer than {self._max_line} bytes"
        self._fail("line_too_long", detail, bytes(line[: min(self._max_line, self._max_raw)]), frames)
        self._partial = bytearray()

    def _event_room(self, overhead: int, buffer: bytearray) -> int:
        return overhead + self._max_event - len(buffer)

    @abstractmethod
    def _read_line(self, line: bytes, frames: list[Frame]) -> None:
        """Read one line without its terminator."""

    @abstractmethod
    def _measure(self, line: bytearray, frames: list[Frame]) -> int | None:
        """Return how many bytes the line that begins so may have; -1 if it is not wanted, None if unknown."""

    @abstractmethod
    def _drop_event(self) -> None:
        """Forget the event that grew too large, and skip the rest of it."""
