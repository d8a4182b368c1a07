"""xAI's own API: line in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.others.xai_grpc import XaiGrpcTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind, TurnReason

OPENED = TurnOpened("r1", "r1", "m", restart=True)
SEARCH = "TOOL_CALL_TYPE_WEB_SEARCH_TOOL"
CALLS = Finish(0, "tool_calls", "REASON_TOOL_CALLS")
STOP = Finish(0, "stop", "REASON_STOP")


def translate(*lines: dict[str, Any] | str) -> list[Delta]:
    """Translate the lines of one stream, to its end."""
    translator = XaiGrpcTranslator()
    deltas: list[Delta] = []
    for line in lines:
        data = line if isinstance(line, str) else json.dumps(line)
        deltas += translator.translate(Frame("", data))
    return deltas + translator.close()


def said(*lines: dict[str, Any] | str) -> list[Delta]:
    """Translate the lines; the turn's beginning is left out."""
    (opened, *deltas) = translate(*lines)
    assert isinstance(opened, TurnOpened)
    return deltas


def chunk(
    nth: int = 0, *, reason: Any = None, role: str | None = "ROLE_ASSISTANT", **delta: Any
) -> dict[str, Any]:
    """Build a chunk with one output; defaults are left out, as on the wire."""
    output: dict[str, Any] = {"delta": delta | ({"role": role} if role else {})}
    output |= ({"index": nth} if nth else {}) | ({"finish_reason": reason} if reason else {})
    return {"chunk": {"id": "r1", "model": "m", "outputs": [output]}}


def call(id_: Any = "a", name: str | None = "f", arguments: Any = "{}", **more: Any) -> dict[str, Any]:
    """Build a call."""
    return {"id": id_, "function": {"name": name, "arguments": arguments}, **more}


def whole(
    slot: int, text: str, id_: str | None = "a", *, kind: Kind = "function", final: bool = True
) -> list[Delta]:
    """Return the events for a whole call."""
    seen = CallSeen(0, slot, None, id_, "f", kind)
    restated: list[Delta] = [CallWhole(0, slot, None, id_, "f", text, ITEM_DONE, kind)] if text else []
    return [seen, *restated, CallClosed(0, slot, None, final=final)]


# Calls.


def test_a_call_is_whole_in_its_message() -> None:
    """A chunk may hold several; the text is the wire's; a call without arguments waits for the reason (quirk 26)."""
    calls = [call(arguments='{"x":1}'), call("b", arguments="{}"), call("c", arguments=None)]

    expected = [*whole(0, '{"x":1}'), *whole(1, "{}", "b", final=False), *whole(2, "", "c", final=False)]
    assert expected == said(chunk(tool_calls=calls))


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (None, "function"),
        ("", "function"),
        ("TOOL_CALL_TYPE_INVALID", "function"),
        ("TOOL_CALL_TYPE_CLIENT_SIDE_TOOL", "function"),
        ("TOOL_CALL_TYPE_MCP_TOOL", "server"),
        ("TOOL_CALL_TYPE_NOVELTY", "server"),
    ],
)
def test_who_executes_a_call(type_: str | None, kind: Kind) -> None:
    """The type decides; an unknown type is the provider's, for no one may run such a call here."""
    assert whole(0, '{"x":1}', kind=kind) == said(chunk(tool_calls=[call(arguments='{"x":1}', type=type_)]))


def test_a_call_told_again_keeps_its_slot() -> None:
    """It is the same by all that it says; without an id each is a separate call, as are two texts of one id."""
    same, other = call(arguments='{"x":1}'), call(arguments='{"x":2}')
    bare = call(None, arguments='{"x":1}')

    assert [*whole(0, '{"x":1}') * 2, *whole(1, '{"x":2}')] == said(chunk(tool_calls=[same, same, other]))
    assert [*whole(0, '{"x":1}', None), *whole(1, '{"x":1}', None)] == said(chunk(tool_calls=[bare, bare]))


def test_a_result_restates_its_call() -> None:
    """Text under the role of tools is not an answer; a call without an id cannot be matched (quirk 98)."""
    done = call(arguments='{"x":1}', type=SEARCH, status="TOOL_CALL_STATUS_COMPLETED")
    bare = call(None, arguments='{"x":1}', type=SEARCH)
    result = chunk(1, role="ROLE_TOOL", content="found", encrypted_content="q", tool_calls=[done, bare])

    assert [CallWhole(0, None, None, "a", "f", '{"x":1}', HYDRATION, "server")] == said(result)


# Text and rounds.


def test_text_and_reasoning() -> None:
    """Each round's reasoning is a block; encrypted reasoning is kept; a missing role is the model's."""
    lines = [
        chunk(reasoning_content="h", encrypted_content="q"),
        chunk(2, reasoning_content="i"),
        chunk(2, role=None, content="x"),
        chunk(2, content=""),
    ]

    assert [
        ReasoningFragment(0, "h", 0, data="q"),
        ReasoningFragment(0, "i", 2),
        TextFragment(0, "x"),
    ] == said(*lines)


