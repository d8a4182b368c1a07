"""Render abstract turns as the bytes that providers send. Pure Python; knows nothing of wholecall.

Three levels, each usable alone:

* payloads: `chat_chunk`, `ResponsesEvents`, `anthropic_*` build one decoded payload;
* framing: `sse`, `done`, `json_lines`, `json_array` turn payloads into bytes;
* turns: a `Turn` of `Call`s becomes payloads (`chat_payloads` ...) or a stream (`render_chat` ...). `pieces`
  decides how argument text and visible text are cut: `every(n)`, `whole`, or any function from a text to the
  list of its pieces (their concatenation must be the text).

Nothing here validates: quirks are made by passing odd values.
"""

# ruff: noqa: A002 - ids and types are called so on the wire
from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

JSON = dict[str, Any]
Pieces = Callable[[str], Sequence[str]]

ABSENT: Final[Any] = object()
"""Marks a member to leave out, where None would be written as null."""

PADDING: Final = "k3Jx9QpLw7RtZv2N"


def members(**values: Any) -> JSON:
    """Return the given members without those that are `ABSENT`."""
    return {name: value for name, value in values.items() if value is not ABSENT}


def compact(value: Any, *, ascii_only: bool = False) -> str:
    """Return compact JSON text."""
    return json.dumps(value, ensure_ascii=ascii_only, separators=(",", ":"), allow_nan=False)


def every(size: int) -> Pieces:
    """Cut a text after each `size` characters."""

    def pieces(text: str) -> list[str]:
        return [text[start : start + size] for start in range(0, len(text), size)]

    return pieces


def whole(text: str) -> list[str]:
    """Leave a text in one piece; an empty text has none."""
    return [text] if text else []


@dataclass(frozen=True)
class Call:
    """One tool call: `arguments` is JSON text, or free text for a custom tool."""

    id: str
    name: str
    arguments: str = "{}"
    custom: bool = False


@dataclass(frozen=True)
class Turn:
    """One assistant message. `stopped` is None for a clean end, "length" for a stream that ran out of tokens."""

    calls: Sequence[Call] = ()
    text: str = ""
    reasoning: str = ""
    id: str = "turn-1"
    model: str = "model-1"
    created: int = 1_760_000_000
    stopped: str | None = None

    @property
    def tokens(self) -> int:
        """A plausible number of output tokens."""
        letters = len(self.text) + len(self.reasoning) + sum(len(call.arguments) + 24 for call in self.calls)
        return 1 + letters // 4


# Framing


def sse(
    payload: JSON | str,
    event: str | None = None,
    *,
    newline: bytes = b"\n",
    space: bool = True,
    ascii_only: bool = False,
) -> bytes:
    """Return one server-sent event; a text payload with line feeds becomes several data lines."""
    text = payload if isinstance(payload, str) else compact(payload, ascii_only=ascii_only)
    gap = " " if space else ""
    lines = [] if event is None else [f"event:{gap}{event}"]
    lines += [f"data:{gap}{line}" for line in text.split("\n")]
    return b"".join(line.encode() + newline for line in lines) + newline


def done(newline: bytes = b"\n") -> bytes:
    """Return the `[DONE]` marker of OpenAI-like streams."""
    return sse("[DONE]", newline=newline)


def typed_sse(payloads: Iterable[JSON], *, newline: bytes = b"\n") -> bytes:
    """Return events named by their payload's `type`, as Responses and Anthropic send them."""
    return b"".join(sse(payload, payload["type"], newline=newline) for payload in payloads)


def json_lines(payloads: Iterable[JSON]) -> bytes:
    """Return one compact JSON document per line."""
    return b"".join(compact(payload).encode() + b"\n" for payload in payloads)


def json_array(payloads: Iterable[JSON]) -> bytes:
    """Return one JSON array, an element per line, as servers that flush element by element send it."""
    return b"[" + b"\n,".join(compact(payload).encode() for payload in payloads) + b"]\n"


# Chat completions


