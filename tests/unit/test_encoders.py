"""Encoders: the exact bytes of small turns, and the limits of a dialect."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.naive import argument_text_in, data_of, finish_reasons, read_calls
from wholecall import UnknownDialect
from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.events import (
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from wholecall.encoders import (
    ENCODERS,
    AnthropicEncoder,
    ChatEncoder,
    ResponsesEncoder,
    argument_text,
    encoder,
)
from wholecall.repairing.encoders.base import json_bytes, tokens_of

STARTED = TurnStarted(0, 0, "gemini", "r1", "m1")
CALL = ToolCall(0, 0, 0, "c1", "f", {"a": 1}, '{"a": 1}', "exact")
EMPTY = ToolCall(0, 0, 1, "c2", "now", {}, "", "empty")
CUSTOM = CustomToolCall(0, 0, 2, "c3", "sql", "SELECT 1")
SHELL = BuiltinToolCall(0, 0, 3, "c4", "shell", {"action": {"commands": ["ls"]}})
FINISHED = TurnFinished(0, 0, "tool_calls", "STOP", 2)
FAULT = StreamFault(0, 0, "provider_error", "overloaded", fatal=True)


def written(dialect: str, *events: Event) -> bytes:
    """Return the stream of some events."""
    ours = encoder(dialect)
    return ours.encode(events) + ours.close()


def test_a_chat_turn() -> None:
    """A chat call is one fragment with everything in it, the finish comes after, `[DONE]` is last."""
    head = (
        '{"id":"r1","object":"chat.completion.chunk","created":0,"model":"m1","choices":[{"index":0,"delta":'
    )
    expected = (
        f'data: {head}{{"role":"assistant"}},"finish_reason":null}}]}}\n\n'
        f'data: {head}{{"content":"Hi"}},"finish_reason":null}}]}}\n\n'
        f'data: {head}{{"tool_calls":[{{"index":0,"id":"c1","type":"function","function":{{"name":"f",'
        '"arguments":"{\\"a\\": 1}"}}]},"finish_reason":null}]}\n\n'
        f'data: {head}{{}},"finish_reason":"tool_calls"}}]}}\n\n'
        "data: [DONE]\n\n"
    )

    assert expected.encode() == written("chat-completions", STARTED, TextDelta(0, 0, "Hi"), CALL, FINISHED)


def test_an_anthropic_turn() -> None:
    """Each block begins, has its deltas and ends; text, reasoning and calls have separate numbers."""
    data = written(
        "anthropic", STARTED, ReasoningDelta(0, 0, "h"), TextDelta(0, 0, "Hi"), CALL, EMPTY, FINISHED
    )
    told = [(event["type"], event.get("index")) for event in data_of(data)]
    block = ["content_block_start", "content_block_delta", "content_block_stop"]

    assert [
        ("message_start", None),
        *((kind, number) for number in range(4) for kind in block),
        ("message_delta", None),
        ("message_stop", None),
    ] == told
    assert ["tool_use"] == finish_reasons(data)


def test_a_responses_turn() -> None:
    """Items and events are numbered without gaps, and the finished response lists every item."""
    data = written(
        "responses", STARTED, ReasoningDelta(0, 0, "h"), TextDelta(0, 0, "Hi"), CALL, SHELL, FINISHED
    )
    told = list(data_of(data))
    output = told[-1]["response"]["output"]

    assert list(range(len(told))) == [event["sequence_number"] for event in told]
    assert ["reasoning", "message", "function_call", "shell_call"] == [item["type"] for item in output]
    assert [
        item for event in told if event["type"] == "response.output_item.done" for item in [event["item"]]
    ] == output
    assert {"commands": ["ls"]} == output[-1]["action"]


@pytest.mark.parametrize("dialect", ENCODERS)
def test_calls_of_every_dialect(dialect: str) -> None:
    """Exact text is written unchanged, everything else as compact JSON, nothing as `{}`."""
    recovered = ToolCall(0, 0, 1, "c2", "g", {"é": [1.5, None]}, '{"é": [1.5, null],}', "recovered")
    data = written(dialect, STARTED, CALL, recovered, EMPTY, FINISHED)

    first = argument_text_in(dialect, CALL)
    expected = [("c1", "f", first), ("c2", "g", '{"é":[1.5,null]}'), ("c2", "now", "{}")]
    assert expected == read_calls(dialect, data)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("anthropic", []),
        ("chat-completions", [("c3", "sql", "SELECT 1")]),
        ("gemini", []),
        ("responses", [("c3", "sql", "SELECT 1")]),
    ],
)
def test_free_text_calls(dialect: str, expected: list[Any]) -> None:
    """A dialect without free-text calls leaves them out."""
    assert expected == read_calls(dialect, written(dialect, STARTED, CUSTOM, FINISHED))


@pytest.mark.parametrize("dialect", ENCODERS)
def test_what_is_not_executed_is_left_out(dialect: str) -> None:
    """Server calls and dropped ones leave no trace."""
    server = ServerToolCall(0, 0, 0, "s", "search", {}, "{}")
    dropped = ToolCallDropped(0, 0, 1, "d", "f", "function", "{", "truncated")
    rest = (STARTED, TextDelta(0, 0, "Hi"), TurnFinished(0, 0, "stop"))

    assert written(dialect, *rest) == written(dialect, STARTED, server, dropped, *rest[1:])


@pytest.mark.parametrize(
    ("reason", "chat", "anthropic", "responses", "gemini"),
    [
        ("stop", "stop", "end_turn", "completed", "STOP"),
        ("length", "length", "max_tokens", "incomplete", "MAX_TOKENS"),
        ("content_filter", "content_filter", "refusal", "incomplete", "SAFETY"),
        ("malformed", "stop", "end_turn", "completed", "STOP"),
        ("pause", "stop", "pause_turn", "completed", "STOP"),
    ],
)
def test_reasons(reason: Any, chat: str, anthropic: str, responses: str, gemini: str) -> None:
    """A turn without calls ends with the dialect's own word."""
    events = (STARTED, TurnFinished(0, 0, reason))
    last = list(data_of(written("responses", *events)))[-1]

    assert [chat] == finish_reasons(written("chat-completions", *events))
    assert [anthropic] == finish_reasons(written("anthropic", *events))
    assert responses == last["response"]["status"]
    assert [gemini] == finish_reasons(written("gemini", *events))


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("anthropic", ["tool_use"]),
        ("chat-completions", ["tool_calls"]),
        ("gemini", ["STOP"]),
        ("responses", ["completed"]),
    ],
)
def test_calls_outrank_reasons(dialect: str, expected: list[str]) -> None:
    """A turn with calls ends with the word for calls, also where it was cut."""
    data = written(dialect, STARTED, CALL, TurnFinished(0, 0, "length", "length", 1))
    response = list(data_of(data))[-1].get("response") or {}

    assert expected == [*finish_reasons(data), *filter(None, [response.get("status")])]


