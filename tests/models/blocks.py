"""The model of dialects with blocks: start, deltas, stop, with the block's index on each.

The events: `message` (id), `text` (index), `start` (index, id, name, input), `delta` (index, text), `stop` (index), and
`reason` (which).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, pieces, told_in

HABITS = {
    # The index of a block's start, and unless `on_deltas` says otherwise of its deltas and its stop.
    "index": {
        "dense": (0, "the provider"),
        "zero": (1, "quirk 106: relays that number every block 0"),
        "none": (1, "quirk 1: relays that leave the index out"),
    },
    # The index of deltas.
    "on_deltas": {
        "own": (0, "the provider"),
        "none": (1, "quirk 1: relays that number only starts and stops"),
        "zero": (1.5, "quirk 106: relays that count starts, and forget to for deltas"),
        "shifted": (
            1,
            "quirk 125: relays that count blocks anew, one too many: the next block's, on stops too",
        ),
        "unknown": (1, "quirk 77: relays whose deltas have an index that no block has"),
        "stops": (1, "quirk 77: the same, and on stops too"),
    },
    "id": {
        "own": (0, "the provider"),
        "none": (1, "quirk 8: relays of servers that know no ids"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    "start": {
        "once": (0, "the provider"),
        "twice": (1, "quirk 77: relays that begin a block when the id comes, and again when the name does"),
        "each": (1, "quirk 13: relays that open the block before every delta, with the id alone"),
        "renamed": (1, "quirk 13: the same, with the name too"),
        "blocks": (
            1,
            "quirk 126: relays that make a block of its own of every delta, with the id and no name",
        ),
    },
    "text": {
        "pieces": (0, "the provider"),
        "head": (0, "the provider: an empty first delta"),
        "given": (0.5, "quirk 77: relays of whole answers: the input at the start, and no delta"),
        "both": (1, "quirk 23: relays that give the input at the start, and in deltas"),
        "placeholder": (1, "quirk 25: relays that begin with an empty object as text"),
        "snapshots": (1.5, "quirk 24: relays of servers whose deltas restate"),
        "repeated": (1, "quirk 23: relays that end with the whole text once more"),
    },
    "stop": {
        "each": (0, "the provider"),
        "none": (1, "quirk 77: relays that know of no stops"),
        "end": (1, "quirk 77: relays that stop all blocks when the answer ends"),
        "early": (1.5, "quirk 77: relays that stop a block when its head is out"),
    },
    # first: a text block before the calls; between: one before each.
    "speech": {"none": (0, "the provider"), "first": (0, "the provider"), "between": (0, "the provider")},
    # again: the message starts before each call; retry: the first call is begun, then comes another message, whole.
    "message": {
        "once": (0, "the provider"),
        "again": (1.5, "quirk 77: relays that wrap each call in a message"),
        "retry": (
            1,
            "quirk 127: relays that ask another server when one fails, and go on in the same stream",
        ),
        "retold": (1, "quirk 128: relays that send what they have buffered once more"),
    },
    "reason": {
        "right": (0, "the provider"),
        "wrong": (1, "quirk 43: relays that call every end the end of a turn"),
        "none": (1, "quirk 46: relays that know of no reason"),
    },
    "order": {
        "row": (0, "the provider"),
        "turns": (1, "quirk 56: relays of parallel answers, a delta of each in turn"),
        "opened": (1, "quirk 56: the same, all blocks opened first"),
        "crossed": (1, "quirk 56: the same, and the last block's deltas come first"),
    },
}
MESSAGE = ("message", Label("msg", "first"))


def sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a server can have these habits at once."""
    if habit.start == "blocks":
        others = (habit.index, habit.on_deltas, habit.speech, habit.order, habit.stop)
        if others != ("dense", "own", "none", "row", "each") or habit.text == "given":
            return False
    if habit.order != "row" and not _in_another_order(habit, n_calls):
        return False
    has_deltas = habit.text != "given"
    if not has_deltas and (
        habit.on_deltas not in {"own", "stops"} or habit.start != "once" or habit.stop == "early"
    ):
        return False
    return n_calls > 1 or habit.message != "again"


