"""Copilot's session events: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.turns import parse, violations
from wholecall.calls.output.call_events import ServerToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import StreamFault, TurnFinished
from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.agents.copilot import CopilotTranslator
from wholecall.framing.frame import Frame

A, B = '{"a": 1}', '{"b": 2}'
OPENED = TurnOpened("1")
UNKNOWN = Noted(0, "unknown_events")
REQUEST = {"requestId": "r", "sessionId": "s"}


def translate(*events: dict[str, Any] | str, ends: bool = False) -> list[Delta]:
    """Translate the events of one session; with its end, where that is asked for."""
    translator = CopilotTranslator()
    deltas: list[Delta] = []
    for told in events:
        data = told if isinstance(told, str) else json.dumps(told)
        deltas += translator.translate(Frame("", data))
    return deltas + translator.close() if ends else deltas


def event(kind: object, agent: object = None, /, **data: Any) -> dict[str, Any]:
    """Build an event."""
    return {"type": kind, "data": data, "id": "e", "parentId": None} | ({"agentId": agent} if agent else {})


def piece(text: object, id: object = "c", **more: Any) -> dict[str, Any]:
    """Build a piece of a call; the first ones name the tool, as the wire's do."""
    return event("assistant.tool_call_delta", **({"toolCallId": id, "toolName": "f"} | more), inputDelta=text)


def call(id: object = "c", arguments: object = None, **more: Any) -> dict[str, Any]:
    """Build a call as a message gives it."""
    return {"toolCallId": id, "name": "f", "arguments": arguments or {"a": 1}, **more}


def message(*calls: dict[str, Any], agent: object = None, **more: Any) -> dict[str, Any]:
    """Build a message."""
    return event("assistant.message", agent, **({"messageId": "m", "content": ""} | more), toolRequests=calls)


def started(id: object = "c", arguments: object = None, agent: object = None) -> dict[str, Any]:
    """Build the beginning of an execution."""
    about = {"toolCallId": id, "toolName": "f", "arguments": arguments or {"a": 1}}
    return event("tool.execution_start", agent, **about)


def completed(id: object = "c") -> dict[str, Any]:
    """Build the end of an execution."""
    return event("tool.execution_complete", toolCallId=id, success=True, result={"content": "x"})


def requested(id: object = "c", arguments: object = None, agent: object = None) -> dict[str, Any]:
    """Build the request that the client execute a call."""
    about = {"toolCallId": id, "toolName": "f", "arguments": arguments or {"a": 1}}
    return event("external_tool.requested", agent, **REQUEST, **about)


def asked(id: object = "c") -> dict[str, Any]:
    """Build the request for a permission."""
    return event("permission.requested", requestId="p", permissionRequest={"kind": "shell", "toolCallId": id})


def answered(kind: str, **more: Any) -> dict[str, Any]:
    """Build the answer to it."""
    return event("permission.completed", requestId="p", result={"kind": kind}, **more)


def begins(number: int = 0, agent: object = None, **more: Any) -> dict[str, Any]:
    """Build the beginning of a turn."""
    return event("assistant.turn_start", agent, turnId=str(number), **more)


def ends(number: int = 0, agent: object = None) -> dict[str, Any]:
    """Build the end of a turn."""
    return event("assistant.turn_end", agent, turnId=str(number))


def said(text: str, id: str = "m", agent: object = None) -> dict[str, Any]:
    """Build a piece of text."""
    return event("assistant.message_delta", agent, messageId=id, deltaContent=text)


def thought(text: str, id: str = "r") -> dict[str, Any]:
    """Build a piece of reasoning."""
    return event("assistant.reasoning_delta", reasoningId=id, deltaContent=text)


def used(reason: object = None, agent: object = None) -> dict[str, Any]:
    """Build the counts of an answer."""
    return event("assistant.usage", agent, outputTokens=3, finishReason=reason)


USAGE = UsageSeen({"outputTokens": 3, "finishReason": None})


def seen(slot: int = 0, id: str | None = "c", name: str | None = "f", **more: Any) -> CallSeen:
    """Return the labels of a call."""
    return CallSeen(0, slot, None, id, name, **more)


def whole(text: str = A, slot: int = 0, rank: int = DONE, **more: Any) -> CallWhole:
    """Return all of a call."""
    return CallWhole(0, slot, None, more.pop("id", "c"), more.pop("name", "f"), text, rank, **more)


