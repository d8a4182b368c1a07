"""Frames that the cases of dialects show: by which a dialect is known, and that end its answers.

A dialect has them by having cases (`tests/dialects/cases`): no test lists them.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any

from tests.support.dialect_cases import FOLDER, Stream, read
from wholecall.deltas import (
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Labelled,
    Noted,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects import DIALECTS
from wholecall.dialects.table import detect_dialect
from wholecall.framing.frame import Frame

Payload = dict[str, Any]
_OF_AN_END = (Finish, TurnEnded, TurnOpened, UsageSeen, CallClosed, Noted, WireFault)
_CALLS = (CallSeen, CallWhole, Labelled)
UNNAMED = ("", "message")  # names that tell nothing, which other framings lack


@cache
def streams(name: str) -> tuple[Stream, ...]:
    """Return the streams of a dialect's cases, none if it has no file."""
    path = FOLDER / f"{name}.txt"
    cases = read(name, path.read_text("utf-8")) if path.exists() else []
    return tuple(stream for case in cases for stream in case.streams)


def payload(data: str) -> Payload | None:
    """Return the object of a frame, None if it has none."""
    try:
        found = json.loads(data)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def payloads(frames: Iterable[Frame]) -> tuple[Payload, ...]:
    """Return the objects of the frames that have one."""
    return tuple(found for frame in frames if (found := payload(frame.data)) is not None)


@cache
def decisive() -> dict[str, Payload]:
    """Return the first frame of each dialect's cases that begins an answer, and tells its dialect by itself."""
    found = ((dialect.name, _first_decisive(dialect.name)) for dialect in DIALECTS)
    return {name: frame for name, frame in found if frame is not None}


@cache
def without_calls() -> dict[str, Payload]:
    """Return the first frame of each dialect's cases that tells its dialect by itself, and holds no call."""
    found = ((dialect.name, _first_decisive(dialect.name, _holds_no_call)) for dialect in DIALECTS)
    return {name: frame for name, frame in found if frame is not None}


def _begins(said: Iterable[Delta]) -> bool:
    return any(isinstance(delta, TurnOpened) for delta in said)


def _holds_no_call(said: Iterable[Delta]) -> bool:
    return not any(isinstance(delta, _CALLS) for delta in said)


def _first_decisive(name: str, wanted: Callable[[Iterable[Delta]], bool] = _begins) -> Payload | None:
    for stream in streams(name):
        for frame, said in stream.steps:
            found = payload(frame.data) if wanted(said) else None
            dialect = None if found is None else detect_dialect(found)
            if dialect is not None and dialect.name == name:
                return found
    return None


@cache
def ends() -> dict[str, tuple[Payload, ...]]:
    """Return the frames by which each dialect marks an answer as whole, whose meaning no name of an event tells."""
    found = {dialect.name: end(dialect.name, "tool_calls", "stop", unnamed=True) for dialect in DIALECTS}
    return {name: payloads(frames) for name, frames in found.items() if frames}


def end(name: str, *reasons: str, unnamed: bool = False) -> tuple[Frame, ...]:
    """Return the frames of the first end in a dialect's cases that has one of the reasons, the first of them if it can.

    They say nothing else, and repeat no call.
    """
    found = [end for stream in streams(name) for end in _ends_of(stream)]
    fit = [one for one in found if one[0] in reasons and not (unnamed and one[1][0].event not in UNNAMED)]
    return min(fit, key=lambda one: reasons.index(one[0]), default=("", ()))[1]


def _ends_of(stream: Stream) -> Iterator[tuple[str, tuple[Frame, ...]]]:
    seen = [delta for _, said in stream.steps for delta in said if isinstance(delta, _CALLS)]
    ids = {json.dumps(delta.id) for delta in seen if delta.id}
    for n, (_, said) in enumerate(stream.steps):
        reasons = [delta.reason for delta in said if isinstance(delta, Finish)]
        frames = tuple(_rest(stream.steps[n:])) if reasons else ()
        if payloads(frames) and not any(id in frame.data for id in ids for frame in frames):
            yield reasons[0], frames


def _rest(steps: list[tuple[Frame, list[Delta]]]) -> Iterator[Frame]:
    """Yield the frames of an end: those up to the end of the turn, or up to one that says something else."""
    for frame, said in steps:
        if not said or not all(isinstance(delta, _OF_AN_END) for delta in said):
            return
        yield frame
        if any(isinstance(delta, TurnEnded) for delta in said):
            return
