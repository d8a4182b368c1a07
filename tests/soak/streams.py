"""Generated streams with random faults, and the accounts of their events.

Theory of operation. Short turns are rendered once in every dialect, and read once undamaged: that gives their events,
and the number of events of each frame. Then each stream takes one of these templates and one fault. The wire's content
is known exactly unless the fault changed it. Therefore a stream that is whole, cut or broken off must bring its
template's events, or a beginning of them. The others must satisfy the laws of every stream: each started call has one
end, and the text that was shown of it is the text of its call, or of its drop, or was replaced.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.fuzz.mutate import events_of
from tests.support import encode
from tests.support.renderers import RENDERERS
from tests.support.turns import TERMINAL
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    CustomToolCall,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.calls.output.events import TurnFinished

Key = tuple[int, int, int]
_PORT = '{"port":"Brést","n":[1,{"x":"}\\""}]}'
_TURNS = (
    encode.Turn(calls=(encode.Call("call_1", "get_tide", _PORT),)),
    encode.Turn(
        calls=(encode.Call("call_1", "get_tide", _PORT), encode.Call("call_2", "now", "{}")), text="Look."
    ),
    encode.Turn(
        calls=(encode.Call("call_1", "add", '{"a":1}'), encode.Call("call_2", "add", '{"a":12,"b":"\\n"}'))
    ),
    encode.Turn(text="No call at all."),
)
_BYTES = (
    b"",
    b"\xff",
    b"\n",
    b'"',
    b"{",
    b"}",
    b"\\",
    b"0",
    b"\r\n",
    b"\x00",
    b"null",
    b"data: ",
    b":",
    b"]",
)


@dataclass(frozen=True)
class Template:
    """A stream as it should be.

    Attributes:
        dialect: its name.
        data: its bytes.
        frames: the same, cut after each frame.
        events: of its undamaged replay.
        calls: the keys of the calls among them, and their texts.
    """

    dialect: str
    data: bytes
    frames: Sequence[bytes]
    events: Sequence[Any]
    calls: dict[Key, str]


@cache
def templates() -> list[Template]:
    """Return a template for each turn in each dialect."""
    found = []
    for name, render in RENDERERS.items():
        for turn in _TURNS:
            data = render(turn, encode.every(24))
            events = _read(ToolCallParser(), [data])
            texts = {_key(event): event.raw_arguments for event in events if type(event) in _WITH_TEXT}
            found.append(Template(name, data, events_of(data), events, texts))
    return found


def _key(event: Any) -> Key:
    return event.turn, event.choice, event.index


_WITH_TEXT = {kind for kind in TERMINAL if "raw_arguments" in kind.__struct_fields__}


def _read(parser: ToolCallParser[Any], chunks: Iterable[bytes]) -> list[Any]:
    found = [event for chunk in chunks for event in parser.feed(chunk)]
    return [*found, *parser.close()]


@dataclass
class Books:
    """The input and the output of all streams so far.

    Attributes:
        streams: by fault.
        ends: of calls, by kind of event, drops by their reason.
        started: how many calls were started.
        told: the number of drops without an earlier start: calls without a name, and calls that share a drop.
        shown: characters of argument text that were shown.
        called: of these, those in calls; dropped: those in drops; replaced: those that a restatement replaced.
        findings: the contradictions.
    """

    streams: Counter[str] = field(default_factory=Counter)
    ends: Counter[str] = field(default_factory=Counter)
    started: int = 0
    told: int = 0
    shown: int = 0
    called: int = 0
    dropped: int = 0
    replaced: int = 0
    findings: list[str] = field(default_factory=list)

    def enter(self, events: Iterable[Any], where: str) -> None:
        """Enter a stream's events; each contradiction becomes a finding."""
        open_: dict[Key, str] = {}
        finished: set[tuple[int, int]] = set()
        for event in events:
            kind = type(event)
            if kind is ArgumentsDelta:
                self._show(open_, event, event.delta, where)
            elif kind is ToolCallStarted:
                self._check(_key(event) not in open_, where, "started twice")
                open_[_key(event)] = ""
                self.started += 1
            elif kind in _ENDS:
                self._end(open_.pop(_key(event), None), event, where)
            elif kind is ArgumentsReset:
                self.replaced += len(open_.get(_key(event), ""))
                open_[_key(event)] = event.raw_arguments
                self.shown += len(event.raw_arguments)
            elif kind is TurnFinished:
                finished.add((event.turn, event.choice))
        self._check(not open_, where, f"{len(open_)} calls never ended")
        self._check(bool(finished), where, "no turn finished")

    def _show(self, open_: dict[Key, str], event: ArgumentsDelta, text: str, where: str) -> None:
        key = _key(event)
        self._check(key in open_, where, "text of a call that is not open")
        open_[key] = open_.get(key, "") + text
        self.shown += len(text)

    def _end(self, shown: str | None, event: Any, where: str) -> None:
        kind = type(event)
        if kind is ToolCallDropped:
            self.ends[f"drop: {event.reason}"] += 1
            self.told += shown is None
            if (shown or "") == event.raw_arguments or shown is None:
                self.dropped += len(shown or "")
            else:  # the text in force is the restated text
                self.replaced += len(shown)
            return
        self.ends[kind.__name__] += 1
        self._check(shown is not None or kind is not ToolCall, where, "a call that never started")
        text = event.input if kind is CustomToolCall else getattr(event, "raw_arguments", shown)
        self._check(shown in (None, "", text), where, "a call's text is not what was shown")
        self.called += len(shown or "")

    def _check(self, holds: bool, where: str, what: str) -> None:
        if not holds:
            self.findings.append(f"{where}: {what}")

    @property
    def balanced(self) -> bool:
        """Return whether all started calls have ended, and all shown text is accounted for."""
        ended = sum(self.ends.values())
        return self.started + self.told == ended and self.shown == self.called + self.dropped + self.replaced


