"""Prepared answers, one for each request, and a record of the requests.

Theory of operation. An `Answer` is one HTTP response, its body in the pieces in which it is sent. `Answers` hands
them out in the order in which they were prepared, whatever is asked. A request for which nothing is left gets an
error that says so, and is recorded, for a check at the end. Threads may send requests side by side.
"""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, cycle, repeat
from threading import Lock, Semaphore
from typing import Any, Literal, Optional

import msgspec

__all__ = ["Answer", "Answers", "Ending", "Request"]

Ending = Literal["clean", "cut", "reset", "hang"]

_NO_RETRY = (("x-should-retry", "false"),)  # a header that OpenAI's and Anthropic's SDKs obey
_ERROR = 500


class Answer(msgspec.Struct, frozen=True):
    """One response.

    Attributes:
        pieces: its body; each piece is one chunk of the transfer and one write to the socket.
        content_type: its content type.
        status: its HTTP status.
        headers: further headers.
        ending: `"clean"` ends the body, `"cut"` closes the connection instead, `"reset"` does so with a reset,
            `"hang"` says nothing more until the client goes away.
        gate: released once for each piece that may be sent; None holds nothing back.
        times: when each piece is due, in seconds since the answer began, None where that is unknown (at once);
            None sends all at once.
    """

    pieces: Sequence[bytes]
    content_type: str = "text/event-stream"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    ending: Ending = "clean"
    gate: Any = None
    times: Optional[Sequence[Optional[float]]] = None

    def __post_init__(self) -> None:
        if self.gate is not None and not isinstance(self.gate, Semaphore):
            raise TypeError("gate is a threading.Semaphore or None")

    def __repr__(self) -> str:
        size = sum(map(len, self.pieces))
        return f"Answer({self.status}, {self.content_type!r}, {len(self.pieces)} pieces, {size} bytes)"

    def paced(self, clock: Callable[[], float] = time.monotonic) -> Iterator[tuple[float, bytes]]:
        """Yield each piece that is not empty with the seconds to wait before it is sent.

        Args:
            clock: returns seconds; the first reading is the answer's beginning.
        """
        began = clock() if self.times is not None else 0.0
        for piece, due in zip(self.pieces, self.times or repeat(None), strict=False):
            if piece:
                wait = 0.0 if due is None else max(0.0, due - (clock() - began))
                yield wait, piece


class Request(msgspec.Struct, frozen=True):
    """What a client sent.

    Attributes:
        method: the HTTP method.
        path: with the query, which may hold a key: it is in no message and no repr.
        headers: by name in lower case.
        body: as it came.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def endpoint(self) -> str:
        """The method and the path without its query."""
        return f"{self.method} {self.path.partition('?')[0]}"

    def json(self) -> Any:
        """Return the decoded body.

        Raises:
            ValueError: it is not JSON.
        """
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"Request({self.endpoint!r}, body=<{len(self.body)}>)"


class Answers:
    """What is answered, in order.

    Attributes:
        requests: all that came in.
        unanswered: those among them for which nothing was left.
    """

    def __init__(self) -> None:
        self.requests: list[Request] = []
        self.unanswered: list[Request] = []
        self._prepared: deque[Iterator[Answer]] = deque()
        self._endless = False
        self._lock = Lock()

    def prepare(self, answers: Iterable[Answer], *, repeat: int | bool = 1) -> None:
        """Put answers after those that are prepared.

        Args:
            answers: one a request.
            repeat: how many times they are answered, one time after the other; True never ends.

        Raises:
            ValueError: `repeat` is less than 1, or what is there already never ends.
        """
        if repeat < 1:
            raise ValueError(f"repeat is a number from 1, or True: {repeat!r}")
        found = tuple(answers)
        with self._lock:
            if self._endless:
                raise ValueError("nothing can be answered after answers that repeat without end")
            self._endless = repeat is True and bool(found)
            self._prepared.append(cycle(found) if repeat is True else chain.from_iterable([found] * repeat))

    def answer(self, request: Request) -> Answer:
        """Return what a request gets, the next answer or an error, and take note of it."""
        with self._lock:
            self.requests.append(request)
            while self._prepared:
                answer = next(self._prepared[0], None)
                if answer is not None:
                    return answer
                self._prepared.popleft()
            self.unanswered.append(request)
            return _nothing_left(request, len(self.requests) - len(self.unanswered))


def _nothing_left(request: Request, n_answered: int) -> Answer:
    message = f"wholecall: no answer is left for {request.endpoint}, {n_answered} were prepared"
    error = {"error": {"message": message, "type": "wholecall_unanswered"}}
    return Answer([json.dumps(error).encode()], "application/json", _ERROR, _NO_RETRY)
