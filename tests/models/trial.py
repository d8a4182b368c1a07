"""The streams of a model, read by the parser: the emitted calls, and their faults.

Each stream is read whole, and cut somewhere and ended in each way of its dialect, or in one of them. A stream is read
at once. Only a stream with a fault is read again, event by event, to find the events before each call.
"""

from __future__ import annotations

import json
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tests.models.judge import CUT, FAULTS, TAKEN_BACK, Came, anywhere, fault, known_by_beginning
from tests.models.streams import Chunk, Reading, Stream, Streams
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ServerToolCall, ToolCall, ToolCallCancelled


class Case(NamedTuple):
    """A stream with a fault: its events, its cut, the emitted calls, and its meaning."""

    stream: Stream
    end: str
    came: Came
    readings: list[Reading]


@dataclass
class Trial:
    """The findings of a run.

    Attributes:
        n_tried: the number of streams that were read.
        n_cut: the number of their beginnings.
        wrong: the cases by fault.
    """

    n_tried: int = 0
    n_cut: int = 0
    wrong: dict[str, list[Case]] = field(default_factory=lambda: defaultdict(list))

    def counts(self) -> Counter[str]:
        """The number of cases of each fault, and of calls that are lost or out of order."""
        return Counter(
            {what: len(cases) for what, cases in self.wrong.items() if cases and what != TAKEN_BACK}
        )

    @property
    def n_faults(self) -> int:
        """The number of cases in which a call was emitted that was not surely sent."""
        return sum(len(self.wrong.get(what, ())) for what in FAULTS)


def _joined(chunks: Sequence[Chunk]) -> Chunk:
    if isinstance(chunks[0], bytes):
        return b"".join(chunks)  # type: ignore[arg-type]
    return [payload for chunk in chunks for payload in chunk]  # type: ignore[misc]


def _fed(parser: ToolCallParser[Any], chunk: Chunk) -> list[Any]:
    if isinstance(chunk, bytes):
        return parser.feed(chunk)
    return [event for payload in chunk for event in parser.feed_event(payload)]


def came_out(dialect: str, chunks: Sequence[Chunk], *, of_server: bool = False) -> Came:
    """The client's calls, or the server's, in the order of the turn, each with the number of chunks that had been read.

    Calls whose ends the wire marks one by one are emitted in the order of their ends; their numbers give the order of
    their beginnings.
    """
    parser: ToolCallParser[Any] = ToolCallParser(dialect, events="calls")
    told, taken_back = [], set()
    wanted = ServerToolCall if of_server else ToolCall
    for n in range(1, len(chunks) + 2):
        for event in _fed(parser, chunks[n - 1]) if n <= len(chunks) else parser.close():
            if isinstance(event, wanted):
                call = event.name, json.dumps(event.arguments)
                told.append(((event.turn, event.choice, event.index), n, event.id, call))
            elif isinstance(event, ToolCallCancelled):
                taken_back.add(event.id)
    return [(n, call) for _, n, id, call in sorted(told) if id not in taken_back]


class _Run:
    """One run over streams: each is tried, and the faults are judged at the end."""

    def __init__(self, streams: Streams, chance: random.Random, *, every_end: bool) -> None:
        self.streams, self.model, self.chance = streams, streams.model, chance
        self._ends = list(self.model.ends.items())
        self._n_ends = len(self._ends) if every_end else min(1, len(self._ends))
        self.trial = Trial()
        self._cut: dict[tuple[Stream, str], Counter[tuple[str, str]]] = {}  # many streams begin alike

    def try_all(self, chosen: Iterable[Stream], only: Mapping[str, str]) -> Trial:
        for stream in chosen:
            readings = self.streams.readings(stream)
            if all(getattr(readings[0].habit, aspect) == value for aspect, value in only.items()):
                self._try(stream, readings)
        for what in FAULTS:
            self._excuse(what)
        return self.trial

    def _try(self, stream: Stream, readings: list[Reading]) -> None:
        self.trial.n_tried += 1
        chunks = [self.streams.chunks[number] for number in stream]
        if self.model.opening:
            chunks[0] = self.model.opening + chunks[0]  # type: ignore[operator]
        came = [call for _, call in self._came([_joined(chunks)])]
        if (what := fault(readings, came)) is not None:
            self.trial.wrong[what].append(Case(stream, "", self._came(chunks), readings))
        if len(chunks) == 1:
            return
        for end, data in self.chance.sample(self._ends, self._n_ends):
            kept = self.chance.randrange(1, len(chunks))
            rest = data(self.streams.told(stream[:kept])) if callable(data) else data
            self._try_cut(Case(stream[:kept], end, [], readings), [*chunks[:kept], rest])

    def _try_cut(self, case: Case, chunks: list[Chunk]) -> None:
        self.trial.n_cut += 1
        key = case.stream, str(chunks[-1])
        calls = self._cut.get(key)
        if calls is None:
            calls = Counter(call for _, call in self._came([_joined(chunks)]))
            self._cut[key] = calls
        if calls and calls - anywhere(case.readings):
            self.trial.wrong[CUT].append(case._replace(came=self._came(chunks)))

    def _came(self, chunks: Sequence[Chunk]) -> Came:
        return came_out(self.model.dialect, chunks, of_server=self.model.of_server)

    def _excuse(self, what: str) -> None:
        """The events before the calls may have justified them."""
        cases = self.trial.wrong.pop(what, [])
        excused = known_by_beginning(self.streams, [(case.stream, case.came) for case in cases])
        for case, is_known in zip(cases, excused, strict=True):
            self.trial.wrong[TAKEN_BACK if is_known else what].append(case)


def tried(
    streams: Streams,
    *,
    sample: float = 1.0,
    seed: int = 1,
    only: Mapping[str, str] | None = None,
    mirrored: bool = True,
    every_end: bool = True,
) -> Trial:
    """Read a share of the streams, or only those whose cheapest reading has certain habits.

    Unless `mirrored`, of two streams that are each other with the names exchanged only one is read; unless `every_end`,
    a stream that is cut has one of its ends.
    """
    chance, cutting = random.Random(seed), random.Random(seed)
    chosen = (stream for stream in streams if mirrored or not streams.is_mirrored(stream))
    chosen = (stream for stream in chosen if sample >= 1 or chance.random() <= sample)
    return _Run(streams, cutting, every_end=every_end).try_all(chosen, only or {})
