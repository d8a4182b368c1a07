"""Letta's messages: a call whole, or in pieces of one shape with whole ones, each under its id; a return ends it."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the server"),
        "same": (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls"),
    },
    # The labels of pieces after the first.
    "labels": {
        "both": (0, "the server"),
        "id": (0, "the server, of models that name a call once"),
        "none": (0, "the server, older versions"),
    },
    "text": {
        "head": (0, "the server: a first piece without a text"),
        "pieces": (0, "the server"),
        "placeholder": (1, "quirk 25: models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: models whose pieces restate"),
        "repeated": (1, "quirk 23: models that end with the whole text once more"),
    },
    # answered: each with its return before the next one; returned: all returns at the end; none: of no call.
    "order": {
        "answered": (0, "the server"),
        "returned": (0, "the server, of parallel calls"),
        "turns": (0, "the server: pieces of parallel calls take turns"),
        "none": (0, "the server, whose run ends with a call"),
    },
    "speech": {"none": (0, "the server"), "first": (0, "the server")},
    "over": {
        "done": (0, "the server"),
        "counts": (0, "the server, without the last word"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a run can have these habits at once: pieces take turns only under labels of their own."""
    if habit.order in {"turns", "returned"} and n_calls == 1:
        return False
    if habit.order == "turns":
        return habit.id == "own" and habit.labels != "none"
    return habit.id == "own" or habit.order == "answered"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}[habit.id]
    first, *rest = pieces(text, where, habit.text)
    later = {"both": (id, name), "id": (id, None), "none": (None, None)}[habit.labels]
    back: list[Event] = [("return", id)] if habit.order == "answered" else []
    return [("call", id, name, first or None), *(("call", *later, piece) for piece in rest), *back]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    speech: list[Event] = [("text",)] if habit.speech == "first" else []
    returns = [("return", row[0][1]) for row in rows] if habit.order in {"returned", "turns"} else []
    return [*speech, *told_in(habit.order, rows), *returns, ("over", habit.over)]


def _message(kind: str, **members: Any) -> bytes:
    return data_of({"id": "message-1", "message_type": kind, **members})


def _over(reason: str, *, done: bool = True) -> bytes:
    counts = data_of({"message_type": "usage_statistics", "total_tokens": 9, "step_count": 1})
    stop = data_of({"message_type": "stop_reason", "stop_reason": reason})
    return stop + counts + (b"data: [DONE]\n\n" if done else b"")


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return _message("assistant_message", content="hm")
    if kind == "return":
        return _message("tool_return_message", tool_return="ok", status="success", tool_call_id=of[0])
    if kind == "over":
        return _over("end_turn", done=of[0] == "done")
    call = present(tool_call_id=of[0], name=of[1], arguments=of[2])
    return _message("tool_call_message", tool_call=call, tool_calls=call)


MODEL = Model(
    "letta",
    HABITS,
    _send,
    _encode,
    {"error": _over("error"), "cancelled": _over("cancelled"), "silence": b""},
    _sensible,
    evident=lambda habit: habit.order != "none" or habit.text == "placeholder",
    is_shared=lambda _habit: False,  # a return is between two calls under one id
    of_server=True,
)
