"""Snowflake Cortex's own completions: a call begins where its id is, and pieces without labels belong to the last one."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces
from tests.models.written import data_of, present

HABITS = {
    # list: blocks in a list; flat: their members in the delta; both: in both.
    "form": {"list": (0, "the provider"), "flat": (0, "the provider"), "both": (0, "the provider")},
    "id": {
        "own": (0, "the provider"),
        "none": (1, "quirk 8: relays of servers that know no ids"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    "start": {
        "once": (0, "the provider"),
        "twice": (1, "quirk 130: relays that begin a call when it is chosen, and when its text comes"),
        "each": (1, "quirk 13: relays that put id and name on every piece"),
    },
    "text": {
        "pieces": (0, "the provider"),
        "head": (0, "the provider: an empty first piece"),
        "given": (0, "the provider: all of the input where the call begins"),
        "placeholder": (1, "quirk 25: relays that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: relays of servers whose pieces restate"),
        "repeated": (1, "quirk 23: relays that end with the whole text once more"),
    },
    "speech": {"none": (0, "the provider"), "first": (0, "the provider"), "between": (0, "the provider")},
    # The counts of the last chunk, which end the message; before these they are empty.
    "counts": {
        "last": (0, "the provider"),
        "none": (1, "quirk 109: relays that keep the counts to themselves"),
    },
}


def _sensible(habit: Any, _n_calls: int) -> bool:
    """Return whether a server can have these habits at once: where there are no ids, only a name begins a call."""
    return habit.start == "once" or (habit.id != "none" and (habit.start, habit.text) != ("each", "given"))


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("tooluse", number), "same": Label("tooluse", ())}.get(habit.id)
    if habit.text == "given":
        return [("call", id, name, text or None)] * (2 if habit.start == "twice" else 1)
    parts = pieces(text, where, habit.text) if text or habit.text in {"head", "placeholder"} else []
    start = ("call", id, name, None)
    on_later = (id, name) if habit.start == "each" else (None, None)
    return [
        *[start, *([start] if habit.start == "twice" else [])],
        *(("call", *on_later, piece) for piece in parts),
    ]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    told: list[Event] = []
    for n, (call, where) in enumerate(zip(calls, cuts, strict=True)):
        if habit.speech == "between" or (habit.speech == "first" and n == 0):
            told.append(("text",))
        told += _told(n, call, where, habit)
    return [(*event, habit.form) for event in told] + [("over", habit.counts)]


def _delta(form: str, block: dict[str, Any], **members: Any) -> dict[str, Any]:
    listed = {"content_list": [block]} if form != "flat" else {}
    return {**listed, **(members if form == "list" else block)}


def _chunk(delta: dict[str, Any], **counts: int) -> bytes:
    return data_of({"id": "a1", "model": "m", "choices": [{"delta": delta}], "usage": counts})


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "over":
        return _chunk({}, **({"total_tokens": 9} if of[0] == "last" else {}))
    if kind == "text":
        return _chunk(_delta(of[0], {"type": "text", "text": "hm", "content": "hm"}, content="hm"))
    id, name, text, form = of
    flat = {} if form == "list" else {"type": "tool_use"}
    return _chunk(_delta(form, {**flat, **present(tool_use_id=id, name=name, input=text)}))


MODEL = Model(
    "snowflake-cortex",
    HABITS,
    _send,
    _encode,
    {"error": data_of({"error": {"code": "390142", "message": "lost"}}), "silence": b""},
    _sensible,
    is_shared=lambda _habit: (
        False
    ),  # a piece under the open call's labels is that call's: no call is told twice
    evident=lambda habit: habit.text == "placeholder",  # counts are no reason, and nothing else ends a call
)
