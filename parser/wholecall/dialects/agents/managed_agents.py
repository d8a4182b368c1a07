"""The events of sessions of Claude Managed Agents (`/v1/sessions/{id}/events/stream`), and of their threads.

    {"type": "session.status_running"}
    {"type": "agent.message", "id", "content": [{"type": "text", "text"}]}
    {"type": "agent.custom_tool_use", "id", "name", "input", "session_thread_id"}
    {"type": "agent.tool_use" | "agent.mcp_tool_use", "id", "name", "input", "evaluated_permission", "mcp_server_name"}
    {"type": "agent.tool_result", "tool_use_id"}    {"type": "agent.mcp_tool_result", "mcp_tool_use_id"}
    {"type": "user.custom_tool_result", "custom_tool_use_id"}    {"type": "user.tool_confirmation", "tool_use_id"}
    {"type": "span.model_request_end", "model_usage"}
    {"type": "session.status_idle", "stop_reason": {"type": end_turn | requires_action | …, "event_ids"}}
    {"type": "session.error", "error": {"type", "message", "retry_status"}}
    {"type": "event_start", "event": {"type", "id"}}    a preview of a message, where it is asked for
    {"type": "event_delta", "event_id", "delta": {"index", "content": {"type": "text", "text"}}}

A custom tool is the client's: the session is idle until its result is sent. The server executes its own tools and those
of MCP servers. Each call comes whole, under the id of its event. A call of the server is over when its result comes, or
the turn is; one that needs a confirmation (`ask`) is reported at once, with that flag, and one that is denied is
dropped. From running to idle is a turn, which may have several requests to the model: their counts are added. The
session outlives its errors; if the tries are exhausted, the open calls are taken back.

The stream of a session shows of the threads of sub-agents only what waits for the client; such a call has the id of its
thread, which the answer needs. The stream of a thread has the states of the thread in place of those of the session. A
message repeats the text of its preview.

Covers: the event streams of Claude Managed Agents, of sessions and of threads: calls that the client executes (custom
    tools), calls that the server executes, calls that need a confirmation; previews of messages.
Calls: told apart by the id of their event; each ends with its event, those of the server with their result.
Source: anthropics/anthropic-sdk-python, src/anthropic/types/beta/sessions; Claude documentation, "Session event
stream", "Session threads" and "Event deltas" (November 2026).
"""

from __future__ import annotations

from typing import ClassVar

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say

_CALL = at.id("id"), at.name("name"), at.json_text("input"), at.value("session_thread_id")


def _ours(id_: str | None, name: str | None, text: str, thread: object) -> list[deltas.Delta]:
    """Report a call of the client; its id is its slot."""
    extra = report.extra(session_thread_id=thread)
    told: list[deltas.Delta] = [deltas.CallSeen(0, id_, None, id_, name, extra=extra)]
    if text:
        told.append(deltas.CallWhole(0, id_, None, id_, name, text, deltas.ITEM_DONE))
    return told + report.closed(id_)


def _theirs(
    id_: str | None, name: str | None, text: str, thread: object, permission: object, server: object
) -> list[deltas.Delta]:
    """Report a call of the server, which waits for its result, for a confirmation, or for nothing."""
    asks = permission == "ask"
    extra = report.extra(mcp_server_name=server, session_thread_id=thread)
    told: list[deltas.Delta] = [
        deltas.CallSeen(
            0, id_, None, id_, name, "server", flags=("needs_approval",) if asks else (), extra=extra
        )
    ]
    if text:
        rank = deltas.ITEM_DONE if asks else deltas.OBJECT
        told.append(deltas.CallWhole(0, id_, None, id_, None, text, rank, "server"))
    if permission == "deny":
        return [*told, deltas.CallRefused(0, id_, None, "aborted", "a policy denied the call")]
    return told + report.closed(id_) if asks else told


def _terminated() -> list[deltas.Delta]:
    return [deltas.Finish(0, "aborted", "terminated", drops=True)]


