"""Chunks of chat completions: their views, and the deltas of all that a delta or a message holds.

The narrow views refuse members that only the wide view reads, and unknown members inside of a call, so that nothing is
overlooked. Such a chunk is read with the wide view, whose labels may be anything and whose argument values keep their
own text (quirks 2, 12, 22, 36, 39). Members that no view reads may be there, as gateways add their own:

    {"choices":[{"index":0,"delta":{"content":"a","refusal":null,"tool_calls":[],"token_id":7},"native_finish_reason":null}]}

A whole message has the same fields as a delta, so both are read here; the translator decides which of the two it is,
and whether it only repeats earlier reports.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Final, Generic, Literal, TypeVar, Union
from zlib import crc32

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels
from wholecall.framing.frame import Frame

# The wide view.

Raw = msgspec.Raw


class ArgumentFields(msgspec.Struct, gc=False):
    """The fields under which servers send arguments, in the order in which they count."""

    arguments: Raw = decode.NO_TEXT
    parsed_arguments: Raw = decode.NO_TEXT
    args: Raw = decode.NO_TEXT
    input: Raw = decode.NO_TEXT
    parameters: Raw = decode.NO_TEXT


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
    content: Any = None
    toolCalls: Union[list[ToolCallView], None] = None  # noqa: N815 - Oracle's spelling
    finishReason: Any = None  # noqa: N815 - Oracle's spelling
    chatHistory: Any = None  # noqa: N815 - Oracle's spelling
    prompt_filter_results: Any = None


WIDE = msgspec.json.Decoder(Chunk)


# Narrow views.

_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Nothing = Union[Literal[""], None]
_Index = Annotated[int, msgspec.Meta(ge=0, le=deltas.HIGHEST_INDEX)]
_NoList = Union[Annotated[list[Any], msgspec.Meta(max_length=0)], None]
_Counts = Union[dict[str, Any], None]


class _NarrowFunction(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    arguments: Union[str, None] = None
    name: Union[str, None] = None


class NarrowCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A tool call with nothing but the usual labels."""

    index: Union[Annotated[int, msgspec.Meta(le=deltas.HIGHEST_INDEX)], None] = None
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
    index: Annotated[int, msgspec.Meta(ge=0, le=deltas.HIGHEST_INDEX)] = 0
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
    toolCalls: _NoList = None  # noqa: N815 - as above


NARROW = msgspec.json.Decoder(_NarrowChunk)


# Chunks that hold one piece of one text, and counts perhaps; nearly all chunks do.


class _FunctionPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    arguments: _Text
    name: _Nothing = None


class _ToolCallPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    index: _Index
    function: _FunctionPiece
    id: _Nothing = None
    type: Any = None


class _CallPiece(_Silent, gc=False, kw_only=True):
    """A piece of the text of a call."""

    tool_calls: Annotated[list[_ToolCallPiece], msgspec.Meta(min_length=1, max_length=1)]
    content: _Nothing = None
    reasoning_content: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _NoList = None


class _TextPiece(_Silent, gc=False, kw_only=True):
    """A piece of visible text."""

    content: _Text
    tool_calls: _NoList = None
    reasoning_content: _Nothing = None
    reasoning: _Nothing = None
    reasoning_details: _NoList = None


class _ThoughtPiece(_Silent, gc=False, kw_only=True):
    """A piece of reasoning, in one of two members or in both, and its details where a gateway adds them."""

    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    reasoning_details: Union[list[dict[str, Any]], None] = None
    content: _Nothing = None
    tool_calls: _NoList = None


_PieceT = TypeVar("_PieceT")


class _PieceChoice(msgspec.Struct, Generic[_PieceT], gc=False):
    """The choice that a piece belongs to."""

    delta: _PieceT
    index: _Index = 0
    finish_reason: _Nothing = None
    stop_reason: None = None
    message: None = None
    usage: None = None


class PieceChunk(msgspec.Struct, Generic[_PieceT], gc=False):
    """A chunk with one piece."""

    choices: Annotated[list[_PieceChoice[_PieceT]], msgspec.Meta(min_length=1, max_length=1)]
    usage: _Counts = None
    error: None = None
    x_groq: None = None
    message: None = None
    toolCalls: _NoList = None  # noqa: N815 - as above


CALL_PIECE = msgspec.json.Decoder(PieceChunk[_CallPiece])
TEXT_PIECE = msgspec.json.Decoder(PieceChunk[_TextPiece])
THOUGHT_PIECE = msgspec.json.Decoder(PieceChunk[_ThoughtPiece])


# Calls.

_KNOWN = frozenset(ToolCallView.__struct_fields__)
_NOTHING: tuple[object, ...] = (None, "", [], {})


def argument_text(*views: ArgumentFields | None) -> tuple[str, bool]:
    """Return the first argument text that is not empty, and whether it is a whole JSON value, not a string."""
    for view in views:
        for name in ArgumentFields.__struct_fields__ if view is not None else ():
            text, whole = decode.value_text(getattr(view, name))
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