def chat_chunk(
    delta: Any,
    *,
    finish: Any = None,
    index: Any = 0,
    usage: Any = ABSENT,
    id: str = "chatcmpl-turn1",
    model: str = "model-1",
    created: int = 1_760_000_000,
    choice: JSON | None = None,
    **extra: Any,
) -> JSON:
    """Return one chunk with one choice; `choice` adds members to it, `extra` to the chunk."""
    chosen = members(index=index, delta=delta, logprobs=None, finish_reason=finish) | (choice or {})
    return chat_envelope([chosen], id=id, model=model, created=created, usage=usage, **extra)


def chat_envelope(
    choices: Any,
    *,
    usage: Any = ABSENT,
    id: str = "chatcmpl-turn1",
    model: str = "model-1",
    created: int = 1_760_000_000,
    **extra: Any,
) -> JSON:
    """Return a chunk around a list of choices, which is empty in usage chunks."""
    head = {"id": id, "object": "chat.completion.chunk", "created": created, "model": model}
    return head | extra | members(choices=choices, usage=usage)


def chat_usage(prompt: int, completion: int) -> JSON:
    """Return the usage object of chat completions."""
    return {
        "prompt_tokens": prompt,
        "completion_tokens": completion,
        "total_tokens": prompt + completion,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "accepted_prediction_tokens": 0},
    }


def chat_entry(
    index: Any = ABSENT,
    *,
    id: Any = ABSENT,
    name: Any = ABSENT,
    arguments: Any = ABSENT,
    type: Any = ABSENT,
    **extra: Any,
) -> JSON:
    """Return one entry of `tool_calls`; a member that is not given is left out."""
    function = members(name=name, arguments=arguments)
    return members(index=index, id=id, type=type, function=function or ABSENT) | extra


def chat_call_deltas(index: Any, call: Call, pieces: Pieces = whole) -> list[JSON]:
    """Return the deltas of one call: its head with empty arguments, then one per piece."""
    if call.custom:
        head = chat_entry(index, id=call.id, type="custom", custom={"name": call.name, "input": ""})
        tail = [chat_entry(index, custom={"input": piece}) for piece in pieces(call.arguments)]
    else:
        head = chat_entry(index, id=call.id, type="function", name=call.name, arguments="")
        tail = [chat_entry(index, arguments=piece) for piece in pieces(call.arguments)]
    return [{"tool_calls": [entry]} for entry in (head, *tail)]


def chat_finish(turn: Turn) -> str:
    """Return the finish reason that a faithful server gives a turn."""
    return turn.stopped or ("tool_calls" if turn.calls else "stop")


def chat_payloads(turn: Turn, pieces: Pieces = whole, *, choice: int = 0) -> list[JSON]:
    """Return the chunks of a turn: role, reasoning, text, calls one after another, finish, usage."""
    deltas: list[JSON] = [{"role": "assistant", "content": None}]
    deltas += [{"reasoning_content": piece} for piece in pieces(turn.reasoning)]
    deltas += [{"content": piece} for piece in pieces(turn.text)]
    for position, call in enumerate(turn.calls):
        deltas += chat_call_deltas(position, call, pieces)
    about: JSON = {"id": f"chatcmpl-{turn.id}", "model": turn.model, "created": turn.created}
    chunks = [chat_chunk(delta, index=choice, **about) for delta in deltas]
    chunks.append(chat_chunk({}, finish=chat_finish(turn), index=choice, **about))
    chunks.append(chat_envelope([], usage=chat_usage(64, turn.tokens), **about))
    return chunks


