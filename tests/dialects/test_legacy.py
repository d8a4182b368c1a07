"""Text completions: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from wholecall.deltas import Delta, Finish, TextFragment, TurnEnded, TurnOpened, UsageSeen, WireFault
from wholecall.dialects.legacy import LegacyTranslator
from wholecall.framing.frame import Frame


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = LegacyTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame("message", data))
    return deltas + translator.close()


def test_a_stream_is_text() -> None:
    """The first chunk opens the turn, text and reasons belong to their choice, `[DONE]` ends it."""
    usage = {"total_tokens": 3}
    deltas = translate(
        {"id": "cmpl-1", "model": "m", "choices": [{"index": 0, "text": "Hi", "finish_reason": None}]},
        {"id": "cmpl-1", "choices": [{"index": 1, "text": "Yo"}, {"text": "", "finish_reason": "length"}]},
        {"id": "cmpl-1", "choices": [], "usage": usage},
        "[DONE]",
    )

    assert [
        TurnOpened("cmpl-1", "cmpl-1", "m"),
        TextFragment(0, "Hi"),
        TextFragment(1, "Yo"),
        Finish(0, "length", "length"),
        UsageSeen(usage),
        TurnEnded("cmpl-1"),
    ] == deltas


def test_an_error_is_fatal() -> None:
    """An error object in the stream is the provider's."""
    error = {"message": "no"}

    assert [WireFault("provider_error", "no", error=error, fatal=True)] == translate({"error": error})


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Keep-alives say nothing, a split surrogate is text, and what cannot be read is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}")
    assert [fault] == translate("{")
    assert [TurnOpened(None), TextFragment(0, "\ud83d")] == translate(
        '{"choices":[{"index":-1,"text":"\\ud83d"},{"index":0,"text":null}]}'
    )
