"""Ollama's native chat: calls are whole, one or more in a line; ids and indices are optional."""

from __future__ import annotations

import json
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds
from tests.models.written import line_of, present

HABITS = {
    "id": {
        "none": (0, "the provider, older versions"),
        "own": (0, "the provider"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    "index": {
        "none": (0, "the provider, older versions"),
        "dense": (0, "the provider"),
        "zero": (1, "quirk 3: relays that number every call 0"),
        "line": (1, "quirk 3: relays that begin anew in every line"),
    },
    "place": {
        "apart": (0, "the provider"),
        "together": (0, "the provider: all calls in a line"),
        "done": (1, "quirk 86: cloud models: all of them in the line that says done"),
    },
    "again": {
        "no": (0, "the provider"),
        "next": (1, "quirk 91: relays that send every line twice"),
        "cumulative": (1, "quirk 108: relays whose lines restate the calls before"),
        "final": (1, "quirk 98: relays whose last line restates all calls"),
    },
    "text": {
        "object": (0, "the provider"),
        "string": (1, "quirk 27: older servers and relays: JSON text in a string"),
        "missing": (1, "quirk 26: relays that leave out what is empty"),
        "null": (1, "quirk 21: relays of calls whose arguments are null"),
    },
    "done": {
        "stop": (0, "the provider"),
        "calls": (1, "quirk 95: relays that give the reason of chat completions"),
        "none": (1, "quirk 51: the stream just ends"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    told_again = habit.again != "no"
    if told_again and n_calls > 1 and habit.id == "none" and habit.index in {"none", "line"}:
        return False  # a restated call is a conforming second one, which this model holds for one call
    if habit.place != "apart" and (
        habit.again == "cumulative" or (n_calls == 1 and habit.place == "together")
    ):
        return False
    return not (habit.place == "done" and (told_again or habit.done == "none"))


def _told(number: int, call: tuple[str, str], habit: Any) -> Event:
    """A call: (id, index, name, whether its text is in a string, text)."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    index = {"dense": number, "zero": 0, "line": 0 if habit.place == "apart" else number}.get(habit.index)
    if habit.text == "string":
        return (id, index, name, True, text)
    return (id, index, name, False, text or {"missing": "", "null": "null"}.get(habit.text, "{}"))


def _send(calls: Calls, _cuts: tuple[int, ...], habit: Any) -> list[Event]:
    told = tuple(_told(n, call, habit) for n, call in enumerate(calls))
    if habit.place == "done":
        return [(told, habit.done)]
    lines = [(call,) for call in told] if habit.place == "apart" else [told]
    if habit.again == "next":
        lines = [line for line in lines for _ in range(2)]
    elif habit.again == "cumulative":
        lines = [told[: n + 1] for n in range(len(told))]
    elif habit.again == "final":
        lines = [*lines, told]
    return [*((line, None) for line in lines), *([((), habit.done)] if habit.done != "none" else [])]


def _written(id: str | None, index: int | None, name: str, in_string: bool, text: str) -> dict[str, Any]:
    function = present(index=index, name=name)
    if in_string or text:
        function["arguments"] = text if in_string else json.loads(text)
    return present(id=id, function=function)


def _line(calls: tuple[Event, ...], reason: str | None) -> bytes:
    message = {"role": "assistant", "content": ""}
    told = {"tool_calls": [_written(*call) for call in calls]} if calls else {}
    ended = {"done": True, "done_reason": reason} if reason else {"done": False}
    return line_of(
        {"model": "q", "created_at": "2026-01-01T00:00:00Z", "message": {**message, **told}, **ended}
    )


def _encode(event: Event) -> bytes:
    calls, done = event
    return _line(calls, {"calls": "tool_calls"}.get(done, done))


MODEL = Model(
    "ollama",
    HABITS,
    _send,
    _encode,
    {"length": _line((), "length"), "silence": b""},
    _sensible,
    kinds=kinds(whole=True),
    has_heads=lambda _habit: False,
)
