"""The claim: bytes in, strict bytes out costs about what parsing costs, and no more per byte as streams grow."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks import streams, workloads
from benchmarks.claims import Claim, Comparison, Contender, Growth, Ratio
from benchmarks.streams import OURS, Stream
from benchmarks.workloads import DIALECTS, KIB, READ, Workload
from wholecall.repairing import Repairer

__all__ = ["CLAIMS"]

_WORKLOADS: dict[str, Callable[[str, int], Workload]] = {
    "plain text": lambda dialect, part: workloads.plain_text(dialect, 32 * KIB // part),
    "W1": lambda dialect, _: workloads.w1(dialect),
    "W2 64K d4": lambda dialect, part: workloads.w2(dialect, 64 * KIB // part, 4),
}


def _repaired(subject: Stream) -> bytes:
    repairer = Repairer()
    return b"".join([*map(repairer.feed, subject.reads), repairer.close()])


_REPAIR = Contender(_repaired, lambda subject, found: bool(subject.workload.data == found))


def _claim(name: str, dialect: str, read: str | int = READ) -> Comparison:
    def make(part: int) -> Stream:
        return streams.stream(_WORKLOADS[name](dialect, part), read)

    what = f"repair {name} {dialect}" + ("" if read == READ else f", a read is one {read}")
    return Comparison(what, make, {"parse": OURS, "repair": _REPAIR}, (Ratio("repair", "parse"),))


def _growth(dialect: str) -> Growth:
    return Growth(
        f"bytes of one repaired call, {dialect}",
        lambda n: streams.stream(workloads.w2(dialect, n, 4)),
        32 * KIB,
        lambda subject: len(subject.workload.data),
        _REPAIR,
    )


CLAIMS: list[Claim] = [
    *(_claim(name, dialect) for dialect in DIALECTS for name in _WORKLOADS),
    *(_claim("plain text", dialect, "frame") for dialect in DIALECTS),
    *map(_growth, DIALECTS),
]


def test_repair(race: Callable[[], None]) -> None:
    """A strict stream leaves as it came."""
    race()
