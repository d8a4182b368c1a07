from __future__ import annotations

import asyncio
import gzip
import json
from itertools import pairwise, product
from typing import Any

import pytest

from tests.support.beside import turns_beside
from tests.support.corpora import RECORDINGS
from tests.support.naive import error_of, read_calls
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
    settle,
    staged,
)
from tests.support.together import together
from wholecall.limits import Limits
from wholecall.proxy.errors import CutOff
from wholecall.proxy.wire import Headers, UpstreamFailed

PATHS = {"anthropic": "/v1/messages", "chat-completions": CHAT, "responses": "/v1/responses"}
STREAMS = {
    dialect: events_of((RECORDINGS / dialect / name).read_bytes())
    for dialect, name in (
        ("anthropic", "mcp-tool.sse"),
        ("chat-completions", "single-call.sse"),
        ("responses", "single-call.sse"),
    )
}
# After how many events the provider has ended its turn.
ENDED = {
    dialect: next(at for at, event in enumerate(events, 1) if end in event)
    for (dialect, events), end in zip(
        STREAMS.items(),
        (b'"stop_reason":"', b'"finish_reason":"tool_calls"', b"response.completed"),
        strict=True,
    )
}
LOST = UpstreamFailed("upstream_lost")
JSON: Headers = [(b"content-type", b"application/json")]
HELLO = frame({"role": "assistant", "content": "hello"})
CUTS = [(dialect, at) for dialect, events in STREAMS.items() for at in range(1, len(events))]


async def for_ever() -> None:
    """Wait for something that never comes."""
    await asyncio.Event().wait()


def whole_calls(dialect: str) -> list[Any]:
    """Return the calls of the dialect's stream."""
    return read_calls(dialect, b"".join(STREAMS[dialect]))


def client_of(dialect: str) -> Client:
    """Return a request of the dialect."""
    return Client(PATHS[dialect])


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_healthy_stream_passes_byte_for_byte(dialect: str) -> None:
    """The input is emitted unchanged, and the answer ends well."""
    client, events = client_of(dialect), STREAMS[dialect]
    raised, entry = run(client, Scripted(Reply(events)))

    assert (b"".join(events), True, None) == (client.body, client.is_whole, raised)
    assert ("ok", dialect, 1, 200) == (entry.outcome, entry.dialect, entry.calls, entry.status)


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_read_gives_at_most_one_write(dialect: str) -> None:
    """Before each read at most one more piece was sent, and every piece that may be sent goes before the next read."""
    client, events = client_of(dialect), STREAMS[dialect]
    reply = Reply(events)
    sent_before: list[int] = []
    read = reply.read

    async def counted() -> bytes:
        sent_before.append(len(client.pieces))
        return await read()

    reply.read = counted  # type: ignore[method-assign]
    run(client, Scripted(reply))
    steps = {after - before for before, after in pairwise(sent_before)}

    assert steps <= {0, 1}
    assert len(events) + 1 == len(sent_before)


@together(("dialect", "at"), CUTS)
def test_an_answer_that_ends_short_is_no_success(dialect: str, at: int) -> None:
    """A body that ends before the turn gives an error, no half a call, and no good end but where an error has one."""
    client = client_of(dialect)
    raised, entry = run(client, Scripted(Reply(STREAMS[dialect][:at])))
    is_cut = isinstance(raised, CutOff)

    if at >= ENDED[dialect]:
        assert ("ok", None, True) == (entry.outcome, raised, client.is_whole)
        return
    assert read_calls(dialect, client.body) in ([], whole_calls(dialect))
    assert "upstream_incomplete" == entry.outcome
    assert error_of(client.body) is not None
    assert (dialect != "responses") == is_cut == (not client.is_whole)


