"""The ASGI middleware in memory: the application's messages, and the server's."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from typing import Any

import pytest

from tests.support import bless, corpora, quirky, share
from tests.support.naive import data_of as payloads
from tests.support.naive import error_of, finish_reasons, read_calls
from wholecall import Limits, Policy, TextCalls, ToolCallDropped
from wholecall.asgi import AnswerEnded, RepairMiddleware
from wholecall.encoders import ENCODERS
from wholecall.repairing import Repairer, RepairReport, repair_body
from wholecall.transport import Counters, Exchange

PATH = "/v1/chat/completions"
EVENTS, JSON = "text/event-stream", "application/json"
START, BODY = "http.response.start", "http.response.body"

TEXT = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}\n\n'
ENTRY = b'{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":%s}}'
CALL = (
    b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"tool_calls":['
    + ENTRY
    + b"]}}]}\n\n"
)
BEGUN, WHOLE, UNFIT = CALL % b'"{\\"a\\":"', CALL % b'"{\\"a\\":1}"', CALL % b'"[1]"'
REST = CALL.replace(ENTRY, b'{"index":0,"function":{"arguments":"1}"}}')
FINISH = b'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n'
STOP = FINISH.replace(b"tool_calls", b"stop")
DONE = b"data: [DONE]\n\n"
QUIRKY = quirky.make("transport", ("index_zero",)).bytes()
MESSAGE = (
    b'event: message_start\ndata: {"type":"message_start","message":{"id":"m","type":"message","role":"assistant",'
    b'"content":[],"model":"m","stop_reason":null,"usage":{"input_tokens":1,"output_tokens":1}}}\n\n'
)
CREATED = (
    b'event: response.created\ndata: {"type":"response.created","sequence_number":0,"response":{"id":"r",'
    b'"object":"response","status":"in_progress","output":[]}}\n\n'
)

Sent = list[dict[str, Any]]
App = Callable[[Any, Any, Any], Awaitable[None]]


def start(kind: str = EVENTS, status: int = 200, **headers: str) -> dict[str, Any]:
    """Return the message that begins an answer."""
    named = {"content-type": kind, **{name.replace("_", "-"): value for name, value in headers.items()}}
    return {
        "type": START,
        "status": status,
        "headers": [(name.encode(), value.encode()) for name, value in named.items()],
    }


def bodies(*chunks: bytes, is_all: bool = True) -> Sent:
    """Return body messages; the last of them ends the answer, unless it is not all."""
    last = len(chunks) - 1 if is_all else len(chunks)
    return [{"type": BODY, "body": chunk, "more_body": n != last} for n, chunk in enumerate(chunks)]


def sending(*messages: dict[str, Any], error: BaseException | None = None) -> App:
    """Return an application that sends messages, and may raise then."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        for message in messages:
            await send(dict(message))
        if error is not None:
            raise error

    return app


def streaming(*chunks: bytes, **options: Any) -> App:
    """Return an application that streams events."""
    return sending(start(), *bodies(*chunks), **options)


def scope_of(method: str = "POST", path: str = PATH, **more: Any) -> dict[str, Any]:
    """Return a server's description of a request."""
    return {"type": "http", "method": method, "path": path, "headers": [], **more}


async def never() -> Any:
    """Wait for a client that sends nothing and stays."""
    await asyncio.Event().wait()


async def serve(app: App, scope: Any = None, receive: Any = never, **options: Any) -> Sent:
    """Return the messages that the server gets."""
    sent: Sent = []

    async def send(message: Any) -> None:
        sent.append(dict(message))

    await RepairMiddleware(app, **options)(scope or scope_of(), receive, send)
    return sent


def answered(app: App, scope: Any = None, **options: Any) -> Sent:
    """Return the server's messages for an answer that ends well."""
    return asyncio.run(serve(app, scope, **options))


def broken(app: App, error: type[BaseException] = AnswerEnded, **options: Any) -> tuple[Sent, str]:
    """Return the server's messages for an answer that ends by an exception, and the exception's text."""
    sent: Sent = []

    async def run() -> None:
        async def send(message: Any) -> None:
            sent.append(dict(message))

        await RepairMiddleware(app, **options)(scope_of(), never, send)

    with pytest.raises(error) as raised:
        asyncio.run(run())
    return sent, str(raised.value)


def chunks_of(sent: Sent) -> list[bytes]:
    """Return the bodies of messages."""
    return [message["body"] for message in sent if message["type"] == BODY]


def data_of(sent: Sent) -> bytes:
    """Return the whole body."""
    return b"".join(chunks_of(sent))


def ends(sent: Sent) -> list[bool]:
    """Return of each body message whether it is the last one."""
    return [not message["more_body"] for message in sent if message["type"] == BODY]


