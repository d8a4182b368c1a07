from __future__ import annotations

import threading
import weakref
from collections.abc import Iterator

import pytest

from wholecall.proxy.background import Background


class Gate:
    """A job that does not end until it is released."""

    def __init__(self) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()

    def __call__(self) -> None:
        """Wait."""
        self.begun.set()
        self.let.wait()


@pytest.fixture
def gate() -> Iterator[Gate]:
    """Return a gate that is open when the test is over."""
    made = Gate()
    yield made
    made.let.set()


def test_jobs_are_done_in_their_order() -> None:
    """Jobs run one after the other, and all of them before the background is closed."""
    found: list[int] = []
    background = Background("test", most_jobs=100, most_bytes=0)
    taken = [background.offer(lambda n=n: found.append(n)) for n in range(50)]

    assert background.close()
    assert (list(range(50)), {True}) == (found, set(taken))


@pytest.mark.parametrize(
    ("most_jobs", "size", "n_taken"), [(3, 0, 2), (100, 40, 2), (100, 20, 5), (100, 101, 0)]
)
def test_what_waits_is_bounded(gate: Gate, most_jobs: int, size: int, n_taken: int) -> None:
    """A job is refused beyond a number of jobs (including the running one) or of bytes in them."""
    background = Background("test", most_jobs=most_jobs, most_bytes=100)
    background.insist(gate)
    gate.begun.wait()
    taken = [background.offer(lambda: None, size) for _ in range(6)]
    gate.let.set()

    assert background.close()
    assert n_taken == sum(taken)


def test_there_is_room_again() -> None:
    """A finished job makes room for the next."""
    background = Background("test", most_jobs=1, most_bytes=10)
    done = threading.Event()
    background.offer(lambda: None, 10)
    background.insist(done.set)
    background.insist(lambda: None)
    done.wait()

    assert background.close()
    assert 0 == background._n_jobs + background._n_bytes


def test_what_ends_something_is_always_taken(gate: Gate) -> None:
    """Insisting works while there is no room."""
    found: list[str] = []
    background = Background("test", most_jobs=1, most_bytes=0)
    background.insist(gate)
    gate.begun.wait()

    assert (False, True) == (background.offer(lambda: None), background.insist(lambda: found.append("done")))
    gate.let.set()
    assert background.close()
    assert ["done"] == found


def test_a_closed_one_takes_nothing() -> None:
    """After the end a job is refused, and closing again is harmless."""
    background = Background("test", most_jobs=9, most_bytes=9)
    background.insist(lambda: None)

    assert (True, False, False, True) == (
        background.close(),
        background.offer(lambda: None),
        background.insist(lambda: None),
        background.close(),
    )


def test_closing_waits_no_longer_than_asked(gate: Gate) -> None:
    """A job that hangs does not keep the program from ending."""
    background = Background("test", most_jobs=9, most_bytes=9)
    background.insist(gate)

    assert not background.close(0)
    gate.let.set()
    assert background.close()


def test_no_job_no_thread() -> None:
    """A worker that was never used costs no thread."""
    background = Background("never used", most_jobs=9, most_bytes=9)

    assert background.close()
    assert "never used" not in [thread.name for thread in threading.enumerate()]


def test_what_was_done_is_let_go() -> None:
    """A job's bytes do not stay in memory until the next job comes."""

    class Kept:
        def __call__(self) -> None:
            pass

    job, gone = Kept(), threading.Event()
    weakref.finalize(job, gone.set)
    background = Background("test", most_jobs=9, most_bytes=9)
    background.insist(job)
    del job

    assert gone.wait(30)
    assert background.close()
