"""Calls that seem to repeat earlier ones: whether they do, and what becomes of both."""

from __future__ import annotations

import pytest

from tests.support.blocks import ENDS, LOST, UNENDED, dropped
from tests.support.bound import A, B, Got, assembled
from tests.support.slotted import HOLE, RESTART, after, begun, closed, piece, preset, seen
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.deltas import HYDRATION, CallClosed, CallRefused, CallSeen, CallWhole, Delta, Finish, TurnEnded

PART = '{"a"'
C = begun(0, "c", "f")
# How far the first call has come when the second one begins.
OPEN, PARTLY, WHOLE = [C], [C, piece(0, PART)], [C, piece(0, A)]
OVER, OVER_BLANK, CUT = [*WHOLE, closed(0)], [C, closed(0)], [*PARTLY, closed(0)]
TRUNCATED, DUPLICATE = dropped("truncated"), "duplicate_id"
ODD, FINE = ("conflicting_arguments",), ()


def second(text: str, index: int = 0) -> list[Delta]:
    """Return a second start of the call, and its text."""
    return [begun(index, "c", "f"), *([piece(index, text)] if text else [])]


# Messages that begin again.


@together("ends", [ENDS, [closed(0)], [closed(0), *ENDS]])
@together(
    ("first", "text", "anomalies"),
    [
        (OVER, A, FINE),
        (OVER, '{ "a": 1.0 }', FINE),
        (OVER, B, ODD),
        (OVER, PART, ODD),
        (OVER, "", ODD),
        (OVER_BLANK, "", FINE),
        (OVER_BLANK, "{}", FINE),
        (OVER_BLANK, A, ODD),
    ],
)
def test_a_call_that_came_out_stays(
    first: list[Delta], text: str, anomalies: tuple[str, ...], ends: list[Delta]
) -> None:
    """A call of a message that begins again is no second call: another value than before is told, and not taken."""
    before = A if first is OVER else ""
    got, told = assembled(*first, RESTART, *second(text), *ends)

    assert ([Got("c", "f", before)], anomalies) == (got, tuple(sorted({*told} - {"missing_finish"})))


@together("fault", [[], [HOLE, *ENDS]])
@together("text", ["", A, B, PART])
def test_a_repetition_that_lost_text_says_nothing(text: str, fault: list[Delta]) -> None:
    """Where a repetition was cut or lost text, its value proves nothing: a call that came out stays, an open one is lost."""
    again = [RESTART, *second(text), *fault]

    assert ([Got("c", "f", A)], set()) == (_calls(*OVER, *again), _told(*OVER, *again))
    assert [Got("c", "f", PART, LOST)] == _calls(*PARTLY, *again)
    assert [Got("c", "f", "", LOST)] == _calls(*OPEN, *again)


def _calls(*deltas: Delta) -> list[Got]:
    return assembled(*deltas)[0]


def _told(*deltas: Delta) -> set[str]:
    return set(assembled(*deltas)[1]) - {"missing_finish"}


@together("first", [OPEN, PARTLY])
@together(("text", "sign"), [("", "repeated"), (A, "repeated"), (B, "repeated"), (PART, TRUNCATED)])
def test_a_call_that_was_cut_is_what_came_again(first: list[Delta], text: str, sign: str) -> None:
    """A call that was open where its message began again has the text that came then."""
    assert [Got("c", "f", text, sign)] == _calls(*first, RESTART, *second(text), *ENDS)


@pytest.mark.parametrize(("text", "sign"), [("", DUPLICATE), (A, DUPLICATE), (PART, TRUNCATED)])
def test_a_call_that_was_dropped_can_come_again(text: str, sign: str) -> None:
    """A dropped call is not repeated: what comes in the message that begins again is a call."""
    id = "c#2" if sign == DUPLICATE else "c"

    assert [Got("c", "f", PART, TRUNCATED), Got(id, "f", text, sign)] == _calls(
        *CUT, RESTART, *second(text), *ENDS
    )


def test_the_server_takes_over_what_came_again() -> None:
    """A call whose first start was dropped is taken back if the server then sends it as its own."""
    emitted = [*CUT, RESTART, *second(A), closed(0)]
    choice = after(*emitted, CallSeen(0, 0, None, "c", None, "server"))

    assert ({1: "c"}, {}) == (choice.cancelled, after(*emitted).cancelled)


# Messages that go on.


