"""The data stream protocol of the Vercel AI SDK, versions 3 and 4 (`toDataStreamResponse`): `CODE:JSON` lines.

    f:{"messageId":"m1"}                                          a step begins
    0:"text"  g:"reasoning"  j:{"signature"}  i:{"data"}          and the seal of the reasoning
    b:{"toolCallId":"c1","toolName":"f"}                          a call begins
    c:{"toolCallId":"c1","argsTextDelta":"{}"}                    a piece of its text
    9:{"toolCallId":"c1","toolName":"f","args":{}}                the whole call, which ends it
    e:{"finishReason","usage","isContinued"}                      a step ends
    d:{"finishReason","usage"}                                    the message ends
    3:"error"

The code is the event's name; values that are not objects are text. A call's id is its slot. `9` may come without deltas
before it. The end of the message repeats the content of a step's end. Version 3 also sent OpenAI's own calls whole
(`7`, `1`). Tool results, data, annotations, sources and files are skipped. A whole message is
`{id, role, content, toolInvocations}`, or has these inside its parts.

Source: AI SDK documentation of version 4, "Stream Protocols", and the SDK's `formatDataStreamPart`.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall.deltas import Delta, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.decode import NO_TEXT, member, plain, undecodable, wire_text
from wholecall.dialects.frameworks.vercel_calls import Announced, Calls
from wholecall.dialects.labels import id_label, name_label
from wholecall.dialects.openai.chat_views import FunctionView, ToolCallView, argument_text
from wholecall.dialects.translator import Events, TurnTranslator
from wholecall.framing.frame import Frame

__all__ = ["VercelDataTranslator"]

_TEXTS = frozenset({"0", "3", "g"})  # their values are strings
_QUIET = frozenset("2568ehk")  # their values may be anything


class _Invocation(msgspec.Struct, gc=False, rename="camel"):
    state: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    args: msgspec.Raw = NO_TEXT


class _Part(msgspec.Struct, gc=False, rename="camel"):
    type: Any = None
    text: Any = None
    reasoning: Any = None
    tool_invocation: _Invocation | None = None


class _Value(_Invocation, gc=False, rename="camel"):
    args_text_delta: Any = None
    message_id: Any = None
    finish_reason: Any = None
    usage: Any = None
    signature: Any = None
    data: Any = None
    error: Any = None
    tool_calls: list[ToolCallView] | None = msgspec.field(name="tool_calls", default=None)
    function_call: FunctionView | None = msgspec.field(name="function_call", default=None)
    # Of a whole message.
    id: Any = None
    content: Any = None
    tool_invocations: list[_Invocation] | None = None
    parts: list[_Part] | None = None


class VercelDataTranslator(TurnTranslator):
    """Lines of one stream to deltas."""

    decoder = msgspec.json.Decoder(_Value)

    _calls: Calls

    def _clear(self) -> None:
        self._calls = Calls()

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one line."""
        if frame.event in _TEXTS:
            return _text(frame)
        return [] if frame.event in _QUIET else super().translate(frame)

    def _kind(self, _value: _Value, frame: Frame) -> str:
        return frame.event

    def _other(self, value: _Value, frame: Frame, kind: str) -> list[Delta]:
        if value.tool_invocations is None and value.parts is None:
            return super()._other(value, frame, kind)
        self._open = False
        deltas = self._begun(value.id)
        parts = value.parts or [_Part("text", value.content)]
        for part in parts:
            deltas += report.thought(part.reasoning) + report.text(part.text)
        calls = [part.tool_invocation for part in parts if part.tool_invocation is not None]
        for call in calls or value.tool_invocations or ():  # version 4 sends both, with the same calls
            deltas += self._invocation(call)
        return deltas + self._end()

    # Messages.

    def _begun(self, id: object) -> list[Delta]:
        """Begin a message, unless one is open: its id then only names a step."""
        if self._open:
            return []
        self._begin()
        return [TurnOpened(None, id_label(id), restart=True)]

    def _step(self, value: _Value) -> list[Delta]:
        return self._calls.next_step() + self._begun(value.message_id)

    def _finish(self, value: _Value) -> list[Delta]:
        counts = value.usage.items() if isinstance(value.usage, dict) else ()
        usage = report.usage({name: count for name, count in counts if count is not None})
        return usage + self._calls.ended(report.finish(value.finish_reason, drops_at="error")) + self._end()

    # Text and calls.

    def _assistant(self, value: _Value) -> list[Delta]:
        """Version 3's relay of an assistant's message: a list of parts, each with its text in an object."""
        parts = value.content if isinstance(value.content, list) else []
        return [delta for part in parts for delta in report.text(member(part, "text", "value"))]

    def _whole(self, call: Announced, text: str, *, listed: bool = True) -> list[Delta]:
        return self._calls.whole(call, text, listed=listed) + self._calls.closed(call.id)

    def _result(self, value: _Value) -> list[Delta]:
        self._calls.guard(id_label(value.tool_call_id))
        return report.answered(value.tool_call_id)

    def _openai_calls(self, value: _Value) -> list[Delta]:
        alone = [] if value.function_call is None else [ToolCallView(function=value.function_call)]
        deltas: list[Delta] = []
        for call in (value.tool_calls or []) + alone:
            name, (text, _) = name_label((call.function or call).name), argument_text(call.function, call)
            deltas += self._whole(Announced(id_label(call.id), name), text)
        return deltas

    def _invocation(self, call: _Invocation) -> list[Delta]:
        if call.state == "partial-call":
            text = wire_text(call.args)
            return self._calls.refused(_announced(call), text, "truncated", "the arguments were still coming")
        return self._whole(_announced(call), wire_text(call.args))

    EVENTS: ClassVar[Events] = {
        "c": lambda self, value: self._calls.piece(id_label(value.tool_call_id), value.args_text_delta),
        "b": lambda self, value: self._calls.begun(_announced(value)),
        "9": lambda self, value: self._whole(_announced(value), wire_text(value.args), listed=False),
        "a": _result,
        "7": _openai_calls,
        "1": _openai_calls,
        "4": _assistant,
        "f": _step,
        "j": lambda _self, value: report.thought(None, signature=value.signature),
        "i": lambda _self, value: report.thought(None, data=value.data),
        "d": _finish,
    }


def _text(frame: Frame) -> list[Delta]:
    value = plain(frame.data)
    if frame.event == "3":
        return report.error(frame.data if value is None else value)
    if type(value) is not str:
        return [undecodable(frame.data)]
    return report.thought(value) if frame.event == "g" else report.text(value)


def _announced(call: _Invocation) -> Announced:
    ran = call.state == "result"  # nothing is left to execute
    return Announced(id_label(call.tool_call_id), name_label(call.tool_name), "server" if ran else "function")