def header(sent: Sent, name: str) -> list[bytes]:
    """Return the values of a header."""
    return [value for key, value in sent[0]["headers"] if key == name.encode()]


def repaired(data: bytes, **options: Any) -> bytes:
    """Return a repairer's output for a whole stream."""
    repairer = Repairer(limits=Limits.gateway(), **options)
    return repairer.feed(data) + repairer.close()


# Which answers are touched.


@pytest.mark.parametrize("path", [PATH, PATH + "/", "/openai/v1/responses", "/v1/messages"])
def test_endpoints_for_tool_calls_are_touched(path: str) -> None:
    """A quirky stream is strict after the middleware, wherever the endpoint is mounted."""
    sent = answered(streaming(QUIRKY), scope_of(path=path))

    assert repaired(QUIRKY) == data_of(sent) != QUIRKY
    assert ([True], 1) == (ends(sent), len(header(sent, "x-wholecall-id")))


@pytest.mark.parametrize(
    ("scope", "first"),
    [
        (scope_of(path="/v1/embeddings"), start()),
        (scope_of("GET"), start()),
        (scope_of("HEAD"), start()),
        (scope_of(path="/v1/messages/count_tokens"), start(JSON)),
        (scope_of(), start(status=429)),
        (scope_of(), start(JSON, status=404, content_length="9")),
    ],
)
def test_everything_else_passes(scope: Any, first: dict[str, Any]) -> None:
    """Other endpoints, methods, statuses pass message by message, headers and all."""
    messages = [first, *bodies(QUIRKY[:50], b"", QUIRKY[50:])]

    assert messages == answered(sending(*messages), scope)


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd", "GZIP, deflate"])
def test_what_is_encoded_passes_and_is_called_unread(coding: str) -> None:
    """No coding is removed here; a header reports that the answer was not examined."""
    counters = Counters()
    first = start(JSON, content_encoding=coding, content_length="9")
    told = {**first, "headers": [*first["headers"], (b"x-wholecall-unread", b"encoding")]}
    messages = bodies(QUIRKY[:50], b"", QUIRKY[50:])

    assert [told, *messages] == answered(sending(first, *messages), counters=counters)
    assert 1 == counters.n_unread


@pytest.mark.parametrize("kind", ["lifespan", "websocket"])
def test_other_protocols_pass(kind: str) -> None:
    """The application gets the very objects that the server gave."""
    got: list[Any] = []
    scope, send = {"type": kind}, object()

    async def app(*given: Any) -> None:
        got.extend(given)

    asyncio.run(RepairMiddleware(app)(scope, never, send))  # type: ignore[arg-type]

    assert [scope, never, send] == got
    assert got[0] is scope


def test_headers_that_another_body_outdates_go() -> None:
    """The length of a stream is not known; every other header stays, also the coding: none is removed here."""
    first = start(content_length="12", Set_Cookie="a", content_encoding="identity")
    first["headers"] += [(b"set-cookie", b"b"), (b"X-Wholecall-Id", b"of another")]
    sent = answered(sending(first, *bodies(TEXT, DONE)))

    assert [b"content-type", b"Set-Cookie", b"content-encoding", b"set-cookie", b"x-wholecall-id"] == [
        name for name, _ in sent[0]["headers"]
    ]
    assert header(sent, "x-wholecall-id") != [b"of another"]


def test_messages_without_optional_members() -> None:
    """An answer without headers passes; a body message may lack its body and `more_body`."""
    bare = [{"type": START, "status": 204}, {"type": BODY}]

    assert [{**bare[0], "headers": []}, bare[1]] == answered(sending(*bare))
    assert [b"", True] == [answered(sending(start(), {"type": BODY}))[1][key] for key in ("body",)] + [
        not answered(sending(start(), {"type": BODY}))[1]["more_body"]
    ]


# Event streams.


def test_messages_go_on_one_by_one() -> None:
    """Text is sent in the `send` that brought it; held text makes no message; the call comes with its end."""
    sent = answered(streaming(TEXT, BEGUN, REST, FINISH, DONE, b""))

    assert [START, BODY, BODY, BODY] == [message["type"] for message in sent]
    assert [TEXT, BEGUN + REST + FINISH + DONE, b""] == chunks_of(sent)
    assert [False, False, True] == ends(sent)


def test_empty_messages_of_the_application_stay() -> None:
    """Messages that the application sent empty are sent empty, and no others."""
    sent = answered(streaming(TEXT, b"", BEGUN, b"", REST, FINISH, DONE))

    assert [TEXT, b"", b"", BEGUN + REST + FINISH + DONE] == chunks_of(sent)


