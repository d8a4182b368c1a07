"""Asynchronous streams of SDKs under asyncio and trio: read, left, cancelled, cut."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from tests.support import share
from tests.support.async_surfaces import asking_async
from tests.support.loopback import serve
from tests.support.pieces import failed_after
from tests.support.sdks import Told, answer, from_bytes, half, has_begun, told
from tests.support.surfaces import sdk
from wholecall import acollect, wrap
from wholecall.serving import Answer, Loopback

pytestmark = pytest.mark.sdk

USUAL = {
    "anthropic": ("anthropic", "zero-argument", "sse"),
    "anthropic-helper": ("anthropic", "unicode-pieces", "sse"),
    "chat": ("chat-completions", "single-call", "sse"),
    "chat-helper": ("chat-completions", "single-call", "sse"),
    "cohere": ("cohere-v2", "single-call", "sse"),
    "gemini": ("gemini", "streamed-arguments", "sse"),
    "groq": ("chat-completions", "single-call", "sse"),
    "hugging-face": ("chat-completions", "single-call", "sse"),
    "langchain": ("chat-completions", "single-call", "sse"),
    "mistral-conversations": ("mistral-conversations", "single-call", "sse"),
    "ollama": ("ollama", "old-server-without-ids", "ndjson"),
    "responses": ("responses", "single-call", "sse"),
    "responses-helper": ("responses", "single-call", "sse"),
}
# The others ask asyncio for its loop, or leave generators to the garbage collector, of which trio complains.
ON_TRIO = ("anthropic", "anthropic-helper", "groq", "responses", "responses-helper")
EACH = [
    pytest.param(name, loop, id=f"{name}-{loop}")
    for loop, names in (("asyncio", USUAL), ("trio", ON_TRIO))
    for name in names
]
# Calls of Ollama come whole, and cannot be open.
IN_PIECES = [one for one in EACH if one.values[0] != "ollama"]
# LangChain's `asyncio.wait_for` swallows a cancellation that meets a chunk, on Python before 3.12.
TASKS = sorted(USUAL.keys() - {"langchain", "ollama"})
# The inner generators of its streams may be closed in any order, and then only the client closes the connection.
CLOSED_LATE = "gemini"


def _run(loop: str, function: Any, *arguments: Any) -> Any:
    """Run an asynchronous function to its end under an event loop."""
    return sdk("anyio").run(function, *arguments, backend=loop)


async def _read(surface: str, url: str) -> Told:
    async with asking_async(surface, url) as ask, wrap(await ask()) as stream:
        async for _ in stream:
            pass
        return told(stream.turn)


@pytest.mark.parametrize(("surface", "loop"), EACH)
def test_chunks_tell_what_the_bytes_tell(surface: str, loop: str) -> None:
    """An asynchronous stream gives the calls of its bytes."""
    with serve(answer(*USUAL[surface])) as server:
        assert from_bytes(*USUAL[surface]) == _run(loop, _read, surface, server.url)


async def _collected(surface: str, url: str) -> Told:
    async with asking_async(surface, url) as ask:
        return told(await acollect(await ask()))


@pytest.mark.parametrize(("surface", "loop"), EACH)
def test_streams_are_collected(surface: str, loop: str) -> None:
    """`acollect` accepts the SDK's object, stream or context manager."""
    with serve(answer(*USUAL[surface])) as server:
        assert from_bytes(*USUAL[surface]) == _run(loop, _collected, surface, server.url)


async def _left(surface: str, server: Loopback) -> Any:
    async with asking_async(surface, server.url) as ask:
        async with wrap(await ask()) as stream:
            async for _ in stream:
                if has_begun(stream):
                    break
        if surface != CLOSED_LATE:
            assert await _is_closed(server)
    return stream, await _is_closed(server)


async def _is_closed(server: Loopback) -> bool:
    closed: bool = await sdk("anyio.to_thread").run_sync(server.wait_until_closed)
    return closed


