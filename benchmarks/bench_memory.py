"""The claim: memory is a few times the arguments that are open, and nothing remains of a stream that has ended.

The peak counts the parser's held and temporary objects. It does not count the reads, which are the caller's, nor
earlier events, which the caller releases here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from benchmarks import baselines, measure, workloads
from benchmarks.claims import Claim, Figure, Scale
from benchmarks.texts import KIB
from benchmarks.workloads import DIALECTS, READ, Workload
from wholecall import ToolCallParser

# Times the argument text: its pieces, the joined text, the decoded value; in Responses also the event that holds all of
# it again. Text that is not ASCII has to be encoded before it can be decoded, and the decoder widens its buffer on the
# way: in Responses both the event's and the arguments'.
_PEAK_BUDGET = 5
_OTHER_COPIES = {"chat-completions": 1, "anthropic": 1, "responses": 2}
_KEPT_BUDGET = 1.0  # bytes a call; one pointer that is kept for each would be eight
_TEXT_BUDGET = 3  # times a text that is still coming
_TEXT = 8000  # characters, some 2,000 tokens
_OPEN = 20  # streams that are open at once
_CALLS = 100_000
_CALLS_OF_A_STREAM = 100
_LAST = 5  # events, at most, after the last piece of a text
_WARM_UP = 10  # streams of each dialect: caches fill once


def _peak(dialect: str, plain: bool, scale: Scale) -> float:
    """Return the peak of one call of 512 KB in deltas of four characters, as a multiple of its argument text."""
    workload = workloads.w2(dialect, 512 * KIB // min(scale.part, 8), 4, plain=plain)
    reads = workloads.cut(workload.data, READ)
    _parsed(workloads.w1(dialect))  # objects made once for all streams are not part of a stream
    return measure.peak_memory(partial(baselines.parse, reads)) / len(workload.calls[0].arguments)


def _parsed(workload: Workload) -> int:
    return len(baselines.parse(workloads.cut(workload.data, READ)).turn.calls)


def _said(make: Callable[[str, int], Workload], dialect: str, _scale: Scale) -> float:
    """Return the memory of an incomplete text and its parser, as a multiple of the text."""
    workload = make(dialect, _TEXT)
    held: list[ToolCallParser[Any]] = []

    def read(n: int) -> None:
        for _ in range(n):
            held.append(ToolCallParser())
            for event in workload.events[:-_LAST]:
                held[-1].feed(event)

    return measure.kept_memory(partial(read, 1), partial(read, _OPEN)) / _OPEN / _TEXT


def _labelled(workload: Workload, n: int) -> Iterator[list[bytes]]:
    """Yield a stream `n` times, each time with new ids and names, so that none are known already."""
    for number in range(n):
        data = workload.data.replace(b'"call_', b'"call_%d_' % number).replace(
            b'"weather"', b'"w%d"' % number
        )
        yield workloads.cut(data, READ)


def _kept(scale: Scale) -> float:
    """Return how many bytes are kept of each of 100,000 finished calls: many streams, a parser for each."""
    streams = _CALLS // _CALLS_OF_A_STREAM // len(DIALECTS) // scale.part
    made = [workloads.many_calls(dialect, _CALLS_OF_A_STREAM) for dialect in DIALECTS]
    found: list[int] = []
    kept = measure.kept_memory(
        partial(_finished, made, _WARM_UP), lambda: found.append(_finished(made, streams))
    )
    assert found == [streams * _CALLS_OF_A_STREAM * len(DIALECTS)]
    return kept / found[0]


def _finished(made: list[Workload], n: int) -> int:
    """Parse each stream `n` times, and return how many calls that gave."""
    return sum(
        len(baselines.parse(reads).turn.calls) for workload in made for reads in _labelled(workload, n)
    )


CLAIMS: list[Claim] = [
    *(
        Figure(
            f"peak of W2 512K d4 {dialect} / its argument text, ASCII",
            partial(_peak, dialect, True),
            _PEAK_BUDGET,
        )
        for dialect in DIALECTS
    ),
    *(
        Figure(
            f"peak of W2 512K d4 {dialect} / its argument text, with accents",
            partial(_peak, dialect, False),
            _PEAK_BUDGET + copies,
        )
        for dialect, copies in _OTHER_COPIES.items()
    ),
    *(
        Figure(
            f"{what} of {_TEXT} characters {dialect}, held / its size",
            partial(_said, make, dialect),
            _TEXT_BUDGET,
        )
        for what, make in (("text", workloads.plain_text), ("reasoning", workloads.plain_thought))
        for dialect in DIALECTS
    ),
    Figure("bytes kept of each of 100,000 finished calls", _kept, _KEPT_BUDGET),
]


def test_memory(race: Callable[[], None]) -> None:
    """Every call is read while memory is watched."""
    race()
