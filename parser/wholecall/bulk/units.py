"""Divide the inputs of a scan into units.

Theory of operation. The inputs are sorted by the names that they have in the tables (`source`), whichever way they were
found, and packed in that order into *units*. A unit is the work of a worker at one time, the source of one part of each
table, and the work that is repeated if anything goes wrong. Its id is made of its sources and of the options, not of
sizes or times: the same unit done again, also over files that have changed, has the same parts, which replace the older
ones.

An input that is large is a unit alone, and a large table is several *pieces*, which its reader cuts.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import msgspec

from wholecall.bulk import addresses, storage
from wholecall.recordings.finding import STDIN, SUFFIXES

_private = True

MOST_BYTES = 64_000_000  # of the inputs of a unit, unless one input is larger
MOST_PIECES = 2_000


class Piece(msgspec.Struct, frozen=True, gc=False):
    """An input, or a part of a table.

    Attributes:
        source: its name in the tables: its path below the folder in which it was found, with `/`.
        path: where it is, from the root of the file system, or its address in a store.
        size: bytes of the file.
        mtime: when the file was changed, nanoseconds of the system's clock.
        named: whether the caller named it explicitly.
        trouble: why it cannot be read.
        weight: about how many bytes there are to parse.
        start: the first row group or byte of this part; None where it is the whole input.
        stop: the first one after it.
        row: the number of its first row.
        n_rows: its number of rows; None where it is unknown.
    """

    source: str
    path: str
    size: int
    mtime: int
    named: bool = False
    trouble: str | None = None
    weight: int = 0
    start: int | None = None
    stop: int | None = None
    row: int = 0
    n_rows: int | None = None


class Unit(msgspec.Struct, frozen=True):
    """A portion of work.

    Attributes:
        number: from 0, in the order of the sources; units that are found later come last.
        id: the id in the names of its parts.
        weight: the sum of the weights of its pieces.
        pieces: its inputs.
    """

    number: int
    id: str
    weight: int
    pieces: tuple[Piece, ...]

    @property
    def name(self) -> str:
        """The name of its parts, without a suffix."""
        return f"part-{self.number:06}-{self.id}"

    def line(self) -> bytes:
        """Return it as a line of JSON; names of files that are not valid UTF-8 survive that."""
        pieces = [msgspec.structs.astuple(piece) for piece in self.pieces]
        return json.dumps([self.number, self.id, self.weight, pieces], separators=(",", ":")).encode() + b"\n"


def unit_of(line: bytes) -> Unit:
    """Return the unit of a line."""
    number, id, weight, pieces = json.loads(line)
    return Unit(number, id, weight, tuple(Piece(*piece) for piece in pieces))


def packed(pieces: Iterable[Piece], key: str, first: int = 0) -> Iterator[Unit]:
    """Yield units of pieces, in their order.

    Args:
        pieces: the pieces with their weights.
        key: identifies the options.
        first: the number of the first unit.
    """
    open_: list[Piece] = []
    weight, number = 0, first
    for piece in pieces:
        if open_ and (weight + piece.weight > MOST_BYTES or len(open_) == MOST_PIECES):
            yield _unit(number, key, weight, open_)
            open_, weight, number = [], 0, number + 1
        open_.append(piece)
        weight += piece.weight
    if open_:
        yield _unit(number, key, weight, open_)


def _unit(number: int, key: str, weight: int, pieces: Sequence[Piece]) -> Unit:
    said = json.dumps([key, [(piece.source, piece.start, piece.stop) for piece in pieces]])
    return Unit(number, hashlib.sha256(said.encode()).hexdigest()[:12], weight, tuple(pieces))


# --- inputs ----------------------------------------------------------------------------------------------


def found(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    suffixes: tuple[str, ...] = SUFFIXES,
) -> list[Piece]:
    """Return the files and objects at some addresses, sorted by source.

    Args:
        paths: files, folders, globs, on disks and in stores.
        out: the output folder, from which nothing is read.
        suffixes: the suffixes of files in folders.

    Raises:
        ValueError: two inputs are one file, or have the same source; standard input cannot be read again.
    """
    arguments = [addresses.address(os.fspath(path)) for path in paths]
    if STDIN in arguments:
        raise ValueError(
            "standard input can be read but once: save it with `wholecall record`, and scan the file"
        )
    written = addresses.address(os.fspath(out))
    own = f"{written}/" if addresses.is_url(written) else f"{os.path.abspath(written)}{os.sep}"  # noqa: PTH100 - many texts
    pieces = [
        piece
        for argument in arguments
        for piece in _below(argument, suffixes)
        if not piece.path.startswith(own)
    ]
    pieces.sort(key=lambda piece: piece.source)
    _refuse_doubles(pieces, several=len(arguments) > 1)
    return pieces


def _refuse_doubles(pieces: Sequence[Piece], *, several: bool) -> None:
    for one, other in pairwise(pieces):
        if one.source == other.source and one.path != other.path:
            both = f"{one.path} and {other.path}"
            raise ValueError(f"{both} would both be called {one.source}: name a folder that holds them")
        if one.source == other.source:
            raise ValueError(f"{one.path} is named twice")
    if several and len({piece.path for piece in pieces}) < len(pieces):
        paths = sorted(piece.path for piece in pieces)
        twice = next(one for one, other in pairwise(paths) if one == other)
        raise ValueError(f"{twice} is found twice: below a folder that is named, and by another name")


def _below(argument: str, suffixes: tuple[str, ...]) -> Iterator[Piece]:
    """Yield the inputs at one address."""
    base, inputs = storage.storage_of(argument).find(argument, suffixes)
    source_of = _sources(argument, base)
    for path, size, mtime, named, trouble in inputs:
        yield Piece(source_of(path), path, size, mtime, named, trouble, size)


def _sources(argument: str, base: str) -> Callable[[str], str]:
    """Return a function that makes sources of paths below a folder; the folder itself has its own name."""
    separator = "/" if addresses.is_url(base) else os.sep
    prefix = base if base.endswith(separator) else f"{base}{separator}"
    itself = Path(addresses.shown(base) if addresses.is_url(base) else base).name or argument

    def source_of(path: str) -> str:
        below = path.removeprefix(prefix) if path != base else itself
        return below.replace(separator, "/")

    return source_of
