"""The tools that the probe offers: names that no model can miss, and schemas that leave one way to call each."""

from __future__ import annotations

from typing import Any

import msgspec

_LONGEST = 64  # characters that a tool's name may have, at OpenAI and at Anthropic


class OfferedTool(msgspec.Struct, frozen=True):
    """A tool of a request, apart from any wire.

    Attributes:
        name: its name.
        about: its description.
        schema: the JSON schema of its arguments.
    """

    name: str
    about: str
    schema: dict[str, Any]


def _object(**properties: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of an object in which everything is required and nothing else allowed."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}
_GUEST = _object(
    name=_TEXT,
    role={"type": "string", "enum": ["host", "guest", "speaker"]},
    age={"type": ["integer", "null"]},
)
_EVENT = _object(
    title=_TEXT, at=_object(day={"type": "string"}, hour={"type": "integer"}), guests={"type": "array", "items": _GUEST}
)  # fmt: skip
_EVENT["properties"]["note"] = _TEXT  # the one that may be left out

ECHO = OfferedTool("echo", "Gives a text back unchanged.", _object(text=_TEXT))
ADD = OfferedTool("add", "Adds two numbers.", _object(a=_NUMBER, b=_NUMBER))
NOARGS = OfferedTool("noargs", "Does one thing and takes no arguments.", _object())
NESTED = OfferedTool("nested", "Stores an event.", _object(event=_EVENT))
PICK = OfferedTool(
    "pick", "Picks a colour.", _object(choice={"type": "string", "enum": ["red", "green", "blue"]})
)
# As long as a name may be, with each kind of character that it may have.
LONG_NAME = OfferedTool(
    "echo_the-Text_2".ljust(_LONGEST - 1, "x") + "9", "Gives a text back unchanged.", _object(text=_TEXT)
)
MANY_TOOLS = tuple(
    OfferedTool(f"tool_{number}", f"Stores a text in drawer {number}.", _object(text=_TEXT))
    for number in range(1, 65)
)
