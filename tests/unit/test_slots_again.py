"""Calls that come again: starts under one id and two names, repetitions of blocks, restarted messages, later turns."""

from __future__ import annotations

import pytest

from tests.support.assembled import told
from tests.support.bound import Got, bound
from tests.support.slotted import (
    HOLE,
    LOST,
    RESTART,
    A,
    B,
    after,
    begun,
    closed,
    finished,
    listed,
    piece,
    place_of,
)
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Restated,
    Slot,
    StepBegan,
    TurnEnded,
    TurnOpened,
)

C = begun(0, "c", "f")
OVER: list[Delta] = [C, piece(0, A), closed(0)]
CALLED: list[Delta] = [piece(1, A), closed(1)]
STEP = StepBegan(0)
REFUSED = CallRefused(0, 3, None, "unparseable", "so it says")


# One id under two names.


@together(
    ("name", "first", "second", "is_doubtful"),
    [
        ("in one place", [C], begun(0, "c", "g"), True),
        ("in two places", [C], begun(1, "c", "g"), False),
        ("under two ids", [C], begun(0, "d", "g"), False),
        ("without a name", [begun(0, "c")], begun(0, "c", "g"), False),
        ("the first one has ended", OVER, begun(0, "c", "g"), False),
        ("one item", [begun(0, "c", "f", "i")], begun(0, "c", "g", "i"), True),
        ("one item in two places", [begun(0, "c", "f", "i")], begun(1, "c", "g", "i"), True),
        ("two items in one place", [begun(0, "c", "f", "i")], begun(0, "c", "g", "j"), False),
    ],
)
def test_one_id_under_two_names(name: str, first: list[Delta], second: CallSeen, is_doubtful: bool) -> None:
    """Of two open calls in one place, or of one item, that have one id and two names, neither is sure."""
    choice = after(*first, second)
    sign = ("ambiguous", "one id came under two names") if is_doubtful else (None, "")

    assert (name, {sign}) == (name, {(call.refusal, call.detail) for call in choice.calls})


def test_one_name_is_no_doubt() -> None:
    """Calls of one id and one name in one place are not two names of one, however many they are."""
    items = begun(0, "c", "f", "i"), begun(None, "c", "f", "j"), CallSeen(0, 0, "j", None, None)

    assert [None, None] == [call.refusal for call in after(C, piece(0, A), C).calls]
    assert [None, None, None] == [call.refusal for call in after(*items, finished(A, 0, "c")).calls]


# Where the text of the second one goes.


@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("under one id", C, C),
        ("without ids", begun(0, None, "f"), begun(0, None, "f")),
        ("elsewhere", C, begun(1, "c", "f")),
    ],
)
def test_a_call_that_is_whole_ends_where_the_next_one_of_its_id_begins(
    name: str, first: CallSeen, second: CallSeen
) -> None:
    """Equal text after the second start is the second call's: all of the first one's was there."""
    choice = after(first, piece(0, A), second, piece(second.index, A))

    assert (name, [A, A]) == (name, [call.text for call in choice.calls])
    assert [False, True] == [call.opened for call in choice.calls]


@pytest.mark.parametrize(
    ("name", "before", "second"),
    [
        ("another id", [C, piece(0, A)], begun(0, "d", "f")),
        ("no id in another place", [begun(0, None, "f"), piece(0, A)], begun(1, None, "f")),
        ("an id in the place of a call without one", [begun(0, None, "f"), piece(0, A)], C),
        ("no id in the place of a call that has one", [C, piece(0, A)], begun(0, None, "f")),
        ("not whole", [C, piece(0, '{"a"')], begun(1, "c", "f")),
        ("a finished item", [C, piece(0, A)], finished(B, 1, "c", "g")),
    ],
)
def test_what_does_not_end_a_call(name: str, before: list[Delta], second: Delta) -> None:
    """A call continues where a call of another id begins, where it is not whole, or where nothing begins."""
    assert (name, [True, True]) == (name, [call.opened for call in after(*before, second).calls])


# Repetitions.


def duplicate(*deltas: Delta) -> int | str | None:
    """Return which call the last one seems to repeat, in the order in which they began."""
    choice = after(*deltas)
    return place_of(choice, choice.calls[-1].original)