def labelled(choice: int, call: ToolCallView, extra: dict[str, Any] | None) -> deltas.Labelled:
    """Return one call of a delta: its labels, and its text as a fragment, a whole value or free text."""
    index, id = labels.index_label(call.index), labels.id_label(call.id)
    custom = call.custom
    text = argument_text(custom)[0]
    name = labels.name_label(custom.name) if custom is not None else None
    if call.type == "custom" or name or text:
        return deltas.Labelled(choice, index, id, name, text, "custom", extra=extra)
    text, whole = argument_text(call.function, call)
    return deltas.Labelled(
        choice, index, id, name_of(call), text, rank=deltas.OBJECT if whole else 0, extra=extra
    )


def older_form(choice: int, function: FunctionView | None) -> deltas.Labelled:
    """Return the one call of a choice in the older form, `function_call`, which has no labels (quirk 83)."""
    text, whole = argument_text(function)
    name = labels.name_label(function.name) if function is not None else None
    rank = deltas.OBJECT if whole else 0
    return deltas.Labelled(choice, deltas.OLDER_FORM, None, name, text, rank=rank)


def is_beside(older: deltas.Labelled, listed: Sequence[deltas.Labelled | deltas.CallWhole]) -> bool:
    """Return whether a list of calls, or of their pieces, has what the older form beside it says."""
    return any(
        call.text == older.text and (call.name == older.name or None in (call.name, older.name))
        for call in listed
    )


def restated(
    choice: int, position: int, call: ToolCallView, extra: dict[str, Any] | None
) -> deltas.CallWhole:
    """Return one call of a message, which restates it."""
    read = labelled(choice, call, extra)
    kind, text = read.kind, read.text
    return deltas.CallWhole(
        choice, position, None, read.id, read.name, text, deltas.HYDRATION, kind, extra=extra
    )


def name_of(call: ToolCallView) -> str | None:
    """Return the name of a call, wherever the server put it."""
    function = call.function
    return (labels.name_label(function.name) if function is not None else None) or labels.name_label(
        call.name
    )


def listed(delta: DeltaView) -> list[ToolCallView]:
    """Return the tool calls of a delta."""
    return delta.tool_calls or delta.toolCalls or []


def mirrors(message: DeltaView, delta: DeltaView | None) -> bool:
    """Return whether the message only repeats the delta of the same chunk, as some SDKs do (quirk 40)."""
    return delta is not None and bool(listed(message)) and bool(listed(delta))


def only_opens(delta: Any) -> bool:
    """Return whether a delta holds the role and nothing else, as the first delta of an answer does."""
    says = delta.content or delta.tool_calls or delta.reasoning_content or delta.reasoning
    return delta.role is not None and not says


def has_calls(choice: ChoiceView) -> bool:
    """Return whether a choice holds anything of a call."""
    delta, message = choice.delta, choice.message
    return (delta is not None and bool(listed(delta))) or (message is not None and bool(listed(message)))


def flat_choice(chunk: Chunk) -> list[ChoiceView]:
    """Return Oracle's flat chunk as a choice; its last frame repeats everything with a chat history."""
    if chunk.type is not None or chunk.content is not None:  # an event of another dialect, such as ADK's
        return []
    if chunk.message is None and chunk.finishReason is None and not (chunk.toolCalls or chunk.text):
        return []
    view = chunk.message or DeltaView(content=chunk.text, toolCalls=chunk.toolCalls)
    if chunk.chatHistory:
        view = DeltaView()
    return [ChoiceView(index=chunk.index, delta=view, finish_reason=chunk.finishReason)]


class Executed:
    """The tools that the server ran by itself, each reported once: it comes again with its result, and in the message.

    Their names are in `type`; those of gpt-oss have the type `function`, and a name next to it.
    """

    _labels: dict[tuple[int, str], str]
    _places: dict[tuple[int, str], int]
    _over: set[tuple[int, str]]

    def __init__(self) -> None:
        self._labels = {}  # of calls, by their choices and all their members
        self._places = {}  # the number of earlier calls at each index: some servers count anew for each request
        self._over = set()

    def report(self, choice: int, view: DeltaView) -> list[deltas.Delta]:
        """Return the deltas of such tools in a delta or a message: a call is over when its result came."""
        told: list[deltas.Delta] = []
        for position, tool in enumerate(view.executed_tools or ()):
            text, _ = argument_text(tool.function, tool)
            name = name_of(tool) or labels.name_label(tool.type)
            place = f"executed_tools/{labels.index_label(tool.index) or position}"
            key = choice, f"{place} {name} {len(text)} {crc32(text.encode(errors='surrogatepass'))}"
            label = self._labels.get(key)
            if label is None:
                label = self._labels[key] = self._place(choice, place)
                told.append(deltas.Labelled(choice, label, None, name, text, "server", deltas.OBJECT))
            if (choice, label) not in self._over and any(map(_says, tool.results)):
                self._over.add((choice, label))
                told.append(deltas.CallClosed(choice, label, None))
        return told

    def _place(self, choice: int, place: str) -> str:
        """Return the label of a call: that of the one before at its index, unless that is over."""
        nth = self._places.get((choice, place), 0)
        label = f"{place}/{nth}" if nth else place
        if (choice, label) in self._over:
            self._places[choice, place] = nth + 1
            label = f"{place}/{nth + 1}"
        return label


