"""The events of the coding agent pi (`pi --mode rpc`, `pi --mode json`) and of programs built on it: one per line.

    {"type": "message_start" | "message_end", "message": {role, content[], model, stopReason, usage, timestamp}}
    {"type": "message_update", "assistantMessageEvent": {"type", "contentIndex", "delta", "partial": {content[]}}}
        text_start, text_delta, text_end            thinking_start, thinking_delta, thinking_end
        toolcall_start, toolcall_delta, toolcall_end{toolCall{id, name, arguments}}
    {"type": "tool_execution_start" | … "_end", "toolCallId", "toolName", "args"}
    {"type": "turn_end", "message"}  {"type": "agent_end", "messages": [message]}

The agent executes its calls itself, so each is a server's. The pieces of a call are the model's own text, and only they
count: the objects next to them are the agent's reading, which closes the brackets and strings of cut text (quirk 24).
Only a call without pieces has its object as its text. The id and name of a call that starts are in the message so far,
at its index; where an agent leaves that message out, they come with the end of the call.

Each message of the model is a turn. `message_end` gives the reason; an answer that failed or was aborted is asked for
again, or not, by the same session. The events that follow repeat all of it: `turn_end`, `agent_end`, the execution of
the calls. A stream that holds only those ends of messages, or only the end of the agent's work, is read by them.

Source: pi-mono, packages/coding-agent/docs/rpc.md, "Events" and "Types" (2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wholecall.deltas import OBJECT, CallWhole, Delta, Finish, Index, Slot
from wholecall.dialects import report
from wholecall.dialects.compiled import TableTranslator
from wholecall.dialects.decode import is_blank, member, plain
from wholecall.dialects.labels import id_label, name_label
from wholecall.dialects.statements import (
    POSITION,
    Rows,
    as_id,
    as_index,
    as_is,
    as_name,
    as_text,
    begin,
    by,
    each,
    end,
    given,
    json_text,
    opened,
    own,
    state,
    text,
    thought,
    usage,
    when,
)
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

__all__ = ["PiTranslator"]

_REASONS: Final[Mapping[str, TurnReason]] = {
    "stop": "stop",
    "length": "length",
    "toolUse": "tool_calls",
    "error": "error",
    "aborted": "aborted",
}


def _failed(reason: object, message: object) -> list[Delta]:
    return report.failure(fatal=False, type=reason, message=message) if message else []


def _finish(raw: str | None) -> list[Delta]:
    """Return why a message ended; a message that failed or was aborted emits no calls."""
    if raw is None:
        return []
    reason: TurnReason = _REASONS.get(raw, "unknown")
    return [Finish(0, reason, raw, drops=reason in ("error", "aborted"))]


# The parts of rows: the new part of a message, by its type; then a block of a whole message, and all of it.
_INDEX = as_index("contentIndex")
_PART = own("_part")
_PIECE = own("_piece", _INDEX)
_CALL = as_id("toolCall.id"), as_name("toolCall.name"), json_text("toolCall.arguments")
_UPDATES: Rows = {
    "text_delta": (_PIECE, text("delta")),
    "thinking_delta": (_PIECE, thought("delta", _INDEX)),
    "toolcall_delta": (_PART, own("_call_piece", _INDEX, as_text("delta"))),
    "text_start": (_PART,),
    "thinking_start": (_PART,),
    "toolcall_start": (_PART, own("_call_start", _INDEX, json_text("partial"))),
    "text_end": (_PART, own("_unsaid", _INDEX, text=as_is("content"))),
    "thinking_end": (_PART, own("_unsaid", _INDEX, thought=as_is("content"))),
    "toolcall_end": (_PART, own("_call_end", _INDEX, *_CALL)),
}
_LABELS = as_id("id"), as_name("name")
_BLOCKS: Rows = {
    "text": (text("text"),),
    "thinking": (thought("thinking", POSITION),),
    "toolCall": (
        own(report.call_start, POSITION, *_LABELS, kind="server"),
        own("_call_end", POSITION, *_LABELS, json_text("arguments")),
    ),
}
_WHOLE = (
    opened(model="model"),
    each(
        "content",
        when(state("_updated"), (False,), by(as_is("type"), _BLOCKS)),
        own(report.thought, None, POSITION, signature=as_is("thinkingSignature")),
    ),
    own(_failed, as_is("stopReason"), as_is("errorMessage")),
    usage("usage"),
    own(_finish, as_text("stopReason")),
    end(),
)
_OF_MODEL = as_is("role"), ("assistant",)


class PiTranslator(TableTranslator):
    """Events of one agent to deltas."""

    ROWS: ClassVar[Rows] = {
        "message_start": (given("message", when(*_OF_MODEL, begin(model="model"))),),
        "message_update": (
            when(as_is("assistantMessageEvent"), (None,), own(report.unknown)),
            given("assistantMessageEvent", by(as_is("type"), _UPDATES, ("start", "done", "error"))),
        ),
        "message_end": (given("message", when(*_OF_MODEL, *_WHOLE)),),
        "agent_end": (when(state("_n_turns"), (0,), each("messages", when(*_OF_MODEL, *_WHOLE))),),
    }
    QUIET = frozenset(
        {
            *("session", "response", "agent_start", "turn_start", "turn_end", "queue_update"),
            *("tool_execution_start", "tool_execution_update", "tool_execution_end"),
            *("auto_compaction_start", "auto_compaction_end", "compaction_start", "compaction_end"),
            *("compaction", "auto_retry_start", "auto_retry_end", "extension_error", "extension_ui_request"),
        }
    )
    AGAIN = ("message_update", "turn_end", "agent_end")

    _spoken: set[Index | None]
    _updated: bool

    def _clear(self) -> None:
        self._spoken = set()  # blocks whose text came in pieces
        self._updated = False  # the message came in pieces

    def _take(self, view: Any, frame: Frame, /) -> list[Delta]:
        if not view.error or type(view.type) is not str:
            return super()._take(view, frame)
        quiet = view.type == "extension_error"  # else a command of the client failed
        return [] if quiet else report.error(view.error, fatal=False)

    def _part(self) -> list[Delta]:
        """Note that the message comes in pieces, of which the first may begin it."""
        began = self._opened()
        self._updated = True
        return began

    def _piece(self, index: Index | None) -> list[Delta]:
        began = self._opened()
        self._updated = True
        self._spoken.add(index)
        return began

    def _unsaid(self, index: Index | None, text: object = None, thought: object = None) -> list[Delta]:
        """Report the text of a block that did not come in pieces."""
        return [] if index in self._spoken else report.text(text) + report.thought(thought, index)

    def _call_start(self, index: Index | None, so_far: str) -> list[Delta]:
        """Start a call, whose labels are in the message so far, at its index."""
        blocks = member(plain(so_far), "content")
        block = member(blocks, index) if type(index) is int and index >= 0 else None
        labels = id_label(member(block, "id")), name_label(member(block, "name"))
        return report.call_start(index, *labels, kind="server")

    def _call_piece(self, index: Index | None, said: str | None) -> list[Delta]:
        if said is None:
            return []
        self._spoken.add(index)
        return [Slot(0, index, None, said)]

    def _call_end(self, index: Index | None, id_: str | None, name: str | None, text: str) -> list[Delta]:
        """End a call, whose labels may come only now; its object is its text if it had no pieces."""
        deltas = report.seen(index, id_, name, "server")
        if index not in self._spoken and not is_blank(text):
            deltas.append(CallWhole(0, index, None, None, None, text, OBJECT, "server"))
        return deltas + report.closed(index, final=False)
