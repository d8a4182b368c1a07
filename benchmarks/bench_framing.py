"""The claim: framing by the standard costs little more than the split that people paste, however cut."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.naive.splitting import payloads
from benchmarks.workloads import CUTS, DIALECTS, READ, cut, w1
from wholecall import Limits
from wholecall.framing import FRAMINGS


class Framed(NamedTuple):
    """A stream in its reads, and the payloads in it."""

    reads: list[bytes]
    payloads: list[str]


def _framed(subject: Framed) -> list[str]:
    framing = FRAMINGS["sse"](Limits())
    return [frame.data for read in subject.reads for frame in framing.feed(read)]


def _same(subject: Framed, found: list[str]) -> bool:
    return subject.payloads == found


_OURS = Contender(_framed, _same)
_SPLIT = Contender(lambda subject: list(payloads(subject.reads)), _same)


@functools.cache
def _payloads(dialect: str) -> list[str]:
    return list(payloads([w1(dialect).data]))


def _claim(dialect: str, name: str) -> Comparison:
    def make(_part: int) -> Framed:
        return Framed(CUTS[name](w1(dialect).data), _payloads(dialect))

    ratios = (Ratio("wholecall", "naive"),) if name == str(READ) else ()
    what = f"framing W1 {dialect}, reads: {name}"
    return Comparison(what, make, {"wholecall": _OURS, "naive": _SPLIT}, ratios)


def _line_ends(dialect: str) -> Comparison:
    """CRLF takes a step more than LF."""

    def make(_part: int) -> tuple[Framed, Framed]:
        data, payloads = w1(dialect).data, _payloads(dialect)
        return Framed(cut(data, READ), payloads), Framed(cut(data.replace(b"\n", b"\r\n"), READ), payloads)

    contenders = {name: _nth(at) for at, name in enumerate(("LF", "CRLF"))}
    return Comparison(f"framing W1 {dialect}", make, contenders, (Ratio("CRLF", "LF"),))


def _nth(at: int) -> Contender:
    return Contender(
        lambda subjects: _framed(subjects[at]), lambda subjects, found: _same(subjects[at], found)
    )


CLAIMS = [
    *(_claim(dialect, name) for dialect in DIALECTS for name in CUTS),
    *(_line_ends(dialect) for dialect in DIALECTS),
]


def test_framing(race: Callable[[], None]) -> None:
    """Both find the same payloads."""
    race()
