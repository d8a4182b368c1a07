"""Gemini: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.together import together
from wholecall.deltas import (
    CallRefused,
    CallSeen,
    Delta,
    TextUnread,
    TurnOpened,
)
from wholecall.dialects.google.gemini.translator import GeminiTranslator
from wholecall.framing.frame import Frame
from wholecall.types import DropReason

OPENED = TurnOpened("r1", "r1", "g", restart=True)


def translate(*payloads: dict[str, Any] | str | Frame) -> list[Delta]:
    """Translate the payloads of one stream, to its end."""
    translator = GeminiTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return deltas + translator.close()


def said(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads; the turn's beginning is left out."""
    (opened, *deltas) = translate(*payloads)
    assert isinstance(opened, TurnOpened)
    return deltas


def response(*parts: dict[str, Any], reason: str | None = None, **candidate: Any) -> dict[str, Any]:
    """Build a frame with one candidate that holds the parts."""
    candidate = {"content": {"role": "model", "parts": list(parts)}, **candidate}
    candidate |= {"finishReason": reason} if reason else {}
    return {"candidates": [candidate], "modelVersion": "g", "responseId": "r1"}


def call(name: str | None = None, **members: Any) -> dict[str, Any]:
    """Build a part with a function call."""
    return {"functionCall": {**({} if name is None else {"name": name}), **members}}


def pieces(*found: dict[str, Any], name: str | None = None, more: bool | None = True) -> dict[str, Any]:
    """Build a part with values at paths."""
    return call(name, partialArgs=list(found), **({} if more is None else {"willContinue": more}))


def value(path: str, text: str, *, more: bool = False) -> dict[str, Any]:
    """Build a string at a path."""
    return {"jsonPath": path, "stringValue": text} | ({"willContinue": True} if more else {})


def seen(slot: int = 1, name: str | None = "f", id_: str | None = None) -> CallSeen:
    """Return the beginning of a call that comes in pieces."""
    return CallSeen(0, slot, None, id_, name)


def refused(reason: DropReason, detail: str, text: str, slot: int = 1) -> CallRefused:
    """Return the end of a call that is not whole."""
    return CallRefused(0, slot, None, reason, detail, text)


# Whole calls.


# Code and its result, a tool and its response, code that says nothing, a picture.
# Reasons, errors, odd frames.


# Calls in pieces (quirk 67).


def test_calls_that_are_built_at_once_are_bounded() -> None:
    """Beyond 128 candidates nothing is built; each of their calls ends for itself."""
    begun = [response(pieces(value("$.a", "x"), name="f"), index=index) for index in range(129)]
    *rest, last = (delta for delta in said(*begun) if isinstance(delta, CallRefused))
    detail = "more than 128 calls are streamed at once"

    assert [("unterminated", '{"a":"x"')] * 128 == [(end.reason, end.text) for end in rest]
    assert CallRefused(128, 129, None, "too_many_calls", detail, "") == last


def test_replaced_bytes_spoil_a_piece() -> None:
    """Bytes that are not UTF-8 were replaced inside a value: the original is unknown."""
    frame = Frame("message", json.dumps(response(pieces(value("$.a", "\ufffd")))), replaced=True)
    opened, *deltas = translate(response(call("f", willContinue=True)), frame, response(call()))
    detail = "the argument text held bytes that are not UTF-8"

    assert OPENED == opened
    assert [seen(), refused("invalid_utf8", detail, "")] == deltas


HIDDEN = refused("incomplete_input", "a frame that may hold a piece could not be read", '{"a":"x"')
X = value("$.a", "x")


@together(
    "hidden",
    [
        {"foo": call()["functionCall"] | {"partialArgs": [X]}},
        {"foo": {"name": "g", "willContinue": True}},
        call(foo=[X], willContinue=True),
        call(foo=True),
        pieces(X | {"foo": True}),
        pieces({"foo": "$.b", "stringValue": "y", "willContinue": False}),
        {"inner": call(willContinue=True)},
    ],
)
def test_a_hidden_piece_spoils_the_open_calls(hidden: dict[str, Any]) -> None:
    """A call or a value that is not in its place, or has an unknown member, may be a piece of any open call."""
    end = response(call())

    assert [HIDDEN] == [
        delta for delta in said(response(pieces(X, name="f")), response(hidden), end) if delta == HIDDEN
    ]
    assert [] == [
        delta
        for delta in said(response(pieces(X, name="f")), response({"text": "{}"}), end)
        if isinstance(delta, CallRefused)
    ]


def test_a_first_part_with_an_unknown_member() -> None:
    """A call that begins with an unknown member is not whole: in pieces it is refused, without arguments in doubt."""
    (_, one, *_) = said(response(pieces(X, name="f", more=None), call("g", foo=True)))
    whole = said(response(call("f", foo=True)))

    assert refused("incomplete_input", HIDDEN.detail, "") == one
    assert TextUnread(0, None, "f") == whole[0]
    for known in (call("f", args={}), call("f", thoughtSignature="c2ln", callMetadata={"a": 1})):
        assert [] == [delta for delta in said(response(known)) if isinstance(delta, TextUnread)]
