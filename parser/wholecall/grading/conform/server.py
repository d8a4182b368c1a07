"""A server on the loopback interface that sends the cases to clients that it cannot see into.

Theory of operation. Each run has a path of its own, `/r/<run>/<wire>/<name>`, below which a client believes the API to
be. The first POST there gets the case, whatever follows the path; every later one gets the farewell, because by then
the tools have answered.
"""

from __future__ import annotations

import json
from threading import Lock
from typing import Any

from wholecall.grading.conform.cases import BadSuite, Case, Suite
from wholecall.grading.conform.writes import pieces
from wholecall.recordings.serving.answers import Answer, Ending, IncomingRequest
from wholecall.recordings.serving.loopback import Loopback

_ROOT = "r"
_BELOW_V1 = frozenset({"chat-completions", "responses"})  # wires whose clients' base URL ends in /v1
_ENDINGS: dict[str, Ending] = {"clean": "clean", "half": "clean", "reset": "reset", "no-terminator": "cut"}
_JSON = "application/json"
_ERROR = 400


class Offer:
    """One run of one case: the answer to the client's first request, and to those after it."""

    def __init__(self, suite: Suite, case: Case, write: str) -> None:
        self.case = case
        self.write = write
        self._suite = suite
        self._is_new = True
        self._lock = Lock()

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request."""
        if request.method != "POST":
            return nothing_at(request)
        with self._lock:
            is_first, self._is_new = self._is_new, False
        return case_answer(self.case, self.write) if is_first else self._farewell()

    def _farewell(self) -> Answer:
        is_streamed = self.case.request.stream
        try:
            data, content_type = self._suite.farewell(self.case.wire, stream=is_streamed)
        except BadSuite as error:
            return answer_of({"error": {"message": str(error)}}, 500)
        headers = () if is_streamed else (("content-length", str(len(data))),)
        return Answer([data], content_type, headers=headers, name="the farewell")


class CaseServer(Loopback):
    """A server of cases; a context manager.

    Args:
        suite: the folder of the suite.
        listed: cases that a client may ask for by their names, without an offer.
        port: the port; 0 lets the system choose a free one.
    """

    def __init__(self, suite: Suite, listed: list[Case] | None = None, *, port: int = 0) -> None:
        super().__init__(port=port)
        self._suite = suite
        self._listed = {case.id: case for case in listed or ()}
        self._offers: dict[str, Offer] = {}

    def offer(self, run: str, case: Case, write: str, *, blind: bool = False) -> str:
        """Prepare a case for a run, and return the URL that the client takes for that of the API.

        Args:
            run: a name for the run, letters and digits.
            case: the case.
            write: how it is written.
            blind: whether the URL hides the case's name.

        Raises:
            BadSuite: the case is a session of a WebSocket, which is not served.
        """
        if case.is_session:
            raise BadSuite(f"{case.id}: the messages of a WebSocket are for parsers; they are not served")
        self._offers[run] = Offer(self._suite, case, write)
        name = run if blind else case.id.partition("/")[2]
        return f"{self.url}{base_path(run, case.wire, name)}"

    def withdraw(self, run: str) -> None:
        """Forget a run that is over."""
        self._offers.pop(run, None)

    def answer(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request."""
        parts = request.path.partition("?")[0].split("/")
        if len(parts) >= 5 and parts[1] == _ROOT:
            _, _, run, wire, name = parts[:5]
            offer = self._offers.get(run) or self._listed_offer(run, f"{wire}/{name}")
            if offer is not None:
                return offer.answer(request)
        return self.answer_beside(request)

    def answer_beside(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request that is for no case."""
        return nothing_at(request)

    def _listed_offer(self, run: str, name: str) -> Offer | None:
        """Return the offer of a run that names a listed case; each case of a run is offered once."""
        case = self._listed.get(name)
        if case is None:
            return None
        return self._offers.setdefault(f"{run}/{name}", Offer(self._suite, case, case.http.writes[0]))


def base_path(run: str, wire: str, name: str) -> str:
    """Return the path that a client's base URL has for a run of a case."""
    return f"/{_ROOT}/{run}/{wire}/{name}" + ("/v1" if wire in _BELOW_V1 else "")


def case_answer(case: Case, write: str) -> Answer:
    """Return a case as the answer of a server."""
    http, (word, _, idle) = case.http, case.http.ending.partition(":")
    headers: tuple[tuple[str, str], ...] = (
        (("x-should-retry", "false"),) if http.status >= _ERROR else ()
    )  # which the larger SDKs obey
    if not case.request.stream:
        headers += (("content-length", str(len(case.data))),)
    ending: Ending = "hang" if word == "idle" else _ENDINGS[word]
    patience = float(idle.removesuffix("s")) if word == "idle" else 20.0
    return Answer(
        pieces(case, write),
        http.content_type,
        http.status,
        headers,
        ending,
        name=case.id,
        patience=patience,
    )


def nothing_at(request: IncomingRequest) -> Answer:
    """Return the answer to a request for something that is not there."""
    return answer_of({"error": {"message": f"there is no case at {request.endpoint}"}}, 404)


def answer_of(value: Any, status: int = 200) -> Answer:
    """Return JSON as an answer."""
    return Answer([json.dumps(value).encode()], _JSON, status)
