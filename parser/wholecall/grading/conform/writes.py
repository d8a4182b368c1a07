"""The pieces in which a server writes an answer.

Theory of operation. A way of writing has a name in the sidecar. The pieces of every way are the same bytes. A frame is
as long as a server writes it at once: an event with its blank line, a line, a message with its checksums; a body that
has none is one piece.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from random import Random

from wholecall.grading.conform.cases import BadSuite, Case

_EVENT = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r|\Z)", re.DOTALL)
_LINE = re.compile(rb"[^\n]*\n|[^\n]+\Z")
_LENGTH = 4  # bytes of the length at the beginning of a binary message
_LEAST = 16  # bytes of a binary message


def pieces(case: Case, write: str) -> list[bytes]:
    """Return the bytes of a case as they are written.

    Args:
        case: the case.
        write: `frame`, `byte`, `whole`, a number of bytes, or `seed:N`.

    Raises:
        BadSuite: there is no such way of writing.
    """
    return [piece for piece in _cut(case, write) if piece]


def _cut(case: Case, write: str) -> Iterator[bytes]:
    data, (word, _, seed) = case.data, write.partition(":")
    if write == "frame":
        return _frames(case)
    if write == "whole":
        return iter([data])
    if write == "byte" or (write.isdecimal() and int(write)):
        size = 1 if write == "byte" else int(write)
        return (data[start : start + size] for start in range(0, len(data), size))
    if word == "seed" and seed.isdecimal():
        return _random(data, Random(f"{seed}/{case.id}"))  # noqa: S311 - reproducible cuts, no secrets
    raise BadSuite(f"{write!r} is not frame, byte, whole, a number of bytes, or seed:N")


def _frames(case: Case) -> Iterator[bytes]:
    if case.suffix == ".sse":
        return (found[0] for found in _EVENT.finditer(case.data))
    if case.suffix == ".ndjson":
        return (found[0] for found in _LINE.finditer(case.data))
    return _messages(case.data) if case.suffix == ".bin" else iter([case.data])


def _messages(data: bytes) -> Iterator[bytes]:
    """Yield the messages of an event stream of Amazon; each begins with its length."""
    start = 0
    while start < len(data):
        size = max(int.from_bytes(data[start : start + _LENGTH], "big"), _LEAST)
        yield data[start : start + size]
        start += size


def _random(data: bytes, random: Random) -> Iterator[bytes]:
    start = 0
    while start < len(data):
        size = random.randint(1, 1 << random.randrange(11))  # many tiny pieces among the large
        yield data[start : start + size]
        start += size
