"""How naive loops take a stream apart, and put together what they found."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks.texts import Result

__all__ = ["Loads", "Pending", "gathered", "lines", "messages", "payloads"]

Loads = Callable[[Any], Any]  # `json.loads`, or what takes its place
Pending = dict[Any, dict[str, Any]]

_LENGTHS = struct.Struct(">II")
_AFTER = 12  # lengths and their checksum
_BEFORE = 4  # the checksum of all


def payloads(reads: Iterable[bytes]) -> Iterator[str]:
    """Split server-sent events at blank lines and take the data lines."""
    buffer = b""
    for read in reads:
        buffer += read
        if b"\n\n" in buffer:
            *events, buffer = buffer.split(b"\n\n")
            for event in events:
                yield event[event.index(b"data: ") + 6 :].decode()


def lines(reads: Iterable[bytes]) -> Iterator[str]:
    """Split at line feeds."""
    buffer = b""
    for read in reads:
        buffer += read
        if b"\n" in buffer:
            *found, buffer = buffer.split(b"\n")
            for line in found:
                yield line.decode()


def messages(reads: Iterable[bytes]) -> Iterator[bytes]:
    """Take the payloads out of a binary event stream; neither checksums nor headers are looked at."""
    buffer = b""
    for read in reads:
        buffer += read
        while len(buffer) >= _AFTER:
            total, headers = _LENGTHS.unpack_from(buffer)
            if len(buffer) < total:
                break
            yield buffer[_AFTER + headers : total - _BEFORE]
            buffer = buffer[total:]


def gathered(text: Sequence[str], calls: Pending, loads: Loads) -> Result:
    """Return the text, and the calls with their arguments, whose pieces are joined and loaded."""
    found = [(call["id"], call["name"], loads("".join(call["arguments"]))) for call in calls.values()]
    return Result("".join(text), found)
