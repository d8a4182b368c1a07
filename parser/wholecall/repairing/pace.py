"""Turns for other tasks during long reads.

Theory of operation. Reading does not wait: an event loop does nothing else meanwhile. A few kilobytes that decode to
megabytes of empty events (`data: 1`) would keep all other tasks waiting for seconds. Therefore a reader in an event
loop cuts the input into slices, and awaits a turn before each; the turn is given once the time is up. Bytes of such
events take a hundred times as long as bytes of text, so slices are as large as their time allows. If several streams
have much input, each lets as many turns pass as there are such streams: together they take the time of one.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterable, Iterator
from time import perf_counter
from typing import ClassVar, Final

_TURN: Final = 0.001  # seconds after which other tasks have their turn
_LONG: Final = 0.0005  # seconds after which a slice was too large
_MOST: Final = 4096  # bytes of a slice; of the first one, and of the least
_FIRST: Final = 1024
_LEAST: Final = 256


class Pace:
    """The pace at which one stream is read."""

    _busy: ClassVar[set[Pace]] = set()  # streams that need more than one turn for their input

    def __init__(self) -> None:
        self._size = _FIRST
        self._began = self._slice_began = perf_counter()

    def __repr__(self) -> str:
        return f"<Pace {self._size}>"

    def slices(self, pieces: Iterable[bytes]) -> Iterator[bytes]:
        """Yield pieces, large ones in slices; `turn` is to be awaited before each is read."""
        self._began = perf_counter()
        try:
            for piece in pieces:
                yield from self._slices(piece)
        finally:
            self._busy.discard(self)

    def _slices(self, piece: bytes) -> Iterator[bytes]:
        at = 0
        while at < len(piece):
            end = at + self._size
            yield piece if at == 0 and end >= len(piece) else piece[at:end]
            at = end
            is_long = perf_counter() - self._slice_began > _LONG
            self._size = max(_LEAST, self._size // 2) if is_long else min(_MOST, self._size * 2)

    async def turn(self) -> None:
        """Let other tasks run, if they have waited for long; a cancelled task ends here."""
        if perf_counter() - self._began > _TURN:
            self._busy.add(self)
            for _ in range(len(self._busy)):
                await _others()
            self._began = perf_counter()
        self._slice_began = perf_counter()


async def _others() -> None:
    """Let other tasks run, under asyncio and trio."""
    trio = sys.modules.get("trio")
    try:
        if trio is not None:
            trio.lowlevel.current_task()
    except RuntimeError:
        trio = None
    await (asyncio.sleep(0) if trio is None else trio.lowlevel.checkpoint())
