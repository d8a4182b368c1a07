"""Law 110: a call that comes as the client's first, and then as the server's own, is the server's, in every order and state."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

from tests.support.together import together
from wholecall import Policy, ToolCall, ToolCallCancelled, ToolCallParser

JSON = dict[str, Any]
A, SPELT, OTHER = '{"x":1,"y":[2]}', '{"y": [2],\n "x": 1.0}', '{"x":9}'


def _told_by_anthropic(kind: str, index: int, text: str) -> list[JSON]:
    block = {"type": kind, "id": "c1", "name": "go", "input": {}}
    said = {"type": "input_json_delta", "partial_json": text}
    return [
        {"type": "content_block_start", "index": index, "content_block": block},
        *([{"type": "content_block_delta", "index": index, "delta": said}] if text else []),
        {"type": "content_block_stop", "index": index},
    ]


def _told_by_responses(kind: str, index: int, text: str) -> list[JSON]:
    word = "mcp_call" if kind == "server_tool_use" else "function_call"
    item = {"type": word, "id": f"i{index}", "call_id": "c1", "name": "go", "arguments": text}
    item |= {"id": "c1"} if word == "mcp_call" else {}
    at = {"output_index": index}
    return [
        {"type": "response.output_item.added", "item": {**item, "arguments": ""}, **at},
        {"type": f"response.{word}_arguments.delta", "item_id": item["id"], "delta": text, **at},
        {"type": "response.output_item.done", "item": item, **at},
    ]


def _answer_of(dialect: str, events: list[JSON], listed: list[JSON]) -> list[JSON]:
    if dialect == "anthropic":
        opens = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
        ends = {"type": "message_delta", "delta": {"stop_reason": "tool_use"}}
        return [opens, *events, ends, {"type": "message_stop"}]
    response = {"id": "r", "status": "completed", "output": [event["item"] for event in listed]}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        *events,
        {"type": "response.completed", "response": response},
    ]


TELL = {"anthropic": _told_by_anthropic, "responses": _told_by_responses}
POLICIES = {
    "default": Policy(),
    "strict": Policy.strict(),
    "all or none": Policy(on_bad_sibling="reject_all"),
}


@together("dialect", TELL)
@together("policy", POLICIES.values(), ids=POLICIES)
@together("between", ["nothing", "another call"])
@together("n_first", [1, 2, 3], ids=["open", "has its text", "is over"])
def test_a_call_that_the_server_tells_as_its_own_is_not_the_clients(
    dialect: str, policy: Policy, between: str, n_first: int
) -> None:
    """Law 110: a client's call that comes again under its id and name as a call that the server executes is the
    server's.

    If it was emitted before, it is taken back.
    """
    told = TELL[dialect]
    other = told("tool_use", 1, "{}") if between == "another call" else []
    other = json.loads(json.dumps(other).replace("c1", "c2").replace("go", "to"))
    for texts, at in product(((A, A), (A, SPELT), ("", A), ("", ""), (A, ""), (A, OTHER)), (0, 2)):
        ours, theirs = told("tool_use", 0, texts[0])[:n_first], told("server_tool_use", at, texts[1])
        parser = ToolCallParser(dialect, policy=policy)
        frames = _answer_of(dialect, [*ours, *other, *theirs], [])
        events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
        taken_back = {event.id for event in events if isinstance(event, ToolCallCancelled)}

        assert {event.id for event in events if isinstance(event, ToolCall)} - taken_back <= {"c2"}, texts
        assert [] == [call for call in parser.turn.calls if call.name == "go"], texts


@together("n_first", [1, 2, 3], ids=["open", "has its text", "is over"])
@together("lists", [["mcp"], ["function", "mcp"], ["mcp", "function"]], ids=" ".join)
def test_a_call_that_the_list_tells_as_the_servers_is_not_the_clients(n_first: int, lists: list[str]) -> None:
    """Law 110: the same where only the list at the end marks it as executed by the server."""
    kinds = {"mcp": ("server_tool_use", 1), "function": ("tool_use", 0)}
    listed = [_told_by_responses(*kinds[word], A)[-1] for word in lists]
    parser = ToolCallParser("responses")
    frames = _answer_of("responses", _told_by_responses("tool_use", 0, A)[:n_first], listed)
    for frame in frames:
        parser.feed_event(frame)
    parser.close()

    assert ((), True) == (parser.turn.calls, bool(parser.turn.server_calls))
