"""A timeline says which bytes did what, and neither adds to nor takes from what the stream says."""

from __future__ import annotations

from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, Any

import pytest

from tests.support import corpora
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

_LONG = 5_000  # bytes
RECORDINGS = [path for path in corpora.streams() if path.stat().st_size < 100_000]


def names() -> list[str]:
    """Return what the recordings are called."""
    return [str(path.relative_to(corpora.RECORDINGS)) for path in RECORDINGS]


def cut(data: bytes, random: Random) -> Iterator[tuple[float | None, bytes]]:
    """Yield the bytes in pieces of random sizes."""
    while data:
        size = random.randint(1, 1 << random.randrange(10))
        yield None, data[:size]
        data = data[size:]


def raw(event: Any) -> str | None:
    """Return the text that a call ended with, None for those that are told as objects."""
    if isinstance(event, (ToolCall, ServerToolCall, ToolCallDropped)):
        return event.raw_arguments
    return event.input if isinstance(event, CustomToolCall) else None


def said(step: Step) -> Any:
    """Return all of a step that does not depend on how the bytes came."""
    return step.offset, step.size, step.event, step.data, [one.to_json() for one in step.events], step.changes


# Cut in many pieces, the longer ones take their time.
SMALL_FIRST = [
    pytest.param(path, marks=pytest.mark.slow if path.stat().st_size > _LONG else ()) for path in RECORDINGS
]


@pytest.mark.parametrize("path", RECORDINGS, ids=names())
def test_steps_tell_the_events_and_tile_the_stream(path: Path) -> None:
    """Law 59: the events of all steps are those of the stream, and their bytes lie end to end."""
    data = path.read_bytes()
    steps = list(timeline([(None, data)]))
    told = [event.to_json() for step in steps for event in step.events]

    assert [event.to_json() for event in events([data])] == told
    assert [sum(step.size for step in steps[:n]) for n in range(len(steps))] == [
        step.offset for step in steps
    ]
    assert len(data) == steps[-1].offset + steps[-1].size
    assert [False] * (len(steps) - 1) + [True] == [step.end for step in steps]
    assert list(range(len(steps))) == [step.number for step in steps]


@pytest.mark.parametrize("path", SMALL_FIRST, ids=names())
def test_steps_do_not_depend_on_chunks(path: Path) -> None:
    """Law 60: a step has the same bytes, frame, events and changes however the stream was cut."""
    data = path.read_bytes()
    whole = [said(step) for step in timeline([(None, data)])]

    assert whole == [said(step) for step in timeline(cut(data, Random(path.name)))]
    if len(data) < 4_000:
        assert whole == [said(step) for step in timeline((None, data[n : n + 1]) for n in range(len(data)))]


@pytest.mark.parametrize("path", RECORDINGS, ids=names())
def test_changes_add_up(path: Path) -> None:
    """Law 61: the changes of a call add up to its last text, its phases meet, and it ends as its event says."""
    texts: dict[tuple[int, int, int], str] = {}
    phases: dict[tuple[int, int, int], str | None] = {}
    ended: dict[tuple[int, int, int], tuple[str | None, str | None, str | None, str | None]] = {}
    labels: dict[tuple[int, int, int], dict[str, str | None]] = {}
    expected: dict[tuple[int, int, int], Any] = {}
    for step in timeline([(None, path.read_bytes())]):
        for change in step.changes:
            key = change.turn, change.choice, change.index
            texts[key] = ("" if change.replaced else texts.get(key, "")) + change.added
            assert (phases.get(key), len(texts[key])) == (change.before, change.size)
            phases[key] = change.after
            known = labels.setdefault(key, {"id": None, "name": None})
            known.update({name: one for name in known if (one := getattr(change, name)) is not None})
            if change.outcome is not None:
                ended[key] = (change.outcome, change.reason, known["id"], known["name"])
        for event in step.events:
            if isinstance(
                event, (ToolCall, CustomToolCall, BuiltinToolCall, ServerToolCall, ToolCallDropped)
            ):
                key = event.turn, event.choice, event.index
                outcome = getattr(event, "status", "dropped" if hasattr(event, "reason") else "whole")
                name = None if isinstance(event, BuiltinToolCall) else event.name
                expected[key] = (
                    outcome,
                    getattr(event, "reason", None),
                    event.id,
                    name or labels[key]["name"],
                )
                assert texts[key] == (raw(event) if raw(event) is not None else texts[key])

    assert expected == ended
    assert set(expected) == set(phases)
    assert {"ended"} >= set(phases.values())


@pytest.mark.parametrize("path", RECORDINGS, ids=names())
def test_anomalies_add_up(path: Path) -> None:
    """Law 61: what the steps find odd is what the turns say in the end."""
    found = list(timeline([(None, path.read_bytes())]))
    ends = [event for step in found for event in step.events if isinstance(event, TurnFinished)]

    assert {name for end in ends for name in end.anomalies} == {
        name for step in found for name in step.anomalies
    }