@together(("dialect", "at"), CUTS)
def test_an_answer_that_is_lost_is_no_success(dialect: str, at: int) -> None:
    """A connection that breaks before the turn has ended is reported and named; after it nothing was lost."""
    client = client_of(dialect)
    raised, entry = run(client, Scripted(Reply([*STREAMS[dialect][:at], LOST])))
    said = error_of(client.body)

    if at >= ENDED[dialect]:
        assert ("ok", None, True) == (entry.outcome, raised, client.is_whole)
        return
    assert read_calls(dialect, client.body) in ([], whole_calls(dialect))
    assert ("upstream_lost", "upstream_lost") == (entry.outcome, entry.error)
    assert said is not None
    assert "the connection to up was lost before the end of the answer" == said[1]
    assert (dialect != "responses") == isinstance(raised, CutOff) == (not client.is_whole)


@pytest.mark.parametrize("dialect", STREAMS)
def test_an_upstream_that_stalls_is_left(dialect: str) -> None:
    """After the time for silence its connection is closed, and the client is informed."""

    async def go() -> tuple[Stage, Client, Reply]:
        client, reply = client_of(dialect), Reply([*STREAMS[dialect][:3], for_ever])
        async with staged(client, Scripted(reply), config(idle_timeout=300.0)) as stage:
            await stage.clock.forward(299)
            assert not reply.is_closed
            await stage.clock.forward(1)
        return stage, client, reply

    stage, client, reply = asyncio.run(go())

    assert ("upstream_stalled", "upstream_stalled", True) == (
        stage.entry.outcome,
        stage.entry.error,
        reply.is_closed,
    )
    assert error_of(client.body) is not None
    assert (dialect != "responses") == isinstance(stage.raised, CutOff)


def test_an_end_without_a_finish_is_none() -> None:
    """A bare `[DONE]` after an open call does not end it."""
    client = Client()
    raised, entry = run(client, Scripted(Reply([HELLO, call('{"a"'), DONE])))

    assert ("upstream_incomplete", [], False) == (
        entry.outcome,
        read_calls("chat-completions", client.body),
        client.is_whole,
    )
    assert isinstance(raised, CutOff)


@pytest.mark.parametrize("steps", [[], [b": ping\n\n"], [b": ping\n\n", b": pi"]])
@pytest.mark.parametrize("lost", [[], [LOST]])
def test_a_stream_of_nothing_is_no_success(steps: list[Any], lost: list[Any]) -> None:
    """An event stream without an event is an error status, or cut where comments went out, whether it ends or breaks."""
    client = Client()
    raised, entry = run(client, Scripted(Reply([*steps, *lost])))
    outcome = "upstream_lost" if lost else "upstream_incomplete"

    assert (outcome, bool(steps)) == (entry.outcome, isinstance(raised, CutOff))
    assert (200, b"".join(steps)) == (client.status, client.body) if steps else client.status == 502


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        ([b'data: {"model": "m", "message": {"content": "hi"}, "done": false}\n\n'], b"dialect"),
        ([b"data: hello\n\n", b"data: hello\n\n"], b"dialect"),
        ([HELLO, DONE], None),
        ([call('{"a"'), DONE], None),
    ],
)
def test_the_head_says_what_is_unread(steps: list[bytes], why: bytes | None) -> None:
    """The head waits until it is known whether the answer is read."""
    client = Client()
    _, entry = run(client, Scripted(Reply(steps)))

    assert (why, why is None) == (dict(client.headers).get(b"x-wholecall-unread"), entry.unrepaired is None)


def test_a_turn_that_lost_its_calls_is_an_error() -> None:
    """A call that is cut is withheld; a turn without an emitted call ends with an error that names it."""
    client = Client()
    stream = [HELLO, call('{"a"', name="get_tide"), frame({}, "tool_calls"), DONE]
    raised, entry = run(client, Scripted(Reply(stream)))

    assert ("calls_withheld", "all tool calls were withheld: get_tide (truncated)") == error_of(client.body)
    assert ("withheld", "calls_withheld", 1) == (entry.outcome, entry.error, entry.n_withheld)
    assert [("get_tide", "truncated")] == [(lost.name, lost.reason) for lost in entry.withheld]
    assert isinstance(raised, CutOff)


