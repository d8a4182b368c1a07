"""The transports over a real connection, with each HTTP library that is installed."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import importlib.util
import threading
import zlib
from typing import Any

import pytest

import wholecall.repairing.transport.library
from tests.support import quirky
from tests.support.loopback import serve
from tests.support.naive import data_of, error_of, finish_reasons, read_calls
from wholecall import Limits, StreamClosed, ToolCallDropped
from wholecall.calls.tools.tool import Tools
from wholecall.repairing import Repairer, repair_body
from wholecall.serving import Answer, Loopback
from wholecall.transport import (
    AsyncRepairTransport,
    Counters,
    Exchange,
    RepairTransport,
    async_client,
    client,
)

LIBRARIES: list[Any] = [name for name in ("httpx2", "httpx") if importlib.util.find_spec(name)]
each_library = pytest.mark.parametrize("library", LIBRARIES)

TEXT = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
ENTRY = b'{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":%s}}'
CALL = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":['
    + ENTRY
    + b"]}}]}\n\n"
)
BEGUN, WHOLE = CALL % b'"{\\"a\\":"', CALL % b'"{\\"a\\":1}"'
FINISH = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
DONE = b"data: [DONE]\n\n"
QUIRKY = quirky.make("transport", ("index_zero",)).bytes()
PATH = "/v1/chat/completions"


def repaired(data: bytes, **options: Any) -> bytes:
    """Return a repairer's output for a whole stream."""
    repairer = Repairer(**options)
    return repairer.feed(data) + repairer.close()


class Dropped(list[ToolCallDropped]):
    """The calls that were withheld."""

    def note(self, drop: ToolCallDropped, exchange: Exchange) -> None:
        """Take one."""
        assert "POST" == exchange.method
        self.append(drop)


def until_error(library: Any, server: Loopback, **options: Any) -> bytes:
    """Return the output of a POST until the library raises that the stream was ended."""
    protocol_error = importlib.import_module(library).RemoteProtocolError
    read: list[bytes] = []
    with (
        client(library=library, **options) as http,
        pytest.raises(protocol_error, match="was ended by an error"),
        http.stream("POST", server.url + PATH) as response,
    ):
        read.extend(response.iter_raw())
    return b"".join(read)


def post(library: Any, server: Loopback, path: str = PATH, **options: Any) -> bytes:
    """Return the body of the answer to a POST."""
    with client(library=library, **options) as http:
        body: bytes = http.post(server.url + path, json={}).content
    return body


async def apost(library: Any, server: Loopback, path: str = PATH, **options: Any) -> bytes:
    """Return the body of the answer to an asynchronous POST."""
    async with async_client(library=library, **options) as http:
        response = await http.post(server.url + path, json={})
    body: bytes = response.content
    return body


def test_a_library_is_installed() -> None:
    """The tests below have something to run with."""
    assert LIBRARIES != []


@each_library
def test_streams_are_repaired(library: Any) -> None:
    """A quirky stream is strict after the transport, synchronously and asynchronously."""
    with serve(Answer([QUIRKY])) as server:
        found = [post(library, server), asyncio.run(apost(library, server))]
        assert server.wait_until_closed()

    assert [repaired(QUIRKY)] * 2 == found
    assert QUIRKY != found[0]


@each_library
@pytest.mark.parametrize(
    "path",
    [
        "/v1/responses",
        "/v1/messages",
        "/openai/deployments/x/chat/completions?api-version=1",
        "/chat/completions/",
    ],
)
def test_endpoints_for_tool_calls_are_touched(library: Any, path: str) -> None:
    """The endpoint is recognised by the end of its path, whatever is before and after it."""
    with serve(Answer([QUIRKY])) as server:
        assert repaired(QUIRKY) == post(library, server, path)


@each_library
@pytest.mark.parametrize(
    ("path", "answer"),
    [
        ("/v1/embeddings", Answer([QUIRKY])),
        ("/v1/chat/completions/x", Answer([QUIRKY])),
        (PATH, Answer([b"<html>busy</html>"], content_type="text/plain")),
        (PATH, Answer([QUIRKY], status=500)),
        (PATH, Answer([b'{"choices":[]}'], content_type="application/json")),
    ],
)
def test_everything_else_passes(library: Any, path: str, answer: Answer) -> None:
    """Other endpoints and statuses are not touched."""
    with serve(answer) as server:
        assert b"".join(answer.pieces) == post(library, server, path)


@each_library
def test_get_requests_pass(library: Any) -> None:
    """A stored response that is read again is not touched."""
    with serve(Answer([QUIRKY])) as server, client(library=library) as http:
        assert QUIRKY == http.get(server.url + PATH).content


