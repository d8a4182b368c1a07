"""The server for clients that are driven by hand: a list of the cases, and a place to say what a client made of them.

Theory of operation. A run is any word that its user puts into the URL. What a client made of a case is posted as an
adapter would answer, and judged at once.
"""

from __future__ import annotations

from threading import Lock
from typing import Any

import msgspec

from wholecall.grading.conform.cases import Case, Suite
from wholecall.grading.conform.server import CaseServer, answer_of, base_path
from wholecall.grading.conform.verdicts import Answer as Made
from wholecall.grading.conform.verdicts import judge
from wholecall.recordings.serving.answers import Answer, IncomingRequest

_REPORT = "report"


class HandServer(CaseServer):
    """A server of cases that also takes what clients made of them; a context manager.

    Args:
        suite: the folder of the suite.
        cases: the cases.
        port: the port; 0 lets the system choose a free one.
    """

    def __init__(self, suite: Suite, cases: list[Case], *, port: int = 0) -> None:
        super().__init__(suite, cases, port=port)
        self._cases = {case.id: case for case in cases}
        self._verdicts: dict[str, dict[str, Any]] = {}
        self._lock = Lock()

    def answer_beside(self, request: IncomingRequest) -> Answer:
        """Return the answer to a request for the list, to a report, or for the reports."""
        path = request.path.partition("?")[0].strip("/")
        parts = path.split("/")
        if request.method == "GET" and path in {"", "cases"}:
            return answer_of([self._about(case) for case in self._cases.values()])
        if request.method == "GET" and path == _REPORT:
            with self._lock:
                return answer_of(self._verdicts)
        if request.method == "POST" and parts[0] == _REPORT and len(parts) == 4:
            return self._judge(parts[1], "/".join(parts[2:]), request)
        return super().answer_beside(request)

    def _about(self, case: Case) -> dict[str, Any]:
        return {
            "id": case.id,
            "level": case.level,
            "about": case.about,
            "tools": [{"name": tool.name, "schema": tool.schema} for tool in case.request.tools],
            "url": self.url + base_path("RUN", case.wire, case.id.partition("/")[2]),
        }

    def _judge(self, run: str, name: str, request: IncomingRequest) -> Answer:
        case = self._cases.get(name)
        if case is None:
            return answer_of({"error": {"message": f"there is no case {name}"}}, 404)
        try:
            made = msgspec.convert(request.json(), Made)
        except (msgspec.ValidationError, ValueError, RecursionError) as error:
            return answer_of({"error": {"message": f"this is no answer of an adapter: {error}"}}, 400)
        verdict = judge(case, made)
        found = {"run": run, "case": name, "level": case.level, "verdict": verdict.word, "why": verdict.why}
        with self._lock:
            self._verdicts[f"{run}/{name}"] = found
        return answer_of(found)
