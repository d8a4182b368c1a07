r"""The frames of a stream as rewriters see them: their bytes, and their content.

Theory of operation. Nearly all blocks are one frame of the simplest form, a data line after a name or none, and are
read in place. A separate framing reads the others; like the parser's it sees them in order.

JSON does not define the meaning of `{"arguments":"{}","arguments":"{\"a\":1}"}`: most readers take the last value, some
the first one, some none. A frame whose call was judged by one value must not reach a client that reads another. And
text that is not strict JSON (a tab inside a string, `NaN`) is read by some clients and makes others fail. Therefore
passing frames name each member once, in strict JSON; all others are rewritten with the values that were judged.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from msgspec.structs import replace

from wholecall.dialects import decode, envelope
from wholecall.framing import Frame, SSEFraming
from wholecall.limits import Limits
from wholecall.repairing.encoders.base import json_bytes, server_sent

_ODD_LINE_ENDS = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")  # see `json_bytes`
_NAME: Final = "event: "
_UNNAMED: Final = ("message", "")
_DONE: Final = "[DONE]"


class _NamedTwice(ValueError):
    """The error for an object that names a member twice."""


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _NamedTwice
    return found


def _constant(name: str) -> float:
    raise ValueError(name)


_DECODER: Final = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=decode.integer, parse_constant=_constant
)


def once(text: str) -> tuple[Any, bool]:
    """Return the value of a JSON text, as the parser reads it, and whether readers may differ about it.

    They may also differ if the text is nested too deeply to be read. The value is None if the text is not JSON.
    """
    try:
        return _DECODER.decode(text), False
    except (ValueError, RecursionError):
        return decode.plain(text), True


class Piece(NamedTuple):
    """One frame of the stream.

    Attributes:
        raw: its bytes, the blank line included.
        event: its name, None where it has none.
        payload: its JSON object, None if it holds none.
        plain: whether every reader takes the bytes for this frame and nothing else.
        is_done: whether it is the `[DONE]` after a stream.
        is_call: whether it is about a call that the client executes.
        more: further frames from its template; they are treated as it is.
    """

    raw: bytes
    event: str | None
    payload: dict[str, Any] | None
    plain: bool
    is_done: bool = False
    is_call: bool = False
    more: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str:
        """The `type` of its payload, `""` where there is none."""
        kind = (self.payload or {}).get("type")
        return kind if type(kind) is str else ""

    @property
    def is_error(self) -> bool:
        """Return whether it is an error; a server's errors stay unchanged."""
        return self.event == "error" or is_error(self.payload or {})

    @property
    def whole(self) -> bytes:
        """Its bytes, and those of the following frames."""
        return b"".join((self.raw, *self.more)) if self.more else self.raw

    def others(self) -> Iterator[Piece]:
        """Yield the following frames as separate pieces."""
        for block in self.more:
            frames = SSEFraming(Limits.none()).feed(b"\n" + block)
            yield self._replace(raw=block, payload=decode.plain(frames[0].data), more=())

    def with_payload(self, payload: Mapping[str, Any]) -> bytes:
        """Return the frame with another payload; its name stays."""
        return server_sent(payload, self.event)

    def changed(self, payload: dict[str, Any], **others: Any) -> Piece:
        """Return the frame with another payload, and perhaps with other attributes except its name."""
        return self._replace(payload=payload, raw=self.with_payload(payload), **others)

    def rewritten(self) -> Piece:
        """Return the frame rewritten with the values that were read: readers may differ about its bytes."""
        return self if self.payload is None else self.changed(self.payload, plain=False)

    def opened(self) -> Piece:
        """Return the frame without its envelope; itself, if it has none."""
        if self.payload is None:
            return self
        inner = envelope.opened(Frame(self.event or "", json_bytes(self.payload).decode()))
        if decode.is_done(inner.data):
            return Piece(b"data: [DONE]\n\n", None, None, plain=False, is_done=True)
        payload = decode.plain(inner.data)
        if not isinstance(payload, dict) or payload == self.payload:
            return self
        return self._replace(event=inner.event or None).changed(payload, plain=False)

    def named(self) -> Piece:
        """Return the frame with its name as its `type`, which clients read."""
        return self.changed({**(self.payload or {}), "type": self.event}, plain=False)


