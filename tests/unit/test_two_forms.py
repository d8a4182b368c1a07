"""Calls that a server sent twice: which structured calls excuse a call that was written as text."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import HOLE
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.calls.output.events import TERMINAL
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import (
    CallClosed,
    CallRefused,
    CallSeen,
    CallWritten,
    Delta,
    Finish,
    Labelled,
    Slot,
    TurnEnded,
    TurnOpened,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

A, B = '{"a":1}', '{"b":2}'
END: list[Delta] = [Finish(0, "stop", None), TurnEnded()]
TWICE = "told_twice"


def written(text: str = A, name: str | None = "f") -> CallWritten:
    """Return a call that was written as text."""
    return CallWritten(0, name, None, text, f"<call>{text}</call>")


def structured(text: str = A, id: str = "c", name: str | None = "f", kind: Any = "function") -> list[Delta]:
    """Return a whole call of the server's own."""
    return [CallSeen(0, id, None, id, name, kind), Slot(0, id, None, text), CallClosed(0, id, None)]


def fates(*deltas: Delta, tools: Tools[Any] | None = None, policy: Policy | None = None) -> list[str]:
    """Return the text of each call or the reason of its drop, by the order in which the calls came."""
    assembler = Assembler(policy or Policy(), Limits(), tools)
    for delta in (*deltas, *END):
        assembler.advance([delta])
    assembler.close()
    last = sorted(
        (event for event in assembler.take() if isinstance(event, TERMINAL)),
        key=lambda event: (event.turn, event.index),
    )
    return [
        event.reason if isinstance(event, ToolCallDropped) else getattr(event, "raw_arguments", "")
        for event in last
    ]


@together(
    ("deltas", "expected"),
    [
        ([*structured(), written()], [A, TWICE]),
        ([*structured(), written('{ "a": 1.0 }')], [A, TWICE]),
        ([*structured(), written(B)], [A, B]),
        ([*structured(), written(name="g")], [A, A]),
        ([*structured(name=" f "), written()], [A, TWICE]),
        ([*structured(), *structured(B, "d"), written(), written(B)], [A, B, TWICE, TWICE]),
        ([*structured(), *structured(id="d"), written(), written(), written()], [A, A, TWICE, TWICE, A]),
        ([Labelled(0, None, "c", None, A), written()], ["nameless", A]),
        ([Labelled(0, None, "c", None, A), written(name="other")], ["nameless", A]),
        (
            [*structured(name=None), CallWritten(0, None, None, A, A, reason="ambiguous")],
            ["nameless", "ambiguous"],
        ),
    ],
)
def test_equal_calls(deltas: list[Delta], expected: list[str]) -> None:
    """A structured call excuses one written call of its name and its value."""
    assert expected == fates(*deltas)


@pytest.mark.parametrize(
    ("deltas", "expected"),
    [
        ([*structured(kind="server"), written()], [A, A]),
        (
            [*structured()[:2], CallRefused(0, "c", None, "unparseable", "no JSON"), written()],
            ["unparseable", A],
        ),
        ([*structured()[:2], HOLE, written()], ["incomplete_input", A]),
        ([*structured(), HOLE, written()], [A, TWICE]),
        ([written(), *structured()[:2], HOLE], [A, "incomplete_input"]),
        ([written(), *structured(id="c" * 600)[:2]], [A, "id_too_long"]),
    ],
)
def test_a_call_that_is_not_to_be_executed_excuses_none(deltas: list[Delta], expected: list[str]) -> None:
    """A call of another's, one that was refused and one that lost text leave the written call to be executed."""
    assert expected == fates(*deltas)


def test_names_are_compared_as_the_client_sees_them() -> None:
    """Where names are normalised, two spellings of one tool's name are one name."""
    tools, policy = Tools({"f": lambda **_: None}), Policy(tool_names="normalised")

    assert [A, TWICE] == fates(*structured(name="functions.f"), written(), tools=tools, policy=policy)
    assert [A, TWICE] == fates(*structured(), written(name="functions.f"), tools=tools, policy=policy)


def test_a_call_of_no_tool_excuses_none() -> None:
    """A structured call that was dropped because no tool has its name says nothing about the written one."""
    tools: Tools[Any] = Tools({"g": lambda **_: None})

    assert ["unknown_tool", "unknown_tool"] == fates(*structured(), written(), tools=tools)


@pytest.mark.parametrize("name", ["f", " f "])
def test_a_call_that_is_not_shown_yet(name: str) -> None:
    """A structured call that waits, because an earlier turn had its id, excuses a written one by its name as it came."""
    first = [TurnOpened("a", "r"), *structured(), *END]
    second = [TurnOpened("b", "r"), written(B), *structured(B, name=name)[:2]]

    assert [A, TWICE, B] == fates(*first, *second)
