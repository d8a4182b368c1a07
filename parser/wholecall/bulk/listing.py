"""List the inputs in a store: an object, the content of a folder, or the matches of a pattern.

Theory of operation. All of it follows the behavior of `wholecall.recordings` on disks: a folder that was copied to a
store has the same inputs under the same names. A store lists everything below a folder at once; patterns are tried on
the names afterwards.
"""

from __future__ import annotations

import glob
from collections.abc import Iterator, Sequence
from contextlib import suppress
from fnmatch import fnmatchcase
from typing import Any, Protocol

from pyarrow import fs

from wholecall.bulk.addresses import folder_of, joined, root_of
from wholecall.bulk.place import Input
from wholecall.recordings.finding import is_named_so

__all__ = ["find", "state_of"]
_private = True


class Lists(Protocol):
    """The listing methods of a store."""

    def info(self, path: str) -> Any:
        """Return the `pyarrow.fs` information on an address."""
        ...

    def listed(self, folder: str, *, recursive: bool) -> list[tuple[str, Any]]:
        """Return the content of a folder: each path below it with its information.

        Raises:
            FileNotFoundError: there is no such folder.
        """
        ...


def find(store: Lists, path: str, suffixes: tuple[str, ...]) -> tuple[str, Iterator[Input]]:
    """Return the base folder of an address or pattern, and its objects.

    Raises:
        StoreFailed: the store cannot be asked, or has no such bucket.
    """
    root, below = root_of(path)
    found = store.info(path)
    if found.type == fs.FileType.File:
        return folder_of(path), iter([_input(path, found, named=True)])
    if found.type == fs.FileType.Directory or not below:
        return path, _or_none(path, _in(store, path, [], suffixes), suffixes)
    names = below.split("/")
    fixed = next((number for number, name in enumerate(names) if glob.has_magic(name)), None)
    if fixed is None:
        with suppress(FileNotFoundError):
            store.listed(path, recursive=False)  # reports that there is no such bucket
        return folder_of(path), iter([Input(path, 0, 0, named=True)])  # found by reading it
    folder = joined(root, *names[:fixed])
    return folder, _or_none(path, _in(store, folder, names[fixed:], suffixes), suffixes)


def _in(store: Lists, folder: str, pattern: Sequence[str], suffixes: tuple[str, ...]) -> Iterator[Input]:
    """Yield the objects that a pattern matches, or that are in a matching folder."""
    with suppress(FileNotFoundError):
        for below, one in store.listed(folder, recursive=True):
            is_one = one.type == fs.FileType.File and is_named_so(below, suffixes)
            if is_one and _matches(below.split("/"), pattern):
                yield _input(joined(folder, below), one)


def _matches(names: Sequence[str], pattern: Sequence[str]) -> bool:
    """Return whether the first names match a pattern; wildcards and folders leave out hidden names."""
    if not pattern:
        return not any(map(_is_hidden, names))
    if not names:
        return False
    first, *rest = pattern
    if first == "**":
        return _matches(names, rest) or (not _is_hidden(names[0]) and _matches(names[1:], pattern))
    is_seen = _is_hidden(first) or not _is_hidden(names[0])
    return is_seen and fnmatchcase(names[0], first) and _matches(names[1:], rest)


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _input(path: str, info: Any, *, named: bool = False) -> Input:
    return Input(path, *state_of(info), named)


def state_of(info: Any) -> tuple[int, int]:
    """Return the size of an object and its time of change; zeros where the store does not know them."""
    return (info.size or 0, info.mtime_ns or 0) if info.type == fs.FileType.File else (0, 0)


def _or_none(path: str, found: Iterator[Input], suffixes: tuple[str, ...]) -> Iterator[Input]:
    """Yield the found inputs, or one that says that there are none."""
    first = next(found, None)
    if first is None:
        yield Input(path, 0, 0, trouble=f"no recording ({' '.join(suffixes)}) there")
        return
    yield first
    yield from found
