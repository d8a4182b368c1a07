"""Law 116: calls leave the repairer one after the other, under separate ids, and text does not wait for them."""

from __future__ import annotations

import json
from itertools import combinations
from typing import Any

import pytest

from tests.support import share
from tests.support.conforming import claude
from wholecall import ToolCall, ToolCallParser
from wholecall.repairing import Repairer

NAMES = ("get_tide", "find_berth")
TEXTS = ('{"khz":518}', '{"y":[2]}')
IDS = [("fc_0", "fc_1"), (None, None), ("", ""), ("same", "same"), ("fc_0", None)]


def numbered(*payloads: dict[str, Any]) -> bytes:
    """Return events of Responses."""
    return b"".join(
        b"event: %b\ndata: %b\n\n"
        % (one["type"].encode(), json.dumps({**one, "sequence_number": n}).encode())
        for n, one in enumerate(payloads)
    )


def item(at: int, id: str | None, text: str, status: str) -> dict[str, Any]:
    """Return the item of a call."""
    labels = {"type": "function_call", "id": id, "call_id": f"call_{at}", "name": NAMES[at]}
    return {**labels, "arguments": text, "status": status}


def call(at: int, id: str | None) -> list[dict[str, Any]]:
    """Return the events of a call."""
    text, event = TEXTS[at], "response.function_call_arguments"
    place = {"output_index": at, "item_id": id}
    return [
        {"type": "response.output_item.added", "output_index": at, "item": item(at, id, "", "in_progress")},
        {"type": f"{event}.delta", **place, "delta": text[:4]},
        {"type": f"{event}.delta", **place, "delta": text[4:]},
        {"type": f"{event}.done", **place, "arguments": text},
        {"type": "response.output_item.done", "output_index": at, "item": item(at, id, text, "completed")},
    ]


def responses(order: tuple[int, ...], ids: tuple[str | None, ...]) -> bytes:
    """Return a stream of two calls with the events of the first call at these places."""
    first, second = call(0, ids[0]), call(1, ids[1])
    events = [(first if at in order else second).pop(0) for at in range(10)]
    output = [item(at, ids[at], TEXTS[at], "completed") for at in (0, 1)]
    response = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}
    return numbered(
        {"type": "response.created", "response": {**response, "status": "in_progress"}},
        *events,
        {"type": "response.completed", "response": {**response, "status": "completed", "output": output}},
    )


def block(at: int) -> list[dict[str, Any]]:
    """Return the events of a block of Anthropic's."""
    start = {"type": "tool_use", "id": f"toolu_{at}", "name": NAMES[at], "input": {}}
    delta = {"type": "content_block_delta", "index": at}
    return [
        {"type": "content_block_start", "index": at, "content_block": start},
        {**delta, "delta": {"type": "input_json_delta", "partial_json": TEXTS[at][:4]}},
        {**delta, "delta": {"type": "input_json_delta", "partial_json": TEXTS[at][4:]}},
        {"type": "content_block_stop", "index": at},
    ]


