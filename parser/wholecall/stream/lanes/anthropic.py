"""The lane of Anthropic Messages.

event: message_start        {"type":"message_start","message":{"id":"m1","model":"m","content":[],"usage":{…}}}
event: content_block_start  {"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t1","name":"f","input":{}}}
event: content_block_delta  {"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{}"}}
event: content_block_stop   {"type":"content_block_stop","index":0}
event: message_delta        {"type":"message_delta","delta":{"stop_reason":"tool_use"},"usage":{…}}
event: message_stop         {"type":"message_stop"}

Blocks come one after the other. A call that its block has closed is emitted at the next call or the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Annotated, Any, ClassVar, Final, Literal, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.deltas import Piecewise
from wholecall.dialects import decode, labels
from wholecall.dialects.anthropic import AnthropicTranslator, InputPiece, Piece, TextPiece, ThinkingPiece
from wholecall.framing.frame import Frame
from wholecall.stream.lanes import words
from wholecall.stream.lanes.answer import Act
from wholecall.stream.lanes.lane import Lane, SdkPiece
from wholecall.stream.lanes.rows import LaneCall, Row, Source
from wholecall.stream.lanes.texts import is_unread, named_event, named_events

_NAMED: Final = "event: "
_PIECE: Final = "event: content_block_delta\ndata: "
_BETWEEN: Final = f"\n\n{_PIECE}"


class _Message(msgspec.Struct, gc=False):
    id: words.Word
    model: words.Word
    content: words.NoList = None
    stop_reason: None = None
    container: None = None
    usage: words.Counts = None


class _MessageStart(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag="message_start"):
    message: _Message


class _Block(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: Literal["text", "thinking", "tool_use"]
    id: Union[str, None] = None
    name: Union[str, None] = None
    input: Union[Annotated[dict[str, Any], msgspec.Meta(max_length=0)], None] = None
    text: words.Nothing = None
    thinking: words.Nothing = None
    signature: words.Nothing = None
    data: words.Nothing = None
    citations: words.NoList = None
    caller: Union[dict[str, Any], None] = None
    toolset_name: None = None
    server_name: None = None


class _BlockStart(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag="content_block_start"):
    index: int
    content_block: _Block
    delta: None = None
    message: None = None


class _BlockStop(msgspec.Struct, gc=False, tag="content_block_stop"):
    index: int
    delta: None = None
    content_block: None = None
    message: None = None


class _Signature(msgspec.Struct, gc=False, tag="signature_delta"):
    signature: words.Word
    thinking: words.Nothing = None


class _Delta(msgspec.Struct, gc=False, tag="content_block_delta"):
    index: int
    delta: Union[InputPiece, TextPiece, ThinkingPiece, _Signature]
    content_block: None = None
    message: None = None


class _Change(msgspec.Struct, gc=False):
    stop_reason: str
    container: None = None


class _MessageDelta(msgspec.Struct, gc=False, tag="message_delta"):
    delta: _Change
    usage: words.Counts = None
    message: None = None


class _MessageStop(msgspec.Struct, gc=False, tag="message_stop"):
    pass


class _Ping(msgspec.Struct, gc=False, tag="ping"):
    pass


class _Whole(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    """A block of a whole message."""

    type: Literal["text", "thinking", "tool_use"]
    text: Union[str, None] = None
    citations: words.NoList = None
    thinking: Union[str, None] = None
    signature: Union[words.Word, None] = None
    id: Union[str, None] = None
    name: Union[str, None] = None
    input: msgspec.Raw = decode.NO_TEXT
    caller: Union[dict[str, Any], None] = None


class _Body(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag="message"):
    """A whole message."""

    id: words.Word
    model: words.Word
    content: list[_Whole]
    stop_reason: str
    role: Any = None
    stop_sequence: Any = None
    container: None = None
    usage: words.Counts = None


_body = msgspec.json.Decoder(_Body).decode
_piece = msgspec.json.Decoder(Piece).decode
_any = msgspec.json.Decoder(
    Union[_MessageStart, _BlockStart, _Delta, _BlockStop, _MessageDelta, _MessageStop, _Ping]
).decode


_DELTAS: Final[Mapping[str, tuple[type, str]]] = {
    "input_json_delta": (InputPiece, "partial_json"),
    "text_delta": (TextPiece, "text"),
    "thinking_delta": (ThinkingPiece, "thinking"),
}


def _block_delta(event: Any) -> SdkPiece | None:
    fields = event.__dict__
    of_delta = fields["delta"].__dict__
    kind, name = _DELTAS[of_delta["type"]]
    return None if event.__pydantic_extra__ else ((fields["index"], kind), of_delta[name], 0)


class AnthropicLane(Lane):
    """A lane for the events of one message, whose blocks come one after the other."""

    dialect = "anthropic"
    _may_be_empty = True
    _READERS = {"RawContentBlockDeltaEvent": _block_delta}  # noqa: RUF012 - as in the base class
    _begins, _n_lines, _PREFIX = _NAMED.encode(), 2, _PIECE
    _is_repeating = True

    __slots__ = ("_block", "_closed", "_input", "_is_whole", "_kind")

    def __init__(self, asked: words.Asked) -> None:
        super().__init__(asked)
        self._block = -1  # the number of the latest block, and its type while it is open
        self._kind = ""
        self._closed: LaneCall | None = None  # which was not emitted yet
        self._input = ""  # of a call that came whole
        self._is_whole = False

    def _texts(self, block: str) -> Iterable[str] | None:
        """Return the texts of pieces without their first line, those of other events with it."""
        if block.startswith(_PIECE):
            texts = block[len(_PIECE) :].split(_BETWEEN)
            if "\n" not in "".join(texts):
                return texts
        events = named_events(block)
        return events and [event.removeprefix(_PIECE) for event in events]

    def _frame(self, text: str) -> Frame:
        return named_event(text) or Frame("content_block_delta", text)

    def _in_common(self, row: Row, translator: AnthropicTranslator) -> Piecewise:
        of = translator.goes_on(*row.label)
        assert of is not None  # the block is of a known type
        return of

    def _more_piece(self, text: str, _n: int) -> str | None:
        try:
            event = _piece(text)
        except decode.UNREADABLE:
            return None
        delta = event.delta
        is_more = (event.index, type(delta)) == self._label
        return delta.text if is_more else None  # the first piece of a call is empty

    # Other frames.

    def _take(self, frame: Frame, events: list[Event[Any]]) -> bool:
        try:
            event = _any(frame.data)
        except decode.UNREADABLE:
            return not self._log and self._take_whole(frame, events)
        is_call = type(event) is _BlockStart and event.content_block.type == "tool_use"
        if not is_call and is_unread(frame, AnthropicTranslator.PIECES):
            return False
        if type(event) is _Ping:
            return frame.event in ("", "ping") and self._ping(frame)
        tag, take = self._TAKE[type(event)]
        if frame.event not in ("", tag) or self._is_whole or not (self.id or type(event) is _MessageStart):
            return False
        return self._keep(frame) and take(self, event, events)

    def _take_whole(self, frame: Frame, events: list[Event[Any]]) -> bool:
        """Take a whole message."""
        try:
            body = _body(frame.data)
        except decode.UNREADABLE:
            return False
        called = any(block.type == "tool_use" for block in body.content)
        if not self._take_reason(body.stop_reason, called=called):
            return False
        if (
            labels.id_label(body.id) is None
            or not self._keep(frame)
            or (not called and is_unread(frame, AnthropicTranslator.PIECES))
        ):
            return False
        self._open_turn(body.id, body.model, events)
        self._count(body.usage)
        self._is_whole = True
        return all(self._take_block(block, events) for block in body.content) and self._tell(events)

    def _take_block(self, block: _Whole, events: list[Event[Any]]) -> bool:
        """Take a block of a whole message."""
        if block.type == "text":
            self._places.append((self.text.size, None))
            return bool(block.text) and self.say(block.text or "", events)
        if block.type == "thinking":
            self._begin_thought().signature = block.signature
            return bool(block.thinking) and self.think(block.thinking or "", events)
        text = decode.wire_text(block.input)
        if not block.id or not block.name or decode.is_blank(text):
            return False
        if not self._tell(events):
            return False
        extra = None if block.caller is None else {"caller": block.caller}
        self._closed, self._input = self._begin(block.id, block.name, extra), text
        return self._closed is not None

    def _ping(self, frame: Frame) -> bool:
        """Take a ping, after which the same text continues."""
        open_text = self._of, self._label, self._more, self._act
        taken = self._keep(frame)
        self._goes_on(*open_text)
        return taken and bool(self.id)

    def _message_start(self, event: _MessageStart, events: list[Event[Any]]) -> bool:
        message = event.message
        if self.id or labels.id_label(message.id) is None:
            return False
        self._open_turn(message.id, message.model, events)
        self._count(message.usage)
        return True

    def _count(self, usage: dict[str, Any] | None) -> None:
        self.usage |= {name: count for name, count in (usage or {}).items() if count is not None}

    def _block_start(self, event: _BlockStart, events: list[Event[Any]]) -> bool:
        block = event.content_block
        if self._kind or event.index != self._block + 1 or self.reason is not None:
            return False
        self._block, self._kind = event.index, block.type
        if block.type == "tool_use":
            return self._tell(events) and self._call_start(block)
        if block.type == "text":
            self._places.append((self.text.size, None))
            self._opens(self.text, TextPiece, Lane.say)
        else:
            self._opens(self._begin_thought(), ThinkingPiece, Lane.think)
        return True

    def _call_start(self, block: _Block) -> bool:
        if not block.id or not block.name or block.input is None:
            return False
        call = self._begin(block.id, block.name, None if block.caller is None else {"caller": block.caller})
        if call is None:
            return False
        self._opens(call, InputPiece, Lane.argue)
        return True

    def _opens(self, of: Source, kind: type, act: Act) -> None:
        """Let the pieces that follow continue the text of the block that begins."""
        self._goes_on(of, (self._block, kind), AnthropicLane._more_piece, act)

    def _sealed(self, event: _Delta, _events: list[Event[Any]]) -> bool:
        """Take the seal of a block of thinking, its last piece."""
        if event.index != self._block or self._kind != "thinking" or type(event.delta) is not _Signature:
            return False
        self.thoughts[-1].signature = event.delta.signature
        self._kind = "sealed"
        return True

    def _block_stop(self, event: _BlockStop, _events: list[Event[Any]]) -> bool:
        if event.index != self._block or not self._kind:
            return False
        if self._kind == "tool_use":
            self._closed = self.calls[-1]
        self._kind = ""
        return True

    def _tell(self, events: list[Event[Any]]) -> bool:
        """Emit the call that its block has closed."""
        closed, self._closed = self._closed, None
        if closed is not None and self._input and not self.argue(self._input, events):
            return False
        return closed is None or self._finish([closed], events)

    def _message_delta(self, event: _MessageDelta, events: list[Event[Any]]) -> bool:
        if self._kind or self.reason is not None:
            return False
        self._count(event.usage)
        is_plain = self._take_reason(event.delta.stop_reason, called=bool(self.calls))
        return is_plain and self._tell(events)

    def _message_stop(self, *_: object) -> bool:
        self._is_whole = self.reason is not None
        return self._is_whole

    _TAKE: ClassVar[Mapping[type, tuple[str, Callable[..., bool]]]] = {
        _MessageStart: ("message_start", _message_start),
        _BlockStart: ("content_block_start", _block_start),
        _Delta: ("content_block_delta", _sealed),
        _BlockStop: ("content_block_stop", _block_stop),
        _MessageDelta: ("message_delta", _message_delta),
        _MessageStop: ("message_stop", _message_stop),
    }