@pytest.mark.parametrize(("surface", "loop"), IN_PIECES)
def test_a_loop_that_is_left(surface: str, loop: str) -> None:
    """Leaving the loop drops the open call and closes the connection, although the client continues."""
    with serve(Answer(half(*USUAL[surface]), ending="hang")) as server:
        stream, is_closed = _run(loop, _left, surface, server)

    assert (True, (), {"aborted"}) == (is_closed, stream.calls, {drop.reason for drop in stream.dropped})


async def _cancelled(surface: str, server: Loopback) -> Any:
    anyio = sdk("anyio")
    begun = anyio.Event()
    streams: list[Any] = []

    async def consume() -> None:
        async with wrap(await ask()) as stream:
            streams.append(stream)
            async for _ in stream:
                if has_begun(stream):
                    begun.set()

    async with asking_async(surface, server.url) as ask:
        async with anyio.create_task_group() as group:
            group.start_soon(consume)
            await begun.wait()
            group.cancel_scope.cancel()
        return *streams, await _is_closed(server)


@pytest.mark.parametrize(("surface", "loop"), share.every(7, IN_PIECES, "cancelled"))
def test_a_task_that_is_cancelled(surface: str, loop: str) -> None:
    """A task that is cancelled while it waits for a chunk drops the open call, and its connection closes."""
    with serve(Answer(half(*USUAL[surface]), ending="hang")) as server:
        stream, is_closed = _run(loop, _cancelled, surface, server)

    assert (True, (), {"aborted"}) == (is_closed, stream.calls, {drop.reason for drop in stream.dropped})


async def _consumed(source: Any, streams: list[Any], begun: asyncio.Event) -> None:
    async with wrap(source) as stream:
        streams.append(stream)
        async for _ in stream:
            if has_begun(stream):
                begun.set()


async def _cancelled_by_hand(surface: str, server: Loopback) -> Any:
    begun, streams = asyncio.Event(), []
    async with asking_async(surface, server.url) as ask:
        task = asyncio.create_task(_consumed(await ask(), streams, begun))
        await begun.wait()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return *streams, await _is_closed(server)


@pytest.mark.parametrize("surface", TASKS)
def test_a_task_of_asyncio_that_is_cancelled(surface: str) -> None:
    """`task.cancel()` goes through to the awaiter of the task, the open call is dropped, the connection closes."""
    with serve(Answer(half(*USUAL[surface]), ending="hang")) as server:
        stream, is_closed = asyncio.run(_cancelled_by_hand(surface, server))

    assert (True, (), {"aborted"}) == (is_closed, stream.calls, {drop.reason for drop in stream.dropped})


async def _broken(surface: str, url: str) -> tuple[Told, str]:
    async with asking_async(surface, url) as ask:
        stream = wrap(await ask())
        try:
            async for _ in stream:
                pass
        except Exception as error:  # noqa: BLE001 - which class it is is what the test states
            return told(stream.turn), type(error).__name__
    return told(stream.turn), ""


OWN_ERRORS = {
    **dict.fromkeys(("chat", "chat-helper", "responses", "responses-helper"), "APIConnectionError"),
    "langchain": "OpenAIConnectionError",
}
_OF_LOOPS = {
    ("gemini", "asyncio"): "ClientPayloadError"
}  # of aiohttp, which it takes where that is installed


@pytest.mark.parametrize(("surface", "loop"), IN_PIECES)
def test_a_connection_that_is_cut(surface: str, loop: str) -> None:
    """The SDK raises its error, and the call that was open is dropped with the text that had come."""
    parts = half(*USUAL[surface])
    error = _OF_LOOPS.get((surface, loop)) or OWN_ERRORS.get(surface, "RemoteProtocolError")

    with serve(Answer(parts, ending="cut")) as server:
        actual = _run(loop, _broken, surface, server.url)

    assert (told(failed_after(parts)), error) == actual
