"""Render abstract turns as Gemini's sessions and interactions and xAI's own API send them. Knows nothing of wholecall.

Written from the Live API reference ("Messages from the server"), the Gemini API reference ("Interactions",
"Streaming interactions") and the protocol files of the xAI SDK.
"""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import ABSENT, JSON, Call, Pieces, Turn, done, json_lines, members, sse, whole

AUDIO = "+P/7/wQACQAMAAoABgAAAPr/9v/1//f/+/8="


def setup(session: str = "9b1d2c70-live") -> JSON:
    """Return the first message of a session."""
    return {"setupComplete": {"sessionId": session}}


def content(**members: Any) -> JSON:
    """Return a message with something of the turn."""
    return {"serverContent": members}


def part(*parts: JSON) -> JSON:
    """Return a message with parts of the model's turn."""
    return content(modelTurn={"role": "model", "parts": list(parts)})


def audio(text: str | None = None) -> JSON:
    """Return a message with a piece of speech, perhaps with its transcription."""
    message = part({"inlineData": {"mimeType": "audio/pcm;rate=24000", "data": AUDIO}})
    if text is not None:
        message["serverContent"]["outputTranscription"] = {"text": text}
    return message


def function_call(call: Call) -> JSON:
    """Return a whole call; its arguments must be valid JSON."""
    return {"name": call.name, "args": json.loads(call.arguments), "id": call.id}


def tool_call(*calls: JSON | Call) -> JSON:
    """Return a message with calls."""
    found = [function_call(call) if isinstance(call, Call) else call for call in calls]
    return {"toolCall": {"functionCalls": found}}


def usage(prompt: int, response: int) -> JSON:
    """Return the counts of a turn."""
    return {
        "promptTokenCount": prompt,
        "responseTokenCount": response,
        "totalTokenCount": prompt + response,
        "promptTokensDetails": [{"modality": "TEXT", "tokenCount": prompt}],
    }


def turn_complete(tokens: int = 24, **members: Any) -> JSON:
    """Return the last message of a turn."""
    return content(turnComplete=True, **members) | {"usageMetadata": usage(180, tokens)}


def live_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the messages of a session of one turn: thoughts, calls in one message, speech, the end."""
    thoughts = [part({"text": piece, "thought": True}) for piece in pieces(turn.reasoning)]
    calls = [tool_call(*turn.calls)] if turn.calls else []
    speech = [audio(piece) for piece in pieces(turn.text)]
    ends = [content(generationComplete=True), turn_complete(turn.tokens)]
    return [setup(), *thoughts, *calls, *speech, *ends]


def render_live(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a session of one turn, a message a line."""
    return json_lines(live_payloads(turn, pieces))


# Interactions


def interaction(turn: Turn, status: str, **more: Any) -> JSON:
    """Return the interaction so far."""
    about = {"id": turn.id, "object": "interaction", "model": turn.model, "status": status}
    return about | {"created": "2026-06-02T08:00:11Z", "updated": "2026-06-02T08:00:11Z"} | more


def _counts(tokens: int) -> JSON:
    return {"total_input_tokens": 164, "total_output_tokens": tokens, "total_tokens": 164 + tokens}


def created(turn: Turn) -> list[JSON]:
    """Return the first two events."""
    status = {"interaction_id": turn.id, "status": "in_progress", "event_type": "interaction.status_update"}
    first = {"interaction": interaction(turn, "in_progress"), "event_type": "interaction.created"}
    return [first, status]


def completed(turn: Turn, status: str, **more: Any) -> JSON:
    """Return the last event."""
    said = interaction(turn, status, usage=_counts(turn.tokens), **more)
    return {"interaction": said, "event_type": "interaction.completed"}


def step_events(index: Any, step: JSON, *deltas: JSON, stopped: bool = True) -> list[JSON]:
    """Return the events of one step."""
    told = [{"index": index, "step": step, "event_type": "step.start"}]
    told += [{"index": index, "delta": delta, "event_type": "step.delta"} for delta in deltas]
    return [*told, {"index": index, "event_type": "step.stop"}] if stopped else told


def call_step(call: Call, *, arguments: Any = ABSENT, **more: Any) -> JSON:
    """Return a call as a step; its arguments are in the deltas unless they are given."""
    given = {} if arguments is ABSENT else arguments
    return {"type": "function_call", "id": call.id, "name": call.name, "arguments": given} | more


def argument_deltas(call: Call, pieces: Pieces = whole) -> list[JSON]:
    """Return the pieces of a call's text."""
    return [{"type": "arguments_delta", "arguments": piece} for piece in pieces(call.arguments)]


def thought_deltas(text: str, pieces: Pieces = whole, signature: Any = ABSENT) -> list[JSON]:
    """Return a thought in pieces, and its signature."""
    found: list[JSON] = [
        {"type": "thought_summary", "content": {"type": "text", "text": piece}} for piece in pieces(text)
    ]
    return (
        [*found, {"type": "thought_signature", "signature": signature}] if signature is not ABSENT else found
    )


def _status(turn: Turn) -> str:
    if turn.stopped is not None:
        return "incomplete" if turn.stopped == "length" else turn.stopped
    return "requires_action" if turn.calls else "completed"


