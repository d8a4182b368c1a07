"""The client `wholecall`, in this process: it reads the pieces of a case, as a program that uses the parser does.

Theory of operation. It runs nothing: it says which calls the parser emits, and which it drops. A lost connection ends
the stream as its source's failure, which is how the project's transports report one.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator, Mapping
from typing import Any

import wholecall
from wholecall.grading.conform.cases import WIRES
from wholecall.grading.conform.protocol import Client
from wholecall.grading.conform.verdicts import Answer, Handed, Refused

_BAD = frozenset({"error", "malformed", "aborted"})  # reasons of turns
_WITHOUT_END = frozenset({"chat-completions"})  # wires of which many servers send no end
_ERROR = 400


class OwnClient:
    """wholecall itself as a client of the suite."""

    def hello(self) -> list[Client]:
        """Return the client, on each wire."""
        return [Client("wholecall", wholecall.__version__, wire, "bytes") for wire in WIRES]

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Return what wholecall made of a case."""
        parser = wholecall.ToolCallParser()
        events = [event for chunk in request["chunks"] for event in parser.feed(b64decode(chunk))]
        ending = request["ending"]
        events += parser.close() if ending == "clean" else parser.fail(f"the connection: {ending}")
        cancelled = {event.id for event in events if isinstance(event, wholecall.ToolCallCancelled)}
        calls = tuple(
            _handed(event)
            for event in events
            if isinstance(event, wholecall.EXECUTABLE) and event.id not in cancelled
        )
        refused = tuple(
            Refused(event.name, event.reason, event.id)
            for event in events
            if isinstance(event, wholecall.ToolCallDropped)
        )
        text = "".join(event.text for event in events if isinstance(event, wholecall.TextDelta))
        return Answer(calls, refused, next(_errors(events, request, bool(calls)), None), text)

    def close(self) -> None:
        """Do nothing: nothing was started."""


def _handed(call: Any) -> Handed:
    return Handed(
        call.id, call.name, call.input if isinstance(call, wholecall.CustomToolCall) else call.arguments
    )


def _errors(events: list[Any], request: Mapping[str, Any], has_calls: bool) -> Iterator[str]:
    """Yield what a user of the parser is told went wrong with the whole answer."""
    if request["status"] >= _ERROR:
        yield f"HTTP status {request['status']}"
    for event in events:
        if isinstance(event, wholecall.StreamFault):
            yield f"{event.kind}: {event.detail}"
    for event in events:
        if isinstance(event, wholecall.TurnFinished):
            if event.reason in _BAD or (event.reason == "unknown" and not has_calls):
                yield f"the turn ended: {event.reason}"
            if "missing_finish" in event.anomalies and request["wire"] not in _WITHOUT_END:
                yield "the turn has no end"
