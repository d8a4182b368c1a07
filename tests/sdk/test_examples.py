"""The examples run: agents against a real server whose streams are cut, doubled and churning; a gateway; an audit.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import ast
import asyncio
import importlib
import json
import logging
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from typing import Any

import pytest

import wholecall.transport
from tests.hygiene.source_tree import CORPORA, PROJECT
from tests.support.agent_streams import BROKEN, DIALECTS, PATHS, said, tide, told
from tests.support.loopback import serve
from tests.support.surfaces import CLIENTS, sdk
from wholecall import collect, events
from wholecall.repairing import Repairer
from wholecall.serving import Answer, Loopback

pytestmark = pytest.mark.sdk

EXAMPLES = PROJECT / "examples"
AGENTS = {
    "chat-completions": ("openai_chat", "openai"),
    "responses": ("openai_responses", "openai"),
    "anthropic": ("anthropic_messages", "anthropic"),
}
ASKED = {"role": "user", "content": "When is high water at Brest?"}
WHOLE = '{"high":"06:12","port":"Brest"}'


@pytest.fixture(autouse=True)
def beside_each_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the examples import each other, as they do where they are run."""
    monkeypatch.syspath_prepend(EXAMPLES)


# Where each request holds its calls and results: pairs of an id and a text.


def _chat(body: Any) -> Iterator[tuple[str, str, str]]:
    for message in body["messages"]:
        for call in message.get("tool_calls", ()):
            yield "call", call["id"], call["function"]["arguments"]
        if message["role"] == "tool":
            yield "result", message["tool_call_id"], message["content"]


def _responses(body: Any) -> Iterator[tuple[str, str, str]]:
    for item in body["input"]:
        if item.get("type") == "function_call":
            yield "call", item["call_id"], item["arguments"]
        if item.get("type") == "function_call_output":
            yield "result", item["call_id"], item["output"]


def _anthropic(body: Any) -> Iterator[tuple[str, str, str]]:
    blocks = [
        block
        for message in body["messages"]
        for block in message["content"]
        if message["content"] != ASKED["content"]
    ]
    for block in blocks:
        if block["type"] == "tool_use":
            yield "call", block["id"], json.dumps(block["input"])
        if block["type"] == "tool_result":
            yield "result", block["tool_use_id"], block["content"]


SENT: dict[str, Callable[[Any], Iterator[tuple[str, str, str]]]] = {
    "chat-completions": _chat,
    "responses": _responses,
    "anthropic": _anthropic,
}


def sent(server: Loopback, dialect: str) -> tuple[list[str], list[str], list[str]]:
    """Return the content of the last request: the ids of calls, those of results, and the results."""
    found = list(SENT[dialect](server.requests[-1].json()))
    ids = {kind: [id for one, id, _ in found if one == kind] for kind in ("call", "result")}
    return ids["call"], ids["result"], [text for kind, _, text in found if kind == "result"]


def answers(dialect: str, *ways: str) -> list[Answer]:
    """Return a server's answers: a turn with a call for each way, then words."""
    return [*(Answer(tide(dialect, way)) for way in ways), Answer(said(dialect))]


