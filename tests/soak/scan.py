"""A scan that is killed and continues: `python -m tests.soak.scan --recordings 20000 --kills 2 --workers 2 --seed 1`.

The generated recordings are scanned by one worker without a pause, and again by several, whose parent is killed with
all its processes, the given number of times, each time after some further units; then the scan continues. Both must
have the same parts, byte for byte, and each recording once. The exit code is 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from tests.support.scanning import begun, make_recordings, parts, rows

_UNIT_PIECES = 200  # small units: many of them are open when the parent dies


def main(argv: Sequence[str] | None = None) -> int:
    """Run it, print the findings, and return the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.soak.scan", description=__doc__)
    parser.add_argument("--recordings", type=int, default=20_000)
    parser.add_argument("--kills", type=int, default=2)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        faults = soak(Path(folder), options.recordings, options.kills, options.workers, options.seed)
    for fault in faults:
        sys.stdout.write(f"{fault}\n")
    return 1 if faults else 0


def soak(folder: Path, n_recordings: int, n_kills: int, workers: int, seed: int) -> list[str]:
    """Scan in both ways, and return the faults."""
    rng = random.Random(seed)
    logs = make_recordings(folder / "logs", n_recordings, first=seed)
    small = {"DYING_UNIT_PIECES": str(min(_UNIT_PIECES, n_recordings // 20 or 1))}
    start = time.monotonic()
    code = _ended(logs, folder / "whole", "--workers", "1", small=small)
    sys.stdout.write(f"without a pause: {time.monotonic() - start:.1f} s\n")
    faults = [] if code == 0 else [f"the scan without a pause ended with {code}"]
    n_units = len((folder / "whole/_scan/plan.jsonl").read_bytes().splitlines())
    out = folder / "killed"
    arguments = ("--workers", str(workers), "--resume")
    for _ in range(n_kills):
        done = _killed(logs, out, arguments, rng.randrange(1, max(n_units // (n_kills + 1), 2)), small)
        sys.stdout.write(f"killed when {done} of {n_units} units were done\n")
    code = _ended(logs, out, *arguments, small=small)
    faults += [] if code == 0 else [f"the last scan ended with {code}"]
    ids = [id_ for (id_,) in rows(out, "recording_id")]
    faults += (
        [] if len(ids) == len(set(ids)) == n_recordings else [f"{len(ids)} rows, {len(set(ids))} recordings"]
    )
    faults += [] if parts(folder / "whole") == parts(out) else ["the parts are not the same"]
    return faults


def _ended(logs: Path, out: Path, *options: str, small: dict[str, str]) -> int:
    process = begun(logs, "--out", out, *options, dying=small)
    process.communicate()
    return process.returncode


def _killed(logs: Path, out: Path, options: Sequence[str], units: int, small: dict[str, str]) -> int:
    """Scan until a number of further units are done, kill all, and return the total number done."""
    process = begun(logs, "--out", out, *options, "--json", dying=small)
    done = 0
    assert process.stderr is not None
    for _ in range(units):
        done = json.loads(process.stderr.readline())["done"]
    process.kill()  # its workers end by themselves
    process.communicate()
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    return int(done)


if __name__ == "__main__":
    sys.exit(main())
