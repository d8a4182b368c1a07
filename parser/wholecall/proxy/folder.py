"""The folder of recordings: unused names, and a bound on all bytes; the oldest files are removed first.

Theory of operation. A file has the suffix `.part` until it is whole. The folder is listed when a sixteenth of the bound
was written since the last listing, or when the bound is reached: other workers may write, too, and listing all files
for each new one would take longer and longer. Then a sixteenth more is removed than necessary. Files with other names
than ours are never touched. An entry that has such a name but is not a regular file is not touched either; it is
reported once.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from stat import S_ISREG
from typing import IO, Final

__all__ = ["Folder"]
_private = True

_SUFFIX: Final = ".jsonl"
_PART: Final = ".part"
_OURS: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d_.*\.jsonl(\.part)?\Z")
_MOMENT: Final = len("2026-11-23T09-06-55")
_ABANDONED: Final = 3600.0  # seconds without a write after which a part counts as abandoned
_MOST_NAMESAKES: Final = 1000
_STEPS: Final = 16
_NEW: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


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
