"""Final messages over odd labels, and marked records whose calls they list."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.bound import A, B, Got, at, whole
from tests.support.settled import END, ENDS, dropped, restates, settled
from tests.support.together import together
from wholecall.calls.output.call_events import CustomToolCall, ServerToolCall, ToolCall, ToolCallDropped
from wholecall.deltas import HYDRATION, CallSeen, CallWhole, Delta, Marked, Reread, Slot

AMBIGUOUS, ORDER = dropped("ambiguous"), "bound_by_order"


@together(
    ("deltas", "calls"),
    [
        ([at(None, '"b":2}'), restates(A, "e")], [Got("e", "f", A, "done_mismatch")]),
        ([at(None, A, "c"), restates(A, "c")], [Got("c", "f", A)]),
        ([at(None, A, "d", "f"), restates(A)], [Got("d", "f", A)]),
        ([at(None, '{"b"', None, "f"), restates(B, "c")], [Got("c", "f", B, "done_completed_buffer")]),
        ([at(None, A, "d", "f"), restates(A, "c")], [Got("d", "f", A, AMBIGUOUS), Got("c", "f", A)]),
        ([at(None, A, "c", "f"), restates(B, "e", "g")], [Got("c", "f", A, AMBIGUOUS), Got("e", "g", B)]),
        ([at(0, '{"b"', None, "g"), restates(A, "e")], [Got(None, "g", "", AMBIGUOUS), Got("e", "f", A, "done_mismatch")]),
        ([at(0, 'a":'), restates("", "e")], [Got("e", "f", 'a":', dropped("unparseable"))]),
        ([at(-1, '{"a"', "c", "f"), restates(A, "d", "g"), restates("null", "c"), restates(B, None, "g")],
         [Got("c", "f", '{"a"', dropped("truncated")), Got("d", "g", A), Got("call_0_0_2", "g", B, "id_generated")]),
        ([at(None, A, "c", "f"), at(None, B, "c", "g"), restates(A, "c"), restates(B, "c", "g")],
         [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id")]),
    ],
)  # fmt: skip
def test_what_a_message_lists(deltas: list[Delta], calls: list[Got]) -> None:
    """Law: each of a message's calls is emitted, under its id, in the call that it restates, or separately."""
    assert calls == settled(*deltas, *ENDS).calls


@pytest.mark.parametrize(
    ("kind", "ends"),
    [("function", ToolCall), ("custom", CustomToolCall), ("server", ServerToolCall)],
)
def test_the_kind_of_a_call_that_only_the_message_has(kind: Any, ends: type) -> None:
    """A call that no fragment showed is of the kind that the message says."""
    told = CallWhole(0, None, None, "e", "g", B, HYDRATION, kind)
    found = settled(at(None, A, "c", "f"), restates(A, "c"), told, *ENDS).events

    assert [ToolCall, ends] == [
        type(event)
        for event in found
        if isinstance(event, (ToolCall, CustomToolCall, ServerToolCall, ToolCallDropped))
    ]


@pytest.mark.parametrize(("kind", "texts"), [("function", [B, A]), ("custom", [B, A, '{"a": 1}'])])
def test_spellings_of_calls_that_a_message_lists(kind: Any, texts: list[str]) -> None:
    """Two calls of a message under one id are the same if their arguments are; free texts are if they are equal."""
    told = [CallWhole(0, None, None, "e", "g", text, HYDRATION, kind) for text in (A, '{"a": 1}')]

    assert texts == [
        call.text for call in settled(at(None, B, "c", "f"), restates(B, "c"), *told, *ENDS).calls
    ]


def test_labels_again_before_a_message() -> None:
    """A call that users saw stays theirs, also if no reading is sure of it and it has no text."""
    told = restates("{'a':1}", "e"), restates(A, None)
    found = settled(whole(0, '{"a"', "c", "f"), *told, whole(1, A, "c", "f"), whole(3, "{}", "c", "h"), *ENDS)

    assert [True] * len(found.began) == [found.calls[number].name == name for number, _, name in found.began]


def test_a_message_with_one_id_for_two() -> None:
    """Law: two calls that a message lists under one id are two, each in the call of the reading that it restates."""
    told = restates("{'a':1}", "c"), restates(B, "c"), restates('{"a":"x"}', "e", "g")
    calls = settled(at(0, "x", "c", "f"), *told, at(2, A, None, "f"), *ENDS).calls

    assert [("c", B), ("e", '{"a":"x"}'), ("c#2", A)] == [
        (call.id, call.text) for call in calls if not call.sign.startswith("dropped")
    ]


def test_begun_calls_that_a_message_tells() -> None:
    """Law: calls are compared by the texts in the message, and not by their results."""
    begun = at(0, "{", "c", "f"), at(1, "{", "c", "f")

    assert [[("c", B), ("c#2", A)], [("c", A)]] == [
        [(call.id, call.text) for call in settled(*begun, restates(one, "c"), restates(A, "c"), *ENDS).calls]
        for one in (B, A)
    ]


