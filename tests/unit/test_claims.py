"""Slots of calls: which calls are found at a number, text that no call owns, and messages that begin again."""

from __future__ import annotations

import pytest

from tests.support.assembled import told
from tests.support.blocks import LOST, UNENDED, cut, dropped
from tests.support.bound import A, B, Got, assembled, orphan
from tests.support.slotted import RESTART, after, begun, closed, finished, listed, place_of, seen
from tests.support.slotted import piece as text_at
from tests.support.together import together
from wholecall.deltas import DONE, HYDRATION, CallClosed, CallSeen, CallWhole, StepTakenBack
from wholecall.limits import Limits

C = begun(0, "c", "f")

# Text without an owner.


@together(
    ("pieces", "expected"),
    [
        (['{"a"', ":1}"], [A]),
        ([A, A], [A, A]),
        ([A, f"\n{B}"], [A, f"\n{B}"]),
        ([A, ""], [A]),
        ([A, "\n"], [f"{A}\n"]),
        ([A, "x"], [f"{A}x"]),
        (["x", B], [f"x{B}"]),
        ([f"{B} ", f" {A}"], [f"{B} ", f" {A}"]),
    ],
)
def test_each_object_without_an_owner_is_a_call(pieces: list[str], expected: list[str]) -> None:
    """Text at a number that no call has is collected: behind a whole object the next one begins another call."""
    assert [orphan(text) for text in expected] == cut(*(text_at(1, one) for one in pieces))


def test_text_after_a_step_that_was_taken_back() -> None:
    """Text without an owner that is taken back with its step is told; text after it is another call's."""
    taken_back = Got(None, None, '{"a"', dropped("aborted"))

    assert [taken_back, orphan("x")] == cut(text_at(5, '{"a"'), StepTakenBack(0), text_at(5, "x"))


def test_text_that_got_its_name_is_an_open_call() -> None:
    """Text under an id is that of the item which names it later: an end without labels is its own."""
    assert [Got("c", "f", A)] == cut(text_at(1, A, id="c"), finished(A, 1, "c"), closed())


# Numbers of calls.


def test_a_call_has_a_number_once() -> None:
    """A call that is announced again at its number, with the id of its item, stays the only one there."""
    choice = after(C, CallSeen(0, 0, "j", None, "f"), text_at(0, A))

    assert ([0], A) == ([place_of(choice, call) for call in choice.slots.at[0]], choice.calls[0].text)


@pytest.mark.parametrize(("limit", "expected"), [(1, [0]), (2, [0, 1]), (3, [0, 1, 2])])
def test_a_call_has_no_more_numbers_than_labels(limit: int, expected: list[int]) -> None:
    """A call that is announced at more and more numbers is found at the first ones, up to the limit of labels."""
    more = [seen(index, "c", "f") for index in (1, 2, 3)]

    assert expected == list(after(C, *more, limits=Limits(max_aliases=limit)).slots.at)


def test_text_is_that_of_the_call_that_begins_at_its_number() -> None:
    """Where another block begins at a number before the one there was ended, text is no longer the first one's."""
    first = [begun(0, None, "f"), text_at(0, A)]

    assert [A, B] == [call.text for call in after(*first, begun(0, "d", "g"), text_at(0, B)).calls]
    assert [A, "\n"] == [call.text for call in after(*first, begun(0, "d", "g"), text_at(0, "\n")).calls]


def test_an_end_that_is_not_final_leaves_the_number_to_the_open_call() -> None:
    """Of two calls at a number one of which was closed, text is that of the open one."""
    first, second = begun(1, "c", "f", "i"), begun(1, "d", "g")
    choice = after(first, second, CallClosed(0, None, "i", final=False), text_at(1, B))

    assert ["", B] == [call.text for call in choice.calls]


def test_text_of_a_closed_call_is_not_taken_from_its_number() -> None:
    """Text under the id of a call that was closed, at a number where another one is open, has no owner."""
    first, second = begun(1, "c", "f", "i"), begun(1, "d", "g")

    assert [Got("c", "f", "", LOST), Got("d", "g", "", LOST), orphan(B)] == cut(
        first, second, CallClosed(0, None, "i", final=False), text_at(1, B, id="c")
    )


def test_text_at_the_number_of_two_open_items_is_nobodys() -> None:
    """Where a second item begins at a number, text there without the id of an item is no longer the first one's."""
    items = [begun(0, "c", "f", "i"), text_at(0, '{"a"'), begun(0, "d", "g", "j"), text_at(0, ":1}")]

    assert [Got("c", "f", '{"a"', LOST), Got("d", "g", "", LOST), orphan(":1}")] == cut(*items)


def test_the_earlier_of_two_calls_at_a_number_can_be_the_open_one() -> None:
    """Where the later call at a number was closed, text there is that of the earlier one, which is open."""
    first, second = begun(0, "c", "f", "i"), begun(0, "d", "g", "j")
    choice = after(first, second, closed(alias="j"), text_at(0, A))

    assert [A, ""] == [call.text for call in choice.calls]


