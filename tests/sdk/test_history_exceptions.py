"""The exceptions of SDKs, each raised by its own client: they are classified as the answer that they were raised for.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.hygiene.test_readme import blocks
from tests.support.loopback import serve
from tests.support.surfaces import MESSAGES, asking, sdk
from wholecall.history import ErrorClass, classify_error
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk

SURFACES = [
    *("anthropic", "bedrock-converse", "chat", "cohere-v2", "gemini", "groq", "hugging-face", "mistral"),
    *("ollama", "responses", "langchain-chat"),
]
UNANSWERED = (
    "messages.4: `tool_use` ids were found without `tool_result` blocks immediately after: toolu_01A."
)
TOO_LONG = "prompt is too long: 210000 tokens > 200000 maximum"
# A status, the provider's own words, and its class.
REFUSED = [
    (
        400,
        UNANSWERED,
        ErrorClass("transcript", "unanswered_tool_call", ("toolu_01A",), "session", repairable=True),
    ),
    (400, TOO_LONG, ErrorClass("context_overflow", scope="session")),
    (403, "", ErrorClass("auth", scope="credential", cooldown=True)),
]


def refused(surface: str, status: int, message: str) -> Any:
    """Return the SDK's exception for such an answer."""
    said = {
        "type": "error",
        "message": message,
        "error": {"type": "invalid_request_error", "message": message},
    }
    body = json.dumps(said).encode() if message else b""
    served = Answer([body], content_type="application/json", status=status)
    with serve(served) as server, asking(surface, server.url) as ask:
        try:
            for _ in ask():
                pass
        except Exception as error:  # noqa: BLE001 - whatever the SDK raises
            return error
    return None


# For an answer without a body mistralai raises httpx's error for reading the body too late.
CASES = [
    (surface, *case) for surface in SURFACES for case in REFUSED if (surface, case[1]) != ("mistral", "")
]


@pytest.mark.parametrize(("surface", "status", "message", "expected"), CASES)
def test_what_an_sdk_raises_is_the_answer(
    surface: str, status: int, message: str, expected: ErrorClass
) -> None:
    """Status, words and ids are those of the response, under any names of the SDK; no other argument is needed."""
    assert expected == classify_error(refused(surface, status, message))


@pytest.mark.parametrize("library", ["httpx", "httpx2"])
@pytest.mark.parametrize("is_read", [True, False])
def test_a_response_that_was_not_read(library: str, is_read: bool) -> None:
    """The body of a streamed response may be unread: then its status decides, and we do not read it."""
    http = sdk(library)
    body = json.dumps({"error": {"message": TOO_LONG}}).encode()
    with serve(Answer([body], status=400)) as server, http.stream("GET", server.url) as response:
        if is_read:
            response.read()
        with pytest.raises(http.HTTPStatusError) as caught:
            response.raise_for_status()
        found = classify_error(caught.value)

    assert ("context_overflow" if is_read else "request") == found.category


def test_a_connection_that_failed() -> None:
    """An exception without an answer is classified by its words, as a message without a status is."""
    with serve(Answer([b"data: "], ending="reset")) as server:
        url = server.url
    with asking("chat", url) as ask, pytest.raises(sdk("openai").APIConnectionError) as caught:
        ask()

    assert classify_error(None, str(caught.value)) == classify_error(caught.value)


def test_the_example_of_the_page_runs() -> None:
    """With a client whose server refuses the request as too long, the branch of the page is taken."""
    ((_, code),) = blocks("python", page="docs/errors.md", needs="openai")
    answer = Answer([json.dumps({"error": {"message": TOO_LONG}}).encode()], "application/json", 400)
    shrunk: list[str] = []
    with serve(answer) as server:
        client = sdk("openai").OpenAI(api_key="k", base_url=f"{server.url}/v1", max_retries=0)
        names = {"client": client, "model": "m", "messages": MESSAGES, "shrunk": shrunk}
        with client:
            exec(code.replace("...  #", "shrunk.append(model)  #"), names)  # noqa: S102 - the page is ours

    assert ["m"] == shrunk
