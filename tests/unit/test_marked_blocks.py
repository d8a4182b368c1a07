"""Readings of blocks with wrong labels: starts have an index and an id, texts and ends an index."""

from __future__ import annotations

from tests.support.together import together
from wholecall import parse_arguments
from wholecall.machine.readings.marked import BLOCKS, MarkedRecord, solve_marked
from wholecall.machine.readings.partitions import Piece
from wholecall.machine.readings.solve import Solution

A, B = '{"a":1}', '{"b":2}'


def start(index: int | None, id: str | None, name: str | None, given: str = "") -> Piece:
    """Return the start of a call, perhaps with its whole text."""
    return Piece(index, id, name, given, bool(given), mark="S")


def text(index: int | None, what: str) -> Piece:
    """Return a piece of text."""
    return Piece(index, None, None, what, mark="T")


def end(index: int | None) -> Piece:
    """Return the end of a call."""
    return Piece(index, None, None, "", mark="E")


def block(index: int, id: str, what: str) -> list[Piece]:
    """Return the block of a piece of text."""
    return [start(index, id, None), text(index, what), end(index)]


def solved(*pieces: Piece) -> Solution:
    """Return the meaning of the pieces."""
    record = MarkedRecord(pieces, "".join(piece.mark for piece in pieces), BLOCKS)
    return solve_marked(record, parse_arguments)


def sure(*pieces: Piece) -> list[tuple[str | None, str, str | None]]:
    """Return name, text and id of the calls that are sure."""
    solution = solved(*pieces)
    calls = zip(solution.calls, solution.sure, strict=True)
    return [(call.name, call.text, call.id) for call, is_sure in calls if is_sure]


C, D = start(0, "c", "f"), start(1, "d", "g")
F, G = ("f", A, "c"), ("g", B, "d")


@together(
    ("pieces", "costs"),
    [
        ([C, text(0, A), end(0), D, text(1, B), end(1)], 0),  # as documented
        ([C, D, text(0, A), text(1, B), end(1), end(0)], 0),
        ([C, text(None, A), end(0), D, text(None, B), end(1)], 1),  # none on texts
        ([C, text(None, A), end(None), D, text(None, B), end(None)], 1),
        ([C, text(0, A), end(0), D, text(0, B), end(1)], 1.5),  # zero on texts
        ([C, text(90, A), end(0), D, text(91, B), end(1)], 1),  # of no block
        ([C, text(90, A), end(90), D, text(91, B), end(91)], 1),
        ([C, D, text(90, A), end(0), text(91, B), end(1)], 1),  # opened
        ([C, D, text(91, B), end(1), text(90, A), end(0)], 1),  # crossed
        ([C, D, text(90, A[:3]), text(91, B), text(90, A[3:]), end(1), end(0)], 1),  # in turns
        ([C, D, text(90, A[:3]), text(91, B), text(90, A[3:]), end(91), end(90)], 1),
        ([C, text(1, A), end(1), D, text(2, B), end(2)], 1),  # one too high
        ([C, D, text(2, B), end(2), text(1, A), end(1)], 1),
        ([C, text(0, A), D, text(1, B)], 1),  # never ended
        ([C, end(0), text(0, A), D, end(1), text(1, B)], 1.5),  # ended early
        ([C, C, text(0, A), end(0), D, D, text(1, B), end(1)], 1),  # started twice
        ([C, D, text(1, B[:3]), text(0, A), text(1, B[3:]), end(1), end(0)], 0),  # the second one first
    ],
)
def test_habits_of_labels(pieces: list[Piece], costs: float) -> None:
    """Each habit of labels, starts and ends is read correctly, at its cost."""
    assert ([F, G], costs) == (sure(*pieces), solved(*pieces).cost)


@together(
    ("pieces", "costs"),
    [
        ([start(0, None, "f"), text(0, A), end(0), start(1, None, "g"), text(1, B), end(1)], 1),
        ([start(0, "c", "f"), text(0, A), end(0), start(0, "d", "g"), text(0, B), end(0)], 1),
        (
            [
                start(None, "c", "f"),
                text(None, A),
                end(None),
                start(None, "d", "g"),
                text(None, B),
                end(None),
            ],
            1,
        ),
        ([start(0, "c", "f"), text(0, A), end(0), start(1, "c", "g"), text(1, B), end(1)], 1),
        ([start(0, "c", "f", A), text(0, A), end(0), start(1, "d", "g", B), text(1, B), end(1)], 1),
        ([C, end(0), *block(1, "c", A), start(2, "d", "g"), end(2), *block(3, "d", B)], 1),
    ],
)
def test_habits_of_starts(pieces: list[Piece], costs: float) -> None:
    """Ids and indices of starts are separate columns; texts may come twice, and each in a block of its own."""
    said = [(name, what) for name, what, _ in sure(*pieces)]

    assert ([("f", A), ("g", B)], costs) == (said, solved(*pieces).cost)


GIVEN = [start(0, "c", "f", A), start(1, "d", "g", B)]
IN_PIECES = [text(0, A[:3]), text(0, A[3:])]