def evident(habit: Any) -> bool:
    """Return whether a call without text ended: by its own stop, or by a reason that mentions calls."""
    return habit.stop != "none" or habit.reason == "right" or habit.text == "placeholder"


def _in_another_order(habit: Any, n_calls: int) -> bool:
    """Where the calls cannot be distinguished, their deltas do not take turns."""
    told_apart = habit.index == "dense" and habit.on_deltas in {"own", "stops", "unknown", "shifted"}
    in_a_row = n_calls == 1 or habit.speech == "between" or habit.message == "again"
    return not in_a_row and (habit.order != "turns" or told_apart)


@lru_cache(512)
def _block(number: int, shift: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events; `shift` is how many blocks of text come before."""
    name, text = call
    at = _index(number + shift, habit)
    elsewhere = {
        "none": None,
        "zero": 0,
        "shifted": number + shift + 1,
        "unknown": 90 + number,
        "stops": 90 + number,
    }
    on_deltas = elsewhere.get(habit.on_deltas, at)
    id = {"own": Label("toolu", number), "same": Label("toolu", ())}.get(habit.id)
    start = ("start", at, id, name, text if habit.text in {"given", "both"} else "")
    if habit.start == "blocks":
        parts = pieces(text, where, habit.text) if text else []
        further = [(("start", None, id, None, ""), ("delta", None, piece), ("stop", None)) for piece in parts]
        return [start, ("stop", at), *(event for block in further for event in block)]
    stop = ("stop", on_deltas if habit.on_deltas in {"stops", "shifted"} else at)
    return [
        *([start, start] if habit.start == "twice" else [start]),
        *([stop] if habit.stop == "early" else []),
        *_deltas(text, where, on_deltas, (*start[:3], name if habit.start == "renamed" else None, ""), habit),
        *([stop] if habit.stop == "each" else []),
    ]


def _index(number: int, habit: Any) -> int | None:
    return {"dense": number, "zero": 0}.get(habit.index)


def _deltas(text: str, where: int, at: int | None, start: Event, habit: Any) -> Iterator[Event]:
    if habit.text == "given" or not (text or habit.text == "head"):
        return
    for n, piece in enumerate(pieces(text, where, habit.text)):
        if n and habit.start in {"each", "renamed"}:
            yield start
        yield ("delta", at, piece)


def _message(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    shift = 0 if habit.speech == "none" else 1
    rows, stops = [], []
    for n, (call, where) in enumerate(zip(calls, cuts, strict=True)):
        number = 2 * n if habit.speech == "between" else n
        before: list[Event] = [MESSAGE] if habit.message == "again" and n else []
        if habit.speech == "between" or (habit.speech == "first" and n == 0 and habit.order == "row"):
            before.append(("text", _index(number, habit)))
        rows.append([*before, *_block(number, shift, call, where, habit)])
        stops.append(("stop", _index(number + shift, habit)))
    if habit.start == "blocks":
        return _numbered(told_in(habit.order, rows))
    opening = [("text", _index(0, habit))] if habit.speech == "first" and habit.order != "row" else []
    return [*opening, *told_in(habit.order, rows), *(stops if habit.stop == "end" else [])]


def _numbered(events: list[Event]) -> list[Event]:
    """The blocks counted in their order."""
    numbered, at = [], -1
    for event in events:
        at += event[0] == "start"
        numbered.append(event if event[0] == "message" else (event[0], at, *event[2:]))
    return numbered


def send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    """The events of an answer."""
    events = _message(calls, cuts, habit)
    if habit.message == "retold":
        events = [*events, MESSAGE, *events]
    if habit.message == "retry":
        begun = next(n for n, event in enumerate(events) if event[0] == "start")
        _, at, id, *rest = events[begun]
        lost = ("start", at, id and Label("toolu", "first"), *rest)
        events = [*events[:begun], lost, ("message", Label("msg", "second")), *events]
    return [MESSAGE, *events, ("reason", habit.reason)]
