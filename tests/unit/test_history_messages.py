"""Turns as messages of each format: the parts that go back, their shape and order, and the omitted parts."""

from __future__ import annotations

import copy
import json
from typing import Any

import msgspec
import pytest

from tests.support.events import builtin, call, custom, drop, server, turn
from tests.support.together import together
from wholecall import Turn, UnknownDialect
from wholecall.calls.output.turns import Reasoning, ReasoningBlock
from wholecall.history import CallIds, HistoryFormat, encode_calls, format_named
from wholecall.history.content import Capacity, Options, gather

CUT = '{"path": "/foo'
THOUGHT = ReasoningBlock("Hm.", signature="c2ln")
SEALED = ReasoningBlock(data="c2VhbGVk")
PLAIN = ReasoningBlock("Hm.")


def one(sent: Turn, format: Any, **options: Any) -> Any:
    """Return the only message of a turn."""
    (message,) = encode_calls(sent, format, **options).messages
    return message


# The shape of each format.

SENT = turn("Let me look.", call('{"port": "Brest"}', "c1", "get_tide"), call("", "c2", "now", 1))

FUNCTION = {"name": "get_tide", "arguments": '{"port": "Brest"}'}
CHAT = {
    "role": "assistant",
    "content": "Let me look.",
    "tool_calls": [
        {"id": "c1", "type": "function", "function": FUNCTION},
        {"id": "c2", "type": "function", "function": {"name": "now", "arguments": "{}"}},
    ],
}
SHAPES: dict[str, list[Any]] = {
    "chat-completions": [CHAT],
    "bedrock-invoke-chat-completions": [CHAT],
    "dashscope": [CHAT],
    "minimax": [CHAT],
    "stepfun": [CHAT],
    "cohere-v2": [CHAT],
    "responses": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "Let me look."}],
        },
        {
            "type": "function_call",
            "call_id": "c1",
            "name": "get_tide",
            "arguments": '{"port": "Brest"}',
        },
        {"type": "function_call", "call_id": "c2", "name": "now", "arguments": "{}"},
    ],
    "mistral-conversations": [
        {"type": "message.output", "role": "assistant", "content": "Let me look."},
        {
            "type": "function.call",
            "tool_call_id": "HcKvdVC0j",
            "name": "get_tide",
            "arguments": '{"port": "Brest"}',
        },
        {"type": "function.call", "tool_call_id": "yU0EorJ6O", "name": "now", "arguments": "{}"},
    ],
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "Let me look."},
                {"type": "tool_use", "id": "c1", "name": "get_tide", "input": {"port": "Brest"}},
                {"type": "tool_use", "id": "c2", "name": "now", "input": {}},
            ],
        }
    ],
    "gemini": [
        {
            "role": "model",
            "parts": [
                {"text": "Let me look."},
                {"functionCall": {"id": "c1", "name": "get_tide", "args": {"port": "Brest"}}},
                {"functionCall": {"id": "c2", "name": "now", "args": {}}},
            ],
        }
    ],
    "bedrock-converse": [
        {
            "role": "assistant",
            "content": [
                {"text": "Let me look."},
                {"toolUse": {"toolUseId": "c1", "name": "get_tide", "input": {"port": "Brest"}}},
                {"toolUse": {"toolUseId": "c2", "name": "now", "input": {}}},
            ],
        }
    ],
    "ollama": [
        {
            "role": "assistant",
            "content": "Let me look.",
            "tool_calls": [
                {"id": "c1", "function": {"name": "get_tide", "arguments": {"port": "Brest"}}},
                {"id": "c2", "function": {"name": "now", "arguments": {}}},
            ],
        }
    ],
}
TWINS = {
    "openai-realtime": "responses",
    "bedrock-invoke-cohere-v2": "cohere-v2",
    "bedrock-invoke-anthropic": "anthropic",
    "bedrock-invoke-nova": "bedrock-converse",
    "gemini-live": "gemini",
}


