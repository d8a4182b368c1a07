"""Output of `wholecall replay`: lines of JSON, a list, or a summary.

Theory of operation. An output is notified of the beginning of each recording, of its events, and whether it was kept or
was nonsense; at the end it gets the sum. Lines are written once they can no longer be taken back.
"""

from __future__ import annotations

import argparse
import shutil
import sys
from typing import NamedTuple, Protocol

from wholecall import TERMINAL, Event, EventsWanted
from wholecall.cli.colour import wants_colour
from wholecall.cli.listing import MIN_WIDTH, Listing
from wholecall.cli.out import json_writer, write
from wholecall.cli.show import wrapped
from wholecall.cli.table import Groups
from wholecall.cli.tally import Tally
from wholecall.recordings.finding import STDIN

__all__ = ["Output", "output_of"]

_HINT = "To list their calls: --calls (-v: all that happened; --full: whole arguments)."
_SPARE = 3  # lines of a screen that the table leaves free: two empty lines, and the next prompt


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
        """Return the limits of standard output; `colour` is one of `wholecall.cli.colour.CHOICES`."""
        size = shutil.get_terminal_size((100, 24))
        height = size.lines if sys.stdout.isatty() else None
        return cls(max(size.columns, MIN_WIDTH), height, wants_colour(colour))

    def folded(self, text: str) -> list[str]:
        """Return a sentence on lines that fit a terminal; elsewhere it is one line."""
        return [text] if self.height is None else wrapped(text, self.width)

    def listing(self, *, only_calls: bool = False, full: bool = False) -> Listing:
        """Return a list that fits."""
        return Listing(write, width=self.width, colour=self.colour, only_calls=only_calls, full=full)


class _JsonLines:
    """Events for programs."""

    is_quiet = False

    def __init__(self, *, only_calls: bool) -> None:
        self.events: EventsWanted = "calls" if only_calls else "all"
        self._only_calls = only_calls
        self._write = json_writer("")

    def begin(self, name: str, id: str | None) -> None:
        self._write = json_writer(name, recording_id=id)

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
            write(f"{line}\n")
        write("".join(f"{line}\n" for line in ["", *hint]))
