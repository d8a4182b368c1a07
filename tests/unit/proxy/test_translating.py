"""The proxy as a translator: requests, answers, errors and lists of models, and everything that it refuses."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import msgspec
import pytest

from tests.support.corpora import RECORDINGS
from tests.support.proxying import (
    CHAT,
    DONE,
    Client,
    Reply,
    Scripted,
    Stage,
    call,
    config,
    events_of,
    frame,
    run,
    staged,
)
from wholecall import collect
from wholecall.proxy.config import Config, UpstreamConfig
from wholecall.proxy.translating import LEFT_OUT
from wholecall.proxy.values import Secret
from wholecall.proxy.wire import Headers, UpstreamFailed

JSON: Headers = [(b"content-type", b"application/json")]
MESSAGES = "/v1/messages"
ASKED = {
    "model": "m",
    "max_tokens": 50,
    "system": "Be brief.",
    "messages": [{"role": "user", "content": "When is high tide?"}],
    "tools": [{"name": "f", "description": "the tide", "input_schema": {"type": "object"}}],
    "top_k": 5,
}
SAID = [
    frame({"role": "assistant", "content": "I look."}),
    call('{"port":'),
    call(' "Brest"}', name=None, id=None),
]
END = [frame({}, "tool_calls"), DONE]


def translating(client: str = "anthropic", server: str = "chat-completions", **changes: Any) -> Config:
    """Return a configuration that serves one wire from an upstream of another."""
    upstream = UpstreamConfig(url="http://127.0.0.1:9", name="up", wire=server, **changes)
    return config(serve=client, upstreams=(upstream,))


def asking(path: str = MESSAGES, headers: Headers | None = None, **members: Any) -> Client:
    """Return a request of Anthropic's."""
    return Client(path, json.dumps({**ASKED, **members}).encode(), headers=headers)


def header(client: Client, name: bytes) -> bytes | None:
    """Return a header of the answer."""
    return dict(client.sent[0]["headers"]).get(name)


def test_a_stream_is_asked_for_in_the_upstreams_words() -> None:
    """The path, the body and the query are the upstream's."""
    client = asking(stream=True)
    client.scope["query_string"] = b"beta=true"
    upstream = Scripted(Reply([*SAID, *END]))
    run(client, upstream, translating())
    said = json.loads(upstream.bodies[0])

    assert f"http://127.0.0.1:9{CHAT}" == upstream.questions[0].url
    assert [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "When is high tide?"},
    ] == said["messages"]
    assert ("f", True, {"include_usage": True}) == (
        said["tools"][0]["function"]["name"],
        said["stream"],
        said["stream_options"],
    )


def test_a_stream_comes_in_the_clients_words() -> None:
    """Its frames are Anthropic's, and its call is whole."""
    client = asking(stream=True)
    raised, entry = run(client, Scripted(Reply([*SAID, *END])), translating())
    turn = collect([client.body], "anthropic")

    assert (None, True, b"text/event-stream") == (raised, client.is_whole, header(client, b"content-type"))
    assert ("I look.", {"port": "Brest"}, "tool_calls") == (turn.text, turn.calls[0].arguments, turn.reason)
    assert ("ok", "chat-completions", 1) == (entry.outcome, entry.dialect, entry.calls)


def test_a_plain_request_gets_one_body() -> None:
    """It is a message, whatever the upstream sends."""
    client = asking()
    run(client, Scripted(Reply([*SAID, *END])), translating())
    message = json.loads(client.body)

    assert b"application/json" == header(client, b"content-type")
    assert (["text", "tool_use"], "tool_use") == (
        [block["type"] for block in message["content"]],
        message["stop_reason"],
    )


def test_what_is_left_out_is_said() -> None:
    """The names of the members are in a header of the answer."""
    client = asking(stream=True, frob=1)
    run(client, Scripted(Reply([*SAID, *END])), translating())

    assert b"top_k, frob" == header(client, LEFT_OUT)


def test_a_wish_to_see_calls_early_is_left_out() -> None:
    """Translated calls are never shown while they arrive, and the client is told so."""
    client = asking(stream=True, headers=[(b"x-wholecall-live", b"1")])
    run(client, Scripted(Reply([*SAID, *END])), translating())

    assert b"top_k, x-wholecall-live" == header(client, LEFT_OUT)


