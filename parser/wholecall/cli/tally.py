"""Counts of the recordings that a command reads, and the line that sums them up."""

from __future__ import annotations

from wholecall import Event, StreamFault, ToolCallCancelled, TurnStarted
from wholecall.cli.show import counted
from wholecall.recordings.counts import PIECES, RecordingCounts, Words

__all__ = ["Tally"]


class Tally(RecordingCounts):
    """Counts the events of one recording, or of many, and the files that give no events.

    Attributes:
        unreadable: how many could not be read.
        nonsense: files that hold no answer of a model.
        skipped: responses that are not recordings.
        dialect: the dialect of the first turn, None before it.
        last_dialect: the dialect of the last turn.
        is_answer: whether a model answered: a turn began, a call was taken back, or a provider reported an error.
    """

    unreadable: int = 0
    nonsense: int = 0
    skipped: int = 0
    dialect: str | None = None
    last_dialect: str | None = None
    is_answer: bool = False

    def count(self, event: Event) -> None:
        """Count an event."""
        if isinstance(event, PIECES):
            return
        if isinstance(event, TurnStarted):
            self.dialect = self.dialect or event.dialect
            self.last_dialect = event.dialect
            self.is_answer = True
        elif isinstance(event, StreamFault):
            self.is_answer |= event.kind == "provider_error"
        elif isinstance(event, ToolCallCancelled):
            self.is_answer = True  # of an earlier turn: a live connection sends it between two turns
        super().count(event)

    @property
    def clean(self) -> bool:
        """Return whether nothing was dropped and nothing faulted."""
        return not self.dropped and not self.faults

    def summary(self) -> str:
        """Return one line for people."""
        dropped, faults = self.findings["dropped"], self.findings["faults"]
        parts = [
            counted(self.calls, "call"),
            f"{self.dropped:,} dropped{_by_word(dropped)}",
            counted(self.faults, "fault") + _by_word(faults),
        ]
        more = {
            "could not be read": self.unreadable,
            "no answer of a model": self.nonsense,
            "other responses skipped": self.skipped,
        }
        rest = "".join(f"; {count:,} {noun}" for noun, count in more.items() if count)
        return f"{counted(self.recordings, 'recording')}: {', '.join(parts)}{rest}"


def _by_word(counts: Words) -> str:
    words = ", ".join(f"{count:,} {word}" for word, count in counts.most_common())
    return f" ({words})" if words else ""