def theirs(text: str = A, slot: int = 0, **more: Any) -> list[Delta]:
    """Return the events that make a call the client's."""
    return [whole(text, slot, ITEM_DONE, extra=REQUEST, **more), CallClosed(0, slot, None)]


def own(slot: int = 0, **more: Any) -> list[Delta]:
    """Return the events that make a call the agent's own."""
    return [CallSeen(0, slot, None, None, None, "server", **more), CallClosed(0, slot, None)]


def over(reason: Any = "stop", said: str | None = None, turn: str = "1") -> list[Delta]:
    """Return the end of a turn."""
    return [Finish(0, reason, said, ends=True), TurnEnded(turn)]


def refused(slot: int, reason: Any, detail: str) -> CallRefused:
    """Return the end of a call that no one may execute."""
    return CallRefused(0, slot, None, reason, detail)


UNTOLD = "no message told the call"
CUT = "the stream ended before a message told the call"


# Output of the model.


def test_pieces_of_a_call() -> None:
    """Each names its call, so that they may take turns; the labels are reported once."""
    assert [
        OPENED,
        seen(),
        Slot(0, 0, None, '{"a'),
        seen(1, "d", "g"),
        Slot(0, 1, None, "{}"),
        Slot(0, 0, None, '": 1}'),
    ] == translate(piece('{"a'), piece("{}", "d", toolName="g"), piece('": 1}'))


def test_labels_may_be_missing() -> None:
    """A name may come late, an id not at all if only one call is open; a piece without an owner is a hole."""
    late = translate(piece("{", toolName=None), piece("}"), piece("!"))
    assert [
        OPENED,
        seen(name=None),
        Slot(0, 0, None, "{"),
        seen(),
        Slot(0, 0, None, "}"),
        Slot(0, 0, None, "!"),
    ] == late
    assert [Slot(0, 0, None, "x")] == translate(piece("{"), piece("x", None))[3:]
    assert [Slot(0, 0, None, "x")] == translate(piece("{", toolName=None), piece("x", toolName=None))[3:]
    nobodys = WireFault("undecodable_frame", "a piece of input names none of the open calls", hole=True)
    assert [nobodys] == translate(piece("{"), piece("{", "d"), piece("x", None))[5:]
    assert [nobodys] == translate(message(call()), piece("x", None))[2:]
    assert [] == translate(message(call()), piece("", None))[2:]


def test_pieces_that_are_no_text() -> None:
    """They are in the text as they are; empty ones only announce."""
    assert [OPENED, seen(), Slot(0, 0, None, '{"x":1}')] == translate(piece({"x": 1}))
    assert [OPENED, seen()] == translate(piece(""), piece(None))


def test_a_message_tells_all_of_a_call() -> None:
    """It ends none: the executor is not known; the value is in the wire's own text."""
    spelled = json.dumps(message(call(arguments="@"))).replace('"@"', '{"a":1e2}')

    assert [OPENED, whole('{"a":1e2}')] == translate(spelled)
    assert [whole()] == translate(piece("{"), message(call()))[3:]


@pytest.mark.parametrize("nothing", [{"toolCallId": "c", "name": "f"}, call() | {"arguments": None}])
def test_a_call_without_arguments(nothing: dict[str, Any]) -> None:
    """A member that is not there says nothing."""
    assert [OPENED, seen()] == translate(message(nothing))


def test_arguments_as_text() -> None:
    """A string holds the text; only the type makes it free text."""
    assert [OPENED, whole()] == translate(message(call(arguments=A)))
    assert [OPENED, whole("x", kind="custom")] == translate(message(call(arguments="x", type="custom")))
    custom = translate(piece("x", toolType="custom"), message(call(arguments="xy")))
    assert [seen(kind="custom"), Slot(0, 0, None, "x"), whole("xy", kind="custom")] == custom[1:]


def test_what_else_is_told_of_a_call() -> None:
    """The names of its server and its purpose are kept."""
    more = {"mcpServerName": "harbour", "mcpToolName": "tide", "toolTitle": "Tide", "intentionSummary": "see"}

    assert [whole(extra=more)] == translate(message(call(**more)))[1:]


