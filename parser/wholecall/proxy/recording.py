"""Recordings of the upstreams' answers, before repair: one file for each exchange, written by a thread.

Theory of operation. A tape takes the pieces of one answer with their times. The pieces wait in memory. If everything is
recorded, they wait until there are enough of them for the writer. If only odd exchanges are kept, they wait until the
exchange is over, or until one exchange, or all together, keep too much. A file has the suffix `.part` until it is
whole. The event loop never waits for the writer: when too much data waits for the disk, the recording is given up and
counted, and its file is removed.

The folder is listed when a sixteenth of its bound was written since the last listing, or when the bound is reached:
other workers may write, too, and listing all files for each new one would take longer and longer. Then a sixteenth more
is removed than necessary, the oldest files first. Files with other names than ours are never touched. An entry that has
such a name but is not a regular file is not touched either; it is reported once.
"""

from __future__ import annotations

import io
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from stat import S_ISREG
from threading import Lock
from typing import IO, Any, Final

import msgspec

from wholecall.proxy.background import Background
from wholecall.proxy.config import RecordConfig
from wholecall.proxy.entry import Entry
from wholecall.proxy.log import plain_path
from wholecall.recordings import Recorder

_private = True

MIB: Final = 1024 * 1024
_OVERHEAD: Final = 128  # memory of a piece in addition to its bytes

_SUFFIX: Final = ".jsonl"
_PART: Final = ".part"
_OURS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_.*\.jsonl(\.part)?\Z")
_MOMENT: Final = len("2026-11-23T09-06-55")
_ABANDONED: Final = 3600.0  # seconds without a write after which a part counts as abandoned
_MOST_NAMESAKES: Final = 1000
_STEPS: Final = 16
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)

Piece = tuple[float, bytes]  # seconds since the answer began, and the bytes
Clock = Callable[[], float]


class Bounds(msgspec.Struct, frozen=True, kw_only=True):
    """Bounds on the data in memory.

    Attributes:
        tape: bytes of one exchange that may turn out to be odd; further bytes are written to disk early.
        all: the same, of all exchanges together.
        batch: bytes of one exchange that are written together, if it is certain that they are kept.
        seconds: how long they wait for further bytes.
        queue: bytes that may wait for the disk.
        jobs: pieces that may wait for the disk.
    """

    tape: int = 4 * MIB
    all: int = 64 * MIB
    batch: int = MIB // 16
    seconds: float = 1.0
    queue: int = 32 * MIB
    jobs: int = 20_000


class Recordings:
    """The recordings of one process.

    Args:
        config: where recordings go, and which are kept; `dir` is not None.
        bounds: bounds on the data in memory.
        clock: returns seconds, for the times of pieces.
        told: is called with the name of an entry in the folder that is not a regular file.

    Raises:
        OSError: the folder cannot be created, or nothing can be written into it.
    """

    def __init__(
        self,
        config: RecordConfig,
        *,
        bounds: Bounds = Bounds(),  # noqa: B008 - frozen
        clock: Clock = time.monotonic,
        told: Callable[[str], object] = lambda _: None,
    ) -> None:
        assert config.dir is not None
        self.config = config
        self.bounds = bounds
        self.clock = clock
        self.held = 0
        self.writer = Background("recordings", most_jobs=bounds.jobs, most_bytes=bounds.queue)
        self.folder = Folder(config.dir, config.max_bytes, told)
        self._lost = 0
        self._lock = Lock()

    def __repr__(self) -> str:
        return f"<Recordings {self.config.only}>"

    @property
    def lost(self) -> int:
        """The number of recordings that were given up, because the disk was too slow, or full."""
        return self._lost

    def lose(self, file: _File) -> None:
        """Give a recording up, and count it once."""
        with self._lock:
            self._lost += not file.is_lost
            file.is_lost = True

    def tape(self, entry: Entry) -> Tape:
        """Return a tape for an answer that begins now."""
        return Tape(self, entry)

    def close(self, seconds: float | None = None) -> bool:
        """Write the waiting data.

        Args:
            seconds: how long that may take at most.

        Returns:
            whether everything is written.
        """
        return self.writer.close(seconds)


