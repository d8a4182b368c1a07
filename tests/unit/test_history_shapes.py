"""The shapes of Converse, LangChain, AG-UI, Ollama, Mistral's conversations and UI messages; and unknown shapes."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.events import call, turn
from wholecall import UnknownDialect
from wholecall.history import (
    MISSING_RESULT,
    Conversation,
    check_transcript,
    encode_calls,
    repair_transcript,
    shrink_transcript,
)
from wholecall.history.checking import RULES
from wholecall.history.conversation import _SHAPES
from wholecall.history.shapes.table import shape_of

JSON = dict[str, Any]


def repaired(messages: list[JSON], **options: Any) -> list[JSON]:
    """Return a repaired list, which needs no more repair."""
    found = repair_transcript(messages, **options)
    assert repair_transcript(found.messages, **options).messages is found.messages
    return list(found.messages)


def test_what_can_be_written_is_known() -> None:
    """The output of `encode_calls` is checked, repaired and shrunk under one shape; only a record is not."""
    unchecked = _SHAPES.keys() - RULES.keys()
    written = {name: encode_calls(turn("Hi.", call("{}")), name).messages for name in _SHAPES}
    seen = {name: shape_of(messages, "auto").name for name, messages in written.items() if name != "otel"}

    assert {"otel"} == unchecked
    assert {name: manners.view.name for name, manners in RULES.items() if name in seen} == seen


# --- messages of no shape ------------------------------------------------------------------------------------

STRANGE: dict[str, list[JSON]] = {
    "model messages of the AI SDK": [
        {
            "role": "assistant",
            "content": [{"type": "tool-call", "toolCallId": "c", "toolName": "f", "input": {}}],
        },
        {
            "role": "tool",
            "content": [{"type": "tool-result", "toolCallId": "c", "toolName": "f", "output": {}}],
        },
    ],
    "Gemini's Interactions": [
        {"type": "user_input", "content": [{"type": "text", "text": "x"}]},
        {"type": "function_call", "id": "c", "name": "f", "arguments": {}},
        {"type": "function_result", "call_id": "c", "name": "f", "result": "x"},
    ],
    "Cohere's chat history": [
        {"role": "USER", "message": "x"},
        {"role": "CHATBOT", "message": "", "tool_calls": [{"name": "f", "parameters": {}}]},
    ],
    "pydantic-ai": [{"kind": "request", "parts": [{"part_kind": "user-prompt", "content": "x"}]}],
    "a record of OpenTelemetry": [{"role": "assistant", "parts": [{"type": "text", "content": "x"}]}],
    "no messages at all": [{"role": "user", "content": "x"}, {"a": 1}],
}


@pytest.mark.parametrize("messages", STRANGE.values(), ids=list(STRANGE))
def test_what_is_of_no_shape_is_never_called_sound(messages: list[JSON]) -> None:
    """A list whose calls would not be seen raises, in repair and in shrinking, instead of coming back unchanged."""
    for look in (repair_transcript, lambda listed: shrink_transcript(listed, keep_recent=0)):
        with pytest.raises(UnknownDialect, match=r"shape|record"):
            look(messages)


def test_what_has_no_shape_is_read_as_it_is_named() -> None:
    """A named shape decides how the messages are read."""
    messages = [{"role": "user", "content": "x"}, {"a": 1}]

    assert repair_transcript(messages, shape="chat-completions").messages is messages


# --- Converse -----------------------------------------------------------------------------------------------


def said(role: str, *blocks: JSON) -> JSON:
    """Return a message of Converse."""
    return {"role": role, "content": list(blocks)}


def use(id: str = "t1") -> JSON:
    """Return a call of Converse."""
    return {"toolUse": {"toolUseId": id, "name": "f", "input": {}}}


def told(id: str = "t1", text: str = "ok", **more: Any) -> JSON:
    """Return a result of Converse."""
    return {"toolResult": {"toolUseId": id, **more, "content": [{"text": text}]}}


MADE = told(text=MISSING_RESULT, status="error")


def test_converse_takes_each_result_once() -> None:
    """A second result of a call, and a result without a call, are dropped."""
    broken = [
        said("user", {"text": "x"}),
        said("assistant", use()),
        said("user", told(), told(), told("gone")),
    ]
    found = repair_transcript(broken)

    assert [*broken[:2], said("user", told())] == found.messages
    assert ["t1", "gone"] == found.report.dropped_results


def test_blank_texts_of_a_result_are_removed() -> None:
    """Converse refuses them, also inside of results; the other blocks of a result stay."""
    other = {"json": {"m": 3}}
    mixed = {"toolResult": {"toolUseId": "t1", "content": [{"text": " "}, other]}}
    asked = [said("user", {"text": "x"}), said("assistant", use())]

    left = {"toolResult": {"toolUseId": "t1", "content": [other]}}
    assert [*asked, said("user", left)] == repaired([*asked, said("user", mixed)])
    empty = {"toolResult": {"toolUseId": "t1", "content": []}}
    assert [*asked, said("user", empty)] == repaired([*asked, said("user", told(text=""))])


def test_results_go_into_what_the_user_says_next() -> None:
    """Roles alternate, so a made or a displaced result is put before the content of the next message."""
    words = said("user", {"text": "hurry"})
    lost = [said("assistant", use()), words]
    late = [*lost, said("assistant", {"text": "so"}), said("user", told())]

    assert [said("assistant", use()), said("user", MADE, {"text": "hurry"})] == repaired(lost)
    assert [said("assistant", use()), said("user", told(), {"text": "hurry"}), late[2]] == repaired(late)


def test_roles_alternate_in_converse() -> None:
    """Messages of one role in a row become one, in their order; so do those around a dropped message."""
    row = [said("user", {"text": text}) for text in "abc"]
    gone = [row[0], said("assistant", {"text": " "}), row[1]]
    found = repair_transcript(row)

    assert [said("user", *({"text": text} for text in "abc"))] == found.messages
    assert [1, 2] == found.report.dropped_messages
    assert [said("user", {"text": "a"}, {"text": "b"})] == repaired(gone)
    assert [] == check_transcript(found.messages, "bedrock-converse")


def test_calls_in_a_row_are_answered_together_in_converse() -> None:
    """Two messages of the model in a row are merged, and answered by one message."""
    split = [said("assistant", use("t1")), said("assistant", use("t2")), said("user", told("t2"), told("t1"))]

    assert [said("assistant", use("t1"), use("t2")), split[2]] == repaired(split)


def test_text_is_a_block_in_converse() -> None:
    """Content that is one text is refused there, so it becomes a block."""
    messages = [{"role": "user", "content": "x"}, said("assistant", use()), said("user", told())]

    assert [said("user", {"text": "x"}), *messages[1:]] == repaired(messages)


# --- LangChain ----------------------------------------------------------------------------------------------

ENTRY = {"type": "tool_call", "id": "c1", "name": "f", "args": {"a": 1}}
AI = {"type": "ai", "content": "", "tool_calls": [ENTRY]}
TOOL = {"type": "tool", "tool_call_id": "c1", "content": "ok", "status": "success"}
LOST = {"type": "tool", "tool_call_id": "c1", "status": "error", "content": MISSING_RESULT}


def dumped(message: JSON, name: str) -> JSON:
    """Return a message as `dumpd` writes it."""
    path = ["langchain", "schema", "messages", name]
    kwargs = {name: value for name, value in message.items() if name != "type"}
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {**kwargs, "type": message["type"]}}


FORMS: dict[str, Any] = {
    "flat": lambda message, _name: message,
    "messages_to_dict": lambda message, _name: {"type": message["type"], "data": message},
    "dumpd": dumped,
}


@pytest.mark.parametrize("form", FORMS.values(), ids=list(FORMS))
def test_langchain_in_all_its_forms(form: Any) -> None:
    """A sound list stays, a missing result is made in the form of its call, a cut call goes with its result."""
    ai, tool, lost = form(AI, "AIMessage"), form(TOOL, "ToolMessage"), form(LOST, "ToolMessage")
    human = form({"type": "human", "content": "x"}, "HumanMessage")
    cut = form({**AI, "content": "so", "response_metadata": {"stop_reason": "max_tokens"}}, "AIMessage")
    sound = [human, ai, tool]

    assert repair_transcript(sound).messages is sound
    assert [human, ai, lost] == repaired([human, ai])
    assert [human] == repaired([human, tool])
    assert ["c1"] == repair_transcript([human, cut, human]).report.stripped_calls


def test_twins_go_with_their_call() -> None:
    """Parts that integrations would send of a removed call, its block and its older entry, are removed as well."""
    block = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    older = {
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
        "x": 1,
    }
    said = {"type": "text", "text": "so"}
    message = {**AI, "content": [said, block], "additional_kwargs": older}
    cut = {**message, "response_metadata": {"finish_reason": "length"}}
    sound = [message, TOOL]
    (left,) = repaired([cut])

    assert repair_transcript(sound).messages is sound
    assert ([said], {"x": 1}, False) == (left["content"], left["additional_kwargs"], "tool_calls" in left)
    assert [] == repaired([{**cut, "content": [block], "additional_kwargs": {}}])


def test_invalid_calls_are_answered_as_they_are() -> None:
    """Integrations send invalid calls along: their text stays, and each has a result."""
    invalid = {"type": "invalid_tool_call", "id": "c1", "name": "f", "args": '{"a', "error": "cut"}
    message = {"type": "ai", "content": "", "invalid_tool_calls": [invalid]}

    assert [message, LOST] == repaired([message])


# --- Ollama, AG-UI, Mistral, UI messages ----------------------------------------------------------------------


def of_ollama(arguments: Any, **more: Any) -> JSON:
    """Return a call of Ollama's."""
    function = {"name": "f", "arguments": arguments}
    return {"role": "assistant", "content": "", "tool_calls": [{"function": function, **more}]}


