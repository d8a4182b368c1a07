"""OpenAI Responses: a call is sent up to five times.

Its item is added, its text comes in deltas and is done, its item is done, and it is in the finished response.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

# Which events come, in which order: a(dded), d(eltas), t(ext done), i(tem done), o(utput of the finished response).
PARTS = {
    "adtio": (0, "the provider"),
    "adti": (0.5, "quirk 73: ChatGPT's own endpoint: the finished response is empty"),
    "adi": (1, "quirk 73: relays that know of no arguments.done, either"),
    "adio": (1, "quirk 132: relays that know of no arguments.done"),
    "adto": (1, "quirk 132: relays that know of no item.done"),
    "ado": (1, "quirk 132: relays that know of neither"),
    "ad": (1, "quirk 132: relays that know of neither, over an empty finished response"),
    "adt": (1, "quirk 132: relays that know of no item.done, over an empty finished response"),
    "atio": (1, "quirk 71: relays of whole answers"),
    "ati": (1, "quirk 71: relays of whole answers, over an empty finished response"),
    "at": (1, "quirk 71: the same, without item.done"),
    "ai": (1, "quirk 71: relays that tell items alone"),
    "ao": (1, "quirk 71: relays that announce items, and tell them in the finished response"),
    "dtio": (1, "quirk 74: relays that add no item"),
    "dti": (1, "quirk 74: relays that add no item, over an empty finished response"),
    "i": (1, "quirk 71: relays of whole items"),
    "io": (1, "quirk 71: relays of whole items"),
    "o": (1, "quirk 72: relays of the finished response"),
    "aadtio": (1, "quirk 130: relays that add an item when it comes, and when its name does"),
    "adtiio": (1, "quirk 130: relays that end an item with its text, and with the answer"),
    "dtaio": (1, "quirk 74: relays that add the item when its text is there"),
}
HABITS: dict[str, dict[str, tuple[float, str]]] = {
    "index": {
        "dense": (0, "the provider"),
        "zero": (1, "quirk 106: relays that number every item 0"),
        "none": (1, "quirk 1: relays that leave output_index out"),
        "later": (1, "quirk 4: relays that count from 1, though the output lists the calls alone"),
        "each": (1.5, "quirk 5: relays that count events"),
    },
    # The item's id.
    "item": {
        "own": (0, "the provider"),
        "none": (1, "quirk 75: relays that know only call_id"),
        "each": (1, "quirk 69: Copilot: another one on every event"),
        "restated": (1, "quirk 69: relays that make the finished items anew"),
        "same": (1.5, "quirk 64: relays that use the answer's for all items"),
    },
    # The labels of argument events. mixed: a stranger's next to the index; swapped: the call's id as item_id, alone.
    "labels": {
        "both": (0, "the provider"),
        "both and call": (0, "the provider's relatives"),
        "index": (1, "quirk 75: relays that leave item_id out"),
        "item": (1, "quirk 1: relays that leave output_index out of these"),
        "call": (1, "quirk 75: relays that know only call_id"),
        "none": (1, "quirk 133: relays that label no delta"),
        "stranger": (1, "quirk 69: Copilot: an item_id that no item has, alone"),
        "mixed": (1, "quirk 69: Copilot: the same beside the index"),
        "swapped": (1, "quirk 75: relays that take call_id for item_id"),
    },
    # call_id. done: another one from item.done on; final: another one in the output.
    "call": {
        "own": (0, "the provider"),
        "none": (1, "quirk 75: relays that know only item ids"),
        "done": (1, "quirk 10: relays that make an id anew when the call is whole"),
        "final": (1, "quirk 10: relays that make the finished response anew"),
        "same": (1.5, "quirk 64: relays that use the answer's for all calls"),
    },
    "parts": PARTS,
    "text": {
        "pieces": (0, "the provider"),
        "repeated": (1, "quirk 23: relays that end with the whole text once more"),
        "snapshots": (1.5, "quirk 24: relays of servers whose deltas restate"),
        "given": (1, "quirk 23: relays with the whole text in the added item, too"),
        "placeholder": (1, "quirk 25: relays with an empty object in the added item"),
        "emptied": (1, "quirk 134: relays with no text in item.done and the output"),
        "opaque": (1, "quirk 70: deltas are encrypted"),
    },
    "shape": {
        "nested": (0, "the provider"),
        "flat": (1, "quirk 95: relays that do not nest the finished response"),
        "named": (1, "quirk 92: relays that give the type in the event's name alone"),
        "reversed": (1, "quirk 99: the output, the last call first"),
    },
    "order": {
        "row": (0, "the provider"),
        "turns": (0, "the provider"),
        "opened": (0, "the provider"),
        "crossed": (0, "the provider"),
    },
}
_NEEDED = {
    "repeated": "d",
    "snapshots": "d",
    "given": "a",
    "placeholder": "a",
    "emptied": "i",
    "opaque": "d",
}
_BESIDES = {"emptied": "dt", "opaque": "tio"}  # the text comes elsewhere
_BOTH = {"both", "both and call"}


def evident(habit: Any) -> bool:
    """Return whether a call without text ended: its text did, its item, or the finished response lists it."""
    return not {"t", "i", "o"}.isdisjoint(habit.parts)


def sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a server can have these habits at once."""
    if habit.text != "pieces":
        needed = _NEEDED[habit.text]
        if needed not in habit.parts or not set(_BESIDES.get(habit.text, needed)) & set(habit.parts):
            return False
    if habit.shape == "reversed" and (n_calls == 1 or "o" not in habit.parts):
        return False
    if habit.labels != "both" and not set("dt") & set(habit.parts):
        return False  # no event has them
    if habit.order == "row":
        return True
    if n_calls == 1 or habit.parts[0] != "a" or len(habit.parts) < 3:
        return False
    return habit.order != "turns" or _told_apart(habit)