def test_healthy_messages_are_the_same_objects() -> None:
    """A healthy message is passed on unchanged, with members unknown to ASGI."""
    message = {"type": BODY, "body": TEXT, "more_body": True, "of_a_server": 1}
    got: list[Any] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start())
        await send({"type": BODY, "body": TEXT, "more_body": True})
        await send(message)
        await send({"type": BODY, "body": memoryview(DONE)})

    async def send(message: Any) -> None:
        got.append(message)

    asyncio.run(RepairMiddleware(app)(scope_of(), never, send))

    assert got[2] is message
    assert DONE == got[3]["body"]


def test_the_server_is_awaited() -> None:
    """While the server does not take a message, the application sends no other message."""
    sent: list[bytes] = []
    gate = asyncio.Event

    async def run() -> list[list[bytes]]:
        opened, asked = gate(), gate()

        async def send(message: Any) -> None:
            if message["type"] == BODY:
                asked.set()
                await opened.wait()
                sent.append(message["body"])

        task = asyncio.create_task(RepairMiddleware(streaming(TEXT, TEXT, DONE))(scope_of(), never, send))
        await asked.wait()
        before = list(sent)
        opened.set()
        await task
        return [before, sent]

    assert [[], [TEXT, TEXT, DONE]] == asyncio.run(run())


RECORDED = [
    entry for entry in corpora.cases() if entry["dialect"] in ENCODERS and entry["file"].endswith("sse")
]


async def _read(app: App) -> bytes:
    """Return the messages sent, whether the answer ends well or not."""
    sent: list[bytes] = []

    async def send(message: Any) -> None:
        sent.append(message.get("body", b""))

    with suppress(AnswerEnded):
        await RepairMiddleware(app)(scope_of(), never, send)
    return b"".join(sent)


@share.in_parts(4)
def test_recordings_come_out_as_a_repairer_gives_them(part: share.Part) -> None:
    """Every recording is sent as a repairer gives it, in any chunks; those that need no repair byte for byte."""
    wrong, n_untouched, entries = [], 0, part.of(RECORDED, "asgi")
    for entry in entries:
        data = corpora.recorded(entry)
        expected = repaired(data, expected="chat-completions")  # as the path says
        n_untouched += expected == data
        sizes = (1, 7, 1000) if len(data) < 3000 else (97, 4096)
        wrong += [
            (entry["name"], size)
            for size in sizes
            if asyncio.run(_read(streaming(*bless.in_chunks(data, size)))) != expected
        ]

    assert [] == wrong
    assert n_untouched > len(entries) // 6


@share.in_parts(27)
@pytest.mark.parametrize(
    "name", ["chat-completions/single-call", "anthropic/zero-argument", "responses/single-call"]
)
def test_no_cut_stream_is_a_success(name: str, part: share.Part) -> None:
    """Wherever an application stops, all whole calls are emitted, or an error, or nothing that a client can read."""
    entry = next(entry for entry in RECORDED if entry["name"] == name)
    data = corpora.recorded(entry)

    def calls_of(out: bytes) -> list[Any]:
        read = read_calls(entry["dialect"], out, "once")
        return [(id, name, json.loads(text or "{}")) for id, name, text in read]

    whole = calls_of(data)
    successes = []
    for at in part.of(range(0, len(data), 7), name):
        out = asyncio.run(_read(streaming(data[:at])))
        calls = calls_of(out)
        is_error = error_of(out) is not None or not any(payloads(out))
        if calls != whole[: len(calls)] or not (calls == whole or is_error):
            successes.append(at)

    assert ([], True) == (successes, bool(whole))


# Ends.


def test_a_turn_without_an_end_is_an_error() -> None:
    """A stream that just stops is `upstream_incomplete`: a frame reports it, and then the body has no end."""
    sent, message = broken(streaming(TEXT, BEGUN, b""))

    assert "the answer was ended by an error: upstream_incomplete" == message
    assert "upstream_incomplete" == (error_of(data_of(sent)) or ("",))[0]
    assert [False, False] == ends(sent)
    assert b'"f"' not in data_of(sent)


@pytest.mark.parametrize(
    ("begun", "is_clean"),
    [(TEXT, False), (MESSAGE, False), (CREATED, True)],
    ids=["chat", "anthropic", "responses"],
)
def test_only_responses_have_a_clean_error(begun: bytes, *, is_clean: bool) -> None:
    """An error ends Chat and Anthropic like a broken connection; Responses has an event for it."""
    app = streaming(begun, b"")
    sent = answered(app) if is_clean else broken(app)[0]

    assert error_of(data_of(sent)) is not None
    assert is_clean == ends(sent)[-1]


