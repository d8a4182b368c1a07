"""The claim: a table of responses costs little more than reading them, and a column of arguments than judging them.

The bodies are such as logs are full of: one to three calls, or text alone, in three dialects; a few are cut. A batch
has as many rows as docs/bulk.md advises.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from itertools import cycle, islice
from typing import Any, NamedTuple

import pyarrow as pa

from benchmarks import baselines, workloads
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.texts import KIB, small_call
from benchmarks.workloads import DIALECTS
from wholecall import parse_arguments
from wholecall.bulk import assemble_batch, judge_batch

_ROWS = 64
_ASSEMBLING, _CALLS_ONLY, _JUDGING = 1.25, 0.92, 2.5


class Batch(NamedTuple):
    """A batch of bodies, and how many whole calls are in it."""

    bodies: list[bytes]
    table: pa.Table
    n_calls: int


@functools.lru_cache(maxsize=2)
def _batch(part: int) -> Batch:
    made = list(islice(cycle(_responses()), max(_ROWS // part, 15)))
    bodies = [body for body, _ in made]
    ids = [str(number) for number in range(len(bodies))]
    return Batch(bodies, pa.table({"recording_id": ids, "body": bodies}), sum(n for _, n in made))


def _responses() -> Iterator[tuple[bytes, int]]:
    for dialect in DIALECTS:
        for n in (1, 2, 3):
            yield workloads.parallel_calls(dialect, n).data, n
        yield workloads.plain_text(dialect, 8 * KIB).data, 0
        one = workloads.parallel_calls(dialect, 1).data
        yield one[: len(one) // 2], 0


def _assembled(batch: Batch) -> int:
    return int(sum(assemble_batch(batch.table).column("n_calls").to_pylist()))


def _read(batch: Batch, **options: Any) -> int:
    return sum(len(baselines.parse([body], **options).turn.calls) for body in batch.bodies)


def _is_right(batch: Batch, n_calls: int) -> bool:
    return batch.n_calls == n_calls


_BATCH = Comparison(
    f"{_ROWS} responses in a table,",
    _batch,
    {
        "assemble_batch": Contender(_assembled, _is_right),
        "calls only": Contender(functools.partial(_read, events="calls"), _is_right),
        "all events": Contender(_read, _is_right),
    },
    (Ratio("assemble_batch", "calls only", _ASSEMBLING), Ratio("calls only", "all events", _CALLS_ONLY)),
)


def _texts(part: int) -> list[str]:
    return [small_call(number).arguments for number in range(4000 // part)]


def _judged(texts: list[str]) -> list[str]:
    statuses: list[str] = judge_batch(pa.table({"arguments": texts})).column("status").to_pylist()
    return statuses


def _all_exact(texts: list[str], statuses: list[str]) -> bool:
    return ["exact"] * len(texts) == statuses


_COLUMN = Comparison(
    "texts of arguments in a column,",
    _texts,
    {
        "judge_batch": Contender(_judged, _all_exact),
        "parse_arguments": Contender(
            lambda texts: [parse_arguments(text).status for text in texts], _all_exact
        ),
    },
    (Ratio("judge_batch", "parse_arguments", _JUDGING),),
)


CLAIMS = [_BATCH, _COLUMN]


def test_bulk(race: Callable[[], None]) -> None:
    """All of them find the same calls."""
    race()