def test_one_whole_call_beside_a_cut_one_comes_out() -> None:
    """Whole calls are emitted, the answer ends well, and the loss is noted."""
    client = Client()
    stream = [HELLO, call("{}"), call('{"a"', id="call_2", index=1), frame({}, "tool_calls"), DONE]
    raised, entry = run(client, Scripted(Reply(stream)))

    assert [("call_1", "f", "{}")] == read_calls("chat-completions", client.body)
    assert (None, True, "withheld", {"truncated": 1}) == (
        raised,
        client.is_whole,
        entry.outcome,
        entry.reasons,
    )


@pytest.mark.parametrize(
    "limits",
    [Limits(max_stream_bytes=20_000), Limits(max_arguments_bytes=5000, max_total_arguments_bytes=10_000)],
)
def test_an_endless_call_ends_at_once(limits: Limits) -> None:
    """The stream ends when its limit is met, or when a call exceeds its own limit, and the upstream is closed."""
    client = Client()
    reply = Reply([HELLO, call('{"a": "'), *[call("x" * 1000, name=None, id=None)] * 100])
    raised, entry = run(client, Scripted(reply), limits=limits)

    assert isinstance(raised, CutOff)
    assert (True, "cut", True) == (reply.is_closed, entry.outcome, reply.n_reads < 30)
    assert error_of(client.body) is not None


# The client's behaviour.


@pytest.mark.parametrize("steps", [[], [HELLO], [HELLO, call('{"a"')], [*[HELLO] * 3]])
def test_a_client_that_leaves_closes_the_upstream(steps: list[Any]) -> None:
    """However much has arrived, the connection is closed, and it is not an error."""

    async def go() -> tuple[Stage, Reply]:
        client, reply = Client(), Reply([*steps, for_ever])
        async with staged(client, Scripted(reply)) as stage:
            assert not reply.is_closed
            client.leave.set()
        return stage, reply

    stage, reply = asyncio.run(go())

    assert (None, "client_left", None, True) == (
        stage.raised,
        stage.entry.outcome,
        stage.entry.error,
        reply.is_closed,
    )


def test_a_client_that_leaves_before_the_answer_ends_the_question() -> None:
    """The upstream is left although it has not answered: the time to the first token is long."""

    async def go() -> tuple[Stage, Scripted]:
        client, upstream = Client(), Scripted(for_ever)  # type: ignore[arg-type, return-value]
        async with staged(client, upstream) as stage:
            client.leave.set()
        return stage, upstream

    stage, upstream = asyncio.run(go())

    assert (None, "client_left", True) == (stage.raised, stage.entry.outcome, upstream.was_cancelled)


@pytest.mark.parametrize("way", ["leave", "cancel"])
@pytest.mark.parametrize("dialect", STREAMS)
def test_nothing_is_left_wherever_it_is_broken_off(dialect: str, way: str) -> None:
    """At every turn of the event loop: no task, no timer, no connection stays, and one entry is over."""

    async def go(n_turns: int) -> bool:
        client, reply = client_of(dialect), Reply(STREAMS[dialect][:4])
        upstream = Scripted(reply)
        stage = Stage(client, upstream, config(ping=1.0, idle_timeout=5.0), {})
        for _ in range(n_turns):
            await asyncio.sleep(0)
        is_over = stage.task.done()
        stage.task.cancel() if way == "cancel" else client.leave.set()
        await asyncio.gather(stage.task, return_exceptions=True)
        await stage.app.close()
        assert {asyncio.current_task()} == asyncio.all_tasks()
        assert 0 == stage.clock.n_waiting
        assert len(stage.seen.begun) == len(stage.seen.entries) <= 1
        assert upstream.was_cancelled or reply.is_closed or reply.is_over or not reply.n_reads
        return is_over

    assert any(asyncio.run(go(n_turns)) for n_turns in range(120))