def test_arguments_of_ollama_stay_objects() -> None:
    """Objects stay, text becomes the object that it encodes, and results name the tool."""
    tool = {"role": "tool", "tool_name": "f", "content": "ok"}
    sound = [of_ollama({"a": 1}), tool, of_ollama({"a": 2}, type="function"), tool]

    assert repair_transcript(sound).messages is sound
    assert [of_ollama({"a": 1}), tool] == repaired([of_ollama('{"a":1}'), tool], shape="ollama")
    assert [of_ollama({"a": 1}), tool | {"content": MISSING_RESULT}] == repaired([of_ollama({"a": 1})])


def test_chat_with_an_object_is_no_ollama() -> None:
    """A call with the id and the type of chat has the chat shape, and so does a result that names a call."""
    message = of_ollama({"a": 1}, id="c1", type="function")
    tool = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    untyped = of_ollama({"a": 1}, id="c1")

    assert "chat-completions" == shape_of([message], "auto").name
    assert '{"a":1}' == repaired([untyped, tool])[0]["tool_calls"][0]["function"]["arguments"]


def test_ag_ui_has_ids_of_its_own() -> None:
    """A made result has the id that AG-UI requires; an activity message separates no call from its result."""
    function = {"name": "f", "arguments": "{}"}
    call = {
        "id": "m",
        "role": "assistant",
        "toolCalls": [{"id": "c", "type": "function", "function": function}],
    }
    tool = {"id": "r", "role": "tool", "toolCallId": "c", "content": "ok"}
    beside = {"id": "a", "role": "activity", "content": {"x": 1}}
    sound = [call, beside, tool]
    made = {
        "id": "c/result",
        "role": "tool",
        "toolCallId": "c",
        "content": MISSING_RESULT,
        "error": MISSING_RESULT,
    }

    assert repair_transcript(sound).messages is sound
    assert [call, made] == repaired([call])