@each_library
def test_a_type_with_a_charset_is_an_event_stream(library: Any) -> None:
    """Parameters and case of the content type do not matter."""
    answer = Answer([QUIRKY], content_type="Text/Event-Stream; charset=utf-8")
    with serve(answer) as server:
        assert repaired(QUIRKY) == post(library, server)


@each_library
def test_streams_labelled_as_text_are_read(library: Any) -> None:
    """Some servers call their event streams plain text."""
    with serve(Answer([QUIRKY], content_type="text/plain; charset=utf-8")) as server:
        assert repaired(QUIRKY) == post(library, server)


@each_library
@pytest.mark.parametrize("encoding", ["gzip", "deflate"])
def test_compressed_streams_are_decoded(library: Any, encoding: str) -> None:
    """A compressed body is decoded by the library, and its headers say so."""
    data = gzip.compress(QUIRKY) if encoding == "gzip" else zlib.compress(QUIRKY)
    pieces = [data[at : at + 50] for at in range(0, len(data), 50)]
    answer = Answer(pieces, headers=(("content-encoding", encoding), ("x-request-id", "r1")))
    with serve(answer) as server, client(library=library) as http:
        response = http.post(server.url + PATH)

        assert repaired(QUIRKY) == response.content
        assert "content-encoding" not in response.headers
        assert "r1" == response.headers["x-request-id"]


@each_library
def test_text_is_live(library: Any) -> None:
    """Text arrives while the server still waits; the call after it when the server ends the turn."""
    gate = threading.Semaphore(0)
    answer, http = Answer([TEXT, WHOLE, FINISH, DONE], gate=gate), client(library=library)
    with serve(answer) as server, http, http.stream("POST", server.url + PATH) as response:
        chunks = response.iter_raw()
        gate.release()
        first = next(chunks)
        gate.release(3)
        rest = b"".join(chunks)

    assert TEXT == first
    assert WHOLE + FINISH + DONE == rest


@each_library
def test_nothing_is_read_ahead(library: Any) -> None:
    """A consumer that takes one chunk makes the transport read no further than that chunk."""
    repairer_reads: list[bytes] = []
    http = importlib.import_module(library)

    class Counting(http.SyncByteStream):  # type: ignore[misc, name-defined]
        def __iter__(self) -> Any:
            for piece in [TEXT, TEXT, TEXT]:
                repairer_reads.append(piece)
                yield piece

    def answer(_request: Any) -> Any:
        return http.Response(200, headers={"content-type": "text/event-stream"}, stream=Counting())

    inner = http.MockTransport(answer)
    with (
        http.Client(transport=RepairTransport(inner)) as caller,
        caller.stream("POST", "http://x" + PATH) as got,
    ):
        next(got.iter_raw())

        assert 1 == len(repairer_reads)


@each_library
def test_leaving_early_closes_the_connection(library: Any) -> None:
    """A client that leaves has its calls dropped and its connection closed."""
    dropped = Dropped()
    answer = Answer([TEXT, BEGUN, TEXT], ending="hang")
    with serve(answer) as server, client(library=library, on_dropped=dropped.note) as http:
        with http.stream("POST", server.url + PATH) as response:
            read = b""
            for chunk in response.iter_raw():
                read += chunk
                if read.count(b"Hello") == 2:
                    break
        assert server.wait_until_closed()

    assert ["aborted"] == [drop.reason for drop in dropped]
    assert read == TEXT + TEXT


@each_library
def test_leaving_early_closes_the_connection_asynchronously(library: Any) -> None:
    """The same without threads."""
    dropped = Dropped()

    async def leave(server: Loopback) -> None:
        http = async_client(library=library, on_dropped=dropped.note)
        async with http, http.stream("POST", server.url + PATH) as response:
            chunks = response.aiter_raw()
            read = b""
            while read.count(b"Hello") < 2:
                read += await anext(chunks)

    with serve(Answer([TEXT, BEGUN, TEXT], ending="hang")) as server:
        asyncio.run(leave(server))
        assert server.wait_until_closed()

    assert ["aborted"] == [drop.reason for drop in dropped]


