"""The lane of chat completions.

data: {"id":"r1","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":{"role":"assistant"}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f"}}]}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}}]}
data: {"id":"r1","model":"m","choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}
data: {"id":"r1","model":"m","choices":[],"usage":{"total_tokens":9}}
data: [DONE]
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, Union

import msgspec

from wholecall.deltas import Run
from wholecall.dialects.decode import UNREADABLE
from wholecall.dialects.labels import id_label
from wholecall.dialects.openai.chat import THOUGHT, ChatTranslator
from wholecall.dialects.openai.chat_views import CALL_PIECE, TEXT_PIECE, THOUGHT_PIECE
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.unread import with_unread
from wholecall.framing.frame import Frame
from wholecall.output.events import Event, ReasoningDelta, TextDelta, TurnStarted
from wholecall.stream.lanes.lane import REASONING, Lane, LaneCall, Row, Source

__all__ = ["ChatLane"]

_Text = Annotated[str, msgspec.Meta(min_length=1)]
_Label = Annotated[str, msgspec.Meta(pattern=r"^[\w.:/-]{1,64}\Z")]
_Name = Annotated[str, msgspec.Meta(pattern=r"^[a-zA-Z0-9_.:/-]{1,64}\Z")]
_Nothing = Union[Literal[""], None]
_NoList = Union[Annotated[list[Any], msgspec.Meta(max_length=0)], None]
_Counts = Union[dict[str, Any], None]


class _Function(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    name: Union[_Name, Literal[""], None] = None
    arguments: Union[str, None] = None


class _Call(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    index: Annotated[int, msgspec.Meta(ge=0)]
    function: _Function
    id: Union[_Label, Literal[""], None] = None
    type: Union[Literal["function", ""], None] = None


class _Delta(msgspec.Struct, gc=False):
    role: Union[str, None] = None
    content: Union[str, None] = None
    tool_calls: Union[Annotated[list[_Call], msgspec.Meta(max_length=1)], None] = None
    reasoning_content: Union[str, None] = None
    reasoning: Union[str, None] = None
    reasoning_details: _NoList = None
    refusal: _Nothing = None
    function_call: None = None
    executed_tools: _NoList = None
    toolCalls: _NoList = None  # noqa: N815 - Oracle's spelling


class _Choice(msgspec.Struct, gc=False):
    delta: _Delta
    index: Literal[0] = 0
    finish_reason: Union[str, None] = None
    stop_reason: None = None
    message: None = None
    usage: None = None


class _Chunk(msgspec.Struct, gc=False):
    id: _Text
    model: _Text
    choices: Annotated[list[_Choice], msgspec.Meta(max_length=1)]
    object: Literal["chat.completion.chunk"]
    usage: _Counts = None
    error: None = None
    x_groq: None = None
    message: None = None
    toolCalls: _NoList = None  # noqa: N815 - Oracle's spelling
    type: None = None
    prompt_filter_results: None = None


class _First(_Chunk, gc=False, forbid_unknown_fields=True):
    """The first chunk, which has to be of this dialect only: every other member could be another's."""

    created: Any = None
    service_tier: Any = None
    system_fingerprint: Any = None
    provider: Any = None
    obfuscation: Any = None


_first = msgspec.json.Decoder(_First).decode
_any = msgspec.json.Decoder(_Chunk).decode
_call, _text, _thought = CALL_PIECE.decode, TEXT_PIECE.decode, THOUGHT_PIECE.decode
_REASONS = frozenset({"stop", "length", "tool_calls"})


