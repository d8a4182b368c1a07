"""Write measured figures into the pages that show them: README.md, docs/speed.md and docs/speed.svg.

    python -m benchmarks.publish --rivals sdks.json litellm.json --pythons 3.10.json 3.11.json 3.12.json 3.13.json

The files are the output of `python -m benchmarks.rivals.speed --json` and `python -m benchmarks --json`. Only the
marked parts of the pages change.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from benchmarks import summary
from benchmarks.rivals import speed_chart, speed_table
from benchmarks.rivals.figures import DIALECTS, Figure, Run, merged
from benchmarks.rivals.readers import ANTHROPIC, CHAT, MSGSPEC_LOOP, NAIVE_LOOP, RESPONSES
from benchmarks.rivals.speed_chart import WORKLOADS

_ROOT = Path(__file__).parents[1]
# The rows of the README's table: the title of a row, and its reader in each dialect.
_ROWS: dict[str, dict[str, str]] = {
    "`json.loads` loop": dict.fromkeys(DIALECTS, NAIVE_LOOP),
    "the same loop with `msgspec`": dict.fromkeys(DIALECTS, MSGSPEC_LOOP),
    "the SDK's `create()`": {
        CHAT: "openai create()",
        ANTHROPIC: "anthropic create()",
        RESPONSES: "openai create()",
    },
    "the SDK's `.stream()`": {
        CHAT: "openai .stream()",
        ANTHROPIC: "anthropic .stream()",
        RESPONSES: "openai .stream()",
    },
}
_LEGEND = "`x` is a multiple of wholecall's time: below 1x is faster than wholecall."
_WORST = 4  # streams on which a loop is faster that the README names
_READS = ("one event a read", "1,460-byte reads")


def replaced(page: str, part: str, text: str) -> str:
    """Return a page with another text between `<!-- part -->` and `<!-- /part -->`.

    Raises:
        ValueError: the page does not have such a part, or has several.
    """
    marks = f"<!-- {part} -->\n", f"<!-- /{part} -->"
    pattern = f"{re.escape(marks[0])}.*?{re.escape(marks[1])}"
    changed, n = re.subn(pattern, lambda _: marks[0] + text + marks[1], page, flags=re.DOTALL)
    if n != 1:
        raise ValueError(f"the page has {n} parts {part!r}")
    return changed


def overview(rivals: Run, runs: Sequence[summary.Run]) -> str:
    """Return the README's figures: two ways to read, the loops and the SDKs, the losses, and other interpreters."""
    parts = ["\n".join(_table(rivals)), _LEGEND, _lost(summary.main_of(runs)), "\n".join(_by_python(runs))]
    return "\n\n".join(parts) + "\n"


def _table(rivals: Run) -> Iterator[str]:
    yield speed_table.cells("20 parallel calls: one event a read · 1,460-byte reads", *DIALECTS.values())
    yield speed_table.cells("---", *["---:"] * len(DIALECTS))
    yield speed_table.cells(
        "**wholecall**, µs an event", *(f"**{_micro(rivals, dialect)}**" for dialect in DIALECTS)
    )
    for title, names in _ROWS.items():
        yield speed_table.cells(title, *(_times(rivals, names[dialect], dialect) for dialect in DIALECTS))


def _micro(rivals: Run, dialect: str) -> str:
    taken = (rivals.ours(dialect, workload) for workload in WORKLOADS)
    return " · ".join("" if micro is None else f"{micro:.1f}" for micro in taken)


def _times(rivals: Run, rival: str, dialect: str) -> str:
    found = (rivals.find(rival, dialect, workload) for workload in WORKLOADS)
    return " · ".join(
        f"{speed_table.shown_ratio(one.ratio)}x" if isinstance(one, Figure) else "-" for one in found
    )


def _lost(run: summary.Run) -> str:
    """Return sentences that name the streams on which loops are fastest, the worst first; none if there are none."""
    found: dict[str, list[float]] = {}
    for line in run.lines:
        if line.against in summary.LOOPS:
            what = line.what
            for reads in _READS:
                what = what.removesuffix(f", {reads}")
            found.setdefault(what, []).extend(line.values)
    worst = sorted((what for what in found if max(found[what]) > 1), key=lambda what: -max(found[what]))
    if not worst:
        return "[All ratios](docs/speed.md) and their budgets."
    named = "; ".join(f"{what} ({min(found[what]):.1f} to {max(found[what]):.1f})" for what in worst[:_WORST])
    return (
        "A loop is written for one dialect and knows no quirks, no limits and no cut streams. Wholecall is "
        f"furthest behind the loop on these streams, by these factors: {named}. [All ratios](docs/speed.md) and their budgets."
    )


def _by_python(runs: Sequence[summary.Run]) -> Iterator[str]:
    yield speed_table.cells("`json.loads` loop, on CPython", *(run.minor for run in runs))
    yield speed_table.cells("---", *["---:"] * len(runs))
    for reads in _READS:
        what = f"20 parallel calls, {reads}"
        found = (next(line for line in run.lines if line.what == what) for run in runs)
        ratios = (" / ".join(f"{1 / value:.1f}x" for value in line.values) for line in found)
        yield speed_table.cells(reads, *ratios)


def main() -> None:
    """Write the figures into the pages."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.publish",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--rivals", nargs="+", type=Path, required=True, metavar="FILE", help="of each environment"
    )
    parser.add_argument(
        "--pythons", nargs="+", type=Path, required=True, metavar="FILE", help="of each interpreter"
    )
    options = parser.parse_args()
    rivals = merged([msgspec.json.decode(file.read_bytes(), type=Run) for file in options.rivals])
    runs = [msgspec.json.decode(file.read_bytes(), type=summary.Run) for file in options.pythons]
    parts = {
        "README.md": {"speed": overview(rivals, runs)},
        "docs/speed.md": {"rivals": speed_table.markdown(rivals), "ratios": summary.markdown(runs)},
    }
    (_ROOT / "docs/speed.svg").write_text(speed_chart.chart(rivals), encoding="utf-8")
    for name, texts in parts.items():
        page = (_ROOT / name).read_text("utf-8")
        for part, text in texts.items():
            page = replaced(page, part, text)
        (_ROOT / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
