"""Read recordings from files of any known form, one at a time.

Theory of operation. Each file is opened when its turn comes, its form is found from its bytes, and the reader
of that form yields its recordings. Where a reader cannot continue, it yields one last recording that raises
when its chunks are taken; then the next file is tried. Nothing is read ahead: memory holds one recording, or
one chunk and one event where a file is a raw stream.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator

import msgspec

from wholecall.errors import BadRecording
from wholecall.framing.opening import framing_of
from wholecall.recordings.cassettes import read_cassette
from wholecall.recordings.finding import Place, StrPath, find
from wholecall.recordings.forms import MAX_HEAD, form_of
from wholecall.recordings.har import read_archive, read_interactions
from wholecall.recordings.interceptor import read_interceptor
from wholecall.recordings.lines import holds_bodies, read_bodies
from wholecall.recordings.model import Recording, broken
from wholecall.recordings.others import is_transcript, read_flows, read_transcript
from wholecall.recordings.own import read_own
from wholecall.recordings.source import Source, opened
from wholecall.recordings.streams import read_streams

__all__ = ["READERS", "Recordings", "read"]

Reader = Callable[[Source, Counter[str]], Iterator[Recording]]


READERS: dict[str, Reader] = {
    "raw": read_streams,
    "bodies": read_bodies,
    "wholecall": read_own,
    "cassette": read_cassette,
    "interactions": read_interactions,
    "har": read_archive,
    "llm-interceptor": read_interceptor,
    "transcript": read_transcript,
    "flows": read_flows,
}


class Recordings(Iterator[Recording]):
    """The recordings of some files, read on request.

    Attributes:
        skipped: how many responses so far were not recordings, by reason: `no_response`, `no_body`,
            `other_type` (a content type that no model answers with), `no_dialect` (JSON that no dialect knows),
            `no_cassette` (a YAML file in a folder), `transcript` and `flows` (such a file in a folder).
    """

    def __init__(self, places: Iterable[Place], max_bytes: int | None = None) -> None:
        self.skipped: Counter[str] = Counter()
        bounded = (msgspec.structs.replace(place, max_bytes=max_bytes) for place in places)
        self._found = _read(
            bounded, self.skipped
        )  # no reference to self, so that a file is closed when self is collected

    def __next__(self) -> Recording:
        return next(self._found)

    def close(self) -> None:
        """Close the open file, if any; no recordings follow."""
        self._found.close()


def _read(places: Iterable[Place], skipped: Counter[str]) -> Generator[Recording]:
    for place in places:
        yield from _whole_or_not(place, skipped)


def _whole_or_not(place: Place, skipped: Counter[str]) -> Iterator[Recording]:
    try:
        yield from _of(place, skipped)
    except BadRecording as error:
        yield broken(place.path, str(error).removeprefix(f"{place.path}: "))


def _of(place: Place, skipped: Counter[str]) -> Iterator[Recording]:
    with opened(place) as source:
        form = _form(source)
        if form == "cassette" and not place.named and not _is_cassette(source):
            skipped["no_cassette"] += 1
        else:
            yield from READERS[form](source, skipped)


def _form(source: Source) -> str:
    more = True
    while True:
        more = more and source.fill()
        form = form_of(source.head, source.path, at_end=not more or len(source.head) >= MAX_HEAD)
        if form is not None:
            return _form_of_raw(source) if form == "raw" else form


def _form_of_raw(source: Source) -> str:
    """Return the form of a file whose first bytes could be those of a stream."""
    framing = framing_of(source.head)
    if framing == "jsonl" and holds_bodies(source):
        return "bodies"
    if framing in {"jsonl", "jsonarray"} and is_transcript(source.head):
        return "transcript"
    return "raw"


def _is_cassette(source: Source) -> bool:
    return b"interactions:" in source.head


def read(*sources: StrPath, max_bytes: int | None = None) -> Recordings:
    """Read the recordings in files, folders, globs, or standard input (`"-"`).

    ::

        for recording in read("logs", "browser.har", "tests/cassettes/*.yaml"):
            for seconds, chunk in recording.chunks:
                ...

    A file's form is found from its bytes: raw streams, one or one after the other; JSON lines with a whole
    response each, also the outputs of batches; our own format, VCR cassettes in YAML or JSON, HAR, logs of
    llm-interceptor, files of llm-mock; each may be compressed with gzip or Zstandard. Folders and globs give the files with a recording's suffix.

    Args:
        sources: paths.
        max_bytes: the largest content of a compressed file, and of a compressed body in a file; by default 64 MiB, or
            200 times its size if that is more. A larger file or body is a recording with `trouble`, or raises there.

    Returns:
        An iterator that never raises: an unreadable file is a recording with `trouble`, or one whose chunks raise
        `BadRecording` where the damage begins.
    """
    return Recordings(find(sources), max_bytes)
