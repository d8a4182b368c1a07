"""The claim: time is linear in the number of every repeatable part of a stream, in every dialect that has the part.

That also holds for parts that no healthy stream has: `hostile` makes them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from benchmarks import hostile, streams, workloads
from benchmarks.claims import Growth
from benchmarks.streams import OURS, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ, Workload

_CHAT, _, _RESPONSES = DIALECTS

# Repeatable parts: the maker, the n to begin at, the bytes of a read, and the dialects.
_MORE: dict[str, tuple[Callable[[str, int], Workload], int, int, tuple[str, ...]]] = {
    "bytes of text": (workloads.plain_text, 32 * KIB, READ, DIALECTS),
    "bytes of one call": (partial(workloads.w2, delta=40), 256 * KIB, READ, DIALECTS),
    "one-character deltas": (workloads.one_call, 8000, READ, DIALECTS),
    "calls": (workloads.many_calls, 1000, READ, DIALECTS),
    "calls side by side": (workloads.interleaved, 40, READ, DIALECTS),
    "fragments with changing ids": (workloads.id_churn, 4000, READ, (_CHAT, _RESPONSES)),
    "bytes of snapshots": (workloads.snapshots, 100, READ, (_CHAT,)),
    "fragments after the end of a call": (workloads.blanks, 8000, READ, DIALECTS),
    "bytes of one event": (workloads.big_event, 256 * KIB, READ, DIALECTS),
    "bytes in reads of 1 B": (workloads.one_call, 1000, 1, DIALECTS),
}


def _claim(what: str, dialect: str) -> Growth:
    make, n, read, _ = _MORE[what]

    def stream(size: int) -> Stream:
        return streams.stream(make(dialect, size), read)

    return Growth(f"{what}, {dialect}", stream, n, lambda subject: len(subject.workload.data), OURS)


def _attack(what: str) -> Growth:
    n = hostile.HOSTILE[what].n
    return Growth(what, partial(hostile.attack, what), n, lambda subject: subject.size, hostile.OURS)


CLAIMS = [
    *(_claim(what, dialect) for what, (*_, dialects) in _MORE.items() for dialect in dialects),
    *map(_attack, hostile.HOSTILE),
]


def test_growth(race: Callable[[], None]) -> None:
    """A larger stream is read as right as a smaller one."""
    race()