def test_calls_without_ids() -> None:
    """Each call in a message is a call; a request means the first of them without an executor."""
    nameless = call(None)
    first, second = whole(slot=0, id=None), whole(slot=1, id=None)
    deltas = translate(message(nameless, nameless), requested(None), requested(None), requested(None))

    assert [OPENED, first, second] == deltas[:3]
    assert [*theirs(id=None), *theirs(slot=1, id=None), *theirs(slot=2, id=None)] == deltas[3:]


def test_a_message_that_comes_twice() -> None:
    """It is known by its id, and says nothing more (quirk 91)."""
    told = message(call(), content="x")

    assert [OPENED, TextFragment(0, "x"), whole()] == translate(told, told)
    other = message(call("d"))
    assert [OPENED, whole(), *theirs(slot=1, id="d")] == translate(message(call()), other, requested("d"))
    assert [OPENED, whole(), whole()] == translate(message(call()), message(call(), messageId="n"))
    again = message(call("d"), messageId="n")
    assert [OPENED, whole(), whole(slot=1, id="d")] == translate(message(call()), again)


# Who executes.


def test_a_request_makes_a_call_the_clients() -> None:
    """It ends the call, with the data that the answer needs; later results of the call say nothing."""
    deltas = translate(
        begins(), message(call()), requested(), started(), completed(), requested(), piece("x")
    )

    assert [TurnOpened("1", "0"), seen(), Slot(0, 0, None, "x")] == [deltas[0], *deltas[-2:]]
    assert [whole(), *theirs()] == deltas[1:-2]


def test_a_request_may_come_late() -> None:
    """An execution begins for every tool, whichever side executes it."""
    assert [OPENED, whole(), whole(rank=ITEM_DONE), *theirs()] == translate(
        message(call()), started(), requested(), completed()
    )


def test_a_request_may_come_first() -> None:
    """It gives all of a call; the message that comes after it restates that call."""
    assert [OPENED, *theirs()] == translate(requested(), message(call()), completed())
    assert [OPENED, seen(), Slot(0, 0, None, "{"), *theirs()] == translate(piece("{"), requested())


def test_what_is_completed_is_the_agents_own() -> None:
    """If a call ends without a request for its execution, the agent executed it."""
    assert [OPENED, whole(), *own()] == translate(message(call()), completed(), requested(), completed())
    assert [whole(rank=ITEM_DONE), *own()] == translate(message(call()), started(), completed())[2:]
    assert [*own()] == translate(piece(A), completed())[3:]


def test_executions_that_nothing_told() -> None:
    """A log may begin late, and a user may ask for a tool; the end alone proves nothing."""
    asked_for = event("tool.user_requested", toolCallId="c", toolName="f", arguments={"a": 1})

    assert [OPENED, whole(rank=ITEM_DONE), *own()] == translate(started(), completed())
    assert [OPENED, whole(rank=ITEM_DONE), *own()] == translate(asked_for, completed())
    assert [] == translate(completed(), completed(None))


def test_free_text_of_the_agents_own() -> None:
    """Its input is reported in an object; where nothing gives all of it, the call is dropped."""
    custom = call(arguments="x", type="custom")
    given = whole('{"input":"x"}', rank=ITEM_DONE + 1, id=None, name=None, kind="server")
    lost = refused(0, "incomplete_input", "nothing tells all of the input")

    assert [given, CallClosed(0, 0, None)] == translate(message(custom), completed())[2:]
    assert [lost] == translate(piece("x", toolType="custom"), completed())[3:]
    untold = started() | {"data": {"toolCallId": "c", "toolName": "f"}}
    assert given == translate(message(custom), untold, completed())[3]
    empty = whole('{"input":""}', rank=ITEM_DONE + 1, id=None, name=None, kind="server")
    assert empty == translate(message({"toolCallId": "c", "name": "f", "type": "custom"}), completed())[2]


def test_free_text_of_the_client() -> None:
    """A request keeps the kind that is known."""
    assert (
        theirs("x", kind="custom")
        == translate(message(call(arguments="x", type="custom")), requested(arguments="x"))[2:]
    )


def test_permissions() -> None:
    """A denied call has no executor; a call that still waits says so, a call that got its permission does not."""
    denied = refused(0, "aborted", "the call was denied")

    assert [denied] == translate(message(call()), asked(), answered("denied-by-rules"), completed())[2:]
    assert [denied] == translate(message(call()), asked(), answered("reject"), requested(), ends())[2:3]
    assert own() == translate(message(call()), asked(), answered("approve-once"), completed())[2:]
    assert own(flags=("needs_approval",)) == translate(message(call()), asked(), ends=True)[2:]
    assert theirs() == translate(message(call()), asked(), answered("approved"), requested())[2:]


