"""Anthropic Messages: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from wholecall.deltas import (
    OBJECT,
    CallClosed,
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
from wholecall.dialects.anthropic import AnthropicTranslator
from wholecall.framing.frame import Frame

UNKNOWN = Noted(0, "unknown_events")
OPENED = TurnOpened("msg_1", "msg_1", "m", restart=True)


def translate(*payloads: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = AnthropicTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return without_parts(deltas + translator.close())


def message_start(**message: Any) -> dict[str, Any]:
    """Build the first event of a message."""
    return {"type": "message_start", "message": {"id": "msg_1", "model": "m", "content": [], **message}}


def start(index: object, **block: Any) -> dict[str, Any]:
    """Build the start of a block, a tool's unless said otherwise."""
    tool = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": {**tool, **block}}


def piece(index: object, text: object) -> dict[str, Any]:
    """Build a piece of argument text."""
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def delta(index: object, **fields: Any) -> dict[str, Any]:
    """Build any other piece."""
    return {"type": "content_block_delta", "index": index, "delta": fields}


def stop(index: object) -> dict[str, Any]:
    """Build the end of a block."""
    return {"type": "content_block_stop", "index": index}


def reason(value: object, **more: Any) -> dict[str, Any]:
    """Build the event that carries the stop reason."""
    return {"type": "message_delta", "delta": {"stop_reason": value}, **more}


def seen(index: int | None, id_: str | None = "toolu_1", name: str | None = "f") -> CallSeen:
    """Return the delta of a tool's start."""
    return CallSeen(0, index, None, id_, name, begins=True)


def closed(index: int | None) -> CallClosed:
    """Return the delta of a block's end."""
    return CallClosed(0, index, None, final=False)


def test_a_call_is_a_block() -> None:
    """Start, pieces and stop of a block are one call; a stop never closes it for good."""
    deltas = translate(
        {"type": "ping"},
        message_start(),
        start(1),
        piece(1, ""),
        piece(1, '{"a": '),
        piece(1, "1}"),
        stop(1),
        reason("tool_use"),
        {"type": "message_stop"},
    )

    assert [
        OPENED,
        seen(1),
        Slot(0, 1, None, '{"a": '),
        Slot(0, 1, None, "1}"),
        closed(1),
        Finish(0, "tool_calls", "tool_use"),
        TurnEnded("msg_1"),
    ] == deltas


def test_text_and_reasoning_are_told_apart() -> None:
    """Text, thinking, signatures and redacted blocks are not calls; their stops say nothing."""
    deltas = translate(
        start(0, type="thinking", thinking="", signature=""),
        delta(0, type="thinking_delta", thinking="hm"),
        delta(0, type="signature_delta", signature="c2ln"),
        stop(0),
        start(1, type="redacted_thinking", data="sealed"),
        stop(1),
        start(2, type="text", text="A"),
        delta(2, type="text_delta", text="B"),
        delta(2, type="text_delta", text=""),
        delta(2, type="citations_delta", citation={}),
        stop(2),
    )

    assert [
        ReasoningFragment(0, "hm", 0),
        ReasoningFragment(0, "", 0, signature="c2ln"),
        ReasoningFragment(0, "", 1, data="sealed"),
        TextFragment(0, "A"),
        TextFragment(0, "B"),
    ] == deltas


def test_an_input_at_the_start_is_whole() -> None:
    """A non-empty input counts, in the wire's own text, and is reported with the labels; so is the caller."""
    text = '{"url": "https://e.org", "n": 1.0}'
    block = '{"type":"server_tool_use","id":"s","name":"web_fetch","caller":{"type":"direct"},"input":' + text
    deltas = translate('{"type":"content_block_start","index":1,"content_block":' + block + "}}")

    assert [
        CallWhole(
            *(0, 1, None, "s", "web_fetch", text, OBJECT, "server"),
            extra={"caller": {"type": "direct"}},
            begins=True,
        )
    ] == deltas


