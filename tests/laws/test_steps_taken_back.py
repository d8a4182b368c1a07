"""The law of steps that a server takes back and runs again (the AI SDK's `reset-step`)."""

from __future__ import annotations

import json
import random
from itertools import product
from typing import Any

from tests.support.together import together
from wholecall import ToolCall, ToolCallCancelled, ToolCallParser

JSON = dict[str, Any]
START: JSON = {"type": "start", "messageId": "m"}
STEP, OVER, RESET = ({"type": kind} for kind in ("start-step", "finish-step", "reset-step"))
END: list[JSON] = [{"type": "finish", "finishReason": "tool-calls"}]
TEXT: JSON = {"type": "text-delta", "id": "t", "delta": "so"}


def begun(id: str | None, name: str = "f") -> JSON:
    """Return the beginning of a call."""
    return {"type": "tool-input-start", "toolCallId": id, "toolName": name}


def piece(id: str | None, text: str) -> JSON:
    """Return a piece of its input."""
    return {"type": "tool-input-delta", "toolCallId": id, "inputTextDelta": text}


def whole(id: str | None, x: int) -> JSON:
    """Return all of it."""
    return {"type": "tool-input-available", "toolCallId": id, "toolName": "f", "input": {"x": x}}


ASKED: JSON = {"type": "tool-approval-request", "approvalId": "a", "toolCallId": "c"}
# The possible content of a step when it is taken back, and the number of its calls emitted by then.
GIVEN_UP: dict[str, tuple[list[JSON], int]] = {
    "nothing": ([], 0),
    "text": ([TEXT], 0),
    "a call that begins": ([begun("c")], 0),
    "a call that is open": ([begun("c"), piece("c", '{"x"')], 0),
    "a text that is whole": ([begun("c"), piece("c", '{"x":1}')], 0),
    "a call that is whole": ([whole("c", 1)], 0),
    "a call that came out": ([whole("c", 1), TEXT], 1),
    "a call in pieces that came out": ([begun("c"), piece("c", '{"x":1}'), whole("c", 1), TEXT], 1),
    "a call that waits for an approval": ([whole("c", 1), ASKED], 0),
    "a call without an id": ([whole(None, 1), TEXT], 1),
    "two calls, and an open one": ([whole("c", 1), whole("d", 2), TEXT, begun("e"), piece("e", '{"x"')], 2),
    "a step that is over": ([whole("c", 1), OVER], 1),
}
AGAIN: dict[str, list[JSON]] = {
    "nothing": [],
    "the same call": [whole("c", 1)],
    "another value under its id": [whole("c", 7)],
    "another call": [begun("n"), piece("n", '{"x":8}'), whole("n", 8)],
}
BEFORE: dict[str, list[JSON]] = {
    "no step": [],
    "a step": [STEP],
    "a step behind another": [STEP, whole("b", 0), TEXT, OVER, STEP],
}


def events_of(payloads: list[JSON]) -> tuple[ToolCallParser, list[Any]]:
    """Return a parser that has read a stream, and its events."""
    parser = ToolCallParser("vercel-ui")
    data = b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in payloads)
    return parser, [*parser.feed(data), *parser.close()]


@together("before", BEFORE, one_in=2)
@together("given_up", GIVEN_UP)
def test_no_call_of_a_step_that_is_taken_back_stays(before: str, given_up: str) -> None:
    """Law 130: the calls of the steps before it and of the step that is run again stay, reported once or twice."""
    kept = [("b", 0)] if whole("b", 0) in BEFORE[before] else []
    for again, steps, twice in product(AGAIN, ([], [STEP]), (1, 2)):
        stream = [START, *BEFORE[before], *GIVEN_UP[given_up][0], RESET, *steps, *AGAIN[again]]
        parser, events = events_of([*stream * twice, *END])
        new = [(one["toolCallId"], one["input"]["x"]) for one in AGAIN[again] if "input" in one]

        turn = parser.turn
        assert [*kept, *new] == [(call.id, call.arguments["x"]) for call in turn.calls], (again, steps)
        out = [event for event in events if isinstance(event, ToolCallCancelled)]
        assert turn.cancelled == tuple(dict.fromkeys(event.id for event in out))


@together("given_up", GIVEN_UP)
def test_what_came_out_is_reported_as_taken_back(given_up: str) -> None:
    """Law 130: and calls that had not been emitted are drops."""
    payloads, n_out = GIVEN_UP[given_up]
    n_begun = len(
        {payload.get("toolCallId") for payload in payloads if payload["type"].startswith("tool-input")}
    )
    parser, events = events_of([START, STEP, *payloads, RESET, *END])

    assert [n_out] * 2 == [
        sum(type(event) is kind for event in events) for kind in (ToolCall, ToolCallCancelled)
    ]
    assert ["aborted"] * (n_begun - n_out) == [drop.reason for drop in parser.turn.dropped]
    assert () == parser.turn.calls


@together("seed", range(60))
def test_what_stays_is_what_no_reset_follows_in_its_step(seed: int) -> None:
    """Law 130: so it is for any sequence of steps, calls and resets, in any reads; ids are used again after a reset."""
    rng = random.Random(seed)
    payloads, steps, n = [START], [[]], 0  # type: ignore[var-annotated]
    for _ in range(rng.randrange(1, 14)):
        kind = rng.choice(["whole", "whole", "pieces", "text", "step", "reset"])
        if kind in ("whole", "pieces"):
            id, n = f"c{len(steps)}_{len(steps[-1])}", n + 1
            payloads += [begun(id), piece(id, json.dumps({"x": n}))] if kind == "pieces" else []
            payloads.append(whole(id, n))
            steps[-1].append((id, n))
        elif kind == "reset":
            payloads.append(RESET)
            steps[-1].clear()
        else:
            payloads += [TEXT] if kind == "text" else [OVER, STEP]
            steps += [[]] if kind == "step" else []
    data = b"".join(b"data: " + json.dumps(payload).encode() + b"\n\n" for payload in [*payloads, *END])
    parser, size = ToolCallParser("vercel-ui"), rng.choice([1, 53, len(data)])
    for at in range(0, len(data), size):
        parser.feed(data[at : at + size])
    parser.close()

    assert [call for step in steps for call in step] == [
        (call.id, call.arguments["x"]) for call in parser.turn.calls
    ]
