"""The table of phases: it is total, nothing changes a phase beside it, and each of its cells is needed."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import wholecall
from wholecall import arguments, slots, strict, verdicts
from wholecall.assembler import Assembler
from wholecall.calls import Call
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Slot,
    TurnEnded,
    WireFault,
)
from wholecall.events import (
    ArgumentsDelta,
    ArgumentsReset,
    Event,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
    TurnFinished,
)
from wholecall.limits import Limits
from wholecall.phases import PHASES, _stay
from wholecall.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterator

A, B = '{"a":1}', '{"b":2}'
NEWS = ("name", "fragment", "whole", "close", "finish", "end", "abort")
CELLS = [(phase, news) for phase, row in PHASES.items() for news in row]
STAYING = [(phase, news) for phase, news in CELLS if PHASES[phase][news] is _stay]

OPEN = Labelled(0, 0, "c", "f")
CUT = WireFault("provider_error", "", fatal=True)
LENGTH, STOP, CALLS = Finish(0, "length", None), Finish(0, "stop", "completed"), Finish(0, "tool_calls", None)
END = TurnEnded()


def seen(name: str | None = "f") -> CallSeen:
    """Return an announcement."""
    return CallSeen(0, 0, "i", "c", name)


def whole(text: str, rank: int = DONE) -> CallWhole:
    """Return the whole text of the call."""
    return CallWhole(0, 0, "i", "c", None, text, rank)


def closed(*, truncated: bool = False) -> CallClosed:
    """Return the end of the call."""
    return CallClosed(0, 0, None, truncated=truncated)


def brief(event: Event) -> str:
    """Return an event of a call, or the end of a turn, in a word or two."""
    if isinstance(event, ToolCallStarted):
        return f"+{event.name}"
    if isinstance(event, ArgumentsDelta):
        return event.delta
    if isinstance(event, ArgumentsReset):
        return f"={event.raw_arguments}"
    if isinstance(event, ToolCall):
        return " ".join(("call", event.raw_arguments, *event.flags))
    if isinstance(event, ToolCallDropped):
        return f"drop {event.raw_arguments} {event.reason}"
    if isinstance(event, TurnFinished):
        return " ".join((event.reason, *event.anomalies))
    return ""


def told(*deltas: Delta, limits: Limits = Limits()) -> list[list[str]]:  # noqa: B008 (frozen)
    """Return what each delta, and the close of the stream, makes the assembler say."""
    assembler = Assembler(Policy(), limits)
    said = []
    for delta in deltas:
        assembler.advance([delta])
        said.append([word for event in assembler.take() if (word := brief(event))])
    assembler.close()
    said.append([word for event in assembler.take() if (word := brief(event))])
    return said


# A stream, and what is said after each delta and after the close. The name says the cell that it needs.
SCENARIOS: dict[str, tuple[list[Delta], list[list[str]]]] = {
    "pending name": (
        [Labelled(0, 0, "c", None, A), Labelled(0, 0, None, "f"), CALLS, END],
        [[], ["+f", A], [f"call {A}"], [], ["tool_calls"]],
    ),
    "pending name, in pieces": (
        [Labelled(0, 0, "c", "get_"), Labelled(0, 0, None, "tide"), Fragment(0, 0, A), CALLS, END],
        [[], [], ["+get_tide", A], [f"call {A}"], [], ["tool_calls"]],
    ),
    "pending name, restated and closed before": (
        [seen(None), whole(A), closed(), seen(), END],
        [[], [], [], ["+f", A, f"call {A}"], [], ["tool_calls missing_finish"]],
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
    "pending abort": ([OPEN, CUT], [[], ["drop  aborted"], ["error"]]),
    "streaming name": (
        [OPEN, Fragment(0, 0, A), Labelled(0, 0, "c", "f"), Labelled(0, 0, "c", "f<|end|>"), CALLS, END],
        [[], ["+f", A], [], [], [f"call {A}"], [], ["tool_calls"]],
    ),
    "streaming name, another": (
        [seen(), Slot(0, 0, None, A), seen("g"), closed(), END],
        [[], ["+f", A], [], [f"drop {A} ambiguous"], [], ["malformed missing_finish"]],
    ),
    "streaming fragment": (
        [OPEN, Fragment(0, 0, "{}"), Fragment(0, 0, A), Labelled(0, 0, "c", None, A), CALLS, END],
        [[], ["+f", "{}"], [f"={A}"], [], [f"call {A} placeholder repeated"], [], ["tool_calls"]],
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
    "streaming abort": ([OPEN, Fragment(0, 0, A), CUT], [[], ["+f", A], [f"drop {A} aborted"], ["error"]]),
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
        [["+f"], [], [A, f"call {A}"], [], ["tool_calls conflicting_arguments"]],
    ),
    "settled close": (
        [seen(), whole(A), closed(), END],
        [[], ["+f"], [A, f"call {A}"], [], ["tool_calls missing_finish"]],
    ),
    "settled finish": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), CALLS, END],
        [["+f"], [A, f"call {A}"], [], ["tool_calls"]],
    ),
    "settled end": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), END],
        [["+f"], [A, f"call {A}"], ["tool_calls missing_finish"]],
    ),
    "settled abort": (
        [Labelled(0, 0, "c", "f", A, rank=OBJECT), CUT],
        [["+f"], [f"drop {A} aborted"], ["error"]],
    ),
    "ended name": (
        [OPEN, Fragment(0, 0, A), CALLS, Labelled(0, 0, "c", "g"), END],
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
    "ended abort": (
        [OPEN, Fragment(0, 0, A), CALLS, CUT],
        [[], ["+f", A], [f"call {A}"], [], ["error"]],
    ),
}


def comes_out(name: str) -> bool:
    """Return whether a scenario comes out as written; a missing cell is a failure."""
    deltas, expected = SCENARIOS[name]
    try:
        return expected == told(*deltas)
    except KeyError:
        return False


def differing() -> list[str]:
    """Return the scenarios that do not come out as written."""
    return [name for name in SCENARIOS if not comes_out(name)]


# The table.


@pytest.mark.parametrize("phase", ["pending", "streaming", "settled", "ended"])
def test_the_table_is_total(phase: str) -> None:
    """Every phase answers to every kind of news, and there are no other phases."""
    assert set(NEWS) == set(PHASES[phase])
    assert {"pending", "streaming", "settled", "ended"} == set(PHASES)
    assert all(callable(action) for action in PHASES[phase].values())


@pytest.mark.parametrize("name", SCENARIOS)
def test_scenarios(name: str) -> None:
    """What each stream makes the assembler say, delta by delta."""
    deltas, expected = SCENARIOS[name]

    assert expected == told(*deltas)


def test_every_cell_has_a_scenario() -> None:
    """All cells can be reached: each has a scenario of its own."""
    assert {f"{phase} {news}" for phase, news in CELLS} == {name.partition(",")[0] for name in SCENARIOS}


@pytest.mark.parametrize(("phase", "news"), CELLS)
def test_no_cell_can_be_deleted(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cell its own scenario fails: the cell is reached."""
    monkeypatch.delitem(PHASES[phase], news)

    assert f"{phase} {news}" in differing()


