"""The calls of a Gemini stream whose arguments come in pieces: which piece is whose, and how each call ends.

A candidate has one such call open at most: the pieces that follow its start have no name. What is built of the
pieces looks whole at any time, so only the wire can end a call: a piece that will not continue, a named call, or
the reason STOP if nothing of the call follows. Some servers write that reason into every chunk, where it ends
nothing; so one that comes with the first part of a call is no end of a call without pieces. At any other end the
call is told as refused, with what was built.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import msgspec

from wholecall.deltas import CallClosed, CallRefused, CallSeen, Delta, Slot
from wholecall.dialects.decode import is_blank, wire_text
from wholecall.dialects.gemini_paths import ArgumentsBuilder
from wholecall.dialects.gemini_views import Call
from wholecall.dialects.labels import id_label, name_label
from wholecall.vocabulary import DropReason

__all__ = ["StreamedCalls"]

_MAX_OPEN: Final = 128  # what is built is bounded per call, so the calls are too


# What became of the reason STOP: it did not come, it came with the call's first part or later, more of the call followed.
Stop = Literal["none", "first", "later", "refuted"]


class _Streamed(msgspec.Struct):
    slot: int
    id: str | None
    name: str | None
    builder: ArgumentsBuilder
    stop: Stop = "none"
    fresh: bool = True  # it began in the frame at hand


class StreamedCalls:
    """The open call of each candidate."""

    _open: dict[int, _Streamed]

    def __init__(self) -> None:
        self._open = {}

    def goes_on(self, number: int, call: Call) -> bool:
        """Whether the part is a piece of the open call: it has no name, or the same one and values."""
        streamed, name = self._open.get(number), name_label(call.name)
        if streamed is None or name is None:
            return streamed is not None
        return name == streamed.name and call.in_pieces

    def begin(
        self, number: int, slot: int, call: Call, extra: dict[str, Any], *, replaced: bool
    ) -> list[Delta]:
        """Open a call with its first part."""
        id_, name = id_label(call.id), name_label(call.name)
        builder = ArgumentsBuilder()
        if len(self._open) >= _MAX_OPEN:
            builder.refuse("too_many_calls", f"more than {_MAX_OPEN} candidates stream a call at once")
        self._open[number] = _Streamed(slot, id_, name, builder)
        seen = CallSeen(number, slot, None, id_, name, extra=extra or None)
        return [seen, *self.go_on(number, call, {}, replaced=replaced)]

    def go_on(self, number: int, call: Call, extra: dict[str, Any], *, replaced: bool) -> list[Delta]:
        """Add a part to the open call; `replaced` says that its frame held bytes that are not UTF-8."""
        streamed, id_ = self._open[number], id_label(call.id)
        builder, news = streamed.builder, streamed.id is None and id_ is not None
        streamed.stop = "none" if streamed.stop == "none" else "refuted"
        if news:
            streamed.id = id_
        elif id_ not in (None, streamed.id):
            builder.refuse("incomplete_input", "a piece of the arguments names another call")
        if not is_blank(wire_text(call.args)):
            builder.refuse("incomplete_input", "an object came beside the pieces of the arguments")
        pieces = call.pieces()
        if pieces is None:
            builder.refuse("incomplete_input", "pieces of the arguments could not be read")
        for piece in pieces or ():
            builder.take(piece, replaced=replaced)
        deltas: list[Delta] = []
        if news or extra:
            deltas.append(CallSeen(number, streamed.slot, None, streamed.id, None, extra=extra or None))
        return deltas if call.more else deltas + self.close(number)

    def next_frame(self) -> None:
        """What comes now is another frame's."""
        for streamed in self._open.values():
            streamed.fresh = False

    def stop(self, number: int) -> None:
        """The reason STOP came: the candidate's open call is whole, unless more of it follows."""
        streamed = self._open.get(number)
        if streamed is not None and streamed.stop in ("none", "first"):
            streamed.stop = "first" if streamed.fresh else "later"

    def close(self, number: int, cut: DropReason | None = None) -> list[Delta]:
        """End the candidate's open call; `cut` says why it is not whole, None that the wire ended it.

        The text goes as a fragment, because a whole one would heal the hole that a lost frame left.
        """
        streamed = self._open.pop(number, None)
        if streamed is None:
            return []
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

    def lose(self) -> None:
        """A frame came in a shape that hides what it held: it may have been a piece of any open call."""
        for streamed in self._open.values():
            streamed.builder.refuse("incomplete_input", "a frame that may hold a piece could not be read")

    def give_up(self) -> list[Delta]:
        """End every open call: the stream is over, and the wire did not end them but by the reason STOP."""
        cuts: dict[int, DropReason | None] = {
            number: self._cut(self._open[number]) for number in sorted(self._open)
        }
        return [delta for number, cut in cuts.items() for delta in self.close(number, cut)]

    def _cut(self, streamed: _Streamed) -> DropReason | None:
        """Return why an open call is not whole at the end of the stream, None if it is."""
        whole = streamed.stop == "later" or (streamed.stop == "first" and not streamed.builder.empty)
        return None if whole else "unterminated"

    def show(self) -> list[Delta]:
        """Show what was built of the open calls, before an error drops them."""
        built = [(number, call.slot, call.builder.text(whole=False)) for number, call in self._open.items()]
        return [Slot(number, slot, None, text) for number, slot, text in built if text]
