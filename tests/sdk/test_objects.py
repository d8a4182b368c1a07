"""Objects that SDKs make of the wire: whole responses, null members, signatures, events of a socket."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import pytest

from tests.support.loopback import serve
from tests.support.sdks import Read, Told, answer, cases, from_bytes, read, recorded, told
from tests.support.sockets import serve_lines
from tests.support.surfaces import ASKED, CLIENTS, TURNS, asking, sdk
from wholecall import ToolCallParser, collect, wrap
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk

# By dialect: the client, and the function that asks it for a whole response.
WHOLE: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "anthropic": ("anthropic", lambda sdk: sdk.messages.create(**ASKED, max_tokens=9)),
    "bedrock-converse": ("bedrock", lambda sdk: sdk.converse(modelId="m", messages=TURNS)),
    "chat-completions": ("openai", lambda sdk: sdk.chat.completions.create(**ASKED)),
    "cohere-v1": ("cohere-v1", lambda sdk: sdk.chat(model="m", message="x")),
    "cohere-v2": ("cohere-v2", lambda sdk: sdk.chat(**ASKED)),
    "gemini": ("google", lambda sdk: sdk.models.generate_content(model="m", contents="x")),
    "mistral-conversations": (
        "mistral",
        lambda sdk: sdk.beta.conversations.start(model="m", inputs="x"),
    ),
    "ollama": ("ollama", lambda sdk: sdk.chat(**ASKED)),
    "responses": ("openai", lambda sdk: sdk.responses.create(model="m", input="x")),
}


def _of(payload: Any) -> Told:
    parser = ToolCallParser()
    parser.feed_event(payload)
    parser.close()
    return told(parser.turn)


def _body(dialect: str) -> bytes:
    """Return a whole body in the shape that the SDK insists on."""
    body = recorded(dialect, "whole-body", "json")
    if dialect != "mistral-conversations":
        return body
    whole = json.loads(body)
    whole["outputs"] = [one for one in whole["outputs"] if one["type"] != "agent.handoff"]
    return json.dumps(whole).encode()


@pytest.mark.parametrize("dialect", sorted(WHOLE))
def test_whole_responses_tell_what_the_bytes_tell(dialect: str) -> None:
    """A whole response, as the SDK's object, gives the calls of its body; of Ollama's under ids of our own."""
    client, ask = WHOLE[dialect]
    body = _body(dialect)
    wire = told(collect([body]))
    if dialect == "ollama":
        wire = wire._replace(
            calls=tuple((f"call_0_0_{place}", *call[1:]) for place, call in enumerate(wire.calls))
        )

    with serve(Answer([body], "application/json")) as server, CLIENTS[client](server.url) as one:
        actual = _of(ask(one))

    assert wire.calls
    assert wire == actual


# Streams whose arguments are objects, and a value in each that null can replace.
NULLS = {
    "gemini": ("gemini", "single-call", "sse", b'"Brest"'),
    "mistral": ("chat-completions", "mistral-whole-calls", "sse", b"[1,2]"),
    "ollama": ("ollama", "old-server-without-ids", "ndjson", b"1013.25"),
    "anthropic": ("anthropic", "input-at-start", "sse", b"7"),
}


@pytest.mark.parametrize("surface", sorted(NULLS))
def test_a_null_among_arguments_stays(surface: str) -> None:
    """Members of an SDK's object that are None are left out; arguments are the model's, and null is a value."""
    dialect, case, suffix, value = NULLS[surface]
    data = recorded(dialect, case, suffix).replace(value, b"null", 1)

    with serve(answer(dialect, case, suffix, pieces=[data])) as server, asking(surface, server.url) as ask:
        actual = read(ask()).told

    assert any(None in arguments.values() for _, _, arguments in actual.calls)
    assert told(collect([data])) == actual


def test_signatures_of_gemini_are_those_of_the_wire() -> None:
    """A signature that the SDK decoded into bytes is the text of the wire again."""
    data = recorded("gemini", "single-call", "sse")
    with serve(answer("gemini", "single-call")) as server, asking("gemini", server.url) as ask:
        stream = wrap(ask())
        for _ in stream:
            pass

    assert collect([data]).calls[0].extra
    assert [call.extra for call in collect([data]).calls] == [call.extra for call in stream.calls]


UNTOUCHED = {
    "anthropic-helper": ("anthropic", "unicode-pieces"),
    "chat": ("chat-completions", "single-call"),
    "chat-helper": ("chat-completions", "single-call"),
    "cohere-v2": ("cohere-v2", "single-call"),
    "groq": ("chat-completions", "single-call"),
    "hugging-face": ("chat-completions", "single-call"),
    "mistral-conversations": ("mistral-conversations", "single-call"),
    "responses-helper": ("responses", "single-call"),
}


@pytest.mark.parametrize("surface", sorted(UNTOUCHED))
def test_chunks_pass_untouched(surface: str) -> None:
    """A wrapped stream yields the objects of the stream itself: the same objects of the same classes."""
    one = answer(*UNTOUCHED[surface])
    with serve(one, one) as server, asking(surface, server.url) as ask:
        plain = ask()
        with plain if hasattr(plain, "__enter__") else nullcontext(plain) as entered:
            expected = list(entered)
        actual = list(wrap(ask()))

    assert expected
    assert [type(chunk) for chunk in expected] == [type(chunk) for chunk in actual]
    assert expected == actual


REALTIME = cases("openai-realtime", "ndjson")


@pytest.mark.parametrize("case", REALTIME)
def test_events_of_a_realtime_connection_tell_what_the_lines_tell(case: str) -> None:
    """A wrapped connection gives the calls and drops of the messages that came over the socket."""
    data = recorded("openai-realtime", case, "ndjson")
    with serve_lines(data) as url:
        openai = sdk("openai").OpenAI(api_key="k", websocket_base_url=url)
        with openai, openai.realtime.connect(model="m") as connection:
            actual = read(connection)

    assert Read(from_bytes("openai-realtime", case, "ndjson")) == actual


def test_events_of_a_responses_connection_tell_what_the_lines_tell() -> None:
    """A wrapped connection of the WebSocket mode gives the calls of all its responses, and goes on after an error."""
    data = recorded("responses", "socket-session", "ndjson")
    with serve_lines(data) as url:
        openai = sdk("openai").OpenAI(api_key="k", websocket_base_url=url)
        with openai, openai.responses.connect() as connection:
            stream = wrap(connection)
            n_events = sum(1 for _ in stream)

    assert len(data.splitlines()) == n_events
    assert ["call_glass_1", "call_log_3", "call_glass_4"] == [call.id for call in stream.calls]


@pytest.mark.parametrize(
    ("dialect", "case"), [("responses", "socket-session"), ("gemini-live", "single-call")]
)
def test_messages_of_a_plain_connection_tell_what_the_lines_tell(dialect: str, case: str) -> None:
    """A connection of `websockets` is wrapped as an SDK's is."""
    data = recorded(dialect, case, "ndjson")
    with (
        serve_lines(data) as url,
        sdk("websockets.sync.client").connect(url) as connection,
    ):
        stream = wrap(connection)
        messages = list(stream)

    assert data.decode().splitlines() == messages
    assert from_bytes(dialect, case, "ndjson") == told(stream.turn)
