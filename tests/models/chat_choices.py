"""Chat completions with several choices: each is opened, labelled and ended independently of the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from tests.models import chat
from tests.models.streams import Calls, Event, Label, Model, told_in
from tests.models.written import data_of, present

_LABELS = {
    "index": ("dense", "zero"),
    "id": ("first", "every", "none"),
    "name": ("first", "every"),
    "text": ("pieces", "head"),
    "order": ("row", "turns"),
}
HABITS = {
    **{aspect: {value: chat.HABITS[aspect][value] for value in values} for aspect, values in _LABELS.items()},
    "choices": {
        "one": (0, "the provider"),
        "several": (0, "the provider, asked for `n` answers: the last call is the second one's"),
        "talk": (0, "the same: the first one only talks"),
    },
    "openers": {
        "first": (0, "the provider: all choices are opened at once"),
        "late": (0, "the provider's relatives: each when its first token comes"),
        "again": (1, "quirk 137: relays that say again who speaks, in the middle of a call"),
        "last": (1, "quirk 137: relays that say it before the reason"),
    },
    "ids": {
        "one": (0, "the provider"),
        "none": (0, "servers of few fields"),
        "choice": (1, "quirk 138: servers whose choices are requests of their own"),
        "each": (1, "quirk 14: servers whose chunks have ids of their own"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if habit.choices == "one":
        told_apart = n_calls > 1 and (habit.index == "dense" or habit.id == "every")
        one = habit.ids != "choice" and habit.openers != "late"
        return one and (habit.order == "row" or told_apart)
    if habit.choices == "several" and n_calls == 1:
        return False
    return habit.order == "row" or n_calls == 1 + (habit.choices == "several")


def _rows(calls: Calls, cuts: tuple[int, ...], habit: Any) -> Iterator[list[Event]]:
    """The events of each call, each with the choice that it is of: (choice, what, ...)."""
    for n, (call, where) in enumerate(zip(calls, cuts, strict=True)):
        choice = int(habit.choices == "talk" or (habit.choices == "several" and n == len(calls) - 1))
        index = 0 if habit.choices == "several" and choice else None
        told = chat._told(n, call, where, habit)
        yield [(choice, "call", at if index is None else index, *labels) for at, *labels in told]


def _of_choice(choice: int, rows: list[list[Event]], habit: Any) -> list[Event]:
    """The events of a choice: its role, its content, and its finish reason."""
    rows = rows or [[(choice, "talk")]]
    if habit.openers == "again":
        rows = [[*row[:1], (choice, "role"), *row[1:]] for row in rows]
    opener: Event = (choice, "role")
    reason: Event = (choice, "end", "tool_calls" if rows[0][0][1] == "call" else "stop")
    last = [opener, reason] if habit.openers == "last" else [reason]
    return [opener, *told_in(habit.order if habit.choices == "one" else "row", rows), *last]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    n_choices = 1 + (habit.choices != "one")
    rows = list(_rows(calls, cuts, habit))
    told = [_of_choice(n, [row for row in rows if row[0][0] == n], habit) for n in range(n_choices)]
    late = habit.openers == "late"
    opened = [] if late else [events.pop(0) for events in told]
    return [*_labelled([*opened, *told_in(habit.order, told)], habit.ids), ("done",)]


def _labelled(events: list[Event], ids: str) -> Iterator[Event]:
    for n, (choice, what, *said) in enumerate(events):
        key = {"one": (), "choice": choice, "each": n}.get(ids)
        yield what, None if key is None else Label("chatcmpl", key), choice, *said


def _encode(event: Event) -> bytes:
    if event == ("done",):
        return b"data: [DONE]\n\n"
    what, id, choice, *said = event
    reason = said[0] if what == "end" else None
    delta: dict[str, Any] = {}
    if what == "role":
        delta = {"role": "assistant", "content": None}
    elif what == "talk":
        delta = {"content": "Hi"}
    elif what == "call":
        index, call, name, text = said
        function = {**present(name=name), "arguments": text}
        delta = {"tool_calls": [{**present(index=index, id=call), "function": function}]}
    return data_of(
        {**present(id=id), "choices": [{"index": choice, "delta": delta, "finish_reason": reason}]}
    )


def _cut_short(events: Sequence[Event]) -> bytes:
    """Each choice that came ends at a limit, under the last id."""
    ids = [event[1] for event in events if event != ("done",)]
    choices = {event[2] for event in events if event != ("done",)}
    return b"".join(_encode(("end", ids[-1], choice, "length")) for choice in sorted(choices))


MODEL = Model(
    "chat-completions",
    HABITS,
    _send,
    _encode,
    {"length": _cut_short, "silence": b""},
    _sensible,
    name="chat-completions of several choices",
)
