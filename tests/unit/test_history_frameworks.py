"""Turns as messages of frameworks, and as a record: executed calls, unexecuted calls, and the content for each."""

from __future__ import annotations

from typing import Any

import jsonschema_rs
import msgspec
import pytest

from tests.support.events import builtin, call, custom, drop, server, turn
from tests.support.otel import OUTPUT_MESSAGES
from tests.support.together import together
from wholecall import Turn
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history import encode_calls

CUT = '{"port": "Bre'
DROPPED = drop(CUT, "c2", "get_tide", 1)
SENT = turn("Let me look.", call('{"port": "Brest"}', "c1", "get_tide"), DROPPED)
THOUGHT = ReasoningBlock("Hm.", signature="c2ln")
SEALED = ReasoningBlock(data="c2VhbGVk")
PLAIN = ReasoningBlock("So.")


def one(sent: Turn, format: str, **options: Any) -> Any:
    """Return the only message of a turn."""
    (message,) = encode_calls(sent, format, **options).messages
    return message


# LangChain.


def test_langchain_has_a_place_for_dropped_calls() -> None:
    """Whole calls are `tool_calls`, which LangChain executes; dropped ones are invalid calls with their raw text."""
    assert {
        "type": "ai",
        "content": "Let me look.",
        "tool_calls": [{"type": "tool_call", "id": "c1", "name": "get_tide", "args": {"port": "Brest"}}],
        "invalid_tool_calls": [
            {
                "type": "invalid_tool_call",
                "id": "c2",
                "name": "get_tide",
                "args": CUT,
                "error": DROPPED.describe(),
            }
        ],
    } == one(SENT, "langchain")


@pytest.mark.parametrize(
    ("dropped", "on_malformed", "args"),
    [
        (drop("{}"), "wrap", "{}"),
        (drop(CUT), "wrap", CUT),
        (drop(CUT), "empty", "{}"),
        (drop("SELECT", kind="custom"), "wrap", '{"input":"SELECT"}'),
    ],
)
def test_langchain_never_executes_what_was_dropped(dropped: Any, on_malformed: Any, args: str) -> None:
    """A dropped call is not a `tool_calls` entry, even if its text is an object or was replaced by an empty one."""
    message = one(turn(dropped), "langchain", on_malformed=on_malformed)

    assert "tool_calls" not in message
    assert [args] == [each["args"] for each in message["invalid_tool_calls"]]


