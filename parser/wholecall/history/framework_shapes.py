"""Messages that belong to no provider: LangChain, AG-UI, the Vercel AI SDK, and OpenTelemetry's record of an output.

    LangChain      {type: "ai", content: TEXT | [{type: "thinking", thinking, signature} {type: "text", text}],
                    additional_kwargs?: {reasoning_content},
                    tool_calls: [{type: "tool_call", id, name, args: OBJECT}],
                    invalid_tool_calls: [{type: "invalid_tool_call", id, name, args: TEXT, error}]}
    AG-UI          {id, role: "reasoning", content, encryptedValue?}
                   {id, role: "assistant", content?, toolCalls: [
                       {id, type: "function", function: {name, arguments: TEXT}, encryptedValue?, metadata?}]}
    Vercel         {id, role: "assistant", parts: [
                       {type: "text", text} {type: "reasoning", text}
                       {type: "tool-NAME", toolCallId, state: "input-available", input: OBJECT}
                       {type: "dynamic-tool", toolName, toolCallId, state: "output-error", input, errorText}]}
    OpenTelemetry  {role: "assistant", finish_reason, parts: [
                       {type: "text", content} {type: "reasoning", content}
                       {type: "tool_call", id, name, arguments: OBJECT | TEXT}
                       {type: "server_tool_call", id, name, server_tool_call: {type, arguments: OBJECT}}]}

Calls in LangChain's `tool_calls` are executed, and a part with its input available may be. Therefore dropped calls have
separate places: `invalid_tool_calls`, where LangChain keeps its own, and failed parts. OpenTelemetry takes any JSON for
arguments; there the text of a dropped call remains a text. A record is never executed or answered; it contains the
reasoning of every provider and the calls that a provider executed.

Sources: LangChain reference, `AIMessage`; the schema of AG-UI 1.0; the AI SDK's `UIMessage` type; OpenTelemetry
semantic conventions for generative AI, `gen_ai.output.messages`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from wholecall.history.content import Call, Piece
from wholecall.history.values import dumped
from wholecall.output.events import ToolCallDropped
from wholecall.output.results import Answer
from wholecall.output.turns import ReasoningBlock, Turn

__all__ = ["ag_ui", "finish_reason", "langchain", "message_id", "otel", "vercel", "with_outputs"]

JSON = dict[str, Any]


def message_id(turn: Turn[Any]) -> JSON:
    """Return the required id of a message: the provider's, else one derived from the content of the turn."""
    id = turn.response_id
    if not id:
        groups = (turn.calls, turn.custom_calls, turn.builtin_calls, turn.dropped)
        said = dumped([turn.text, *(event.id for group in groups for event in group)])
        id = f"msg_{hashlib.sha256(said.encode()).hexdigest()[:16]}"
    return {"id": id}


# LangChain


