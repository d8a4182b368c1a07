"""OpenAI Realtime: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall import ToolCall, ToolCallDropped, ToolCallParser

JSON = dict[str, Any]
ARGUMENTS = "function_call_arguments"


def parse(*payloads: JSON) -> list[Any]:
    """Return how the calls of a session end."""
    parser = ToolCallParser("openai-realtime", framing="jsonl")
    found = parser.feed(b"".join(json.dumps(payload).encode() + b"\n" for payload in payloads))
    return [event for event in [*found, *parser.close()] if isinstance(event, (ToolCall, ToolCallDropped))]


def of(kind: str, response: str | None = "r1", **fields: Any) -> JSON:
    """Build an event of a response."""
    return {"type": f"response.{kind}", "event_id": "e1", "response_id": response, **fields}


def created(response: str | None = "r1") -> JSON:
    """Build the event that begins a response."""
    return {"type": "response.created", "event_id": "e1", "response": {"id": response, "output": []}}


def ended(*output: JSON, response: str | None = "r1", **fields: Any) -> JSON:
    """Build the event that ends a response."""
    told = {"id": response, "status": "completed", "output": list(output), **fields}
    return {"type": "response.done", "event_id": "e1", "response": told}


def call(**fields: Any) -> JSON:
    """Build a function call item."""
    item = {"type": "function_call", "id": "item_1", "call_id": "c1", "name": "f", "arguments": ""}
    return {**item, **fields}


def test_one_call_id_on_two_items_is_two_calls() -> None:
    """An item that is announced under a new id is a new call; its pieces are its own."""
    first, second = call(arguments='{"a":1}'), call(id="item_2", arguments='{"a":2}')
    found = parse(
        created(),
        of("output_item.added", item=call()),
        of("output_item.added", item=call(id="item_2")),
        of(f"{ARGUMENTS}.delta", item_id="item_1", call_id="c1", delta='{"a":1}'),
        of(f"{ARGUMENTS}.delta", item_id="item_2", call_id="c1", delta='{"a":2}'),
        of("output_item.done", item=first),
        of("output_item.done", item=second),
        ended(first, second),
    )

    assert [("c1", {"a": 1}, ()), ("c1#2", {"a": 2}, ("duplicate_id",))] == [
        (one.id, one.arguments, one.flags) for one in found
    ]


@pytest.mark.parametrize("status", ["cancelled", "failed"])
def test_what_was_taken_back_is_not_restated(status: str) -> None:
    """The output of a response that did not complete opens no call, complete by its looks or not."""
    (drop,) = parse(
        created(),
        of("output_item.added", item=call()),
        of(f"{ARGUMENTS}.delta", item_id="item_1", delta='{"a":1}'),
        ended(call(arguments='{"a":1}'), call(id="item_2", call_id="c2", arguments="{}"), status=status),
    )

    assert ("c1", "aborted", '{"a":1}') == (drop.id, drop.reason, drop.raw_arguments)
