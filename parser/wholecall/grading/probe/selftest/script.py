"""The answer that a good server gives: made from what a request asks for, and a seed.

Theory of operation. A self-test needs no model: the scenario says which calls it asks for, and the script answers with
them. Ids, texts, counts, the spelling of the arguments and the places where they are cut vary with the seed.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any, Literal

import msgspec

from wholecall.grading.probe.asked import choice_in, functions_in, is_serial, limit_in, schema_of
from wholecall.grading.probe.exchange import Asked, Wire
from wholecall.grading.probe.reading.model import member

_CHARACTERS = 4  # of a token, roughly
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_WORDS = (
    "Yes",
    "it",
    "is",
    "done",
    "the",
    "tide",
    "turns",
    "at",
    "noon",
    "caf\u00e9",
    "\u6f6e",
    "\U0001f30a",
    "so",
    "far",
)
_PREFIXES: Mapping[str, tuple[str, ...]] = {
    "chat-completions": ("call_", "chatcmpl-tool-", "functions-"),
    "responses": ("call_",),
    "anthropic": ("toolu_",),
    "gemini": ("",),
}

Ended = Literal["calls", "stop", "length"]


class Scripted(msgspec.Struct, kw_only=True):
    """One call of a script.

    Attributes:
        id: its id.
        name: its name.
        text: its argument text, perhaps cut.
        is_whole: whether the text is whole.
        pieces: the text in pieces.
    """

    id: str
    name: str
    text: str
    is_whole: bool = True
    pieces: list[str] = []

    def __repr__(self) -> str:
        return f"Scripted(name={self.name!r})"


class Script(msgspec.Struct, kw_only=True):
    """One answer of a server.

    Attributes:
        wire: the wire format.
        request: the request.
        asked: what it asks for.
        calls: the calls.
        texts: the visible text in pieces.
        ended: why the answer ends.
        id: the answer's id.
        item: the beginning of ids of items.
        model: the model's name.
        created: the time of the answer in seconds.
        tokens: input and output tokens.
        is_streamed: whether a stream was asked for.
    """

    wire: Wire
    request: dict[str, Any]
    asked: Asked
    calls: list[Scripted]
    texts: list[str]
    ended: Ended
    id: str
    item: str
    model: str
    created: int
    tokens: tuple[int, int]
    is_streamed: bool

    def __repr__(self) -> str:
        return f"Script(wire={self.wire!r}, calls={len(self.calls)}, ended={self.ended!r})"


def script_of(
    request: dict[str, Any], asked: Asked, wire: Wire, random: Random, *, is_streamed: bool
) -> Script:
    """Return the answer of a good server."""
    forbids = choice_in(request).kind == "none"
    prefix = random.choice(_PREFIXES[wire])
    calls = (
        []
        if forbids
        else [_call(each.name, _arguments(request, each), prefix, random) for each in asked.calls]
    )
    if is_serial(request):
        calls = calls[:1]
    is_cut = asked.outcome == "cut" and bool(calls)
    if is_cut:
        _cut(calls[-1], request, random)
    for call in calls:
        call.pieces = cut_up(call.text, random)
    texts = [] if calls and random.random() < 0.6 else _texts(random)
    size = sum(len(call.text) for call in calls) + sum(map(len, texts))
    is_limited = is_cut and limit_in(request) is not None
    return Script(
        wire=wire,
        is_streamed=is_streamed,
        request=request,
        asked=asked,
        calls=calls,
        texts=texts,
        ended="length" if is_cut else "calls" if calls else "stop",
        id=f"{random.choice(('chatcmpl-', 'resp_', 'msg_'))}{token(random)}",
        item=token(random, 12),
        model=str(request.get("model", "m")),
        created=1_780_000_000 + random.randrange(10_000_000),
        tokens=(
            20 + len(json.dumps(_counted(request))) // _CHARACTERS,
            limit_in(request) or 1 if is_limited else 1 + size // _CHARACTERS,
        ),
    )


def _counted(request: dict[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in request.items() if name in {"messages", "input", "contents", "tools"}
    }


def token(random: Random, length: int = 20) -> str:
    """Return letters and digits."""
    return "".join(random.choices(_LETTERS, k=length))


def _call(name: str, arguments: Any, prefix: str, random: Random) -> Scripted:
    separators = random.choice(((",", ":"), (", ", ": ")))
    text = json.dumps(arguments, ensure_ascii=random.random() < 0.5, separators=separators)
    return Scripted(id=f"{prefix}{token(random)}", name=name, text=text)


def _arguments(request: dict[str, Any], asked: Any) -> Any:
    """Return the arguments that are asked for, or any that fit the tool."""
    if asked.arguments is not None:
        return asked.arguments
    for function in functions_in(request):
        if function.get("name") == asked.name:
            return _fitting(schema_of(function))
    return {}


def _fitting(schema: dict[str, Any]) -> Any:
    """Return a small value that fits a schema of the kinds that scenarios use."""
    if schema.get("enum"):
        return schema["enum"][0]
    kind = schema.get("type", "object")
    kind = kind[0] if isinstance(kind, list) else kind
    if kind == "object":
        properties = member(schema, "properties")
        return {name: _fitting(properties[name]) for name in schema.get("required", []) if name in properties}
    plain: dict[str, Any] = {"string": "tide", "integer": 3, "number": 1.5, "boolean": True, "null": None}
    return [_fitting(member(schema, "items"))] if kind == "array" else plain.get(kind)


def _cut(call: Scripted, request: dict[str, Any], random: Random) -> None:
    """Cut the text of a call where the limit falls, at the latest before its last character."""
    room = (limit_in(request) or 8) * _CHARACTERS
    at = max(1, min(room, len(call.text) - random.choice((1, 2))))
    call.text, call.is_whole = call.text[:at], False


def cut_up(text: str, random: Random) -> list[str]:
    """Return a text in pieces of random sizes; at least two for any text of more than one character."""
    pieces, at = [], 0
    most = max(2, len(text) // random.choice((2, 3, 5, 12)))
    while at < len(text):
        size = min(random.randint(1, most), max(1, len(text) - 1))
        pieces.append(text[at : at + size])
        at += size
    return pieces


def _texts(random: Random) -> list[str]:
    words = random.choices(_WORDS, k=random.randint(1, 9))
    return [words[0], *(f" {word}" for word in words[1:])]
