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

_GOOD = frozenset({"tool_calls", "stop", "pause"})  # reasons of a turn that went well
_ERROR = 400


class OwnClient:
    """wholecall itself as a client of the suite."""

    def hello(self) -> list[Client]:
        """Return the client, on each wire."""
        return [Client("wholecall", wholecall.__version__, wire, "bytes") for wire in WIRES]

    def run(self, request: Mapping[str, Any]) -> Answer:
        """Return what wholecall made of a case."""
        parser = wholecall.ToolCallParser(request["wire"])
        events = [event for chunk in request["chunks"] for event in parser.feed(b64decode(chunk))]
        events += (
            parser.close()
            if request["ending"] == "clean"
            else parser.fail(f"the connection: {request['ending']}")
        )
        error = next(_errors(events, parser.turns, request["status"]), None)
        return Answer(
            tuple(_handed(event) for event in events if isinstance(event, wholecall.EXECUTABLE)),
            tuple(
                Refused(event.name, event.reason, event.id)
                for event in events
                if isinstance(event, wholecall.ToolCallDropped)
            ),
            error,
            "".join(event.text for event in events if isinstance(event, wholecall.TextDelta)),
        )

    def close(self) -> None:
        """Do nothing: nothing was started."""


def _handed(call: Any) -> Handed:
    if isinstance(call, wholecall.ToolCall):
        return Handed(call.id, call.name, call.arguments)
    if isinstance(call, wholecall.CustomToolCall):
        return Handed(call.id, call.name, call.input)
    return Handed(call.id, call.kind, getattr(call, "arguments", None))


def _errors(events: list[Any], turns: tuple[Any, ...], status: int) -> Iterator[str]:
    """Yield what a user of the parser is told went wrong."""
    if status >= _ERROR:
        yield f"HTTP status {status}"
    for event in events:
        if isinstance(event, wholecall.StreamFault):
            yield f"{event.kind}: {event.detail}"
    for turn in turns:
        if turn.reason not in _GOOD:
            yield f"the turn ended: {turn.reason}"
