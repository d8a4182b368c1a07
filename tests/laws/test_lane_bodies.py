"""Law 129 for whole responses: a lane gives the machine's events for a body, or leaves the body to it."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.laws.test_lanes import decoded, differing, leaves
from tests.support.lanes import WIRES
from tests.support.together import together
from wholecall import ToolCallParser

TEXTS = ('{"path":"/src/a.py","tags":["a"]}', '{"line": 2}', '{"text":"h\\u00e9"}')
ARGUMENTS: list[Any] = [json.loads(text) for text in TEXTS]
BODIES: dict[str, dict[str, Any]] = {
    "chat-completions": {
        "id": "c1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": "I look.",
                    "reasoning_content": "Hm.",
                    "tool_calls": [
                        {"id": f"call_{n}", "type": "function", "function": {"name": "f", "arguments": text}}
                        for n, text in enumerate(TEXTS)
                    ],
                },
                "finish_reason": "tool_calls",
            }
        ],
        "usage": {"total_tokens": 9},
    },
    "anthropic": {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": [
            {"type": "thinking", "thinking": "Hm.", "signature": "S"},
            {"type": "text", "text": "I look."},
            *(
                {"type": "tool_use", "id": f"t{n}", "name": "f", "input": value}
                for n, value in enumerate(ARGUMENTS)
            ),
        ],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": None},
    },
    "responses": {
        "id": "r1",
        "object": "response",
        "created_at": 1,
        "status": "completed",
        "model": "m",
        "output": [
            {"type": "reasoning", "id": "rs", "summary": [{"type": "summary_text", "text": "Hm."}]},
            {
                "type": "message",
                "id": "msg",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "I look.", "annotations": []}],
            },
            *(
                {
                    "type": "function_call",
                    "id": f"fc_{n}",
                    "call_id": f"call_{n}",
                    "name": "f",
                    "arguments": text,
                    "status": "completed",
                }
                for n, text in enumerate(TEXTS)
            ),
        ],
        "usage": {"output_tokens": 9},
        "error": None,
        "tools": [],
    },
    "gemini": {
        "candidates": [
            {
                "content": {
                    "role": "model",
                    "parts": [
                        {"text": "Hm.", "thought": True},
                        {"text": "I look."},
                        *({"functionCall": {"name": "f", "args": value}} for value in ARGUMENTS),
                    ],
                },
                "finishReason": "STOP",
                "index": 0,
            }
        ],
        "usageMetadata": {"totalTokenCount": 9},
        "modelVersion": "m",
        "responseId": "r1",
    },
}
VALUES: list[Any] = [None, "", "x", {}, [], {"a": 1}, 0, 1, "{}", "length", "stop", True]
NAMES = ("zz", "reasoning", "content", "text", "refusal", "index", "type", "delta", "function_call", "caller")


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Yield the path of each value within another."""
    members = (
        value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    )
    for key, member in members:
        yield (*path, key)
        yield from places(member, (*path, key))


def changed(body: dict[str, Any], rng: random.Random) -> dict[str, Any]:
    """Return a body in which one value was replaced, dropped, doubled, exchanged or added."""
    body = copy.deepcopy(body)
    *path, key = rng.choice([*places(body)])
    holder: Any = body
    for step in path:
        holder = holder[step]
    kind = rng.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1:
        holder[key] = rng.choice(VALUES)
    elif isinstance(holder, list):
        holder.append(copy.deepcopy(holder[key]))
        if kind == 2:
            holder[0], holder[-1] = holder[-1], holder[0]
    else:
        holder[rng.choice(NAMES)] = rng.choice(VALUES)
    return body


