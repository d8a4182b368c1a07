"""Gemini's generateContent: a call is a whole part, or (on Vertex AI) a start, patches of paths and an end.

Ids are optional: without them two equal parts are two equal calls, as the API documents.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from tests.models.streams import Calls, Event, Label, Model, kinds
from tests.models.written import data_of, present

HABITS = {
    "id": {
        "none": (0, "the provider"),
        "own": (0, "the provider, newer models"),
        "same": (1, "quirk 64: relays that use the tool's, or the answer's, for all calls"),
    },
    "place": {"apart": (0, "the provider"), "together": (0, "the provider: all calls in one chunk")},
    "again": {
        "no": (0, "the provider"),
        "next": (1, "quirk 91: relays that send every chunk twice"),
        "cumulative": (1, "quirk 108: relays whose chunks restate the calls before"),
        "final": (1, "quirk 98: relays whose last chunk restates all calls"),
        "growing": (1.5, "quirk 25: relays that send a call without its arguments, and then with them"),
    },
    "empty": {
        "object": (0, "the provider"),
        "missing": (0, "the provider: a call without arguments has none"),
        "null": (1, "quirk 21: relays of calls whose arguments are null"),
    },
    "text": {
        "whole": (0, "the provider"),
        "paths": (0, "quirk 67: the provider on Vertex AI, path by path"),
        "unended": (1, "quirk 129: the same behind relays that leave out empty parts, so that no end comes"),
        "labelled": (1, "quirk 13: the same, name and id on every piece"),
        "last": (0.5, "quirk 67: the last piece says that no more follows, and no empty part comes"),
    },
    "candidate": {
        "one": (0, "the provider"),
        "unnumbered": (0, "the provider"),
        "spread": (1.5, "quirk 14: relays that number the candidates by chunk"),
    },
    "reason": {
        "own": (0, "the provider: in a chunk of its own"),
        "last": (0, "the provider"),
        "none": (1, "quirk 46: relays that know of no reason"),
        "every": (1, "quirk 44: relays that give a reason in every chunk"),
    },
    "order": {
        "row": (0, "the provider"),
        "turns": (1, "quirk 56: pieces of parallel calls in turn, where each is labelled"),
    },
}
TEXTS = ("", "{}", '{"x":1}', '{"x":"ab"}')
_PATCHES = {
    '{"x":1}': [(("$.x", 1, False),)],
    '{"x":"ab"}': [(("$.x", "a", True),), (("$.x", "b", False),)],
}


def _sensible(habit: Any, n_calls: int) -> bool:
    if habit.again == "growing" and habit.id != "own":
        return False
    if habit.again != "no" and (habit.text != "whole" or (habit.id == "none" and n_calls > 1)):
        return False  # without ids a restated call is a conforming second one, which this model holds for one call
    if habit.place == "together" and (n_calls == 1 or habit.text != "whole"):
        return False
    if habit.text != "whole" and habit.empty == "null":
        return False
    return habit.order == "row" or (n_calls > 1 and habit.text == "labelled" and habit.id == "own")


@lru_cache(256)
def _parts(number: int, call: tuple[str, str], habit: Any) -> list[Event]:
    """A call's parts: (id, name, arguments, paths, whether more follows)."""
    name, text = call
    id = {"own": Label("fn", number), "same": Label("fn", ())}.get(habit.id)
    if habit.text == "whole":
        return [(id, name, text or {"object": "{}", "null": "null"}.get(habit.empty), (), False)]
    patches = _PATCHES.get(text, [])
    labels = (id, name) if habit.text == "labelled" else (None, None)
    follows = [habit.text != "last" or n < len(patches) - 1 for n in range(len(patches))]
    parts = [(*labels, None, patch, more) for patch, more in zip(patches, follows, strict=True)]
    ends = habit.text in {"paths", "labelled"} or (habit.text == "last" and not patches)
    return [(id, name, None, (), True), *parts, *([(None, None, None, (), False)] if ends else [])]


def _chunked(parts: list[Event], habit: Any) -> list[tuple[Event, ...]]:
    """The parts of each chunk."""
    chunks = [tuple(parts)] if habit.place == "together" else [(part,) for part in parts]
    if habit.again == "growing":
        begun = [tuple((id, name, "{}", *more) for id, name, _, *more in chunk) for chunk in chunks]
        return [chunk for pair in zip(begun, chunks, strict=True) for chunk in pair]
    if habit.again == "next":
        return [chunk for chunk in chunks for _ in range(2)]
    if habit.again == "cumulative" and habit.place == "apart":
        return [tuple(parts[: n + 1]) for n in range(len(parts))]
    restated = {"cumulative": chunks, "final": [tuple(parts)]}
    return [*chunks, *restated.get(habit.again, [])]


def _send(calls: Calls, _cuts: tuple[int, ...], habit: Any) -> list[Event]:
    rows: Sequence[Sequence[Event]] = [_parts(n, call, habit) for n, call in enumerate(calls)]
    if habit.order == "turns":
        rows = [[row[n] for row in rows if n < len(row)] for n in range(max(map(len, rows)))]
    chunks = _chunked([part for row in rows for part in row], habit)
    if habit.reason == "own":
        chunks = [*chunks, ()]
    ended = {"every": range(len(chunks)), "none": ()}.get(habit.reason, (len(chunks) - 1,))
    candidate = {"one": 0, "unnumbered": None}
    return [(candidate.get(habit.candidate, n), chunk, n in ended) for n, chunk in enumerate(chunks)]


def _written_piece(path: str, value: str | int, more: bool) -> dict[str, Any]:
    kind = "stringValue" if isinstance(value, str) else "numberValue"
    return {"jsonPath": path, kind: value, **({"willContinue": True} if more else {})}


def _written(id: str | None, name: str | None, text: str | None, paths: tuple[Any, ...], more: bool) -> Any:
    call = present(id=id, name=name)
    if text is not None:
        call["args"] = json.loads(text)
    if paths:
        call["partialArgs"] = [_written_piece(*piece) for piece in paths]
    return {"functionCall": {**call, **({"willContinue": True} if more else {})}}


def _chunk(candidate: int | None, parts: tuple[Event, ...], reason: str | None) -> bytes:
    content = {"role": "model", "parts": [_written(*part) for part in parts] or [{"text": ""}]}
    told = present(index=candidate, content=content, finishReason=reason)
    return data_of({"candidates": [told], "modelVersion": "g", "responseId": "r1"})


def _encode(event: Event) -> bytes:
    candidate, parts, ends = event
    return _chunk(candidate, parts, "STOP" if ends else None)


MODEL = Model(
    "gemini",
    HABITS,
    _send,
    _encode,
    {"length": _chunk(0, (), "MAX_TOKENS"), "silence": b""},
    _sensible,
    kinds=kinds(TEXTS, whole=True),
    has_heads=lambda _habit: False,
)
