"""The proxy of LiteLLM, running, with the guardrail of docs/frameworks.md, in front of a server that cuts calls."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from benchmarks.rivals.streams import chat, entry, more
from tests.hygiene.source_tree import DOCS
from tests.support.agent_streams import PATHS, tide
from tests.support.litellm_proxy import HEADERS, LiteLLMProxy, Upstream, body, running
from wholecall import collect
from wholecall.serving import Answer, Loopback

pytestmark = [pytest.mark.engines, pytest.mark.filterwarnings("ignore")]

CUT = chat([entry(0, "", name="get_tide", id="call_1")], *more(['{"port": "Bre']))
WHOLE = chat([entry(0, "", name="get_tide", id="call_2")], *more(['{"port": ', '"Brest"}']))
BREST = [("get_tide", {"port": "Brest"})]
SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}}
FUNCTION = {"name": "get_tide", "parameters": SCHEMA}
ASKED: dict[str, dict[str, Any]] = {
    "chat-completions": {"tools": [{"type": "function", "function": FUNCTION}]},
    "anthropic": {"tools": [{"name": "get_tide", "input_schema": SCHEMA}], "max_tokens": 99},
    "responses": {"tools": [{"type": "function", **FUNCTION}], "input": "When?"},
}


@pytest.fixture(scope="module")
def upstream() -> Iterator[Loopback]:
    """The server behind the proxy."""
    with Upstream() as server:
        yield server


@pytest.fixture(scope="module")
def proxy(upstream: Loopback, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiteLLMProxy]:
    """The proxy; it takes many seconds to start."""
    page = (DOCS / "frameworks.md").read_text("utf-8")
    (guardrails,) = re.findall(r"```yaml\n(guardrails:.*?)```", page, re.DOTALL)
    with running(upstream.url, guardrails, tmp_path_factory.mktemp("proxy")) as found:
        yield found


class Asked:
    """An answer of the proxy, and what it asked its upstream for.

    Attributes:
        status: the HTTP status.
        text: the body.
        calls: the calls in it.
        roles: the roles of the messages of each request to the upstream.
    """

    def __init__(self, response: httpx.Response, dialect: str, requests: list[Any]) -> None:
        self.status, self.text = response.status_code, response.text
        self.calls = [(call.name, call.arguments) for call in collect([response.content], dialect).calls]
        self.roles = [[one["role"] for one in each.json().get("messages", ())] for each in requests]


def ask(
    proxy: LiteLLMProxy,
    upstream: Loopback,
    *answers: Answer,
    dialect: str = "chat-completions",
    stream: bool = True,
) -> Asked:
    """Ask the proxy one question, for which its upstream gives these answers."""
    upstream.requests.clear()
    upstream.prepare(answers)
    said = {"messages": [{"role": "user", "content": "When?"}]} if dialect != "responses" else {}
    body = {"model": "tide", "stream": stream, **said, **ASKED[dialect]}
    url, patience = proxy.url + PATHS[dialect], 60.0
    response = httpx.post(url, json=body, headers=HEADERS, timeout=patience, trust_env=False)
    return Asked(response, dialect, upstream.requests)


def test_a_stream_goes_on_after_a_cut_call(proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """The client gets the whole call of the next turn; the loggers get the name and the reason of the cut one."""
    asked = ask(proxy, upstream, Answer(CUT), Answer(WHOLE))
    (logged,) = proxy.logged()

    assert BREST == asked.calls
    assert [["user"], ["user", "assistant", "tool"]] == asked.roles
    assert {"name": "get_tide", "id": "call_1", "reason": "truncated"} == logged["guardrail_response"]
    assert ("whole-calls", "wholecall") == (logged["guardrail_name"], logged["guardrail_provider"])


def test_a_model_that_cannot_is_given_up(proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """After three turns the stream ends with an error that names the call."""
    asked = ask(proxy, upstream, *[Answer(CUT)] * 3)

    assert ([], 3) == (asked.calls, len(asked.roles))
    assert "all tool calls were withheld: get_tide (truncated)" in asked.text


def test_a_body_is_asked_for_again(proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """The router tries again after the transport's error, and the model is told of the cut call."""
    asked = ask(proxy, upstream, body('{"port": "Bre'), body('{"port": "Brest"}'), stream=False)

    assert BREST == asked.calls
    assert [["user"], ["user", "assistant", "tool"]] == asked.roles


def test_a_body_without_a_whole_call_is_an_error(proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """The router tries twice again by default."""
    asked = ask(proxy, upstream, *[body('{"port": "Bre')] * 3, stream=False)

    assert ([], 502, 3) == (asked.calls, asked.status, len(asked.roles))


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
def test_other_apis_get_whole_calls(dialect: str, proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """A stream of Messages or Responses with a whole call passes."""
    answer = Answer(tide("responses") if dialect == "responses" else WHOLE)

    assert BREST == ask(proxy, upstream, answer, dialect=dialect).calls


@pytest.mark.parametrize("dialect", ["anthropic", "responses"])
def test_other_apis_never_get_a_cut_call(dialect: str, proxy: LiteLLMProxy, upstream: Loopback) -> None:
    """A stream whose call is cut ends with an error, or is asked for again by LiteLLM itself."""
    cut = Answer(tide("responses", "cut") if dialect == "responses" else CUT)
    asked = ask(proxy, upstream, *[cut] * 6, dialect=dialect)

    assert [] == asked.calls
    assert "error" in asked.text