def test_a_restated_kind_of_a_call_that_was_not_shown() -> None:
    """A call whose pieces came before its name equals its pieces, whatever name the message gives."""
    told = CallWhole(0, None, None, "d", "f", '{"a"', HYDRATION, "custom")

    assert [Got("c", None, A, dropped("nameless")), Got("d", "f", "{}", "done_mismatch")] == settled(
        at(0, A, "c"), told, at(1, "{}", "d"), *ENDS
    ).calls


# Books.


def shown(*names: str) -> list[Delta]:
    """Return the starts of blocks that have one id."""
    return [CallSeen(0, n, None, "c", name, begins=True) for n, name in enumerate(names)]


def book(*calls: tuple[str, str], ends: bool = True, lists: tuple[CallWhole, ...] = ()) -> Reread:
    """Return the book of calls in a row, each with its name and text, under one id."""
    pieces: list[Marked] = []
    for n, (name, text) in enumerate(calls):
        pieces += [Marked("S", n, "c", name), Marked("T", n, "c", None, text)]
        pieces += [Marked("E", n, "c", None)] if ends else []
    return Reread(0, tuple(pieces), lists)


@pytest.mark.parametrize(
    ("texts", "lists", "calls"),
    [
        ((A, B), (), [Got("c", "f", A, ORDER), Got("c#2", "f", B, f"{ORDER} duplicate_id")]),
        ((A, A), (), [Got("c", "f", A)]),
        (("{}", A), ("", A), [Got("c", "f", "{}", ORDER), Got("c#2", "f", A, f"{ORDER} duplicate_id")]),
    ],
)
def test_a_book_of_calls_of_one_id(texts: tuple[str, ...], lists: tuple[str, ...], calls: list[Got]) -> None:
    """Law: of a book's calls under one id equal ones are one call; different ones are several, and their id none's."""
    told = tuple(restates(text, "c") for text in lists)
    pieces = [Slot(0, n, "c", text) for n, text in enumerate(texts)]

    assert (
        calls
        == settled(*shown("f", "f"), *pieces, book(("f", texts[0]), ("f", texts[1]), lists=told), *ENDS).calls
    )


@pytest.mark.parametrize(
    ("ids", "calls"),
    [
        (("d", "c"), [("d", "bound_by_order id_churn"), ("c", "bound_by_order")]),
        (("c", "c"), [("c", "repeated")]),
        ((None, None), [("c", "repeated")]),
    ],
)
def test_the_message_of_a_book_has_the_ids(ids: tuple[str | None, ...], calls: list[tuple[str, str]]) -> None:
    """Law: the calls that a message lists after a book have the message's ids, else their own: equal ones of one id are one."""
    told = tuple(restates(A, id) for id in ids)
    found = settled(*shown("f", "f"), Slot(0, 0, "c", A), book(("f", A), ("f", A), lists=told), *ENDS)

    assert calls == [(call.id, call.sign) for call in found.calls if "told_twice" not in call.sign]


def test_a_call_that_the_message_tells_twice() -> None:
    """Law: two calls of the reading to which a message gives one id and one text are one call."""
    pieces = at(0, '{"a"', "c", "f"), at(1, A, "c", "f")

    assert [A] == [
        call.text
        for call in settled(*pieces, restates(A, "c"), restates(A, "c"), *ENDS).calls
        if not call.sign.startswith("dropped")
    ]


def test_a_listed_call_is_told() -> None:
    """Law: each call that a message lists is reported, also a call that no reading is sure of and that has no
    arguments.
    """
    pieces = [
        *(Marked("S", 0, "c", "f"), Marked("T", 0, "c", None, "{}")),
        *(Marked("S", 1, "c", "g"), Marked("T", 1, None, None, A), Marked("E", 1, "c", None)),
    ]
    lists = restates("{}", "d"), restates(B, "c", "g")
    calls = settled(Slot(0, None, "c", A), Reread(0, tuple(pieces), lists), *ENDS).calls

    assert {("d", "f", "{}"), ("c#2", "g", B)} <= {call[:3] for call in calls}


def test_a_book_shows_what_it_tells() -> None:
    """Law: the events of each call of a book show its text, also those of calls that are dropped."""
    marks = [*(("S", 2, "f"), ("S", 0, "f"), ("S", 1, "g"), ("S", 0, "f"))]
    texts = [*((0, A), (0, '{"a'), (1, '":2}'), (2, A))]
    pieces = [
        *(Marked("S", slot, "c", name) for _, slot, name in marks),
        *(Marked("T", slot, "c", None, text) for slot, text in texts),
        *(Marked("E", slot, "c", None) for slot in (2, 1)),
    ]
    starts = [CallSeen(0, slot, None, "c", name, begins=True) for slot, name in ((1, "g"), (0, "f"))]
    found = settled(*starts, Slot(0, 0, "c", A), Reread(0, tuple(pieces)), *ENDS)

    assert found.text == {number: call.text for number, call in enumerate(found.calls)}
    assert [0, 1, 2] == sorted(found.text)
    assert A == found.text[0]


def test_a_silent_call_of_a_book() -> None:
    """Law: a call of a book without text has no arguments if a piece of it is its end."""
    pieces = Marked("S", 0, "c", "f"), Marked("E", 0, "c", None)

    assert [""] == [call.sign for call in settled(*shown("f"), Reread(0, pieces), END).calls]
