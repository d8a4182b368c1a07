"""Assistant messages that are a list of blocks in order: Anthropic, Gemini, Amazon Bedrock Converse.

    Anthropic   {role: "assistant", content: [{type: "thinking", thinking, signature}
                                              {type: "redacted_thinking", data}
                                              {type: "text", text, citations?}
                                              {type: "tool_use", id, name, input: OBJECT}
                                              {type: "server_tool_use", id, name, input: OBJECT}
                                              {type: "web_search_tool_result", tool_use_id, …}, and others]}
    Gemini      {role: "model", parts: [{text, thought?, thoughtSignature?}
                                        {functionCall: {id?, name, args: OBJECT}, thoughtSignature?}
                                        {executableCode}, {codeExecutionResult}, and others]}
    Converse    {role: "assistant", content: [{reasoningContent: {reasoningText: {text, signature}}}
                                              {reasoningContent: {redactedContent}}
                                              {text}
                                              {toolUse: {toolUseId, name, input: OBJECT}}
                                              {toolUse: {…, type: "server_tool_use"}}, {toolResult}
                                              {citationsContent: {content: [{text}], citations}}, and others]}

Thinking without a signature is refused and therefore left out; so is blank text. `redactedContent` is the base64 text
of the wire; boto3 requires it decoded. A signature of Gemini is sent on its original part. Calls of Gemini have an id
only if the wire had one: Vertex refuses the member.

Sources: the API references of Anthropic, Google and AWS.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.history.content import Call, Piece
from wholecall.history.values import copied
from wholecall.output.turns import OtherBlock, ReasoningBlock

__all__ = ["anthropic", "converse", "gemini"]

JSON = dict[str, Any]


def anthropic(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of Anthropic."""
    blocks: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += _anthropic_thought(piece)
        elif isinstance(piece, OtherBlock):
            blocks += _anthropic_block(piece)
        elif isinstance(piece, Call):
            blocks.append(_tool_use(piece))
        elif piece.strip():
            blocks.append({"type": "text", "text": piece})
    return [{"role": "assistant", "content": blocks}]


def _anthropic_thought(block: ReasoningBlock) -> list[JSON]:
    if block.data is not None:
        return [{"type": "redacted_thinking", "data": block.data}]
    if block.signature is None:
        return []
    return [{"type": "thinking", "thinking": block.text, "signature": block.signature}]


def _anthropic_block(block: OtherBlock) -> list[JSON]:
    value: JSON = copied(block.value)
    if block.type != "text":
        return [value]
    return [{"type": "text", "text": block.text, **value}] if block.text.strip() else []


def _tool_use(call: Call) -> JSON:
    kind = "tool_use"
    if call.kind == "server":
        kind = "mcp_tool_use" if "server_name" in call.extra else "server_tool_use"
    use = {**call.extra, "type": kind, "id": call.id, "name": call.name, "input": call.arguments}
    return use | ({} if call.namespace is None else {"toolset_name": call.namespace})


def converse(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the message of Converse."""
    blocks: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            blocks += [{"reasoningContent": thought} for thought in _converse_thought(piece)]
        elif isinstance(piece, Call):
            use = {"toolUseId": piece.id, "name": piece.name, "input": piece.arguments}
            blocks.append({"toolUse": use | ({"type": "server_tool_use"} if piece.kind == "server" else {})})
        elif isinstance(piece, OtherBlock):
            blocks.append(_converse_block(piece))
        elif piece.strip():
            blocks.append({"text": piece})
    return [{"role": "assistant", "content": blocks}]


def _converse_block(block: OtherBlock) -> JSON:
    value: JSON = copied(block.value)
    cited = value.get("citationsContent")
    if isinstance(cited, dict) and "content" not in cited:  # its text arrived in pieces
        value["citationsContent"] = {"content": [{"text": block.text}], **cited}
    return value


def _converse_thought(block: ReasoningBlock) -> list[JSON]:
    if block.data is not None:
        return [{"redactedContent": block.data}]
    if block.signature is None:
        return []
    return [{"reasoningText": {"text": block.text, "signature": block.signature}}]


def gemini(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the content of Gemini."""
    parts: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            _add_thought(parts, piece)
        elif isinstance(piece, OtherBlock):
            parts.append(copied(piece.value))
        elif isinstance(piece, Call):
            labels = {} if piece.has_made_id else {"id": piece.id}
            call = {**labels, "name": piece.name, "args": piece.arguments}
            parts.append({**piece.extra, "functionCall": call})
        elif piece:
            parts.append({"text": piece})
    return [{"role": "model", "parts": [part for part in parts if _says_something(part)]}]


def _add_thought(parts: list[JSON], block: ReasoningBlock) -> None:
    signed = {} if block.signature is None else {"thoughtSignature": block.signature}
    if block.name is None:
        parts.append({"text": block.text, "thought": True} | signed)
    elif parts and parts[-1].keys() == {"text"}:  # the signature of visible text
        parts[-1] |= signed
    else:
        parts.append({"text": ""} | signed)


def _says_something(part: JSON) -> bool:
    return "text" not in part or bool(part["text"].strip()) or "thoughtSignature" in part