def test_a_member_with_an_odd_name_breaks_no_header() -> None:
    """Only plain letters get into the header."""
    client = asking(stream=True, **{"x\r\nset-cookie: a": 1})
    run(client, Scripted(Reply([*SAID, *END])), translating())

    assert b"top_k, x??set-cookie??a" == header(client, LEFT_OUT)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"{", "the request: is no JSON"),
        (b"[]", "the request: must be an object"),
        (
            json.dumps({**ASKED, "tools": [{"type": "web_search_20250305", "name": "w"}]}).encode(),
            "tools[].type",
        ),
        (json.dumps({**ASKED, "mcp_servers": [{"name": "x"}]}).encode(), "mcp_servers"),
    ],
    ids=["no JSON", "no object", "a server's tool", "a server's state"],
)
def test_a_request_that_cannot_be_said_is_refused(body: bytes, said: str) -> None:
    """The upstream is not asked; the error is Anthropic's, and names the member."""
    client, upstream = Client(MESSAGES, body), Scripted()
    run(client, upstream, translating())
    error = json.loads(client.body)

    assert (400, [], "invalid_request_error") == (
        client.sent[0]["status"],
        upstream.questions,
        error["error"]["type"],
    )
    assert error["error"]["message"].startswith(said)


def test_a_compressed_request_is_refused() -> None:
    """It cannot be read, and so it cannot be said."""
    client = asking(headers=[(b"content-encoding", b"gzip")])
    run(client, Scripted(), translating())

    assert 400 == client.sent[0]["status"]


@pytest.mark.parametrize(
    ("given", "server", "sent"),
    [
        ([(b"x-api-key", b"k")], "chat-completions", {b"authorization": b"Bearer k"}),
        ([(b"authorization", b"Bearer k")], "chat-completions", {b"authorization": b"Bearer k"}),
        ([(b"authorization", b"Bearer k")], "anthropic", {b"x-api-key": b"k"}),
        ([(b"authorization", b"Bearer k"), (b"x-api-key", b"o")], "anthropic", {b"x-api-key": b"o"}),
    ],
)
def test_the_clients_key_changes_its_place(given: Headers, server: str, sent: dict[bytes, bytes]) -> None:
    """It goes where the upstream's wire has it, and nowhere else."""
    client = "anthropic" if server != "anthropic" else "chat-completions"
    path = MESSAGES if client == "anthropic" else CHAT
    body = ASKED if client == "anthropic" else {"model": "m", "messages": ASKED["messages"]}
    asked, upstream = Client(path, json.dumps(body).encode(), headers=given), Scripted(Reply())
    run(asked, upstream, translating(client, server))
    found = {
        name: value
        for name, value in upstream.questions[0].headers
        if name in (b"authorization", b"x-api-key")
    }

    assert sent == found


def test_a_key_of_the_upstreams_replaces_the_clients() -> None:
    """No credential of the client's gets there."""
    client = asking(headers=[(b"x-api-key", b"mine"), (b"anthropic-beta", b"b")])
    upstream = Scripted(Reply())
    run(client, upstream, translating(key=Secret("env:K", "theirs")))
    sent = dict(upstream.questions[0].headers)

    assert (b"Bearer theirs", None, None) == (
        sent[b"authorization"],
        sent.get(b"x-api-key"),
        sent.get(b"anthropic-beta"),
    )


def test_an_error_keeps_its_status_and_its_message() -> None:
    """The form is the client's, and a retry-after passes."""
    body = json.dumps({"error": {"message": "slow down", "type": "x", "code": None}}).encode()
    client = asking(stream=True)
    raised, entry = run(client, Scripted(Reply([body], 429, [*JSON, (b"retry-after", b"3")])), translating())

    assert {"type": "error", "error": {"type": "rate_limit_error", "message": "slow down"}} == json.loads(
        client.body
    )
    assert (429, b"3", None, "upstream_status") == (
        client.sent[0]["status"],
        header(client, b"retry-after"),
        raised,
        entry.outcome,
    )


@pytest.mark.parametrize("at", range(len(SAID) + 1))
@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("how", ["lost", "ended"])
def test_a_broken_answer_has_no_call(at: int, stream: bool, how: str) -> None:
    """Cut anywhere before its end, it is an error: a status if nothing went out, else an event and a cut."""
    steps: list[Any] = [*SAID[:at], *([UpstreamFailed("upstream_lost")] if how == "lost" else [])]
    client = asking(stream=stream)
    run(client, Scripted(Reply(steps)), translating())
    status = client.sent[0]["status"]
    has_begun = stream and at > 0

    assert (200 if has_begun else 502, has_begun) == (status, b"event: error" in client.body)
    assert (False, has_begun) == (b"tool_use" in client.body, client.sent[-1].get("more_body", False))


