"""Law 120: a turn goes back as it came: blocks, items and details keep their order and all their members."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.together import together
from tests.support.turn_streams import content_stream, message_stream, response, response_stream, sse
from wholecall import ToolCallParser, Turn
from wholecall.history import Conversation, encode_calls

JSON = dict[str, Any]

_RESULT = {"type": "web_search_result", "url": "u", "title": "t", "encrypted_content": "E"}
_CITATION = {"type": "web_search_result_location", "url": "u", "cited_text": "high", "encrypted_index": "I"}

# Blocks of Anthropic, by kind; a call of the server's comes with its result.
BLOCKS: dict[str, list[JSON]] = {
    "text": [{"type": "text", "text": "So."}],
    "cited": [{"type": "text", "text": "High tide.", "citations": [_CITATION, {**_CITATION, "url": "v"}]}],
    "thought": [{"type": "thinking", "thinking": "hm", "signature": "S"}],
    "sealed": [{"type": "redacted_thinking", "data": "D"}],
    "call": [{"type": "tool_use", "id": "toolu_@", "name": "f", "input": {"n": 1}}],
    "programmed": [
        {"type": "tool_use", "id": "toolu_@", "name": "f", "input": {}, "caller": {"type": "code", "tool_id": "s"}}
    ],
    "search": [
        {"type": "server_tool_use", "id": "srv_@", "name": "web_search", "input": {"query": "q"}},
        {"type": "web_search_tool_result", "tool_use_id": "srv_@", "content": [_RESULT]},
    ],
    "mcp": [
        {"type": "mcp_tool_use", "id": "mcp_@", "name": "ask", "server_name": "wiki", "input": {"q": [1, None]}},
        {"type": "mcp_tool_result", "tool_use_id": "mcp_@", "is_error": False, "content": [{"type": "text", "text": "a"}]},
    ],
    "compaction": [{"type": "compaction", "content": "what was said"}],
    "unknown": [{"type": "from_tomorrow", "value": {"deep": [1, 2.5, {}]}, "tool_name": "x"}],
}  # fmt: skip


def _numbered(kinds: tuple[str, ...], table: dict[str, list[JSON]]) -> list[JSON]:
    """Return the parts of these kinds; those of one kind have new ids each time."""
    return [
        json.loads(json.dumps(part).replace("@", str(number)))
        for number, kind in enumerate(kinds)
        for part in table[kind]
    ]


def _whole(blocks: list[JSON], reason: str) -> bytes:
    message = {"type": "message", "role": "assistant", "id": "m", "model": "x", "content": blocks}
    return json.dumps({**message, "stop_reason": reason}).encode()


def _turn(dialect: str, data: bytes) -> Turn:
    parser = ToolCallParser(dialect)
    parser.feed(data)
    parser.close()
    return parser.turn


def _messages(dialect: str, data: bytes) -> list[Any]:
    return encode_calls(_turn(dialect, data), dialect).messages


def _reason(blocks: list[JSON]) -> str:
    return "tool_use" if any(block["type"] == "tool_use" for block in blocks) else "end_turn"


def _combinations(table: dict[str, list[JSON]]) -> Iterator[tuple[str, ...]]:
    for size in (1, 2, 3):
        yield from itertools.product(table, repeat=size)


def _says(blocks: list[JSON]) -> bool:
    """Return whether there is more than thoughts; thoughts alone make no message."""
    return any("thinking" not in block["type"] for block in blocks)


@together("first", BLOCKS, one_in=7)
def test_anthropic(first: str) -> None:
    """For any sequence of blocks, whole or in pieces, the message that goes back is the received message."""
    messages = [_numbered(kinds, BLOCKS) for kinds in _combinations(BLOCKS) if kinds[0] == first]
    messages = [blocks for blocks in messages if _says(blocks)]
    expected = [[{"role": "assistant", "content": blocks}] for blocks in messages]

    assert len(messages) > 90
    for write in (_whole, message_stream):
        assert expected == [_messages("anthropic", write(blocks, _reason(blocks))) for blocks in messages]


@together("write", [_whole, message_stream])
@together("kind", BLOCKS)
def test_a_pause(kind: str, write: Any) -> None:
    """A paused answer goes back unchanged, with the call that the provider is still to run, and the loop continues."""
    pending = {"type": "server_tool_use", "id": "srv_9", "name": "web_search", "input": {"query": "q"}}
    blocks = [*_numbered((kind,), BLOCKS), pending]
    turn = _turn("anthropic", write(blocks, "pause_turn"))

    assert turn.continues
    assert [{"role": "assistant", "content": blocks}] == encode_calls(turn, "anthropic").messages


# Results of a provider's tool in the answer after the calling one, by the finish reason of the calling one.
_USE, _FOUND = BLOCKS["search"]
LATER: dict[str, list[JSON]] = {
    "pause_turn": [{"type": "text", "text": "Let me look."}, _USE],
    "tool_use": [_USE, {"type": "tool_use", "id": "toolu_1", "name": "f", "input": {"n": 1}}],
}


@pytest.mark.parametrize("write", [_whole, message_stream])
@pytest.mark.parametrize("reason", LATER)
def test_a_result_of_a_later_turn(reason: str, write: Any) -> None:
    """A result whose call waits since a paused turn, or since one that waited for the client, goes back, once."""
    said = [_FOUND, {"type": "text", "text": "So."}]
    first, second = (
        _turn("anthropic", write(LATER[reason], reason)),
        _turn("anthropic", write(said, "end_turn")),
    )
    results = {call.id: "1" for call in first.calls}
    conversation = Conversation("anthropic")
    messages = conversation.add(first, results)
    stored = Conversation.after(messages, "anthropic")

    assert LATER[reason] == messages[0]["content"]
    for one in (conversation, stored):
        assert [{"role": "assistant", "content": said}] == one.add(second)
        assert [{"role": "assistant", "content": said[1:]}] == one.add(second)


def test_what_the_provider_refuses() -> None:
    """A call that it ran without a result, and a result without a call: neither goes back where no call is pending."""
    use, result = _numbered(("search",), BLOCKS)
    said = {"type": "text", "text": "So."}

    assert [{"role": "assistant", "content": [said]}] == _messages(
        "anthropic", _whole([use, said], "end_turn")
    )
    assert [{"role": "assistant", "content": [said]}] == _messages(
        "anthropic", _whole([result, said], "end_turn")
    )
    assert [{"role": "assistant", "content": [use, result]}] == _messages(
        "anthropic", _whole([use, result, result], "end_turn")
    )


def test_nobody_else_gets_them() -> None:
    """Content that only one provider understands goes to no other: its text does."""
    turn = _turn("anthropic", _whole(_numbered(("cited", "unknown", "search", "call"), BLOCKS), "tool_use"))
    (message,) = encode_calls(turn, "chat-completions").messages

    assert ["role", "content", "tool_calls"] == list(message)
    assert "High tide." == message["content"] == turn.text


def test_what_the_next_request_needs() -> None:
    """The container in which code runs is named in the next request, whether the message is whole or streamed."""
    container = {"id": "container_1", "expires_at": "2027-01-01T00:00:00Z"}
    (call,) = _numbered(("call",), BLOCKS)
    whole = json.loads(_whole([call], "tool_use")) | {"container": container}
    delta: JSON = {"type": "message_delta", "delta": {"stop_reason": "tool_use", "container": container}}
    start = {"type": "message_start", "message": {"id": "m", "content": [call]}}
    carried = []
    for data in (json.dumps(whole).encode(), sse(start, delta, {"type": "message_stop"})):
        conversation = Conversation("anthropic")
        conversation.add(_turn("anthropic", data), {"toolu_0": "1"})
        carried.append(conversation.carries_on)

    assert [{"container": "container_1"}] * 2 == carried


# Items of Responses, by kind.
_MESSAGE = {"type": "message", "role": "assistant", "status": "completed"}
ITEMS: dict[str, list[JSON]] = {
    "text": [{**_MESSAGE, "content": [{"type": "output_text", "text": "So."}]}],
    "phase": [
        {**_MESSAGE, "phase": "commentary", "content": [{"type": "output_text", "text": "Hm.", "annotations": []}]}
    ],
    "cited": [
        {**_MESSAGE, "content": [{"type": "output_text", "text": "x", "annotations": [{"type": "url_citation", "url": "u"}]}]}
    ],
    "refusal": [{**_MESSAGE, "content": [{"type": "refusal", "refusal": "No."}]}],
    "call": [{"type": "function_call", "id": "fc_@", "call_id": "call_@", "name": "f", "arguments": '{"n": 1}'}],
    "program": [
        {"type": "program", "id": "pg_@", "call_id": "pc_@", "code": "x()", "fingerprint": "f", "status": "completed"},
        {"type": "program_output", "id": "po_@", "call_id": "pc_@", "result": "1", "status": "completed"},
    ],
    "code": [
        {"type": "code_interpreter_call", "id": "ci_@", "code": "1", "container_id": "c", "outputs": [], "status": "completed"}
    ],
    "mcp": [
        {"type": "mcp_call", "id": "mcp_@", "name": "ask", "server_label": "wiki", "arguments": "{}", "output": "a"}
    ],
    "search": [{"type": "web_search_call", "id": "ws_@", "status": "completed", "action": {"type": "search", "query": "q"}}],
    "thought": [
        {"type": "reasoning", "id": "rs_@", "summary": [{"type": "summary_text", "text": "hm"}], "encrypted_content": "E"},
        {"type": "web_search_call", "id": "ws_@", "status": "completed", "action": {"type": "open_page", "url": "u"}},
    ],
    "unknown": [{"type": "from_tomorrow", "id": "ft_@", "value": [1, {}]}],
}  # fmt: skip


def _sent(item: JSON) -> JSON:
    """Return an item as it goes back: messages of plain text without their status."""
    plain = item["type"] == "message" and "phase" not in item
    plain = plain and all(
        part["type"] == "output_text" and not part.get("annotations") for part in item["content"]
    )
    return {name: value for name, value in item.items() if not (plain and name == "status")}


@pytest.mark.sampled(15)
@pytest.mark.parametrize("first", ITEMS)
def test_responses(first: str) -> None:
    """Any sequence of items: in a whole response, in events, and in events with an empty list at the end."""
    responses = [_numbered(kinds, ITEMS) for kinds in _combinations(ITEMS) if kinds[0] == first]
    expected = [[_sent(item) for item in items] for items in responses]

    assert 133 == len(responses)
    assert expected == [_messages("responses", json.dumps(response(items)).encode()) for items in responses]
    assert expected == [_messages("responses", response_stream(items, items)) for items in responses]
    assert expected == [_messages("responses", response_stream(items, [])) for items in responses]


# Details of reasoning in Chat Completions, as they come in pieces and as they go back.
_TEXT = {"type": "reasoning.text", "format": "f", "index": 0}
DETAILS: dict[str, tuple[list[JSON], list[JSON]]] = {
    "signed": (
        [{**_TEXT, "text": "a"}, {**_TEXT, "text": "b"}, {**_TEXT, "text": "", "signature": "S"}],
        [{**_TEXT, "text": "ab", "signature": "S"}],
    ),
    "unsigned": ([{**_TEXT, "text": "c", "index": 2}], [{**_TEXT, "text": "c", "index": 2}]),
    "summary": (
        [{"type": "reasoning.summary", "summary": "d"}, {"type": "reasoning.summary", "summary": "e"}],
        [{"type": "reasoning.summary", "summary": "de"}],
    ),
    "sealed": (
        [{"type": "reasoning.encrypted", "data": "E", "id": "call_1", "format": "g", "index": 1}],
        [{"type": "reasoning.encrypted", "data": "E", "id": "call_1", "format": "g", "index": 1}],
    ),
}


def _chunk(delta: JSON, reason: str | None = None) -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'id': 'c', 'object': 'chat.completion.chunk', 'choices': [choice]})}\n\n".encode()


_CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}


@together("beside", ["reasoning", "reasoning_content", None])
@together("kinds", list(itertools.permutations(DETAILS, 3)))
def test_details(kinds: tuple[str, ...], beside: str | None) -> None:
    """Details go back joined and else as they came, next to text in a separate field or alone, streamed or whole."""
    pieces = [detail for kind in kinds for detail in DETAILS[kind][0]]
    whole = [detail for kind in kinds for detail in DETAILS[kind][1]]
    texts = [detail.get("text", detail.get("summary", "")) for detail in pieces]
    own = [{beside: text} if beside and text else {} for text in texts]
    deltas = [{**said, "reasoning_details": [detail]} for said, detail in zip(own, pieces, strict=True)]
    stream = b"".join([_chunk({"role": "assistant"}), *map(_chunk, deltas)])
    stream += _chunk({"tool_calls": [{"index": 0, **_CALL}]}) + _chunk({}, "tool_calls") + b"data: [DONE]\n\n"
    said = {beside: "".join(texts)} if beside else {}
    message = {
        "role": "assistant",
        "content": None,
        **said,
        "reasoning_details": whole,
        "tool_calls": [_CALL],
    }
    body = {
        "id": "c",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}],
    }

    for data in (stream, json.dumps(body).encode()):
        turn = _turn("chat-completions", data)
        (sent,) = encode_calls(turn, "chat-completions").messages
        assert (whole, "".join(texts)) == (sent["reasoning_details"], sent["reasoning_content"])
        assert "".join(texts) == turn.reasoning.text


def test_gemini_gets_no_id_that_the_wire_did_not_have() -> None:
    """Vertex refuses the member `id`; results of such calls are in their order, under the tool's name."""
    calls = [{"functionCall": {"name": "f", "args": {"n": n}}} for n in (1, 2)]
    named = [{"functionCall": {"id": "a", "name": "f", "args": {}}}]
    data = [
        json.dumps(
            {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
        ).encode()
        for parts in (calls, named)
    ]
    conversation = Conversation("gemini")
    first, second = (_turn("gemini", one) for one in data)

    assert [
        {"role": "model", "parts": calls},
        {
            "role": "user",
            "parts": [{"functionResponse": {"name": "f", "response": {"output": n}}} for n in (1, 2)],
        },
    ] == conversation.add(first, {call.id: call.arguments["n"] for call in first.calls})
    assert [
        {"role": "model", "parts": named},
        {
            "role": "user",
            "parts": [{"functionResponse": {"id": "a", "name": "f", "response": {"output": 3}}}],
        },
    ] == conversation.add(second, {"a": 3})


# Parts of Gemini, by kind; results of its tools follow their calls.
PARTS: dict[str, list[JSON]] = {
    "text": [{"text": "So."}],
    "thought": [{"text": "hm", "thought": True, "thoughtSignature": "UyM="}],
    "signed": [{"text": "Well.", "thoughtSignature": "UyM="}],
    "call": [{"functionCall": {"name": "f", "args": {"n": 1}}, "thoughtSignature": "UyM="}],
    "code": [
        {"executableCode": {"language": "PYTHON", "code": "print(1)"}, "thoughtSignature": "UyM="},
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "1\n"}},
    ],
    "tool": [
        {"toolCall": {"id": "t_@", "toolType": "GOOGLE_SEARCH_WEB", "args": {"q": "x"}}},
        {"toolResponse": {"id": "t_@", "toolType": "GOOGLE_SEARCH_WEB", "response": {"n": [1]}}},
    ],
    "picture": [{"inlineData": {"mimeType": "image/png", "data": "AAAA"}, "thoughtSignature": "UyM="}],
    "file": [{"file_data": {"mime_type": "text/plain", "file_uri": "u"}}],
    "unknown": [{"fromTomorrow": {"deep": [1, {}]}, "thoughtSignature": "UyM=", "more": 1}],
}


