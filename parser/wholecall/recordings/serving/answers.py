"""Prepared answers, one for each request, and a record of the requests.

Theory of operation. An `Answer` is one HTTP response, its body in the pieces in which it is sent. `Answers` returns
them in the order in which they were prepared, regardless of the request, or to requests that match those of the
recording. A request without a remaining answer gets an error that says so, and is recorded, for a check at the end;
unused answers are known as well. Threads may send requests in parallel.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from threading import Lock, Semaphore
from typing import Any, Literal, Optional

import msgspec

Ending = Literal["clean", "cut", "reset", "hang"]
Match = Literal["path", "body"]

_NO_RETRY = (("x-should-retry", "false"),)  # a header that the SDKs of OpenAI and Anthropic obey
_ERROR = 500


class Answer(msgspec.Struct, frozen=True):
    """One response.

    Attributes:
        pieces: its body; each piece is one chunk of the transfer and one write to the socket.
        content_type: its content type.
        status: its HTTP status.
        headers: further headers.
        ending: `"clean"` ends the body, `"cut"` closes the connection instead, `"reset"` does so with a reset, `"hang"`
            sends nothing more until the client disconnects.
        patience: how many seconds `"hang"` waits for that before it closes the connection.
        gate: a semaphore, released once for each piece that may be sent; None holds nothing back.
        times: when each piece is due, in seconds since the answer began, None where that is unknown (at once);
            None sends all at once.
        name: its name in messages.
        endpoint: the request that it answers, `"POST /v1/messages"`, where requests are matched.
        digest: `IncomingRequest.digest` of that request, where they are matched by their bodies.
    """

    pieces: Sequence[bytes]
    content_type: str = "text/event-stream"
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()
    ending: Ending = "clean"
    gate: Any = None
    times: Optional[Sequence[Optional[float]]] = None
    name: str = "an answer"
    endpoint: Optional[str] = None
    digest: Optional[str] = None
    patience: float = 20.0

    def __post_init__(self) -> None:
        if self.gate is not None and not isinstance(self.gate, Semaphore):
            raise TypeError("gate is a threading.Semaphore or None")

    def __repr__(self) -> str:
        size = sum(map(len, self.pieces[:]))  # of the pieces so far: more may still arrive
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


class IncomingRequest(msgspec.Struct, frozen=True):
    """A request from a client.

    Attributes:
        method: the HTTP method.
        path: the path with the query, which may hold a key: it is in no message and no repr.
        headers: the headers by name in lower case.
        body: the body as it came.
        url: the whole URL, which only a transport knows; it may hold a key, too.
    """

    method: str
    path: str
    headers: dict[str, str]
    body: bytes
    url: str | None = None

    @property
    def endpoint(self) -> str:
        """The method and the path without its query."""
        return f"{self.method} {self.path.partition('?')[0]}"

    @property
    def digest(self) -> str:
        """A hash of the body, the same for equal JSON in any spelling."""
        try:
            body = json.dumps(json.loads(self.body), sort_keys=True).encode()
        except (ValueError, RecursionError):
            body = self.body
        return hashlib.sha256(body).hexdigest()

    def json(self) -> Any:
        """Return the decoded body.

        Raises:
            ValueError: the body is not JSON.
        """
        return json.loads(self.body)

    def __repr__(self) -> str:
        return f"IncomingRequest({self.endpoint!r}, body=<{len(self.body)}>)"


class _Prepared:
    """Answers that were prepared together; a request gets the first of the least used answers that fit it."""

    def __init__(self, answers: Sequence[Answer], most: float, match: Match | None) -> None:
        self.answers = answers
        self.given = [0] * len(answers)
        self._most = most
        self._match = match

    def take(self, request: IncomingRequest) -> Answer | None:
        digest = request.digest if self._match == "body" else None
        fits = [
            n
            for n, answer in enumerate(self.answers)
            if self.given[n] < self._most
            and (self._match is None or answer.endpoint == request.endpoint)
            and (digest is None or answer.digest == digest)
        ]
        if not fits:
            return None
        first = min(fits, key=lambda n: self.given[n])
        self.given[first] += 1
        return self.answers[first]

    def unused(self) -> Iterator[str]:
        least = self._most if self._most < math.inf else 1
        for answer, given in zip(self.answers, self.given, strict=True):
            if given < least:
                yield answer.name


class Answers:
    """Prepared answers, and the requests that arrived.

    Attributes:
        requests: all requests that arrived.
        unanswered: the requests for which no answer was left.
    """

    def __init__(self) -> None:
        self.requests: list[IncomingRequest] = []
        self.unanswered: list[IncomingRequest] = []
        self._prepared: list[_Prepared] = []
        self._endless = False
        self._lock = Lock()

    @property
    def unused(self) -> list[str]:
        """Names of the answers that were not requested yet, or less often than they repeat."""
        with self._lock:
            return [name for prepared in self._prepared for name in prepared.unused()]

    def prepare(
        self, answers: Iterable[Answer], *, repeat: int | bool = 1, match: Match | None = None
    ) -> None:
        """Append answers to the prepared ones.

        Args:
            answers: one per request.
            repeat: how many times they are served, one time after the other; True never ends.
            match: the parts in which a request must equal the recorded request of an answer: `"path"` is the method and
                the path without its query, `"body"` that and the body; None answers in order, regardless of the
                request.

        Raises:
            ValueError: `repeat` is less than 1, the answers prepared so far never end, `match` is another word, or an
                answer lacks the data to match it by.
        """
        if repeat < 1:
            raise ValueError(f"repeat is a number from 1, or True: {repeat!r}")
        if match not in (None, "path", "body"):
            raise ValueError(f"match is 'path', 'body' or None: {match!r}")
        found = tuple(answers)
        for answer in found:
            _check_match(answer, match)
        with self._lock:
            if self._endless:
                raise ValueError("nothing can be answered after answers that repeat without end")
            self._endless = repeat is True and bool(found)
            self._prepared.append(_Prepared(found, math.inf if repeat is True else repeat, match))

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the next answer that fits a request, or an error, and record the request."""
        with self._lock:
            self.requests.append(request)
            for prepared in self._prepared:
                answer = prepared.take(request)
                if answer is not None:
                    return answer
        return self.answer_unprepared(request)

    def answer_unprepared(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request that no prepared answer fits: an error."""
        with self._lock:
            self.unanswered.append(request)
            return _nothing_left(request, len(self.requests) - len(self.unanswered))


def _check_match(answer: Answer, match: Match | None) -> None:
    """Raise `ValueError` if an answer lacks the data to match it by."""
    if match is not None and answer.endpoint is None:
        raise ValueError(f"{answer.name} does not say which request it answers: match={match!r} needs that")
    if match == "body" and answer.digest is None:
        raise ValueError(f"{answer.name} does not hold its request's body: match='body' needs that")


def _nothing_left(request: IncomingRequest, n_answered: int) -> Answer:
    message = f"wholecall: no answer is left for {request.endpoint}, {n_answered} were prepared"
    error = {"error": {"message": message, "type": "wholecall_unanswered"}}
    return Answer([json.dumps(error).encode()], "application/json", _ERROR, _NO_RETRY)
