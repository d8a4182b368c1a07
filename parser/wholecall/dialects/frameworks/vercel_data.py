"""The data stream protocol of the Vercel AI SDK, versions 3 and 4 (`toDataStreamResponse`): `CODE:JSON` lines.

    f:{"messageId":"m1"}                                          a step begins
    0:"text"  g:"reasoning"  j:{"signature"}  i:{"data"}          and what seals the reasoning
    b:{"toolCallId":"c1","toolName":"f"}                          a call begins
    c:{"toolCallId":"c1","argsTextDelta":"{}"}                    a piece of its text
    9:{"toolCallId":"c1","toolName":"f","args":{}}                the whole call, which ends it
    e:{"finishReason","usage","isContinued"}                      a step ends
    d:{"finishReason","usage"}                                    the message ends
    3:"error"

The code is the event's name; values that are no objects are text. A call's id is its slot. `9` may come without
deltas before it. What a step says at its end, the end of the message says again. Version 3 also sent OpenAI's
own calls whole (`7`, `1`). Tool results, data, annotations, sources and files are skipped.
A whole message is `{id, role, content, toolInvocations}`, or has these inside its parts.

Source: AI SDK documentation of version 4, "Stream Protocols", and the SDK's `formatDataStreamPart`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.deltas import (
    CallCancelled,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import (
    NO_TEXT,
    UNREADABLE,
    is_done,
    is_noise,
    plain,
    provider_error,
    read,
    undecodable,
    wire_text,
)
from wholecall.dialects.frameworks.vercel_calls import Announced, Calls
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.openai.chat_views import FunctionView, ToolCallView, argument_text
from wholecall.dialects.reasons import NOT_WHOLE, turn_reason
from wholecall.dialects.translator import Translator
from wholecall.framing.frame import Frame

__all__ = ["VercelDataTranslator"]

_TEXTS = frozenset({"0", "3", "g"})  # their values are strings
_QUIET = frozenset("2568ehk")


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


_DECODER = msgspec.json.Decoder(_Value)


class VercelDataTranslator(Translator):
    """Lines of one stream to deltas."""

    DERIVED = frozenset({"_values"})
    _open: bool
    _calls: Calls

    def __init__(self) -> None:
        self._open = False
        self._calls = Calls()
        self._values: dict[str, Callable[[_Value], list[Delta]]] = {
            "c": self._piece,
            "b": self._call_start,
            "9": self._call,
            "a": self._result,
            "7": self._openai_calls,
            "1": self._openai_calls,
            "4": self._assistant,
            "f": self._step,
            "j": self._seal,
            "i": self._seal,
            "d": self._finish,
        }

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one line."""
        if frame.event in _TEXTS:
            return self._text(frame)
        if frame.event in _QUIET:
            return []
        try:
            return self._take(_DECODER.decode(frame.data), frame)
        except UNREADABLE:
            return self._slowly(frame)

    def _slowly(self, frame: Frame) -> list[Delta]:
        if is_done(frame.data):  # proxies add it, and it says nothing here
            return []
        values, _, deltas = read(_DECODER, frame)
        return deltas + [delta for value in values for delta in self._take(value, frame)]

    def _take(self, value: _Value, frame: Frame) -> list[Delta]:
        known = self._values.get(frame.event)
        if known is not None:
            return known(value)
        if value.error:
            return [provider_error(value.error)]
        if value.tool_invocations is not None or value.parts is not None:
            return self._body(value)
        return [] if is_noise(frame) else [Noted(0, "unknown_events")]

    # Messages.

    def _begun(self, id_: str | None) -> list[Delta]:
        if self._open:
            return []
        self._open, self._calls = True, Calls()
        return [TurnOpened(None, id_, restart=True)]

    def _step(self, value: _Value) -> list[Delta]:
        return self._calls.next_step() + self._begun(id_label(value.message_id))

    def _finish(self, value: _Value) -> list[Delta]:
        known = turn_reason(value.finish_reason)
        counts = value.usage.items() if isinstance(value.usage, dict) else ()
        usage = {member: count for member, count in counts if count is not None}
        deltas: list[Delta] = [UsageSeen(usage)] if usage else []
        if known is None or known[0] not in NOT_WHOLE:
            deltas += self._calls.no_repeats()
        deltas += self._calls.untold()
        if known is not None:
            deltas.append(Finish(0, *known, drops=known[0] == "error"))
        return deltas + self._end()

    def _end(self) -> list[Delta]:
        self._open = False
        return [TurnEnded()]

    def _body(self, message: _Value) -> list[Delta]:
        self._open = False
        deltas = self._begun(id_label(message.id))
        parts = message.parts or [_Part("text", message.content)]
        told = [part.tool_invocation for part in parts if part.tool_invocation is not None]
        for part in parts:
            deltas += _spoken(part)
        for call in told or message.tool_invocations or ():  # version 4 sends both, one the copy of the other
            deltas += self._invocation(call)
        return deltas + self._end()

    # Text and calls.

    def _text(self, frame: Frame) -> list[Delta]:
        value = plain(frame.data)
        if frame.event == "3":
            return [provider_error(frame.data if value is None else value)]
        text = text_label(value)
        if text is None:
            return [] if value == "" else [undecodable(frame.data)]
        return [ReasoningFragment(0, text) if frame.event == "g" else TextFragment(0, text)]

    def _seal(self, value: _Value) -> list[Delta]:
        return [ReasoningFragment(0, "", None, None, text_label(value.signature), text_label(value.data))]

    def _call_start(self, value: _Value) -> list[Delta]:
        return self._calls.begun(_announced(value))

    def _piece(self, value: _Value) -> list[Delta]:
        return self._calls.piece(id_label(value.tool_call_id), value.args_text_delta)

    def _call(self, value: _Invocation) -> list[Delta]:
        call = _announced(value)
        return self._calls.whole(call, wire_text(value.args)) + self._calls.closed(call.id)

    def _result(self, value: _Value) -> list[Delta]:
        """A tool's result: the server executed the call."""
        id_ = id_label(value.tool_call_id)
        self._calls.guard(id_)
        return [] if id_ is None else [CallCancelled(id_, answered=True)]

    def _whole(self, call: Announced, text: str) -> list[Delta]:
        return self._calls.whole(call, text, listed=True) + self._calls.closed(call.id)

    def _openai_calls(self, value: _Value) -> list[Delta]:
        deltas: list[Delta] = []
        for call in value.tool_calls or ():
            name = name_label((call.function or call).name)
            deltas += self._whole(Announced(id_label(call.id), name), argument_text(call.function, call)[0])
        if value.function_call is not None:
            name = name_label(value.function_call.name)
            deltas += self._whole(Announced(None, name), argument_text(value.function_call)[0])
        return deltas

    def _assistant(self, value: _Value) -> list[Delta]:
        """Version 3's relay of an assistant's message: a list of parts, each with its text in an object."""
        parts = value.content if isinstance(value.content, list) else []
        texts = [part.get("text") for part in parts if isinstance(part, dict)]
        said = [text_label(text.get("value")) for text in texts if isinstance(text, dict)]
        return [TextFragment(0, text) for text in said if text]

    def _invocation(self, call: _Invocation) -> list[Delta]:
        if call.state == "partial-call":
            text = wire_text(call.args)
            return self._calls.refused(_announced(call), text, "truncated", "the arguments were still coming")
        return self._whole(_announced(call), wire_text(call.args))


def _announced(call: _Invocation) -> Announced:
    ran = call.state == "result"  # nothing is left to execute
    return Announced(id_label(call.tool_call_id), name_label(call.tool_name), "server" if ran else "function")


def _spoken(part: _Part) -> list[Delta]:
    thought, text = text_label(part.reasoning), text_label(part.text)
    deltas: list[Delta] = [ReasoningFragment(0, thought)] if thought else []
    return [*deltas, TextFragment(0, text)] if text else deltas
