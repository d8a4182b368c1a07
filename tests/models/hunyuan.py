"""Hunyuan's native chat: pieces of calls by their ids, the name with the first, the reason last."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the provider"),
        "none": (1, "quirk 8: relays of servers that know no ids"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    # The name of pieces after the first.
    "name": {
        "empty": (0, "the provider"),
        "each": (1, "quirk 13: relays that put the name on every piece"),
    },
    "text": {
        "head": (0, "the provider: an empty first piece"),
        "pieces": (0, "the provider: the first piece with the name"),
        "placeholder": (1, "quirk 25: relays that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: relays of servers whose pieces restate"),
        "repeated": (1, "quirk 23: relays that end with the whole text once more"),
    },
    "order": {
        "row": (0, "the provider"),
        "turns": (1, "quirk 56: relays of parallel answers, a piece of each in turn"),
        "opened": (1, "quirk 56: the same, all calls begun first"),
    },
    "speech": {"none": (0, "the provider"), "first": (0, "the provider"), "last": (0, "the provider")},
    "reason": {
        "right": (0, "the provider"),
        "wrong": (1, "quirk 43: relays that call every end a stop"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a server can have these habits at once: calls without ids of their own are told by their names."""
    if habit.order != "row" and (n_calls == 1 or habit.id != "own"):
        return False
    return habit.id == "own" or habit.name == "empty"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    first, *rest = pieces(text, where, habit.text)
    later = name if habit.name == "each" else ""
    return [("call", id, name, first), *(("call", id, later, piece) for piece in rest)]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    first, last = ([("text",)] if habit.speech == at else [] for at in ("first", "last"))
    return [*first, *told_in(habit.order, rows), *last, ("over", habit.reason)]


def _chunk(delta: dict[str, Any], reason: str = "") -> bytes:
    choice = {"Delta": {"Role": "assistant", "Content": "", **delta}, "FinishReason": reason}
    return data_of({"Id": "a1", "Choices": [choice], "Usage": {"TotalTokens": 9}})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return _chunk({"Content": "hm"})
    if kind == "over":
        return _chunk({}, {"right": "tool_calls", "wrong": "stop"}[of[0]])
    id, name, text = of
    function = {"Name": name, "Arguments": text}
    return _chunk({"ToolCalls": [present(Id=id, Type="function", Function=function)]})


MODEL = Model(
    "hunyuan",
    HABITS,
    _send,
    _encode,
    {
        "length": _chunk({}, "length"),
        "error": data_of({"ErrorMsg": {"Code": 4001, "Msg": "lost"}}),
        "silence": b"",
    },
    _sensible,
    evident=lambda habit: habit.reason == "right" or habit.text == "placeholder",
)
