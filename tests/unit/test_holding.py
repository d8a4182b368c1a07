"""Ends of calls that wait for the end of their turn, and calls whose id comes too late to withhold them."""

from __future__ import annotations

import pytest

from tests.support.assembled import head, told
from tests.support.bound import A, B
from tests.support.together import together
from wholecall.calls.output.call_events import ServerToolCall, ToolCallDropped
from wholecall.calls.output.events import TERMINAL
from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    CallWritten,
    Delta,
    Finish,
    Labelled,
    Noted,
    Slot,
    StepBegan,
    TurnEnded,
    TurnOpened,
)
from wholecall.limits import Limits
from wholecall.policy import Policy

END = TurnEnded()
CALLS, STOPS, CUT, FILTERED = (
    Finish(0, reason, reason) for reason in ("tool_calls", "stop", "length", "content_filter")
)
NOTED = Noted(0, "unread_call")
SIBLING, REASON, WHOLE = (
    Policy(on_bad_sibling="reject_all"), Policy(require_reason=True), Policy(truncated_turn="drop")
)  # fmt: skip
SERVER: list[Delta] = [
    CallSeen(0, "s", None, "s", "f", "server"), Slot(0, "s", None, A), CallClosed(0, "s", None)
]  # fmt: skip


def fates(*deltas: Delta, policy: Policy) -> list[tuple[str | None, str, str]]:
    """Return id, result and detail of each call, in the order of their ends."""
    return [
        (event.id, event.reason, event.detail) if isinstance(event, ToolCallDropped) else (event.id, "", "")
        for event in told(*deltas, policy=policy)
        if isinstance(event, TERMINAL)
    ]


GONE = "aborted", "a sibling was dropped, and the policy rejects all calls then"
HIDDEN = (
    "aborted",
    "the turn seems to hold another call that was not read, and the policy rejects all calls then",
)
SHORT = "truncated", "the turn was cut, and the policy drops all of its calls"
SILENT = "unterminated", "no reason came for the turn's end, and the policy wants one"
GOOD = "", ""


@together(
    ("policy", "deltas", "expected"),
    [
        (SIBLING, [CALLS], GOOD),
        (SIBLING, [], GOOD),
        (SIBLING, [CUT], GOOD),
        (SIBLING, [head(1, "{"), CALLS], GONE),
        (SIBLING, [NOTED, CALLS], HIDDEN),
        (REASON, [CALLS], GOOD),
        (REASON, [], SILENT),
        (REASON, [CUT], GOOD),
        (REASON, [head(1, "{"), CALLS], GOOD),
        (REASON, [NOTED, CALLS], GOOD),
        (WHOLE, [CALLS], GOOD),
        (WHOLE, [], GOOD),
        (WHOLE, [CUT], SHORT),
        (WHOLE, [FILTERED], SHORT),
        (WHOLE, [head(1, "{"), CALLS], GOOD),
        (WHOLE, [NOTED, CALLS], GOOD),
    ],
)
def test_what_speaks_against_all_calls(
    policy: Policy, deltas: list[Delta], expected: tuple[str, str]
) -> None:
    """Each policy that looks at the whole turn drops its calls for its own reason, and for no other."""
    whole = CallSeen(0, "b", None, "c", "f"), Slot(0, "b", None, A), CallClosed(0, "b", None)

    assert ("c", *expected) == fates(*whole, *deltas, END, policy=policy)[0]


@pytest.mark.parametrize(("policy", "ends"), [(SIBLING, [CALLS]), (REASON, []), (WHOLE, [CUT])])
def test_a_dropped_call_keeps_its_reason(policy: Policy, ends: list[Delta]) -> None:
    """What speaks against all calls is not told of a call that was dropped for a reason of its own."""
    bad = CallSeen(0, "b", None, "c", "f"), Slot(0, "b", None, '{"a":}'), CallClosed(0, "b", None)

    assert ["c", "invalid_json"] == list(fates(*bad, *ends, END, policy=policy)[0][:2])


