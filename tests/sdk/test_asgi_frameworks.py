"""The ASGI middleware inside of Starlette and FastAPI, as people mount it, and as `vllm serve --middleware` does.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import asyncio
import gzip
import importlib
import inspect
import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.hygiene.test_readme import blocks
from tests.support.agent_streams import BROKEN, DIALECTS, tide
from tests.support.surfaces import sdk
from wholecall import Limits
from wholecall.asgi import AnswerEnded, RepairMiddleware
from wholecall.repairing import Repairer
from wholecall.serving import Answer, Loopback

pytestmark = pytest.mark.sdk

PATH = "/v1/chat/completions"
PIECE = b'data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":%s,"finish_reason":null}]}\n\n'
TEXT = PIECE % b'{"content":"Hello"}'
BEGUN = (
    PIECE % b'{"tool_calls":[{"index":0,"id":"a","type":"function","function":{"name":"f","arguments":"{"}}]}'
)
MORE = PIECE % b'{"tool_calls":[{"index":0,"function":{"arguments":"        "}}]}'
CALL = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "[1]"}}
WHOLE = {
    "id": "c",
    "object": "chat.completion",
    "choices": [
        {"index": 0, "message": {"content": "x" * 2000, "tool_calls": [CALL]}, "finish_reason": "tool_calls"}
    ],
}
# A server's ASGI version tells whether `send` raises once the client is gone; else Starlette listens for it.
each_version = pytest.mark.parametrize("version", ["2.3", "2.4"])

Answering = Callable[[], Any]  # makes the response


def starlette(answering: Answering) -> Any:
    """Return an application of Starlette that gives a response."""

    async def endpoint(_request: Any) -> Any:
        return answering()

    routes = [sdk("starlette.routing").Route("/v1/{rest:path}", endpoint, methods=["POST"])]
    return sdk("starlette.applications").Starlette(routes=routes)


def fastapi(answering: Answering) -> Any:
    """Return an application of FastAPI that gives it."""
    app = sdk("fastapi").FastAPI()

    @app.post("/v1/{rest:path}")
    async def endpoint(rest: str) -> Any:
        assert rest in {"chat/completions", "responses", "messages"}
        return answering()

    return app


each_framework = pytest.mark.parametrize("framework", [starlette, fastapi])


def streaming(chunks: AsyncIterator[bytes], **options: Any) -> Any:
    """Return a response that streams events."""
    return sdk("starlette.responses").StreamingResponse(chunks, media_type="text/event-stream", **options)


async def sent_of(pieces: list[bytes], ended: list[str]) -> AsyncIterator[bytes]:
    """Yield pieces, and note that the generator came to its end, by itself or closed."""
    try:
        for piece in pieces:
            yield piece
            await asyncio.sleep(0)
    finally:
        ended.append("closed")


class Server:
    """Calls an application as a server does, and keeps its messages."""

    def __init__(self, app: Any, version: str = "2.3", **headers: str) -> None:
        self.app = app
        self.sent: list[Any] = []
        self.leaves = asyncio.Event()
        self.takes = asyncio.Event()
        self.headers = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        self.version = version

    async def post(self, path: str = PATH) -> None:
        """Post `{}` to a path."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": self.version},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": path,
            "raw_path": path.encode(),
            "query_string": b"",
            "root_path": "",
            "headers": self.headers,
        }
        asked = iter([{"type": "http.request", "body": b"{}", "more_body": False}])

        async def receive() -> Any:
            message = next(asked, None)
            if message is None:
                await self.leaves.wait()
                return {"type": "http.disconnect"}
            return message

        await self.app(scope, receive, self.send)

    async def send(self, message: Any) -> None:
        """Take a message, and signal its arrival; a client that has left takes none."""
        if self.leaves.is_set() and self.version == "2.4":
            raise OSError("the client is gone")
        self.sent.append(message)
        self.takes.set()

    @property
    def status(self) -> int:
        """The answer's status."""
        status: int = self.sent[0]["status"]
        return status

    @property
    def body(self) -> bytes:
        """The answer's body so far."""
        return b"".join(message["body"] for message in self.sent[1:])


def asked(app: Any, path: str = PATH, **options: Any) -> Server:
    """Return a server whose application has answered."""

    async def run() -> Server:
        server = Server(app, **options)
        await server.post(path)
        return server

    return asyncio.run(run())


