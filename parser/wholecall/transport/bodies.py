"""The repaired body of an answer, read a chunk at a time when the client asks for one.

After our error frame, a stream also raises an exception, like a broken connection: clients that do not know the frame
must not take the end for a success. Only Responses has its own proper end for that.
"""

from __future__ import annotations

from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator
from typing import Any

from wholecall.repairing import Repairer
from wholecall.repairing.pace import Pace
from wholecall.transport.exchange import Notices

__all__ = ["AsyncBody", "Body"]

_BROKEN_OFF = "the connection was closed before the end of the stream"
_HAS_AN_END = "responses"


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
