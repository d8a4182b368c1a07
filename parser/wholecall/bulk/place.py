"""Base class of the two kinds of places for inputs and tables: disks and object stores.

Theory of operation. A place knows how to list, read and write; a scan knows nothing else of it. Each file is named by
its whole address. Output is a *draft* first, which is invisible; it gets its name in one step when it is whole, or
never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, NamedTuple, Protocol

__all__ = ["Draft", "Input", "Place"]
_private = True


class Input(NamedTuple):
    """A file to be read.

    Attributes:
        path: its address.
        size: in bytes, 0 where it is unknown.
        mtime: when it was changed, in nanoseconds; 0 where that is unknown.
        named: whether the caller named it explicitly.
        trouble: why it cannot be read.
    """

    path: str
    size: int
    mtime: int
    named: bool = False
    trouble: str | None = None


class Draft(Protocol):
    """A file that is being written and has no name yet."""

    file: BinaryIO

    def finish(self) -> int:
        """Make all of it durable, still without its name, and return its size."""
        ...

    def publish(self) -> None:
        """Give it its name, replacing an existing file."""
        ...

    def abandon(self) -> None:
        """Remove it if it is still a draft."""
        ...


class Place(Protocol):
    """A file system that holds files.

    Each method may raise `OSError` for the file it is asked about, and `StoreFailed` where a store does not answer.

    Attributes:
        at_once: how many questions are asked at once: one where answers are immediate.
    """

    at_once: int

    # Inputs.

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the base folder of a file, a folder, or a glob, and its inputs."""
        ...

    def state(self, path: str) -> tuple[int, int]:
        """Return the size of a file and its time of change; zeros where these are unknown."""
        ...

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Return a file that is read from a byte on, in pieces."""
        ...

    def read(self, path: str, start: int = 0, size: int = -1) -> bytes:
        """Return some bytes of a file."""
        ...

    def ranges(self, path: str) -> Any:
        """Return a file from which Arrow reads the parts it needs."""
        ...

    def mapped(self, path: str) -> Any:
        """Return such a file in memory, where that is free."""
        ...

    # Outputs.

    def exists(self, path: str) -> bool:
        """Return whether a file exists."""
        ...

    def entries(self, folder: str) -> set[str] | None:
        """Return the entries of a folder, none if it is missing; None if it is a file."""
        ...

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files in a folder, by name."""
        ...

    def make(self, folders: Iterable[str]) -> None:
        """Create folders, where a place has any."""
        ...

    def locked(self, path: str) -> AbstractContextManager[None]:
        """Hold a lock, which the system releases however the process ends.

        Raises:
            BlockingIOError: another process holds it.
        """
        ...

    def draft(self, path: str) -> Draft:
        """Begin a file."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, if it exists."""
        ...

    def settle(self, folder: str) -> None:
        """Make the names in a folder durable against power loss."""
        ...
