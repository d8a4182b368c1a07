"""xAI's own API (gRPC `GetCompletionChunk`, `GetCompletion`), its messages as JSON lines.

    {"chunk": {"id", "model", "outputs": [{"index": 0, "delta": DELTA, "finish_reason"?}], "usage": {…}}}

    DELTA is  {"role": "ROLE_ASSISTANT", "content"?, "reasoning_content"?, "encrypted_content"?, "tool_calls"?}
              {"role": "ROLE_TOOL", "content"?, "tool_calls": [{…, "status"}]}

The chunk may also stand at the top level, and members with a default value are left out. The index counts the
rounds of one answer, it is no choice: after the provider has executed tools, the model goes on in the next
round. Each round has a reason; `REASON_TOOL_CALLS` of a round whose calls are all the provider's is not the
answer's, for that goes on. A call `{id, type, function{name, arguments: TEXT}}` is
whole in its message and ended by it; one without arguments waits for the reason, because it may be cut. Calls of
`TOOL_CALL_TYPE_CLIENT_SIDE_TOOL`, or without a type, are the client's, all others the provider's. What the role
of tools says is a result: its text is no answer, and its calls are told once more (quirk 98).

No mark ends the stream. A whole body has `message` in place of `delta`. Source: `xai/api/v1/chat.proto` and
`sample.proto` of the xAI SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec

from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import is_blank, is_noise, provider_error, wire_text
from wholecall.dialects.labels import choice_label, id_label, name_label, text_label
from wholecall.dialects.openai.chat_views import FunctionView
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind, TurnReason

__all__ = ["XaiGrpcTranslator"]

_OURS = frozenset({None, "", "TOOL_CALL_TYPE_INVALID", "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL"})
_TOOL = "ROLE_TOOL"
_REASON = "REASON_"
_NO_REASON = "REASON_INVALID"
_CUT: dict[str, TurnReason] = dict.fromkeys(
    ("REASON_MAX_LEN", "REASON_MAX_CONTEXT", "REASON_TIME_LIMIT"), "length"
)


class _Call(msgspec.Struct, gc=False):
    id: Any = None
    type: Any = None
    function: FunctionView | None = None


class _Said(msgspec.Struct, gc=False):
    """A `delta`, or a `message`."""

    role: Any = None
    content: Any = None
    reasoning_content: Any = None
    encrypted_content: Any = None
    tool_calls: list[_Call] | None = None


class _Output(msgspec.Struct, gc=False):
    index: Any = None
    delta: _Said | None = None
    message: _Said | None = None
    finish_reason: Any = None


class _Chunk(msgspec.Struct, gc=False):
    id: Any = None
    model: Any = None
    outputs: list[_Output] | None = None
    usage: Any = None
    error: Any = None


class _Line(_Chunk, gc=False):
    chunk: _Chunk | None = None
    type: Any = None


_NOTHING = _Said()
_NO_FUNCTION = FunctionView()


class XaiGrpcTranslator(ViewTranslator):
    """Lines of one stream to deltas; calls are told apart by all that they say, for they have no index."""

    decoder = msgspec.json.Decoder(_Line)

    _key: str | None
    _open: bool
    _slots: dict[Union[tuple[str, str | None, str], int], int]
    _rounds: dict[int, bool]

    def __init__(self) -> None:
        self._key = None
        self._open = False
        self._slots = {}  # of the calls so far, by all that they said
        self._rounds = {}  # those with calls, and whether any is the client's

    def _end(self) -> list[Delta]:
        if not self._open:
            return []
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _take(self, line: _Line, frame: Frame) -> list[Delta]:
        chunk: _Chunk = line if line.chunk is None else line.chunk
        if error := line.error or chunk.error:
            return [provider_error(error)]
        if chunk.outputs is None and chunk.usage is None:
            quiet = is_noise(frame) or line.type == "ping" or line.chunk is not None
            return [] if quiet or not self._open else [Noted(0, "unknown_events")]
        deltas = self._opened(chunk) if chunk.outputs else []
        for output in chunk.outputs or ():
            deltas += self._output(choice_label(output.index), output)
        if isinstance(chunk.usage, dict) and chunk.usage:
            deltas.append(UsageSeen(chunk.usage))
        whole = any(output.message is not None for output in chunk.outputs or ())
        return deltas + self._end() if whole else deltas

    def _opened(self, chunk: _Chunk) -> list[Delta]:
        key = id_label(chunk.id)
        if self._open and (key is None or self._key in (None, key)):
            return []
        self._open, self._key = True, key
        self._slots.clear()
        self._rounds.clear()
        return [TurnOpened(self._key, self._key, name_label(chunk.model), restart=True)]

    def _output(self, nth: int, output: _Output) -> list[Delta]:
        deltas = self._said(nth, output.delta or output.message or _NOTHING)
        finish = _finish(output.finish_reason)
        goes_on = finish is not None and finish.reason == "tool_calls" and self._rounds.get(nth) is False
        return deltas if finish is None or goes_on else [*deltas, finish]

    def _said(self, nth: int, said: _Said) -> list[Delta]:
        deltas: list[Delta] = []
        if said.role == _TOOL:
            for call in said.tool_calls or ():
                deltas += self._again(call)
            return deltas
        thought, sealed = text_label(said.reasoning_content), text_label(said.encrypted_content)
        if thought or sealed:
            deltas.append(ReasoningFragment(0, thought or "", nth, data=sealed))
        if text := text_label(said.content):
            deltas.append(TextFragment(0, text))
        for call in said.tool_calls or ():
            deltas += self._call(nth, call)
        return deltas

    def _call(self, nth: int, call: _Call) -> list[Delta]:
        id_, name, text, kind = _parts(call)
        self._rounds[nth] = kind == "function" or self._rounds.get(nth, False)
        # The same call told again keeps its slot; without an id nothing tells it from a second one.
        told = (id_, name, text) if id_ is not None else len(self._slots)
        slot = self._slots.setdefault(told, len(self._slots))
        deltas: list[Delta] = [CallSeen(0, slot, None, id_, name, kind)]
        if text:
            deltas.append(CallWhole(0, slot, None, id_, name, text, ITEM_DONE, kind))
        return [*deltas, CallClosed(0, slot, None, final=not is_blank(text))]

    def _again(self, call: _Call) -> list[Delta]:
        """A result restates its call; without an id it says nothing of which."""
        id_, name, text, kind = _parts(call)
        return [] if id_ is None else [CallWhole(0, None, None, id_, name, text, HYDRATION, kind)]


def _parts(call: _Call) -> tuple[str | None, str | None, str, Kind]:
    function = call.function or _NO_FUNCTION
    kind: Kind = "function" if not isinstance(call.type, str) or call.type in _OURS else "server"
    return id_label(call.id), name_label(function.name), wire_text(function.arguments), kind


def _finish(raw: object) -> Finish | None:
    if not isinstance(raw, str) or raw == _NO_REASON:
        return None
    known = turn_reason(raw.removeprefix(_REASON))
    return None if known is None else Finish(0, _CUT.get(raw, known[0]), raw)