@pytest.mark.parametrize("policy", [SIBLING, REASON, WHOLE])
def test_calls_of_the_server_are_reported(policy: Policy) -> None:
    """What the server executes itself has happened: no policy about the client's calls drops it."""
    ends = {SIBLING: [head(1, "{"), CALLS], REASON: [], WHOLE: [CUT]}[policy]
    events = told(*SERVER, *ends, END, policy=policy)

    assert [ServerToolCall] == [type(event) for event in events if getattr(event, "id", None) == "s"][1:]


def test_a_call_that_came_out_before_is_no_bad_sibling() -> None:
    """A call that is dropped because it came out in an earlier turn says nothing about the others."""
    first = [TurnOpened("a", "r"), Labelled(0, 0, "c", "f", A), STOPS, END]
    late = [TurnOpened("b", "r"), Labelled(0, 0, None, "f", A), Labelled(0, 1, "d", "g", B)]
    ends = fates(*first, *late, Labelled(0, 0, "c", None, ""), CALLS, END, policy=SIBLING)

    assert [("c", *GOOD), ("c", "told_twice", "the same call came out before"), ("d", *GOOD)] == ends


def test_calls_come_out_in_order() -> None:
    """Calls that waited come out in the order in which they began, whichever ended first."""
    began = [CallSeen(0, key, None, key, "f", begins=True) for key in "ab"]
    ended = [delta for key in "ba" for delta in (Slot(0, key, None, A), CallClosed(0, key, None))]

    assert [("a", *GOOD), ("b", *GOOD)] == fates(*began, *ended, CALLS, END, policy=SIBLING)
    assert [("b", *GOOD), ("a", *GOOD)] == fates(*began, *ended, CALLS, END, policy=Policy())


def test_a_call_that_was_written_too_is_no_bad_sibling() -> None:
    """A written call that the server reported as a structured one is dropped, and no other call because of it."""
    written = CallWritten(0, "f", "c", A, f"<call>{A}</call>")
    ends = fates(*late("a"), written, CALLS, END, policy=SIBLING)

    assert [("c", *GOOD), ("c", "told_twice", "the server sent the same call in the list of calls")] == ends


# Ids that come too late.


def late(key: str, text: str = A, id: str = "c", name: str = "f") -> list[Delta]:
    """Return a whole call that gets its id after its text."""
    return [
        CallSeen(0, key, None, None, name),
        Slot(0, key, None, text),
        CallSeen(0, key, None, id, None),
        CallClosed(0, key, None),
    ]


def signs(*deltas: Delta, limits: Limits | None = None) -> list[str]:
    """Return the id of each call, or the reason of its drop, in the order in which the calls began."""
    events = told(*deltas, CALLS, END, limits=limits or Limits())
    last = sorted(
        (event for event in events if isinstance(event, TERMINAL)),
        key=lambda event: (event.turn, event.index),
    )
    return [event.reason if isinstance(event, ToolCallDropped) else event.id or "" for event in last]


def replaced(key: str) -> list[Delta]:
    """Return a whole call whose text was shown, and then restated as another one, before it gets its id."""
    return [*late(key)[:2], CallWhole(0, key, None, None, None, B, ITEM_DONE), *late(key)[2:]]


AGAIN = "told_twice"
WRITTEN = CallWritten(0, "f", "c", B, "<x>")


