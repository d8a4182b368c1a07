"""Replay recorded streams: yield the events of recordings, with the recorded chunks or others.

Theory of operation. `wholecall.recordings` reads the recordings; this module passes chunks to a parser. The chunks do
not affect the result: however a recording is cut, its events are the same. A file is open only while its events are
taken.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import closing
from itertools import repeat
from random import Random

import msgspec

import wholecall
from wholecall.dialects.table import named
from wholecall.recordings.finding import StrPath
from wholecall.recordings.model import Recording
from wholecall.recordings.reading import read


class Chunking(msgspec.Struct, frozen=True):
    """How a recording is cut into chunks; by default as it was recorded, a raw file as its bytes come.

    Attributes:
        size: bytes of each chunk.
        seed: draws the sizes at random instead, from 1 byte to 4 KiB; equal seeds draw equal sizes, for
            each recording again.
    """

    size: int | None = None
    seed: str | None = None

    @classmethod
    def parse(cls, text: str) -> Chunking:
        """Read `"N"` or `"random:SEED"`.

        Raises:
            ValueError: it is neither, or N is less than 1.
        """
        word, colon, seed = text.partition(":")
        if word == "random" and colon and seed:
            return cls(seed=seed)
        size = int(text) if text.isascii() and text.isdigit() else 0
        if size < 1:
            raise ValueError(f"{text!r} is neither a number of bytes from 1 nor random:SEED")
        return cls(size=size)

    def cut(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        """Yield the bytes of some chunks in chunks of these sizes, the last one perhaps shorter."""
        if self == Chunking():
            yield from chunks
            return
        sizes = self._sizes()
        size = next(sizes)
        held = bytearray()
        for chunk in chunks:
            held += chunk
            start = 0
            while len(held) - start >= size:
                yield bytes(held[start : start + size])
                start += size
                size = next(sizes)
            del held[:start]
        if held:
            yield bytes(held)

    def _sizes(self) -> Iterator[int]:
        """Yield the size of one chunk after the other, without end."""
        if self.size is not None:
            yield from repeat(self.size)
        random = Random(self.seed)  # noqa: S311 - reproducible cuts, no secrets
        while True:
            yield random.randint(1, 1 << random.randrange(13))  # many tiny sizes among the large


def replay(
    recording: Recording | StrPath,
    dialect: str = "auto",
    *,
    events: wholecall.EventsWanted = "all",
    text: wholecall.TextWanted = None,
    chunking: Chunking = Chunking(),  # noqa: B008 - frozen
    framing: str | None = None,
    policy: wholecall.Policy = wholecall.Policy(),  # noqa: B008 - frozen
    limits: wholecall.Limits = wholecall.Limits(),  # noqa: B008 - frozen
) -> Iterator[wholecall.Event]:
    """Yield the events of a recording; nothing is read before the first is asked for.

    ::

        for recording in recordings.read("logs"):
            for event in replay(recording):
                ...

    Args:
        recording: an item of `recordings.read`, or the path of a file (`"-"` for standard input). The events
            of a file that holds several recordings come one recording after the other.
        dialect: as for `ToolCallParser`, like the others below. `"auto"` is the dialect that the recording
            names, if it names one, or else is found from its bytes.
        events: `"all"`, or `"calls"` for those without pieces of text, as for `ToolCallParser`.
        text: which calls written as text count, as for `ToolCallParser`.
        chunking: how the bytes are cut; the events do not depend on it.
        framing: how the bytes are cut into events.
        policy: how calls are judged.
        limits: bounds on the stream.

    Raises:
        BadRecording: while iterating: the recording cannot be read; the message names it.
        UnknownDialect: at once: the dialect, the framing or the format of calls in text is not known.
        ValueError: at once: `events` is not one of its words.
    """
    wholecall.ToolCallParser(
        dialect, events=events, text=text, framing=framing
    )  # to refuse unknown names at once

    def events_of(one: Recording) -> Generator[wholecall.Event]:
        chosen = dialect_of(one) if dialect == "auto" else dialect
        source = chunking.cut(chunk for _, chunk in one.chunks)
        return wholecall.events(
            source, chosen, events=events, text=text, framing=framing, policy=policy, limits=limits
        )

    return events_of(recording) if isinstance(recording, Recording) else _all(recording, events_of)


def dialect_of(recording: Recording) -> str:
    """Return the dialect that a recording names, `"auto"` if it names none or one that is not known here."""
    try:
        return "auto" if recording.dialect is None else named(recording.dialect).name
    except wholecall.UnknownDialect:
        return "auto"


def _all(
    path: StrPath, events_of: Callable[[Recording], Generator[wholecall.Event]]
) -> Generator[wholecall.Event]:
    with closing(read(path)) as recordings:
        for recording in recordings:
            with closing(events_of(recording)) as found:
                yield from found
