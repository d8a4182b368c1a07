"""Views of Gemini's frames: flat, every field optional.

REST writes camelCase, the Python SDK snake_case. A frame may use either, so a field whose spellings differ is there
twice; `either` takes the one that came. Usual frames have narrow views, which refuse anything odd.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, Generic, TypeVar, Union

import msgspec

from wholecall.dialects.decode import NO_TEXT, UNREADABLE, decode, is_blank, listed, member, plain
from wholecall.dialects.hidden_text import is_beside, reached


def either(camel: Any, snake: Any) -> Any:
    """Return the value of the spelling of a field that came."""
    return snake if camel is None else camel


# Views.


class Piece(msgspec.Struct, gc=False):
    """A value at a path, of a call whose arguments are streamed."""

    path: Any = msgspec.field(default=None, name="jsonPath")
    snake_path: Any = msgspec.field(default=None, name="json_path")
    string: Any = msgspec.field(default=None, name="stringValue")
    snake_string: Any = msgspec.field(default=None, name="string_value")
    number: msgspec.Raw = msgspec.field(default=NO_TEXT, name="numberValue")
    snake_number: msgspec.Raw = msgspec.field(default=NO_TEXT, name="number_value")
    bool: Any = msgspec.field(default=None, name="boolValue")
    snake_bool: Any = msgspec.field(default=None, name="bool_value")
    null: Any = msgspec.field(default=msgspec.UNSET, name="nullValue")  # its presence counts
    snake_null: Any = msgspec.field(default=msgspec.UNSET, name="null_value")
    more: Any = msgspec.field(default=None, name="willContinue")
    snake_more: Any = msgspec.field(default=None, name="will_continue")


class _Pieces(msgspec.Struct):
    of: list[Piece] | None = None


_PIECES = msgspec.json.Decoder(_Pieces)


class Call(msgspec.Struct, gc=False):
    """A call that the client executes, or a piece of one."""

    id: Any = None
    name: Any = None
    args: msgspec.Raw = NO_TEXT
    camel_pieces: msgspec.Raw = msgspec.field(default=NO_TEXT, name="partialArgs")
    snake_pieces: msgspec.Raw = msgspec.field(default=NO_TEXT, name="partial_args")
    camel_more: Any = msgspec.field(default=None, name="willContinue")
    snake_more: Any = msgspec.field(default=None, name="will_continue")

    @property
    def more(self) -> bool:
        """Return whether further parts of this call are announced."""
        return either(self.camel_more, self.snake_more) is True

    @property
    def in_pieces(self) -> bool:
        """Return whether the part holds values at paths."""
        return not is_blank("".join(self._lists()))

    def pieces(self) -> list[Piece] | None:
        """Return the values at paths; None if they cannot be read, and so are lost."""
        found = [decode(_PIECES, f'{{"of":{text}}}') for text in self._lists()]
        lists = [pieces.of for pieces in found if pieces is not None and pieces.of is not None]
        return None if len(lists) < len(found) else [piece for pieces in lists for piece in pieces]

    def _lists(self) -> list[str]:
        texts = (_text(self.camel_pieces), _text(self.snake_pieces))
        return [text for text in texts if text not in ("", "null")]


class Code(msgspec.Struct, gc=False):
    """Code that the provider runs."""

    id: Any = None
    code: Any = None
    language: Any = None


class Tool(msgspec.Struct, gc=False):
    """A call that the provider executes."""

    id: Any = None
    type: Any = msgspec.field(default=None, name="toolType")
    snake_type: Any = msgspec.field(default=None, name="tool_type")
    args: msgspec.Raw = NO_TEXT


class Part(msgspec.Struct, gc=False):
    """One part of an answer: text, a call, or the result of a server's call."""

    text: Any = None
    thought: Any = None
    signature: Any = msgspec.field(default=None, name="thoughtSignature")
    snake_signature: Any = msgspec.field(default=None, name="thought_signature")
    metadata: Any = msgspec.field(default=None, name="partMetadata")
    snake_metadata: Any = msgspec.field(default=None, name="part_metadata")
    call: Call | None = msgspec.field(default=None, name="functionCall")
    snake_call: Call | None = msgspec.field(default=None, name="function_call")
    code: Code | None = msgspec.field(default=None, name="executableCode")
    snake_code: Code | None = msgspec.field(default=None, name="executable_code")
    tool: Tool | None = msgspec.field(default=None, name="toolCall")
    snake_tool: Tool | None = msgspec.field(default=None, name="tool_call")
    # Parts without calls: results of the provider's tools, and media.
    result: msgspec.Raw = msgspec.field(default=NO_TEXT, name="codeExecutionResult")
    snake_result: msgspec.Raw = msgspec.field(default=NO_TEXT, name="code_execution_result")
    response: msgspec.Raw = msgspec.field(default=NO_TEXT, name="toolResponse")
    snake_response: msgspec.Raw = msgspec.field(default=NO_TEXT, name="tool_response")
    media: msgspec.Raw = msgspec.field(default=NO_TEXT, name="inlineData")
    snake_media: msgspec.Raw = msgspec.field(default=NO_TEXT, name="inline_data")
    file: msgspec.Raw = msgspec.field(default=NO_TEXT, name="fileData")
    snake_file: msgspec.Raw = msgspec.field(default=NO_TEXT, name="file_data")

    @property
    def kept(self) -> dict[str, Any]:
        """Return the values that must be sent back with the call, under the names of REST."""
        signature = either(self.signature, self.snake_signature)
        metadata = either(self.metadata, self.snake_metadata)
        kept = {"thoughtSignature": signature, "partMetadata": metadata}
        return {key: value for key, value in kept.items() if value is not None}

    @property
    def quiet(self) -> bool:
        """Return whether the part is known to hold no call."""
        camel = bytes(self.result) or bytes(self.response) or bytes(self.media) or bytes(self.file)
        snake = bytes(self.snake_result) or bytes(self.snake_response)
        return bool(camel or snake or bytes(self.snake_media) or bytes(self.snake_file))


