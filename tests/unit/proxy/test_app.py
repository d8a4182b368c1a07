from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from tests.support.naive import error_of
from tests.support.proxying import (
    CHAT,
    DONE,
    Client,
    Clock,
    Reply,
    Scripted,
    Seen,
    call,
    config,
    frame,
    run,
    settle,
    staged,
)
from tests.support.together import together
from wholecall.proxy.app import ProxyApp
from wholecall.proxy.config import ClientsConfig, RepairConfig, UpstreamConfig
from wholecall.proxy.errors import CutOff
from wholecall.proxy.values import Secret
from wholecall.proxy.wire import Headers, UpstreamFailed

MESSAGES = "/v1/messages"
TOKENS = ClientsConfig(tokens=(Secret("env:A", "token-one"), Secret("env:B", "token-two")))
HELLO = frame({"role": "assistant", "content": "hello"})


def ok() -> Scripted:
    """Return an upstream that answers once."""
    return Scripted(Reply([b"ok"], headers=[]))


# The form of our own errors.


@pytest.mark.parametrize("path", [CHAT, "/v1/responses", "/v1/embeddings", "/"])
def test_errors_in_the_form_of_openai(path: str) -> None:
    """Errors have a type, a code and a message; those of a client are its fault."""
    client = Client(path, headers=[(b"origin", b"https://evil.example")])
    run(client, ok())
    said = json.loads(client.body)["error"]

    assert (403, "invalid_request_error", "origin_refused", None) == (
        client.status,
        said["type"],
        said["code"],
        said["param"],
    )


@pytest.mark.parametrize(
    ("code", "status", "kind"),
    [
        ("upstream_unreachable", 502, "api_error"),
        ("upstream_timeout", 504, "timeout_error"),
        ("upstream_invalid", 502, "api_error"),
    ],
)
@pytest.mark.parametrize("path", [MESSAGES, "/v1/messages/count_tokens"])
def test_errors_in_the_form_of_anthropic(code: Any, status: int, kind: str, path: str) -> None:
    """The type of an error is one that the API has."""
    client = Client(path)
    raised, entry = run(client, Scripted(UpstreamFailed(code)))
    said = json.loads(client.body)

    assert (None, status, "error", kind) == (raised, client.status, said["type"], said["error"]["type"])
    assert code == entry.error


def test_an_error_says_how_long_it_is() -> None:
    """An error has a length, the id of the exchange, and no body for `HEAD`."""
    client = Client("/x", method="HEAD", headers=[(b"x-request-id", b"mine-1"), (b"origin", b"x")])
    run(client, ok())
    headers = dict(client.headers)

    assert (b"mine-1", b"", True) == (
        headers[b"x-wholecall-id"],
        client.body,
        int(headers[b"content-length"]) > 0,
    )


@pytest.mark.parametrize(
    ("given", "is_kept"), [(b"abc.1:2_3-Z", True), (b"a b", False), (b"x" * 129, False), (b"", False)]
)
def test_an_id_of_the_client_is_kept_if_it_is_plain(given: bytes, is_kept: bool) -> None:
    """Any other error gets one of ours, and the answer has either of them."""
    client = Client("/v1/models", method="GET", headers=[(b"x-request-id", given)])
    _, entry = run(client, ok())

    assert is_kept == (entry.id == given.decode())
    assert entry.id.encode() == dict(client.headers)[b"x-wholecall-id"]


# Access.


@pytest.mark.parametrize(
    "header",
    [
        (b"authorization", b"Bearer token-one"),
        (b"authorization", b"bearer  token-two"),
        (b"x-api-key", b"token-two"),
    ],
)
def test_a_token_lets_in_and_goes_no_further(header: tuple[bytes, bytes]) -> None:
    """The key is in any of the places where clients put it."""
    client, upstream = Client(headers=[header]), ok()
    run(client, upstream, config(clients=TOKENS))

    assert 200 == client.status
    assert b"token-" not in b"".join(value for _, value in upstream.questions[0].headers)


@pytest.mark.parametrize(
    "headers", [[], [(b"authorization", b"Bearer token-on")], [(b"authorization", b"Basic token-one")]]
)
def test_without_a_token_nobody_gets_in(headers: Headers) -> None:
    """Nothing of the request is forwarded, and the body is not read."""
    client, upstream = Client(headers=headers), ok()
    _, entry = run(client, upstream, config(clients=TOKENS))

    assert (401, "refused", "bad_token", []) == (
        client.status,
        entry.outcome,
        entry.error,
        upstream.questions,
    )


def test_two_names_are_refused() -> None:
    """A proxy in front may have examined the other header."""
    client = Client(headers=[(b"host", b"localhost")])
    run(client, ok())

    assert 400 == client.status


