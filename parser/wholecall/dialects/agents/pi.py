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

Covers: the events of the coding agent pi, in its RPC and JSON modes: calls that the agent executes; the pieces that
    its model wrote count, not the agent's reading of them.
Calls: told apart by content index; each ends with `toolcall_end`, and what follows.
Source: pi-mono, packages/coding-agent/docs/rpc.md, "Events" and "Types" (2026).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wholecall.deltas import OBJECT, CallWhole, Delta, Finish, Index, Slot
from wholecall.dialects import at, compiled, decode, report, say
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.labels import id_label, name_label
from wholecall.framing.frame import Frame
from wholecall.types import TurnReason

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
_INDEX = at.index("contentIndex")
_PART = say.own("_part")
_PIECE = say.own("_piece", _INDEX)
_CALL = at.id("toolCall.id"), at.name("toolCall.name"), at.json_text("toolCall.arguments")
_UPDATES: say.Rows = {
    "text_delta": (_PIECE, say.text("delta")),
    "thinking_delta": (_PIECE, say.thought("delta", _INDEX)),
    "toolcall_delta": (_PART, say.own("_call_piece", _INDEX, at.text("delta"))),
    "text_start": (_PART,),
    "thinking_start": (_PART,),
    "toolcall_start": (_PART, say.own("_call_start", _INDEX, at.json_text("partial"))),
    "text_end": (_PART, say.own("_unsaid", _INDEX, text=at.value("content"))),
    "thinking_end": (_PART, say.own("_unsaid", _INDEX, thought=at.value("content"))),
    "toolcall_end": (_PART, say.own("_call_end", _INDEX, *_CALL)),
}
_LABELS = at.id("id"), at.name("name")
_BLOCKS: say.Rows = {
    "text": (say.text("text"),),
    "thinking": (say.thought("thinking", at.POSITION),),
    "toolCall": (
        say.own(report.call_start, at.POSITION, *_LABELS, kind="server"),
        say.own("_call_end", at.POSITION, *_LABELS, at.json_text("arguments")),
    ),
}
_WHOLE = (
    say.opened(model="model"),
    say.each(
        "content",
        say.when(at.state("_updated"), (False,), say.by(at.value("type"), _BLOCKS)),
        say.own(report.thought, None, at.POSITION, signature=at.value("thinkingSignature")),
    ),
    say.own(_failed, at.value("stopReason"), at.value("errorMessage")),
    say.usage("usage"),
    say.own(_finish, at.text("stopReason")),
    say.end(),
)
_OF_MODEL = at.value("role"), ("assistant",)


class PiTranslator(compiled.TableTranslator):
    """Events of one agent to deltas."""

    ROWS: ClassVar[say.Rows] = {
        "message_start": (say.given("message", say.when(*_OF_MODEL, say.begin(model="model"))),),
        "message_update": (
            say.when(at.value("assistantMessageEvent"), (None,), say.own(report.unknown)),
            say.given(
                "assistantMessageEvent", say.by(at.value("type"), _UPDATES, ("start", "done", "error"))
            ),
        ),
        "message_end": (say.given("message", say.when(*_OF_MODEL, *_WHOLE)),),
        "agent_end": (
            say.when(at.state("_n_turns"), (0,), say.each("messages", say.when(*_OF_MODEL, *_WHOLE))),
        ),
    }
    PIECES: ClassVar[Pieces] = {'"toolcall_delta"': "assistantMessageEvent.delta"}
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
        blocks = decode.member(decode.plain(so_far), "content")
        block = decode.member(blocks, index) if type(index) is int and index >= 0 else None
        labels = id_label(decode.member(block, "id")), name_label(decode.member(block, "name"))
        return report.call_start(index, *labels, kind="server")

    def _call_piece(self, index: Index | None, said: str | None) -> list[Delta]:
        if said is None:
            return []
        self._spoken.add(index)
        return [Slot(0, index, None, said)]

    def _call_end(self, index: Index | None, id_: str | None, name: str | None, text: str) -> list[Delta]:
        """End a call, whose labels may come only now; its object is its text if it had no pieces."""
        deltas = report.seen(index, id_, name, "server")
        if index not in self._spoken and not decode.is_blank(text):
            deltas.append(CallWhole(0, index, None, None, None, text, OBJECT, "server"))
        return deltas + report.closed(index, final=False)