@together("format", [*SHAPES, *TWINS])
def test_shapes(format: str) -> None:
    """Each format gets text and calls in its own shape, arguments in its own container."""
    assert SHAPES[TWINS.get(format, format)] == encode_calls(SENT, format).messages


@pytest.mark.parametrize(
    ("format", "ids"),
    [("mistral", ["HcKvdVC0j", "yU0EorJ6O"]), ("kimi", ["functions.get_tide:0", "functions.now:1"])],
)
def test_profiles_of_chat_completions(format: str, ids: list[str]) -> None:
    """The profiles differ from chat completions in their ids, and in the extra fields."""
    message = one(SENT, format)
    found = [tool_call.pop("id") for tool_call in message["tool_calls"]]

    assert ids == found
    assert [
        {key: value for key, value in each.items() if key != "id"} for each in CHAT["tool_calls"]
    ] == message["tool_calls"]


@together("format", [*SHAPES, *TWINS, "mistral", "kimi", "langchain", "ag-ui", "otel"])
def test_nothing_is_changed_and_nothing_shared(format: str) -> None:
    """Encoding does not change the turn, and its output can be changed without affecting it."""
    extra = {"extra_content": {"google": {"thought_signature": "c2ln"}}}
    sent = turn(call('{"a":{"b":[1]}}', extra=extra), dialect="chat-completions")
    before = copy.deepcopy(sent)
    messages = encode_calls(sent, format).messages
    text = json.dumps(messages)
    _spoil(messages)

    assert before == sent
    assert text == json.dumps(encode_calls(sent, format).messages)


def _spoil(value: Any) -> None:
    for item in list(value.values() if isinstance(value, dict) else value):
        if isinstance(item, (dict, list)):
            _spoil(item)
    value.clear()


# Empty turns.

ALL = [*SHAPES, *TWINS, "mistral", "kimi", "langchain", "ag-ui", "vercel-ui"]


@together("format", ALL)
@together(
    "sent",
    [
        turn(reason="stop"),
        turn(" \n", reason="stop"),
        turn(PLAIN, reason="stop"),
        turn(THOUGHT, drop(CUT, reason="aborted"), reason="aborted"),
        turn(drop("{}", name=None, reason="nameless"), reason="malformed"),
    ],
)
def test_nothing_to_say(format: str, sent: Turn) -> None:
    """A turn without text and calls gives no message: never an empty list of calls, null content or blank text."""
    assert [] == encode_calls(sent, format).messages


@together("format", ALL)
def test_only_text(format: str) -> None:
    """A turn of text alone has no list of calls."""
    text = json.dumps(encode_calls(turn("Aye.", reason="stop"), format).messages)

    assert ("Aye." in text, "tool_calls" in text, "null" in text) == (True, False, False)


@together("format", ALL)
def test_blank_text_is_no_text(format: str) -> None:
    """Blank text next to a call is left out: providers refuse it."""
    messages = encode_calls(turn("\n\n", call()), format).messages

    assert "\\n" not in json.dumps(messages)
    assert "c1" in encode_calls(turn("\n\n", call()), format).ids


def test_no_content_beside_calls() -> None:
    """Without text the content of chat completions is null, of Ollama empty, of Cohere not there."""
    found = [
        one(turn(call()), name).get("content", "-") for name in ("chat-completions", "ollama", "cohere-v2")
    ]

    assert [None, "", "-"] == found


# Dropped calls.


def test_drops_go_back_with_their_text() -> None:
    """The model sees its own output: as text where text is carried, wrapped elsewhere; the drop takes a result."""
    sent = turn(call("{}", "c1"), drop(CUT, "c2", index=1, reason="invalid_json"))
    chat, strict, anthropic = (
        encode_calls(sent, name) for name in ("chat-completions", "minimax", "anthropic")
    )

    assert CUT == chat.messages[0]["tool_calls"][1]["function"]["arguments"]
    assert {"INVALID_JSON": CUT} == json.loads(strict.messages[0]["tool_calls"][1]["function"]["arguments"])
    assert {"INVALID_JSON": CUT} == anthropic.messages[0]["content"][1]["input"]
    assert ({"c1": "c1", "c2": "c2"}, {0: "c1", 1: "c2"}, ()) == (
        dict(chat.ids),
        chat.by_index,
        chat.left_out,
    )


