"""Views of a chunk of chat completions: narrow ones for common chunks, a wide one for all.

The narrow views refuse members that only the wide view reads, and unknown members inside of a call, so that nothing is
overlooked. Such a chunk is read with the wide view, whose labels may be anything and whose argument values keep their
own text (quirks 2, 12, 22, 36, 39). Members that no view reads may be there, as gateways add their own:

    {"choices":[{"index":0,"delta":{"content":"a","refusal":null,"tool_calls":[],"token_id":7},"native_finish_reason":null}]}
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeVar, Union

import msgspec

from wholecall.deltas import HIGHEST_INDEX
from wholecall.dialects.decode import NO_TEXT, value_text

__all__ = [
    "CALL_PIECE",
    "NARROW",
    "TEXT_PIECE",
    "THOUGHT_PIECE",
    "WIDE",
    "CallPiece",
    "ChoiceView",
    "Chunk",
    "DeltaView",
    "NarrowCall",
    "NarrowChoice",
    "PieceChunk",
    "ThoughtPiece",
    "ToolCallView",
    "argument_text",
    "unknown_fields",
]

Raw = msgspec.Raw
_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Nothing = Union[Literal[""], None]
_Index = Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_INDEX)]
_NoList = Union[Annotated[list[Any], msgspec.Meta(max_length=0)], None]
_Counts = Union[dict[str, Any], None]


class _NarrowFunction(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    arguments: Union[str, None] = None
    name: Union[str, None] = None


class NarrowCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A tool call with nothing but the usual labels."""

    index: Union[Annotated[int, msgspec.Meta(le=HIGHEST_INDEX)], None] = None
    function: Union[_NarrowFunction, None] = None
    id: Union[str, None] = None
    type: Any = None


class _Silent(msgspec.Struct, gc=False):
    """The members that a delta may have in addition to those of a narrow view, if they are empty."""

    refusal: _Nothing = None
    function_call: None = None
    executed_tools: _NoList = None
    toolCalls: _NoList = None  # noqa: N815 - Oracle's spelling


class _NarrowDelta(_Silent, gc=False, kw_only=True):
    content: Union[str, list[dict[str, Any]], None] = None
    tool_calls: Union[list[NarrowCall], None] = None
    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    reasoning_details: Union[list[dict[str, Any]], None] = None
    role: Any = None


class NarrowChoice(msgspec.Struct, gc=False):
    """A choice with a usual delta, or none."""

    delta: Union[_NarrowDelta, None] = None
    index: Annotated[int, msgspec.Meta(ge=0, le=HIGHEST_INDEX)] = 0
    finish_reason: Union[str, None] = None
    stop_reason: None = None
    message: None = None
    usage: None = None


class _NarrowChunk(msgspec.Struct, gc=False):
    choices: list[NarrowChoice]
    id: Any = None
    model: Any = None
    usage: _Counts = None
    error: None = None
    x_groq: None = None
    message: None = None
    toolCalls: _NoList = None  # noqa: N815 - as below


# Chunks that hold one piece of one text, and counts perhaps; nearly all chunks do.


class _FunctionPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    arguments: _Text
    name: _Nothing = None


class _ToolCallPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    index: _Index
    function: _FunctionPiece
    id: _Nothing = None
    type: Any = None


class CallPiece(_Silent, gc=False, kw_only=True):
    """A piece of the text of a call."""

    tool_calls: Annotated[list[_ToolCallPiece], msgspec.Meta(min_length=1, max_length=1)]
    content: _Nothing = None
    reasoning_content: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _NoList = None


class TextPiece(_Silent, gc=False, kw_only=True):
    """A piece of visible text."""

    content: _Text
    tool_calls: _NoList = None
    reasoning_content: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _NoList = None


class ThoughtPiece(_Silent, gc=False, kw_only=True):
    """A piece of reasoning, in one of two members or in both, and its details where a gateway adds them."""

    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    reasoning_details: Union[list[dict[str, Any]], None] = None
    content: _Nothing = None
    tool_calls: _NoList = None


PieceT = TypeVar("PieceT")


class PieceChoice(msgspec.Struct, Generic[PieceT], gc=False):
    """The choice that a piece belongs to."""

    delta: PieceT
    index: _Index = 0
    finish_reason: _Nothing = None
    stop_reason: None = None
    message: None = None
    usage: None = None