@pytest.mark.parametrize(("phase", "news"), [cell for cell in CELLS if cell not in STAYING])
def test_no_cell_can_do_nothing(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If the cell does nothing instead, something else is said."""
    monkeypatch.setitem(PHASES[phase], news, _stay)

    assert any(name.partition(",")[0] == f"{phase} {news}" for name in differing())


# Deleting the cell is the only proof for this one: it would refuse a call that nobody judges any more.
_SILENT = ("ended", "name")


@pytest.mark.parametrize(("phase", "news"), [cell for cell in STAYING if cell != _SILENT])
def test_no_idle_cell_can_end_a_call(phase: str, news: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """If a cell that does nothing ended the call instead, something else is said."""
    monkeypatch.setitem(PHASES[phase], news, PHASES["streaming"]["end"])

    assert any(name.partition(",")[0] == f"{phase} {news}" for name in differing())


# What else the actions do.


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        ([Labelled(0, 0, "c", "f", A)], ["+f", A]),  # the sample that is kept
        ([OPEN, Fragment(0, 0, '{"a"'), Fragment(0, 0, ":1}")], ["+f", '{"a"']),
        ([OPEN, Fragment(0, 0, '{"a"'), Fragment(0, 0, ":1}"), Fragment(0, 0, "x")], ["+f", '{"a"']),
        ([seen(), whole(A)], []),
    ],
    ids=["at the start", "streaming", "further", "whole"],
)
def test_text_beyond_a_limit(deltas: list[Delta], said: list[str]) -> None:
    """Fragments beyond a limit are not shown; the call ends as any other, with a drop."""
    words = [word for words in told(*deltas, END, limits=Limits(max_arguments_bytes=5)) for word in words]

    assert said == words[: len(said)]
    assert [f"drop {A} arguments_too_large"] == [word for word in words if word.startswith(("drop", "call"))]


def test_a_name_beyond_the_limit() -> None:
    """A name that grows beyond the limit is cut there, and drops its call."""
    said = told(
        OPEN, Labelled(0, 0, None, "gh"), Fragment(0, 0, A), CALLS, END, limits=Limits(max_name_chars=2)
    )

    assert ["+fg", A] == said[2]
    assert [f"drop {A} name_too_long"] == said[3]
    at = told(OPEN, Labelled(0, 0, None, "g"), Fragment(0, 0, A), CALLS, END, limits=Limits(max_name_chars=2))
    assert [f"call {A}"] == at[3]
    assert [f"call {A}"] == told(Labelled(0, 0, "c", "f" * 999, A), CALLS, limits=Limits.none())[1]


def test_inside_an_unfinished_call() -> None:
    """A call that opened inside an unfinished one of its name waits for that one, even at the finish."""
    said = told(
        Labelled(0, 0, "c", "f", '{"a":1'), Labelled(0, 0, "d", "f", B), CALLS, Fragment(0, 0, "}"), END
    )

    assert [] == said[2]
    assert [f"call {A}", f"call {B}"] == said[4]


@pytest.mark.parametrize("text", ["[1]", '"x"', "{}"])
def test_what_waits_for_the_end(text: str) -> None:
    """At the finish only whole, non-empty objects go; what else a call holds may still change."""
    said = told(OPEN, Fragment(0, 0, text), CALLS, END)

    assert [] == said[2]
    assert 1 == len(said[3])


@pytest.mark.parametrize("name", ["f", "f ", " f"])
def test_blanks_make_no_other_name(name: str) -> None:
    """A name repeated with other white space is a repeat, before and after the text (quirks 15 and 59)."""
    said = told(
        OPEN,
        Labelled(0, 0, None, " f"),
        Labelled(0, 0, None, name),
        Fragment(0, 0, A),
        Labelled(0, 0, "c", name),
        END,
    )

    assert ["+f", A] == said[3]
    assert [f"call {A}"] == said[5]


@pytest.mark.parametrize("name", ["f", " f\n", "f<|channel|>x", "f <|end|>"])
def test_names_are_trimmed(name: str) -> None:
    """White space and markers around a name are not the name (quirk 59)."""
    assert ["+f", A] == told(Labelled(0, 0, "c", name, A))[0]


def test_a_name_that_is_all_marker_stays() -> None:
    """A marker with nothing before it is shown as it came: it names no tool, and hides none (quirk 58)."""
    assert ["+<|channel|>f", A] == told(Labelled(0, 0, "c", "<|channel|>f", A))[0]


# Who changes phases.


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


def test_phases_change_in_three_functions() -> None:
    """A call begins as pending; after that `_start`, `_settle` and `_finish` set its phase, nothing else."""
    package = Path(wholecall.__file__).parent
    found = {
        (path.relative_to(package).as_posix(), *place)
        for path in package.rglob("*.py")
        for place in assignments(ast.parse(path.read_text("utf-8")))
    }

    assert Call.phase == "pending"
    assert {
        ("phases.py", "_start"),
        ("phases.py", "_settle"),
        ("phases.py", "_finish"),
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
    """Whatever sets a phase is found, with the function it stands in."""
    assert [("f",)] == list(assignments(ast.parse(f"def f():\n    {source}")))
    assert [] == list(assignments(ast.parse("def f():\n    phase = call.phase")))


# One decode per call.

CHAT: list[Delta] = [
    *(Labelled(0, index, f"c{index}", "f") for index in range(3)),
    *(Fragment(0, index, piece) for piece in ('{"a"', ":", "1}") for index in range(3)),
    CALLS,
    END,
]
RESPONSES: list[Delta] = [
    delta
    for index in range(3)
    for delta in (
        CallSeen(0, index, f"i{index}", f"c{index}", "f"),
        *(Slot(0, index, f"i{index}", piece) for piece in ('{"a"', ":", "1}")),
        CallWhole(0, index, f"i{index}", None, None, A, DONE),
        CallWhole(0, index, f"i{index}", f"c{index}", "f", A, ITEM_DONE, id_wins=True),
        CallClosed(0, index, f"i{index}"),
    )
]
RESPONSES += [CallWhole(0, index, f"i{index}", f"c{index}", "f", A, HYDRATION) for index in range(3)]
RESPONSES += [STOP, END]
ANTHROPIC: list[Delta] = [
    delta
    for index in range(3)
    for delta in (
        CallSeen(0, index, None, f"c{index}", "f"),
        *(Slot(0, index, None, piece) for piece in ('{"a"', ":", "1}")),
        CallClosed(0, index, None, final=False),
    )
]
ANTHROPIC += [CALLS, END]


@pytest.mark.parametrize("stream", [CHAT, RESPONSES, ANTHROPIC], ids=["chat", "responses", "anthropic"])
def test_one_decode_per_call(stream: list[Delta], monkeypatch: pytest.MonkeyPatch) -> None:
    """The text of a call is decoded once, at its end, in a normal stream of each kind."""
    asked: list[str] = []
    decoded: list[str] = []
    decode = strict._decode

    def counting(read: Any) -> Any:
        def count(raw: str, *args: object, **options: object) -> object:
            asked.append(raw)
            return read(raw, *args, **options)

        return count

    def count_decode(text: str) -> object:
        decoded.append(text)
        return decode(text)

    monkeypatch.setattr(verdicts, "read_arguments", counting(arguments.read_arguments))
    monkeypatch.setattr(slots, "parse_arguments", counting(arguments.parse_arguments))
    monkeypatch.setattr(strict, "_decode", count_decode)
    said = [word for words in told(*stream) for word in words if word.startswith("call")]

    assert [f"call {A}"] * 3 == said
    assert [A] * 3 == asked
    assert [A] * 3 == decoded


# After the end.


@pytest.mark.parametrize(
    ("late", "anomaly"),
    [
        (Fragment(0, 0, B), "late_fragment"),
        (Labelled(0, 0, "c", "f", B), "late_fragment"),
        (Labelled(0, 0, "c", None, B, rank=OBJECT), "conflicting_arguments"),
        (CallWhole(0, None, None, "c", "f", B, DONE), "conflicting_arguments"),
        (Fragment(0, 0, A), None),
        (CallWhole(0, None, None, "c", "f", A, HYDRATION), None),
        (Labelled(0, 0, "d", None), None),
        (CALLS, None),
    ],
)
def test_an_ended_call_never_comes_twice(late: Delta, anomaly: str | None) -> None:
    """What comes for a call after its end is an anomaly of the turn at most (quirk 44)."""
    said = told(OPEN, Fragment(0, 0, A), CALLS, late, late, END)

    assert [[], ["+f", A], [f"call {A}"], [], [], []] == said[:-1]
    assert [" ".join(filter(None, ("tool_calls", anomaly)))] == said[-1]


@pytest.mark.parametrize("late", [seen(), seen("g"), Slot(0, 0, None, B), whole(B), closed()])
def test_a_dropped_call_stays_dropped(late: Delta) -> None:
    """Nothing brings back a call after its drop."""
    said = told(seen(), Slot(0, 0, None, '{"a"'), closed(), late, STOP, END)

    assert [[], ["+f", '{"a"'], ['drop {"a" truncated'], [], [], []] == said[:-1]


@pytest.mark.parametrize(
    ("names", "final"),
    [
        (["get", "get_tide"], "get_tide"),
        (["get\n", "get_tide\n"], "get_tide"),
        ([" get", "get"], "get"),
        (["get_", "tide"], "get_tide"),
        (["get_tide", "get"], "get_tideget"),
    ],
)
def test_a_name_in_pieces(names: list[str], final: str) -> None:
    """An extension replaces whatever white space stands round it, a piece is appended (quirks 15, 16 and 59)."""
    labels = [Labelled(0, 0, "c" if n == 0 else None, name) for n, name in enumerate(names)]
    assembler = Assembler(Policy(), Limits())
    assembler.advance([*labels, Fragment(0, 0, A), CALLS, END])

    assert [final] == [event.name for event in assembler.take() if isinstance(event, ToolCall)]
