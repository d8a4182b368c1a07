"""Doubt about labels, and the effects of errors, aborts and finish reasons on calls with odd labels."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bound import A, B, at, whole
from tests.support.settled import CALLS, END, ENDS, LENGTH, Replaced, dropped, restates, settled, signs
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import HYDRATION, CallCancelled, CallSeen, CallWhole, Delta, Finish, Slot
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

FIRST = at(0, A, "c", "f")
ABORTED, AMBIGUOUS = dropped("aborted"), dropped("ambiguous")
DROPS = Finish(0, "tool_calls", "tool_calls", drops=True)
# Calls alternate, so that their order proves nothing about later frames.
ALTERNATING = (
    at(0, '{"a"', "c", "f"),
    at(1, '{"b"', "d", "g"),
    at(0, ":1}"),
    at(1, ":2}"),
)


def ended_by(*deltas: Delta, limits: Limits | None = None) -> list[str]:
    """Return the names of the calls that were emitted before the turn ended."""
    assembler = Assembler(Policy(), limits or Limits())
    for delta in deltas:
        assembler.advance([delta])
    return [event.name for event in assembler.take() if isinstance(event, ToolCall)]


# Calls in doubt.


@together(
    "other",
    [
        [at(1, "x", "d", "g", "custom")],
        [whole(1, "{'b':2}", "d", "g")],
        [at(1, '{"b":"123456789', "d", "g")],
        [at(1, '{"b"', "d", "g"), CallCancelled("d")],
        [at(1, "", "d", "g")],
        [at(1, "{}", "d", "g")],
        [at("function_call", '{"b"', None, "g")],
        [CallSeen(0, 1, None, "d", "g", begins=True), Slot(0, 1, None, '{"b"')],
    ],
    ids=["free text", "told whole", "beyond a limit", "taken back", "silent", "blank", "keyed", "in a slot"],
)
def test_a_call_that_casts_no_doubt(other: list[Delta]) -> None:
    """Law: only text that labels found, and that is not whole, casts doubt on labels: no other call delays its siblings."""
    small = Limits(max_arguments_bytes=10)

    assert ["f"] == ended_by(FIRST, *other, CALLS, limits=small)[:1]


@pytest.mark.parametrize(
    "other", [at(1, '{"b"', "d", "g"), at(1, "{'b':2}", "d", "g"), at(1, A + B, "d", "g")]
)
def test_a_text_that_is_not_whole_casts_doubt(other: Delta) -> None:
    """Law: while one text is not one object, whatever came may be another call's, and no reason ends it."""
    assert [] == ended_by(FIRST, other, CALLS)
    assert "" == settled(FIRST, other, *ENDS).calls[0].sign


def test_doubt_begins_once() -> None:
    """Only the text since the first odd label is read, whether or not texts are whole at the end."""
    assert [dropped("truncated")] == signs(at(None, '{"a"', "c", "f"), at(None, ":"), *ENDS)
    assert ['{"a":'] == [
        call.text for call in settled(at(None, '{"a"', "c", "f"), at(None, ":"), *ENDS).calls
    ]


def test_the_last_pieces_are_read() -> None:
    """Pieces that were joined to the last one count, also if nothing follows them."""
    assert ['{"a":1}'] == [call.text for call in settled(at(0, '{"a"'), at(0, ":1}"), *ENDS).calls]


def test_what_no_reading_explains() -> None:
    """A call that came after the others had ended, without the label that distinguished them, is not sure."""
    (call, *_) = [
        event
        for event in settled(*ALTERNATING, CALLS, at(None, '{"c":3}', "e", "h"), END).events
        if isinstance(event, ToolCallDropped)
    ]

    assert ("h", "ambiguous", "its labels can be read in several ways") == (
        call.name,
        call.reason,
        call.detail,
    )
    assert ["", "", dropped("ambiguous")] == signs(*ALTERNATING, CALLS, at(None, '{"c":3}', "e", "h"), END)


def test_alternating_calls_are_no_row() -> None:
    """Law: once calls alternated, only labels on all pieces assign them: text after them goes to none by its order."""
    row = at(0, '{"a":1', "c", "f"), at(1, "}"), *ENDS
    alternating = at(0, '{"a":1', None, "f"), at(1, '{"b"', None, "g"), at(0, "}"), at(8, B, "c")

    assert ["index_churn"] == signs(*row)
    assert [dropped("ambiguous"), dropped("ambiguous"), dropped("nameless")] == signs(*alternating, *ENDS)


