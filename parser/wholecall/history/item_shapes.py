"""Histories that are a list of items: OpenAI Responses and Realtime, Mistral's conversations.

    Responses   {type: "reasoning", id, summary: [{type: "summary_text", text}], encrypted_content?}
                {type: "message", role: "assistant", content: [{type: "output_text", text}]}
                {type: "function_call", id?, call_id, name, namespace?, arguments: TEXT}
                {type: "custom_tool_call", id?, call_id, name, namespace?, input}
                {type: "shell_call", id?, call_id, status, action}, and so on for what OpenAI defines
                {type: "web_search_call", id, status, action}, and what else needs no result
    Mistral     {type: "message.output", role: "assistant", content}
                {type: "function.call", tool_call_id, name, arguments: TEXT}

The own id of an item (`id`) and its reasoning go back together or not at all: the API refuses a call that it knows by
its item without the reasoning before it, and reasoning without the item after it. Calls that OpenAI executed go back as
their original items. If a turn has no such items, the calls whose item is complete without a result go back: searches,
and requests for approval.

Sources: the API references of OpenAI and Mistral, and the types of their SDKs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.history.content import Call, Piece
from wholecall.history.values import copied
from wholecall.output.events import ServerToolCall
from wholecall.output.turns import OtherBlock, ReasoningBlock

__all__ = ["conversation", "goes_back", "responses"]

JSON = dict[str, Any]

_SEARCHES = frozenset({"web_search", "file_search"})
_HOSTED = _SEARCHES | {"code_interpreter", "image_generation", "program", "shell", "tool_search"}


def goes_back(call: ServerToolCall) -> bool:
    """Return whether the item of a call that OpenAI executed is complete without its result."""
    of_mcp = "server_label" in (call.extra or {})
    return "needs_approval" in call.flags if of_mcp else call.name in _SEARCHES


def responses(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the items of Responses."""
    items: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            items += _reasoning(piece)
        elif isinstance(piece, OtherBlock):
            items.append(copied(piece.value))
        elif isinstance(piece, Call):
            items.append(_ITEMS[piece.kind](piece))
        elif piece.strip():
            content = [{"type": "output_text", "text": piece}]
            items.append({"type": "message", "role": "assistant", "content": content})
    return items


def _reasoning(block: ReasoningBlock) -> list[JSON]:
    if block.id is None and block.data is None:
        return []
    item: JSON = {"type": "reasoning"} | ({} if block.id is None else {"id": block.id})
    item["summary"] = [{"type": "summary_text", "text": block.text}] if block.text else []
    return [item | ({} if block.data is None else {"encrypted_content": block.data})]


def _head(kind: str, call: Call) -> JSON:
    """Return the common members of items of all kinds: the type, both ids, and the fields to be sent back."""
    extra = dict(call.extra)
    own = extra.pop("item_id", None)
    return {"type": kind} | ({} if own is None else {"id": own}) | extra | {"call_id": call.id}


def _tool(call: Call) -> JSON:
    return {"name": call.name} | ({} if call.namespace is None else {"namespace": call.namespace})


def _function(call: Call) -> JSON:
    return _head("function_call", call) | _tool(call) | {"arguments": call.arguments}


def _custom(call: Call) -> JSON:
    return _head("custom_tool_call", call) | _tool(call) | {"input": call.arguments}


_EXECUTION = {"tool_search": {"execution": "client"}, "computer": {"pending_safety_checks": []}}


def _builtin(call: Call) -> JSON:
    item: JSON = copied(_EXECUTION.get(call.name, {}))
    item |= _head(f"{call.name}_call", call) | {"status": "completed"} | call.arguments
    return item


def _server(call: Call) -> JSON:
    event = call.event
    if isinstance(event, ServerToolCall) and "needs_approval" in event.flags:
        request = {"type": "mcp_approval_request", "id": call.id, "name": call.name}
        return call.extra | request | {"arguments": event.raw_arguments}
    if isinstance(event, ServerToolCall) and (call.name not in _HOSTED or "item_id" in call.extra):
        return _head("function_call", call) | _tool(call) | {"arguments": event.raw_arguments}
    item: JSON = {"type": f"{call.name}_call", "id": call.id, "status": "completed"}
    return {**item, **call.arguments}


_ITEMS = {"function": _function, "custom": _custom, "builtin": _builtin, "server": _server}


def conversation(pieces: Sequence[Piece]) -> list[JSON]:
    """Return the entries of a Mistral conversation."""
    entries: list[JSON] = []
    for piece in pieces:
        if isinstance(piece, Call):
            call = {"tool_call_id": piece.id, "name": piece.name, "arguments": piece.arguments}
            entries.append({**piece.extra, "type": "function.call"} | call)
        elif isinstance(piece, str) and piece.strip():
            entries.append({"type": "message.output", "role": "assistant", "content": piece})
    return entries
