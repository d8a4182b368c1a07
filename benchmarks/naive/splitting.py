"""Shared parts of the naive loops: splitting a stream, and joining the pieces."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from benchmarks.texts import Result

Loads = Callable[[Any], Any]  # `json.loads`, or its substitute
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


def messages(reads: Iterable[bytes]) -> Iterator[tuple[str, bytes]]:
    """Take types and payloads out of a binary event stream: the type is the first header, the others are not read.

    Nor are the checksums.
    """
    buffer = b""
    for read in reads:
        buffer += read
        while len(buffer) >= _AFTER:
            total, headers = _LENGTHS.unpack_from(buffer)
            if len(buffer) < total:
                break
            at = _AFTER + 1 + buffer[_AFTER] + 1  # after the name and the type of the value
            value = at + 2
            event = buffer[value : value + int.from_bytes(buffer[at:value], "big")].decode()
            yield event, buffer[_AFTER + headers : total - _BEFORE]
            buffer = buffer[total:]


def gathered(text: Sequence[str], calls: Pending, loads: Loads) -> Result:
    """Return the text, and the calls with their arguments, whose pieces are joined and loaded."""
    found = [(call["id"], call["name"], loads("".join(call["arguments"]))) for call in calls.values()]
    return Result("".join(text), found)
