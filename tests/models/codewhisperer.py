"""CodeWhisperer's answers, as an SDK decodes them: every event of a call has its id and its name, the last one a stop."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import line_of, present

HABITS = {
    "id": {
        "own": (0, "the service"),
        "none": (1, "quirk 8: relays of servers that know no ids"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    # The name of events after the first.
    "name": {
        "each": (0, "the service"),
        "first": (1, "quirk 19: relays that name a call once"),
    },
    "text": {
        "pieces": (0, "the service"),
        "head": (0, "the service: an empty first piece"),
        "placeholder": (1, "quirk 25: relays that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: relays of servers whose pieces restate"),
        "repeated": (1, "quirk 23: relays that end with the whole text once more"),
    },
    "stop": {
        "alone": (0, "the service"),
        "last": (0, "the service: with the last piece"),
        "none": (1, "quirk 77: relays that know of no stops"),
    },
    "speech": {"none": (0, "the service"), "first": (0, "the service"), "between": (0, "the service")},
    "reason": {
        "right": (0, "the service"),
        "none": (0, "the service, before it told reasons"),
        "wrong": (1, "quirk 43: relays that call every end the end of a turn"),
    },
    "order": {
        "row": (0, "the service"),
        "turns": (1, "quirk 56: relays of parallel answers, a piece of each in turn"),
        "opened": (1, "quirk 56: the same, all calls begun first"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    """Return whether a server can have these habits at once: without ids, only a name or a stop tells calls apart."""
    if habit.order != "row" and (n_calls == 1 or habit.id != "own" or habit.speech == "between"):
        return False
    return habit.id == "own" or habit.stop != "none"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events."""
    name, text = call
    id = {"own": Label("tooluse", number), "same": Label("tooluse", ())}.get(habit.id)
    later = name if habit.name == "each" else None
    parts = pieces(text, where, habit.text) if text or habit.text in {"head", "placeholder"} else []
    told: list[Event] = [("use", id, name, None, None), *(("use", id, later, piece, None) for piece in parts)]
    if habit.stop == "alone":
        told.append(("use", id, later, None, True))
    elif habit.stop == "last":
        told[-1] = (*told[-1][:4], True)
    return told


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    speech: list[Event] = [("text",)] if habit.speech == "first" else []
    before: list[Event] = [("text",)] if habit.speech == "between" else []
    rows = [
        [*before, *_told(n, call, where, habit)]
        for n, (call, where) in enumerate(zip(calls, cuts, strict=True))
    ]
    return [*speech, *told_in(habit.order, rows), ("over", habit.reason)]


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "text":
        return line_of({"assistantResponseEvent": {"content": "hm"}})
    if kind == "use":
        said = present(toolUseId=of[0], name=of[1], input=of[2], stop=of[3])
        return line_of({"toolUseEvent": said})
    reason = {"right": "TOOL_USE", "wrong": "END_TURN"}.get(of[0])
    return line_of({"metadataEvent": present(tokenUsage={"totalTokens": 9}, stopReason=reason)})


MODEL = Model(
    "codewhisperer",
    HABITS,
    _send,
    _encode,
    {
        "length": line_of({"metadataEvent": {"stopReason": "MAX_TOKENS"}}),
        "error": line_of({"invalidStateEvent": {"reason": "DEFAULT", "message": "lost"}}),
        "silence": b"",
    },
    _sensible,
    line_of({"messageMetadataEvent": {"utteranceId": "u1"}}),
    evident=lambda habit: habit.stop != "none" or habit.reason == "right" or habit.text == "placeholder",
)
