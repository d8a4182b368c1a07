"""Ollama's chat through the `ollama` SDK."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# The SDK drops the ids of calls, so that ours replace them; a repeated call is another call then.
IDS_LOST = {
    "nameless": Truth(
        calls=(("call_0_0_0", "first_mate", {"n": 1}), ("call_0_0_2", "bosun", {"n": 3})),
        dropped=((None, None, "nameless", '{"n":2}'),),
    ),
    "parallel-in-one-line": Truth(
        calls=(
            ("call_0_0_0", "ring_bell", {"times": 2}),
            ("call_0_0_1", "ring_bell", {"times": 2}),
            ("call_0_0_2", "log_watch", {"officer": "Ødegård", "bell": "⏰"}),
        )
    ),
    "single-call": Truth(calls=(("call_0_0_0", "lookup_tide", {"port": "Brest", "hours": [6, 18]}),)),
    "undated": Truth(calls=(("call_0_0_0", "read_gauge", {"gauge": "Lobith"}),)),
    "told-again-at-the-end": Truth(
        calls=(
            ("call_0_0_0", "hoist_flag", {"flag": "Q"}),
            ("call_0_0_1", "hoist_flag", {"flag": "Q"}),
            ("call_0_0_2", "hoist_flag", {"flag": "H"}),
        )
    ),
}
CHAT = {
    **IDS_LOST,
    # A line that is cut, an error, and arguments that are text are raised.
    "calls-in-last-line": Truth("ValidationError", calls=()),
    "cut-inside-a-line": Truth("JSONDecodeError", calls=(("call_0_0_0", "open_valve", {"id": 7}),)),
    "cut-length": Truth("ValidationError", calls=(), dropped=()),
    "error-line": Truth("ResponseError", calls=(("call_0_0_0", "save_log", {"name": "a.txt"}),)),
}


def test_chunks_tell_what_the_bytes_tell() -> None:
    """Chunks give the names and arguments of all calls, under ids of our own."""
    assert expected("ollama", CHAT, "ndjson") == swept("ollama", "ollama", "ndjson")


def test_generated_text_has_no_calls() -> None:
    """Chunks of `generate` give the end of the turn; an error is raised."""
    truths = {"error-line": Truth("ResponseError")}

    assert expected("ollama-generate", truths, "ndjson") == swept(
        "ollama-generate", "ollama-generate", "ndjson"
    )