class ChatLane(Lane):
    """Chunks of one choice."""

    dialect = "chat-completions"

    def run(self, row: Row, translator: ChatTranslator) -> Run:
        """Return pieces in a row as the translator would."""
        of = row.of
        place = of.index if isinstance(of, LaneCall) else THOUGHT if of is self.thought else None
        return Run(translator.goes_on(0, place), row.texts)

    # Pieces.

    def _more_text(self, text: str, events: list[Event[Any]]) -> bool:
        try:
            chunk = _text(text)
        except UNREADABLE:
            return False
        choice = chunk.choices[0]
        if choice.index or chunk.usage:
            return False
        piece = choice.delta.content
        self.text.add(piece)
        self._end += len(piece)
        events.append(TextDelta(0, 0, piece))
        return True

    def _more_thought(self, text: str, events: list[Event[Any]]) -> bool:
        try:
            chunk = _thought(text)
        except UNREADABLE:
            return False
        choice = chunk.choices[0]
        delta = choice.delta
        piece = delta.reasoning_content or delta.reasoning
        if not piece or choice.index or chunk.usage or delta.reasoning_details:
            return False
        self.thought.add(piece)
        self._end += len(piece)
        events.append(ReasoningDelta(0, 0, piece))
        return True

    def _more_arguments(self, text: str, events: list[Event[Any]]) -> bool:
        try:
            chunk = _call(text)
        except UNREADABLE:
            return False
        choice = chunk.choices[0]
        entry = choice.delta.tool_calls[0]
        call = self.calls[-1]
        if entry.index != call.index or choice.index or chunk.usage:
            return False
        if not self._piece(call, entry.function.arguments, events):
            return False
        self._end += 1
        return True

    def _settle(self, text: str, of: Source | None = None) -> bool:
        """Keep a frame, and let more of a text follow, if it began or continued one."""
        if not self._keep(text):
            return False
        if of is None:
            self._goes_on(None)
        elif isinstance(of, LaneCall):
            self._goes_on(of, ChatLane._more_arguments)
        else:
            self._goes_on(of, ChatLane._more_text if of is self.text else ChatLane._more_thought)
        return True

    # Other frames.

    def _take(self, text: str, events: list[Event[Any]]) -> bool:
        if text == "[DONE]":
            return self.reason is not None and self._settle(text)
        is_first = not self.id
        try:
            chunk = _first(text) if is_first else _any(text)
        except UNREADABLE:
            return False
        if is_first:
            if id_label(chunk.id) is None:
                return False
            self.id, self.model = chunk.id, chunk.model
            events.append(TurnStarted(0, 0, self.dialect, chunk.id, chunk.model))
        elif chunk.id != self.id or chunk.model != self.model:
            return False
        if chunk.usage:
            self.usage.update(chunk.usage)
        if chunk.choices:
            return self.reason is None and self._take_choice(
                chunk.choices[0], text, events, is_first=is_first
            )
        return not is_first and bool(chunk.usage) and self._settle(text)

    def _take_choice(self, choice: _Choice, text: str, events: list[Event[Any]], *, is_first: bool) -> bool:
        delta, reason = choice.delta, choice.finish_reason
        thought = delta.reasoning_content or delta.reasoning
        says = [one for one in (thought, delta.content, delta.tool_calls) if one]
        if len(says) > 1 or not (says or reason or is_first or delta.role is None):
            return False
        if delta.tool_calls:
            taken = self._take_call(delta.tool_calls[0], text, events)
        elif ("tool" in text or "unction" in text) and with_unread([], Frame("message", text)):
            taken = False
        elif thought:
            if not self.thought.size:
                self._places.append((self.text.size, REASONING))
            self.thought.add(thought)
            events.append(ReasoningDelta(0, 0, thought))
            taken = self._settle(text, self.thought)
        elif delta.content:
            self.text.add(delta.content)
            events.append(TextDelta(0, 0, delta.content))
            taken = self._settle(text, self.text)
        else:
            taken = self._settle(text)
        return taken and (not reason or self._take_reason(reason, events))

    def _take_call(self, entry: _Call, text: str, events: list[Event[Any]]) -> bool:
        """Take the head of a new call, or a piece of the latest one."""
        function = entry.function
        if entry.index == len(self.calls):
            if not function.name or entry.id is None or id_label(entry.id) is None:
                return False
            call = self._begin(entry.index, entry.id, function.name)
        elif entry.index == len(self.calls) - 1 and function.arguments and not (entry.id or function.name):
            call = self.calls[-1]
        else:
            return False
        if call is None or (function.arguments and not self._piece(call, function.arguments, events)):
            return False
        return self._settle(text, None if function.name and function.arguments else call)

    def _take_reason(self, raw: str, events: list[Event[Any]]) -> bool:
        known = turn_reason(raw)
        if known is None or known[0] not in _REASONS or (known[0] == "tool_calls") != bool(self.calls):
            return False
        self.reason, self.provider_reason = known
        self._goes_on(None)
        return self._finish_calls(events)
