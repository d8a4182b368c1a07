"""Our own format, read and written: JSON lines that keep the chunks of the transport and their times (docs/recordings.md).

Theory of operation. A line that begins with `{"wholecall":` is a header and begins a recording; each line after it is
one chunk. Therefore files can be joined, and damage ends at the next header. A chunk is written and flushed before the
next comes, so that all received chunks are on the disk when the program dies. Text stays text; a chunk that is not
UTF-8 by itself (a character may be cut in two) is base64.
"""

from __future__ import annotations

import base64
import binascii
import gzip
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any

import msgspec

from wholecall.errors import BadRecording
from wholecall.recordings.finding import STDIN, Place, StrPath
from wholecall.recordings.model import Chunk, Recording, Request, broken
from wholecall.recordings.source import Source, opened

if TYPE_CHECKING:
    from typing_extensions import Self

FORMAT = "recording"
VERSION = 1
_BEGINNING = b'{"wholecall":'
_UNDECODABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ENCODER = msgspec.json.Encoder()
_MICROSECONDS = 6  # decimal digits of a time


class Header(msgspec.Struct, omit_defaults=True):
    """The first line of a recording; `version` counts changes that older readers would misread."""

    wholecall: str
    version: int
    dialect: str | None = None
    provider: str | None = None
    method: str | None = None
    url: str | None = None
    status: int | None = None
    content_type: str | None = None
    meta: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"Header(version={self.version})"


class ChunkLine(msgspec.Struct, omit_defaults=True):
    """One chunk: seconds since the response began, and its bytes as text or as base64."""

    t: float | None = None
    data: str | None = None
    b64: str | None = None

    def __repr__(self) -> str:
        return f"ChunkLine(t={self.t!r})"


_HEADERS = msgspec.json.Decoder(Header)
_CHUNKS = msgspec.json.Decoder(ChunkLine)


def is_header(line: bytes) -> bool:
    """Return whether a line begins a recording; writers put the format's name first, without a space."""
    return line.startswith(_BEGINNING)


class _Lines:
    """The numbered lines of a file, with a method to put one back."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self._lines = source.lines()
        self._back: list[bytes] = []
        self.number = 0
        self.recording = 0  # the recording of the current chunks

    def __iter__(self) -> Iterator[bytes]:
        while True:
            line = self._back.pop() if self._back else next(self._lines, None)
            if line is None:
                return
            self.number += 1
            yield line

    def put_back(self, line: bytes) -> None:
        self._back.append(line)
        self.number -= 1


def read_own(source: Source, _skipped: object) -> Iterator[Recording]:
    """Yield the recordings of a file in our own format; the second and later are called `path#n`."""
    lines = _Lines(source)
    for line in lines:
        if is_header(line):  # anything else is an untaken rest of the previous recording
            lines.recording += 1
            name = source.path if lines.recording == 1 else f"{source.path}#{lines.recording}"
            yield _begun(name, line, lines)


def _begun(name: str, line: bytes, lines: _Lines) -> Recording:
    try:
        header = _HEADERS.decode(line)
    except _UNDECODABLE:
        return broken(name, f"line {lines.number} is not a header of a recording", form="wholecall")
    if (header.wholecall, header.version) != (FORMAT, VERSION):
        trouble = f"line {lines.number}: version {header.version} of the format is not known here"
        return broken(name, trouble, form="wholecall")
    asked = header.method or header.url
    return Recording(
        name=name,
        chunks=_chunks(name, lines, lines.recording),
        form="wholecall",
        dialect=header.dialect,
        provider=header.provider,
        request=Request(header.method, header.url) if asked else None,
        status=header.status,
        content_type=header.content_type,
        meta=header.meta,
    )


def _chunks(name: str, lines: _Lines, mine: int) -> Iterator[Chunk]:
    if lines.recording != mine or lines.source.closed:
        yield from _chunks_again(name, lines.source.place, mine)
        return
    for line in lines:
        if is_header(line):
            lines.put_back(line)
            return
        if line.strip():
            yield _chunk(name, line, lines.number)
        if lines.recording != mine:
            raise ValueError(f"{name}: take the chunks of a recording before the next one")


def _chunks_again(name: str, place: Place, mine: int) -> Iterator[Chunk]:
    """Yield the chunks of a recording that the reader has passed."""
    if place.path == STDIN:
        raise ValueError(f"{name}: take the chunks of a recording before the next one")
    with opened(place) as source:
        for number, recording in enumerate(read_own(source, None), 1):
            if number == mine:
                yield from recording.chunks
                return


def _chunk(name: str, line: bytes, number: int) -> Chunk:
    chunk: ChunkLine | None = None
    with suppress(*_UNDECODABLE):
        chunk = _CHUNKS.decode(line)
    if chunk is None:  # outside the handler: the decoder's error may hold the line
        raise BadRecording(f"{name}: line {number} is not a chunk of a recording")
    if (chunk.data is None) == (chunk.b64 is None):
        raise BadRecording(f"{name}: line {number} has neither or both of data and b64")
    if chunk.data is not None:
        return chunk.t, chunk.data.encode()
    try:
        return chunk.t, base64.b64decode(chunk.b64 or "", validate=True)
    except (binascii.Error, ValueError):
        raise BadRecording(f"{name}: the base64 of line {number} is damaged") from None


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
