r"""Amazon's binary event streams (`application/vnd.amazon.eventstream`).

Theory of operation
-------------------
A message is, in big-endian numbers::

    total length u32 | headers length u32 | CRC32 of these 8 bytes
    headers: name length u8 | name | type u8 | value, ...
    payload
    CRC32 of everything before it

Both checksums are checked. After a wrong one the start of the next message and the changed bytes are
unknown, so it ends the stream, as an impossible length does. A payload beyond `max_event_bytes` is skipped:
it is neither read nor checked.

An event becomes a frame named by its `:event-type`. Exceptions and errors become frames named `error`, an
object with the exception's type as `code`, a `message`, and everything else in the payload.

Whole messages are read in place. The beginning of one waits in a bytearray, and is inspected when its last byte
is there, so reads of single bytes cost linear work. All events of a kind have the same headers, so the name in a
block of headers is remembered by the block's exact bytes. Source: AWS documentation, "Event stream encoding"; the bound
on headers is that of AWS's own clients.

SageMaker knows no wire of its own: each `PayloadPart` has some bytes of the container's answer, cut anywhere, such as
`data: {"choi` and `ces":[…]}\n\n`. They are joined and read as server-sent events, lines or a body of JSON. Source: AWS
documentation, `InvokeEndpointWithResponseStream`.
"""

from __future__ import annotations

import struct
from typing import Annotated, Final
from zlib import crc32

import msgspec

from wholecall.deltas import WireFault
from wholecall.framing.base import DEFAULT_LIMITS, ByteFraming
from wholecall.framing.frame import Frame
from wholecall.framing.sse import SSEFraming
from wholecall.limits import Limits

PRELUDE_BYTES: Final = 12
_OVERHEAD = PRELUDE_BYTES + 4  # of a message without headers and payload
_MAX_HEADERS = 128 * 1024
_MOST_KNOWN, _LONGEST_KNOWN = 32, 1024  # blocks of headers that are remembered, and bytes of each
_PRELUDE = struct.Struct(">III")

_BYTES, _STRING = 6, 7  # the types of header values with their own length field
_SIZES = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}

PART: Final = "PayloadPart"

_MEMBERS = msgspec.json.Decoder(dict[str, msgspec.Raw])


def is_prelude(data: bytes) -> bool:
    """Return whether the stream begins with the head of a message."""
    return crc32(data[:8]) == int.from_bytes(data[8:PRELUDE_BYTES], "big")


class PayloadPartsFraming(SSEFraming):
    """Frames of the stream whose bytes the messages of another stream carry."""

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        limits = msgspec.structs.replace(limits, max_stream_bytes=None)  # the outer stream counts its bytes
        super().__init__(limits, dispatch_at_eof=True, raw_json=True, misspelt=True)


