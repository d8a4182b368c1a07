"""The pieces of blocks that are kept from the first odd label on: which, with what, and when none are."""

from __future__ import annotations

import pytest

from tests.support.slotted import A, B, after, begun, closed, done, finished, piece, preset
from tests.support.together import together
from wholecall import Limits
from wholecall.deltas import CallClosed, CallSeen, CallWhole, Delta, StepBegan, TurnOpened
from wholecall.machine import blocks
from wholecall.machine.readings.partitions import Piece

C, D = begun(0, "c", "f"), begun(1, "d", "g")
ODD = piece(90, B)
HEADS = "S0 c f, S1 d g"
HELD = closed(0, final=False)
AGAIN = TurnOpened(None, restart=True)


def _told(piece: Piece) -> str:
    given = [said for said in (piece.id or "", piece.name or "", piece.text) if said != ""]
    given += ["whole"] if piece.whole else []
    number = [str(piece.n)] if piece.n > 1 else []
    return " ".join([f"{piece.mark}{'-' if piece.index is None else piece.index}", *given, *number])


def kept(*deltas: Delta, limits: Limits | None = None) -> str | None:
    """Return the pieces that a choice has kept after these deltas, None if it has no record."""
    record = after(*deltas, limits=limits).slots.record
    return None if record is None else ", ".join(map(_told, record.pieces))


def shown(*deltas: Delta) -> list[int]:
    """Return the place of the call in which each kept piece was shown."""
    choice = after(*deltas)
    assert choice.slots.record is not None
    return [choice.calls.index(call) for call in choice.slots.record.shown]


@together(
    "told",
    [
        [C, piece(0, A), closed(0), D, piece(1, B), closed(1)],
        [C, D, piece(0, A), piece(1, B), closed(1), closed(0)],
        [preset(A, 0, "c", "f"), closed(0), D],
        [begun(0, "c", "f", "i"), piece(0, A, "i"), begun(0, "c", "f", "i")],
        [begun("s", "c", "f"), begun("s", "c", "f")],
        [CallSeen(0, 0, None, "c", "f"), CallSeen(0, 0, None, "c", "f")],
    ],
)
def test_nothing_is_kept_while_labels_are_as_documented(told: list[Delta]) -> None:
    """Blocks under their own indices, items, and calls at numbers of their dialect have no record."""
    slots = after(*told).slots

    assert (None, True) == (slots.record, slots.may_reread)


@together(
    ("told", "pieces"),
    [
        ([ODD], f"{HEADS}, T90 {B}"),
        ([piece(None, B)], f"{HEADS}, T- {B}"),
        ([closed(90)], f"{HEADS}, E90"),
        ([closed(None)], f"{HEADS}, E-"),
        ([C], f"{HEADS}, S0 c f"),
        ([begun(None, "e", "h"), closed(None)], f"{HEADS}, S- e h, E-"),
        ([begun(1, "e", "h")], f"{HEADS}, S1 e h"),
        ([preset(A, 1, "e", "h")], f"{HEADS}, S1 e h {A} whole"),
        ([ODD, piece(0, A), closed(1), closed(90), D], f"{HEADS}, T90 {B}, T0 {A}, E1, E90, S1 d g"),
        ([ODD, begun(5, "e", "h"), piece(5, A), closed(5)], f"{HEADS}, T90 {B}, S5 e h, T5 {A}, E5"),
    ],
)
def test_pieces_from_the_first_odd_label_on(told: list[Delta], pieces: str) -> None:
    """Calls so far are put together as start, text and end; then each piece is kept as it came."""
    assert pieces == kept(C, D, *told)


