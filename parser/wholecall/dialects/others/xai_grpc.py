"""xAI's own API (gRPC `GetCompletionChunk`, `GetCompletion`), its messages as JSON lines.

    {"chunk": {"id", "model", "outputs": [{"index": 0, "delta": DELTA, "finish_reason"?}], "usage": {…}}}

    DELTA is  {"role": "ROLE_ASSISTANT", "content"?, "reasoning_content"?, "encrypted_content"?, "tool_calls"?}
              {"role": "ROLE_TOOL", "content"?, "tool_calls": [{…, "status"}]}

The chunk may also be at the top level, and members with a default value are left out. The index counts the rounds of
one answer, it is not a choice: after the provider has executed tools, the model continues in the next round. Each round
has a reason; `REASON_TOOL_CALLS` of a round whose calls are all the provider's is not the answer's, for the answer
continues. A call `{id, type, function{name, arguments: TEXT}}` is whole in its message and ended by it; one without
arguments waits for the reason, because it may be cut. Calls of `TOOL_CALL_TYPE_CLIENT_SIDE_TOOL`, or without a type,
are the client's, all others the provider's. The content under the role of tools is a result: its text is not an answer,
and its calls are sent again (quirk 98).

No mark ends the stream. A whole body has `message` in place of `delta`. Source: `xai/api/v1/chat.proto` and
`sample.proto` of the xAI SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import HYDRATION, CallWhole, Delta
from wholecall.dialects import report
from wholecall.dialects.decode import is_blank, wire_text
from wholecall.dialects.labels import choice_label, id_label, name_label, text_label
from wholecall.dialects.openai.chat_views import FunctionView
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import EventView, TurnTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind

__all__ = ["XaiGrpcTranslator"]

_OURS = frozenset({None, "TOOL_CALL_TYPE_INVALID", "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"})


class _Call(msgspec.Struct, gc=False):
    id: Any = None
    type: Any = None
    function: Union[FunctionView, None] = None


class _Said(msgspec.Struct, gc=False):
    """A `delta`, or a `message`."""

    role: Any = None
    content: Any = None
    reasoning_content: Any = None
    encrypted_content: Any = None
    tool_calls: Union[list[_Call], None] = None


class _Output(msgspec.Struct, gc=False):
    index: Any = None
    delta: Union[_Said, None] = None
    message: Union[_Said, None] = None
    finish_reason: Any = None


class _Line(EventView, gc=False):
    chunk: Union[_Line, None] = None
    id: Any = None
    model: Any = None
    outputs: Union[list[_Output], None] = None
    usage: Any = None


class XaiGrpcTranslator(TurnTranslator):
    """Lines of one stream to deltas; all members of a call together distinguish it, for it has no index."""

    decoder = msgspec.json.Decoder(_Line)

    _slots: dict[Union[tuple[str, str | None, str], int], int]
    _rounds: dict[int, bool]

    def _clear(self) -> None:
        self._slots = {}  # of the calls so far, by all their members
        self._rounds = {}  # rounds with calls, and whether any call is the client's

    def _other(self, line: _Line, frame: Frame, kind: str) -> list[Delta]:
        chunk = line.chunk or line
        if chunk.error:
            return self._fail(chunk.error)
        if chunk.outputs is chunk.usage is None:
            return super()._other(line, frame, kind) if self._open and line.chunk is None else []
        outputs = chunk.outputs or ()
        deltas = self._opened(id_label(chunk.id), chunk.model) if outputs else []
        for output in outputs:
            deltas += self._output(choice_label(output.index), output)
        whole = any(output.message is not None for output in outputs)
        return deltas + report.usage(chunk.usage) + (self._end() if whole else [])

    def _output(self, nth: int, output: _Output) -> list[Delta]:
        deltas = self._said(nth, output.delta or output.message or _Said())
        known = turn_reason(output.finish_reason)
        goes_on = known is not None and known[0] == "tool_calls" and self._rounds.get(nth) is False
        return deltas if goes_on else deltas + report.finish(output.finish_reason)

    def _said(self, nth: int, said: _Said) -> list[Delta]:
        deltas: list[Delta] = []
        if said.role != "ROLE_TOOL":
            deltas += report.thought(said.reasoning_content, nth, data=said.encrypted_content)
            deltas += report.text(said.content)
        for call in said.tool_calls or ():
            deltas += self._call(nth, call, again=said.role == "ROLE_TOOL")
        return deltas

    def _call(self, nth: int, call: _Call, *, again: bool) -> list[Delta]:
        function = call.function or FunctionView()
        id_, name, text = id_label(call.id), name_label(function.name), wire_text(function.arguments)
        kind: Kind = "function" if text_label(call.type) in _OURS else "server"
        if again:  # by its result; without an id its call is unknown
            return [] if id_ is None else [CallWhole(0, None, None, id_, name, text, HYDRATION, kind)]
        self._rounds[nth] = kind == "function" or self._rounds.get(nth, False)
        # A repeated call keeps its slot; without an id nothing distinguishes it from a second one.
        key = (id_, name, text) if id_ is not None else len(self._slots)
        slot = self._slots.setdefault(key, len(self._slots))
        return report.whole_call(slot, id_, name, text, kind, final=not is_blank(text))