def cut(app: Any, error: type[Exception] = AnswerEnded, **options: Any) -> Server:
    """Return a server whose application raised."""

    async def run() -> Server:
        server = Server(app, **options)
        with pytest.raises(error):
            await server.post()
        return server

    return asyncio.run(run())


PATHS = {"chat-completions": PATH, "responses": "/v1/responses", "anthropic": "/v1/messages"}


@each_framework
@pytest.mark.parametrize("way", ["whole", *BROKEN])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_applications_give_strict_streams(framework: Any, dialect: str, way: str) -> None:
    """Clients get the repairer's output; a stream that ends with an error ends by an exception."""
    pieces, ended = tide(dialect, way), list[str]()
    repairer = Repairer(limits=Limits.gateway())
    strict = b"".join(map(repairer.feed, pieces)) + repairer.close()
    app = framework(lambda: streaming(sent_of(pieces, ended)))
    app.add_middleware(RepairMiddleware)
    is_cut = repairer.report.error is not None and dialect != "responses"

    async def run() -> Server:
        server = Server(app)
        try:
            await server.post(PATHS[dialect])
        except AnswerEnded:
            assert is_cut
        return server

    server = asyncio.run(run())

    assert (200, strict, ["closed"]) == (server.status, server.body, ended)
    assert is_cut == server.sent[-1]["more_body"]


@each_framework
def test_applications_give_judged_bodies(framework: Any) -> None:
    """A response that is not streamed is judged as well, and gets the status of an error and a length that is right."""
    app = framework(lambda: sdk("starlette.responses").JSONResponse(WHOLE))
    app.add_middleware(RepairMiddleware, on_dropped=lambda *_: None)
    server = asked(app)
    headers = dict(server.sent[0]["headers"])

    assert (502, "calls_withheld") == (server.status, json.loads(server.body)["error"]["code"])
    assert str(len(server.body)).encode() == headers[b"content-length"]


@each_framework
@each_version
def test_an_endless_stream_is_stopped(framework: Any, version: str) -> None:
    """A stream beyond the limit ends the answer, and its generator, however the framework learns of it."""
    ended: list[str] = []
    app = framework(lambda: streaming(sent_of([TEXT, BEGUN, *[MORE] * 10_000], ended)))
    app.add_middleware(RepairMiddleware, limits=Limits(max_stream_bytes=5000))
    server = cut(app, version=version)

    assert b'"code":"stream_too_large"' in server.body
    assert [True, True] == [message["more_body"] for message in server.sent[1:]]

    async def finish() -> None:  # a generator that was left is closed with its loop
        await asyncio.sleep(0)

    asyncio.run(finish())
    assert ["closed"] == ended


@each_framework
@each_version
def test_a_client_that_leaves_drops_the_call(framework: Any, version: str) -> None:
    """The open call is a drop, and the generator is closed."""
    drops: list[str] = []
    ended: list[str] = []

    async def run() -> None:
        held = asyncio.Event()

        async def forever() -> AsyncIterator[bytes]:
            try:
                yield TEXT
                yield BEGUN
                held.set()
                while True:
                    yield TEXT if server.leaves.is_set() else b""
                    await asyncio.sleep(0)
            finally:
                ended.append("closed")

        app = framework(lambda: streaming(forever()))
        app.add_middleware(RepairMiddleware, on_dropped=lambda drop, _: drops.append(drop.reason))
        server = Server(app, version)
        task = asyncio.create_task(server.post())
        await held.wait()
        server.leaves.set()
        results = await asyncio.gather(task, return_exceptions=True)
        assert not any(isinstance(result, AnswerEnded) for result in results)
        assert b'"f"' not in server.body

    asyncio.run(run())

    assert (["aborted"], ["closed"]) == (drops, ended)


@each_framework
def test_an_exception_of_the_generator_goes_on(framework: Any) -> None:
    """The client gets a frame with the error, and no call; the server the exception."""

    async def failing() -> AsyncIterator[bytes]:
        yield TEXT
        yield BEGUN
        raise LookupError("of the application")

    app = framework(lambda: streaming(failing()))
    app.add_middleware(RepairMiddleware)
    server = cut(app, LookupError)

    assert b'"code":"upstream_lost"' in server.body
    assert b'"f"' not in server.body