def _says(result: object) -> bool:
    """Return whether the result of a tool is there: its member may come before it."""
    return any(result.values()) if isinstance(result, dict) else bool(result)


# Errors.


def error_of(chunk: Chunk, frame: Frame) -> deltas.WireFault | None:
    """Return the error that the chunk reports, unless its `error` is empty decoration (quirk 52)."""
    refused = decode.member(chunk.x_groq, "error")
    if refused:
        return decode.provider_error(refused)
    if not chunk.error:
        return decode.provider_error(decode.plain(frame.data)) if frame.event == "error" else None
    choices = chunk.choices or []
    speaks = any(choice.delta is not None and _says_something(choice.delta) for choice in choices)
    finished = any(choice.finish_reason == "error" for choice in choices)
    return decode.provider_error(chunk.error) if finished or not speaks else None


def _says_something(view: DeltaView) -> bool:
    return bool(view.content or listed(view))


# Text and reasoning.

# The members of details that come in pieces.
_GROWING: Final = {"reasoning.text": "text", "reasoning.summary": "summary"}


def speech(choice: int, view: Any) -> list[deltas.Delta]:
    """Return reasoning, then content; some servers send the reasoning in two fields (quirk 85), or only as details."""
    told: list[deltas.Delta] = []
    details = _list(view.reasoning_details) if view.reasoning_details else None
    if thought := own_thought(view) or _thought_of(details):
        told.append(deltas.ReasoningFragment(choice, thought))
    if details:
        told += reasoning_details(choice, details)
    if type(view.content) is list:
        told += _parts(choice, view.content)
    elif text := labels.text_label(view.content):
        told.append(deltas.TextFragment(choice, text))
    if text := labels.text_label(view.refusal):
        told += (deltas.TextRefused(choice), deltas.TextFragment(choice, text))
    return told


def content(value: object) -> list[deltas.Delta]:
    """Return the deltas of content: a text, a part, or a list of parts."""
    return speech(0, DeltaView(content=value if isinstance(value, (str, list)) else [value]))


def kind_of(delta: deltas.Delta) -> str:
    """Return the kind of content that a message would repeat: text, reasoning, or details of reasoning."""
    if isinstance(delta, deltas.ReasoningFragment):
        return "reasoning" if delta.text else f"reasoning/{delta.block}"
    return "detail" if isinstance(delta, deltas.BlockKept) else "text"


def _parts(choice: int, parts: list[Any]) -> list[deltas.Delta]:
    """Return content as a list of parts: text, and thinking, itself a list of parts (quirk 95)."""
    told: list[deltas.Delta] = []
    for part in parts:
        if text := labels.text_label(decode.member(part, "text")):
            told.append(deltas.TextFragment(choice, text))
        thoughts = decode.member(part, "thinking")
        texts = [labels.text_label(decode.member(thought, "text")) for thought in _list(thoughts)]
        told += [deltas.ReasoningFragment(choice, text) for text in texts if text]
    return told


def own_thought(view: Any) -> str | None:
    """Return the reasoning that a delta has in a separate field."""
    return labels.text_label(view.reasoning_content) or labels.text_label(view.reasoning)


def _thought_of(details: list[Any] | None) -> str:
    """Return the text of details, for servers that send reasoning nowhere else."""
    if not details:
        return ""
    return "".join(
        labels.text_label(decode.member(one, name)) or "" for one in details for name in _GROWING.values()
    )


def reasoning_details(choice: int, details: list[Any]) -> list[deltas.Delta]:
    """Return the details as they came, to be sent back; encrypted reasoning and signatures are in blocks, too."""
    told: list[deltas.Delta] = []
    for detail in details:
        if not isinstance(detail, dict):
            continue
        kind = detail.get("type")
        grows = _GROWING.get(kind) if isinstance(kind, str) else None
        if grows is not None and not isinstance(detail.get(grows), str):
            grows = None
        told.append(deltas.BlockKept(choice, detail, grows=grows))
        if detail.get("data") or detail.get("signature"):
            data, signature = (
                labels.text_label(detail.get("data")),
                labels.text_label(detail.get("signature")),
            )
            if data or signature:
                id = labels.id_label(detail.get("id"))
                told.append(deltas.ReasoningFragment(choice, "", f"detail/{id}", id, signature, data))
    return told


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