def test_withheld_calls_are_an_error() -> None:
    """A turn of which every call was withheld ends with the names and reasons, or as the caller chose."""
    sent, _ = broken(streaming(UNFIT, FINISH, DONE))
    chosen = answered(streaming(UNFIT, FINISH, DONE), withheld="end")

    assert ("calls_withheld", "all tool calls were withheld: f (not_an_object)") == error_of(data_of(sent))
    assert (None, ["stop"]) == (
        error_of(data_of(chosen)),
        finish_reasons(data_of(chosen)),
    )


def test_background_work_runs_after_an_error() -> None:
    """An application that has sent everything is not disturbed: it finishes its work, then the connection is cut."""
    done: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        await streaming(TEXT, BEGUN)(scope, receive, send)
        done.append("background")

    broken(app)

    assert ["background"] == done


@pytest.mark.parametrize("is_clean", [False, True])
def test_what_goes_on_after_an_error_is_stopped(*, is_clean: bool) -> None:
    """A limit ends the answer at once, and the application: `send` raises an `OSError`, as for a client that left."""
    raised: list[BaseException] = []
    begun = CREATED if is_clean else TEXT

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start())
        try:
            for chunk in (begun, *[b"data: " + b"x" * 99] * 99):
                await send({"type": BODY, "body": chunk, "more_body": True})
        except OSError as error:
            raised.append(error)
            raise

    limits = Limits(max_event_bytes=1000)
    sent = answered(app, limits=limits) if is_clean else broken(app, limits=limits)[0]

    assert "event_too_large" == (error_of(data_of(sent)) or ("",))[0]
    assert [AnswerEnded] == list(map(type, raised))
    assert [False, is_clean] == ends(sent)


@pytest.mark.parametrize("wraps", [ConnectionError, lambda: None])
def test_frameworks_may_hide_what_stopped_them(wraps: Any) -> None:
    """Frameworks may raise another exception instead, or nothing: the answer ends as it should."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start())
        try:
            await send({"type": BODY, "body": TEXT + b"data: " + b"x" * 2000, "more_body": True})
        except OSError:
            own = wraps()
            if own is not None:
                raise own from None

    sent, message = broken(app, limits=Limits(max_event_bytes=1000))

    assert "the answer was ended by an error: event_too_large" == message
    assert [False] == ends(sent)


class Group(Exception):
    """The exception of a group of tasks, where Python has no such exception."""

    def __init__(self, *exceptions: Exception) -> None:
        super().__init__()
        self.exceptions = exceptions


@pytest.mark.parametrize("wrap", [lambda error: error, Group])
def test_a_clean_end_is_no_exception(wrap: Any) -> None:
    """Where the answer has its own end, the server gets none of the exceptions that stopped the application."""

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start())
        try:
            await send({"type": BODY, "body": CREATED + b"data: " + b"x" * 2000, "more_body": True})
        except OSError as error:
            stopped = error
        raise wrap(stopped)

    assert [True] == ends(answered(app, limits=Limits(max_event_bytes=1000)))


def test_an_application_that_sends_on_gets_it_again() -> None:
    """Nothing follows an error, however often the application tries; trailers neither."""
    n_raised = 0

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        nonlocal n_raised
        await send(start())
        for message in bodies(CREATED + b"data: " + b"x" * 2000, TEXT, DONE):
            with pytest.raises(AnswerEnded):
                await send(message)
            n_raised += 1
        await send({"type": "http.response.trailers", "headers": []})

    sent = answered(app, limits=Limits(max_event_bytes=1000))

    assert (3, [True]) == (n_raised, ends(sent))
    assert [START, BODY] == [message["type"] for message in sent]


@pytest.mark.parametrize(
    ("begun", "is_clean"),
    [(TEXT, False), (MESSAGE, False), (CREATED, True)],
    ids=["chat", "anthropic", "responses"],
)
def test_an_exception_goes_on(begun: bytes, *, is_clean: bool) -> None:
    """The client gets an error and no call, the server the application's own exception."""
    drops: list[ToolCallDropped] = []
    messages = [start(), *bodies(begun, BEGUN if begun is TEXT else b"", is_all=False)]
    app = sending(*messages, error=RuntimeError("of the application"))
    sent, message = broken(app, RuntimeError, on_dropped=lambda drop, _: drops.append(drop))

    assert "of the application" == message
    assert "server failed" in (error_of(data_of(sent)) or ("", ""))[1]
    assert is_clean == ends(sent)[-1]
    assert ["aborted"] * (begun is TEXT) == [drop.reason for drop in drops]


def test_an_exception_after_the_end_costs_nothing() -> None:
    """Where the turn had ended, waiting bytes are sent; the exception is raised all the same."""
    app = sending(start(), *bodies(WHOLE, FINISH, DONE[:-1], is_all=False), error=RuntimeError("late"))
    sent, _ = broken(app, RuntimeError)

    assert WHOLE + FINISH == data_of(sent)
    assert True not in ends(sent)


