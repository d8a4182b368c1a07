"""Actions of the phases on calls of blocks and items: names, duplicates, ends."""

from __future__ import annotations

import pytest

from tests.support.words import CALLS, END, STOP, A, B, closed, events_of, seen, told, whole
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.deltas import CallClosed, CallSeen, Delta, Slot, TurnOpened
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy


def begun(id: str = "c", name: str = "f", index: int = 0) -> CallSeen:
    """Return the start of a block."""
    return CallSeen(0, index, None, id, name, begins=True)


def refusals(said: list[list[object]]) -> list[tuple[str, str]]:
    """Return reason and detail of each drop."""
    return [(e.reason, e.detail) for events in said for e in events if isinstance(e, ToolCallDropped)]


# Names.


@pytest.mark.parametrize(
    ("names", "final", "flags"),
    [
        (["get_", "tide"], "get_tide", " name_joined"),
        (["get", "_tide_of_get"], "get_tide_of_get", " name_joined"),
        (["get_", "get_tide"], "get_tide", ""),
        (["get\n", " get_tide\n"], "get_tide", ""),
        ([" get", "get"], "get", ""),
        (["get_tide", "get"], "get_tideget", " name_joined"),
    ],
)
def test_names_of_items_in_pieces(names: list[str], final: str, flags: str) -> None:
    """Only a name that was joined from pieces is flagged: a repeat or an extension is not."""
    said = told(*map(seen, names), Slot(0, 0, None, A), closed(), END)

    assert [[f"+{final}", A], [f"call {A}{flags}"]] == said[len(names) : len(names) + 2]


@pytest.mark.parametrize(
    ("names", "tools", "flags"),
    [
        (["get_", "tide"], ["get_tide"], " name_joined"),
        (["get_", "get_tide"], ["get_tide"], ""),
        (["get ", " get"], ["get"], ""),
        (["noise", " get "], ["get"], ""),
        ([" get ", "noise"], ["get"], ""),
    ],
)
def test_only_joined_names_are_flagged(names: list[str], tools: list[str], flags: str) -> None:
    """Where tools are known, a name is flagged as joined if neither piece is the name by itself."""
    said = told(*map(seen, names), Slot(0, 0, None, A), closed(), END, tools=tools)

    assert [f"call {A}{flags}"] == said[3]


def test_a_block_has_one_name() -> None:
    """A block that is named twice, differently, is not a call: it keeps the first name, and its drop says why."""
    other = CallSeen(0, 0, None, "c", "g")
    said = events_of(begun(), other, Slot(0, 0, None, A), closed(), END)

    assert [("ambiguous", "one id came under two names")] == refusals(said)
    assert ["+f", A] == told(begun(), other, Slot(0, 0, None, A))[2]


def test_a_block_may_be_named_again() -> None:
    """The same name once more, with blanks around it, adds nothing."""
    again = CallSeen(0, 0, None, "c", " f\n")

    assert [f"call {A}"] == told(begun(), again, Slot(0, 0, None, A), closed(), END)[3]


def test_a_long_name_of_an_item() -> None:
    """An item whose name is too long is dropped for its name."""
    said = events_of(seen("fgh"), Slot(0, 0, None, A), closed(), END, limits=Limits(max_name_chars=2))

    assert [("name_too_long", "a name of more than 2 characters")] == refusals(said)


# Text.


def test_text_before_the_name_is_shown_at_once() -> None:
    """Text that came in pieces before the name is shown as one piece, with nothing between them."""
    said = told(seen(None), Slot(0, 0, None, '{"a"'), Slot(0, 0, None, ":1}"), seen(), closed(), END)

    assert [["+f", A], [f"call {A}"]] == said[3:5]


def test_a_text_that_comes_twice_is_held_once() -> None:
    """A call does not keep two copies of a text that came in fragments and as a whole."""
    assembler = Assembler(Policy(), Limits())
    assembler.advance([seen(), Slot(0, 0, None, '{"a"'), Slot(0, 0, None, ":1}"), whole("".join(A))])
    call = assembler.call(0, 0, 0)

    assert call is not None
    assert (A, True) == (call.restated, call.restated is call.text)


def test_a_whole_text_is_not_the_fragments() -> None:
    """A whole text of the size of the fragments, but with another content, is kept separately."""
    said = told(seen(), Slot(0, 0, None, B), whole(A), closed(), END)

    assert [f"={A}", f"call {A} done_mismatch"] == said[3]


# Duplicates: a block that begins with the id and the name of one before it.

FIRST = [begun(), Slot(0, 0, None, A), CallClosed(0, 0, None)]


def test_a_duplicate_is_no_call() -> None:
    """A block that repeats an earlier block is not reported."""
    assert [[], ["+f", A], [f"call {A}"], [], [], [], [], ["tool_calls"]] == told(*FIRST, *FIRST, STOP)


def test_a_duplicate_ends_once() -> None:
    """In a repeated message a call with the same content is over: it is not emitted at a second end."""
    begins = TurnOpened("k", restart=True)
    said = told(begins, *FIRST, begins, *FIRST, CallClosed(0, 0, None), STOP, END)

    assert ["+f", A, f"call {A}", "tool_calls"] == [word for words in said for word in words]


@pytest.mark.parametrize(
    "again",
    [
        [begun(), Slot(0, 0, None, B), CallClosed(0, 0, None)],
        [begun(), whole(B), CallSeen(0, 0, None, "c", "f "), CallClosed(0, 0, None)],
    ],
    ids=["fragments", "a whole text"],
)
def test_what_says_something_else_is_not_a_duplicate(again: list[Delta]) -> None:
    """A block with the labels of an earlier one and another text is a call, which is not reported before its end."""
    said = told(*FIRST, *again, CALLS, END)[len(FIRST) :]

    assert [*[[]] * (len(again) - 1), ["+f", B, f"call {B} duplicate_id"], [], [], ["tool_calls"]] == said


# Ends.


@pytest.mark.parametrize("text", [A, f" {A}", '{"a":1,}'])
@pytest.mark.parametrize("told_whole", [False, True], ids=["fragments", "a whole text"])
def test_whole_objects_of_items_go_at_the_finish(text: str, told_whole: bool) -> None:
    """The text of an item is its own: with the finish reason one object is emitted, with a defect or not."""
    said = told(seen(), whole(text) if told_whole else Slot(0, 0, None, text), CALLS, END)

    assert [f"call {text}"] == said[2][-1:]


@pytest.mark.parametrize("text", ["[1]", '"{}"', '{"a"', "{}", ""])
def test_what_else_items_hold_waits_for_the_end(text: str) -> None:
    """With the finish reason an item without an object, or with a partial or empty object, is not reported."""
    said = told(seen(), Slot(0, 0, None, text), CALLS, END)

    assert ([], 1) == (said[2], len([word for word in said[3] if word.startswith(("call", "drop"))]))


def test_a_call_that_ended_waits_for_no_text() -> None:
    """Text at an index without a block belongs to the only open block, even after earlier blocks."""
    said = told(*FIRST, begun("d", "g", 1), Slot(0, 7, None, B), CallClosed(0, 1, None), STOP, END)

    assert ["+g", B] == said[4]
    assert [f"call {B} bound_by_order"] == said[5]