def anthropic(order: tuple[int, ...]) -> bytes:
    """Return the same in Anthropic's events."""
    first, second = block(0), block(1)
    events = [(first if at in order else second).pop(0) for at in range(8)]
    message = claude([], None)
    every = [
        {"type": "message_start", "message": message},
        *events,
        {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
        {"type": "message_stop"},
    ]
    return b"".join(
        b"event: %b\ndata: %b\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in every
    )


def repaired(data: bytes) -> bytes:
    """Return a repairer's output for a stream."""
    repairer = Repairer()
    return repairer.feed(data) + repairer.close()


def calls(data: bytes) -> list[tuple[str, str]]:
    """Return the calls of a stream, in order."""
    parser: ToolCallParser[Any] = ToolCallParser()
    events = parser.feed(data) + parser.close()
    return sorted((event.name, event.raw_arguments) for event in events if isinstance(event, ToolCall))


def payloads(data: bytes) -> list[dict[str, Any]]:
    """Return the events of a stream."""
    return [json.loads(line[6:]) for line in data.splitlines() if line.startswith(b"data: {")]


def is_serial(data: bytes, begins: str, ends: str, place: str) -> bool:
    """Return whether each call is over before the next one begins, and each event is of the one that is open."""
    current: object = None
    for one in payloads(data):
        if one["type"] == begins:
            if current is not None:
                return False
            current = one[place]
        elif place in one and one[place] != current:
            return False
        if one["type"] == ends:
            current = None
    return current is None


def item_ids(data: bytes) -> list[tuple[str, ...]]:
    """Return the ids of each item of a stream, at all of its places."""
    found: dict[int, set[str]] = {}
    for one in payloads(data):
        if "output_index" in one:
            told = found.setdefault(one["output_index"], set())
            told |= {one["item"]["id"]} if "item" in one else {one["item_id"]}
        for at, whole in enumerate(one.get("response", {}).get("output", ())):
            found.setdefault(at, set()).add(whole["id"])
    return [tuple(sorted(map(str, told))) for told in found.values()]


@share.in_parts(23)
@pytest.mark.parametrize("ids", IDS)
def test_calls_of_responses_leave_one_by_one(ids: tuple[str | None, ...], part: share.Part) -> None:
    """For any interleaving of two calls, with any present or missing ids of items, each call has its own id."""
    begins, ends = "response.output_item.added", "response.output_item.done"
    for order in part.of(combinations(range(10), 5), str(ids)):
        data = responses(order, ids)
        sent, out = calls(data), repaired(data)

        assert sent == calls(out), (order, out)
        if "error" not in payloads(out)[-1]:
            told = item_ids(out)
            assert is_serial(out, begins, ends, "output_index"), (order, out)
            assert [1] * len(told) == [len(each) for each in told], (order, told)
            assert len(told) == len(set(told)), (order, told)
            assert not {("",), ("None",)} & set(told), (order, told)


def test_calls_of_anthropic_leave_one_by_one() -> None:
    """The same for blocks."""
    for order in combinations(range(8), 4):
        data = anthropic(order)
        out = repaired(data)

        assert calls(data) == calls(out), (order, out)
        assert is_serial(out, "content_block_start", "content_block_stop", "index"), (order, out)


def chat(order: tuple[int, ...]) -> bytes:
    """Return the same in chunks, three a call."""
    fragments: list[list[dict[str, Any]]] = [[], []]
    for at in (0, 1):
        head = {"index": at, "id": f"call_{at}", "type": "function"}
        fragments[at] = [
            {**head, "function": {"name": NAMES[at], "arguments": ""}},
            *({"index": at, "function": {"arguments": text}} for text in (TEXTS[at][:4], TEXTS[at][4:])),
        ]
    called = [{"tool_calls": [fragments[0 if at in order else 1].pop(0)]} for at in range(6)]
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    choices: list[dict[str, Any]] = [
        {"delta": {"role": "assistant"}},
        *({"delta": delta} for delta in called),
    ]
    choices.append({"delta": {}, "finish_reason": "tool_calls"})
    chunks = [{**head, "choices": [{"index": 0, "finish_reason": None, **one}]} for one in choices]
    return b"".join(b"data: %b\n\n" % json.dumps(one).encode() for one in chunks) + b"data: [DONE]\n\n"


def test_calls_of_chat_leave_one_by_one() -> None:
    """The same for chunks: no piece of a call comes after the next one has begun."""
    for order in combinations(range(6), 3):
        data = chat(order)
        out = repaired(data)
        deltas = [one["choices"][0]["delta"] for one in payloads(out)]
        indices = [call["index"] for delta in deltas for call in delta.get("tool_calls", ())]

        assert calls(data) == calls(out), (order, out)
        assert sorted(indices) == indices, (order, out)


def test_what_is_serial_passes() -> None:
    """Calls that come one after the other, under separate ids, leave byte for byte."""
    streams = [responses((0, 1, 2, 3, 4), ("fc_0", "fc_1")), anthropic((0, 1, 2, 3)), chat((0, 1, 2))]

    assert streams == list(map(repaired, streams))


def text_item(at: int) -> list[dict[str, Any]]:
    """Return the events of an item with text."""
    message = {"type": "message", "id": "msg_1", "role": "assistant", "content": []}
    place = {"output_index": at, "item_id": "msg_1", "content_index": 0}
    return [
        {
            "type": "response.output_item.added",
            "output_index": at,
            "item": {**message, "status": "in_progress"},
        },
        {"type": "response.output_text.delta", **place, "delta": "Hi "},
        {"type": "response.output_text.delta", **place, "delta": "there."},
        {"type": "response.output_item.done", "output_index": at, "item": {**message, "status": "completed"}},
    ]


def text_block(at: int) -> list[dict[str, Any]]:
    """Return the events of a block with text."""
    delta = {"type": "content_block_delta", "index": at}
    return [
        {"type": "content_block_start", "index": at, "content_block": {"type": "text", "text": ""}},
        {**delta, "delta": {"type": "text_delta", "text": "Hi "}},
        {**delta, "delta": {"type": "text_delta", "text": "there."}},
        {"type": "content_block_stop", "index": at},
    ]


MARKS = {
    "responses": ("response.output_item.added", "response.output_item.done", "output_index"),
    "anthropic": ("content_block_start", "content_block_stop", "index"),
}


def beside_text(wire: str, order: tuple[int, ...]) -> list[bytes]:
    """Return the frames of a stream of a call and a text, with the events at these places."""
    number = 0 if 0 in order else 1  # of the text: the earlier beginning has the lower number
    spoken = (text_item if wire == "responses" else text_block)(number)
    called = call(1 - number, "fc_0") if wire == "responses" else block(1 - number)
    events = [(spoken if at in order else called).pop(0) for at in range(len(spoken) + len(called))]
    response = {"id": "r1", "object": "response", "created_at": 1, "model": "m", "output": []}
    start, *ends = {
        "anthropic": [
            {"type": "message_start", "message": claude([], None)},
            {"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 2}},
            {"type": "message_stop"},
        ],
        "responses": [
            {"type": "response.created", "response": {**response, "status": "in_progress"}},
            {"type": "response.completed", "response": {**response, "status": "completed"}},
        ],
    }[wire]
    data = numbered(start, *events, *ends)
    return [block + b"\n\n" for block in data.split(b"\n\n") if block]


def said(data: bytes) -> str:
    """Return the text of a stream."""
    deltas = [one.get("delta") for one in payloads(data)]
    texts = [each.get("text", "") if isinstance(each, dict) else each or "" for each in deltas]
    kinds = [one["type"] for one in payloads(data)]
    return "".join(t for t, kind in zip(texts, kinds, strict=True) if "arguments" not in kind)


@pytest.mark.parametrize("wire", MARKS)
def test_speech_waits_for_no_call(wire: str) -> None:
    """However a text is interleaved with a call: each piece leaves in its read, and no item begins within another."""
    n = 9 if wire == "responses" else 8
    for order in combinations(range(n), 4):
        frames = beside_text(wire, order)
        repairer = Repairer()
        out = [*map(repairer.feed, frames), repairer.close()]
        whole = b"".join(out)

        assert list(map(said, frames)) == list(map(said, out[: len(frames)])), order
        assert calls(b"".join(frames)) == calls(whole), order
        assert is_serial(whole, *MARKS[wire]), order
