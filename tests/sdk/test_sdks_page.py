"""The line that docs/sdks.md has for each SDK, with the SDK's own client against a real server."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.hygiene.source_tree import DOCS
from tests.hygiene.test_readme import blocks
from tests.support.loopback import serve
from tests.support.sdks import answer, from_bytes, told
from tests.support.surfaces import CLIENTS, MESSAGES, TURNS
from wholecall import wrap

pytestmark = pytest.mark.sdk

# The answer to each row: the client, and a recording of its dialect.
ANSWERS: dict[str, tuple[str, str, str, str]] = {
    "openai": ("openai", "chat-completions", "parallel-interleaved", "sse"),
    "openai, Responses": ("openai", "responses", "parallel-interleaved", "sse"),
    "openai, helper": ("openai", "chat-completions", "parallel-interleaved", "sse"),
    "anthropic": ("anthropic", "anthropic", "text-and-thinking-parallel", "sse"),
    "anthropic, helper": ("anthropic", "anthropic", "text-and-thinking-parallel", "sse"),
    "google-genai": ("google", "gemini", "single-call", "sse"),
    "mistralai": ("mistral", "chat-completions", "mistral-whole-calls", "sse"),
    "cohere": ("cohere-v2", "cohere-v2", "thinking-parallel", "sse"),
    "ollama": ("ollama", "ollama", "single-call", "ndjson"),
    "boto3, Converse": ("bedrock", "bedrock-converse", "parallel-after-reasoning", "bin"),
    "boto3, InvokeModel": ("bedrock", "bedrock-invoke-anthropic", "parallel-after-thinking", "bin"),
    "groq": ("groq", "chat-completions", "parallel-interleaved", "sse"),
    "huggingface_hub": ("hugging-face", "chat-completions", "parallel-interleaved", "sse"),
    "langchain-openai": ("langchain-chat", "chat-completions", "parallel-interleaved", "sse"),
}
ROWS = dict(
    re.findall(r"^\| ([^|`]+) \| `(stream = [^`]+)` \|$", (DOCS / "sdks.md").read_text("utf-8"), re.MULTILINE)
)
NAMES: dict[str, Any] = {
    "wrap": wrap,
    "model": "m",
    "messages": MESSAGES,
    "prompt": "x",
    "tools": [],
    "body": b"{}",
    "converse_messages": TURNS,
}


def test_every_row_has_an_answer() -> None:
    """No row goes untested; litellm's is tested where litellm is."""
    assert {*ANSWERS, "litellm"} == ROWS.keys()


@pytest.mark.parametrize("row", ANSWERS)
def test_the_line_gives_the_calls(row: str) -> None:
    """The unchanged line gives the calls of the bytes; only ollama's SDK keeps the ids to itself."""
    opens, *recording = ANSWERS[row]
    with serve(answer(*recording)) as server, CLIENTS[opens](server.url) as client:
        names = {**NAMES, "client": client}
        exec(ROWS[row], names)  # noqa: S102 - the pages are ours
        stream = names["stream"]
        for _ in stream:
            pass
    first = 1 if row == "ollama" else 0

    assert [call[first:] for call in from_bytes(*recording).calls] == [
        call[first:] for call in told(stream.turn).calls
    ]
    assert stream.calls


def test_the_transport_of_the_page_repairs() -> None:
    """With the client that docs/transport.md makes, a call without an index arrives whole at the SDK's helper."""
    ((_, code),) = blocks("python", page="docs/transport.md", needs="openai")
    with serve(answer("chat-completions", "index-missing")) as server:
        made: dict[str, Any] = {"url": f"{server.url}/v1"}
        exec(code.replace("OpenAI(", "OpenAI(base_url=url, api_key='x', "), made)  # noqa: S102 - the pages are ours
        with made["client"] as client, client.chat.completions.stream(model="m", messages=MESSAGES) as stream:
            message = stream.get_final_completion().choices[0].message
        found = [json.loads(call.function.arguments) for call in message.tool_calls]

    assert [call[2] for call in from_bytes("chat-completions", "index-missing").calls] == found