def test_an_answer_may_name_the_call() -> None:
    """Where the request for a permission was not seen."""
    denied = refused(0, "aborted", "the call was denied")

    assert [denied] == translate(message(call()), answered("denied", toolCallId="c"))[2:]
    assert [] == translate(answered("denied", toolCallId="c"), answered("denied"), asked(), asked(None))
    assert [] == translate(event("permission.requested", requestId="p"), event("permission.completed"))
    nameless = event("permission.requested", permissionRequest={"toolCallId": "c"})
    denied_other = event("permission.completed", result={"kind": "denied"})
    assert [] == translate(message(call()), nameless, denied_other)[2:]


# Turns.


def test_a_turn() -> None:
    """It begins and ends with its own events; the counts show why the model's answer ended."""
    deltas = translate(begins(3, model="x"), said("y"), used("tool_calls"), ends(3), ends(3))

    assert [
        TurnOpened("1", "3", "x"),
        TextFragment(0, "y"),
        UsageSeen({"outputTokens": 3, "finishReason": "tool_calls"}),
        *over("tool_calls", "tool_calls"),
    ] == deltas


def test_an_end_without_a_reason() -> None:
    """A turn that asked the client for something ended for that."""
    assert [*over("stop")] == translate(begins(), message(call()), completed(), ends())[-2:]
    assert [*over("tool_calls")] == translate(begins(), requested(), ends())[-2:]


def test_what_a_turn_leaves() -> None:
    """Calls in a message are the agent's own; calls in no message are dropped, in their order."""
    deltas = translate(begins(), piece(A), message(call("d"), call("e")), requested("e"), ends())

    assert [refused(0, "aborted", UNTOLD), *own(1), *over("tool_calls")] == deltas[-5:]


def test_what_a_stream_leaves() -> None:
    """The same, but calls that no message reported were cut; there is no reason."""
    deltas = translate(begins(), piece(A), message(call("d")), ends=True)

    assert [refused(0, "unterminated", CUT), *own(1)] == deltas[-3:]
    both = translate(begins(), message(call()), begins(0, "x"), message(call("d"), agent="x"), ends=True)
    assert [TurnOpened("1"), *own(), TurnOpened("2"), *own()] == both[4:]


def test_a_cut_answer() -> None:
    """The turn's end decides on the rest of it; a request that comes all the same is flagged."""
    deltas = translate(begins(), message(call(), call("d")), used("length"), requested("d"), ends())

    assert [*theirs(slot=1, id="d", flags=("turn_truncated",)), *over("length", "length")] == deltas[4:]
    assert deltas == translate(
        begins(), message(call(), call("d")), used("length"), requested("d"), ends(), completed()
    )


def test_the_next_turn() -> None:
    """One that begins before the last one ended ends it, without a reason; ids are free again (quirk 64)."""
    deltas = translate(begins(), message(call()), begins(1), message(call()), completed(), ends(1))

    assert [
        TurnOpened("1", "0"),
        whole(),
        *own(),
        TurnEnded("1"),
        TurnOpened("2", "1", restart=True),
        whole(),
        *own(),
        *over(turn="2"),
    ] == deltas


@pytest.mark.parametrize("end", [event("session.idle"), event("assistant.idle"), event("user.message")])
def test_turns_without_marks(end: dict[str, Any]) -> None:
    """In an extract the session going idle, or the next prompt, ends a turn."""
    deltas = translate(message(call()), end, message(call()), ends=True)

    assert [OPENED, whole(), *own(), *over(), TurnOpened("2", restart=True), whole(), *own()] == deltas


def test_prompts_inside_a_turn() -> None:
    """User input during the agent's work ends nothing."""
    steering = event("user.message", content="x", delivery="steering")

    assert [OPENED, TextFragment(0, "x"), TextFragment(0, "y")] == translate(said("x"), steering, said("y"))
    assert [TurnOpened("1", "0")] == translate(event("user.message"), begins(), event("user.message"))


