"""The events of Cursor's agent without a terminal (`cursor-agent --print --output-format stream-json`): one per line.

    {"type": "system", "subtype": "init", "session_id", "model", "permissionMode", …}
    {"type": "user", "message": {"role", "content": [{"type": "text", "text"}]}, "session_id"}
    {"type": "thinking", "subtype": "delta" | "completed", "text", "session_id"}
    {"type": "assistant", "message": {"role", "content": [{"type": "text", "text"}]}, "timestamp_ms", "model_call_id"}
    {"type": "tool_call", "subtype": "started" | "completed", "call_id", "tool_call": {TOOL}, "session_id"}
        "readToolCall": {"args": {…}, "result": {"success" | "error" | "rejected": {…}}}    and others of this kind
        "mcpToolCall":  {"args": {"toolName", "providerIdentifier", "args": {…}}, "result"}
        "function":     {"name", "arguments"}
    {"type": "result", "subtype": "success", "is_error", "result", "usage", "session_id"}

The agent executes its calls itself, so each is a server's call. The member that holds a tool is the call's name, and a
tool of an MCP server has its own. A call is whole from its start, and over when it is completed, whether or not it
failed; one that was rejected is dropped. The whole run is one turn; one that failed takes back its open calls.

With `--stream-partial-output` a text comes in pieces, which have a time and no model's call; the other lines then only
repeat them. With `--output-format json` only the result comes.

Covers: the lines of `cursor-agent --output-format stream-json`: calls that the agent executes, whole from their start,
    with the names of MCP servers' tools; texts whole or in pieces; the JSON mode.
Calls: told apart by `call_id`; each ends with its completion.
Source: cursor.com/docs/cli/reference/output-format (2026), and forum.cursor.com/t/156289 for the forms of texts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, labels, report, say
from wholecall.dialects.agents.steps import Steps

_CALL = at.id("call_id"), at.raw("tool_call")


class CursorTranslator(compiled.TableTranslator):
    """Events of one run to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "system": (say.when(at.value("subtype"), ("init",), say.begin("session_id", "model")),),
        "thinking": (
            say.opened(),
            say.by(at.value("subtype"), {"delta": (say.thought("text"),)}, ("completed",)),
        ),
        "assistant": (
            say.opened(),
            say.each(
                "message.content",
                say.own("_said", at.value("text"), at.value("/timestamp_ms"), at.value("/model_call_id")),
            ),
        ),
        "tool_call": (
            say.opened(),
            say.by(
                at.value("subtype"),
                {"started": (say.own("_call", *_CALL),), "completed": (say.own("_over", *_CALL),)},
            ),
        ),
        "result": (
            say.own("_alone", at.id("session_id"), at.value("result")),
            say.stop_unless_open(),
            say.usage("usage"),
            say.own("_ended", at.value("subtype"), at.value("is_error"), at.value("result")),
            say.end(),
        ),
    }
    QUIET = frozenset({"user"})

    _streamed: bool
    _steps: Steps

    def _clear(self) -> None:
        self._streamed = False  # pieces of texts came
        self._steps = Steps()

    def _said(self, text: object, time: object, call: object) -> list[deltas.Delta]:
        """Report a piece of a text, or a whole one if no pieces come."""
        piece = time is not None and call is None
        self._streamed = self._streamed or piece
        return report.text(text) if piece or not self._streamed else []

    def _call(self, id_: str | None, raw: msgspec.Raw) -> list[deltas.Delta]:
        """Report a call that starts."""
        new = self._steps.calls.get(id_, True)
        return [*self._steps.call(id_), *self._of(id_, raw, deltas.OBJECT, new=new)]

    def _of(self, id_: str | None, raw: msgspec.Raw, rank: int, *, new: bool) -> list[deltas.Delta]:
        """Report a state of a call, with its name when it is new."""
        name, text, server = _told(decode.raw_members(raw))
        slot = self._steps.slot(id_)
        extra = report.extra(server=server) if new else None
        told: list[deltas.Delta] = [
            deltas.CallSeen(0, slot, None, id_, name if new else None, "server", extra=extra)
        ]
        if text:
            told.append(deltas.CallWhole(0, slot, None, id_, None, text, rank, "server"))
        return told

    def _over(self, id_: str | None, raw: msgspec.Raw) -> list[deltas.Delta]:
        """Report the end of a call, which may repeat all of it."""
        told = self._of(id_, raw, deltas.ITEM_DONE, new=id_ not in self._steps.calls)
        self._steps.answer(id_)
        slot = self._steps.slot(id_)
        if any(
            "rejected" in decode.raw_members(_member(tool, "result"))
            for tool in decode.raw_members(raw).values()
        ):
            return [*told, deltas.CallRefused(0, slot, None, "aborted", "the client declined the call")]
        return told + report.closed(slot)

    def _alone(self, session: str | None, said: object) -> list[deltas.Delta]:
        """Report the result as an answer, if nothing else came."""
        return [] if self._n_turns else [*self._begin(session), *report.text(said)]

    def _ended(self, kind: object, failed: object, said: object) -> list[deltas.Delta]:
        if failed is True:
            fault = report.failure(fatal=False, type=kind, message=labels.text_label(said))
            return [*fault, deltas.Finish(0, "error", labels.text_label(kind), drops=True)]
        return [deltas.Finish(0, "stop", labels.text_label(kind))]


def _told(tools: Mapping[str, msgspec.Raw]) -> tuple[str | None, str, object]:
    """Return a call's name, its arguments, and the server that has the tool."""
    for name, tool in tools.items():
        if name == "function":
            return _label(tool, "name"), decode.wire_text(_member(tool, "arguments")), None
        given = _member(tool, "args")
        if name != "mcpToolCall":
            return labels.name_label(name), decode.wire_text(given), None
        label = _label(given, "toolName") or _label(given, "name") or name
        return label, decode.wire_text(_member(given, "args")), _label(given, "providerIdentifier")
    return None, "", None


def _member(raw: msgspec.Raw, name: str) -> msgspec.Raw:
    return decode.raw_members(raw).get(name, decode.NO_TEXT)


def _label(raw: msgspec.Raw, name: str) -> str | None:
    return labels.name_label(decode.wire_text(_member(raw, name)))