@each_framework
def test_background_tasks_run(framework: Any) -> None:
    """Also after an answer that ended with an error."""
    done: list[str] = []
    task = sdk("starlette.background").BackgroundTask(done.append, "background")
    app = framework(lambda: streaming(sent_of([TEXT, BEGUN], []), background=task))
    app.add_middleware(RepairMiddleware)
    cut(app)

    assert ["background"] == done


def test_compression_stands_outside() -> None:
    """A compressor outside gets the judged body; inside, it gives the middleware bytes that it cannot read."""
    compress = sdk("starlette.middleware.gzip").GZipMiddleware
    found = []
    for order in ([RepairMiddleware, compress], [compress, RepairMiddleware]):
        app = starlette(lambda: sdk("starlette.responses").JSONResponse(WHOLE))
        for middleware in order:  # the middleware that is added last is outermost
            app.add_middleware(middleware)
        server = asked(app, accept_encoding="gzip")
        body = gzip.decompress(server.body) if server.body[:2] == b"\x1f\x8b" else server.body
        found.append((server.status, b"calls_withheld" in body))

    assert [(502, True), (200, False)] == found


@each_framework
def test_other_middleware_may_stand_outside(framework: Any) -> None:
    """One that Starlette calls with a request and a function hands the stream on, and its end."""
    app = framework(lambda: streaming(sent_of([TEXT, BEGUN], [])))
    app.add_middleware(RepairMiddleware)

    async def outside(request: Any, call_next: Any) -> Any:
        response = await call_next(request)
        response.headers["x-outside"] = "1"
        return response

    app.add_middleware(sdk("starlette.middleware.base").BaseHTTPMiddleware, dispatch=outside)
    server = cut(app)

    assert b'"code":"upstream_incomplete"' in server.body
    assert b"1" == dict(server.sent[0]["headers"])[b"x-outside"]


def load(app: Any, middleware: str) -> None:
    """Add a middleware as the server of vLLM adds those that its option `--middleware` names."""
    module, name = middleware.rsplit(".", 1)
    imported = getattr(importlib.import_module(module), name)
    if inspect.isclass(imported):
        app.add_middleware(imported)
    elif inspect.iscoroutinefunction(imported):
        app.middleware("http")(imported)
    else:
        raise ValueError(middleware)


def test_the_form_of_vllm(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is loaded by its dotted name and gets no options: the environment has them."""
    monkeypatch.setenv("WHOLECALL_ASGI_WITHHELD", "end")
    app = fastapi(lambda: sdk("fastapi.responses").JSONResponse(WHOLE))
    load(app, "wholecall.asgi.RepairMiddleware")
    server = asked(app)

    assert 200 == server.status
    assert "stop" == json.loads(server.body)["choices"][0]["finish_reason"]


def test_the_gateway_of_the_page(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """The gateway of docs/asgi.md passes streams, bodies and refusals on, and prints the withheld calls."""
    ((_, code),) = blocks("python", page="docs/asgi.md", needs="fastapi")
    refused = b'{"error":{"message":"slow down"}}'

    async def run(names: dict[str, Any]) -> list[Server]:
        servers = [Server(names["app"]) for _ in range(3)]
        with pytest.raises(AnswerEnded):
            await servers[0].post()
        for server in servers[1:]:
            await server.post()
        await names["http"].aclose()
        return servers

    with Loopback() as upstream:
        body = json.dumps(WHOLE).encode()
        answers = [
            Answer([TEXT, BEGUN]),
            Answer([body], "application/json"),
            Answer([refused], "application/json", 429),
        ]
        upstream.prepare(answers)
        monkeypatch.setenv("UPSTREAM", upstream.url)
        names: dict[str, Any] = {}
        exec(code, names)  # noqa: S102 - the pages are ours
        stream, whole, refusal = asyncio.run(run(names))

    assert b'"code":"upstream_incomplete"' in stream.body
    assert (502, 429, refused) == (whole.status, refusal.status, refusal.body)
    told = capsys.readouterr().out.splitlines()
    assert [True, True] == [
        reason in line for reason, line in zip(("unterminated", "not_an_object"), told, strict=True)
    ]
