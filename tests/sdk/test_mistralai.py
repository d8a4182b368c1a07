"""Mistral's chat and conversations through the `mistralai` SDK."""

from __future__ import annotations

import pytest

from tests.support.sdks import Truth, expected, swept

pytestmark = pytest.mark.sdk


# The SDK's chunks need name, arguments and finish reason in each: it reads Mistral's form, calls in one piece.
OWN = (
    "mistral-whole-calls",
    "call-as-text",
    "finish-stop",
    "whole-calls-in-one-delta",
    "zero-argument-empty",
    "single-call",
)
CHAT = {
    "single-call": Truth(
        "ResponseValidationError",
        calls=(),
        dropped=(("call_Tq7mB2xVtide", "get_tide", "aborted", ""),),
    )
}


def test_events_of_chat_tell_what_the_bytes_tell() -> None:
    """Events give calls that come in one piece; a further piece of a call is raised, and the call dropped."""
    assert expected("chat-completions", CHAT, only=OWN) == swept("mistral", "chat-completions", only=OWN)


def test_events_of_conversations_tell_what_the_bytes_tell() -> None:
    """Events of a conversation give all calls and drops of the bytes, errors included."""
    assert expected("mistral-conversations", {}) == swept("mistral-conversations", "mistral-conversations")
