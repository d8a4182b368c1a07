"""MCP: message in, deltas out, and never a call."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import TextCalls, TextDelta, ToolCallParser
from wholecall.calls.output.events import TurnFinished, TurnStarted
from wholecall.deltas import Delta, Finish, Noted, TurnEnded, TurnOpened, WireFault
from wholecall.dialects.agents.mcp import McpTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened(None, None, None, restart=True)
STOP = [Finish(0, "stop", None), TurnEnded(None)]
FAILED = [Finish(0, "error", None), TurnEnded(None)]
PROGRESS = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progress": 1}}


def translate(*messages: dict[str, Any] | str, event: str = "message") -> list[Delta]:
    """Translate the messages of one connection, to its end."""
    translator = McpTranslator()
    deltas: list[Delta] = []
    for message in messages:
        data = message if isinstance(message, str) else json.dumps(message)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def answer(**members: Any) -> dict[str, Any]:
    """Return an answer."""
    return {"jsonrpc": "2.0", "id": 1, **members}


def content(text: str) -> dict[str, Any]:
    """Return the result of a tool."""
    return {"content": [{"type": "text", "text": text}]}


@pytest.mark.parametrize(
    "result",
    [
        content("x"),
        {"tools": [{"name": "f", "inputSchema": {}}]},
        {"protocolVersion": "2025-11-25", "serverInfo": {"name": "s"}},
        {},
    ],
)
def test_an_answer_ends_its_turn(result: dict[str, Any]) -> None:
    """With earlier frames, or alone; its content is not text."""
    assert [OPENED, *STOP] * 2 == translate(PROGRESS, PROGRESS, answer(result=result), answer(result=result))


@pytest.mark.parametrize(
    "method", ["tools/call", "sampling/createMessage", "elicitation/create", "notifications/message", "ping"]
)
def test_requests_and_notifications_say_nothing(method: str) -> None:
    """From any sender: the decision to call a tool was made elsewhere."""
    params = {"name": "f", "arguments": {"x": 1}, "messages": [{"role": "user", "content": {"text": "x"}}]}

    assert [OPENED] == translate({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})


def test_a_tool_that_fails_is_a_fault() -> None:
    """The fault does not repeat the tool's text, which may quote arguments."""
    fault = WireFault(
        "provider_error", "the tool reports an error", error={"message": "the tool reports an error"}
    )

    assert [OPENED, fault, *FAILED] == translate(answer(result=content("secret") | {"isError": True}))
    assert [OPENED, *STOP] == translate(answer(result=content("x") | {"isError": False}))


def test_a_request_that_fails_is_a_fault() -> None:
    """The connection outlives it; an error that answers nothing ends it (quirk 52)."""
    error = {"code": -32602, "message": "no"}
    fault = WireFault("provider_error", "-32602: no", error=error)
    fatal = WireFault("provider_error", "-32602: no", error=error, fatal=True)

    assert [OPENED, fault, *FAILED, OPENED, *STOP] == translate(answer(error=error), answer(result={}))
    assert [fatal] == translate({"jsonrpc": "2.0", "id": None, "error": error})


def test_the_older_transport_begins_with_an_address() -> None:
    """It is not JSON, and not a fault."""
    assert [] == translate("/messages?sessionId=5f0c", event="endpoint")


def test_other_frames() -> None:
    """Pings say nothing; a frame that is not JSON-RPC is counted."""
    assert [] == translate({"type": "ping"}, "{}", "[DONE]", "", answer())
    assert [Noted(0, "unknown_events")] == translate({"novelty": 1})


def test_a_call_that_a_result_quotes_is_not_read_as_text() -> None:
    """Not even where calls that a model wrote are looked for: no model wrote this."""
    quoted = '<tool_call>{"name":"f","arguments":{}}</tool_call>'
    parser = ToolCallParser(text=TextCalls("auto"))
    events = (
        parser.feed(b"data: " + json.dumps(answer(result=content(quoted))).encode() + b"\n\n")
        + parser.close()
    )

    assert [TurnStarted, TurnFinished] == [type(event) for event in events]
    assert not any(isinstance(event, TextDelta) for event in events)
