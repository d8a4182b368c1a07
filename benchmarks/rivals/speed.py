"""The speed of libraries compared with wholecall: `python -m benchmarks.rivals.speed [--quick] [--json]`.

The bytes come from memory: through an HTTP client without a network for those that need one, and straight for wholecall
and the loops (`wholecall over httpx` shows the client's cost). All times are processor time of one run. Microseconds
are those of the machine; the ratio to wholecall counts, the median of rounds in turns with it. Figures of several
environments are combined with `--from`:

    python -m benchmarks.rivals.speed --json > sdks.json
    python -m benchmarks.rivals.speed --json --only litellm > litellm.json
    python -m benchmarks.rivals.speed --from sdks.json litellm.json --svg docs/speed.svg --markdown
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from benchmarks.rivals import races, speed_chart, speed_table
from benchmarks.rivals.figures import Outcome, Run, merged
from benchmarks.rivals.readers import READERS

_FULL = races.Pace(rounds=5, seconds=12, steady=0.2)
_QUICK = races.Pace(rounds=1, seconds=1.5)


def _absent(only: str = "") -> list[str]:
    lacking = [reader for reader in READERS if only in reader.name and not reader.installed]
    return list(dict.fromkeys((reader.packages or reader.modules)[0] for reader in lacking))


def print_rows(*, quick: bool) -> None:
    """Measure the rivals that are installed and print a row for each as soon as it is there."""
    dialect = None
    for outcome in races.outcomes(_QUICK if quick else _FULL, quick=quick):
        if outcome.dialect != dialect:
            dialect = outcome.dialect
            print(f"\n{speed_table.title(dialect)}\n{speed_table.HEAD}")
        print(speed_table.row(outcome), flush=True)
    print(f"\n{speed_table.absent(_absent())}".rstrip())


def _told(outcomes: Iterable[Outcome]) -> Iterator[Outcome]:
    """Show progress."""
    for outcome in outcomes:
        print(outcome.dialect, speed_table.row(outcome), file=sys.stderr, flush=True)
        yield outcome


def _run(options: argparse.Namespace) -> Run:
    files: list[Path] = options.files
    if files:
        return merged([msgspec.json.decode(file.read_bytes(), type=Run) for file in files])
    pace = _QUICK if options.quick else _FULL
    outcomes = races.outcomes(pace, quick=options.quick, only=options.only)
    return Run.of(_told(outcomes), _absent(options.only))


def main() -> None:
    """Measure, or read measurements, and print or draw them."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rivals.speed",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller workloads and fewer rounds")
    parser.add_argument("--only", default="", metavar="NAME", help="rivals with this in their name")
    parser.add_argument("--from", nargs="+", type=Path, dest="files", metavar="FILE", help="measure nothing: read what --json printed")  # fmt: skip
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    form.add_argument("--markdown", action="store_true", help="print the short tables of docs/speed.md")
    parser.add_argument("--svg", type=Path, metavar="OUT", help="draw the chart of W1 too")
    options = parser.parse_args()
    run = _run(options)
    if options.svg:
        options.svg.write_text(speed_chart.chart(run), encoding="utf-8")
    if options.json:
        print(msgspec.json.format(msgspec.json.encode(run), indent=1).decode())
    else:
        print(speed_table.markdown(run) if options.markdown else speed_table.table(run), end="")


if __name__ == "__main__":
    main()