def test_an_id_that_comes_again_in_one_turn() -> None:
    """It names another call once the first one was reported and decided, but not in a turn with marks (quirk 64)."""
    deltas = translate(message(call()), completed(), message(call(), messageId="n"), completed())
    assert [OPENED, whole(), *own(), whole(slot=1), *own(1)] == deltas
    deltas = translate(message(call()), requested(), piece("{"))
    assert [seen(1), Slot(0, 1, None, "{")] == deltas[-2:]
    marked = translate(begins(), message(call()), completed(), message(call(), messageId="n"), ends())
    assert [whole(), *own(), *over()] == marked[1:]


def test_the_last_word_of_the_command_line() -> None:
    """The last line ends all that is open; a code says that it failed."""
    result = {"type": "result", "sessionId": "s", "exitCode": 0, "usage": {}}
    failed = [Finish(0, "error", "exit code 1", drops=True), TurnEnded("1")]

    assert over() == translate(begins(), result, result)[1:]
    assert [] == translate(begins(), "[DONE]")[1:]
    assert failed == translate(begins(), result | {"exitCode": 1})[1:]
    assert [] == translate(result)


@pytest.mark.parametrize("told", [event("abort", reason="user"), event("session.idle", aborted=True)])
def test_an_abort(told: dict[str, Any]) -> None:
    """It takes back the open calls of every agent."""
    reason = told["data"].get("reason", "abort")
    deltas = translate(begins(), message(call()), begins(0, "x"), told, ends(), completed())

    assert [
        TurnOpened("1"),
        Finish(0, "aborted", reason, drops=True),
        TurnEnded("1"),
        TurnOpened("2"),
        Finish(0, "aborted", reason, drops=True),
        TurnEnded("2"),
    ] == deltas[3:]
    assert [] == translate(told)


def test_an_abort_of_a_sub_agent() -> None:
    """It concerns that one alone."""
    deltas = translate(begins(), begins(0, "x"), event("abort", "x", reason="y"), said("z"))

    assert [
        Finish(0, "aborted", "y", drops=True),
        TurnEnded("2"),
        TurnOpened("1"),
        TextFragment(0, "z"),
    ] == deltas[2:]


def test_an_error() -> None:
    """It ends the turn, or is one; the session continues."""
    error = event("session.error", errorType="quota", message="no", statusCode=402)
    fault = WireFault("provider_error", "402: no", {"type": "quota", "code": 402, "message": "no"})
    broken = [Finish(0, "error", "quota", drops=True), TurnEnded("1")]

    assert [fault, *broken] == translate(begins(), error)[1:]
    assert [OPENED, fault, *broken, TurnOpened("2", "1", restart=True)] == translate(error, begins(1))


def test_a_shutdown() -> None:
    """A routine end closes all that is open, a crash breaks it off."""
    crash = event("session.shutdown", shutdownType="error", errorReason="oom")
    fault = WireFault("provider_error", "shutdown: oom", {"type": "shutdown", "message": "oom"})

    assert over() == translate(begins(), event("session.shutdown", shutdownType="routine"))[1:]
    assert [fault, Finish(0, "error", "shutdown", drops=True), TurnEnded("1")] == translate(begins(), crash)[
        1:
    ]


@pytest.mark.parametrize(
    ("event", "error"),
    [
        ({"error": {"message": "no"}}, {"message": "no"}),
        ({"type": "error", "error": {"message": "no"}}, {"message": "no"}),
        ({"type": "error", "message": "no"}, {"type": "error", "message": "no"}),
    ],
)
def test_an_error_of_somebody_else(event: dict[str, Any], error: dict[str, Any]) -> None:
    """A gateway's error is not an event of a session: the stream is over."""
    (fault,) = translate(event)

    assert isinstance(fault, WireFault)
    assert (True, error) == (fault.fatal, fault.error)


def test_agents_have_turns_of_their_own() -> None:
    """Their events come between one another; the turn of a sub-agent has the agent's id (quirk 112)."""
    deltas = translate(
        begins(),
        begins(0, "x"),
        said("a", agent="x"),
        said("b"),
        message(call(), agent="x"),
        ends(0, "x"),
        ends(),
    )

    assert [
        TurnOpened("1", "0"),
        TurnOpened("2", "x"),
        TextFragment(0, "a"),
        TurnOpened("1"),
        TextFragment(0, "b"),
        TurnOpened("2"),
        whole(),
        *own(),
        *over(turn="2"),
        TurnOpened("1"),
        *over(),
    ] == deltas


