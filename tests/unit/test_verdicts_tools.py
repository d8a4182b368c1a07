"""Effects of the caller's tools and policy on a call that came whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from wholecall.calls.output.call_events import ArgumentsDelta, ArgumentsReset, CustomToolCall, ToolCall
from wholecall.calls.output.events import TERMINAL
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import CallClosed, CallSeen, CallWhole, Delta, Finish, Labelled, Slot, TurnEnded
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.machine.verdicts import type_anew
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.types import Kind

A = '{"a":1}'
END: list[Delta] = [Finish(0, "tool_calls", None), TurnEnded()]


@dataclass
class Go:
    """A tool with one argument."""

    a: int


@dataclass
class Other:
    """The same tool, as another party remembers it."""

    b: int


TOOLS: Tools[Any] = Tools({"f": Go})


def call(name: str = "f", text: str = A, kind: Kind = "function") -> list[Delta]:
    """Return a call that the wire ended."""
    return [CallSeen(0, 0, "i", "c", name, kind), CallWhole(0, 0, "i", "c", name, text, 4, kind), *END]


def assembled(
    deltas: list[Delta],
    policy: Policy | None = None,
    tools: Tools[Any] | None = TOOLS,
    *,
    pieces: bool = True,
) -> Assembler:
    """Return an assembler that took the deltas."""
    assembler = Assembler(policy or Policy(), Limits(), tools, pieces=pieces)
    for delta in deltas:
        assembler.advance([delta])
    assembler.close()
    return assembler


def only(deltas: list[Delta], policy: Policy | None = None, tools: Tools[Any] | None = TOOLS) -> Any:
    """Return the one terminal event."""
    (event,) = [event for event in assembled(deltas, policy, tools).take() if isinstance(event, TERMINAL)]
    return event


def against(event: Any) -> tuple[str, str, str | None]:
    """Return reason, detail and text of a drop."""
    return event.reason, event.detail, event.raw_arguments


UNKNOWN = "no tool of this name was given"


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_a_call_of_a_tool_that_was_not_given(kind: Kind) -> None:
    """It is dropped with its text, or flagged if the policy wants to see it; without tools it is unknown."""
    flagged = Policy(unknown_tool="flag")

    assert ("unknown_tool", UNKNOWN, A) == against(only(call("g", kind=kind)))
    assert [("unknown_tool",), (), ()] == [
        only(call("g", kind=kind), flagged).flags,
        only(call("g", kind=kind), tools=None).flags,
        only(call("f", kind=kind), flagged).flags,
    ]


@pytest.mark.parametrize(("kind", "name"), [("server", "search"), ("builtin", "shell")])
def test_tools_of_the_provider_are_not_the_callers(kind: Kind, name: str) -> None:
    """Calls that the provider executes, or defines, are not among the given tools, and have no check."""
    assert {"a": 1} == only(call(name, kind=kind)).arguments
    assert {"x": 1} == only(call(name, '{"x":1}', kind), tools=Tools({name: Go})).arguments


def test_the_value_is_what_the_tool_made_of_the_arguments() -> None:
    """A call that fits has its tool's value, one that does not is dropped, one without a check has its arguments."""
    assert Go(1) == only(call()).value
    assert {"a": 1} == only(call(), tools=None).value
    assert "schema" == only(call(text='{"a":"x"}')).reason
    assert {"x": 1} == only(call("g", '{"x":1}'), Policy(unknown_tool="flag")).value


def test_integers_for_javascript() -> None:
    """Integers beyond 2**53 become strings if the policy wants it, with tools or without."""
    text, safe = '{"a":9007199254740993}', Policy(json_safe_ints=True)

    assert [9007199254740993, "9007199254740993"] == [
        only(call(text=text), policy, None).arguments["a"] for policy in (Policy(), safe)
    ]
    assert 9007199254740993 == only(call(text=text)).arguments["a"]


NO_TEXT = "no text came, and the policy wants some"


def test_silence_that_the_policy_refuses() -> None:
    """Under `silence="drop"` a call for which no text came is dropped; one whose text is empty, or a server's, is not."""
    strict = Policy(silence="drop")

    def silent(kind: Kind = "function") -> list[Delta]:
        return [CallSeen(0, 0, "i", "c", "f", kind), CallClosed(0, 0, "i"), *END]

    assert ("empty_arguments", NO_TEXT, "") == against(only(silent(), strict, None))
    assert "empty" == only(silent(), None, None).status
    assert {} == only(silent("server"), strict, None).arguments
    assert ["exact", "exact"] == [only(call(text=text), strict, None).status for text in ("{}", A)]


