"""Encode events as a strict stream of OpenAI Responses: every item is added, sent in pieces and whole, and done.

Text and reasoning, the *speech* of a stream, are items with one part each. Source: OpenAI API reference, "Responses:
streaming events".
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Final

import msgspec

from wholecall.calls.output import events
from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall
from wholecall.repairing.encoders import base
from wholecall.repairing.encoders.counts import counts_of
from wholecall.types import Kind

_INCOMPLETE: Final = {"length": "max_output_tokens", "content_filter": "content_filter"}
# By kind: the item's type, the beginning of its id, the field of its text, and the events of that text.
_SHAPES: Final = {
    "function": ("function_call", "fc_", "arguments", "response.function_call_arguments"),
    "custom": ("custom_tool_call", "ctc_", "input", "response.custom_tool_call_input"),
}
# Required members of items of provider-defined tools, in addition to their arguments.
_MEMBERS: Final[dict[str, dict[str, Any]]] = {
    "computer": {"pending_safety_checks": []},
    "tool_search": {"execution": "client"},
}

_RESPONSE: Final[dict[str, Any]] = {
    "id": "resp_0",
    "object": "response",
    "created_at": 0,
    "model": "",
    "error": None,
    "incomplete_details": None,
    "instructions": None,
    "metadata": {},
    "parallel_tool_calls": True,
    "tool_choice": "auto",
    "tools": [],
    "temperature": None,
    "top_p": None,
}


class SpeechKind(msgspec.Struct, frozen=True, kw_only=True):
    """One of the two kinds of speech.

    Attributes:
        type: of the item.
        parts: the item's field that holds its parts.
        part: a part, without its text.
        event, part_event: the names of the events of its text and of its part, without the verb.
        labels: further members of the item.
        place: the place of its part in the item.
        more: further members of the events of the text.
    """

    type: str
    parts: str
    part: dict[str, Any]
    event: str
    part_event: str
    place: dict[str, int]
    labels: dict[str, Any] = {}
    more: dict[str, Any] = {}


MESSAGE: Final = SpeechKind(
    type="message",
    parts="content",
    part={"type": "output_text", "annotations": [], "logprobs": []},
    event="response.output_text",
    part_event="response.content_part",
    place={"content_index": 0},
    labels={"role": "assistant"},
    more={"logprobs": []},
)
REASONING: Final = SpeechKind(
    type="reasoning",
    parts="summary",
    part={"type": "summary_text"},
    event="response.reasoning_summary_text",
    part_event="response.reasoning_summary_part",
    place={"summary_index": 0},
)


class Speech:
    """An open item: its place, and its text so far."""

    def __init__(self, kind: SpeechKind, index: int) -> None:
        self.kind = kind
        self.index = index
        self.texts: list[str] = []
        self._id = f"{kind.type}_{index}"

    @property
    def text(self) -> str:
        """All of the text so far."""
        return "".join(self.texts)

    @property
    def place(self) -> dict[str, Any]:
        """The place of the part."""
        return {"item_id": self._id, "output_index": self.index, **self.kind.place}

    def item(self, status: str, text: str | None = None) -> dict[str, Any]:
        """Return the item, with the text if that is given."""
        kind = self.kind
        parts = [] if text is None else [{**kind.part, "text": text}]
        return {"type": kind.type, "id": self._id, "status": status, kind.parts: parts, **kind.labels}


class ResponsesEncoder(base.Encoder):
    """The encoder of choice 0 of one turn.

    The fields of a call that are to be sent back (`extra`) are written if the turn is of this dialect.

    Args:
        created: the time of the response, in seconds since 1970.

    Attributes:
        next_index: the number of the next output item.
        next_number: the next `sequence_number`.
        output: the finished items.
    """

    def __init__(self, created: int = 0) -> None:
        self.next_index = 0
        self.next_number = 0
        self._created = created
        self._response = dict(_RESPONSE)
        self.output: list[dict[str, Any]] = []
        self._speech: Speech | None = None
        self._n_calls = 0
        self._is_ours = True  # other members of calls are of this dialect

    def close(self) -> bytes:
        """Return nothing: `response.completed` is the end."""
        return b""

    # Calls.

    def call(self, call: base.Executable) -> bytes:
        """Return the item of a whole call."""
        if isinstance(call, BuiltinToolCall):
            return self._builtin(call)
        kind: Kind = "custom" if isinstance(call, CustomToolCall) else "function"
        item, text = self.item(call), base.argument_text(call)
        opened, data = self._begin(item, kind)
        return data + (self.more(opened, text) if text else b"") + self.end(opened, call)

    def begin(
        self,
        choice: int,  # noqa: ARG002 - there is one
        id: str,
        name: str,
        text: str = "",
        kind: Kind = "function",
    ) -> tuple[base.OpenCall, bytes]:
        """Return a call with the next item's number, and the event that adds the item."""
        type_, prefix, _, _ = _SHAPES[kind]
        call, data = self._begin({"type": type_, "id": prefix + id, "call_id": id, "name": name}, kind)
        return call, data + (self.more(call, text) if text else b"")

    def _begin(self, item: Mapping[str, Any], kind: Kind) -> tuple[base.OpenCall, bytes]:
        data = self._end_speech()
        call = base.OpenCall(0, self.next_index, kind, item["call_id"], item["name"], item["id"])
        return call, data + self._add({**item, "status": "in_progress", _SHAPES[kind][2]: ""})

    def more(self, call: base.OpenCall, text: str) -> bytes:
        """Return further text of a call."""
        event = _SHAPES[call.kind][3]
        return self._sent(f"{event}.delta", item_id=call.item_id, output_index=call.index, delta=text)

    def end(self, call: base.OpenCall, whole: base.Executable) -> bytes:
        """Return the whole text of a call, and its finished item."""
        _, _, field, event = _SHAPES[call.kind]
        item = {**self.item(whole), "id": call.item_id}
        named = {"name": item["name"]} if call.kind == "function" else {}
        place = {"item_id": call.item_id, "output_index": call.index}
        return self._sent(f"{event}.done", **place, **named, **{field: item[field]}) + self._done(
            call.index, item
        )

    def item(self, call: base.Executable) -> dict[str, Any]:
        """Return the finished item of a call."""
        extra = dict(call.extra or {}) if self._is_ours and "from_text" not in call.flags else {}
        item_id = extra.pop("item_id", None)
        if any(item.get("id") == item_id for item in self.output):
            item_id = None  # clients go by it
        if isinstance(call, BuiltinToolCall):
            labels = {"type": f"{call.name}_call", "id": item_id or call.id, "call_id": call.id}
            return {**labels, **_MEMBERS.get(call.name, {}), "status": "completed", **extra, **call.arguments}
        type_, prefix, field, _ = _SHAPES["custom" if isinstance(call, CustomToolCall) else "function"]
        labels = {"type": type_, "id": item_id or prefix + call.id, "call_id": call.id, "name": call.name}
        if call.namespace is not None:
            labels["namespace"] = call.namespace
        return {**labels, "status": "completed", field: base.argument_text(call), **extra}

    def _builtin(self, call: BuiltinToolCall) -> bytes:
        data, item, index = self._end_speech(), self.item(call), self.next_index
        return data + self._add({**item, "status": "in_progress"}) + self._done(index, item)

    def error(self, message: str, code: str = "stream_error") -> bytes:
        """Return the frames of an error: the failed response, for agents, and the frame that clients raise for."""
        error = {"code": "server_error", "message": message}
        response = {**self._response_object("failed"), "error": error}
        return self._sent("response.failed", response=response) + self.raised(message, code)

    def raised(self, message: str, code: str) -> bytes:
        """Return the frame for which clients raise: some expect its members at the top, some in `error`."""
        error = {"code": code, "message": message, "param": None}
        return self._sent("error", **error, error={"type": "server_error", **error})

    def ping(self) -> bytes:
        """Return the frame without content; it repeats the last number, and is not counted."""
        number = max(self.next_number - 1, 0)
        return base.server_sent({"type": "keepalive", "sequence_number": number}, "keepalive")

    # The response.

    def set_response(self, response: Mapping[str, Any]) -> None:
        """Let the finished response have these members, in addition to its status and its output."""
        self._response = {**_RESPONSE, **response}

    def _started(self, event: events.TurnStarted) -> bytes:
        self._is_ours = event.dialect == "responses"
        named = {"id": event.id or _RESPONSE["id"], "model": event.model or "", "created_at": self._created}
        self._response = {**_RESPONSE, **named}
        return self._sent("response.created", response=self._response_object("in_progress"))

    def _response_object(self, status: str) -> dict[str, Any]:
        return {**self._response, "status": status, "output": self.output}

    def _finished(self, event: events.TurnFinished) -> bytes:
        if self._is_broken_off(event, self._n_calls):
            return b""
        data = self._end_speech()
        reason = None if self._n_calls else _INCOMPLETE.get(event.reason)
        status = "completed" if reason is None else "incomplete"
        response = self._response_object(status)
        if reason is not None:
            response["incomplete_details"] = {"reason": reason}
        response["usage"] = counts_of(event.usage).as_responses()
        return data + self._sent(f"response.{status}", response=response)

    # Speech.

    def _say(self, kind: SpeechKind, text: str) -> bytes:
        data = b""
        speech = self._speech
        if speech is None or speech.kind is not kind:
            data = self._end_speech()
            speech = self._speech = Speech(kind, self.next_index)
            data += self._add(speech.item("in_progress")) + self._part(speech, "added", "")
        speech.texts.append(text)
        return data + self._sent(f"{kind.event}.delta", **speech.place, **kind.more, delta=text)

    def _end_speech(self) -> bytes:
        speech, self._speech = self._speech, None
        if speech is None:
            return b""
        data = self._sent(f"{speech.kind.event}.done", **speech.place, **speech.kind.more, text=speech.text)
        data += self._part(speech, "done", speech.text)
        return data + self._done(speech.index, speech.item("completed", speech.text))

    def _part(self, speech: Speech, verb: str, text: str) -> bytes:
        kind = speech.kind
        return self._sent(f"{kind.part_event}.{verb}", **speech.place, part={**kind.part, "text": text})

    # Items and events.

    def _add(self, item: Mapping[str, Any]) -> bytes:
        index = self.next_index
        self.next_index += 1
        return self._sent("response.output_item.added", output_index=index, item=item)

    def _done(self, index: int, item: dict[str, Any]) -> bytes:
        self._n_calls += item["type"] not in {MESSAGE.type, REASONING.type}
        self.output.append(item)
        return self._sent("response.output_item.done", output_index=index, item=item)

    def _sent(self, type_: str, **members: Any) -> bytes:
        number = self.next_number
        self.next_number += 1
        return base.server_sent({"type": type_, "sequence_number": number, **members}, type_)

    _events: ClassVar = {
        events.TurnStarted: _started,
        events.TextDelta: lambda self, event: self._say(MESSAGE, event.text),
        events.ReasoningDelta: lambda self, event: self._say(REASONING, event.text),
        **dict.fromkeys(events.EXECUTABLE, lambda self, event: self.call(event)),
        events.TurnFinished: _finished,
        events.StreamFault: lambda self, event: self._fault(event),
    }
