"""Responses: items. Calls and their outputs are separate items, and a thought belongs to the item after it.

    {type: "reasoning", id, summary: [{type: "summary_text", text}], encrypted_content?}
    {type: "message", role: "assistant", content: [{type: "output_text", text}]}
    {type: "function_call", id?, call_id, name, namespace?, arguments: TEXT}
    {type: "custom_tool_call", id?, call_id, name, namespace?, input}
    {type: "shell_call", id?, call_id, status, action}, and the other tools that OpenAI defines
    {type: "web_search_call", id, status, action}, and other items that need no result
    {type: "function_call_output", call_id, output}

The public id is `call_id`; the item's own id is an alias, because hosts answer under it (quirk 75). An item with the
status `incomplete` was cut. The own id of an item and its reasoning go back together or not at all: the API refuses a
call that it knows by its item without the reasoning before it, and reasoning without the item after it. Calls that
OpenAI executed go back as their original items. If a turn has no such items, the calls whose item is complete without a
result go back: searches, and requests for approval.

Source: the `input` of `POST /v1/responses`, and the types of OpenAI's SDK. Realtime has the same items.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from wholecall.calls.output.call_events import ServerToolCall
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock
from wholecall.history import parts, values
from wholecall.history.content import Call, Piece
from wholecall.history.shapes.base import MISSING_RESULT, Shape, is_made
from wholecall.history.shapes.blocks import block_types, read_message, read_stop

_IDS: tuple[parts.Path, ...] = (("call_id",),)
_FUNCTION = parts.Places(_IDS, (("name",),), (("arguments",),))
# The calls that a client executes: their form, the places of their arguments, and the type of their output.
_CALLS: dict[str, tuple[parts.Places, parts.Form]] = {
    "function_call": (_FUNCTION, "string"),
    "custom_tool_call": (parts.Places(_IDS, (("name",),), (("input",),)), "free"),
    "local_shell_call": (parts.Places(_IDS, (("type",),), (("action",),)), "own"),
    "shell_call": (parts.Places(_IDS, (("type",),), (("action",),)), "own"),
    "apply_patch_call": (parts.Places(_IDS, (("type",),), (("operation",),)), "own"),
    "computer_call": (parts.Places(_IDS, (("type",),), (("action",), ("actions",))), "own"),
    "tool_search_call": (parts.Places(_IDS, (("type",),), (("arguments",),)), "own"),
}
# Types that the server executes itself, in addition to those that end in `_call`.
_SERVED = frozenset({"mcp_approval_request", "program"})
_SERVED_IDS: tuple[parts.Path, ...] = (("call_id",), ("id",))
# Outputs that carry pictures or tools cannot state that there is no answer.
_MUTE = frozenset({"computer_call", "tool_search_call"})
_RESULTS = frozenset({f"{kind}_output" for kind in _CALLS} | {"tool_search_output"})
_RESULT = parts.Places(_IDS, (("name",),))
_SHELL_RESULT = parts.Places((("id",),))  # the only output that names its call by this member
_OWN_TYPES = frozenset({*_CALLS, *_RESULTS, "reasoning", "item_reference", "web_search_call", "mcp_call"})
_USUAL_BLOCKS = frozenset({"input_text", "output_text", "input_image", "input_file"})


def _of_server(item: parts.Message) -> bool:
    """Return whether the server ran a search for tools, which may run on either side."""
    return str(item.get("type")).startswith("tool_search") and item.get("execution") == "server"


def read_item(item: parts.Message) -> parts.Line:
    """Read an item into a line."""
    kind = str(item.get("type", "message"))
    if kind == "message":
        return _message(item)
    if kind in _RESULTS and not _of_server(item):
        return parts.Line("result", [_result(item)])
    if kind == "mcp_approval_response":
        return parts.Line("user", [parts.Part("other", item)])
    part = _model_part(item, kind)
    if part is None:
        return parts.Line("other", [])
    return parts.Line("model", [part], _stop(item), answer=parts.RUN)


def _model_part(item: parts.Message, kind: str) -> parts.Part | None:
    if kind in _CALLS and not _of_server(item):
        return _call(item, kind)
    if kind == "reasoning":
        return parts.Part("thinking", item)
    if kind == "item_reference":
        return parts.Part("reference", item)
    if kind.endswith("_call") or kind in _SERVED:
        return parts.Part("other", item, id=parts.first_id(item, _SERVED_IDS), name=_served_name(item, kind))
    return parts.Part("other", item) if kind in _RESULTS else None


def _served_name(item: parts.Message, kind: str) -> str:
    """Return the name of a tool that the server executes: its own if it is an MCP tool, else one from its type."""
    return parts.first_text(item, (("name",),)) if kind.startswith("mcp_") else kind.removesuffix("_call")


def _message(item: parts.Message) -> parts.Line:
    line = read_message(item)
    if line.side == "model":
        line.answer, line.stop = parts.RUN, _stop(item)
    return line


def _stop(item: parts.Message) -> object:
    return "length" if item.get("status") == "incomplete" else read_stop(item)


def _call(item: parts.Message, kind: str) -> parts.Part:
    places, form = _CALLS[kind]
    own = parts.first_id(item, (("id",),))
    aliases = (own,) if own else ()
    return parts.call_at(item, "", places, aliases=aliases, form=form, answerable=kind not in _MUTE)


def _result(item: parts.Message) -> parts.Part:
    places = _SHELL_RESULT if item["type"] == "local_shell_call_output" else _RESULT
    part = parts.Part("result", item, places=places, real=not is_made(item.get("output")))
    part.id, part.name = parts.first_id(item, places.id), parts.first_text(item, places.name)
    return part


def text_output(call: parts.Part, block: parts.Message) -> parts.Message:
    """Return an output of plain text that states that the result is missing; a call of another shape is a function."""
    kind = str(block.get("type"))
    answered = kind if kind in _CALLS else "function_call"
    return {"type": f"{answered}_output", "call_id": call.id, "output": MISSING_RESULT}


def _local_shell(call: parts.Part, _block: parts.Message) -> parts.Message:
    return {"type": "local_shell_call_output", "id": call.id, "output": MISSING_RESULT}


def _shell(call: parts.Part, _block: parts.Message) -> parts.Message:
    said = {"stdout": "", "stderr": MISSING_RESULT, "outcome": {"type": "exit", "exit_code": 1}}
    return {"type": "shell_call_output", "call_id": call.id, "output": [said]}


def _patch(call: parts.Part, block: parts.Message) -> parts.Message:
    return {**text_output(call, block), "status": "failed"}


_MISSING: dict[str, Callable[[parts.Part, parts.Message], parts.Message]] = {
    "local_shell_call": _local_shell,
    "shell_call": _shell,
    "apply_patch_call": _patch,
}


def _missing(call: parts.Part, block: parts.Message) -> parts.Message:
    return _MISSING.get(str(block.get("type")), text_output)(call, block)


def _is_own(item: parts.Message) -> bool:
    kind = str(item.get("type"))
    return kind in _OWN_TYPES or (kind == "message" and "role" in item)


def _is_like(item: parts.Message) -> bool:
    return bool(block_types(item) & _USUAL_BLOCKS)


RESPONSES = Shape(
    name="responses",
    read=read_item,
    result=_missing,
    is_own=_is_own,
    is_like=_is_like,
    merges=True,
    by_order=True,
)


# --- the turn that goes back ---------------------------------------------------------------------------

_SEARCHES = frozenset({"web_search", "file_search"})
_HOSTED = _SEARCHES | {"code_interpreter", "image_generation", "program", "shell", "tool_search"}
_EXECUTION = {"tool_search": {"execution": "client"}, "computer": {"pending_safety_checks": []}}


def goes_back(call: ServerToolCall) -> bool:
    """Return whether the item of a call that OpenAI executed is complete without its result."""
    of_mcp = "server_label" in (call.extra or {})
    return "needs_approval" in call.flags if of_mcp else call.name in _SEARCHES


def encode(pieces: Sequence[Piece]) -> list[parts.Message]:
    """Return the items of Responses."""
    items: list[parts.Message] = []
    for piece in pieces:
        if isinstance(piece, ReasoningBlock):
            items += _reasoning(piece)
        elif isinstance(piece, OtherBlock):
            items.append(values.copied(piece.value))
        elif isinstance(piece, Call):
            items.append(_ITEMS[piece.kind](piece))
        elif piece.strip():
            content = [{"type": "output_text", "text": piece}]
            items.append({"type": "message", "role": "assistant", "content": content})
    return items


def _reasoning(block: ReasoningBlock) -> list[parts.Message]:
    if block.id is None and block.data is None:
        return []
    item: parts.Message = {"type": "reasoning"} | ({} if block.id is None else {"id": block.id})
    item["summary"] = [{"type": "summary_text", "text": block.text}] if block.text else []
    return [item | ({} if block.data is None else {"encrypted_content": block.data})]


def _head(kind: str, call: Call) -> parts.Message:
    """Return the common members of items of all kinds: the type, both ids, and the fields to be sent back."""
    extra = dict(call.extra)
    own = extra.pop("item_id", None)
    return {"type": kind} | ({} if own is None else {"id": own}) | extra | {"call_id": call.id}


def _tool(call: Call) -> parts.Message:
    return {"name": call.name} | ({} if call.namespace is None else {"namespace": call.namespace})


def _function(call: Call) -> parts.Message:
    return _head("function_call", call) | _tool(call) | {"arguments": call.arguments}


def _custom(call: Call) -> parts.Message:
    return _head("custom_tool_call", call) | _tool(call) | {"input": call.arguments}


def _builtin(call: Call) -> parts.Message:
    item: parts.Message = values.copied(_EXECUTION.get(call.name, {}))
    item |= _head(f"{call.name}_call", call) | {"status": "completed"} | call.arguments
    return item


def _server(call: Call) -> parts.Message:
    event = call.event
    if isinstance(event, ServerToolCall) and "needs_approval" in event.flags:
        request = {"type": "mcp_approval_request", "id": call.id, "name": call.name}
        return call.extra | request | {"arguments": event.raw_arguments}
    if isinstance(event, ServerToolCall) and (call.name not in _HOSTED or "item_id" in call.extra):
        return _head("function_call", call) | _tool(call) | {"arguments": event.raw_arguments}
    item: parts.Message = {"type": f"{call.name}_call", "id": call.id, "status": "completed"}
    return {**item, **call.arguments}


_ITEMS = {"function": _function, "custom": _custom, "builtin": _builtin, "server": _server}
