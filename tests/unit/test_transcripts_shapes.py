"""Particulars of each shape: its signs, the place of its results, the names of its entries."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall.history import MISSING_RESULT, repair_transcript
from wholecall.history.shapes.table import shape_of

JSON = dict[str, Any]
PATH = {"path": "/x"}


def user(content: Any = "a", **more: Any) -> JSON:
    """Return a message of the user."""
    return {"role": "user", "content": content} | more


def assistant(*blocks: Any, **more: Any) -> JSON:
    """Return a message of the model."""
    return {"role": "assistant", "content": list(blocks)} | more


def use(id: str = "t1", **more: Any) -> JSON:
    """Return a call of Anthropic's."""
    return {"type": "tool_use", "id": id, "name": "read", "input": PATH} | more


def result(id: str = "t1", content: Any = "ok", **more: Any) -> JSON:
    """Return a result of Anthropic's."""
    return {"type": "tool_result", "tool_use_id": id, "content": content} | more


def missing(id: str) -> JSON:
    """Return a made result of Anthropic's."""
    return result(id, MISSING_RESULT, is_error=True)


def text(words: str) -> JSON:
    """Return a text block."""
    return {"type": "text", "text": words}


def repaired(messages: list[JSON], **options: Any) -> list[JSON]:
    """Return a repaired list, which needs no more repair."""
    found = repair_transcript(messages, **options)
    assert repair_transcript(found.messages, **options).messages is found.messages
    return list(found.messages)


# --- telling shapes apart -----------------------------------------------------------------------------------


@together(
    ("message", "shape"),
    [
        (user(), "chat-completions"),
        ({"role": "tool", "tool_call_id": "c", "content": ""}, "chat-completions"),
        ({"role": "assistant", "content": None, "function_call": {"name": "f"}}, "chat-completions"),
        ({"role": "assistant", "content": "x", "tool_calls": None}, "chat-completions"),
        ({"role": "assistant", "content": "x", "finish_reason": "stop"}, "chat-completions"),
        (user([{"type": "image_url", "image_url": {"url": "u"}}]), "chat-completions"),
        (assistant(use()), "anthropic"),
        (user([result()]), "anthropic"),
        (assistant(text("x"), stop_reason="end_turn"), "anthropic"),
        (assistant({"type": "thinking", "thinking": "x"}), "anthropic"),
        ({"role": "user", "parts": [{"text": "x"}]}, "gemini"),
        ({"type": "function_call_output", "call_id": "c", "output": ""}, "responses"),
        ({"type": "message", "role": "user", "content": "x"}, "responses"),
        (user([{"type": "input_text", "text": "x"}]), "responses"),
        ({"type": "session", "version": 3, "id": "s"}, "pi"),
        ({"type": "message", "id": "e", "parentId": None, "message": user()}, "pi"),
        ({"role": "toolResult", "toolCallId": "c", "content": []}, "pi"),
        (assistant({"type": "toolCall", "id": "c", "name": "f", "arguments": {}}), "pi"),
        (assistant(text("x"), stopReason="stop"), "pi"),
        ({"type": "user", "uuid": "u", "message": user()}, "claude-code"),
        ({"type": "event_msg", "payload": {"type": "turn_aborted"}}, "codex"),
        ({"type": "response_item", "payload": {"type": "reasoning"}}, "codex"),
    ],
)
def test_one_message_tells_the_shape(message: JSON, shape: str) -> None:
    """A shape is known by its unique members, at any position in the list."""
    assert shape == shape_of([message], "auto").name
    assert shape == shape_of([user(), message], "auto").name


def test_results_decide_before_calls() -> None:
    """Where hosts mix names, results decide the shape, because results have to be written."""
    camel = assistant({"type": "toolUse", "id": "t1", "name": "read", "input": PATH}, stopReason="toolUse")

    assert "pi" == shape_of([camel], "auto").name
    assert "anthropic" == shape_of([camel, user([result()])], "auto").name
    assert "chat-completions" == shape_of([camel, {"role": "tool", "content": ""}], "auto").name


# --- names under which the same things are stored -----------------------------------------------------------


