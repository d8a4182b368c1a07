"""The transcripts that a command line names, and the files that they are written to.

Theory of operation. All input files are found before anything is written, so that no output is read. In folders and
globs only files with the suffix of a transcript count. Several files are written into a folder, each under its path in
the folder in which it was found; the output folder must not be in a folder that is read.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from wholecall.cli.target import STDIO
from wholecall.recordings.finding import Place, find

__all__ = ["Found", "found_files", "targets_of"]

_SUFFIXES = (".jsonl", ".ndjson", ".json")


class Found(msgspec.Struct, frozen=True):
    """A file that may hold a transcript.

    Attributes:
        path: its path, `-` for standard input.
        name: its path in the folder that was searched; for a named file, its name.
        is_named: whether it was named itself.
        trouble: why it cannot be read.
    """

    path: str
    name: str
    is_named: bool = True
    trouble: str | None = None


def found_files(paths: Iterable[str]) -> list[Found]:
    """Return the files at some paths: files, folders, globs, `-`."""
    return [found for path in paths for found in _at(path)]


def _at(path: str) -> Iterator[Found]:
    places = [place for place in find([path]) if _counts(place)]
    for place in places:
        name = os.path.relpath(place.path, path) if Path(path).is_dir() else Path(place.path).name
        yield Found(place.path, "stdin.jsonl" if place.path == STDIO else name, place.named, place.trouble)
    if not places:
        yield Found(path, path, trouble=f"no transcript ({' '.join(_SUFFIXES)}) there")


def _counts(place: Place) -> bool:
    if place.trouble is not None:
        return place.path != "" and Path(place.path).exists() and not Path(place.path).is_dir()
    return place.named or place.path.lower().endswith(_SUFFIXES)


def targets_of(
    found: Sequence[Found], output: str | None, paths: Iterable[str], refuse: Callable[[str], object]
) -> list[str]:
    """Return where each file is written, `-` for standard output.

    Args:
        found: the files.
        output: the value of `-o`: a file, or a folder, which exists or ends in a slash.
        paths: the input paths, as they were named.
        refuse: is called with an error message.
    """
    into = output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())
    if output is None or not into:
        if len(found) > 1:
            refuse("several transcripts need a folder: -o DIR/")
        return [STDIO if output is None else output] * len(found)
    if any(_is_inside(output, path) for path in paths if Path(path).is_dir()):
        refuse(f"{output} is read, too; write to another folder")
    targets = [str(Path(output, one.name)) for one in found]
    twice = sorted({target for target in targets if targets.count(target) > 1})
    if twice:
        refuse(f"several transcripts would be written to {twice[0]}")
    return targets


def _is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder, or in it."""
    inner, outer = Path(path).resolve(), Path(folder).resolve()
    return inner == outer or outer in inner.parents