@together(
    ("first", "text", "expected"),
    [
        (OVER, "", [Got("c", "f", A)]),
        (OVER, A, [Got("c", "f", A)]),
        (OVER, B, [Got("c", "f", A), Got("c#2", "f", B, DUPLICATE)]),
        (OVER, PART, [Got("c", "f", A), Got("c", "f", PART, TRUNCATED)]),
        (OVER_BLANK, "", [Got("c", "f", "")]),
        (OVER_BLANK, A, [Got("c", "f", ""), Got("c#2", "f", A, DUPLICATE)]),
        (WHOLE, "", [Got("c", "f", A)]),
        (WHOLE, A, [Got("c", "f", A)]),
        (WHOLE, B, [Got("c", "f", A), Got("c#2", "f", B, DUPLICATE)]),
        (PARTLY, A, [Got("c", "f", PART, TRUNCATED), Got("c#2", "f", A, DUPLICATE)]),
        (OPEN, "", [Got("c", "f", "", "repeated")]),
        (OPEN, A, [Got("c", "f", A, "repeated")]),
        (OPEN, PART, [Got("c", "f", PART, TRUNCATED)]),
        (CUT, "", [Got("c", "f", PART, TRUNCATED)]),
        (CUT, A, [Got("c", "f", PART, TRUNCATED), Got("c#2", "f", A, DUPLICATE)]),
        (CUT, PART, [Got("c", "f", PART, TRUNCATED), Got("c", "f", PART, TRUNCATED)]),
    ],
)
def test_a_call_in_another_place(first: list[Delta], text: str, expected: list[Got]) -> None:
    """The same value is the same call, and a start without text is one that is known; another value is another call."""
    assert expected == _calls(*first, *second(text, 1), *ENDS)


@pytest.mark.parametrize("text", ["", A, B, PART])
def test_a_repetition_in_another_place_that_lost_text(text: str) -> None:
    """A call that was cut or lost text is told, whatever came before; a start before it has lost its text, too."""
    for fault, sign in (([], UNENDED), ([HOLE, *ENDS], LOST)):
        assert [Got("c", "f", A), Got("c", "f", text, sign)] == _calls(*OVER, *second(text, 1), *fault)
        assert [Got("c", "f", "", LOST), Got("c", "f", text, sign)] == _calls(*OPEN, *second(text, 1), *fault)


def test_a_start_says_why_it_has_lost_its_text() -> None:
    """The drop of a start whose repetition was cut tells that it came again."""
    *_, drop = after(*OPEN, *second(A, 1), Finish(0, "length", "length"), TurnEnded()).emitted

    assert isinstance(drop, ToolCallDropped)
    assert (0, ("it came again, and not whole",)) == (drop.index, drop.facts)


@together("restart", [[RESTART], []])
@together("ends", [ENDS, [closed(1)], [closed(1), *ENDS]])
def test_a_call_that_was_dropped_comes_again_once(restart: list[Delta], ends: list[Delta]) -> None:
    """Of two equal calls after one that was dropped with the same text only the first is a call."""
    first, told_twice = [*WHOLE, CallClosed(0, 0, None, truncated=True)], dropped("told_twice")
    again = [*second(A, 1), closed(1)]

    assert [TRUNCATED, DUPLICATE, told_twice] == [
        call.sign for call in _calls(*first, *again, *restart, *second(A, 1), *ends, TurnEnded())
    ]


@together("first", [OVER, WHOLE])
@together("text", [A, ""])
@together("restart", [[RESTART], []])
def test_the_first_call_is_marked(first: list[Delta], text: str, restart: list[Delta]) -> None:
    """The call that stays is flagged as repeated."""
    if restart and (first is WHOLE or not text):
        return
    (call, *_) = after(*first, *restart, *second(text, 0 if restart else 1), *ENDS).calls

    assert "repeated" in call.flags


def test_a_listed_call_is_no_head() -> None:
    """Text that only a final message held is not lost where a start of its id is cut."""
    only = CallWhole(0, 0, None, "c", "f", PART, HYDRATION)

    assert [Got("c", "f", PART, UNENDED), Got("c", "f", "", UNENDED)] == _calls(only, begun(1, "c", "f"))


# Calls that come more than twice.


LATER = closed(0, final=False)  # an end that may be that of the block before


@pytest.mark.parametrize(
    ("first", "third", "expected"),
    [
        (OPEN, [C, LATER], (A, FINE)),
        (OPEN, [C, closed(0)], ("", FINE)),
        (OPEN, [C, piece(0, B), closed(0)], (B, FINE)),
        (PARTLY, [C], (A, ODD)),
        (PARTLY, [C, piece(0, B)], (A, ODD)),
        (PARTLY, [C, piece(0, B), closed(0)], (B, FINE)),
    ],
)
def test_a_call_that_came_whole_the_second_time(
    first: list[Delta], third: list[Delta], expected: tuple[str, tuple[str, ...]]
) -> None:
    """The last text that ended counts; a start alone takes back no text."""
    (got,), told = assembled(*first, RESTART, *OVER, RESTART, *third, *ENDS)

    assert (expected, "repeated") == ((got.text, told), got.sign)


