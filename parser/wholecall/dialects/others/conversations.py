"""Mistral Conversations and Agents (`POST /v1/conversations#stream`); the event's name repeats `type`.

    conversation.response.started    conversation_id, created_at
    message.output.delta             id, output_index, content (a text or one part)
    function.call.delta              id, output_index, name, tool_call_id, arguments, confirmation_status?
    tool.execution.started, .delta   id, output_index, name, arguments
    tool.execution.done              id, output_index, info
    agent.handoff.started, .done     the agents' ids and names
    conversation.response.done       usage
    conversation.response.error      message, code

Every entry of the answer has an id, which is the slot of its call; name and `tool_call_id`, the public id, come in each
of its events. `arguments` are pieces of JSON text. A function call has no separate end, a tool that Mistral executes
has. The end names no reason: a turn with calls of the client ended for them. A whole body is
`{object: "conversation.response", conversation_id, outputs: [entries], usage}`.

Covers: Mistral's conversations and agents: functions, the tools that Mistral runs itself, approval.
Calls: told apart by entry id; each ends with the end of the response.
Source: Mistral API reference, "Agents and conversations", and the types of its Python SDK.
"""

from __future__ import annotations

from typing import ClassVar, Final

from wholecall import deltas
from wholecall.dialects import at, compiled, report, say
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat.chunks import content
from wholecall.types import Flag, Kind

_QUIET: Final = ("agent.handoff", "agent.handoff.started", "agent.handoff.done")

# The parts of rows.
_SLOT = at.first_of(at.id("id|tool_call_id"), at.index("output_index"))
_LABELS = at.name("name"), at.value("confirmation_status")
_FUNCTION = say.own("_seen", _SLOT, at.id("tool_call_id"), *_LABELS)
_TOOL = say.own("_seen", _SLOT, at.id("tool_call_id|id"), *_LABELS, "server")
_SAID = say.own(content, at.value("content"))
_OVER = (say.own("_refusals"), say.usage("usage"), say.own("_finish"), say.end())


def _whole(slot: deltas.Index | None, text: str, kind: Kind = "function") -> list[deltas.Delta]:
    return [deltas.CallWhole(0, slot, None, None, None, text, deltas.ITEM_DONE, kind)] if text else []


class ConversationsTranslator(compiled.TableTranslator):
    """Frames of one stream to deltas; it remembers the labels of calls, because every event repeats them."""

    ROWS: ClassVar[say.Rows] = {
        "conversation.response.started": (say.begin("conversation_id"),),
        "message.output.delta": (_SAID,),
        "function.call.delta": (_FUNCTION, say.piece(_SLOT, "arguments")),
        "tool.execution.started": (_TOOL, say.piece(_SLOT, "arguments", "server")),
        "tool.execution.delta": (_TOOL, say.piece(_SLOT, "arguments", "server")),
        "tool.execution.done": (_TOOL, say.closed(_SLOT)),
        "conversation.response.done": _OVER,
    }
    ENTRIES: ClassVar[say.Rows] = {
        "message.output": (_SAID,),
        "function.call": (
            _FUNCTION,
            say.own(_whole, _SLOT, at.json_text("arguments")),
            say.own("_closed", _SLOT),
        ),
        "tool.execution": (
            _TOOL,
            say.own(_whole, _SLOT, at.json_text("arguments"), "server"),
            say.own("_closed", _SLOT),
        ),
    }
    BODIES: ClassVar[say.Rows] = {
        "outputs": (
            say.begin("conversation_id", "outputs[].model"),
            say.each("outputs", say.by(at.text("type"), ENTRIES, _QUIET)),
            *_OVER,
        ),
    }
    PIECES: ClassVar[Pieces] = {'"function.call.delta"': "arguments"}
    QUIET = frozenset(_QUIET)
    ERRORS = frozenset({"conversation.response.error", "error"})

    _labels: dict[deltas.Index | None, tuple[object, ...]]
    _denied: list[deltas.Index | None]
    _called: bool

    def _clear(self) -> None:
        self._labels = {}
        self._denied = []  # the slots of calls that were denied
        self._called = False  # there is a call that the client executes

    def _seen(
        self,
        slot: deltas.Index | None,
        id_: str | None,
        name: str | None,
        status: object,
        kind: Kind = "function",
    ) -> list[deltas.Delta]:
        """Report the labels of a call, if they are new."""
        self._called = self._called or kind == "function"
        labels = (id_, name, status)
        if self._labels.get(slot) == labels:
            return []
        self._labels[slot] = labels
        if status == "denied":
            self._denied.append(slot)
        flags: tuple[Flag, ...] = ("needs_approval",) if status == "pending" else ()
        extra = None if status is None else {"confirmation_status": status}
        return [deltas.CallSeen(0, slot, None, id_, name, kind, flags=flags, extra=extra)]

    def _refusals(self) -> list[deltas.Delta]:
        """Report the ends of denied calls: they may not be executed."""
        denied, self._denied = self._denied, []
        return [deltas.CallRefused(0, slot, None, "aborted", "the call was denied") for slot in denied]

    def _closed(self, slot: deltas.Index | None) -> list[deltas.Delta]:
        return self._refusals() or report.closed(slot)

    def _finish(self) -> list[deltas.Delta]:
        return [deltas.Finish(0, "tool_calls" if self._called else "stop", None)]