@pytest.mark.parametrize(
    "messages", [[], [start()], [start(JSON)], [start(JSON), *bodies(b"{", is_all=False)]]
)
def test_an_exception_before_anything_is_known(messages: Sent) -> None:
    """Nothing is sent of an answer that has not begun: the layer above answers 500."""
    sent, _ = broken(sending(*messages, error=RuntimeError()), RuntimeError)

    assert [START] * (messages == [start()]) == [message["type"] for message in sent]


def test_an_application_that_forgets_the_end() -> None:
    """A return without the last message is a premature end; the message is not made up where the turn was over."""
    sent, _ = broken(sending(start(), *bodies(TEXT, is_all=False)))
    over = answered(sending(start(), *bodies(TEXT, STOP, DONE, is_all=False)))
    held = answered(sending(start(JSON), *bodies(b'{"a":', is_all=False)))

    assert "upstream_incomplete" == (error_of(data_of(sent)) or ("",))[0]
    assert (TEXT + STOP + DONE, [False] * 2) == (data_of(over), ends(over))
    assert [start(JSON), *bodies(b'{"a":', is_all=False)] == held


# Clients that leave.


def leaving(*chunks: bytes) -> tuple[App, Callable[[], Awaitable[Any]]]:
    """Return an application that sees its client leave in the middle, and the messages it receives."""

    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await send(start())
        for message in bodies(*chunks, is_all=False):
            await send(message)
        assert {"type": "http.disconnect"} == await receive()
        await send({"type": BODY, "body": REST + FINISH + DONE, "more_body": True})
        await send({"type": BODY, "body": b"", "more_body": False})

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    return app, receive


def test_a_disconnect_drops_what_is_open() -> None:
    """The open call is a drop; later messages of the application are not forwarded, but `send` still works."""
    drops: list[tuple[str, str | None]] = []
    app, receive = leaving(TEXT, BEGUN)
    sent = answered(app, receive=receive, on_dropped=lambda drop, _: drops.append((drop.reason, drop.detail)))

    assert [("aborted", "the client went away")] == drops
    assert [TEXT, b"", b""] == chunks_of(sent)


def test_a_server_that_raises_is_not_asked_again() -> None:
    """If `send` raises the client is gone: no frame follows, and the exception is the server's."""
    n_sent = 0
    drops: list[ToolCallDropped] = []

    async def send(_message: Any) -> None:
        nonlocal n_sent
        n_sent += 1
        if n_sent == 3:
            raise OSError("gone")

    middleware = RepairMiddleware(
        streaming(TEXT, BEGUN, b": hi\n\n", DONE), on_dropped=lambda drop, _: drops.append(drop)
    )
    with pytest.raises(OSError, match="gone"):
        asyncio.run(middleware(scope_of(), never, send))

    assert (3, ["aborted"]) == (n_sent, [drop.reason for drop in drops])


def test_a_client_that_left_before_the_frame_of_an_exception() -> None:
    """If the frame cannot be sent, the application's exception is raised all the same."""

    async def send(message: Any) -> None:
        if b'"error"' in message.get("body", b""):
            raise OSError("gone")

    app = sending(start(), *bodies(TEXT, is_all=False), error=LookupError("of the application"))
    with pytest.raises(LookupError, match="of the application"):
        asyncio.run(RepairMiddleware(app)(scope_of(), never, send))


def test_a_cancelled_application_drops_what_is_open() -> None:
    """A server that cancels gets nothing more, and the call is a drop."""
    drops: list[ToolCallDropped] = []
    sent: Sent = []

    async def run() -> None:
        begun = asyncio.Event()

        async def app(scope: Any, receive: Any, send: Any) -> None:
            await sending(start(), *bodies(TEXT, BEGUN, is_all=False))(scope, receive, send)
            begun.set()
            await asyncio.Event().wait()

        async def send(message: Any) -> None:
            sent.append(message)

        middleware = RepairMiddleware(app, on_dropped=lambda drop, _: drops.append(drop))
        task = asyncio.create_task(middleware(scope_of(), never, send))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(run())

    assert ([TEXT], ["aborted"]) == (chunks_of(sent), [drop.reason for drop in drops])


def test_requests_are_handed_on() -> None:
    """The client's messages reach the application unchanged."""
    got: list[Any] = []
    asked = {"type": "http.request", "body": b"{}", "more_body": False}

    async def app(scope: Any, receive: Any, send: Any) -> None:
        got.append(await receive())
        await streaming(TEXT, STOP, DONE)(scope, receive, send)

    async def receive() -> Any:
        return asked

    answered(app, receive=receive)

    assert got[0] is asked


# Whole bodies, and uninformative labels.


BODY_HEAD = {"id": "c", "object": "chat.completion", "created": 1, "model": "m"}


