"""Encode events as a strict stream of Gemini: every frame is one response with one part.

A call is one part, whole: clients know no other form. Source: Gemini API reference, "GenerateContentResponse".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wholecall.calls.output.call_events import ToolCall
from wholecall.calls.output.events import ReasoningDelta, StreamFault, TextDelta, TurnFinished, TurnStarted
from wholecall.repairing.encoders.base import Encoder, Executable, OpenCall, server_sent, tokens_of
from wholecall.types import Kind

_REASONS: Final = {"length": "MAX_TOKENS", "content_filter": "SAFETY"}
_BESIDE: Final = ("thoughtSignature", "partMetadata")


def call_part(call: ToolCall[Any], *, with_minted: bool) -> dict[str, Any]:
    """Return the part that holds a call, with the members next to it on a wire of this dialect.

    `with_minted` is whether minted ids are written: some endpoints refuse ids that they did not give.
    """
    label = {} if "id_generated" in call.flags and not with_minted else {"id": call.id}
    beside = {name: value for name, value in (call.extra or {}).items() if name in _BESIDE}
    return {"functionCall": {**label, "name": call.name, "args": call.arguments}, **beside}


def error_of(message: str, code: str) -> dict[str, Any]:  # noqa: ARG001 - it has no place in this dialect
    """Return the response that reports an error, in the form of Google's APIs."""
    return {"error": {"code": 500, "message": message, "status": "INTERNAL"}}


class GeminiEncoder(Encoder):
    """The encoder of one turn with all its candidates.

    Free-text calls and calls of provider-defined tools have no form in this dialect and are left out.

    Args:
        with_minted: whether ids are written that were minted because the wire had none.
    """

    _has_choices = True

    def __init__(self, *, with_minted: bool = True) -> None:
        self._with_minted = with_minted
        self._head: dict[str, Any] = {}
        self._n_calls: dict[int, int] = {}  # by choice

    def close(self) -> bytes:
        """Return nothing: the stream has no end mark."""
        return b""

    def set_head(self, head: Mapping[str, Any]) -> None:
        """Let further responses have these members next to their candidates."""
        self._head = dict(head)

    def call(self, call: Executable) -> bytes:
        """Return a whole call as one part."""
        if not isinstance(call, ToolCall):
            return b""
        return self.end(self._open(call.choice, call.id, call.name), call)

    def begin(
        self, choice: int, id: str, name: str, text: str = "", kind: Kind = "function"
    ) -> tuple[OpenCall, bytes]:
        """Return a call, of which nothing is written before its end: no client reads one in pieces."""
        del text
        return self._open(choice, id, name, kind), b""

    def _open(self, choice: int, id: str, name: str, kind: Kind = "function") -> OpenCall:
        call = OpenCall(choice, self._n_calls.get(choice, 0), kind, id, name)
        self._n_calls[choice] = call.index + 1
        return call

    def more(self, call: OpenCall, text: str) -> bytes:  # noqa: ARG002
        """Return nothing, as for `begin`."""
        return b""

    def end(self, call: OpenCall, whole: Executable) -> bytes:
        """Return the whole call."""
        assert isinstance(whole, ToolCall)
        return self.parts(call.choice, [call_part(whole, with_minted=self._with_minted)])

    def parts(self, choice: int, parts: list[dict[str, Any]]) -> bytes:
        """Return a response with these parts of one candidate."""
        return self._response({"content": {"role": "model", "parts": parts}, "index": choice})

    def finish(self, choice: int, reason: str, usage: Mapping[str, Any] | None = None) -> bytes:
        """Return the response that ends a candidate."""
        candidate = {
            "content": {"role": "model", "parts": [{"text": ""}]},
            "finishReason": reason,
            "index": choice,
        }
        return self._response(candidate, usage)

    def error(self, message: str, code: str = "stream_error") -> bytes:
        """Return the response that reports an error; clients raise for it."""
        return server_sent(error_of(message, code))

    def _response(self, candidate: Mapping[str, Any], usage: Mapping[str, Any] | None = None) -> bytes:
        counts = {} if usage is None else {"usageMetadata": usage}
        return server_sent({"candidates": [candidate], **counts, **self._head})

    def _started(self, event: TurnStarted) -> bytes:
        named = {"modelVersion": event.model, "responseId": event.id}
        self._head = {member: value for member, value in named.items() if value is not None}
        return b""

    def _finished(self, event: TurnFinished) -> bytes:
        if self._is_broken_off(event, self._n_calls.get(event.choice, 0)):
            return b""
        asked, answered = tokens_of(event.usage)
        counts = {
            "promptTokenCount": asked,
            "candidatesTokenCount": answered,
            "totalTokenCount": asked + answered,
        }
        reason = "STOP" if event.choice in self._n_calls else _REASONS.get(event.reason, "STOP")
        return self.finish(event.choice, reason, None if event.usage is None else counts)

    _events: ClassVar = {
        TurnStarted: _started,
        TextDelta: lambda self, event: self.parts(event.choice, [{"text": event.text}]),
        ReasoningDelta: lambda self, event: self.parts(event.choice, [{"text": event.text, "thought": True}]),
        ToolCall: lambda self, event: self.call(event),
        TurnFinished: _finished,
        StreamFault: lambda self, event: self._fault(event),
    }