@together("kind", ["tool_use", "toolUse", "toolCall", "tool_call", "functionCall", "function_call"])
@together("id", ["id", "toolCallId", "toolUseId", "tool_call_id", "tool_use_id", "callId", "call_id"])
def test_calls_and_ids_under_all_their_names(kind: str, id: str) -> None:
    """A call is found under each type, its id under each member, and the result that goes with it too."""
    call = {"type": kind, id: "t1", "name": "read", "arguments": PATH}
    for answer in (
        user([{"type": "tool_result", id: "t1", "content": "ok"}]),
        user([{"type": "toolResult", id: "t1", "content": "ok"}]),
        {"role": "toolResult", id if id != "id" else "toolCallId": "t1", "content": []},
        {"role": "tool", id if id != "id" else "tool_call_id": "t1", "content": "ok"},
    ):
        aborted = repair_transcript([user(), assistant(text("x"), call, stop_reason="aborted"), answer])
        sound = [user(), assistant(call), answer]

        assert [user(), assistant(text("x"), stop_reason="aborted")] == aborted.messages
        assert (["t1"], ["t1"]) == (aborted.report.stripped_calls, aborted.report.dropped_results)
        assert repair_transcript(sound).messages is sound


@pytest.mark.parametrize("id", ["toolCallId", "toolUseId", "tool_call_id", "callId"])
def test_ids_are_written_where_they_were(id: str) -> None:
    """A new id goes to the member that held the old one."""
    call = {"type": "toolCall", id: "t1", "name": "read", "arguments": PATH}
    answer = {"role": "toolResult", id: "t1", "content": []}
    found = repaired([assistant(call), answer, assistant(call), answer])

    assert [assistant(call | {id: "t1_2"}), answer | {id: "t1_2"}] == found[2:]


# --- chat completions ---------------------------------------------------------------------------------------


def chat_call(id: str = "c1", arguments: str = '{"path":"/x"}') -> JSON:
    """Return an entry of `tool_calls`."""
    return {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}


def tool(id: str = "c1", content: str = "ok") -> JSON:
    """Return a message of the role `tool`."""
    return {"role": "tool", "tool_call_id": id, "content": content}


@pytest.mark.parametrize("calls", [[], None])
def test_empty_tool_calls_go(calls: Any) -> None:
    """An empty list of calls is refused by providers, and goes; without text so does the message."""
    with_text = {"role": "assistant", "content": "x", "tool_calls": calls}
    without = {"role": "assistant", "content": None, "tool_calls": calls}

    assert [user(), {"role": "assistant", "content": "x"}] == repaired([user(), with_text])
    assert [user()] == repaired([user(), without])


def test_stripped_calls_leave_no_empty_list() -> None:
    """A message whose calls are all taken out has no `tool_calls` any more, and no empty content."""
    message = {
        "role": "assistant",
        "content": [text(" "), text("x")],
        "tool_calls": [chat_call(arguments="{")],
    }
    calls_only = message | {"content": [text(" ")]}

    left = {"role": "assistant", "content": [text("x")], "finish_reason": "length"}
    assert [left] == repaired([message | {"finish_reason": "length"}])
    assert [] == repaired([calls_only | {"finish_reason": "length"}])


def test_calls_beside_empty_content() -> None:
    """Next to calls content may be None or empty text; a list of blanks becomes None."""
    for content in (None, "", "\n"):
        sound = [{"role": "assistant", "content": content, "tool_calls": [chat_call()]}, tool()]
        assert repair_transcript(sound).messages is sound
    for content in ([], [text("")]):
        message = {"role": "assistant", "content": content, "tool_calls": [chat_call()]}
        assert repaired([message, tool()])[0]["content"] is None


def test_results_follow_each_message() -> None:
    """In chat completions each message is answered by itself."""
    one, two = ({"role": "assistant", "content": None, "tool_calls": [chat_call(id)]} for id in ("c1", "c2"))

    assert [one, tool("c1"), two, tool("c2")] == repaired([one, two, tool("c1"), tool("c2")])


def test_the_older_function_call() -> None:
    """A `function_call` has no id: it pairs by name with a message of the role `function`."""
    message = {"role": "assistant", "content": None, "function_call": {"name": "read", "arguments": "{}"}}
    sound = [user(), message, {"role": "function", "name": "read", "content": "ok"}]
    made = {"role": "function", "name": "read", "content": MISSING_RESULT}
    cut = message | {"finish_reason": "length", "content": "x"}

    assert repair_transcript(sound).messages is sound
    assert [user(), message, made, user()] == repaired([user(), message, user()])
    assert [{"role": "assistant", "content": "x", "finish_reason": "length"}] == repaired([cut])