def _told_apart(habit: Any) -> bool:
    by_index = habit.index in {"dense", "later"} and habit.labels in {*_BOTH, "index", "mixed"}
    by_id = habit.item == "own" and habit.labels in {*_BOTH, "item"}
    by_call = habit.call in {"own", "done", "final"} and habit.labels in {"both and call", "call", "swapped"}
    return by_index or by_id or by_call


def _item_id(number: int, n: int, late: bool, habit: Any) -> Label | None:
    keys = {"own": number, "each": (number, n), "same": (), "restated": (number, late)}
    return None if habit.item == "none" else Label("fc", keys[habit.item])


def _call_id(number: int, kind: str, habit: Any) -> Label | None:
    keys = {"own": number, "done": (number, kind in "io"), "final": (number, kind == "o"), "same": ()}
    return None if habit.call == "none" else Label("call", keys[habit.call])


def _index(number: int, habit: Any) -> int | str | None:
    return {"dense": number, "zero": 0, "later": number + 1, "each": "each"}.get(habit.index)


def _labels(number: int, n: int, habit: Any) -> tuple[Any, Any, Any]:
    """The index, item id and call id of an argument event."""
    index = _index(number, habit) if habit.labels in {*_BOTH, "index", "mixed"} else None
    call = _call_id(number, "d", habit)
    stranger = Label("fc", (number, "text"))
    item = {"stranger": stranger, "mixed": stranger, "swapped": call}.get(habit.labels)
    if habit.labels in {*_BOTH, "item"}:
        item = _item_id(number, n, late=False, habit=habit)
    return index, item, call if habit.labels in {"both and call", "call"} else None


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events: (kind, index, item id, call id, name, text); the item of the output without the first two."""
    name, text = call
    given = {"a": {"given": text, "placeholder": "{}"}.get(habit.text, "")}
    whole = "" if habit.text == "emptied" else text
    index = _index(number, habit)
    told: list[Event] = []
    n = 0
    for kind in habit.parts:
        n += 1
        item = (
            _item_id(number, n, kind in "io", habit),
            _call_id(number, kind, habit),
            name,
            given.get(kind, whole),
        )
        if kind == "d":
            for piece in pieces(text, where, habit.text) if text else ():
                n += 1
                told.append(("delta", *_labels(number, n, habit), "kX9" if habit.text == "opaque" else piece))
        elif kind == "t":
            told.append(("done", *_labels(number, n, habit), text))
        else:
            told.append(item if kind == "o" else ("added" if kind == "a" else "item", index, *item))
    return told


def send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    """The events of an answer."""
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    output: tuple[Event, ...] = ()
    if "o" in habit.parts:
        output = tuple(row[-1] for row in rows)[:: -1 if habit.shape == "reversed" else 1]
        rows = [row[:-1] for row in rows]
    events = told_in(habit.order, rows)
    events.append(("completed", "flat" if habit.shape == "flat" else "nested", output))
    if habit.index == "each":
        events = [
            (event[0], n, *event[2:]) if event[1] == "each" else event for n, event in enumerate(events)
        ]
    return [("named", *event) for event in events] if habit.shape == "named" else events


def written_item(
    id: str | None, call_id: str | None, name: str, text: str, status: str = "completed"
) -> dict[str, Any]:
    """An item of a call, as the wire has it."""
    return present(type="function_call", id=id, call_id=call_id, name=name, arguments=text, status=status)


def _written(event: Event) -> tuple[str, dict[str, Any]]:
    """The event's type, and its other members."""
    kind, *of = event
    if kind in {"added", "item"}:
        index, *item = of
        told_as, status = ("added", "in_progress") if kind == "added" else ("done", "completed")
        return f"response.output_item.{told_as}", present(
            output_index=index, item=written_item(*item, status)
        )
    if kind in {"delta", "done"}:
        index, item_id, call_id, text = of
        said = {"delta" if kind == "delta" else "arguments": text}
        labels = present(output_index=index, item_id=item_id, call_id=call_id)
        return f"response.function_call_arguments.{kind}", {**labels, **said}
    shape, output = of
    response = {**_RESPONSE, "status": "completed", "output": [written_item(*item) for item in output]}
    return "response.completed", response if shape == "flat" else {"response": response}


