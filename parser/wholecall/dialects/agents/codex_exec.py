"""The events of Codex without a terminal (`codex exec --json`), and of the Codex SDKs: one per line.

    {"type": "thread.started", "thread_id"}
    {"type": "turn.started"}
    {"type": "item.started" | "item.updated" | "item.completed", "item": {"id", "type", …}}
        agent_message        text                       reasoning        text
        command_execution    command, status            file_change      changes[], status
        mcp_tool_call        server, tool, arguments    collab_tool_call tool, prompt, receiver_thread_ids
        web_search           query, action              todo_list, error
    {"type": "turn.completed", "usage"}    {"type": "turn.failed", "error": {"message"}}
    {"type": "error", "message"}           also while the agent connects again

The agent executes its items itself, so each is a server's call. A command, a change or a search has no tool's name: the
type of its item is the name, and the members that describe the action are the arguments. An item is whole from its
start, except for a search, and over when it is completed, whether or not it failed; one that was declined is dropped.
Messages and thoughts come whole. A turn that failed takes back its open calls.

Covers: the lines of `codex exec --json`, which the Codex SDKs read: calls that the agent executes, whole in their
    items; turns that fail.
Calls: told apart by item id; each ends with `item.completed`.
Source: openai/codex, codex-rs/exec/src/exec_events.rs (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say


def _work(*members: str) -> say.Row:
    """Report a call that the agent executes: its arguments are the members that describe the action."""
    labels = at.value("/type"), at.id("id"), at.name("tool|type"), at.value("server"), at.value("status")
    described: dict[str, Any] = {name: at.raw(name) for name in members}
    return (say.given("item", say.own(_call, *labels, **described)),)


def _call(
    event: str, id_: str | None, name: str | None, server: object, status: object, **members: msgspec.Raw
) -> list[deltas.Delta]:
    """Report the start or the end of an item; its id is its slot."""
    over = event == "item.completed"
    told: list[deltas.Delta] = [
        deltas.CallSeen(0, id_, None, id_, name, "server", extra=report.extra(server=server))
    ]
    if text := report.arguments_of(members):
        told.append(
            deltas.CallWhole(
                0, id_, None, id_, None, text, deltas.ITEM_DONE if over else deltas.OBJECT, "server"
            )
        )
    if over and status == "declined":
        return [*told, deltas.CallRefused(0, id_, None, "aborted", "the client declined the call")]
    return told + report.closed(id_) if over else told


def _stopped() -> list[deltas.Delta]:
    return [deltas.Finish(0, "stop", None)]


def _failed() -> list[deltas.Delta]:
    return [deltas.Finish(0, "error", "failed", drops=True)]


_WORK: say.Rows = {
    "command_execution": _work("command"),
    "file_change": _work("changes"),
    "mcp_tool_call": _work("arguments"),
    "collab_tool_call": _work("prompt", "receiver_thread_ids"),
}
_STARTED: say.Rows = {**_WORK, "web_search": _work()}  # its members are placeholders
_COMPLETED: say.Rows = {
    **_WORK,
    "web_search": _work("query", "action"),
    "agent_message": (say.text("item.text"),),
    "reasoning": (say.thought("item.text", at.id("item.id")),),
    "error": (say.own(report.failure, fatal=False, message=at.value("item.message")),),
}
_ITEM = at.text("item.type")


class CodexExecTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "turn.started": (say.begin(),),
        "item.started": (say.opened(), say.by(_ITEM, _STARTED, ("todo_list", "agent_message", "reasoning"))),
        "item.completed": (say.opened(), say.by(_ITEM, _COMPLETED, ("todo_list",))),
        "turn.completed": (
            say.opened(repeats=True),
            say.stop_unless_open(),
            say.usage("usage"),
            say.own(_stopped),
            say.end(),
        ),
        "turn.failed": (
            say.own(report.error, at.value("error"), fatal=False),
            say.stop_unless_open(),
            say.own(_failed),
            say.end(),
        ),
        "error": (say.own(report.failure, fatal=False, message=at.value("message")),),
    }
    FAILURES = frozenset({"turn.failed"})
    QUIET = frozenset({"thread.started", "item.updated"})
    AGAIN = ("item.updated",)
