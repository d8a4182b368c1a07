"""Count the events of recordings."""

from __future__ import annotations

from collections import Counter

from wholecall import (
    TERMINAL,
    ArgumentsDelta,
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    ToolCallCancelled,
    ToolCallDropped,
    TurnStarted,
)
from wholecall.cli.show import counted

__all__ = ["Tally"]

_PIECES = (ArgumentsDelta, TextDelta, ReasoningDelta)


class Tally:
    """Counts the events of one recording, or of many.

    Attributes:
        recordings: how many were read to their end.
        unreadable: how many could not be read.
        nonsense: files that hold no answer of a model.
        skipped: responses that are not recordings.
        calls: calls that were whole.
        dropped: dropped calls by reason.
        faults: faults by kind.
        dialect: the dialect of the first turn, None before it.
        is_answer: whether a model answered: a turn began, a call was taken back, or a provider reported an error.
    """

    def __init__(self) -> None:
        self.recordings = self.unreadable = self.nonsense = self.skipped = self.calls = 0
        self.dropped: Counter[str] = Counter()
        self.faults: Counter[str] = Counter()
        self.dialect: str | None = None
        self.is_answer = False

    def add(self, event: Event) -> None:
        """Count one event."""
        if isinstance(event, _PIECES):  # most events, by far
            return
        if isinstance(event, ToolCallDropped):
            self.dropped[event.reason] += 1
        elif isinstance(event, StreamFault):
            self.faults[event.kind] += 1
            self.is_answer |= event.kind == "provider_error"
        elif isinstance(event, TERMINAL):
            self.calls += 1
        elif isinstance(event, TurnStarted):
            self.dialect = self.dialect or event.dialect
            self.is_answer = True
        elif isinstance(
            event, ToolCallCancelled
        ):  # of an earlier turn: a live connection sends it between two turns
            self.is_answer = True

    def merge(self, other: Tally) -> None:
        """Add the counts of another tally."""
        self.recordings += other.recordings
        self.calls += other.calls
        self.dropped += other.dropped
        self.faults += other.faults

    @property
    def clean(self) -> bool:
        """Return whether nothing was dropped and nothing faulted."""
        return not self.dropped and not self.faults

    def summary(self) -> str:
        """Return one line for people."""
        parts = [
            counted(self.calls, "call"),
            f"{self.dropped.total():,} dropped{_by_kind(self.dropped)}",
            counted(self.faults.total(), "fault") + _by_kind(self.faults),
        ]
        more = {
            "could not be read": self.unreadable,
            "no answer of a model": self.nonsense,
            "other responses skipped": self.skipped,
        }
        rest = "".join(f"; {count:,} {what}" for what, count in more.items() if count)
        return f"{counted(self.recordings, 'recording')}: {', '.join(parts)}{rest}"


def _by_kind(counts: Counter[str]) -> str:
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in counts.most_common())
    return f" ({kinds})" if kinds else ""
