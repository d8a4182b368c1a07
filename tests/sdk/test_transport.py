"""Arrival and end of a stream: in any pieces, cut, reset, left early; through every SDK."""

from __future__ import annotations

import threading

import pytest

from tests.support.loopback import serve
from tests.support.pieces import CUTS, failed_after, frames, n_until
from tests.support.sdks import Read, answer, from_bytes, half, has_begun, read, recorded, told
from tests.support.surfaces import asking
from wholecall import wrap
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk

# By surface: a recording with a call, the number of its frames of which the first call is open, and the SDK's
# exceptions when the connection is cut then, or reset.
USUAL: dict[str, tuple[str, str, str]] = {
    "anthropic": ("anthropic", "zero-argument", "sse"),
    "anthropic-helper": ("anthropic", "unicode-pieces", "sse"),
    "assistants": ("openai-assistants", "text-and-call", "sse"),
    "bedrock-converse": ("bedrock-converse", "single-call", "bin"),
    "bedrock-invoke": ("bedrock-invoke-anthropic", "single-call", "bin"),
    "chat": ("chat-completions", "single-call", "sse"),
    "chat-helper": ("chat-completions", "single-call", "sse"),
    "cohere-v1": ("cohere-v1", "single-call", "ndjson"),
    "cohere-v2": ("cohere-v2", "single-call", "sse"),
    "gemini": ("gemini", "streamed-arguments", "sse"),
    "groq": ("chat-completions", "single-call", "sse"),
    "hugging-face": ("chat-completions", "single-call", "sse"),
    "langchain-anthropic": ("anthropic", "unicode-pieces", "sse"),
    "langchain-chat": ("chat-completions", "single-call", "sse"),
    "mistral": ("chat-completions", "mistral-relayed-pieces", "sse"),
    "mistral-conversations": ("mistral-conversations", "single-call", "sse"),
    "responses": ("responses", "single-call", "sse"),
    "responses-helper": ("responses", "single-call", "sse"),
}


@pytest.mark.parametrize("surface", sorted(USUAL))
def test_pieces_do_not_matter(surface: str) -> None:
    """A call is the same whether it comes byte by byte, in odd pieces, frame by frame or with other line ends."""
    dialect, case, suffix = USUAL[surface]
    data = recorded(dialect, case, suffix)
    answers = [answer(dialect, case, suffix, pieces=cut(data, suffix)) for cut in CUTS.values()]

    with serve(*answers) as server, asking(surface, server.url) as ask:
        actual = {name: read(ask()) for name in CUTS}

    assert dict.fromkeys(CUTS, Read(from_bytes(dialect, case, suffix))) == actual


# The SDKs' exceptions when the connection is cut: their own error, or that of the HTTP client below.
OWN_ERRORS = {
    **dict.fromkeys(
        ("assistants", "chat", "chat-helper", "responses", "responses-helper"), "APIConnectionError"
    ),
    "langchain-chat": "OpenAIConnectionError",
    **dict.fromkeys(("bedrock-converse", "bedrock-invoke"), "ProtocolError"),
}


@pytest.mark.parametrize("surface", sorted(USUAL))
def test_a_connection_that_is_cut(surface: str) -> None:
    """The SDK raises its error, and the call that was open is dropped with the text that had come."""
    parts = half(*USUAL[surface])
    error = OWN_ERRORS.get(surface, "RemoteProtocolError")

    with serve(Answer(parts, ending="cut")) as server, asking(surface, server.url) as ask:
        actual = read(ask())

    assert Read(told(failed_after(parts)), error) == actual


@pytest.mark.parametrize("surface", sorted(USUAL))
def test_a_connection_that_is_reset(surface: str) -> None:
    """The SDK raises its error, and no call is emitted; the amount of text read depends on the system."""
    error = OWN_ERRORS.get(surface, "ReadError")

    with serve(Answer(half(*USUAL[surface]), ending="reset")) as server, asking(surface, server.url) as ask:
        actual = read(ask())

    assert (error, (), "error") == (actual.error, actual.told.calls, actual.told.reason)
    assert {"aborted"} >= {reason for *_, reason, _ in actual.told.dropped}


@pytest.mark.parametrize("surface", sorted(USUAL))
def test_a_loop_that_is_left(surface: str) -> None:
    """Leaving the loop drops the open call and closes the connection, although the client continues."""
    parts = half(*USUAL[surface])
    with serve(Answer(parts, ending="hang")) as server, asking(surface, server.url) as ask:
        stream = wrap(ask())
        for _ in stream:
            if has_begun(stream):
                break
        is_closed = server.wait_until_closed()

    assert (True, (), {"aborted"}) == (is_closed, stream.calls, {drop.reason for drop in stream.dropped})


# Surfaces whose wire ends a call before the turn.
CLOSING = ("anthropic", "anthropic-helper", "bedrock-converse", "bedrock-invoke", "gemini", "responses")


@pytest.mark.parametrize("surface", CLOSING)
def test_a_call_is_there_as_soon_as_the_wire_said_all(surface: str) -> None:
    """The call is emitted while the server still waits to send the events after it."""
    dialect, case, suffix = USUAL[surface]
    parts = frames(recorded(dialect, case, suffix), suffix)
    n_needed = n_until(parts, lambda turn: turn.calls)
    gate = threading.Semaphore(n_needed)
    n_sent: list[int] = []

    with serve(Answer(parts, gate=gate)) as server, asking(surface, server.url) as ask:
        stream = wrap(ask())
        for _ in stream:
            if stream.calls and not n_sent:
                server.wait_until_sent(n_needed)  # a piece is counted after its write
                n_sent.append(server.n_sent)
                gate.release(len(parts))

    assert ([n_needed], from_bytes(dialect, case, suffix)) == (n_sent, told(stream.turn))
