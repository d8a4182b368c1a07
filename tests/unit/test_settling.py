"""Oddly labelled calls at the end of their turn; well labelled ones are never examined."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bound import A, B, Got, assembled, at, bound, stream
from wholecall.calls.output.call_events import ToolCallStarted
from wholecall.deltas import (
    HYDRATION,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Index,
    Labelled,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine import settling
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

HOLE = WireFault("undecodable_frame", "lost", hole=True)
DOCUMENTED = (
    [at(0, "", "c", "f"), Fragment(0, 0, A), at(1, "", "d", "g"), Fragment(0, 1, B)],
    [
        at(7, "", "c", "f"),
        at(3, "", "d", "g"),
        Fragment(0, 7, '{"a"'),
        Fragment(0, 3, B),
        Fragment(0, 7, ":1}"),
    ],
    [at(0, "", None, "f"), Fragment(0, 0, A), at(1, B, None, "g")],
    [at(0, "", "c", "f"), at(0, A, "c"), at(1, "", "d", "g")],
)


@pytest.mark.parametrize("deltas", DOCUMENTED)
def test_documented_labels_have_one_reading(deltas: list[Delta], monkeypatch: pytest.MonkeyPatch) -> None:
    """Law: while labels are as documented nothing is read in several ways, and calls are emitted all the same."""
    asked: list[Any] = []
    monkeypatch.setattr(settling, "solve", lambda *what, **_: asked.append(what))

    assert (["f", "g"], []) == (
        [call.name for call in bound(*deltas) if not call.sign.startswith("dropped")],
        asked,
    )


def test_a_call_told_again_comes_out_once() -> None:
    """The same id, name and text at another index is the same call."""
    calls = [at(0, "", "c", "f"), at(0, A), at(1, B, "d", "g"), at(2, A, "c", "f"), at(3, B, "d", "g")]

    assert [Got("c", "f", A, "repeated"), Got("d", "g", B, "repeated")] == bound(*calls)


def test_nobody_knows_whose_text_it_is() -> None:
    """Text that labels give to no call, or to another than they seem to, makes the readings differ."""
    assert [Got("c", "f", A, "id_churn")] == bound(at(0, "", "c", "f"), at(0, A, "d", "f"))
    assert ["dropped: ambiguous"] == [
        call.sign for call in bound(at(0, "", None, "f"), at(0, A, None, "g")) if call.text
    ]


def test_silence_needs_an_end() -> None:
    """A call without text has no arguments if a finish reason came after it; that the turn ended says nothing.

    Where calls have their own ends, the reason has to speak of calls.
    """
    head = at(0, "", "c", "f")
    done, stop = TurnEnded(of_transport=True), Finish(0, "stop", "stop")

    assert [""] == [call.sign for call in _ended(head, stop, done)]
    assert ["dropped: incomplete_input"] == [call.sign for call in _ended(head, done)]
    assert ["", "dropped: incomplete_input"] == [
        call.sign for call in _ended(at(0, A, "c", "f"), stop, at(1, "", "d", "g"), done)
    ]
    assert [""] == [call.sign for call in _ended(at(0, A, "c", "f"), done)]
    slotted = CallSeen(0, 0, None, "c", "f", begins=True)
    silent = [_ended(slotted, *ends) for ends in ((done,), (TurnEnded(),), (stop, TurnEnded()))]
    assert [["dropped: incomplete_input"]] * 3 == [[call.sign for call in calls] for calls in silent]
    called = Finish(0, "tool_calls", "tool_use")
    foreign = Finish(0, "tool_calls", "tool_use", foreign=True)
    assert [[""], ["dropped: incomplete_input"]] * 2 == [
        [call.sign for call in _ended(start, reason, TurnEnded())]
        for start in (slotted, head)
        for reason in (called, foreign)
    ]
    free = Labelled(0, 0, "c", "f", "x", "custom")
    assert [[""], ["dropped: unterminated"]] == [
        [call.sign for call in _ended(*deltas)] for deltas in ((free, stop, done), (free, done))
    ]


def _ended(*deltas: Delta) -> list[Got]:
    return assembled(*deltas)[0]


def test_silence_in_a_turn_that_lost_text() -> None:
    """Once text was lost in a turn, it may have been that of any call without text."""
    begun = TurnOpened("t"), HOLE

    assert [Got("c", "f", "", "dropped: incomplete_input")] == bound(*begun, at(0, "", "c", "f"))
    assert [Got("c", "f", A)] == bound(*begun, at(0, A, "c", "f"))


@pytest.mark.parametrize("index", [0, "function_call"])
def test_only_an_id_shows_a_beginning_after_a_loss(index: Index) -> None:
    """Law: after a loss a name without an id may be the rest of one, for servers send names in pieces (quirk 16)."""
    head = at(index, '{"a"', "c", "f"), Fragment(0, index, ":1}")
    rest = at(index, '{"a"', None, "f"), Fragment(0, index, ":1}")

    assert [Got("c", "f", A)] == bound(HOLE, *head)
    assert [Got(None, "f", A, "dropped: incomplete_input")] == bound(HOLE, *rest)


def test_what_begins_behind_a_loss() -> None:
    """After a loss an oddly labelled call needs its own id and labels, and a whole name."""
    calls = [at(None, A, "c", "f"), HOLE, at(None, B, "d", "g"), at(None, A, None, "h")]

    assert [("f", True), ("g", False), ("h", True)] == [
        (call.name, call.sign.startswith("dropped")) for call in bound(*calls)
    ]
    calls[2:] = at(5, B, None, "g"), at(6, A, "e", "h")
    assert [("f", True), ("g", True), ("h", False)] == [
        (call.name, call.sign.startswith("dropped")) for call in bound(*calls)
    ]


def test_a_final_message_is_the_truth() -> None:
    """Over odd labels the message decides which calls there are: a call that it does not restate is not sure."""
    told = CallWhole(0, 0, None, "c", "f", A, HYDRATION)
    odd = at(0, '{"a"', "c", "f"), at(0, ":1}", "x", "f"), at(0, B, "d", "g")

    assert [("f", ""), ("g", "dropped: ambiguous")] == [
        (call.name, call.sign.replace("id_churn", "")) for call in bound(*odd, told)
    ]


def test_records_are_bounded() -> None:
    """Beyond the limit of the turn nothing is kept for readings, and the open calls are dropped for it."""
    odd = [at(None, "x" * 50, "c", "f") for _ in range(40)]
    calls = bound(*odd, limits=Limits(max_total_arguments_bytes=1000))

    assert {"dropped: arguments_too_large"} == {call.sign for call in calls}


def test_a_guess_is_told_at_once() -> None:
    """An odd fragment is shown while it streams; only its meaning waits for the end."""
    assembler = Assembler(Policy(), Limits())
    assembler.advance([at(None, '{"a"', "c", "f"), at(None, ":1}")])

    assert [("f", 0)] == [(e.name, e.index) for e in assembler.take() if isinstance(e, ToolCallStarted)]


def test_labels_that_come_again_are_no_calls() -> None:
    """Labels without text after a whole call vanish if no reading is sure of them."""
    assert ([Got("c", "f", A)], ()) == stream(at(0, A, "c", "f"), at(0, "", "c", "f"))


def test_whole_objects_under_one_label_are_calls() -> None:
    """Fragments that are each an object are calls, not one broken text; of one that grows the last counts (quirk 24)."""
    one, other = at(0, '{"u":"a"}', "c", "f"), at(0, '{"u":"b"}', "c", "f")
    grown = at(0, '{"u":"ab"}', "c", "f")

    assert ['{"u":"a"}', '{"u":"b"}'] == [
        call.text for call in bound(one, other) if "dropped" not in call.sign
    ]
    assert [grown.text] == [call.text for call in bound(one, grown) if "dropped" not in call.sign]


OPEN, CUT = [], [Finish(0, "length", None), TurnEnded()]
HEAD = at(0, "", "c", "f")


@pytest.mark.parametrize(
    ("deltas", "end", "solved"),
    [
        pytest.param([HEAD, Fragment(0, 0, '{"a"')], OPEN, False, id="nothing of it may come out"),
        pytest.param([HEAD, Fragment(0, 0, "{'a'")], OPEN, False, id="whatever its text is"),
        pytest.param([HEAD, Fragment(0, 0, A + '{"b'), at(1, '{"a"', "d", "g")], OPEN, False, id="or how many there are"),
        pytest.param([HEAD, Fragment(0, 0, '{"a"')], CUT, False, id="it only lacks its end"),
        pytest.param([HEAD, Fragment(0, 0, A), at(1, '{"a"', "d", "g")], CUT, False, id="and so does the last one"),
        pytest.param([HEAD, Fragment(0, 0, A + '{"a"')], CUT, True, id="it is no beginning of an object"),
        pytest.param([HEAD, Fragment(0, 0, '{"a"'), at(1, '{"a"', "d", "g")], CUT, True, id="two lack something"),
        pytest.param([HEAD, Fragment(0, 0, '{"a":'), Fragment(0, 0, '{"a":1')], CUT, True, id="it may be a snapshot"),
    ],
)  # fmt: skip
def test_a_cut_is_no_riddle(
    deltas: list[Delta], end: list[Delta], solved: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Law: a cut alone decides about calls with documented labels, if nothing of its turn may be emitted or one lacks
    its end.
    """
    asked: list[Any] = []
    solve = settling.solve
    monkeypatch.setattr(settling, "solve", lambda *what, **how: (asked.append(what), solve(*what, **how))[1])
    found = assembled(*deltas, *end)[0]

    assert solved is bool(asked)
    assert found[-1].sign.startswith("dropped")
