"""Timing: processor time of this process, several runs, candidates taking turns.

Absolute times say something about the machine only; what counts are ratios of times of one `rounds` call.
"""

from __future__ import annotations

import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable

__all__ = ["growth", "import_time", "peak_memory", "ratio", "rounds"]

Action = Callable[[], object]


def rounds(n: int, *actions: Action) -> list[list[float]]:
    """Return the processor times in seconds of each action, `n` of each; they take turns and meet the same noise."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(n):
        for taken, action in zip(times, actions, strict=True):
            gc.collect()
            start = time.process_time()
            action()
            taken.append(time.process_time() - start)
    return times


def ratio(one: list[float], other: list[float]) -> float:
    """Return the median ratio of times that were taken side by side: steadier than the ratio of two least times."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


def growth(n: int, single: Action, double: Action) -> float:
    """Return time(2n) / time(n) of the same action on inputs of the size n and 2n."""
    one, two = rounds(n, single, double)
    return min(two) / min(one)


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


def import_time(module: str, n: int) -> float:
    """Return the least processor time in seconds of a warm import in a fresh interpreter."""
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as cache:  # warm means compiled, whatever the environment says
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        runs = [
            subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
            for _ in range(n + 1)
        ]
    return min(float(run.stdout) for run in runs[1:])
