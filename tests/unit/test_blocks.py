"""Blocks whose labels are odd: their pieces are read once more at the end, if calls would be lost."""

from __future__ import annotations

import pytest

from tests.support.bound import A, B, Got, assembled
from tests.support.slotted import HOLE, RESTART, begun, closed, done, piece, preset
from tests.support.together import together
from wholecall.deltas import CallClosed, Delta, Finish, StepBegan, TurnEnded
from wholecall.machine import blocks

C, D = begun(0, "c", "f"), begun(1, "d", "g")
CALLS: list[Delta] = [Finish(0, "tool_calls", "tool_use"), TurnEnded(None)]
LOST = ("c", "f", "dropped: incomplete_input")
# Both starts, then texts of which no block has the index; only the ends tell whose they are.
UNKNOWN = [C, D, piece(90, A), closed(0), piece(91, B), closed(1)]


def came(*told: Delta) -> list[tuple[str | None, str]]:
    """Return id and text of the calls that are emitted."""
    return [(got.id, got.text) for got in assembled(*told)[0] if not got.sign.startswith("dropped")]


@together(
    "told",
    [
        pytest.param(UNKNOWN, id="unknown"),
        pytest.param([C, D, piece(90, B), closed(1), piece(91, A), closed(0)], id="crossed"),
        pytest.param([C, D, piece(None, A), closed(0), piece(None, B), closed(1)], id="none"),
        pytest.param(
            [C, D, piece(90, ""), piece(90, A), closed(0), piece(91, ""), piece(91, B), closed(1)], id="heads"
        ),
        pytest.param(
            [C, D, piece(90, A[:3]), piece(90, A[3:]), closed(0), piece(91, B), closed(1)], id="pieces"
        ),
        pytest.param(
            [C, D, piece(90, A[:3]), piece(91, B), piece(90, A[3:]), closed(1), closed(0)], id="turns"
        ),
    ],
)
def test_blocks_are_read_once_more(told: list[Delta]) -> None:
    """Where one habit explains all labels, each call gets its text, and nothing else is reported."""
    got, _ = assembled(*told, *CALLS)

    assert [("c", "f", A), ("d", "g", B)] == [call[:3] for call in got]
    assert all(call.sign for call in got)  # a flag tells that labels were odd


@together(
    "told",
    [
        pytest.param([*UNKNOWN[:3], HOLE, *UNKNOWN[3:]], id="text was lost"),
        pytest.param([C, D, piece(90, A), RESTART, *UNKNOWN], id="the message started again"),
        pytest.param([StepBegan(0), *UNKNOWN], id="a later step"),
        pytest.param([*UNKNOWN[:3], StepBegan(0), *UNKNOWN[3:]], id="a step in between"),
        pytest.param([begun(0, "c", "f", "i"), *UNKNOWN[1:]], id="an item, with labels of its own"),
        pytest.param([*UNKNOWN, done(7, A)], id="a done event"),
        pytest.param([C, D, piece(90, A), piece(91, B)], id="two orders"),
        pytest.param([C, D, piece(90, A), piece(91, B), closed(0), closed(1)], id="ends in a row"),
        pytest.param([C, D, piece(90, A), closed(1), closed(0)], id="crossed, or in turns"),
        pytest.param(
            [C, D, piece(0, A[:3]), piece(1, B[:3]), piece(90, A[3:]), piece(91, B[3:])], id="before"
        ),
        pytest.param([C, D, piece(90, A), closed(0), piece(1, B), closed(1)], id="one call, and no habit"),
        pytest.param(
            [C, D, piece(90, A), closed(0), piece(91, B[:3]), closed(1)], id="a text without an end"
        ),
    ],
)
def test_blocks_that_are_not_read_again(told: list[Delta]) -> None:
    """After a loss, with other labels, or if several meanings are left, a call whose text is not clear is a drop."""
    assert LOST in [(got.id, got.name, got.sign) for got in assembled(*told, *CALLS)[0]]