# Where requests go.


def test_the_longest_path_and_the_model_choose() -> None:
    """The prefix is stripped; path and query are forwarded as they came."""
    asked = []
    upstreams = (
        UpstreamConfig(url="https://a.example/base", name="a", path="/a"),
        UpstreamConfig(url="https://b.example", name="b", models=("gpt-*",)),
        UpstreamConfig(url="https://c.example", name="c"),
    )
    for path, model in (("/a/v1/messages", "gpt-1"), (CHAT, "gpt-1"), (CHAT, "other"), ("/a/x%2Fy", "m")):
        client, upstream = Client(path, b'{"model": "%b"}' % model.encode(), query=b"k=%20"), ok()
        _, entry = run(client, upstream, config(upstreams=upstreams))
        asked.append((entry.upstream, upstream.questions[0].url))

    assert [
        ("a", "https://a.example/base/v1/messages?k=%20"),
        ("b", "https://b.example/v1/chat/completions?k=%20"),
        ("c", "https://c.example/v1/chat/completions?k=%20"),
        ("a", "https://a.example/base/x%2Fy?k=%20"),
    ] == asked


def test_a_path_that_nobody_takes() -> None:
    """A path without an upstream is not found."""
    upstreams = (UpstreamConfig(url="https://a.example", name="a", path="/a"),)
    client = Client()
    _, entry = run(client, ok(), config(upstreams=upstreams))

    assert (404, "refused", "no_upstream") == (client.status, entry.outcome, entry.error)


@pytest.mark.parametrize(
    "body", [b'{"model": "m", "stream": true}', b'{"model": ["m"], "stream": 1}', b"{", b"\xff"]
)
def test_a_body_goes_on_as_it_came(body: bytes) -> None:
    """A body is forwarded whether or not it can be read; refusing it is up to the upstream."""
    client, upstream = Client(CHAT, [body[:3], body[3:]]), ok()
    _, entry = run(client, upstream)
    is_read = body.startswith(b'{"model": "m"')

    assert [body] == upstream.bodies
    assert ("m" if is_read else None, is_read) == (entry.model, entry.is_stream)


def test_a_body_that_nobody_reads_goes_on_in_pieces() -> None:
    """A body has the length that the client stated."""
    client, upstream = Client("/v1/files", [b"ab", b"", b"c"]), ok()
    run(client, upstream)

    assert ([b"abc"], 3) == (upstream.bodies, upstream.questions[0].length)


@pytest.mark.parametrize(("headers", "body"), [([(b"x-wholecall-live", b"1")], True), ([], False)])
def test_a_request_may_ask_for_live_calls(headers: Headers, body: bool) -> None:
    """The header is for the proxy; the call is shown before it is whole."""
    client = Client(headers=headers)
    upstream = Scripted(Reply([HELLO, call('{"a": '), UpstreamFailed("upstream_lost")]))
    run(client, upstream)

    assert body == (b"tool_calls" in client.body)
    assert [] == [name for name, _ in upstream.questions[0].headers if name.startswith(b"x-wholecall")]


TOOLS = {
    "chat": [
        {"type": "function", "function": {"name": "f", "parameters": {"required": ["a"], "type": "object"}}}
    ],
    "anthropic": [{"name": "f", "input_schema": {"required": ["a"], "type": "object"}}],
    "responses": [
        {"type": "function", "name": "f", "parameters": {"required": ["a"], "type": "object"}},
        {"type": "web_search"},
    ],
}


@together("tools", TOOLS)
@together(
    ("mode", "name", "arguments", "reasons"),
    [
        ("off", "g", "{}", {}),
        ("names", "f", "{}", {}),
        ("names", "g", "{}", {"unknown_tool": 1}),
        ("schema", "f", '{"a":1}', {}),
        ("schema", "f", "{}", {"schema": 1}),
        ("schema", "g", "{}", {"unknown_tool": 1}),
    ],
)
def test_calls_are_held_against_the_tools_of_the_request(
    tools: str, mode: Any, name: str, arguments: str, reasons: dict[str, int]
) -> None:
    """Tools are shown by their names, or by their schemas if requested, in the shape of any dialect."""
    body = json.dumps({"model": "m", "tools": TOOLS[tools]}).encode()
    stream = [HELLO, call(arguments, name=name), frame({}, "tool_calls"), DONE]
    client = Client(CHAT, body)
    _, entry = run(client, Scripted(Reply(stream)), config(repair=RepairConfig(tools=mode)))

    assert reasons == entry.reasons


