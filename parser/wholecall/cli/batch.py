"""The recordings that a command line names: read one by one, counted, and refused where they are no answer of a model.

Theory of operation. A recording that cannot be read is named on standard error, and the others are still read; progress
is shown on a terminal. Every command that takes many recordings uses this module.

If no turn began and no provider reported an error, a file holds no answer. Faults would be confusing: they are meant
for callers that feed a parser. The first bytes show the real kind of the file.
"""

from __future__ import annotations

import codecs
import re
import sys
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from typing import TypeVar

from wholecall import BadRecording, StreamFault, ToolCallCancelled, TurnStarted
from wholecall.cli import output, show
from wholecall.cli.progress import Progress
from wholecall.recordings import Chunk, Recording, read
from wholecall.recordings.counts import RecordingCounts, Words
from wholecall.recordings.others import OTHERS

MadeT = TypeVar("MadeT")
_ENOUGH = 512  # enough bytes to identify a file
_STREAM = (b"data:", b"event:", b"id:", b"retry:", b":")  # how lines of server-sent events begin
_JSON = re.compile(rb'\{\s*(?:["}]|$)|\[\s*(?:[\[\]{"\d-]|$)')  # how an object or an array begins
_BOM = codecs.BOM_UTF8


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
                    output.complain(str(error))
                    continue
                self.count += 1
                yield made
            self.skipped = recordings.skipped.total()


class Tally(RecordingCounts):
    """Counts the events of one recording, or of many, and the files that give no events.

    Attributes:
        unreadable: how many could not be read.
        nonsense: files that hold no answer of a model.
        skipped: responses that are not recordings.
        dialect: the dialect of the first turn, None before it.
        last_dialect: the dialect of the last turn.
        is_answer: whether a model answered: a turn began, a call was taken back, or a provider reported an error.
    """

    unreadable: int = 0
    nonsense: int = 0
    skipped: int = 0
    dialect: str | None = None
    last_dialect: str | None = None
    is_answer: bool = False

    @property
    def clean(self) -> bool:
        """Return whether nothing was dropped and nothing faulted."""
        return not self.dropped and not self.faults

    def summary(self) -> str:
        """Return one line for people."""
        dropped, faults = self.findings["dropped"], self.findings["faults"]
        parts = [
            show.counted(self.calls, "call"),
            f"{self.dropped:,} dropped{_by_word(dropped)}",
            show.counted(self.faults, "fault") + _by_word(faults),
        ]
        more = {
            "could not be read": self.unreadable,
            "no answer of a model": self.nonsense,
            "other responses skipped": self.skipped,
        }
        rest = "".join(f"; {count:,} {noun}" for noun, count in more.items() if count)
        return f"{show.counted(self.recordings, 'recording')}: {', '.join(parts)}{rest}"


def _turn_started(tally: Tally, event: TurnStarted) -> None:
    tally.dialect = tally.dialect or event.dialect
    tally.last_dialect = event.dialect
    tally.is_answer = True
    RecordingCounts.ACTIONS[TurnStarted](tally, event)


def _faulted(tally: Tally, event: StreamFault) -> None:
    tally.is_answer |= event.kind == "provider_error"
    RecordingCounts.ACTIONS[StreamFault](tally, event)


def _taken_back(tally: Tally, _: ToolCallCancelled) -> None:
    tally.is_answer = (
        True  # the call may be of an earlier turn: a live connection sends this between two turns
    )


Tally.ACTIONS = RecordingCounts.ACTIONS | {
    TurnStarted: _turn_started,
    StreamFault: _faulted,
    ToolCallCancelled: _taken_back,
}


def _by_word(counts: Words) -> str:
    words = ", ".join(f"{count:,} {word}" for word, count in counts.most_common())
    return f" ({words})" if words else ""


# Files without an answer of a model.


class Nonsense(Exception):
    """A recording holds no answer of a model; the message names it, and describes its content."""


class Beginning:
    """Keeps the first bytes of a recording, whose chunks pass through.

    Args:
        recording: its chunks are taken; none may have been taken before.

    Raises:
        Nonsense: its form is not that of an answer.
    """

    def __init__(self, recording: Recording) -> None:
        if recording.form in OTHERS:
            raise Nonsense(f"{recording.name}: no answer of a model: {recording.trouble}")
        self._name = recording.name
        self._head = bytearray()
        recording.chunks = self._through(recording.chunks)

    def _through(self, chunks: Iterator[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            if len(self._head) < _ENOUGH:
                self._head += chunk[1][:_ENOUGH]
            yield chunk

    def refuse_nonsense(self, tally: Tally) -> None:
        """Check from the counts of a recording that it is an answer.

        Raises:
            Nonsense: it is not an answer of a model.
        """
        if not tally.is_answer:
            raise Nonsense(f"{self._name}: no answer of a model: {_what_it_is(bytes(self._head))}")


def _what_it_is(head: bytes) -> str:
    text = head.removeprefix(_BOM).lstrip()
    if not head:
        return "it is empty"
    if not text:
        return "it begins with nothing but blanks"
    if _is_binary(head):
        return "it is binary data of an unknown kind"
    if text.startswith(b"<"):
        return "it is a page of HTML or XML, as a proxy or a login sends it"
    if _JSON.match(text):
        return "it is JSON of another kind (for transcripts there is `wholecall history check`)"
    if text.startswith(_STREAM):
        return "it is a stream of events, but of no known dialect (--dialect names one)"
    return "it is text; expected are server-sent events, JSON lines or a JSON body"


def _is_binary(head: bytes) -> bool:
    """Return whether bytes are not text; the last character may be cut."""
    try:
        text = codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return True
    return "\0" in text