@pytest.mark.parametrize("dialect", ENCODERS)
def test_faults(dialect: str) -> None:
    """A fatal fault is the dialect's error and the end; other faults write nothing; a cut turn has no end."""
    broken = written(dialect, STARTED, FAULT, TurnFinished(0, 0, "error"))
    last = list(data_of(broken))[-1]

    assert "overloaded" == last["error"]["message"]
    assert b"" == encoder(dialect).encode([StreamFault(0, 0, "undecodable_frame", "x")])
    assert written(dialect, STARTED) == written(dialect, STARTED, TurnFinished(0, 0, "unknown"))


def test_only_one_choice_where_there_is_one() -> None:
    """Alternatives are written where the dialect has them, each with separate indices."""
    other = ToolCall(0, 1, 0, "d1", "g", {}, "{}", "exact")
    both = [("c1", "f", '{"a": 1}'), ("d1", "g", "{}")]

    assert both == read_calls("chat-completions", written("chat-completions", STARTED, CALL, other))
    assert both[:1] == read_calls("anthropic", written("anthropic", STARTED, CALL, other))
    assert both[:1] == read_calls("responses", written("responses", STARTED, CALL, other))


@pytest.mark.parametrize("dialect", ENCODERS)
def test_calls_in_pieces(dialect: str) -> None:
    """A call may be begun, continued and ended; indices count on."""
    ours = encoder(dialect)
    data = ours.call(EMPTY)
    opened, begun = ours.begin(0, "c1", "f", '{"a"', "function")
    data += begun + ours.more(opened, ": 1}") + ours.end(opened, CALL)

    assert [("c2", "now", "{}"), ("c1", "f", argument_text_in(dialect, CALL))] == read_calls(dialect, data)
    assert 1 == opened.index


def test_kinds_without_a_shape() -> None:
    """Content without a shape in the dialect is omitted."""
    assert [b"", b"", b""] == [
        ChatEncoder().call(SHELL),
        AnthropicEncoder().call(CUSTOM),
        AnthropicEncoder().call(SHELL),
    ]


def test_a_tool_search_is_the_clients() -> None:
    """A search that the client executes is marked as such, else its reader takes it for the server's."""
    item = ResponsesEncoder().item(BuiltinToolCall(0, 0, 0, "c", "tool_search", {"arguments": {"q": "x"}}))

    assert ("client", "tool_search_call", "c") == (item["execution"], item["type"], item["call_id"])


def test_labels_of_items_survive() -> None:
    """The id of the item, the namespace and the fields to send back are kept where the dialect has them."""
    call = ToolCall(0, 0, 0, "c", "f", {}, "{}", "exact", "ns", extra={"item_id": "fc_9", "caller": "x"})
    item = ResponsesEncoder().item(call)

    assert ("fc_9", "ns", "x") == (item["id"], item["namespace"], item["caller"])


@pytest.mark.parametrize("text", ["\u2028", "\x85", "\ud83d", "é", "\u0000"])
def test_json_stays_in_its_line(text: str) -> None:
    """Characters that some readers take for a line end, or that UTF-8 cannot encode, are escaped."""
    data = json_bytes([text])

    assert [text] == json.loads(data)
    assert 1 == len(data.decode().splitlines())


def test_words_for_tokens() -> None:
    """Token counts are read in any provider's words."""
    assert (3, 4) == tokens_of({"promptTokenCount": 3, "output_tokens": 4})
    assert (0, 0) == tokens_of(None)


def test_text_of_arguments() -> None:
    """Free text is itself, provider-defined arguments are JSON."""
    assert ["SELECT 1", '{"action":{"commands":["ls"]}}'] == [argument_text(CUSTOM), argument_text(SHELL)]


def test_unknown_dialects() -> None:
    """Values that cannot be written are refused by name."""
    with pytest.raises(UnknownDialect, match="ollama"):
        encoder("ollama")


def test_what_is_to_be_sent_back_belongs_to_its_dialect() -> None:
    """Fields of another dialect are not written among those of this dialect."""
    call = ToolCall(0, 0, 0, "c", "f", {}, "{}", "exact", extra={"caller": "x"})
    ours = TurnStarted(0, 0, "responses")

    assert b"caller" not in written("responses", STARTED, call)
    assert b"caller" in written("responses", ours, call)
