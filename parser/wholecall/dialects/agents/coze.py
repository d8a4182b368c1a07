r"""The events of a chat with an agent of Coze (`/v3/chat`, `/v3/chat/submit_tool_outputs`), by their names.

    conversation.chat.created, .in_progress    {"id", "conversation_id", "bot_id", "status"}
    conversation.message.delta                 {"id", "chat_id", "type": "answer", "content": "Hel", "reasoning_content"?}
    conversation.message.completed             {"id", "chat_id", "type": "function_call",
        "content": "{\"name\", \"arguments\": {…}, \"plugin_id\", …}"} | {"type": "tool_response", "content"}
        | {"type": "answer", "content": all of it} | {"type": "verbose" | "follow_up" | "knowledge", "content"}
    conversation.chat.requires_action          {"required_action": {"type": "submit_tool_outputs",
        "submit_tool_outputs": {"tool_calls": [{"id", "type", "function": {"name", "arguments"}}]}}}
    conversation.chat.completed, .failed       {"usage": {"token_count", …}, "last_error": {"code", "msg"}}
    error  {"code", "msg"}    done  "[DONE]"

A call of a plugin comes as a message with JSON as its content, and is the agent's once its result or the end of the chat
follows: a message names no call, so results belong to calls in their order. Where the chat requires an action, the calls
that it lists are the client's, and the messages before that have no result are those same calls.

Covers: the events of chats with agents of Coze: calls that the agent executes, and those that it requires of the client;
    a chat that is asked for later.
Calls: told apart by order, the client's by their ids; each ends with its message, or with the list.
Source: coze-dev/coze-py, cozepy/chat/__init__.py; Coze documentation, chat_v3 and chat_submit_tool_outputs (2026).
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import at, compiled, decode, report, say
from wholecall.framing.frame import Frame

_ACTION = (
    say.each(
        "required_action.submit_tool_outputs.tool_calls",
        say.own("_asked", at.id("id"), at.name("function.name"), at.json_text("function.arguments")),
    ),
    say.usage("usage"),
    say.own("_over", "tool_calls"),
)
_RESULT = (say.own("_answered"),)
_NOT_SAID = ("verbose", "knowledge", "follow_up", "question")


class _Call(msgspec.Struct, gc=False):
    name: Any = None
    arguments: msgspec.Raw = decode.NO_TEXT


_CALL = msgspec.json.Decoder(_Call)


class CozeTranslator(compiled.TableTranslator):
    """Events of one chat to deltas."""

    KINDS = ()
    ROWS: ClassVar[say.Rows] = {
        "conversation.chat.created": (say.begin("id"),),
        "conversation.chat.in_progress": (say.opened(),),
        "conversation.message.delta": (
            say.opened(),
            say.when(
                at.value("type"),
                ("answer",),
                say.thought("reasoning_content"),
                say.own("_said", at.id("id"), at.value("content")),
            ),
        ),
        "conversation.message.completed": (
            say.opened(),
            say.by(
                at.value("type"),
                {
                    "answer": (say.own("_said", at.id("id"), at.value("content"), whole=True),),
                    "function_call": (say.own("_calls", at.id("id"), at.text("content")),),
                    "tool_output": _RESULT,
                    "tool_response": _RESULT,
                },
                _NOT_SAID,
            ),
        ),
        "conversation.chat.requires_action": (say.opened("id"), *_ACTION),
        "conversation.chat.completed": (
            say.stop_unless_open(),
            say.usage("usage"),
            say.own("_answered", all_of=True),
            say.own("_over", "completed"),
        ),
        "conversation.chat.failed": (
            say.own("_lost"),
            say.own(report.failure, code=at.value("last_error.code"), message=at.value("last_error.msg")),
        ),
        "error": (
            say.own("_lost"),
            say.own(report.failure, code=at.value("code"), message=at.value("msg")),
        ),
    }
    BODIES: ClassVar[say.Rows] = {"required_action": (say.opened("id"), *_ACTION)}
    QUIET = frozenset({"conversation.audio.delta"})

    _waiting: list[tuple[Union[str, None], Union[str, None], str]]
    _spoken: set[Union[str, None]]

    def _clear(self) -> None:
        self._waiting = []  # calls of messages that have no result: their ids, names and texts
        self._spoken = set()  # ids of answers of which pieces have come

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one event; the last one has a word as its data."""
        return [] if frame.event == "done" else super().translate(frame)

    def close(self) -> list[deltas.Delta]:
        """Report the calls that wait for what shows who executes them: the stream broke before that."""
        return self._lost()

    def _lost(self) -> list[deltas.Delta]:
        waiting, self._waiting = self._waiting, []
        return [
            delta
            for id_, name, text in waiting
            for delta in report.whole_call(id_, id_, name, text, "server")[:-1]
        ]

    def _kind(self, view: Any, frame: Frame, /) -> str:
        """Return the name of an event; its type is only that of a message."""
        return "ping" if view.type == "ping" else frame.event

    def takes_silently(self, frame: Frame) -> bool:
        """Return whether a call waits for what shows who executes it."""
        return bool(self._waiting) and '"function_call"' in frame.data

    def _said(self, id_: str | None, text: object, *, whole: bool = False) -> list[deltas.Delta]:
        """Report a piece of an answer, or all of one of which no pieces came."""
        known = id_ in self._spoken
        self._spoken.add(id_)
        return [] if whole and known else report.text(text)

    def _calls(self, id_: str | None, content: str | None) -> list[deltas.Delta]:
        """Keep the call of a message, whose content is JSON."""
        call = decode.decode(_CALL, content or "")
        name = call.name if call is not None and isinstance(call.name, str) else None
        if call is None or name is None:
            seen = deltas.CallSeen(0, id_, None, id_, None, "server")
            detail = "the message of a call cannot be read"
            return [seen, deltas.CallRefused(0, id_, None, "unparseable", detail, content or "")]
        self._waiting.append((id_, name, decode.wire_text(call.arguments)))
        return []

    def _answered(self, *, all_of: bool = False) -> list[deltas.Delta]:
        """Report the first call that waits, or all, as the agent's."""
        known, self._waiting = self._waiting[: None if all_of else 1], self._waiting[1:]
        if all_of:
            self._waiting = []
        return [
            delta for id_, name, text in known for delta in report.whole_call(id_, id_, name, text, "server")
        ]

    def _asked(self, id_: str | None, name: str | None, text: str) -> list[deltas.Delta]:
        """Report a call of the client's."""
        return report.whole_call(id_, id_, name, text)

    def _over(self, reason: str) -> list[deltas.Delta]:
        """Report the end of the chat; calls that wait are those that it required."""
        self._waiting = []
        return [*report.finish(reason), *self._end()]
