"""Messages with a role, read by one table of names: chat completions, Anthropic, pi, and mixtures of them.

Hosts use and store different names for the same things. Here types and members are looked up under all of their names;
the shapes differ in the form that they write.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wholecall.history import parts
from wholecall.history.shapes.base import expect_dict, is_made

CALL_TYPES = frozenset({"tool_use", "toolUse", "toolCall", "tool_call", "functionCall", "function_call"})
RESULT_TYPES = frozenset(
    {
        *("tool_result", "toolResult", "functionResponse", "function_response"),
        *("function_call_output", "custom_tool_call_output"),
    }
)
RESULT_ROLES = frozenset({"tool", "toolResult", "function"})
_THINKING_TYPES = frozenset({"thinking", "redacted_thinking", "reasoning"})
_TEXT_TYPES = frozenset({"text", "input_text", "output_text"})
_SERVER_CALL_TYPES = frozenset({"server_tool_use", "mcp_tool_use"})
_STOPS: tuple[parts.Path, ...] = (("stopReason",), ("stop_reason",), ("finish_reason",), ("finishReason",))
# Members of a message of the model that hold its thoughts, and members that hold another kind of answer.
_THOUGHTS = (
    *("reasoning_content", "reasoning", "reasoning_details", "reasoningContent"),
    *("thinking", "thinking_blocks", "tool_plan"),
)
_ANSWERS = ("refusal", "audio")
# Members that a streaming client keeps with a call until the call is complete.
_SCRATCH = (
    "partialJson",
    "partial_json",
    "partialArguments",
    "partial_arguments",
    "partialArgs",
    "partial_args",
)

_ALIASES: tuple[parts.Path, ...] = (
    *(("toolCallId",), ("toolUseId",), ("tool_call_id",), ("tool_use_id",), ("callId",), ("call_id",)),
)
_NAMES: tuple[parts.Path, ...] = (("name",), ("toolName",), ("tool_name",))
_CALL = parts.Places(
    (("id",), *_ALIASES),
    (*_NAMES, ("function", "name")),
    (("arguments",), ("input",), ("args",), ("parameters",), ("function", "arguments")),
)
_TOOL_USE = parts.Places(_CALL.id, _CALL.name, (("input",), ("arguments",), ("args",), ("parameters",)))
_ENTRY = parts.Places(
    _CALL.id,
    (("function", "name"), *_NAMES),
    (("function", "arguments"), ("arguments",), ("input",), ("args",), ("parameters",)),
)
_CUSTOM = parts.Places(_CALL.id, (("custom", "name"),), (("custom", "input"),))
_LEGACY = parts.Places((), (("name",),), (("arguments",),))
_SNAKE_RESULT = parts.Places((("tool_use_id",), *_ALIASES, ("id",)), _NAMES)
_CAMEL_RESULT = parts.Places((("toolCallId",), *_ALIASES, ("id",)), (("toolName",), *_NAMES))
_TOOL_MESSAGE = parts.Places((("tool_call_id",), *_ALIASES), _NAMES)
_TOOL_RESULT_MESSAGE = parts.Places((("toolCallId",), *_ALIASES), (("toolName",), *_NAMES))


def read_stop(message: parts.Message) -> object:
    """Return the provider's reason for the end of a message, None if there is none."""
    return next((message[path[0]] for path in _STOPS if message.get(path[0]) is not None), None)


def block_types(message: parts.Message) -> set[str]:
    """Return the types of a message's blocks."""
    content = message.get("content")
    blocks: list[Any] = content if isinstance(content, list) else []
    return {
        kind for block in blocks if isinstance(block, dict) and isinstance(kind := block.get("type"), str)
    }


def read_message(message: parts.Message) -> parts.Line:
    """Read a message with a role into a line."""
    role = message.get("role")
    if not isinstance(role, str):
        return parts.Line("other", [])
    if role in RESULT_ROLES:
        places = _TOOL_RESULT_MESSAGE if role == "toolResult" else _TOOL_MESSAGE
        return parts.Line("result", [read_result(message, places, anonymous=role == "function")])
    if role == "assistant":
        found = [*_members(message, _THOUGHTS, "thinking"), *read_content(message, "model")]
        found += [*_members(message, _ANSWERS, "other"), *_entries(message), *_legacy(message)]
        return parts.Line("model", found, read_stop(message))
    if role in ("user", "system", "developer"):
        return parts.Line("user", read_content(message, "user"))
    return parts.Line("user", [parts.Part("other", message)])  # the host's own role: not opened here


def _members(message: parts.Message, names: Iterable[str], kind: Any) -> list[parts.Part]:
    return [
        parts.Part(kind, message[name], name, listed=False)
        for name in names
        if message.get(name) and not _is_blank(message[name])
    ]


def _is_blank(value: object) -> bool:
    return isinstance(value, str) and not value.strip()