@together(
    ("deltas", "expected"),
    [
        ([late("a"), late("b")], ["c", AGAIN]),
        ([late("a"), late("b"), late("d")], ["c", AGAIN, AGAIN]),
        ([late("a"), late("b", id="d"), late("d")], ["c", "d", AGAIN]),
        ([late("a"), late("b", B)], ["c", "c#2"]),
        ([late("a"), late("b", name="g")], ["c", "c#2"]),
        ([late("a"), late("b", B), late("d")], ["c", "c#2", "c#3"]),
        ([late("a"), late("b"), late("d", B), late("e")], ["c", AGAIN, "c#3", "c#4"]),
        ([late("a"), [StepBegan(0)], late("b")], ["c", "c#2"]),
        ([late("a"), [StepBegan(0)], late("b"), late("d")], ["c", "c#2", AGAIN]),
        ([late("a", '{"a"'), late("b")], ["truncated", "c#2"]),
        ([late("a"), late("b", '{"a"'), late("d")], ["c", "truncated", AGAIN]),
        ([[WRITTEN], late("a"), late("b")], ["c#3", "c", AGAIN]),
        ([[WRITTEN], late("a"), [CALLS], late("b")], ["c#2", "c", AGAIN]),
        ([late("a", B), replaced("b")], ["c", AGAIN]),
        ([replaced("a"), late("b", B)], ["c", AGAIN]),
    ],
)  # fmt: skip
def test_a_call_that_was_shown_before_its_id(deltas: list[list[Delta]], expected: list[str]) -> None:
    """A call whose id shows that the same one came out is dropped, unless different calls of the step have that id."""
    assert expected == signs(*(delta for of in deltas for delta in of))


def test_a_call_beside_another_name_is_separate() -> None:
    """Where another name comes under an id, an equal call that waited for its end comes out."""
    calls = [
        (CallSeen(0, n, None, "c", name, begins=True), Slot(0, n, None, A)) for n, name in enumerate("ffg")
    ]

    assert ["c", "c#3", "c#2"] == signs(*calls[0], CallClosed(0, 0, None), *calls[1], *calls[2])


@together(("text", "expected"), [('{"a"', ["c", "truncated"]), ("[1]", ["c", "not_an_object", "c#2"])])
def test_a_call_beside_one_that_was_dropped(text: str, expected: list[str]) -> None:
    """Where another value came under an id, an equal call is separate, even if that was no call; a cut text is no value."""
    equal, other = ((Slot(0, n, None, said), CallClosed(0, n, None)) for n, said in ((0, A), (1, text)))
    starts = [CallSeen(0, n, None, "c", "f", begins=True) for n in range(3)]

    assert expected == signs(starts[0], *equal, starts[1], *other, starts[2], Slot(0, 2, None, A))


def test_the_text_that_counts_is_remembered() -> None:
    """Of a call whose text was restated as another one, that is the text which a later turn repeats."""
    for first, second in ((replaced("a"), late("a", B)), (late("a", B), replaced("a"))):
        turns = [late("a", id="d"), first, second]
        deltas = [delta for n, of in enumerate(turns) for delta in (TurnOpened(str(n), "r"), *of, CALLS, END)]
        assert ["d", "c", AGAIN] == signs(*deltas)


def test_calls_of_other_turns_are_remembered() -> None:
    """From the second turn on, a call that came out in any of them is dropped where its id comes too late."""
    turns = [late("a"), late("b", B, id="d"), [*late("a"), *late("b", B, id="d"), *late("d", B, id="e")]]
    deltas = [delta for n, of in enumerate(turns) for delta in (TurnOpened(str(n), "r"), *of, CALLS, END)]

    assert ["c", "d", AGAIN, AGAIN, "e"] == signs(*deltas)


@pytest.mark.parametrize(("n_equal", "n_out"), [(255, 1), (256, 1), (257, 2)])
def test_the_last_calls_of_an_id_are_compared(n_equal: int, n_out: int) -> None:
    """A call is compared with the last calls of its id: the first one of more is not known any more."""
    equal = [delta for n in range(n_equal) for delta in late(str(n))]

    assert n_out == n_equal - signs(*equal, limits=Limits(max_calls=None)).count(AGAIN)


@pytest.mark.parametrize(("n_others", "last"), [(255, AGAIN), (256, "c#2")])
def test_the_last_calls_of_a_choice_are_compared(n_others: int, last: str) -> None:
    """A call is compared with the last calls that came out."""
    others = [delta for n in range(n_others) for delta in late(str(n), id=f"o{n}")]

    assert last == signs(*late("a"), *others, *late("b"), limits=Limits(max_calls=None))[-1]