class EventStreamFraming(ByteFraming):
    """Frames of a binary event stream; exceptions in it are frames named `error`."""

    DERIVED = ByteFraming.DERIVED | {"_known", "_limits"}

    _parts: PayloadPartsFraming | None

    _unread: bytearray
    _needed: Annotated[int, msgspec.Meta(ge=PRELUDE_BYTES)]
    _to_skip: Annotated[int, msgspec.Meta(ge=0)]

    def __init__(self, limits: Limits = DEFAULT_LIMITS) -> None:
        super().__init__(limits)
        self._head = None  # binary data has no byte order mark
        self._guarded = self._stream_room is not None
        self._unread = bytearray()
        self._needed = PRELUDE_BYTES  # bytes until something can be read: the head, then the whole message
        self._to_skip = 0
        self._known: dict[bytes, str] = {}  # the names of events by their headers
        self._limits = limits
        self._parts = None  # the stream in parts, once there is one

    def _read(self, data: bytes, frames: list[Frame]) -> None:
        if self._to_skip:
            skipped = min(self._to_skip, len(data))
            self._to_skip -= skipped
            data = data[skipped:]
        if self._unread:
            self._unread += data
            if len(self._unread) < self._needed:
                return
            data, self._unread = bytes(self._unread), bytearray()
        at = self._read_messages(data, frames)
        if not self._dead:
            self._unread += data[at:]

    def _read_messages(self, data: bytes, frames: list[Frame]) -> int:
        """Read the whole messages at the start of the data; return the start of the next message."""
        size, at = len(data), 0
        while not self._dead:
            self._needed = PRELUDE_BYTES
            if size - at < PRELUDE_BYTES:
                break
            total, headers, checksum = _PRELUDE.unpack_from(data, at)
            end = at + total
            if not self._is_sound(data[at : at + 8], total, headers, checksum, frames):
                at, self._to_skip = min(end, size), max(end - size, 0)
            elif end > size:
                self._needed = total
                break
            else:
                self._read_message(data[at:end], PRELUDE_BYTES + headers, frames)
                at = end
        return at

    def _read_message(self, message: bytes, start: int, frames: list[Frame]) -> None:
        """Read a message, with its payload at `start`."""
        block, payload = message[PRELUDE_BYTES:start], message[start:-4]
        if crc32(memoryview(message)[:-4]) != int.from_bytes(message[-4:], "big"):
            self._fail("bad_crc", "the checksum of a message is wrong", payload, frames)
        elif (name := self._known.get(block)) is None:
            self._read_first(block, payload, frames)
        else:
            self._read_event(name, payload, frames)

    def _read_event(self, name: str, payload: bytes, frames: list[Frame]) -> None:
        if name != PART:
            frames.append(self._frame(name, payload))
            return
        if self._parts is None:
            self._parts = PayloadPartsFraming(self._limits)
        self._take(self._parts, self._parts.feed(payload), frames)

    def _take(self, parts: PayloadPartsFraming, found: list[Frame], frames: list[Frame]) -> None:
        """Take the frames and the faults of the stream in parts."""
        for position, fault in parts.take_faults():
            self.faults.append(fault)
            self._positions.append(len(frames) + position)
            if fault.fatal:
                self._dead = self._guarded = True
        self.replaced = self.replaced or parts.replaced
        frames += found

    def _is_sound(self, lengths: bytes, total: int, headers: int, checksum: int, frames: list[Frame]) -> bool:
        """Return whether the lengths of a message allow reading it; else note the reason."""
        payload = total - headers - _OVERHEAD
        if crc32(lengths) != checksum:
            self._fail("bad_crc", "the checksum of a message's lengths is wrong", b"", frames)
        elif payload < 0 or headers > _MAX_HEADERS:
            self._fail("bad_crc", "a message has impossible lengths", b"", frames)
        elif payload > self._max_event:
            self._note_too_large(b"", frames)
        else:
            return True
        return False

    def _read_first(self, block: bytes, payload: bytes, frames: list[Frame]) -> None:
        """Read a message with new headers; remember those of events."""
        headers = _strings(block)
        if headers is None:
            detail = "the headers of a message cannot be read"
            raw = self._raw_text(payload)
            self._note(WireFault("undecodable_frame", detail, raw=raw, hole=True), frames)
        elif headers.get(":message-type") in ("exception", "error"):
            frames.append(self._frame("error", _error(headers, payload)))
        else:
            name = headers.get(":event-type", "")
            if len(self._known) < _MOST_KNOWN and len(block) <= _LONGEST_KNOWN:
                self._known[block] = name
            self._read_event(name, payload, frames)

    def _end(self, frames: list[Frame]) -> None:
        if self._parts is not None:
            self._take(self._parts, self._parts.close(), frames)
        if self._unread:
            raw = self._raw_text(bytes(self._unread))
            self._note(WireFault("undecodable_frame", "the stream ends inside a message", raw=raw), frames)


def _strings(block: bytes) -> dict[str, str] | None:
    """Return the headers whose values are strings, None where the block cannot be read or has a header twice."""
    found: dict[str, str] = {}
    names: set[bytes] = set()
    at = 0
    while at < len(block):
        name = block[at + 1 : at + 1 + block[at]]
        at += 2 + block[at]
        kind = block[at - 1] if at <= len(block) else -1
        size = _SIZES.get(kind, len(block))  # an unknown type: more than the block has
        if kind in (_BYTES, _STRING):
            size = int.from_bytes(block[at : at + 2], "big")
            at += 2
        value = block[at : at + size]
        at += size
        if at > len(block) or name in names:
            return None
        names.add(name)
        if kind == _STRING:
            found[name.decode("utf-8", "replace")] = value.decode("utf-8", "replace")
    return found


def _error(headers: dict[str, str], payload: bytes) -> bytes:
    """Return the JSON object for an exception (named in one header) or an error (described in two)."""
    members_of_error: dict[str, msgspec.Raw | str] = {
        "code": headers.get(":exception-type") or headers.get(":error-code", ""),
        "message": headers.get(":error-message", ""),
    }
    try:
        members = _MEMBERS.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        if payload:
            members_of_error["message"] = payload.decode("utf-8", "replace")
    else:
        members_of_error.update((name, value) for name, value in members.items() if name != "code")
    return msgspec.json.encode(members_of_error)