def test_a_cut_turn_leaves_open_what_is_open() -> None:
    """Where the turn was cut, text at a new index may be that of another open call; where it ended, nothing is open."""
    pieces = at(0, '{"a":1', "c", "f"), at(1, "}")

    assert [["index_churn"], [dropped("ambiguous")], [dropped("ambiguous")]] == [
        signs(*pieces, *ends) for ends in (ENDS, (LENGTH, END), ())
    ]


# Calls that ended before.


@pytest.mark.parametrize("head", [FIRST, whole(0, A, "c", "f")], ids=["in pieces", "told whole"])
def test_an_emitted_call_is_a_fact(head: Delta) -> None:
    """Law: readings in which an emitted call is another one do not count."""
    assert [("c", A, "")] == [
        (call.id, call.text, call.sign) for call in settled(head, CALLS, at(0, "null", "e"), END).calls
    ]
    assert ["", ""] == signs(head, CALLS, at(0, B, "e", "g"), END)


@together(
    ("later", "texts"),
    [
        ([at(None, "", None, "f")], [A]),
        ([at(None, B, "d", "g")], [A, B]),
        ([at(1, "", "c", "f")], [A]),
        ([at(0, B, "d", "f")], [A, B]),
    ],
    ids=["a name again", "another call", "a head again", "another one at its index"],
)
@together("head", [[], [at(0, "", "c", "f")], [at(0, '{"a"', "c", "f")], [FIRST]])
def test_a_restated_call_that_came_out_comes_out_once(
    head: list[Delta], later: list[Delta], texts: list[str]
) -> None:
    """Law: a call of a message that was emitted at the finish reason is not repeated by later frames.

    `{"message":{"tool_calls":[...]},"finish_reason":"tool_calls"}` and then one more delta, as some gateways send it.
    """
    assert texts == [call.text for call in settled(*head, restates(A, "c"), CALLS, *later, END).calls]


def test_readings_without_the_fact_do_not_count() -> None:
    """A reading in which a name, or a text, differs from that of the emitted call does not count, however likely."""
    odd = at(0, A, "e", "g"), at(2, "{'a':1}", "e", "f")

    assert [("f", A, ""), ("g", "", AMBIGUOUS), ("f", "", AMBIGUOUS), ("gf", A + "{'a':1}", AMBIGUOUS)] == [
        call[1:] for call in settled(FIRST, Finish(0, "pause", "pause"), *odd).calls
    ]


def test_an_emitted_call_takes_nothing_more() -> None:
    """A call of a message that restates no emitted call is a separate call."""
    other = restates('{"z":1}', None, "f")

    assert [A, B, '{"z":1}'] == [
        call.text for call in settled(FIRST, CALLS, at(None, B, "d", "g"), other, END).calls
    ]


def test_an_emitted_call_comes_again() -> None:
    """After an emitted call, a repetition is that call, whatever is between them."""
    again = whole(0, '{"u":"b', "d", "g"), whole(0, A, "c", "f")

    assert ["turn_truncated", dropped("unterminated")] == signs(whole(0, A, "c", "f"), LENGTH, *again)


def test_the_id_of_an_emitted_call_is_taken() -> None:
    """Law: a call under the id of an emitted call is not sure: it may be a repetition of that call."""
    again = dropped("ambiguous")

    assert [["", again], ["", again], ["", again], ["", ""], ["id_generated"] * 2] == [
        signs(*calls, END)
        for calls in (
            [FIRST, CALLS, at(2, B, "c", "f")],
            [FIRST, CALLS, at(1, '{"b"', "d", "g"), at(1, ":2}", "c")],
            [FIRST, CALLS, at(1, '{"b"', "c", "g"), at(1, ":2}", "d")],
            [FIRST, CALLS, at(2, B, "d", "f")],
            [at(0, A, None, "f"), CALLS, at(0, B, None, "f")],
        )
    ]
    assert ["", "", ""] == signs(FIRST, CALLS, at(3, A, "d", "g"), at(3, B, "e", "g"), END)


def test_what_was_dropped_is_no_fact() -> None:
    """A call that was dropped, before or after the first odd label, counts for no reading."""
    odd = at(None, "b", "d"), at(2, A, "e", "f")

    assert [ABORTED, dropped("ambiguous")] == signs(at(1, "", "d", "g"), DROPS, *odd, END)
    assert [("c", ABORTED), (None, dropped("nameless"))] == [
        (call.id, call.sign)
        for call in settled(at(0, '{"a"', "c"), DROPS, at(None, ":1}"), at(0, A), END).calls
    ]