def _event(kind: str, members: dict[str, Any], *, named: bool = False) -> bytes:
    return f"event: {kind}\n".encode() + data_of(members if named else {"type": kind, **members})


def _encode(event: Event) -> bytes:
    return _event(*_written(event[1:]), named=True) if event[0] == "named" else _event(*_written(event))


def _cut_item(events: Sequence[Event]) -> bytes:
    """The last open item sent as incomplete, with the text under its index if it has a separate index."""
    events = [event[1:] if event[0] == "named" else event for event in events]
    done = [event[1:4] for event in events if event[0] == "item"]
    is_open = [event for event in events if event[0] == "added" and event[1:4] not in done]
    if not is_open:
        return _event("response.incomplete", {"response": _INCOMPLETE})
    _, index, id, call_id, name, _ = is_open[-1]
    alone = index is not None and [event[1] for event in events if event[0] == "added"].count(index) == 1
    text = "".join(event[4] for event in events if alone and event[0] == "delta" and event[1] == index)
    item = written_item(id, call_id, name, text, "incomplete")
    told = _event("response.output_item.done", present(output_index=index, item=item))
    return told + _event("response.incomplete", {"response": {**_INCOMPLETE, "output": [item]}})


_RESPONSE = {"id": "resp_1", "object": "response"}
_DETAILS = {"incomplete_details": {"reason": "max_output_tokens"}}
_INCOMPLETE: dict[str, Any] = {**_RESPONSE, "status": "incomplete", **_DETAILS, "output": []}
MODEL = Model(
    "responses",
    HABITS,
    send,
    _encode,
    {
        "length": _event("response.incomplete", {"response": _INCOMPLETE}),
        "silence": b"",
        "incomplete item": _cut_item,
    },
    sensible,
    _event("response.created", {"response": {**_RESPONSE, "status": "in_progress", "output": []}}),
    evident=evident,
)