@together("first", PARTS, one_in=5)
def test_gemini(first: str) -> None:
    """Any sequence of parts, one per chunk or all in one body, goes back; none is reported as left out."""
    answers = [_numbered(kinds, PARTS) for kinds in _combinations(PARTS) if kinds[0] == first]
    turns = [
        _turn("gemini", write(parts))
        for write in (content_stream, _content)
        for parts in answers
        if _apart(parts)
    ]
    expected = [{"role": "model", "parts": parts} for parts in answers if _apart(parts)] * 2

    assert len(turns) > 100
    assert expected == [encode_calls(turn, "gemini").messages[0] for turn in turns]
    assert [()] * len(turns) == [encode_calls(turn, "gemini").left_out for turn in turns]


def _content(parts: list[JSON]) -> bytes:
    content = {"role": "model", "parts": parts}
    return json.dumps(
        {"candidates": [{"content": content, "finishReason": "STOP"}], "responseId": "r"}
    ).encode()


def _apart(parts: list[JSON]) -> bool:
    """Return whether no two parts are pieces of one (text after text, thought after thought), nor all thoughts."""
    kinds = [(part.get("thought"), "text" in part) for part in parts]
    pieces = any(one == other and one[1] for one, other in itertools.pairwise(kinds))
    return not pieces and any(not part.get("thought") for part in parts)


