"""The pieces of a choice's blocks after the first odd label: as they came, and in which call each was shown.

Theory of operation. Blocks have a start, texts and an end, which the wire marks. As long as their labels are as
documented, `slots` finds the call of each, and no piece is kept. At the first odd label `_begin` makes a `Record`: each
call so far is put into it as its start, its text and its end. From then on each piece is kept. `rereading` reads the
record at the end of the choice, if calls would be lost because of their labels.

    start 0 a, text 1, end 1, start 1 b, text 2, end 2      all but starts number blocks one too high (quirk 125)

Nothing is kept (`SlotTable.may_reread`) if calls that were open side by side had text or an end before the first odd
label, whose order is unknown, or once anything comes that is no piece of a block: a whole text, labels beyond index and
id, another step of the message.
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


def keep_start(choice: Choice, delta: _Begun, call: Call, *, opens: bool = False) -> None:
    """Keep a call's start, whose labels are odd, or come after odd ones; `opens`: the call, and perhaps the record, begins with it."""
    is_block = delta.begins and _has_labels(delta)
    if choice.slots.record is None and not is_block:
        return
    text = delta.text if isinstance(delta, deltas.CallWhole) else ""
    is_given = not isinstance(delta, deltas.CallWhole) or delta.rank == deltas.OBJECT
    labels = _number(delta.index), delta.id, delta.name
    _begin(choice, without=call if opens else None)
    piece = Piece(*labels, text, bool(text), extra=delta.extra, mark=START)
    _keep(choice, piece, call, is_block=is_block and is_given)


def keep_text(choice: Choice, delta: deltas.Slot, call: Call) -> None:
    """Keep a piece of a call's text."""
    if choice.slots.record is None and _is_own(call, delta.index):
        return
    _begin(choice)
    piece = Piece(_number(delta.index), None, None, delta.text, mark=TEXT)
    _keep(choice, piece, call, is_block=_has_labels(delta) and delta.id is None)


def keep_end(choice: Choice, delta: deltas.CallClosed, call: Call | None) -> None:
    """Keep a call's end; None if it is not known which call it ends."""
    if choice.slots.record is None and call is not None and _is_own(call, delta.index):
        return
    _begin(choice)
    piece = Piece(_number(delta.index), None, None, "", mark=END)
    _keep(choice, piece, call, is_block=_has_labels(delta))


def spoil(choice: Choice) -> None:
    """Note that something came that is no piece of a block."""
    if choice.slots.record is not None:
        choice.slots.spoil()


def _is_own(call: Call, index: deltas.Index | None) -> bool:
    """Return whether a text or an end has the index of its call."""
    return index is not None and call.slot == index


def _has_labels(delta: _Begun | deltas.Slot | deltas.CallClosed) -> bool:
    """Return whether a delta has no other labels than a block, whose index is a number of the wire."""
    return delta.alias is None and not isinstance(delta.index, str)


def _number(index: deltas.Index | None) -> int | None:
    return None if isinstance(index, str) else index


def _begin(choice: Choice, without: Call | None = None) -> None:
    """Begin the record with the calls so far, without the one that begins; do nothing if there is one, or can be none."""
    if choice.slots.record is not None or not choice.slots.may_reread:
        return
    choice.slots.record = Record()
    choice.slots.fast.clear()
    calls = [call for call in choice.calls if not (call is without or call.orphan)]
    beside = [call for call in calls if call.beside]
    has_no_order = len(beside) > 1 and any(call.parts or call.closed for call in beside)
    if has_no_order or choice.step or not all(map(_is_block, calls)):
        spoil(choice)
    for call in calls:
        _put_together(choice, call)


def _is_block(call: Call) -> bool:
    """Return whether a call has labels of a block, and has no other text than that of pieces, or of its start."""
    has_labels = not isinstance(call.slot, str) and all(alias == call.id for alias in call.aliases)
    return call.block and has_labels and call.rank <= deltas.OBJECT


def _put_together(choice: Choice, call: Call) -> None:
    """Keep the pieces of a call while labels were as documented."""
    index, given, n = _number(call.slot), call.restated or "", len(call.parts)
    _keep(choice, Piece(index, call.id, call.name, given, bool(given), extra=call.extra, mark=START), call)
    if n:
        _keep(choice, Piece(index, None, None, call.text, n=n, mark=TEXT), call)
    if call.closed:
        _keep(choice, Piece(index, None, None, "", mark=END), call)


def _keep(choice: Choice, piece: Piece, call: Call | None, *, is_block: bool = True) -> None:
    """Keep a piece that was shown in a call, or in none; forget all if this is none of a block, or they are too many."""
    record, limit = choice.slots.record, choice.options.limits.max_total_arguments_bytes
    if record is None:
        return
    shown = call or next(reversed(record.shown), None)
    is_full = len(record.pieces) >= _MOST or (limit is not None and record.size > limit)
    if is_block and shown is not None and not is_full:
        record.keep(piece, shown)
    else:
        spoil(choice)