@pytest.mark.parametrize(("late", "expected"), [(A, ("late_fragment",)), (B, ())])
def test_late_text_is_that_of_the_last_call_at_its_number(late: str, expected: tuple[str, ...]) -> None:
    """Where all calls at a number have ended, text there repeats the last of them, or is late."""
    calls = [
        *(begun(0, "c", "f", "i"), text_at(None, A, "i"), begun(0, "d", "g", "j"), text_at(None, B, "j")),
        *(closed(alias="i"), closed(alias="j"), text_at(0, late)),
    ]

    assert expected == tuple(sorted({*assembled(*calls)[1]} - {"missing_finish"}))


def test_a_name_goes_on_at_a_number_of_the_dialect() -> None:
    """A number without a start of its own is not a block's: a second name there continues the first one."""
    assert [Got("c", "fg", "", UNENDED)] == cut(seen(0, "c", "f"), CallSeen(0, 0, "i", None, "g"))


def test_a_listed_call_is_no_block() -> None:
    """Text under the item's id of a call that only a final message holds is not that call's."""
    only = CallWhole(0, 1, "i", None, None, A, HYDRATION, begins=True)

    assert [orphan(A), orphan(B)] == cut(only, text_at(0, B, "i"))


# Messages that begin again.


def test_a_message_that_begins_again_cuts_its_open_calls() -> None:
    """An open call has lost text where its message begins again, and still has where it begins a third time."""
    for n_times in (1, 2, 3):
        assert [Got("c", "f", "", LOST)] == cut(C, *[RESTART] * n_times)
        assert [Got("c", "f", A, LOST)] == cut(C, text_at(0, A), *[RESTART] * n_times)
    assert [Got("c", "f", A)] == cut(C, text_at(0, A), closed(0), RESTART)


def test_a_closed_call_that_may_lack_text_lacks_it_for_good() -> None:
    """Text without an owner that the next message tells of another call may have been a closed call's, nonetheless."""
    two, text = [C, begun(1, "d", "g")], finished(A, 0, "c")

    assert [Got("c", "f", A, UNENDED), Got("d", "g", "", LOST)] == cut(
        *two, text_at(7, A), closed(1), RESTART, text
    )
    assert Got("d", "g", "") in cut(*two, closed(1), RESTART, text)


def test_a_message_that_begins_again_assigns_its_numbers_again() -> None:
    """Text at the number of a call before that has no owner, until a call begins there; and an end ends nothing."""
    assert [Got("c", "f", "", LOST), orphan(A)] == cut(C, RESTART, text_at(0, A))
    assert ["ToolCallDropped", "TurnFinished"] == [
        type(one).__name__ for one in told(C, RESTART, closed())[1:]
    ]


def test_a_call_that_came_before_leaves_its_number() -> None:
    """A call of a message that begins again, known by its id or its item, has no number in it before it begins there."""
    whole_again = CallWhole(0, 0, None, "c", "f", "", DONE, closes=True)
    again = [seen(1, None, "f"), CallSeen(0, 1, "j", None, "f", begins=True), closed(1)]

    assert [Got("c", "f", "", LOST), Got(None, "f", "", UNENDED)] == cut(
        C, RESTART, whole_again, seen(0, None, "f")
    )
    assert [Got("d", "f", A, LOST), Got("call_0_0_1", "f", "", "id_generated")] == cut(
        text_at(0, A, "j", "d"), CallSeen(0, 1, "j", "d", None, begins=True), RESTART, *again
    )


def test_a_call_can_come_a_third_time() -> None:
    """Each time that a message begins again its calls are repetitions of those before."""
    part = text_at(0, '{"a"')

    assert [Got("c", "f", A, UNENDED)] == cut(C, part, RESTART, C, part, RESTART, C, text_at(0, A), closed(0))
    again = [
        CallSeen(0, 0, "j", None, "f", begins=True),
        RESTART,
        CallWhole(0, 1, None, None, "f", "x", DONE),
    ]
    assert [Got(None, "f", "{", LOST)] == cut(text_at(0, "{", "j", "d"), RESTART, *again)


def test_a_listed_call_is_not_begun_again() -> None:
    """A call that only a final list held is not what a call of the message that begins again repeats."""
    listed_only = listed((None, "f", A))

    assert [Got(None, "f", A, UNENDED), Got(None, "f", "", UNENDED)] == cut(
        listed_only, RESTART, seen(2, None, "f")
    )


def test_text_without_an_owner_is_not_begun_again() -> None:
    """Text of a message before that an item names in the next one is that item's: another start is another call."""
    item = [text_at(1, A, id="c"), RESTART, finished(A, 1, "c")]

    assert [Got("c", "f", A, UNENDED), Got("c#2", "f", A, "duplicate_id")] == cut(
        *item, begun(2, "c", "f"), text_at(2, A), closed(2)
    )