def test_a_slow_client_slows_the_upstream() -> None:
    """A piece is taken before the next one is read: nothing piles up."""

    async def go() -> int:
        client, reply, gate = Client(), Reply([HELLO] * 100), asyncio.Event()

        async def wait(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body":
                await gate.wait()

        client.sending = wait
        async with staged(client, Scripted(reply)):
            await settle()
            n_reads = reply.n_reads
            gate.set()
        return n_reads

    assert 1 == asyncio.run(go())


def test_a_client_that_takes_nothing_is_dropped() -> None:
    """A piece that is not taken for twice the time ends the exchange."""

    async def go() -> tuple[Stage, Reply]:
        client, reply = Client(), Reply([HELLO] * 3)

        async def never(message: dict[str, Any]) -> None:
            if message["type"] == "http.response.body":
                await for_ever()

        client.sending = never
        async with staged(client, Scripted(reply), config(write_timeout=60.0)) as stage:
            await stage.clock.forward(119)
            assert not reply.is_closed
            await stage.clock.forward(1)
        return stage, reply

    stage, reply = asyncio.run(go())

    assert ("client_left", "client_stalled", True) == (
        stage.entry.outcome,
        stage.entry.error,
        reply.is_closed,
    )
    assert isinstance(stage.raised, CutOff)


def test_a_slow_client_is_told_of_a_stall() -> None:
    """The silence before the error does not count against the client: it has separate time to receive the error."""

    async def go() -> tuple[Stage, Client]:
        client, gate = Client(), asyncio.Event()

        async def slow(message: dict[str, Any]) -> None:
            if b"upstream_stalled" in message.get("body", b""):
                await gate.wait()

        client.sending = slow
        given = config(idle_timeout=300.0, write_timeout=1.0)
        async with staged(client, Scripted(Reply([HELLO, for_ever])), given) as stage:
            await stage.clock.forward(301)
            gate.set()
        return stage, client

    stage, client = asyncio.run(go())

    assert ("upstream_stalled", "upstream_stalled") == (stage.entry.outcome, stage.entry.error)
    assert error_of(client.body) is not None


def test_a_server_that_says_by_an_error_that_the_client_left_is_understood() -> None:
    """Some servers raise where others drop messages without a receiver."""

    async def gone(message: dict[str, Any]) -> None:
        raise OSError(message["type"])

    client, reply = Client(), Reply([HELLO] * 3)
    client.sending = gone
    raised, entry = run(client, Scripted(reply))

    assert (None, "client_left", True) == (raised, entry.outcome, reply.is_closed)


# Pings.


async def _held(client: Client, *, steps: list[Any], **changes: Any) -> Stage:
    """Play a stream that stops, for forty seconds."""
    async with staged(client, Scripted(Reply([*steps, for_ever])), config(**changes)) as stage:
        await stage.clock.forward(40)
        client.leave.set()
    return stage


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_call_that_is_held_is_no_silence(dialect: str) -> None:
    """One ping reports that bytes came; none follows while none come."""
    held = ENDED[dialect] - 2
    client = client_of(dialect)
    stage = asyncio.run(_held(client, steps=STREAMS[dialect][:held], ping=15.0))
    quiet = client_of(dialect)
    asyncio.run(_held(quiet, steps=STREAMS[dialect][:held]))
    ping = client.body.removeprefix(quiet.body)

    assert 1 == stage.entry.pings
    assert ping.endswith(b"\n\n")
    assert b"ping" in ping or b"keepalive" in ping or b'"delta":{}' in ping


def test_pings_may_go_on_without_the_upstream() -> None:
    """For balancers, they come as often as they are asked for."""
    stage = asyncio.run(_held(Client(), steps=[HELLO], ping=15.0, ping_always=True))

    assert 2 == stage.entry.pings


def test_pings_may_be_comments() -> None:
    """For clients that stumble over unknown events."""
    client = Client()
    asyncio.run(_held(client, steps=[HELLO, call("{")], ping=15.0, ping_form="comment"))

    assert HELLO + b": ping\n\n" == client.body


def test_before_the_first_event_there_is_no_ping() -> None:
    """A comment is not an event, and nothing may precede the first one."""
    client = Client()
    stage = asyncio.run(_held(client, steps=[b": hello\n\n", b"data: {"], ping=15.0, ping_always=True))

    assert (0, b": hello\n\n") == (stage.entry.pings, client.body)


def test_bytes_after_a_silence_are_told_at_once() -> None:
    """Where the upstream was silent for longer than a ping's time, its next byte gives the ping."""

    async def go() -> list[int]:
        client, more = Client(), asyncio.Event()
        reply = Reply([HELLO, call("{"), more.wait, call("}", name=None, id=None), for_ever])
        counts = []
        async with staged(client, Scripted(reply), config(ping=15.0)) as stage:
            for seconds in (16, 20):
                await stage.clock.forward(seconds)
                counts.append(len(client.pieces))
            more.set()
            await settle()
            counts.append(len(client.pieces))
            client.leave.set()
        return counts

    assert [2, 2, 3] == asyncio.run(go())


def test_a_piece_waits_for_a_ping_that_is_on_its_way() -> None:
    """Pings and pieces are sent one after the other, also to a slow client."""

    async def go() -> Client:
        client, more, gate = Client(), asyncio.Event(), asyncio.Event()

        async def slow(message: dict[str, Any]) -> None:
            if message.get("body", b"").endswith(b'{},"finish_reason":null}]}\n\n'):
                await gate.wait()

        client.sending = slow
        reply = Reply(
            [HELLO, call("{"), more.wait, call("}", name=None, id=None), frame({}, "tool_calls"), DONE]
        )
        async with staged(client, Scripted(reply), config(ping=15.0)) as stage:
            await stage.clock.forward(15)
            more.set()
            await settle()
            assert [HELLO] == client.pieces
            gate.set()
        return client

    client = asyncio.run(go())

    assert b'"delta":{}' in client.pieces[1]
    assert ([("call_1", "f", "{}")], True) == (
        read_calls("chat-completions", client.body),
        client.is_whole,
    )


def test_a_client_that_leaves_in_a_ping() -> None:
    """A ping that is on its way to a slow client is given up with it."""

    async def go() -> Stage:
        client = Client()

        async def slow(message: dict[str, Any]) -> None:
            if message.get("body", b"").endswith(b'{},"finish_reason":null}]}\n\n'):
                await for_ever()

        client.sending = slow
        reply = Reply([HELLO, call("{"), for_ever])
        async with staged(client, Scripted(reply), config(ping=15.0)) as stage:
            await stage.clock.forward(15)
            client.leave.set()
        return stage

    assert "client_left" == asyncio.run(go()).entry.outcome


# Answers of other endpoints, or that are not streams.


@together("status", [400, 401, 404, 429, 500, 503, 529])
@together("content_type", [b"application/json", b"text/html", b"text/event-stream"])
def test_errors_of_the_upstream_pass(status: int, content_type: bytes) -> None:
    """Status, body and retry headers pass unchanged, event streams too."""
    given: Headers = [
        (b"content-type", content_type),
        (b"retry-after", b"7"),
        (b"x-should-retry", b"true"),
        (b"request-id", b"req_1"),
        (b"set-cookie", b"a=1"),
        (b"set-cookie", b"b=2"),
    ]
    client = Client()
    raised, entry = run(client, Scripted(Reply([b"{not ", b"ours"], status, given)))

    assert (None, status, b"{not ours", True) == (raised, client.status, client.body, client.is_whole)
    assert given == [header for header in client.headers if header in given]
    assert "upstream_status" == entry.outcome


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/v1/messages/count_tokens"),
        ("POST", "/v1/embeddings"),
        ("GET", "/v1/models"),
        ("GET", CHAT),
    ],
)
def test_what_holds_no_calls_passes(method: str, path: str) -> None:
    """Such an answer is neither read nor held, whatever type it claims."""
    client = Client(path, method=method)
    broken = [call('{"a"'), b"data: {\n\n"]
    raised, entry = run(client, Scripted(Reply(broken)))

    assert (None, b"".join(broken), "ok", "passed") == (raised, client.body, entry.outcome, entry.handling)