_THEIRS = (
    say.opened(),
    say.own(_theirs, *_CALL, at.value("evaluated_permission"), at.value("mcp_server_name")),
)
_IDLE = (
    say.opened(repeats=True),
    say.stop_unless_open(),
    say.finish("stop_reason.type", drops_at="error"),
    say.end(),
)
_TERMINATED = (say.stop_unless_open(), say.own(_terminated), say.end())


def _of_thread(*row: say.Statement) -> say.Row:
    """Return the statements about the state of a thread, which say nothing in the stream of a session."""
    return (say.when(at.state("_of_session"), (False,), *row),)


class ManagedAgentsTranslator(compiled.TableTranslator):
    """Events of one session, or of one thread, to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "session.status_running": (say.do("_in_session"), say.opened()),
        "session.thread_status_running": _of_thread(say.opened()),
        "session.thread_created": (say.do("_in_session"),),
        "event_start": (say.opened(),),
        "event_delta": (
            say.opened(),
            say.own("_piece", at.id("event_id"), at.index("delta.index"), at.value("delta.content.text")),
        ),
        "agent.message": (
            say.opened(),
            say.each("content", say.own("_said", at.id("/id"), at.POSITION, at.value("text"))),
        ),
        "agent.custom_tool_use": (say.opened(), say.own(_ours, *_CALL)),
        "agent.tool_use": _THEIRS,
        "agent.mcp_tool_use": _THEIRS,
        "agent.tool_result": (say.stop_unless_open(), say.closed(at.id("tool_use_id"))),
        "agent.mcp_tool_result": (say.stop_unless_open(), say.closed(at.id("mcp_tool_use_id"))),
        "span.model_request_end": (say.stop_unless_open(), say.own("_used", at.value("model_usage"))),
        "session.error": (say.own(report.error, at.value("error"), fatal=False),),
        "session.status_idle": _IDLE,
        "session.thread_status_idle": _of_thread(*_IDLE),
        "session.status_terminated": _TERMINATED,
        "session.thread_status_terminated": _of_thread(*_TERMINATED),
        "session.deleted": _TERMINATED,
    }
    FAILURES = frozenset({"session.error"})
    QUIET = frozenset(
        {
            *("agent.thinking", "agent.thread_message_received", "agent.thread_message_sent"),
            *("agent.thread_context_compacted", "session.status_rescheduled", "session.updated"),
            *("session.thread_status_rescheduled", "session.usage", "span.model_request_start"),
            *("span.outcome_evaluation_start", "span.outcome_evaluation_ongoing"),
            *("span.outcome_evaluation_end", "system.message", "user.message", "user.interrupt"),
            *("user.define_outcome", "user.tool_confirmation", "user.tool_result"),
            "user.custom_tool_result",
        }
    )

    _of_session: bool
    _sizes: dict[tuple[str | None, deltas.Index], int]
    _counts: dict[str, int]

    def __init__(self) -> None:
        super().__init__()
        self._of_session = False  # the stream is that of a session

    def _clear(self) -> None:
        self._sizes = {}  # of the texts so far, by the event and the place in it
        self._counts = {}  # of tokens, in all requests of the turn

    def _in_session(self) -> None:
        self._of_session = True

    def _piece(self, event: str | None, index: deltas.Index | None, said: object) -> list[deltas.Delta]:
        """Report a piece of a preview."""
        if not isinstance(said, str):
            return []
        self._sizes[event, index or 0] = self._sizes.get((event, index or 0), 0) + len(said)
        return report.text(said)

    def _said(self, event: str | None, index: int, said: object) -> list[deltas.Delta]:
        """Report the part of a text that its preview lacks."""
        size = self._sizes.pop((event, index), 0)
        return report.text(said[size:]) if isinstance(said, str) else []

    def _used(self, counts: object) -> list[deltas.Delta]:
        """Add the counts of one request."""
        for name, count in counts.items() if isinstance(counts, dict) else ():
            if type(count) is int:
                self._counts[name] = self._counts.get(name, 0) + count
        return report.usage({**self._counts})