def test_free_text_is_not_read() -> None:
    """A custom call carries free text: it is never parsed, and in a cut turn it may be cut."""
    call = {"id": "c1", "type": "custom", "custom": {"name": "patch", "input": "{not json"}}
    message = {"role": "assistant", "content": "x", "tool_calls": [call]}
    sound = [message, tool()]

    assert repair_transcript(sound, strict_json_arguments=True).messages is sound
    assert [message, tool("c1", MISSING_RESULT)] == repaired([message])
    for words in ("{not json", '{"a":1}'):
        cut = {"role": "assistant", "content": "x", "finish_reason": "length"}
        cut["tool_calls"] = [call | {"custom": {"name": "patch", "input": words}}]
        assert ["c1"] == repair_transcript([cut]).report.stripped_calls


def test_a_result_without_an_id() -> None:
    """A result that names no call answers the calls before it in their order, and is given their ids."""
    message = {"role": "assistant", "content": None, "tool_calls": [chat_call("c1"), chat_call("c2")]}
    blind = {"role": "tool", "content": "ok"}
    found = repair_transcript([message, blind, blind, blind])

    assert [message, tool("c1"), tool("c2")] == found.messages
    assert ["c1", "c2"] == found.report.renamed


def test_ids_that_are_numbers() -> None:
    """A number is an id."""
    message = {"role": "assistant", "content": None, "tool_calls": [chat_call() | {"id": 0}]}
    sound = [message, tool() | {"tool_call_id": "0"}]

    assert repair_transcript(sound).messages is sound


def test_a_result_of_nothing() -> None:
    """A result without content has empty content: a provider refuses None."""
    message = {"role": "assistant", "content": None, "tool_calls": [chat_call()]}

    assert [message, tool(content="")] == repaired([message, tool() | {"content": None}])


def test_an_answer_that_is_no_text() -> None:
    """A refusal or a recording is an answer, next to empty content too."""
    for member in ({"refusal": "no"}, {"audio": {"id": "a"}}):
        sound = [user(), {"role": "assistant", "content": None} | member]
        assert repair_transcript(sound).messages is sound


def test_ids_that_hosts_join() -> None:
    """A result may name a call by the first half of an id that a host joined from two."""
    message = {"role": "assistant", "content": None, "tool_calls": [chat_call("call_1|fc_1")]}

    assert [message, tool("call_1|fc_1")] == repaired([message, tool("call_1")])


def test_one_call_without_its_list() -> None:
    """A host that stored one call where a list belongs gets the list."""
    message = {"role": "assistant", "content": None, "tool_calls": chat_call()}

    assert [message | {"tool_calls": [chat_call()]}, tool()] == repaired([message, tool()])


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (float("nan"), '{"INVALID_JSON":"{\\"n\\":NaN}"}'),
        (float("inf"), '{"INVALID_JSON":"{\\"n\\":Infinity}"}'),
    ],
)
def test_numbers_that_json_does_not_have(number: float, written: str) -> None:
    """An object with values that JSON lacks is wrapped as text, like any other malformed arguments."""
    call = chat_call()
    call["function"]["arguments"] = {"n": number}

    assert (
        written
        == repaired([{"role": "assistant", "content": None, "tool_calls": [call]}, tool()])[0]["tool_calls"][
            0
        ]["function"]["arguments"]
    )


def test_objects_that_nest_deep() -> None:
    """An object of any depth is written."""
    deep: JSON = {}
    for _ in range(10_000):
        deep = {"a": deep}
    call = chat_call()
    call["function"]["arguments"] = deep
    found = repair_transcript([{"role": "assistant", "content": None, "tool_calls": [call]}, tool()])

    assert (
        '{"a":' * 10_000 + "{}" + "}" * 10_000 == found.messages[0]["tool_calls"][0]["function"]["arguments"]
    )


# --- Anthropic ----------------------------------------------------------------------------------------------


def test_results_stand_first_in_the_one_next_message() -> None:
    """All results of a turn are gathered in the next message, before anything else that is in it."""
    calls = assistant(use("t1"), use("t2"), use("t3"))
    split = [calls, user([text("hi"), result("t1")]), user([result("t2")]), user([text("b"), result("t3")])]
    found = repair_transcript(split)

    assert [
        calls,
        user([result("t1"), result("t2"), result("t3"), text("hi")]),
        user([text("b")]),
    ] == found.messages
    assert (["t1", "t2", "t3"], [2]) == (found.report.moved, found.report.dropped_messages)


def test_results_get_a_message_of_their_own() -> None:
    """Where the next message holds no result of the turn, one is put before it, which leaves it as it was."""
    said = user("b")
    found = repaired([assistant(use()), said])

    assert [assistant(use()), user([missing("t1")]), said] == found
    assert found[2] is said


