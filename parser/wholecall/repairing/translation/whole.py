"""Whole bodies: the answer to a request without `stream`, written once its turn is over.

Theory of operation. A whole body has the members that the published schema of its wire requires. That of Responses is
the last event of its stream, so the encoder writes it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, Final

from wholecall.calls.output.call_events import CustomToolCall, ToolCall
from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta, TurnFinished, TurnStarted
from wholecall.repairing.encoders import anthropic, base, chat
from wholecall.repairing.encoders.counts import counts_of
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.types import TurnReason

_private = True

_ERRORS: Final[dict[str, Callable[[str, str], dict[str, Any]]]] = {
    "anthropic": anthropic.error_of,
    "chat-completions": chat.error_of,
    "responses": chat.error_of,
}


class WholeWriter:
    """Collects the events of one turn and writes it as one body; its methods are those of encoders.

    Args:
        wire: the wire of the body.
        created: the time of the answer, in seconds since 1970.
    """

    def __init__(self, wire: str, created: int = 0) -> None:
        self._wire = wire
        self._created = created
        self._events: list[Event[Any]] = []
        self._is_over = False

    def encode(self, events: Iterable[Event[Any]]) -> bytes:
        """Take events of the first choice; nothing is written yet."""
        for event in events:
            if event.choice == 0:
                self._events.append(event)
                self._is_over = self._is_over or isinstance(event, TurnFinished)
        return b""

    def close(self) -> bytes:
        """Return the body; nothing for a turn that did not end."""
        if not self._is_over:
            return b""
        return base.json_bytes(_BODIES[self._wire](self._events, self._created))

    def error(self, message: str, code: str) -> bytes:
        """Return the body that reports an error."""
        return base.json_bytes(_ERRORS[self._wire](message, code))

    def ping(self) -> bytes:
        """Return nothing: a body has no sign of life."""
        return b""


class _Spoken:
    """The turn of some events, in the order of its parts."""

    def __init__(self, events: Iterable[Event[Any]]) -> None:
        self.id: str | None = None
        self.model: str | None = None
        self.calls: list[ToolCall[Any] | CustomToolCall] = []
        self.order: list[tuple[type, Any]] = []  # the kind of each part, and its texts or its call
        self.reason: TurnReason = "unknown"
        self.usage: dict[str, Any] | None = None
        for event in events:
            self._take(event)

    def _take(self, event: Event[Any]) -> None:
        if isinstance(event, TurnStarted):
            self.id, self.model = event.id, event.model
        elif isinstance(event, (TextDelta, ReasoningDelta)):
            if not self.order or self.order[-1][0] is not type(event):
                self.order.append((type(event), []))
            self.order[-1][1].append(event.text)
        elif isinstance(event, (ToolCall, CustomToolCall)):
            self.order.append((ToolCall, event))
            self.calls.append(event)
        elif isinstance(event, TurnFinished):
            self.reason, self.usage = event.reason, event.usage

    def said(self, kind: type) -> str:
        """Return all text, or all reasoning."""
        return "".join("".join(texts) for each, texts in self.order if each is kind)


def _message(events: list[Event[Any]], _created: int) -> dict[str, Any]:
    """Return a message of Anthropic's."""
    spoken = _Spoken(events)
    content: list[dict[str, Any]] = []
    for kind, value in spoken.order:
        if kind is ToolCall:
            content.append({"type": "tool_use", "id": value.id, "name": value.name, "input": value.arguments})
        elif kind is TextDelta:
            content.append({**anthropic.TEXT, "text": "".join(value)})
        else:
            content.append({**anthropic.THINKING, "thinking": "".join(value)})
    return {
        "id": spoken.id or "msg_0",
        "type": "message",
        "role": "assistant",
        "model": spoken.model or "",
        "content": content,
        "stop_reason": anthropic.reason_of(spoken.reason, len(spoken.calls)),
        "stop_sequence": None,
        "usage": counts_of(spoken.usage).as_anthropic(),
    }


def _completion(events: list[Event[Any]], created: int) -> dict[str, Any]:
    """Return a chat completion."""
    spoken = _Spoken(events)
    message: dict[str, Any] = {
        "role": "assistant",
        "content": spoken.said(TextDelta) or None,
        "refusal": None,
    }
    if thought := spoken.said(ReasoningDelta):
        message["reasoning_content"] = thought
    if spoken.calls:
        message["tool_calls"] = list(map(_call, spoken.calls))
    elif message["content"] is None:
        message["content"] = ""
    reason = chat.reason_of(spoken.reason, len(spoken.calls))
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": reason}
    body = {"id": spoken.id or "chatcmpl-0", "object": "chat.completion", "created": created}
    body |= {"model": spoken.model or "", "choices": [choice]}
    return body if spoken.usage is None else {**body, "usage": counts_of(spoken.usage).as_chat()}


def _call(call: ToolCall[Any] | CustomToolCall) -> dict[str, Any]:
    kind = call.kind
    text = base.argument_text(call)
    return {"id": call.id, "type": kind, kind: {"name": call.name, chat.CALL_TEXT[kind]: text}}


def _response(events: list[Event[Any]], created: int) -> dict[str, Any]:
    """Return a response."""
    encoder = ResponsesEncoder(created=created)
    said = encoder.encode(events)
    last = said.rstrip().rpartition(b"\ndata: ")[2]
    response: dict[str, Any] = json.loads(last)["response"]
    return response


_BODIES: Final[dict[str, Callable[[list[Event[Any]], int], dict[str, Any]]]] = {
    "anthropic": _message,
    "chat-completions": _completion,
    "responses": _response,
}