_ENDS = frozenset(TERMINAL)


# Faults. Each takes a template and returns the events of a stream with that fault, and additional requirements for
# them.

_Faulty = Callable[[Template, random.Random], tuple[list[Any], str]]


def _chunks(data: bytes, rng: random.Random) -> list[bytes]:
    """Cut bytes at up to three random places."""
    places = sorted(rng.randrange(len(data) + 1) for _ in range(rng.randrange(4)))
    return [data[a:b] for a, b in zip([0, *places], [*places, len(data)], strict=True)]


def _whole(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    events = _read(ToolCallParser(), _chunks(template.data, rng))
    return events, "" if events == template.events else "the events are not those of the stream"


def _moved(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    """Move the stream to another parser before some of its chunks."""
    parser: ToolCallParser[Any] = ToolCallParser()
    events: list[Any] = []
    for chunk in _chunks(template.data, rng):
        parser = ToolCallParser.restore(parser.snapshot())
        events += parser.feed(chunk)
    events += parser.close()
    return events, "" if events == template.events else "the move changed the events"


def _cut(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    """End the stream at any byte: the events are a beginning of the whole stream's events, and no other call comes."""
    return _stopped(template, rng, lambda parser: parser.close())


def _reset(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    """Break the stream off at any byte."""
    return _stopped(template, rng, lambda parser: parser.abort("the connection was reset"))


def _stopped(
    template: Template, rng: random.Random, stop: Callable[[ToolCallParser[Any]], list[Any]]
) -> tuple[list[Any], str]:
    parser: ToolCallParser[Any] = ToolCallParser()
    place = rng.randrange(len(template.data))
    early = parser.feed(template.data[:place])
    late = stop(parser)
    if early != template.events[: len(early)]:
        return [*early, *late], "what came before the end is no beginning of the whole stream"
    wrong = [
        event
        for event in late
        if type(event) is ToolCall and template.calls.get(_key(event)) != event.raw_arguments
    ]
    return [*early, *late], "a call came out that was cut" if wrong else ""


def _interleaved(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    """Read another stream at the same time, a chunk of each in turn: neither knows of the other."""
    other = rng.choice(templates())
    parsers = [ToolCallParser(), ToolCallParser()]
    waiting = [_chunks(template.data, rng), _chunks(other.data, rng)]
    found: list[list[Any]] = [[], []]
    while any(waiting):
        turn = rng.randrange(2) if all(waiting) else int(not waiting[0])
        found[turn] += parsers[turn].feed(waiting[turn].pop(0))
    for parser, events in zip(parsers, found, strict=True):
        events.extend(parser.close())
    alone = found == [list(template.events), list(other.events)]
    return found[0], "" if alone else "another stream changed this one"


def _frames(change: Callable[[list[bytes], int, random.Random], None]) -> _Faulty:
    def faulty(template: Template, rng: random.Random) -> tuple[list[Any], str]:
        frames = list(template.frames)
        for _ in range(rng.choice((1, 1, 2))):
            if frames:
                change(frames, rng.randrange(len(frames)), rng)
        return _read(ToolCallParser(), frames if rng.random() < 0.5 else [b"".join(frames)]), ""

    return faulty


def _drop(frames: list[bytes], at: int, _rng: random.Random) -> None:
    del frames[at]


def _double(frames: list[bytes], at: int, rng: random.Random) -> None:
    frames.insert(at if rng.random() < 0.7 else rng.randrange(len(frames) + 1), frames[at])


def _swap(frames: list[bytes], at: int, rng: random.Random) -> None:
    other = rng.randrange(len(frames))
    frames[at], frames[other] = frames[other], frames[at]


def _damaged(template: Template, rng: random.Random) -> tuple[list[Any], str]:
    """Replace up to three pieces of the stream by a byte or a few."""
    data = template.data
    for _ in range(rng.randrange(1, 4)):
        at = rng.randrange(len(data) + 1)
        data = data[:at] + (rng.choice(_BYTES) if rng.random() < 0.5 else rng.randbytes(1)) + data[at + 1 :]
    return _read(ToolCallParser(), [data]), ""


FAULTS: dict[str, _Faulty] = {
    "whole": _whole,
    "moved": _moved,
    "cut": _cut,
    "reset": _reset,
    "interleaved": _interleaved,
    "frames dropped": _frames(_drop),
    "frames doubled": _frames(_double),
    "frames swapped": _frames(_swap),
    "bytes damaged": _damaged,
}
_NAMES = tuple(FAULTS)


def run_stream(number: int, seed: int, books: Books) -> None:
    """Run one stream, drawn from its number, and enter it into the books."""
    rng = random.Random(seed * 1_000_000_007 + number)
    template, fault = rng.choice(templates()), rng.choice(_NAMES)
    where = f"--seed {seed} --first {number} ({template.dialect}, {fault})"
    books.streams[fault] += 1
    try:
        events, wrong = FAULTS[fault](template, rng)
    except Exception as error:  # noqa: BLE001 - whatever it raises is the finding
        books.findings.append(f"{where}: raised {error!r}")
        return
    if wrong:
        books.findings.append(f"{where}: {wrong}")
    books.enter(events, where)
