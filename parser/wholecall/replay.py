"""Replay recorded streams: find them on disk, read them in pieces, yield their events.

Theory of operation. A recording is a file that holds the bytes of one stream (or standard input). Finding
never fails: what cannot be read is found as a recording that says so when it is read, so a caller goes on
with the next one. Everything is lazy: folders are listed as they are reached, files are read piece by piece,
and a recording is open only while its events are taken. The pieces are no part of the result: however a
recording is cut, its events are the same.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import repeat
from pathlib import Path
from random import Random
from typing import BinaryIO, Union

import msgspec

from wholecall.errors import BadRecording
from wholecall.events import Event
from wholecall.iterate import events
from wholecall.limits import Limits
from wholecall.policy import Policy

__all__ = ["STDIN", "SUFFIXES", "Chunking", "Recording", "find_recordings", "replay"]

StrPath = Union[str, "os.PathLike[str]"]

STDIN = "-"  # the path that stands for standard input
SUFFIXES = (".sse", ".ndjson", ".jsonl", ".json", ".bin")  # of recordings in folders
_LOGS = ".events.jsonl"  # our own event logs, beside the recordings they belong to
_PIECE = 64 * 1024


class Recording(msgspec.Struct, frozen=True):
    """A place that a recording is read from.

    Attributes:
        path: the file's path as it was found, `"-"` for standard input.
        trouble: why nothing can be read there; None where reading is worth a try.
    """

    path: str
    trouble: str | None = None


class Chunking(msgspec.Struct, frozen=True):
    """How a recording is cut into chunks; by default as its bytes come, at most 64 KiB at a time.

    Attributes:
        size: bytes of each chunk.
        seed: draws the sizes at random instead, from 1 byte to 4 KiB; equal seeds draw equal sizes, for
            each recording anew.
    """

    size: int | None = None
    seed: str | None = None

    @classmethod
    def parse(cls, text: str) -> Chunking:
        """Read `"N"` or `"random:SEED"`.

        Raises:
            ValueError: it is neither, or N is less than 1.
        """
        word, colon, seed = text.partition(":")
        if word == "random" and colon and seed:
            return cls(seed=seed)
        size = int(text) if text.isascii() and text.isdigit() else 0
        if size < 1:
            raise ValueError(f"{text!r} is neither a number of bytes from 1 nor random:SEED")
        return cls(size=size)

    def sizes(self) -> Iterator[int]:
        """Yield the size of one chunk after the other, without end."""
        if self.seed is None:
            yield from repeat(self.size or _PIECE)
        random = Random(self.seed)  # noqa: S311 - reproducible cuts, no secrets
        while True:
            yield random.randint(1, 1 << random.randrange(13))  # many tiny ones among the large


def find_recordings(paths: Iterable[StrPath]) -> Iterator[Recording]:
    """Yield the recordings at some paths, in the order of the paths and sorted below each.

    A file is taken whatever its suffix. A folder gives the files with a suffix of `SUFFIXES` in it and below
    it, hidden ones and event logs (`.events.jsonl`) aside; links to folders are not followed. A path that
    does not exist but is a glob (`**` goes through folders) gives what a folder of its matches would give.

    Args:
        paths: files, folders, globs, or `"-"` for standard input.

    Returns:
        An iterator that never raises: where nothing can be read, a recording says so in `trouble`.
    """
    for place in paths:
        path = os.fspath(place)
        if path == STDIN:
            yield Recording(path)
        elif path and Path(path).is_dir():
            yield from _or_none_below(path, _below(path))
        elif Path(path).exists() or not glob.has_magic(path):
            yield Recording(path)  # a missing file is found out by reading it
        else:
            yield from _or_none_below(path, _matches(path))


def replay(
    recording: Recording | StrPath,
    dialect: str = "auto",
    *,
    chunking: Chunking = Chunking(),  # noqa: B008 - frozen
    framing: str | None = None,
    policy: Policy = Policy(),  # noqa: B008 - frozen
    limits: Limits = Limits(),  # noqa: B008 - frozen
) -> Iterator[Event]:
    """Yield the events of one recording; it is opened with the first and closed with the last one.

    ::

        for recording in find_recordings(["recordings"]):
            for event in replay(recording):
                ...

    Args:
        recording: what `find_recordings` yields, or the path of a file (`"-"` for standard input).
        dialect: as for `ToolCallParser`, like the others below.
        chunking: how the bytes are cut; the events do not depend on it.
        framing: how the bytes are cut into events.
        policy: how calls are judged.
        limits: what the stream may hold.

    Raises:
        BadRecording: while iterating: the file cannot be opened or read; the message names it.
        UnknownDialect: at once: the dialect or the framing is not known.
    """
    if not isinstance(recording, Recording):
        recording = Recording(os.fspath(recording))
    source = _chunks(recording, chunking)
    return events(source, dialect, framing=framing, policy=policy, limits=limits)


# Finding.


def _or_none_below(path: str, found: Iterator[Recording]) -> Iterator[Recording]:
    """Yield what is found, or that nothing is."""
    empty = True
    for recording in found:
        empty = False
        yield recording
    if empty:
        yield Recording(path, f"no recording ({' '.join(SUFFIXES)}) there")


def _matches(pattern: str) -> Iterator[Recording]:
    seen: set[str] = set()
    for path in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 - Path.glob takes no absolute pattern
        found = _below(path) if Path(path).is_dir() else _if_recording(path)
        for recording in found:  # `**` matches a folder and what is in it
            if recording.path not in seen:
                seen.add(recording.path)
                yield recording


def _below(folder: str) -> Iterator[Recording]:
    try:
        with os.scandir(folder) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Recording(folder, error.strerror or str(error))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        path = str(Path(folder, entry.name))
        yield from _below(path) if is_folder else _if_recording(path)


def _if_recording(path: str) -> Iterator[Recording]:
    name = path.lower()
    if name.endswith(SUFFIXES) and not name.endswith(_LOGS) and not Path(path).is_dir():
        yield Recording(path)


# Reading.


def _chunks(recording: Recording, chunking: Chunking) -> Iterator[bytes]:
    """Yield the bytes of a recording; standard input stays open."""
    if recording.path == STDIN and recording.trouble is None:
        yield from _pieces(_stdin(), recording.path, chunking)
        return
    with _opened(recording) as file:
        yield from _pieces(file, recording.path, chunking)


def _stdin() -> BinaryIO:
    stream: BinaryIO | None = getattr(sys.stdin, "buffer", None)
    if stream is None:
        raise BadRecording(f"{STDIN}: there is no standard input")
    return stream


def _opened(recording: Recording) -> BinaryIO:
    if recording.trouble is not None:
        raise BadRecording(f"{recording.path}: {recording.trouble}")
    try:
        return Path(recording.path).open("rb")
    except OSError as error:
        raise BadRecording(f"{recording.path}: {error.strerror or error}") from error


def _pieces(file: BinaryIO, path: str, chunking: Chunking) -> Iterator[bytes]:
    # What a live stream has sent is passed on at once, unless chunks of a certain size are asked for.
    read = getattr(file, "read1", file.read) if chunking == Chunking() else file.read
    sizes = chunking.sizes()
    position = 0
    while piece := _piece(read, next(sizes), path, position):
        position += len(piece)
        yield piece


def _piece(read: Callable[[int], bytes], size: int, path: str, position: int) -> bytes:
    try:
        return read(size)
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror or error} (at byte {position})") from error