@pytest.mark.parametrize("value", ["{}", "{ }", "[]", "null", '""', '"{}"'])
def test_an_empty_input_is_never_text(value: str) -> None:
    """The `{}` of a start is a placeholder, not arguments."""
    block = '{"type":"tool_use","id":"toolu_1","name":"f","input":' + value + "}"

    assert [seen(0)] == translate('{"type":"content_block_start","index":0,"content_block":' + block + "}")


def test_toolsets_and_servers_are_kept() -> None:
    """A toolset is the call's namespace; an MCP call runs at the server that it names."""
    deltas = translate(
        start(0, toolset_name="browser"), start(1, type="mcp_tool_use", id="mcp_1", server_name="wiki")
    )

    assert [
        CallSeen(0, 0, None, "toolu_1", "f", namespace="browser", begins=True),
        CallSeen(0, 1, None, "mcp_1", "f", "server", extra={"server_name": "wiki"}, begins=True),
    ] == deltas


def test_results_of_server_tools_are_skipped() -> None:
    """A result block is not a call, and neither are its pieces."""
    deltas = translate(start(2, type="web_search_tool_result", content=[]), piece(2, "{"), stop(2))

    assert [] == deltas


def test_unknown_blocks_are_counted_and_skipped() -> None:
    """A block or piece of an unknown type changes nothing, and the index may be used again."""
    deltas = translate(
        start(0, type="future_tool_use"), piece(0, "{"), delta(0, type="future"), start(0), piece(0, "{")
    )

    assert [UNKNOWN, UNKNOWN, seen(0), Slot(0, 0, None, "{")] == deltas


def test_a_piece_without_a_start_is_told() -> None:
    """Relays lose starts: text and stops are reported all the same, each as often as it comes (quirk 77)."""
    assert [Slot(0, 0, None, "{}"), closed(0), closed(0)] == translate(piece(0, "{}"), stop(0), stop(0))


@pytest.mark.parametrize(
    "said", [{"type": "text_delta", "text": "x"}, {"type": "thinking_delta", "thinking": "x"}]
)
def test_the_stop_of_text_without_a_start_ends_no_call(said: dict[str, Any]) -> None:
    """A block's content shows that it is not a call, in one frame or many: a call next to it continues (quirk 77)."""
    events = [start(0), delta(1, **said), stop(1), piece(0, "{}")]
    runs = AnthropicTranslator().translate_all([Frame("", json.dumps(event)) for event in events])

    assert [] == [told for told in [*translate(*events), *runs] if isinstance(told, CallClosed)]


def test_a_displaced_block_has_not_ended() -> None:
    """A start ends nothing, whatever stood in its place, and a stop of other text ends no call (quirk 77)."""
    deltas = translate(start(0), start(0), start(0, id="toolu_2"), start(0, type="text"), stop(0))

    assert [seen(0), seen(0), seen(0, "toolu_2")] == deltas


def test_a_stop_is_that_of_the_latest_block() -> None:
    """An index can be used again: by a call after text, and by text after a call."""
    text = start(0, type="text")

    assert [seen(0), closed(0)] == translate(text, stop(0), start(0), stop(0))
    assert [seen(0), closed(0)] == translate(text, start(0), stop(0))
    assert [seen(0), closed(0)] == translate(start(0), stop(0), text, stop(0))


@pytest.mark.parametrize("index", ["1", 1.0])
def test_odd_indices_name_the_same_slot(index: object) -> None:
    """A string or a float is read as the integer that it means."""
    assert [seen(1), Slot(0, 1, None, "{"), closed(1)] == translate(start(index), piece(index, "{"), stop(1))


def test_a_missing_index_is_told_as_missing() -> None:
    """A missing index is a separate slot; the binders decide its meaning."""
    assert [seen(None), Slot(0, None, None, "{"), closed(None)] == translate(
        start(None), piece(None, "{"), stop(None)
    )


