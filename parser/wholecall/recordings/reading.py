"""Read recordings from files of any known form, one at a time.

Theory of operation. Each file is opened when its turn comes, its form is found from its first bytes, and the reader of
that form yields its recordings. Where a reader cannot continue, it yields one last recording that raises when its
chunks are taken; then the next file is tried. Nothing is read ahead: memory holds one recording, or one chunk and one
event where a file is a raw stream.

To find the form, more bytes may be needed, but no more than necessary: a live stream on standard input must not wait.
For nearly every file its first member or line decides; a file of no known form is one raw stream. The suffix only
breaks ties.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from pathlib import PurePath

import msgspec

from wholecall.errors import BadRecording
from wholecall.framing.opening import framing_of
from wholecall.recordings import cassettes, har, interceptor, lines, others, own, pasted, streams
from wholecall.recordings.finding import COMPRESSED, Place, StrPath, find
from wholecall.recordings.model import Recording, broken
from wholecall.recordings.source import Source, opened

MAX_HEAD = 64 * 1024  # bytes of the beginning that may be requested
_BOM = b"\xef\xbb\xbf"

# A member: its name, and its value; of an object or array only the opening.
_MEMBER = re.compile(
    rb'\s*[{,]\s*"((?:[^"\\]|\\.)*)"\s*:\s*("(?:[^"\\]|\\.)*"|[{\[]|[^\s,{}\[\]"]+(?=[\s,}]))'
)
_BEFORE_INTERACTIONS = frozenset({b"version", b"provider", b"recorded_with"})
_RECORDS = frozenset({b'"request"', b'"response_chunk"', b'"response_meta"', b'"response"'})
_IDS = frozenset({b"id", b"request_id"})

_CASSETTE = re.compile(
    rb"(?:(?:#|---|%YAML|version:|recorded_with:)[^\n]*\n|\s*\n)*(?:http_)?interactions:(?:\s|$)"
)
_FLOWS = re.compile(
    rb"[1-9]\d{1,11}:\d{1,2}:[a-z_]+[;,]"
)  # a netstring of netstrings, the first a member's name
_STREAM_BEGINNINGS = (b"data:", b"event:", b"id:", b"retry:", b":", b"{", b"[")
_CASSETTES = (".yaml", ".yml")
_CASSETTE_NAMES = tuple(suffix + coding for suffix in _CASSETTES for coding in ("", *COMPRESSED))
_CASSETTE_BEGINNINGS = (
    b"#",
    b"---",
    b"%YAML",
    b"version:",
    b"recorded_with:",
    b"interactions:",
    b"http_interactions:",
)
Reader = Callable[[Source, Counter[str]], Iterator[Recording]]
READERS: dict[str, Reader] = {
    "raw": streams.read_streams,
    "bodies": lines.read_bodies,
    "wholecall": own.read_own,
    "cassette": cassettes.read_cassette,
    "interactions": cassettes.read_interactions,
    "har": har.read_archive,
    "llm-interceptor": interceptor.read_interceptor,
    "transcript": others.read_transcript,
    "flows": others.read_flows,
    "pasted": pasted.read_pasted,
}


def form_of(head: bytes, path: str, *, at_end: bool) -> str | None:
    """Return the form of a file from its first bytes, None while more bytes are needed.

    Args:
        head: its first bytes.
        path: its path.
        at_end: whether nothing follows the head, or no more of it will be read.
    """
    if _BOM.startswith(head) and not at_end:
        return None
    text = head.removeprefix(_BOM).lstrip()
    if own.is_header(text):
        return "wholecall"
    if _FLOWS.match(text):
        return "flows"
    is_object = text.startswith(b"{")
    form = _form_of_object(text) if is_object else _form_of_lines(text)
    if form == "raw" and path.lower().endswith(_CASSETTE_NAMES):  # `data:` begins a mapping too
        form = {True: "raw", False: "cassette", None: None}[_is_stream(text)]
    if form is None and not at_end:
        return None
    return form or _by_suffix(path, is_object=is_object)


def _form_of_object(text: bytes) -> str | None:
    """Read member by member until one decides."""
    position = 0
    seen: list[tuple[bytes, bytes]] = []
    while member := _MEMBER.match(text, position):
        position = member.end()
        seen.append((member[1], member[2]))
        form = _form_of_members(seen)
        if form is not None:
            return form
    return None


def _form_of_members(seen: list[tuple[bytes, bytes]]) -> str | None:
    name, value = seen[-1]
    if name == b"interactions" and value == b"[":
        return "interactions"
    if name in _BEFORE_INTERACTIONS and value[:1] not in b"[{":
        return None
    if name == b"log" and value == b"{":
        return "har"
    if len(seen) == 1:
        return None if name == b"type" and value in _RECORDS else "raw"
    is_record = seen[0][0] == b"type" and seen[0][1] in _RECORDS and name in _IDS
    return "llm-interceptor" if is_record else "raw"


def _form_of_lines(text: bytes) -> str | None:
    if _CASSETTE.match(text):
        return "cassette"
    line = text[: text.find(b"\n") + 1] or text
    is_open = any(line.startswith(one) or one.startswith(line) for one in _CASSETTE_BEGINNINGS)
    return None if is_open else "raw"


def _is_stream(text: bytes) -> bool | None:
    """Return whether a file begins as a stream does, None while more bytes are needed."""
    if text.startswith(_STREAM_BEGINNINGS):
        return True
    return None if any(one.startswith(text) for one in _STREAM_BEGINNINGS) else False


def _suffix(path: str) -> str:
    name = PurePath(path.lower())
    return PurePath(name.stem).suffix if name.suffix in COMPRESSED else name.suffix


def _by_suffix(path: str, *, is_object: bool) -> str:
    suffixes: dict[str, str] = {".har": "har"} if is_object else dict.fromkeys(_CASSETTES, "cassette")
    return suffixes.get(_suffix(path), "raw")


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
    if framing == "jsonl" and lines.holds_bodies(source):
        return "bodies"
    if framing in {"jsonl", "jsonarray"} and others.is_transcript(source.head):
        return "transcript"
    is_text = framing not in {"eventstream", "vercel"}  # Vercel's lines have a code before them
    return "pasted" if is_text and pasted.is_pasted(source.head) else "raw"


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
    llm-interceptor, files of llm-mock, logs and quotes of a stream; each may be compressed with gzip or Zstandard. Folders and globs give the files with a recording's suffix.

    Args:
        sources: paths.
        max_bytes: the largest content of a compressed file, and of a compressed body in a file; by default 64 MiB, or
            200 times its size if that is more. A larger file or body is a recording with `trouble`, or raises there.

    Returns:
        An iterator that never raises: an unreadable file is a recording with `trouble`, or one whose chunks raise
        `BadRecording` where the damage begins.
    """
    return Recordings(find(sources), max_bytes)