@pytest.mark.parametrize(
    ("word", "reason"),
    [
        ("REASON_STOP", "stop"),
        ("REASON_TOOL_CALLS", "tool_calls"),
        ("REASON_MAX_LEN", "length"),
        ("REASON_MAX_CONTEXT", "length"),
        ("REASON_TIME_LIMIT", "length"),
        ("REASON_NOVELTY", "unknown"),
    ],
)
def test_reasons(word: str, reason: TurnReason) -> None:
    """The provider's word is kept; all limits cut."""
    assert [Finish(0, reason, word)] == said(chunk(reason=word))


def test_no_reason_yet() -> None:
    """The default of the field and other types are none (quirk 45)."""
    assert [] == said(chunk(reason="REASON_INVALID"), chunk(reason=3))


def test_the_reason_of_a_round_is_not_always_the_answers() -> None:
    """After calls that are all the provider's the model continues; any call of the client's ends the answer."""
    server, client = call("s", arguments='{"x":1}', type=SEARCH), call("c", arguments='{"x":1}')
    ran = whole(0, '{"x":1}', "s", kind="server")
    reason = chunk(reason="REASON_TOOL_CALLS")

    assert [*ran, STOP] == said(chunk(tool_calls=[server]), reason, chunk(2, reason="REASON_STOP"))
    assert [*ran, CALLS] == said(chunk(tool_calls=[server]), reason, chunk(2, reason="REASON_TOOL_CALLS"))
    assert [*ran, *whole(1, '{"x":1}', "c"), CALLS] == said(chunk(tool_calls=[server, client]), reason)
    assert [*whole(0, '{"x":1}', "c"), *whole(1, '{"x":1}', "s", kind="server"), CALLS] == said(
        chunk(tool_calls=[client, server]), reason
    )
    assert [*ran, STOP] == said(chunk(tool_calls=[server], reason="REASON_STOP"))


# Turns and lines.


def test_a_chunk_may_stand_at_the_top() -> None:
    """With or without its envelope; the first one opens the turn, and one of another id the next one."""
    inner = chunk(content="x")["chunk"]

    assert [OPENED, TextFragment(0, "x")] == translate(inner)
    assert [OPENED, TextFragment(0, "x"), TextFragment(0, "x")] == translate(inner, inner | {"id": None})
    other = TurnOpened("r2", "r2", "m", restart=True)
    assert [OPENED, TextFragment(0, "x"), other, TextFragment(0, "x")] == translate(
        inner, inner | {"id": "r2"}
    )


def test_counts() -> None:
    """Those that are empty say nothing; counts alone open no turn (quirk 88)."""
    usage = {"total_tokens": 3}
    text = chunk(content="x")
    text["chunk"]["usage"] = usage

    assert [OPENED, TextFragment(0, "x"), UsageSeen(usage)] == translate(text)
    assert [UsageSeen(usage)] == translate(
        {"chunk": {"outputs": [], "usage": usage}}, {"chunk": {"usage": {}}}
    )


def test_a_whole_body() -> None:
    """Messages in place of deltas, all rounds of them; the body ends its turn."""
    message = {
        "role": "ROLE_ASSISTANT",
        "content": "x",
        "reasoning_content": "h",
        "tool_calls": [call(arguments='{"x":1}')],
    }
    first = {"message": {"role": "ROLE_TOOL", "content": "found"}}
    last = {"index": 1, "message": message, "finish_reason": "REASON_TOOL_CALLS"}
    body = {"id": "r1", "model": "m", "outputs": [first, last]}
    words = [ReasoningFragment(0, "h", 1), TextFragment(0, "x")]

    assert [OPENED, *words, *whole(0, '{"x":1}'), CALLS, TurnEnded("r1")] == translate(body)


def test_done_ends_no_turn() -> None:
    """Proxies add it: it is the end of the transport, and the calls after it are the same turn's."""
    one = chunk(tool_calls=[call(arguments='{"x":1}', type=SEARCH)])

    assert [OPENED, *whole(0, '{"x":1}', kind="server")] == translate("[DONE]", one, "[DONE]")


def test_other_lines() -> None:
    """Errors are fatal at both places, pings and empty chunks say nothing, others are counted in a turn."""
    error = {"code": 14, "message": "no"}
    fatal = WireFault("provider_error", "14: no", error=error, fatal=True)

    assert [fatal, fatal] == translate({"error": error}, {"chunk": {"error": error}})
    assert [] == translate({"type": "ping"}, "{}", {"chunk": {}}, {"novelty": 1})
    assert [TextFragment(0, "x"), Noted(0, "unknown_events")] == said(
        chunk(content="x"), {"chunk": {}}, {"type": "ping"}, {"novelty": 1}
    )


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """A lone surrogate is text, odd labels are none, an object is its own text, an unreadable frame is a hole."""
    surrogate = '{"chunk":{"outputs":[{"index":"x","delta":{"content":"\\ud83d"}}]}}'
    odd = chunk(tool_calls=[call([1], arguments={"x": 1}, type=3)])
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw='{"chunk"', hole=True)

    assert [TextFragment(0, "\ud83d")] == said(surrogate)
    assert whole(0, '{"x": 1}', None) == said(odd)
    assert [CallSeen(0, 0, None, None, None), CallClosed(0, 0, None, final=False)] == said(
        chunk(tool_calls=[{}])
    )
    assert [fault] == translate('{"chunk"')
