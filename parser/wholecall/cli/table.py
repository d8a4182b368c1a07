"""Counts of many recordings as a table that fits a screen: a row for each folder or dialect.

Theory of operation. Recordings are counted by folder and dialect together. After all are read, one of the two is chosen
for the rows: the folder, unless there is only one. If the screen has fewer lines, folders are counted with their parent
folders, and the smallest groups share a row.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath

from wholecall.cli.naming import common_folder, folder_of
from wholecall.cli.show import cells, padded, printable
from wholecall.cli.tally import Tally

__all__ = ["Groups"]

_COLUMNS: dict[str, Callable[[Tally], int]] = {
    "recordings": lambda tally: tally.recordings,
    "calls": lambda tally: tally.calls,
    "dropped": lambda tally: tally.dropped,
    "faults": lambda tally: tally.faults,
}
_BAD = ("dropped", "faults")
_NARROW = 60  # columns of a terminal; below that the names need the room of the first count
_GAP = 2
_DIM, _RED = 2, 31

Rows = dict[str, Tally]


class Groups:
    """Counts recordings by folder and dialect."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}

    def add(self, name: str, tally: Tally) -> None:
        """Count a recording, by its name; a recording without any readable part is left out."""
        if not tally.recordings and not tally.is_answer:
            return
        key = folder_of(name), tally.dialect or "(unknown)"
        self._tallies.setdefault(key, Tally()).merge(tally)

    def table(self, width: int, height: int | None, *, colour: bool) -> Iterator[str]:
        """Yield the lines of the table.

        Args:
            width: columns that a line has.
            height: the maximum number of lines, at least two; None is any number.
            colour: whether to use ANSI colours.
        """
        most = None if height is None else max(height - 1, 1)
        head, rows = self._rows(most)
        if most is not None:
            rows = _fewer(rows, most)
        counts = {word: count for word, count in _COLUMNS.items() if width >= _NARROW or word != "recordings"}
        yield from _lines(head, rows, counts, width, colour=colour)

    def _rows(self, most: int | None) -> tuple[str, Rows]:
        folders = sorted({folder for folder, _ in self._tallies})
        if len(folders) == 1:
            return "dialect", self._named({key: key[1] for key in self._tallies})
        common = common_folder(folders)
        head = f"{common}{os.sep}" if common else "folder"
        return head, self._by_folder(common, most)

    def _by_folder(self, common: str, most: int | None) -> Rows:
        """Return a row for each folder, or for the folders of the deepest level that has few enough."""
        parts = {
            key: PurePath(os.path.relpath(key[0], common) if common else key[0]).parts
            for key in self._tallies
        }
        rows: Rows = {}
        for depth in range(max(map(len, parts.values())), 0, -1):
            rows = self._named({key: str(PurePath(*path[:depth])) for key, path in parts.items()})
            if most is None or len(rows) <= most:
                break
        return rows

    def _named(self, names: Mapping[tuple[str, str], str]) -> Rows:
        """Return the counts by the name given to each folder and dialect."""
        rows: Rows = {}
        for key, tally in sorted(self._tallies.items()):
            rows.setdefault(printable(names[key]), Tally()).merge(tally)
        return rows


def _fewer(rows: Rows, most: int) -> Rows:
    """Return at most so many rows; the groups with the fewest recordings are summed up in the last row."""
    if len(rows) <= most:
        return rows
    order = sorted(rows, key=lambda name: rows[name].recordings, reverse=True)
    kept = set(order[: most - 1])
    rest = Tally()
    for name in order[most - 1 :]:
        rest.merge(rows[name])
    shown = {name: tally for name, tally in rows.items() if name in kept}
    return shown | {f"({len(rows) - len(kept):,} others)": rest}


def _lines(
    head: str, rows: Rows, counts: Mapping[str, Callable[[Tally], int]], width: int, *, colour: bool
) -> Iterator[str]:
    sizes = {
        word: max(len(word), *(len(f"{count(tally):,}") for tally in rows.values()))
        for word, count in counts.items()
    }
    room = width - sum(sizes.values()) - _GAP * len(sizes)
    names = {name: _shortened(name, room) for name in (head, *rows)}
    longest = max(map(cells, names.values()))

    def line(name: str, values: Mapping[str, str], painted: Callable[[str, str], str]) -> str:
        numbers = (" " * _GAP + painted(word, values[word].rjust(size)) for word, size in sizes.items())
        return padded(names[name], longest) + "".join(numbers)

    def paint(word: str, text: str) -> str:
        code = _DIM if text.strip() == "0" else _RED if word in _BAD else 0
        return f"\x1b[{code}m{text}\x1b[0m" if colour and code else text

    yield line(head, {word: word for word in counts}, lambda _, text: text)
    for name, tally in rows.items():
        yield line(name, {word: f"{count(tally):,}" for word, count in counts.items()}, paint)


def _shortened(name: str, width: int) -> str:
    """Return a name with `...` in its middle if it is too long: both ends distinguish it from others."""
    if cells(name) <= width:
        return name
    first, last = name, name
    half = (width - 3) // 2
    while cells(first) > half:
        first = first[:-1]
    while cells(last) > width - 3 - half:
        last = last[1:]
    return f"{first}...{last}"