@pytest.mark.parametrize("kind", ["function", "custom", "builtin"])
def test_flags_that_the_policy_refuses(kind: Kind) -> None:
    """A call with a refused flag is dropped with its text, and the drop names the refused flags alone."""
    deltas: list[Delta] = [
        CallSeen(0, 0, "i", "c", "shell", kind, flags=("needs_approval", "repeated", "placeholder")),
        *call("shell", kind=kind)[1:],
    ]
    some = Policy(refused_flags=frozenset({"repeated", "needs_approval", "id_churn"}))
    detail = "flagged needs_approval, repeated, which the policy refuses"

    assert ("ambiguous", detail, A) == against(only(deltas, some, None))
    assert ("needs_approval", "placeholder", "repeated") == only(deltas, Policy(), None).flags
    others = Policy(refused_flags=frozenset({"id_churn"}))
    assert ("needs_approval", "placeholder", "repeated") == only(deltas, others, None).flags
    assert () == only(call("shell", kind=kind), some, None).flags


def test_calls_of_the_server_are_not_refused() -> None:
    """A call that the provider executed has happened, whatever its flags are."""
    deltas: list[Delta] = [
        CallSeen(0, 0, "i", "c", "f", "server", flags=("repeated",)),
        *call(kind="server")[1:],
    ]

    assert ("repeated",) == only(deltas, Policy(refused_flags=frozenset({"repeated"})), None).flags


def test_flags_are_in_order() -> None:
    """The flags of a call are sorted: equal streams have equal events, in any process."""
    flags: Any = (
        "snapshots",
        "repeated",
        "placeholder",
        "needs_approval",
        "name_joined",
        "id_churn",
        "from_text",
    )

    assert tuple(sorted(flags)) == only([CallSeen(0, 0, "i", "c", "f", flags=flags), *call()[1:]]).flags


def test_names_in_drops() -> None:
    """A drop names the tool as its call would: as the tools are called, without white space; the name of an unstarted
    call is the wire's.
    """
    normalised = Policy(tool_names="normalised")
    cut: list[Delta] = [Labelled(0, 0, "c", "functions.F", '{"a"'), *END]
    stopped: list[Delta] = [CallSeen(0, 0, "i", "c", " f ")]
    nameless: list[Delta] = [Labelled(0, 0, "c", None, A), *END]
    never_began: list[Delta] = [CallSeen(0, 0, "i", "c", " f "), TurnEnded()]

    assert ["f", "f", None] == [only(deltas, normalised).name for deltas in (cut, stopped, nameless)]
    assert "f" == only(never_began, Policy(require_reason=True)).name


def test_nobody_wants_pieces() -> None:
    """Where pieces are not reported, the rest of a restated text is not reported either."""
    deltas: list[Delta] = [CallSeen(0, 0, "i", "c", "f"), Slot(0, 0, "i", '{"a"'), *call()[1:]]
    events = assembled(deltas, pieces=False).take()

    assert [] == [event for event in events if isinstance(event, (ArgumentsDelta, ArgumentsReset))]
    assert [Go(1)] == [event.value for event in events if isinstance(event, ToolCall)]


FORGOTTEN: list[Any] = [
    CustomToolCall(0, 0, 0, "c0", "f", "go"),
    ToolCall(0, 0, 1, "c1", "g", {"x": 1}, '{"x":1}', "exact"),
    ToolCall(0, 0, 2, "c2", "f", {"a": 2}, '{"a":2}', "exact"),
    ToolCall(0, 0, 3, "c3", "f", {"a": 3}, '{"a":3}', "exact"),
]


def test_values_are_made_anew() -> None:
    """A parser that was moved asks the tools again for the value of each call that they took."""
    choice, events = assembled(call()).turns[0].choices[0], list(FORGOTTEN)
    type_anew(choice, events)

    assert [{"x": 1}, Go(2), Go(3)] == [event.value for event in events[1:]]
    assert FORGOTTEN[:2] == events[:2]


def test_without_tools_no_value_is_made() -> None:
    """A parser without tools leaves the calls as they are."""
    choice, events = assembled(call(), None, None).turns[0].choices[0], list(FORGOTTEN)
    type_anew(choice, events)

    assert FORGOTTEN == events


def test_other_tools_are_noticed() -> None:
    """Tools that do not take a call which they took are others."""
    choice = assembled(call(text='{"b":1}'), None, Tools({"f": Other})).turns[0].choices[0]

    with pytest.raises(ValueError, match="the tools do not take a call that they took; are they the same"):
        type_anew(choice, list(FORGOTTEN))
