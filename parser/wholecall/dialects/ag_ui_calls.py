"""The calls of one AG-UI run: which slot each has, which take text, and what is learnt of who executes them.

Slots are numbered as calls appear. An id names its call until the call is answered: models that number their
calls anew with each step use an id again (quirk 64).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wholecall.deltas import DONE, CallClosed, CallSeen, CallWhole, Delta, Slot, WireFault
from wholecall.dialects.ag_ui_views import Message, ToolCallView
from wholecall.dialects.decode import dumped, is_blank, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.vocabulary import Flag

__all__ = ["Calls"]


class Calls:
    """The calls of one run."""

    _slots: dict[str, int]
    _open: dict[int, None]
    _chunked: int | None
    _n_slots: int

    def __init__(self) -> None:
        self._slots = {}  # of calls that have no answer yet
        self._open = {}  # slots whose end did not come
        self._chunked = None  # the slot that chunks without an id go on with
        self._n_slots = 0

    def seen(self, id_: str | None, name: str | None, extra: dict[str, Any] | None) -> list[Delta]:
        """Say that a call starts, or that it is labelled again."""
        slot = self._slot(id_)
        self._open[slot] = None
        return [CallSeen(0, slot, None, id_, name, extra=extra)]

    def piece(self, id_: str | None, text: object) -> list[Delta]:
        """Say a piece of a call's text; a call that never started opens here, and waits for its name."""
        if text in ("", None):
            return []
        if id_ is None:
            slot = self._sole()
            return [_NOBODYS] if slot is None else [Slot(0, slot, None, dumped(text))]
        deltas = [] if id_ in self._slots else self.seen(id_, None, None)
        return [*deltas, Slot(0, self._slot(id_), None, dumped(text))]

    def chunk(
        self, id_: str | None, name: str | None, extra: dict[str, Any] | None, text: object
    ) -> list[Delta]:
        """Say what a chunk says: one with an id starts its call or returns to it, one without goes on."""
        if id_ is None and self._chunked is not None:
            return [Slot(0, self._chunked, None, dumped(text))] if text else []
        if id_ is None and name is None:
            return self.piece(None, text)
        deltas: list[Delta] = []
        if name is not None or id_ not in self._slots:
            deltas = self.seen(id_, name, extra)
        self._chunked = self._slot(id_) if id_ is not None else self._n_slots - 1
        return [*deltas, Slot(0, self._chunked, None, dumped(text))] if text else deltas

    def end(self, id_: str | None) -> None:
        """The text of a call is over; an end without an id is that of the only open call."""
        slot = self._slots.get(id_) if id_ is not None else self._sole()
        if slot is not None:
            self._open.pop(slot, None)
            self._chunked = None if self._chunked == slot else self._chunked

    def answered(self, id_: str | None) -> list[Delta]:
        """Say that a call has its result: the agent executed it."""
        self.end(id_)
        slot = self._slots.pop(id_, None) if id_ is not None else None
        if slot is None:
            return []
        return [CallSeen(0, slot, None, None, None, "server"), CallClosed(0, slot, None)]

    def agents_own(self, ids: Iterable[str | None], flags: tuple[Flag, ...] = ()) -> list[Delta]:
        """Say of calls without an answer that the agent is to execute them all the same."""
        slots = [self._slots[id_] for id_ in ids if id_ in self._slots]
        return [CallSeen(0, slot, None, None, None, "server", flags=flags) for slot in slots]

    def not_among(self, ids: object) -> list[str]:
        """Return the ids of the calls without an answer that are not among the ids; none if there are no ids."""
        wanted = {id_label(id_) for id_ in ids} if isinstance(ids, list) else set()
        return [id_ for id_ in self._slots if wanted and id_ not in wanted]

    def sealed(self, id_: str | None, value: str) -> list[Delta]:
        """Say that the provider wants a value back with a call."""
        slot = self._slots.get(id_) if id_ is not None else None
        extra = {"encryptedValue": value}
        return [] if slot is None else [CallSeen(0, slot, None, None, None, extra=extra)]

    def restated(self, messages: list[Message], history: set[str]) -> list[Delta]:
        """Say what a snapshot of the conversation says of calls: their whole text, and which are answered."""
        answered = [id_label(message.tool_call_id) for message in messages if message.role == "tool"]
        done = {*answered, *history}
        asked = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
        deltas: list[Delta] = []
        for n, message in enumerate(messages):
            for call in message.tool_calls or ():
                id_ = id_label(call.id)
                if id_ is not None and (id_ in self._slots or (n > asked and id_ not in done)):
                    deltas.append(self._whole(id_, call))
        return deltas + [delta for id_ in answered for delta in self.answered(id_)]

    def _whole(self, id_: str, call: ToolCallView) -> Delta:
        slot, function = self._slot(id_), call.function
        name = name_label(function.name) if function is not None else None
        text = wire_text(function.arguments) if function is not None else ""
        sealed = text_label(call.encrypted_value)
        extra = {"encryptedValue": sealed} if sealed else None
        if is_blank(text):  # it restates nothing, and may stand for what is still to come
            return CallSeen(0, slot, None, id_, name, extra=extra)
        return CallWhole(0, slot, None, id_, name, text, DONE, extra=extra)

    def _sole(self) -> int | None:
        return next(iter(self._open)) if len(self._open) == 1 else None

    def _slot(self, id_: str | None) -> int:
        """Return the slot of a call, a new one for a call that is not known."""
        if id_ is not None and id_ in self._slots:
            return self._slots[id_]
        slot = self._n_slots
        self._n_slots += 1
        if id_ is not None:
            self._slots[id_] = slot
        return slot


_NOBODYS = WireFault("undecodable_frame", "a piece of arguments names none of the open calls", hole=True)
