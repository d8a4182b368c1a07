"""A long run over generated streams with random faults: `python -m tests.soak --streams N --seed S`.

All dialects, one process. The accounts must balance, no exception may occur, and the memory of the process must not
grow. A million streams take some minutes; the exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.soak.streams import Books, run_stream, templates
from tests.support.memory import peak

_GROWTH = 8.0  # MiB that the process may grow between a tenth of the run and its end
_STATM = Path("/proc/self/statm")


def _memory() -> float:
    """Return the resident memory of this process in MiB, or its peak where the system does not report it."""
    if _STATM.exists():
        return int(_STATM.read_text("ascii").split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
    return peak() / 2**20


def _silent(_line: str) -> None:
    """Print nothing."""


def soak(
    first: int, count: int, seed: int, say: Callable[[str], object] = _silent
) -> tuple[Books, dict[str, float]]:
    """Run the streams; return the books, and the memory in MiB at each tenth of the run."""
    books, memory = Books(), {}
    started = time.process_time()
    for number in range(count):
        run_stream(first + number, seed, books)
        done = 10 * (number + 1) // count
        if done > 10 * number // count:
            memory[f"{10 * done} %"] = _memory()
            told = f"{number + 1:,} streams, {time.process_time() - started:.0f} s, {_memory():.1f} MiB"
            say(f"{told}, {len(books.findings):,} findings\n")
    return books, memory


def _report(books: Books, memory: dict[str, float], cpu: float) -> list[str]:
    count = sum(books.streams.values())
    lines = [
        f"{count:,} streams of {len(templates())} templates in {cpu:.0f} s of CPU time ({cpu / count * 1e6:.0f} µs each)",
        "faults: " + ", ".join(f"{name} {n:,}" for name, n in sorted(books.streams.items())),
        f"calls: {books.started:,} started, and {books.told:,} dropped before they were; {sum(books.ends.values()):,} ends",
        "ends: " + ", ".join(f"{name} {n:,}" for name, n in books.ends.most_common()),
        f"text: {books.shown:,} characters shown, {books.called:,} in calls, {books.dropped:,} dropped, {books.replaced:,} replaced",
        "memory: " + ", ".join(f"{size:.1f} MiB at {when}" for when, size in memory.items()),
        f"findings: {len(books.findings):,}",
    ]
    return [*lines, *(f"  {finding}" for finding in books.findings[:20])]


def _progress(line: str) -> None:
    """Show how far the run is, also where the output is a file."""
    sys.stderr.write(line)
    sys.stderr.flush()


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the soak and report; the exit code is 1 if the books do not balance or memory grew."""
    options = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__.partition("\n")[0])
    options.add_argument("--streams", type=int, default=100_000, help="how many (100000)")
    options.add_argument("--seed", type=int, default=0, help="another seed draws other streams (0)")
    options.add_argument(
        "--first", type=int, default=0, help="number of the first stream, to run one again (0)"
    )
    given = options.parse_args(arguments)
    started = time.process_time()
    books, memory = soak(given.first, given.streams, given.seed, _progress)
    grown = memory["100 %"] - memory.get("10 %", memory["100 %"])
    if grown > _GROWTH:
        books.findings.append(f"memory grew by {grown:.1f} MiB")
    if not books.balanced:
        books.findings.append("the books do not balance")
    sys.stdout.write("\n".join(_report(books, memory, time.process_time() - started)) + "\n")
    return 1 if books.findings else 0


if __name__ == "__main__":
    sys.exit(main())
