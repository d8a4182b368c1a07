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
from collections.abc import Callable, Mapping, Sequence

__all__ = ["import_times", "kept_memory", "peak_memory", "ratio", "rounds"]

Action = Callable[[], object]


def rounds(n: int, *actions: Action) -> list[list[float]]:
    """Return the processor times in seconds of each action, `n` of each; they take turns and meet the same noise."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    gc.freeze()  # what stands now is nothing that collections need to walk through again
    try:
        for _ in range(n):
            for taken, action in zip(times, actions, strict=True):
                gc.collect()
                start = time.process_time()
                action()
                taken.append(time.process_time() - start)
    finally:
        gc.unfreeze()
    return times


def ratio(one: list[float], other: list[float]) -> float:
    """Return the median ratio of times that were taken side by side: steadier than the ratio of two least times."""
    return statistics.median(a / b for a, b in zip(one, other, strict=True))


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


def kept_memory(warm_up: Action, action: Action) -> int:
    """Return by how many bytes the Python objects that are alive have grown while the action ran.

    The warm-up does the same in small and is watched too: the interpreter keeps some freed objects for new ones,
    and what it has kept from before the watch does not count when it is used.
    """
    tracemalloc.start()
    try:
        warm_up()
        gc.collect()
        before, _ = tracemalloc.get_traced_memory()
        action()
        gc.collect()
        return max(tracemalloc.get_traced_memory()[0] - before, 0)
    finally:
        tracemalloc.stop()


def import_times(modules: Sequence[str], n: int) -> list[list[float]]:
    """Return processor times in seconds of warm imports, each in a fresh interpreter; the modules take turns."""
    with tempfile.TemporaryDirectory() as cache:  # warm means compiled, whatever the environment says
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": cache, "PYTHONDONTWRITEBYTECODE": ""}
        runs = [[_import_time(module, environment) for module in modules] for _ in range(n + 1)]
    return [list(times) for times in zip(*runs[1:], strict=True)]


def _import_time(module: str, environment: Mapping[str, str]) -> float:
    code = f"import time; t = time.process_time(); import {module}; print(time.process_time() - t)"
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return float(run.stdout)
