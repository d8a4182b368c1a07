"""Output of `wholecall replay`: lines of JSON, a list, or a summary.

Theory of operation. An output is notified of the beginning of each recording, of its events, and whether it was kept or
was nonsense; at the end it gets the sum. Lines are written once they can no longer be taken back.

The summary of several recordings is a table that fits a screen, with a row for each folder or dialect. Recordings are
counted by folder and dialect together. After all are read, one of the two is chosen for the rows: the folder, unless
there is only one. If the screen has fewer lines, folders are counted with their parent folders, and the smallest groups
share a row.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import PurePath
from typing import NamedTuple, Protocol

from wholecall import TERMINAL, Event, EventsWanted
from wholecall.cli import output, show
from wholecall.cli.batch import Tally
from wholecall.cli.listing import MIN_WIDTH, Listing
from wholecall.recordings.finding import STDIN

_HINT = "To list their calls: --calls (-v: all that happened; --full: whole arguments)."
_SPARE = 3  # lines of a screen that the table leaves free: two empty lines, and the next prompt
Rows = dict[str, Tally]
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


def output_of(options: argparse.Namespace) -> Output:
    """Return the output that the command line asks for."""
    if options.json:
        return _JsonLines(only_calls=options.calls)
    screen = _Screen.of_stdout(options.color)
    may_be_live = options.paths == [STDIN]
    if options.calls or options.verbose or options.full or may_be_live:
        return _List(screen, only_calls=options.calls, full=options.full)
    return _Summary(screen)


class Output(Protocol):
    """The destination of recordings.

    Attributes:
        is_quiet: whether it writes nothing before its end.
        events: the events of the recording that it shows, as `ToolCallParser` takes them.
    """

    is_quiet: bool
    events: EventsWanted

    def begin(self, name: str, id: str | None) -> None:
        """Start another recording; `id` is its name in its file."""
        ...

    def add(self, event: Event, tally: Tally) -> None:
        """Add one event of the recording; `tally` counts those so far."""
        ...

    def forget(self) -> None:
        """Drop all unwritten lines: the recording is not an answer of a model."""
        ...

    def keep(self, name: str, tally: Tally) -> None:
        """Note that the recording is over; `tally` counts its events."""
        ...

    def end(self, total: Tally) -> None:
        """Finish with the sum of all recordings."""
        ...


class _Screen(NamedTuple):
    """The limits of the output.

    Attributes:
        width: columns of a line.
        height: lines; None if the output is not a terminal.
        colour: whether to use ANSI colours.
    """

    width: int
    height: int | None
    colour: bool

    @classmethod
    def of_stdout(cls, colour: str) -> _Screen:
        """Return the limits of standard output; `colour` is one of `wholecall.cli.output.CHOICES`."""
        size = shutil.get_terminal_size((100, 24))
        height = size.lines if sys.stdout.isatty() else None
        return cls(max(size.columns, MIN_WIDTH), height, output.wants_colour(colour))

    def folded(self, text: str) -> list[str]:
        """Return a sentence on lines that fit a terminal; elsewhere it is one line."""
        return [text] if self.height is None else show.wrapped(text, self.width)

    def listing(self, *, only_calls: bool = False, full: bool = False) -> Listing:
        """Return a list that fits."""
        return Listing(output.write, width=self.width, colour=self.colour, only_calls=only_calls, full=full)


class _JsonLines:
    """Events for programs."""

    is_quiet = False

    def __init__(self, *, only_calls: bool) -> None:
        self.events: EventsWanted = "calls" if only_calls else "all"
        self._only_calls = only_calls
        self._write = output.json_writer("")

    def begin(self, name: str, id: str | None) -> None:
        self._write = output.json_writer(name, recording_id=id)

    def add(self, event: Event, tally: Tally) -> None:  # noqa: ARG002 - programs count for themselves
        if not self._only_calls or isinstance(event, TERMINAL):
            self._write(event.to_json())

    def forget(self) -> None:
        """Keep the lines: they are written already."""

    def keep(self, name: str, tally: Tally) -> None:
        """Write nothing."""

    def end(self, total: Tally) -> None:
        """Write nothing: the sum is for people."""


def _titled(name: str, id: str | None) -> str:
    return name if id is None else f"{name} ({id})"


class _List:
    """The events of each recording, as it is read."""

    is_quiet = False

    def __init__(self, screen: _Screen, *, only_calls: bool, full: bool) -> None:
        self.events: EventsWanted = (
            "calls" if only_calls else "all"
        )  # the sizes of texts are at the end of turns
        self._screen = screen
        self._listing = screen.listing(only_calls=only_calls, full=full)

    def begin(self, name: str, id: str | None) -> None:
        self._listing.begin(_titled(name, id))

    def add(self, event: Event, tally: Tally) -> None:
        self._listing.add(event)
        if tally.is_answer:
            self._listing.flush()

    def forget(self) -> None:
        self._listing.forget()

    def keep(self, name: str, tally: Tally) -> None:  # noqa: ARG002 - the list shows every recording
        self._listing.flush()

    def end(self, total: Tally) -> None:
        self._listing.end(self._screen.folded(total.summary()))


class _Summary:
    """The list of one recording, a table of several."""

    is_quiet = True

    def __init__(self, screen: _Screen) -> None:
        self._screen = screen
        self._listing = screen.listing()
        self._groups = Groups()
        self._count = 0
        self.events: EventsWanted = "all"

    def begin(self, name: str, id: str | None) -> None:
        self._count += 1
        self.events = "all" if self._count == 1 else "calls"
        self._listing.forget()
        self._listing.begin(_titled(name, id))

    def add(self, event: Event, tally: Tally) -> None:  # noqa: ARG002 - counted when it is over
        if self._count == 1:
            self._listing.add(event)

    def forget(self) -> None:
        self._listing.forget()

    def keep(self, name: str, tally: Tally) -> None:
        self._groups.add(name, tally)

    def end(self, total: Tally) -> None:
        summary = self._screen.folded(total.summary())
        if self._count > 1 and total.recordings:
            self._table(len(summary))
        self._listing.end(summary)

    def _table(self, n_below: int) -> None:
        width, height, colour = self._screen
        hint = [] if height is None else self._screen.folded(_HINT)
        room = None if height is None else height - n_below - len(hint) - _SPARE
        for line in self._groups.table(width, room, colour=colour):
            output.write(f"{line}\n")
        output.write("".join(f"{line}\n" for line in ["", *hint]))


# The table of several recordings.


class Groups:
    """Counts recordings by folder and dialect."""

    def __init__(self) -> None:
        self._tallies: dict[tuple[str, str], Tally] = {}

    def add(self, name: str, tally: Tally) -> None:
        """Count a recording, by its name; a recording without any readable part is left out."""
        if not tally.recordings and not tally.is_answer:
            return
        key = show.folder_of(name), tally.dialect or "(unknown)"
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
        common = show.common_folder(folders)
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
            rows.setdefault(show.printable(names[key]), Tally()).merge(tally)
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
    longest = max(map(show.cells, names.values()))

    def line(name: str, values: Mapping[str, str], painted: Callable[[str, str], str]) -> str:
        numbers = (" " * _GAP + painted(word, values[word].rjust(size)) for word, size in sizes.items())
        return show.padded(names[name], longest) + "".join(numbers)

    def paint(word: str, text: str) -> str:
        code = _DIM if text.strip() == "0" else _RED if word in _BAD else 0
        return f"\x1b[{code}m{text}\x1b[0m" if colour and code else text

    yield line(head, {word: word for word in counts}, lambda _, text: text)
    for name, tally in rows.items():
        yield line(name, {word: f"{count(tally):,}" for word, count in counts.items()}, paint)


def _shortened(name: str, width: int) -> str:
    """Return a name with `...` in its middle if it is too long: both ends distinguish it from others."""
    if show.cells(name) <= width:
        return name
    first, last = name, name
    half = (width - 3) // 2
    while show.cells(first) > half:
        first = first[:-1]
    while show.cells(last) > width - 3 - half:
        last = last[1:]
    return f"{first}...{last}"
