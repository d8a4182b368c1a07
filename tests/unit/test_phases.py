"""The table of phases: it is total, nothing else changes a phase, and each of its cells is needed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import wholecall
from tests.support import quirky
from tests.support.corpora import cases, recorded
from tests.support.together import together
from tests.support.words import (
    CALLS,
    CUT,
    END,
    LENGTH,
    OPEN,
    STOP,
    A,
    B,
    closed,
    seen,
    told,
    whole,
)
from wholecall import ToolCallParser
from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    Delta,
    Fragment,
    Labelled,
    Slot,
)
from wholecall.machine.call import Call
from wholecall.machine.phases import PHASES, Cell, _stay

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from wholecall.machine.choice import Choice

NEWS = ("name", "fragment", "whole", "close", "finish", "end")
CELLS = [(phase, news) for phase, row in PHASES.items() for news in row]
STAYING = [(phase, news) for phase, news in CELLS if PHASES[phase][news].do is _stay]


# A stream, and the events after each delta and after the close. The name is the cell that it needs.
SCENARIOS: dict[str, tuple[list[Delta], list[list[str]]]] = {
    "pending name": (
        [Labelled(0, 0, "c", None, A), Labelled(0, 0, None, "f"), CALLS, END],
        [[], ["+f", A], [], [f"call {A}"], ["tool_calls"]],
    ),
    "pending name, in pieces": (
        [Labelled(0, 0, "c", "get_"), Labelled(0, 0, None, "tide"), Fragment(0, 0, A), CALLS, END],
        [[], [], ["+get_tide", A], [], [f"call {A} name_joined"], ["tool_calls"]],
    ),
    "pending name, restated and closed before": (
        [seen(None), whole(A), closed(), seen(), END],
        [[], [], [], ["+f", A, f"call {A}"], [], ["tool_calls missing_finish"]],
    ),
    "pending name, restated before": (
        [seen(None), whole(A), seen(), closed(), END],
        [[], [], ["+f"], [A, f"call {A}"], [], ["tool_calls missing_finish"]],
    ),
    "pending fragment": (
        [OPEN, Fragment(0, 0, A), CALLS, END],
        [[], ["+f", A], [f"call {A}"], [], ["tool_calls"]],
    ),
    "pending whole": (
        [seen(), whole(A), STOP, END],
        [[], ["+f"], [A, f"call {A}"], [], ["tool_calls"]],
    ),
    "pending whole, a placeholder": (
        [seen(), whole("{}"), STOP, END],
        [[], [], [], ["+f", "{}", "call {}"], ["tool_calls"]],
    ),
    "pending whole, the input of a block": (
        [seen(), whole(A, OBJECT), Slot(0, 0, None, B), closed(), END],
        [[], [], ["+f", B], [f"call {B}"], [], ["tool_calls missing_finish"]],
    ),
    "pending close": ([seen(), closed(), END], [[], ["+f", "call "], [], ["tool_calls missing_finish"]]),
    "pending close, cut": (
        [seen(), closed(truncated=True), END],
        [[], ["+f", "drop  truncated"], [], ["malformed missing_finish"]],
    ),
    "pending finish": (
        [OPEN, CALLS, Fragment(0, 0, A), END],
        [[], [], ["+f", A], [f"call {A}"], ["tool_calls"]],
    ),
    "pending end": ([OPEN, CALLS, END], [[], [], ["+f", "call "], ["tool_calls"]]),
    "pending end, nameless": (
        [Labelled(0, 0, "c", None, A), END],
        [[], [f"drop {A} nameless"], ["malformed missing_finish"]],
    ),
    "pending end, aborted": ([OPEN, CUT], [[], ["drop  aborted"], ["error"]]),
    "streaming name": (
        [OPEN, Fragment(0, 0, '{"a"'), Labelled(0, 0, "c", "f"), Fragment(0, 0, ":1}"), CALLS, END],
        [[], ["+f", '{"a"'], [], [":1}"], [], [f"call {A}"], ["tool_calls"]],
    ),
    "streaming name, another": (
        [seen(), Slot(0, 0, None, A), seen("g"), closed(), END],
        [[], ["+f", A], [], [f"drop {A} ambiguous"], [], ["malformed missing_finish"]],
    ),
    "streaming fragment": (
        [OPEN, Fragment(0, 0, "{}"), Fragment(0, 0, A), CALLS, END],
        [[], ["+f", "{}"], [f"={A}"], [], [f"call {A} placeholder"], ["tool_calls"]],
    ),
    "streaming whole": (
        [seen(), Slot(0, 0, None, '{"a"'), whole(A), closed(), END],
        [
            [],
            ["+f", '{"a"'],
            [],
            [":1}", f"call {A} done_completed_buffer"],
            [],
            ["tool_calls missing_finish"],
        ],
    ),
    "streaming close": (
        [seen(), Slot(0, 0, None, A), closed(), END],
        [[], ["+f", A], [f"call {A}"], [], ["tool_calls missing_finish"]],
    ),
    "streaming close, cut": (
        [seen(), Slot(0, 0, None, '{"a"'), closed(truncated=True), END],
        [[], ["+f", '{"a"'], ['drop {"a" truncated'], [], ["malformed missing_finish"]],
    ),
    "streaming finish": (
        [OPEN, Fragment(0, 0, A), LENGTH, END],
        [[], ["+f", A], [f"call {A} turn_truncated"], [], ["length"]],
    ),
    "streaming finish, not whole": (
        [OPEN, Fragment(0, 0, '{"a"'), CALLS, Fragment(0, 0, ":1}"), END],
        [[], ["+f", '{"a"'], [], [":1}"], [f"call {A}"], ["tool_calls"]],
    ),
    "streaming end": (
        [OPEN, Fragment(0, 0, A), END],
        [[], ["+f", A], [f"call {A}"], ["tool_calls missing_finish"]],
    ),
    "streaming end, aborted": (
        [OPEN, Fragment(0, 0, A), CUT],
        [[], ["+f", A], [f"drop {A} aborted"], ["error"]],
    ),
    "settled name": (
        [seen(), whole(A), seen("g"), closed(), END],
        [[], ["+f"], [], [f"drop {A} ambiguous"], [], ["malformed missing_finish"]],
    ),
    "settled fragment": (
        [seen(), whole(A), Slot(0, 0, None, A), Slot(0, 0, None, " "), Slot(0, 0, None, B), closed(), END],
        [
            [],
            ["+f"],
            [],
            [],
            [],
            [A, f"call {A}"],
            [],
            ["tool_calls conflicting_arguments missing_finish"],
        ],
    ),
    "settled whole": (
        [seen(), whole(A), whole(B, ITEM_DONE), closed(), END],
        [[], ["+f"], [], [B, f"call {B}"], [], ["tool_calls missing_finish"]],
    ),
    "settled whole, another": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), Labelled(0, 0, "c", None, B, rank=OBJECT), CALLS, END],
        [["+f"], [], [], [A + B, f"drop {A}{B} ambiguous"], ["malformed conflicting_arguments"]],
    ),
    "settled close": (
        [seen(), whole(A), closed(), END],
        [[], ["+f"], [A, f"call {A}"], [], ["tool_calls missing_finish"]],
    ),
    "settled finish": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), CALLS, END],
        [["+f"], [A, f"call {A}"], [], ["tool_calls"]],
    ),
    "settled finish, no object": (
        [Labelled(0, 0, "c", "f", "[1]", rank=OBJECT), CALLS, END],
        [["+f"], [], ["drop [1] not_an_object"], ["malformed"]],
    ),
    "settled end": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), END],
        [["+f"], [A, f"call {A}"], ["tool_calls missing_finish"]],
    ),
    "settled end, aborted": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), CUT],
        [["+f"], [f"drop {A} aborted"], ["error"]],
    ),
    "ended name": (
        [OPEN, Fragment(0, 0, A), CALLS, Labelled(0, 0, "c", "f"), END],
        [[], ["+f", A], [f"call {A}"], [], [], ["tool_calls"]],
    ),
    "ended fragment": (
        [OPEN, Fragment(0, 0, A), CALLS, Fragment(0, 0, A), Fragment(0, 0, " "), Fragment(0, 0, B), END],
        [[], ["+f", A], [f"call {A}"], [], [], [], [], ["tool_calls late_fragment"]],
    ),
    "ended whole": (
        [seen(), whole(A), closed(), whole(A, HYDRATION), whole("{}", ITEM_DONE), whole(B, ITEM_DONE), END],
        [
            [],
            ["+f"],
            [A, f"call {A}"],
            [],
            [],
            [],
            [],
            ["tool_calls conflicting_arguments missing_finish"],
        ],
    ),
    "ended close": (
        [seen(), whole(A), closed(), closed(), END],
        [[], ["+f"], [A, f"call {A}"], [], [], ["tool_calls missing_finish"]],
    ),
    "ended finish": (
        [seen(), Slot(0, 0, None, A), closed(), STOP, END],
        [[], ["+f", A], [f"call {A}"], [], [], ["tool_calls"]],
    ),
    "ended end": (
        [OPEN, Fragment(0, 0, A), CALLS, END],
        [[], ["+f", A], [f"call {A}"], [], ["tool_calls"]],
    ),
    "ended end, aborted": (
        [OPEN, Fragment(0, 0, A), CALLS, CUT],
        [[], ["+f", A], [f"call {A}"], [], ["error"]],
    ),
}


def comes_out(name: str) -> bool:
    """Return whether a scenario gives the written result; a missing cell is a failure."""
    deltas, expected = SCENARIOS[name]
    try:
        return expected == told(*deltas)
    except KeyError:
        return False


def differing() -> list[str]:
    """Return the scenarios that do not give the written result."""
    return [name for name in SCENARIOS if not comes_out(name)]


# The table.


@pytest.mark.parametrize("phase", ["pending", "streaming", "settled", "ended"])
def test_the_table_is_total(phase: str) -> None:
    """Every phase answers to every kind of news, and there are no other phases."""
    assert set(NEWS) == set(PHASES[phase])
    assert {"pending", "streaming", "settled", "ended"} == set(PHASES)
    assert all(callable(cell.do) for cell in PHASES[phase].values())


@together("name", SCENARIOS)
def test_scenarios(name: str) -> None:
    """The assembler's events for each stream, delta by delta."""
    deltas, expected = SCENARIOS[name]

    assert expected == told(*deltas)