@pytest.mark.parametrize("first", [PARTLY, [preset(PART, 0, "c", "f")]])
@pytest.mark.parametrize("ends", [[], [LATER]])
def test_a_start_takes_back_the_text_of_a_call_that_was_cut(first: list[Delta], ends: list[Delta]) -> None:
    """A call that was cut within its text has no arguments if only a start comes again."""
    assert [Got("c", "f", "", "repeated")] == _calls(*first, RESTART, C, *ends, *ENDS)


def test_a_start_takes_back_no_text_of_a_repetition() -> None:
    """Where the first and the second call come again as starts, the second one's text differs from the first one's."""
    again = [RESTART, C, begun(1, "c", "f"), *ENDS]

    assert ([Got("c", "f", "", "repeated")], ODD) == assembled(*PARTLY, RESTART, *WHOLE, *again)
    ended = [RESTART, C, closed(0), begun(1, "c", "f"), closed(1, final=False), *ENDS]
    assert ([Got("c", "f", A, "repeated")], FINE) == assembled(*PARTLY, RESTART, *WHOLE, *ended)


# Ids that identify nothing.


@together("ends", [ENDS, [closed(2)], [closed(2), *ENDS]])
@together("text", [A, B, ""])
def test_an_id_of_two_values_repeats_none(text: str, ends: list[Delta]) -> None:
    """Where two values came under an id, each further call is separate, also a start alone, and comes out at once."""
    calls = _calls(*OVER, *second(B, 1), closed(1), *second(text, 2), *ends)

    assert [A, B, text] == [call.text for call in calls]
    assert ["", DUPLICATE, DUPLICATE] == [call.sign for call in calls]


@together("ends", [ENDS, [closed(2)], [closed(2), *ENDS]])
def test_a_drop_shows_that_an_id_identifies_nothing(ends: list[Delta]) -> None:
    """Where a call of another value came under an id, each further call is separate, even if that one was dropped."""
    array = [*second("[1]", 1), closed(1)]

    assert ["", dropped("not_an_object"), DUPLICATE] == [
        call.sign for call in _calls(*OVER, *array, *second(A, 2), *ends)
    ]


@pytest.mark.parametrize("text", [A, ""])
@pytest.mark.parametrize("other", [A, B])
def test_an_id_of_two_names_repeats_none(text: str, other: str) -> None:
    """A call that another name follows under its id is separate, even if it is equal to the one before."""
    named = [begun(2, "c", "g"), piece(2, other)]

    assert [("f", A), ("f", text), ("g", other)] == [
        (call.name, call.text) for call in _calls(*OVER, *second(text, 1), *named, *ENDS)
    ]


def test_a_name_that_goes_on_is_another_name() -> None:
    """A call whose name comes in pieces is no repetition of a call that has the first piece as its name."""
    calls = _calls(seen(0, "c", "f"), begun(2, "c", "f"), seen(0, "c", "g"), *ENDS)

    assert ["fg", "f"] == [call.name for call in calls]


@pytest.mark.parametrize(("n_equal", "last"), [(15, ""), (16, B)])
def test_the_first_calls_of_an_id_are_compared(n_equal: int, last: str) -> None:
    """Among the first sixteen calls of an id another value shows that a start is separate; later ones are not compared."""
    equal = [delta for n in range(n_equal) for delta in (*second(A, n), closed(n))]

    assert last == _calls(*equal, *second(B, 50), closed(50), *second("", 51), *ENDS)[-1].text


def test_the_value_of_many_calls_is_compared() -> None:
    """However often a call came, one of another value is another call."""
    equal = [delta for n in range(20) for delta in (*second(A, n), closed(n))]

    assert B == _calls(*equal, *second(B, 50), *ENDS)[-1].text


def test_a_start_alone_with_an_unsure_end_is_known() -> None:
    """A start without text is a known call, if its end may be that of the block before."""
    again = [begun(1, "c", "f"), closed(1, final=False)]

    assert [Got("c", "f", A)] == _calls(*OVER, *again, *ENDS)
    assert [A, B] == [call.text for call in _calls(*OVER, *again, begun(2, "d", "g"), piece(2, B), *ENDS)]


def test_a_call_that_was_refused_repeats_none() -> None:
    """What the wire itself calls unreadable is told, and neither it nor the call before takes the other's place."""
    first, other = (CallRefused(0, index, None, "unparseable", "no JSON") for index in (0, 1))
    refused = dropped("unparseable")

    assert ["", refused] == [call.sign for call in _calls(*OVER, *second("", 1), other, *ENDS)]
    assert [refused, DUPLICATE] == [call.sign for call in _calls(C, first, *second(A, 1), *ENDS)]