def test_calls_know_their_agent() -> None:
    """The result of a call counts for the turn that reported the call, whichever agent sends it; before, a call named
    the agent.
    """
    deltas = translate(begins(), message(call(), parentToolCallId="x"), said("a"), requested(), said("b"))

    assert [TurnOpened("2"), *theirs(), TurnOpened("1"), TextFragment(0, "b")] == deltas[5:]
    assert [TurnOpened("2"), *own()] == translate(
        begins(), message(call(), agent="x"), said("a"), completed()
    )[5:]


def test_a_new_turn_beside_an_open_one() -> None:
    """It takes the place of the current one only if that is over."""
    deltas = translate(begins(), begins(0, "x"), ends(0, "x"), begins(1, "x"))

    assert TurnOpened("3", "x", restart=True) == deltas[-1]
    assert TurnOpened("2", "x") == translate(begins(), begins(0, "x"))[-1]


def test_counts_of_another_agent() -> None:
    """They are kept only where they can be told apart."""
    assert [USAGE] == translate(begins(), used())[1:]
    assert [] == translate(begins(), used(None, "x"))[1:]
    assert [] == translate(used("stop"))
    assert [] == translate(begins(), {"type": "assistant.usage"})[1:]
    assert [] == translate(begins(), '{"type":"assistant.usage","data":{}}\x00')[1:]


# Text and reasoning.


def test_text_is_told_once() -> None:
    """A message repeats its pieces; its additions are reported, and changed text is not repeated."""
    assert [TextFragment(0, "a"), TextFragment(0, "b")] == translate(said("a"), message(content="ab"))[1:]
    assert [TextFragment(0, "a")] == translate(said("a"), message(content="a"), message(content="a"))[1:]
    assert [TextFragment(0, "a ")] == translate(said("a "), message(content="b"))[1:]
    assert [OPENED, TextFragment(0, "a"), TextFragment(0, "a")] == translate(
        message(content="a"), message(content="a", messageId="n")
    )
    nameless = message(content="a", messageId=None)
    assert [OPENED, TextFragment(0, "a"), TextFragment(0, "a")] == translate(nameless, nameless)
    assert [OPENED] == translate(said(""), message(content=None))
    assert [OPENED, TextFragment(0, "a")] == translate(
        event("assistant.message_delta", messageId="m"), message(content="a")
    )


def test_reasoning_is_told_once() -> None:
    """Its pieces, the thought itself and the message all give it, in any order."""
    thoughts = event("assistant.reasoning", reasoningId="r", content="ab")
    told = message(reasoningText="ab")
    pieces: list[Delta] = [ReasoningFragment(0, "a", "r"), ReasoningFragment(0, "b", "r")]

    assert [OPENED, *pieces] == translate(thought("a"), thought("b"), told, thoughts)
    assert [OPENED, *pieces] == translate(thought("a"), thoughts, told, thoughts)
    assert [OPENED, ReasoningFragment(0, "ab", "r")] == translate(thoughts, told)
    assert [OPENED, ReasoningFragment(0, "ab", "m")] == translate(told, thoughts)
    nothing = event("assistant.reasoning_delta", reasoningId="r")
    assert [OPENED, ReasoningFragment(0, "ab", "r")] == translate(nothing, thoughts)
    more = message(messageId="n", reasoningText="c")
    assert [ReasoningFragment(0, "c", "n")] == translate(thought("a"), thought("b"), told, more)[3:]


def test_thoughts_behind_their_turn() -> None:
    """They open no turn if the turn that is over reported them."""
    thoughts = event("assistant.reasoning", reasoningId="r", content="a")
    again = event("assistant.reasoning", reasoningId="q", content="a")

    assert [] == translate(begins(), thought("a"), ends(), thoughts, thoughts)[4:]
    assert [TurnOpened("2", restart=True), ReasoningFragment(0, "a", "q")] == translate(
        begins(), thought("a"), ends(), again
    )[4:]
    assert [] == translate(event("assistant.reasoning", reasoningId="r"))[1:]


