"""Calls that the model wrote as text: when they are emitted, the content of their drops, and their ids."""

from __future__ import annotations

from typing import Any

import pytest

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import TERMINAL
from wholecall.deltas import CallWritten, Delta, Finish, Labelled, TurnEnded, WireFault
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

A, B = '{"a":1}', '{"b":2}'
END: list[Delta] = [Finish(0, "stop", None), TurnEnded()]
HOLE = WireFault("undecodable_frame", "", hole=True)


def written(text: str = A, name: str | None = "f", id: str | None = None, **more: Any) -> CallWritten:
    """Return a call that was written as text."""
    return CallWritten(0, name, id, text, f"<call>{name}{text}</call>", **more)


def structured(text: str = A, id: str = "c", name: str = "f") -> Labelled:
    """Return a call of the server's own."""
    return Labelled(0, None, id, name, text)


def ends(*deltas: Delta, limits: Limits | None = None, policy: Policy | None = None) -> list[Any]:
    """Return the terminal events, by the calls' order."""
    assembler = Assembler(policy or Policy(), limits or Limits())
    for delta in (*deltas, *END):
        assembler.advance([delta])
    assembler.close()
    found = [event for event in assembler.take() if isinstance(event, TERMINAL)]
    return sorted(found, key=lambda event: event.index)


def fates(*deltas: Delta) -> list[str]:
    """Return the result of each call: its text, or the reason of its drop."""
    return [
        event.reason if isinstance(event, ToolCallDropped) else event.raw_arguments for event in ends(*deltas)
    ]


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([structured(), written()], [A, "told_twice"]),
        ([structured(), written(B)], [A, B]),
        ([structured(), written(name="g")], [A, A]),
        ([structured(), written(), written()], [A, "told_twice", A]),
        ([written(), written()], [A, A]),
    ],
)
def test_told_twice(calls: list[Delta], expected: list[str]) -> None:
    """A written call that the server reported as a structured one is dropped; each structured call excuses one."""
    assert expected == fates(*calls)


def test_a_drop_shows_what_the_model_wrote() -> None:
    """The text of its drop is all that was written, up to the limit of a sample, and the detail says why."""
    _, drop = ends(structured(), written())
    _, short = ends(structured(), written(), limits=Limits(max_raw_bytes=9))

    assert ("f", "<call>f" + A + "</call>") == (drop.name, drop.raw_arguments)
    assert "the server sent the same call in the list of calls" == drop.detail
    assert "<call>f{" + '"' == short.raw_arguments


@pytest.mark.parametrize("name", [None, "f"])
@pytest.mark.parametrize("reason", ["truncated", "unparseable", "ambiguous"])
def test_what_was_to_be_a_call(name: str | None, reason: Any) -> None:
    """An unreadable call has its own reason, with a name or without."""
    (drop,) = ends(written("", name, reason=reason, detail="why"))

    assert (reason, "why", name) == (drop.reason, drop.detail, drop.name)


def test_edits_of_the_reader_come_first() -> None:
    """A written call is normalised at best, and lists the changes of its reading before those of its text."""
    (plain,) = ends(written(edits=("closer_missing", "unquoted_key")))
    (repaired,) = ends(written("{a:1}", edits=("closer_missing",)))

    assert ("normalised", [("closer_missing", 0), ("unquoted_key", 0)]) == (
        plain.status,
        [(edit.kind, edit.offset) for edit in plain.edits],
    )
    assert ("recovered", ("closer_missing", 0)) == (
        repaired.status,
        (repaired.edits[0].kind, repaired.edits[0].offset),
    )
    assert len(repaired.edits) > 1


@pytest.mark.parametrize(
    ("calls", "expected"),
    [
        ([written(id="c")], [("c", ())]),
        ([written(id="c"), written(B, id="c")], [("c", ()), ("c#2", ("duplicate_id",))]),
        ([structured(id="c"), written(B, id="c")], [("c", ()), ("c#2", ("duplicate_id",))]),
        (
            [written(id="c"), written(B, id="c"), written(id="c#2")],
            [("c", ()), ("c#2", ("duplicate_id",)), ("c#2#2", ("duplicate_id",))],
        ),
    ],
)
def test_ids_of_written_calls(calls: list[Delta], expected: list[tuple[str, tuple[str, ...]]]) -> None:
    """The id that the model wrote stays, unless another call of the turn has it."""
    assert expected == [(event.id, event.flags) for event in ends(*calls)]


def test_ids_of_structured_calls() -> None:
    """The second structured call of an id gets the first one that is free."""
    calls = ends(Labelled(0, 0, "c", "f", A), Labelled(0, 1, "c", "g", B), Labelled(0, 2, "d", "h", A))

    assert [("c", ()), ("c#2", ("duplicate_id",)), ("d", ())] == [
        (call.id, call.flags) for call in calls if isinstance(call, ToolCall)
    ]
