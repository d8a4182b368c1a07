"""Laws 110 and 111: a repeated call is one call, and a different call is not lost.

All small worlds are tried: every dialect with calls, sent twice whole; every dialect of blocks or fragments with one id
opened twice, in every form of both openings, at the same and at another index, next to another call or alone; and whole
bodies whose list holds one id twice.
"""

from __future__ import annotations

import itertools
import json
from collections import Counter
from typing import Any

import pytest

from tests.models import ag_ui, anthropic, chat, cohere, converse, gemini_interactions, realtime, responses
from tests.models.streams import Chunk, Event, Model
from tests.support.encode import Call, Pieces, Turn, every, whole
from tests.support.renderers import RENDERERS, SERVER_SIDE
from tests.support.together import together
from wholecall import Policy, ServerToolCall, ToolCall, ToolCallDropped, ToolCallParser, TurnFinished

A, SPELT, OTHER = '{"x":1,"y":[2]}', '{"y": [2],\n "x": 1.0}', '{"x":9}'
POLICIES = {"default": Policy(), "strict": Policy.strict()}

# Streams that cannot follow each other on one connection, or that restate the text so far.
_APART = {"gemini, as a JSON array", "dashscope, restating"}
_ENDS = {
    "workers-ai",
    "langchain-events",
}  # their connection holds one answer, and input after its end does not count
STREAMS = sorted(RENDERERS.keys() - _APART)


def _calls(events: list[Any]) -> Counter[tuple[str, str]]:
    """The emitted calls that the client executes, by name and value."""
    return Counter(
        (event.name, json.dumps(event.arguments, sort_keys=True).replace("1.0", "1"))
        for event in events
        if isinstance(event, ToolCall)
    )


def _said(*calls: tuple[str, str]) -> Counter[tuple[str, str]]:
    return Counter((name, json.dumps(json.loads(text), sort_keys=True)) for name, text in calls)


@together("name", STREAMS, one_in=4)
@together(
    ("texts", "pieces"),
    [((A, A), (whole, whole)), ((A, A), (every(3), every(2))), ((A, SPELT), (whole, every(3))), (("{}", "{}"), (whole, whole))],
    ids=["again", "in other pieces", "spelt otherwise", "empty"],
)  # fmt: skip
def test_a_stream_that_comes_again_is_one(
    name: str, texts: tuple[str, str], pieces: tuple[Pieces, Pieces]
) -> None:
    """Law 110: of a whole stream that comes twice under its ids each call can be executed at most once."""
    render, dialect = RENDERERS[name], name.partition(",")[0]
    streams = [
        render(Turn([Call("call_1", "go", text), Call("call_2", "to", '{"b":1}')]), cut)
        for text, cut in zip(texts, pieces, strict=True)
    ]
    for policy in POLICIES.values():
        parser = ToolCallParser(dialect, policy=policy)
        events = [*parser.feed(b"".join(streams)), *parser.close()]
        once = ToolCallParser(dialect, policy=policy)
        expected = _calls([*once.feed(streams[0]), *once.close()])

        assert expected == _calls(events), policy


# Ids that are used again, in another answer.