class _Content(msgspec.Struct, gc=False):
    parts: list[Part] | None = None


class Candidate(msgspec.Struct, gc=False):
    """One of the alternative answers."""

    index: Any = None
    content: _Content | None = None
    reason: Any = msgspec.field(default=None, name="finishReason")
    snake_reason: Any = msgspec.field(default=None, name="finish_reason")
    message: Any = msgspec.field(default=None, name="finishMessage")
    snake_message: Any = msgspec.field(default=None, name="finish_message")


class Feedback(msgspec.Struct, gc=False):
    """The provider's feedback on the prompt."""

    reason: Any = msgspec.field(default=None, name="blockReason")
    snake_reason: Any = msgspec.field(default=None, name="block_reason")


class Response(msgspec.Struct, gc=False):
    """A `GenerateContentResponse`, or an error in its place."""

    candidates: list[Candidate] | None = None
    feedback: Feedback | None = msgspec.field(default=None, name="promptFeedback")
    snake_feedback: Feedback | None = msgspec.field(default=None, name="prompt_feedback")
    usage: Any = msgspec.field(default=None, name="usageMetadata")
    snake_usage: Any = msgspec.field(default=None, name="usage_metadata")
    model: Any = msgspec.field(default=None, name="modelVersion")
    snake_model: Any = msgspec.field(default=None, name="model_version")
    id: Any = msgspec.field(default=None, name="responseId")
    snake_id: Any = msgspec.field(default=None, name="response_id")
    error: Any = None


class Frame(Response, gc=False):
    """A frame: a response, or one that is one level down."""

    response: Response | None = None


def _text(raw: msgspec.Raw) -> str:
    return bytes(raw).decode("utf-8", "surrogatepass")


# Pieces of calls that no view reads.