# Blocks of Converse, by kind; results of its tools follow their calls.
_SEARCHED = {"toolUseId": "tu_@", "name": "nova_grounding", "input": {"q": "x"}, "type": "server_tool_use"}
_SOURCE = {"title": "Tides", "location": {"web": {"url": "u"}}, "sourceContent": [{"text": "High."}]}
CONVERSE: dict[str, list[JSON]] = {
    "text": [{"text": "So."}],
    "thought": [{"reasoningContent": {"reasoningText": {"text": "hm", "signature": "UyM="}}}],
    "sealed": [{"reasoningContent": {"redactedContent": "UyM="}}],
    "call": [{"toolUse": {"toolUseId": "c_@", "name": "f", "input": {"n": 1}}}],
    "search": [
        {"toolUse": _SEARCHED},
        {"toolResult": {"toolUseId": "tu_@", "type": "grounding", "status": "success", "content": [{"text": "6 pm"}, {"json": {"n": 1}}]}},
    ],
    "cited": [{"citationsContent": {"content": [{"text": "High water."}], "citations": [_SOURCE, {**_SOURCE, "title": "More"}]}}],
}  # fmt: skip
ONLY_WHOLE: dict[str, list[JSON]] = {
    "picture": [{"image": {"format": "png", "source": {"bytes": "AAAA"}}}],
    "unknown": [{"fromTomorrow": {"deep": [1, {}]}}],
}


