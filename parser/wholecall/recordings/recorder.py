"""Write recordings in our own format, a line for each chunk as it comes.

Theory of operation. Each chunk is one line, written and flushed before the next comes, so that all received chunks are
on the disk when the program dies. Text stays text; a chunk that is not UTF-8 by itself (a character may be cut in two)
is base64.
"""

from __future__ import annotations

import base64
import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import msgspec

from wholecall.recordings.finding import StrPath
from wholecall.recordings.model import Recording, Request
from wholecall.recordings.own import FORMAT, VERSION, ChunkLine, Header

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Recorder", "write"]

_ENCODER = msgspec.json.Encoder()
_MICROSECONDS = 6  # decimal digits of a time


class Recorder:
    """Writes one recording.

    ::

        with Recorder("answer.jsonl", url=url) as recorder:
            for chunk in recorder.through(response.iter_bytes()):
                ...  # and the chunk is in the file

    Args:
        target: a path (compressed if it ends in `.gz`), or a binary file, which stays open.
        append: whether an existing file keeps its content.
        dialect: the name of the wire format, to spare readers the search.
        provider: the provider that answers.
        method: the HTTP method of the request.
        url: the target of the request; remove secrets from it first.
        status: the response's HTTP status.
        content_type: the response's content type.
        meta: JSON values to keep in the header.
        clock: returns seconds; the first reading is the response's beginning.

    Raises:
        OSError: the target cannot be opened or written.
    """

    def __init__(
        self,
        target: StrPath | IO[bytes],
        *,
        append: bool = False,
        dialect: str | None = None,
        provider: str | None = None,
        method: str | None = None,
        url: str | None = None,
        status: int | None = None,
        content_type: str | None = None,
        meta: dict[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._closes = not hasattr(target, "write")
        self._file: Any = _file(target, append) if self._closes else target
        self._clock = clock
        self._began = clock()
        header = Header(
            FORMAT,
            VERSION,
            dialect,
            provider,
            method,
            url,
            status,
            content_type,
            {} if meta is None else meta,
        )
        self._line(header)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def write(self, chunk: bytes | bytearray | memoryview, at: float | None = None) -> None:
        """Write one chunk.

        Args:
            chunk: its bytes.
            at: seconds since the response began; None reads the clock.
        """
        self._chunk(bytes(chunk), self._clock() - self._began if at is None else at)

    def through(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Write each chunk and pass it on."""
        for chunk in chunks:
            self.write(chunk)
            yield chunk

    def close(self) -> None:
        """Close the file if the recorder opened it; idempotent."""
        if self._closes:
            self._file.close()

    def _chunk(self, data: bytes, at: float | None) -> None:
        at = None if at is None else round(at, _MICROSECONDS)
        try:
            self._line(ChunkLine(at, data=data.decode()))
        except UnicodeDecodeError:
            self._line(ChunkLine(at, b64=base64.b64encode(data).decode()))

    def _line(self, line: Header | ChunkLine) -> None:
        self._file.write(_ENCODER.encode(line) + b"\n")
        self._file.flush()

    def copy(self, recording: Recording) -> None:
        """Write the chunks of a recording with their times, unknown ones too.

        Raises:
            BadRecording: the recording is damaged; the chunks before the damage are written.
        """
        for at, chunk in recording.chunks:
            self._chunk(chunk, at)


def _file(target: Any, append: bool) -> IO[bytes]:
    path = Path(target)
    mode = "ab" if append else "wb"
    if path.suffix.lower() == ".gz":
        return gzip.open(path, mode)  # type: ignore[return-value]
    return path.open(mode)


def write(target: StrPath | IO[bytes], recording: Recording, *, append: bool = False) -> None:
    """Write a recording in our own format, with all its metadata.

    Args:
        target: as for `Recorder`.
        recording: the recording whose chunks are taken.
        append: as for `Recorder`.

    Raises:
        BadRecording: the recording is damaged; the chunks before the damage are written.
        OSError: the target cannot be opened or written.
    """
    request = recording.request or Request()
    with Recorder(
        target,
        append=append,
        dialect=recording.dialect,
        provider=recording.provider,
        method=request.method,
        url=request.url,
        status=recording.status,
        content_type=recording.content_type,
        meta=recording.meta,
    ) as recorder:
        recorder.copy(recording)
