"""Agno's runs: pieces of a call's text, if the model has any, then the whole call, and its result."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the framework"),
        "none": (1, "quirk 8: models of servers that know no ids"),
        "same": (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls"),
    },
    "form": {
        "whole": (0, "the framework"),
        "pieces": (0, "the framework, where pieces are asked for"),
    },
    # The name of pieces after the first.
    "name": {"none": (0, "the framework"), "each": (0, "the framework, of models that repeat it")},
    "text": {
        "pieces": (0, "the framework"),
        "head": (0, "the framework: an empty first piece"),
        "placeholder": (1, "quirk 25: models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: models whose pieces restate"),
        "repeated": (1, "quirk 23: models that end with the whole text once more"),
    },
    # answered: each with its result before the next one; returned: all results at the end.
    "order": {
        "answered": (0, "the framework"),
        "returned": (0, "the framework, of parallel calls"),
        "turns": (0, "the framework: pieces of parallel calls take turns"),
    },
    "result": {
        "whole": (0, "the framework"),
        "bare": (1, "quirk 26: relays of results that leave out the arguments"),
    },
    "speech": {"none": (0, "the framework"), "first": (0, "the framework")},
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a run can have these habits at once."""
    if habit.form == "whole" and (habit.text != "pieces" or habit.name == "each" or habit.order == "turns"):
        return False
    if habit.form == "pieces" and habit.id == "none":
        return False
    if habit.order == "answered":
        return True
    return n_calls > 1 and habit.id == "own"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    later = name if habit.name == "each" else None
    parts = pieces(text, where, habit.text) if habit.form == "pieces" else []
    told: list[Event] = [("piece", id, name if n == 0 else later, part) for n, part in enumerate(parts)]
    whole: Event = ("whole", id, name, text)
    result: list[Event] = [_result(whole, habit)] if habit.order == "answered" else []
    return [*told, whole, *result]


def _result(whole: Event, habit: Any) -> Event:
    _, id, name, text = whole
    return ("result", id, name, text if habit.result == "whole" else None)


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    speech: list[Event] = [("text",)] if habit.speech == "first" else []
    results = [_result(row[-1], habit) for row in rows] if habit.order != "answered" else []
    return [*speech, *told_in(habit.order, rows), *results, ("over",)]


def _event(kind: str, **members: Any) -> bytes:
    return data_of({"created_at": 1, "event": kind, "agent_id": "pilot", "run_id": "r1", **members})


def _tool(id: str | None, name: str, text: str | None, result: str | None) -> dict[str, Any]:
    arguments = None if text is None else json.loads(text)
    return present(tool_call_id=id, tool_name=name, tool_args=arguments, result=result)


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return _event("RunContent", content="hm", content_type="str")
    if kind == "piece":
        labels = present(tool_call_id=of[0], tool_call_name=of[1])
        return _event("ToolCallArgsDelta", **labels, arguments_delta=of[2])
    if kind == "whole":
        return _event("ToolCallStarted", tool=_tool(of[0], of[1], of[2], None))
    if kind == "result":
        return _event("ToolCallCompleted", tool=_tool(of[0], of[1], of[2], "ok"))
    return _event("RunCompleted", content="")


MODEL = Model(
    "agno",
    HABITS,
    _send,
    _encode,
    {
        "error": _event("RunError", content="lost"),
        "cancelled": _event("RunCancelled", reason="user"),
        "silence": b"",
    },
    _sensible,
    _event("RunStarted", model="m"),
    kinds=kinds(("{}", '{"x":1}', '{"x":{}}')),
    is_shared=lambda _habit: False,  # a result is between two calls under one id
    of_server=True,
)
