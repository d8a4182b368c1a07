"""Encode events as a strict stream of chat completions.

A call is one fragment: index, id, type, name, arguments. A whole call carries the role of its choice if no earlier
chunk did: the helpers of openai-node raise for a message without a role. For a call that is shown live it is unknown
whether the role comes later, and a repeated role would begin another answer. Source: OpenAI API reference, "Chat
streaming".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall
from wholecall.calls.output.events import ReasoningDelta, StreamFault, TextDelta, TurnFinished, TurnStarted
from wholecall.repairing.encoders import base
from wholecall.repairing.encoders.counts import counts_of
from wholecall.types import Kind, TurnReason

CHUNK: Final = "chat.completion.chunk"  # clients skip objects of other names
_HEAD: Final = {"id": "", "object": CHUNK, "created": 0, "model": ""}
_REASONS: Final[dict[TurnReason, str]] = {
    "length": "length",
    "content_filter": "content_filter",
    "pause": "stop",
}
CALL_TEXT: Final = {"function": "arguments", "custom": "input"}  # the member with a call's text, by kind


def error_of(message: str, code: str) -> dict[str, Any]:
    """Return the object that reports an error, in the form of OpenAI's APIs."""
    return {"error": {"message": message, "type": "server_error", "param": None, "code": code}}


def reason_of(reason: TurnReason, n_calls: int) -> str:
    """Return the reason for which a choice ended, in this wire's words; calls outrank it."""
    return "tool_calls" if n_calls else _REASONS.get(reason, "stop")


class ChatEncoder(base.Encoder):
    """The encoder of one turn with all its choices.

    Calls of provider-defined tools have no form in this dialect and are left out.

    Args:
        head: the members of every chunk next to its choices: id, model and so on.
        usage: whether the token counts are written, in a chunk without a choice; clients that did not ask for them
            expect none.
    """

    _has_choices = True

    def __init__(self, head: Mapping[str, Any] = _HEAD, *, usage: bool = True) -> None:
        self._head = dict(head)
        self._has_usage = usage
        self._heads: dict[int, dict[str, Any]] = {}  # of choices with a separate head (quirk 138)
        self._n_calls: dict[int, int] = {}  # by choice
        self._roles: set[int] = set()  # choices whose role was sent
        self._over = False

    def close(self) -> bytes:
        """Return the `[DONE]` of a turn that has ended."""
        return b"data: [DONE]\n\n" if self._over else b""

    def call(self, call: base.Executable) -> bytes:
        """Return a whole call as one fragment."""
        if isinstance(call, BuiltinToolCall):
            return b""
        kind: Kind = "custom" if isinstance(call, CustomToolCall) else "function"
        _, labels = self._open(call.choice, call.id, call.name, base.argument_text(call), kind)
        return self._delta(call.choice, {**self._role(call.choice), "tool_calls": [labels]})

    def begin(
        self, choice: int, id: str, name: str, text: str = "", kind: Kind = "function"
    ) -> tuple[base.OpenCall, bytes]:
        """Return a call with the next index of its choice, and its first fragment."""
        call, labels = self._open(choice, id, name, text, kind)
        return call, self._delta(choice, {"tool_calls": [labels]})

    def _open(
        self, choice: int, id: str, name: str, text: str, kind: Kind
    ) -> tuple[base.OpenCall, dict[str, Any]]:
        call = base.OpenCall(choice, self._n_calls.get(choice, 0), kind)
        self._n_calls[choice] = call.index + 1
        return call, {
            "index": call.index,
            "id": id,
            "type": kind,
            kind: {"name": name, CALL_TEXT[kind]: text},
        }

    def more(self, call: base.OpenCall, text: str) -> bytes:
        """Return a further fragment of a call."""
        fragment = {"index": call.index, call.kind: {CALL_TEXT[call.kind]: text}}
        return self._delta(call.choice, {"tool_calls": [fragment]})

    def end(self, call: base.OpenCall, whole: base.Executable) -> bytes:  # noqa: ARG002
        """Return the end of a call: nothing, in this dialect."""
        return b""

    def set_head(self, head: Mapping[str, Any], choice: int | None = None) -> None:
        """Let further chunks, of one choice or of all, have these members next to their choices."""
        members = {**head, "object": CHUNK}
        if choice is None:
            self._head = members
        else:
            self._heads[choice] = members

    def head_of(self, choice: int) -> Mapping[str, Any]:
        """Return the members next to the choices in a choice's chunks."""
        head: Mapping[str, Any] = self._heads.get(choice, self._head)
        return head

    def use_index(self, choice: int, index: int) -> None:
        """Note that a chunk used the index of a call: further calls of its choice have larger ones."""
        self._n_calls[choice] = max(self._n_calls.get(choice, 0), index + 1)

    def say(self, choice: int, text: str, *, reasoning: bool = False) -> bytes:
        """Return a chunk with text or reasoning."""
        return self._delta(choice, {"reasoning_content" if reasoning else "content": text})

    def tell_role(self, choice: int) -> None:
        """Note that a chunk sent the role of a choice."""
        self._roles.add(choice)

    def has_role(self, choice: int) -> bool:
        """Return whether a chunk sent the role of a choice."""
        return choice in self._roles

    def legacy_call(self, call: ToolCall[Any]) -> bytes:
        """Return a call in the older form, of which a choice has one."""
        named = {"name": call.name, "arguments": base.argument_text(call)}
        return self._delta(call.choice, {**self._role(call.choice), "function_call": named})

    def finish(self, choice: int, reason: str) -> bytes:
        """Return the chunk that ends a choice."""
        return self._chunk({"index": choice, "delta": {}, "finish_reason": reason})

    def error(self, message: str, code: str = "stream_error") -> bytes:
        """Return the chunk that reports an error; clients raise for it."""
        return base.server_sent(error_of(message, code))

    def ping(self) -> bytes:
        """Return a chunk without content."""
        return self._delta(0, {})

    def _role(self, choice: int) -> dict[str, str]:
        """Return the role of a choice, if it was not sent yet."""
        if choice in self._roles:
            return {}
        self._roles.add(choice)
        return {"role": "assistant"}

    def _delta(self, choice: int, delta: Mapping[str, Any]) -> bytes:
        return self._chunk({"index": choice, "delta": delta, "finish_reason": None})

    def _chunk(self, choice: Mapping[str, Any]) -> bytes:
        return base.server_sent({**self._heads.get(choice["index"], self._head), "choices": [choice]})

    def _started(self, event: TurnStarted) -> bytes:
        if event.choice == 0:
            self._head |= {"id": event.id or "", "model": event.model or ""}
        self._roles.add(event.choice)
        return self._delta(event.choice, {"role": "assistant"})

    def _finished(self, event: TurnFinished) -> bytes:
        n_calls = self._n_calls.get(event.choice, 0)
        if self._is_broken_off(event, n_calls):
            return b""
        self._over = True
        data = self.finish(event.choice, reason_of(event.reason, n_calls))
        if event.usage is not None and event.choice == 0 and self._has_usage:
            tokens = counts_of(event.usage).as_chat()
            data += base.server_sent({**self._head, "choices": [], "usage": tokens})
        return data

    _events: ClassVar = {
        TurnStarted: _started,
        TextDelta: lambda self, event: self.say(event.choice, event.text),
        ReasoningDelta: lambda self, event: self.say(event.choice, event.text, reasoning=True),
        ToolCall: lambda self, event: self.call(event),
        CustomToolCall: lambda self, event: self.call(event),
        TurnFinished: _finished,
        StreamFault: lambda self, event: self._fault(event),
    }
