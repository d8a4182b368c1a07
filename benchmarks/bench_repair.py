"""The claim: bytes in, strict bytes out costs about as much as parsing, and no more per byte as streams grow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from benchmarks import streams, workloads
from benchmarks.claims import Claim, Comparison, Contender, Growth, Ratio
from benchmarks.hostile import Attack
from benchmarks.streams import OURS, Stream
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ, Workload
from wholecall.repairing import Repairer

_WORKLOADS: dict[str, Callable[[str, int], Workload]] = {
    "plain text": lambda dialect, part: workloads.plain_text(dialect, 32 * KIB // part),
    "W1": lambda dialect, _: workloads.w1(dialect),
    "W2 64K d4": lambda dialect, part: workloads.w2(dialect, 64 * KIB // part, 4),
    "a tiny turn": lambda dialect, _: workloads.plain_text(dialect, 4),
}
# The budgets of repair, as a multiple of parsing: text that is forwarded with a frame a read, calls that are held, and
# turns of one word, which cost little more than every stream's fixed cost: parsing has a fast lane for them, repair
# does not.
_BUDGETS: dict[tuple[str, str | int], dict[str, float]] = {
    ("plain text", "frame"): {"chat-completions": 2, "anthropic": 2.3, "responses": 2.3},
    ("W1", "frame"): {"chat-completions": 3.2, "anthropic": 3.6, "responses": 3.7},
    ("a tiny turn", "frame"): dict.fromkeys(DIALECTS, 8),
}


def _repaired(subject: Stream | Attack) -> bytes:
    repairer = Repairer()
    return b"".join([*map(repairer.feed, subject.reads), repairer.close()])


_REPAIR = Contender(_repaired, lambda subject, found: bool(subject.workload.data == found))


def _claim(name: str, dialect: str, read: str | int = READ) -> Comparison:
    def make(part: int) -> Stream:
        return streams.stream(_WORKLOADS[name](dialect, part), read)

    what = f"repair {name} {dialect}" + ("" if read == READ else f", a read is one {read}")
    budget = _BUDGETS.get((name, read), {}).get(dialect, 0)
    contenders = {"parse": OURS, "repair": _REPAIR}
    times = 50 if name == "a tiny turn" else 1
    return Comparison(what, make, contenders, (Ratio("repair", "parse", budget),), times=times)


def _growth(dialect: str) -> Growth:
    return Growth(
        f"bytes of one repaired call, {dialect}",
        lambda n: streams.stream(workloads.w2(dialect, n, 4)),
        32 * KIB,
        lambda subject: len(subject.workload.data),
        _REPAIR,
    )


# Events that hold nothing, of which a server can send more and more before or after the first frame.
_FLOODS = {"broken": b"a{\n\n", "empty": b"event: x\n\n", "blank": b"data:\n\n", "no objects": b"data: 1\n\n"}
_FIRST = (
    b'data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":null}]}\n\n'
)


def _flood(unit: bytes, first: bytes, n: int) -> Attack:
    data = first + unit * n
    return Attack(workloads.cut(data, READ), len(data), "bytes", 0)


# Masses of empty input yield hardly any output; each forwarded part is forwarded once.
_SURVIVES = Contender(_repaired, lambda subject, found: len(found) <= subject.size + KIB)


def _floods() -> Iterator[Growth]:
    for name, unit in _FLOODS.items():
        for where, first in (("before", b""), ("behind", _FIRST)):
            make = partial(_flood, unit, first)
            yield Growth(
                f"repair: {name} events {where} the first frame", make, 8000, lambda one: one.size, _SURVIVES
            )


CLAIMS: list[Claim] = [
    *_floods(),
    *(_claim(name, dialect) for dialect in DIALECTS for name in ("plain text", "W1", "W2 64K d4")),
    *(_claim(name, dialect, "frame") for dialect in DIALECTS for name, _ in _BUDGETS),
    *map(_growth, DIALECTS),
]


def test_repair(race: Callable[[], None]) -> None:
    """A strict stream is forwarded unchanged."""
    race()