def test_what_else_is_kept() -> None:
    """A start keeps its input and its further fields, before the first odd label and after it."""
    extra = {"signature": "x"}
    one = CallWhole(0, 0, None, "c", "f", A, 1, extra=extra, begins=True)
    two = CallSeen(0, 1, None, "d", "g", extra=extra, begins=True)
    record = after(one, ODD, two).slots.record

    assert f"S0 c f {A} whole, T90 {B}, S1 d g" == kept(one, ODD, two)
    assert record is not None
    assert [extra, None, extra] == [piece.extra for piece in record.pieces]


def test_calls_before_the_first_odd_label() -> None:
    """Calls that followed one another are put together whole, also those that an end under another label ended."""
    row = [C, piece(0, A), closed(0), D, piece(1, B), closed(1)]

    assert f"S0 c f, T0 {A}, E0, S1 d g, T1 {B}, E1, T90 {B}" == kept(*row, ODD)
    assert "S0 c f, E90" == kept(C, closed(90))
    assert f"S0 c f, T0 {A} 2, T90 {B}" == kept(C, piece(0, A[:3]), piece(0, A[3:]), ODD)
    assert f"S0 c f, T0 {A}, S0 d g" == kept(C, piece(0, A), begun(0, "d", "g"))


def test_where_pieces_were_shown() -> None:
    """Each piece has the call in which it was shown; an end of no known call has that of the piece before."""
    assert [0, 1, 1] == shown(C, D, closed(90))
    assert [0, 1, 2, 2, 1, 0] == shown(C, D, ODD, closed(90), closed(1), piece(0, A))
    assert [0, 1, 2, 2] == shown(C, D, begun(None, "e", "h"), closed(90))


@together(
    "told",
    [
        [C, D, ODD, done(0, A)],
        [C, D, done(0, A), ODD],
        [C, D, ODD, finished(A, 0, "c")],
        [C, D, ODD, StepBegan(0)],
        [C, D, ODD, piece(0, A, "i")],
        [C, D, ODD, piece(0, A, None, "c")],
        [C, D, ODD, piece("s", A)],
        [C, D, ODD, closed(0, "i")],
        [C, D, ODD, closed("s")],
        [C, D, ODD, begun(5, "e", "h", "i")],
        [C, D, ODD, begun("s", "e", "h")],
        [C, D, ODD, CallSeen(0, 0, None, "c", "f")],
        [C, D, ODD, CallWhole(0, 5, None, "e", "h", A, 3, begins=True)],
        [C, begun(1, "d", "g", "i"), ODD],
        [C, begun("s", "d", "g"), ODD],
        [C, CallSeen(0, 1, None, "d", "g"), ODD],
        [C, D, piece(0, A), ODD],
        [C, D, closed(0), ODD],
        [C, D, AGAIN, C, D, ODD],
        [StepBegan(0), C, D, ODD],
        [CallClosed(0, 90, None, final=True)],
    ],
)
def test_no_pieces_of_blocks(told: list[Delta]) -> None:
    """After a whole text, another label or a step, or texts in an unknown order, nothing is kept from then on."""
    choice = after(*told)

    assert (None, False) == (choice.slots.record, choice.slots.may_reread)
    assert kept(*told, C, ODD) is None


def test_the_fast_path_is_left() -> None:
    """Pieces of a call whose pieces came fast are kept, too."""
    told = [C, piece(0, "{"), piece(0, '"a"'), C, piece(0, ":1"), piece(0, "}")]

    assert 'S0 c f, T0 {"a", S0 c f, T0 :1, T0 }' == kept(*told)


def test_records_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A record has so many pieces at most, and so many bytes as all arguments may have."""
    monkeypatch.setattr(blocks, "_MOST", 4)
    told = [C, D, ODD]
    size = after(*told).slots.record.size  # type: ignore[union-attr]

    assert (f"{HEADS}, T90 {B}, E0", None) == (kept(*told, closed(0)), kept(*told, closed(0), closed(1)))
    assert [True, False, True] == [
        kept(*told, closed(0), limits=Limits(max_total_arguments_bytes=most)) is not None
        for most in (size, size - 1, None)
    ]