def _converse_pieces(part: JSON) -> tuple[JSON | None, list[JSON]]:
    """Return how a block of Converse starts, and its deltas."""
    if "text" in part:
        return None, [{"text": part["text"][:1]}, {"text": part["text"][1:]}]
    if "reasoningContent" in part:
        thought = part["reasoningContent"]
        signed = thought.get("reasoningText")
        pieces = [thought] if signed is None else [{name: one} for name, one in signed.items()]
        return None, [{"reasoningContent": piece} for piece in pieces]
    if "toolUse" in part:
        head = {name: one for name, one in part["toolUse"].items() if name != "input"}
        return {"toolUse": head}, [{"toolUse": {"input": json.dumps(part["toolUse"]["input"])}}]
    if "toolResult" in part:
        head = {name: one for name, one in part["toolResult"].items() if name != "content"}
        text, value = part["toolResult"]["content"]
        halves = [{"text": text["text"][:2]}, {"text": text["text"][2:]}]
        return {"toolResult": head}, [{"toolResult": [halves[0]]}, {"toolResult": [halves[1], value]}]
    cited = part["citationsContent"]
    said, (first, second) = cited["content"][0]["text"], cited["citations"]
    return None, [{"text": said[:2]}, {"citation": first}, {"text": said[2:]}, {"citation": second}]


