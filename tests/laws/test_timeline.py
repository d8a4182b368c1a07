"""A timeline gives the effect of each byte, and neither adds to nor takes from the stream's events."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import corpora
from tests.support.together import together
from wholecall import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
    TurnFinished,
    events,
)
from wholecall.timeline import Step, timeline

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wholecall.recordings.timeline import CallChange

_LONG = 5_000  # bytes
RECORDINGS = [path for path in corpora.streams() if path.stat().st_size < 100_000]


def cut(data: bytes, random: Random) -> Iterator[tuple[float | None, bytes]]:
    """Yield the bytes in pieces of random sizes."""
    while data:
        size = random.randint(1, 1 << random.randrange(10))
        yield None, data[:size]
        data = data[size:]


def raw(event: Any) -> str | None:
    """Return the text that a call ended with, None for calls that come as objects."""
    if isinstance(event, (ToolCall, ServerToolCall, ToolCallDropped)):
        return event.raw_arguments
    return event.input if isinstance(event, CustomToolCall) else None


def said(step: Step) -> Any:
    """Return all of a step that does not depend on how the bytes came."""
    return step.offset, step.size, step.event, step.data, [one.to_json() for one in step.events], step.changes


@pytest.mark.sampled(11)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS))
def test_steps_tell_the_events_and_tile_the_stream(paths: list[Path]) -> None:
    """Law 59: the events of all steps are those of the stream, and their bytes lie end to end."""
    for path in paths:
        data = path.read_bytes()
        steps = list(timeline([(None, data)]))
        told = [event.to_json() for step in steps for event in step.events]

        assert [event.to_json() for event in events([data])] == told, path.name
        assert [sum(step.size for step in steps[:n]) for n in range(len(steps))] == [
            step.offset for step in steps
        ], path.name
        assert len(data) == steps[-1].offset + steps[-1].size, path.name
        assert [False] * (len(steps) - 1) + [True] == [step.end for step in steps], path.name
        assert list(range(len(steps))) == [step.number for step in steps], path.name


@pytest.mark.sampled(35)
@pytest.mark.parametrize("paths", corpora.groups(RECORDINGS, long=_LONG))
def test_steps_do_not_depend_on_chunks(paths: list[Path]) -> None:
    """Law 60: a step has the same bytes, frame, events and changes however the stream was cut."""
    for path in paths:
        data = path.read_bytes()
        whole = [said(step) for step in timeline([(None, data)])]

        assert whole == [said(step) for step in timeline(cut(data, Random(path.name)))], path.name
        if len(data) < 4_000:
            assert whole == [
                said(step) for step in timeline((None, data[n : n + 1]) for n in range(len(data)))
            ], path.name


Key = tuple[int, int, int]
WHOLE = (ToolCall, CustomToolCall, BuiltinToolCall, ServerToolCall, ToolCallDropped)


class Book:
    """The statements of the changes of calls and of the events of their ends, separately."""

    def __init__(self) -> None:
        self.texts: dict[Key, str] = {}
        self.phases: dict[Key, str | None] = {}
        self.labels: dict[Key, dict[str, str | None]] = {}
        self.ended: dict[Key, tuple[Any, ...]] = {}
        self.expected: dict[Key, tuple[Any, ...]] = {}

    def change(self, change: CallChange) -> None:
        """Enter a change of a call, which continues where the previous change ended."""
        key = change.turn, change.choice, change.index
        self.texts[key] = ("" if change.replaced else self.texts.get(key, "")) + change.added
        assert (self.phases.get(key), len(self.texts[key])) == (change.before, change.size)
        self.phases[key] = change.after
        known = self.labels.setdefault(key, {"id": None, "name": None})
        known.update({name: one for name in known if (one := getattr(change, name)) is not None})
        if change.outcome is not None:
            self.ended[key] = (change.outcome, change.reason, known["id"], known["name"])

    def event(self, event: Any) -> None:
        """Enter the end of a call, whose text is that of its changes."""
        key = event.turn, event.choice, event.index
        outcome = getattr(event, "status", "dropped" if hasattr(event, "reason") else "whole")
        name = None if isinstance(event, BuiltinToolCall) else event.name
        reason = getattr(event, "reason", None)
        self.expected[key] = (outcome, reason, event.id, name or self.labels[key]["name"])
        assert self.texts[key] == (raw(event) if raw(event) is not None else self.texts[key])


@together("paths", corpora.groups(RECORDINGS), one_in=6)
def test_changes_add_up(paths: list[Path]) -> None:
    """Law 61: the changes of a call add up to its last text, its phases meet, and it ends like its event."""
    for path in paths:
        book = Book()
        for step in timeline([(None, path.read_bytes())]):
            for change in step.changes:
                book.change(change)
            for event in step.events:
                if isinstance(event, WHOLE):
                    book.event(event)

        assert book.expected == book.ended, path.name
        assert set(book.expected) == set(book.phases), path.name
        assert {"ended"} >= set(book.phases.values()), path.name


@together("paths", corpora.groups(RECORDINGS), one_in=6)
def test_anomalies_add_up(paths: list[Path]) -> None:
    """Law 61: the oddities of the steps are the oddities of the turns at the end."""
    for path in paths:
        found = list(timeline([(None, path.read_bytes())]))
        ends = [event for step in found for event in step.events if isinstance(event, TurnFinished)]

        assert {name for end in ends for name in end.anomalies} == {
            name for step in found for name in step.anomalies
        }, path.name
