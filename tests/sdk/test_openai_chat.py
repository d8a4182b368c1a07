"""Chat Completions through the `openai` SDK: its chunks, its helper's events, its whole responses."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.sdks import Told, Truth, expected, swept

# The helper dumps its own objects, and pydantic warns of members that the server sent in another type.
pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore:Pydantic serializer warnings")]


RAISED: dict[str, Truth] = {
    # An error that the provider sends is raised: the turn is aborted, and does not know the error itself.
    **dict.fromkeys(
        ("error-event", "error-failed-generation", "error-finish", "error-object"), Truth("APIError")
    ),
    # A keep-alive with data that is not JSON is raised.
    "framing-comments": Truth(
        "JSONDecodeError", calls=(), dropped=(("call_quiet", "start_timer", "aborted", '{"minutes"'),)
    ),
}
# The end of the stream, `[DONE]`, stays in the SDK: without a finish reason no evidence of an end is left.
DONE_KEPT = {
    "choices-scatter-a-call": Truth(dropped=(("call_sc", "flood_dock", "unterminated", ""),)),
    "finish-never": Truth(
        calls=(),
        dropped=(("call_nofinish", "ring_bell", "unterminated", '{"times":3}'),),
        reason="malformed",
    ),
}
CHUNKS = {
    **RAISED,
    **DONE_KEPT,
    "cerebras-error-chunk": Truth("APIError"),
    "foundry-choices-by-chunk": Truth(
        others=(
            (1, Told(dropped=(("call_fl", "toll", "unterminated", '{"bell":2}'),), reason="malformed")),
            (2, Told(reason="stop")),
        )
    ),
}


# It ends at a comment among the data, without a word.
CHUNKS["comments-as-data"] = Truth(calls=(), reason="unknown")


def test_chunks_tell_what_the_bytes_tell() -> None:
    """Chunks give the calls and drops of the bytes, except for the SDK's errors and the end that it keeps."""
    assert expected("chat-completions", CHUNKS) == swept("chat", "chat-completions")


def _refused(error: str, *cases: str, **fields: Any) -> dict[str, Truth]:
    return dict.fromkeys(cases, Truth(error, calls=(), **fields))


EVENTS = {
    **RAISED,
    **DONE_KEPT,
    # The helper puts the message together itself. It needs indices from 0 without gaps ...
    **_refused("IndexError", "blank-fragments", "index-from-one", "index-sparse"),
    **_refused("TypeError", "index-missing", "index-missing-pieces", "index-null"),
    **_refused("TypeError", "whole-calls-function-call-reason", "whole-calls-without-index"),
    **_refused("TypeError", "cerebras-error-chunk", dropped=()),
    **_refused("TypeError", "foundry-choices-by-chunk", others=()),
    # ... calls in a list, text as text, and a delta in each choice.
    **_refused("KeyError", "tgi-wrapped-arguments", "tool-calls-one-object"),
    **_refused("RuntimeError", "mistral-whole-calls"),
    "azure-filters": Truth(
        "AttributeError",
        calls=(),
        dropped=(("call_AzPilot", "assign_pilot", "aborted", '{"vessel":"MV Tern"'),),
    ),
    # It silently omits data that it does not accept as a chunk.
    **dict.fromkeys(
        ("gigachat-object", "message-in-one-frame", "oracle-cohere", "oracle-generic", "watsonx-events"),
        Truth(calls=(), reason="unknown"),
    ),
    "responses-events-inside": Truth(calls=(), reason="stop"),
    "comments-as-data": Truth(calls=(), reason="unknown"),
    "enveloped": Truth(calls=(), reason="unknown"),
}


def test_the_events_of_the_helper_tell_what_the_bytes_tell() -> None:
    """The helper's events give the calls and drops of the chunks inside them, once, until the helper raises."""
    assert expected("chat-completions", EVENTS) == swept("chat-helper", "chat-completions")
