"""Shown calls for the calls of a reading, the rest of them, and the numbers of all."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.bound import A, B, Got, at, whole
from tests.support.settled import ENDS, MESSAGE, Replaced, dropped, restates, settled, signs
from tests.support.together import together
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.deltas import HYDRATION, CallSeen, CallWhole, Delta, ReasoningFragment, Slot, TextFragment
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

HI = TextFragment(0, "hi")
AMBIGUOUS, NAMELESS = dropped("ambiguous"), dropped("nameless")
TOLD: tuple[Delta, ...] = (MESSAGE, at(None, A, "c", "f"), *ENDS)  # an earlier message's calls


def details(*deltas: Delta) -> list[tuple[str, str]]:
    """Return reason and detail of each drop, in the order of the calls."""
    drops = [event for event in settled(*deltas).events if isinstance(event, ToolCallDropped)]
    return [(drop.reason, drop.detail) for drop in sorted(drops, key=lambda drop: drop.index)]


# Owners.


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c")], [(0, "c", "f")]),
        ([at(0, A, "c", "f<arg_key>"), at(0, B, "d", "g")], [(0, "c", "f"), (1, "d", "g")]),
        ([at(None, '{"a"', "c", "f<arg_key>"), at(None, ":1}")], [(0, "c", "f")]),
        ([at(None, '{"a"', "c", " f "), at(None, ":1}", None, "f")], [(0, "c", "f")]),
        ([whole(None, A, None, "f"), whole(None, A, None, "f")], [(0, None, "f"), (1, None, "f")]),
    ],
    ids=["pieces", "a tag", "pieces of a tag", "white space", "two alike"],
)  # fmt: skip
def test_a_call_goes_where_it_was_shown(
    deltas: list[Delta], calls: list[tuple[int, str | None, str]]
) -> None:
    """Law: a call of the reading goes to the call in which its pieces were shown, if users saw that under its name."""
    assert calls == settled(*deltas, *ENDS).began


@pytest.mark.parametrize(
    ("deltas", "began"),
    [
        ([at(0, "", "c", "f"), at(2, "}", "c", "f")], [(0, "c", "f")]),
        ([at(0, "", "c", "f"), at(2, A, "c", "f")], [(0, "c", "f")]),
        (
            [at(2, '{"u":"a"}', "d"), at(0, '{"', "c", "f"), at(1, 'a":1}', "c"), at(2, A, None, "g"), at(3, A, "c", "f")],
            [(1, "c", "f"), (0, "d", "g"), (2, "c", "g"), (3, "c", "f")],
        ),
        (
            [at(None, B, "e", "f", "custom"), at(3, '":1}', "d", None, "custom"), at(4, "{", None, "g", "custom"), at(5, "}", "h", None, "custom")],
            [(0, "e", "f"), (2, None, "g")],
        ),
    ],
)  # fmt: skip
def test_a_call_that_was_shown_in_several(
    deltas: list[Delta], began: list[tuple[int, str | None, str]]
) -> None:
    """Law: of the shown calls a call goes to one that began with one of its pieces; to that of its first piece
    anyway.
    """
    assert began == settled(*deltas, *ENDS).began


def test_a_call_that_users_saw_stays_theirs() -> None:
    """A call that was shown and has no text keeps its labels, also if no reading is sure of it."""
    assert [Got("c", "f", "", AMBIGUOUS), Got("d", None, "0}", NAMELESS)] == settled(
        at(None, "", "c", "f"), at(None, "0}", "d")
    ).calls


def test_a_name_that_began_under_another_one() -> None:
    """A name is that of the reading, not the earlier name of an unreported call."""
    assert [Got(None, "l", "", AMBIGUOUS), Got("c", "long", "{}", "name_joined")] == settled(
        at(0, "{", "c", "l"), at(0, "}", None, "ong"), *ENDS
    ).calls


def test_a_name_beyond_the_limit_was_shown_cut() -> None:
    """A call whose name was cut where it was shown is that call; it is dropped for its name, at that limit only."""
    long = at(None, A, "c", "longname")
    small = Limits(max_name_chars=4)

    assert [Got("c", "long", A, dropped("name_too_long"))] == settled(long, *ENDS, limits=small).calls
    assert [Got("c", "long", A)] == settled(at(None, A, "c", "long"), *ENDS, limits=small).calls
    assert [Got("c", "longname", A)] == settled(long, *ENDS, limits=Limits(max_name_chars=None)).calls
    assert [NAMELESS] == signs(at(None, A, "c"), *ENDS, limits=Limits(max_name_chars=1))


def test_a_name_that_grows_beyond_the_limit() -> None:
    """A name whose rest came after the call was shown is too long if both pieces are."""
    pieces = at(3, "{", None, "f"), at(3, "}", None, "g")
    found = settled(*pieces, *ENDS, limits=Limits(max_name_chars=1))
    (drop,) = [event for event in found.events if isinstance(event, ToolCallDropped)]

    assert ("f", "name_too_long", "a name of more than 1 characters") == (drop.name, drop.reason, drop.detail)


def test_a_name_as_the_tools_spell_it() -> None:
    """Where names are normalised, a call was shown under the tool's own name."""
    normalised = Policy(tool_names="normalised")

    assert [Got("c", "f", A)] == settled(
        at(None, A, "c", "F"), *ENDS, tools=["f", "g"], policy=normalised
    ).calls
    assert [Got("c", "F", A, dropped("unknown_tool"))] == settled(
        at(None, A, "c", "F"), *ENDS, tools=["f"]
    ).calls


