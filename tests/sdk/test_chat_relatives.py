"""Chat Completions through SDKs that speak it to others: `groq`, and Hugging Face's `InferenceClient`."""

from __future__ import annotations

import pytest

from tests.support.sdks import Told, Truth, expected, swept

pytestmark = pytest.mark.sdk


LOST_ENDS = (
    (1, Told(dropped=(("call_fl", "toll", "unterminated", '{"bell":2}'),), reason="malformed")),
    (2, Told(reason="stop")),
)
# Both keep the end of the stream, `[DONE]`, and a keep-alive that they raise.
BOTH = {
    "choices-scatter-a-call": Truth(dropped=(("call_sc", "flood_dock", "unterminated", ""),)),
    "finish-never": Truth(
        calls=(),
        dropped=(("call_nofinish", "ring_bell", "unterminated", '{"times":3}'),),
        reason="malformed",
    ),
    "foundry-choices-by-chunk": Truth(others=LOST_ENDS),
    "framing-comments": Truth(
        "JSONDecodeError", calls=(), dropped=(("call_quiet", "start_timer", "aborted", '{"minutes"'),)
    ),
}
ERRORS = ("cerebras-error-chunk", "error-event", "error-failed-generation", "error-finish", "error-object")
GROQ = {
    **BOTH,
    **dict.fromkeys(ERRORS, Truth("APIError")),
    # It ends at a comment among the data, without a word.
    "comments-as-data": Truth(calls=(), reason="unknown"),
}
NAMELESS = {
    "arguments-input-beside": (("flat-1", None, "nameless", ""), ("flat-2", None, "nameless", "")),
    "whole-calls-function-call-reason": (("t-1", None, "nameless", ""),),
}
HUGGING_FACE = {
    **BOTH,
    **dict.fromkeys(ERRORS, Truth("UnknownError")),
    # It reads one line of data at a time, and raises for a line that is not JSON.
    "dropped-inside-a-frame": Truth(
        "JSONDecodeError", dropped=(("call_half", "sign_form", "aborted", '{"form":"17-B"'),)
    ),
    "framing-multi-line": Truth("JSONDecodeError", calls=()),
    "comments-as-data": Truth(
        "JSONDecodeError", calls=(), dropped=(("call_cd1", "sound_horn", "aborted", '{"time'),)
    ),
    # Members that its classes do not know are lost ...
    **{case: Truth(calls=(), dropped=drops, reason="malformed") for case, drops in NAMELESS.items()},
    **dict.fromkeys(
        ("gigachat-object", "legacy-function-call", "message-in-one-frame"), Truth(calls=(), reason="stop")
    ),
    "custom-tool": Truth(custom_calls=(), dropped=(("call_sql", None, "nameless", ""),)),
    "groq-executed-tools": Truth(server_calls=()),
    "groq-executed-browser": Truth(server_calls=()),
    "message-completes": Truth(
        calls=(),
        dropped=(("chatcmpl-tool-h1", "draft_letter", "truncated", '{"to":"Quartermaster","tone":'),),
        reason="malformed",
    ),
    "oracle-cohere": Truth(calls=(), reason="unknown"),
    "oracle-generic": Truth(
        calls=(),
        dropped=(
            ("call_or1", "weigh", "unterminated", '{"bale":41}'),
            ("call_or2", "weigh", "unterminated", '{"bale":42}'),
        ),
        reason="malformed",
    ),
    # ... arguments among them: this call appears to have none.
    "arguments-parsed-beside": Truth(calls=(("call_parsed", "check_address", {}),)),
}


def test_chunks_of_groq_tell_what_the_bytes_tell() -> None:
    """Chunks give the calls and drops of the bytes, except for the SDK's errors and the end that it keeps."""
    assert expected("chat-completions", GROQ) == swept("groq", "chat-completions")


def test_chunks_of_hugging_face_tell_what_the_bytes_tell() -> None:
    """Chunks give everything that the SDK's classes have members for."""
    assert expected("chat-completions", HUGGING_FACE) == swept("hugging-face", "chat-completions")
