"""Render abstract turns as Amazon Bedrock sends them. Pure Python; knows nothing of wholecall.

Written from AWS's documentation of the event stream encoding and of the Bedrock runtime API. Binary messages
(`message`, `event`, `exception`, `error`), events of ConverseStream (`converse_events`, pairs of a member and
its payload), and events of any dialect in the chunks of InvokeModelWithResponseStream (`chunks`).
"""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Iterable

from tests.support import encode, encode_cohere
from tests.support.encode import JSON, Call, Pieces, Turn, compact, whole

Event = tuple[str, JSON]

_PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"


# The binary framing


def header(name: str, value: str | bytes, kind: int = 7) -> bytes:
    """Return one header: a string with its length, or with another type the bytes of the value as they are."""
    data = struct.pack(">H", len(value.encode())) + value.encode() if isinstance(value, str) else value
    return bytes([len(name)]) + name.encode() + bytes([kind]) + data


def message(headers: bytes, payload: bytes) -> bytes:
    """Return one message of an event stream."""
    lengths = struct.pack(">II", 16 + len(headers) + len(payload), len(headers))
    head = lengths + struct.pack(">I", zlib.crc32(lengths))
    body = head + headers + payload
    return body + struct.pack(">I", zlib.crc32(body))


def event(name: str, payload: JSON | bytes) -> bytes:
    """Return the message of one event."""
    return _told(
        {":event-type": name, ":content-type": "application/json", ":message-type": "event"}, payload
    )


def parts(data: bytes, size: int) -> bytes:
    """Return a stream in the parts of SageMaker's InvokeEndpointWithResponseStream, each of so many bytes."""
    headers = {
        ":event-type": "PayloadPart",
        ":content-type": "application/octet-stream",
        ":message-type": "event",
    }
    return b"".join(_told(headers, data[at : at + size]) for at in range(0, len(data), size))


def exception(kind: str, payload: JSON | bytes) -> bytes:
    """Return the message of one exception that the service's model knows."""
    return _told(
        {":exception-type": kind, ":content-type": "application/json", ":message-type": "exception"}, payload
    )


def error(code: str, text: str) -> bytes:
    """Return the message of one error that the service's model does not know; it has no payload."""
    return _told({":error-code": code, ":error-message": text, ":message-type": "error"}, b"")


def _told(headers: dict[str, str], payload: JSON | bytes) -> bytes:
    data = payload if isinstance(payload, bytes) else compact(payload).encode()
    return message(b"".join(header(name, value) for name, value in headers.items()), data)


# ConverseStream


def converse_call(index: int, call: Call, pieces: Pieces = whole, **more: object) -> list[Event]:
    """Return the events of one tool call."""
    start = {"toolUse": {"toolUseId": call.id, "name": call.name} | more}
    return [
        ("contentBlockStart", {"contentBlockIndex": index, "start": start}),
        *(_delta(index, {"toolUse": {"input": piece}}) for piece in pieces(call.arguments)),
        ("contentBlockStop", {"contentBlockIndex": index}),
    ]


def converse_text(index: int, text: str, pieces: Pieces = whole) -> list[Event]:
    """Return the events of one block of text, which has no start."""
    return [
        *(_delta(index, {"text": piece}) for piece in pieces(text)),
        ("contentBlockStop", {"contentBlockIndex": index}),
    ]


def converse_reasoning(index: int, text: str, signature: str, pieces: Pieces = whole) -> list[Event]:
    """Return the events of one block of reasoning."""
    return [
        *(_delta(index, {"reasoningContent": {"text": piece}}) for piece in pieces(text)),
        _delta(index, {"reasoningContent": {"signature": signature}}),
        ("contentBlockStop", {"contentBlockIndex": index}),
    ]


def converse_stop(reason: str, output: int = 40) -> list[Event]:
    """Return the last two events: the stop reason of the message, and its cost."""
    usage = {"inputTokens": 310, "outputTokens": output, "totalTokens": 310 + output}
    return [
        ("messageStop", {"stopReason": reason}),
        ("metadata", {"usage": usage, "metrics": {"latencyMs": 871}}),
    ]