def test_names_that_are_no_tools() -> None:
    """Law: of the readings those count whose names are tools, if there are any: a name in two pieces is one then."""
    pieces = at(None, "", "c", "f"), at(None, A, None, "g")

    assert [[Got("c", "fg", A, "name_joined")], [Got("c", "fg", A, AMBIGUOUS)]] == [
        settled(*pieces, *ENDS, tools=tools).calls for tools in (["fg"], None)
    ]
    assert [("c", "f", ""), (None, "g", A)] == [
        (call.id if call.id == "c" else None, call.name, call.text)
        for call in settled(*pieces, *ENDS, tools=["f", "g"]).calls
    ]


def test_labels_without_text_are_no_call() -> None:
    """Law: labels that no reading is sure of and that have no text begin no call; a silent call of all readings does."""
    assert [[""], [dropped("ambiguous"), dropped("truncated")]] == [
        signs(*deltas, *ENDS)
        for deltas in ([at(-1, "", "c", "f")], [at(-1, "", "d", "g"), at(-1, "{", "c", "f")])
    ]


def test_an_unreported_call_is_given_last() -> None:
    """Where pieces of a call were shown in two, it goes to the one that users saw."""
    assert [(1, "c1", "f"), (3, "e1", "f")] == settled(
        at(0, '{"a"', "c"), at(0, A, "c1", "f"), at(1, B, "d1"), at(2, A, "e1", "f"), *ENDS
    ).began


# Shown text that is not a call.


def test_a_call_whose_pieces_are_others() -> None:
    """A shown call that turns out not to be a call is dropped, and says so; its text goes where it belongs."""
    pieces = at(-1, "", "d", "g"), at(-1, "{", "c", "f")

    assert [("ambiguous", "its fragments belong to other calls")] == details(*pieces, *ENDS)[:1]


def test_a_call_that_came_twice_says_so() -> None:
    """A repetition that was shown as a separate call is dropped as a duplicate; where none was shown nothing is."""
    again = [at(0, '{"a', "c", "f"), at(9, A, "c")] * 2

    assert ["repeated"] == signs(at(None, A, "c", "f"), at(None, A, "c", "f"), *ENDS)
    assert [""] == signs(at(None, A, "c", "f"), at(None, "", "c", "f"), *ENDS)
    assert [("told_twice", "the same call came out before")] == [
        drop for drop in details(*again, *ENDS) if drop[0] == "told_twice"
    ]


# Numbers, and the view of the turn.


def test_calls_are_numbered_as_they_began() -> None:
    """Law: calls that no event has reported are numbered in the order in which they began, after those that one has."""
    pieces = at(None, "", "c", "f"), at(None, A, None, "g")

    assert [("c", "f"), (None, "g")] == [
        (call.id if call.id == "c" else None, call.name)
        for call in settled(*pieces, *ENDS, tools=["f", "g"]).calls
    ]
    assert [(1, "c", "f"), (0, None, "g")] == settled(
        at(-1, "", "d", "g"), at(-1, "{", "c", "f"), *ENDS
    ).began
    assert [Got(None, None, "", NAMELESS), Got(None, "g", "}{", AMBIGUOUS)] == settled(
        at(None, "}"), at(0, "{", None, "g"), *ENDS
    ).calls


