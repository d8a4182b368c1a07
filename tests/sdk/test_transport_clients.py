"""The transport's clients compared with the SDKs' own: equal connections and timeouts, and whole bodies through both
SDKs.
"""

from __future__ import annotations

import asyncio
import importlib
import json
from typing import Any

import pytest

import wholecall.transport
from tests.support.loopback import serve
from tests.unit.test_transport_pool import N_STREAMS, Meeting
from wholecall.serving import Answer, Loopback

pytestmark = pytest.mark.sdk


def made_as(http: Any) -> tuple[object, ...]:
    """Return the settings of a client: connections, timeouts, redirects."""
    transport = getattr(http._transport, "_inner", http._transport)
    pool = transport._pool
    limits = pool._max_connections, pool._max_keepalive_connections, pool._keepalive_expiry
    return (*limits, pool._retries, http.timeout, http.follow_redirects, http.trust_env)


@pytest.mark.parametrize("sdk", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("theirs", "ours"), [("DefaultHttpxClient", "client"), ("DefaultAsyncHttpxClient", "async_client")]
)
def test_clients_are_made_like_the_sdks_own(sdk: str, theirs: str, ours: str) -> None:
    """An SDK over the transport loses none of its settings."""
    own = getattr(importlib.import_module(sdk), theirs)()

    assert made_as(own) == made_as(getattr(wholecall.transport, ours)())


def test_connections_are_probed_like_anthropics() -> None:
    """The options of sockets are those of the SDK that sets them."""
    own = importlib.import_module("anthropic").DefaultHttpxClient()._transport._pool._socket_options
    ours = wholecall.transport.client()._transport._inner._pool._socket_options

    assert {(level, name, int(value)) for level, name, value in own} == set(ours)


def chunks() -> list[bytes]:
    """Return a stream with a call, and a second one that is not dense."""
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m"}
    calls = [
        {"index": 1, "id": "a", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}},
    ]
    payloads = [{"tool_calls": calls}, {}]
    return [
        b"data: "
        + json.dumps(
            {
                **head,
                "choices": [{"index": 0, "delta": delta, "finish_reason": None if delta else "tool_calls"}],
            }
        ).encode()
        + b"\n\n"
        for delta in payloads
    ] + [b"data: [DONE]\n\n"]


def test_two_hundred_streams_of_an_sdk() -> None:
    """Each has its own connection before any of them is answered, and each gets its call."""
    openai = importlib.import_module("openai")

    async def ask(client: Any) -> list[str]:
        async with client.chat.completions.stream(model="m", messages=[]) as stream:
            message = (await stream.get_final_completion()).choices[0].message
        return [call.function.arguments for call in message.tool_calls]

    async def ask_all(server: Loopback) -> list[list[str]]:
        http = wholecall.transport.async_client()
        options = {"api_key": "x", "base_url": f"{server.url}/v1", "max_retries": 0}
        async with openai.AsyncOpenAI(http_client=http, **options) as client:
            return list(await asyncio.gather(*(ask(client) for _ in range(N_STREAMS))))

    with serve(Answer([b"".join(chunks())], gate=Meeting(N_STREAMS))) as server:
        found = asyncio.run(ask_all(server))

    assert [['{"a":1}']] * N_STREAMS == found


def body(dialect: str, arguments: Any) -> bytes:
    """Return a whole body with one call."""
    if dialect == "anthropic":
        block = {"type": "tool_use", "id": "a", "name": "f", "input": arguments}
        head = {"id": "m", "type": "message", "role": "assistant", "model": "m"}
        usage = {"input_tokens": 1, "output_tokens": 1}
        return json.dumps({**head, "content": [block], "stop_reason": "tool_use", "usage": usage}).encode()
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    head = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}
    return json.dumps({**head, "choices": [choice]}).encode()


def ask(dialect: str, server: Loopback) -> Any:
    """Return the arguments of the call that an SDK gets without streaming."""
    http = wholecall.transport.client()
    if dialect == "anthropic":
        with importlib.import_module("anthropic").Anthropic(
            api_key="x", base_url=server.url, http_client=http
        ) as client:
            return client.messages.create(model="m", max_tokens=9, messages=[]).content[0].input
    with importlib.import_module("openai").OpenAI(
        api_key="x", base_url=f"{server.url}/v1", http_client=http
    ) as client:
        answer = client.chat.completions.create(model="m", messages=[])
    return json.loads(answer.choices[0].message.tool_calls[0].function.arguments)


@pytest.mark.parametrize(("dialect", "given"), [("anthropic", '{"a":1}'), ("chat-completions", {"a": 1})])
def test_whole_bodies_are_mended_for_sdks(dialect: str, given: Any) -> None:
    """Input as text and arguments as an object reach the SDK in the form that it expects."""
    with serve(Answer([body(dialect, given)], content_type="application/json")) as server:
        assert {"a": 1} == ask(dialect, server)


@pytest.mark.parametrize(("dialect", "given"), [("anthropic", "[1]"), ("chat-completions", "[1]")])
def test_whole_bodies_without_their_calls_raise(dialect: str, given: str) -> None:
    """The SDK raises our error, and does not retry."""
    with serve(Answer([body(dialect, given)], content_type="application/json")) as server:
        with pytest.raises(Exception, match=r"all tool calls were withheld: f \(not_an_object\)") as raised:
            ask(dialect, server)
        n_requests = len(server.requests)

    assert (1, 502) == (n_requests, getattr(raised.value, "status_code", None))
