"""Damage to recordings, and the resulting calls: `python -m tests.damage [LAW ...] [--recordings DIR]`.

Prints the faults by dialect and by kind of damage, the smallest of each. `--ratchet` lowers the known numbers.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.damage.cases import LAWS, Fault, at_one_place, causes, tried
from tests.damage.streams import Recordings, of_corpora, of_folder
from tests.support import ratchet

RATCHET = Path(__file__).with_name("ratchet.json")


def report(faults: Sequence[Fault], show: int, say: Callable[[str], object]) -> None:
    """Print the faults by dialect and cause: the number of each, and the first of each."""
    groups: dict[tuple[str, str], list[Fault]] = defaultdict(list)
    for fault in faults:
        groups[fault.dialect, fault.what].append(fault)
    for dialect, count in Counter(fault.dialect for fault in faults).most_common():
        say(f"{dialect}: {count}\n")
        for (_, what), group in sorted((key, group) for key, group in groups.items() if key[0] == dialect):
            say(f"    {len(group)} x {what}, in {len({fault.stream for fault in group})} recordings\n")
            for fault in group[:show]:
                calls = "; ".join(f"{name}({value})" for _, name, value in fault.calls)
                say(f"        {fault.stream}, frame {fault.frame}: {calls:.300}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Try the cases, print the faults; 1 if there is one."""
    options = argparse.ArgumentParser(prog="python -m tests.damage", description=__doc__)
    options.add_argument("laws", nargs="*", metavar="LAW", help=f"{' or '.join(LAWS)}; both unless named")
    options.add_argument("--dialect", action="append", help="only recordings of this dialect")
    options.add_argument(
        "--recordings", type=Path, metavar="DIR", help="recordings besides the project's own"
    )
    options.add_argument("--show", type=int, default=2, help="examples of each cause")
    options.add_argument("--ratchet", action="store_true", help=f"lower the numbers in {RATCHET.name}")
    chosen = options.parse_args(arguments)
    folders = [of_corpora(), *([of_folder(chosen.recordings)] if chosen.recordings else [])]
    counts: dict[str, Counter[str]] = {}
    for law in chosen.laws or LAWS:
        for recordings in folders:
            counts |= _run(law, recordings, chosen)
    found = sum(map(Counter.total, counts.values()))
    refused = []
    if chosen.ratchet:
        samples = {law: at_one_place(law, of_corpora()) for law in LAWS}
        counts |= {f"corpora: {law}: at one place": causes(faults) for law, faults in samples.items()}
        refused = ratchet.lowered(RATCHET, counts)
    sys.stderr.write("".join(f"not raised to {refusal}\n" for refusal in refused))
    return 1 if found or refused else 0


def _run(law: str, recordings: Recordings, chosen: argparse.Namespace) -> dict[str, Counter[str]]:
    counts = {}
    for dialect in chosen.dialect or recordings.dialects():
        cases, faults = tried(law, recordings, dialect)
        counts[f"{recordings.name}: {law}: {dialect}"] = causes(faults)
        sys.stdout.write(f"{recordings.name}: {law}: {dialect}: {len(faults)} of {cases} cases\n")
        report(faults, chosen.show, sys.stdout.write)
    return counts


if __name__ == "__main__":
    sys.exit(main())