class _KnownPiece(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    jsonPath: Any  # noqa: N815 - as REST spells it, here and below
    stringValue: Any = None  # noqa: N815
    numberValue: Any = None  # noqa: N815
    boolValue: Any = None  # noqa: N815
    nullValue: Any = None  # noqa: N815
    willContinue: Any = None  # noqa: N815


class _KnownCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    id: Any = None
    name: Any = None
    args: msgspec.Raw = NO_TEXT
    partialArgs: list[_KnownPiece] = []  # noqa: N815
    willContinue: Any = None  # noqa: N815


class _KnownPart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    text: Any = None
    thought: Any = None
    functionCall: _KnownCall | None = None  # noqa: N815
    thoughtSignature: Any = None  # noqa: N815


class _KnownContent(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    parts: list[_KnownPart] = []
    role: Any = None


class _KnownCandidate(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    content: _KnownContent | None = None
    index: Any = None
    finishReason: Any = None  # noqa: N815


class _KnownFrame(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A usual frame of which every member is known: nothing is hidden in it."""

    candidates: list[_KnownCandidate]
    usageMetadata: msgspec.Raw = NO_TEXT  # noqa: N815
    modelVersion: Any = None  # noqa: N815
    responseId: Any = None  # noqa: N815
    createTime: Any = None  # noqa: N815


_KNOWN = msgspec.json.Decoder(_KnownFrame)
_CALLS: Final = frozenset({"functionCall", "function_call", "functionCalls", "function_calls"})
_PARTIAL: Final = frozenset({"partialArgs", "partial_args"})
_MARKS: Final = frozenset({"jsonPath", "json_path", "willContinue", "will_continue"})
_OF_CALL: Final = frozenset(field.encode_name for field in msgspec.structs.fields(Call))
_OF_PIECE: Final = frozenset(field.encode_name for field in msgspec.structs.fields(Piece))


def may_hold_piece(text: str) -> bool:
    """Return whether a frame may hold a piece of a call, or a call without arguments that are to come in pieces."""
    return ('"args"' not in text and "unction" in text) or any(mark in text for mark in _MARKS)


def hides_piece(text: str, places: Iterable[str]) -> bool:
    """Return whether a frame holds a call or a value at a path that is not at its place, or an unknown member of one.

        {"functionCall":{"foo":[{"jsonPath":"$.port","stringValue":"Brest"}],"willContinue":true}}

    `places` are the paths of the calls that are read.
    """
    try:
        _KNOWN.decode(text)
    except UNREADABLE:
        return _hides_piece(plain(text), places)
    return False


def _hides_piece(frame: Any, places: Iterable[str]) -> bool:
    calls = [call for place in places for call in reached(frame, place)]
    pieces = [piece for call in calls for name in _PARTIAL & call.keys() for piece in _several(call[name])]
    n_calls, n_marked = _counted(frame)
    if n_calls > len(calls) or n_marked > sum(map(_is_marked, [*calls, *pieces])):
        return True
    unknown = (key for call in calls for key in call.keys() - _OF_CALL)
    return not all(map(is_beside, unknown)) or any(map(_is_odd, pieces))


def _is_odd(piece: Any) -> bool:
    return not isinstance(piece, dict) or not _OF_PIECE.issuperset(piece)


def _is_marked(value: Any) -> bool:
    return isinstance(value, dict) and not _MARKS.isdisjoint(value)


def _counted(frame: Any) -> tuple[int, int]:
    """Return how many calls are anywhere in a frame, and how many objects with a mark of calls in pieces."""
    values, n_calls, n_marked = [frame], 0, 0
    while values:
        value = values.pop()
        if isinstance(value, dict):
            n_calls += sum(len(_several(value[name])) for name in _CALLS & value.keys())
            n_marked += _is_marked(value)
            values += (inner for name, inner in value.items() if name != "args")
        elif isinstance(value, list):
            values += value
    return n_calls, n_marked


# Narrow views of usual frames.

T = TypeVar("T")


class _SpokenPart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    text: str
    thought: bool = False


class _UsualCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: str
    args: msgspec.Raw = NO_TEXT
    id: Any = None


class _CallPart(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    functionCall: _UsualCall  # noqa: N815 - as REST spells it
    thoughtSignature: Any = None  # noqa: N815


class _UsualContent(msgspec.Struct, Generic[T], gc=False):
    parts: T


class _UsualCandidate(msgspec.Struct, Generic[T], gc=False):
    content: _UsualContent[T]
    index: int = 0
    finishReason: None = None  # noqa: N815
    finish_reason: None = None


class Usual(msgspec.Struct, Generic[T], gc=False):
    """A response with one candidate, whose parts are all of one kind, and perhaps counts; it ends nothing."""

    candidates: tuple[_UsualCandidate[T]]
    responseId: str | None = None  # noqa: N815
    response_id: None = None
    usageMetadata: dict[str, Any] | None = None  # noqa: N815
    usage_metadata: None = None
    promptFeedback: None = None  # noqa: N815
    prompt_feedback: None = None
    response: None = None
    error: None = None


SPOKEN = msgspec.json.Decoder(Usual[tuple[_SpokenPart]])
CALLED = msgspec.json.Decoder(Usual[list[_CallPart]])


# Parts that go back as they came.

# Members that are reported otherwise, or belong to such members.
_LABELS: Final = frozenset(
    {
        *("thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"),
        *("text", "functionCall", "function_call"),
    }
)


def no_parts(_number: int) -> dict[str, Any]:
    """Return an empty part, for a dialect in which no part goes back."""
    return {}


class WireParts:
    """The parts of a frame as the wire has them, read on the first request.

    Those go back as they came that text, thoughts and the client's calls do not cover: code that Google ran and its
    result, calls of its tools and their responses, media, and parts of unknown kinds, each with all its members:

        {"executableCode": {"language": "PYTHON", "code": "…"}, "thoughtSignature": "…"}
        {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "…"}}
        {"inlineData": {"mimeType": "image/png", "data": "…"}, "thoughtSignature": "…"}
    """

    _text: str
    _candidates: Union[list[list[Any]], None]  # the parts of each candidate, once they were asked for

    def __init__(self, text: str) -> None:
        self._text = text
        self._candidates = None

    def of(self, place: int) -> Callable[[int], dict[str, Any]]:
        """Return the function that gives the parts of a candidate by their number."""
        return partial(self._part, place)

    def _part(self, place: int, number: int) -> dict[str, Any]:
        """Return a part, an empty one if it holds nothing but labels, or cannot be found."""
        if self._candidates is None:
            self._candidates = _parts(plain(self._text))
        parts = self._candidates[place] if place < len(self._candidates) else []
        part = parts[number] if number < len(parts) else None
        return part if isinstance(part, dict) and part.keys() - _LABELS else {}


def _parts(frame: Any) -> list[list[Any]]:
    response = frame if member(frame, "candidates") is not None else member(frame, "response")
    return [
        _several(member(member(candidate, "content"), "parts"))
        for candidate in _several(member(response, "candidates"))
    ]


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict) else listed(value)