@pytest.mark.parametrize("tools", [None, [], {}, "f", [None, 1, {"type": "web_search"}]])
def test_tools_that_cannot_be_read_check_nothing(tools: Any) -> None:
    """The upstream decides how to treat them."""
    stream = [HELLO, call("{}"), frame({}, "tool_calls"), DONE]
    client = Client(CHAT, json.dumps({"tools": tools}).encode())
    _, entry = run(client, Scripted(Reply(stream)), config(repair=RepairConfig(tools="schema")))

    assert (1, {}) == (entry.calls, entry.reasons)


def test_a_schema_that_is_none_leaves_the_names() -> None:
    """A call of another tool is withheld all the same."""
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": 7}}}]
    stream = [HELLO, call("{}", name="g"), frame({}, "tool_calls"), DONE]
    client = Client(CHAT, json.dumps({"tools": tools}).encode())
    _, entry = run(client, Scripted(Reply(stream)), config(repair=RepairConfig(tools="schema")))

    assert {"unknown_tool": 1} == entry.reasons


# How much at once, and the end.


async def _one_open(app: ProxyApp) -> tuple[asyncio.Task[Any], Client]:
    client = Client()
    task = asyncio.ensure_future(app(client.scope, client.receive, client.send))
    await settle()
    return task, client


def test_there_are_only_so_many() -> None:
    """A further request is told to come again, and is admitted after another one has ended."""

    async def go() -> tuple[list[int], list[str | None]]:
        gate = asyncio.Event()
        upstream = Scripted(*(Reply([HELLO, gate.wait, frame({}, "stop"), DONE]) for _ in range(3)))
        app = ProxyApp(config(max_streams=2), upstream=lambda _: upstream, clock=Clock())
        ready = [app.unready]
        opened = [await _one_open(app), await _one_open(app)]
        ready.append(app.unready)
        refused = await _one_open(app)
        gate.set()
        await asyncio.gather(*(task for task, _ in (*opened, refused)))
        again = await _one_open(app)
        await again[0]
        ready.append(app.unready)
        await app.close()
        return [client.status for _, client in (*opened, refused, again)], ready

    assert ([200, 200, 503, 200], [None, "full", None]) == asyncio.run(go())


def test_draining() -> None:
    """New requests are refused and open answers continue; when their time is over they end with an error."""

    async def go() -> tuple[Client, Client, Client, list[Any], Seen]:
        seen, gate = Seen(), asyncio.Event()
        upstream = Scripted(
            Reply([HELLO, gate.wait, frame({}, "stop"), DONE]), Reply([HELLO, asyncio.Event().wait])
        )
        app = ProxyApp(config(), upstream=lambda _: upstream, watcher=seen, clock=Clock())
        (ends, one), (cut, two) = await _one_open(app), await _one_open(app)
        app.drain()
        assert "draining" == app.unready
        refused, three = await _one_open(app)
        gate.set()
        await asyncio.gather(ends, refused)
        app.cut()
        raised = await asyncio.gather(ends, cut, refused, return_exceptions=True)
        await app.until_idle()
        await app.close()
        return one, two, three, raised, seen

    one, two, three, raised, seen = asyncio.run(go())

    assert (True, False, 503) == (one.is_whole, two.is_whole, three.status)
    assert [None, CutOff, None] == [None if error is None else type(error) for error in raised]
    assert ("draining", "the proxy is stopping") == error_of(two.body)
    assert {("refused", "draining"), ("ok", None), ("cut", "draining")} == {
        (entry.outcome, entry.error) for entry in seen.entries
    }
    assert b"retry-after" in dict(three.headers)


def test_draining_before_an_answer() -> None:
    """A client that has no answer yet gets a status."""

    async def go() -> tuple[Client, Scripted, Any]:
        client = Client()
        upstream = Scripted(lambda: asyncio.Event().wait())  # type: ignore[arg-type, return-value]
        async with staged(client, upstream) as stage:
            stage.app.drain()
            stage.app.cut()
        return client, upstream, stage

    client, upstream, stage = asyncio.run(go())

    assert (None, 503, True) == (stage.raised, client.status, upstream.was_cancelled)
    assert ("cut", "draining") == (stage.entry.outcome, stage.entry.error)


def test_another_configuration() -> None:
    """A new configuration applies to later exchanges; open ones end under the old one, which is closed then."""

    async def go() -> list[bool]:
        gate = asyncio.Event()
        old, new = (
            Scripted(Reply([HELLO, gate.wait, frame({}, "stop"), DONE])),
            Scripted(Reply([b"new"], headers=[])),
        )
        made = iter([old, new])
        app = ProxyApp(config(), upstream=lambda _: next(made), clock=Clock())
        open_one, one = await _one_open(app)
        app.reload(config(upstreams=(UpstreamConfig(url="https://new.example", name="new"),)))
        task, two = await _one_open(app)
        await task
        found = [two.body == b"new", old.is_closed]
        gate.set()
        await open_one
        await settle()
        found += [one.is_whole, old.is_closed, new.is_closed]
        await app.close()
        return [*found, new.is_closed]

    assert [True, False, True, True, False, True] == asyncio.run(go())


