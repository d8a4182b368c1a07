"""Figures of speed as text and as Markdown."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Iterator

from benchmarks.rivals.figures import BY_EVENT, DIALECTS, FLOOR, Failure, Figure, Outcome, Run
from benchmarks.rivals.readers import ANTHROPIC, CHAT, LIVE, RESPONSES

_ROW = "{:<22}{:<18}{:<14}{:>11}{:>9}{:>10}  {}"
HEAD = _ROW.format("rival", "version", "workload", "us/event", "ours", "slower", "budget")
# The rows of the short tables: W1 of each dialect, and the largest chat workload that most libraries finish.
_COLUMNS = {
    "one event a read": (
        (CHAT, "W1" + BY_EVENT, "Chat Completions"),
        (ANTHROPIC, "W1" + BY_EVENT, "Anthropic"),
        (RESPONSES, "W1" + BY_EVENT, "Responses"),
    ),
    "reads of 1,460 bytes": (
        (CHAT, "W1", "Chat Completions"),
        (CHAT, "W2 64K d4", "one long call"),
        (ANTHROPIC, "W1", "Anthropic"),
        (RESPONSES, "W1", "Responses"),
    ),
}
_LIVE_COLUMNS = ("2K d4", "8K d4", "64K d4")


def title(dialect: str) -> str:
    """Return the heading of a dialect's rows."""
    if dialect == LIVE:
        return "live arguments: the value so far at every delta of 4 characters (an event is a delta)"
    return f"{DIALECTS[dialect]}: bytes to text and calls"


def row(outcome: Outcome) -> str:
    """Return one row of the table, in the columns of `HEAD`."""
    version = next(iter(outcome.versions.values()), "")
    if isinstance(outcome, Failure):
        return _ROW.format(outcome.rival, version, outcome.workload, "", "", "", outcome.trouble)
    more = ">" if outcome.capped else ""
    return _ROW.format(
        outcome.rival,
        version,
        outcome.workload,
        f"{more}{outcome.theirs:,.1f}",
        f"{outcome.ours:.2f}",
        f"{more}{shown_ratio(outcome.ratio)}x",
        _remark(outcome),
    ).rstrip()


def _remark(figure: Figure) -> str:
    if figure.flatters:
        return "its buffer is quadratic here"
    budget = f">= {figure.budget}x" if figure.budget else ""
    return f"{budget}  MISSED" if figure.missed else budget


def shown_ratio(ratio: float) -> str:
    """Return a ratio with as many digits as say something."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def absent(names: Iterable[str]) -> str:
    """Return the line that names omissions; empty if there are none."""
    listed = ", ".join(names)
    return f"not installed, and left out: {listed}" if listed else ""


def table(run: Run) -> str:
    """Return the table, a part for each dialect."""
    lines = [
        f"{run.date}, {run.python}, processor time; a figure behind > is of a rival that was stopped by then",
        "",
    ]
    dialects = dict.fromkeys(one.dialect for one in (*run.figures, *run.failures))
    for dialect in dialects:
        lines += [title(dialect), HEAD]
        lines += [row(figure) for figure in run.figures if figure.dialect == dialect]
        lines += [row(failure) for failure in run.failures if failure.dialect == dialect]
        lines.append("")
    return "\n".join([*lines, absent(run.absent)]).rstrip() + "\n"


def markdown(run: Run) -> str:
    """Return short tables, streams and live arguments: wholecall's time, and others' times as multiples of it."""
    parts = ["\n".join(_streams(run, reads)) for reads in _COLUMNS if _measured(run, reads)]
    if any(figure.dialect == LIVE for figure in run.figures):
        parts.append("\n".join(_live(run)))
    measured = ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
    parts.append(f"Measured on {run.date} with {run.python}: {measured}.")
    return "\n\n".join(parts) + "\n"


def _measured(run: Run, reads: str) -> dict[tuple[str, str], str]:
    """Return the columns that there are, each with its name."""
    columns = _COLUMNS[reads]
    return {(dialect, workload): name for dialect, workload, name in columns if run.ours(dialect, workload)}


def _streams(run: Run, reads: str) -> Iterator[str]:
    named = _measured(run, reads)
    yield cells(reads, *named.values())
    yield cells("---", *["---:"] * len(named))
    yield cells("**wholecall**", *(f"**{run.ours(*place):.1f} µs**" for place in named))
    outcomes = (*run.figures, *run.failures)
    rivals = dict.fromkeys(one.rival for one in outcomes if (one.dialect, one.workload) in named)
    for rival in sorted(rivals, key=lambda name: _slowness(run, name, named)):
        if rival != FLOOR:
            yield cells(rival, *(_cell(run.find(rival, *place)) for place in named))


def _live(run: Run) -> Iterator[str]:
    sizes = [size for size in _LIVE_COLUMNS if run.ours(LIVE, size)]
    yield cells("the value so far at every delta", *(size.replace("K d4", " KB") for size in sizes))
    yield cells("---", *["---:"] * len(sizes))
    yield cells("**wholecall**", *(f"**{run.ours(LIVE, size):.1f} µs**" for size in sizes))
    for rival in dict.fromkeys(figure.rival for figure in run.figures if figure.dialect == LIVE):
        yield cells(rival, *(_cell(run.find(rival, LIVE, size)) for size in sizes))


def _slowness(run: Run, rival: str, named: Container[tuple[str, str]]) -> float:
    """Return the least ratio of a rival in the columns of a table, to sort by."""
    ratios = (one.ratio for one in run.figures if one.rival == rival and (one.dialect, one.workload) in named)
    return min(ratios, default=math.inf)


def _cell(figure: Outcome | None) -> str:
    if figure is None:
        return ""
    if isinstance(figure, Failure):
        return figure.trouble
    return f"{'> ' if figure.capped else ''}{shown_ratio(figure.ratio)}x"


def cells(*texts: str) -> str:
    """Return a row of a table in Markdown."""
    return f"| {' | '.join(texts)} |"