def test_a_message_of_results_moves_as_it_is() -> None:
    """A message that holds nothing but displaced results is put in its place, as the same object."""
    late = user([result()], cache="kept")
    found = repaired([assistant(use()), user("hurry"), late, user("b")])

    assert [assistant(use()), late, user("hurry"), user("b")] == found
    assert found[1] is late


def test_messages_of_the_model_in_a_row_are_one_turn() -> None:
    """Messages of the model that follow each other are answered together."""
    sound = [assistant(use("t1")), assistant(use("t2")), user([result("t2"), result("t1")])]

    assert repair_transcript(sound).messages is sound


def test_a_result_inside_the_models_message() -> None:
    """A result that was stored in the model's own message is moved after it."""
    assert [assistant(use()), user([result()])] == repaired([assistant(use(), result())])


def test_turns_that_meet_behind_a_new_message() -> None:
    """A made message of results is the user's, and the report says so."""
    assert [1] == repair_transcript([assistant(use()), user("b")]).report.adjacent_turns


def test_content_that_is_odd() -> None:
    """Texts may be in a list without a block; other values than content are left unchanged."""
    sound = [user(["a", {"type": "image"}]), assistant("b"), user({"odd": True}), {"odd": True}]

    assert repair_transcript(sound, shape="chat-completions").messages is sound
    assert [user(["a"])] == repaired([user(["a", " "])])


def test_content_that_is_a_tuple() -> None:
    """Blocks may come in a tuple, which stays one while nothing changes."""
    sound = [{"role": "assistant", "content": (use(),)}, {"role": "user", "content": (result(),)}]

    assert repair_transcript(sound).messages is sound
    aborted = {"role": "assistant", "content": (text("x"), use()), "stop_reason": "error"}
    assert [assistant(text("x"), stop_reason="error")] == repaired([aborted])


# --- Gemini -------------------------------------------------------------------------------------------------


def part(name: str, args: Any = PATH, **more: Any) -> JSON:
    """Return a call of Gemini's."""
    return {"functionCall": {"name": name, "args": args} | more}


def response(name: str, output: str = "ok", **more: Any) -> JSON:
    """Return a result of Gemini's."""
    return {"functionResponse": {"name": name, "response": {"output": output}} | more}


def content(role: str, *parts: Any, **more: Any) -> JSON:
    """Return a content."""
    return {"role": role, "parts": list(parts)} | more


def test_calls_without_ids_pair_by_name_and_order() -> None:
    """Without ids the results of one name answer the calls of that name in their order."""
    asked = content("model", part("f"), part("g"), part("f"))
    found = repaired([asked, content("user", response("g"), response("f", "one"))])
    made = {"functionResponse": {"name": "f", "response": {"error": MISSING_RESULT}}}
    sound = [asked, content("function", response("f", "one"), response("f", "two"), response("g"))]

    assert [asked, content("user", response("g"), response("f", "one"), made)] == found
    assert repair_transcript(sound).messages is sound


def test_results_of_gemini_carry_the_calls_id_and_name() -> None:
    """A made result has the id of its call; a result under another name gets that of its call."""
    asked = content("model", part("f", id="1"))
    made = {"functionResponse": {"id": "1", "name": "f", "response": {"error": MISSING_RESULT}}}

    assert [asked, content("user", made)] == repaired([asked])
    assert [asked, content("user", response("f", id="1"))] == repaired(
        [asked, content("user", response("g", id="1"))]
    )


def test_a_result_of_gemini_with_an_id_of_its_own() -> None:
    """Where only one of the two has an id, they pair by name, and keep their own members."""
    for call_id, result_id in (({}, {"id": "1"}), ({"id": "1"}, {})):
        sound = [content("model", part("f", **call_id)), content("user", response("f", **result_id))]
        assert repair_transcript(sound).messages is sound


def test_both_spellings_of_gemini() -> None:
    """Members may be spelled with underscores; made members are spelled like the call."""
    asked = content("model", {"function_call": {"name": "f"}})
    made = {"function_response": {"name": "f", "response": {"error": MISSING_RESULT}}}

    assert [asked, content("user", made)] == repaired([asked])


