"""Figures of speed as text and as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from benchmarks.rivals.figures import DIALECTS, FLOOR, Figure, Run
from benchmarks.rivals.readers import ANTHROPIC, CHAT, LIVE, RESPONSES

__all__ = ["HEAD", "absent", "markdown", "row", "shown_ratio", "table", "title"]

_ROW = "{:<22}{:<18}{:<12}{:>11}{:>9}{:>10}  {}"
HEAD = _ROW.format("rival", "version", "workload", "us/event", "ours", "slower", "budget")
# What the short table shows: W1 of each dialect, and the largest chat workload that most libraries finish.
_COLUMNS = (
    (CHAT, "W1", "Chat Completions"),
    (CHAT, "W2 64K d4", "one long call"),
    (ANTHROPIC, "W1", "Anthropic"),
    (RESPONSES, "W1", "Responses"),
)
_LIVE_COLUMNS = ("2K d4", "8K d4", "64K d4")


def title(dialect: str) -> str:
    """Return the heading of a dialect's rows."""
    if dialect == LIVE:
        return "live arguments: the value so far at every delta of 4 characters (an event is a delta)"
    return f"{DIALECTS[dialect]}: bytes to text and calls"


def row(figure: Figure) -> str:
    """Return one row of the table, in the columns of `HEAD`."""
    more = ">" if figure.capped else ""
    budget = f">= {figure.budget}x" if figure.budget else ""
    return _ROW.format(
        figure.rival,
        next(iter(figure.versions.values()), ""),
        figure.workload,
        f"{more}{figure.theirs:,.1f}",
        f"{figure.ours:.2f}",
        f"{more}{shown_ratio(figure.ratio)}x",
        f"{budget}  MISSED" if figure.missed else budget,
    ).rstrip()


def shown_ratio(ratio: float) -> str:
    """Return a ratio with as many digits as say something."""
    return f"{ratio:,.0f}" if ratio >= 10 else f"{ratio:.1f}"


def absent(names: Iterable[str]) -> str:
    """Return the line that names what was left out; empty if nothing was."""
    listed = ", ".join(names)
    return f"not installed, and left out: {listed}" if listed else ""


def table(run: Run) -> str:
    """Return the table, a part for each dialect."""
    lines = [
        f"{run.date}, {run.python}, processor time; a figure behind > is of a rival that was stopped by then",
        "",
    ]
    dialects = dict.fromkeys(figure.dialect for figure in run.figures)
    for dialect in dialects:
        lines += [title(dialect), HEAD]
        lines += [row(figure) for figure in run.figures if figure.dialect == dialect]
        lines.append("")
    return "\n".join([*lines, absent(run.absent)]).rstrip() + "\n"


def markdown(run: Run) -> str:
    """Return two short tables, streams and live arguments: what wholecall takes, and how many times that others do."""
    parts = ["\n".join(_streams(run))]
    if any(figure.dialect == LIVE for figure in run.figures):
        parts.append("\n".join(_live(run)))
    measured = ", ".join(f"{name} {version}" for name, version in sorted(run.versions.items()))
    parts.append(f"Measured on {run.date} with {run.python}: {measured}.")
    return "\n\n".join(parts) + "\n"


def _streams(run: Run) -> Iterator[str]:
    named = {(dialect, workload): name for dialect, workload, name in _COLUMNS if run.ours(dialect, workload)}
    yield _cells("", *named.values())
    yield _cells("---", *["---:"] * len(named))
    yield _cells("**wholecall**", *(f"**{run.ours(*place):.1f} µs**" for place in named))
    rivals = dict.fromkeys(figure.rival for figure in run.figures if figure.dialect != LIVE)
    for rival in sorted(rivals, key=lambda name: _slowness(run, name)):
        if rival != FLOOR:
            yield _cells(rival, *(_cell(run.find(rival, *place)) for place in named))


def _live(run: Run) -> Iterator[str]:
    sizes = [size for size in _LIVE_COLUMNS if run.ours(LIVE, size)]
    yield _cells("the value so far at every delta", *(size.replace("K d4", " KB") for size in sizes))
    yield _cells("---", *["---:"] * len(sizes))
    yield _cells("**wholecall**", *(f"**{run.ours(LIVE, size):.1f} µs**" for size in sizes))
    for rival in dict.fromkeys(figure.rival for figure in run.figures if figure.dialect == LIVE):
        yield _cells(rival, *(_cell(run.find(rival, LIVE, size)) for size in sizes))


def _slowness(run: Run, rival: str) -> float:
    return min(figure.ratio for figure in run.figures if figure.rival == rival)


def _cell(figure: Figure | None) -> str:
    if figure is None:
        return ""
    return f"{'> ' if figure.capped else ''}{shown_ratio(figure.ratio)}x"


def _cells(*texts: str) -> str:
    return f"| {' | '.join(texts)} |"
