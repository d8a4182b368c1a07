"""Fuzz targets and the form of their input: eight bytes of options, then the payload.

The options are in front and have a fixed size, so that damage to the payload does not change them.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import cycle
from typing import NamedTuple, TypeVar

from tests.fuzz.mutate import mutated

OPTIONS = 8
LONGEST = 8192  # bytes of an input that a fuzzer makes
T = TypeVar("T")
TextT = TypeVar("TextT", bytes, str)


class Broken(AssertionError):
    """A law was broken; the text says which."""


class Target(NamedTuple):
    """Something that takes hostile bytes.

    Attributes:
        name: how the command line calls it.
        run: takes one input; whatever it raises is a finding.
        seeds: inputs to begin with, options included.
        package: the modules whose branches guide the fuzzer; the fewer, the sooner it starts.
        damage: damages a payload, where bytes that are not a stream have their own form.
    """

    name: str
    run: Callable[[bytes], None]
    seeds: Callable[[], Iterable[bytes]]
    package: str = "wholecall"
    damage: Callable[[bytes, random.Random], bytes] = mutated


class Options:
    """The first bytes of an input, as choices."""

    def __init__(self, head: bytes) -> None:
        self._head = head.ljust(OPTIONS, b"\0")

    def pick(self, at: int, choices: Sequence[T]) -> T:
        """Return the choice that the byte at this place makes."""
        return choices[self._head[at] % len(choices)]

    def number(self, at: int) -> int:
        """Return the byte at this place."""
        return self._head[at]

    def flag(self, at: int, bit: int) -> bool:
        """Return one bit of the byte at this place."""
        return bool(self._head[at] >> bit & 1)

    def cut(self, payload: TextT) -> Iterator[TextT]:
        """Cut a payload or a text into chunks, whose sizes the last four bytes give in turn; 0 is an empty chunk."""
        sizes = cycle(self._head[4:] if any(self._head[4:]) else b"\1")
        start = 0
        for size in sizes:
            yield payload[start : start + size]
            start += size
            if start >= len(payload):
                return


def opened(data: bytes) -> tuple[Options, bytes]:
    """Return options and payload of an input."""
    return Options(data[:OPTIONS]), data[OPTIONS:]


def held(law: str, holds: object) -> None:
    """Raise `Broken` with the law's text unless it holds."""
    if not holds:
        raise Broken(law)


def mutated_input(target: Target, data: bytes, rng: random.Random) -> bytes:
    """Return an input of a target with its payload damaged, and now and then other options."""
    head, payload = data[:OPTIONS].ljust(OPTIONS, b"\0"), data[OPTIONS:]
    if rng.random() < 0.25:
        at = rng.randrange(OPTIONS)
        head = head[:at] + rng.randbytes(1) + head[at + 1 :]
    return head + target.damage(payload, rng)
