"""The life of one response: the order of its events, its end, and the content that restatements add.

Events are numbered. A number seen before is a replay (quirk 91), a gap is a lost frame; `response.created`, or a new 0,
begins a new turn. Numbers that never count are ignored. The reports so far decide which items the finished response
adds; often there are none (quirk 73).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Union

from wholecall.deltas import (
    CallPlaced,
    Delta,
    Finish,
    MessageBegan,
    TextBegan,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.decode import provider_error
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.openai.responses_events import Event, finish_of, outcome_of
from wholecall.dialects.openai.responses_items import (
    FunctionCall,
    Item,
    Response,
    answered,
    is_call,
    is_kept,
    message_text,
    public_id,
    reasoning_deltas,
    restated_calls,
)
from wholecall.dialects.openai.responses_kept import kept_item

__all__ = ["Progress", "Wire", "is_replay"]

Wire = Callable[[int], object]  # gives an item of the response as the wire has it


def is_replay(number: int, expected: int, *, starts: bool, again: bool) -> bool:
    """Return whether a number was seen before: of a start only if it begins the same response again."""
    if number == 0 and expected == 1:
        return again
    return 0 < number < expected and not starts


class Progress:
    """The state of one response; several run side by side on a WebSocket, distinguished by `stream_id`.

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

    def body(self, response: Response, wire: Wire) -> list[Delta]:
        """Return the deltas of a whole, non-streamed response; `wire` gives its items as the wire has them."""
        deltas = self.open(response)
        if response.status in ("queued", "in_progress"):
            return deltas + self.restated(response, wire)
        return deltas + self.conclude(response, outcome_of("", response.status), wire)

    def conclude(self, response: Response, outcome: str, wire: Wire) -> list[Delta]:
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

    def restated(self, response: Response, wire: Wire) -> list[Delta]:
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