def test_a_body_that_passes_and_breaks_off_is_cut() -> None:
    """The body's client must not mistake it for whole."""
    client = Client("/v1/files", method="GET")
    raised, entry = run(client, Scripted(Reply([b"half", LOST], headers=[(b"content-length", b"8")])))

    assert isinstance(raised, CutOff)
    assert (b"half", False, "upstream_lost") == (client.body, client.is_whole, entry.outcome)


def test_an_unknown_dialect_passes_and_is_counted() -> None:
    """The meaning of its calls is unknown."""
    client = Client()
    steps = [b'data: {"model": "m", "message": {"content": "hi"}, "done": false}\n\n', b"data: done\n\n"]
    raised, entry = run(client, Scripted(Reply(steps)))

    assert (None, b"".join(steps), "dialect", "unread") == (
        raised,
        client.body,
        entry.unrepaired,
        entry.outcome,
    )


def test_without_repair_everything_passes() -> None:
    """For comparison there is a plain proxy."""
    client = Client()
    steps = [HELLO, call('{"a"')]
    raised, entry = run(client, Scripted(Reply(steps)), config(no_repair=True))

    assert (None, b"".join(steps), "off", True) == (
        raised,
        client.body,
        entry.unrepaired,
        client.is_whole,
    )


def test_an_unknown_coding_passes_and_is_counted() -> None:
    """A body that cannot be decoded cannot be judged."""
    headers: Headers = [(b"content-type", b"text/event-stream"), (b"content-encoding", b"rot13")]
    client = Client()
    raised, entry = run(client, Scripted(Reply([b"qngn: {}"], headers=headers)))

    assert (None, b"qngn: {}", "encoding", "unread") == (
        raised,
        client.body,
        entry.unrepaired,
        entry.outcome,
    )
    assert (b"content-encoding", b"rot13") in client.headers


