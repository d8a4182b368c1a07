"""How far one response has come: which event is the next one, and what a restatement still adds.

Events are numbered. A number seen before is a replay (quirk 91), a gap is a lost frame; `response.created`,
or a new 0, begins a new turn. Numbers that never count are no numbers. What was told decides what the
finished response tells anew; often that is nothing (quirk 73).
"""

from __future__ import annotations

from typing import Literal

from wholecall.deltas import Delta
from wholecall.dialects.labels import id_label, index_label
from wholecall.dialects.responses_events import Event
from wholecall.dialects.responses_items import (
    Item,
    Response,
    is_call,
    message_text,
    public_id,
    reasoning_deltas,
    restated_call,
)
from wholecall.dialects.restated import told_together

__all__ = ["Place", "Progress"]

Place = Literal["next", "seen", "behind a gap", "first again"]


class Progress:
    """The state of one response; several run side by side on a WebSocket, told apart by `stream_id`.

    Attributes:
        key: the response's id.
        expected: the next sequence number; -1 if none was seen yet.
        opened, ended, failed, spoken: whether its turn began, was ended, failed; and whether text was told.
        thought: the indices of the reasoning items that were told.
        done: the finished calls by their public ids.
    """

    __slots__ = ("done", "ended", "expected", "failed", "key", "opened", "spoken", "thought")

    def __init__(self) -> None:
        self.expected = -1
        self.restart(None)

    def restart(self, key: str | None) -> None:
        """Begin a new response."""
        self.key = key
        self.opened = self.ended = self.failed = self.spoken = False
        self.thought: set[object] = set()
        self.done: dict[str, Item] = {}

    def place(self, event: Event) -> Place:
        """Return where the event stands by its number, and expect the next one."""
        number, expected = index_label(event.sequence_number), self.expected
        if number is None or number < 0:
            return "next"
        created = event.type == "response.created"
        if number == 0 and expected == 1:  # the same start again is a replay; a constant 0 counts nothing
            return "seen" if created and self._is_of(event) else "next"
        if 0 < number < expected and not created:
            return "seen"
        self.expected = number + 1
        if number > expected >= 0 and not created:
            return "behind a gap"
        return "first again" if number == 0 and expected > 0 and not created else "next"

    def _is_of(self, event: Event) -> bool:
        return self.opened and event.response is not None and id_label(event.response.id) == self.key

    def restated(self, response: Response) -> list[Delta]:
        """Restate what the finished response lists and no event told."""
        deltas: list[Delta] = []
        for position, item in enumerate(response.output or ()):
            if not is_call(item):
                deltas += self._restated_speech(item, position)
            elif self.done.get(public_id(item) or "") != item:
                deltas += restated_call(item, position)
        return told_together(deltas, self.done)

    def _restated_speech(self, item: Item, position: int) -> list[Delta]:
        if item.type == "message" and not self.spoken:
            return message_text(item)
        if item.type == "reasoning" and not self.thought:
            return reasoning_deltas(item, position, told=False)
        return []
