"""Goes through the recordings that a command line names.

Theory of operation. A recording that cannot be read is named on standard error, and the others are still read; progress
is shown on a terminal. Every command that takes many recordings uses this module.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import TypeVar

from wholecall import BadRecording
from wholecall.cli.nonsense import Nonsense
from wholecall.cli.out import complain
from wholecall.cli.progress import Progress
from wholecall.recordings import Recording, read

__all__ = ["Batch"]

MadeT = TypeVar("MadeT")


class Batch:
    """Goes through recordings, and counts them.

    Attributes:
        count: how many were read to their end.
        unreadable: how many could not be read.
        nonsense: how many are not an answer of a model.
        skipped: responses in the files that are not recordings.

    Args:
        paths: files, folders, globs, `"-"`.
        only: the number of the only wanted recording, counted from 1; None takes all.
        max_bytes: how much a compressed file may hold; None for the usual bound.
        quiet: whether the command writes nothing to standard output before all are read.
    """

    def __init__(
        self,
        paths: Sequence[str],
        only: int | None = None,
        *,
        quiet: bool = False,
        max_bytes: int | None = None,
    ) -> None:
        self.count = self.unreadable = self.nonsense = self.skipped = 0
        self._paths = paths
        self._only = only
        self._quiet = quiet
        self._max_bytes = max_bytes

    def each(self, make: Callable[[Recording], MadeT]) -> Generator[MadeT]:
        """Yield the result of a function for each recording; a recording for which it raises is left out.

        Args:
            make: may raise `BadRecording` or `Nonsense`.
        """
        with (
            closing(read(*self._paths, max_bytes=self._max_bytes)) as recordings,
            Progress(quiet=self._quiet) as progress,
        ):
            for number, recording in enumerate(recordings, 1):
                progress.step(recording)
                if self._only not in {None, number}:
                    continue
                try:
                    made = make(recording)
                except (BadRecording, Nonsense) as error:
                    self.unreadable += isinstance(error, BadRecording)
                    self.nonsense += isinstance(error, Nonsense)
                    sys.stdout.flush()  # the complaint comes after earlier output
                    progress.clear()
                    complain(str(error))
                    continue
                self.count += 1
                yield made
            self.skipped = recordings.skipped.total()
