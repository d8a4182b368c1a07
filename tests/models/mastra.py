"""Mastra's runs: pieces of a call's text, if the model has any, then the whole call, whose arguments are an object."""

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
    # pieces: begun, pieces, text over, whole; whole: the whole call alone.
    "form": {
        "pieces": (0, "the framework"),
        "whole": (0, "the framework, over models that do not stream a call"),
        "begun": (0, "the framework, of a call whose pieces the model does not send"),
        "unfinished": (1, "quirk 132: models that do not say that a text is done"),
    },
    "text": {
        "pieces": (0, "the framework"),
        "head": (0, "the framework: an empty first piece"),
        "placeholder": (1, "quirk 25: models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: models whose pieces restate"),
        "repeated": (1, "quirk 23: models that end with the whole text once more"),
    },
    "speech": {"none": (0, "the framework"), "first": (0, "the framework"), "between": (0, "the framework")},
    "order": {
        "row": (0, "the framework"),
        "turns": (0, "the framework: pieces of parallel calls take turns"),
        "opened": (0, "the framework: all calls begin first"),
    },
    "reason": {
        "right": (0, "the framework"),
        "wrong": (1, "quirk 43: models that call every end a stop"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a run can have these habits at once: pieces of calls under one id do not take turns."""
    if habit.form in {"whole", "begun"} and habit.text != "pieces":
        return False
    if habit.order == "row":
        return True
    return n_calls > 1 and habit.id == "own" and habit.speech != "between" and habit.form != "whole"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}[habit.id]
    whole: Event = ("whole", id, name, text)
    if habit.form == "whole":
        return [whole]
    begun: Event = ("begun", id, name)
    over: list[Event] = [] if habit.form == "unfinished" else [("text over", id)]
    parts = [] if habit.form == "begun" else pieces(text, where, habit.text)
    return [begun, *(("piece", id, piece) for piece in parts), *over, whole]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    speech: list[Event] = [("text",)] if habit.speech == "first" else []
    before: list[Event] = [("text",)] if habit.speech == "between" else []
    rows = [
        [*before, *_told(n, call, where, habit)]
        for n, (call, where) in enumerate(zip(calls, cuts, strict=True))
    ]
    return [*speech, *told_in(habit.order, rows), ("over", habit.reason)]


def _chunk(kind: str, **payload: Any) -> bytes:
    return data_of({"type": kind, "runId": "r1", "from": "AGENT", "payload": present(**payload)})


def _finish(reason: str) -> bytes:
    return _chunk("finish", stepResult={"reason": reason}, output={"usage": {"totalTokens": 9}})


_DONE = b"data: [DONE]\n\n"


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return _chunk("text-delta", id="t", text="hm")
    if kind == "begun":
        return _chunk("tool-call-input-streaming-start", toolCallId=of[0], toolName=of[1])
    if kind == "piece":
        return _chunk("tool-call-delta", argsTextDelta=of[1], toolCallId=of[0])
    if kind == "text over":
        return _chunk("tool-call-input-streaming-end", toolCallId=of[0])
    if kind == "whole":
        return _chunk("tool-call", toolCallId=of[0], toolName=of[1], args=json.loads(of[2]))
    return _finish({"right": "tool-calls", "wrong": "stop"}[of[0]]) + _DONE


MODEL = Model(
    "mastra",
    HABITS,
    _send,
    _encode,
    {
        "length": _finish("length") + _DONE,
        "error": _chunk("error", error={"message": "lost"}),
        "abort": _chunk("abort"),
        "silence": b"",
    },
    _sensible,
    _chunk("start", id="agent", messageId="m1"),
    kinds=kinds(("{}", '{"x":1}', '{"x":{}}')),
)
