"""Laws of streams with one reading: small worlds in which something odd, or an error, follows a whole call."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest

from tests.support.together import together
from wholecall import CustomToolCall, ServerToolCall, ToolCall, ToolCallDropped, ToolCallParser

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


@together("follows", FOLLOWS)
@together(
    ("n_calls", "index", "told", "result"),
    list(product((1, 2, 3), ("own", "one", "none"), ("once", "twice", "again"), RESULTS)),
)
def test_a_result_ends_the_call_of_a_server(
    n_calls: int, index: str, told: str, result: str, follows: str
) -> None:
    """Law 109: a call that the server ran ends with its result, whatever follows, and is emitted once."""
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


@together("error", ERRORS)
@together(
    ("n_calls", "index", "ids", "text"),
    list(product((1, 2, 3), ("own", "one", "none"), (True, False), WHOLE)),
)
def test_an_error_takes_back_no_call_that_had_its_reason(
    n_calls: int, index: str, ids: bool, text: str, error: str
) -> None:
    """Law 109: whole calls, each with a finish reason, are all as certain as the first: an error comes later."""
    frames = [
        _whole(n, {"own": n, "one": 0}.get(index), f"c{n}" if ids else None, text, "tool_calls")
        for n in range(n_calls)
    ]
    ended = _came("chat-completions", frames, ToolCall)
    came = _came("chat-completions", [*frames, *ERRORS[error]], ToolCall)

    assert ended == came
    assert [f"put_{n}" for n in range(n_calls)] == [name for name, _ in came]


@together(("n_calls", "n_ended", "text"), list(product((2, 3), (0, 1), WHOLE)))
def test_an_error_ends_what_had_no_reason(n_calls: int, n_ended: int, text: str) -> None:
    """Law 109: of such calls those after the last reason are dropped by the error."""
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


@together("index", [None, 7])
@together("beside", BESIDE)
@together("orphan", ["{}", '{"z":3}', '{"z"'])
def test_a_call_that_was_closed_lacks_no_later_text(beside: str, index: int | None, orphan: str) -> None:
    """Law 109: text without an owner is not part of a call whose text the wire closed before; it taints open calls."""
    frames = [OPENS, *BESIDE[beside]]
    is_open = beside != "alone"
    before = _came("anthropic", [*frames, *([_stop(1)] if is_open else []), *ENDS], ToolCall)
    frames += [_piece(index, orphan), _piece(8, orphan), *([_stop(1)] if is_open else []), *ENDS]

    assert before[:1] == [("go", {"x": 1})]
    assert [("go", {"x": 1})] == _came("anthropic", frames, ToolCall)


@together("pieces", [['{"x":', "1"], ['{"x":', "1}"], ['{"x":1}'], list('{"x":1}')])
@together("late", ["2}", "}", " ", '{"x":2}'])
@together("by_one", [False, True], ids=["together", "one by one"])
def test_text_behind_the_end_of_its_block_is_nobodys(pieces: list[str], late: str, by_one: bool) -> None:
    """Law 109: pieces at the number of an ended block are not part of its call while another block continues."""
    told = [_piece(0, piece) for piece in pieces]
    frames = [OPENS, _start(0, "go"), _start(1, "to"), _piece(1, '{"y":'), *told, _stop(0)]
    frames += [_piece(0, late), _piece(0, late), _piece(1, "2}"), _stop(1), *ENDS]
    parser: ToolCallParser[Any] = ToolCallParser("anthropic")
    reads = frames if by_one else ["".join(f"data: {json.dumps(frame)}\n\n" for frame in frames).encode()]
    events = [e for read in reads for e in (parser.feed_event(read) if by_one else parser.feed(read))]
    ends = [event for event in [*events, *parser.close()] if isinstance(event, (ToolCall, ToolCallDropped))]
    texts = {event.name: event.raw_arguments for event in ends}

    assert "".join(pieces) == texts["go"]
    assert [] == [
        event for event in ends if isinstance(event, ToolCall) and event.name != "go" and late.strip()
    ]
    assert late * 2 == "".join(event.raw_arguments for event in ends if event.name is None)


# Text without labels, of calls that came whole or in their order.

TEXTS = (
    ('{"x":1}',),
    ("{}",),
    ('{"x":1}', '{"y":2}'),
    ('{"x":1}', '{"x":1}'),
    ("{}", '{"x":1}'),
    ("{}", "{}"),
    ('{"x":1}', "{}", '{"y":2}'),
)
LABELS = ("own", "none", "absent")
ORDERS = ("one by one", "by kind", "by text", "by text, items last")
ORDERS_OF_ITEMS = ("in order", "reversed")


def _event(kind: str, n: int, labels: str, **more: Any) -> list[JSON]:
    event = {"type": f"response.{kind}", **more}
    own = {"output_index": n, "item_id": f"fc_{n}"}
    return [] if labels == "absent" else [event | own if labels == "own" else event]


def _in_pieces(n: int, text: str, labels: str) -> list[JSON]:
    pieces = [piece for piece in (text[:3], text[3:]) if piece]
    return [f for piece in pieces for f in _event("function_call_arguments.delta", n, labels, delta=piece)]


def _name(n: int, names: str) -> str:
    return "go" if names == "same" else f"go_{n}"


def _responses(
    texts: tuple[str, ...], order: str, pieces: str, dones: str, items: str, names: str = "same"
) -> list[JSON]:
    """Return the events of calls whose pieces and done events may have no labels, and whose items may come in any order."""
    numbers = range(len(texts))
    whole = [
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": f"c{n}",
            "name": _name(n, names),
            "arguments": text,
        }
        for n, text in enumerate(texts)
    ]
    added = [_event("output_item.added", n, "own", item={**whole[n], "arguments": ""}) for n in numbers]
    parts = [_in_pieces(n, texts[n], pieces) for n in numbers]
    told = [_event("function_call_arguments.done", n, dones, arguments=texts[n]) for n in numbers]
    done = [
        _event("output_item.done", n, "own", item=whole[n]) if items in ORDERS_OF_ITEMS else []
        for n in numbers
    ]
    if items == "reversed":
        done.reverse()
    spoken = [[*parts[n], *told[n]] for n in numbers]
    frames = {
        "one by one": [[*added[n], *spoken[n], *done[n]] for n in numbers],
        "by kind": [*added, *parts, *told, *done],
        "by text": [*added, *([*spoken[n], *done[n]] for n in numbers)],
        "by text, items last": [*added, *spoken, *done],
    }[order]
    response = {"id": "r", "status": "completed", "output": whole if items == "listed" else []}
    return [
        {"type": "response.created", "response": {"id": "r"}},
        *(frame for some in frames for frame in some),
        {"type": "response.completed", "response": response},
    ]


WORLD = [
    (order, pieces, dones, items)
    for order, pieces, dones, items in product(ORDERS, LABELS, LABELS, (*ORDERS_OF_ITEMS, "listed", "none"))
    if items != "reversed" or order in ("by kind", "by text, items last")
]


def _ended(frames: list[JSON]) -> tuple[list[ToolCall], list[ToolCallDropped]]:
    parser: ToolCallParser[Any] = ToolCallParser("responses")
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    calls = [event for event in events if isinstance(event, ToolCall)]
    return calls, [event for event in events if isinstance(event, ToolCallDropped)]


def _crossed(frames: list[JSON], texts: tuple[str, ...]) -> list[JSON]:
    """Return the pieces in their order, and each done event with the text of a later call."""
    told = iter(reversed(texts))
    return [{**frame, "arguments": next(told)} if "arguments" in frame else frame for frame in frames]


def _said(calls: list[ToolCall]) -> list[tuple[str, str, Any]]:
    return sorted((call.id, call.name, call.arguments) for call in calls)


def _is_read_once(
    texts: tuple[str, ...], order: str, pieces: str, dones: str, items: str, names: str
) -> bool:
    """Return whether all readings of such events give the same calls.

    Done events without labels are in the order of calls, or crossed: then only calls of one name, or texts that are the
    same, are the same calls.
    """
    if items != "none" or "own" in (pieces, dones):
        return True
    is_only = len(texts) == 1
    if dones == "absent":
        return pieces == "none" and is_only
    return is_only or order == "one by one" or names == "same" or len(set(texts)) == 1


@pytest.mark.sampled(19)
@pytest.mark.parametrize("names", ["same", "own"])
@pytest.mark.parametrize("texts", TEXTS)
@pytest.mark.parametrize(("order", "pieces", "dones", "items"), WORLD)
def test_text_without_labels_is_accounted_for(
    order: str, pieces: str, dones: str, items: str, texts: tuple[str, ...], names: str
) -> None:
    """Law 109: where texts also have labels, or are whole and in the order of calls, none is lost or left over."""
    calls, drops = _ended(_responses(texts, order, pieces, dones, items, names))
    sent = [(f"c{n}", _name(n, names), json.loads(text)) for n, text in enumerate(texts)]

    if _is_read_once(texts, order, pieces, dones, items, names):
        assert (sent, []) == (_said(calls), drops)
    assert [] == [call for call in _said(calls) if call not in sent]


@pytest.mark.parametrize(("n_calls", "order"), list(product((1, 2, 3), ("by kind", "by text"))))
def test_what_the_order_alone_says_is_flagged(n_calls: int, order: str) -> None:
    """Law 109: calls whose texts only the order of done events assigns are flagged, unless there is one call."""
    texts = tuple(f'{{"x":{n}}}' for n in range(n_calls))
    calls, _ = _ended(_responses(texts, order, "absent", "none", "none"))
    flags = [("bound_by_order",)] * n_calls if n_calls > 1 else [()]

    assert flags == [call.flags for call in calls]


@together("texts", [texts for texts in TEXTS if len(texts) > 1])
@together("pieces", LABELS)
@together("order", ORDERS[1:])
def test_crossed_texts_of_calls_are_none_without_labels(
    order: str, pieces: str, texts: tuple[str, ...]
) -> None:
    """Law 109: done events without labels that come in another order than the calls began give no call that was not sent."""
    frames = _responses(texts, order, pieces, "none", "none", "own")
    n_before = 1 + len(texts)
    crossed = [*frames[:n_before], *_crossed(frames[n_before:-1], texts), frames[-1]]
    sent = [(f"c{n}", _name(n, "own"), json.loads(text)) for n, text in enumerate(texts)]

    assert [] == [call for call in _said(_ended(crossed)[0]) if call not in sent]


@pytest.mark.sampled(35)
@pytest.mark.parametrize("texts", [texts for texts in TEXTS if len(texts) > 1])
@pytest.mark.parametrize(("order", "pieces", "dones", "items"), WORLD)
def test_no_text_is_bound_by_order_beside_a_loss(
    order: str, pieces: str, dones: str, items: str, texts: tuple[str, ...]
) -> None:
    """Law 109: with an event of a text or an item missing or doubled, or cut anywhere, no call comes that was not sent."""
    frames = _responses(texts, order, pieces, dones, items, "own")
    sent = [(f"c{n}", _name(n, "own"), json.loads(text)) for n, text in enumerate(texts)]
    at = [n for n, frame in enumerate(frames) if "arguments" in frame["type"] or "item.done" in frame["type"]]
    changed = [
        *(frames[:n] + frames[n + 1 :] for n in at),
        *(frames[: n + 1] + frames[n:] for n in at),
        *(frames[:n] for n in range(1, len(frames))),
    ]
    came = [call for each in changed for call in _said(_ended(each)[0])]

    assert [] == [call for call in came if call not in sent]


@together("status", ["incomplete", "completed"])
@together("where", ["item", "response", "both"])
@together(("kind", "field"), [("function_call", "arguments"), ("custom_tool_call", "input")])
def test_an_item_that_calls_itself_incomplete_is_a_drop(
    kind: str, field: str, where: str, status: str
) -> None:
    """Law 109: a call that the wire itself calls incomplete is never emitted, whatever its text; a finished call is."""
    item = {"type": kind, "id": "fc_0", "call_id": "c0", "name": "go", field: '{"x":1}', "status": status}
    frames: list[JSON] = [
        {"type": "response.created", "response": {"id": "r"}},
        *_event("output_item.added", 0, "own", item={**item, field: "", "status": "in_progress"}),
        *_event(
            "function_call_arguments.delta",
            0,
            "own" if kind == "function_call" else "absent",
            delta='{"x":1}',
        ),
        *_event("output_item.done", 0, "absent" if where == "response" else "own", item=item),
        {
            "type": "response.incomplete" if status == "incomplete" else "response.completed",
            "response": {"id": "r", "status": status, "output": [] if where == "item" else [item]},
        },
    ]
    parser: ToolCallParser[Any] = ToolCallParser("responses")
    events = [event for frame in frames for event in parser.feed_event(frame)] + parser.close()
    reasons = [event.reason for event in events if isinstance(event, ToolCallDropped)]

    assert (["truncated"] if status == "incomplete" else []) == reasons
    assert int(status == "completed") == sum(
        isinstance(event, (ToolCall, CustomToolCall)) for event in events
    )


# Text that comes before the start of its item.

LABELS: dict[str, tuple[str, ...]] = {
    "both": ("output_index", "item_id"),
    "index": ("output_index",),
    "item": ("item_id",),
}


def _about(n: int, kind: str, labels: str, **members: Any) -> JSON:
    known = {"output_index": n, "item_id": f"fc_{n}"}
    return {"type": f"response.{kind}", **{label: known[label] for label in LABELS[labels]}, **members}


def _item(n: int, name: str, text: str) -> JSON:
    return {"type": "function_call", "id": f"fc_{n}", "call_id": f"call_{n}", "name": name, "arguments": text}


@together("labels", LABELS)
@together("first", [("go", ""), ("go", "{}"), ("to", ""), ("to", '{"x":1}'), ("go", '{"x":')])
@together("ends", [("texts",), ("items",), ("texts", "items"), ()], ids="-".join)
@together("is_listed", [True, False])
def test_text_before_its_start_runs_no_other_call(
    labels: str, first: tuple[str, str], ends: tuple[str, ...], is_listed: bool
) -> None:
    """Law 109: text under labels of which a call begins later is that call's, and never runs the one that was open."""
    items = [_item(0, first[0], first[1] or "{}"), _item(1, "go", '{"y":2}')]
    frames: list[JSON] = [{"type": "response.created", "response": {"id": "r", "output": []}}]
    frames += [
        {"type": "response.output_item.added", "output_index": 0, "item": {**items[0], "arguments": ""}}
    ]
    frames += [_about(0, "function_call_arguments.delta", labels, delta=first[1])] if first[1] else []
    frames += [_about(1, "function_call_arguments.delta", labels, delta='{"y":2}')]
    frames += [
        {"type": "response.output_item.added", "output_index": 1, "item": {**items[1], "arguments": ""}}
    ]
    for n, item in enumerate(items):
        if "texts" in ends:
            frames.append(_about(n, "function_call_arguments.done", labels, arguments=item["arguments"]))
        if "items" in ends:
            frames.append({"type": "response.output_item.done", "output_index": n, "item": item})
    listed = items if is_listed else []
    frames += [
        {"type": "response.completed", "response": {"id": "r", "status": "completed", "output": listed}}
    ]
    sent = [
        (item["name"], json.loads(item["arguments"])) for item in items if not item["arguments"].endswith(":")
    ]
    came = _came("responses", frames, ToolCall)

    assert [] == [call for call in came if came.count(call) > sent.count(call)]
