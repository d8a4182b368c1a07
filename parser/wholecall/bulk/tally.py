"""Counters of a scan: recordings, calls, and unreadable inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import msgspec

from wholecall.bulk.rows import Row

__all__ = ["MOST_TROUBLES", "Tally"]
_private = True

MOST_TROUBLES = 20  # troubles that are listed by name
_COUNTED = {
    "n_calls": "calls",
    "n_dropped": "dropped",
    "n_cancelled": "cancelled",
    "n_server": "server",
    "bytes": "bytes",
}


class Tally(msgspec.Struct):
    """Counts of some units.

    Attributes:
        counts: `recordings`, `troubles` (recordings that could not be read), `bytes` of bodies, `calls`, `dropped`,
            `cancelled`, `server`.
        skipped: responses that are not recordings, by reason.
        troubles: the first recordings that could not be read: id and trouble.
    """

    counts: Counter[str] = msgspec.field(default_factory=Counter)
    skipped: Counter[str] = msgspec.field(default_factory=Counter)
    troubles: list[tuple[str, str]] = msgspec.field(default_factory=list)

    def add(self, row: Row) -> None:
        """Count a recording."""
        values = row.recording
        self.counts["recordings"] += 1
        for column, word in _COUNTED.items():
            self.counts[word] += values[column]
        if values["trouble"] is not None:
            self.counts["troubles"] += 1
            self.note([(_told(values["recording_id"]), _told(values["trouble"]))])

    def merge(self, counts: Mapping[str, int], skipped: Mapping[str, int]) -> None:
        """Add the counts of another tally."""
        self.counts.update(counts)
        self.skipped.update(skipped)

    def note(self, troubles: list[tuple[str, str]]) -> None:
        """Remember troubles, if there is still room."""
        self.troubles += troubles[: MOST_TROUBLES - len(self.troubles)]


def _told(text: str) -> str:
    """Return a text that can be written as UTF-8: names of files may be invalid."""
    return text.encode("utf-8", "backslashreplace").decode()