@together("format", ALL)
@together(
    "dropped",
    [
        drop("{}", name=None, index=1, reason="nameless"),
        drop("Malformed: f(", name=None, index=1, reason="unparseable"),
        drop("{}", name="", index=1, reason="nameless"),
        drop(CUT, index=1, reason="aborted"),
        drop("", index=1, reason="too_many_calls"),
        drop(CUT, index=1, kind="builtin", name="shell"),
        drop(CUT, index=1, kind="server", name="web_search"),
    ],
)
def test_what_is_left_out(format: str, dropped: Any) -> None:
    """Calls without a name, aborted ones and calls that cannot be rebuilt are left out and listed, with their ids."""
    encoded = encode_calls(turn(call(id="c0"), dropped), format)

    assert ((dropped,), {"c0"}, {0}) == (encoded.left_out, set(encoded.ids), set(encoded.by_index))
    assert "foo" not in json.dumps(encoded.messages)


@pytest.mark.parametrize(
    ("format", "strict", "left"),
    [
        ("chat-completions", False, 0),
        ("chat-completions", True, 1),
        ("minimax", False, 1),
        ("gemini", False, 1),
    ],
)
def test_malformed_calls_can_be_left_out(format: str, strict: bool, left: int) -> None:
    """Under `omit` a call whose text cannot go is left out, so that its result can be left out with it."""
    sent = turn(call(id="c0"), drop("[1]", index=1, reason="not_an_object"))
    encoded = encode_calls(sent, format, on_malformed="omit", strict_json_arguments=strict)

    assert left == len(encoded.left_out)
    assert 2 - left == len(encoded.ids) == len(encoded.by_index)


def test_malformed_calls_can_be_emptied() -> None:
    """Under `empty` the text is lost, and the call stays."""
    assert {} == one(turn(drop(CUT)), "anthropic", on_malformed="empty")["content"][0]["input"]


def test_drops_without_an_id() -> None:
    """A drop without an id gets one, the same in every run, and is found by its index."""
    encoded = encode_calls(turn(drop(CUT, None, index=3)), "anthropic")

    assert ({3: "call_0_0_3"}, "call_0_0_3") == (encoded.by_index, encoded.messages[0]["content"][0]["id"])


def test_a_drop_with_the_id_of_a_call() -> None:
    """Two calls of a turn never share an id; the id of the wire belongs to the first one."""
    encoded = encode_calls(turn(call(), drop(CUT, index=1)), "anthropic")

    assert (["c1", "c1_2"], "c1") == (
        [block["id"] for block in encoded.messages[0]["content"]],
        encoded.ids["c1"],
    )


# Reasoning.


