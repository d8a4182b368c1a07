"""Calls and pieces of Gemini that stand where nothing reads them: which frames are searched, and what is found."""

from __future__ import annotations

import json
from typing import Any

from tests.support.together import together
from wholecall.dialects.google.gemini.translator import GeminiTranslator
from wholecall.dialects.google.gemini.views import hides_piece, may_hold_piece

PIECE = {"jsonPath": "$.a", "stringValue": "x"}
BESIDE = {"metadata": {"a": 1}}  # about the call: nothing is hidden in it, but the frame is not a usual one


def frame(*parts: Any, **more: Any) -> str:
    """Return a frame with these parts, and further members beside its candidates."""
    return json.dumps({"candidates": [{"content": {"parts": list(parts)}}], **more})


def call(**members: Any) -> dict[str, Any]:
    """Return a part with a call."""
    return {"functionCall": members}


def hides(text: str) -> bool:
    """Return whether a frame hides a call or a piece of one."""
    return hides_piece(text, GeminiTranslator.CALLS)


@together(
    ("text", "expected"),
    [
        (frame(call(name="f")), True),
        (frame({"function_call": {"name": "f"}}), True),
        (frame(call(name="f", args={"a": 1})), False),
        (frame({"text": "x"}), False),
        (frame({"text": "x"}, args={}), False),
        (frame(call(args={}, partialArgs=[{"jsonPath": "$.a"}])), True),
        (frame(call(args={}, partial_args=[{"json_path": "$.a"}])), True),
        (frame(call(args={}, willContinue=False)), True),
        (frame(call(args={}, will_continue=False)), True),
    ],
)
def test_frames_that_may_hold_a_piece(text: str, expected: bool) -> None:
    """A piece has the mark of a place or of more to come; a call without arguments may have them in pieces."""
    assert expected == may_hold_piece(text)


@together(
    "part",
    [
        {"text": "x"},
        call(id="c", name="f", args={"a": 1}),
        call(partialArgs=[PIECE, {"jsonPath": "$.b", "numberValue": 1}], willContinue=True),
        {
            "function_call": {
                "partial_args": [{"json_path": "$.a", "string_value": "x"}],
                "will_continue": True,
            }
        },
        call(partialArgs=PIECE),
        call(name="f", args={"functionCall": {"name": "g"}, "willContinue": True, "jsonPath": "$.a"}),
        call(name="f", **BESIDE),
        call(partialArgs=[PIECE], willContinue=True, **BESIDE),
        call(name="f", args={"functionCalls": [1, 2], "jsonPath": "$.a"}, **BESIDE),
        {"functionCall": [{"name": "f", **BESIDE}, {"name": "g"}]},
    ],
)
def test_a_frame_whose_calls_are_at_their_places(part: dict[str, Any]) -> None:
    """Nothing is hidden in a call that is read, in its arguments, and in what servers add about it."""
    assert not hides(frame(part))
    assert not hides(frame(part, {"text": "x"}, usageMetadata={"n": 1}, foo=[{"bar": "x"}]))


@together(
    "text",
    [
        *(frame({"foo": {key: {"name": "f"}}}) for key in ("functionCall", "function_call")),
        *(frame(**{key: [{"name": "f"}, {"name": "g"}]}) for key in ("functionCalls", "function_calls")),
        frame(call(name="f", **BESIDE), call(name="g"), foo=call(name="h")),
        json.dumps({"foo": call(name="f"), "candidates": []}),
        json.dumps({"foo": [[call(name="f")], ["x"]], "candidates": []}),
        *(frame(foo={key: "x"}) for key in ("jsonPath", "json_path", "willContinue", "will_continue")),
        frame(call(name="f", willContinue=True), foo=PIECE),
        frame(call(name="f", metadata=[PIECE])),
        frame(call(name="f", foo=[PIECE], willContinue=True)),
        frame(call(name="f", foo={"a": 1})),
        frame(call(name="f", foo="x", **BESIDE)),
        frame(call(partialArgs=["x"])),
        frame(call(partialArgs=[None])),
        frame(call(partialArgs=[[]])),
        frame(call(partialArgs=[{**PIECE, "foo": "x"}])),
    ],
)
def test_a_frame_that_hides_a_piece(text: str) -> None:
    """A call, a mark or a piece elsewhere, an unknown member of a call, and a piece of another shape are hidden."""
    assert hides(text)
