"""Descriptions of calls for a model, and the tool results that carry them."""

from __future__ import annotations

import json
from typing import Any, get_args

import pytest
from msgspec.structs import replace

from tests.support.together import together
from wholecall import ToolCall, ToolCallDropped, UnknownDialect
from wholecall.calls.arguments.verdict import Edit
from wholecall.types import DropReason, Kind

RAW = '{"path": "/tmp/secr\ud83d'


def dropped(
    reason: DropReason = "truncated",
    id: str | None = "call_1",
    name: str | None = "write_file",
    kind: Kind = "function",
    detail: str = "",
) -> ToolCallDropped:
    """Return a dropped call."""
    return ToolCallDropped(0, 0, 0, id, name, kind, RAW, reason, detail)


@together("reason", get_args(DropReason))
def test_every_reason_has_a_sentence(reason: DropReason) -> None:
    """The sentence names the tool, states that nothing ran, and why; the argument text is not in it."""
    text = dropped(reason).describe()

    assert text.startswith("Error: the call of 'write_file' was not executed, because ")
    assert text.endswith(".")
    assert "secr" not in text


def test_a_misfit_tells_where() -> None:
    """The detail of a misfit is for the model too: it names the tool's declarations."""
    text = dropped("schema", detail="at $.days: Expected `int`, got `str`").describe()

    assert (
        "Error: the call of 'write_file' was not executed, because its arguments do not fit the tool "
        "(at $.days: Expected `int`, got `str`). Please correct them and call it again."
    ) == text


def test_the_raw_text_comes_on_request_and_as_json() -> None:
    """The broken text is quoted as valid JSON that can be sent: it cannot break the answer."""
    text = dropped().describe(include_raw=True)
    quoted = text.partition("What arrived: ")[2]

    assert {"INVALID_JSON": RAW} == json.loads(quoted)
    assert text.encode()


@together("reason", ["schema", "unknown_tool", "empty_arguments", "not_an_object", "told_twice"])
@together("raw", ['{"days": "two"}', "{}", "[1]", "null"])
def test_json_is_not_called_invalid(reason: DropReason, raw: str) -> None:
    """Text that is JSON is quoted unchanged, whatever the reason for the drop."""
    call = replace(dropped(reason), raw_arguments=raw)
    quoted = call.describe(include_raw=True).partition("What arrived: ")[2]

    assert raw == quoted


ANSWERS: dict[str, dict[str, Any]] = {
    "chat-completions": {"role": "tool", "tool_call_id": "call_1", "content": "TEXT"},
    "cohere-v2": {"role": "tool", "tool_call_id": "call_1", "content": "TEXT"},
    "responses": {"type": "function_call_output", "call_id": "call_1", "output": "TEXT"},
    "openai-assistants": {"tool_call_id": "call_1", "output": "TEXT"},
    "anthropic": {"type": "tool_result", "tool_use_id": "call_1", "is_error": True, "content": "TEXT"},
    "bedrock-invoke-anthropic": {
        "type": "tool_result",
        "tool_use_id": "call_1",
        "is_error": True,
        "content": "TEXT",
    },
    "bedrock-converse": {
        "toolResult": {"toolUseId": "call_1", "status": "error", "content": [{"text": "TEXT"}]}
    },
    "gemini": {"functionResponse": {"id": "call_1", "name": "write_file", "response": {"error": "TEXT"}}},
    "gemini-interactions": {
        "type": "function_result",
        "call_id": "call_1",
        "name": "write_file",
        "result": "TEXT",
        "is_error": True,
    },
    "mistral-conversations": {"type": "function.result", "tool_call_id": "call_1", "result": "TEXT"},
    "cohere-v1": {"call": {"name": "write_file", "parameters": {}}, "outputs": [{"error": "TEXT"}]},
    "ollama": {"role": "tool", "tool_name": "write_file", "content": "TEXT"},
    "langchain": {"type": "tool", "tool_call_id": "call_1", "status": "error", "content": "TEXT"},
    "ag-ui": {"role": "tool", "toolCallId": "call_1", "content": "TEXT", "error": "TEXT"},
}


@together("dialect", list(ANSWERS))
def test_answers_have_the_shape_of_the_dialect(dialect: str) -> None:
    """The error result has the form that the dialect's next request takes, by the call's id or name."""
    call = dropped()
    shape = json.loads(json.dumps(ANSWERS[dialect]).replace("TEXT", call.describe()))

    assert shape == call.as_tool_result(dialect)


def test_custom_calls_have_items_of_their_own() -> None:
    """Responses answers a free-text call with another type of item."""
    assert "custom_tool_call_output" == dropped(kind="custom").as_tool_result("responses")["type"]


def test_what_needs_no_id_is_answered_without() -> None:
    """Gemini and Ollama answer by name; where the wire sent no id, none is made up."""
    answer = dropped(id=None).as_tool_result("gemini")["functionResponse"]

    assert {"name", "response"} == set(answer)
    assert "write_file" == dropped(id=None).as_tool_result("ollama")["tool_name"]


@pytest.mark.parametrize(
    ("call", "dialect", "error", "says"),
    [
        (dropped(id=None), "anthropic", ValueError, "without id"),
        (dropped(name=None), "gemini", ValueError, "without name"),
        (dropped(), "acp", UnknownDialect, "use one of: ag-ui"),
    ],
)
def test_what_cannot_be_answered_raises(
    call: ToolCallDropped, dialect: str, error: type[Exception], says: str
) -> None:
    """No answer is invented for a call without a reference."""
    with pytest.raises(error, match=says):
        call.as_tool_result(dialect)


def test_a_whole_call_tells_how_it_was_read() -> None:
    """Status, edits and flags in a line; the text only on request."""
    edits = (Edit("trailing_comma", 12),)
    call: ToolCall = ToolCall(
        0, 0, 0, "a", "f", {"x": 1}, '{"x": "abc",}', "recovered", None, edits, ("id_churn",)
    )
    said = "f (a): recovered, 13 characters of arguments; changed: trailing_comma at character 12; flags: id_churn"

    assert said == call.describe()
    assert said + '; as it arrived: {"x": "abc",}' == call.describe(include_raw=True)