@each_library
@pytest.mark.parametrize("ending", ["cut", "reset"])
def test_errors_of_the_connection_pass(library: Any, ending: Any) -> None:
    """A broken connection raises the library's own error; the open call is dropped, shown text stays."""
    dropped = Dropped()
    error = importlib.import_module(library).TransportError
    read: list[bytes] = []
    with serve(Answer([TEXT, BEGUN], ending=ending)) as server:
        http = client(library=library, on_dropped=dropped.note)
        with pytest.raises(error), http, http.stream("POST", server.url + PATH) as response:
            read.extend(response.iter_raw())
        assert server.wait_until_closed()

    assert ["aborted"] == [drop.reason for drop in dropped]
    assert [] == read_calls("chat-completions", b"".join(read))


@each_library
def test_errors_of_the_connection_pass_asynchronously(library: Any) -> None:
    """The same without threads."""
    dropped = Dropped()
    error = importlib.import_module(library).TransportError
    with serve(Answer([TEXT, BEGUN], ending="cut")) as server:
        with pytest.raises(error):
            asyncio.run(apost(library, server, on_dropped=dropped.note))
        assert server.wait_until_closed()

    assert ["aborted"] == [drop.reason for drop in dropped]


@each_library
def test_calls_of_a_cut_turn_are_withheld(library: Any) -> None:
    """A stream that ends cleanly but without the end of its turn executes nothing, and is an error for every client."""
    dropped = Dropped()
    with serve(Answer([TEXT, BEGUN])) as server:
        found = until_error(library, server, on_dropped=dropped.note)

    assert found.startswith(TEXT)
    assert ("upstream_incomplete", "the stream ended before the turn did") == error_of(found)
    assert ["unterminated"] == [drop.reason for drop in dropped]


@each_library
def test_live_calls_that_break_end_the_stream(library: Any) -> None:
    """Shown live, a call that must not be executed ends the stream with an error frame, and the connection closes."""
    answer = Answer([TEXT, BEGUN, FINISH, DONE, TEXT], ending="hang")
    with serve(answer) as server:
        found = until_error(library, server, live_arguments=True)
        assert server.wait_until_closed()

    last = list(data_of(found))[-1]
    assert "calls_withheld" == last["error"]["code"]
    assert [("a", "f", '{"a":')] == read_calls("chat-completions", found)
    assert [] == finish_reasons(found)


@each_library
def test_options_reach_the_repairer(library: Any) -> None:
    """Tools judge the calls; the limits of the repair and those of the connections both find their place."""
    http = importlib.import_module(library)
    with serve(Answer([WHOLE, FINISH, DONE])) as server:
        unknown = post(library, server, tools={"g": {}}, limits=Limits(), withheld="end")
        known = post(library, server, tools={"f": {}}, limits=http.Limits(max_connections=1))

    assert ["stop"] == finish_reasons(unknown)
    assert [("a", "f", '{"a":1}')] == read_calls("chat-completions", known)


@each_library
def test_clients_keep_their_options(library: Any) -> None:
    """Options of the client work as always: proxies are wrapped too, redirects are followed by default."""
    with client(library=library, proxy="http://127.0.0.1:1", base_url="http://x") as http:
        kinds = {type(transport) for transport in http._mounts.values()}

        assert {RepairTransport} == kinds
        assert http.follow_redirects
    assert not client(library=library, follow_redirects=False).follow_redirects


@each_library
def test_the_library_is_that_of_the_inner_transport(library: Any) -> None:
    """A transport belongs to its wrapped transport's library, also if that is of a subclass."""
    http = importlib.import_module(library)

    class Mine(http.HTTPTransport):  # type: ignore[misc, name-defined]
        pass

    assert http is RepairTransport(Mine())._http
    assert http is RepairTransport(library=library)._http


@each_library
def test_transports_close_what_they_wrap(library: Any) -> None:
    """As context managers and by `close` they open and close the inner transport."""
    http = importlib.import_module(library)
    seen: list[str] = []

    class Noting(http.BaseTransport):  # type: ignore[misc, name-defined]
        def close(self) -> None:
            seen.append("close")

    class AsyncNoting(http.AsyncBaseTransport):  # type: ignore[misc, name-defined]
        async def aclose(self) -> None:
            seen.append("aclose")

    async def both() -> None:
        async with AsyncRepairTransport(AsyncNoting()) as transport:
            await transport.aclose()

    with RepairTransport(Noting()) as transport:
        transport.close()
    asyncio.run(both())

    assert ["close", "close", "aclose", "aclose"] == seen


