"""The lane of OpenAI Responses.

event: response.created                        {"type":…,"sequence_number":0,"response":{"id":"r1","model":"m","output":[]}}
event: response.output_item.added              {…,"output_index":0,"item":{"type":"function_call","id":"i1","call_id":"c1","name":"f","arguments":""}}
event: response.function_call_arguments.delta  {…,"output_index":0,"item_id":"i1","delta":"{}"}
event: response.function_call_arguments.done   {…,"output_index":0,"item_id":"i1","arguments":"{}"}
event: response.output_item.done               {…,"output_index":0,"item":{…,"arguments":"{}","status":"completed"}}
event: response.completed                      {…,"response":{"id":"r1","status":"completed","output":[…],"usage":{…}}}

Items come one after the other, or calls side by side: then each event names its call by index and id. Events are
numbered without a gap. A call is emitted when its item is done. A restatement has to be equal.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import reduce
from operator import or_
from typing import Annotated, Any, ClassVar, Final, Literal, Union

import msgspec

from wholecall.calls.output.events import Event
from wholecall.deltas import Piecewise
from wholecall.dialects import decode, labels
from wholecall.dialects.openai.responses.events import COMMON, CallPiece, TextPiece, ThoughtPiece
from wholecall.dialects.openai.responses.translator import ResponsesTranslator
from wholecall.framing.frame import Frame
from wholecall.stream.lanes.answer import AT_ONCE, Act, no_more
from wholecall.stream.lanes.lane import Lane, SdkPiece
from wholecall.stream.lanes.rows import LaneCall, Row, Source, Strand, Weave
from wholecall.stream.lanes.texts import is_unread, named_event, named_events
from wholecall.stream.lanes.words import Asked, Counts, Id, NoList, Word, is_id

_NAMED: Final = "event: "
_NO_PIECE: Final = "event: none\n"  # no event begins so
_UNFINISHED: Final = ("queued", "in_progress")
_PIECES: Final = frozenset(
    {
        "response.output_text.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_text.delta",
        "response.function_call_arguments.delta",
    }
)
_Index = Annotated[int, msgspec.Meta(ge=0)]


class _Message(msgspec.Struct, gc=False, tag="message"):
    id: Id
    content: Union[list[dict[str, Any]], None] = None


class _Reasoning(msgspec.Struct, gc=False, tag="reasoning"):
    id: Id
    summary: Any = None
    content: Any = None
    encrypted_content: Union[Word, None] = None


class _Call(msgspec.Struct, gc=False, tag="function_call"):
    id: Word
    call_id: Word
    name: Word
    arguments: msgspec.Raw
    status: Union[Literal["in_progress", "completed"], None] = None
    namespace: None = None
    caller: None = None
    async_: None = msgspec.field(name="async", default=None)
    server_label: None = None
    fingerprint: None = None
    pending_safety_checks: None = None
    content: None = None
    summary: None = None


_Item = Union[_Message, _Reasoning, _Call]


class _Part(msgspec.Struct, gc=False, forbid_unknown_fields=True):
    type: str
    text: str
    annotations: NoList = None
    logprobs: Any = None


class _WholeMessage(msgspec.Struct, gc=False, forbid_unknown_fields=True, tag="message"):
    """A message of which only the text is kept."""

    id: Id
    content: list[_Part]
    role: Any = None
    status: Any = None


class _Response(msgspec.Struct, gc=False):
    id: Id
    model: Union[Word, None] = None
    output: Union[list[_Item], None] = None
    usage: Counts = None
    status: Union[Literal["queued", "in_progress", "completed"], None] = None
    error: None = None
    incomplete_details: None = None


class _Event(msgspec.Struct, gc=False, kw_only=True):
    sequence_number: int
    stream_id: None = None


class _Opening(_Event, gc=False, kw_only=True):
    response: _Response
    item: None = None


class _Created(_Opening, gc=False, forbid_unknown_fields=True, kw_only=True, tag="response.created"):
    output_index: None = None


class _InProgress(_Opening, gc=False, kw_only=True, tag="response.in_progress"):
    pass


class _Completed(_Opening, gc=False, kw_only=True, tag="response.completed"):
    pass


class _Added(_Event, gc=False, kw_only=True, tag="response.output_item.added"):
    output_index: _Index
    item: _Item
    response: None = None


class _Done(_Event, gc=False, kw_only=True, tag="response.output_item.done"):
    output_index: _Index
    item: Union[_WholeMessage, _Reasoning, _Call]
    response: None = None


class _ArgumentsDone(_Event, gc=False, kw_only=True, tag="response.function_call_arguments.done"):
    output_index: _Index
    item_id: Word
    arguments: Word
    name: Any = None
    call_id: None = None
    item: None = None
    response: None = None


class _Quiet(_Event, gc=False, kw_only=True):
    """An event without new content."""

    item: None = None
    response: None = None
    error: None = None


class _WholeThought(msgspec.Struct, gc=False, tag="reasoning"):
    id: Id
    summary: Union[list[_Part], None] = None
    content: NoList = None
    encrypted_content: Union[Word, None] = None


class _Body(msgspec.Struct, gc=False):
    """A whole response."""

    object: Literal["response"]
    id: Word
    model: Word
    status: Literal["completed"]
    output: list[Union[_WholeMessage, _WholeThought, _Call]]
    usage: Counts = None
    error: None = None
    incomplete_details: None = None
    type: None = None
    response: None = None


_body = msgspec.json.Decoder(_Body).decode
_piece: Callable[[str], Any] = COMMON.decode
_QUIET: Final = (
    *("content_part.added", "content_part.done", "output_text.done", "reasoning_text.done"),
    *("reasoning_summary_part.added", "reasoning_summary_part.done", "reasoning_summary_text.done"),
)
_EVENTS: Any = (
    *(_Created, _InProgress, _Completed, _Added, _Done, _ArgumentsDone),
    *(msgspec.defstruct("_Silent", (), bases=(_Quiet,), tag=f"response.{kind}", gc=False) for kind in _QUIET),
)
_any: Any = msgspec.json.Decoder(reduce(or_, _EVENTS)).decode
_TAGS: Final = {kind: kind.__struct_config__.tag for kind in _EVENTS}
# The events that report a call, or are checked against earlier ones: nothing in them is unread.
_READ: Final = frozenset({_Completed, _ArgumentsDone})
_NO_ITEM: Final = (None, None)
_NOT_DONE: Final = (None,)


def _reader(label: Callable[[dict[str, Any]], Any]) -> Callable[[Any], SdkPiece | None]:
    """Return the function that reads the piece in an event of openai's, whose text has this label."""

    def read(event: Any) -> SdkPiece | None:
        fields = event.__dict__
        return (
            None if event.__pydantic_extra__ else (label(fields), fields["delta"], fields["sequence_number"])
        )

    return read


