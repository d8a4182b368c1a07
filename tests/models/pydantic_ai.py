"""Pydantic AI's runs: parts by their index, the call whole when its part ends, and deferred when the run ends."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the framework"),
        "same": (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls"),
    },
    # The id of pieces.
    "on_pieces": {
        "own": (0, "the framework"),
        "none": (0, "the framework, of a part whose delta has no id"),
    },
    "text": {
        "pieces": (0, "the framework"),
        "head": (0, "the framework: an empty text at the start"),
        "given": (0, "the framework: all of the text at the start"),
        "object": (0, "the framework: an object at the start"),
    },
    "end": {
        "part": (0, "the framework"),
        "none": (0, "the framework, before version 1.20: no ends of parts"),
    },
    "called": {
        "each": (0, "the framework"),
        "none": (0, "the framework: deferred calls that it does not announce"),
    },
    "speech": {"none": (0, "the framework"), "first": (0, "the framework")},
    "order": {
        "row": (0, "the framework"),
        "opened": (0, "the framework: all parts begin first"),
        "turns": (0, "the framework: pieces of parallel parts take turns"),
    },
    "over": {
        "result": (0, "the framework, by servers that send the run's result"),
        "done": (0, "servers that only say that they are done"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    whole = habit.text in {"given", "object"}
    if whole and habit.on_pieces != "own":
        return False
    return habit.order == "row" or (n_calls > 1 and habit.id == "own" and not (whole and habit.end == "none"))


@lru_cache(512)
def _told(number: int, index: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """The events of one call's part."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}[habit.id]
    on_pieces = id if habit.on_pieces == "own" else None
    given = {"head": "", "given": text, "object": json.loads(text)}.get(habit.text)
    parts = [] if habit.text in {"given", "object"} else pieces(text, where, "pieces")
    ended: list[Event] = [("ended", index, id, name, text)] if habit.end == "part" else []
    start = ("start", index, id, name, None if given is None else json.dumps(given))
    return [start, *(("piece", index, on_pieces, piece) for piece in parts), *ended]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    speaks = habit.speech == "first"
    rows = [
        _told(n, n + speaks, call, where, habit)
        for n, (call, where) in enumerate(zip(calls, cuts, strict=True))
    ]
    ids = [row[0][2] for row in rows]
    listed = tuple((id, *call) for id, call in zip(ids, calls, strict=True))
    called = [("called", *one) for one in listed] if habit.called == "each" else []
    speech = [("speech",)] if speaks else []
    return [*speech, *told_in(habit.order, rows), *called, ("deferred", listed), ("over", habit.over)]


def _part(id: str, name: str, text: Any) -> dict[str, Any]:
    return {"part_kind": "tool-call", **present(tool_call_id=id, tool_name=name), "args": text}


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "speech":
        return data_of(
            {"event_kind": "part_start", "index": 0, "part": {"part_kind": "text", "content": "hm"}}
        )
    if kind == "start":
        part = _part(of[1], of[2], None if of[3] is None else json.loads(of[3]))
        return data_of({"event_kind": "part_start", "index": of[0], "part": part})
    if kind == "piece":
        delta = {"part_delta_kind": "tool_call", **present(tool_call_id=of[1]), "args_delta": of[2]}
        return data_of({"event_kind": "part_delta", "index": of[0], "delta": delta})
    if kind == "ended":
        return data_of({"event_kind": "part_end", "index": of[0], "part": _part(*of[1:])})
    if kind == "called":
        return data_of({"event_kind": "function_tool_call", "part": _part(*of), "args_valid": True})
    if kind == "deferred":
        requests = {"calls": [_part(*one) for one in of[0]], "approvals": []}
        return data_of({"event_kind": "deferred_tool_requests", "requests": requests})
    result = data_of({"event_kind": "agent_run_result", "result": {"output": "", "usage": {}}})
    return result if of[0] == "result" else b"data: [DONE]\n\n"


MODEL = Model(
    "pydantic-ai",
    HABITS,
    _send,
    _encode,
    {"silence": b""},
    _sensible,
    kinds=kinds(("{}", '{"x":1}', '{"x":{}}')),
)
