"""The pieces of a choice's blocks after the first odd label: as they came, and in which call each was shown.

Theory of operation. Blocks have a start, texts and an end, which the wire marks. As long as their labels are as
documented, `slots` finds the call of each, and no piece is kept. At the first odd label `keep` makes a `Record`: each
call so far is put into it as its start, its text and its end. From then on each piece is kept. `rereading` reads the
record at the end of the choice, if calls would be lost because of their labels.

    start 0 a, text 1, end 1, start 1 b, text 2, end 2      all but starts number blocks one too high (quirk 125)

The record is not read (`Record.turns`) if calls that were open side by side had text before it began, whose order is
unknown, or if anything comes that is no piece of a block: a whole text, or labels beyond index and id.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, Union

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
    is_block = delta.begins and delta.alias is None and delta.kind == "function"
    is_block = is_block and not (isinstance(delta, deltas.CallWhole) and delta.rank != deltas.OBJECT)
    record = _record(choice, without=call if opens else None)
    text = delta.text if isinstance(delta, deltas.CallWhole) else ""
    _keep(choice, record, _piece(START, delta.index, delta, text, is_block=is_block), call)


def keep_text(choice: Choice, delta: deltas.Slot, call: Call) -> None:
    """Keep a piece of a call's text."""
    if (
        choice.slots.record is None
        and not call.orphan
        and call.slot == delta.index
        and delta.index is not None
    ):
        return
    is_block = delta.alias is None and delta.id is None
    _keep(choice, _record(choice), _piece(TEXT, delta.index, delta, delta.text, is_block=is_block), call)


def keep_end(choice: Choice, delta: deltas.CallClosed, call: Call | None) -> None:
    """Keep a call's end; None if it is not known which call it ends."""
    record = choice.slots.record
    if record is None and (call is None or (call.slot == delta.index and delta.index is not None)):
        return
    record = record or _record(choice)
    shown = call or (record.shown[-1] if record.shown else None)
    if shown is not None:
        _keep(choice, record, _piece(END, delta.index, delta, is_block=delta.alias is None), shown)


def spoil(choice: Choice) -> None:
    """Note that something came that is no piece of a block."""
    if choice.slots.record is not None:
        _drop(choice.slots.record)


def _record(choice: Choice, without: Call | None = None) -> Record:
    """Return the record; if it begins, with the calls so far, and without the one that begins."""
    record = choice.slots.record
    if record is None:
        record = choice.slots.record = Record()
        choice.slots.fast.clear()
        calls = [call for call in choice.calls if not (call is without or call.orphan)]
        beside = [call for call in calls if call.beside and call.parts]
        if len(beside) > 1 or choice.slots.round or not all(map(_is_block, calls)):
            _drop(record)
        else:
            for call in calls:
                _put_together(choice, record, call)
    return record


def _is_block(call: Call) -> bool:
    """Return whether a call has labels of a block, and has no other text than that of pieces, or of its start."""
    has_labels = call.block and all(alias == call.id for alias in call.aliases)
    return has_labels and call.kind == "function" and call.rank <= deltas.OBJECT


def _put_together(choice: Choice, record: Record, call: Call) -> None:
    """Keep the pieces of a call while labels were as documented."""
    index = call.slot if type(call.slot) is int else None
    given, n = call.restated or "", len(call.parts)
    _keep(
        choice,
        record,
        Piece(index, call.id, call.name, given, bool(given), extra=call.extra, mark=START),
        call,
    )
    if n:
        _keep(choice, record, Piece(index, None, None, call.text, n=n, mark=TEXT), call)
    if call.closed or call.is_over:
        _keep(choice, record, Piece(index, None, None, "", mark=END), call)


def _piece(mark: str, index: Any, delta: Any, text: str = "", *, is_block: bool) -> Piece | None:
    """Return a piece; None if it is not one of a block."""
    if not is_block or type(index) is str:
        return None
    is_start = mark == START
    id, name = (delta.id, delta.name) if is_start else (None, None)
    extra = delta.extra if is_start else None
    return Piece(index, id, name, text, is_start and bool(text), extra=extra, mark=mark)


def _keep(choice: Choice, record: Record, piece: Piece | None, call: Call) -> None:
    if record.turns:
        return
    if piece is None or len(record.pieces) >= _MOST:
        _drop(record)
        return
    record.keep(piece, call)
    limit = choice.options.limits.max_total_arguments_bytes
    if limit is not None and record.size > limit:
        _drop(record)


def _drop(record: Record) -> None:
    record.turns = True
    record.drop()
