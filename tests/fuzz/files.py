"""The target that reads recordings from files of every form."""

from __future__ import annotations

import gzip
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import zstandard

from tests.fuzz.model import Target, held, opened
from tests.support.corpora import CORPORA
from tests.support.recording_files import FILES
from wholecall import BadRecording
from wholecall.recordings import read

SUFFIXES = (".jsonl", ".yaml", ".har", ".json", ".sse", ".bin", "")
CODINGS = ("", "gzip", "zstd", "as .gz", "as .zst")


def run_recordings(data: bytes) -> None:
    """Read a file: nothing raises but taking chunks, `BadRecording` and nothing else; twice is once."""
    options, payload = opened(data)
    coding = options.pick(1, CODINGS)
    if coding == "gzip":
        payload = gzip.compress(payload, 1, mtime=0)
    elif coding == "zstd":
        payload = zstandard.compress(payload, 1)
    path = _folder() / f"file{options.pick(0, SUFFIXES)}{coding[3:] if coding.startswith('as ') else ''}"
    path.write_bytes(payload)
    once = list(_outcomes(path))
    held("law 57: reading twice differs", once == list(_outcomes(path)))


def _outcomes(path: Path) -> Iterator[object]:
    for recording in read(path):
        repr(recording)
        chunks: list[tuple[float | None, bytes]] = []
        try:
            chunks.extend(recording.chunks)
        except BadRecording as error:
            yield str(error)
            continue
        held("law 57: a chunk is no bytes", all(type(chunk) is bytes for _, chunk in chunks))
        held(
            "law 57: a time is no number",
            all(time is None or isinstance(time, (int, float)) for time, _ in chunks),
        )
        held("law 57: trouble, and yet chunks", recording.trouble is None)
        yield (
            repr((recording.form, recording.status, recording.provider)),
            b"".join(chunk for _, chunk in chunks),
        )


@cache
def _folder() -> Path:
    """Return a folder of this process alone, in memory where the system has that."""
    memory = Path("/dev/shm")  # noqa: S108 - a folder below it is made, with a name of its own
    folder = tempfile.TemporaryDirectory(prefix="wholecall-fuzz-", dir=memory if memory.is_dir() else None)
    _kept.append(folder)
    return Path(folder.name)


_kept: list[tempfile.TemporaryDirectory[str]] = []  # removed when the process ends


def _seeds() -> Iterator[bytes]:
    bodies = [
        ("a.sse", b"data: \xc3\xb8\n\n"),
        ("b.bin", b"\0\xff"),
        ("c.ndjson", b'{"done":true}\n'),
        ("d.sse", b""),
    ]
    for number, (name, make) in enumerate(FILES.items()):
        yield _head("." + name.rpartition(".")[2], number % 3) + make(bodies)
        yield _head("", 0) + make(bodies[:1])
    for path in sorted((CORPORA / "tools").iterdir()):
        if path.stat().st_size < 20_000:
            yield _head(path.suffix, 0) + path.read_bytes()
    small = FILES["own.jsonl"](bodies)
    yield _head(".jsonl", 3) + gzip.compress(small, mtime=0)
    yield _head(".jsonl", 4) + zstandard.compress(small)


def _head(suffix: str, coding: int) -> bytes:
    return bytes((SUFFIXES.index(suffix) if suffix in SUFFIXES else 6, coding, 0, 0, 0, 0, 0, 0))


TARGETS = (Target("recordings", run_recordings, _seeds, "wholecall.recordings"),)
