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

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final

from wholecall.deltas import OBJECT, CallWhole, Delta, Finish, Index, Slot
from wholecall.dialects import report
from wholecall.dialects.agents.pi_views import (
    DECODER,
    PARTIAL_DECODER,
    QUIET,
    Block,
    Message,
    Update,
    View,
)
from wholecall.dialects.decode import decode, is_blank, wire_text
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.translator import Events, TurnTranslator
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


class PiTranslator(TurnTranslator):
    """Events of one agent to deltas."""

    decoder = DECODER
    QUIET = QUIET
    AGAIN = ("message_update", "turn_end", "agent_end")

    _spoken: set[Index | None]
    _updated: bool

    def _clear(self) -> None:
        self._spoken = set()  # blocks whose text came in pieces
        self._updated = False  # the message came in pieces

    def _take(self, view: View, frame: Frame, /) -> list[Delta]:
        if not view.error or type(view.type) is not str:
            return super()._take(view, frame)
        quiet = view.type == "extension_error"  # else a command of the client failed
        return [] if quiet else report.error(view.error, fatal=False)

    # Messages

    def _message_start(self, view: View) -> list[Delta]:
        message = view.message or Message()
        return self._begin(None, message.model) if message.role == "assistant" else []

    def _message_end(self, view: View) -> list[Delta]:
        message = view.message or Message()
        return self._whole(message) if message.role == "assistant" else []

    def _agent_end(self, view: View) -> list[Delta]:
        if self._n_turns:
            return []
        said = (message for message in view.messages or () if message.role == "assistant")
        return [delta for message in said for delta in self._whole(message)]

    def _whole(self, message: Message) -> list[Delta]:
        """Report the content that a whole message adds to its pieces, and that it is over."""
        deltas = self._opened(None, message.model)
        for index, block in enumerate(message.content or ()):
            if not self._updated:
                deltas += self._block(index, block)
            deltas += report.thought(None, index, signature=block.thinking_signature)
        if message.error_message:
            deltas += report.failure(fatal=False, type=message.stop_reason, message=message.error_message)
        return [*deltas, *report.usage(message.usage), *_finish(message.stop_reason), *self._end()]

    def _block(self, index: int, block: Block) -> list[Delta]:
        if block.type == "toolCall":
            return self._start_call(index, block) + self._end_call(index, block)
        if block.type == "thinking":
            return report.thought(block.thinking, index)
        return report.text(block.text) if block.type == "text" else report.unknown()

    # Pieces

    def _message_update(self, view: View) -> list[Delta]:
        update = view.assistant_message_event or Update()
        known = self.UPDATES.get(update.type) if type(update.type) is str else None
        if known is None:
            return [] if update.type in ("start", "done", "error") else report.unknown()
        deltas = self._opened()
        self._updated = True
        return deltas + known(self, index_label(update.content_index), update)

    def _text(self, index: Index | None, update: Update) -> list[Delta]:
        self._spoken.add(index)
        return report.text(update.delta)

    def _thought(self, index: Index | None, update: Update) -> list[Delta]:
        self._spoken.add(index)
        return report.thought(update.delta, index)

    def _text_end(self, index: Index | None, update: Update) -> list[Delta]:
        return [] if index in self._spoken else report.text(update.content)

    def _thought_end(self, index: Index | None, update: Update) -> list[Delta]:
        return [] if index in self._spoken else report.thought(update.content, index)

    # Calls

    def _call_start(self, index: Index | None, update: Update) -> list[Delta]:
        so_far = decode(PARTIAL_DECODER, wire_text(update.partial)) or Message()
        blocks = so_far.content or []
        known = type(index) is int and 0 <= index < len(blocks)
        return self._start_call(index, blocks[index] if known else Block())  # type: ignore[index]

    def _start_call(self, index: Index | None, block: Block) -> list[Delta]:
        return report.call_start(index, id_label(block.id), name_label(block.name), kind="server")

    def _call_piece(self, index: Index | None, update: Update) -> list[Delta]:
        text = text_label(update.delta)
        if text is None:
            return []
        self._spoken.add(index)
        return [Slot(0, index, None, text)]

    def _call_end(self, index: Index | None, update: Update) -> list[Delta]:
        return self._end_call(index, update.tool_call or Block())

    def _end_call(self, index: Index | None, block: Block) -> list[Delta]:
        """End a call, whose labels may come only now; its object is its text if it had no pieces."""
        text = wire_text(block.arguments)
        deltas: list[Delta] = []
        deltas += report.seen(index, id_label(block.id), name_label(block.name), "server")
        if index not in self._spoken and not is_blank(text):
            deltas.append(CallWhole(0, index, None, None, None, text, OBJECT, "server"))
        return deltas + report.closed(index, final=False)

    EVENTS: ClassVar[Events] = {
        "message_start": _message_start,
        "message_update": _message_update,
        "message_end": _message_end,
        "agent_end": _agent_end,
    }
    UPDATES: ClassVar[Mapping[str, Callable[[Any, Index | None, Update], list[Delta]]]] = {
        "text_start": lambda _self, _index, _update: [],
        "text_delta": _text,
        "text_end": _text_end,
        "thinking_start": lambda _self, _index, _update: [],
        "thinking_delta": _thought,
        "thinking_end": _thought_end,
        "toolcall_start": _call_start,
        "toolcall_delta": _call_piece,
        "toolcall_end": _call_end,
    }


def _finish(raw: object) -> list[Delta]:
    """Return why a message ended; a message that failed or was aborted emits no calls."""
    said = text_label(raw)
    if said is None:
        return []
    reason: TurnReason = _REASONS.get(said, "unknown")
    return [Finish(0, reason, said, drops=reason in ("error", "aborted"))]
