"""AG-UI: a call is a start, argument pieces and an end with its id; or chunks, of which the first has id and name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "form": {
        "triple": (0, "the protocol"),
        "chunks": (0, "the protocol: TOOL_CALL_CHUNK, id and name on the first"),
        "labelled": (0, "the protocol: the id on every chunk"),
        "named": (0.5, "quirk 13: agents that put the name on every chunk, too"),
    },
    "id": {
        "own": (0, "the protocol"),
        "none": (1, "quirk 8: agents over models that know no ids"),
        "same": (1, "quirk 64: agents that use the tool's, or the answer's, for all calls"),
    },
    # Of argument events and ends.
    "labels": {
        "own": (0, "the protocol"),
        "none": (1, "quirk 7: agents that give the id only with the start"),
        "stranger": (1, "quirk 10: agents that make an id anew for the pieces"),
        "both strangers": (1, "quirk 10: the same, and for the end"),
    },
    "start": {
        "once": (0, "the protocol"),
        "twice": (1, "quirk 130: agents that start a call when it begins, and when they run it"),
        "each": (1, "quirk 13: agents that start it before every piece"),
    },
    "text": {
        "pieces": (0, "the protocol"),
        "head": (0, "the protocol: an empty first piece"),
        "placeholder": (1, "quirk 25: agents over models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: agents over models whose pieces restate"),
        "repeated": (1, "quirk 23: agents that end with the whole text once more"),
    },
    "end": {
        "each": (0, "the protocol"),
        "none": (1, "quirk 51: agents that end calls with the run"),
        "last": (0, "the protocol: all ends behind all calls"),
        "early": (1.5, "quirk 131: agents that end a call when its head is out"),
        "twice": (1, "quirk 130: agents that end a call when it is told, and when it ran"),
    },
    # The messages at the end. ids: with other ids; history: with a call of an earlier run and its result, too.
    "retold": {
        "no": (0, "the protocol"),
        "yes": (0, "the protocol: a snapshot of the messages"),
        "history": (0, "the protocol: a snapshot of all messages"),
        "ids": (1.5, "quirk 10: agents that keep calls under other ids than they stream them"),
    },
    "again": {"no": (0, "the protocol"), "replay": (1, "quirk 91: a connection that begins anew")},
    "order": {
        "row": (0, "the protocol"),
        "turns": (0, "the protocol"),
        "opened": (0, "the protocol"),
        "crossed": (0, "the protocol"),
    },
}
_EARLIER = [
    {
        "id": "m0",
        "role": "assistant",
        "toolCalls": [
            {"id": "call_before", "type": "function", "function": {"name": "go", "arguments": '{"x":0}'}}
        ],
    },
    {"id": "t0", "role": "tool", "toolCallId": "call_before", "content": "1"},
]


def _evident(habit: Any) -> bool:
    """Return whether a call without text ended: by its own end, the run's in chunks, or a message that lists it."""
    return (
        habit.end != "none" or habit.form == "chunks" or habit.retold != "no" or habit.text == "placeholder"
    )


def _sensible(habit: Any, n_calls: int) -> bool:
    chunks = habit.form != "triple"
    if chunks and (habit.start, habit.end, habit.labels) != ("once", "each", "own"):
        return False
    if habit.order == "row":
        return True
    told_apart = habit.form != "chunks" and habit.id == "own" and habit.labels == "own"
    return n_calls > 1 and (told_apart or (habit.order != "turns" and not chunks))


def _id(number: int, habit: Any) -> Label | None:
    return {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = _id(number, habit)
    parts = pieces(text, where, habit.text) if text or habit.text == "head" else []
    if habit.form != "triple":
        return _chunks(id, name, parts or [None], habit.form)
    stranger = Label("call", (number, "text"))
    on_text = {"none": None, "stranger": stranger, "both strangers": stranger}.get(habit.labels, id)
    end = ("end", {"none": None, "both strangers": stranger}.get(habit.labels, id))
    start = ("start", id, name)
    told: list[Event] = [start]
    for n, piece in enumerate(parts):
        told += [start] if n and habit.start == "each" else []
        told.append(("args", on_text, piece))
    told[:1] = [start, *([start] if habit.start == "twice" else []), *([end] if habit.end == "early" else [])]
    return told + [end] * {"each": 1, "twice": 2}.get(habit.end, 0)


def _chunks(id: Label | None, name: str, parts: list[Any], form: str) -> list[Event]:
    on_later = {"labelled": (id, None), "named": (id, name)}.get(form, (None, None))
    return [("chunk", *((id, name) if n == 0 else on_later), piece) for n, piece in enumerate(parts)]


def _retold_id(number: int, habit: Any) -> Label:
    if habit.retold == "ids":
        return Label("call", (number, "again"))
    return Label("call", () if habit.id == "same" else number)


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = [_told(n, call, where, habit) for n, (call, where) in enumerate(zip(calls, cuts, strict=True))]
    events = told_in(habit.order, rows)
    if habit.end == "last" and habit.form == "triple":
        events += [("end", _id(n, habit)) for n in range(len(calls))]
    if habit.again == "replay":
        events = [*events, *events]
    if habit.retold != "no":
        retold = tuple((_retold_id(n, habit), *call) for n, call in enumerate(calls))
        events.append(("messages", habit.retold == "history", retold))
    return [*events, ("finished",)]


def _event(kind: str, **members: Any) -> bytes:
    return data_of({"type": kind, **present(**members)})


def _messages(with_earlier: bool, calls: tuple[tuple[str, str, str], ...]) -> bytes:
    told = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": text}}
        for id, name, text in calls
    ]
    before = [{"id": "u1", "role": "user", "content": "hi"}, *(_EARLIER if with_earlier else [])]
    return _event(
        "MESSAGES_SNAPSHOT", messages=[*before, {"id": "m1", "role": "assistant", "toolCalls": told}]
    )


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "start":
        return _event("TOOL_CALL_START", toolCallId=of[0], toolCallName=of[1], parentMessageId="m1")
    if kind == "args":
        return _event("TOOL_CALL_ARGS", toolCallId=of[0], delta=of[1])
    if kind == "end":
        return _event("TOOL_CALL_END", toolCallId=of[0])
    if kind == "chunk":
        return _event("TOOL_CALL_CHUNK", toolCallId=of[0], toolCallName=of[1], delta=of[2])
    return _messages(*of) if kind == "messages" else _event("RUN_FINISHED", threadId="t", runId="r")


MODEL = Model(
    "ag-ui",
    HABITS,
    _send,
    _encode,
    {"error": _event("RUN_ERROR", message="lost"), "silence": b""},
    _sensible,
    _event("RUN_STARTED", threadId="t", runId="r"),
    evident=_evident,
)
