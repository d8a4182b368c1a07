"""The lane of chat completions.

data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant"}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f"}}]}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
data: {"id":"r1","model":"m","choices":[],"usage":{"total_tokens":9}}
data: [DONE]
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final, Literal, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.deltas import Delta, Piecewise
from wholecall.dialects.decode import UNREADABLE
from wholecall.dialects.labels import id_label
from wholecall.dialects.openai.chat.chunks import CALL_PIECE, TEXT_PIECE, THOUGHT_PIECE
from wholecall.dialects.openai.chat.translator import THOUGHT, ChatTranslator
from wholecall.framing.frame import Frame
from wholecall.machine.kept import Kept
from wholecall.stream.lanes import words
from wholecall.stream.lanes.lane import Lane, SdkPiece
from wholecall.stream.lanes.rows import Row
from wholecall.stream.lanes.texts import data_of, is_unread


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: Union[str, None] = None
    arguments: Union[str, None] = None


class _Call(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    index: Annotated[int, msgspec.Meta(ge=0)]
    function: _Function
    id: Union[str, None] = None
    type: Union[Literal["function", ""], None] = None


class _Delta(msgspec.Struct, gc=False):
    role: Union[str, None] = None
    content: Union[str, None] = None
    tool_calls: Union[Annotated[list[_Call], msgspec.Meta(max_length=1)], None] = None
    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    reasoning_details: Union[Annotated[list[dict[str, Any]], msgspec.Meta(max_length=1)], None] = None
    refusal: words.Nothing = None
    function_call: None = None
    executed_tools: words.NoList = None
    toolCalls: words.NoList = None  # noqa: N815 - Oracle's spelling


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta
    index: Literal[0] = 0
    finish_reason: Union[str, None] = None
    stop_reason: None = None
    message: None = None
    usage: None = None


class _Groq(msgspec.Struct, gc=False):
    usage: words.Counts = None
    error: None = None


class _Chunk(msgspec.Struct, gc=False):
    id: words.Word
    model: words.Word
    choices: Annotated[list[_Choice], msgspec.Meta(max_length=1)]
    object: Literal["chat.completion.chunk"]
    usage: words.Counts = None
    error: None = None
    x_groq: Union[_Groq, None] = None
    message: None = None
    toolCalls: words.NoList = None  # noqa: N815 - Oracle's spelling
    type: None = None
    prompt_filter_results: None = None


class _Filter(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """Azure's message before the first chunk: the judgement of the prompt."""

    choices: Annotated[list[Any], msgspec.Meta(max_length=0)]
    prompt_filter_results: list[Any]
    id: words.Nothing = None
    model: words.Nothing = None
    object: words.Nothing = None
    created: Literal[0] = 0
    usage: None = None
    service_tier: None = None
    system_fingerprint: None = None


class _First(_Chunk, gc=False, forbid_unknown_fields=True):
    """The first chunk, which must be of this dialect only: every other member could be another dialect's."""

    created: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None
    obfuscation: Any = None


