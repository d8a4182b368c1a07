"""Sizes of argument text: a limit passes, one byte more does not, however the text is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wholecall.calls.arguments.tokens import utf8_size
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.deltas import DONE, CallWhole, Finish, Fragment, Labelled, TurnEnded
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.machine.budget import Budget, weight
from wholecall.machine.call import Call
from wholecall.policy import Policy

if TYPE_CHECKING:
    from collections.abc import Iterable

LETTERS = pytest.mark.parametrize("letter", ["x", "é", "€", "😀"])


def limits(call: int | None = None, total: int | None = None, raw: int | None = None) -> Limits:
    """Return limits of argument text alone."""
    return Limits(max_arguments_bytes=call, max_total_arguments_bytes=total, max_raw_bytes=raw)


def new() -> Call:
    """Return a call."""
    return Call(0, 0, "function")


def feed(budget: Budget, call: Call, pieces: Iterable[str]) -> bool:
    """Give the pieces to the call as the assembler does, the fast path first; return whether all were taken."""
    taken = True
    for piece in pieces:
        if call.room >= len(piece):
            call.parts.append(piece)
            call.room -= len(piece)
        elif budget.admit(call, piece):
            call.take(piece)
        else:
            taken = False
    return taken


def cut(text: str, size: int) -> list[str]:
    """Return the text in pieces of a size."""
    return [text[place : place + size] for place in range(0, len(text), size)]


def run(calls: list[list[str]], limits: Limits) -> list[tuple[str, str]]:
    """Stream calls one after another; return the name and the reason (or the status) of each."""
    assembler = Assembler(Policy(), limits)
    for index, pieces in enumerate(calls):
        assembler.advance([Labelled(0, index, f"c{index}", "f")])
        assembler.advance(Fragment(0, index, piece) for piece in pieces)
    assembler.advance([Finish(0, "tool_calls", None), TurnEnded()])
    ends = [event for event in assembler.take() if isinstance(event, (ToolCall, ToolCallDropped))]
    return [
        (event.raw_arguments, event.status if isinstance(event, ToolCall) else event.reason)
        for event in sorted(ends, key=lambda event: event.index)
    ]


def a_text(letter: str, size: int) -> str:
    """Return an object of exactly so many bytes, filled with a letter."""
    room = size - len('{"a":""}')
    count, rest = divmod(room, utf8_size(letter))
    return '{"a":"' + letter * count + "y" * rest + '"}'


@LETTERS
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
@pytest.mark.parametrize("limit", [20, 41])
def test_limit_of_a_call(letter: str, size: int, limit: int) -> None:
    """A call may hold `max_arguments_bytes`, and no byte more, whatever the pieces (law 23)."""
    at, above = a_text(letter, limit), a_text(letter, limit + 1)

    assert [(at, "exact")] == run([cut(at, size)], limits(limit, raw=10))
    sample = above.encode()[:10].decode("utf-8", "ignore")
    assert [(sample, "arguments_too_large")] == run([cut(above, size)], limits(limit, raw=10))


@LETTERS
@pytest.mark.parametrize("size", [1, 3, 1000])
def test_limit_of_a_turn(letter: str, size: int) -> None:
    """The calls of a turn may hold `max_total_arguments_bytes` together; the call that crosses it is dropped."""
    first, at, above = a_text(letter, 30), a_text(letter, 25), a_text(letter, 26)

    assert [(first, "exact"), (at, "exact")] == run(
        [cut(first, size), cut(at, size)], limits(total=55, raw=9)
    )
    sample = above.encode()[:9].decode("utf-8", "ignore")
    assert [(first, "exact"), (sample, "arguments_too_large")] == run(
        [cut(first, size), cut(above, size)], limits(total=55, raw=9)
    )


def told(*fields: dict[str, Any], text: str = "{}", limits: Limits) -> list[tuple[str, Any]]:
    """Return the outcome of a call with these fields next to its text: status or reason, and the fields to return."""
    assembler = Assembler(Policy(), limits)
    assembler.advance([Labelled(0, 0, "c", "f", text)])
    assembler.advance(Labelled(0, 0, "c", None, " ", extra=one) for one in fields)
    assembler.advance([Finish(0, "tool_calls", "tool_calls"), TurnEnded()])
    events = assembler.take()
    return [
        (event.status, event.extra) if isinstance(event, ToolCall) else (event.reason, None)
        for event in events
        if isinstance(event, (ToolCall, ToolCallDropped))
    ]


def test_fields_beside_the_text_count() -> None:
    """The fields to send back with a call are bounded with its text: one byte more, and the call is dropped."""
    fields = {"seal": "x" * 26}  # a name of 4, and the value

    assert [("exact", fields)] == told(fields, limits=limits(call=30))
    assert [("arguments_too_large", None)] == told(fields, limits=limits(call=29))
    assert [("exact", fields)] == told(fields, limits=limits(total=40))
    assert [("arguments_too_large", None)] == told(fields, limits=limits(total=31))


def test_fields_that_come_again_count_once() -> None:
    """Servers send the same fields with each fragment; a smaller set returns the room that it does not need."""
    fields, small = {"seal": "x" * 26}, {"seal": "x"}

    assert [("exact", fields)] == told(*[fields] * 100, limits=limits(call=200, total=200))
    assert [("exact", fields)] == told(fields, small, fields, limits=limits(call=200, total=40))
    assert [("exact", small | {"more": "x" * 21})] == told(
        fields, small, {"more": "x" * 21}, limits=limits(call=30)
    )


@pytest.mark.parametrize(
    ("value", "expected"),
    [("", 0), ("ab", 2), (1, 8), (None, 8), ([], 8), ([1, "ab"], 18), ({"k": ["ab", {"l": 1}]}, 36)],
)
def test_the_weight_of_a_value(value: object, expected: int) -> None:
    """Texts count their characters, all else the size of a reference."""
    assert expected == weight(value)


def test_a_deep_value_is_weighed() -> None:
    """No depth is too deep."""
    value: Any = ""
    for _ in range(100_000):
        value = [value]

    assert 800_000 == weight(value)


@pytest.mark.parametrize("size", [1, 5000, 100_000])
def test_limits_beyond_a_grant(size: int) -> None:
    """Limits far above the granted pieces are met at the same byte."""
    at, above = a_text("€", 50_000), a_text("€", 50_001)

    assert [(at, "exact")] == run([cut(at, size)], limits(50_000))
    assert ["arguments_too_large"] == [reason for _, reason in run([cut(above, size)], limits(50_000))]
    assert [(at, "exact")] == run([cut(at, size)], limits(total=50_000))
    assert ["arguments_too_large"] == [reason for _, reason in run([cut(above, size)], limits(total=50_000))]


def test_none_switches_a_limit_off() -> None:
    """A limit of None bounds neither a call nor a turn nor the kept text."""
    text = a_text("x", 100_000)

    assert [(text, "exact")] * 2 == run([[text], cut(text, 4000)], limits())


def test_what_is_kept_of_a_large_call() -> None:
    """An oversized call keeps the beginning of its text, and takes no more."""
    budget, call = Budget(limits(call=6, raw=8)), new()

    assert (True, False, False) == tuple(feed(budget, call, [piece]) for piece in ("abcd", "efghij", "k"))
    assert ("abcdefgh", True, "arguments_too_large") == (call.text, call.full, call.refusal)


def test_all_is_kept_without_a_limit() -> None:
    """Without `max_raw_bytes` an oversized call keeps its text, and the fragment that was too much."""
    budget, call = Budget(limits(call=3)), new()

    assert not feed(budget, call, ["ab", "cd", "ef"])
    assert "abcd" == call.text


def test_a_breach_isolates() -> None:
    """A call beyond its limit leaves its neighbours as they are (law 24)."""
    large, small = a_text("x", 60), a_text("x", 20)

    assert [(small, "exact"), (large[:5], "arguments_too_large"), (small, "exact")] == run(
        [[small], cut(large, 7), [small]], limits(call=50, raw=5)
    )


def test_a_refused_call_frees_what_it_held() -> None:
    """Only the sample of an oversized call counts towards the turn."""
    budget, one, other = Budget(limits(total=20, raw=4)), new(), new()

    assert not feed(budget, one, ["x" * 16, "x" * 5])
    assert feed(budget, other, ["x" * 16])
    assert not feed(budget, other, ["x"])


def test_grants_are_taken_back() -> None:
    """Room that is granted to a call and not used is available to the next call."""
    budget, one, other = Budget(limits(total=100)), new(), new()

    assert feed(budget, one, ["x" * 10])
    assert one.room > 0
    assert feed(budget, other, ["x" * 90])
    assert 0 == one.room
    assert not feed(budget, one, ["x"])


@given(
    st.lists(st.text(alphabet="aé€😀", min_size=1, max_size=9), max_size=12),
    st.integers(0, 60),
    st.booleans(),
)
def test_every_partition_meets_the_limit_at_the_same_byte(pieces: list[str], limit: int, total: bool) -> None:
    """All of a text is taken exactly if its bytes are within the limit, for every partition (law 23)."""
    budget = Budget(limits(total=limit) if total else limits(call=limit))

    assert (utf8_size("".join(pieces)) <= limit) == feed(budget, new(), pieces)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.text(alphabet="a😀", min_size=1, max_size=9)), max_size=16),
    st.integers(20, 120),
)
def test_interleaved_calls_meet_the_total_together(pieces: list[tuple[int, str]], limit: int) -> None:
    """The first fragment that takes a turn beyond its limit is refused, whichever call it belongs to."""
    budget, calls = Budget(limits(total=limit)), [new() for _ in range(4)]
    used = 0
    for number, piece in pieces:
        used += utf8_size(piece)
        assert (used <= limit) == feed(budget, calls[number], [piece])
        if used > limit:
            break


# Restated texts.


@LETTERS
def test_limit_of_a_restatement(letter: str) -> None:
    """A restated text may be as large as the limit, and no byte larger."""
    at, above = a_text(letter, 24), a_text(letter, 25)

    assert Budget(limits(24)).admit_whole(new(), at)
    assert Budget(limits()).admit_whole(new(), above)
    call = new()
    assert not Budget(limits(24, raw=5)).admit_whole(call, above)
    assert ("arguments_too_large", above[:5]) == (call.refusal, call.text)


def test_a_full_call_is_not_restated() -> None:
    """A restatement does not bring back a call that was too large."""
    budget, call = Budget(limits(5)), new()
    feed(budget, call, ["abcdef"])

    assert not budget.admit_whole(call, "{}")


def test_restatements_count_for_the_turn() -> None:
    """Restated texts count towards the limit of the turn; a second one of a call replaces the first."""
    budget, one, other = Budget(limits(total=20)), new(), new()

    assert budget.admit_whole(one, "x" * 12)
    assert budget.admit_whole(one, "x" * 10)
    assert budget.admit_whole(other, "x" * 10)
    assert not budget.admit_whole(new(), "x")
    assert not feed(budget, new(), ["x"])


def test_restatements_see_what_was_granted() -> None:
    """Fragments on the fast path count before a restatement is admitted."""
    budget, one, other = Budget(limits(total=40)), new(), new()

    assert feed(budget, one, ["x" * 10, "xx"])
    assert budget.admit_whole(other, "x" * 28)
    assert not budget.admit_whole(other, "x" * 29)


def test_a_restated_call_in_a_stream() -> None:
    """A call whose restated text is too large is dropped, its neighbour is not."""
    assembler = Assembler(Policy(), limits(call=10))
    assembler.advance(
        [
            CallWhole(0, 0, "i1", "c1", "f", '{"a":"too large"}', DONE),
            CallWhole(0, 1, "i2", "c2", "f", '{"a":1}', DONE),
            Finish(0, "stop", "completed"),
            TurnEnded(),
        ]
    )
    ends = [event for event in assembler.take() if isinstance(event, (ToolCall, ToolCallDropped))]

    assert {"c1": "arguments_too_large", "c2": "exact"} == {
        event.id: event.reason if isinstance(event, ToolCallDropped) else event.status for event in ends
    }


def test_the_cold_way_uses_a_grant_too() -> None:
    """Text admitted within a grant is not counted again."""
    budget, call = Budget(limits(100)), new()
    assert budget.admit(call, "abc")
    call.take("abc")
    room = call.room

    assert room > 3
    assert budget.admit(call, "def")
    assert (room, 3) == (call.room, call.size)