@together(
    ("name", "deltas", "expected"),
    [
        ("it has ended", [*OVER, begun(1, "c", "f")], 0),
        ("it is open and has no text", [C, begun(1, "c", "f")], 0),
        ("it is open and has a placeholder", [C, piece(0, "{}"), begun(1, "c", "f")], 0),
        ("it is open and has text", [C, piece(0, '{"a"'), begun(1, "c", "f")], None),
        ("it is open and whole", [C, piece(0, A), begun(1, "c", "f")], 0),
        ("another name", [*OVER, begun(1, "c", "g")], None),
        ("another id", [*OVER, begun(1, "d", "f")], None),
        ("no id", [*OVER, begun(1, None, "f")], None),
        ("no ids", [begun(0, None, "f"), piece(0, A), closed(0), begun(1, None, "f")], None),
        ("another step", [*OVER, STEP, begun(1, "c", "f")], None),
        ("the third time", [*OVER, begun(1, "c", "f"), *CALLED, begun(2, "c", "f")], 0),
        ("another name came between", [*OVER, begun(1, "c", "g"), *CALLED, begun(2, "c", "f")], None),
    ],
)
def test_a_block_that_seems_to_repeat_another(name: str, deltas: list[Delta], expected: int | None) -> None:
    """A block repeats the first one of its id and name, unless a block of that id is open with text, or has another name."""
    assert (name, expected) == (name, duplicate(*deltas))


TWO = [*OVER, begun(1, "d", "g"), *CALLED]
NO_IDS = [begun(0, None, "f"), piece(0, A), closed(0), begun(1, None, "f"), *CALLED]


@together(
    ("name", "deltas", "expected"),
    [
        ("the first one", [*TWO, RESTART, C], 0),
        ("the second one", [*TWO, RESTART, begun(1, "d", "g")], 1),
        ("in another place", [*TWO, RESTART, begun(7, "d", "g")], 1),
        ("another id", [*TWO, RESTART, begun(0, "x", "f")], None),
        ("another name", [*TWO, RESTART, begun(0, "c", "g")], None),
        ("the id and the name of two calls", [*TWO, RESTART, begun(0, "d", "f")], None),
        ("without ids, the first one", [*NO_IDS, RESTART, begun(0, None, "f")], 0),
        (
            "without ids, the next one",
            [*NO_IDS, RESTART, begun(0, None, "f"), *OVER[1:], begun(1, None, "f")],
            1,
        ),
        ("one that is open with text", [C, piece(0, '{"a"'), RESTART, C], 0),
    ],
)
def test_a_call_of_a_message_that_begins_again(name: str, deltas: list[Delta], expected: int | None) -> None:
    """In a restarted message a call is the next one of its id and name that came before, each once."""
    assert (name, expected) == (name, duplicate(*deltas))


HELD: list[Delta] = [C, piece(0, A), closed(0, final=False)]
BEFORE: list[Delta] = [begun(0, "e", "h"), piece(0, B), closed(0, final=False)]
OWN = [Got("d", "g", B, "bound_by_order repeated")]


@together(
    ("name", "before", "text", "expected"),
    [
        ("the text of the ended block", HELD, piece(0, A), OWN),
        ("the same value", HELD, piece(0, '{"a": 1}'), OWN),
        ("the text of an earlier block there", [*HELD, *BEFORE], piece(0, B), OWN),
        ("another text", HELD, piece(0, '{"c":3}'), None),
        ("the label of no block", [], piece(0, A), None),
        ("the label of an open block", HELD, piece(1, A), None),
    ],
)
def test_text_of_an_ended_block_that_comes_again(
    name: str, before: list[Delta], text: Slot, expected: list[Got] | None
) -> None:
    """A connection that is resumed too early sends an ended block's text once more: a block that took it, and begins
    again, has the text that follows; any other text is its own, and the next block is another call.
    """
    came = bound(*before, begun(1, "d", "g"), text, begun(1, "d", "g"), piece(1, B), closed(1, final=False))
    two = [Got("d", "g", text.text, came[-2].sign), Got("d#2", "g", B, "duplicate_id")]

    assert (name, expected or two) == (name, came[-len(expected or two) :])


