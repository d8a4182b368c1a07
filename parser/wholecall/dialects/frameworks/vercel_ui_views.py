"""The views of a UI message stream: its chunks, the parts of a whole message, and the labels of a call in both."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT
from wholecall.dialects.frameworks.vercel_calls import Announced
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.types import Kind

__all__ = ["DECODER", "PIECES", "Chunk", "InputPiece", "Part", "ReasoningPiece", "TextPiece", "announced"]

_RUN = frozenset({"output-available", "output-error", "output-denied"})  # nothing is left to execute


class TextPiece(msgspec.Struct, gc=False, tag="text-delta"):
    """A piece of visible text."""

    of: ClassVar[None] = None
    text: str = msgspec.field(name="delta")
    error: None = None
    parts: None = None


class ReasoningPiece(msgspec.Struct, gc=False, tag="reasoning-delta"):
    """A piece of reasoning that nothing seals."""

    of: str = msgspec.field(name="id")
    text: str = msgspec.field(name="delta")
    provider_metadata: None = msgspec.field(default=None, name="providerMetadata")
    error: None = None
    parts: None = None


class InputPiece(msgspec.Struct, gc=False, tag="tool-input-delta"):
    """A piece of a call's text."""

    of: str = msgspec.field(name="toolCallId")
    text: str = msgspec.field(name="inputTextDelta")
    error: None = None
    parts: None = None


class Part(msgspec.Struct, gc=False, rename="camel"):
    """A part of a whole message, and the members that it shares with chunks."""

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


PIECES = msgspec.json.Decoder(Union[TextPiece, InputPiece, ReasoningPiece])
DECODER = msgspec.json.Decoder(Chunk)
_CAMEL: Final = {field.name: field.encode_name for field in msgspec.structs.fields(Part)}
_EXTRA: Final = ("provider_metadata", "call_provider_metadata", "tool_metadata", "dynamic", "title")


def announced(part: Part) -> Announced:
    """Return the attributes of a call in a chunk or a part, without the input."""
    kind: Kind = "custom" if part.input_encoding == "text" else "function"
    if part.provider_executed is True or text_label(part.state) in _RUN:
        kind = "server"
    name = name_label(part.tool_name)
    if name is None and part.state is not None and (part.type or "").startswith("tool-"):
        name = name_label((part.type or "").removeprefix("tool-"))  # as in a whole message
    said = {_CAMEL[field]: getattr(part, field) for field in _EXTRA}
    extra = {member: value for member, value in said.items() if value is not None}
    return Announced(id_label(part.tool_call_id), name, kind, extra or None)
