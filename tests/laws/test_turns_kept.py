"""Law 120: a turn goes back as it came: blocks, items and details keep their order and all their members."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator
from typing import Any

import pytest

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
    """Return the parts of these kinds; those of one kind have ids of their own each time."""
    return [
        json.loads(json.dumps(part).replace("@", str(number)))
        for number, kind in enumerate(kinds)
        for part in table[kind]
    ]


def _sse(*events: JSON) -> bytes:
    return "".join(f"event: {event['type']}\ndata: {json.dumps(event)}\n\n" for event in events).encode()


def _pieces(block: JSON) -> tuple[JSON, list[JSON]]:
    """Return how a block of Anthropic starts, and its deltas."""
    kind = block["type"]
    if kind == "text":
        cited = [{"type": "citations_delta", "citation": one} for one in block.get("citations", ())]
        half = len(block["text"]) // 2
        texts = [
            {"type": "text_delta", "text": text} for text in (block["text"][:half], block["text"][half:])
        ]
        return {"type": "text", "text": ""}, [texts[0], *cited, texts[1]]
    if kind == "thinking":
        said = {"type": "thinking_delta", "thinking": block["thinking"]}
        return {**block, "thinking": "", "signature": ""}, [
            said,
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    if "input" in block:
        return {**block, "input": {}}, [
            {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        ]
    if kind == "compaction":
        half = len(block["content"]) // 2
        parts = (block["content"][:half], block["content"][half:])
        return {"type": kind, "content": ""}, [
            {"type": "compaction_delta", "content": part} for part in parts
        ]
    return block, []


def _streamed(blocks: list[JSON], reason: str) -> bytes:
    events: list[JSON] = [{"type": "message_start", "message": {"id": "m", "model": "x", "content": []}}]
    for index, block in enumerate(blocks):
        start, deltas = _pieces(block)
        events += [
            {"type": "content_block_start", "index": index, "content_block": start},
            *({"type": "content_block_delta", "index": index, "delta": delta} for delta in deltas),
            {"type": "content_block_stop", "index": index},
        ]
    events += [{"type": "message_delta", "delta": {"stop_reason": reason}}, {"type": "message_stop"}]
    return _sse(*events)


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
    """Whether there is more than thoughts, of which alone no message is made."""
    return any("thinking" not in block["type"] for block in blocks)


@pytest.mark.parametrize("first", BLOCKS)
def test_anthropic(first: str) -> None:
    """Whatever blocks follow each other, whole or in pieces: the message that goes back is the one that came."""
    messages = [_numbered(kinds, BLOCKS) for kinds in _combinations(BLOCKS) if kinds[0] == first]
    messages = [blocks for blocks in messages if _says(blocks)]
    expected = [[{"role": "assistant", "content": blocks}] for blocks in messages]

    assert len(messages) > 90
    for write in (_whole, _streamed):
        assert expected == [_messages("anthropic", write(blocks, _reason(blocks))) for blocks in messages]


@pytest.mark.parametrize("write", [_whole, _streamed])
@pytest.mark.parametrize("kind", BLOCKS)
def test_a_pause(kind: str, write: Any) -> None:
    """A paused answer goes back unchanged, with the call that the provider is still to run, and the loop goes on."""
    pending = {"type": "server_tool_use", "id": "srv_9", "name": "web_search", "input": {"query": "q"}}
    blocks = [*_numbered((kind,), BLOCKS), pending]
    turn = _turn("anthropic", write(blocks, "pause_turn"))

    assert turn.continues
    assert [{"role": "assistant", "content": blocks}] == encode_calls(turn, "anthropic").messages


def test_what_the_provider_refuses() -> None:
    """A call that it ran without a result, and a result without a call: neither goes back where nothing is pending."""
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
    """What only one provider understands goes to no other: its text does."""
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
    for data in (json.dumps(whole).encode(), _sse(start, delta, {"type": "message_stop"})):
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
    "unknown": [{"type": "from_tomorrow", "id": "ft_@", "value": [1, {}]}],
}  # fmt: skip


def _response(items: list[JSON], status: str = "completed") -> JSON:
    return {"id": "r", "object": "response", "model": "x", "status": status, "output": items}


def _events(items: list[JSON], listed: list[JSON]) -> bytes:
    events: list[JSON] = [{"type": "response.created", "response": _response([], "in_progress")}]
    for index, item in enumerate(items):
        empty = {"content": []} if item["type"] == "message" else {}
        skeleton = {**item, **empty, **({"arguments": ""} if "arguments" in item else {})}
        events.append({"type": "response.output_item.added", "output_index": index, "item": skeleton})
        for part in item.get("content", ()):
            kind = "refusal" if "refusal" in part else "output_text"
            said = part.get("text") or part["refusal"]
            events.append({"type": f"response.{kind}.delta", "output_index": index, "delta": said})
        events.append({"type": "response.output_item.done", "output_index": index, "item": item})
    return _sse(*events, {"type": "response.completed", "response": _response(listed)})


def _sent(item: JSON) -> JSON:
    """Return an item as it goes back: messages of plain text without their status."""
    plain = item["type"] == "message" and "phase" not in item
    plain = plain and all(
        part["type"] == "output_text" and not part.get("annotations") for part in item["content"]
    )
    return {name: value for name, value in item.items() if not (plain and name == "status")}


@pytest.mark.parametrize("first", ITEMS)
def test_responses(first: str) -> None:
    """Whatever items follow each other: in a whole response, in events, and in events with an empty list at the end."""
    responses = [_numbered(kinds, ITEMS) for kinds in _combinations(ITEMS) if kinds[0] == first]
    expected = [[_sent(item) for item in items] for items in responses]

    assert 91 == len(responses)
    assert expected == [_messages("responses", json.dumps(_response(items)).encode()) for items in responses]
    assert expected == [_messages("responses", _events(items, items)) for items in responses]
    assert expected == [_messages("responses", _events(items, [])) for items in responses]


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


@pytest.mark.parametrize("beside", ["reasoning", "reasoning_content", None])
@pytest.mark.parametrize("kinds", list(itertools.permutations(DETAILS, 3)))
def test_details(kinds: tuple[str, ...], beside: str | None) -> None:
    """Details go back joined and else as they came, beside text in a field of its own or alone, streamed or whole."""
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
    """Vertex refuses the member `id`; results of such calls stand in their order, under the tool's name."""
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
