"""The report of a stream so far: numbers and words for logs and metrics, never a model's text.

A stream is *mended* if the output differs from the input, order aside. Checksums of the events are added up on both
sides: everything edited, left out or added makes a difference, and waiting alone makes none.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional
from zlib import crc32

import msgspec

from wholecall.calls.output.call_events import ArgumentsDelta, ToolCallDropped
from wholecall.calls.output.events import (
    EXECUTABLE,
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from wholecall.repairing.blocks import Blocks

_SAYS_NOTHING = frozenset({ArgumentsDelta, ReasoningDelta, TextDelta})  # most events; not counted


class RepairReport(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a stream or a body so far; of an unread one, only the part before that was known.

    Attributes:
        dialect: its name, None while it is unknown.
        ended: whether the last turn ended by itself: the provider gave a reason, an error or a `[DONE]`.
        n_calls: whole calls for the client to execute; they are emitted unless an error ends the stream first.
        n_withheld: calls that must not be executed, and were not emitted.
        mended: whether anything was edited, left out or added.
        error: the code of the error that ended the stream for the client, else None: `calls_withheld`,
            `upstream_incomplete`, the code given to `Repairer.fail`, or the kind of a fault.
        held: bytes that wait, for a verdict or for the end of their event.
        usage: the provider's token counts, untouched; None while there are none.
        unread: whether it passes unchanged because it is not a stream or body of a dialect that is repaired.
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
    """The counts for a report, taken while a stream passes through.

    Attributes:
        ended, n_calls, n_withheld, mended, usage: as in `RepairReport`.
    """

    def __init__(self) -> None:
        self.ended = False
        self.n_calls = 0
        self.n_withheld = 0
        self.mended = False
        self.usage: dict[str, Any] | None = None
        self._balance = 0
        self._blocks = Blocks()  # of the output

    def note(self, events: Sequence[Event[Any]]) -> None:
        """Note the parser's events."""
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
        """Note input, which may be changed, and output.

        Args:
            block: an event, or nothing.
            data: whole events.
            is_all: whether none of the input waits.
        """
        if self.mended:
            return
        if block != data:
            self._balance += crc32(block) if block else 0
            self._balance -= sum(map(crc32, self._events(data))) if data else 0
        self.mended = is_all and self._balance != 0

    def report(
        self,
        *,
        error: str | None,
        held: int = 0,
        dialect: str | None = None,
        ended: bool | None = None,
        unread: bool = False,
    ) -> RepairReport:
        """Return the report of these counts and of what the reader of the stream knows; `ended=None` is a count."""
        return RepairReport(
            dialect=dialect,
            ended=self.ended if ended is None else ended,
            n_calls=self.n_calls,
            n_withheld=self.n_withheld,
            mended=self.mended,
            error=error,
            held=held,
            usage=self.usage,
            unread=unread,
        )

    def _events(self, data: bytes) -> list[bytes]:
        """Return the events of the output, the last of which may end in a CR."""
        return [*self._blocks.feed(data), self._blocks.close()]
