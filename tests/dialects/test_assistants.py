"""OpenAI Assistants: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.together import together
from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    Delta,
    Finish,
    TurnEnded,
    TurnOpened,
)
from wholecall.dialects.openai.assistants import AssistantsTranslator
from wholecall.framing.frame import Frame

JSON = dict[str, Any]
Event = tuple[str, Any]
RUN: Event = ("thread.run.created", {"id": "run_1", "object": "thread.run", "status": "queued", "model": "m"})
STEP: Event = ("thread.run.step.created", {"id": "s1", "object": "thread.run.step", "status": "in_progress"})
OPENED = TurnOpened("s1", "s1", "m")
STOP = Finish(0, "stop", "completed")
ENDED = TurnEnded("s1")


def translate(*events: Event) -> list[Delta]:
    """Translate the events of one stream, given by name and data."""
    translator = AssistantsTranslator()
    deltas: list[Delta] = []
    for name, data in events:
        deltas += translator.translate(Frame(name, data if isinstance(data, str) else json.dumps(data)))
    return deltas + translator.close()


def step(status: str, *calls: JSON, id: str = "s1", **more: Any) -> Event:
    """Build an event of a step."""
    details = {"type": "tool_calls", "tool_calls": list(calls)}
    return f"thread.run.step.{status}", {"id": id, "status": status, "step_details": details, **more}


def run(status: str, **more: Any) -> Event:
    """Build an event of the run."""
    return f"thread.run.{status}", {
        "id": "run_1",
        "object": "thread.run",
        "status": status,
        "model": "m",
        **more,
    }


def asked(*calls: JSON) -> JSON:
    """Build the action that the run waits for."""
    return {
        "required_action": {"type": "submit_tool_outputs", "submit_tool_outputs": {"tool_calls": list(calls)}}
    }


def test_terminals_come_in_order_of_the_calls() -> None:
    """A call without arguments does not wait for its later siblings: all are ended by the same event."""
    calls = [
        {"id": f"c{n}", "function": {"name": "f", "arguments": text}}
        for n, text in enumerate(["{}", "", "{}"])
    ]
    body = {"id": "run_1", "object": "thread.run", "status": "requires_action", **asked(*calls)}
    found = ToolCallParser().feed_event(body)

    assert ["c0", "c1", "c2"] == [event.id for event in found if isinstance(event, ToolCall)]


@together(
    ("event", "finish"),
    [
        (run("completed"), STOP),
        (
            run("incomplete", incomplete_details={"reason": "max_completion_tokens"}),
            Finish(0, "length", "max_completion_tokens"),
        ),
        (
            run("incomplete", incomplete_details={"reason": "content_filter"}),
            Finish(0, "content_filter", "content_filter"),
        ),
        (run("incomplete"), Finish(0, "length", "incomplete")),
        (run("cancelled"), Finish(0, "aborted", "cancelled", drops=True)),
        (run("expired"), Finish(0, "aborted", "expired", drops=True)),
        (step("cancelled"), Finish(0, "aborted", "cancelled", drops=True)),
        (step("expired"), Finish(0, "aborted", "expired", drops=True)),
        (step("failed"), Finish(0, "error", "failed", drops=True)),
    ],
)
def test_a_turn_ends_as_its_step_or_run_does(event: Event, finish: Finish) -> None:
    """Cancelled, expired and failed runs take back open calls (quirk 94); an ended turn ends once."""
    assert [OPENED, finish, ENDED] == translate(RUN, STEP, event, run("completed"), ("done", "[DONE]"))
