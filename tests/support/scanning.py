"""Scans under test: recordings to read, and scans without processes, or in one that can be killed."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
from collections import deque
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from wholecall.bulk.options import Options
from wholecall.bulk.output_folder import Folder
from wholecall.bulk.pool import Broke
from wholecall.bulk.tasks import Task, TaskRunner

PROJECT = Path(__file__).resolve().parents[2]


def _chat(rng: random.Random, calls: list[tuple[str, str]], text: str) -> list[dict[str, Any]]:
    model = rng.choice(["m-large", "m-small"])

    def chunk(delta: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": reason}
        return {
            "id": f"c-{rng.randrange(10**6)}",
            "object": "chat.completion.chunk",
            "model": model,
            "choices": [choice],
        }

    first = chunk({"role": "assistant", "content": text})
    made = [first]
    for index, (name, arguments) in enumerate(calls):
        id_ = f"call_{rng.randrange(10**9)}"
        made.append(
            chunk(
                {
                    "tool_calls": [
                        {
                            "index": index,
                            "id": id_,
                            "type": "function",
                            "function": {"name": name, "arguments": ""},
                        }
                    ]
                }
            )
        )
        made += [
            chunk({"tool_calls": [{"index": index, "function": {"arguments": arguments[at : at + 7]}}]})
            for at in range(0, len(arguments), 7)
        ]
    made.append(chunk({}, "tool_calls" if calls else "stop"))
    for one in made:
        one["id"] = first["id"]
    return made


def stream(seed: int) -> bytes:
    """Return a stream of Chat Completions with up to three calls; a few are cut."""
    rng = random.Random(seed)
    words = ["tide", "harbour", "é", "buoy", '"', "\\", "🜁"]
    calls = [
        (
            rng.choice(["read", "write", "find"]),
            json.dumps({"path": " ".join(rng.choices(words, k=4)), "n": rng.randrange(100)}),
        )
        for _ in range(rng.choice([0, 1, 1, 2, 3]))
    ]
    events = _chat(rng, calls, " ".join(rng.choices(words, k=rng.randrange(12))))
    data = (
        b"".join(b"data: " + json.dumps(event).encode() + b"\n\n" for event in events) + b"data: [DONE]\n\n"
    )
    return data[: rng.randrange(len(data))] if rng.random() < 0.05 else data


def make_recordings(folder: Path, number: int, *, first: int = 0) -> Path:
    """Write so many streams into a folder and folders in it, and return it."""
    for seed in range(first, first + number):
        path = folder / f"day-{seed % 7}" / f"{seed:06}.sse"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(stream(seed))
    return folder


def parts(out: Path) -> dict[str, bytes]:
    """Return the parts of a scan: all that its readers see."""
    files = [path for table in ("calls", "recordings") for path in (out / table).glob("*")]
    return {path.relative_to(out).as_posix(): path.read_bytes() for path in sorted(files)}


def table(out: Path, name: str) -> pa.Table:
    """Return a table that a scan wrote."""
    return pa.concat_tables(pq.read_table(path) for path in sorted((out / name).glob("*.parquet")))


def rows(out: Path, *columns: str) -> list[tuple[Any, ...]]:
    """Return some columns of the recordings that a scan wrote."""
    found = table(out, "recordings")
    return list(zip(*(found[column].to_pylist() for column in columns), strict=True))


def begun(*arguments: str | os.PathLike[str], dying: dict[str, str] | None = None) -> subprocess.Popen[str]:
    """Start `wholecall scan` in a separate process and session, and return it.

    Args:
        arguments: the arguments of the command.
        dying: the deaths of its workers, as `tests.support.dying` takes them; None runs the program unchanged.
    """
    module = "wholecall" if dying is None else "tests.support.dying"
    with _interruptible():
        return subprocess.Popen(  # noqa: S603 - our own program
            [sys.executable, "-m", module, "scan", *arguments],
            cwd=PROJECT,
            env=os.environ | (dying or {}),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )


@contextmanager
def _interruptible() -> Generator[None]:
    """Have programs obey SIGINT, also where a shell started us in the background: it has us ignore it, and them, too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


class Inline:
    """A substitute for the workers, which does tasks in this process."""

    def __init__(self, _: int, path: str, options: Options) -> None:
        self._runner = TaskRunner(Folder(path), options)
        self._waiting: deque[Task] = deque()

    def put(self, task: Task, *, first: bool = False) -> None:
        """Have a task done."""
        (self._waiting.appendleft if first else self._waiting.append)(task)

    def results(self) -> Iterator[tuple[Task, Any]]:
        """Yield each task with its outcome."""
        while self._waiting:
            task = self._waiting.popleft()
            try:
                result = self._runner.do(task)
            except TypeError as error:
                result = Broke(type(error).__name__)
            yield task, result

    def close(self, *, at_once: bool) -> None:
        """Do nothing more."""