class _BodyFunction(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: words.Word
    arguments: words.Word


class _BodyCall(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    id: words.Word
    function: _BodyFunction
    type: Union[Literal["function"], None] = None


class _BodyMessage(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    role: Any = None
    content: Union[str, None] = None
    tool_calls: Union[list[_BodyCall], None] = None
    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    refusal: words.Nothing = None
    annotations: words.NoList = None
    function_call: None = None
    audio: None = None


class _BodyChoice(msgspec.Struct, gc=False):
    message: _BodyMessage
    finish_reason: str
    index: Literal[0] = 0
    delta: None = None
    stop_reason: None = None
    usage: None = None


class _Body(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A whole response."""

    id: words.Word
    model: words.Word
    choices: Annotated[list[_BodyChoice], msgspec.Meta(min_length=1, max_length=1)]
    object: Literal["chat.completion"]
    usage: words.Counts = None
    created: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None


_body = msgspec.json.Decoder(_Body).decode
_filter = msgspec.json.Decoder(_Filter).decode
_first = msgspec.json.Decoder(_First).decode
_any = msgspec.json.Decoder(_Chunk).decode
_call, _text, _thought = CALL_PIECE.decode, TEXT_PIECE.decode, THOUGHT_PIECE.decode

# Members of a chunk other than its choices that the wide view reads, and those of a choice other than its delta.
_OF_CHUNK: Final = frozenset({"error", "x_groq", "message", "toolCalls"})
_OF_CHOICE: Final = frozenset({"message", "usage", "stop_reason"})


def _chunk(chunk: Any) -> SdkPiece | None:
    """Return the piece of a chunk of openai's, if it holds nothing else."""
    fields, more = chunk.__dict__, chunk.__pydantic_extra__
    [choice] = fields["choices"]
    if fields["usage"] is not None or (more and not _OF_CHUNK.isdisjoint(more)):
        return None
    fields, more = choice.__dict__, choice.__pydantic_extra__
    if fields["finish_reason"] is not None or fields["index"] != 0:
        return None
    if more and not _OF_CHOICE.isdisjoint(more):
        return None
    delta = fields["delta"]
    fields, more = delta.__dict__, delta.__pydantic_extra__
    if more:
        return _said_besides(fields, more)
    if [*fields.values()].count(None) != len(fields) - 1:
        return None
    text = fields["content"]
    return (None, text, 0) if text else _argument(fields["tool_calls"])


def _said_besides(fields: dict[str, Any], more: dict[str, Any]) -> SdkPiece | None:
    """Return the piece of a delta with members that the SDK does not declare."""
    said = [member for each in (fields, more) for member in each.items() if member[1]]
    [(name, value)] = said
    places = {"content": None, "reasoning_content": THOUGHT, "reasoning": THOUGHT}
    return (places[name], value, 0)


def _argument(calls: list[Any]) -> SdkPiece | None:
    [call] = calls
    fields, function = call.__dict__, call.function.__dict__
    if fields["id"] is not None or fields["type"] is not None or function["name"] is not None:
        return None
    if call.__pydantic_extra__ or call.function.__pydantic_extra__ or type(fields["index"]) is not int:
        return None
    return fields["index"], function["arguments"], 0


def _labels(detail: dict[str, Any], text: str) -> dict[str, Any] | None:
    """Return a detail of reasoning with an empty text; None if the text differs, or if more goes back."""
    if detail.get("type") != "reasoning.text" or detail.get("text") != text:
        return None
    return None if detail.get("signature") or detail.get("data") else {**detail, "text": ""}


class ChatLane(Lane):
    """A lane for the chunks of one choice."""

    dialect = "chat-completions"
    _may_be_empty = False
    _READERS = {"ChatCompletionChunk": _chunk}  # noqa: RUF012 - as in the base class
    _begins, _n_lines, _PREFIX = b"data: ", 1, "data: "
    _is_repeating = True

    __slots__ = ("_detail",)

    def __init__(self, asked: words.Asked) -> None:
        super().__init__(asked)
        self._detail: Kept | None = None  # of the reasoning, to be sent back

    def _texts(self, block: str) -> Iterable[str] | None:
        return data_of(block)

    def _frame(self, text: str) -> Frame:
        return Frame("message", text)

    def _in_common(self, row: Row, translator: ChatTranslator) -> Piecewise:
        return translator.goes_on(0, THOUGHT if type(row.label) is dict else row.label)

    def run(self, row: Row, translator: ChatTranslator) -> list[Delta]:
        """Return the translator's deltas for a row of pieces, and for details of reasoning that repeat them."""
        deltas = super().run(row, translator)
        if type(row.label) is dict:
            translator.keep(deltas, 0, [{**row.label, "text": "".join(row.texts)}])
        return deltas

    # Pieces.

    def _more_text(self, text: str, _n: int) -> str | None:
        try:
            chunk = _text(text)
        except UNREADABLE:
            return None
        choice = chunk.choices[0]
        if choice.index:
            return None
        if chunk.usage:
            self.count(chunk.usage)
        return choice.delta.content

    def _more_thought(self, text: str, _n: int) -> str | None:
        try:
            chunk = _thought(text)
        except UNREADABLE:
            return None
        choice = chunk.choices[0]
        delta = choice.delta
        piece = delta.reasoning_content or delta.reasoning
        if not piece or choice.index or delta.reasoning_details:
            return None
        if chunk.usage:
            self.count(chunk.usage)
        return piece

    def _more_detailed(self, text: str, _n: int) -> str | None:
        """Read a piece of reasoning that a detail repeats."""
        try:
            chunk = _thought(text)
        except UNREADABLE:
            return None
        choice = chunk.choices[0]
        delta = choice.delta
        piece, details = delta.reasoning_content or delta.reasoning, delta.reasoning_details
        if not piece or choice.index or not details or len(details) > 1:
            return None
        if _labels(details[0], piece) != self._label:
            return None
        if chunk.usage:
            self.count(chunk.usage)
        self._keep_detail(piece)
        return piece

    def _keep_detail(self, text: str) -> None:
        """Keep the part to be sent back: one part, of all pieces."""
        if self._detail is None:
            self._detail = Kept(self._label, grows="text")
            self._places.append((self.text.size, self._detail))
        self._detail.pieces.add(text)

    def forget(self) -> None:
        """Forget the text so far, and the part to be sent back."""
        super().forget()
        self._detail = None

    def _more_arguments(self, text: str, _n: int) -> str | None:
        try:
            chunk = _call(text)
        except UNREADABLE:
            return None
        choice = chunk.choices[0]
        entry = choice.delta.tool_calls[0]
        if entry.index != self._label or choice.index:
            return None
        if chunk.usage:
            self.count(chunk.usage)
        return entry.function.arguments

    # Other frames.

    def _take(self, frame: Frame, events: list[Event[Any]]) -> bool:
        text = frame.data
        if text == "[DONE]":
            return self.reason is not None and self._keep(frame)
        is_first = not self.id
        try:
            chunk = _first(text) if is_first else _any(text)
        except UNREADABLE:
            return not self._log and (self._take_filter(frame) or self._take_whole(frame, events))
        if is_first:
            if id_label(chunk.id) is None:
                return False
            self._open_turn(chunk.id, chunk.model, events)
        elif chunk.id != self.id or chunk.model != self.model:
            return False
        if chunk.usage:
            self.usage.update(chunk.usage)
        if chunk.x_groq is not None and chunk.x_groq.usage:
            self.usage.update(chunk.x_groq.usage)
        if not self._keep(frame):
            return False
        if chunk.choices:
            return self.reason is None and self._take_choice(
                chunk.choices[0], frame, events, is_first=is_first
            )
        return not is_first and bool(chunk.usage)

    def _take_filter(self, frame: Frame) -> bool:
        """Take a message that may come before the first chunk."""
        try:
            _filter(frame.data)
        except UNREADABLE:
            return False
        return not is_unread(frame, ChatTranslator.PIECES) and self._keep(frame)

    def _take_whole(self, frame: Frame, events: list[Event[Any]]) -> bool:
        """Take a whole response."""
        try:
            body = _body(frame.data)
        except UNREADABLE:
            return False
        [choice] = body.choices
        message = choice.message
        wanted, thought = message.tool_calls or (), message.reasoning_content or message.reasoning
        if not self._take_reason(choice.finish_reason, called=bool(wanted)):
            return False
        if (
            id_label(body.id) is None
            or not self._keep(frame)
            or (not wanted and is_unread(frame, ChatTranslator.PIECES))
        ):
            return False
        self._open_turn(body.id, body.model, events)
        self.usage.update(body.usage or {})
        if thought:
            self._begin_thought()
            self.think(thought, events)
        if message.content:
            self.say(message.content, events)
        return self._take_calls(
            [(one.id, one.function.name, one.function.arguments) for one in wanted], events
        )

    def _take_choice(
        self, choice: _Choice, frame: Frame, events: list[Event[Any]], *, is_first: bool
    ) -> bool:
        delta, reason = choice.delta, choice.finish_reason
        thought = delta.reasoning_content or delta.reasoning
        calls = delta.tool_calls
        n_said = bool(thought) + bool(delta.content) + bool(calls)
        if n_said > 1 or not (n_said or reason or is_first or delta.role is None):
            return False
        taken = self._take_call(calls[0], events) if calls else not is_unread(frame, ChatTranslator.PIECES)
        if delta.reasoning_details:
            taken = taken and self._take_detailed(thought, delta.reasoning_details[0], events)
        elif thought:
            self._thinks(thought, events, THOUGHT, ChatLane._more_thought)
        elif delta.content:
            self._says(delta.content, events, None, ChatLane._more_text)
        if taken and reason:
            return self._take_reason(reason, called=bool(self.calls)) and self._finish(self.calls, events)
        return taken

    def _take_detailed(self, thought: str | None, detail: dict[str, Any], events: list[Event[Any]]) -> bool:
        """Take reasoning that a detail repeats; return False if it is another detail than before."""
        labels = _labels(detail, thought or "")
        if not thought or labels is None or (self._detail and self._detail.value != labels):
            return False
        self._thinks(thought, events, labels, ChatLane._more_detailed)
        self._keep_detail(thought)
        return True

    def _take_call(self, entry: _Call, events: list[Event[Any]]) -> bool:
        """Take the head of a new call, or a piece of the latest one."""
        function = entry.function
        if entry.index == len(self.calls):
            if not function.name or not entry.id:
                return False
            call = self._begin(entry.id, function.name)
        elif entry.index == len(self.calls) - 1 and function.arguments and not (entry.id or function.name):
            call = self.calls[-1]
        else:
            return False
        if call is None or (function.arguments and not self.argue(function.arguments, events)):
            return False
        if not (function.name and function.arguments):
            self._goes_on(call, call.index, ChatLane._more_arguments, Lane.argue)
        return True