def test_entries_of_mistral() -> None:
    """Calls in a row are answered together, objects stay, and calls that the server runs need no answer."""
    calls: list[JSON] = [
        {"type": "function.call", "tool_call_id": id, "name": "f", "arguments": arguments}
        for id, arguments in (("a" * 9, "{}"), ("b" * 9, {"x": 1}))
    ]
    results = [{"type": "function.result", "tool_call_id": id * 9, "result": "ok"} for id in "ba"]
    served = {"type": "tool.execution", "name": "web_search", "arguments": "{}"}
    sound = [{"type": "message.input", "role": "user", "content": "x"}, served, *calls, *results]
    made = {"type": "function.result", "tool_call_id": "a" * 9, "result": MISSING_RESULT}

    assert repair_transcript(sound).messages is sound
    assert [*sound[:5], made] == repaired(sound[:5])
    assert sound[:2] == repaired([*sound[:2], *results])


def ui(*parts: JSON) -> JSON:
    """Return a UI message."""
    return {"id": "m", "role": "assistant", "parts": list(parts)}


def of_ui(state: str, **more: Any) -> JSON:
    """Return the part of a call."""
    return {"type": "tool-f", "toolCallId": "c", "state": state, "input": {"a": 1}, **more}


def test_ui_messages_hold_their_results() -> None:
    """A call that waits for its output gets an error in its part; a call with unfinished input is removed."""
    text = {"type": "text", "text": "x"}
    sound = [
        ui(text, of_ui("output-available", output=1)),
        ui(of_ui("approval-requested", approval={"id": "p"})),
    ]
    sound[1]["parts"][0]["toolCallId"] = "d"
    made = of_ui("output-error", errorText=MISSING_RESULT)
    found = repair_transcript([ui(of_ui("input-available"))])

    assert repair_transcript(sound).messages is sound
    assert ([ui(made)], ["c"]) == (found.messages, found.report.synthesised)
    assert [ui(text)] == repaired([ui(text, of_ui("input-streaming"))])


def test_ui_messages_are_shrunk() -> None:
    """Repairable shapes can be shrunk: nothing in UI messages, whose form is separate, and LangChain's objects."""
    long = {**AI, "tool_calls": [{**ENTRY, "args": {"text": "x" * 900}}]}
    found = shrink_transcript([long, TOOL], keep_recent=0)

    assert ["c1"] == found.shrunk
    assert len(found.messages[0]["tool_calls"][0]["args"]["text"]) < 300


def test_a_conversation_goes_on_where_it_was_repaired() -> None:
    """Messages that a conversation added in Ollama's shape are sound, also where one tool ran twice."""
    two = turn(call('{"a": 1}', "c1"), call('{"a": 2}', "c2", index=1))
    messages = [{"role": "user", "content": "x"}, *Conversation("ollama").add(two, {"c1": "1", "c2": "2"})]

    assert repair_transcript(messages).messages is messages
