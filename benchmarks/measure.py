"""Timing: processor time of this process, the least of several runs, candidates taking turns.

Absolute times say something about the machine only; what counts are ratios of times of one `least` call.
"""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable

__all__ = ["growth", "import_time", "least", "peak_memory"]

Action = Callable[[], object]


def least(rounds: int, *actions: Action) -> list[float]:
    """Return the least processor time in seconds of each action; they take turns, so that all meet the same noise."""
    best = [float("inf")] * len(actions)
    for _ in range(rounds):
        for number, action in enumerate(actions):
            gc.collect()
            start = time.process_time()
            action()
            best[number] = min(best[number], time.process_time() - start)
    return best


def growth(rounds: int, single: Action, double: Action) -> float:
    """Return time(2n) / time(n) of the same action on inputs of the size n and 2n."""
    one, two = least(rounds, single, double)
    return two / one


def peak_memory(action: Action) -> int:
    """Return the most bytes that Python objects took at once while the action ran."""
    gc.collect()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def import_time(module: str, rounds: int) -> float:
    """Return the least processor time in seconds of a warm import in a fresh interpreter."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as cache:  # warm means compiled, whatever the environment says
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        runs = [
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
            for _ in range(rounds + 1)
        ]
    return min(float(run.stdout) for run in runs[1:])
