"""The assistant-transport protocol: parts that are numbered by their starts, deltas and ends by a part's number."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, pieces, told_in
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "own": (0, "the encoder"),
        "none": (1, "quirk 8: backends of their own, over models that know no ids"),
        "same": (1, "quirk 64: backends that use the tool's, or the answer's, for all calls"),
    },
    # Of deltas; `all`: of deltas and ends.
    "path": {
        "own": (0, "the encoder"),
        "none": (1, "quirk 1: backends that leave the number of a part out"),
        "all": (1, "quirk 1: the same, and of ends"),
    },
    "text": {
        "pieces": (0, "the encoder"),
        "head": (0, "the encoder: an empty first delta"),
        "placeholder": (1, "quirk 25: backends over models that begin with an empty object"),
        "snapshots": (1.5, "quirk 24: backends over models whose deltas restate"),
        "repeated": (1, "quirk 23: backends that end with the whole text once more"),
    },
    # t: of the text, p: of the part.
    "end": {
        "tp": (0, "the encoder"),
        "p": (0, "the encoder, of a call whose text nobody closed"),
        "t": (1, "quirk 77: backends that never end a part"),
        "none": (1, "quirk 51: backends that end calls with the message"),
        "early": (1.5, "quirk 131: backends that end a part when its head is out"),
    },
    "speech": {"none": (0, "the encoder"), "first": (0, "the encoder"), "between": (0, "the encoder")},
    "finish": {
        "message": (0, "the encoder"),
        "step": (0, "the encoder, of a step without the message's own end"),
        "done": (1, "quirk 109: backends that only say that they are done"),
    },
    "order": {
        "row": (0, "the protocol"),
        "turns": (0, "the protocol"),
        "opened": (0, "the protocol"),
        "crossed": (0, "the protocol"),
    },
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if habit.order == "row":
        return True
    told_apart = habit.path == "own" or habit.order != "turns"
    return n_calls > 1 and habit.speech != "between" and told_apart


def _evident(habit: Any) -> bool:
    """Return whether a call without text ended: by an end of its own, or by a reason that mentions calls."""
    return habit.end != "none" or habit.finish != "done" or habit.text == "placeholder"


@lru_cache(512)
def _told(number: int, call: tuple[str, str], where: int, habit: Any) -> list[Event]:
    """One call's events; its number is that of its part."""
    name, text = call
    id = {"own": Label("call", number), "same": Label("call", ())}.get(habit.id)
    on_text = number if habit.path == "own" else None
    on_end = None if habit.path == "all" else number
    ends = {"tp": ["text over", "part over"], "p": ["part over"], "t": ["text over"]}.get(habit.end, [])
    early: list[Event] = [("part over", on_end)] if habit.end == "early" else []
    parts = pieces(text, where, habit.text) if text or habit.text in {"head", "placeholder"} else []
    return [
        *[("start", id, name), *early],
        *(("delta", on_text, piece) for piece in parts),
        *((end, on_end) for end in ends),
    ]


def _speech(number: int) -> list[Event]:
    return [("speech",), ("delta", number, "hm"), ("part over", number)]


def _send(calls: Calls, cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows = []
    for n, (call, where) in enumerate(zip(calls, cuts, strict=True)):
        number = 2 * n + 1 if habit.speech == "between" else n + (habit.speech == "first")
        rows.append(_told(number, call, where, habit))
        if habit.speech == "between":
            rows[-1] = [*_speech(number - 1), *rows[-1]]
    opening = _speech(0) if habit.speech == "first" else []
    return [*opening, *told_in(habit.order, rows), ("finish", habit.finish)]


def _chunk(kind: str, path: list[int], **members: Any) -> bytes:
    return data_of({"type": kind, **present(**members), "path": path})


def _finish(kind: str, reason: str) -> bytes:
    usage = {"inputTokens": 1, "outputTokens": 9}
    return _chunk(f"{kind}-finish", [], finishReason=reason, usage=usage)


_DONE = b"data: [DONE]\n\n"


def _encode(event: Event) -> bytes:
    kind, *of = event
    if kind == "start":
        part = {"type": "tool-call", **present(toolCallId=of[0], toolName=of[1])}
        return _chunk("part-start", [], part=part)
    if kind == "speech":
        return _chunk("part-start", [], part={"type": "text"})
    if kind == "finish":
        return (b"" if of[0] == "done" else _finish(of[0], "tool-calls")) + _DONE
    path = [] if of[0] is None else [of[0]]
    if kind == "delta":
        return _chunk("text-delta", path, textDelta=of[1])
    return _chunk("part-finish" if kind == "part over" else "tool-call-args-text-finish", path)


MODEL = Model(
    "assistant-transport",
    HABITS,
    _send,
    _encode,
    {
        "length": _finish("message", "length") + _DONE,
        "error": _chunk("error", [], error="lost"),
        "silence": b"",
    },
    _sensible,
    _chunk("step-start", [], messageId="msg_1"),
    evident=_evident,
)
