"""Disks, as places where a scan reads and writes.

Theory of operation. A draft is a hidden file next to its target: no reader of a folder of tables takes it for a part.
It is synced to the disk and then renamed. Hidden files of processes that died are leftovers, which the next scan
removes.
"""

from __future__ import annotations

import glob
import os
import sys
from collections.abc import Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from wholecall.bulk.place import Input
from wholecall.recordings.finding import find

__all__ = ["Disk"]
_private = True


class Disk:
    """The disks of this machine."""

    at_once = 1

    # Inputs.

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the base folder of a path or pattern and its files, as `wholecall.recordings` finds them."""
        return os.path.abspath(_base(path)), self._found(path, suffixes)  # noqa: PTH100 - paths are texts here

    def _found(self, path: str, suffixes: tuple[str, ...]) -> Iterator[Input]:
        for place in find([path], suffixes):
            found = os.path.abspath(place.path)  # noqa: PTH100 - as above
            size, mtime = (0, 0) if place.trouble else self.state(found)
            yield Input(found, size, mtime, place.named, place.trouble)

    def state(self, path: str) -> tuple[int, int]:
        """Return the size of a file and its time of change; zeros where these are unknown."""
        try:
            found = os.stat(path)  # noqa: PTH116 - as above
        except OSError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Open a file."""
        file = Path(path).open("rb")  # noqa: SIM115 - the caller's
        if start:
            file.seek(start)
        return file

    def read(self, path: str, start: int = 0, size: int = -1) -> bytes:
        """Return some bytes of a file."""
        with self.open(path, start) as file:
            return file.read(size)

    def ranges(self, path: str) -> Any:
        """Open a file for reading by Arrow."""
        return pa.OSFile(path, "rb")

    def mapped(self, path: str) -> Any:
        """Map a file into memory."""
        return pa.memory_map(path)

    # Outputs.

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""
        return Path(path).exists()

    def entries(self, folder: str) -> set[str] | None:
        """Return the entries of a folder; None if it is a file."""
        try:
            return set(os.listdir(folder))  # noqa: PTH208 - names are what is asked for
        except (FileNotFoundError, NotADirectoryError):
            return None if Path(folder).exists() else set()

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files in a folder, by name."""
        with suppress(FileNotFoundError), os.scandir(folder) as entries:
            return {entry.name: entry.stat().st_size for entry in entries if entry.is_file()}
        return {}

    def make(self, folders: Iterable[str]) -> None:
        """Create folders."""
        for folder in folders:
            Path(folder).mkdir(parents=True, exist_ok=True)

    @contextmanager
    def locked(self, path: str) -> Generator[None]:
        """Hold a lock; network disks without locks have none."""
        with Path(path).open("ab") as file:
            _lock(file)
            yield

    def draft(self, path: str) -> _Hidden:
        """Begin a hidden file."""
        return _Hidden(path)

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        Path(path).unlink(missing_ok=True)

    def settle(self, folder: str) -> None:
        """Sync the names in a folder to the disk, where the system can."""
        if sys.platform == "win32":
            return
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


class _Hidden:
    """A draft next to its target."""

    def __init__(self, path: str) -> None:
        self._target = Path(path)
        self._hidden = self._target.with_name(f".{self._target.stem}.{os.getpid()}")
        self.file: BinaryIO = self._hidden.open("wb")

    def finish(self) -> int:
        self.file.flush()
        os.fsync(self.file.fileno())
        size = self.file.tell()
        self.file.close()
        return size

    def publish(self) -> None:
        os.replace(self._hidden, self._target)  # noqa: PTH105 - one name for what tests interrupt

    def abandon(self) -> None:
        with suppress(OSError):
            self.file.close()
        self._hidden.unlink(missing_ok=True)


def _base(argument: str) -> str:
    """Return the base folder of a path or pattern."""
    path = Path(argument)
    if path.is_dir():
        return argument
    if path.exists() or not glob.has_magic(argument):
        return str(path.parent)
    parts = list(path.parts)
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return str(Path(*parts[:fixed])) if fixed else "."


if sys.platform == "win32":
    import msvcrt

    def _lock(file: BinaryIO) -> None:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError as error:
            raise BlockingIOError from error

else:
    import fcntl

    def _lock(file: BinaryIO) -> None:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
