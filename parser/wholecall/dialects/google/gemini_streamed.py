"""The calls of a Gemini stream whose arguments come in pieces: the call of each piece, and the end of each call.

A piece without a name continues the call of the last piece, a piece with an id and a name is that call's. A call built
of pieces looks whole at any time, so only the wire can end a call: a piece that will not continue, or the reason STOP
if nothing of the call follows. Another call only displaces it. A piece that only ends does not name the call that it
ends: where several are open, all are ended once each had its end; and where some call was ended so, STOP ends no other.
Some servers write STOP into every chunk, where it ends nothing. Therefore a STOP that comes with the first part of a
call does not end a call without pieces, unless another chunk came without a reason. At any other end the call is
reported as refused, with the object built so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import Any, Final, Literal

import msgspec

from wholecall.deltas import CallClosed, CallRefused, CallSeen, Delta, Slot
from wholecall.dialects.decode import is_blank, wire_text
from wholecall.dialects.google.gemini_paths import ArgumentsBuilder
from wholecall.dialects.google.gemini_views import Call
from wholecall.dialects.labels import id_label, name_label
from wholecall.types import DropReason

__all__ = ["StreamedCalls"]

_MAX_OPEN: Final = 128  # each call is bounded, so their number is, too


# The state of the reason STOP: it did not come, it came with the call's first part or later, more of the call followed.
Stop = Literal["none", "first", "later", "refuted"]


class _Streamed(msgspec.Struct):
    slot: int
    id: str | None
    name: str | None
    builder: ArgumentsBuilder
    stop: Stop = "none"
    fresh: bool = True  # it began in the current frame

    @property
    def is_stopped(self) -> bool:
        """Return whether the reason STOP ended the call."""
        return self.stop == "later" or (self.stop == "first" and not self.builder.empty)

    def take(self, call: Call, *, replaced: bool) -> None:
        """Build the arguments in a part."""
        builder = self.builder
        if not is_blank(wire_text(call.args)):
            builder.refuse("incomplete_input", "an object came beside the pieces of the arguments")
        pieces = call.pieces()
        if pieces is None:
            builder.refuse("incomplete_input", "pieces of the arguments could not be read")
        for piece in pieces or ():
            builder.take(piece, replaced=replaced)


class StreamedCalls:
    """The open calls of each candidate; the call of the last piece comes last."""

    _open: dict[int, list[_Streamed]]
    _n_ends: dict[int, int]
    _telling: set[int]
    _without: set[int]

    def __init__(self) -> None:
        self._open = {}
        self._n_ends = {}  # of candidates, in which several calls were open
        self._telling = set()  # candidates of which a piece ended a call
        self._without = set()  # candidates of which a chunk came without a reason

    @property
    def are_open(self) -> bool:
        """Return whether a call is open."""
        return any(self._open.values())

    def goes_on(self, number: int, call: Call) -> bool:
        """Return whether the part is a piece of an open call: it has no name, or the same one and values."""
        streamed, name = self._open.get(number), name_label(call.name)
        if not streamed or name is None:
            return bool(streamed)
        return call.in_pieces and name == self._of(number, id_label(call.id)).name

    def begin(
        self, number: int, slot: int, call: Call, extra: dict[str, Any], *, replaced: bool
    ) -> list[Delta]:
        """Open a call with its first part."""
        id_, name = id_label(call.id), name_label(call.name)
        builder = ArgumentsBuilder()
        if sum(map(len, self._open.values())) >= _MAX_OPEN:
            builder.refuse("too_many_calls", f"more than {_MAX_OPEN} calls are streamed at once")
        streamed = _Streamed(slot, id_, name, builder)
        self._open.setdefault(number, []).append(streamed)
        seen = CallSeen(number, slot, None, id_, name, extra=extra or None)
        return [seen, *self._add(number, streamed, call, {}, replaced=replaced)]

    def go_on(self, number: int, call: Call, extra: dict[str, Any], *, replaced: bool) -> list[Delta]:
        """Add a part to an open call; `replaced` says that its frame held bytes that are not UTF-8."""
        return self._add(number, self._of(number, id_label(call.id)), call, extra, replaced=replaced)

    def _of(self, number: int, id: str | None) -> _Streamed:
        """Return the open call of an id, else the call of the last piece."""
        calls = self._open[number]
        return next((call for call in calls if id is not None and call.id == id), calls[-1])

    def _add(
        self, number: int, streamed: _Streamed, call: Call, extra: dict[str, Any], *, replaced: bool
    ) -> list[Delta]:
        id_ = id_label(call.id)
        self._open[number].remove(streamed)
        self._open[number].append(streamed)
        streamed.stop = "none" if streamed.stop == "none" else "refuted"
        news = streamed.id is None and id_ is not None
        if news:
            streamed.id = id_
        elif id_ not in (None, streamed.id):
            streamed.builder.refuse("incomplete_input", "a piece of the arguments names another call")
        streamed.take(call, replaced=replaced)
        deltas: list[Delta] = []
        if news or extra:
            deltas.append(CallSeen(number, streamed.slot, None, streamed.id, None, extra=extra or None))
        return deltas if call.more else deltas + self._end(number, streamed, is_named=id_ is not None)

    def _end(self, number: int, streamed: _Streamed, *, is_named: bool) -> list[Delta]:
        """Note that a piece ends a call: the one that it names, or the only one; else it is unknown which."""
        if len(self._telling) < _MAX_OPEN:
            self._telling.add(number)
        calls = self._open[number]
        if is_named or len(calls) == 1:
            calls.remove(streamed)
            return _ended(number, streamed)
        self._n_ends[number] = self._n_ends.get(number, 0) + 1
        return self.close(number) if self._n_ends[number] == len(calls) else []

    def next_frame(self) -> None:
        """Note that another frame begins."""
        for streamed in self._all() if self._open else ():
            streamed.fresh = False

    def no_stop(self, number: int) -> None:
        """Note that a chunk of the candidate has no reason."""
        if len(self._without) < _MAX_OPEN:
            self._without.add(number)

    def stop(self, number: int) -> None:
        """Note that STOP came: the candidate's open calls are whole, unless more of them follows."""
        for streamed in self._open.get(number, ()):
            if streamed.stop in ("none", "first"):
                every = streamed.fresh and number not in self._without
                streamed.stop = "first" if every else "later"

    def close(self, number: int, cut: DropReason | None = None) -> list[Delta]:
        """End the candidate's open calls; `cut` is the reason why they are not whole, None if the wire ended them."""
        self._n_ends.pop(number, None)
        calls = sorted(self._open.pop(number, ()), key=lambda call: call.slot)
        return [delta for call in calls for delta in _ended(number, call, cut)]

    def lose(self) -> None:
        """Note that a frame's content is unknown: it may have been a piece of any open call."""
        for streamed in self._all():
            streamed.builder.refuse("incomplete_input", "a frame that may hold a piece could not be read")

    def give_up(self) -> list[Delta]:
        """End every open call with the stream; only the reason STOP can have ended them on the wire."""
        left, self._open = self._open, {}
        ended = [
            _ended(number, call, None if number not in self._telling and call.is_stopped else "unterminated")
            for number, calls in sorted(left.items())
            for call in sorted(calls, key=lambda call: call.slot)
        ]
        self._n_ends.clear()
        self._telling.clear()
        return [delta for deltas in ended for delta in deltas]

    def show(self) -> list[Delta]:
        """Show the objects built for the open calls, before an error drops them."""
        built = [
            (number, call.slot, call.builder.text(whole=False))
            for number, calls in self._open.items()
            for call in calls
        ]
        return [Slot(number, slot, None, text) for number, slot, text in built if text]

    def _all(self) -> Iterator[_Streamed]:
        return chain.from_iterable(self._open.values())


def _ended(number: int, streamed: _Streamed, cut: DropReason | None = None) -> list[Delta]:
    """Report that a call ended.

    The text is sent as a fragment, because a whole text would heal the hole that a lost frame left.
    """
    builder, slot = streamed.builder, streamed.slot
    if cut is not None:
        builder.refuse(cut, "the answer ended before this call did")
    elif builder.open:
        builder.refuse("truncated", "the call ended inside a value that was to go on")
    text = builder.text(whole=builder.reason is None)
    if builder.reason is not None:
        return [CallRefused(number, slot, None, builder.reason, builder.detail, text)]
    said: list[Delta] = [Slot(number, slot, None, text)] if text else []
    return [*said, CallClosed(number, slot, None)]
