"""Transcripts in files: a JSON list of messages, a request body that holds one, or a session file line by line.

Theory of operation. A session file may be larger than memory: only the places of its lines are kept, and a line is read
when its message is requested. One JSON value is read whole. A compressed file is unpacked into a temporary file, and so
is a file that is not on a disk. Unchanged content is written as it was read: a whole file, or the lines of a session
file whose messages are unchanged. Only changed messages are encoded again.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from array import array
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Union, overload

from wholecall.errors import BadRecording
from wholecall.history.shapes.atif import steps_of
from wholecall.recordings.finding import STDIN, Place
from wholecall.recordings.source import coding_of, opened

_LISTS = ("messages", "input", "contents", "items")  # where request bodies keep their messages
_NO_LIST = "it holds no list of messages, each an object"
_MAGIC_BYTES = 4

Page = Union[int, dict[str, Any]]  # a message of the output: the number of an unchanged message, or a new one


class NoTranscript(BadRecording):
    """A file is JSON, but holds no messages."""


class _Lines(Sequence[Any]):
    """The messages of a session file, each decoded on request.

    Raises:
        BadRecording: for a message: its line is not a JSON object.
    """

    def __init__(self, path: str, file: IO[bytes]) -> None:
        self._path = path
        self._file = file
        self._starts = array("Q")
        self._last: tuple[int, Any] = -1, None
        position = 0
        file.seek(0)
        for line in file:
            if line.strip():
                self._starts.append(position)
            position += len(line)

    def __len__(self) -> int:
        return len(self._starts)

    @overload
    def __getitem__(self, index: int) -> Any: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Any]: ...
    def __getitem__(self, index: int | slice) -> Any:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if self._last[0] != index:
            self._last = index, self._decoded(index)
        return self._last[1]

    def line(self, index: int) -> bytes:
        """Return a line unchanged, with its end."""
        self._file.seek(self._starts[index])
        return self._file.readline()

    def _decoded(self, index: int) -> Any:
        message: Any = None
        with suppress(ValueError, RecursionError):
            message = _decode(self.line(index))
            if not isinstance(message, dict):
                raise NoTranscript(f"{self._path}: {_NO_LIST}")
        if message is None:  # outside the handler: the decoder's error holds the line
            raise BadRecording(_no_json(self._path, index + 1))
        return message


class Transcript:
    """The messages of a file.

    Attributes:
        messages: the messages, items or session entries, decoded.
        body: the object around them, None if there is only the list.

    Args:
        file: the opened file.
        messages: its messages.
        body: the object around the messages, a request or a trajectory, None if there is only the list.
        key: the member of the body that holds the messages.
    """

    def __init__(
        self, file: IO[bytes], messages: Sequence[Any], body: Mapping[str, Any] | None = None, key: str = ""
    ) -> None:
        self.messages = messages
        self.body = body
        self._file = file
        self._key = key

    def same(self) -> Iterator[bytes]:
        """Yield the file unchanged."""
        self._file.seek(0)
        yield from self._file

    def written(self, pages: Iterable[Page]) -> Iterator[bytes]:
        """Yield the file with other messages in it."""
        if isinstance(self.messages, _Lines):
            yield from _joined(self.messages, pages)
            return
        messages = [self.messages[page] if isinstance(page, int) else page for page in pages]
        value = messages if self.body is None else {**self.body, self._key: messages}
        self._file.seek(0)
        is_indented = b"\n" in self._file.read().strip()
        yield _encoded(value, indent=2 if is_indented else None) + b"\n"


def _joined(lines: _Lines, pages: Iterable[Page]) -> Iterator[bytes]:
    """Yield lines, each with an end, except a last one that had none."""
    end = b""
    for page in pages:
        line = lines.line(page) if isinstance(page, int) else _encoded(page) + b"\n"
        yield end + line
        end = b"" if line.endswith(b"\n") else b"\n"


def _encoded(value: Any, indent: int | None = None) -> bytes:
    separators = (",", ":") if indent is None else (",", ": ")
    text = json.dumps(value, ensure_ascii=False, separators=separators, indent=indent, allow_nan=False)
    return text.encode("utf-8", "backslashreplace")  # half a surrogate pair as an escape


def _refuse(name: str) -> Any:
    raise ValueError(name)  # NaN and Infinity, which no provider accepts


def _decode(text: bytes) -> Any:
    return json.loads(text, parse_constant=_refuse)


def _no_json(path: str, line: int) -> str:
    return f"{path}: line {line} is not JSON; a transcript is JSON or JSON lines"


def messages_in(value: Any) -> list[dict[str, Any]] | None:
    """Return the messages in a JSON value: a list of them, a request, a trajectory; None if there are none."""
    if isinstance(value, dict):
        steps = steps_of(value)
        lists = (value[key] for key in _LISTS if isinstance(value.get(key), list))
        value = next(lists, None) if steps is None else steps
    return value if isinstance(value, list) and all(isinstance(one, dict) for one in value) else None


@contextmanager
def opened_transcript(place: Place, *, records: bool = False) -> Generator[Transcript]:
    """Open a file, and close it at the end.

    Args:
        place: where it is.
        records: whether a trajectory counts, which is read-only.

    Raises:
        BadRecording: it cannot be read, or holds no list of messages; for a session file also when its messages are
            taken. The message says where the error is.
    """
    path = place.path
    if place.trouble is not None:
        raise BadRecording(f"{path}: {place.trouble}")
    with _file(place) as file:
        yield _of_lines(path, file) if _has_lines(file) else _of_value(path, file, records=records)


def _file(place: Place) -> IO[bytes]:
    """Open a file that can be read more than once: anything but a plain file on a disk is copied into one."""
    path = place.path
    try:
        if path != STDIN and place.opens is None:
            plain = Path(path).open("rb")  # noqa: SIM115 - closed by whoever reads it
            if not coding_of(plain.read(_MAGIC_BYTES)):
                return plain
            plain.close()
        file = tempfile.TemporaryFile()  # noqa: SIM115 - as above
        if path == STDIN:
            shutil.copyfileobj(sys.stdin.buffer, file)
        else:
            with opened(place) as source:
                file.writelines(source.pieces())
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror or error}") from None
    return file


def _has_lines(file: IO[bytes]) -> bool:
    """Return whether the first line is a value, and not the only one."""
    file.seek(0)
    lines = (line for line in file if line.strip())
    try:
        _decode(next(lines, b""))
    except (ValueError, RecursionError):
        return False
    return next(lines, None) is not None


def _of_lines(path: str, file: IO[bytes]) -> Transcript:
    return Transcript(file, _Lines(path, file))


def _of_value(path: str, file: IO[bytes], *, records: bool) -> Transcript:
    file.seek(0)
    value: Any = None
    with suppress(ValueError, RecursionError):
        value = _decode(file.read())
    steps = steps_of(value) if records and isinstance(value, dict) else None
    if steps is not None:
        return Transcript(file, _checked(path, steps), value)
    if isinstance(value, dict):
        key = next((key for key in _LISTS if isinstance(value.get(key), list)), None)
        if key is None:
            return _of_lines(path, file)  # a session of one line
        return Transcript(file, _checked(path, value[key]), value, key)
    if value is None:
        raise BadRecording(_no_json(path, 1))
    return Transcript(file, _checked(path, value))


def _checked(path: str, messages: Any) -> list[Any]:
    if not isinstance(messages, list) or not all(isinstance(message, dict) for message in messages):
        raise NoTranscript(f"{path}: {_NO_LIST}")
    return messages