def render_chat(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a chat-completions stream."""
    return b"".join(sse(chunk) for chunk in chat_payloads(turn, pieces)) + done()


# Responses


@dataclass
class ResponsesEvents:
    """Builds the events of one response and numbers them."""

    id: str = "resp_turn1"
    model: str = "model-1"
    created_at: int = 1_760_000_000
    sequence: int = field(default=0, init=False)

    def event(self, type: str, **fields: Any) -> JSON:
        """Return any event with the next sequence number."""
        numbered = {"type": type, "sequence_number": self.sequence} | members(**fields)
        self.sequence += 1
        return numbered

    def response(self, status: str, output: Sequence[JSON] = (), **changed: Any) -> JSON:
        """Return the response object that created, completed and the others carry."""
        return _responses_object(self.id, self.model, self.created_at, status, output) | changed

    def created(self) -> list[JSON]:
        """Return the two events that open a stream."""
        opened = self.response("in_progress")
        return [self.event(f"response.{name}", response=opened) for name in ("created", "in_progress")]

    def added(self, output_index: Any, item: JSON) -> JSON:
        """Return `output_item.added`."""
        return self.event("response.output_item.added", output_index=output_index, item=item)

    def item_done(self, output_index: Any, item: JSON) -> JSON:
        """Return `output_item.done`."""
        return self.event("response.output_item.done", output_index=output_index, item=item)

    def delta(
        self, kind: str, output_index: Any, item_id: Any, delta: str, *, obfuscation: bool = True
    ) -> JSON:
        """Return a delta event of `kind`, such as `function_call_arguments` or `custom_tool_call_input`."""
        fields = {"item_id": item_id, "output_index": output_index, "delta": delta}
        padding = PADDING[: max(1, 16 - len(delta))] if obfuscation else ABSENT
        return self.event(f"response.{kind}.delta", **fields, obfuscation=padding)

    def arguments_delta(self, output_index: Any, item_id: Any, delta: str) -> JSON:
        """Return `function_call_arguments.delta`."""
        return self.delta("function_call_arguments", output_index, item_id, delta)

    def arguments_done(self, output_index: Any, item_id: Any, arguments: Any) -> JSON:
        """Return `function_call_arguments.done`."""
        fields = {"item_id": item_id, "output_index": output_index, "arguments": arguments}
        return self.event("response.function_call_arguments.done", **fields)

    def call(self, output_index: int, call: Call, pieces: Pieces = whole, **item: Any) -> list[JSON]:
        """Return the whole life of a function or custom call."""
        make, kind, text = _RESPONSES_KINDS[call.custom]
        opened = make(call, status="in_progress", **item)
        item_id = opened["id"]
        where = {"item_id": item_id, "output_index": output_index}
        events = [self.added(output_index, opened | {text: ""})]
        events += [self.delta(kind, output_index, item_id, piece) for piece in pieces(call.arguments)]
        events.append(self.event(f"response.{kind}.done", **where, **{text: call.arguments}))
        return [*events, self.item_done(output_index, opened | {"status": "completed"})]

    def message(self, output_index: int, item_id: str, text: str, pieces: Pieces = whole) -> list[JSON]:
        """Return the whole life of a text message."""
        where = {"item_id": item_id, "output_index": output_index, "content_index": 0}
        item = message_item(item_id, text)
        part = item["content"][0]
        opened = item | {"status": "in_progress", "content": []}
        events = [self.added(output_index, opened)]
        events.append(self.event("response.content_part.added", **where, part=part | {"text": ""}))
        events += [
            self.event("response.output_text.delta", **where, delta=piece, logprobs=[])
            for piece in pieces(text)
        ]
        events.append(self.event("response.output_text.done", **where, text=text, logprobs=[]))
        events.append(self.event("response.content_part.done", **where, part=part))
        return [*events, self.item_done(output_index, item)]

    def completed(self, output: Sequence[JSON], usage: JSON | None = None) -> JSON:
        """Return `response.completed`."""
        response = self.response("completed", output, usage=usage or responses_usage(64, 24))
        return self.event("response.completed", response=response)

    def incomplete(self, output: Sequence[JSON], reason: str = "max_output_tokens") -> JSON:
        """Return `response.incomplete`."""
        response = self.response("incomplete", output, incomplete_details={"reason": reason})
        return self.event("response.incomplete", response=response | {"usage": responses_usage(64, 24)})

    def failed(self, code: str, message: str, output: Sequence[JSON] = ()) -> JSON:
        """Return `response.failed`."""
        response = self.response("failed", output, error={"code": code, "message": message})
        return self.event("response.failed", response=response)


def function_call_item(call: Call, **changed: Any) -> JSON:
    """Return a `function_call` item; its own id is derived from the call's."""
    item = {"id": f"fc_{call.id}", "type": "function_call", "status": "completed"}
    return item | {"arguments": call.arguments, "call_id": call.id, "name": call.name} | changed


def custom_call_item(call: Call, **changed: Any) -> JSON:
    """Return a `custom_tool_call` item."""
    item = {"id": f"ctc_{call.id}", "type": "custom_tool_call", "status": "completed"}
    return item | {"call_id": call.id, "input": call.arguments, "name": call.name} | changed


def message_item(item_id: str, text: str) -> JSON:
    """Return a finished `message` item."""
    part = {"type": "output_text", "annotations": [], "logprobs": [], "text": text}
    return {
        "id": item_id,
        "type": "message",
        "status": "completed",
        "content": [part],
        "role": "assistant",
    }


def reasoning_item(item_id: str, summary: str = "") -> JSON:
    """Return a `reasoning` item."""
    parts = [{"type": "summary_text", "text": summary}] if summary else []
    return {"id": item_id, "type": "reasoning", "summary": parts}


_RESPONSES_KINDS: Final = {
    False: (function_call_item, "function_call_arguments", "arguments"),
    True: (custom_call_item, "custom_tool_call_input", "input"),
}


def responses_usage(prompt: int, completion: int) -> JSON:
    """Return the usage object of Responses."""
    return {
        "input_tokens": prompt,
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": completion,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": prompt + completion,
    }


def _responses_object(id: str, model: str, created: int, status: str, output: Sequence[JSON]) -> JSON:
    return {
        "id": id,
        "object": "response",
        "created_at": created,
        "status": status,
        "background": False,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "max_output_tokens": None,
        "max_tool_calls": None,
        "model": model,
        "output": list(output),
        "parallel_tool_calls": True,
        "previous_response_id": None,
        "prompt_cache_key": None,
        "reasoning": {"effort": "low", "summary": None},
        "safety_identifier": None,
        "service_tier": "auto" if status == "in_progress" else "default",
        "store": True,
        "temperature": 1.0,
        "text": {"format": {"type": "text"}, "verbosity": "medium"},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": 1.0,
        "truncation": "disabled",
        "usage": None,
        "user": None,
        "metadata": {},
    }


def _responses_item(call: Call) -> JSON:
    return custom_call_item(call) if call.custom else function_call_item(call)


def _responses_output(turn: Turn) -> list[JSON]:
    output = [reasoning_item(f"rs_{turn.id}", turn.reasoning)] if turn.reasoning else []
    output += [message_item(f"msg_{turn.id}", turn.text)] if turn.text else []
    return output + [_responses_item(call) for call in turn.calls]


def responses_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn: created, each item's life in order, completed or incomplete."""
    stream = ResponsesEvents(f"resp_{turn.id}", turn.model, turn.created)
    events = stream.created()
    output = _responses_output(turn)
    calls = iter(turn.calls)
    for position, item in enumerate(output):
        if item["type"] == "message":
            events += stream.message(position, item["id"], turn.text, pieces)
        elif item["type"] == "reasoning":
            events += [stream.added(position, item | {"summary": []}), stream.item_done(position, item)]
        else:
            events += stream.call(position, next(calls), pieces)
    if turn.stopped is None:
        return [*events, stream.completed(output, responses_usage(64, turn.tokens))]
    return [*events, stream.incomplete(output)]


def render_responses(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a Responses stream."""
    return typed_sse(responses_payloads(turn, pieces))


# Anthropic Messages


def anthropic_start(
    id: str = "msg_turn1", model: str = "model-1", content: Sequence[JSON] = (), **changed: Any
) -> JSON:
    """Return `message_start`."""
    message = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": list(content),
        "stop_reason": None,
        "stop_sequence": None,
        "usage": anthropic_usage(2),
    }
    return {"type": "message_start", "message": message | changed}


def anthropic_usage(output: int) -> JSON:
    """Return the usage object of Messages."""
    return {
        "input_tokens": 412,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 0,
        "output_tokens": output,
        "service_tier": "standard",
    }


def anthropic_open(index: int, block: JSON) -> JSON:
    """Return `content_block_start`."""
    return {"type": "content_block_start", "index": index, "content_block": block}


def anthropic_delta(index: int, type: str, text: str) -> JSON:
    """Return `content_block_delta`; the member that holds the text follows from the delta's type."""
    delta = {"type": type, _ANTHROPIC_MEMBERS[type]: text}
    return {"type": "content_block_delta", "index": index, "delta": delta}


_ANTHROPIC_MEMBERS: Final = {
    "text_delta": "text",
    "input_json_delta": "partial_json",
    "thinking_delta": "thinking",
    "signature_delta": "signature",
}


def anthropic_close(index: int) -> JSON:
    """Return `content_block_stop`."""
    return {"type": "content_block_stop", "index": index}


def anthropic_stop(reason: str | None, output: int = 48) -> list[JSON]:
    """Return `message_delta` with the stop reason, and `message_stop`."""
    usage = {"output_tokens": output}
    delta = {"stop_reason": reason, "stop_sequence": None}
    return [{"type": "message_delta", "delta": delta, "usage": usage}, {"type": "message_stop"}]


def anthropic_ping() -> JSON:
    """Return a keep-alive."""
    return {"type": "ping"}


def tool_use(call: Call, **changed: Any) -> JSON:
    """Return a `tool_use` block as it starts: with an empty input."""
    return {"type": "tool_use", "id": call.id, "name": call.name, "input": {}} | changed


def anthropic_call(index: int, call: Call, pieces: Pieces = whole, **block: Any) -> list[JSON]:
    """Return the whole life of a call's block; the first delta is empty, as the provider sends it."""
    texts = ["", *pieces(call.arguments)]
    deltas = [anthropic_delta(index, "input_json_delta", text) for text in texts]
    return [anthropic_open(index, tool_use(call, **block)), *deltas, anthropic_close(index)]


def anthropic_text(index: int, text: str, pieces: Pieces = whole) -> list[JSON]:
    """Return the whole life of a text block."""
    deltas = [anthropic_delta(index, "text_delta", piece) for piece in pieces(text)]
    return [anthropic_open(index, {"type": "text", "text": ""}), *deltas, anthropic_close(index)]


def anthropic_thinking(index: int, text: str, signature: str, pieces: Pieces = whole) -> list[JSON]:
    """Return the whole life of a thinking block."""
    start = {"type": "thinking", "thinking": "", "signature": ""}
    deltas = [anthropic_delta(index, "thinking_delta", piece) for piece in pieces(text)]
    signed = anthropic_delta(index, "signature_delta", signature)
    return [anthropic_open(index, start), *deltas, signed, anthropic_close(index)]


def anthropic_reason(turn: Turn) -> str:
    """Return the stop reason that a faithful server gives a turn."""
    if turn.stopped == "length":
        return "max_tokens"
    return turn.stopped or ("tool_use" if turn.calls else "end_turn")


def anthropic_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn: thinking, text, one block per call, stop."""
    events = [anthropic_start(f"msg_{turn.id}", turn.model), anthropic_ping()]
    index = 0
    if turn.reasoning:
        events += anthropic_thinking(index, turn.reasoning, "c2lnbmF0dXJl", pieces)
        index += 1
    if turn.text:
        events += anthropic_text(index, turn.text, pieces)
        index += 1
    for offset, call in enumerate(turn.calls):
        events += anthropic_call(index + offset, call, pieces)
    return events + anthropic_stop(anthropic_reason(turn), turn.tokens)


def render_anthropic(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as an Anthropic stream."""
    return typed_sse(anthropic_payloads(turn, pieces))