def test_text_that_is_no_string_survives() -> None:
    """An object in place of a piece becomes its text; a split surrogate costs no frame."""
    assert [Slot(0, 0, None, '{"a":1}')] == translate(piece(0, {"a": 1}))
    assert [Slot(0, 0, None, "\ud83d")] == translate(piece(0, "\ud83d"))


def test_a_whole_message_at_the_start_is_told_whole() -> None:
    """A continuation may put all blocks and the reason into `message_start` (quirk 90)."""
    block = {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"a": 1}}
    text = {"type": "text", "text": "Hi"}
    deltas = translate(message_start(content=[text, block], stop_reason="tool_use"))

    assert [
        OPENED,
        TextFragment(0, "Hi"),
        CallWhole(0, 1, None, "toolu_1", "f", '{"a": 1}', OBJECT, begins=True),
        closed(1),
        Finish(0, "tool_calls", "tool_use"),
    ] == deltas


def test_a_body_is_one_turn() -> None:
    """A whole, non-streamed body opens, restates and ends its turn."""
    body = {"type": "message", "id": "msg_1", "model": "m", "stop_reason": "end_turn", "usage": {"n": 1}}
    deltas = translate({**body, "content": [{"type": "tool_use", "id": "toolu_1", "name": "f"}]})

    assert [
        OPENED,
        seen(0),
        closed(0),
        UsageSeen({"n": 1}),
        Finish(0, "stop", "end_turn", ends=True),
        TurnEnded("msg_1"),
    ] == deltas
    assert [UNKNOWN] == translate({"type": "message"})


def test_a_second_message_start_begins_anew() -> None:
    """The kinds of its blocks are forgotten with the former turn: a stop may be a call's again (quirk 77)."""
    second = {"type": "message_start"}
    again = TurnOpened(None, restart=True)

    assert [OPENED, again, closed(0)] == translate(message_start(), start(0, type="text"), second, stop(0))
    assert [OPENED, seen(0), again, closed(0)] == translate(message_start(), start(0), second, stop(0))


def test_usage_is_told_twice() -> None:
    """The start counts the input, the end the output, both of one turn; null says nothing (quirk 88)."""
    deltas = translate(
        message_start(usage={"input_tokens": 5, "output_tokens": 1}),
        reason(None, usage={"input_tokens": None, "output_tokens": 9}),
    )

    assert [
        OPENED,
        UsageSeen({"input_tokens": 5, "output_tokens": 1}),
        UsageSeen({"output_tokens": 9}),
    ] == deltas


def test_a_refusal_takes_back_what_was_begun() -> None:
    """Only the stop reason `refusal` drops open calls."""
    assert [Finish(0, "content_filter", "refusal", drops=True)] == translate(reason("refusal"))
    assert [Finish(0, "length", "max_tokens")] == translate(reason("max_tokens"))
    assert [] == translate({"type": "message_delta"})


def test_errors_are_fatal() -> None:
    """An error is the provider's, with its type or without."""
    error = {"type": "overloaded_error", "message": "Overloaded"}
    fault = WireFault("provider_error", "overloaded_error: Overloaded", error=error, fatal=True)

    assert [fault] == translate({"type": "error", "error": error})
    assert [fault] == translate({"error": error})


def test_done_ends_no_turn() -> None:
    """Proxies add `[DONE]`: it is the end of the transport, and no mark of the message."""
    stopped = {"type": "message_stop"}

    assert [OPENED, TurnEnded("msg_1")] == translate(message_start(), stopped, "[DONE]")
    assert [OPENED] == translate(message_start(), "[DONE]")


def test_other_frames_are_noise_unknown_or_holes() -> None:
    """Keep-alives say nothing, the event's name replaces a missing type, the rest is counted."""
    assert [] == translate("{}", "", Frame("ping", "x"))
    assert [TurnEnded(None)] == translate(Frame("message_stop", '{"a":1}'))
    assert [UNKNOWN, UNKNOWN] == translate({"type": "future"}, {"a": 1})
    assert [UNKNOWN] == translate(Frame("message", '{"type":"future","index":NaN}'))
    assert [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)] == translate(
        "{"
    )
