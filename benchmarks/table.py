"""The table that `python -m benchmarks` prints, and the check that fails when a ratio is far beyond its budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks import (
    bench_arguments,
    bench_calls_only,
    bench_first_stream,
    bench_framing,
    bench_growth,
    bench_history,
    bench_import,
    bench_memory,
    bench_odd,
    bench_progress,
    bench_reads,
    bench_recordings,
    bench_repair,
    bench_stream,
    bench_tools,
    bench_transcripts,
)
from benchmarks.claims import Claim, Comparison, Row, Scale

__all__ = ["check", "figures", "streams"]

_FIGURES: tuple[Iterable[Claim], ...] = (
    bench_growth.CLAIMS,
    bench_odd.CLAIMS,
    bench_reads.CLAIMS,
    bench_calls_only.CLAIMS,
    bench_recordings.CLAIMS,
    bench_framing.CLAIMS,
    bench_tools.CLAIMS,
    bench_arguments.CLAIMS,
    bench_progress.CLAIMS,
    bench_repair.CLAIMS,
    bench_history.CLAIMS,
    bench_transcripts.CLAIMS,
    bench_memory.CLAIMS,
    bench_import.CLAIMS,
    bench_first_stream.CLAIMS,
)
_STREAM = "{:<46}{:>8}{:>9}{:>8}{:>8}{:>10}{:>10}  {}"
_CONTENDERS = ("wholecall", "naive", "floor")
_WIDTH = 89
_MARGIN = 2.0  # what a loaded machine can do to a ratio of least times, and more
_TRIES = 3


# The table.


def streams(scale: Scale) -> Iterator[str]:
    """Yield lines of what bytes to events cost: microseconds for an event, and the ratios with their budgets."""
    head = ("bytes to events, 1,460 B reads", "events", "us/event", "naive", "floor", "to naive", "to floor")
    yield _STREAM.format(*head, "budgets")
    for claim in bench_stream.CLAIMS:
        if claim.ratios:
            yield _stream(claim, scale)


def _stream(claim: Comparison, scale: Scale) -> str:
    subject, times = claim.measured(scale)
    assert claim.events is not None, "these are claims about streams"
    n = claim.events(subject)
    least = [_micro(min(times[name]) / n) if name in times else "" for name in _CONTENDERS]
    rows = {ratio.other: row for ratio, row in zip(claim.ratios, claim.judged(times), strict=True)}
    ratios = [f"{rows[name].value:.2f}" if name in rows else "" for name in _CONTENDERS[1:]]
    budgets = " / ".join(f"{row.budget}" for row in rows.values() if row.budget)
    missed = "  MISSED" if any(row.beyond() for row in rows.values()) else ""
    return _STREAM.format(claim.what, n, *least, *ratios, budgets + missed).rstrip()


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


def check(scale: Scale) -> Iterator[tuple[Row, bool]]:
    """Yield every figure that has a budget, and whether it is far beyond it: each time that it was measured.

    The margin is for machines that do other work meanwhile. What is beyond it is measured again, and only what
    is so every time counts.
    """
    for claims in (bench_stream.CLAIMS, *_FIGURES):
        for claim in claims:
            if claim.checked and _has_budget(claim):
                yield from _tried(claim, scale)


def _has_budget(claim: Claim) -> bool:
    return not isinstance(claim, Comparison) or any(ratio.budget for ratio in claim.ratios)


def _tried(claim: Claim, scale: Scale) -> list[tuple[Row, bool]]:
    judged: list[tuple[Row, bool]] = []
    for _ in range(_TRIES):
        judged = [(row, _far(row, scale)) for row in claim.rows(scale) if row.budget]
        if not any(far for _, far in judged):
            break
    return judged


def _far(row: Row, scale: Scale) -> bool:
    """Whether a figure is more than twice its budget; a growth, more than twice the time of linear work."""
    doublings = scale.span.bit_length() - 1
    return row.value > 2 * _MARGIN ** (1 / doublings) if row.unit else row.beyond(_MARGIN)