_of_text = _reader(lambda _: (TextPiece, "text", None))
_of_thought = _reader(lambda fields: (ThoughtPiece, "reasoning", fields["output_index"]))
_of_call = _reader(lambda fields: (CallPiece, fields["output_index"], fields["item_id"]))


class ResponsesLane(Lane):
    """A lane for the events of one response, whose items come one after the other, or are calls side by side."""

    dialect = "responses"
    _may_be_empty = _is_numbered = _has_rows = True
    _READERS = {  # noqa: RUF012 - as in the base class
        "ResponseTextDeltaEvent": _of_text,
        "ResponseReasoningSummaryTextDeltaEvent": _of_thought,
        "ResponseReasoningTextDeltaEvent": _of_thought,
        "ResponseFunctionCallArgumentsDeltaEvent": _of_call,
    }
    _begins, _n_lines, _PREFIX = _NAMED.encode(), 2, _NO_PIECE

    __slots__ = ("_is_whole", "_items", "_open", "_taking", "_weave")

    def __init__(self, asked: Asked) -> None:
        super().__init__(asked)
        # The items that have begun, with their calls, and the calls whose text goes on, by their output index.
        self._open: dict[int, tuple[_Item, LaneCall | None]] = {}
        self._taking: dict[object, Strand] = {}
        # The items as the response has to list them at its end, if they are done.
        self._items: list[tuple[object, ...]] = []
        self._weave: Weave | None = None  # of calls side by side
        self._is_whole = False

    def _texts(self, block: str) -> Iterable[str] | None:
        """Return the texts of pieces that continue the text without their first line, those of other events with it."""
        if block.startswith(self._prefix):
            texts = block[len(self._prefix) :].split(f"\n\n{self._prefix}")
            if "\n" not in "".join(texts):
                return texts
        events = named_events(block)
        # Lazily: the bytes before the data of a piece change between them.
        return events and (event.removeprefix(self._prefix) for event in events)

    def _take_row(self, block: str, events: list[Event[Any]]) -> bool:
        if self._more is no_more or self._label is None or not block.startswith(self._prefix):
            return False
        texts = block[len(self._prefix) :].split(f"\n\n{self._prefix}")
        data = "".join(texts)
        if "\n" in data or "\r" in data:
            return False
        _, run, item = self._label
        number = self._number
        pieces: list[str] = []
        try:
            for event in map(_piece, texts):
                if event.sequence_number != number or event.run != run or event.item_id != item:
                    return False
                pieces.append(event.delta)
                number += 1
        except decode.UNREADABLE:
            return False
        if not AT_ONCE[self._act](self, pieces, events):
            return False
        self._number = number
        return True

    def _frame(self, text: str) -> Frame:
        return named_event(text) or Frame("", text)

    def _in_common(self, row: Row, translator: ResponsesTranslator) -> Piecewise:
        translator.expect(row.number)
        return translator.goes_on(*row.label)

    def _more_piece(self, text: str, n: int) -> str | None:
        try:
            event = _piece(text)
        except decode.UNREADABLE:
            return None
        if event.sequence_number != self._number + n:
            return None
        _, run, item = self._label
        return event.delta if event.run == run and event.item_id == item else None

    def _more_in_turn(self, text: str, n: int) -> str | None:
        """Read a piece of one of several open calls."""
        try:
            event = _piece(text)
        except decode.UNREADABLE:
            return None
        piece: str | None = event.delta
        if piece is None or event.sequence_number != self._number + n:
            return None
        strand, weave = self._taking.get(event.run), self._weave
        if strand is None or weave is None or event.item_id != strand[0][2]:
            return None
        weave.turn_to(strand, n)
        return piece

    def _turns_to(self, label: Any) -> bool:
        weave, strands = self._weave, (each for each in self._taking.values() if each[0] == label)
        strand = next(strands, None)
        if weave is None or strand is None or self._of is not weave:
            return False
        weave.turn_to(strand, 0)
        return True

    # Other frames.

    def _take(self, frame: Frame, events: list[Event[Any]]) -> bool:
        if frame.event in _PIECES:
            self._prefix = f"{_NAMED}{frame.event}\ndata: "
            piece = self._more(self, frame.data, 0)
            if piece is None or not self._act(self, piece, events):
                return False
            self._number += 1
            return True
        try:
            event = _any(frame.data)
        except decode.UNREADABLE:
            return not self._log and self._take_whole(frame, events)
        kind = type(event)
        is_next = event.sequence_number == self._number and not self._is_whole
        if not is_next or frame.event not in ("", _TAGS[kind]):
            return False
        is_call = kind in _READ or (kind in (_Added, _Done) and type(event.item) is _Call)
        if not is_call and is_unread(frame, ResponsesTranslator.PIECES):
            return False
        goes_on = self._of, self._label, self._more, self._act
        if not self._keep(frame):
            return False
        self._number += 1
        take = self._TAKE.get(kind)
        if take is not None:
            return take(self, event, events)
        self._goes_on(*goes_on)
        return bool(self.id)

    def _take_whole(self, frame: Frame, events: list[Event[Any]]) -> bool:
        """Take a whole response."""
        try:
            body = _body(frame.data)
        except decode.UNREADABLE:
            return False
        calls = [item for item in body.output if type(item) is _Call]
        others = body.output[: len(body.output) - len(calls)]
        if (
            any(type(item) is _Call for item in others)
            or labels.id_label(body.id) is None
            or not self._keep(frame)
        ):
            return False
        self._open_turn(body.id, body.model, events)
        self.usage.update(body.usage or {})
        self.reason, self.provider_reason = ("tool_calls" if calls else "stop"), "completed"
        self._is_whole = True
        if sum(type(item) is _WholeMessage for item in others) > 1 or not all(
            self._take_speech(item, events) for item in others
        ):
            return False
        if any(item.status == "in_progress" or not is_id(item.id) for item in calls):
            return False
        wanted = [(item.call_id, item.name, decode.string_text(item.arguments)) for item in calls]
        extras = [{"item_id": item.id} for item in calls]
        return self._take_calls(wanted, events, extras)

    def _take_speech(self, item: Any, events: list[Event[Any]]) -> bool:
        """Take the content of a whole response."""
        if type(item) is _WholeMessage:
            self._places.append((self.text.size, None))
            return all(part.text and self.say(part.text, events) for part in item.content)
        thought = self._begin_thought()
        thought.id, thought.data = item.id, item.encrypted_content
        text = "".join(part.text for part in item.summary or ())
        return not text or self.think(text, events)

    def _created(self, event: _Created, events: list[Event[Any]]) -> bool:
        response = event.response
        if self.id or labels.id_label(response.id) is None or response.output or response.model is None:
            return False
        self._open_turn(response.id, response.model, events)
        return True

    def _in_progress(self, event: _InProgress, _events: list[Event[Any]]) -> bool:
        return event.response.id == self.id and not event.response.output and not self._items

    def _added(self, event: _Added, _events: list[Event[Any]]) -> bool:
        item = event.item
        if event.output_index != len(self._items) or not self.id or (self._open and not self._may_join(item)):
            return False
        self._items.append(_NOT_DONE)
        if type(item) is _Call:
            return self._call_added(item, event.output_index)
        self._open[event.output_index] = item, None
        if type(item) is _Reasoning:
            label = ThoughtPiece, "reasoning", event.output_index
            return self._opens(self._begin_thought(), label, Lane.think)
        if _has_message(self._items):
            return False
        self._places.append((self.text.size, None))
        return self._opens(self.text, (TextPiece, "text", None), Lane.say)

    def _may_join(self, item: _Item) -> bool:
        """Return whether an item may begin next to those that are open: only calls are side by side."""
        opened, _ = next(iter(self._open.values()))
        return type(item) is type(opened) is _Call

    def _call_added(self, item: _Call, index: int) -> bool:
        if not is_id(item.id) or bytes(item.arguments) != b'""':
            return False
        call = self._begin(item.call_id, item.name, {"item_id": item.id})
        if call is None:
            return False
        label = CallPiece, index, item.id
        self._open[index] = item, call
        self._taking[index] = label, call
        if len(self._open) == 1:
            return self._opens(call, label, Lane.argue)
        weave = self._weave = self._weave or Weave()
        return self._goes_on_in_turn(weave)

    def _goes_on_in_turn(self, weave: Weave) -> bool:
        """Let the pieces that follow continue the texts of several calls."""
        self._goes_on(weave, None, ResponsesLane._more_in_turn, Lane.argue_in_turn)
        return True

    def _opens(self, of: Source, label: tuple[object, ...], act: Act) -> bool:
        """Let the pieces that follow continue the text of the item that begins."""
        self._goes_on(of, label, ResponsesLane._more_piece, act)
        return True

    def _arguments_done(self, event: _ArgumentsDone, _events: list[Event[Any]]) -> bool:
        strand = self._taking.pop(event.output_index, None)
        if strand is None:
            return False
        label, call = strand
        if event.item_id != label[2] or call.text != event.arguments:
            return False
        return self._weave is None or self._others_go_on(self._weave)

    def _done(self, event: _Done, events: list[Event[Any]]) -> bool:
        item, index = event.item, event.output_index
        opened, call = self._open.pop(index, _NO_ITEM)
        if opened is None or item.id != opened.id:
            return False
        self._items[index] = _listed(item)
        if type(item) is _Call:
            return call is not None and self._call_done(item, opened, call, index, events)
        if type(item) is _Reasoning:
            return type(opened) is _Reasoning and self._thought_done(item)
        return type(opened) is _Message

    def _call_done(
        self, item: _Call, opened: Any, call: LaneCall, index: int, events: list[Event[Any]]
    ) -> bool:
        if self._taking:
            self._taking.pop(index, None)
        is_same = (item.call_id, item.name) == (opened.call_id, opened.name) and item.status != "in_progress"
        is_whole = bool(call.size) and decode.string_text(item.arguments) == call.text
        if not (is_same and is_whole and self._finish([call], events)):
            return False
        return self._weave is None or self._others_go_on(self._weave)

    def _others_go_on(self, weave: Weave) -> bool:
        """Let the other calls that are open go on, if there are some."""
        if not self._open:
            self._weave = None
        return not self._taking or self._goes_on_in_turn(weave)

    def _thought_done(self, item: _Reasoning) -> bool:
        """Take the seal of a block of reasoning, if it restates the whole text."""
        thought = self.thoughts[-1]
        thought.id, thought.data = item.id, item.encrypted_content
        return bool(thought.size) or not (item.summary or item.content)

    def _completed(self, event: _Completed, _events: list[Event[Any]]) -> bool:
        response = event.response
        listed = [_listed(item) for item in response.output or ()]
        is_silent = not self.text.size and _has_message(self._items)
        if self._open or is_silent or response.id != self.id or response.status in _UNFINISHED:
            return False
        self.usage.update(response.usage or {})
        self.reason, self.provider_reason = ("tool_calls" if self.calls else "stop"), "completed"
        self._is_whole = True
        return listed == self._items or not listed

    _TAKE: ClassVar[Mapping[type, Callable[..., bool]]] = {
        _Created: _created,
        _InProgress: _in_progress,
        _Completed: _completed,
        _Added: _added,
        _Done: _done,
        _ArgumentsDone: _arguments_done,
    }


def _has_message(items: list[tuple[object, ...]]) -> bool:
    return any(kind is _Message for kind, *_ in items)


def _listed(item: Any) -> tuple[object, ...]:
    """Return the item as its response has to list it at the end."""
    if type(item) is _Call:
        return _Call, item.id, item.call_id, item.name, bytes(item.arguments)
    return _Message if type(item) is _WholeMessage else type(item), item.id
