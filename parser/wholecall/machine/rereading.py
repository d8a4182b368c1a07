"""Reads calls again whose labels were odd, in dialects where the wire marks their starts and ends.

Theory of operation. While such a stream runs, its calls are shown as the labels suggest. When nothing more can come,
the dialect hands over a *marked record*: all pieces that came, each marked as a start, a text or an end (`Reread`). The
record is read in every way in which a server can have meant it (`readings.marked`), and the calls that were shown get
its meaning, as at the end of an oddly labelled choice of chat (`settling.give`). Calls on which the readings disagree
are not sure, and end as `ambiguous`.

Blocks are read again (`reread_blocks`) from the record that the choice itself has kept since the first odd label
(`blocks`). As their calls end one by one, this is done only where calls would be lost: no label, or several, led to
them, and nothing else speaks against any call of the choice. Calls that were emitted already keep their meaning: they
came in a row, before the first odd label. All calls of the meaning must be sure, and its habits be two at most.

Nothing is read again after a loss, beyond a limit, or where a call is not one for the client: then the calls stay as
they were shown.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from wholecall.calls.arguments.ladder import read_arguments
from wholecall.calls.arguments.verdict import Verdict
from wholecall.machine.final_message import Meant, restated
from wholecall.machine.readings import marked, solve
from wholecall.machine.readings.partitions import Piece
from wholecall.machine.record import Record
from wholecall.machine.settling import give

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wholecall.deltas import CallWhole, Marked, Reread
    from wholecall.machine.call import Call
    from wholecall.machine.choice import Choice
    from wholecall.machine.verdicts import Ended

_MOST_OF_BLOCKS = 2.5  # two habits: what is odder stays as it was shown


def reread(choice: Choice, delta: Reread) -> bool:
    """Give the calls of a choice the meaning of all of their pieces; return False if they cannot be read so."""
    choice.slots.take_record()
    is_told = any(call.is_over for call in choice.calls)
    if not (delta.pieces and choice.calls) or is_told or not _is_readable(choice, delta.pieces):
        return False
    record = _record(choice, delta)
    meant = _meant(choice, record, delta)
    if meant:
        _give(choice, record, meant, list(choice.calls))
    return bool(meant)


def reread_blocks(choice: Choice, ended: Ended) -> None:
    """Give the calls of a choice the meaning of all of their pieces, if some would be lost because of their labels."""
    record = choice.slots.take_record()
    open_calls = [call for call in choice.calls if not call.is_over]
    is_lost = any(call.lacks_text for call in open_calls)
    if record is None or ended != "clean" or not is_lost or not _is_readable(choice, record.pieces):
        return
    meant = _meant_by_blocks(choice, record)
    if meant:
        for call in open_calls:
            choice.reopen(call)  # its end is that of the pieces
        _give(choice, record, meant, open_calls)


def _give(choice: Choice, record: Record, meant: list[Meant], calls: list[Call]) -> None:
    """Give calls the meaning of a record instead of the one by which they were shown."""
    for call in calls:
        call.mark_owned()
    give(choice, record, meant, calls)
    for call in choice.calls:
        call.slotted = True


def _solved(
    choice: Choice, record: Record, form: marked.Form, *, has_ends: bool, listed: Iterable[CallWhole] = ()
) -> solve.Solution:
    """Return the meaning of a record; `has_ends`: something shows that calls without text have ended."""
    marks = "".join(piece.mark for piece in record.pieces)
    read = partial(_read, has_ends=has_ends or marked.END in marks, choice=choice)
    texts = [(whole.name, whole.text) for whole in listed]
    pieces = marked.MarkedRecord(record.pieces, marks, form)
    return marked.solve_marked(pieces, read, listed=texts)


def _meant_by_blocks(choice: Choice, record: Record) -> list[Meant]:
    """Return the calls that the pieces of blocks mean; none if one of them is not sure."""
    solution = _solved(choice, record, marked.BLOCKS, has_ends=bool(record.n_evidenced))
    is_credible = solution.cost <= _MOST_OF_BLOCKS and all(solution.sure)
    return [Meant(call, None, True) for call in solution.calls] if is_credible else []


def _is_readable(choice: Choice, pieces: Iterable[Marked | Piece]) -> bool:
    """Return whether the pieces are all that came, as they were sent, and nothing but labels speaks against a call."""
    if choice.lost_text or any("\ufffd" in f"{piece.id}{piece.name}" for piece in pieces):
        return False
    return all(map(_may_be_read, choice.calls))


def _may_be_read(call: Call) -> bool:
    """Return whether a call is the client's, and only its labels speak against it."""
    is_whole = call.dropped is None and not call.full
    return call.kind == "function" and is_whole and call.refusal in (None, "ambiguous")


def _record(choice: Choice, delta: Reread) -> Record:
    """Return the pieces, each with the call in which it was shown."""
    record = Record()
    waiting: dict[Any, list[Call]] = {}
    for call in reversed(choice.calls):
        waiting.setdefault(call.slot, []).append(call)
    latest: dict[int | None, Call] = {}
    call = choice.calls[0]
    for piece in delta.pieces:
        call = latest[piece.slot] = _shown(piece, waiting.get(piece.slot, []), latest.get(piece.slot, call))
        extra = call.extra if piece.mark == "S" else None
        record.pieces.append(
            Piece(None, piece.id, piece.name, piece.text, n=piece.n, extra=extra, mark=piece.mark)
        )
        record.shown.append(call)
    record.restated.extend(delta.listed)
    if delta.chunked:
        record.note_evidence()
    return record


def _shown(piece: Marked, waiting: list[Call], latest: Call) -> Call:
    """Return the call in which a piece was shown: for a start, the next call in its slot."""
    return waiting.pop() if piece.mark == "S" and waiting else latest


def _read(text: str, *, has_ends: bool, choice: Choice) -> Verdict:
    """Return the verdict on a text; no text at all means no arguments only if ends show that calls are whole."""
    return read_arguments(
        text, "clean" if text or has_ends else "open", choice.options.policy, choice.options.limits
    )


def _meant(choice: Choice, record: Record, delta: Reread) -> list[Meant]:
    has_ends = delta.chunked or bool(delta.listed)
    form = marked.CHUNKS if delta.chunked else marked.EVENTS
    solution = _solved(choice, record, form, has_ends=has_ends, listed=delta.listed)
    meant = [Meant(call, None, sure) for call, sure in zip(solution.calls, solution.sure, strict=True)]
    if solution.is_listed:
        return [one._replace(whole=whole) for one, whole in zip(meant, delta.listed, strict=True)]
    if not (meant and delta.listed):
        return meant
    sure = [one.read for one in meant if one.is_sure]
    corrected = restated(record, meant)  # an empty text that disagrees proves nothing
    return [one._replace(is_sure=one.is_sure and (one.is_restated or one.read in sure)) for one in corrected]
