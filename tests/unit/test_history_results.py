"""Results of calls as messages: under the ids of the calls, for every format, for drops as well."""

from __future__ import annotations

from typing import Any

import msgspec
import pydantic
import pytest

from tests.support.events import builtin, call, custom, drop, server, turn
from tests.support.together import together
from wholecall import UnknownDialect
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history import Conversation, encode_calls, encode_results
from wholecall.history.conversation import _SHAPES

SENT = turn(
    call('{"port": "Brest"}', "call/1", "get_tide"),
    drop('{"port": "Br', "call/1#2", "get_tide", 1),
    drop('{"x"', None, "now", 2),
    server("search", {}, "s1", 3),
)
RESULTS = {"call/1": "high"}
ANSWERED = {name for name, shape in _SHAPES.items() if shape.results is not None}

_IDS = ("call_id", "tool_call_id", "tool_use_id", "toolUseId", "toolCallId", "id")


def ids_in(value: Any) -> list[str]:
    """Return the ids of calls in messages, in their order."""
    if isinstance(value, list):
        return [id for item in value for id in ids_in(item)]
    if not isinstance(value, dict):
        return []
    own = [value[key] for key in _IDS if key in value]
    inner = [id for key, item in value.items() if key not in _IDS for id in ids_in(item)]
    return own[:1] + inner


@together("format", sorted(ANSWERED - {"ollama", "ag-ui"}))
def test_each_call_in_the_history_has_one_result_under_its_id(format: str) -> None:
    """Executed calls and drops, with ids that the format takes; Gemini gets none that the wire did not have."""
    encoded = encode_calls(SENT, format)
    results = encode_results(SENT, RESULTS, format)

    wanted = [encoded.by_index[index] for index in (0, 1, 2) if index not in encoded.without_id]
    assert wanted == ids_in(results)
    assert wanted == [id for id in ids_in(encoded.messages) if id != "s1"]  # a record holds it, too


def test_ag_ui_has_ids_of_messages_beside_those_of_calls() -> None:
    """A result is a message with a unique id."""
    results = encode_results(SENT, RESULTS, "ag-ui")

    assert ["call/1", "call/1#2", "call_0_0_2"] == [message["toolCallId"] for message in results]
    assert ["call/1/result", "call/1#2/result", "call_0_0_2/result"] == [message["id"] for message in results]
    assert [None, True, True] == [("error" in message) or None for message in results]


def test_ollama_pairs_by_name() -> None:
    """Results are in the order of the calls, and name the tool."""
    results = encode_results(SENT, RESULTS, "ollama")

    assert ["get_tide", "get_tide", "now"] == [message["tool_name"] for message in results]


def test_drops_are_answered_with_what_was_wrong() -> None:
    """A model that gets a description can mend its call; the caller's own text takes precedence."""
    (message,) = encode_results(SENT, RESULTS, "anthropic")
    (other,) = encode_results(SENT, {**RESULTS, 1: "no such port"}, "anthropic")

    drops = [drop.describe() for drop in SENT.dropped]
    assert [("high", None), *((text, True) for text in drops)] == [
        (block["content"], block.get("is_error")) for block in message["content"]
    ]
    assert ("no such port", True) == (other["content"][1]["content"], other["content"][1]["is_error"])


def test_a_tool_that_raised_has_failed() -> None:
    """An exception in the place of a result explains its absence."""
    (message,) = encode_results(turn(call("{}", "c1", "f")), {"c1": KeyError("tide")}, "bedrock-converse")

    said = {"toolUseId": "c1", "status": "error", "content": [{"text": "KeyError: 'tide'"}]}
    assert {"role": "user", "content": [{"toolResult": said}]} == message


@pytest.mark.parametrize("nothing", ["", " \n"])
def test_a_result_without_text_is_no_blank_block(nothing: str) -> None:
    """Converse refuses a block of text without text, so a result of nothing has no block."""
    (message,) = encode_results(turn(call("{}", "c1", "f")), {"c1": nothing}, "bedrock-converse")

    said = {"toolUseId": "c1", "status": "success", "content": []}
    assert {"role": "user", "content": [{"toolResult": said}]} == message


def test_values_are_json_text_where_text_is_wanted() -> None:
    """Gemini takes objects as they are; chat completions takes their text."""
    sent, results = turn(call("{}", "c1", "f")), {"c1": {"metres": 3.2, "at": "Å"}}

    text = '{"metres":3.2,"at":"Å"}'
    message = {"role": "tool", "tool_call_id": "c1", "content": text}
    assert [message] == encode_results(sent, results, "chat-completions")
    part = {"functionResponse": {"id": "c1", "name": "f", "response": {"output": results["c1"]}}}
    assert [{"role": "user", "parts": [part]}] == encode_results(sent, results, "gemini")


def test_calls_of_other_kinds_have_outputs_of_their_own() -> None:
    """In Responses; elsewhere such calls went back as functions, and are answered as these."""
    sent = turn(custom("x", "c1", "py"), builtin("shell", {"commands": ["ls"]}, "c2", 1))
    results = {"c1": "1", "c2": [{"stdout": "a"}]}

    kinds = {
        format: [item.get("type") for item in encode_results(sent, results, format)]
        for format in ("responses", "openai-realtime")
    }

    assert ["custom_tool_call_output", "shell_call_output"] == kinds["responses"]
    assert ["function_call_output", "function_call_output"] == kinds["openai-realtime"]


