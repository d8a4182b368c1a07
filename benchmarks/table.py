"""The table that `python -m benchmarks` prints, and the check that fails when a ratio is far beyond its budget."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain

from benchmarks import (
    bench_arguments,
    bench_bounds,
    bench_bulk,
    bench_calls_only,
    bench_cuts,
    bench_dialects,
    bench_first_stream,
    bench_forms,
    bench_framing,
    bench_gateways,
    bench_growth,
    bench_history,
    bench_import,
    bench_memory,
    bench_odd,
    bench_one_event,
    bench_progress,
    bench_reads,
    bench_recordings,
    bench_repair,
    bench_replay,
    bench_report,
    bench_scan,
    bench_stream,
    bench_text,
    bench_tools,
    bench_transcripts,
)
from benchmarks.claims import Claim, Comparison, Growth, Ratio, Row, Scale
from benchmarks.streams import CONTENDERS
from benchmarks.summary import FAR, MAIN

# Claims about streams, and in which reads these come.
_STREAMS: dict[str, Sequence[Comparison]] = {
    "bytes to events, reads of 1,460 B": bench_stream.CLAIMS,
    "bytes to events, one event a read": bench_one_event.STREAMS,
    "tiny streams, from new parser to close": bench_one_event.TINY,
    "other dialects, reads of 1,460 B": bench_dialects.IN_READS,
    "other dialects, one event a read": bench_dialects.AS_EVENTS,
    "chat completions as others serve them": bench_gateways.CLAIMS,
}
_FIGURES: tuple[Iterable[Claim], ...] = (
    bench_forms.CLAIMS,
    bench_growth.CLAIMS,
    bench_bounds.CLAIMS,
    bench_odd.CLAIMS,
    bench_reads.CLAIMS,
    bench_calls_only.CLAIMS,
    bench_cuts.CLAIMS,
    bench_recordings.CLAIMS,
    bench_replay.CLAIMS,
    bench_bulk.CLAIMS,
    bench_scan.CLAIMS,
    bench_report.CLAIMS,
    bench_framing.CLAIMS,
    bench_tools.CLAIMS,
    bench_arguments.CLAIMS,
    bench_progress.CLAIMS,
    bench_repair.CLAIMS,
    bench_text.CLAIMS,
    bench_history.CLAIMS,
    bench_transcripts.CLAIMS,
    bench_memory.CLAIMS,
    bench_import.CLAIMS,
    bench_first_stream.CLAIMS,
)
_OTHERS = tuple(name for name in CONTENDERS if name != "wholecall")
_STREAM = "{:<47}{:>7}{:>10}" + "{:>17}" * len(_OTHERS)
_WIDTH = 89
# More than the effect of a loaded machine on a ratio of least times. Other interpreters than the one that we promise
# for may have somewhat higher ratios; CPython 3.10 has much higher ratios where a call is many small steps, because it
# does not specialise code.
_MINOR = platform.python_version().rpartition(".")[0]
_SLOWER = {MAIN: 1, "3.10": 1.75}.get(_MINOR, FAR)
_MARGIN = 2.0 * _SLOWER
_NOISE = (
    1.4 * _SLOWER
)  # for figures that are known to miss their budget: they were measured with the main interpreter
_TRIES = 3


# The table.


def streams(scale: Scale) -> Iterator[str]:
    """Yield lines of the cost from bytes to events: our microseconds for an event, and ratios to the others' times."""
    for title, claims in _STREAMS.items():
        yield _STREAM.format(title, "events", "us/event", *(f"to {name}" for name in _OTHERS)).rstrip()
        for claim in claims:
            if claim.ratios:
                yield _stream(claim, scale)
        yield ""
    yield "Beside a ratio stands its budget; ^ is a loop whose buffer is quadratic here, so that the ratio flatters"


def _stream(claim: Comparison, scale: Scale) -> str:
    subject, times = claim.measured(scale)
    assert claim.events is not None, "these are claims about streams"
    n = claim.events(subject)
    rows = list(claim.judged(times))
    cells = {ratio.other: _cell(ratio, row) for ratio, row in zip(claim.ratios, rows, strict=True)}
    micro = _micro(min(times["wholecall"]) / claim.times / n)
    missed = "  MISSED" if any(row.beyond() for row in rows) else ""
    return _STREAM.format(claim.what, n, micro, *(cells.get(name, "") for name in _OTHERS)).rstrip() + missed


def _cell(ratio: Ratio, row: Row) -> str:
    budget = f" <= {row.budget:g}" if row.budget else ""
    return f"{'^' if ratio.quadratic else ''}{row.value:.2f}{budget}"


def _micro(seconds: float) -> str:
    micro = seconds * 1e6
    return f"{micro:.2f}" if micro < 100 else f"{micro:.0f}"


def figures(scale: Scale) -> Iterator[str]:
    """Yield lines of everything else, each a ratio or another figure with its budget."""
    yield f"{'':<{_WIDTH}}{'ratio':>8}  budget"
    for claims in _FIGURES:
        for claim in claims:
            yield from map(_figure, claim.rows(scale))


def _figure(row: Row) -> str:
    budget = f"<= {row.budget:<6g}" if row.budget else ""
    missed = "  MISSED" if row.beyond() else ""
    return f"{row.what:<{_WIDTH}}{row.value:>8.2f}  {budget:<10}{row.unit:<7}{missed}".rstrip()


# The check.


def check(scale: Scale, *, streams_only: bool = False) -> Iterator[tuple[Row, bool]]:
    """Yield every figure that has a budget, and whether it is far beyond it: each time that it was measured.

    The margin is for machines that do other work meanwhile. A figure beyond it is measured again, and counts only if it
    is beyond it every time.
    """
    for claim in checked(streams_only=streams_only):
        yield from _tried(claim, scale)


def checked(*, streams_only: bool = False) -> Iterator[Claim]:
    """Yield the claims that `check` measures: those with a budget that no other claim covers."""
    claims = chain(*_STREAMS.values(), *(() if streams_only else _FIGURES))
    return (claim for claim in claims if claim.checked and _has_budget(claim))


def _has_budget(claim: Claim) -> bool:
    if isinstance(claim, Comparison):
        return any(ratio.budget for ratio in claim.ratios)
    return isinstance(claim, Growth) or bool(claim.budget)


def _tried(claim: Claim, scale: Scale) -> list[tuple[Row, bool]]:
    judged: list[tuple[Row, bool]] = []
    for _ in range(_TRIES):
        judged = [(row, _far(row, scale)) for row in claim.rows(scale) if row.budget]
        if not any(far for _, far in judged):
            break
    return judged


def _far(row: Row, scale: Scale) -> bool:
    """Return whether a figure is over twice its budget, and grew; a growth, over twice the time of linear work."""
    doublings = scale.span.bit_length() - 1
    if row.unit:
        return row.value > 2 * _MARGIN ** (1 / doublings)
    return row.beyond(_MARGIN) and row.value > _NOISE * row.known