@together(
    ("deltas", "view"),
    [
        ([at(None, A, "c", "f"), HI, at(None, B, "d", "g")], (0, "hi", 1)),
        ([HI, at(None, A, "c", "f"), at(None, B, "d", "g")], ("hi", 0, 1)),
        ([at(None, "", "c", "f"), HI, at(None, A, "c")], (0, "hi")),
        ([at(0, "{'a':1}", None, "f"), HI, at(0, "", None, "g")], (0, "hi")),
        ([at(0, "{", "d", "f"), HI, at(1, "{", "d", "g"), at(None, A, "d")], (0, 2, "hi", 1)),
        ([at(0, "", "c", "f"), HI, at(9, "{", None, "x")], ("hi", 1)),
        ([at(None, A, "c"), HI], (0, "hi")),
        ([at(0, "{", None, "l", "custom"), at(0, "x", "d", "g", "custom"), HI], (0, 1, "hi")),
        ([at(0, "{", None, "l", "custom"), HI, at(0, "x", "d", "g", "custom")], (0, 1, "hi")),
        ([at(-1, "", "c", "f"), HI, at(-1, "", "d", "g"), HI, at(-1, A, "e", "h")], (0, "hi", 1, "hi", 2)),
        ([HI, restates(A, "c"), HI, at(0, "x")], ("hi", 0, "hi")),
    ],
)  # fmt: skip
def test_calls_stand_where_they_began(deltas: list[Delta], view: tuple[Any, ...]) -> None:
    """Law: each call is in the answer where its first piece came, whatever the reading makes of it."""
    assert view == settled(*deltas, *ENDS).view


def test_other_parts_stay_where_they_stand() -> None:
    """Reasoning and text keep their places when calls are numbered again."""
    silent = settled(HI, ReasoningFragment(0, "r", None), at(-1, "", "c", "f"), *ENDS).view
    (thought, *rest) = settled(
        ReasoningFragment(0, "r", None), HI, at(None, A, "c", "f"), HI, at(None, B, "d", "g"), *ENDS
    ).view

    assert (False, ["hi", 0, "hi", 1]) == (isinstance(thought, int), rest)
    assert ("hi", 0, 3) == (silent[0], silent[-1], len(silent))


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([Slot(0, 0, None, A), at(0, B, "d", None, "custom")], [("d", B), (None, A)]),
        ([at(0, A, "c", None, "custom"), Slot(0, 0, None, B), at(0, A, "d", None, "custom")], [("c", A + A), (None, B)]),
        ([Replaced(at(1, "x", "c", "f")), Slot(0, 1, None, "y")], [("c", "x"), (None, "y")]),
    ],
)  # fmt: skip
def test_numbers_go_on_behind_the_reading(
    deltas: list[Delta | Replaced], calls: list[tuple[str | None, str]]
) -> None:
    """Law: text without an owner, which gets its number only at its end, is numbered after the calls that were read."""
    assert calls == [(call.id, call.text) for call in settled(*deltas, *ENDS).calls]


@together(
    ("again", "calls"),
    [
        ([at(None, A, "c", "f")], []),
        ([at(None, B, "c", "f")], [("c", B)]),
        ([at(None, B, "c", "f"), at(None, A, "d", "g")], [("d", A), ("c", B)]),
        ([at(None, A, "d", "g"), at(None, B, "c", "f")], [("d", A), ("c", B)]),
        ([at(None, A, "c", "f"), at(None, A, "d", "g")], [("d", A)]),
        ([at(None, A, "c", "f"), at(0, "{", None, "g"), at(0, "}")], [("g", "{}")]),
        ([at(None, "", None, "f"), at(None, "", "c")], []),
        ([at(None, "", None, "f"), at(None, B, "c")], [("c", B)]),
        ([at(None, "", "c", "f"), at(None, "", "d", "g")], [("d", "")]),
    ],
)
def test_an_answer_that_comes_again(again: list[Delta], calls: list[tuple[str, str]]) -> None:
    """Law: under a response id and an id that are known, no call is shown before its end, and none if it is the same."""
    found = settled(*TOLD, MESSAGE, *again, *ENDS)

    assert calls == [(call.id if call.id in ("c", "d") else call.name, call.text) for call in found.calls]
    assert {number for number, _, _ in found.began} == set(range(len(calls)))


