"""The client `wholecall`, in this process: it reads the pieces of a case, as a program that uses the parser does.

Theory of operation. It runs nothing: it says which calls the parser emits, and which it drops. A lost connection ends
the stream as its source's failure, which is how the project's transports report one.
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import wholecall
from wholecall.grading.conform.cases import WIRES
from wholecall.grading.conform.protocol import Client, Gateway
from wholecall.grading.conform.verdicts import Answer, Handed, Refused

_BAD = frozenset({"error", "malformed", "aborted"})  # reasons of turns
# Wires of which many servers send no end; a session may stop where it waits for results.
_WITHOUT_END = frozenset({"chat-completions", "gemini-live"})
_WHOLE = frozenset({"clean", "half"})  # endings of a body that ends as a whole one does
_ERROR = 400


class OwnClient:
    """wholecall itself as a client of the suite."""

    def hello(self) -> list[Client]:
        """Return the client, on each wire."""
        return [Client("wholecall", wholecall.__version__, wire, "bytes") for wire in WIRES]

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Return what wholecall made of a case."""
        chunks = map(b64decode, request["chunks"])
        return read(chunks, request["wire"], request["status"], request["ending"])

    def gateway(self, request: Mapping[str, Any]) -> Gateway:
        """Return nothing that is a gateway."""
        return Gateway(unsupported=f"{request['client']} is no gateway")

    def close(self) -> None:
        """Do nothing: nothing was started."""


def read(chunks: Iterable[bytes], wire: str, status: int, ending: str) -> Answer:
    """Return what wholecall makes of an answer.

    Args:
        chunks: its bytes.
        wire: the wire, which decides whether an answer without an end is one that broke off.
        status: its HTTP status.
        ending: how it ended, as in a sidecar.
    """
    parser = wholecall.ToolCallParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    events += parser.close() if ending in _WHOLE else parser.fail(f"the connection: {ending}")
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
    error = next(_errors(events, wire, status, has_calls=bool(calls)), None)
    return Answer(calls, refused, error, text)


def _handed(call: Any) -> Handed:
    return Handed(
        call.id, call.name, call.input if isinstance(call, wholecall.CustomToolCall) else call.arguments
    )


def _errors(events: list[Any], wire: str, status: int, *, has_calls: bool) -> Iterator[str]:
    """Yield what a user of the parser is told went wrong with the whole answer."""
    if status >= _ERROR:
        yield f"HTTP status {status}"
    for event in events:
        if isinstance(event, wholecall.StreamFault):
            yield f"{event.kind}: {event.detail}"
    for event in events:
        if isinstance(event, wholecall.TurnFinished):
            if event.reason in _BAD or (event.reason == "unknown" and not has_calls):
                yield f"the turn ended: {event.reason}"
            if "missing_finish" in event.anomalies and wire not in _WITHOUT_END:
                yield "the turn has no end"
