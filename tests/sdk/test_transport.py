"""How a stream comes and how it stops: in any pieces, cut, reset, left early; through every SDK."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from tests.support.loopback import Answer, serve
from tests.support.pieces import CUTS, frames, n_frames_until_a_call
from tests.support.sdks import Read, answer, from_bytes, read, recorded
from tests.support.surfaces import asking
from wholecall import wrap

pytestmark = [pytest.mark.sdk, pytest.mark.filterwarnings("ignore:The Assistants API is deprecated")]

# By surface: a recording with a call, the number of its frames of which the first call is open, and what the SDK
# raises when the connection is cut then, or reset.
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
    "mistral": ("chat-completions", "mistral-whole-calls", "sse"),
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


@pytest.mark.parametrize("how", ["cut", "reset"])
@pytest.mark.parametrize("surface", sorted(USUAL))
def test_a_lost_connection(surface: str, how: Any) -> None:
    """x."""
    dialect, case, suffix = USUAL[surface]
    parts = frames(recorded(dialect, case, suffix), suffix)
    half = parts[: len(parts) // 2]
    with serve(answer(dialect, case, suffix, pieces=half, ending=how)) as server, asking(surface, server.url) as ask:
        print(surface, how, read(ask()))
    assert 0
