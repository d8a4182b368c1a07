"""The claim: a caller without need for live text does not pay for it, and a replay costs little beyond the parsing."""

from __future__ import annotations

import contextlib
import io
from collections.abc import Callable
from pathlib import Path

from benchmarks import streams, workloads
from benchmarks.baselines import found, parse
from benchmarks.claims import Comparison, Contender, Ratio
from benchmarks.streams import OURS, Stream
from benchmarks.workloads import DIALECTS, READ
from wholecall.cli.main import main
from wholecall.recordings.finding import find

_RECORDINGS = Path(__file__).parents[1] / "corpora" / "recordings"
_CALLS_ONLY = Contender(
    lambda subject: parse(subject.reads, events="calls"),
    lambda subject, parser: bool(subject.workload.result == found(parser)),
)


def _claim(dialect: str, cut: str | int) -> Comparison:
    def make(_part: int) -> Stream:
        return streams.stream(workloads.w1(dialect), cut)

    contenders = {"calls only": _CALLS_ONLY, "all events": OURS}
    what = f"W1 {dialect}, reads: {cut},"
    return Comparison(what, make, contenders, (Ratio("calls only", "all events", 1.0),))


def _recordings(_part: int) -> list[Path]:
    return [Path(place.path) for place in find([_RECORDINGS])]


def _replayed(_paths: list[Path]) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as out:
        main(["replay", str(_RECORDINGS)])
    return out.getvalue()


_REPLAY = Comparison(
    "recordings of corpora/,",
    _recordings,
    {
        "replay": Contender(_replayed, lambda paths, shown: f"{len(paths)} recordings: " in shown),
        "parsing": Contender(
            lambda paths: [parse([path.read_bytes()]) for path in paths], lambda _, found: bool(found)
        ),
    },
    (Ratio("replay", "parsing", 1.5),),
)


CLAIMS = [*(_claim(dialect, cut) for dialect in DIALECTS for cut in (READ, "frame")), _REPLAY]


def test_calls_only(race: Callable[[], None]) -> None:
    """Both come to the same result."""
    race()
