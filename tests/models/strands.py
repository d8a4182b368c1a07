"""Strands' agents: the blocks of ConverseStream without indices, the message that repeats them, and the results."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds, pieces
from tests.models.written import data_of

HABITS = {
    "id": {
        "own": (0, "the agent"),
        "same": (1, "quirk 64: models whose ids are the tool's, or the answer's, for all calls"),
    },
    # events: of the model; all: with the agent's lines; whole: the messages alone.
    "form": {
        "all": (0, "the agent"),
        "events": (0, "the agent, through services that let only these through"),
        "whole": (0, "the agent, through services that let only messages through"),
    },
    "text": {
        "pieces": (0, "the agent"),
        "head": (0, "the agent: an empty first piece"),
        "placeholder": (1, "quirk 25: models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: models whose pieces restate"),
        "repeated": (1, "quirk 23: models that end with the whole text once more"),
    },
    "speech": {"none": (0, "the agent"), "first": (0, "the agent"), "between": (0, "the agent")},
}


def _sensible(habit: Any, _n_calls: int) -> bool:
    """Return whether a run can have these habits at once."""
    return habit.form != "whole" or (habit.text == "pieces" and habit.speech != "between")


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's block."""
    name, text = call
    parts = pieces(text, where, habit.text)
    return [("start", _label(number, habit), name), *(("piece", part) for part in parts), ("stop",)]


def _label(number: int, habit: Any) -> Label:
    return Label("tooluse", number if habit.id == "own" else ())


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    told: list[Event] = [("role",)]
    for n, (call, where) in enumerate(zip(calls, cuts, strict=True)):
        if habit.speech == "between" or (habit.speech == "first" and n == 0):
            told.append(("text",))
        told += _told(n, call, where, habit)
    listed = tuple((_label(n, habit), *call) for n, call in enumerate(calls))
    said = habit.speech == "first"
    messages: list[Event] = [("message", said, listed), ("results", tuple(id for id, _, _ in listed))]
    if habit.form == "whole":
        return [*messages, ("last",)]
    # The model's next message shows that the agent executed the calls of this one.
    rest: list[Event] = messages if habit.form == "all" else []
    return [*told, ("over",), *rest, ("role",), ("text",), ("end",)]


def _line(**event: Any) -> bytes:
    return data_of({"event": event})


def _block(**start: Any) -> bytes:
    return _line(contentBlockStart={"start": {"toolUse": start}})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind in _FIXED:
        return _FIXED[kind]
    if kind == "start":
        return _block(toolUseId=of[0], name=of[1])
    if kind == "piece":
        return _line(contentBlockDelta={"delta": {"toolUse": {"input": of[0]}}})
    if kind == "message":
        calls = [
            {"toolUse": {"toolUseId": id, "name": name, "input": json.loads(text)}}
            for id, name, text in of[1]
        ]
        text = [{"text": "hm"}] if of[0] else []
        return data_of({"message": {"role": "assistant", "content": [*text, *calls]}})
    results = [{"toolResult": {"toolUseId": id, "status": "success", "content": []}} for id in of[0]]
    return data_of({"message": {"role": "user", "content": results}})


_TEXT = _line(contentBlockDelta={"delta": {"text": "hm"}}) + _line(contentBlockStop={})
_FIXED = {
    "role": _line(messageStart={"role": "assistant"}),
    "text": _TEXT,
    "stop": _line(contentBlockStop={}),
    "over": _line(messageStop={"stopReason": "tool_use"}),
    "end": _line(messageStop={"stopReason": "end_turn"}),
    "last": data_of({"message": {"role": "assistant", "content": [{"text": "hm"}]}}),
}

MODEL = Model(
    "strands",
    HABITS,
    _send,
    _encode,
    {
        "length": _line(messageStop={"stopReason": "max_tokens"}),
        "forced": data_of({"force_stop": True, "force_stop_reason": "lost"}),
        "silence": b"",
    },
    _sensible,
    kinds=kinds(("{}", '{"x":1}', '{"x":{}}')),
    of_server=True,
)