async def _stalled(client: Client, reply: Reply, **changes: Any) -> Stage:
    """Play an answer that stops, for forty seconds; then the client leaves."""
    given = msgspec.structs.replace(translating(), **changes)
    async with staged(client, Scripted(reply), given) as stage:
        await stage.clock.forward(40)
        client.leave.set()
    return stage


async def for_ever() -> None:
    """Wait for something that never comes."""
    await asyncio.Event().wait()


def test_a_held_call_is_no_silence() -> None:
    """The client gets a sign of life in its own words; when it leaves, the upstream is closed."""
    client, reply = asking(stream=True), Reply([*SAID, for_ever])
    stage = asyncio.run(_stalled(client, reply, ping=15.0))

    assert (1, True, True) == (stage.entry.pings, b"event: ping" in client.body, reply.is_closed)


@pytest.mark.parametrize("stream", [True, False])
def test_a_stalled_upstream_is_an_error(stream: bool) -> None:
    """A silence in the middle of the answer ends it in the client's words, without a call."""
    client = asking(stream=stream)
    asyncio.run(_stalled(client, Reply([*SAID, for_ever]), idle_timeout=20.0))

    assert (200 if stream else 504, b"api_error" in client.body or b"timeout_error" in client.body) == (
        client.sent[0]["status"],
        True,
    )
    assert b"tool_use" not in client.body


def test_a_body_beyond_the_memory_is_refused() -> None:
    """A whole body is held, and counts like a request."""
    client = asking()
    run(client, Scripted(Reply([*SAID, *END])), msgspec.structs.replace(translating(), max_held_bytes=600))

    assert 503 == client.sent[0]["status"]


def test_a_turn_that_lost_its_calls_is_an_error() -> None:
    """Arguments that no parser can read are withheld, and the client raises."""
    client = asking(stream=True)
    _, entry = run(client, Scripted(Reply([call("{]"), *END])), translating())

    assert (False, "withheld", 1) == (b"tool_use" in client.body, entry.outcome, entry.n_withheld)


def test_a_cut_call_asks_the_agent_to_continue() -> None:
    """Agents of Anthropic's do so after `max_tokens`, as with an upstream of their own."""
    client = asking(stream=True)
    run(client, Scripted(Reply([*SAID[:2], frame({}, "length"), DONE])), translating())

    assert ("length", ()) == (
        (turn := collect([client.body], "anthropic")).reason,
        turn.calls,
    )


def test_models_are_listed_in_the_clients_words() -> None:
    """Anthropic's clients read a list of Anthropic's."""
    body = b'{"object":"list","data":[{"id":"m","object":"model","created":86400,"owned_by":"o"}]}'
    client, upstream = Client("/v1/models", method="GET"), Scripted(Reply([body], headers=JSON))
    run(client, upstream, translating())
    model = {"type": "model", "id": "m", "display_name": "m", "created_at": "1970-01-02T00:00:00Z"}

    assert "http://127.0.0.1:9/v1/models" == upstream.questions[0].url
    assert {"data": [model], "has_more": False, "first_id": "m", "last_id": "m"} == json.loads(client.body)


@pytest.mark.parametrize(
    "path", ["/v1/messages/count_tokens", "/v1/messages/batches", "/v1/files", "/v1/responses"]
)
def test_other_requests_are_refused(path: str) -> None:
    """The upstream would not know them."""
    client, upstream = Client(path), Scripted()
    run(client, upstream, translating())

    assert (404, []) == (client.sent[0]["status"], upstream.questions)


def test_the_upstreams_own_wire_passes() -> None:
    """A client that speaks it needs no translation; calls are repaired as ever."""
    events = events_of((RECORDINGS / "chat-completions" / "single-call.sse").read_bytes())
    client = Client(CHAT)
    run(client, Scripted(Reply(events)), translating())

    assert b"".join(events) == client.body


@pytest.mark.parametrize(
    ("url", "asked"),
    [
        ("http://127.0.0.1:9", "http://127.0.0.1:9/v1/chat/completions"),
        ("https://openrouter.ai/api/v1", "https://openrouter.ai/api/v1/chat/completions"),
        ("https://x.example/v1beta/openai", "https://x.example/v1beta/openai/chat/completions"),
        ("https://x.example/engines", "https://x.example/engines/v1/chat/completions"),
    ],
)
def test_a_url_gets_one_version(url: str, asked: str) -> None:
    """Base URLs with a version are taken as SDKs take them, and others get `/v1`."""
    client, upstream = asking(), Scripted(Reply())
    run(
        client,
        upstream,
        config(serve="anthropic", upstreams=(UpstreamConfig(url=url, wire="chat-completions"),)),
    )

    assert asked == upstream.questions[0].url
