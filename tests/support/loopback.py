"""The package's HTTP server on the loopback interface, with answers instead of recordings."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from wholecall.serving import Answer, Loopback


@contextmanager
def serve(*answers: Answer) -> Iterator[Loopback]:
    """Serve the answers, one a request, the last one again and again, until the block is left."""
    with Loopback() as loopback:
        loopback.prepare(answers[:-1])
        loopback.prepare(answers[-1:], repeat=True)
        yield loopback