class PieceChunk(msgspec.Struct, Generic[PieceT], gc=False):
    """A chunk with one piece."""

    choices: Annotated[list[PieceChoice[PieceT]], msgspec.Meta(min_length=1, max_length=1)]
    usage: _Counts = None
    error: None = None
    x_groq: None = None
    message: None = None
    toolCalls: _NoList = None  # noqa: N815 - as below


class ArgumentFields(msgspec.Struct, gc=False):
    """The fields under which servers send arguments, in the order in which they count."""

    arguments: Raw = NO_TEXT
    parsed_arguments: Raw = NO_TEXT
    args: Raw = NO_TEXT
    input: Raw = NO_TEXT
    parameters: Raw = NO_TEXT


class FunctionView(ArgumentFields, gc=False):
    """The `function` of a tool call, or a legacy `function_call`; only Ollama's own chat has an index there."""

    name: Any = None
    index: Any = None


class ToolCallView(ArgumentFields, gc=False):
    """A tool call as anyone sends it, flat ones included."""

    index: Any = None
    id: Any = None
    type: Any = None
    name: Any = None
    function: Union[FunctionView, None] = None
    custom: Union[FunctionView, None] = None


class ExecutedView(ToolCallView, gc=False):
    """A tool that the server ran by itself, with its result once that came: Groq's."""

    output: Any = None
    search_results: Any = None
    code_results: Any = None
    browser_results: Any = None

    @property
    def results(self) -> tuple[Any, ...]:
        """All members that can be the result."""
        return self.output, self.search_results, self.code_results, self.browser_results


class DeltaView(msgspec.Struct, gc=False):
    """A `delta`, or a `message`."""

    role: Any = None
    content: Any = None
    refusal: Any = None
    reasoning_content: Any = None
    reasoning: Any = None
    reasoning_details: Any = None
    tool_calls: Union[list[ToolCallView], None] = None
    toolCalls: Union[list[ToolCallView], None] = None  # noqa: N815 - Oracle's spelling
    function_call: Union[FunctionView, None] = None
    executed_tools: Union[list[ExecutedView], None] = None


class ChoiceView(msgspec.Struct, gc=False):
    """A choice, streamed or whole."""

    index: Any = None
    delta: Union[DeltaView, None] = None
    message: Union[DeltaView, None] = None
    finish_reason: Any = None
    stop_reason: Any = None
    usage: Any = None


class Chunk(msgspec.Struct, gc=False):
    """A chunk of any provider, a whole body, or Oracle's flat form, which has no `choices`."""

    choices: Union[list[ChoiceView], None] = None
    id: Any = None
    object: Any = None
    model: Any = None
    model_id: Any = None
    usage: Any = None
    error: Any = None
    x_groq: Any = None
    type: Any = None
    index: Any = None
    message: Union[DeltaView, None] = None
    text: Any = None
    toolCalls: Union[list[ToolCallView], None] = None  # noqa: N815 - Oracle's spelling
    finishReason: Any = None  # noqa: N815 - Oracle's spelling
    chatHistory: Any = None  # noqa: N815 - Oracle's spelling
    prompt_filter_results: Any = None


CALL_PIECE = msgspec.json.Decoder(PieceChunk[CallPiece])
TEXT_PIECE = msgspec.json.Decoder(PieceChunk[TextPiece])
THOUGHT_PIECE = msgspec.json.Decoder(PieceChunk[ThoughtPiece])
NARROW = msgspec.json.Decoder(_NarrowChunk)
WIDE = msgspec.json.Decoder(Chunk)

_KNOWN = frozenset(ToolCallView.__struct_fields__)
_NOTHING: tuple[object, ...] = (None, "", [], {})


def argument_text(*views: ArgumentFields | None) -> tuple[str, bool]:
    """Return the first argument text that is not empty, and whether it is a whole JSON value, not a string."""
    for view in views:
        for name in ArgumentFields.__struct_fields__ if view is not None else ():
            text, whole = value_text(getattr(view, name))
            if text:
                return text, whole
    return "", False


def unknown_fields(payload: Any) -> dict[str, Any] | None:
    """Return the fields of a tool call that we do not read, such as thought signatures (quirk 96)."""
    if not isinstance(payload, dict):
        return None
    extra = {key: value for key, value in payload.items() if key not in _KNOWN and value not in _NOTHING}
    function = payload.get("function")
    if isinstance(function, dict):
        known = FunctionView.__struct_fields__
        extra |= {key: value for key, value in function.items() if key not in known and value not in _NOTHING}
    return extra or None