def test_parts_with_a_signature_stay() -> None:
    """An empty text that carries a thought signature is content; one without it is not."""
    signed = {"text": "", "thoughtSignature": "c2ln"}
    sound = [
        content("model", {"text": "x"}, signed),
        content("user", {"text": "b"}, {"text": None, "inlineData": {}}),
    ]

    assert repair_transcript(sound).messages is sound
    assert [content("model", {"text": "x"})] == repaired([content("model", {"text": "x"}, {"text": ""})])
    assert [] == repaired([content("user", {"text": ""}), content("user")])


def test_a_streamed_call_of_gemini_is_scratch() -> None:
    """A call that says that more will come was never finished."""
    asked = content("model", {"text": "x"}, part("f", willContinue=True))

    assert [content("model", {"text": "x"})] == repaired([asked])
    answered = repaired([asked, content("user", response("f"))])
    assert [content("model", {"text": "x"}, part("f")), content("user", response("f"))] == answered


def test_strings_are_parts() -> None:
    """A part may be a plain string; an entry without parts is not read."""
    sound = [content("user", "a"), content("model", "b"), {"role": "user", "parts": "c"}]

    assert repair_transcript(sound, shape="gemini").messages is sound


# --- Responses ----------------------------------------------------------------------------------------------


def item(id: str = "c1", arguments: str = '{"path":"/x"}', **more: Any) -> JSON:
    """Return a call of Responses."""
    return {"type": "function_call", "call_id": id, "name": "read", "arguments": arguments} | more


def output(id: str = "c1", words: str = "ok") -> JSON:
    """Return an output of Responses."""
    return {"type": "function_call_output", "call_id": id, "output": words}


def test_a_result_under_the_items_id() -> None:
    """A result that names a call by its item's id is given the call's own (quirk 75)."""
    found = repair_transcript([item(id="c1") | {"id": "fc_1"}, output("fc_1")])

    assert [item(id="c1") | {"id": "fc_1"}, output("c1")] == found.messages
    assert ["c1"] == found.report.renamed


@pytest.mark.parametrize(
    ("call", "made"),
    [
        (
            {"type": "custom_tool_call", "call_id": "c", "name": "p", "input": "x"},
            {"type": "custom_tool_call_output", "call_id": "c", "output": MISSING_RESULT},
        ),
        (
            {"type": "local_shell_call", "id": "lsh", "call_id": "c", "action": {"type": "exec"}},
            {"type": "local_shell_call_output", "id": "c", "output": MISSING_RESULT},
        ),
        (
            {"type": "shell_call", "call_id": "c", "action": {"commands": ["ls"]}},
            {
                "type": "shell_call_output",
                "call_id": "c",
                "output": [
                    {"stdout": "", "stderr": MISSING_RESULT, "outcome": {"type": "exit", "exit_code": 1}}
                ],
            },
        ),
        (
            {"type": "apply_patch_call", "call_id": "c", "operation": {"type": "delete_file"}},
            {
                "type": "apply_patch_call_output",
                "call_id": "c",
                "output": MISSING_RESULT,
                "status": "failed",
            },
        ),
    ],
    ids=lambda value: value["type"],
)
def test_each_call_has_its_own_output(call: JSON, made: JSON) -> None:
    """Calls that the client executes are answered in their own form, and made results are known again."""
    real = {**made, "output": "done"}
    found = repair_transcript([call, made, real])

    assert [call, made] == repaired([call])
    assert [call, real] == found.messages


@pytest.mark.parametrize("kind", ["computer_call", "tool_search_call"])
def test_what_no_text_can_answer_goes(kind: str) -> None:
    """A call that is answered by a picture or by tools goes if its answer is missing, with its thought."""
    call = {"type": kind, "call_id": "c", "action": {}, "arguments": {}, "execution": "client"}
    thought = {"type": "reasoning", "id": "rs", "summary": []}
    answer = {"type": kind.replace("_call", "_call_output" if kind[0] == "c" else "_output"), "call_id": "c"}
    sound = [thought, call, answer | {"output": {}, "tools": []}]
    kept = [thought, call]

    assert [] == repaired([thought, call])
    assert repair_transcript(sound).messages is sound
    assert repair_transcript(kept, unanswered="keep").messages is kept


def test_what_the_provider_runs_needs_no_answer() -> None:
    """Items of tools that the provider runs, and entries of other types, are left alone."""
    sound = [
        {"type": "tool_search_call", "call_id": "s", "execution": "server", "arguments": {}},
        {"type": "tool_search_output", "call_id": "s", "execution": "server", "tools": []},
        {"type": "web_search_call", "id": "ws"},
        {"type": "mcp_approval_request", "id": "m", "name": "f", "arguments": "{}"},
        {"type": "mcp_approval_response", "approval_request_id": "m", "approve": True},
        {"type": "compaction", "encrypted_content": "x"},
        {"role": "assistant", "content": "x"},
    ]

    assert repair_transcript(sound).messages is sound