class Tape:
    """Takes the pieces of one answer; its methods neither wait nor raise."""

    def __init__(self, recordings: Recordings, entry: Entry) -> None:
        self._recordings = recordings
        self._file = _File(recordings, entry)
        self._began = recordings.clock()
        self._sent = self._began
        self._is_wanted = recordings.config.only == "all"
        self._pieces: list[Piece] = []
        self._held = 0
        self._is_begun = False  # whether the writer got anything to write

    def __repr__(self) -> str:
        return f"<Tape {self._held} bytes held>"

    def chunk(self, data: bytes) -> None:
        """Take a piece."""
        if self._file.is_lost:
            return
        recordings = self._recordings
        now = recordings.clock()
        self._pieces.append((now - self._began, data))
        size = len(data) + _OVERHEAD
        self._held += size
        recordings.held += size
        if self._is_due(now):
            self._is_wanted = True  # or so large that it has to be written, and judged later
            self._sent = now
            self._send()

    def over(self, *, is_odd: bool) -> None:
        """End the recording when the answer is over: keep it, or discard it if it is not needed.

        Args:
            is_odd: whether the exchange is worth a look.
        """
        if self._file.is_lost:
            self._forget()
            return
        writer = self._recordings.writer
        if is_odd or self._recordings.config.only == "all":
            if self._send() and not writer.insist(self._file.finish):
                self._give_up()
            return
        self._forget()
        if self._is_begun:
            writer.insist(self._file.remove)

    def _is_due(self, now: float) -> bool:
        recordings, bounds = self._recordings, self._recordings.bounds
        if self._is_wanted:
            return self._held > bounds.batch or now - self._sent > bounds.seconds
        return self._held > bounds.tape or recordings.held > bounds.all

    def _send(self) -> bool:
        pieces, size = self._pieces, self._held
        self._forget()
        self._is_begun = True
        is_taken = self._recordings.writer.offer(lambda: self._file.write(pieces), size)
        if not is_taken:
            self._give_up()
        return is_taken

    def _give_up(self) -> None:
        self._forget()
        self._recordings.lose(self._file)
        self._recordings.writer.insist(self._file.remove)

    def _forget(self) -> None:
        self._recordings.held -= self._held
        self._pieces, self._held = [], 0


class _File:
    """The file of one recording; it belongs to the writer's thread, except for `is_lost`.

    Attributes:
        is_lost: whether the recording was given up.
    """

    def __init__(self, recordings: Recordings, entry: Entry) -> None:
        self._recordings = recordings
        self._entry = entry
        self._lines = io.BytesIO()
        self._recorder: Recorder | None = None
        self._part: Path | None = None
        self._file: IO[bytes] | None = None
        self.is_lost = False

    def write(self, pieces: Iterable[Piece]) -> None:
        """Write pieces, the first of them after the header."""
        if self.is_lost:
            return
        lines = self._encoded(pieces)
        try:
            if self._file is None:
                self._part, self._file = self._recordings.folder.begin(_stem(self._entry))
            self._file.write(lines)
            self._file.flush()
        except OSError:
            self._fail()

    def _encoded(self, pieces: Iterable[Piece]) -> bytes:
        """Return the lines of pieces; they are written at once, not separately."""
        recorder = self._recorder
        if recorder is None:
            known = _known(self._entry, with_request=self._recordings.config.requests)
            recorder = self._recorder = Recorder(self._lines, **known)
        for at, data in pieces:
            recorder.write(data, at)
        lines = self._lines.getvalue()
        self._lines.seek(0)
        self._lines.truncate()
        return lines

    def finish(self) -> None:
        """Give the whole file its final name."""
        if self._file is None or self._part is None or self.is_lost:
            return
        try:
            self._file.close()
            self._recordings.folder.keep(self._part)
        except OSError:
            self._fail()

    def remove(self) -> None:
        """Remove the file."""
        if self._file is not None:
            with suppress(OSError):  # unwritten data is not needed
                self._file.close()
        if self._part is not None:
            with suppress(OSError):
                self._part.unlink()

    def _fail(self) -> None:
        self._recordings.lose(self)
        self.remove()


