"""The events of the agent goose: the lines of `goose run --output-format stream-json`, and its server's (`/reply`).

    {"type": "message", "message": {"id", "role", "created", "content": [part], "metadata"}}
    {"type": "notification", "extension_id", "log" | "progress": {…}}
    {"type": "error", "error": "…"}
    {"type": "complete", "total_tokens", "input_tokens", "output_tokens"}
    {"type": "Message", "message", "token_state"}    {"type": "Finish", "reason", "token_state"}    of the server,
    {"type": "Error", "error": "…"}                  also Notification, ModelChange, UpdateConversation, Ping
    {"messages": [message], "metadata": {"total_tokens", "status"}}    the whole session (`--output-format json`)

    a part: {"type": "text", "text"}    {"type": "thinking", "thinking", "signature"}
        {"type": "toolRequest", "id", "toolCall": {"status": "success", "value": {"name", "arguments"}}}
        {"type": "toolResponse", "id", "toolResult": {"status", "value" | "error"}}    in messages of the user
        {"type": "frontendToolRequest", "id", "toolCall"}    a tool of the client

The agent executes its requests itself, so each is a server's call, whole when it is announced, and over when its response
comes, whether or not it failed; only the tools of a front end are for the client. A request that the agent could not read
has an `error` in place of the call, and is dropped. A message comes in pieces with one id, and the whole run is one turn.
After an error the agent stops: the turn fails, and its open calls are taken back.

Covers: the lines of `goose run --output-format stream-json`, the events of goose's server, and whole sessions
    (`--output-format json`): calls that the agent executes, and those of the client's own tools; runs that fail.
Calls: told apart by `id`; each ends with its `toolResponse`, or with a request to the client.
Source: block/goose, crates/goose/src/conversation/message.rs, crates/goose-cli/src/session/mod.rs (`StreamEvent`) and
    crates/goose-server/src/routes/reply.rs (`MessageEvent`, 2026).
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.agents.steps import Steps

_CALL = (
    *(at.id("id"), at.name("toolCall.value.name"), at.json_text("toolCall.value.arguments")),
    at.value("toolCall.status"),
)


def _failed() -> list[deltas.Delta]:
    return [deltas.Finish(0, "error", "error", drops=True)]


def _ended(reason: object = None) -> list[deltas.Delta]:
    return report.finish(reason) or [deltas.Finish(0, "stop", None)]


_PARTS: say.Rows = {
    "text": (say.text("text"),),
    "thinking": (say.thought("thinking", signature="signature"),),
    "redactedThinking": (say.thought("thinking", data="data"),),
    "reasoning": (say.thought("text"),),
    "toolRequest": (say.own("_call", *_CALL),),
    "frontendToolRequest": (say.own("_asked", *_CALL),),
    "toolResponse": (say.own("_over", at.id("id")),),
}
_PAST: say.Rows = {
    **_PARTS,
    "frontendToolRequest": (say.own("_asked", *_CALL, past=True),),
    "toolResponse": (say.own("_answered", at.id("id")),),
}
_QUIET = ("image", "toolConfirmationRequest", "actionRequired", "systemNotification", "conversationCompacted")


def _message(parts: say.Rows) -> say.When:
    """Return the statements about a message; those of the user have the responses to calls."""
    response = say.when(at.value("type"), ("toolResponse",), *parts["toolResponse"])
    return say.when(
        *(at.value("role"), ("assistant",), say.opened()),
        say.each("content", say.by(at.text("type"), parts, _QUIET)),
        otherwise=(say.stop_unless_open(), say.each("content", response)),
    )


_COUNTS = (
    *("total_tokens", "input_tokens", "output_tokens", "cache_read_input_tokens"),
    *("cache_write_input_tokens", "cost_usd"),
)
_COUNTED: dict[str, Any] = {name: at.value(f"metadata.{name}") for name in _COUNTS}
_OVER = (say.opened(repeats=True), say.stop_unless_open())
_ERROR = (
    say.own(report.failure, fatal=False, message=at.value("error")),
    say.stop_unless_open(),
    say.own(_failed),
    say.end(),
)


class GooseTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        **dict.fromkeys(("message", "Message"), (say.given("message", _message(_PARTS)),)),
        **dict.fromkeys(("error", "Error"), _ERROR),
        "complete": (*_OVER, say.counts(*_COUNTS), say.own(_ended), say.end()),
        "Finish": (*_OVER, say.usage("token_state"), say.own(_ended, at.value("reason")), say.end()),
    }
    BODIES: ClassVar[say.Rows] = {
        "messages": (
            say.begin(),
            say.each("messages", _message(_PAST)),
            say.own(report.counts, **_COUNTED),
            say.own(_ended, at.value("metadata.status")),
            say.end(),
        ),
    }
    FAILURES = frozenset({"error", "Error"})
    QUIET = frozenset(
        {
            *("notification", "Notification", "ModelChange", "RoutingDecision", "ToolAvailabilityChange"),
            *("PlanProposal", "UpdateConversation", "Ping"),
        }
    )
    AGAIN = ("UpdateConversation",)

    _steps: Steps

    def _clear(self) -> None:
        self._steps = Steps()

    def _call(self, id_: str | None, name: str | None, text: str, status: object) -> list[deltas.Delta]:
        """Report a call that the agent is about to execute."""
        told, slot = self._steps.call(id_), self._steps.slot(id_)
        told.append(deltas.CallSeen(0, slot, None, id_, name, "server"))
        if status == "error":
            return [
                *told,
                deltas.CallRefused(0, slot, None, "unparseable", "the agent could not read the call"),
            ]
        if text:
            told.append(deltas.CallWhole(0, slot, None, id_, None, text, deltas.OBJECT, "server"))
        return told

    def _asked(
        self, id_: str | None, name: str | None, text: str, status: object, *, past: bool = False
    ) -> list[deltas.Delta]:
        """Report a call of a tool that the client has; one of the past may have its response, which follows."""
        if status == "error":
            return self._call(id_, name, text, status)
        told = [*self._steps.call(id_), *report.whole_call(self._steps.slot(id_), id_, name, text)]
        return told[:-1] if past else told

    def _over(self, id_: str | None) -> list[deltas.Delta]:
        """Report the response to a call, which is over."""
        self._steps.answer(id_)
        return report.closed(self._steps.slot(id_))

    def _answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report the response to a call of the past: it was executed."""
        return [*report.answered(id_), *self._over(id_)]