@pytest.mark.parametrize("dialect", STREAMS)
def test_a_compressed_stream_is_decoded(dialect: str) -> None:
    """Each event may be a separate member; the header that declares the compression does not pass."""
    headers: Headers = [(b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")]
    client, events = client_of(dialect), STREAMS[dialect]
    raised, entry = run(client, Scripted(Reply(map(gzip.compress, events), headers=headers)))

    assert (None, b"".join(events), "ok") == (raised, client.body, entry.outcome)
    assert b"content-encoding" not in dict(client.headers)


@pytest.mark.parametrize("tail", [b"", b"no gzip at all"])
def test_a_broken_coding_is_a_broken_connection(tail: bytes) -> None:
    """Bytes before the fault are sent, and the client is informed."""
    headers: Headers = [(b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")]
    member = gzip.compress(HELLO + call('{"a"'))
    client = Client()
    raised, entry = run(
        client, Scripted(Reply([member[:-9] if not tail else member + tail], headers=headers))
    )

    assert isinstance(raised, CutOff)
    assert ("upstream_lost", HELLO) == (entry.outcome, client.pieces[0])


def test_what_decodes_to_much_is_sent_in_pieces() -> None:
    """A small read may become a large answer, which is never whole in memory."""
    headers: Headers = [(b"content-type", b"text/event-stream"), (b"content-encoding", b"gzip")]
    text = frame({"content": "x" * 100_000})
    client = Client()
    stream = [HELLO + text * 40 + frame({}, "stop") + DONE]
    raised, _ = run(client, Scripted(Reply(map(gzip.compress, stream), headers=headers)))

    assert (None, stream[0]) == (raised, client.body)
    assert max(map(len, client.pieces)) < 2 * 1024 * 1024 < len(client.body)


@pytest.mark.parametrize(
    ("status", "headers"),
    [(200, [(b"x-a", b"one\r\ntwo")]), (200, [(b"x-a", b"one\0two")]), (200, [(b"bad name", b"1")])],
)
def test_a_head_that_must_not_pass_is_an_error(status: int, headers: Headers) -> None:
    """No line end and no NUL of the upstream's reaches the client."""
    client = Client()
    raised, entry = run(client, Scripted(Reply([HELLO], status, headers)))

    assert (None, 502, "upstream_invalid") == (raised, client.status, entry.error)


# Whole bodies.

MESSAGE = {"role": "assistant", "content": None}
CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a":1}'}}
WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {**MESSAGE, "tool_calls": [CALL]}}],
    "usage": {"prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8},
}


def body_of(arguments: str) -> bytes:
    """Return the body of an answer with one call."""
    text = json.dumps(WHOLE)
    return text.replace(json.dumps(CALL["function"]["arguments"]), json.dumps(arguments)).encode()  # type: ignore[index]


@pytest.mark.parametrize("content_type", [b"application/json; charset=utf-8", b"text/plain"])
@pytest.mark.parametrize("blanks", [[], [b"\n", b" \n"]])
def test_a_whole_body_is_judged(content_type: bytes, blanks: list[bytes]) -> None:
    """A healthy one passes as it came, in one piece, with its length."""
    body = body_of('{"a":1}')
    client = Client()
    steps = [*blanks, body[:50], body[50:]]
    raised, entry = run(client, Scripted(Reply(steps, headers=[(b"content-type", content_type)])))

    assert (None, [b"".join(steps)], "judged") == (raised, client.pieces, entry.handling)
    assert (b"content-length", str(len(client.body)).encode()) in client.headers
    assert (1, 3, 5, "ok") == (entry.calls, entry.tokens_in, entry.tokens_out, entry.outcome)


def test_a_body_without_a_whole_call_is_an_error() -> None:
    """The client raises and does not ask again."""
    client = Client()
    raised, entry = run(client, Scripted(Reply([body_of('{"a":')], headers=JSON)))

    assert (None, 502, "calls_withheld") == (raised, client.status, json.loads(client.body)["error"]["code"])
    assert (b"x-should-retry", b"false") in client.headers
    assert ("withheld", 1) == (entry.outcome, entry.n_withheld)


@pytest.mark.parametrize(
    ("dialect", "kind"), [("chat-completions", "server_error"), ("anthropic", "api_error")]
)
def test_a_body_that_is_lost_is_an_error(dialect: str, kind: str) -> None:
    """Nothing of it was sent, so the client gets a status, in the form of its dialect."""
    client = client_of(dialect)
    raised, entry = run(client, Scripted(Reply([b'{"id": ', LOST], headers=JSON)))

    assert (None, 502, kind, "upstream_lost") == (
        raised,
        client.status,
        json.loads(client.body)["error"]["type"],
        entry.outcome,
    )


def test_a_stream_that_says_it_is_json_is_repaired() -> None:
    """The first byte decides."""
    client = Client()
    stream = [HELLO, call("{}"), frame({}, "tool_calls"), DONE]
    raised, entry = run(client, Scripted(Reply(stream, headers=JSON)))

    assert (None, b"".join(stream), "repaired") == (raised, client.body, entry.handling)


@together("body", [b"", b"hello", b"\n\n", b"data", b"2 + 2 = 4\n\nbye"])
@together("content_type", [b"text/plain", b"application/json"])
def test_what_is_neither_a_stream_nor_json_passes(body: bytes, content_type: bytes) -> None:
    """Events were not promised; but the body was not judged, and the log reports it."""
    client = Client()
    steps = [body[:1], body[1:]] if len(body) > 1 else [body][: len(body)]
    raised, entry = run(client, Scripted(Reply(steps, headers=[(b"content-type", content_type)])))

    assert (None, body, True, "unread") == (raised, client.body, client.is_whole, entry.outcome)


def test_a_body_has_bounds() -> None:
    """A body that is larger than a stream may be is given up while it comes."""
    client = Client()
    reply = Reply([b"{", *[b" " * 1000] * 100], headers=JSON)
    raised, entry = run(client, Scripted(reply), limits=Limits(max_stream_bytes=5000))

    assert (None, 502, "stream_too_large", True) == (raised, client.status, entry.error, reply.n_reads < 10)


@pytest.mark.slow
@pytest.mark.parametrize("unit", [b"data: 1\n\n", b"data: {\n\n", b":\n\n"])
def test_others_have_their_turn_while_much_is_read(unit: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """However much one read brings, other tasks continue after each few thousand bytes of it."""
    ticks = iter(range(10**9))
    monkeypatch.setattr("wholecall.repairing.pace.perf_counter", lambda: next(ticks) / 100)
    n_slices = 40
    reply = Reply([HELLO, unit * (n_slices * 4096 // len(unit)), DONE])

    async def exchange() -> None:
        async with staged(Client(CHAT), Scripted(reply)):
            pass

    assert turns_beside(exchange) >= n_slices


ROOM = 100


def test_bodies_have_bounds_together() -> None:
    """While others hold the room, a request is refused for now; when the upstream answers, its body takes no room any more."""
    answers = asyncio.Event()

    async def late() -> Reply:
        await answers.wait()
        return Reply([HELLO, DONE])

    async def go() -> list[int]:
        upstream = Scripted(late, Reply([HELLO, DONE]))
        clients = [Client(CHAT, b'{"a":"%b"}' % (b"x" * 60)) for _ in range(3)]
        async with staged(clients[0], upstream, config(max_held_bytes=ROOM)) as stage:
            for client in clients[1:2]:
                await stage.app(client.scope, client.receive, client.send)
            answers.set()
            await settle()
            await stage.app(clients[2].scope, clients[2].receive, clients[2].send)
        return [client.status for client in clients]

    assert [200, 503, 200] == asyncio.run(go())


def test_answers_that_are_judged_whole_have_bounds_together() -> None:
    """A body that takes more room than there is ends as an error."""
    body = json.dumps({"choices": [{"message": {"content": "x" * ROOM}}]}).encode()
    client = Client()
    _, entry = run(client, Scripted(Reply([body], headers=JSON)), config(max_held_bytes=ROOM))

    assert (503, "too_much_held", "cut") == (client.status, entry.error, entry.outcome)


BROKEN = [HELLO, call('{"a":'), frame({}, "tool_calls"), DONE]
FOREIGN = [
    b'data: {"event":"message","data":"x"}\n\n',
    b'data: {"metadata":{"usage":{}}}\n\n',
    b'data: {"jsonrpc":"2.0","method":"message/stream","params":{}}\n\n',
    b'data: {"candidates":[{"content":{"parts":[{"text":"a"}]}}]}\n\n',
    b'data: {"type":"RUN_STARTED","threadId":"t","runId":"r"}\n\n',
    b"data: hello\n\n",
]
TYPES = [
    *(b"text/event-stream", b"text/event-stream, text/event-stream", b"application/octet-stream", b"x/y", b""),
    *(b"text/plain", b"application/json", b"application/x-ndjson", b"text/html"),
]  # fmt: skip
UNREAD = (b"application/x-ndjson", b"text/html")
CODINGS = [b"", b"identity", b"utf-8", b"aws-chunked", b"strange"]


@pytest.mark.sampled(13)
@pytest.mark.parametrize("prefix", [b"", *FOREIGN])
@pytest.mark.parametrize("status", [200, 201])
def test_no_broken_call_passes_as_ok(prefix: bytes, status: int) -> None:
    """Whatever type an endpoint's answer declares, a broken call is withheld, or the outcome reports it as unread."""
    for content_type, coding in product(TYPES, CODINGS):
        client = Client(body=b'{"stream":true}')
        headers = [(b"content-type", content_type), (b"content-encoding", coding)]
        reply = Reply([prefix + BROKEN[0], *BROKEN[1:]], status, [pair for pair in headers if pair[1]])
        _, entry = run(client, Scripted(reply))
        is_raw = b'{\\"a\\":' in client.body

        assert is_raw == (entry.outcome == "unread"), headers
        assert entry.outcome != "ok", headers
        is_read = not prefix and coding != b"strange" and content_type not in UNREAD
        assert not (is_read and is_raw), headers
