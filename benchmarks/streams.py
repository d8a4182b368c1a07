"""Streams as subjects of claims: reads of a workload, and the contenders that make events of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from benchmarks import baselines, workloads
from benchmarks.claims import Contender
from benchmarks.workloads import READ, Workload
from wholecall import Limits

__all__ = ["FLOOR", "NAIVE", "OURS", "Stream", "stream"]

_LIMITS = Limits(max_calls=None)


class Stream(NamedTuple):
    """A workload and the reads in which it comes."""

    workload: Workload
    reads: list[bytes]


def stream(workload: Workload, cut: str | int = READ) -> Stream:
    """Cut a workload: into reads of so many bytes, or as one of `CUTS` says."""
    data = workload.data
    return Stream(workload, workloads.cut(data, cut) if isinstance(cut, int) else workloads.CUTS[cut](data))


def _finds(found: Callable[[Any], Any]) -> Callable[[Stream, Any], bool]:
    return lambda subject, result: bool(subject.workload.result == found(result))


OURS = Contender(lambda subject: baselines.parse(subject.reads, _LIMITS), _finds(baselines.found))
NAIVE = Contender(
    lambda subject: baselines.NAIVE[subject.workload.dialect](subject.reads), _finds(lambda result: result)
)
FLOOR = Contender(
    lambda subject: baselines.floor(subject.reads, subject.workload.dialect),
    lambda subject, n_frames: bool(subject.workload.n_events == n_frames),
)