def test_another_configuration_while_a_request_is_read() -> None:
    """An exchange whose request has not come whole is open, too: its upstream is closed after it."""

    async def go() -> list[bool]:
        old, body = ok(), asyncio.Event()
        app = ProxyApp(config(), upstream=lambda _: old, clock=Clock())
        client = Client(body=b"{}")

        async def late() -> dict[str, Any]:
            await body.wait()
            return await client.receive()

        task = asyncio.ensure_future(app(client.scope, late, client.send))
        await settle()
        app.reload(config())
        await settle()
        found = [old.is_closed]
        body.set()
        await task
        await settle()
        return [*found, client.is_whole, old.is_closed]

    assert [False, True, True] == asyncio.run(go())


def test_another_configuration_while_nothing_is_open() -> None:
    """Connections that the old one kept are closed at once."""

    async def go() -> bool:
        old = ok()
        app = ProxyApp(config(), upstream=lambda _: old, clock=Clock())
        task, _ = await _one_open(app)
        await task
        app.reload(config())
        await settle()
        is_closed = old.is_closed
        await app.close()
        return is_closed

    assert asyncio.run(go())


def test_a_fault_of_ours_is_no_success() -> None:
    """An unexpected exception leaves the application, and is recorded as the outcome."""

    async def broken(_message: dict[str, Any]) -> None:
        raise RuntimeError("a fault")

    client = Client()
    client.sending = broken
    raised, entry = run(client, Scripted(Reply([HELLO])))

    assert (RuntimeError, "failed") == (type(raised), entry.outcome)


# Other scopes than requests.


def test_a_server_that_cannot_refuse_with_a_status_closes() -> None:
    """A handshake is refused with a status if the server can say one, and is closed otherwise."""

    async def go(extensions: dict[str, Any]) -> list[dict[str, Any]]:
        sent: list[dict[str, Any]] = []
        scope = {"type": "websocket", "path": "/v1/responses", "headers": [(b"host", b"evil.test")]}

        async def receive() -> dict[str, Any]:
            return {"type": "websocket.connect"}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message)

        await ProxyApp(config(), upstream=lambda _: Scripted())(
            {**scope, "extensions": extensions}, receive, send
        )
        return sent

    assert ["websocket.close"] == [message["type"] for message in asyncio.run(go({}))]
    assert 403 == asyncio.run(go({"websocket.http.response": {}}))[0]["status"]


def test_servers_that_tell_of_their_life() -> None:
    """The proxy is ready at once, and closes its upstreams at the end."""

    async def go() -> list[str]:
        sent: list[str] = []
        messages = iter(["lifespan.startup", "lifespan.shutdown"])

        async def receive() -> dict[str, Any]:
            return {"type": next(messages)}

        async def send(message: dict[str, Any]) -> None:
            sent.append(message["type"])

        await ProxyApp(config())({"type": "lifespan"}, receive, send)
        return sent

    assert ["lifespan.startup.complete", "lifespan.shutdown.complete"] == asyncio.run(go())


# Requests that come slowly, or not at all.


def test_a_client_that_leaves_while_its_body_goes_on() -> None:
    """The upstream is abandoned, though it has not received the whole body."""

    async def go() -> tuple[Any, Scripted]:
        client, upstream = Client("/v1/files", [b"ab", b"never"]), Scripted(Reply())
        client._pieces = [b"ab", b"never"]
        receive, calls = client.receive, iter(range(100))

        async def leaving() -> dict[str, Any]:
            return await receive() if next(calls) == 0 else {"type": "http.disconnect"}

        client.receive = leaving  # type: ignore[method-assign]
        async with staged(client, upstream) as stage:
            pass
        return stage, upstream

    stage, _ = asyncio.run(go())

    assert (None, "client_left") == (stage.raised, stage.entry.outcome)


@pytest.mark.parametrize("path", [CHAT, "/v1/files"])
def test_a_body_that_does_not_come(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The request is given up, and the client is informed."""
    monkeypatch.setattr("wholecall.proxy.exchange._BODY_TIMEOUT", 0.001)

    async def go() -> Client:
        client = Client(path, [b"ab", b"never"])

        async def receive() -> dict[str, Any]:
            return await asyncio.Event().wait()  # type: ignore[return-value]

        client.receive = receive  # type: ignore[method-assign]
        async with staged(client, Scripted(Reply())) as stage:
            pass
        assert stage.raised is None
        return client

    client = asyncio.run(go())

    assert 408 == client.status
    assert (b"connection", b"close") in client.headers
