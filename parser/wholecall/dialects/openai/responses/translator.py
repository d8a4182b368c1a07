"""OpenAI Responses (`POST /v1/responses`, `stream: true`; also its WebSocket mode and relays).

    response.created                        response{id, model}
    response.output_item.added              output_index, item{type, id, call_id, name, arguments: ""}
    response.function_call_arguments.delta  output_index, item_id, delta
    response.function_call_arguments.done   output_index, item_id, arguments
    response.output_item.done               output_index, item (whole)
    response.completed                      response{status, output: [items], usage}

The output index is the slot of a call, the item's id its alias (relays rotate it, quirk 69), `call_id` the public id,
which pieces may have too. A text comes up to four times, and every restatement is reported with its rank; the list of
the finished response is one `Restated`, without positions (quirk 99). Servers leave out any of these events (quirks 71,
72, 73 and 74). Custom tools and MCP calls have the same events under their own names; deltas of tools that OpenAI runs
are skipped, for their finished item restates them.

Events are numbered. A number seen before is a replay and is skipped (quirk 91), a gap is a lost frame and leaves a
hole; `response.created`, or a new 0, begins a new turn. Numbers that never count are ignored.

As a guest in a chat stream (quirk 89) the translator reports only calls and text, not turns. Source: OpenAI API
reference, "Responses: streaming events", and the types of openai-python.

Covers: OpenAI Responses, its relays, and its events inside a chat stream; all kinds of items.
Calls: told apart by output index, item id; each ends with `output_item.done`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar, Union

import msgspec

from wholecall.deltas import (
    CallPlaced,
    Delta,
    Finish,
    MessageBegan,
    Noted,
    Piecewise,
    ReasoningFragment,
    Run,
    Slot,
    TextBegan,
    TextFragment,
    TextRefused,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.decode import UNREADABLE, decode, dumped, is_noise, member, plain, provider_error
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.openai.responses.events import (
    BODY_DECODER,
    COMMON,
    DECODER,
    DONE_EVENTS,
    ERROR_DECODER,
    FRAGMENTS,
    QUIET,
    CallPiece,
    Event,
    TextPiece,
    ThoughtPiece,
    added,
    finish_of,
    outcome_of,
    whole_text,
)
from wholecall.dialects.openai.responses.items import (
    FunctionCall,
    Item,
    Response,
    answered,
    finished_call,
    is_call,
    is_kept,
    kept_item,
    message_text,
    public_id,
    reasoning_deltas,
    restated_calls,
)
from wholecall.dialects.pieces import Runs
from wholecall.dialects.report import ended_together
from wholecall.dialects.translator import MOST_SLOTS, Events, TextTranslator, ViewTranslator, frame_of
from wholecall.dialects.unread import is_read, with_unread
from wholecall.framing.frame import Frame, Like

_Wire = Callable[[int], object]  # gives an item of the response as the wire has it


# Responses.


class _Progress:
    """The state of one response; several run side by side on a WebSocket, distinguished by `stream_id`.

    The reports so far decide which items the finished response adds; often there are none (quirk 73).

    Attributes:
        key: the response's id.
        expected: the next sequence number; -1 if none was seen yet.
        opened, failed, spoken: whether its turn began, and failed; and whether text was reported.
        thought: the indices of the reasoning items that were reported; None for none, for a set takes memory.
        done: of the finished calls, by their public ids, a checksum of their items (`summed`).
        kept: the ids of the other items that were done; None for none.
    """

    __slots__ = ("_guest", "done", "expected", "failed", "kept", "key", "opened", "spoken", "thought")

    _guest: bool
    expected: int
    key: str | None
    opened: bool
    failed: bool
    spoken: bool
    thought: Union[set[object], None]
    done: dict[str, int]
    kept: Union[set[Union[str, None]], None]

    def __init__(self, *, guest: bool = False) -> None:
        self._guest = guest  # of a stream of another dialect, which owns the turn
        self.expected = -1
        self._restart(None)

    def _restart(self, key: str | None) -> None:
        self.key = key
        self.opened = self.failed = self.spoken = False
        self.thought = self.kept = None
        self.done = {}

    def think(self, index: object) -> bool:
        """Note that reasoning of an item is reported; return whether some was before."""
        if self.thought is None:
            self.thought = set()
        known = index in self.thought
        self.thought.add(index)
        return known

    # The order of events

    def order(self, event: Event) -> list[Delta] | None:
        """Place an event by its number: None if it was seen before, else the deltas that its place implies."""
        number, expected = index_label(event.sequence_number), self.expected
        if not isinstance(number, int) or number < 0:
            return []
        created = event.type == "response.created"
        if is_replay(number, expected, starts=created, again=created and self._is_of(event)):
            return None
        if number == 0 and expected == 1:  # a constant 0 counts nothing
            return []
        self.expected = number + 1
        if number > expected >= 0 and not created and not self._guest:
            lost = f"{number - expected} events were lost before number {number}"
            return [WireFault("undecodable_frame", lost, hole=True)]
        return self.open(Response()) if number == 0 and expected > 0 and not created else []

    def _is_of(self, event: Event) -> bool:
        return self.opened and event.response is not None and id_label(event.response.id) == self.key

    # The beginning and the end

    def open(self, response: Response) -> list[Delta]:
        """Begin a new response."""
        key = id_label(response.id)
        self._restart(key)
        self.opened = True
        return [] if self._guest else [TurnOpened(key, key, name_label(response.model), restart=True)]

    def body(self, response: Response, wire: _Wire) -> list[Delta]:
        """Return the deltas of a whole, non-streamed response; `wire` gives its items as the wire has them."""
        deltas = self.open(response)
        if response.status in ("queued", "in_progress"):
            return deltas + self.restated(response, wire)
        return deltas + self.conclude(response, outcome_of("", response.status), wire)

    def conclude(self, response: Response, outcome: str, wire: _Wire) -> list[Delta]:
        """Return the deltas of the last event of a response."""
        usage: list[Delta] = [UsageSeen(response.usage)] if isinstance(response.usage, dict) else []
        if outcome == "failed":
            return usage + self.fail(response.error)
        if outcome == "cancelled":
            return usage + ([] if self._guest else [Finish(0, "aborted", outcome, drops=True), *self.end()])
        deltas = self.restated(response, wire) + usage
        return deltas if self._guest else [*deltas, finish_of(response, outcome), *self.end()]

    def end(self) -> list[Delta]:
        """End the turn, unless it belongs to another dialect."""
        return [] if self._guest else [TurnEnded(self.key)]

    def fail(self, error: Any) -> list[Delta]:
        """Report the first error of a response; `response.failed` repeats the one of an `error` event."""
        if self.failed:
            return []
        self.failed = True
        return [provider_error(error)]

    def keep(self, item: Item | FunctionCall, wire: Callable[[], object]) -> list[Delta]:
        """Return the content of an item that goes back as it came, once; `wire` gives it as the wire has it."""
        if self._guest or not is_kept(item):
            return []
        if self.kept is None:
            self.kept = set()
        id_ = id_label(item.id)
        if id_ is not None and id_ in self.kept:
            return []
        self.kept.add(id_)
        kept = kept_item(wire())
        return [] if kept is None else [kept]

    def restated(self, response: Response, wire: _Wire) -> list[Delta]:
        """Restate the items of the finished response that no event sent."""
        deltas: list[Delta] = []
        is_new = not self.kept  # else an item without an id is a finished one
        for position, item in enumerate(response.output or ()):
            if is_call(item) and (id_ := public_id(item)) is not None:
                deltas.append(CallPlaced(0, id_))
            said = self._restated_speech(item, position)
            if item.type == "message" and said and any(isinstance(delta, TextFragment) for delta in deltas):
                deltas.append(MessageBegan(0))
            deltas += said
            if is_new or item.id is not None:
                deltas += self.keep(item, partial(wire, position))
        if all(type(delta) is CallPlaced for delta in deltas):  # the calls are where their events came
            deltas = []
        results = [delta for item in response.output or () for delta in answered(item)]
        return deltas + restated_calls(response.output, self.done) + results

    def _restated_speech(self, item: Item, position: int) -> list[Delta]:
        if item.type == "message" and not self.spoken:
            return [TextBegan(0), *message_text(item)]
        if item.type == "reasoning" and not self.thought:
            return reasoning_deltas(item, position, known=False)
        return []


def is_replay(number: int, expected: int, *, starts: bool, again: bool) -> bool:
    """Return whether a number was seen before: of a start only if it begins the same response again."""
    if number == 0 and expected == 1:
        return again
    return 0 < number < expected and not starts


# The stream.

_NO_RESPONSE = Response()
_common = COMMON.decode
_ODD: Any = TextPiece(delta="", sequence_number=-2)  # no event has this number
_Labels = tuple[Union[int, str, None], Union[str, None]]


def _items(frame: Frame) -> _Wire:
    """Return the function that gives the response's items in a frame, which is read at the first request."""
    found: list[Any] = []

    def item(position: int) -> object:
        if not found:
            payload = plain(frame.data)
            found.append(member(payload, "response", "output") or member(payload, "output"))
        return member(found[0], position)

    return item


