"""The views of a UI message stream: its chunks, the parts of a whole message, and what both say of a call."""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.dialects.decode import NO_TEXT
from wholecall.dialects.frameworks.vercel_calls import Announced
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.types import Kind

__all__ = ["DECODER", "Chunk", "Part", "announced"]

_RUN = frozenset({"output-available", "output-error", "output-denied"})  # nothing is left to execute


class Part(msgspec.Struct, gc=False, rename="camel"):
    """A part of a whole message, and what chunks share with it."""

    type: str | None = None
    id: Any = None
    text: Any = None
    state: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    input: msgspec.Raw = NO_TEXT
    raw_input: msgspec.Raw = NO_TEXT
    input_encoding: Any = None
    provider_executed: Any = None
    provider_metadata: Any = None
    call_provider_metadata: Any = None
    tool_metadata: Any = None
    dynamic: Any = None
    title: Any = None
    error_text: Any = None


class Chunk(Part, gc=False, rename="camel"):
    """A chunk of a stream, or a whole message."""

    delta: Any = None
    input_text_delta: Any = None
    message_id: Any = None
    finish_reason: Any = None
    reason: Any = None
    error: Any = None
    role: Any = None
    parts: list[Part] | None = None


DECODER = msgspec.json.Decoder(Chunk)
_CAMEL: Final = {field.name: field.encode_name for field in msgspec.structs.fields(Part)}
_EXTRA: Final = ("provider_metadata", "call_provider_metadata", "tool_metadata", "dynamic", "title")


def announced(part: Part) -> Announced:
    """Return what a chunk or a part says of its call, beside the input."""
    kind: Kind = "custom" if part.input_encoding == "text" else "function"
    if part.provider_executed is True or text_label(part.state) in _RUN:
        kind = "server"
    name = name_label(part.tool_name)
    if name is None and part.state is not None and (part.type or "").startswith("tool-"):
        name = name_label((part.type or "").removeprefix("tool-"))  # so in a whole message
    said = {_CAMEL[field]: getattr(part, field) for field in _EXTRA}
    extra = {member: value for member, value in said.items() if value is not None}
    return Announced(id_label(part.tool_call_id), name, kind, extra or None)