@pytest.mark.parametrize("ends", [[END], [Finish(0, "tool_calls", None, ends=True), END]])
def test_doubt_needs_no_reason(ends: list[Delta]) -> None:
    """Law: labels are in doubt at the end of the answer, whether or not a reason came before it; a cut is not an
    end.
    """
    said = restates('{"a":"x"}', "e"), at(0, "x", "c", "f")

    assert AMBIGUOUS == signs(*said, *ends)[-1]
    assert dropped("unterminated") == signs(*said)[-1]


def test_what_comes_to_a_call_that_was_taken_back() -> None:
    """Text under the id of a call that was taken back is that call's, whatever it looks like; another id's is not."""
    taken = Finish(0, "length", "length", drops=True)
    call = at(None, '{"a":1', "c", "g"), taken, at(None, "}", "c", "g")

    assert [[ABORTED], [ABORTED, "turn_truncated"]] == [
        signs(*call, at(None, '{"a":0}', id, "f"), END) for id in ("c", "d")
    ]


def test_an_id_that_was_taken_back_leaves_a_doubt() -> None:
    """A call is not sure if an id that may be its own was taken back: one that came late, at its index or at none."""
    assert [[AMBIGUOUS], [AMBIGUOUS]] == [
        signs(FIRST, at(index, "", "d"), CallCancelled("d"), *ENDS) for index in (0, None)
    ]


# Aborts.


def test_an_abort_shows_nothing_new() -> None:
    """Where the answer is aborted, calls stay as they were shown, and each text that came is reported by a drop."""
    as_shown = settled(whole(None, A, "c", "f"), aborted=True)

    assert ({}, [ABORTED]) == (as_shown.text, [call.sign for call in as_shown.calls])
    assert [("f", '{"', ABORTED), ("g", "{", ABORTED)] == [
        call[1:] for call in settled(at(None, '{"', "c", "f"), at(None, "{", "c", "g"), aborted=True).calls
    ]
    assert [("f", A, ABORTED)] == [
        call[1:] for call in settled(FIRST, at(0, "", "d", "f"), aborted=True).calls
    ]
    assert [("f", A, ABORTED)] == [call[1:] for call in settled(at(-1, A, "c", "f"), aborted=True).calls]


def test_an_abort_behind_a_reason_tells_all_texts() -> None:
    """Law: text after the reason is reported by a drop, too, also where it was not shown yet."""
    behind = at(0, '{"a":1,"', None, "g"), CALLS, at(0, "{}", "e", "f")

    assert [("g", '{"a":1,"', ABORTED), ("f", "{}", ABORTED)] == [
        call[1:] for call in settled(*behind, aborted=True).calls
    ]


def test_a_message_is_no_reason() -> None:
    """A call in a final message has no reason by that: an abort takes it back, as a whole one does a cut one."""
    assert [[ABORTED, ABORTED], [ABORTED, ABORTED]] == [
        signs(restates(text, "e"), at(0, "}", "c"), aborted=True) for text in (A, '{"a"')
    ]


def test_an_abort_of_labels_as_documented() -> None:
    """An abort casts no doubt: a text without its end is reported as it came."""
    assert [('{"a"', ABORTED)] == [call[2:] for call in settled(at(0, '{"a"', "c", "f"), aborted=True).calls]


def test_no_call_before_the_abort() -> None:
    """A turn without calls, and one without odd labels, has nothing to settle."""
    assert [[], [], [""]] == [signs(*deltas, aborted=True) for deltas in ((), (CALLS,), (FIRST, CALLS))]