def _stem(entry: Entry) -> str:
    moment = datetime.fromtimestamp(entry.started, tz=timezone.utc)
    return f"{moment:%Y-%m-%dT%H-%M-%S}_{entry.id.replace(':', '-')}"  # Windows forbids colons in names


def _known(entry: Entry, *, with_request: bool) -> dict[str, Any]:
    """Return the content of the header, without the request's headers and query."""
    meta: dict[str, Any] = {"id": entry.id, "upstream": entry.upstream}
    if with_request and entry.request:
        meta["request"] = entry.request.decode("utf-8", "replace")
    return {
        "method": entry.method,
        "url": plain_path(entry.path),
        "status": entry.status,
        "content_type": entry.content_type or None,
        "meta": meta,
    }


class Folder:
    """The folder of the recordings; for one thread.

    Args:
        path: its path; it is created if it does not exist.
        most_bytes: size of all recordings in it; None is no bound.
        told: is called with the name of an entry among the recordings that is not a regular file.

    Raises:
        OSError: it cannot be created, or nothing can be written into it.
    """

    def __init__(
        self, path: Path, most_bytes: int | None, told: Callable[[str], object] = lambda _: None
    ) -> None:
        self._told = told
        self._skipped: set[str] = set()
        self._path = path
        self._most = most_bytes
        self._written: float = 0  # since the last listing of the folder
        self._room: float = 0  # until the next one
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.access(path, os.W_OK | os.X_OK):
            raise PermissionError(f"recordings cannot be written into {path.name!r}: no permission")
        for _ in self._files():  # report entries that are not files before anything is written
            pass

    def begin(self, stem: str) -> tuple[Path, IO[bytes]]:
        """Create a file under a name that no other recording has, or had while it was written.

        Raises:
            OSError: there is no such name, or the file cannot be created.
        """
        for number in range(1, _MOST_NAMESAKES):
            name = f"{stem}{'' if number == 1 else f'-{number}'}{_SUFFIX}"
            part = self._path / f"{name}{_PART}"
            with suppress(FileExistsError):
                descriptor = os.open(part, _NEW, 0o600)
                if not (self._path / name).exists():
                    return part, os.fdopen(descriptor, "wb")
                os.close(descriptor)
                part.unlink()
        raise FileExistsError(f"{_MOST_NAMESAKES} recordings have the same name")

    def keep(self, part: Path) -> None:
        """Give a whole file its final name, and make room for the next.

        Raises:
            OSError: it cannot be renamed.
        """
        size = part.stat().st_size
        part.rename(part.with_suffix(""))
        self._written += size
        if self._most is not None and self._written >= self._room:
            self._make_room(self._most)

    def _make_room(self, most: int) -> None:
        """Remove the oldest recordings beyond the bound; other workers may do the same at the same time."""
        step = most / _STEPS
        files = sorted(self._files(), reverse=True)
        total = sum(size for _, size, _ in files)
        goal = most - step if total > most else most
        while total > goal and len(files) > 1:
            _, size, path = files.pop()
            total -= size
            with suppress(FileNotFoundError):
                path.unlink()
        self._written, self._room = 0, min(step, max(most - total, 0))

    def _files(self) -> Iterator[tuple[tuple[str, float], int, Path]]:
        """Yield the recordings, each with a key that orders it by age; files still being written do not count."""
        now = time.time()
        with os.scandir(self._path) as entries:
            for entry in entries:
                stat = _stat(entry) if _OURS.match(entry.name) else None
                if stat is not None and not S_ISREG(stat.st_mode):
                    self._skip(entry.name)
                    continue
                if stat is None or (entry.name.endswith(_PART) and now - stat.st_mtime < _ABANDONED):
                    continue
                yield (entry.name[:_MOMENT], stat.st_mtime), stat.st_size, Path(entry.path)

    def _skip(self, name: str) -> None:
        if name not in self._skipped:
            self._skipped.add(name)
            self._told(name)


def _stat(entry: os.DirEntry[str]) -> os.stat_result | None:
    """Return the status of a file, None if it has disappeared meanwhile."""
    with suppress(FileNotFoundError):
        return entry.stat(follow_symlinks=False)
    return None
