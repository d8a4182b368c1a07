"""Text completions: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import Delta, Finish, TextFragment, TurnEnded, TurnOpened, UsageSeen, WireFault
from wholecall.dialects.openai.legacy import LegacyTranslator
from wholecall.dialects.table import named
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
        TurnOpened("cmpl-1", "cmpl-1", "m", restart=True),
        TextFragment(0, "Hi"),
        TextFragment(1, "Yo"),
        Finish(0, "length", "length"),
        UsageSeen(usage),
        TurnEnded("cmpl-1"),
    ] == deltas


@pytest.mark.parametrize(
    ("chunks", "usage"),
    [
        pytest.param(
            [
                {
                    "generation": "H",
                    "prompt_token_count": 5,
                    "generation_token_count": 1,
                    "stop_reason": None,
                },
                {"generation": "i", "prompt_token_count": None, "stop_reason": "length"},
            ],
            {"prompt_token_count": 5, "generation_token_count": 1},
            id="llama",
        ),
        pytest.param(
            [
                {"outputs": [{"text": "H", "stop_reason": None}]},
                {"outputs": [{"text": "i", "stop_reason": "length"}]},
            ],
            None,
            id="mistral",
        ),
        pytest.param(
            [
                {"outputText": "H", "index": 0, "completionReason": None, "inputTextTokenCount": 5},
                {"outputText": "i", "index": 1, "completionReason": "LENGTH"},
            ],
            {"inputTextTokenCount": 5},
            id="titan",
        ),
        pytest.param(
            [
                {"results": [{"outputText": "H"}], "inputTextTokenCount": 5},
                {"results": [{"outputText": "i", "completionReason": "LENGTH", "tokenCount": 2}]},
            ],
            {"inputTextTokenCount": 5},
            id="titan, whole",
        ),
    ],
)
def test_models_on_bedrock_have_their_own_members(
    chunks: list[dict[str, Any]], usage: dict[str, Any] | None
) -> None:
    """Text, reason and counts are the same under any name; the index of a Titan chunk is not a choice."""
    word = "LENGTH" if "length" not in json.dumps(chunks) else "length"
    counted = [UsageSeen(usage)] if usage else []

    assert [
        TurnOpened(None, restart=True),
        TextFragment(0, "H"),
        *counted,
        TextFragment(0, "i"),
        Finish(0, "length", word),
    ] == translate(*chunks)


def test_what_stopped_the_text_is_no_reason_beside_one() -> None:
    """The stop word or token that vLLM puts in `stop_reason` is next to the reason."""
    assert [TurnOpened(None, restart=True), Finish(0, "stop", "stop")] == translate(
        {"choices": [{"index": 0, "text": "", "finish_reason": "stop", "stop_reason": "length"}]}
    )


@pytest.mark.parametrize(
    ("payload", "known"),
    [
        ({"choices": [{"text": "x"}]}, True),
        ({"choices": [{"text": "x", "delta": {}}]}, False),
        ({"generation": "", "stop_reason": None}, True),
        ({"generation": "x"}, False),
        ({"generation": {}, "stop_reason": None}, False),
        ({"outputText": "x", "completionReason": None}, True),
        ({"outputText": "x"}, False),
        ({"outputs": [{"text": "x", "stop_reason": None}]}, True),
        ({"outputs": [{"text": "x"}]}, False),
        ({"outputs": [{"delta": {"content": "x"}}]}, False),
        ({"outputs": [], "results": []}, False),
        ({"results": [{"outputText": "x", "completionReason": "FINISH"}]}, True),
        ({"stop_reason": "stop"}, False),
    ],
    ids=str,
)
def test_text_and_a_place_for_the_reason_decide(payload: dict[str, Any], known: bool) -> None:
    """A member that happens to be called so is not enough: text and reason go together."""
    assert known == named("legacy-completions").detect(payload, "")


def test_an_error_is_fatal() -> None:
    """An error object in the stream is the provider's."""
    error = {"message": "no"}

    assert [WireFault("provider_error", "no", error=error, fatal=True)] == translate({"error": error})


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """Keep-alives say nothing, a split surrogate is text, and an unreadable frame is a hole."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)

    assert [] == translate("{}")
    assert [fault] == translate("{")
    assert [TurnOpened(None, restart=True), TextFragment(1, "\ud83d")] == translate(
        '{"choices":[{"index":1,"text":"\\ud83d"},{"index":0,"text":null}]}'
    )
