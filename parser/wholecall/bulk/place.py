"""Base class of the two kinds of places for inputs and tables: disks and object stores.

Theory of operation. A place knows how to list, read and write; a scan knows nothing else of it. What is asked for is
named by its whole address. What is written is a *draft* first, of which nobody sees anything; it gets its name in one step
when it is whole, or never.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any, BinaryIO, NamedTuple, Protocol

__all__ = ["Draft", "Input", "Place"]
_private = True


class Input(NamedTuple):
    """Something that may be read.

    Attributes:
        path: its address.
        size: in bytes, 0 where that cannot be told.
        mtime: when it was changed, in nanoseconds; 0 where that cannot be told.
        named: whether it was asked for by its own name.
        trouble: why there is nothing to read.
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
        """Have all of it lie safely, still without its name, and return its size."""
        ...

    def publish(self) -> None:
        """Give it its name, in the place of what has it now."""
        ...

    def abandon(self) -> None:
        """Remove what is still a draft."""
        ...


class Place(Protocol):
    """Where files are.

    Each method may raise `OSError` for what it is asked about, and `StoreFailed` where a store does not answer.

    Attributes:
        at_once: how many questions are asked at once: one where answers come at once.
    """

    at_once: int

    # Inputs.

    def find(self, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
        """Return the folder below which something finds inputs, and these: of a file, a folder, or a glob."""
        ...

    def state(self, path: str) -> tuple[int, int]:
        """Return the size of a file and when it was changed; zeros where that cannot be told."""
        ...

    def open(self, path: str, start: int = 0) -> BinaryIO:
        """Return a file to be read on from a byte, in pieces."""
        ...

    def read(self, path: str, start: int = 0, size: int = -1) -> bytes:
        """Return some bytes of a file."""
        ...

    def ranges(self, path: str) -> Any:
        """Return a file of which Arrow reads what it needs."""
        ...

    def mapped(self, path: str) -> Any:
        """Return such a file in memory, where that costs nothing."""
        ...

    # Outputs.

    def exists(self, path: str) -> bool:
        """Return whether there is such a file."""
        ...

    def entries(self, folder: str) -> set[str] | None:
        """Return what is in a folder, nothing where there is none; None if it is a file."""
        ...

    def sizes(self, folder: str) -> dict[str, int]:
        """Return the sizes of the files in a folder, by name."""
        ...

    def make(self, folders: Iterable[str]) -> None:
        """Have folders, where a place has any."""
        ...

    def locked(self, path: str) -> AbstractContextManager[None]:
        """Hold a lock, which the system takes back however the process ends.

        Raises:
            BlockingIOError: somebody else holds it.
        """
        ...

    def draft(self, path: str) -> Draft:
        """Begin a file."""
        ...

    def remove(self, path: str) -> None:
        """Remove a file, if it is there."""
        ...

    def settle(self, folder: str) -> None:
        """Have the names in a folder outlive the machine's power."""
        ...
