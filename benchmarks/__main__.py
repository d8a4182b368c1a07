"""Print the ratios on which every claim about speed rests: `python -m benchmarks [--quick]`.

Every figure is a ratio of times of one run, except the microseconds, which are there for the reader's own
machine. Every contender has to give the right result before anything is timed. `--check` fails on a regression;
`--json` and `--from` make the table that shows several interpreters:

    python3.10 -m benchmarks --json > 3.10.json
    python3.11 -m benchmarks --json > 3.11.json
    python -m benchmarks --from 3.10.json 3.11.json
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import msgspec

from benchmarks import summary, table
from benchmarks.claims import CHECKED, FULL, QUICK, Scale
from benchmarks.rivals import speed


def main() -> int:
    """Print the table, or the output that the options request."""
    options = _options()
    if options.check:
        return _check(CHECKED, streams_only=options.check == "streams")
    scale = QUICK if options.quick else FULL
    if options.files:
        runs = [msgspec.json.decode(file.read_bytes(), type=summary.Run) for file in options.files]
        print(summary.markdown(runs), end="")
    elif options.json:
        print(
            msgspec.json.format(
                msgspec.json.encode(summary.told(list(_seen(summary.run(scale))))), indent=1
            ).decode()
        )
    else:
        _print(scale)
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--quick", action="store_true", help="smaller workloads and fewer rounds")
    how = parser.add_mutually_exclusive_group()
    how.add_argument(
        "--check",
        nargs="?",
        const="all",
        choices=("all", "streams"),
        help="fail if a figure is far beyond its budget; of all, or of bytes to events alone",
    )
    how.add_argument("--json", action="store_true", help="measure the lines of docs/speed.md, and print JSON")
    how.add_argument(
        "--from",
        nargs="+",
        type=Path,
        dest="files",
        metavar="FILE",
        help="print the Markdown of what --json printed",
    )
    return parser.parse_args()


def _seen(lines: Iterable[summary.Measured]) -> Iterator[summary.Measured]:
    """Show progress."""
    for line in lines:
        print(line.what, *line.values, file=sys.stderr, flush=True)
        yield line


def _print(scale: Scale) -> None:
    now = dt.datetime.now(tz=dt.timezone.utc)
    print(f"{now:%Y-%m-%d}, {platform.python_implementation()} {platform.python_version()}, ", end="")
    print(f"msgspec {msgspec.__version__}, processor time, {scale.rounds} runs: least time, median ratio")
    for section in (table.streams, table.figures):
        print()
        for line in section(scale):
            print(line, flush=True)
    speed.print_rows(quick=scale is QUICK)


def _check(scale: Scale, *, streams_only: bool) -> int:
    """Report figures far beyond their budgets; return 1 if there are any."""
    start = time.perf_counter()
    judged = list(table.check(scale, streams_only=streams_only))
    far = [row for row, beyond in judged if beyond]
    for row in far:
        print(f"{row.what}: {row.value:.2f}, far beyond its budget of {row.budget:g}", file=sys.stderr)
    print(f"{len(judged)} budgets, {len(far)} far beyond theirs, {time.perf_counter() - start:.0f} s")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
