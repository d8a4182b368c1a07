"""The common ground of integrations: a transport under a model's HTTP client, and the calls that it withholds."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from benchmarks.rivals.streams import CUT_PIECES, TIDE_TEXT, chat, entry, more
from wholecall import ToolCallDropped, transport
from wholecall.integrations.hearing import UNREAD, Hearing, put_under, told

CUT = b"".join(chat([entry(0, "", name="get_tide", id="call_1")], *more(CUT_PIECES)))
WHOLE = b"".join(chat([entry(0, TIDE_TEXT, name="get_tide", id="call_1")]))
BROKEN = b"".join(chat([entry(0, "", name="get_tide", id="call_1")], reason=None))
URL = "http://127.0.0.1:9/v1/chat/completions"


def answering(data: bytes) -> httpx.MockTransport:
    """Return a transport whose server always answers the same."""
    headers = {"content-type": "text/event-stream"}
    return httpx.MockTransport(lambda _request: httpx.Response(200, content=data, headers=headers))


def model_of(client: Any) -> Any:
    """Return a model that keeps its HTTP client as SDKs do."""
    return SimpleNamespace(client=SimpleNamespace(_client=client))


def test_only_what_is_heard_is_repaired() -> None:
    """Within a hearing a cut call is withheld and noted; outside of it the same client's answer is unchanged."""
    client = httpx.Client(transport=answering(CUT))
    put_under(model_of(client))
    hearing = Hearing({})
    with hearing.listening():
        heard = client.post(URL).content
    unheard = client.post(URL).content

    assert (b"get_tide" in heard, CUT) == (False, unheard)
    assert [("get_tide", "truncated")] == [(drop.name, drop.reason) for drop in hearing.dropped]


def test_a_good_answer_is_untouched() -> None:
    """A whole call passes byte for byte, and nothing is noted."""
    client = httpx.Client(transport=answering(WHOLE))
    put_under(model_of(client))
    hearing = Hearing({})
    with hearing.listening():
        heard = client.post(URL).content

    assert (WHOLE, []) == (heard, hearing.dropped)


def test_the_transport_is_put_under_once() -> None:
    """A client keeps its transport however often a model is used, and a transport of ours is not repaired twice."""
    client = transport.client(library="httpx", transport=answering(CUT))
    put_under(client)
    once = client._transport
    put_under(client)
    hearing = Hearing({})
    with hearing.listening():
        heard = client.post(URL).content

    assert once is client._transport
    assert (
        b'"finish_reason":"length"' in heard
    )  # as a cut that the model is told of; the other way is an error


def test_the_same_asynchronously() -> None:
    """An asynchronous client is heard in its task, and its functions may be awaited."""
    dropped: list[ToolCallDropped] = []

    async def hear(drop: ToolCallDropped) -> None:
        dropped.append(drop)

    async def ask() -> bytes:
        async with httpx.AsyncClient(transport=answering(CUT)) as client:
            put_under(model_of(client))
            with hearing.listening():
                return (await client.post(URL)).content

    hearing = Hearing({"on_dropped": hear})

    assert b"get_tide" not in asyncio.run(ask())
    assert dropped == hearing.dropped


def test_the_last_time_is_an_error() -> None:
    """If the model is not asked again, a turn without a whole call ends as under the plain transport, and raises."""
    client = httpx.Client(transport=answering(CUT))
    put_under(client)
    hearing = Hearing({})

    with pytest.raises(httpx.RemoteProtocolError), hearing.listening(is_last=True):
        client.post(URL)
    assert not hearing.goes_on


def test_an_answer_that_breaks_off_is_no_reason_to_stop() -> None:
    """An exception after a withheld call ends the block, because the model is asked again; any other is raised."""
    client = httpx.Client(transport=answering(BROKEN))
    put_under(client)
    hearing = Hearing({})
    with hearing.listening():
        client.post(URL)

    assert hearing.goes_on
    with pytest.raises(ZeroDivisionError), hearing.listening():
        raise ZeroDivisionError


def test_a_model_without_such_a_client_is_refused() -> None:
    """A model that asks in another way is an error at once, never an agent without protection."""
    with pytest.raises(TypeError, match=r"SimpleNamespace has no client of httpx or httpx2"):
        put_under(model_of(None))


def test_a_silent_end_is_no_option() -> None:
    """`withheld` is refused, and so is a function that would have to be awaited under a synchronous client."""

    async def hear(_drop: ToolCallDropped) -> None: ...

    client = httpx.Client(transport=answering(CUT))
    put_under(client)

    with pytest.raises(TypeError, match="withheld is no option"):
        Hearing({"withheld": "end"})
    with (
        pytest.raises(TypeError, match="on_dropped cannot be awaited"),
        Hearing({"on_dropped": hear}).listening(),
    ):
        client.post(URL)


def test_what_the_model_is_told() -> None:
    """A withheld call keeps its id if that is free, never its own arguments, and says that it must be sent again."""
    drop = ToolCallDropped(0, 0, 0, "call_1", "get_tide", "function", '{"port":"Brest"}', "schema")
    (free,), (taken,) = told([drop]), told([drop], ["call_1"])

    assert ("call_1", {UNREAD: '{"port":"Brest"}'}) == (free.id, free.arguments)
    assert taken.id != free.id
    assert free.says.startswith("Error: the call of 'get_tide' was not executed")