def _converse_stream(parts: list[JSON], reason: str) -> bytes:
    events: list[JSON] = [{"messageStart": {"role": "assistant"}}]
    for index, part in enumerate(parts):
        start, deltas = _converse_pieces(part)
        at = {"contentBlockIndex": index}
        events += [] if start is None else [{"contentBlockStart": {**at, "start": start}}]
        events += [{"contentBlockDelta": {**at, "delta": delta}} for delta in deltas]
        events.append({"contentBlockStop": at})
    events.append({"messageStop": {"stopReason": reason}})
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def _converse_body(parts: list[JSON], reason: str) -> bytes:
    message = {"role": "assistant", "content": parts}
    return json.dumps({"output": {"message": message}, "stopReason": reason, "usage": {}}).encode()


@together("first", [*CONVERSE, *ONLY_WHOLE], one_in=3)
def test_converse(first: str) -> None:
    """Any sequence of blocks, streamed or whole, goes back; also images and unknown blocks of whole messages."""
    for write, table in ((_converse_stream, CONVERSE), (_converse_body, CONVERSE | ONLY_WHOLE)):
        messages = [_numbered(kinds, table) for kinds in _combinations(table) if kinds[0] == first]
        messages = [parts for parts in messages if any("reasoningContent" not in part for part in parts)]
        reasons = ["tool_use" if any(_is_ours(part) for part in parts) else "end_turn" for parts in messages]
        written = [write(parts, reason) for parts, reason in zip(messages, reasons, strict=True)]

        assert [[{"role": "assistant", "content": parts}] for parts in messages] == [
            _messages("bedrock-converse", data) for data in written
        ]


def _is_ours(part: JSON) -> bool:
    return "toolUse" in part and "type" not in part["toolUse"]