def body_of(arguments: str, **more: Any) -> bytes:
    """Return the whole body of a turn with one call."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    choice = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    return json.dumps({**BODY_HEAD, "choices": [choice], **more}).encode()


def test_a_sound_body_stays() -> None:
    """A sound body comes whole, in one message, byte for byte, after its beginning; its length is right."""
    data = body_of('{"a":1}')
    first = start(JSON, content_length=str(len(data)))
    sent = answered(sending(first, *bodies(b" ", data[:20], b"", data[20:])))

    assert [b" " + data] == chunks_of(sent)
    assert ([str(len(data) + 1).encode()], 200, [True]) == (
        header(sent, "content-length"),
        sent[0]["status"],
        ends(sent),
    )


def test_a_body_without_a_whole_call_is_an_error() -> None:
    """The error has the status for which SDKs raise, the header that keeps them from asking again, and a clean end."""
    data = body_of('{"a":')
    sent = answered(sending(start(JSON, content_length="1", x="y"), *bodies(data)))

    assert repair_body(data).data == data_of(sent)
    assert (502, [b"false"], [JSON.encode()], [b"y"], [True]) == (
        sent[0]["status"],
        header(sent, "x-should-retry"),
        header(sent, "content-type"),
        header(sent, "x"),
        ends(sent),
    )
    assert [str(len(data_of(sent))).encode()] == header(sent, "content-length")


@pytest.mark.parametrize("indent", [None, 1])
def test_bodies_are_bounded(indent: int | None) -> None:
    """A body that is too large to be judged becomes an error at once, and the application is stopped."""
    data = json.dumps(json.loads(body_of('{"a":1}', x="x" * 5000)), indent=indent).encode()
    sent_of_app: list[int] = []

    async def app(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start(JSON))
        for at, message in enumerate(bodies(*bless.in_chunks(data, 100))):
            sent_of_app.append(at)
            await send(message)

    sent = answered(app, limits=Limits(max_event_bytes=1000))

    assert (502, "event_too_large") == (sent[0]["status"], json.loads(data_of(sent))["error"]["code"])
    assert (11, [True]) == (len(sent_of_app), ends(sent))


def test_a_body_of_another_kind_passes_the_bound() -> None:
    """Content that is not one body but a row of small ones passes as it comes."""
    data = b"[" + b",".join([b'{"a":1}'] * 500) + b"]"
    first = start(JSON, content_length=str(len(data)))
    sent = answered(sending(first, *bodies(*bless.in_chunks(data, 600))), limits=Limits(max_event_bytes=1000))

    assert (data, first) == (data_of(sent), sent[0])
    assert [False] * 5 + [True] == ends(sent)


@pytest.mark.parametrize("kind", [JSON, "text/plain; charset=utf-8"])
def test_the_first_byte_decides(kind: str) -> None:
    """An event stream under another label is read as one, and passes event by event."""
    sent = answered(sending(start(kind, content_length="9"), *bodies(b"\n", b"", TEXT, STOP, DONE)))

    assert [b"\n" + TEXT, STOP + DONE] == chunks_of(sent)
    assert ([], [kind.encode()]) == (header(sent, "content-length"), header(sent, "content-type"))


def test_a_byte_order_mark_in_pieces() -> None:
    """Bytes of the mark decide nothing."""
    sent = answered(sending(start("text/plain"), *bodies(b"\xef", b"\xbb\xbf", TEXT, STOP, DONE)))

    assert b"\xef\xbb\xbf" + TEXT + STOP + DONE == data_of(sent)


@pytest.mark.parametrize("chunks", [[b""], [b" ", b"\n"], [b"busy"]])
def test_bodies_that_say_nothing(chunks: list[bytes]) -> None:
    """Input that is empty, blank, or neither events nor JSON is passed unchanged."""
    sent = answered(sending(start("text/plain"), *bodies(*chunks)))

    assert (b"".join(chunks), True) == (data_of(sent), ends(sent)[-1])


def test_live_arguments_are_of_streams_alone() -> None:
    """With `live` calls are shown while they arrive; a whole body is judged as without."""
    shown = answered(streaming(BEGUN, REST, FINISH, DONE), live=True)
    held = answered(streaming(BEGUN, REST, FINISH, DONE))
    whole = answered(sending(start(JSON), *bodies(body_of("{}"))), live=True)

    assert (True, False) == (
        b'"name":"f"' in chunks_of(shown)[0],
        len(chunks_of(held)) == len(chunks_of(shown)),
    )
    assert body_of("{}") == data_of(whole)


# Extensions.


@pytest.mark.parametrize("kind", ["http.response.pathsend", "http.response.zerocopysend"])
def test_files_are_not_offered(kind: str) -> None:
    """An application must send the bytes, where a server would send a file; the server's own scope stays."""
    got: list[Any] = []
    scope = scope_of(extensions={kind: {}, "tls": {}})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        got.append(scope)
        await streaming(TEXT, STOP, DONE)(scope, receive, send)

    answered(app, scope)

    assert ({"tls": {}}, {kind: {}, "tls": {}}) == (got[0]["extensions"], scope["extensions"])


