"""DashScope's own protocol: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.together import together
from wholecall.deltas import (
    Delta,
    TextFragment,
)
from wholecall.dialects.others.dashscope import DashScopeTranslator
from wholecall.framing.frame import Frame


def translate(*payloads: dict[str, Any] | str, event: str = "result") -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = DashScopeTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame(event, data))
    return deltas + translator.close()


def frame(finish: Any = "null", **message: Any) -> dict[str, Any]:
    """Return one frame with one choice."""
    return {"output": {"choices": [{"message": message, "finish_reason": finish}]}, "request_id": "r"}


def texts(*contents: Any) -> list[str]:
    """Return the text that frames with these contents say."""
    deltas = translate(*(frame(content=content) for content in contents))
    return [delta.text for delta in deltas if isinstance(delta, TextFragment)]


@together(
    ("contents", "said"),
    [
        (("He", "llo", "llo"), ["He", "llo", "llo"]),  # increments
        (("He", "Hello", "Hello", "Hello!"), ["He", "llo", "!"]),  # restated
        (("ha", "ha", " so"), ["ha", "ha so"]),  # a word twice, then the mode is clear
        (("ha", "ha", "haha", "x"), ["ha", "ha", "x"]),
        (("He", "llo", "llo", "llo", "llo"), ["He", "llo", "llo", "llo", "llo"]),
        (("He", "Hello", "Hello", "Bye"), ["He", "llo", "Bye"]),
        (("He", "Hello", "Bye", "Bye"), ["He", "llo", "Bye", "Bye"]),  # restated, then another text
        (("He", "", None, "llo"), ["He", "llo"]),  # nothing says nothing
        (([{"text": "He"}], [{"text": "He"}, {"text": "llo"}]), ["He", "llo"]),  # parts (quirk 95)
    ],
)
def test_text_is_said_once_in_either_mode(contents: tuple[Any, ...], said: list[str]) -> None:
    """Frames restate the text or add to it, and do not say which (quirk 24)."""
    assert said == texts(*contents)
