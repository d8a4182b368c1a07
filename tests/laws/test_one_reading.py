"""What one reading of a stream holds is not lost: small worlds in which something odd, or an error, follows a whole call."""

from __future__ import annotations

from itertools import product
from typing import Any

import pytest

from wholecall import ServerToolCall, ToolCall, ToolCallDropped, ToolCallParser

JSON = dict[str, Any]


def _chunk(delta: JSON, reason: str | None = None, id: str = "a") -> JSON:
    return {"id": id, "choices": [{"index": 0, "delta": delta, "finish_reason": reason}]}


def _came(dialect: str, frames: list[JSON], kind: type) -> list[tuple[str, Any]]:
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    return [(event.name, event.arguments) for event in events if isinstance(event, kind)]


# Calls of the server, with their results.

RESULTS: dict[str, JSON] = {
    "output": {"output": "L0: high water"},
    "search_results": {"search_results": {"results": [{"title": "Tides"}]}},
}
FOLLOWS: dict[str, list[JSON]] = {
    "nothing": [],
    "another id": [_chunk({"content": "At noon."}, id="b"), _chunk({}, "stop", id="b")],
    "an error": [{"error": {"message": "overloaded"}}],
    "its reason": [_chunk({}, "stop")],
}


def _executed(n: int, index: int | None, told: str, result: str) -> list[JSON]:
    tool = {"index": index, "name": f"search_{n % 2}", "type": "function", "arguments": f'{{"q":{n}}}'}
    begun = {**tool, "search_results": {"results": None}}
    over = {**tool, "type": "browser_search", **RESULTS[result]}
    frames = {"once": [over], "twice": [begun, over], "again": [begun, over, over]}[told]
    return [_chunk({"executed_tools": [one]}) for one in frames]


@pytest.mark.parametrize("follows", FOLLOWS)
@pytest.mark.parametrize(
    ("n_calls", "index", "told", "result"),
    list(product((1, 2, 3), ("own", "one", "none"), ("once", "twice", "again"), RESULTS)),
)
def test_a_result_ends_the_call_of_a_server(
    n_calls: int, index: str, told: str, result: str, follows: str
) -> None:
    """Law 110: a call that the server ran is over with its result, whatever comes after it, and comes out once."""
    frames: list[JSON] = []
    for n in range(n_calls):
        at = {"own": n, "one": 0}.get(index)
        frames += _executed(n, at, told, result)
    came = _came("chat-completions", [*frames, *FOLLOWS[follows]], ServerToolCall)

    assert [(f"search_{n % 2}", {"q": n}) for n in range(n_calls)] == came


# Whole calls with a reason, and then an error.

WHOLE = ('{"n":1}', '{"n":{"m":[2]}}')  # an empty object may be a placeholder: more could come
ERRORS: dict[str, list[JSON]] = {
    "an error": [{"error": {"message": "overloaded"}}],
    "an error as the reason": [_chunk({}, "error")],
    "a beginning, then an error": [
        _chunk({"tool_calls": [{"index": 0, "id": "z", "function": {"name": "put", "arguments": '{"n":'}}]}),
        {"error": {"message": "overloaded"}},
    ],
}


def _whole(n: int, index: int | None, id: str | None, text: str, reason: str | None) -> JSON:
    call = {"index": index, "id": id, "function": {"name": f"put_{n}", "arguments": text}}
    return _chunk({"role": "assistant", "tool_calls": [call]}, reason)


@pytest.mark.parametrize("error", ERRORS)
@pytest.mark.parametrize(
    ("n_calls", "index", "ids", "text"),
    list(product((1, 2, 3), ("own", "one", "none"), (True, False), WHOLE)),
)
def test_an_error_takes_back_no_call_that_had_its_reason(
    n_calls: int, index: str, ids: bool, text: str, error: str
) -> None:
    """Law 110: of whole calls, each with a finish reason, all are as sure as the first: what an error ends came later."""
    frames = [
        _whole(n, {"own": n, "one": 0}.get(index), f"c{n}" if ids else None, text, "tool_calls")
        for n in range(n_calls)
    ]
    ended = _came("chat-completions", frames, ToolCall)
    came = _came("chat-completions", [*frames, *ERRORS[error]], ToolCall)

    assert ended == came
    assert [f"put_{n}" for n in range(n_calls)] == [name for name, _ in came]


@pytest.mark.parametrize(("n_calls", "n_ended", "text"), list(product((2, 3), (0, 1), WHOLE)))
def test_an_error_ends_what_had_no_reason(n_calls: int, n_ended: int, text: str) -> None:
    """Law 110: of such calls those after the last reason are dropped by the error."""
    frames = [_whole(n, 0, f"c{n}", text, "tool_calls" if n < n_ended else None) for n in range(n_calls)]
    parser: ToolCallParser[Any] = ToolCallParser("chat-completions")
    events = [event for frame in [*frames, *ERRORS["an error"]] for event in parser.feed_event(frame)]
    dropped = [(event.name, event.reason) for event in events if isinstance(event, ToolCallDropped)]

    assert [(f"put_{n}", "aborted") for n in range(n_ended, n_calls)] == dropped


# Text without an owner, after a call that the wire closed.


def _start(index: int, name: str) -> JSON:
    block = {"type": "tool_use", "id": f"t_{name}", "name": name, "input": {}}
    return {"type": "content_block_start", "index": index, "content_block": block}


def _piece(index: int | None, text: str) -> JSON:
    delta = {"type": "input_json_delta", "partial_json": text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


def _stop(index: int) -> JSON:
    return {"type": "content_block_stop", "index": index}


OPENS: JSON = {"type": "message_start", "message": {"id": "m", "role": "assistant", "content": []}}
ENDS: list[JSON] = [
    {"type": "message_delta", "delta": {"stop_reason": "tool_use"}},
    {"type": "message_stop"},
]
BESIDE: dict[str, list[JSON]] = {
    "alone": [_start(0, "go"), _piece(0, '{"x":'), _piece(0, "1}"), _stop(0)],
    "beside a call without text": [_start(0, "go"), _start(1, "to"), _piece(0, '{"x":1}'), _stop(0)],
    "beside a call that goes on": [
        _start(0, "go"),
        _start(1, "to"),
        _piece(1, '{"y":'),
        _piece(0, '{"x":1}'),
        _stop(0),
        _piece(1, "2}"),
    ],
}


@pytest.mark.parametrize("index", [None, 7])
@pytest.mark.parametrize("beside", BESIDE)
@pytest.mark.parametrize("stray", ["{}", '{"z":3}', '{"z"'])
def test_a_call_that_was_closed_lacks_no_later_text(beside: str, index: int | None, stray: str) -> None:
    """Law 110: text without an owner is none of a call with a text that the wire closed before; it taints what was open."""
    frames = [OPENS, *BESIDE[beside]]
    is_open = beside != "alone"
    before = _came("anthropic", [*frames, *([_stop(1)] if is_open else []), *ENDS], ToolCall)
    frames += [_piece(index, stray), _piece(8, stray), *([_stop(1)] if is_open else []), *ENDS]

    assert before[:1] == [("go", {"x": 1})]
    assert [("go", {"x": 1})] == _came("anthropic", frames, ToolCall)