def test_every_cell_has_a_scenario() -> None:
    """All cells can be reached: each has a separate scenario."""
    assert {f"{phase} {news}" for phase, news in CELLS} == {name.partition(",")[0] for name in SCENARIOS}


@pytest.mark.parametrize(("phase", "news"), CELLS)
def test_no_cell_can_be_deleted(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cell its own scenario fails: the cell is reached."""
    monkeypatch.delitem(PHASES[phase], news)

    assert f"{phase} {news}" in differing()


@pytest.mark.parametrize(("phase", "news"), [cell for cell in CELLS if cell not in STAYING])
def test_no_cell_can_do_nothing(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the cell does nothing instead, the events differ."""
    monkeypatch.setitem(PHASES[phase], news, PHASES[phase][news]._replace(do=_stay))

    assert any(name.partition(",")[0] == f"{phase} {news}" for name in differing())


# Deleting the cell is the only proof for this one: it would refuse a call that is no longer judged.
_SILENT = ("ended", "name")


@pytest.mark.parametrize(("phase", "news"), [cell for cell in STAYING if cell != _SILENT])
def test_no_idle_cell_can_end_a_call(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a cell that does nothing ended the call instead, the events differ."""
    monkeypatch.setitem(PHASES[phase], news, PHASES["streaming"]["end"])

    assert any(name.partition(",")[0] == f"{phase} {news}" for name in differing())


# Effects of news.


def reached(
    cells: Mapping[str, Mapping[str, Cell]], act: Callable[[], object]
) -> dict[tuple[str, str], set[str]]:
    """Return the phases in which calls were after each kind of news, by the phase before it."""
    found: dict[tuple[str, str], set[str]] = {cell: set() for cell in CELLS}

    def noting(phase: str, news: str) -> Callable[[Choice, Call, Any], None]:
        do = cells[phase][news].do

        def noted(choice: Choice, call: Call, what: Any) -> None:
            do(choice, call, what)
            found[phase, news].add(call.phase)

        return noted

    with pytest.MonkeyPatch.context() as patch:
        for phase, news in CELLS:
            patch.setitem(PHASES[phase], news, cells[phase][news]._replace(do=noting(phase, news)))
        act()
    return found


def traffic() -> None:
    """Read all recordings, quirky streams, and the scenarios."""
    streams = [(entry["dialect"], recorded(entry)) for entry in cases()]
    streams += [("chat-completions", quirky.make_numbered(7, number).bytes()) for number in range(400)]
    for dialect, data in streams:
        parser: ToolCallParser[Any] = ToolCallParser(dialect)
        parser.feed(data)
        parser.close()
    for name in SCENARIOS:
        told(*SCENARIOS[name][0])


def test_each_target_is_reached_and_no_other() -> None:
    """News leads to the target in its cell: over much traffic each target of each cell is seen, and nothing else."""
    cells = {phase: dict(row) for phase, row in PHASES.items()}
    found = reached(cells, traffic)

    assert {cell: set(cells[cell[0]][cell[1]].to) for cell in CELLS} == found


# Writers of phases.


def sets_phase(node: ast.AST) -> bool:
    """Return whether a node sets or deletes an attribute `phase`."""
    if isinstance(node, ast.Attribute):
        return node.attr == "phase" and not isinstance(node.ctx, ast.Load)
    setters = {"setattr", "object.__setattr__", "delattr"}
    if not isinstance(node, ast.Call) or ast.unparse(node.func) not in setters:
        return False
    return any(isinstance(argument, ast.Constant) and argument.value == "phase" for argument in node.args)


def assignments(tree: ast.AST, place: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """Yield the function, with its class, of each node that sets a phase."""
    for node in ast.iter_child_nodes(tree):
        if sets_phase(node):
            yield place
        inner = (*place, node.name) if isinstance(node, (ast.FunctionDef, ast.ClassDef)) else place
        yield from assignments(node, inner)


def test_phases_change_in_one_function() -> None:
    """A call begins as pending; after that `_enter` sets its phase, nothing else."""
    package = Path(wholecall.__file__).parent
    texts = {path: path.read_text("utf-8") for path in package.rglob("*.py")}
    found = {
        (path.relative_to(package).as_posix(), *place)
        for path, text in texts.items()
        if "phase" in text  # to parse all takes seconds
        for place in assignments(ast.parse(text))
    }

    assert Call(0, 0, "function").phase == "pending"
    assert {
        ("machine/call.py", "Call", "__init__"),
        ("machine/phases.py", "_enter"),
    } == found


@pytest.mark.parametrize(
    "source",
    [
        "call.phase = 1",
        "a, call.phase = 1, 2",
        "call.phase: str = 1",
        "call.phase += 1",
        "del call.phase",
        "setattr(call, 'phase', 1)",
        "for call.phase in x: pass",
    ],
)
def test_assignments_are_seen(source: str) -> None:
    """All code that sets a phase is found, with the function that contains it."""
    assert [("f",)] == list(assignments(ast.parse(f"def f():\n    {source}")))
    assert [] == list(assignments(ast.parse("def f():\n    phase = call.phase")))
