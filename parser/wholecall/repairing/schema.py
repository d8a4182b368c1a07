"""The members that the published schemas of three wires require of a frame, as data.

Only members that a client may take for granted are here: what is required, of which type it is, and what stands for it
where a server leaves it out. Members that nobody may make up (a call's name, a text) have no stand-in: a frame without
them is not written. Sources, read in November 2026: OpenAI API reference, "The chat completion chunk object", "Responses:
streaming events" and "The response object"; Anthropic API reference, "Streaming messages". Where these call a member
required and no client asks for it (`finish_reason` before the end, `usage`), it is left out here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

__all__ = [
    "CHOICE",
    "CHUNK",
    "EVENTS",
    "ITEMS",
    "MESSAGE",
    "RESPONSE",
    "Member",
    "Schema",
    "flaws",
    "stand_ins",
]


class Member(NamedTuple):
    """A required member of an object.

    Attributes:
        types: that it may have.
        stand_in: what a client gets where it is missing; None where nothing can be made up.
        is_id: whether it is an id, which is not empty.
    """

    types: tuple[type, ...]
    stand_in: Any = None
    is_id: bool = False


Schema = Mapping[str, Member]

_TEXT: Final = Member((str,))
_NUMBER: Final = Member((int,))
_OBJECT: Final = Member((dict,))
_ID: Final = Member((str,), is_id=True)
_TIME: Final = Member((int, float), 0)
_PLACE: Final = {"output_index": _NUMBER, "sequence_number": _NUMBER}
_PART: Final = {"item_id": _ID, "content_index": _NUMBER, **_PLACE}
_OF_RESPONSE: Final = {"response": _OBJECT, "sequence_number": _NUMBER}

CHUNK: Final[Schema] = {
    "id": Member((str,), "chatcmpl-0"),
    "object": Member((str,), "chat.completion.chunk"),
    "created": _TIME,
    "model": Member((str,), ""),
    "choices": Member((list,)),
}
CHOICE: Final[Schema] = {"index": _NUMBER, "delta": _OBJECT}
RESPONSE: Final[Schema] = {
    "id": Member((str,), "resp_0", is_id=True),
    "object": Member((str,), "response"),
    "created_at": _TIME,
    "model": Member((str,), ""),
    "output": Member((list,), []),
}
MESSAGE: Final[Schema] = {
    "id": _ID,
    "type": _TEXT,
    "role": _TEXT,
    "model": _TEXT,
    "content": Member((list,)),
    "usage": _OBJECT,
}
# Items of Responses and blocks of Anthropic's, by type; of others an id is asked for where they have one.
ITEMS: Final[Mapping[str, Schema]] = {
    "function_call": {"id": _ID, "call_id": _TEXT, "name": _TEXT, "arguments": _TEXT},
    "custom_tool_call": {"id": _ID, "call_id": _TEXT, "name": _TEXT, "input": _TEXT},
    "message": {"id": _ID, "role": _TEXT, "content": Member((list,))},
    "reasoning": {"id": _ID},
    "tool_use": {"id": _ID, "name": _TEXT, "input": _OBJECT},
    "text": {"text": _TEXT},
}
# Events of Responses and of Anthropic's, by type.
EVENTS: Final[Mapping[str, Schema]] = {
    **dict.fromkeys(
        (
            "response.created",
            "response.in_progress",
            "response.completed",
            "response.incomplete",
            "response.failed",
        ),
        _OF_RESPONSE,
    ),
    **{
        key: {"item": _OBJECT, **_PLACE}
        for key in ("response.output_item.added", "response.output_item.done")
    },
    **{
        key: {"part": _OBJECT, **_PART}
        for key in ("response.content_part.added", "response.content_part.done")
    },
    "response.output_text.delta": {"delta": _TEXT, **_PART},
    "response.output_text.done": {"text": _TEXT, **_PART},
    "response.function_call_arguments.delta": {"item_id": _ID, "delta": _TEXT, **_PLACE},
    "response.function_call_arguments.done": {"item_id": _ID, "arguments": _TEXT, **_PLACE},
    "response.custom_tool_call_input.delta": {"item_id": _ID, "delta": _TEXT, **_PLACE},
    "response.custom_tool_call_input.done": {"item_id": _ID, "input": _TEXT, **_PLACE},
    "message_start": {"message": _OBJECT},
    "content_block_start": {"index": _NUMBER, "content_block": _OBJECT},
    "content_block_delta": {"index": _NUMBER, "delta": _OBJECT},
    "content_block_stop": {"index": _NUMBER},
    "message_delta": {"delta": _OBJECT},
}


def flaws(value: Mapping[str, Any], schema: Schema) -> list[str]:
    """Return the members of an object that are missing or of another type, an empty id among them."""
    return [name for name, member in schema.items() if not _is_sound(value.get(name), member)]


def _is_sound(value: object, member: Member) -> bool:
    is_type = isinstance(value, member.types) and type(value) is not bool
    return is_type and (not member.is_id or value != "")


def stand_ins(schema: Schema) -> dict[str, Any]:
    """Return what stands for the members that a server may leave out."""
    return {name: member.stand_in for name, member in schema.items() if member.stand_in is not None}
