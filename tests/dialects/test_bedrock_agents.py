"""Agents for Amazon Bedrock: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import JSON, Call
from tests.support.encode_bedrock_agents import (
    action,
    api,
    chunk,
    function,
    invocation,
    returned,
    step,
    trace,
)
from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.amazon.agents import BedrockAgentsTranslator
from wholecall.framing.frame import Frame

CALL = Call("t-1", "f", '{"a":"1"}')
OPENED = TurnOpened("session-7c1f", "session-7c1f", restart=True)
BARE = TurnOpened(None, None, restart=True)
CLOSED = CallClosed(0, 1, None)
RETURNED = Finish(0, "tool_calls", "returnControl")


def translate(*events: tuple[str, JSON], wrapped: bool = False) -> list[Delta]:
    """Translate events named by their frames, or as an SDK decodes them."""
    translator = BedrockAgentsTranslator()
    deltas: list[Delta] = []
    for name, payload in events:
        data = json.dumps({name: payload} if wrapped else payload, separators=(",", ":"))
        deltas += translator.translate(Frame("" if wrapped else name, data))
    return deltas + translator.close()


def whole(
    id: str | None = "t-1", kind: Any = "function", text: str = '{"a":"1"}', slot: int = 1
) -> CallWhole:
    """Return the events for the arguments of a call."""
    return CallWhole(0, slot, None, id, None, text, ITEM_DONE, kind)


def extra(**more: str) -> dict[str, Any]:
    """Return the data that the answer to a client's call needs."""
    return {"invocationId": "i", "actionGroup": "harbour"} | more


@pytest.mark.parametrize("wrapped", [False, True])
def test_a_function_that_the_agent_calls(wrapped: bool) -> None:
    """The id of the trace is the call's, and its parameters are its arguments, with the values of the wire."""
    seen = CallSeen(0, 1, None, "t-1", "f", "server")

    assert [OPENED, seen, whole(kind="server"), CLOSED] == translate(trace(action(CALL)), wrapped=wrapped)


@pytest.mark.parametrize(
    "name", ["knowledgeBaseLookupInput", "agentCollaboratorInvocationInput", "codeInterpreterInvocationInput"]
)
def test_what_else_the_agent_invokes(name: str) -> None:
    """It has no name but its kind."""
    deltas = translate(trace(invocation("t-1", "X", **{name: {"a": "1"}})))

    assert [OPENED, CallSeen(0, 1, None, "t-1", name, "server"), whole(kind="server"), CLOSED] == [
        d if not isinstance(d, CallWhole) else whole(kind="server") for d in deltas
    ]
    assert ['{"a":"1"}'] == [d.text for d in deltas if isinstance(d, CallWhole)]


def test_what_is_returned_is_told_once() -> None:
    """The trace before it says the same, and that the client is to do it."""
    deltas = translate(trace(action(CALL, "RETURN_CONTROL")), returned("i", function(CALL)))
    seen = CallSeen(0, 1, None, "i", "f", extra=extra())

    assert [OPENED, seen, whole("i"), CLOSED, RETURNED] == deltas


def test_calls_that_share_an_invocation_have_no_ids() -> None:
    """One id of two calls would belong to neither; the answer finds it next to them."""
    deltas = translate(returned("i", function(CALL), function(CALL)))
    calls = [
        part
        for slot in (1, 2)
        for part in (CallSeen(0, slot, None, None, "f", extra=extra()), whole(None, slot=slot), CallClosed(0, slot, None))
    ]  # fmt: skip

    assert [BARE, *calls, RETURNED] == deltas


def test_an_operation_of_an_api() -> None:
    """Its path is its name; the parameters of the request and of its body are the arguments."""
    given, body = [{"name": "a", "value": "1"}], [{"name": "b", "value": "2"}]
    deltas = translate(returned("i", api("/berths", "POST", given, body)))
    seen = CallSeen(0, 1, None, "i", "/berths", extra=extra(httpMethod="POST"))

    assert [BARE, seen, whole("i", text='{"a":"1","b":"2"}'), CLOSED, RETURNED] == deltas


