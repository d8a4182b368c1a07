"""The body of an answer: decoded in pieces, and then judged as a whole, or repaired while the client reads it.

Theory of operation. The HTTP libraries decode each read at once, and a read of 64 KiB can hold gigabytes. Therefore the
raw reads are decoded here, one step per request. Without such a decoder (an unknown coding, Brotli before 1.2) the
library's own decoder is used. As there, an answer whose coding ends early is not an error: its content is judged, and
that shows whether it is whole.

A body labelled as JSON or as text may be a stream, and the first byte that is not blank decides. JSON is gathered to
its end, or until it is too large to be judged; a stream is passed on with the bytes so far, and read a chunk at a time
when the client asks for one.

After our error frame, a stream also raises an exception, like a broken connection: clients that do not know the frame
must not take the end for a success. Only Responses has its own proper end for that.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any, Final

from wholecall.framing.codings import Decoder, UndecodableError, decoder_for
from wholecall.repairing import RepairedBody, Repairer, answers, bodies, repair_body
from wholecall.repairing.notices import Notices
from wholecall.repairing.pace import Pace

_MOST_BLANK: Final = 64 * 1024  # bytes in front of JSON: servers send some while they think
_BROKEN_OFF = "the connection was closed before the end of the stream"
_HAS_AN_END = "responses"


def pieces(http: Any, response: Any) -> Iterator[bytes]:
    """Return the pieces of a response, decoded on request; undecodable input raises the library's `DecodingError`."""
    decoder = _decoder(response)
    found: Iterator[bytes] = response.iter_bytes() if decoder is None else _decoded(http, response, decoder)
    return found


def apieces(http: Any, response: Any) -> AsyncIterator[bytes]:
    """Return the same of an asynchronous response."""
    decoder = _decoder(response)
    found: AsyncIterator[bytes] = (
        response.aiter_bytes() if decoder is None else _adecoded(http, response, decoder)
    )
    return found


def _decoder(response: Any) -> Decoder | None:
    """Return the decoder of a response; None where the library decodes it, or has done so already."""
    return None if response.is_stream_consumed else decoder_for(response.headers.get("content-encoding", ""))


def _decoded(http: Any, response: Any, decoder: Decoder) -> Iterator[bytes]:
    try:
        for data in response.iter_raw():
            yield from decoder.feed(data)
    except UndecodableError as error:
        raise _damage(http, response, error) from None


async def _adecoded(http: Any, response: Any, decoder: Decoder) -> AsyncIterator[bytes]:
    try:
        async for data in response.aiter_raw():
            for piece in decoder.feed(data):
                yield piece
    except UndecodableError as error:
        raise _damage(http, response, error) from None


def _damage(http: Any, response: Any, error: UndecodableError) -> Exception:
    damage: Exception = http.DecodingError(str(error), request=response.request)
    return damage


class Gathering:
    """The bytes of a body so far.

    Args:
        notices: of its exchange.
    """

    def __init__(self, notices: Notices) -> None:
        self._notices = notices
        self._most = bodies.most_of_body(notices.options.get("limits"))
        self._data = bytearray()
        self._is_json: bool | None = None
        self._is_full = False

    @property
    def data(self) -> bytes:
        """All bytes so far."""
        return bytes(self._data)

    def gather(self, chunks: Iterator[bytes]) -> None:
        """Take chunks until the kind of the body is known, and then all of a JSON body that can be judged."""
        for chunk in chunks:
            if not self._wants_more(chunk):
                break

    async def agather(self, chunks: AsyncIterator[bytes]) -> None:
        """Do the same, asynchronously."""
        async for chunk in chunks:
            if not self._wants_more(chunk):
                break

    def judged(self) -> RepairedBody | None:
        """Return the judged body; None for a stream, or a body too large to be judged that is not one large value."""
        if not self._is_json:
            return None
        options = {name: value for name, value in self._notices.options.items() if name != "live_arguments"}
        body = repair_body(self.data, expected=self._notices.expected, **options)
        if self._is_full and body.report.error is None:
            return None
        self._notices.end(body.report)
        return body

    def _wants_more(self, chunk: bytes) -> bool:
        """Take a chunk; return whether another one is wanted here."""
        self._data += chunk
        if self._is_json is None:
            self._is_json = answers.is_json(chunk)
        if self._is_json:
            self._is_full = self._most is not None and len(self._data) > self._most
            return not self._is_full
        return self._is_json is None and len(self._data) <= _MOST_BLANK


class _Repaired:
    """The common part of both bodies."""

    def __init__(self, http: Any, response: Any, chunks: Any, notices: Notices) -> None:
        self._http = http
        self._response = response
        self._chunks = chunks
        self._notices = notices
        self._repairer = Repairer(**notices.options, expected=notices.expected)
        self._pace = Pace()
        self._is_closed = False

    def _end(self) -> None:
        """Drop open calls; after the end of the stream there are none."""
        self._is_closed = True
        self._repairer.abort(_BROKEN_OFF)
        self._notices.end(self._repairer.report)

    def _raise_if_failed(self) -> None:
        report = self._repairer.report
        if report.error is not None and report.dialect != _HAS_AN_END:
            message = f"the stream was ended by an error: {report.error}"
            raise self._http.RemoteProtocolError(message, request=self._response.request)


class Body(_Repaired):
    """The synchronous body; its reader closes it too, as the libraries do at the end and when they are left."""

    _chunks: Iterable[bytes]

    def __iter__(self) -> Iterator[bytes]:
        repairer, notices = self._repairer, self._notices
        try:
            for chunk in self._chunks:
                data = repairer.feed(chunk)
                notices.tell()
                if data:
                    yield data
                if repairer.ended:
                    break
            data = repairer.close()
            self._end()
            notices.tell()
            if data:
                yield data
            self._raise_if_failed()
        finally:
            self._end()
            notices.tell()

    def close(self) -> None:
        """Drop open calls, and close the connection."""
        try:
            self._end()
            self._notices.tell()
        finally:
            self._response.close()


class AsyncBody(_Repaired):
    """The asynchronous body."""

    _chunks: AsyncIterable[bytes]

    async def __aiter__(self) -> AsyncIterator[bytes]:
        repairer, notices = self._repairer, self._notices
        try:
            async for chunk in self._chunks:
                data = await self._read(chunk)
                await notices.atell()
                if data:
                    yield data
                if repairer.ended:
                    break
            data = repairer.close()
            self._end()
            await notices.atell()
            if data:
                yield data
            self._raise_if_failed()
        finally:
            self._end()
            await notices.atell()

    async def _read(self, chunk: bytes) -> bytes:
        """Return the output for a chunk; a large one is read in slices, with turns for other tasks."""
        out: list[bytes] = []
        for piece in self._pace.slices([chunk]):
            await self._pace.turn()
            if self._is_closed:
                break
            out.append(self._repairer.feed(piece))
        return b"".join(out)

    async def aclose(self) -> None:
        """Drop open calls, and close the connection."""
        try:
            self._end()
            await self._notices.atell()
        finally:
            await self._response.aclose()