def test_a_reference_may_be_a_call() -> None:
    """After a reference to a stored item a result may have its call there, and stays."""
    sound = [{"type": "item_reference", "id": "fc_1"}, output("c1")]

    assert repair_transcript(sound).messages is sound
    assert [] == repaired([output("c1")])


def test_items_in_a_row_are_one_turn() -> None:
    """Calls and messages of the model that follow each other are answered together, in any order."""
    words = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "x"}]}
    sound = [item("c1"), words, item("c2"), output("c2"), output("c1"), item("c3"), output("c3")]

    assert repair_transcript(sound).messages is sound


def test_a_thought_goes_with_what_it_led_to() -> None:
    """Among items a thought goes when nothing of the following items is left before the next thought."""
    thoughts = [{"type": "reasoning", "id": f"rs_{n}", "summary": []} for n in range(3)]
    cut = item("c1", '{"pa', status="incomplete")
    found = repaired([thoughts[0], thoughts[1], item("c2"), thoughts[2], cut, output("c2")])

    assert [thoughts[0], thoughts[1], item("c2"), output("c2")] == found
    assert [thoughts[0], item("c2"), output("c2")] == repaired([thoughts[0], cut, item("c2"), output("c2")])


def test_blanks_part_no_thought_from_what_it_led_to() -> None:
    """A message that says nothing ends no run of items."""
    thought = {"type": "reasoning", "id": "rs", "summary": []}
    blank = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": ""}]}

    assert [thought, item(), output()] == repaired([thought, blank, item(), output()])


def test_an_incomplete_action_goes() -> None:
    """A client's task is judged by its item's content, at any position in a row of calls."""
    cut = {"type": "shell_call", "call_id": "s", "action": {"commands": ["ls"]}, "status": "incomplete"}

    assert [item(), output()] == repaired([cut, item(), output()])


# --- session files ------------------------------------------------------------------------------------------


def entry(id: str, parent: str | None, message: JSON | None = None, **more: Any) -> JSON:
    """Return an entry of pi's."""
    about: JSON = {"type": "message", "id": id, "parentId": parent, "timestamp": "t" + id}
    return about | ({"message": message} if message else {}) | more


def pi_call(id: str = "c1", **more: Any) -> JSON:
    """Return a call of pi's."""
    return {"type": "toolCall", "id": id, "name": "read", "arguments": PATH} | more


def test_a_dropped_entry_hands_on_its_children() -> None:
    """Entries that followed a dropped one follow the entry before it; others that name it do as well."""
    lines = [
        entry("1", None, user()),
        entry("2", "1", assistant(pi_call(), stopReason="aborted")),
        entry("3", "2", {"role": "toolResult", "toolCallId": "c1", "content": [text("x")]}),
        {"type": "label", "id": "4", "parentId": "3", "targetId": "2"},
        entry("5", "3", user("b")),
        {"type": "compaction", "id": "6", "parentId": "5", "firstKeptEntryId": "3"},
    ]
    found = repaired(lines)

    assert [
        lines[0],
        {"type": "label", "id": "4", "parentId": "1", "targetId": "1"},
        entry("5", "1", user("b")),
        {"type": "compaction", "id": "6", "parentId": "5", "firstKeptEntryId": "1"},
    ] == found
    assert found[0] is lines[0]


def test_a_made_entry_stands_between() -> None:
    """A made result is a separate entry: it follows the call, and the call's former successor follows it."""
    asked = assistant(pi_call(), stopReason="toolUse", timestamp=7)
    lines = [entry("1", None, user()), entry("2", "1", asked), entry("3", "2", user("b"))]
    found = repaired(lines)
    made = found[2]

    assert {
        "role": "toolResult",
        "toolCallId": "c1",
        "toolName": "read",
        "content": [text(MISSING_RESULT)],
        "isError": True,
        "timestamp": 7,
    } == made["message"]
    assert ("2", "t2") == (made["parentId"], made["timestamp"])
    assert made["id"] not in {"1", "2", "3"}
    assert entry("3", made["id"], user("b")) == found[3]
    assert found == repaired(lines)