@pytest.mark.parametrize(
    ("format", "block", "expected"),
    [
        ("anthropic", THOUGHT, {"type": "thinking", "thinking": "Hm.", "signature": "c2ln"}),
        ("anthropic", SEALED, {"type": "redacted_thinking", "data": "c2VhbGVk"}),
        (
            "bedrock-converse",
            THOUGHT,
            {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
        ),
        ("bedrock-converse", SEALED, {"reasoningContent": {"redactedContent": "c2VhbGVk"}}),
    ],
)
def test_signed_thinking_goes_back(format: str, block: ReasoningBlock, expected: Any) -> None:
    """Thinking goes back to its provider with its signature, encrypted blocks unchanged, before later parts."""
    content = one(turn(block, call(), dialect=format), format)["content"]

    assert expected == content[0]
    assert 2 == len(content)


@pytest.mark.parametrize("format", ["anthropic", "bedrock-converse"])
def test_unsigned_thinking_is_left_out(format: str) -> None:
    """Thinking without a signature, such as that of a cut block, is refused; therefore it is not sent."""
    assert 1 == len(one(turn(PLAIN, call(), dialect=format), format)["content"])


def test_order_is_kept() -> None:
    """Thinking, text and calls go back in the order in which they began."""
    other = ReasoningBlock("So.", signature="b3RoZXI=")
    sent = turn(THOUGHT, "One.", call(id="a"), other, "Two.", call(id="b", index=1), dialect="anthropic")
    kinds = [block["type"] for block in one(sent, "anthropic")["content"]]

    assert ["thinking", "text", "tool_use", "thinking", "text", "tool_use"] == kinds


@pytest.mark.parametrize(
    "changed",
    [
        {"content": ()},
        {"text": "Two.", "content": ("One.", THOUGHT, 0)},
        {"reasoning": Reasoning((THOUGHT,)), "content": (PLAIN, "One.", 0)},
    ],
)
def test_turns_without_an_order(changed: dict[str, Any]) -> None:
    """Where a turn has no order, or one of another turn, reasoning comes first, then text, then calls."""
    sent = msgspec.structs.replace(turn(THOUGHT, "One.", call(), dialect="anthropic"), **changed)
    content = one(sent, "anthropic")["content"]

    assert ["thinking", "text", "tool_use"] == [block["type"] for block in content]
    assert sent.text == content[1]["text"]


def test_calls_that_the_order_does_not_name() -> None:
    """An added call comes last; a removed or open call is absent."""
    sent = msgspec.structs.replace(turn(call(id="a"), call(id="b", index=1)), content=(7, 1))

    assert ["b", "a"] == [each["id"] for each in one(sent, "chat-completions")["tool_calls"]]


GEMINI = {
    "thought": ((PLAIN,), [{"text": "Hm.", "thought": True}]),
    "signed thought": ((THOUGHT,), [{"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"}]),
    "signed text": (
        ("Aye.", ReasoningBlock(signature="c2ln", name="text")),
        [{"text": "Aye.", "thoughtSignature": "c2ln"}],
    ),
    "signature alone": (
        (ReasoningBlock(signature="c2ln", name="text"),),
        [{"text": "", "thoughtSignature": "c2ln"}],
    ),
    "signature behind a signed text": (
        (
            "Aye.",
            ReasoningBlock(signature="YQ==", name="text"),
            PLAIN,
            ReasoningBlock(signature="Yg==", name="text"),
        ),
        [
            {"text": "Aye.", "thoughtSignature": "YQ=="},
            {"text": "Hm.", "thought": True},
            {"text": "", "thoughtSignature": "Yg=="},
        ],
    ),
}


@pytest.mark.parametrize("case", GEMINI)
def test_gemini_signs_parts(case: str) -> None:
    """A signature of Gemini goes back on the very part with which it came (quirk 96)."""
    content, parts = GEMINI[case]
    sent = turn(*content, call(extra={"thoughtSignature": "Y2FsbA=="}), dialect="gemini")
    signed = {"thoughtSignature": "Y2FsbA==", "functionCall": {"id": "c1", "name": "f", "args": {}}}

    assert [*parts, signed] == one(sent, "gemini")["parts"]


def test_reasoning_of_chat_completions() -> None:
    """Reasoning goes back next to calls: its text, and its signed or encrypted parts as details."""
    blocks = (
        ReasoningBlock("Hm."),
        ReasoningBlock(data="ZGF0YQ==", id="rs_1", name="detail/rs_1"),
        ReasoningBlock(signature="c2ln", name="detail/None"),
    )

    assert {
        "reasoning_content": "Hm.",
        "reasoning_details": [
            {"type": "reasoning.encrypted", "data": "ZGF0YQ==", "id": "rs_1"},
            {"type": "reasoning.text", "text": "Hm.", "signature": "c2ln"},
        ],
    }.items() <= one(turn(*blocks, call()), "chat-completions").items()
    assert {"role": "assistant", "content": "Aye."} == one(turn(*blocks, "Aye.", reason="stop"), "kimi")


def test_encrypted_reasoning_may_go_by_the_id_of_a_call() -> None:
    """Where encrypted reasoning names the call that it led to, it takes the call's new id."""
    block = ReasoningBlock(data="ZGF0YQ==", id="call_" + "a" * 40, name="detail")
    encoded = encode_calls(turn(block, call(id=block.id or "")), "chat-completions")
    message = encoded.messages[0]

    assert message["tool_calls"][0]["id"] == message["reasoning_details"][0]["id"] == encoded.by_index[0]


def test_reasoning_of_cohere() -> None:
    """Cohere's plan goes back as the plan, its thinking as content; text comes after it."""
    plan = ReasoningBlock("I will look.", name="tool_plan")
    planned = one(turn(plan, call(), dialect="cohere-v2"), "cohere-v2")
    thought = one(turn(PLAIN, "Aye.", call(), dialect="cohere-v2"), "cohere-v2")

    assert ("I will look.", False) == (planned["tool_plan"], "content" in planned)
    assert [{"type": "thinking", "thinking": "Hm."}, {"type": "text", "text": "Aye."}] == thought["content"]
    assert [{"type": "thinking", "thinking": "Hm."}] == one(
        turn(PLAIN, call(), dialect="cohere-v2"), "cohere-v2"
    )["content"]
    assert {"role": "assistant", "content": "Aye."} == one(
        turn(plan, "Aye.", dialect="cohere-v2", reason="stop"), "cohere-v2"
    )


def test_reasoning_of_ollama() -> None:
    """Ollama's thinking goes back next to calls."""
    assert "Hm." == one(turn(PLAIN, call(), dialect="ollama"), "ollama")["thinking"]
    assert "thinking" not in one(turn(PLAIN, "Aye.", dialect="ollama", reason="stop"), "ollama")


def test_reasoning_of_responses() -> None:
    """Reasoning is an item with its id, summary and encrypted content; the call after it goes by its own item."""
    block = ReasoningBlock("Hm.", "rs_1", data="ZGF0YQ==")
    sent = turn(block, call(extra={"item_id": "fc_1"}), dialect="responses")

    assert [
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "Hm."}],
            "encrypted_content": "ZGF0YQ==",
        },
        {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "f", "arguments": "{}"},
    ] == encode_calls(sent, "responses").messages


