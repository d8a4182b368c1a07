"""The pieces of a choice's blocks after the first odd label: as they came, and in which call each was shown.

Theory of operation. Blocks have a start, texts and an end, which the wire marks. As long as their labels are as
documented, `slots` finds the call of each, and no piece is kept. At the first odd label `_begin` makes a `Record`: each
call so far is put into it as its start, its text and its end. From then on each piece is kept. `rereading` reads the
record at the end of the choice, if calls would be lost because of their labels.

    start 0 a, text 1, end 1, start 1 b, text 2, end 2      all but starts number blocks one too high (quirk 125)

Nothing is kept (`SlotTable.may_reread`) if calls that were open side by side had text before the first odd label, whose
order is unknown, or once anything comes that is no piece of a block: a whole text, labels beyond index and id, another
step of the message.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Union

from wholecall import deltas
from wholecall.machine.readings.marked import END, START, TEXT
from wholecall.machine.readings.partitions import Piece
from wholecall.machine.record import Record

if TYPE_CHECKING:
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice

_Begun = Union[deltas.CallSeen, deltas.CallWhole]
_MOST: Final = 4096  # pieces of a record


def keep_start(choice: Choice, delta: _Begun, call: Call, *, opens: bool) -> None:
    """Keep a call's start, whose labels are odd, or come after odd ones; `opens`: the call begins with it."""
    if choice.slots.record is None and not (delta.begins and delta.alias is None):
        return
    is_whole = isinstance(delta, deltas.CallWhole)
    text = delta.text if is_whole else ""
    is_block = delta.begins and delta.alias is None and delta.kind == "function"
    is_block = is_block and not (is_whole and delta.rank != deltas.OBJECT)
    piece = Piece(delta.index, delta.id, delta.name, text, bool(text), extra=delta.extra, mark=START)
    _begin(choice, without=call if opens else None)
    _keep(choice, piece, call, is_block=is_block)


def keep_text(choice: Choice, delta: deltas.Slot, call: Call) -> None:
    """Keep a piece of a call's text."""
    is_own = call.slot == delta.index and delta.index is not None and not call.orphan
    if choice.slots.record is None and is_own:
        return
    is_block = delta.alias is None and delta.id is None
    _begin(choice)
    _keep(choice, Piece(delta.index, None, None, delta.text, mark=TEXT), call, is_block=is_block)


def keep_end(choice: Choice, delta: deltas.CallClosed, call: Call | None) -> None:
    """Keep a call's end; None if it is not known which call it ends."""
    is_own = call is not None and call.slot == delta.index and delta.index is not None
    if choice.slots.record is None and is_own:
        return
    _begin(choice)
    record = choice.slots.record
    shown = call or (record.shown[-1] if record is not None and record.shown else None)
    if shown is not None:
        piece = Piece(delta.index, None, None, "", mark=END)
        _keep(choice, piece, shown, is_block=delta.alias is None)


def spoil(choice: Choice) -> None:
    """Note that something came that is no piece of a block."""
    if choice.slots.record is not None:
        choice.slots.record, choice.slots.may_reread = None, False


def _begin(choice: Choice, without: Call | None = None) -> None:
    """Begin the record with the calls so far, without the one that begins; do nothing if there is one, or can be none."""
    if choice.slots.record is not None or not choice.slots.may_reread:
        return
    choice.slots.record = Record()
    choice.slots.fast.clear()
    calls = [call for call in choice.calls if not (call is without or call.orphan)]
    beside = [call for call in calls if call.beside and call.parts]
    if len(beside) > 1 or choice.slots.round or choice.step or not all(map(_is_block, calls)):
        spoil(choice)
        return
    for call in calls:
        _put_together(choice, call)


def _is_block(call: Call) -> bool:
    """Return whether a call has labels of a block, and has no other text than that of pieces, or of its start."""
    has_labels = call.block and all(alias == call.id for alias in call.aliases)
    return has_labels and call.kind == "function" and call.rank <= deltas.OBJECT


def _put_together(choice: Choice, call: Call) -> None:
    """Keep the pieces of a call while labels were as documented."""
    index = call.slot if type(call.slot) is int else None
    given = call.restated or ""
    pieces = [Piece(index, call.id, call.name, given, bool(given), extra=call.extra, mark=START)]
    if call.parts:
        pieces.append(Piece(index, None, None, call.text, n=len(call.parts), mark=TEXT))
    if call.closed or call.is_over:
        pieces.append(Piece(index, None, None, "", mark=END))
    for piece in pieces:
        _keep(choice, piece, call)


def _keep(choice: Choice, piece: Piece, call: Call, *, is_block: bool = True) -> None:
    """Keep a piece, or forget all of them if they are too many, or this is none of a block."""
    record, limit = choice.slots.record, choice.options.limits.max_total_arguments_bytes
    if record is None:
        return
    record.keep(piece, call)
    is_full = len(record.pieces) > _MOST or (limit is not None and record.size > limit)
    if is_full or not is_block or type(piece.index) is str:
        spoil(choice)
