"""Print the ratios on which every claim about speed rests: `python -m benchmarks [--quick | --check [streams]]`.

Every figure is a ratio of times of one run, except the microseconds, which are there for the reader's own
machine. Every contender has to give the right result before anything is timed.
"""

from __future__ import annotations

import argparse
import datetime as dt
import platform
import sys
import time

import msgspec

from benchmarks import table
from benchmarks.claims import CHECKED, FULL, QUICK, Scale
from benchmarks.rivals import speed

__all__: list[str] = []


def main() -> int:
    """Print the table, or check."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--quick", action="store_true", help="smaller workloads and fewer rounds")
    how.add_argument(
        "--check",
        nargs="?",
        const="all",
        choices=("all", "streams"),
        help="fail if a figure is far beyond its budget; of all, or of bytes to events alone",
    )
    options = parser.parse_args()
    if options.check:
        return _check(CHECKED, streams_only=options.check == "streams")
    _print(QUICK if options.quick else FULL)
    return 0


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
    """Return 1 if something is far beyond its budget, and say what."""
    start = time.perf_counter()
    judged = list(table.check(scale, streams_only=streams_only))
    far = [row for row, beyond in judged if beyond]
    for row in far:
        print(f"{row.what}: {row.value:.2f}, far beyond its budget of {row.budget:g}", file=sys.stderr)
    print(f"{len(judged)} budgets, {len(far)} far beyond theirs, {time.perf_counter() - start:.0f} s")
    return 1 if far else 0


if __name__ == "__main__":
    sys.exit(main())