@pytest.mark.parametrize(
    ("kind", "who"),
    [("USER_CONFIRMATION", "server"), ("USER_CONFIRMATION_AND_RESULT", "function")],
)
def test_a_confirmation_says_who_executes(kind: str, who: Any) -> None:
    """The client, only where its result is asked for."""
    deltas = translate(returned("i", function(CALL, kind)))

    assert CallSeen(0, 1, None, "i", "f", who, flags=("needs_approval",), extra=extra()) == deltas[1]


@pytest.mark.parametrize("parameters", [{"a": "1"}, [{"name": "a"}], [{"name": 1, "value": "1"}], ["a"]])
def test_parameters_that_cannot_be_read_lose_the_call(parameters: Any) -> None:
    """Never one argument of it; its text is kept."""
    asked = function(CALL)
    asked["functionInvocationInput"]["parameters"] = parameters
    raw = json.dumps(parameters, separators=(",", ":"))
    refused = CallRefused(0, 1, None, "unparseable", "its parameters cannot be read", raw)

    assert refused == translate(returned("i", asked))[2]


def test_a_call_without_parameters() -> None:
    """Its event is its end."""
    seen = CallSeen(0, 1, None, "i", "f", extra=extra())

    assert [BARE, seen, CLOSED, RETURNED] == translate(returned("i", function(Call("i", "f", "{}"))))


def test_an_answer_comes_in_chunks() -> None:
    """Bytes that are not text are lost with a fault."""
    lost = translate(("chunk", {"bytes": "/w=="}))

    assert [BARE, TextFragment(0, "3.2 m. 🌊")] == translate(chunk("3.2 m. 🌊"))
    assert ["invalid_utf8"] == [fault.kind for fault in lost if isinstance(fault, WireFault)]


def test_what_a_step_tells() -> None:
    """The model, its thoughts, and its token counts."""
    deltas = translate(
        trace(step(modelInvocationInput={"foundationModel": "m"})),
        trace(step(rationale={"text": "so", "traceId": "t"})),
        trace(step(modelInvocationOutput={"metadata": {"usage": {"inputTokens": 3}}})),
    )
    opened = TurnOpened("session-7c1f", "session-7c1f", "m", restart=True)

    assert [opened, ReasoningFragment(0, "so", "t"), UsageSeen({"inputTokens": 3})] == deltas


def test_only_the_agents_own_end_is_the_end() -> None:
    """A collaborator's, in a separate session, is not."""
    over = step(observation={"type": "FINISH"})
    deltas = translate(trace(step()), trace(over, chain=2, session="other"), trace(over))

    assert [OPENED, Finish(0, "stop", "FINISH")] == deltas


def test_what_a_router_decides_is_no_call() -> None:
    """It chooses who answers."""
    chosen = {"agentCollaboratorInvocationInput": {"agentCollaboratorName": "x"}}

    assert [OPENED] == translate(trace({"routingClassifierTrace": {"invocationInput": chosen}}))


def test_errors() -> None:
    """A step that failed is the agent's to mend; an exception is the end."""
    deltas = translate(
        trace({"failureTrace": {"failureCode": 500, "failureReason": "no"}}),
        ("", {"throttlingException": {"message": "slow"}}),
        ("error", {"message": "no"}),
    )

    assert [False, True, True] == [fault.fatal for fault in deltas if isinstance(fault, WireFault)]


def test_other_events() -> None:
    """Files are not calls; unknown frames are noted."""
    assert [] == translate(("files", {"files": []}))
    assert [Noted(0, "unknown_events")] == translate(("hologram", {"x": 1}))
    assert [BARE, Noted(0, "unknown_events"), RETURNED] == translate(returned("i", {"hologram": {}}))