def _odd(_: str) -> Any:
    """Read nothing: the narrow views are for one stream only."""
    return _ODD


class ResponsesTranslator(TextTranslator, ViewTranslator):
    """Frames of one Responses stream to deltas.

    Args:
        guest: whether the frames are inside a stream of another dialect, which owns the turn.
    """

    decoder = DECODER

    DERIVED = frozenset({"_runs", "_slots"})
    _guest: bool
    _stream_id: Any
    _now: _Progress
    _progresses: dict[str, _Progress]

    def __init__(self, *, guest: bool = False) -> None:
        self._guest = guest
        self._stream_id = None
        self._now = _Progress(guest=self._guest)
        self._progresses = {}
        self._runs = Runs()
        self._slots: dict[_Labels, Slot] = {}  # of pieces that came before

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame; later pieces start again."""
        self._runs.stop()
        return super().translate(frame)

    def told(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame, and its effect; a finished response is not searched for unread calls."""
        deltas = ended_together(self.translate(frame))
        listed = (
            bool(deltas) and type(deltas[-1]) is TurnEnded and not any(isinstance(d, Noted) for d in deltas)
        )
        return deltas if listed else with_unread(deltas, frame, self.takes_silently)

    def translate_texts(self, texts: list[str], like: Like) -> list[Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        deltas: list[Delta] = []
        runs = self._runs
        index, alias = runs.key
        run: list[str] | None = None  # texts of the last run in `deltas`
        expected, read = self._now.expected, _common if self._stream_id is None else _odd
        left = iter(texts)
        for text in left:
            try:
                event = read(text)
            except UNREADABLE:  # a rare event, or an odd one
                event = _ODD
            if event.sequence_number == expected:
                expected += 1
            elif event.sequence_number is not None:
                index, alias = runs.stop()
                self._now.expected = expected
                deltas += self.told(frame_of(texts, left, like))
                expected, read = self._now.expected, _common if self._stream_id is None else _odd
                continue
            if event.run != index or event.item_id != alias:
                if event.delta is None:  # not a piece
                    index, alias = runs.stop()
                    said = self.EVENTS[event.type](self, event)
                    deltas += said if is_read(said, text) else with_unread(said, frame_of(texts, left, like))
                    continue
                index, alias = key = event.run, event.item_id
                run = runs.begin(deltas, key, self._slots.get(key) or self.goes_on(type(event), *key))
            elif run is None:
                run = []
                deltas.append(Run(runs.of, run))
            run.append(event.delta)
        self._now.expected = expected
        return deltas

    def expect(self, number: int) -> None:
        """Note that the next event has this number."""
        self._now.expected = number

    def goes_on(self, kind: type[TextPiece | ThoughtPiece | CallPiece], run: Any, item: Any) -> Piecewise:
        """Return the common fields of a text's pieces, at its first piece, whose `run` and `item_id` are given."""
        if kind is TextPiece:
            self._now.spoken = True
            return TextFragment(0, "")
        if issubclass(kind, ThoughtPiece):
            index = index_label(item)
            self._now.think(index)
            return ReasoningFragment(0, "", index)
        if len(self._slots) >= MOST_SLOTS:
            self._slots.clear()
        slot = Slot(0, index_label(run), id_label(item), "")
        self._slots[run, item] = slot
        return slot

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        """Translate an event after a look at its stream and its number."""
        if event.type is None and frame.event in self.EVENTS:
            event.type = frame.event
        if event.object == "response" and event.type is not None and event.response is None:
            # The data is the response itself, not a member of an event.
            event.response = decode(BODY_DECODER, frame.data)
        if event.sequence_number == self._now.expected and event.stream_id is self._stream_id:
            self._now.expected += 1
            return self._say(event, frame)
        deltas = self._switch(event)
        order = self._now.order(event)
        return deltas if order is None else deltas + order + self._say(event, frame)

    def _say(self, event: Event, frame: Frame) -> list[Delta]:
        known = self.EVENTS.get(event.type)
        if known is None:
            return self._unknown(event, frame)
        if known is ResponsesTranslator._finished:
            if event.response is None:  # it is not nested on some servers
                event.response = decode(BODY_DECODER, frame.data)
            return self._finished(event, _items(frame))
        said: list[Delta] = known(self, event)
        if known is ResponsesTranslator._item_done and event.item is not None:
            return said + self._now.keep(event.item, lambda: member(plain(frame.data), "item"))
        return said

    def _unknown(self, event: Event, frame: Frame) -> list[Delta]:
        if event.type is None and event.object == "response":
            return self._now.body(decode(BODY_DECODER, frame.data) or _NO_RESPONSE, _items(frame))
        if event.error is not None:
            return self._now.fail(event.error)
        if (event.type or frame.event) == "error":
            flat = decode(ERROR_DECODER, frame.data)
            return self._now.fail(flat and msgspec.structs.asdict(flat))
        if is_noise(frame) or (event.type or frame.event).startswith(QUIET):
            return []
        return [Noted(0, "unknown_events")]

    # The order of events

    def _switch(self, event: Event) -> list[Delta]:
        if event.stream_id == self._stream_id:
            return []
        self._progresses[str(self._stream_id)] = self._now
        self._stream_id = event.stream_id
        self._now = self._progresses.get(str(event.stream_id)) or _Progress(guest=self._guest)
        return [TurnOpened(self._now.key)] if self._now.opened and not self._guest else []

    # The pieces of a message

    def _fragment(self, event: Event) -> list[Delta]:
        text = event.delta
        return (
            []
            if text in ("", None)
            else [
                Slot(
                    0,
                    index_label(event.output_index),
                    id_label(event.item_id),
                    dumped(text),
                    id_label(event.call_id),
                )
            ]
        )

    def _text(self, event: Event) -> list[Delta]:
        self._now.spoken = True
        text = text_label(event.delta)
        return [] if text is None else [TextFragment(0, text)]

    def _refused(self, event: Event) -> list[Delta]:
        return [TextRefused(0), *self._text(event)]

    def _reasoning(self, event: Event) -> list[Delta]:
        text, index = text_label(event.delta), index_label(event.output_index)
        self._now.think(index)
        return [] if text is None else [ReasoningFragment(0, text, index)]

    def _item_done(self, event: Event) -> list[Delta]:
        item, index = event.item or Item(), index_label(event.output_index)
        if is_call(item):
            return finished_call(item, index, self._now.done)
        if item.type == "reasoning":
            return reasoning_deltas(item, index, known=self._now.think(index))
        return answered(item)  # one of an unknown type was counted when it was added

    # The message

    def _created(self, event: Event) -> list[Delta]:
        return self._now.open(event.response or _NO_RESPONSE)

    def _progressed(self, event: Event) -> list[Delta]:
        return [] if self._now.opened else self._created(event)

    def _finished(self, event: Event, wire: _Wire = lambda _: None) -> list[Delta]:
        response = event.response or _NO_RESPONSE
        if event.type == "response.done" and self._now.key not in (None, id_label(response.id)):
            return [Noted(0, "unknown_events")]  # of a Realtime session, where responses end so
        return self._now.conclude(response, outcome_of(event.type or "", response.status), wire)

    def _whole_text(self, event: Event) -> list[Delta]:
        return whole_text(event)

    def _added(self, event: Event) -> list[Delta]:
        begins = self._now.spoken and event.item is not None and event.item.type == "message"
        return [MessageBegan(0), *added(event)] if begins else added(event)

    EVENTS: ClassVar[Events] = {
        **dict.fromkeys(FRAGMENTS, _fragment),
        "response.output_text.delta": _text,
        "response.refusal.delta": _refused,
        "response.reasoning_summary_text.delta": _reasoning,
        "response.reasoning_text.delta": _reasoning,
        **dict.fromkeys(DONE_EVENTS, _whole_text),
        "response.output_item.added": _added,
        "response.output_item.done": _item_done,
        "response.created": _created,
        "response.queued": _progressed,
        "response.in_progress": _progressed,
        "response.completed": _finished,
        "response.incomplete": _finished,
        "response.failed": _finished,
        "response.cancelled": _finished,
        "response.done": _finished,
    }