@pytest.mark.parametrize(
    ("block", "item"),
    [
        (ReasoningBlock(id="rs_1"), [{"type": "reasoning", "id": "rs_1", "summary": []}]),
        (ReasoningBlock(data="ZA=="), [{"type": "reasoning", "summary": [], "encrypted_content": "ZA=="}]),
        (PLAIN, []),
    ],
)
def test_reasoning_items(block: ReasoningBlock, item: list[Any]) -> None:
    """A reasoning item needs its id or its encrypted content: text alone cannot go back."""
    assert item == encode_calls(turn(block, call(), dialect="responses"), "responses").messages[:-1]


@pytest.mark.parametrize(
    ("content", "types"),
    [
        ((ReasoningBlock(id="rs_1"), call(), ReasoningBlock(id="rs_2")), ["reasoning", "function_call"]),
        ((ReasoningBlock(id="rs_1"), drop(CUT, reason="aborted"), "Aye."), ["message"]),
        (("Aye.", ReasoningBlock(id="rs_1"), "\n", server("image_generation", {})), ["message"]),
        (
            (ReasoningBlock(id="rs_1"), server("image_generation", {}, index=1), call()),
            ["function_call"],
        ),
        (
            (ReasoningBlock(id="rs_1"), "\n", ReasoningBlock(id="rs_2"), call()),
            ["reasoning", "reasoning", "function_call"],
        ),
    ],
)
def test_reasoning_and_what_follows_stay_together(content: tuple[Any, ...], types: list[str]) -> None:
    """Reasoning goes back only with the part that it led to; calls that lost it no longer go by their items."""
    sent = [
        msgspec.structs.replace(piece, extra={"item_id": "fc_1"}) if hasattr(piece, "arguments") else piece
        for piece in content
    ]
    messages = encode_calls(turn(*sent, dialect="responses"), "responses").messages

    assert types == [item["type"] for item in messages]
    assert ("reasoning" in types) == any(item.get("id") == "fc_1" for item in messages)