@pytest.mark.parametrize("way", ["whole", *BROKEN])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_agents_go_on_whatever_the_server_sends(
    dialect: str, way: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """A whole call is executed once; another call is reported to the model, which continues; ids pair, none twice."""
    module, client = AGENTS[dialect]
    messages: list[Any] = [ASKED]
    with serve(*answers(dialect, way, way, "whole")) as server, CLIENTS[client](server.url) as one:
        answer = importlib.import_module(module).answer(one, messages)
    calls, results, texts = sent(server, dialect)

    assert ("At 06:12.", 4, "At 06:12.") == (answer, len(server.requests), capsys.readouterr().out)
    assert calls == results
    assert 3 == len(set(calls))
    executed = [same(text) == WHOLE for text in texts if text.startswith("{")]
    hears = [text for text in texts if "was not executed, because" in text]
    assert ([True] * (1 if told(dialect, way) else 3), 2 if told(dialect, way) else 0) == (
        executed,
        len(hears),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_agents_hear_what_a_tool_raised(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A tool that raises has failed; the loop has not."""
    harbour = importlib.import_module("harbour")

    def fail(port: str) -> None:
        raise LookupError(f"no tide gauge at {port}")

    monkeypatch.setitem(harbour._FUNCTIONS, "get_tide", fail)
    module, client = AGENTS[dialect]
    with serve(*answers(dialect, "whole")) as server, CLIENTS[client](server.url) as one:
        importlib.import_module(module).answer(one, [ASKED])

    assert ["LookupError: no tide gauge at Brest"] == sent(server, dialect)[2]


def lost_connection() -> tuple[type[Exception], ...]:
    """Return the SDKs' exceptions for it: openai raises its own, anthropic that of the HTTP client."""
    return sdk("openai").APIConnectionError, sdk("httpx2").RemoteProtocolError


def same(text: str) -> str:
    """Return JSON as `WHOLE` is written."""
    return json.dumps(json.loads(text), sort_keys=True, separators=(",", ":"))


@pytest.mark.parametrize("dialect", DIALECTS)
def test_agents_start_again_after_a_lost_connection(dialect: str) -> None:
    """The SDK's exception holds the turn; the messages are those before it: the loop can be called again."""
    module, client = AGENTS[dialect]
    lost = Answer(tide(dialect, "cut"), ending="cut")
    messages: list[Any] = [ASKED]
    with serve(*answers(dialect, "whole")[:1], lost, *answers(dialect, "whole")) as server:
        answer = importlib.import_module(module).answer
        with CLIENTS[client](server.url) as one:
            with pytest.raises(lost_connection()) as caught:
                answer(one, messages)
            before = len(server.requests), [drop.reason for drop in caught.value.turn.dropped]  # type: ignore[attr-defined]
            assert "At 06:12." == answer(one, messages)
    calls, results, texts = sent(server, dialect)

    assert (2, ["aborted"]) == before
    assert calls == results
    assert (2, [WHOLE, WHOLE]) == (
        len(set(calls)),
        list(map(same, texts)),
    )


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_loop_has_at_most_twelve_lines(dialect: str) -> None:
    """Stream, execute, answer, ask again: in twelve lines of the user's, docstring aside."""
    tree = ast.parse((EXAMPLES / f"{AGENTS[dialect][0]}.py").read_text("utf-8"))
    (loop,) = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == "answer"]
    first, last = loop.body[1], loop.body[-1]

    assert 12 >= (last.end_lineno or 0) - first.lineno + 1


@pytest.mark.parametrize("way", ["whole", *BROKEN])
def test_a_framework_on_the_transport(way: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A whole call is executed once. A cut call is an exception; the model is told of a call that does not fit."""
    dropped: list[tuple[str | None, str]] = []

    async def ask(url: str) -> str:
        http = wholecall.transport.async_client(
            on_dropped=lambda call, _: dropped.append((call.name, call.reason))
        )
        openai = sdk("openai").AsyncOpenAI
        async with openai(api_key="k", base_url=f"{url}/v1", http_client=http, max_retries=0) as client:
            answer: str = await importlib.import_module("pydantic_ai_agent").answer(client, ASKED["content"])
            return answer

    cut = way == "cut"
    error = sdk("pydantic_ai.exceptions").ModelAPIError
    with serve(*answers("chat-completions", way)) as server, pytest.raises(error) if cut else nullcontext():
        assert "At 06:12." == asyncio.run(ask(server.url))
    calls, results, texts = sent(server, "chat-completions")

    assert calls == results
    assert [("get_tide", "unterminated")] * cut == dropped
    assert ("" if cut else "At 06:12.") == capsys.readouterr().out
    executed = [text for text in texts if text.startswith("{") and same(text) == WHOLE]
    assert (0 if cut else 1, 0 if way in {"cut", "misfit"} else 1) == (len(texts), len(executed))


@pytest.mark.parametrize("way", ["whole", *BROKEN])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_gateway_hands_on_strict_streams(dialect: str, way: str, caplog: pytest.LogCaptureFixture) -> None:
    """Its clients get the repairer's output, and the log names each withheld call."""
    gateway = importlib.import_module("starlette_gateway").gateway
    pieces = tide(dialect, way)
    withheld: list[str] = []
    repairer = Repairer(on_dropped=lambda call: withheld.append(call.reason))
    strict = b"".join(map(repairer.feed, pieces)) + repairer.close()
    upstream = Answer(pieces, headers=(("x-request-id", "r"),))
    with serve(upstream) as server, caplog.at_level(logging.WARNING, "gateway"):
        asked = {"authorization": "Bearer k"}
        status, headers, body = asyncio.run(posted(gateway(server.url), PATHS[dialect], asked))

    assert (200, "r", strict) == (status, headers["x-request-id"], body)
    id = headers["x-wholecall-id"]
    assert [f"{id}: withheld a call of get_tide: {reason}" for reason in withheld] == caplog.messages
    (request,) = server.requests
    assert (b"{}", "Bearer k") == (request.body, request.headers["authorization"])


def test_a_gateway_passes_errors_on() -> None:
    """An answer that is not a stream passes unchanged, with its status."""
    gateway = importlib.import_module("starlette_gateway").gateway
    body = b'{"error":{"message":"slow down"}}'
    with serve(Answer([body], "application/json", 429, (("retry-after", "7"),))) as server:
        status, headers, passed = asyncio.run(posted(gateway(server.url), "/v1/messages", {}))

    assert (429, "7", body) == (status, headers["retry-after"], passed)


QUESTION = {"model": "m", "max_tokens": 9, "top_k": 5, "stream": True, "messages": [ASKED]}


def test_a_translating_gateway_answers_in_the_clients_words() -> None:
    """A whole call of the server's reaches a client of the other API, and so does the list of members left out."""
    gateway = importlib.import_module("translating_gateway").gateway
    with serve(Answer(tide("chat-completions"))) as server:
        asked = {"x-api-key": "k"}
        status, headers, body = asyncio.run(posted(gateway(server.url), "/v1/messages", asked, QUESTION))
    (request,) = server.requests
    (call,) = collect([body], "anthropic").calls

    assert (200, "top_k", "get_tide") == (status, headers["x-left-out"], call.name)
    assert ("Bearer k", [ASKED]) == (
        request.headers["authorization"],
        json.loads(request.body)["messages"],
    )


def test_a_translating_gateway_refuses_in_the_clients_words() -> None:
    """A tool of the provider's has no equal; the server is not asked."""
    gateway = importlib.import_module("translating_gateway").gateway
    question = {**QUESTION, "tools": [{"type": "web_search_20250305", "name": "w"}]}
    with serve(Answer([])) as server:
        status, _, body = asyncio.run(posted(gateway(server.url), "/v1/messages", {}, question))

    assert (400, "invalid_request_error", []) == (status, json.loads(body)["error"]["type"], server.requests)


async def posted(
    app: Any, path: str, asked: dict[str, str], question: dict[str, Any] | None = None
) -> tuple[int, dict[str, str], bytes]:
    """Post a question, `{}` unless given, to an application as its server does, between its startup and its shutdown.

    A stream that ends as a connection that broke is one whose application raises the HTTP client's error.
    """
    sent: list[dict[str, Any]] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "root_path": "",
        "headers": [(name.encode(), value.encode()) for name, value in asked.items()],
    }
    said = json.dumps(question or {}).encode()
    bodies = iter([{"type": "http.request", "body": said, "more_body": False}])

    async def receive() -> dict[str, Any]:
        body = next(bodies, None)
        return await asyncio.Event().wait() or {} if body is None else body  # the client stays

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async with app.router.lifespan_context(app):
        with suppress(sdk("httpx2").RemoteProtocolError):
            await app(scope, receive, send)
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], headers, b"".join(message["body"] for message in sent[1:])


def test_an_audit_counts_what_replay_shows(capsys: pytest.CaptureFixture[str]) -> None:
    """The audit of a folder names each dialect with its calls and the reasons of its drops."""
    audit = importlib.import_module("log_audit")
    folder = CORPORA / "recordings/anthropic"
    found = [event for path in folder.glob("*.sse") for event in events([path.read_bytes()])]
    dropped = Counter(event.reason for event in found if event.type == "tool_call_dropped")
    n_calls = sum(event.type == "tool_call" for event in found) + dropped.total()
    code = audit.main([str(folder / "*.sse")])

    assert 1 == code
    lines = [line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines()]
    hears = [[str(number), f"must not be executed: {reason}"] for reason, number in sorted(dropped.items())]
    assert [[str(n_calls), "anthropic"], *hears] == lines
    assert 0 == audit.main([str(folder / "zero-argument.sse")])


@pytest.mark.parametrize("program", sorted(path.name for path in EXAMPLES.glob("*.py")))
def test_examples_are_programs_with_a_docstring(program: str) -> None:
    """Each example states its purpose and how to run it."""
    doc = ast.get_docstring(ast.parse((EXAMPLES / program).read_text("utf-8"))) or ""

    assert doc
    assert program == "harbour.py" or f"examples/{program}" in doc or "--app-dir examples" in doc
