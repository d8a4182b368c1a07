"""Answers that are larger than they seem: the transports' memory for them, and where they stop."""

from __future__ import annotations

import asyncio
import gzip
import importlib
import tracemalloc
import zlib
from collections.abc import AsyncIterator, Iterator
from typing import Any

import brotli
import pytest
import zstandard

from tests.unit.test_transport import DONE, FINISH, LIBRARIES, PATH, QUIRKY, TEXT, repaired
from wholecall import Limits
from wholecall.repairing import repair_body
from wholecall.transport import AsyncRepairTransport, RepairTransport

MIB = 1024 * 1024
ENCODE: dict[str, Any] = {
    "gzip": gzip.compress,
    "deflate": zlib.compress,
    "br": brotli.compress,
    "zstd": zstandard.compress,
    "gzip, zstd": lambda data: zstandard.compress(gzip.compress(data)),
}
BOMB = b": " + bytes(8 * MIB) + b"\n\n"
BODY = b'{"choices":[{"message":{"role":"assistant","content":"Hello"},"finish_reason":"stop"}]}'
each_library = pytest.mark.parametrize("library", LIBRARIES)


class Came:
    """A client's part of an answer, and the most memory held meanwhile."""

    def __init__(self, library: str, pieces: list[bytes], headers: dict[str, str], **options: Any) -> None:
        self._http = importlib.import_module(library)
        self._pieces, self._headers, self._options = pieces, headers, options
        self.body = b""
        self.size = self.peak = self.status = self.n_sent = 0
        self.error: str | None = None

    def read(self, *, asynchronous: bool = False, keep: bool = True) -> Came:
        """Ask for the answer and read it."""
        tracemalloc.start()
        try:
            asyncio.run(self._aread(keep=keep)) if asynchronous else self._read(keep=keep)
        except self._http.HTTPError as error:
            self.error = type(error).__name__
        finally:
            _, self.peak = tracemalloc.get_traced_memory()
            tracemalloc.stop()
        return self

    def _read(self, *, keep: bool) -> None:
        inner = self._http.MockTransport(lambda _: self._answer(self._sent()))
        with (
            self._http.Client(transport=RepairTransport(inner, **self._options)) as client,
            client.stream("POST", "http://host" + PATH, json={}) as response,
        ):
            self.status = response.status_code
            for piece in response.iter_bytes():
                self._take(piece, keep=keep)

    async def _aread(self, *, keep: bool) -> None:
        inner = self._http.MockTransport(lambda _: self._answer(self._asent()))
        async with (
            self._http.AsyncClient(transport=AsyncRepairTransport(inner, **self._options)) as client,
            client.stream("POST", "http://host" + PATH, json={}) as response,
        ):
            self.status = response.status_code
            async for piece in response.aiter_bytes():
                self._take(piece, keep=keep)

    def _answer(self, content: Any) -> Any:
        return self._http.Response(200, headers=self._headers, content=content)

    def _sent(self) -> Iterator[bytes]:
        for piece in self._pieces:
            self.n_sent += 1
            yield piece

    async def _asent(self) -> AsyncIterator[bytes]:
        for piece in self._sent():
            yield piece

    def _take(self, piece: bytes, *, keep: bool) -> None:
        self.size += len(piece)
        self.body += piece if keep else b""


def stream(coding: str = "identity") -> dict[str, str]:
    """Return the headers of an event stream."""
    return {"content-type": "text/event-stream", "content-encoding": coding}


def whole(coding: str = "identity") -> dict[str, str]:
    """Return the headers of a body of JSON."""
    return {"content-type": "application/json", "content-encoding": coding}


@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coding", ENCODE)
def test_codings_are_taken_off(library: str, asynchronous: bool, coding: str) -> None:
    """Every coding that a client may ask for is decoded, in any cut, and its content is repaired."""
    data = ENCODE[coding](QUIRKY)
    for pieces in ([data], [data[at : at + 1] for at in range(len(data))]):
        came = Came(library, pieces, stream(coding)).read(asynchronous=asynchronous)

        assert (None, repaired(QUIRKY)) == (came.error, came.body)


