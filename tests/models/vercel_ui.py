"""UI message streams of the Vercel AI SDK: a start, deltas, and the whole input, all with the id; or the input alone."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the SDK"),
        "none": (1, "quirk 8: backends of their own, over models that know no ids"),
        "same": (1, "quirk 64: backends that use the tool's, or the answer's, for all calls"),
    },
    # Of deltas.
    "labels": {
        "own": (0, "the SDK"),
        "none": (1, "quirk 7: backends that give the id only with start and input"),
        "stranger": (1, "quirk 10: backends that make an id anew for the deltas"),
    },
    # s(tart), d(eltas), a(vailable).
    "parts": {
        "sda": (0, "the SDK"),
        "a": (0, "the SDK, for tools that do not stream"),
        "sa": (0.5, "quirk 71: backends that do not stream the input"),
        "sd": (1, "quirk 51: backends that never say that the input is there"),
        "da": (1, "quirk 74: backends without a start"),
    },
    "text": {
        "pieces": (0, "the SDK"),
        "head": (0, "the SDK: an empty first delta"),
        "placeholder": (1, "quirk 25: backends over models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: backends over models whose deltas restate"),
        "repeated": (1, "quirk 23: backends that end with the whole text once more"),
    },
    "input": {
        "own": (0, "the SDK"),
        "ids": (1, "quirk 10: backends that keep calls under other ids than they stream them"),
        "emptied": (1, "quirk 84: an empty object although text came"),
        "twice": (1, "quirk 98: backends that tell the input again when the tool runs"),
    },
    "start": {
        "once": (0, "the SDK"),
        "twice": (1, "quirk 130: backends that start a call when it begins, and when they run it"),
        "each": (1, "quirk 13: backends that start it before every delta"),
    },
    "end": {"finish": (0, "the SDK"), "done": (1, "quirk 109: backends that only say that they are done")},
    "order": {
        "row": (0, "the SDK"),
        "turns": (0, "the SDK"),
        "opened": (0, "the SDK"),
        "crossed": (0, "the SDK"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if (habit.labels != "own" or habit.text != "pieces") and "d" not in habit.parts:
        return False
    if (habit.start != "once" and "s" not in habit.parts) or (
        habit.input != "own" and "a" not in habit.parts
    ):
        return False
    if habit.input in {"ids", "emptied"} and habit.parts == "a":
        return False
    told_apart = habit.id == "own" and habit.labels == "own"
    return habit.order == "row" or (
        n_calls > 1 and len(habit.parts) > 1 and (told_apart or habit.order != "turns")
    )


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    on_text = {"none": None, "stranger": Label("call", (number, "text"))}.get(habit.labels, id)
    start = ("start", id, name)
    told: list[Event] = []
    if "s" in habit.parts:
        told += [start, start] if habit.start == "twice" else [start]
    if "d" in habit.parts and (text or habit.text == "head"):
        for n, piece in enumerate(pieces(text, where, habit.text)):
            told += [start] if n and habit.start == "each" else []
            told.append(("delta", on_text, piece))
    if "a" in habit.parts:
        whole = "{}" if habit.input == "emptied" else text or "{}"
        on_input = Label("call", (number, "input")) if habit.input == "ids" else id
        told += [("available", on_input, name, whole)] * (2 if habit.input == "twice" else 1)
    return told


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    return [*told_in(habit.order, rows), (habit.end,)]


def _part(kind: str, **members: Any) -> bytes:
    return data_of({"type": kind, **present(**members)})


_DONE = b"data: [DONE]\n\n"


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "start":
        return _part("tool-input-start", toolCallId=of[0], toolName=of[1])
    if kind == "delta":
        return _part("tool-input-delta", toolCallId=of[0], inputTextDelta=of[1])
    if kind == "available":
        return _part("tool-input-available", toolCallId=of[0], toolName=of[1], input=json.loads(of[2]))
    return (_part("finish", finishReason="tool-calls") if kind == "finish" else b"") + _DONE


MODEL = Model(
    "vercel-ui",
    HABITS,
    _send,
    _encode,
    {
        "length": _part("finish", finishReason="length") + _DONE,
        "error": _part("error", errorText="lost"),
        "silence": b"",
    },
    _sensible,
    _part("start", messageId="m1") + _part("start-step"),
    is_shared=lambda habit: habit.id == "same" and habit.input != "ids",
    has_heads=lambda _habit: False,
)
