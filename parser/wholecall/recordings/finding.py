"""Find the files that may hold recordings: paths, folders, globs, standard input.

Theory of operation. Finding never fails: an unreadable path is returned with its error. Folders are listed as they are
reached.
"""

from __future__ import annotations

import glob
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import BinaryIO, Union

import msgspec

StrPath = Union[str, "os.PathLike[str]"]
Opens = Callable[[], BinaryIO]

STDIN = "-"  # the path of standard input
SUFFIXES = (".sse", ".ndjson", ".jsonl", ".json", ".bin", ".har", ".yaml", ".yml")  # of recordings in folders
COMPRESSED = (".gz", ".zst")  # may follow any of them
_HERE = f".{os.sep}"  # the beginning of paths in the folder `.`; they are shown without it
# Files next to the recordings they belong to: our own sidecars and event logs, golden files of the pytest plugin.
_BESIDE = (".case.json", ".events.jsonl", ".golden.jsonl")


class Place(msgspec.Struct, frozen=True):
    """A file that may hold recordings.

    Attributes:
        path: its path as it was found, `"-"` for standard input.
        trouble: why it cannot be read; None where reading is worth a try.
        named: whether the caller named it, instead of a folder or a glob.
        opens: opens it, and raises `OSError` if that fails; None opens its path on the disk.
        max_bytes: the largest content of the file if it is compressed, and of each compressed body in it; None for the
            usual bound.
    """

    path: str
    trouble: str | None = None
    named: bool = False
    opens: Opens | None = None
    max_bytes: int | None = None


def find(paths: Iterable[StrPath], suffixes: tuple[str, ...] = SUFFIXES) -> Iterator[Place]:
    """Yield the files at some paths, in the order of the paths and sorted below each.

    A file is taken with any suffix. A folder gives the files with a suffix of `SUFFIXES` (and perhaps one of
    `COMPRESSED`) in it and below it, except hidden files, sidecars (`.case.json`), event logs (`.events.jsonl`) and
    golden files (`.golden.jsonl`). Links to folders are not followed, and pipes, sockets and devices are only read if
    they are named. A path that does not exist but is a glob (`**` goes through folders) gives the files that a folder
    of its matches would give.

    Args:
        paths: files, folders, globs, `"-"`.
        suffixes: the suffixes of files in folders, in small letters.
    """
    for one in paths:
        path = os.fspath(one)
        if path == STDIN:
            yield Place(path, named=True)
        elif path and Path(path).is_dir():
            yield from _or_none_below(path, _below(path, suffixes), suffixes)
        elif Path(path).exists() or not glob.has_magic(path):
            yield Place(path, named=True)  # a missing file is found by reading it
        else:
            yield from _or_none_below(path, _matches(path, suffixes), suffixes)


def _or_none_below(path: str, found: Iterator[Place], suffixes: tuple[str, ...]) -> Iterator[Place]:
    """Yield the found files, or one that says that there are none."""
    empty = True
    for place in found:
        empty = False
        yield place
    if empty:
        yield Place(path, f"no recording ({' '.join(suffixes)}) there")


def _matches(pattern: str, suffixes: tuple[str, ...]) -> Iterator[Place]:
    seen: set[str] = set()
    for path in sorted(glob.iglob(pattern, recursive=True)):  # noqa: PTH207 - Path.glob takes no absolute pattern
        single = [_met(path)] if is_named_so(path, suffixes) else []
        found = _below(path, suffixes) if Path(path).is_dir() else single
        for place in found:  # `**` matches a folder and its content
            if place.path not in seen:
                seen.add(place.path)
                yield place


def _below(folder: str, suffixes: tuple[str, ...]) -> Iterator[Place]:
    try:
        with os.scandir(str(Path(folder))) as listing:
            entries = sorted(listing, key=lambda entry: entry.name)
    except OSError as error:
        yield Place(folder, error.strerror or str(error))
        return
    for entry in entries:
        if entry.name.startswith("."):
            continue
        is_folder = entry.is_dir(follow_symlinks=False)
        path = entry.path.removeprefix(_HERE)
        if is_folder:
            yield from _below(path, suffixes)
        elif is_named_so(path, suffixes) and not (entry.is_symlink() and Path(path).is_dir()):
            yield _met(path)


def _met(path: str) -> Place:
    """Return an unnamed file; reading a pipe or a device could block for ever."""
    met = Path(path)
    is_irregular = met.exists() and not met.is_file()
    return Place(path, "it is no regular file; name it to have it read" if is_irregular else None)


def is_named_so(path: str, suffixes: tuple[str, ...]) -> bool:
    """Return whether a file has the name of a recording, or of any other wanted file."""
    name = path.lower()
    for suffix in COMPRESSED:
        name = name.removesuffix(suffix)
    return name.endswith(suffixes) and not name.endswith(_BESIDE)
