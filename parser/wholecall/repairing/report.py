"""The report of a stream so far: numbers and words for logs and metrics, never text of a model.

A stream is *mended* if what went out is not what came in, order aside. That is found by adding up checksums of the
events on both sides: whatever was edited, left out or added makes a difference, and what only waited makes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional
from zlib import crc32

import msgspec

from wholecall.output.events import (
    EXECUTABLE,
    ArgumentsDelta,
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    ToolCallDropped,
    TurnFinished,
    TurnStarted,
)
from wholecall.repairing.blocks import Blocks

__all__ = ["Ledger", "Report"]

_SAYS_NOTHING = frozenset({ArgumentsDelta, ReasoningDelta, TextDelta})  # most events, of no count


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """What became of a stream, or of a body, so far; of what passes unread, only what was read before that was known.

    Attributes:
        dialect: its name, None while it is not known.
        ended: whether the last turn came to an end of its own: the provider gave a reason, an error or a `[DONE]`.
        n_calls: calls that are whole, for the client to execute; they come out unless an error ends the stream first.
        n_withheld: calls that must not be executed, and did not come out.
        mended: whether anything was edited, left out or added.
        error: the code of the error that ended the stream for the client, None if it was not ended so:
            `calls_withheld`, `upstream_incomplete`, what `Repairer.fail` was given, or the kind of a fault.
        held: bytes that wait, for a verdict or for the end of their event.
        usage: the provider's token counts, untouched; None while there are none.
        unread: whether it passes as it came, because it is no stream and no body of a dialect that is repaired.
    """

    dialect: Optional[str] = None
    ended: bool = False
    n_calls: int = 0
    n_withheld: int = 0
    mended: bool = False
    error: Optional[str] = None
    held: int = 0
    usage: Optional[dict[str, Any]] = None
    unread: bool = False


class Ledger:
    """Counts what a report needs, while a stream goes through.

    Attributes:
        ended, n_calls, n_withheld, mended, usage: as in `Report`.
    """

    def __init__(self) -> None:
        self.ended = False
        self.n_calls = 0
        self.n_withheld = 0
        self.mended = False
        self.usage: dict[str, Any] | None = None
        self._balance = 0
        self._blocks = Blocks()  # of what went out

    def note(self, events: Sequence[Event[Any]]) -> None:
        """Take note of the parser's events."""
        for event in events:
            if type(event) in _SAYS_NOTHING:
                continue
            if isinstance(event, EXECUTABLE):
                self.n_calls += 1
            elif isinstance(event, ToolCallDropped):
                self.n_withheld += event.kind != "server"
            elif isinstance(event, TurnStarted):
                self.ended = False
            elif isinstance(event, TurnFinished):
                self.ended = True
                self.usage = event.usage or self.usage
            elif isinstance(event, StreamFault) and event.kind == "provider_error":
                self.ended = self.ended or event.fatal

    def book(self, block: bytes, data: bytes, *, is_all: bool) -> None:
        """Take note of what came in, and may come out as something else, and of what went out.

        Args:
            block: an event, or nothing.
            data: whole events.
            is_all: whether nothing of what came in waits.
        """
        if self.mended:
            return
        if block != data:
            self._balance += crc32(block) if block else 0
            self._balance -= sum(map(crc32, self._events(data))) if data else 0
        self.mended = is_all and self._balance != 0

    def _events(self, data: bytes) -> list[bytes]:
        """Return the events of what went out, the last of which may end in a CR."""
        return [*self._blocks.feed(data), self._blocks.close()]
