"""The claim: a report on tables costs a few times the reading of their columns, and less than one count row by row.

The tables are such as a scan writes: parts of 2,000 recordings, none to ten calls in each, a few dropped. The loop reads
the same columns, and counts only which calls were dropped, by provider and model.
"""

from __future__ import annotations

import functools
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.claims import Comparison, Contender, Ratio
from wholecall.bulk import CALLS, RECORDINGS, report
from wholecall.bulk.reporting.tables import CALL_COLUMNS, RECORDING_COLUMNS

_RECORDINGS, _PART = 64_000, 2000
_READING, _LOOP = 4.0, 1.0
_MODELS = [(f"p{n % 3}", f"m{n}") for n in range(15)]
_WORDS: dict[str, Any] = {"faults": [], "anomalies": [], "flags": [], "edits": []}


class Tables(NamedTuple):
    """Parts of a scan, which are removed with the program's last reference to them."""

    kept: tempfile.TemporaryDirectory[str]
    n_dropped: int

    @property
    def parts(self) -> list[tuple[Path, Path]]:
        """The files of recordings, each with that of its calls."""
        files = sorted(Path(self.kept.name, "recordings").iterdir())
        return [(file, Path(self.kept.name, "calls", file.name)) for file in files]


@functools.lru_cache(maxsize=1)
def _tables(part: int) -> Tables:
    rng, kept, n_dropped = random.Random(11), tempfile.TemporaryDirectory(), 0
    for table in ("recordings", "calls"):
        Path(kept.name, table).mkdir()
    for start in range(0, _RECORDINGS // part, _PART):
        recordings, calls = zip(*(_recording(rng, start + n) for n in range(_PART)), strict=True)
        listed = [call for several in calls for call in several]
        n_dropped += sum(call["outcome"] == "dropped" for call in listed)
        for table, rows, schema in (("recordings", recordings, RECORDINGS), ("calls", listed, CALLS)):
            made = pa.Table.from_pylist(list(rows), schema=schema)
            pq.write_table(made, Path(kept.name, table, f"part-{start:06}.parquet"), compression="zstd")
    return Tables(kept, n_dropped)


def _recording(rng: random.Random, number: int) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    provider, model = rng.choice(_MODELS)
    id = f"logs/{number:08}.sse"
    calls = [_call(rng, id, n) for n in range(rng.choice((0, 1, 1, 2, 3, 3, 4, 10)))]
    n_dropped = sum(call["outcome"] == "dropped" for call in calls)
    counts = {"bytes": 5000, "turns": 1, "n_calls": len(calls) - n_dropped, "n_dropped": n_dropped}
    ends = {"finish": "tool_calls", "provider_finish": "tool_calls", "output_tokens": rng.randrange(900)}
    names = {"recording_id": id, "source": id, "content_hash": f"{rng.getrandbits(128):032x}", "form": "raw"}
    times = {"first_text_s": rng.lognormvariate(-1, 0.5), "last_s": rng.lognormvariate(1, 0.5)}
    return {**_WORDS, **names, "provider": provider, "model": model, **counts, **ends, **times}, calls


def _call(rng: random.Random, id: str, number: int) -> dict[str, Any]:
    is_dropped = rng.random() < 0.02
    return {
        **_WORDS,
        "recording_id": id,
        "turn": 0,
        "choice": 0,
        "index": number,
        "kind": "function",
        "name": f"tool_{rng.randrange(40)}",
        "outcome": "dropped" if is_dropped else "call",
        "arguments": None if is_dropped else '{"path": "notes.md"}',
        "status": None if is_dropped else "exact",
        "reason": "truncated" if is_dropped else None,
        "flags": ["id_generated"] if rng.random() < 0.2 else [],
        "n_arguments_bytes": int(rng.lognormvariate(5, 1.5)),
    }


def _read(tables: Tables) -> Iterator[tuple[Any, Any]]:
    for recordings, calls in tables.parts:
        yield (
            pq.read_table(recordings, columns=list(RECORDING_COLUMNS), use_threads=False),
            pq.read_table(calls, columns=list(CALL_COLUMNS), use_threads=False),
        )


def _looped(tables: Tables) -> int:
    dropped: Counter[tuple[str, str]] = Counter()
    for recordings, calls in _read(tables):
        groups = {row["recording_id"]: (row["provider"], row["model"]) for row in recordings.to_pylist()}
        dropped.update(
            groups[row["recording_id"]] for row in calls.to_pylist() if row["outcome"] == "dropped"
        )
    return dropped.total()


CLAIMS = [
    Comparison(
        "tables of recordings and calls,",
        _tables,
        {
            "report": Contender(
                lambda tables: report(tables.kept.name).total.dropped,
                lambda tables, found: bool(tables.n_dropped == found),
            ),
            "reading": Contender(
                lambda tables: sum(len(calls) for _, calls in _read(tables)), lambda _, found: bool(found)
            ),
            "loop": Contender(_looped, lambda tables, found: bool(tables.n_dropped == found)),
        },
        (Ratio("report", "reading", _READING), Ratio("report", "loop", _LOOP)),
    )
]


def test_report(race: Callable[[], None]) -> None:
    """All find the same drops."""
    race()
