"""The data stream protocol of the Vercel AI SDK: line in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import ToolCall, ToolCallParser, TurnStarted, detect
from wholecall.deltas import (
    ITEM_DONE,
    CallCancelled,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    StepBegan,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.frameworks.vercel_data import VercelDataTranslator
from wholecall.dialects.table import detect_dialect
from wholecall.framing.frame import Frame


def translate(*lines: tuple[str, Any]) -> list[Delta]:
    """Translate the lines of one stream; a value that is a `bytes` is unchanged."""
    translator = VercelDataTranslator()
    deltas: list[Delta] = []
    for code, value in lines:
        data = value.decode() if isinstance(value, bytes) else json.dumps(value, separators=(",", ":"))
        deltas += translator.translate(Frame(code, data))
    return deltas + translator.close()


def call(slot: str, id: str | None, name: str | None, text: str) -> list[Delta]:
    """Return the deltas of a call that is reported whole."""
    whole = CallWhole(0, slot, None, id, name, text, ITEM_DONE)
    return [whole, CallClosed(0, slot, None)]


def test_a_message_with_a_call() -> None:
    """A step opens the turn, a call lives in the slot of its id and is over when it is reported whole."""
    deltas = translate(
        ("f", {"messageId": "m"}),
        ("g", "hm"),
        ("j", {"signature": "s"}),
        ("i", {"data": "d"}),
        ("0", "Hi"),
        ("b", {"toolCallId": "c", "toolName": "f"}),
        ("c", {"toolCallId": "c", "argsTextDelta": '{"a"'}),
        ("c", {"toolCallId": "c", "argsTextDelta": ":1}"}),
        ("9", {"toolCallId": "c", "toolName": "f", "args": {"a": 1}}),
        ("a", {"toolCallId": "c", "result": 2}),
        ("e", {"finishReason": "length"}),
        ("d", {"finishReason": "tool-calls", "usage": {"promptTokens": 3, "completionTokens": None}}),
    )

    assert [
        TurnOpened(None, "m", restart=True),
        ReasoningFragment(0, "hm"),
        ReasoningFragment(0, "", signature="s"),
        ReasoningFragment(0, "", data="d"),
        TextFragment(0, "Hi"),
        CallSeen(0, "0/c", None, "c", "f", begins=True),
        Slot(0, "0/c", "c", '{"a"'),
        Slot(0, "0/c", "c", ":1}"),
        *call("0/c", "c", "f", '{"a":1}'),
        CallCancelled("c", answered=True),
        UsageSeen({"promptTokens": 3}),
        Finish(0, "tool_calls", "tool-calls"),
        TurnEnded(),
    ] == deltas


def test_a_step_goes_on_with_the_message_and_frees_its_ids() -> None:
    """A further step has no separate turn, and an id may come again in it (quirk 64)."""
    line = ("9", {"toolCallId": "c", "toolName": "f", "args": {"a": 1}})
    deltas = translate(("f", {"messageId": "m"}), line, ("f", {"messageId": "n"}), line)

    opened = TurnOpened(None, "m", restart=True)
    one, other = (call(f"{step}/c", "c", "f", '{"a":1}') for step in range(2))
    assert [opened, *one, StepBegan(0, 1), *other] == deltas


def test_the_end_of_a_message_is_the_end() -> None:
    """A step after it is another turn; a failure takes back open calls."""
    opened = TurnOpened(None, "m", restart=True)
    deltas = translate(("f", {"messageId": "m"}), ("d", {"finishReason": "error"}), ("f", {"messageId": "m"}))

    assert [opened, Finish(0, "error", "error", drops=True), TurnEnded(), opened] == deltas
    assert [] == translate(("", b"[DONE]"))


def test_version_3_sends_calls_of_openai() -> None:
    """They are whole, and calls without an id are told apart by their end."""
    function = {"name": "f", "arguments": '{"a": 1}'}

    assert [
        *call("0/c", "c", "f", '{"a": 1}'),
        CallWhole(0, None, None, None, "f", '{"a": 1}', ITEM_DONE, closes=True),
    ] == translate(
        ("7", {"tool_calls": [{"id": "c", "function": function}]}), ("1", {"function_call": function})
    )
    parts = [{"type": "text", "text": {"value": "Hi"}}, {"type": "image"}, "x"]
    assert [TextFragment(0, "Hi")] == translate(("4", {"id": "m", "role": "assistant", "content": parts}))


@pytest.mark.parametrize(
    ("line", "deltas"),
    [
        (("3", "slow down"), [WireFault("provider_error", "slow down", error="slow down", fatal=True)]),
        (("3", b"slow"), [WireFault("provider_error", "slow", error="slow", fatal=True)]),
        (
            ("", {"error": {"message": "no"}}),
            [WireFault("provider_error", "no", error={"message": "no"}, fatal=True)],
        ),
        (("0", ""), []),
        (("0", b'"\\ud83d"'), [TextFragment(0, "\ud83d")]),
        (
            ("0", b'"Hi'),
            [WireFault("undecodable_frame", "a frame holds no JSON object", raw='"Hi', hole=True)],
        ),
        (("c", b"{"), [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)]),
        (
            ("c", b'{"toolCallId":7,"argsTextDelta":"\\ud83d"}'),
            [Slot(0, "0/7", "7", "\ud83d")],
        ),
        (("2", [{"toolCallId": "c"}]), []),
        (("k", {"data": "x"}), []),
        (("", {"kind": "x"}), [Noted(0, "unknown_events")]),
        (("", {}), []),
    ],
)
def test_errors_and_odd_lines(line: tuple[str, Any], deltas: list[Delta]) -> None:
    """An error is fatal, an unreadable frame is a hole, data of the application says nothing."""
    assert deltas == translate(line)


def test_a_stored_message_tells_each_call_once() -> None:
    """A call with a result was run, a partial call is cut; copies next to the parts do not count."""

    def told(state: str) -> list[Delta]:
        invocation = {"state": state, "toolCallId": "c", "toolName": "f", "args": {"a": 1}}
        parts = [
            {"type": "reasoning", "reasoning": "hm"},
            {"type": "tool-invocation", "toolInvocation": invocation},
            {"type": "text", "text": "Hi"},
        ]
        message = {"id": "m", "role": "assistant", "content": "Hi", "toolInvocations": [invocation]}
        deltas = translate(("", message | {"parts": parts}))
        assert [ReasoningFragment(0, "hm"), TextFragment(0, "Hi")] == deltas[1:3]
        assert [deltas[0], TextFragment(0, "Hi"), *deltas[3:]] == translate(("", message))
        assert [TurnOpened(None, "m", restart=True), TurnEnded()] == [deltas[0], deltas[-1]]
        return deltas[3:-1]

    seen = CallSeen(0, "0/c", None, "c", "f")
    cut = CallRefused(0, "0/c", None, "truncated", "the arguments were still coming", '{"a":1}')
    assert call("0/c", "c", "f", '{"a":1}') == told("call")
    assert [seen, cut] == told("partial-call")
    assert ["server"] == [delta.kind for delta in told("result") if isinstance(delta, CallWhole)]


def test_the_code_of_a_line_tells_the_dialect() -> None:
    """Any line is decisive, also through the door for decoded payloads; so is a message with invocations."""
    invocations = {"role": "assistant", "toolInvocations": []}
    parts = {"role": "assistant", "parts": [{"type": "tool-invocation"}]}

    assert ["vercel-data"] * 3 == [detect(b'0:"a"'), detect(b"3:[]\n"), detect(b'\n2:["x"]\n')]
    assert detect(b"0: a\n") is None
    assert [True] * 2 == [
        dialect is not None and dialect.name == "vercel-data"
        for dialect in (detect_dialect(invocations), detect_dialect(parts))
    ]
    assert detect_dialect({"role": "user", "toolInvocations": []}) is None
    parser = ToolCallParser()
    found = parser.feed_event({"toolCallId": "c", "toolName": "f", "args": {"a": 1}}, "9")
    assert [TurnStarted, ToolCall] == [type(event) for event in (found[0], found[-1])]
