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

On a WebSocket an error with a status (`previous_response_not_found`) refuses a request, and ends no response. A response
that failed ends alone: the next one of the session is read, and so are those beside it (`stream_id`).

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

from wholecall import deltas
from wholecall.dialects import decode, hidden_text, labels, pieces, report, translator, unread
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.responses import events, items
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

    __slots__ = (
        "_guest",
        "_in_lane",
        "done",
        "expected",
        "failed",
        "kept",
        "key",
        "opened",
        "spoken",
        "thought",
    )

    _guest: bool
    _in_lane: bool
    expected: int
    key: str | None
    opened: bool
    failed: bool
    spoken: bool
    thought: Union[set[object], None]
    done: dict[str, int]
    kept: Union[set[Union[str, None]], None]

    def __init__(self, *, guest: bool = False, in_lane: bool = False) -> None:
        self._guest = guest  # of a stream of another dialect, which owns the turn
        self._in_lane = in_lane  # beside others
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

    def order(self, event: events.Event) -> list[deltas.Delta] | None:
        """Place an event by its number: None if it was seen before, else the deltas that its place implies."""
        number, expected = labels.index_label(event.sequence_number), self.expected
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
            return [deltas.WireFault("undecodable_frame", lost, hole=True)]
        return self.open(items.Response()) if number == 0 and expected > 0 and not created else []

    def _is_of(self, event: events.Event) -> bool:
        return self.opened and event.response is not None and labels.id_label(event.response.id) == self.key

    # The beginning and the end

    def open(self, response: items.Response, *, outlives: bool = False) -> list[deltas.Delta]:
        """Begin a new response; the first in a lane is beside those of other lanes, and ends none of them.

        If it `outlives` a failed one, it is read although that had a fatal error.
        """
        key = labels.id_label(response.id)
        restart = self.opened or not self._in_lane
        outlives = outlives and key not in (None, self.key)
        self._restart(key)
        self.opened = True
        return (
            []
            if self._guest
            else [deltas.TurnOpened(key, key, labels.name_label(response.model), restart, outlives)]
        )

    def body(self, response: items.Response, wire: _Wire) -> list[deltas.Delta]:
        """Return the deltas of a whole, non-streamed response; `wire` gives its items as the wire has them."""
        told = self.open(response)
        if response.status in ("queued", "in_progress"):
            return told + self.restated(response, wire)
        return told + self.conclude(response, events.outcome_of("", response.status), wire)

    def conclude(self, response: items.Response, outcome: str, wire: _Wire) -> list[deltas.Delta]:
        """Return the deltas of the last event of a response."""
        usage: list[deltas.Delta] = (
            [deltas.UsageSeen(response.usage)] if isinstance(response.usage, dict) else []
        )
        if outcome == "failed":
            return usage + self.fail(response.error)
        if outcome == "cancelled":
            return usage + (
                [] if self._guest else [deltas.Finish(0, "aborted", outcome, drops=True), *self.end()]
            )
        told = self.restated(response, wire) + usage
        return told if self._guest else [*told, events.finish_of(response, outcome), *self.end()]

    def end(self) -> list[deltas.Delta]:
        """End the turn, unless it belongs to another dialect."""
        return [] if self._guest else [deltas.TurnEnded(self.key)]

    def fail(self, error: Any) -> list[deltas.Delta]:
        """Report the first error of a response; `response.failed` repeats the one of an `error` event.

        It ends the stream, except in a lane: there it ends the response.
        """
        if self.failed:
            return []
        self.failed = True
        told = report.error(error, fatal=not self._in_lane)
        if not self._in_lane or self._guest or not self.opened:
            return told
        return [*told, deltas.Finish(0, "error", "failed", drops=True), *self.end()]

    def keep(self, item: items.Item | items.FunctionCall, wire: Callable[[], object]) -> list[deltas.Delta]:
        """Return the content of an item that goes back as it came, once; `wire` gives it as the wire has it."""
        if self._guest or not items.is_kept(item):
            return []
        if self.kept is None:
            self.kept = set()
        id_ = labels.id_label(item.id)
        if id_ is not None and id_ in self.kept:
            return []
        self.kept.add(id_)
        kept = items.kept_item(wire())
        return [] if kept is None else [kept]

    def restated(self, response: items.Response, wire: _Wire) -> list[deltas.Delta]:
        """Restate the items of the finished response that no event sent."""
        told: list[deltas.Delta] = []
        is_new = not self.kept  # else an item without an id is a finished one
        for position, item in enumerate(response.output or ()):
            if items.is_call(item) and (id_ := items.public_id(item)) is not None:
                told.append(deltas.CallPlaced(0, id_))
            said = self._restated_speech(item, position)
            if (
                item.type == "message"
                and said
                and any(isinstance(delta, deltas.TextFragment) for delta in told)
            ):
                told.append(deltas.MessageBegan(0))
            told += said
            if is_new or item.id is not None:
                told += self.keep(item, partial(wire, position))
        if all(type(delta) is deltas.CallPlaced for delta in told):  # the calls are where their events came
            told = []
        results = [delta for item in response.output or () for delta in items.answered(item)]
        return told + items.restated_calls(response.output, self.done) + results

    def _restated_speech(self, item: items.Item, position: int) -> list[deltas.Delta]:
        if item.type == "message" and not self.spoken:
            return [deltas.TextBegan(0), *items.message_text(item)]
        if item.type == "reasoning" and not self.thought:
            return items.reasoning_deltas(item, position, known=False)
        return []