def test_a_moved_entry_is_linked_anew() -> None:
    """An entry that is moved leaves its place in the chain and takes its new one."""
    late = {"role": "toolResult", "toolCallId": "c1", "content": [text("x")]}
    lines = [
        entry("1", None, assistant(pi_call())),
        entry("2", "1", user("hurry")),
        entry("3", "2", late),
        entry("4", "3", user("b")),
    ]

    assert [
        lines[0],
        entry("3", "1", late),
        entry("2", "3", user("hurry")),
        entry("4", "2", user("b")),
    ] == repaired(lines)


def test_files_without_links() -> None:
    """Entries of old files name nothing, and nothing is linked; new ones come without names, too."""
    lines = [{"type": "message", "message": assistant(pi_call())}, {"type": "message", "message": user("b")}]
    found = repaired(lines)

    assert [{"type", "message"}, {"type", "message"}, {"type", "message"}] == [set(line) for line in found]


def test_entries_that_run_in_a_circle() -> None:
    """Dropped entries that name each other have nothing before them."""
    gone = [
        entry("1", "2", assistant(pi_call(), stopReason="error")),
        entry("2", "1", assistant(pi_call("c2"), stopReason="error")),
    ]

    assert [entry("3", None, user())] == repaired([*gone, entry("3", "2", user())])