@together(
    ("pieces", "calls", "costs"),
    [
        ([GIVEN[0], *map(text, (0, 0), (A[:3], A[3:])), end(0), GIVEN[1], text(1, B), end(1)], [F, G], 1),
        ([GIVEN[0], text(0, A), end(0), GIVEN[1], end(1)], [F, G], 1),  # one only at its start
        ([GIVEN[0], end(0), GIVEN[1], end(1)], [F, G], 0),
        ([GIVEN[0], end(0), D, text(1, B), end(1)], [F, G], 0),  # each once
        ([GIVEN[0], text(0, A), end(0), D, text(1, B), end(1)], [F, G], 1),  # the first was repeated
        ([GIVEN[0], text(0, B), end(0), GIVEN[1], text(1, A), end(1)], [], 3.5),
        ([GIVEN[0], *IN_PIECES, end(0), GIVEN[1], end(1)], [F, G], 1),
        ([GIVEN[0], *IN_PIECES, end(0), GIVEN[1], text(1, A), end(1)], [], 3.5),  # another text
        ([GIVEN[0], *IN_PIECES, end(0), GIVEN[1], text(1, A[:3]), text(1, A[3:]), end(1)], [], 3.5),
        ([GIVEN[0], *IN_PIECES, end(0), D, text(1, B), end(1)], [], 3),  # only one given
    ],
)
def test_texts_that_are_given_at_the_start(
    pieces: list[Piece], calls: list[tuple[str | None, str, str | None]], costs: float
) -> None:
    """A server that gives whole texts with the starts may send them again in pieces, the same for each call."""
    assert (calls, costs) == (sure(*pieces), solved(*pieces).cost)


@together(
    ("pieces", "costs"),
    [
        ([C, text(90, A), end(90), D, text(90, B), end(90)], 3),  # strange, and the same for both
        ([C, text(90, A), end(91), D, text(92, B), end(93)], 3),  # two for one call
        ([C, text(0, A), end(90), D, text(1, B), end(91)], 3),  # of ends alone
        ([C, text(None, A), end(0), D, text(1, B), end(None)], 3),  # some without
        ([C, text(0, A), end(0), D, text(0, B), end(90)], 3),
        ([C, text(90, A), end(0), D, text(90, B), end(1)], 3),  # of both texts
        ([C, text(None, A), end(0), D, text(91, B), end(1)], 3),
        (
            [C, text(90, A), end(90), end(0), D, text(91, B), end(91), end(1)],
            4,
        ),  # own ends beside strange ones
        (
            [C, start(5, "c", "f"), text(0, A), end(0), D, text(1, B), end(1)],
            2,
        ),  # one start again, at a new index
        ([C, start(0, "c", "f"), start(7, "d", "g"), text(0, A), end(0), text(7, B), end(7)], 2),
    ],
)
def test_labels_that_are_odder(pieces: list[Piece], costs: float) -> None:
    """Labels that fit no habit of blocks are as odd as three habits."""
    assert ([F, G], costs) == (sure(*pieces), solved(*pieces).cost)


def test_calls_that_start_at_one_index() -> None:
    """Where calls take turns, their ends have the indices of their texts, and the order of these is that of the starts."""
    starts = start(0, "c", "f"), start(0, "d", "g")
    pieces = *starts, text(90, A[:3]), text(91, B), text(90, A[3:]), end(91), end(90)

    assert ([F, G], 2) == (sure(*pieces), solved(*pieces).cost)


def test_calls_in_turns_beside_one_without_text() -> None:
    """An index that only an end has may be that of any of three calls: each way costs one habit, and none is sure."""
    pieces = C, D, start(2, "e", "h"), text(90, A[:3]), text(91, B), text(90, A[3:])

    assert ([], 1) == (
        sure(*pieces, end(91), end(90), end(92)),
        solved(*pieces, end(91), end(90), end(92)).cost,
    )


def test_ends_before_others_are_not_those_of_all_calls() -> None:
    """The ends of a call that came in several blocks do not end the call before it as well."""
    again = start(0, "d", "g")
    pieces = (
        start(0, "c", "f"),
        again,
        end(0),
        again,
        text(0, ""),
        end(0),
        again,
        text(0, "{}"),
        end(0),
        end(0),
    )

    assert ([], 6) == (sure(*pieces), solved(*pieces).cost)


def test_only_some_calls_come_in_several_blocks() -> None:
    """A call without text has one block where others have one for each piece."""
    pieces = C, end(0), *block(1, "c", A), start(2, "d", "g"), end(2)

    assert ([F, ("g", "", "d")], 1) == (sure(*pieces), solved(*pieces).cost)


@together(
    "pieces",
    [
        [C, D, text(90, A), end(1), end(0)],  # crossed, or in turns
        [C, D, text(90, A), end(0), end(1)],  # opened, or in turns with texts that were empty
        [C, D, text(90, A), text(91, B)],
        [C, D, text(90, A), end(91), end(90)],  # in turns, or the text is the second call's
        [C, D, text(90, A), end(90), end(91)],  # opened or crossed
        [C, D, text(90, A), text(91, B), end(0), end(1)],
        [C, D, text(None, A), text(None, B), end(0), end(1)],
    ],
)
def test_texts_that_are_either_calls(pieces: list[Piece]) -> None:
    """If one order gives a text to one call and another order to the other, none is sure."""
    assert [] == sure(*pieces)


def test_too_many_ways() -> None:
    """Where the texts can be dealt in more ways than are tried, there is no reading at all."""
    starts = [start(n, f"c{n}", "f") for n in range(7)]
    texts = [text(90 + n, A) for n in range(3)]
    ends = [end(n) for n in range(7)]

    assert ([], 6) == solved(*starts, *texts, *ends)[::2]
    assert 1 == solved(*starts[:6], *texts, *ends[:6]).cost
    assert 6 == solved(*starts, *texts[:2], *ends).cost