def test_no_library_is_an_import_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without either library the error names the extra; importing the module needs none."""
    monkeypatch.setattr(wholecall.repairing.transport.library, "find_spec", lambda _name: None)

    with pytest.raises(ImportError, match=r"wholecall\[http\]"):
        RepairTransport()


def test_tools_are_checked_at_once() -> None:
    """Values that are not tools are refused when the transport is made."""
    with pytest.raises(TypeError):
        RepairTransport(tools=3)  # type: ignore[arg-type]


def test_a_repairer_is_closed_once() -> None:
    """Feeding after the end is the caller's mistake; closing and aborting again are not."""
    repairer = Repairer()
    repairer.feed(TEXT)
    repairer.close()
    repairer.abort()

    assert b"" == repairer.close()
    with pytest.raises(StreamClosed):
        repairer.feed(TEXT)


BODY = (
    b'{"id":"r","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","tool_calls":'
    b'[{"id":"a","type":"function","function":{"name":"f","arguments":%s}}]},"finish_reason":"tool_calls"}]}'
)


@each_library
def test_whole_bodies_are_judged(library: Any) -> None:
    """An answer that is not streamed holds whole calls only, too, under synchronous and asynchronous clients."""
    answer = Answer([BODY % b'{"a":1}'], content_type="application/json; charset=utf-8")
    with serve(answer) as server:
        found = [post(library, server), asyncio.run(apost(library, server))]

    assert [repair_body(BODY % b'{"a":1}').data] * 2 == found
    assert b'"{\\"a\\":1}"' in found[0]


@each_library
@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
def test_sound_bodies_pass(library: Any, content_type: str) -> None:
    """A sound body comes as it is, in any pieces, compressed or not."""
    sound = BODY % b'"{\\"a\\":1}"'
    plain = Answer([sound[at : at + 9] for at in range(0, len(sound), 9)], content_type=content_type)
    packed = Answer(
        [gzip.compress(sound)], content_type=content_type, headers=(("content-encoding", "gzip"),)
    )
    with serve(plain, packed) as server:
        assert [sound, sound] == [post(library, server), post(library, server)]


@each_library
def test_a_body_without_its_calls_is_a_bad_gateway(library: Any) -> None:
    """SDKs raise for the status, and do not ask again; the exchange has failed, and the drop is reported."""
    dropped, counters = Dropped(), Counters()
    answer = Answer([BODY % b'"[1]"'], content_type="application/json")
    with serve(answer) as server, client(library=library, on_dropped=dropped.note, counters=counters) as http:
        response = http.post(server.url + PATH, json={})

    assert (502, "false") == (response.status_code, response.headers["x-should-retry"])
    assert "all tool calls were withheld: f (not_an_object)" == response.json()["error"]["message"]
    assert ["not_an_object"] == [drop.reason for drop in dropped]
    assert (1, 1) == (counters.n_failed, counters.n_withheld)


@each_library
@pytest.mark.parametrize("content_type", ["application/json", "text/plain"])
def test_streams_with_a_wrong_label_stay_live(library: Any, content_type: str) -> None:
    """An event stream that is called JSON or text is read as an event stream, a piece at a time."""
    gate = threading.Semaphore(1)
    answer = Answer([TEXT, BEGUN, FINISH, DONE], gate=gate, content_type=content_type)
    http = client(library=library, withheld="end")
    with serve(answer) as server, http, http.stream("POST", server.url + PATH) as response:
        chunks = response.iter_raw()
        first = next(chunks)
        gate.release(3)
        rest = b"".join(chunks)

    assert (TEXT, ["length"]) == (first, finish_reasons(rest))


@each_library
@pytest.mark.parametrize("how", [post, lambda *args: asyncio.run(apost(*args))], ids=["sync", "async"])
def test_a_body_that_breaks_off_raises(library: Any, how: Any) -> None:
    """A lost connection is the library's own error, and leaves nothing open."""
    error = importlib.import_module(library).TransportError
    answer = Answer([BODY[:50]], content_type="application/json", ending="cut")
    with serve(answer) as server:
        with pytest.raises(error):
            how(library, server)
        assert server.wait_until_closed()


@each_library
@pytest.mark.parametrize("body", [b"", b" "])
def test_empty_bodies_pass(library: Any, body: bytes) -> None:
    """Nothing is nothing, whatever it is called."""
    with serve(Answer([body] if body else [], content_type="application/json")) as server:
        assert [body, body] == [post(library, server), asyncio.run(apost(library, server))]


@each_library
def test_tools_are_read_once(library: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Descriptions of tools are read when the transport is made, not for each stream."""
    tool = {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}
    with serve(Answer([WHOLE + FINISH + DONE])) as server, client(library=library, tools=[tool]) as http:
        monkeypatch.setattr(Tools, "__init__", None)
        bodies = [http.post(server.url + PATH, json={}).content for _ in range(2)]

    assert [WHOLE + FINISH + DONE] * 2 == bodies