def converse_events(turn: Turn, pieces: Pieces = whole) -> list[Event]:
    """Return the events of a turn."""
    events: list[Event] = [("messageStart", {"role": "assistant"})]
    blocks = 0
    if turn.reasoning:
        events += converse_reasoning(blocks, turn.reasoning, "c2lnbmVk", pieces)
        blocks += 1
    if turn.text:
        events += converse_text(blocks, turn.text, pieces)
        blocks += 1
    for index, call in enumerate(turn.calls, blocks):
        events += converse_call(index, call, pieces)
    return events + converse_stop(_reason(turn), turn.tokens)


def converse_stream(events: Iterable[Event]) -> bytes:
    """Return events as a binary stream; each payload is padded, as Bedrock pads them."""
    return b"".join(
        event(name, payload | {"p": _PADDING[: 4 + number * 7 % 50]})
        for number, (name, payload) in enumerate(events)
    )


def render_converse(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a binary ConverseStream."""
    return converse_stream(converse_events(turn, pieces))


def _delta(index: int, delta: JSON) -> Event:
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": delta}


def _reason(turn: Turn) -> str:
    if turn.stopped is not None:
        return "max_tokens"
    return "tool_use" if turn.calls else "end_turn"


# CodeWhisperer


def codewhisperer_events(turn: Turn, pieces: Pieces = whole) -> list[Event]:
    """Return the events of an answer of CodeWhisperer."""
    events: list[Event] = [("messageMetadataEvent", {"conversationId": "cv-1", "utteranceId": turn.id})]
    if turn.reasoning:
        events += [("reasoningContentEvent", {"text": piece}) for piece in pieces(turn.reasoning)]
        events.append(("reasoningContentEvent", {"signature": "c2lnbmVk"}))
    if turn.text:
        content = [{"content": piece, "modelId": turn.model} for piece in pieces(turn.text)]
        events += [("assistantResponseEvent", payload) for payload in content]
    for call in turn.calls:
        labels = {"toolUseId": call.id, "name": call.name}
        inputs = [{"input": piece} for piece in pieces(call.arguments)]
        events += [("toolUseEvent", labels | more) for more in ({}, *inputs, {"stop": True})]
    usage = {"uncachedInputTokens": 310, "outputTokens": turn.tokens, "totalTokens": 310 + turn.tokens}
    metadata = {"tokenUsage": usage, "stopReason": _reason(turn).upper()}
    metering = {"unit": "credit", "unitPlural": "credits", "usage": 0.02}
    return [
        *events,
        ("metadataEvent", metadata),
        ("contextUsageEvent", {"contextUsagePercentage": 1.5}),
        ("meteringEvent", metering),
    ]


def render_codewhisperer(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as CodeWhisperer streams it."""
    return b"".join(event(name, payload) for name, payload in codewhisperer_events(turn, pieces))


# InvokeModelWithResponseStream


def chunks(payloads: Iterable[JSON | bytes]) -> bytes:
    """Return events of a model's own dialect, each in a chunk of a binary stream."""
    found = b""
    for number, payload in enumerate(payloads):
        data = payload if isinstance(payload, bytes) else compact(payload).encode()
        coded = base64.b64encode(data).decode()
        found += event("chunk", {"bytes": coded, "p": _PADDING[: 4 + number * 11 % 50]})
    return found


def render_invoke_anthropic(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Anthropic's models on Bedrock stream it."""
    return chunks(measured(encode.anthropic_payloads(turn, pieces), turn.tokens))


def render_invoke_nova(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Amazon's models stream it: events of ConverseStream in chunks."""
    return chunks(measured(nova_payloads(turn, pieces), turn.tokens))


def render_invoke_chat(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as models with their own chat completions stream it on Bedrock."""
    return chunks(measured(encode.chat_payloads(turn, pieces), turn.tokens))


def render_invoke_cohere_v1(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Cohere's models stream it on Bedrock, in version 1 of its chat."""
    return chunks(measured(encode_cohere.v1_payloads(turn, pieces), turn.tokens))


def render_invoke_cohere_v2(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as Cohere's models stream it on Bedrock, in version 2 of its chat."""
    return chunks(measured(encode_cohere.v2_payloads(turn, pieces), turn.tokens))


def nova_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn, each as the member of its name."""
    return [{name: payload} for name, payload in converse_events(turn, pieces)]


def measured(payloads: list[JSON], tokens: int = 40) -> list[JSON]:
    """Add Bedrock's measurements to the last event."""
    metrics = {"inputTokenCount": 310, "outputTokenCount": tokens, "invocationLatency": 902}
    return [*payloads[:-1], payloads[-1] | {"amazon-bedrock-invocationMetrics": metrics}]