def test_other_scopes_are_not_copied() -> None:
    """Notes of the application in the scope are visible outside."""
    scope = scope_of(extensions={"tls": {}})

    async def app(scope: Any, receive: Any, send: Any) -> None:
        scope["route"] = "r"
        await streaming(TEXT, STOP, DONE)(scope, receive, send)

    answered(app, scope)

    assert "r" == scope["route"]


@pytest.mark.parametrize("first", [start(), start(JSON, content_length="9")])
def test_a_file_that_is_sent_all_the_same(first: dict[str, Any]) -> None:
    """The file passes after the held bytes: it was not read here."""
    path = {"type": "http.response.pathsend", "path": "/x"}
    sent = answered(sending(first, path))

    assert [START, path] == [sent[0]["type"], sent[1]]
    assert first["headers"] == [pair for pair in sent[0]["headers"] if pair[0] != b"x-wholecall-id"]


def test_trailers_and_hints_pass() -> None:
    """Messages other than the beginning and the body keep their place."""
    hint = {"type": "http.response.early_hint", "links": []}
    trailers = {"type": "http.response.trailers", "headers": [(b"a", b"b")]}
    messages = [hint, {**start(), "trailers": True}, *bodies(TEXT, STOP + DONE), trailers]
    sent = answered(sending(*messages))

    assert [message["type"] for message in messages] == [message["type"] for message in sent]
    assert (True, trailers) == (sent[1]["trailers"], sent[-1])


# Reports.


class Heard:
    """The receiver of the reports to callers."""

    def __init__(self) -> None:
        self.words: list[Any] = []
        self.exchanges: set[Exchange] = set()

    def dropped(self, drop: ToolCallDropped, exchange: Exchange) -> None:
        """Take a drop."""
        self.exchanges.add(exchange)
        self.words.append((drop.name, drop.reason))

    async def repaired(self, report: RepairReport, exchange: Exchange) -> None:
        """Take a report, asynchronously."""
        await asyncio.sleep(0)
        self.exchanges.add(exchange)
        self.words.append((report.dialect, report.error))


@pytest.mark.parametrize(
    "messages",
    [[start(), *bodies(UNFIT, FINISH, DONE)], [start(JSON), *bodies(body_of("[1]"))]],
    ids=["stream", "body"],
)
def test_drops_and_reports_are_told(messages: Sent) -> None:
    """Functions hear of streams and of bodies, with the exchange that the client knows; they may be asynchronous."""
    heard, counters = Heard(), Counters()
    scope = scope_of(path="/a b/v1/chat/completions", query_string=b"key=secret")
    sent = answered(
        sending(*messages),
        scope,
        withheld="end",
        on_dropped=heard.dropped,
        on_repaired=heard.repaired,
        counters=counters,
    )
    (id,) = header(sent, "x-wholecall-id")

    assert [("f", "not_an_object"), ("chat-completions", None)] == heard.words
    assert {Exchange(id=id.decode(), method="POST", url="/a%20b/v1/chat/completions")} == heard.exchanges
    assert (1, 1, 1) == (counters.n_exchanges, counters.n_mended, counters.n_withheld)


def test_an_exception_of_a_function_goes_to_the_application() -> None:
    """All bytes due before that have been sent."""

    def angry(*_: Any) -> None:
        raise LookupError("of the function")

    sent, message = broken(
        streaming(TEXT, BEGUN, CALL % b'"x}"', FINISH + TEXT, DONE), LookupError, on_dropped=angry
    )

    assert "of the function" in message
    assert TEXT == chunks_of(sent)[0]


def test_many_at_once() -> None:
    """One middleware serves any number of answers; no answer affects another."""
    middleware_options = {"withheld": "end"}

    async def run() -> list[Sent]:
        apps: Iterable[App] = [streaming(TEXT, WHOLE, FINISH, DONE), streaming(UNFIT, FINISH, DONE)] * 5
        return await asyncio.gather(*(serve(app, **middleware_options) for app in apps))

    found = [data_of(sent) for sent in asyncio.run(run())]

    assert 2 == len(set(found))
    assert TEXT + WHOLE + FINISH + DONE == found[0]


# Options.