def read_text(value: Any, text: object, field: str, *, listed: bool = True) -> parts.Part:
    """Return a text as a part; a blank text in a list is removed, a blank member is kept."""
    blank = not (isinstance(text, str) and text.strip())
    return parts.Part("blank" if blank else "text", value, field, listed, gone=blank and listed)


def read_content(message: parts.Message, side: parts.Side) -> list[parts.Part]:
    """Return the parts of a message's content: a text, or blocks."""
    content = message.get("content")
    if isinstance(content, str):
        return [read_text(content, content, "content", listed=False)]
    if isinstance(content, (list, tuple)):
        return [_block(block, side) for block in content] or [parts.Part("blank", None, "content", gone=True)]
    return [] if content is None else [parts.Part("other", content, "content", listed=False)]


def _block(value: Any, side: parts.Side) -> parts.Part:
    if isinstance(value, str):
        return read_text(value, value, "content")
    block = expect_dict(value, "a content block")
    kind = str(block.get("type"))
    if kind in _TEXT_TYPES:
        return read_text(block, block.get("text"), "content")
    if kind in CALL_TYPES and side == "model":
        return _call(block, "content", *_block_form(block, kind))
    if kind in RESULT_TYPES:
        return _result(block, _CAMEL_RESULT if kind in ("toolResult", "functionResponse") else _SNAKE_RESULT)
    if side == "model" and kind in _THINKING_TYPES:
        return parts.Part("thinking", block, "content")
    if side == "model" and kind in _SERVER_CALL_TYPES:
        id, name = parts.first_id(block, _CALL.id), parts.first_text(block, _CALL.name)
        return parts.Part("server_call", block, "content", places=_TOOL_USE, id=id, name=name)
    if kind.endswith("_tool_result"):
        return parts.Part("server_result", block, "content", id=parts.first_id(block, _SNAKE_RESULT.id))
    return parts.Part("other", block, "content")


def _block_form(block: parts.Message, kind: str) -> tuple[parts.Places, parts.Form]:
    """Return the form of a block's arguments; blocks that no API knows keep their stored form."""
    if kind in ("tool_use", "toolUse"):
        return _TOOL_USE, "object"
    if kind == "toolCall":
        return _CALL, "object"
    return _CALL, "string" if isinstance(parts.at(block, _CALL.arguments), str) else "object"


def _call(
    block: parts.Message, field: str, places: parts.Places, form: parts.Form, **more: Any
) -> parts.Part:
    id = parts.first_id(block, places.id)
    return parts.call_at(
        block,
        field,
        places,
        aliases=(id.partition("|")[0],) if "|" in id else (),  # hosts join the two ids of Responses
        form=form,
        scratch=tuple((name,) for name in _SCRATCH if block.get(name) is not None),
        **more,
    )


def _entries(message: parts.Message) -> list[parts.Part]:
    """Read `tool_calls`; an empty list, or None, is a blank that is removed."""
    field = next((field for field in ("tool_calls", "toolCalls") if field in message), None)
    if field is None:
        return []
    entries = message[field]
    if not entries:
        return [parts.Part("blank", None, field, gone=True)]
    single = isinstance(entries, dict)
    found: list[parts.Part] = []
    for entry in entries if isinstance(entries, (list, tuple)) else [entries]:
        block = expect_dict(entry, "a tool call")
        free = block.get("type") == "custom" and isinstance(block.get("custom"), dict)
        found.append(_call(block, field, _CUSTOM if free else _ENTRY, "free" if free else "string"))
        found[-1].edited = single
    return found


def _legacy(message: parts.Message) -> list[parts.Part]:
    call = message.get("function_call")
    if not isinstance(call, dict):
        return []
    return [_call(call, "function_call", _LEGACY, "string", listed=False, anonymous=True)]


def _result(block: parts.Message, places: parts.Places) -> parts.Part:
    part = parts.Part("result", block, "content", places=places)
    return _fill(part, block)


def read_result(message: parts.Message, places: parts.Places, *, anonymous: bool = False) -> parts.Part:
    """Return a message as a result."""
    return _fill(parts.Part("result", message, places=places, anonymous=anonymous), message)


def _fill(part: parts.Part, block: parts.Message) -> parts.Part:
    part.id = "" if part.anonymous else parts.first_id(block, part.places.id)
    part.name = parts.first_text(block, part.places.name)
    part.real = not is_made(parts.at(block, (("content",), ("output",), ("response",))))
    content = block.get("content", parts.ABSENT)
    if content is None or (isinstance(content, list) and any(map(_is_blank_block, content))):
        left = [inner for inner in content or () if not _is_blank_block(inner)]
        nothing: Any = [] if block.get("role") == "toolResult" else ""
        part.value = {**block, "content": left or nothing}
        part.edited = True
    return part


def _is_blank_block(block: Any) -> bool:
    return isinstance(block, dict) and str(block.get("type")) in _TEXT_TYPES and _is_blank(block.get("text"))