@together(
    ("deltas", "said"),
    [
        ([at(None, A, "c", "f"), CALLS], [""]),
        ([at(None, A, "c", "f"), LENGTH], ["turn_truncated"]),
        ([at(None, A, "c", "f")], [ABORTED]),
        ([CALLS, at(None, A, "c", "f")], [ABORTED]),
        ([at(None, A, "c", "f"), CALLS, at(None, B, "d", "g")], ["", ABORTED]),
        ([at(None, A, "c", "f"), LENGTH, at(None, '{"b"', "d", "g")], ["turn_truncated", ABORTED]),
        ([at(None, A, "c", "f"), at(None, '{"b"', "d", "g"), LENGTH], ["turn_truncated", ABORTED]),
        ([at(0, A, "c", "f"), at(0, A, "d", "f"), CALLS], ["", ""]),
        ([at(None, A, None, "f"), CALLS, at(None, ":"), at(None, B, None, "g")], ["id_generated", ABORTED]),
    ],
    ids=[
        "after its reason",
        "after its cut",
        "without a reason",
        "before it came",
        "one after the reason",
        "a piece after the cut",
        "cut",
        "two of one index",
        "text after the reason",
    ],
)
def test_what_came_before_a_reason_outlives_an_abort(deltas: list[Delta], said: list[str]) -> None:
    """Law: a whole call that had its finish reason is not taken back by an error after it; later calls are."""
    assert said == signs(*deltas, aborted=True)


def test_an_abort_is_a_cut_where_the_reason_was_one() -> None:
    """Where the reason was a cut, the last call may be open: its pieces are not read as if the turn had ended."""
    pieces = at(0, 'a":0}', "c1"), at(0, A, "c2")

    assert [[f'a":0}}{A}'], ['a":0}', A]] == [
        [call.text for call in settled(*pieces, reason, aborted=True).calls] for reason in (CALLS, LENGTH)
    ]


def test_what_was_taken_back_gets_no_text() -> None:
    """A call that was dropped keeps its text, whatever comes at its place before the abort."""
    late = at(1, "1}"), at(0, '":1}'), CALLS

    assert [('{"a', ABORTED), ('1}":1}', ABORTED)] == [
        call[2:] for call in settled(at(0, '{"a'), DROPS, *late, aborted=True).calls
    ]


def test_what_is_refused_outlives_no_reason() -> None:
    """For a call with an objection the abort is reported, as for any other call that was not emitted."""
    spoilt = Replaced(at(None, '{"\ufffd":1}', None, "g"))

    assert [ABORTED] == signs(spoilt, CALLS, aborted=True)


def test_calls_that_labels_did_not_find_are_not_settled() -> None:
    """A call of a slot or a key keeps its text, whatever the result of the odd labels next to it."""
    slotted = CallWhole(0, 0, None, "d", "f", "x", HYDRATION)
    keyed = at("function_call", '{"a"', None, "h"), at(None, B, None, "f"), CALLS

    assert [("d", "x"), ("c", "{{")] == [
        (call.id, call.text)
        for call in settled(slotted, at(0, "{", "c"), at(0, "{", "d"), CALLS, aborted=True).calls
    ]
    assert [('{"a":1}', ABORTED), (B, "id_generated")] == [
        call[2:] for call in settled(*keyed, at("function_call", ":1}"), aborted=True).calls
    ]


@pytest.mark.parametrize(
    ("deltas", "said"),
    [
        ([at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, A, "e", "h"), *ENDS], ["", dropped("too_many_calls")]),
        ([at(0, '{"a":1', "c", None, "custom"), at(1, '{"u"', "d", None, "custom"), *ENDS], [dropped("nameless"), dropped("too_many_calls")]),
        ([at(None, '{"b"', "c", "f"), at(None, A, "d", "g"), at(None, B, "e", "h"), *ENDS], [dropped("truncated"), dropped("too_many_calls")]),
    ],
)  # fmt: skip
def test_calls_beyond_the_limit_share_one_drop(deltas: list[Delta], said: list[str]) -> None:
    """Law: the one call that represents all beyond the limit keeps their texts, and no reading gives it anything."""
    assert said == signs(*deltas, limits=Limits(max_calls=1))


def test_calls_within_the_limit_stay_what_they_are() -> None:
    """A call that finds no place within the limit takes none from the calls after it."""
    pieces = at(0, "{", "c", "l"), at(1, "{", "d", "f"), at(0, "}", None, "ong"), at(1, "}", "d")

    assert "" == signs(*pieces, *ENDS, limits=Limits(max_calls=2), tools=["long", "f"])[1]


def test_a_text_that_is_read_anew_is_counted_once() -> None:
    """Law: the limit of a turn's bytes counts the content of its calls, and not their earlier shown text."""
    texts = f'{{"a":"{"x" * 900}"}}', B
    odd: list[Any] = [at(None, texts[0], "c", "f"), at(None, texts[1], "d", "g")]

    assert ["", ""] == signs(*odd, *ENDS, limits=Limits(max_total_arguments_bytes=1100))