def test_a_turn_that_was_cut_is_not_read_again() -> None:
    """The piece that distinguishes two meanings may be missing."""
    assert [] == came(*UNKNOWN, Finish(0, "length", "max_tokens"), TurnEnded(None))
    assert [] == came(*UNKNOWN)
    assert [("c", A), ("d", B)] == came(*UNKNOWN, TurnEnded(None))


def test_only_an_end_shows_that_a_block_has_no_text() -> None:
    """A block without text and end is a call where a reason for calls followed; without one it may have been cut."""
    told = [C, piece(None, A), D]

    assert [("c", A), ("d", "")] == came(*told, *CALLS)
    assert [("c", A)] == came(*told, TurnEnded(None))


def test_two_habits_are_believed_at_most() -> None:
    """Blocks without ids whose texts have index 0 are read again, but not without their ends as well."""
    c, d = begun(1, None, "f"), begun(2, None, "g")
    told = [c, d, piece(0, A), closed(1), piece(0, B), closed(2)]

    assert [A, B] == [what for _, what in came(*told, *CALLS)]
    assert [] == came(c, d, piece(0, A), piece(0, B), *CALLS)


def test_all_calls_of_the_meaning_are_sure_or_none() -> None:
    """Where one text may be either of two calls', the other calls are not read again, either."""
    told: list[Delta] = [begun(1, "d", "g"), begun(2, "e", "h"), piece(90, B), closed(1), closed(2)]

    assert [("c", "")] == came(C, closed(0), *told, *CALLS)


def test_blocks_from_which_nothing_is_lost_stay_as_shown() -> None:
    """Texts that order alone gave to their only open calls need no second reading, whether ends came or none."""
    ended, _ = assembled(C, piece(None, A), closed(0), D, piece(None, B), closed(1), *CALLS)
    left, _ = assembled(C, piece(None, A), D, piece(None, B), TurnEnded(None))

    assert [Got("c", "f", A), Got("d", "g", B)] == ended == left


def test_labels_alone_are_read_again() -> None:
    """With a label of replaced bytes, or a call that was dropped, blocks stay as they were shown."""
    blocks: list[Delta] = [C, closed(0), begun(1, "d", "g"), begun(2, "e", "h")]
    blocks += [piece(90, B), closed(1), piece(91, A), closed(2)]

    def texts(*tools: str) -> list[str]:
        return [call.text for call in assembled(*blocks, *CALLS, tools=tools)[0] if call.name]

    assert [] == came(begun(0, "\ufffd", "f"), *UNKNOWN[1:], *CALLS)
    assert [["", B, A], ["", "", ""]] == [texts("f", "g", "h"), texts("g", "h")]


def test_an_emitted_call_is_a_fact() -> None:
    """A call that was emitted before is neither emitted again nor changed."""
    end = CallClosed(0, 0, None, final=True)
    first = [C, piece(0, A), end]
    others = [begun(1, "d", "g"), begun(2, "e", "h"), piece(90, B), closed(1), piece(91, A), closed(2)]

    assert [("c", A)] == came(*first, *others, *CALLS)
    assert [("d", B), ("e", A)] == came(*others, *CALLS)


def test_a_record_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beyond a number of pieces nothing is read again."""
    monkeypatch.setattr(blocks, "_MOST", 5)

    assert [] == came(*UNKNOWN, *CALLS)


def test_an_input_at_the_start_is_a_text() -> None:
    """A text that came with the start may come again, in pieces."""
    given = [preset(A, 0, "c", "f"), preset(B, 1, "d", "g"), *UNKNOWN[2:]]
    got, _ = assembled(*given, *CALLS)

    assert [Got("c", "f", A), Got("d", "g", B)] == [call._replace(sign="") for call in got]


def test_a_reason_drops_no_call_that_will_be_read_again() -> None:
    """A block without an end waits for the end of the message: only then its pieces say what its text is."""
    row = [C, piece(90, A), D, piece(91, B)]

    assert [("c", A), ("d", B)] == came(*row, *CALLS)
    assert [("c", A), ("d", A)] == came(C, piece(None, A), D, piece(None, A), closed(0), closed(1), *CALLS)
    assert [] == came(*row, HOLE, *CALLS)
