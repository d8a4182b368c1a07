"""OpenTelemetry's schema of `gen_ai.output.messages`, as far as a model's answer needs it.

Written from the conventions' schema, and stricter: no part is of an arbitrary type, no member is unknown, and
`finish_reason` is there, which newer versions of the schema leave open and older ones require.

Source: OpenTelemetry semantic conventions for generative AI, `gen_ai.output.messages`.
"""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]

_TEXT: JSON = {"type": "string"}
_ID: JSON = {"type": ["string", "null"]}


def _object(**members: JSON) -> JSON:
    return {
        "type": "object",
        "properties": members,
        "required": list(members),
        "additionalProperties": False,
    }


def _part(kind: str, **members: JSON) -> JSON:
    return _object(type={"const": kind}, **members)


_SERVER_CALL: JSON = {"type": "object", "properties": {"type": _TEXT}, "required": ["type"]}

OUTPUT_MESSAGES: JSON = {
    "type": "array",
    "items": _object(
        role={"const": "assistant"},
        finish_reason=_TEXT,
        parts={
            "type": "array",
            "minItems": 1,
            "items": {
                "oneOf": [
                    _part("text", content=_TEXT),
                    _part("reasoning", content=_TEXT),
                    _part("tool_call", id=_ID, name=_TEXT, arguments={"type": ["object", "string"]}),
                    _part("server_tool_call", id=_ID, name=_TEXT, server_tool_call=_SERVER_CALL),
                ]
            },
        },
    ),
}
