"""MCP, the Model Context Protocol: the messages of a tool server to its client, as JSON-RPC. It holds no calls.

    {"jsonrpc": "2.0", "method": "notifications/…", "params": {…}}                  progress, logs, lists that changed
    {"jsonrpc": "2.0", "id", "method": "sampling/createMessage" | "elicitation/create" | …, "params": {…}}
    {"jsonrpc": "2.0", "id", "result": {"content": [{"type": "text", "text"}], "isError"?}}        of a `tools/call`
    {"jsonrpc": "2.0", "id", "result": {"tools": […]} | {"protocolVersion", "serverInfo", …}}      of other requests
    {"jsonrpc": "2.0", "id", "error": {"code", "message"}}

No model sends messages on this wire. A request `tools/call` is a client's, made of a call that came from a model
before; a server's requests to its client are the client's business. The content of a result is data for a model, not an
answer of one: it is not even text here, for a call that is quoted in it would be read as written (`text=`).

A turn is a request: all messages up to the answer, as in a stream of streamable HTTP. A failure is a fault; the
connection outlives it. The older transport over SSE begins with an event `endpoint`, whose data is an address. Source:
Model Context Protocol, "Transports", "Tools", "Sampling" (2025-11-25, and the versions before it).

Covers: the Model Context Protocol over SSE, streamable HTTP or stdio: a turn for each request, faults where a request
    failed. No call is ever emitted: a `tools/call` is a client's form of an earlier call, `sampling/createMessage` is
    the client's business, and the content of a result is neither call nor text.
Calls: none.
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall.deltas import Delta, Finish
from wholecall.dialects import at, compiled, report, say
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

_FAILED = {"message": "the tool reports an error"}

# An error that answers no request is the connection's.
_ANSWERED = (say.opened(), say.own(report.error, at.value("error"), fatal=False), say.own("_over", "error"))
_ERROR = say.when(at.value("id"), (None,), say.own(report.error, at.value("error")), otherwise=_ANSWERED)


class McpTranslator(compiled.TableTranslator):
    """Messages of one connection to deltas."""

    BODIES: ClassVar[say.Rows] = {
        "error": (_ERROR,),
        "method": (say.opened(),),
        "result": (say.opened(), say.own("_answer", at.value("result.isError"))),
        "jsonrpc": (),
    }
    EVENTLESS = True  # no member names an event

    def takes_silently(self, frame: Frame) -> bool:  # noqa: ARG002
        """Return True: there are no calls, and anything that looks like a call is data."""
        return True

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one message."""
        return [] if frame.event == "endpoint" else super().translate(frame)

    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        if not view.error:
            view.error = None  # an empty error is none
        return self._other(view, frame, self._kind(view, frame))

    def _answer(self, failed: object) -> list[Delta]:
        if failed is not True:
            return self._over("stop")
        return report.error(_FAILED, fatal=False) + self._over("error")

    def _over(self, reason: TurnReason) -> list[Delta]:
        return [Finish(0, reason, None), *self._end()]
