"""Streams as subjects of claims: reads of a workload, and the contenders that make events of them."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import msgspec

from benchmarks import baselines, floors, workloads
from benchmarks.claims import Contender
from benchmarks.naive import NAIVE, Loads
from benchmarks.workloads import READ, Workload
from wholecall import Limits

EVENT = "frame"  # a read is one event, as on a live stream
_LIMITS = Limits(max_calls=None)


class Stream(NamedTuple):
    """A workload and the reads in which it comes."""

    workload: Workload
    reads: list[bytes]


def stream(workload: Workload, cut: str | int = READ) -> Stream:
    """Cut a workload: into reads of so many bytes, into its events, or as one of `CUTS` says."""
    if cut == EVENT:
        return Stream(workload, list(workload.events))
    data = workload.data
    return Stream(workload, workloads.cut(data, cut) if isinstance(cut, int) else workloads.CUTS[cut](data))


def _finds(found: Callable[[Any], Any]) -> Callable[[Stream, Any], bool]:
    return lambda subject, result: bool(subject.workload.result == found(result))


def _loop(subject: Stream, loads: Loads) -> Any:
    return NAIVE[subject.workload.dialect](subject.reads, loads)


def _counts(subject: Stream, n_events: int) -> bool:
    return bool(subject.workload.n_events == n_events)


OURS = Contender(lambda subject: baselines.parse(subject.reads, _LIMITS), _finds(baselines.found))
# In the order of the table's columns.
CONTENDERS = {
    "wholecall": OURS,
    "naive": Contender(partial(_loop, loads=json.loads), _finds(lambda result: result)),
    "msgspec loop": Contender(partial(_loop, loads=msgspec.json.decode), _finds(lambda result: result)),
    "bare floor": Contender(lambda subject: floors.bare(subject.reads, subject.workload.dialect), _counts),
    "floor": Contender(lambda subject: floors.framed(subject.reads, subject.workload.dialect), _counts),
}
LOOPS = ("naive", "msgspec loop")


def n_events(subject: Stream) -> int:
    """Return how many events a stream has."""
    return subject.workload.n_events


def nth(contender: Contender, at: int) -> Contender:
    """Return a contender that reads the n-th of several streams."""
    return Contender(
        lambda subjects: contender.act(subjects[at]),
        lambda subjects, found: contender.right(subjects[at], found),
    )