@pytest.mark.parametrize(
    ("results", "told"),
    [
        ({}, r"^the calls \['call/1'\] have no result; give"),
        ({"x": 1}, r"^the calls \['call/1'\] have no result, and the results \['x'\] have no call; give"),
        ({**RESULTS, "x": 1}, r"^the results \['x'\] have no call; give"),
        ({**RESULTS, "s1": 1}, r"^the results \['s1'\] have no call"),
        ({"call/1": 1, 0: 1}, r"^the results \[0\] have no call"),
    ],
)
def test_each_result_has_its_call(results: Any, told: str) -> None:
    """A provider refuses a call without a result, and a result without a call: so do we, before it."""
    with pytest.raises(ValueError, match=told):
        encode_results(SENT, results, "responses")


def test_results_that_are_no_messages() -> None:
    """UI messages hold them in the parts of their calls; a format without a shape is an error."""
    with pytest.raises(UnknownDialect, match="takes no results as messages of their own; use Conversation"):
        encode_results(SENT, RESULTS, "vercel-ui")

    (message,) = Conversation("vercel-ui").add(SENT, RESULTS)

    assert [("output-available", "high"), ("output-error", None), ("output-error", None)] == [
        (part["state"], part.get("output")) for part in message["parts"]
    ]


@pytest.mark.parametrize("format", ["chat-completions", "anthropic", "mistral", "kimi", "responses"])
def test_ids_of_a_conversation_never_collide(format: str) -> None:
    """A server that gives the same ids in every turn, or none, is answered under ids that differ."""
    conversation = Conversation(format)
    messages = [message for _ in range(3) for message in conversation.add(SENT, RESULTS)]

    calls, results = ids_in(messages)[:3], ids_in(messages)[3:6]
    every = ids_in(messages)
    assert calls == results
    assert (9, 18) == (len(set(every)), len(every))


@pytest.mark.parametrize(
    "format", ["chat-completions", "anthropic", "mistral", "kimi", "responses", "gemini"]
)
def test_a_conversation_goes_on_after_stored_messages(format: str) -> None:
    """Another process, which has the messages and nothing else, assigns no id that is in them."""
    messages: list[Any] = []
    for _ in range(3):
        messages += Conversation.after(messages, format).add(SENT, RESULTS)

    n = 2 if format == "gemini" else 3  # one has no id on the wire
    every = ids_in(messages)
    assert every[:n] == every[n : 2 * n]
    assert (3 * n, 6 * n) == (len(set(every)), len(every))


def test_ids_are_found_in_whatever_holds_them() -> None:
    """SDKs' own objects may be among the dicts of a conversation, and a list may contain itself."""

    class Message(pydantic.BaseModel):
        """A message as an SDK gives it."""

        id: str = "call_0_0_2"

    nested: list[Any] = [{"content": [{"tool_use_id": "call/1"}]}, Message(), "id", 1, None]
    nested.append(nested)
    conversation = Conversation.after(nested, "gemini")
    conversation.add(SENT, RESULTS)

    assert ["call/1#2", "call/1#2#2", "call_0_0_2#2"] == [
        conversation.ids and conversation.ids.occurrences(id)[0]
        for id in ("call/1", "call/1#2", "call_0_0_2")
    ]


def test_every_format_is_answered() -> None:
    """The output of `encode_calls` can be answered, whatever the format; UI messages hold the results."""
    assert _SHAPES.keys() == ANSWERED | {"vercel-ui"}
    for format in _SHAPES:
        encoded = encode_calls(SENT, format)
        left_out = {event.index for event in encoded.left_out}
        assert {0, 1, 2} == encoded.by_index.keys(), format
        assert {3} >= left_out, format
        assert len(Conversation(format).add(SENT, RESULTS)) >= len(encoded.messages)


def test_a_refused_result_leaves_the_conversation_as_it_was() -> None:
    """This lets the caller give the right ones."""
    conversation = Conversation("chat-completions")
    with pytest.raises(ValueError, match="have no result"):
        conversation.add(SENT)

    assert Conversation("chat-completions").add(SENT, RESULTS) == conversation.add(SENT, RESULTS)


def test_a_turn_without_calls_adds_what_was_said() -> None:
    """No result is requested, and none is written."""
    assert [{"role": "assistant", "content": "Hi."}] == Conversation("chat-completions").add(turn("Hi."))
    assert [] == encode_results(turn("Hi."), {}, "anthropic")


def test_reasoning_is_frozen_and_hides_its_text() -> None:
    """Reasoning is frozen and hides its text, as every other value of a turn does."""
    block = ReasoningBlock("a secret thought", id="r1", data="c2VhbGVk")

    assert "ReasoningBlock(text=<16>, id='r1', signature=None, data=<8>, name=None)" == repr(block)
    with pytest.raises(AttributeError):
        block.text = "another"  # type: ignore[misc]
    assert block == msgspec.structs.replace(block)
