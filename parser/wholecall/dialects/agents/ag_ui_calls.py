"""The calls of one AG-UI run: their slots, and who executes them.

Slots are numbered as ids appear. An id names its call until the call is answered: models that restart their numbers
with each step use an id again (quirk 64). The binder resolves the wire's ids: they may be absent, or differ from those
of all starts. The end of a call ends its text only, for its executor is known later.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wholecall.deltas import (
    HYDRATION,
    CallAnswered,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Slot,
    in_telling_order,
)
from wholecall.dialects.agents.ag_ui_book import Book
from wholecall.dialects.agents.ag_ui_views import Message, ToolCallView
from wholecall.dialects.decode import dumped, is_blank, wire_text
from wholecall.dialects.labels import id_label, name_label, text_label
from wholecall.dialects.report import restated_together
from wholecall.types import Flag

__all__ = ["Calls", "told_before"]


def told_before(calls: Iterable[ToolCallView]) -> list[Delta]:
    """Report calls of earlier runs: they are history, also if they are announced again."""
    deltas: list[Delta] = []
    for call in calls:
        id_, function = id_label(call.id), call.function
        if id_ is not None and function is not None:
            deltas.append(CallAnswered(id_, name_label(function.name), wire_text(function.arguments)))
    return deltas


class Calls:
    """The calls of one run."""

    _slots: dict[str, int]
    _open: dict[str | None, int]
    _begun: set[str]
    _over: set[str]
    _answered: set[str]
    _chunked: tuple[int, str, str] | None
    _chunk_slots: list[int]
    _n_slots: int
    _names: dict[str, str]
    _book: Book
    _shared: set[str]

    def __init__(self) -> None:
        self._slots = {}  # by ids without an answer
        self._names = {}  # by ids of calls with a name
        self._book = Book()
        self._shared = set()  # ids shared by calls of several names: they identify no call (quirk 64)
        self._open = {}  # of ids with open calls; None is never among them
        self._begun = set()  # ids of calls that began without an answer yet
        self._over = set()  # ids of calls whose text is over
        self._answered = set()  # ids of calls that had their answer
        self._chunked = None  # the call that chunks continue: slot, id and name, "" for none
        self._chunk_slots = []  # the slots of calls that began in chunks
        self._n_slots = 0

    def seen(
        self, id_: str | None, name: str | None, extra: dict[str, Any] | None, *, chunk: bool = False
    ) -> list[Delta]:
        """Report that a call starts, or that it is labelled again."""
        if id_ is None or name is None or id_ in self._begun:
            self._book.odd = True
        if id_ is not None and name is not None and self._names.setdefault(id_, name) != name:
            self._shared.add(id_)
            self._names[id_] = name
            self._open.pop(id_, None)
            del self._slots[id_]
        slot = self._slot(id_)
        if id_ is not None:
            self._begun.add(id_)
            if id_ not in self._shared:
                self._open[id_] = slot
        self._book.start(id_, name, slot, chunk=chunk)
        self._chunk_slots += [slot] if chunk else []
        return [CallSeen(0, slot, None, id_, name, extra=extra, begins=True)]

    def piece(self, wire_id: object, text: object) -> list[Delta]:
        """Report a piece of a call's text; an id that is known needs no second look."""
        if type(wire_id) is str and (slot := self._open.get(wire_id)) is not None:
            id_: str | None = wire_id
        else:
            id_ = id_label(wire_id)
            slot = self._slot_of_text(id_)
        said = text if type(text) is str else "" if text is None else dumped(text)
        self._book.text(id_, slot, said)
        return [Slot(0, slot, id_, said)] if said else []

    def _slot_of_text(self, id_: str | None) -> int | None:
        """Return the slot that an id names; the run is odd if the id is not that of an open call."""
        if id_ in self._open:
            return self._open[id_]
        self._book.odd = True
        return self._known(id_)

    def chunk(
        self, id_: str | None, name: str | None, extra: dict[str, Any] | None, text: object
    ) -> list[Delta]:
        """Return the deltas of a chunk: an id or a name starts or resumes its call; without labels it continues one."""
        deltas: list[Delta] = []
        if id_ is None and name is not None and self._chunked is not None and self._chunked[1:] == ("", name):
            slot = self._chunked[0]
            self._book.start(None, name, slot, chunk=True)
            self._chunk_slots.append(slot)
            deltas = [CallSeen(0, slot, None, None, name, extra=extra, begins=True)]
        elif name is not None or (id_ is not None and id_ not in self._begun):
            deltas = self.seen(id_, name, extra, chunk=True)
            self._chunked = (self._n_slots - 1 if id_ is None else self._slots[id_]), id_ or "", name or ""
        elif id_ is not None:
            self._chunked = self._slots[id_], id_, ""
        if text is None:
            return deltas
        if self._chunked is None:
            return self.piece(None, text)
        slot, known, _ = self._chunked
        said = dumped(text)
        self._book.text(id_, slot, said)
        return [*deltas, Slot(0, slot, known or None, said)] if said else deltas

    def read(self) -> list[Delta]:
        """Report everything again, if the run is read at its end."""
        return self._book.read()

    def chunks_over(self) -> list[Delta]:
        """Report that the calls of chunks are over: nothing else ends them."""
        return [CallClosed(0, slot, None, of_text=True) for slot in self._chunk_slots]

    def end(self, id_: str | None) -> list[Delta]:
        """Report that the text of a call is over."""
        slot = self._known(id_)
        self._book.end(id_, slot)
        self._book.odd = self._book.odd or id_ not in self._open
        self._chunked = None
        if id_ is not None:
            self._open.pop(id_, None)
            self._over.add(id_)
        return [CallClosed(0, slot, id_, waits=True)]

    def answered(self, id_: str | None) -> list[Delta]:
        """Report that a call has its result: the agent executed it."""
        if id_ is None or id_ not in self._begun:
            return []
        waited = self._book.close()  # now the call of each id matters
        self._answered.add(id_)
        slot = self._slots.pop(id_)
        self._names.pop(id_, None)
        self._begun.discard(id_)
        self._open.pop(id_, None)
        self._over.discard(id_)
        self._chunked = None
        return [*waited, CallSeen(0, slot, None, None, None, "server"), CallClosed(0, slot, None)]

    def knows(self, id_: str | None) -> bool:
        """Return whether a call of this id is or was there."""
        return id_ in self._slots or id_ in self._answered

    def all_answered(self) -> list[Delta]:
        """Report a result under an unknown id: it is of one of the calls whose text is over (quirk 124)."""
        return [*self._book.close(), *self.agents_own([id_ for id_ in self._slots if id_ in self._over])]

    def agents_own(self, ids: Iterable[str | None], flags: tuple[Flag, ...] = ()) -> list[Delta]:
        """Report that the agent executes these calls, though they have no answer yet."""
        slots = [self._slots[id_] for id_ in ids if id_ in self._begun]
        waited = self._book.close() if slots else []
        return [*waited, *(CallSeen(0, slot, None, None, None, "server", flags=flags) for slot in slots)]

    def not_among(self, ids: object) -> list[str]:
        """Return the ids of unanswered calls that are not among these ids; none if no ids are given."""
        wanted = {id_label(id_) for id_ in ids} if isinstance(ids, list) else set()
        return [id_ for id_ in self._slots if wanted and id_ in self._begun and id_ not in wanted]

    def sealed(self, id_: str | None, value: str) -> list[Delta]:
        """Report that the provider wants a value back with a call."""
        slot = self._slots[id_] if id_ in self._begun else None
        extra = {"encryptedValue": value}
        return [] if slot is None else [CallSeen(0, slot, None, None, None, extra=extra)]

    def restated(self, messages: list[Message], history: set[str]) -> list[Delta]:
        """Report the calls of a snapshot of the conversation: their whole text, and which are answered."""
        answered = [id_label(message.tool_call_id) for message in messages if message.role == "tool"]
        done = {*answered, *history}
        asked = max((n for n, message in enumerate(messages) if message.role == "user"), default=-1)
        wholes: list[Delta] = []
        earlier: list[ToolCallView] = []
        for n, message in enumerate(messages):
            for call in message.tool_calls or ():
                id_ = id_label(call.id)
                if id_ is not None and (id_ in self._begun or (n > asked and id_ not in done)):
                    wholes.append(self._whole(id_, call))
                else:
                    earlier.append(call)
        restated = [whole for whole in restated_together(wholes) if isinstance(whole, CallWhole)]
        results = [*told_before(earlier), *(delta for id_ in answered for delta in self.answered(id_))]
        return results if self._book.lists(restated) else [*in_telling_order(restated), *results]

    def _whole(self, id_: str, call: ToolCallView) -> CallWhole:
        slot, function = self._slot(id_), call.function
        self._begun.add(id_)
        self._open[id_] = slot
        name = name_label(function.name) if function is not None else None
        text = wire_text(function.arguments) if function is not None else ""
        sealed = text_label(call.encrypted_value)
        extra = {"encryptedValue": sealed} if sealed else None
        # A blank text restates nothing: it may be a placeholder for arguments that are still to come.
        said = "" if is_blank(text) else text
        return CallWhole(0, slot, None, id_, name, said, HYDRATION, extra=extra)

    def _known(self, id_: str | None) -> int | None:
        """Return the slot that an id names, None if it names no slot, or several."""
        return None if id_ is None or id_ in self._shared else self._slots.get(id_)

    def _slot(self, id_: str | None) -> int:
        """Return the slot of a call, a new one for a call that is not known."""
        if id_ is not None and id_ in self._slots:
            return self._slots[id_]
        slot = self._n_slots
        self._n_slots += 1
        if id_ is not None:
            self._slots[id_] = slot
        return slot