def is_replay(number: int, expected: int, *, starts: bool, again: bool) -> bool:
    """Return whether a number was seen before: of a start only if it begins the same response again."""
    if number == 0 and expected == 1:
        return again
    return 0 < number < expected and not starts


# The stream.

_NO_RESPONSE = items.Response()
_common: Callable[[str], Any] = events.COMMON.decode
_ODD: Any = events.TextPiece(delta="", sequence_number=-2)  # no event has this number


def _items(frame: Frame) -> _Wire:
    """Return the function that gives the response's items in a frame, which is read at the first request."""
    found: list[Any] = []

    def item(position: int) -> object:
        if not found:
            payload = decode.plain(frame.data)
            found.append(decode.member(payload, "response", "output") or decode.member(payload, "output"))
        return decode.member(found[0], position)

    return item


def _refused(error: Any, frame: Frame) -> list[deltas.Delta]:
    """Return the fault for an error of a WebSocket, which has the status of HTTP: a request failed, no response."""
    is_message = not frame.event and type(decode.member(decode.plain(frame.data), "status")) is int
    return report.error(error, fatal=False) if is_message else []


def _odd(_: str) -> Any:
    """Read nothing: the narrow views are for one stream only."""
    return _ODD


class ResponsesTranslator(translator.TextTranslator, translator.ViewTranslator):
    """Frames of one Responses stream to deltas.

    Args:
        guest: whether the frames are inside a stream of another dialect, which owns the turn.
    """

    decoder = events.DECODER

    PIECES: ClassVar[Pieces] = events.PIECES
    DERIVED = frozenset({"_runs"})
    _guest: bool
    _stream_id: Any
    _now: _Progress
    _progresses: dict[str, _Progress]

    def __init__(self, *, guest: bool = False) -> None:
        self._guest = guest
        self._stream_id = None
        self._now = _Progress(guest=self._guest)
        self._progresses = {}
        self._runs = pieces.Runs()

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame; later pieces start again."""
        self._runs.stop()
        return super().translate(frame)

    def told(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame, and its effect; a finished response is not searched for unread calls."""
        told = report.ended_together(self.translate(frame))
        listed = (
            bool(told)
            and type(told[-1]) is deltas.TurnEnded
            and not any(isinstance(d, deltas.Noted) for d in told)
        )
        if listed:
            return hidden_text.with_doubts(told, frame.data) if hidden_text.has_bare(told) else told
        return unread.with_unread(told, frame, self.takes_silently, self.PIECES)

    def translate_texts(self, texts: list[str], like: Like) -> list[deltas.Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        told: list[deltas.Delta] = []
        runs = self._runs
        known = runs.known
        index, alias = runs.key
        run: list[str] | None = None  # texts of the last run in `told`
        expected, read = self._now.expected, _common if self._stream_id is None else _odd
        left = iter(texts)
        for text in left:
            try:
                event = read(text)
            except decode.UNREADABLE:  # a rare event, or an odd one
                event = _ODD
            if event.sequence_number == expected:
                expected += 1
            elif event.sequence_number is not None:
                index, alias = runs.stop()
                self._now.expected = expected
                told += self.told(translator.frame_of(texts, left, like))
                expected, read = self._now.expected, _common if self._stream_id is None else _odd
                continue
            if event.run != index or event.item_id != alias:
                if event.delta is None:  # not a piece
                    index, alias = runs.stop()
                    said = self.EVENTS[event.type](self, event)
                    told += (
                        said
                        if unread.is_read(said, text)
                        else unread.with_unread(said, translator.frame_of(texts, left, like))
                    )
                    continue
                index, alias = key = event.run, event.item_id
                of = known.get(key) or runs.learn(key, self.goes_on(type(event), *key))
                runs.key, runs.of, run = key, of, [event.delta]
                told.append(deltas.Run(of, run))
            elif run is None:
                run = [event.delta]
                told.append(deltas.Run(runs.of, run))
            else:
                run.append(event.delta)
        self._now.expected = expected
        return told

    def expect(self, number: int) -> None:
        """Note that the next event has this number."""
        self._now.expected = number

    def goes_on(
        self, kind: type[events.TextPiece | events.ThoughtPiece | events.CallPiece], run: Any, item: Any
    ) -> deltas.Piecewise:
        """Return the common fields of a text's pieces, at its first piece, whose `run` and `item_id` are given."""
        if kind is events.TextPiece:
            self._now.spoken = True
            return deltas.TextFragment(0, "")
        if issubclass(kind, events.ThoughtPiece):
            index = labels.index_label(item)
            self._now.think(index)
            return deltas.ReasoningFragment(0, "", index)
        return deltas.Slot(0, labels.index_label(run), labels.id_label(item), "")

    def _take(self, event: events.Event, frame: Frame) -> list[deltas.Delta]:
        """Translate an event after a look at its stream and its number."""
        if event.type is None and frame.event in self.EVENTS:
            event.type = frame.event
        if event.object == "response" and event.type is not None and event.response is None:
            # The data is the response itself, not a member of an event.
            event.response = decode.decode(events.BODY_DECODER, frame.data)
        if event.sequence_number == self._now.expected and event.stream_id is self._stream_id:
            self._now.expected += 1
            return self._say(event, frame)
        told = self._switch(event)
        order = self._now.order(event)
        return told if order is None else told + order + self._say(event, frame)

    def _say(self, event: events.Event, frame: Frame) -> list[deltas.Delta]:
        known = self.EVENTS.get(event.type)
        if known is None:
            return self._unknown(event, frame)
        if known is ResponsesTranslator._created and not frame.event and self._has_failed:
            return self._now.open(event.response or _NO_RESPONSE, outlives=True)
        if known is ResponsesTranslator._finished:
            if event.response is None:  # it is not nested on some servers
                event.response = decode.decode(events.BODY_DECODER, frame.data)
            return self._finished(event, _items(frame))
        said: list[deltas.Delta] = known(self, event)
        if known is ResponsesTranslator._item_done and event.item is not None:
            return said + self._now.keep(event.item, lambda: decode.member(decode.plain(frame.data), "item"))
        return said

    def _unknown(self, event: events.Event, frame: Frame) -> list[deltas.Delta]:
        if event.type is None and event.object == "response":
            return self._now.body(
                decode.decode(events.BODY_DECODER, frame.data) or _NO_RESPONSE, _items(frame)
            )
        if event.error is not None:
            return _refused(event.error, frame) or self._now.fail(event.error)
        if (event.type or frame.event) == "error":
            flat = decode.decode(events.ERROR_DECODER, frame.data)
            return self._now.fail(flat and msgspec.structs.asdict(flat))
        if decode.is_noise(frame) or (event.type or frame.event).startswith(events.QUIET):
            return []
        return [deltas.Noted(0, "unknown_events")]

    # The order of events

    def _switch(self, event: events.Event) -> list[deltas.Delta]:
        if event.stream_id == self._stream_id:
            return []
        self._progresses[str(self._stream_id)] = self._now
        self._stream_id = event.stream_id
        self._now = self._progresses.get(str(event.stream_id)) or self._progress()
        return [deltas.TurnOpened(self._now.key)] if self._now.opened and not self._guest else []

    def _progress(self) -> _Progress:
        return _Progress(guest=self._guest, in_lane=self._stream_id is not None)

    @property
    def _has_failed(self) -> bool:
        """Whether the last response failed, or an error without a lane ended all of them."""
        whole = self._progresses.get(str(None))
        return self._now.failed or (whole is not None and whole.failed)

    # The pieces of a message

    def _fragment(self, event: events.Event) -> list[deltas.Delta]:
        text = event.delta
        return (
            []
            if text in ("", None)
            else [
                deltas.Slot(
                    0,
                    labels.index_label(event.output_index),
                    labels.id_label(event.item_id),
                    decode.dumped(text),
                    labels.id_label(event.call_id),
                )
            ]
        )

    def _text(self, event: events.Event) -> list[deltas.Delta]:
        self._now.spoken = True
        text = labels.text_label(event.delta)
        return [] if text is None else [deltas.TextFragment(0, text)]

    def _refused(self, event: events.Event) -> list[deltas.Delta]:
        return [deltas.TextRefused(0), *self._text(event)]

    def _reasoning(self, event: events.Event) -> list[deltas.Delta]:
        text, index = labels.text_label(event.delta), labels.index_label(event.output_index)
        self._now.think(index)
        return [] if text is None else [deltas.ReasoningFragment(0, text, index)]

    def _item_done(self, event: events.Event) -> list[deltas.Delta]:
        item, index = event.item or items.Item(), labels.index_label(event.output_index)
        if items.is_call(item):
            return items.finished_call(item, index, self._now.done)
        if item.type == "reasoning":
            return items.reasoning_deltas(item, index, known=self._now.think(index))
        return items.answered(item)  # one of an unknown type was counted when it was added

    # The message

    def _created(self, event: events.Event) -> list[deltas.Delta]:
        return self._now.open(event.response or _NO_RESPONSE)

    def _progressed(self, event: events.Event) -> list[deltas.Delta]:
        return [] if self._now.opened else self._created(event)

    def _finished(self, event: events.Event, wire: _Wire = lambda _: None) -> list[deltas.Delta]:
        response = event.response or _NO_RESPONSE
        if event.type == "response.done" and self._now.key not in (None, labels.id_label(response.id)):
            return [deltas.Noted(0, "unknown_events")]  # of a Realtime session, where responses end so
        return self._now.conclude(response, events.outcome_of(event.type or "", response.status), wire)

    def _whole_text(self, event: events.Event) -> list[deltas.Delta]:
        return events.whole_text(event)

    def _added(self, event: events.Event) -> list[deltas.Delta]:
        begins = self._now.spoken and event.item is not None and event.item.type == "message"
        return [deltas.MessageBegan(0), *events.added(event)] if begins else events.added(event)

    EVENTS: ClassVar[translator.Events] = {
        **dict.fromkeys(events.FRAGMENTS, _fragment),
        "response.output_text.delta": _text,
        "response.refusal.delta": _refused,
        "response.reasoning_summary_text.delta": _reasoning,
        "response.reasoning_text.delta": _reasoning,
        **dict.fromkeys(events.DONE_EVENTS, _whole_text),
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