def _answer_of_chat(id: str | None, call: str) -> bytes:
    told = {"index": 0, "id": call, "type": "function", "function": {"name": "go", "arguments": A}}
    deltas = [{"role": "assistant", "content": None}, {"tool_calls": [told]}, {}]
    named = {"object": "chat.completion.chunk", **({} if id is None else {"id": id})}
    frames = [
        {**named, "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "tool_calls"}]}
        for delta in deltas
    ]
    return b"".join(b"data: %b\n\n" % json.dumps(frame).encode() for frame in frames) + b"data: [DONE]\n\n"


@together(
    ("answers", "meant"),
    [
        ([("r1", "c"), ("r1", "c")], 1),
        ([("r1", "c"), ("r2", "c")], 2),
        ([("r1", "c"), ("r2", "c"), ("r1", "c")], 2),
        ([("r1", "c"), ("r1", "d")], 2),
        ([(None, "c"), (None, "c")], 1),
        ([(None, "c"), ("r1", "c")], 1),
        ([("r1", "c"), (None, "c")], 1),
        ([(None, "c"), (None, "d")], 2),
    ],
    ids=str,
)
def test_another_answer_has_ids_of_its_own(answers: list[tuple[str | None, str]], meant: int) -> None:
    """Laws 110 and 111: an id that is used again under another response id is another call, also with an equal value."""
    parser = ToolCallParser("chat-completions")
    events = [*parser.feed(b"".join(_answer_of_chat(*answer) for answer in answers)), *parser.close()]

    assert meant == sum(_calls(events).values())


@pytest.mark.parametrize("again", [A, OTHER], ids=["equal", "other"])
def test_another_step_has_ids_of_its_own(again: str) -> None:
    """Law 111: servers that number their calls use an id again in the next step of a message (Vercel)."""
    parser = ToolCallParser("vercel-ui")
    chunks: list[dict[str, Any]] = [{"type": "start", "messageId": "m"}]
    for text in (A, again):
        call = {"toolCallId": "functions.go:0", "toolName": "go"}
        chunks += [
            {"type": "start-step"},
            {"type": "tool-input-start", **call},
            {"type": "tool-input-available", **call, "input": json.loads(text)},
            {"type": "finish-step"},
        ]
    chunks.append({"type": "finish", "finishReason": "tool-calls"})
    events = [*(event for chunk in chunks for event in parser.feed_event(chunk)), *parser.close()]

    assert _said(("go", A), ("go", again)) == _calls(events)


@together("name", [name for name in STREAMS if name not in SERVER_SIDE | _ENDS])
def test_other_calls_in_the_next_stream_are_calls(name: str) -> None:
    """Law 111: calls under other ids are emitted, whatever their content."""
    render, dialect = RENDERERS[name], name.partition(",")[0]
    turns = [Turn([Call(f"call_{n}", "go", A)], id=f"turn-{n}") for n in range(3)]
    parser = ToolCallParser(dialect)
    events = [*parser.feed(b"".join(render(turn, whole) for turn in turns)), *parser.close()]

    assert 3 == _calls(events)["go", json.dumps(json.loads(A), sort_keys=True)]


# One id, opened twice in one answer.


def _block(at: int, id: str, name: str, texts: tuple[str, ...], *, ends: bool) -> list[Event]:
    deltas = (("delta", at, text) for text in texts)
    return [("start", at, id, name, ""), *deltas, *([("stop", at)] if ends else [])]


def _fragments(at: int, id: str, name: str, texts: tuple[str, ...], *, ends: bool) -> list[Event]:  # noqa: ARG001
    return [(at, id, name, ""), *((at, None, None, text) for text in texts)]


def _item(at: int, id: str, name: str, texts: tuple[str, ...], *, ends: bool) -> list[Event]:
    item, text = f"fc_{id}", "".join(texts)
    deltas = (("delta", at, item, id, text) for text in texts)
    done = [("done", at, item, id, text), ("item", at, item, id, name, text)]
    return [("added", at, item, id, name, ""), *deltas, *(done if ends and texts else [])]


def _triple(_at: int, id: str, name: str, texts: tuple[str, ...], *, ends: bool) -> list[Event]:
    return [("start", id, name), *(("args", id, text) for text in texts), *([("end", id)] if ends else [])]


_MESSAGE: tuple[list[Event], list[Event]] = [("message", "m1")], [("reason", "right")]
_OUTPUT: tuple[list[Event], list[Event]] = [], [("completed", "nested", ())]
WIRES: dict[str, tuple[Model, Any, tuple[list[Event], list[Event]]]] = {
    "anthropic": (anthropic.MODEL, _block, _MESSAGE),
    "cohere": (cohere.MODEL, _block, _MESSAGE),
    "converse": (converse.MODEL, _block, _MESSAGE),
    "interactions": (gemini_interactions.MODEL, _block, _MESSAGE),
    "chat": (chat.MODEL, _fragments, ([], [("end", "tool_calls")])),
    "responses": (responses.MODEL, _item, _OUTPUT),
    "realtime": (realtime.MODEL, _item, _OUTPUT),
    "ag-ui": (ag_ui.MODEL, _triple, ([], [("finished",)])),
}
# Forms without their own end, where the turn's end does not mention calls: none of them is a call (law 98).
SILENT = {"responses": {"head", "open head"}, "realtime": {"head", "open head"}, "ag-ui": {"open head"}}
TOLD: dict[str, tuple[tuple[str, ...], bool]] = {
    "whole": ((A,), True),
    "pieces": ((A[:6], A[6:]), True),
    "spelt": ((SPELT,), True),
    "head": ((), True),
    "open head": ((), False),
    "other": ((OTHER,), True),
}
FORMS = [*itertools.product(TOLD, TOLD, (False, True), ("none", "before", "between", "after"))]


def _events(name: str, first: str, second: str, *, elsewhere: bool, beside: str) -> list[Any]:
    """Return the events where the id of one call is opened twice, perhaps next to another call."""
    _, tell, (opening, closing) = WIRES[name]
    places = {"none": "aa", "before": "baa", "between": "aba", "after": "aab"}[beside]
    events, forms, here = list(opening), iter((first, second)), None
    for at, call in enumerate(places):
        if call == "b":
            events += tell(at, "call_b", "to", ('{"b":1}',), ends=True)
        else:
            texts, ends = TOLD[next(forms)]
            here = at if here is None or elsewhere else here
            events += tell(here, "call_a", "go", texts, ends=ends)
    return _fed(name, [*events, *closing])


def _fed(name: str, events: list[Event | Chunk]) -> list[Any]:
    """Return the parser's events for the events of a wire, some of which are encoded already."""
    model = WIRES[name][0]
    parser = ToolCallParser(model.dialect)
    found = parser.feed(model.opening) if model.opening else []
    for event in events:
        chunk = model.encode(event) if isinstance(event, tuple) else event
        found += (
            parser.feed(chunk)
            if isinstance(chunk, bytes)
            else [one for payload in chunk for one in parser.feed_event(payload)]
        )
    return [*found, *parser.close()]


def _value(form: str) -> str:
    return {"head": "", "open head": "", "other": OTHER}.get(form, A)


@pytest.mark.sampled(9)
@pytest.mark.parametrize("name", WIRES)
def test_an_id_that_opens_twice_is_one_call(name: str) -> None:
    """Law 110: a head is filled by the whole call under its id, a repeated value is ignored, another value is a call.

    A block that ended without text before another call came is an already emitted call.
    """
    wrong = []
    for first, second, elsewhere, beside in FORMS:
        values = {_value(first), _value(second)}
        if (beside == "between" and first == "head" and _value(second)) or (
            len(values - {""}) == 2 and not elsewhere
        ):
            continue  # one is out; two values in one place have several readings
        calls = _calls(_events(name, first, second, elsewhere=elsewhere, beside=beside))
        silent = {first, second} <= SILENT.get(name, set())
        meant = [("go", value) for value in values - {""}] or ([] if silent else [("go", "{}")])
        if calls != _said(*meant, *([("to", '{"b":1}')] if beside != "none" else [])):
            wrong.append((first, second, elsewhere, beside, calls))

    assert [] == wrong


@together("name", WIRES)
@together("beside", [False, True])
def test_a_call_that_lost_text_comes_again_once(name: str, beside: bool) -> None:
    """Law 110: where the first of three equal calls under one id lost text, the two that came whole are not both calls."""
    _, tell, (opening, closing) = WIRES[name]
    garbled: Any = ["{"] if name == "converse" else b"data: {\n\n"
    start, *told = tell(0, "call_a", "go", (A[:6], A[6:]), ends=True)
    other = tell(3, "call_b", "to", ('{"b":1}',), ends=True) if beside else []
    again = [event for at in (1, 2) for event in tell(at, "call_a", "go", (A,), ends=True)]
    calls = _calls(_fed(name, [*opening, start, garbled, *told, *other, *again, *closing]))

    assert calls <= _said(("go", A), ("to", '{"b":1}'))


@together("name", WIRES)
@together("beside", [False, True])
def test_a_call_that_was_cut_comes_again_once(name: str, beside: bool) -> None:
    """Law 110: a cut or unreadable text shows no other value: of two whole calls behind it, under its id, one runs."""
    _, tell, (opening, closing) = WIRES[name]
    other = tell(3, "call_b", "to", ('{"b":1}',), ends=True) if beside else []
    again = [event for at in (1, 2) for event in tell(at, "call_a", "go", (A,), ends=True)]
    for text in (A[:-1], '{"x" 1}', "nonsense"):
        cut = tell(0, "call_a", "go", (text,), ends=True)

        assert _calls(_fed(name, [*opening, *cut, *other, *again, *closing])) <= _said(
            ("go", A), ("to", '{"b":1}')
        )


@pytest.mark.parametrize("name", ["responses", "realtime"])
@pytest.mark.parametrize("beside", [False, True])
def test_an_item_whose_text_came_first_is_one_call(name: str, beside: bool) -> None:
    """Law 110: however late an item is added after its text, and however often, it is one call under its own id."""
    _, tell, (opening, closing) = WIRES[name]
    other = tell(1, "call_b", "to", ('{"b":1}',), ends=True) if beside else []
    added, *told = tell(0, "call_a", "go", (A[:6], A[6:]), ends=True)
    wrong = []
    for places in itertools.combinations_with_replacement(range(1, len(told)), 2):
        mine = [[*[added] * places.count(at), event] for at, event in enumerate(told)]
        events = _fed(name, [*opening, *other, *itertools.chain(*mine), *closing])
        calls = [event.id for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
        if sorted(calls) != ["call_a", *["call_b"] * beside]:
            wrong.append((places, calls))

    assert [] == wrong


@pytest.mark.parametrize("name", ["anthropic", "cohere", "converse", "interactions"])
def test_a_head_takes_nothing_back_when_its_message_comes_again(name: str) -> None:
    """Law 110: a message with a head and its whole call under one id, begun twice, holds that call and no empty one."""
    model, tell, (opening, closing) = WIRES[name]
    once = [*opening, *tell(0, "c", "go", (), ends=True), *tell(1, "c", "go", (A,), ends=True)]
    parser = ToolCallParser(model.dialect)
    events: list[Any] = parser.feed(model.opening) if model.opening else []
    for event in [*once, *once, *closing]:
        chunk = model.encode(event)
        payloads = [] if isinstance(chunk, bytes) else chunk
        events += parser.feed(chunk) if isinstance(chunk, bytes) else []
        events += [one for payload in payloads for one in parser.feed_event(payload)]
    events += parser.close()

    assert _said(("go", A)) == _calls(events)


# Whole bodies.


def _body_of_chat(calls: list[Call]) -> dict[str, Any]:
    told = [
        {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}}
        for call in calls
    ]
    message = {"role": "assistant", "content": None, "tool_calls": told}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return {"id": "chatcmpl-c1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}


def _body_of_anthropic(calls: list[Call]) -> dict[str, Any]:
    content = [
        {"type": "tool_use", "id": call.id, "name": call.name, "input": json.loads(call.arguments)}
        for call in calls
    ]
    said = {"role": "assistant", "model": "m", "content": content, "stop_reason": "tool_use"}
    return {"id": "msg_m1", "type": "message", **said, "usage": {"input_tokens": 1, "output_tokens": 1}}


def _body_of_responses(calls: list[Call]) -> dict[str, Any]:
    output = [
        {
            "type": "function_call",
            "id": f"fc_{n}",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.arguments,
            "status": "completed",
        }
        for n, call in enumerate(calls)
    ]
    return {"id": "resp_1", "object": "response", "status": "completed", "model": "m", "output": output}


def _body_of_gemini(calls: list[Call]) -> dict[str, Any]:
    parts = [
        {"functionCall": {"id": call.id, "name": call.name, "args": json.loads(call.arguments)}}
        for call in calls
    ]
    candidate = {"index": 0, "content": {"role": "model", "parts": parts}, "finishReason": "STOP"}
    return {"responseId": "r1", "modelVersion": "m", "candidates": [candidate]}


BODIES = {
    "chat-completions": _body_of_chat,
    "anthropic": _body_of_anthropic,
    "responses": _body_of_responses,
    "gemini": _body_of_gemini,
}


@together("dialect", BODIES)
@together("times", [1, 2, 3])
@together(
    "listed",
    [
        [("same", "go", A), ("same", "go", OTHER)],
        [("same", "go", A), ("same", "to", A)],
        [("same", "go", A), ("same", "go", OTHER), ("same", "to", "{}")],
        [("one", "go", A), ("two", "go", A)],
    ],
    ids=["two values", "two names", "three", "two ids"],
)
def test_different_calls_of_one_list_are_several(
    dialect: str, times: int, listed: list[tuple[str, str, str]]
) -> None:
    """Law 111: different entries of one list under one id are calls, once each, however often the body comes."""
    parser = ToolCallParser(dialect)
    body = BODIES[dialect]([Call(*call) for call in listed])
    events = [*(event for _ in range(times) for event in parser.feed_event(body)), *parser.close()]
    dropped = [event for event in events if isinstance(event, ToolCallDropped)]

    assert (_said(*(call[1:] for call in listed)), []) == (_calls(events), dropped)


@together("dialect", BODIES)
@together("times", [1, 2])
def test_the_same_call_twice_in_one_list_is_one(dialect: str, times: int) -> None:
    """Law 110: equal calls of one list under one id are one call, in any spelling, without a drop."""
    parser = ToolCallParser(dialect)
    body = BODIES[dialect]([Call("same", "go", A), Call("same", "go", SPELT)])
    events = [*(event for _ in range(times) for event in parser.feed_event(body)), *parser.close()]
    dropped = [event for event in events if isinstance(event, ToolCallDropped)]

    assert (_said(("go", A)), []) == (_calls(events), dropped)


@together("dialect", BODIES)
@together("times", [1, 2])
def test_a_body_behind_its_stream_is_nothing_new(dialect: str, times: int) -> None:
    """Law 110: a whole body after the stream of the same answer, once or more, adds no call."""
    calls = [Call("call_1", "go", A), Call("call_2", "go", OTHER)]
    ids = {"chat-completions": "c1", "anthropic": "m1", "responses": "1", "gemini": "r1"}
    stream = RENDERERS[dialect](Turn(calls, id=ids[dialect]), whole)
    body = f"data: {json.dumps(BODIES[dialect]([Call('call_1', 'go', SPELT), calls[1]]))}\n\n".encode()
    parser = ToolCallParser(dialect)

    assert _said(("go", A), ("go", OTHER)) == _calls([*parser.feed(stream + body * times), *parser.close()])


# Different calls of a stream under one id.

OF_THE_CLIENT = sorted(RENDERERS.keys() - SERVER_SIDE)


@together("name", OF_THE_CLIENT, one_in=3)
@together("second", [("to", A), ("to", OTHER), ("to", "{}"), ("go", OTHER)])
@together("pieces", [whole, every(3)], ids=["whole", "pieces"])
def test_what_differs_under_one_id_is_not_lost(name: str, second: tuple[str, str], pieces: Pieces) -> None:
    """Law 111: in each dialect a call under the id of another one, which differs, is a call, or is told: by a drop, or an anomaly."""
    stream = RENDERERS[name](Turn([Call("same", "go", A), Call("same", *second)]), pieces)
    parser = ToolCallParser()
    events = [*parser.feed(stream), *parser.close()]
    dropped = [event for event in events if isinstance(event, ToolCallDropped)]
    odd = {anomaly for event in events if isinstance(event, TurnFinished) for anomaly in event.anomalies}

    assert Counter() == _calls(events) - _said(("go", A), second)
    assert dropped or "conflicting_arguments" in odd or _said(("go", A), second) == _calls(events)


# Answered calls.


ANSWERED: dict[str, list[str]] = {
    "call": ["start", "args", "end"],
    "result": ["result"],
    "snapshot": ["snapshot"],
}


def _ag_ui(kind: str, run: str) -> dict[str, Any]:
    told = {"id": "c", "type": "function", "function": {"name": "go", "arguments": A}}
    answer = {"id": "m2", "role": "tool", "toolCallId": "c", "content": "ok"}
    return {
        "run": {"type": "RUN_STARTED", "threadId": "t", "runId": run},
        "over": {"type": "RUN_FINISHED", "threadId": "t", "runId": run},
        "start": {"type": "TOOL_CALL_START", "toolCallId": "c", "toolCallName": "go"},
        "args": {"type": "TOOL_CALL_ARGS", "toolCallId": "c", "delta": SPELT},
        "end": {"type": "TOOL_CALL_END", "toolCallId": "c"},
        "result": {"type": "TOOL_CALL_RESULT", "toolCallId": "c", "messageId": "m", "content": "ok"},
        "snapshot": {
            "type": "MESSAGES_SNAPSHOT",
            "messages": [{"id": "m1", "role": "assistant", "toolCalls": [told]}, answer],
        },
    }[kind]


@together(
    "order",
    [
        order
        for n in (2, 3)
        for order in itertools.product([*ANSWERED, "another run"], repeat=n)
        if "call" in order and {"result", "snapshot"} & set(order) and order[0] != "another run" != order[-1]
    ],
    ids="-".join,
)
def test_an_answered_call_stays_answered(order: tuple[str, ...]) -> None:
    """Law 110: a call whose answer is in the stream is not the client's, in any order of answer and call.

    A call that a run handed over to the client before another run brought the answer was the client's, once.
    """
    runs, kinds = 0, ["run"]
    for step in order:
        kinds += ["over", "run"] if step == "another run" else ANSWERED[step]
    parser = ToolCallParser("ag-ui")
    events: list[Any] = []
    for kind in [*kinds, "over"]:
        runs += kind == "run"
        events += parser.feed(f"data: {json.dumps(_ag_ui(kind, f'r{runs}'))}\n\n".encode())
    events += parser.close()
    first = order[: order.index("another run")] if "another run" in order else ()
    handed_over = bool(first) and {*first} == {"call"}

    assert handed_over == sum(_calls(events).values())
    assert handed_over or any(isinstance(event, ServerToolCall) for event in events)