def interaction_events(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn: a thought, text, a step for each call."""
    steps: list[tuple[JSON, list[JSON]]] = []
    if turn.reasoning:
        steps.append(({"type": "thought"}, thought_deltas(turn.reasoning, pieces)))
    if turn.text:
        said = [{"type": "text", "text": piece} for piece in pieces(turn.text)]
        steps.append(({"type": "model_output"}, said))
    steps += [(call_step(call), argument_deltas(call, pieces)) for call in turn.calls]
    told = [
        event for index, (step, deltas) in enumerate(steps) for event in step_events(index, step, *deltas)
    ]
    return [*created(turn), *told, completed(turn, _status(turn))]


def stream_interaction(events: list[JSON], *, ended: bool = True) -> bytes:
    """Return events as the server sends them, named by their type, with the mark at the end."""
    data = b"".join(sse(event, event["event_type"]) for event in events)
    return data + b"event: done\n" + done() if ended else data


def render_interaction(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream."""
    return stream_interaction(interaction_events(turn, pieces))


# Interactions before there were steps


def content_events(index: Any, *deltas: JSON, kind: Any = ABSENT, stopped: bool = True) -> list[JSON]:
    """Return the events of one content; without a kind it has no start."""
    told: list[JSON] = []
    if kind is not ABSENT:
        told.append({"event_type": "content.start", "index": index, "content": {"type": kind}})
    told += [{"event_type": "content.delta", "index": index, "delta": delta} for delta in deltas]
    return [*told, {"event_type": "content.stop", "index": index}] if stopped else told


def content_call(call: Call) -> JSON:
    """Return a call as the delta of a content, or as an output: always whole."""
    return {
        "type": "function_call",
        "id": call.id,
        "name": call.name,
        "arguments": json.loads(call.arguments or "{}"),
    }


def older(events: list[JSON]) -> list[JSON]:
    """Give the first and the last event of an interaction the names that they had before."""
    names = {
        "interaction.created": "interaction.start",
        "interaction.completed": "interaction.complete",
    }
    return [
        event | {"event_type": names.get(event["event_type"], event["event_type"]), "event_id": f"evt_{n}"}
        for n, event in enumerate(events)
    ]


def contents(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the events of a turn: a thought, text, a content for each call."""
    told: list[tuple[str, list[JSON]]] = []
    if turn.reasoning:
        told.append(("thought", thought_deltas(turn.reasoning, pieces)))
    if turn.text:
        told.append(("text", [{"type": "text", "text": piece} for piece in pieces(turn.text)]))
    told += [("function_call", [content_call(call)]) for call in turn.calls]
    events = [
        event
        for index, (kind, deltas) in enumerate(told)
        for event in content_events(index, *deltas, kind=kind)
    ]
    return older([*created(turn), *events, completed(turn, _status(turn))])


def render_contents(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as a stream."""
    return stream_interaction(contents(turn, pieces))


# xAI's own API


def xai_call(call: Call, *, type: Any = "TOOL_CALL_TYPE_CLIENT_SIDE_TOOL", **more: Any) -> JSON:  # noqa: A002 - its name on the wire
    """Return a call; a text that is empty is left out, as every default is."""
    function = {"name": call.name} | ({"arguments": call.arguments} if call.arguments else {})
    return members(id=call.id, type=type, **more) | {"function": function}


def xai_chunk(
    turn: Turn,
    nth: int = 0,
    *,
    reason: Any = ABSENT,
    role: str = "ROLE_ASSISTANT",
    tokens: int = 9,
    **delta: Any,
) -> JSON:
    """Return a chunk with one output; `nth` is its round, whose number 0 is left out."""
    output = members(delta=delta | {"role": role}, finish_reason=reason, index=nth or ABSENT)
    return {"chunk": _xai(turn, [output], tokens)}


def _xai(turn: Turn, outputs: list[JSON], tokens: int) -> JSON:
    counts = {"completion_tokens": tokens, "prompt_tokens": 240, "total_tokens": 240 + tokens}
    about = {
        "id": turn.id,
        "outputs": outputs,
        "created": "2026-03-11T19:04:09.109790895Z",
        "model": turn.model,
    }
    return about | {"system_fingerprint": "fp_5e1dc0ffee", "usage": counts}


def _xai_reason(turn: Turn) -> str:
    if turn.stopped is not None:
        return "REASON_MAX_LEN" if turn.stopped == "length" else turn.stopped
    return "REASON_TOOL_CALLS" if turn.calls else "REASON_STOP"


def xai_payloads(turn: Turn, pieces: Pieces = whole) -> list[JSON]:
    """Return the chunks of a turn: thoughts, text, the calls in one chunk, the reason."""
    chunks = [xai_chunk(turn, reasoning_content=piece) for piece in pieces(turn.reasoning)]
    chunks += [xai_chunk(turn, content=piece) for piece in pieces(turn.text)]
    chunks += [xai_chunk(turn, tool_calls=[xai_call(call) for call in turn.calls])] if turn.calls else []
    return [*chunks, xai_chunk(turn, reason=_xai_reason(turn), tokens=turn.tokens)]


def render_xai(turn: Turn, pieces: Pieces = whole) -> bytes:
    """Return a turn as JSON lines."""
    return json_lines(xai_payloads(turn, pieces))
