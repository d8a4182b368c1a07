"""Timing: processor time of this process, several runs, candidates taking turns.

Absolute times describe the machine only; ratios of times of one `rounds` call count.
"""

from __future__ import annotations

import functools
import gc
import os
import statistics
import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

Action = Callable[[], object]


def rounds(n: int, *actions: Action) -> list[list[float]]:
    """Return the processor times in seconds of each action, `n` of each; they take turns and meet the same noise."""
    times: list[list[float]] = [[] for _ in actions]
    gc.collect()
    gc.freeze()  # collections need not walk through the present objects again
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

    The warm-up does the same in small and is watched too: the interpreter keeps some freed objects for reuse, and
    objects kept from before the watch do not count when they are reused.
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
    codes = [
        f"import time; t = time.process_time(); import {name}; print(time.process_time() - t)"
        for name in modules
    ]
    return _in_fresh_processes(codes, n)


_FIRST_STREAM = """
import sys, time
from wholecall import ToolCallParser

data = open(sys.argv[1], "rb").read()

def taken():
    start = time.process_time()
    parser = ToolCallParser()
    parser.feed(data)
    parser.close()
    return time.process_time() - start

print(taken() - min(taken() for _ in range(3)))
"""


def first_stream_times(recording: Path, n: int) -> list[float]:
    """Return by how many seconds of processor time the first stream of a process takes longer than a later one."""
    return _in_fresh_processes([_FIRST_STREAM], n, str(recording))[0]


def _in_fresh_processes(codes: Sequence[str], n: int, *arguments: str) -> list[list[float]]:
    """Return the output of each program in fresh interpreters, which find compiled code; the programs take turns."""
    # Compiled code exists, regardless of the environment.
    environment = {**os.environ, "PYTHONPYCACHEPREFIX": _compiled().name, "PYTHONDONTWRITEBYTECODE": ""}
    runs = [[_printed(code, environment, arguments) for code in codes] for _ in range(n + 1)]
    return [list(times) for times in zip(*runs[1:], strict=True)]


@functools.cache
def _compiled() -> tempfile.TemporaryDirectory[str]:
    """Return the folder of compiled code, which is removed when this program ends."""
    return tempfile.TemporaryDirectory()


def _printed(code: str, environment: Mapping[str, str], arguments: Sequence[str]) -> float:
    command = [sys.executable, "-c", code, *arguments]
    run = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)  # noqa: S603
    return float(run.stdout)