@together(("first", "text"), [([closed(0)], ""), ([piece(0, A), closed(0)], A)])
def test_a_start_that_comes_again_takes_nothing(first: list[Delta], text: str) -> None:
    """An open block is whole at its end, also if its start came a second time before its text."""
    assert Got("c", "f", text) == bound(C, begun(1, "c", "f"), *first, closed(1))[0]


TAKES: list[Delta] = [
    *HELD,
    begun(1, "d", "g"),
    piece(0, A),
]  # the text of the ended block goes to the next one
NEXT: list[Delta] = [begun(1, "d", "g"), piece(1, B)]


@together(
    ("name", "deltas", "expected"),
    [
        ("it lost text", [*NEXT, HOLE, closed(1, final=False)], [LOST, LOST]),
        ("it was cut", [*NEXT, CallClosed(0, 1, None, truncated=True)], [LOST, "dropped: truncated"]),
        (
            "the first one has ended",
            [closed(1, final=False), *NEXT, closed(1, final=False)],
            ["bound_by_order", "duplicate_id"],
        ),
    ],
)
def test_what_gives_no_text_to_a_block_that_began_again(
    name: str, deltas: list[Delta], expected: list[str]
) -> None:
    """Only a whole text of the second time is that of a block which took another one's, as long as that has not ended."""
    assert (name, expected) == (name, [got.sign for got in bound(*TAKES, *deltas)[1:]])


def test_a_call_that_nobody_could_read_repeats_none() -> None:
    """It has no name that another one could have, also in a message that begins again."""
    nameless = CallSeen(0, 0, None, None, None, begins=True)

    assert [None, None] == [call.original for call in after(nameless, RESTART, REFUSED).calls]


def test_an_id_under_another_name_comes_out_as_often_as_it_came() -> None:
    """Where an id came under two names it identifies nothing: an equal call under it is separate."""
    other, equal = [begun(1, "c", "g"), *CALLED], [begun(2, "c", "f"), piece(2, A), closed(2)]

    assert [("f", A), ("g", A), ("f", A)] == [call[1:3] for call in bound(*OVER, *other, *equal)]
    assert [("f", A), ("g", A)] == [call[1:3] for call in bound(*OVER, *other)]
    cut = begun(1, "c", "g"), piece(1, '{"b"')
    assert ["", "dropped: truncated", "duplicate_id"] == [call.sign for call in bound(*OVER, *cut, *equal)]
    in_turns = [C, piece(0, '{"a"'), begun(1, "c", "f"), piece(0, ":1}"), closed(0), *CALLED]
    assert ["", "dropped: told_twice"] == [call.sign for call in bound(*in_turns)]


# Calls that only a final message reports.


def again(text: str, index: int | None = None, alias: str | None = None, id: str | None = None) -> CallWhole:
    """Return a call of a final message."""
    return CallWhole(0, index, alias, id, "f", text, HYDRATION)


def test_a_call_of_a_final_message_is_found_later() -> None:
    """Its labels are learnt: later statements under them are about that call."""
    restated = again(A, None, "i", "c")

    for message in (restated, Restated(0, (restated,))):
        assert [Got("c", "f", A)] == bound(message, closed(None, "i"))
        assert [Got("c", "f", A)] == bound(message, finished(A, None, None, "f", "i"))


def test_the_place_of_a_call_that_nobody_could_read() -> None:
    """Text in its place is late text of it, which no other call lacks."""
    others = [C, begun(1, "d", "g")]
    ends = [piece(0, A), closed(0), *CALLED]

    assert [Got("c", "f", A), Got("d", "g", A)] == bound(*others, REFUSED, piece(3, "x"), *ends)[:2]
    assert [LOST, LOST] == [call.sign for call in bound(*others, piece(3, "x"), *ends)[:2]]


def test_a_call_of_a_later_final_message_that_came_before() -> None:
    """A call that was emitted in another turn of the same answer is not a second call, and no event says that it
    begins.
    """
    message = TurnOpened(None, "resp_1")
    events = told(message, *OVER, TurnEnded(), message, listed(("c", "f", A)), TurnEnded())

    assert [0] == [event.turn for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    assert [0] == [event.turn for event in events if isinstance(event, ToolCallStarted)]
