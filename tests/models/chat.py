"""Chat completions: a call is fragments, whose index, id and name are filled in each server's own way."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import NO_CUT, Calls, Event, Kind, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "index": {
        "dense": (0, "the provider"),
        "zero": (1, "quirk 3: relays that number every call 0"),
        "none": (1, "quirk 1: relays that leave the index out"),
        "each": (1.5, "quirk 5: relays that count fragments"),
    },
    "id": {
        "first": (0, "the provider"),
        "every": (0, "quirk 13: many relatives of the provider"),
        "none": (1, "quirk 8: servers that know no ids"),
        "each": (1.5, "quirk 10: servers that make an id for every fragment"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
        "late": (1, "quirk 11: servers that send the id behind the name"),
    },
    "name": {
        "first": (0, "the provider"),
        "every": (0.5, "quirk 15: servers that repeat the head"),
        "last": (1, "quirk 17: servers that know the name when the call is whole"),
        "pieces": (1.5, "quirk 16: servers that stream the name like text"),
    },
    "text": {
        "pieces": (0, "the provider"),
        "head": (0, "the provider: an empty first fragment"),
        "snapshots": (1, "quirk 24: servers whose fragments restate"),
        "repeated": (1, "quirk 23: servers that end with the whole text once more"),
        "placeholder": (1, "quirk 25: relays of blocks whose input begins empty"),
    },
    "order": {"row": (0, "the provider"), "turns": (0, "quirk 56: the provider's relatives")},
    "again": {
        "once": (0, "the provider"),
        "again": (1, "quirk 98: servers that tell each call again, whole, on the next free index"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if habit.order == "turns" and (n_calls == 1 or (habit.index != "dense" and habit.id != "every")):
        return False  # the calls cannot be distinguished
    return habit.again == "once" or (habit.index == "dense" and habit.id in {"first", "every"})


def _discount(habit: Any) -> float:
    """Servers that make an id for every fragment repeat the name, too."""
    return 0.5 if (habit.id, habit.name) == ("each", "every") else 0.0


def _texts(text: str, where: int, coming: str) -> list[str]:
    return ["{}", *pieces(text, where, "")] if coming == "placeholder" else pieces(text, where, coming)


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's fragments: (index, id, name, text)."""
    name, text = call
    parts = _texts(text, where, habit.text)
    last, half = len(parts) - 1, len(name) // 2
    index = {"dense": number, "zero": 0, "each": "each"}.get(habit.index)
    told: list[Event] = []
    for n, part in enumerate(parts):
        key = {
            "first": number if n == 0 else None,
            "every": number,
            "each": (number, n),
            "same": (),
            "late": number if n == min(1, last) else None,
        }.get(habit.id)
        named = {
            "first": name if n == 0 else None,
            "every": name,
            "last": name if n == last else None,
            "pieces": (name[:half] if last else name) if n == 0 else name[half:] if n == 1 else None,
        }[habit.name]
        told.append((index, None if key is None else Label("call", key), named, part))
    return told


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    events = told_in(habit.order, rows)
    if habit.again == "again":
        events += [(len(calls) + n, Label("call", n), *call) for n, call in enumerate(calls)]
    if habit.index == "each":
        events = [(n, *event[1:]) for n, event in enumerate(events)]
    return [*events, ("end", "tool_calls")]


def _chunk(delta: dict[str, Any], reason: str | None = None) -> bytes:
    return data_of({"choices": [{"index": 0, "delta": delta, "finish_reason": reason}]})


def _ending(reason: str) -> bytes:
    return _chunk({}, reason) + b"data: [DONE]\n\n"


def _encode(event: Event) -> bytes:
    if event[0] == "end":
        return _ending(event[1])
    index, id, name, text = event
    function = {**present(name=name), "arguments": text}
    return _chunk({"tool_calls": [{**present(index=index, id=id), "function": function}]})


_NAMES = ("go", "to", "goto")  # of which one is the others, joined
MODEL = Model(
    "chat-completions",
    HABITS,
    _send,
    _encode,
    {"length": _ending("length"), "silence": b""},
    _sensible,
    kinds=(Kind(1, _NAMES), Kind(2, _NAMES), Kind(3, cuts=(NO_CUT,))),
    discount=_discount,
    slack=0.5,
)
