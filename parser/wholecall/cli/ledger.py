"""Count oddities of recordings by word: for one recording, for a provider's and for all."""

from __future__ import annotations

from collections import Counter
from typing import Any

import msgspec

from wholecall import (
    EXECUTABLE,
    TERMINAL,
    Event,
    ServerToolCall,
    StreamFault,
    ToolCall,
    ToolCallDropped,
    TurnFinished,
    TurnStarted,
)

__all__ = ["KINDS", "LEAKS", "Ledger"]

LEAKS = "calls_in_text"  # the finding of calls in texts that were not to be read
KINDS = (
    "dropped",
    "faults",
    "flags",
    "edits",
    "anomalies",
    LEAKS,
)  # of findings; the words of each are closed
_FLAGGED = (*EXECUTABLE, ServerToolCall)


class Ledger(msgspec.Struct, kw_only=True):
    """Counts of one recording, or of several.

    Attributes:
        recordings: how many recordings were counted.
        odd: how many of them have a finding.
        turns: messages.
        calls: calls that were whole.
        empty: calls without arguments among them.
        findings: by kind (`KINDS`), how often each word of it occurred.
        dialect: the dialect of the last turn.
    """

    recordings: int = 0
    odd: int = 0
    turns: int = 0
    calls: int = 0
    empty: int = 0
    findings: dict[str, Counter[str]] = msgspec.field(
        default_factory=lambda: {kind: Counter() for kind in KINDS}
    )
    dialect: str | None = None

    @property
    def clean(self) -> bool:
        """Return whether there are no findings."""
        return not any(self.findings.values())

    def add(self, event: Event) -> None:
        """Count the findings of one event."""
        found = self.findings
        if isinstance(event, TurnStarted):
            self.turns += 1
            self.dialect = event.dialect
        elif isinstance(event, ToolCallDropped):
            found["dropped"][event.reason] += 1
        elif isinstance(event, StreamFault):
            found["faults"][event.kind] += 1
        elif isinstance(event, TurnFinished):
            found["anomalies"].update(event.anomalies)
        elif isinstance(event, TERMINAL):
            self.calls += 1
            self._add_call(event)

    def _add_call(self, event: Any) -> None:
        self.findings["flags"].update(event.flags)
        if isinstance(event, ToolCall):
            self.empty += event.status == "empty"
            self.findings["edits"].update(edit.kind for edit in event.edits)

    def add_leaks(self, found: Counter[str]) -> None:
        """Count calls in texts, by the format that reads them."""
        self.findings[LEAKS].update(found)

    def ignore(self, words: frozenset[str]) -> None:
        """Forget findings of some words; calls in texts have one word, whatever the format."""
        if LEAKS in words:
            self.findings[LEAKS].clear()
        for counts in self.findings.values():
            for word in words & counts.keys():
                del counts[word]

    def end(self) -> None:
        """Note that this was one whole recording."""
        self.recordings = 1
        self.odd = int(not self.clean)

    def merge(self, other: Ledger) -> None:
        """Add the counts of another ledger."""
        for name in ("recordings", "odd", "turns", "calls", "empty"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for kind, counts in other.findings.items():
            self.findings[kind].update(counts)

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values, kinds without a finding left out."""
        numbers = {name: getattr(self, name) for name in ("recordings", "odd", "turns", "calls", "empty")}
        found = {kind: dict(counts.most_common()) for kind, counts in self.findings.items() if counts}
        return numbers | found