FOREIGN = turn(
    THOUGHT,
    SEALED,
    ReasoningBlock("Hm.", "rs_1"),
    call(extra={"item_id": "fc_1", "thoughtSignature": "c2ln", "extra_content": {}}, namespace="ns"),
    dialect="copilot",
)


@together("format", ALL)
def test_reasoning_and_extras_stay_at_home(format: str) -> None:
    """A signature of one provider is meaningless to another: only text and calls go elsewhere (quirk 96)."""
    bare = turn(call(), dialect="copilot")

    assert encode_calls(bare, format).messages == encode_calls(FOREIGN, format).messages


@together("reason", ["aborted", "error"])
@together("format", ["anthropic", "responses", "bedrock-converse", "gemini"])
def test_reasoning_of_lost_turns(format: str, reason: Any) -> None:
    """An aborted turn without calls, and any turn that loses all its calls, goes back as its text alone."""
    block = ReasoningBlock("Hm.", "rs_1", "c2ln")
    aborted = turn(block, "Aye.", dialect=format, reason=reason)
    lost = turn(block, "Aye.", drop(CUT, reason="aborted"), dialect=format)
    bare = turn("Aye.", dialect=format, reason="stop")

    expected = encode_calls(bare, format).messages
    assert expected == encode_calls(aborted, format).messages == encode_calls(lost, format).messages


def test_reasoning_stays_with_calls() -> None:
    """A turn that keeps a call keeps its reasoning; so does one in which only the provider called."""
    kept = turn(THOUGHT, call(), drop(CUT, index=1, reason="aborted"), dialect="anthropic", reason="aborted")
    served = turn(THOUGHT, server("web_search", {}), "Aye.", dialect="anthropic", reason="stop")
    cut = turn(
        THOUGHT, drop("", kind="server", name="web_search"), "Aye.", dialect="anthropic", reason="stop"
    )

    assert ["thinking", "tool_use"] == [block["type"] for block in one(kept, "anthropic")["content"]]
    assert ["thinking", "text"] == [block["type"] for block in one(served, "anthropic")["content"]]
    assert ["thinking", "text"] == [block["type"] for block in one(cut, "anthropic")["content"]]


# Extra fields.


@pytest.mark.parametrize(
    ("format", "extra", "expected"),
    [
        (
            "chat-completions",
            {"extra_content": {"google": {"thought_signature": "c2ln"}}, "item_id": "fc_1"},
            {"extra_content": {"google": {"thought_signature": "c2ln"}}},
        ),
        ("anthropic", {"caller": {"type": "direct"}}, {"caller": {"type": "direct"}}),
        ("responses", {"caller": {"type": "program"}}, {"caller": {"type": "program"}}),
        ("mistral-conversations", {"confirmation_status": "allowed"}, {"confirmation_status": "allowed"}),
    ],
)
def test_extras_ride_along(format: str, extra: Any, expected: Any) -> None:
    """The fields that a provider wants back go back with the call, where they came from (quirk 96)."""
    bare = encode_calls(turn(call(), dialect=format), format).messages
    sent = encode_calls(turn(call(extra=extra), dialect=format), format).messages
    holder = sent[0].get("tool_calls") or sent[0].get("content") or sent
    plain = bare[0].get("tool_calls") or bare[0].get("content") or bare

    assert {**plain[0], **expected} == holder[0]