READS: dict[str, Callable[[bytes], list[bytes]]] = {
    "whole": lambda data: [data],
    "with a line end": lambda data: [data + b"\n"],
    "line end alone": lambda data: [data, b"\r\n"],
    "in two reads": lambda data: [data[: len(data) // 2], data[len(data) // 2 :]],
    "twice": lambda data: [data, data],
    "two lines": lambda data: [data + b"\n", data + b"\n"],
    "blank behind": lambda data: [data + b"\n", b" \n"],
    "over lines": lambda data: [json.dumps(json.loads(data), indent=1).encode() + b"\n"],
    "cut": lambda data: [data[:-1]],
}


@pytest.mark.sampled(47)
@pytest.mark.parametrize("dialect", BODIES)
@pytest.mark.parametrize("seed", range(6))
def test_bodies_of_any_kind(dialect: str, seed: int) -> None:
    """Law 129: of a whole response, and of such in which one or two things are other than documented, in any reads."""
    rng = random.Random(seed)
    for _ in range(40):
        body = BODIES[dialect]
        for _ in range(rng.randrange(3)):
            body = changed(body, rng)
        data = json.dumps(body).encode()
        assert [] == differing(reads(data) for reads in READS.values()), body
        assert [] == differing([[data]], dialect=dialect), body
        assert of_events(body, lane=False) == of_events(body, lane=True), body


def of_events(body: dict[str, Any], behind: Any = None, *, lane: bool) -> tuple[Any, ...]:
    """Return the events of a decoded response, and of another payload after it, or of the response once more."""
    parser = ToolCallParser[Any]()
    parser._may_begin_in = parser._may_begin_in if lane else ""
    events = [parser.feed_event(body), parser.feed_event(body if behind is None else behind), parser.close()]
    return events, parser.turns


@pytest.mark.sampled(4)
@pytest.mark.parametrize("dialect", BODIES)
def test_what_follows_a_body(dialect: str) -> None:
    """Law 129: any frame of a stream after a whole response, under its id or another."""
    wire, body = WIRES[dialect], BODIES[dialect]
    for name, frame in wire.every.items():
        _, payload = decoded(frame)
        for behind in [] if payload is None else (payload, {**payload, "id": body.get("id")}):
            assert of_events(body, behind, lane=False) == of_events(body, behind, lane=True), name
        line = json.dumps(body).encode() + b"\n"
        assert [] == differing([[line, frame], [line + frame]]), name


@pytest.mark.parametrize("dialect", BODIES)
def test_documented_bodies_stay(dialect: str) -> None:
    """A whole response without oddities is read by its lane."""
    data = json.dumps(BODIES[dialect]).encode()

    assert not any(
        leaves(READS[reads](data)) for reads in ("whole", "with a line end", "line end alone", "over lines")
    )


@together("dialect", BODIES)
@together("question", ["turn", "turns", "repr", "snapshot", "forget", "abort", "fail"])
def test_questions_of_bodies(dialect: str, question: str) -> None:
    """Law 129: for any query to a parser of a body, before, within or after it, the answer is the machine's."""
    data = json.dumps(BODIES[dialect]).encode()
    for reads in (READS["whole"](data), READS["with a line end"](data)):
        for at in range(3):
            assert asked(reads, question, at, lane=False) == asked(reads, question, at, lane=True), at


def asked(reads: list[bytes], question: str, at: int, *, lane: bool) -> tuple[Any, ...]:
    """Return the events of a body with a query before, within or after it, and the answer to the query."""
    parser = ToolCallParser[Any]()
    parser._may_begin_in = parser._may_begin_in if lane else ""
    found: list[Any] = []
    for step in (lambda: parser.feed(reads[0]), parser.close, lambda: None):
        if at == 0:
            asked_now = {
                "turn": lambda: parser.turn,
                "turns": lambda: parser.turns,
                "repr": lambda: repr(parser),
                "snapshot": lambda: ToolCallParser[Any].restore(parser.snapshot()).turns,
                "forget": parser.forget,
                "abort": parser.abort,
                "fail": lambda: parser.fail("lost"),
            }
            found.append(asked_now[question]())
        at -= 1
        if parser._life != "closed":
            found.append(step())
    return found, parser.turns