@pytest.mark.sampled(21)
@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coding", ENCODE)
def test_a_stream_that_grows_is_decoded_in_steps(library: str, asynchronous: bool, coding: str) -> None:
    """A read of some kilobytes that holds 8 MiB is never held as a whole."""
    events = TEXT + (b": " + b"x" * 32_000 + b"\n\n") * 250
    came = Came(library, [ENCODE[coding](events)], stream(coding))
    came.read(asynchronous=asynchronous, keep=False)

    assert (True, True) == (came.size >= len(events), came.peak < 4 * MIB)


@pytest.mark.sampled(7)
@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coding", ENCODE)
def test_a_stream_beyond_its_limit_is_left(library: str, asynchronous: bool, coding: str) -> None:
    """The rest is not decoded, and the client learns that the stream is not whole."""
    limits = Limits(max_stream_bytes=MIB // 4)
    came = Came(library, [ENCODE[coding](BOMB + TEXT + FINISH + DONE)], stream(coding), limits=limits)
    came.read(asynchronous=asynchronous)

    assert ("RemoteProtocolError", b"", True) == (came.error, came.body, came.peak < 4 * MIB)


@pytest.mark.sampled(5)
@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coding", ENCODE)
def test_a_body_beyond_its_limit_is_an_error(library: str, asynchronous: bool, coding: str) -> None:
    """It is gathered up to the limit, and not taken for an answer."""
    data = ENCODE[coding](BODY[:-1] + b" " * 8 * MIB + b"}")
    came = Came(library, [data], whole(coding), limits=Limits(max_event_bytes=MIB // 4))
    came.read(asynchronous=asynchronous)

    assert (None, 502, True) == (came.error, came.status, came.peak < 4 * MIB)
    assert b'"event_too_large"' in came.body


@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
def test_a_body_without_end_is_left(library: str, asynchronous: bool) -> None:
    """No more is asked for once there is too much."""
    came = Came(library, [BODY[:-1], *[b" " * 1000] * 100], whole(), limits=Limits(max_stream_bytes=5000))
    came.read(asynchronous=asynchronous)

    assert (502, 6) == (came.status, came.n_sent)
    assert b'"stream_too_large"' in came.body


@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
def test_many_values_are_no_large_body(library: str, asynchronous: bool) -> None:
    """Lines of JSON of which none is too large pass as they came."""
    lines = [b'{"a":1}\n'] * 1000
    came = Came(library, lines, whole(), limits=Limits(max_event_bytes=500)).read(asynchronous=asynchronous)

    assert (None, 200, b"".join(lines)) == (came.error, came.status, came.body)


@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
def test_blanks_in_front_of_json_decide_nothing(library: str, asynchronous: bool) -> None:
    """Servers send line ends while a model thinks; the body is judged all the same."""
    body = BODY.replace(
        b'"content":"Hello"',
        b'"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{\\"a\\":"}}]',
    )
    came = Came(library, [b"\n", b"\n", body], whole()).read(asynchronous=asynchronous)
    expected = repair_body(b"\n\n" + body).data

    assert (502, expected) == (came.status, came.body)


@each_library
@pytest.mark.parametrize("asynchronous", [False, True])
@pytest.mark.parametrize("coding", ENCODE)
def test_what_does_not_decode_is_the_library_s_error(library: str, asynchronous: bool, coding: str) -> None:
    """As it is without the transport; nothing that is open is emitted."""
    came = Came(library, [b"\xff" * 100], stream(coding))

    assert "DecodingError" == came.read(asynchronous=asynchronous).error


@each_library
def test_a_coding_that_nobody_knows_is_the_library_s_matter(library: str) -> None:
    """The bytes stay as they are, as they do without the transport."""
    came = Came(library, [QUIRKY], stream("lz4")).read()

    assert repaired(QUIRKY) == came.body