def langchain(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the members of an `AIMessage`."""
    message: JSON = {"type": "ai", "content": _langchain_content(pieces)}
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock)]
    if unsigned := "".join(block.text for block in blocks if not _langchain_thought(block)):
        message["additional_kwargs"] = {"reasoning_content": unsigned}
    calls = [piece for piece in pieces if isinstance(piece, Call)]
    if whole := [_langchain_call(call) for call in calls if not isinstance(call.event, ToolCallDropped)]:
        message["tool_calls"] = whole
    invalid = [_langchain_drop(call, call.event) for call in calls if isinstance(call.event, ToolCallDropped)]
    return [message | ({"invalid_tool_calls": invalid} if invalid else {})]


def _langchain_content(pieces: Sequence[Piece]) -> str | list[JSON]:
    """Return the text, in blocks only if there is thinking that must keep its place."""
    blocks: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += _langchain_thought(piece)
        elif isinstance(piece, str) and piece.strip():
            blocks.append({"type": "text", "text": piece})
    plain = all(block["type"] == "text" for block in blocks)
    return "".join(block["text"] for block in blocks) if plain else blocks


def _langchain_thought(block: ReasoningBlock) -> list[JSON]:
    if block.data is not None:
        return [{"type": "redacted_thinking", "data": block.data}]
    if block.signature is None:
        return []
    return [{"type": "thinking", "thinking": block.text, "signature": block.signature}]


def _langchain_call(call: Call) -> JSON:
    return {"type": "tool_call", "id": call.id, "name": call.name, "args": call.arguments}


def _langchain_drop(call: Call, event: ToolCallDropped) -> JSON:
    args = call.arguments if isinstance(call.arguments, str) else dumped(call.arguments)
    head = {"type": "invalid_tool_call", "id": call.id, "name": call.name}
    return {**head, "args": args, "error": event.describe()}


# AG-UI


def ag_ui(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of AG-UI after those of its reasoning; its id comes from the turn."""
    blocks = [piece for piece in pieces if isinstance(piece, ReasoningBlock)]
    message: JSON = {"role": "assistant"}
    text = "".join(piece for piece in pieces if isinstance(piece, str))
    if text.strip():
        message["content"] = text
    if calls := [_ag_ui_call(piece) for piece in pieces if isinstance(piece, Call)]:
        message["toolCalls"] = calls
    return [*(_ag_ui_thought(block) for block in blocks if block.id is not None), message]


def _ag_ui_thought(block: ReasoningBlock) -> JSON:
    sealed = {} if block.data is None else {"encryptedValue": block.data}
    return {"id": block.id, "role": "reasoning", "content": block.text} | sealed


def _ag_ui_call(call: Call) -> JSON:
    kept = {key: call.extra[key] for key in ("encryptedValue", "metadata") if key in call.extra}
    function = {"name": call.name, "arguments": call.arguments}
    return {"id": call.id, "type": "function", "function": function} | kept


# Vercel AI SDK


def vercel(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the UI message; its id comes from the turn."""
    parts: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, Call):
            parts.append(_vercel_call(piece))
        elif isinstance(piece, str):
            parts.append({"type": "text", "text": piece})
        else:
            parts.append({"type": "reasoning", "text": piece.text})
    return [{"role": "assistant", "parts": [part for part in parts if _vercel_shows(part)]}]


def _vercel_shows(part: JSON) -> bool:
    return "text" not in part or bool(part["text"].strip())


def _vercel_call(call: Call) -> JSON:
    """Return the part of a call; a dropped call fits no tool type, therefore its part is dynamic."""
    event, extra = call.event, call.extra
    dropped = isinstance(event, ToolCallDropped)
    dynamic = dropped or extra.get("dynamic") is True
    part: JSON = {"type": "dynamic-tool", "toolName": call.name} if dynamic else {"type": f"tool-{call.name}"}
    part |= {"toolCallId": call.id, "state": "input-available", "input": call.arguments}
    if isinstance(event, ToolCallDropped):
        part |= {"state": "output-error", "errorText": event.describe()}
    kept = {name: extra[name] for name in ("title", "toolMetadata") if name in extra}
    metadata = extra.get("callProviderMetadata", extra.get("providerMetadata"))
    return part | kept | ({} if metadata is None else {"callProviderMetadata": metadata})


def with_outputs(messages: Sequence[JSON], answers: Sequence[Answer]) -> list[JSON]:
    """Return UI messages whose parts contain their tools' results: results are not separate messages there."""
    given = {answer.id: answer for answer in answers}
    return [
        {
            **message,
            "parts": [_with_output(part, given.get(part.get("toolCallId"))) for part in message["parts"]],
        }
        for message in messages
    ]


def _with_output(part: JSON, answer: Answer | None) -> JSON:
    if answer is None:
        return part
    if answer.failed:
        return {**part, "state": "output-error", "errorText": answer.text}
    return {**part, "state": "output-available", "output": answer.output}


# OpenTelemetry


def finish_reason(turn: Turn[Any]) -> JSON:
    """Return why the turn ended, nothing while it continues: older schemas require it, newer schemas allow it."""
    if turn.reason is None:
        return {}
    return {"finish_reason": "tool_call" if turn.reason == "tool_calls" else turn.reason}


def otel(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the output message; its finish reason comes from the turn."""
    parts: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, Call):
            parts.append(_otel_call(piece))
        else:
            kind, text = ("text", piece) if isinstance(piece, str) else ("reasoning", piece.text)
            parts += [{"type": kind, "content": text}] if text.strip() else []
    return [{"role": "assistant", "parts": parts}]


def _otel_call(call: Call) -> JSON:
    head = {"id": call.id, "name": call.name}
    if call.kind == "server":
        executed = {"type": call.name, "arguments": call.arguments}
        return {"type": "server_tool_call", **head, "server_tool_call": executed}
    return {"type": "tool_call", **head, "arguments": call.arguments}