def test_text_calls() -> None:
    """A call that the model wrote as text is emitted as a call, and the text without it."""
    leaked = TEXT.replace(b"Hello", b'<tool_call>{\\"name\\": \\"f\\", \\"arguments\\": {}}</tool_call>')
    sent = answered(streaming(leaked, FINISH.replace(b"tool_calls", b"stop"), DONE), text="hermes")

    assert ["f"] == [name for _, name, _ in read_calls("chat-completions", data_of(sent), "once")]
    assert b"<tool_call>" not in data_of(sent)


def test_tools_and_policy() -> None:
    """Calls are held against the tools, and judged by the policy."""
    tools = [{"type": "function", "function": {"name": "g", "parameters": {"type": "object"}}}]
    unknown, _ = broken(streaming(WHOLE, FINISH, DONE), tools=tools)
    slip = CALL % b'"{\\"a\\":1,}"'
    strict, _ = broken(streaming(slip, FINISH, DONE), policy=Policy.strict())

    assert "all tool calls were withheld: f (unknown_tool)" == (error_of(data_of(unknown)) or ("", ""))[1]
    assert "all tool calls were withheld: f (invalid_json)" == (error_of(data_of(strict)) or ("", ""))[1]


def test_paths() -> None:
    """Named ends of paths are the only ones that count."""
    found = [
        data_of(answered(streaming(QUIRKY), scope_of(path=path), paths=["/generate/"]))
        for path in ("/v1/generate", PATH)
    ]

    assert [repaired(QUIRKY), QUIRKY] == found


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("LIVE", "1", {"live_arguments": True}),
        ("LIVE", "off", {"live_arguments": False}),
        ("WITHHELD", "end", {"withheld": "end"}),
        ("TEXT", "auto", {"text": TextCalls("auto")}),
        ("LIMITS", "none", {"limits": Limits.none()}),
        ("LIMITS", "Default", {"limits": Limits()}),
        ("LIMITS", "", {"limits": Limits.gateway()}),
    ],
)
def test_the_environment_gives_options(
    name: str, value: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Servers that make a middleware without options leave them to variables; an empty variable is ignored."""
    monkeypatch.setenv(f"WHOLECALL_ASGI_{name}", value)
    options = RepairMiddleware(streaming())._options

    assert expected == {key: options[key] for key in expected}


def test_the_environment_gives_paths(monkeypatch: pytest.MonkeyPatch) -> None:
    """Paths are in one variable, with commas between them."""
    monkeypatch.setenv("WHOLECALL_ASGI_PATHS", "/generate, /v1/messages/")

    assert ("/generate", "/v1/messages") == RepairMiddleware(streaming())._paths


def test_options_come_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Options in code take precedence."""
    monkeypatch.setenv("WHOLECALL_ASGI_LIVE", "1")
    monkeypatch.setenv("WHOLECALL_ASGI_WITHHELD", "end")
    options = RepairMiddleware(streaming(), live=False)._options

    assert (False, "end") == (options["live_arguments"], options["withheld"])


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("LIVE", "maybe", "WHOLECALL_ASGI_LIVE: it is 1 or 0, and not 'maybe'"),
        ("WITHHELD", "never", "WHOLECALL_ASGI_WITHHELD: withheld is one of auto, error, end: 'never'"),
        ("TEXT", "hermse", "WHOLECALL_ASGI_TEXT: .*did you mean 'hermes'"),
        ("LIMITS", "gate", "WHOLECALL_ASGI_LIMITS: there are no limits 'gate'.*gateway"),
        ("PATHS", "messages", "WHOLECALL_ASGI_PATHS: .*slash"),
        ("PATHS", "/", "WHOLECALL_ASGI_PATHS: .*names something"),
        ("LIEV", "1", "there is no variable WHOLECALL_ASGI_LIEV; use one of: WHOLECALL_ASGI_LIVE"),
    ],
)
def test_wrong_variables_are_refused(
    name: str, value: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A wrong value raises when the middleware is made, and the message names the variable and the valid values."""
    monkeypatch.setenv(f"WHOLECALL_ASGI_{name}", value)

    with pytest.raises(ValueError, match=told):
        RepairMiddleware(streaming())


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"withheld": "never"}, ValueError),
        ({"text": "hermse"}, ValueError),
        ({"tools": 7}, TypeError),
        ({"paths": "/v1/messages"}, TypeError),
        ({"paths": ["v1"]}, ValueError),
    ],
)
def test_wrong_options_are_refused(options: dict[str, Any], error: type[Exception]) -> None:
    """A wrong option raises, too."""
    with pytest.raises(error):
        RepairMiddleware(streaming(), **options)


def test_a_repr_names_the_application() -> None:
    """The repr shows the wrapped application in `app`, where other tools look for it."""
    app = streaming()
    middleware = RepairMiddleware(app)

    assert (app, f"<RepairMiddleware {app!r}>") == (middleware.app, repr(middleware))
