"""All small streams of servers with a few habits, read by the parser: `python -m tests.models [DIALECT ...]`.

Prints the faults by kind and by habits, and the number of tries; the exit code is 1 if a call was emitted that was not
surely sent. `--ratchet` runs the tests' cases, and lowers the numbers of faults that they allow.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.models.report import report, summary
from tests.models.streams import Streams
from tests.models.table import MODELS, SAMPLES, SETTINGS
from tests.models.trial import tried
from tests.support import ratchet

RATCHET = Path(__file__).with_name("ratchet.json")


def _options() -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(
        prog="python -m tests.models", description="Try all small streams of servers with a few habits."
    )
    options.add_argument("dialects", nargs="*", metavar="DIALECT", help=", ".join(MODELS))
    options.add_argument(
        "--habits", type=float, default=2.0, help="what the habits of a stream may cost together"
    )
    options.add_argument(
        "--sample", type=float, help="the share of the streams that are tried; else about two minutes"
    )
    options.add_argument("--seed", type=int, default=1)
    options.add_argument(
        "--show", type=int, default=3, help="how many groups of habits are shown with an example"
    )
    options.add_argument(
        "--only", default="", help="only streams with these habits, as index=none,order=turns"
    )
    options.add_argument("--wire", action="store_true", help="show the bytes of each example, too")
    options.add_argument(
        "--list", action="store_true", help="show the habits, with their costs and who has them"
    )
    options.add_argument("--ratchet", action="store_true", help=f"lower the numbers in {RATCHET.name}")
    return options


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program."""
    options = _options()
    chosen = options.parse_args(arguments)
    dialects = [_dialect(word, options) for word in chosen.dialects] or list(MODELS)
    if chosen.ratchet:
        return _lower(dialects)
    return max([(_list if chosen.list else _run)(dialect, chosen) for dialect in dialects])


def _dialect(word: str, options: argparse.ArgumentParser) -> str:
    """The dialect of this name, or the only one with this in its name."""
    found = [word] if word in MODELS else [dialect for dialect in MODELS if word in dialect]
    if len(found) != 1:
        options.error(f"{word} is no one of {', '.join(MODELS)}")
    return found[0]


def _list(dialect: str, _chosen: argparse.Namespace) -> int:
    sys.stdout.write(f"{dialect}\n")
    for aspect, values in MODELS[dialect].habits.items():
        for value, (cost, who) in values.items():
            sys.stdout.write(f"    {aspect}={value} costs {cost}: {who}\n")
    return 0


def _run(dialect: str, chosen: argparse.Namespace) -> int:
    began = time.monotonic()
    streams = Streams(MODELS[dialect], chosen.habits)
    n_ambiguous = f"{streams.n_ambiguous} have several readings"
    sys.stdout.write(f"{len(streams)} streams of habits that cost up to {chosen.habits}; {n_ambiguous}\n")
    sys.stdout.flush()
    sample = SAMPLES.get(dialect, 1.0) if chosen.sample is None else chosen.sample
    only = dict(item.split("=") for item in chosen.only.split(",") if item)
    trial = tried(streams, sample=sample, seed=chosen.seed, only=only)
    report(streams, trial, sys.stdout.write, show=chosen.show, wire=chosen.wire)
    sys.stdout.write(summary(streams, trial, chosen.habits, time.monotonic() - began))
    return 1 if trial.n_faults else 0


def _counted(dialect: str, setting: str) -> dict[str, int]:
    return SETTINGS[setting].run(MODELS[dialect]).counts()


def _lower(dialects: Sequence[str]) -> int:
    refused = []
    with ProcessPoolExecutor() as processes:
        runs = {
            (dialect, setting): processes.submit(_counted, dialect, setting)
            for setting in SETTINGS
            for dialect in dialects
        }
        for (dialect, setting), run in runs.items():
            tried_so = f"{dialect}, {setting}"
            sys.stdout.write(f"{tried_so}: {run.result()}\n")
            sys.stdout.flush()
            refused += ratchet.lowered(RATCHET, {tried_so: run.result()})
    sys.stdout.write("".join(f"not raised to {refusal}\n" for refusal in refused))
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