def _pieces(block: bytes, frames: Sequence[Frame]) -> list[Piece]:
    """Return the frames of a block; a frame that joins several payloads is split (quirk 55).

    Frames without content are left out: clients take all data for JSON objects that have members (quirk 53).
    """
    found: list[Piece] = []
    for frame in frames:
        is_named = frame.event not in _UNNAMED and frame.data.strip() == "{}"  # `event: message_stop`
        if frame.event != "ping" and decode.is_noise(frame) and not is_named:
            continue
        event = None if frame.event in ("message", "") else frame.event
        texts = decode.payloads(frame.data) if "\n" in frame.data else [frame.data]
        for text in texts:
            if len(texts) > 1 and decode.is_noise(Frame(frame.event, text)):
                continue
            value, is_odd = once(text)
            payload = value if isinstance(value, dict) else None
            if len(texts) == len(frames) == 1:
                is_plain = not frame.replaced and (
                    block.isascii() or not any(end in block for end in _ODD_LINE_ENDS)
                )
                piece = Piece(block, event, payload, is_plain, payload is None and decode.is_done(text))
                found.append(piece.rewritten() if is_odd or frame.replaced else piece)
            else:
                piece = Piece(
                    b"data: " + text.encode("utf-8", "surrogatepass") + b"\n\n", event, payload, False
                )
                found.append(piece if payload is None else piece.changed(payload))
    return found


class PieceReader:
    """A reader of the blocks of one stream, in order.

    Args:
        limits: those of the stream.
        most: bytes of a block that are within all limits.
    """

    def __init__(self, limits: Limits, most: int) -> None:
        self._limits = limits
        self._most = most
        self._n_skipped = 0  # bytes of blocks that the framing has not seen
        self._framing: SSEFraming | None = None  # made on demand

    def read(self, block: bytes) -> list[Piece]:
        """Return the frames of a whole block."""
        piece = _simple(block) if len(block) <= self._most and self._may_skip(block) else None
        if piece is None:
            return _pieces(block, self._frames(block))
        self._n_skipped += len(block)
        return [piece]

    def skip(self, block: bytes) -> None:
        """Skip a block whose frame is known."""
        if self._may_skip(block):
            self._n_skipped += len(block)
        else:
            self._frames(block)

    def end(self, tail: bytes, whole: bytes) -> list[Piece]:
        """Return the frames of the last bytes, which lack a blank line; `whole` has it."""
        if not tail and self._framing is None:
            return []
        frames = self._frames(tail)
        return _pieces(whole, [*frames, *(self._framing.close() if self._framing is not None else ())])

    def _may_skip(self, block: bytes) -> bool:
        """Return whether the framing need not see a block; it counts the bytes of streams that have a limit."""
        limit = self._limits.max_stream_bytes
        return limit is None or (self._framing is None and self._n_skipped + len(block) <= limit)

    def _frames(self, data: bytes) -> list[Frame]:
        if self._framing is None:
            limits, limit, before = (
                self._limits,
                self._limits.max_stream_bytes,
                b"\n" if self._n_skipped else b"",
            )
            if limit is not None:
                limits = replace(limits, max_stream_bytes=limit - self._n_skipped + len(before))
            self._framing = SSEFraming(limits, dispatch_at_eof=True, raw_json=True, misspelt=True)
            self._framing.feed(before)  # only the beginning may have a byte order mark
        return self._framing.feed(data)


def is_error(payload: Mapping[str, Any]) -> bool:
    """Return whether an object reports a failure."""
    return bool(payload.get("error")) or "error" in (payload.get("object"), payload.get("type"))


def payload_once(block: bytes) -> dict[str, Any] | None:
    """Return the object in a block's frame; None if readers may differ about it, or its form is not the simplest."""
    data = block.partition(b"data:")[2].strip()
    if b"\n" in data or b"\r" in data:
        return None
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return None
    value, is_odd = once(text)
    return value if isinstance(value, dict) and not is_odd else None


def _simple(block: bytes) -> Piece | None:
    """Return the frame of a block of the simplest form; None for any other form."""
    if not block.endswith(b"\n\n") or b"\r" in block:
        return None
    try:
        head, found, data = block[:-2].decode().partition("data: ")
    except UnicodeDecodeError:
        return None
    if (
        not found
        or "\n" in data
        or (head and not (head.startswith(_NAME) and head.find("\n") == len(head) - 1))
    ):
        return None
    if not data.startswith("{") or data == "{}":
        if data != _DONE:
            return None
        payload, is_odd = None, False
    else:
        value, is_odd = once(data)
        payload = value if isinstance(value, dict) else None
    name = head[len(_NAME) : -1]
    is_plain = block.isascii() or not any(end in block for end in _ODD_LINE_ENDS)
    piece = Piece(block, None if name in _UNNAMED else name, payload, is_plain, data == _DONE)
    return piece.rewritten() if is_odd else piece
