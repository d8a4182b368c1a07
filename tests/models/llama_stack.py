"""llama-stack's inference API: the model's text comes as strings, the call as an object on success."""

from __future__ import annotations

import json
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the server"),
        "none": (1, "quirk 8: remote models that know no ids"),
        "same": (1, "quirk 64: remote models that use the tool's, or the answer's, for all calls"),
    },
    # The strings before the object.
    "written": {
        "pieces": (0, "quirk 113: the server"),
        "begun": (0, "quirk 113: the server: an empty one"),
        "unsaid": (0.5, "quirk 71: remote models: no event before the object"),
    },
    # before: the text of all calls comes before their objects.
    "order": {"row": (0, "the server"), "before": (0, "the server")},
    "again": {
        "no": (0, "the server"),
        "next": (1, "quirk 91: relays that send every object twice"),
        "final": (1, "quirk 98: servers that tell all objects again at the end"),
    },
    "form": {
        "object": (0, "the server"),
        "text": (0, "the server, later: `arguments_json` too"),
        "missing": (1, "quirk 26: no arguments where there are none"),
        "null": (1, "quirk 21: remote models whose arguments are null"),
    },
    "complete": {
        "own": (0, "the server"),
        "at": (1, "quirk 117: objects come in events that say complete"),
        "none": (1, "quirk 51: the stream just ends"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if habit.again != "no" and n_calls > 1 and habit.id == "none":
        return False  # a restated call is a second one, which this model holds for one call
    return habit.order == "row" or (n_calls > 1 and habit.written != "unsaid")


def _written(name: str, habit: Any) -> list[Event]:
    begun: Event = ("written", "started", "")
    rest: list[Event] = [("written", "in_progress", f"[{name}("), ("written", "in_progress", ")]")]
    return {"pieces": [begun, *rest], "begun": [begun]}.get(habit.written, [])


def _object(number: int, call: tuple[str, str], habit: Any) -> Event:
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    given = text or {"missing": "", "null": "null"}.get(habit.form, "{}")
    return ("object", id, name, given, habit.form == "text", habit.complete == "at")


def _send(calls: Calls, _cuts: tuple[int, ...], habit: Any) -> list[Event]:
    written = [_written(name, habit) for name, _ in calls]
    objects = [_object(n, call, habit) for n, call in enumerate(calls)]
    told = [[one, one] if habit.again == "next" else [one] for one in objects]
    if habit.order == "before":
        events = [event for row in [*written, *told] for event in row]
    else:
        events = [event for row, call in zip(written, told, strict=True) for event in [*row, *call]]
    if habit.again == "final":
        events += objects
    return events if habit.complete == "none" else [*events, ("complete",)]


def _event(kind: str, delta: dict[str, Any], reason: str | None = None) -> bytes:
    return data_of({"event": {"event_type": kind, "delta": delta, "logprobs": None, "stop_reason": reason}})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "written":
        return _event("progress", {"type": "tool_call", "parse_status": of[0], "tool_call": of[1]})
    if kind == "complete":
        return _event("complete", _SILENT, "end_of_turn")
    id, name, text, restated, at_end = of
    call = present(call_id=id, tool_name=name)
    call |= {"arguments": json.loads(text)} if text else {}
    call |= {"arguments_json": text} if restated else {}
    delta = {"type": "tool_call", "parse_status": "succeeded", "tool_call": call}
    return _event("complete", delta, "end_of_turn") if at_end else _event("progress", delta)


_SILENT = {"type": "text", "text": ""}
MODEL = Model(
    "llama-stack",
    HABITS,
    _send,
    _encode,
    {"length": _event("complete", _SILENT, "out_of_tokens"), "silence": b""},
    _sensible,
    _event("start", _SILENT),
    kinds=kinds(whole=True),
    has_heads=lambda _habit: False,
)