@pytest.mark.parametrize("member", ["reasoningOpaque", "encryptedContent"])
def test_sealed_reasoning(member: str) -> None:
    """Values that must be sent back belong to the latest thought."""
    assert [ReasoningFragment(0, "", "r", data="s")] == translate(thought("a"), message(**{member: "s"}))[2:]
    assert [ReasoningFragment(0, "", "m", data="s")] == translate(message(**{member: "s"}))[1:]
    assert [ReasoningFragment(0, "b", "m", data="s")] == translate(
        message(reasoningText="b", **{member: "s"})
    )[1:]


# Everything else.


@pytest.mark.parametrize(
    "quiet",
    [
        event("assistant.intent", intent="x"),
        event("tool.execution_partial_result", toolCallId="c", partialOutput="x"),
        event("external_tool.completed", requestId="r"),
        event("session.tomorrow"),
        event("hook.start"),
        event("canvas.opened"),
        {},
        "ping",
    ],
)
def test_quiet_events(quiet: dict[str, Any] | str) -> None:
    """A session reports much about itself that is not part of the answer."""
    assert [] == translate(quiet)


@pytest.mark.parametrize("kind", ["assistant.tomorrow", "tool.tomorrow", "novel", None, 5])
def test_unknown_events(kind: object) -> None:
    """Unknown events that could be part of the answer are counted."""
    assert [UNKNOWN] == translate(event(kind))


@pytest.mark.parametrize("data", [None, "x", [], 5])
def test_events_of_another_shape(data: object) -> None:
    """An event without its members says nothing; an unreadable line is a hole."""
    assert [OPENED] == translate({"type": "assistant.message", "data": data})
    (fault,) = translate('{"type":"assistant.tool_call_delta","data":{"inputDelta":"***"')
    assert isinstance(fault, WireFault)
    assert fault.hole


# The emitted calls.


def lines(*events: dict[str, Any]) -> bytes:
    """Write events as lines."""
    return b"".join(json.dumps(told).encode() + b"\n" for told in events)


def test_a_bare_extract() -> None:
    """Pieces and the message alone give the call, as the agent's own: the client was not asked."""
    data = lines(piece('{"a":'), piece(" 1}", toolName=None), message(call()))
    (found,) = [told for told in parse([data], "auto") if isinstance(told, (ToolCall, ServerToolCall))]

    assert ServerToolCall(0, 0, 0, "c", "f", {"a": 1}, A) == found


def test_no_prefix_gives_a_call_before_its_request() -> None:
    """Law 7: nothing is to be executed that the client was not asked for, wherever the stream ends."""
    events = [begins(), piece(A), message(call()), asked(), answered("approved"), started()]
    for n in range(len(events) + 1):
        found = parse([lines(*events[:n])], "copilot")
        assert [] == violations(found)
        assert not any(isinstance(told, ToolCall) for told in found)
    found = parse([lines(*events, requested(), completed(), ends())], "copilot")
    assert ["c"] == [told.id for told in found if isinstance(told, ToolCall)]


def test_no_call_comes_out_twice() -> None:
    """Whatever order the events about one call come in, it ends once."""
    about = [piece(A), message(call()), started(), requested(), completed()]
    for first in range(len(about)):
        turned = about[first:] + about[:first]
        found = parse([lines(begins(), *turned, ends(), event("session.idle"))], "copilot")
        ended = [told for told in found if isinstance(told, (ToolCall, ServerToolCall, ToolCallDropped))]
        assert 1 == len(ended), first
        assert [] == violations(found)


def test_a_hole_is_healed() -> None:
    """An unreadable line is a fault; the message gives its possible content."""
    data = lines(begins(), piece('{"a"')) + b'{"type":"assistant.tool_call_delta","data":{"***\n'
    found = parse([data + lines(message(call()), requested(), ends())], "copilot")

    assert [{"a": 1}] == [told.arguments for told in found if isinstance(told, ToolCall)]
    assert [False] == [told.fatal for told in found if isinstance(told, StreamFault)]


def test_turns_end_for_their_reasons() -> None:
    """A session of three prompts: an error, an abort, and an answer."""
    found = parse(
        [
            lines(
                begins(),
                event("session.error", errorType="quota", message="no"),
                begins(),
                event("abort", reason="user"),
                begins(),
                requested(),
                ends(),
            )
        ],
        "copilot",
    )

    assert ["error", "aborted", "tool_calls"] == [
        told.reason for told in found if isinstance(told, TurnFinished)
    ]