def test_fields_of_ours_win() -> None:
    """A provider's field never replaces the call's own fields."""
    sent = turn(call(extra={"id": "x", "type": "y", "function": "z"}))

    assert {"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}} == one(
        sent, "chat-completions"
    )["tool_calls"][0]


def test_namespaces() -> None:
    """A namespace goes back where the format has one."""
    (item,) = encode_calls(turn(call(namespace="ns"), dialect="responses"), "responses").messages
    (block,) = one(turn(call(namespace="computer"), dialect="anthropic"), "anthropic")["content"]

    assert ("ns", "computer") == (item["namespace"], block["toolset_name"])


# Other kinds of calls.


@pytest.mark.parametrize("event", [custom("SELECT 1"), drop("SELECT 1", kind="custom", reason="truncated")])
def test_free_text_calls(event: Any) -> None:
    """Free text goes back as such where such calls exist, elsewhere as the one member `input`."""
    item = {"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": "SELECT 1"}
    chat = {"id": "c1", "type": "custom", "custom": {"name": "f", "input": "SELECT 1"}}

    assert [item] == encode_calls(turn(event), "responses").messages
    assert [chat] == one(turn(event), "chat-completions")["tool_calls"]
    assert '{"input":"SELECT 1"}' == one(turn(event), "kimi")["tool_calls"][0]["function"]["arguments"]
    assert {"input": "SELECT 1"} == one(turn(event), "anthropic")["content"][0]["input"]


@pytest.mark.parametrize(
    ("event", "item"),
    [
        (
            builtin("shell", {"action": {"commands": ["ls"]}}, extra={"item_id": "sh_1"}),
            {"type": "shell_call", "id": "sh_1", "action": {"commands": ["ls"]}},
        ),
        (
            builtin("computer", {"action": {"type": "click"}}),
            {"type": "computer_call", "action": {"type": "click"}, "pending_safety_checks": []},
        ),
        (
            builtin("computer", {"actions": []}, extra={"pending_safety_checks": [{"id": "sc"}]}),
            {"type": "computer_call", "actions": [], "pending_safety_checks": [{"id": "sc"}]},
        ),
        (
            builtin("tool_search", {"arguments": {"query": "x"}}),
            {"type": "tool_search_call", "arguments": {"query": "x"}, "execution": "client"},
        ),
        (
            builtin("apply_patch", {"operation": {"type": "delete_file", "path": "a"}}),
            {"type": "apply_patch_call", "operation": {"type": "delete_file", "path": "a"}},
        ),
    ],
)
def test_provider_defined_tools(event: Any, item: Any) -> None:
    """Calls of OpenAI's own tools go back to Responses as their original items, elsewhere as plain calls."""
    sent = turn(event, dialect="responses")

    assert [{"call_id": "c1", "status": "completed", **item}] == encode_calls(sent, "responses").messages
    assert (event.name, event.arguments) == tuple(
        one(sent, "anthropic")["content"][0][key] for key in ("name", "input")
    )
    assert event.arguments == json.loads(one(sent, "kimi")["tool_calls"][0]["function"]["arguments"])


APPROVAL = server(
    "drop", {"t": 1}, "mcpr_1", raw='{"t": 1}', flags=("needs_approval",), extra={"server_label": "db"}
)


@pytest.mark.parametrize(
    ("event", "item"),
    [
        (
            server("web_search", {"action": {"type": "search", "query": "x"}}, "ws_1"),
            {
                "type": "web_search_call",
                "id": "ws_1",
                "status": "completed",
                "action": {"type": "search", "query": "x"},
            },
        ),
        (
            server("file_search", {"queries": ["x"]}, "fs_1"),
            {"type": "file_search_call", "id": "fs_1", "status": "completed", "queries": ["x"]},
        ),
        (
            APPROVAL,
            {
                "type": "mcp_approval_request",
                "id": "mcpr_1",
                "server_label": "db",
                "name": "drop",
                "arguments": '{"t": 1}',
            },
        ),
    ],
)
def test_calls_that_the_provider_executed(event: Any, item: Any) -> None:
    """Searches and requests for approval go back to Responses unchanged; they take no result and no new id."""
    encoded = encode_calls(turn(event, dialect="responses", reason="stop"), "responses")

    assert ([item], (), {}, {}) == (encoded.messages, encoded.left_out, dict(encoded.ids), encoded.by_index)


