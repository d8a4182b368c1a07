"""Ways to damage a recording: its continuation after a cut, and the fate of a frame on its way.

Damage leaves a trace: text that cannot be decoded, a name with an invalid byte, a gap in the numbers of a sequence.
Data that vanishes without a trace cannot be detected, and no law covers it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from tests.fuzz.mutate import with_payload
from tests.support import encode, encode_bedrock, shown
from tests.support.marked import INVOKED
from wholecall.dialects.claims import are_akin

_BINARY = re.compile(rb"\x00\x00[^\x00]|\x00\x00\x00")
_LINES = re.compile(rb"[{\[]|[0-9a-z]:")  # objects, or with a letter before each


# A recording that was cut.


def marks_for(dialect: str, data: bytes) -> Iterator[tuple[str, bytes]]:
    """The end marks of other dialects that take none of its frames, as they look in the framing of a stream."""
    yield "[DONE]", b"[DONE]\n" if framing(data) == "lines" else encode.done()
    inner = INVOKED.get(dialect, dialect)
    for name, payloads in shown.ends().items():
        if name != inner and not are_akin(name, inner):
            yield f"the end of {name}", _framed(payloads, data)


def framing(data: bytes) -> str:
    """Return whether a stream is `binary`, `lines`, or `events`."""
    if _BINARY.match(data):
        return "binary"
    return "lines" if _LINES.match(data) else "events"


def _framed(payloads: tuple[dict[str, Any], ...], data: bytes) -> bytes:
    if framing(data) == "binary":
        return encode_bedrock.chunks(list(payloads))
    if framing(data) == "lines":
        return encode.json_lines(payloads)
    return encode.typed_sse(payloads) if "type" in payloads[0] else b"".join(map(encode.sse, payloads))


# The ways of damage: the damaged frame, None where it cannot be damaged in this way.


def payload_of(frame: bytes) -> bytes:
    """The payload of a frame."""
    start, end = _place(frame)
    return frame[start:end]


def with_other(frame: bytes, payload: bytes) -> bytes:
    """The frame with another payload; its envelope does not change."""
    if _BINARY.match(frame):
        return with_payload(frame, payload)
    start, end = _place(frame)
    return frame[:start] + payload + frame[end:]


def _place(frame: bytes) -> tuple[int, int]:
    """The begin and the end of a frame's payload."""
    if _BINARY.match(frame):
        return 12 + int.from_bytes(frame[4:8], "big"), len(frame) - 4
    start = min((at for at in (frame.find(b"{"), frame.find(b"[")) if at >= 0), default=len(frame))
    return start, max(start, len(frame.rstrip(b"\r\n")))


def _put(change: Callable[[bytes], bytes | None]) -> Callable[[bytes], bytes | None]:
    """A way that changes the payload."""

    def way(frame: bytes) -> bytes | None:
        before = payload_of(frame)
        after = change(before) if len(before) > 4 else None
        return None if after is None else with_other(frame, after)

    return way


def _in_the_middle(payload: bytes) -> bytes:
    middle = len(payload) // 2
    return payload[:middle] + b"\xff" + payload[middle + 1 :]


_NAME = re.compile(rb'"[A-Za-z_]{2,}" ?:')


def _a_name(payload: bytes) -> bytes | None:
    """A member's name with an invalid byte; the frame determines the member."""
    names = list(_NAME.finditer(payload))
    if not names:
        return None
    at = names[len(payload) % len(names)].start() + 2
    return payload[:at] + b"\xff" + payload[at + 1 :]


def _a_field(frame: bytes) -> bytes | None:
    return None if b"data:" not in frame or _BINARY.match(frame) else frame.replace(b"data:", b"dxta:", 1)


def _in_numbers(frame: bytes) -> bytes | None:
    """A frame that is gone, where those of its stream are numbered."""
    return b"" if b'"sequence_number":' in frame else None


DAMAGES: dict[str, Callable[[bytes], bytes | None]] = {
    "cut short": _put(lambda payload: payload[: len(payload) // 2]),
    "a byte that is none": _put(_in_the_middle),
    "a member's name unreadable": _put(_a_name),
    "a field's name misspelt": _a_field,
    "all but its beginning lost": _put(lambda payload: payload[:1]),
    "gone, in a numbered stream": _in_numbers,
}
