"""Counts of recordings: their calls, and their findings by word.

Theory of operation. A finding is a word of the closed vocabularies (docs/words.md): the reason of a drop, the kind of a
fault, a flag, an edit, an anomaly. `wholecall lint` and `wholecall replay` count the events of a recording one by one
(`count`); a report on tables counts columns, and adds only their sums (`add`, `find`). Both fill this one class, so
that equal recordings have equal numbers under equal names.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, ClassVar, Final

import msgspec

from wholecall.calls.output import call_events
from wholecall.calls.output.events import Event, StreamFault, TurnFinished, TurnStarted

KINDS: Final = (
    "dropped",
    "faults",
    "flags",
    "edits",
    "anomalies",
)  # of findings; the words of each are closed
OTHERS: Final = "(others)"
_MOST_WORDS = 10_000


class Words(Counter[str]):
    """Counts words; beyond 10,000 different words all further words are one word."""

    def add(self, word: str, count: int = 1) -> None:
        """Count a word."""
        known = word in self or len(self) < _MOST_WORDS
        self[word if known else OTHERS] += count

    def add_all(self, words: Iterable[str]) -> None:
        """Count each of some words once."""
        for word in words:
            self.add(word)


class RecordingCounts(msgspec.Struct, kw_only=True):
    """Counts of one recording, or of several.

    Attributes:
        recordings: how many recordings were read to their end.
        odd: how many of them have a finding.
        turns: messages.
        calls: whole calls.
        empty: calls without arguments among them.
        findings: by kind (`KINDS`), how often each word was counted.
    """

    ACTIONS: ClassVar[dict[type, Callable[[Any, Any], None]]] = {}
    NUMBERS: ClassVar[tuple[str, ...]] = ("recordings", "odd", "turns", "calls", "empty")

    recordings: int = 0
    odd: int = 0
    turns: int = 0
    calls: int = 0
    empty: int = 0
    findings: dict[str, Words] = msgspec.field(default_factory=lambda: {kind: Words() for kind in KINDS})

    @property
    def dropped(self) -> int:
        """How many calls were dropped."""
        return self.findings["dropped"].total()

    @property
    def faults(self) -> int:
        """How often the wire was at fault."""
        return self.findings["faults"].total()

    @property
    def is_odd(self) -> bool:
        """Whether there are findings."""
        return any(self.findings.values())

    # Events of one recording.

    def count(self, event: Event) -> None:
        """Count an event."""
        act = self.ACTIONS.get(type(event))
        if act is not None:
            act(self, event)

    def end(self) -> None:
        """Note that the recording was read to its end."""
        self.recordings = 1
        self.odd = int(self.is_odd)

    # Sums.

    def add(self, numbers: Mapping[str, int | None]) -> None:
        """Add to some numbers, by their names; None adds nothing."""
        for name, number in numbers.items():
            setattr(self, name, getattr(self, name) + (number or 0))

    def find(self, kind: str, word: str, count: int) -> None:
        """Count a finding several times."""
        self.findings[kind].add(word, count)

    def merge(self, other: RecordingCounts) -> None:
        """Add the counts of other recordings."""
        self.add({name: getattr(other, name) for name in self.NUMBERS})
        merge_words(self.findings, other.findings)

    # JSON values.

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as JSON values; kinds without a finding are left out."""
        return self.numbers() | described(self.findings)

    def numbers(self) -> dict[str, int]:
        """Return the numbers by name."""
        return {name: getattr(self, name) for name in self.NUMBERS}


# The counter of each kind of event; other events, pieces of texts above all, are not counted.


def _turn(counts: RecordingCounts, _: TurnStarted) -> None:
    counts.turns += 1


def _drop(counts: RecordingCounts, event: call_events.ToolCallDropped) -> None:
    counts.findings["dropped"].add(event.reason)


def _fault(counts: RecordingCounts, event: StreamFault) -> None:
    counts.findings["faults"].add(event.kind)


def _end_of_turn(counts: RecordingCounts, event: TurnFinished) -> None:
    counts.findings["anomalies"].add_all(event.anomalies)


def _call(counts: RecordingCounts, event: Any) -> None:
    counts.calls += 1
    counts.findings["flags"].add_all(event.flags)


def _function_call(counts: RecordingCounts, event: call_events.ToolCall) -> None:
    _call(counts, event)
    counts.empty += event.status == "empty"
    counts.findings["edits"].add_all(edit.kind for edit in event.edits)


RecordingCounts.ACTIONS = {
    TurnStarted: _turn,
    call_events.ToolCallDropped: _drop,
    StreamFault: _fault,
    TurnFinished: _end_of_turn,
    call_events.ToolCall: _function_call,
    **dict.fromkeys(
        (call_events.CustomToolCall, call_events.BuiltinToolCall, call_events.ServerToolCall), _call
    ),
}


def merge_words(into: Mapping[str, Words], other: Mapping[str, Words]) -> None:
    """Add words to words, both by kind."""
    for kind, words in other.items():
        for word, count in words.items():
            into[kind].add(word, count)


def described(by_kind: Mapping[str, Words]) -> dict[str, dict[str, int]]:
    """Return words by kind as JSON values, the most frequent first; kinds without a word are left out."""
    return {kind: dict(words.most_common()) for kind, words in by_kind.items() if words}