@pytest.mark.parametrize(
    ("event", "format", "dialect"),
    [
        (server("code_interpreter", {"code": "1"}), "responses", "responses"),
        (server("web_search", {}, extra={"server_label": "db"}), "responses", "responses"),
        (server("web_search", {}), "responses", "anthropic"),
        (server("web_search", {}), "anthropic", "anthropic"),
        (APPROVAL, "chat-completions", "responses"),
    ],
)
def test_calls_whose_results_are_lost(event: Any, format: str, dialect: str) -> None:
    """A call that the provider executed is left out where its result, which a turn does not hold, would be missing."""
    encoded = encode_calls(turn("Aye.", event, dialect=dialect, reason="stop"), format)

    assert ((event,), 1) == (encoded.left_out, len(encoded.messages))


# Ids over a conversation.


def test_ids_over_several_turns() -> None:
    """The map of one turn goes into the next: calls and results of the whole conversation stay together."""
    first = encode_calls(turn(call(id="functions.f:0")), "anthropic")
    second = encode_calls(turn(call(id="functions.f:0")), "anthropic", ids=first.ids)
    ids = [encoded.messages[0]["content"][0]["id"] for encoded in (first, second)]

    assert ids == [first.ids["functions.f:0"], second.ids["functions.f:0"]]
    assert ids == second.ids.answers(["functions.f:0", "functions.f:0"])
    assert 2 == len(set(ids))


def test_encoding_twice_is_the_same() -> None:
    """The encoder remembers only its arguments: the same turn and ids give the same messages."""
    before = encode_calls(turn(call()), "mistral").ids
    one_more = turn(call(id="c1"), drop(CUT, None, index=1))
    first, second = (encode_calls(one_more, "mistral", ids=before) for _ in range(2))

    assert (first.messages, first.ids, first.by_index) == (second.messages, second.ids, second.by_index)


# Mistakes.


def test_a_format_without_a_shape() -> None:
    """Where only arguments can be encoded, the message states that."""
    for format in ("vercel-data", HistoryFormat("mine", "string")):
        with pytest.raises(UnknownDialect, match="has no message shape; use encode_arguments"):
            encode_calls(SENT, format)


def test_ids_of_another_format() -> None:
    """Ids that obey another rule would be refused by the provider."""
    with pytest.raises(ValueError, match="obey 'any', but anthropic wants 'anthropic'"):
        encode_calls(SENT, "anthropic", ids=CallIds("any"))
    ids: Any = {"c1": "c1"}
    with pytest.raises(TypeError, match="those of the Encoded before, not dict"):
        encode_calls(SENT, "anthropic", ids=ids)


def test_an_unknown_word() -> None:
    """An unknown policy is refused."""
    word: Any = "raise"
    with pytest.raises(ValueError, match="one of wrap, empty, omit"):
        encode_calls(SENT, "anthropic", on_malformed=word)


def test_reprs_show_no_arguments() -> None:
    """The encoded value holds argument text, and its repr does not."""
    sent = turn(call('{"secret":"sekrit-7f3a"}'), drop("sekrit-7f3a", name=None, index=1, reason="nameless"))
    encoded = encode_calls(sent, "anthropic")

    assert "sekrit" not in repr(encoded)
    assert "<Encoded messages=1 calls=1 left_out=1>" == repr(encoded)
    assert "sekrit" not in repr(encoded.left_out)
    options = Options(format_named("anthropic"), "wrap", strict_json_arguments=False)
    assert "[<Call function 'c1' 'f'>]" == repr(
        gather(sent, Capacity(), options, CallIds("anthropic")).pieces
    )