def test_no_number_is_that_of_two() -> None:
    """Law: a call that is held back has no number until it is shown: the numbers are those of the others."""
    assembler = Assembler(Policy(), Limits())
    silent = [
        at(None, "", id, name) for own, told in ("cf", "dg", "eh") for id, name in ((None, told), (own, None))
    ]
    assembler.advance([*TOLD, MESSAGE, *silent, *ENDS])

    assert ["d", "e", None] == [getattr(assembler.call(1, 0, number), "id", None) for number in range(3)]


@pytest.mark.parametrize("reason", ["tool_calls", "length"])
@pytest.mark.parametrize("index", [{"index": 0}, {}], ids=["documented", "odd"])
def test_another_answer_under_one_id_on_the_wire(index: dict[str, int], reason: str) -> None:
    """A gateway with one response id for all answers, and a server that numbers its calls anew: each call has its events."""
    deltas: list[dict[str, Any]] = []
    for text in (A, B):
        call = {**index, "id": "call_0", "function": {"name": "f", "arguments": text}}
        deltas += [{"role": "assistant", "content": ""}, {"tool_calls": [call]}, {}]
    reasons = None, None, "tool_calls", None, None, reason
    chunks = [
        {"id": "chatcmpl-1", "model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": why}]}
        for delta, why in zip(deltas, reasons, strict=True)
    ]
    parser = ToolCallParser()
    wire = "".join(f"data: {json.dumps(chunk)}\n\n" for chunk in chunks)
    events = [*parser.feed(wire.encode()), *parser.close()]

    assert [(0, 0), (1, 0)] == [(e.turn, e.index) for e in events if isinstance(e, ToolCallStarted)]
    assert [(0, 0, A), (1, 0, B)] == [
        (e.turn, e.index, e.raw_arguments) for e in events if isinstance(e, ToolCall)
    ]


def test_an_answer_without_ids_that_comes_again() -> None:
    """Calls without ids are under the id of their response: the same call is emitted once, another one at its end."""
    told = MESSAGE, whole(None, A, None, "f"), *ENDS, MESSAGE

    assert [[], [B]] == [
        [call.text for call in settled(*told, whole(None, text, None, "f"), *ENDS).calls] for text in (A, B)
    ]


# Texts.


@pytest.mark.parametrize(
    ("deltas", "text"),
    [
        ([at(0, "{'a':1}", "c", "f")], "{'a':1}"),
        ([at(None, '{"a"', "c", "f"), at(None, A, "c", "f")], A),
        ([at(None, "{}", "c", "f"), at(None, A)], A),
        ([at(None, A, "c", "f"), at(None, A, "c", "f")], A),
        ([at(None, '{"a"', "c"), at(None, ":1}", "c", "f")], A),
    ],
    ids=["a defect", "a snapshot", "a placeholder", "repeated", "a late name"],
)
def test_what_was_shown_is_corrected(deltas: list[Delta], text: str) -> None:
    """Law: the events of a call show the executed text, once: their earlier text is taken up or replaced."""
    found = settled(*deltas, *ENDS)

    assert ({0: text}, [text]) == (found.text, [call.text for call in found.calls])


def test_ids_are_given_anew() -> None:
    """Law: an id is that of the call which the reading gives it to, and of no call in which it was only shown."""
    shared = CallSeen(0, None, None, "c", "k", begins=True)
    dropped_first = at(0, "null", "c", "f"), CallWhole(0, 0, None, "d", "h", B, HYDRATION), at(0, A, "d", "g")

    assert ["c#2", "c#3", "c"] == [
        call.id for call in settled(at(1, A, "c", "f"), at(2, B, "c", "f"), shared, *ENDS).calls
    ]
    assert ["c", "d", "d#2"] == [call.id for call in settled(*dropped_first, *ENDS).calls]
    assert ["c", "d"] == [
        call.id
        for call in settled(at(None, A, "c", "f"), at(None, "", "d"), at(None, B, "d", "g"), *ENDS).calls
    ]