@pytest.mark.parametrize(
    "dialect", ["anthropic", "bedrock-invoke-anthropic", "langchain", "langchain-events"]
)
def test_langchain_keeps_thinking_in_its_place(dialect: str) -> None:
    """Signed and encrypted thinking are blocks before the parts they led to; unsigned thinking is next to them."""
    message = one(turn(THOUGHT, PLAIN, "Aye.", SEALED, call(), dialect=dialect), "langchain")

    assert [
        {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"},
        {"type": "text", "text": "Aye."},
        {"type": "redacted_thinking", "data": "c2VhbGVk"},
    ] == message["content"]
    assert {"reasoning_content": "So."} == message["additional_kwargs"]


def test_langchain_content_is_never_null() -> None:
    """Without text the content is empty; pieces of text without thinking between them are one text."""
    assert "" == one(turn(call()), "langchain")["content"]
    assert "One.Two." == one(turn("One.", call(), " \n", "Two."), "langchain")["content"]


# AG-UI.


def test_ag_ui() -> None:
    """The protocol keeps arguments as they were written, malformed ones too."""
    function = {"name": "get_tide", "arguments": '{"port": "Brest"}'}

    assert [
        {"id": "c1", "type": "function", "function": function},
        {"id": "c2", "type": "function", "function": {"name": "get_tide", "arguments": CUT}},
    ] == one(SENT, "ag-ui")["toolCalls"]
    assert ("assistant", "Let me look.") == tuple(one(SENT, "ag-ui")[key] for key in ("role", "content"))
    assert {"id", "role", "toolCalls"} == one(turn(call()), "ag-ui").keys()


def test_ag_ui_reasoning_is_a_message() -> None:
    """Reasoning goes back under its own id with its sealed value; so does the sealed value of a call."""
    blocks = ReasoningBlock("Hm.", "m1", data="c2VhbGVk"), ReasoningBlock("So.", "m2"), PLAIN
    sealed = call(extra={"encryptedValue": "Y2FsbA==", "metadata": {"k": 1}, "subagentRunId": "s"})
    *thoughts, message = encode_calls(turn(*blocks, sealed, dialect="ag-ui"), "ag-ui").messages

    assert [
        {"id": "m1", "role": "reasoning", "content": "Hm.", "encryptedValue": "c2VhbGVk"},
        {"id": "m2", "role": "reasoning", "content": "So."},
    ] == thoughts
    function = {"name": "f", "arguments": "{}"}
    told = {"encryptedValue": "Y2FsbA==", "metadata": {"k": 1}}
    assert [{"id": "c1", "type": "function", "function": function, **told}] == message["toolCalls"]


# The Vercel AI SDK.


def test_vercel_shows_dropped_calls_as_failed() -> None:
    """A whole call waits with its input available; a dropped one has failed, and gives the reason."""
    assert [
        {"type": "text", "text": "Let me look."},
        {
            "type": "tool-get_tide",
            "toolCallId": "c1",
            "state": "input-available",
            "input": {"port": "Brest"},
        },
        {
            "type": "dynamic-tool",
            "toolName": "get_tide",
            "toolCallId": "c2",
            "state": "output-error",
            "input": {"INVALID_JSON": CUT},
            "errorText": DROPPED.describe(),
        },
    ] == one(SENT, "vercel-ui")["parts"]


@pytest.mark.parametrize(
    ("extra", "part"),
    [
        ({"dynamic": True, "title": "T"}, {"type": "dynamic-tool", "toolName": "f", "title": "T"}),
        (
            {"providerMetadata": {"google": {"thoughtSignature": "c2ln"}}},
            {"type": "tool-f", "callProviderMetadata": {"google": {"thoughtSignature": "c2ln"}}},
        ),
        (
            {"callProviderMetadata": {"a": {}}, "providerMetadata": {"b": {}}, "toolMetadata": {"c": 1}},
            {"type": "tool-f", "callProviderMetadata": {"a": {}}, "toolMetadata": {"c": 1}},
        ),
    ],
)
def test_vercel_parts_keep_what_came_with_a_call(extra: Any, part: Any) -> None:
    """The fields of a call in the SDK's stream are on its part, under the part's names (quirk 96)."""
    plain = {"toolCallId": "c1", "state": "input-available", "input": {}}

    assert [plain | part] == one(turn(call(extra=extra), dialect="vercel-ui"), "vercel-ui")["parts"]


def test_vercel_reasoning() -> None:
    """Reasoning that came from the SDK is shown again; a signature of an unknown provider is not sent."""
    parts = one(turn(THOUGHT, SEALED, "Aye.", dialect="vercel-ui", reason="stop"), "vercel-ui")["parts"]

    assert [{"type": "reasoning", "text": "Hm."}, {"type": "text", "text": "Aye."}] == parts


# Ids of messages.


@pytest.mark.parametrize("format", ["ag-ui", "vercel-ui"])
def test_messages_that_need_an_id(format: str) -> None:
    """The id is the provider's; where there is none it is derived from the content, the same in every run."""
    named = msgspec.structs.replace(SENT, response_id="resp_1")
    found = [one(sent, format)["id"] for sent in (SENT, SENT, turn("Aye."), turn("Aye.", call()))]

    assert "resp_1" == one(named, format)["id"]
    assert found[0] == found[1]
    assert 3 == len(set(found))
    assert all(id.startswith("msg_") for id in found)


# OpenTelemetry.


def recorded(sent: Turn, **options: Any) -> Any:
    """Return the record of a turn, which the conventions allow."""
    messages = encode_calls(sent, "otel", **options).messages
    jsonschema_rs.validate(OUTPUT_MESSAGES, messages)
    (message,) = messages
    return message


def test_otel() -> None:
    """Arguments are objects, and the text of a dropped call is a string: a record states the facts."""
    assert {
        "role": "assistant",
        "finish_reason": "tool_call",
        "parts": [
            {"type": "text", "content": "Let me look."},
            {"type": "tool_call", "id": "c1", "name": "get_tide", "arguments": {"port": "Brest"}},
            {"type": "tool_call", "id": "c2", "name": "get_tide", "arguments": CUT},
        ],
    } == recorded(SENT)


@pytest.mark.parametrize(("on_malformed", "arguments"), [("wrap", [CUT]), ("empty", [{}]), ("omit", [])])
def test_otel_obeys_what_the_caller_chose(on_malformed: Any, arguments: list[Any]) -> None:
    """Text is bare instead of wrapped; a caller can have it emptied or left out."""
    message = recorded(turn("Aye.", drop(CUT)), on_malformed=on_malformed)

    assert arguments == [part["arguments"] for part in message["parts"][1:]]


@together(
    ("event", "part"),
    [
        (custom("SELECT 1"), {"type": "tool_call", "id": "c1", "name": "f", "arguments": "SELECT 1"}),
        (
            drop("SELECT", kind="custom"),
            {"type": "tool_call", "id": "c1", "name": "f", "arguments": "SELECT"},
        ),
        (
            builtin("shell", {"action": {}}),
            {"type": "tool_call", "id": "c1", "name": "shell", "arguments": {"action": {}}},
        ),
        (
            server("web_search", {"type": "x"}),
            {
                "type": "server_tool_call",
                "id": "s1",
                "name": "web_search",
                "server_tool_call": {"type": "web_search", "arguments": {"type": "x"}},
            },
        ),
    ],
)
@together("dialect", ["responses", "gemini"])
def test_otel_tells_calls_of_every_kind(event: Any, part: Any, dialect: str) -> None:
    """Free text is text, and calls that the provider executed are recorded too: a record needs no answers."""
    assert [part] == recorded(turn(event, dialect=dialect))["parts"]


@pytest.mark.parametrize(
    ("sent", "contents"),
    [
        (turn(THOUGHT, SEALED, "Aye.", dialect="gemini", reason="stop"), ["Hm.", "Aye."]),
        (turn(PLAIN, reason="length"), ["So."]),
        (turn(PLAIN, "Aye.", drop(CUT, reason="aborted"), reason="aborted"), ["So.", "Aye."]),
    ],
)
def test_otel_tells_all_reasoning(sent: Turn, contents: list[str]) -> None:
    """Reasoning is recorded whatever the outcome of its turn, and whoever wrote it; encrypted reasoning is not."""
    parts = recorded(sent)["parts"]

    assert contents == [part["content"] for part in parts]
    assert "reasoning" == parts[0]["type"]


@pytest.mark.parametrize("sent", [turn(reason="stop"), turn(" \n", SEALED), turn(drop("{}", name=None))])
def test_otel_has_nothing_to_tell(sent: Turn) -> None:
    """A turn without content gives no message."""
    assert [] == encode_calls(sent, "otel").messages


@pytest.mark.parametrize(
    ("reason", "told"),
    [("tool_calls", "tool_call"), ("stop", "stop"), ("content_filter", "content_filter"), ("pause", "pause")],
)
def test_otel_finish_reasons(reason: Any, told: str) -> None:
    """Reasons have OpenTelemetry's names, where it has one."""
    assert told == recorded(turn("Aye.", reason=reason))["finish_reason"]


def test_otel_of_a_turn_that_goes_on() -> None:
    """An unfinished turn has no reason."""
    assert {"role", "parts"} == one(turn("Aye.", reason=None), "otel").keys()


@pytest.mark.parametrize("format", ["langchain", "ag-ui", "vercel-ui", "otel"])
def test_results_have_their_ids(format: str) -> None:
    """Whole and dropped calls alike have an id for their result."""
    assert {0: "c1", 1: "c2"} == encode_calls(SENT, format).by_index