def test_bare_messages_of_pi() -> None:
    """The messages of pi without entries are read as well; roles of the host's own are left alone."""
    lines = [
        user(),
        assistant(pi_call(), stopReason="toolUse"),
        {"role": "bashExecution", "command": "ls", "output": ""},
        {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": [text("x")]},
    ]

    assert [lines[0], lines[1], lines[3], lines[2]] == repaired(lines)


def test_words_of_an_extension_are_said() -> None:
    """An entry that an extension puts into the conversation parts a call from a result after it."""
    lines = [
        entry("1", None, assistant(pi_call())),
        {"type": "custom_message", "id": "2", "parentId": "1", "customType": "x", "content": ""},
        entry("3", "2", {"role": "toolResult", "toolCallId": "c1", "content": []}),
    ]

    assert ["1", "3", "2"] == [line["id"] for line in repaired(lines)]


def test_results_of_pi_under_a_new_name() -> None:
    """A call that gets a name takes its result's name along."""
    lines = [
        assistant(pi_call(name="")),
        {"role": "toolResult", "toolCallId": "c1", "toolName": "read", "content": []},
    ]

    assert ["invalid_tool_call"] * 2 == [
        (one.get("content") or [{}])[0].get("name", one.get("toolName")) for one in repaired(lines)
    ]


def line(uuid: str, parent: str | None, message: JSON, **more: Any) -> JSON:
    """Return a line of Claude Code's."""
    about = {"type": message["role"], "uuid": uuid, "parentUuid": parent, "sessionId": "s", "cwd": "c"}
    return about | {"message": message} | more


def test_lines_that_share_an_id_are_one_turn() -> None:
    """One answer is stored as several lines, and results of its first calls may be between them."""
    sound = [
        line("1", None, user()),
        line("2", "1", assistant({"type": "thinking", "thinking": "x"}, id="m")),
        line("3", "2", assistant(use("t1"), id="m")),
        line("4", "3", user([result("t1")])),
        {"type": "progress", "uuid": "5", "parentUuid": "4"},
        line("6", "5", assistant(use("t2"), id="m", stop_reason="tool_use")),
        line("7", "6", user([result("t2")])),
    ]

    assert repair_transcript(sound).messages is sound


def test_lines_end_together() -> None:
    """A word on how an answer ended counts for all of its lines."""
    lines = [
        line("1", None, user()),
        line("2", "1", assistant({"type": "thinking", "thinking": "x"}, id="m")),
        line("3", "2", assistant(text("look"), id="m")),
        line("4", "3", assistant(use(), id="m", stop_reason="error")),
        line("5", "4", user("b")),
    ]
    found = repair_transcript(lines)

    assert [
        lines[0],
        line("3", "1", assistant(text("look"), id="m")),
        line("5", "3", user("b")),
    ] == found.messages
    assert ([1, 3], [1]) == (found.report.dropped_messages, found.report.dropped_thinking)


def test_a_made_line_looks_like_its_neighbours() -> None:
    """A made result gets a line with the envelope of the session, after the results that are there."""
    lines = [
        line("1", None, assistant(use("t1"), id="m"), requestId="r", version="2"),
        line("2", "1", assistant(use("t2"), id="m"), requestId="r", version="2"),
        line("3", "2", user([result("t2")]), version="2", toolUseResult="x"),
        line("4", "3", user("b"), version="2"),
    ]
    found = repaired(lines)
    uuid = found[3]["uuid"]

    assert line(uuid, "3", user([missing("t1")]), version="2") == found[3]
    assert line("4", uuid, user("b"), version="2") == found[4]
    assert lines[:3] == found[:3]


def test_a_result_beside_words_gets_its_own_line() -> None:
    """A displaced result that shares its line with words is taken out of it."""
    lines = [
        line("1", None, assistant(use())),
        line("2", "1", user("hurry")),
        line("3", "2", user([text("so"), result()])),
    ]
    found = repaired(lines)

    assert [user([result()]), user("hurry"), user([text("so")])] == [one["message"] for one in found[1:]]
    assert [None, "1", found[1]["uuid"], "2"] == [one["parentUuid"] for one in found]


@pytest.mark.parametrize("agents", [{}, {"agentId": "x"}], ids=["by their links", "by their names"])
def test_subagents_at_work_together(agents: JSON) -> None:
    """Conversations of several subagents may alternate; each is known by its first line or its agent."""
    one, two = agents, {name: value * 2 for name, value in agents.items()}
    sound = [
        line("1", None, user("task"), isSidechain=True, **one),
        line("2", None, user("task"), isSidechain=True, **two),
        line("3", "1", assistant(use("t1")), isSidechain=True, **one),
        line("4", "2", user("more"), isSidechain=True, **two),
        line("5", "4", assistant(use("t1")), isSidechain=True, **two),
        line("6", "3", user([result("t1", "one")]), isSidechain=True, **one),
        line("7", "5", user([result("t1", "two")]), isSidechain=True, **two),
    ]

    assert repair_transcript(sound).messages is sound


def test_subagents_speak_apart() -> None:
    """Lines of a subagent are a separate conversation: they part no call from its result."""
    sound = [
        line("1", None, assistant(use("t1"))),
        line("2", None, user("task"), isSidechain=True),
        line("3", "2", assistant(use("t1")), isSidechain=True),
        line("4", "3", user([result("t1")]), isSidechain=True),
        line("5", "1", user([result("t1")])),
    ]

    assert repair_transcript(sound).messages is sound


def test_lines_about_the_session_name_what_is_left() -> None:
    """A summary that names a dropped line names the one before it."""
    lines = [
        {"type": "summary", "summary": "x", "leafUuid": "2"},
        line("1", None, user()),
        line("2", "1", assistant(use(), stop_reason="error")),
    ]

    assert [{"type": "summary", "summary": "x", "leafUuid": "1"}, lines[1]] == repaired(lines)


def record(payload: JSON, **more: Any) -> JSON:
    """Return a line of Codex's."""
    return {"timestamp": "t", "type": "response_item", "payload": payload} | more


def test_codex_wraps_items() -> None:
    """Lines about the session stay where they are, and part nothing; a made output gets a line."""
    event = {"timestamp": "t", "type": "event_msg", "payload": {"type": "token_count"}}
    sound = [record(item()), event, record(output())]

    assert repair_transcript(sound).messages is sound
    assert [record(item()), record(output(words=MISSING_RESULT)), event] == repaired([record(item()), event])


def test_codex_answers_its_shell_like_a_function() -> None:
    """In Codex the output of a local shell is that of a function; others are as in Responses."""
    shell = {"type": "local_shell_call", "call_id": "c", "action": {}}
    custom = {"type": "custom_tool_call", "call_id": "c", "name": "p", "input": "x"}

    assert record(output("c", MISSING_RESULT)) == repaired([record(shell)])[1]
    assert "custom_tool_call_output" == repaired([record(custom)])[1]["payload"]["type"]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "assistant", "function_call": {"name": "read", "arguments": "{}"}},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {}}]},
        {
            "role": "assistant",
            "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "read", "arguments": "{}"}}],
        },
    ],
    ids=["older chat", "a block", "chat"],
)
@pytest.mark.parametrize("shape", ["responses", "codex"])
def test_calls_of_another_shape_among_items(message: dict[str, Any], shape: Any) -> None:
    """Laws 4 and 41: a call that is not an item is answered by a function's output, once."""
    item = message if shape == "responses" else {"type": "response_item", "payload": message}
    found = repair_transcript([item], shape=shape)
    made = found.messages[-1] if shape == "responses" else found.messages[-1]["payload"]

    assert "function_call_output" == made["type"]
    assert found.messages is repair_transcript(found.messages, shape=shape).messages
