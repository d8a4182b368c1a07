"""A thread for work that must not block the event loop: writing to disks, and to readers of our log.

Theory of operation. Jobs are done in order. Waiting jobs are bounded in number and in bytes: a caller that offers a job
learns at once whether it was accepted, and never waits. A job that ends something (closing a file) is always accepted,
because there is only one for each thing that was begun.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Optional

_private = True

Job = Callable[[], None]


class Background:
    """Does jobs in its own thread, which begins with the first job.

    Args:
        name: the thread's name.
        most_jobs: how many jobs may wait.
        most_bytes: how many bytes may wait in them.
    """

    def __init__(self, name: str, *, most_jobs: int, most_bytes: int) -> None:
        self._name = name
        self._most_jobs = most_jobs
        self._most_bytes = most_bytes
        self._queue: SimpleQueue[Optional[tuple[Job, int]]] = SimpleQueue()
        self._lock = threading.Lock()
        self._n_jobs = 0
        self._n_bytes = 0
        self._thread: threading.Thread | None = None
        self._is_closed = False

    def __repr__(self) -> str:
        return f"<Background {self._name}, {self._n_jobs} jobs wait>"

    def offer(self, job: Job, size: int = 0) -> bool:
        """Queue a job, if there is room for it.

        Args:
            job: must not raise.
            size: bytes that it keeps.

        Returns:
            whether it was accepted.
        """
        if self._n_jobs >= self._most_jobs or self._n_bytes + size > self._most_bytes:
            return False
        return self.insist(job, size)

    def insist(self, job: Job, size: int = 0) -> bool:
        """Queue a job, however much waits; return False only if no more jobs are done."""
        if self._is_closed or not self._is_running():
            return False
        with self._lock:
            self._n_jobs += 1
            self._n_bytes += size
        self._queue.put((job, size))
        return True

    def close(self, seconds: float | None = None) -> bool:
        """Take no more jobs, and wait for those in the queue; calling it again only waits.

        Args:
            seconds: how long to wait at most; None waits to the end.

        Returns:
            whether all are done.
        """
        if not self._is_closed:
            self._is_closed = True
            self._queue.put(None)
        if self._thread is None:
            return True
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _is_running(self) -> bool:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=self._name, daemon=True)
            self._thread.start()
        return self._thread.is_alive()

    def _run(self) -> None:
        while (item := self._queue.get()) is not None:
            job, size = item
            job()
            with self._lock:
                self._n_jobs -= 1
                self._n_bytes -= size
            del job, item  # otherwise its bytes stay until the next job comes
