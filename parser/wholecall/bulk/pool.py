"""The worker processes, and the parent that distributes the work.

Theory of operation. Each worker is a separate process with its own pipe, and has one task at a time: if it dies, its
task is known, no other task suffers, and a new process takes its place. Workers share nothing but the output folder.
They are *spawned*: a forked child of a process with threads, as Arrow makes them, may hang.

A worker whose parent is gone ends at once, even during a task, so that it never writes at the same time as a later
scan. It ignores SIGINT, which a terminal sends to all processes: its parent decides.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.connection import Connection, wait
from typing import Any

import msgspec

from wholecall.bulk.failures import CannotWriteError, StoreFailed, is_ours
from wholecall.bulk.options import Options
from wholecall.bulk.output_folder import Folder
from wholecall.bulk.tasks import Answer, Task, TaskRunner

_private = True

_READY = "ready"
_MOST_STARTS = 3  # of a worker that ends before it is ready
_PATIENCE = 5.0  # seconds for a worker to end after the request


class Died(msgspec.Struct, frozen=True):
    """A worker died over a task."""


class Broke(msgspec.Struct, frozen=True):
    """A fault of ours ended a task.

    Attributes:
        name: the exception's type.
    """

    name: str


class _Unwritable(msgspec.Struct, frozen=True):
    """The output cannot be written, and why."""

    why: str


class _Unanswered(msgspec.Struct, frozen=True):
    """A store does not answer, and its error."""

    why: str


class StartError(Exception):
    """Workers end before they begin; the message states the known facts."""


# --- the worker ------------------------------------------------------------------------------------------


def main(pipe: Connection, path: str, options: Options) -> None:
    """Run a worker."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()
    options.register()
    runner = TaskRunner(Folder(path), options)
    gc.collect()
    gc.freeze()  # most objects that the collector would visit are modules
    with suppress(EOFError, OSError):  # the parent has no more work
        pipe.send(_READY)
        while True:
            pipe.send(_answer(runner, pipe.recv()))


def _end_with_parent() -> None:
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


def _answer(runner: TaskRunner, task: Task) -> Answer | Broke | _Unwritable | _Unanswered:
    try:
        return runner.do(task)
    except CannotWriteError as error:
        return _Unwritable(str(error))
    except StoreFailed as error:
        return _Unanswered(str(error))
    except Exception as error:
        if not is_ours(error):  # the rest of this process is worth nothing
            raise
        return Broke(type(error).__name__)


# --- the parent ------------------------------------------------------------------------------------------


class _Child:
    """A worker, as its parent sees it."""

    def __init__(self, path: str, options: Options) -> None:
        context = multiprocessing.get_context("spawn")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(
            target=main, args=(theirs, path, options), name="wholecall-scan", daemon=True
        )
        self.is_ready = False
        self.task: Task | None = None
        with _without_interrupts():  # until it ignores them itself
            self.process.start()
        theirs.close()

    def give(self, task: Task) -> None:
        """Give it a task; if it is dead already, its sentinel shows that."""
        self.task = task
        with suppress(OSError):
            self.pipe.send(task)

    def hear(self) -> Any:
        """Return its message, `Died` if there will be none."""
        try:
            return self.pipe.recv() if self.pipe.poll() else Died()
        except (EOFError, OSError):
            return Died()

    def end(self, patience: float) -> None:
        """End it, by force after this many seconds."""
        self.pipe.close()
        self.process.join(patience)
        self.process.kill()
        self.process.join()
        self.process.close()


@contextmanager
def _without_interrupts() -> Generator[None]:
    """Keep SIGINT from a process during its start; this process gets it afterwards."""
    if sys.platform == "win32":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


class Pool:
    """Workers, and the tasks that wait for them.

    Args:
        size: the number of workers.
        path: the folder that they write.
        options: the options of the scan.
    """

    def __init__(self, size: int, path: str, options: Options) -> None:
        self._size = size
        self._start: Callable[[], _Child] = lambda: _Child(path, options)
        self._waiting: deque[Task] = deque()
        self._children: list[_Child] = []
        self._n_bad_starts = 0

    def put(self, task: Task, *, first: bool = False) -> None:
        """Queue a task for any worker.

        Args:
            task: the task.
            first: whether it comes before all waiting tasks.
        """
        if first:
            self._waiting.appendleft(task)
        else:
            self._waiting.append(task)

    def results(self) -> Iterator[tuple[Task, Answer | Broke | Died]]:
        """Yield each task with its result, as they end; more tasks may be added meanwhile.

        Raises:
            CannotWriteError: a worker cannot write.
            StoreFailed: a store does not answer a worker.
            StartError: workers end before they begin.
        """
        while self._waiting or any(child.task for child in self._children):
            self._employ()
            by_handle = {handle: child for child in self._children for handle in _handles(child)}
            heard = {id(child): child for handle in wait(list(by_handle)) for child in [by_handle[handle]]}
            for child in heard.values():
                yield from self._hear(child)

    def _employ(self) -> None:
        """Start missing workers, and give each idle worker a task."""
        n_busy = sum(child.task is not None for child in self._children)
        wanted = min(self._size, n_busy + len(self._waiting))
        while len(self._children) < wanted:
            self._children.append(self._start())
        for child in self._children:
            if child.is_ready and child.task is None and self._waiting:
                child.give(self._waiting.popleft())

    def _hear(self, child: _Child) -> Iterator[tuple[Task, Answer | Broke | Died]]:
        said, task = child.hear(), child.task
        if isinstance(said, _Unwritable):
            raise CannotWriteError(said.why)
        if isinstance(said, _Unanswered):
            raise StoreFailed(said.why)
        if said == _READY:
            child.is_ready, self._n_bad_starts = True, 0
            return
        if isinstance(said, Died):
            self._bury(child)
        if task is not None:
            child.task = None
            yield task, said

    def _bury(self, child: _Child) -> None:
        child.process.join()
        code = child.process.exitcode
        self._children.remove(child)
        self._n_bad_starts += not child.is_ready
        child.end(0)
        if self._n_bad_starts == _MOST_STARTS:
            hint = "a program that scans needs `if __name__ == '__main__':` around what it does"
            raise StartError(f"workers end before they begin (exit code {code}); {hint}")

    def close(self, *, at_once: bool) -> None:
        """End all workers.

        Args:
            at_once: whether to end them in the middle of their tasks.
        """
        children, self._children = self._children, []
        self._waiting.clear()
        if at_once:
            for child in children:
                child.process.kill()
        for child in children:
            child.end(0 if at_once else _PATIENCE)


def _handles(child: _Child) -> tuple[Any, Any]:
    return child.pipe, child.process.sentinel
