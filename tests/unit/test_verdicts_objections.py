"""Objections to a call before its text is read: order and words; and its second reading."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from tests.support.together import together
from wholecall.calls.output.call_events import CustomToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import TERMINAL
from wholecall.deltas import (
    DONE,
    HYDRATION,
    OBJECT,
    CallCancelled,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Fragment,
    Labelled,
    SaidAgain,
    Slot,
    TurnEnded,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

if TYPE_CHECKING:
    from wholecall.types import Kind

A = '{"a":1}'
HOLE = WireFault("undecodable_frame", "", hole=True)
CALLS, LENGTH = Finish(0, "tool_calls", None), Finish(0, "length", None)
END = TurnEnded()


def seen(kind: Kind = "function", name: str | None = "f") -> CallSeen:
    """Return a call that opens in a slot."""
    return CallSeen(0, 0, "i", "c", name, kind)


def piece(text: str) -> Slot:
    """Return a piece of its text."""
    return Slot(0, 0, "i", text)


def whole(text: str, rank: int = DONE, kind: Kind = "function") -> CallWhole:
    """Return its whole text."""
    return CallWhole(0, 0, "i", None, None, text, rank, kind)


def all_of(*deltas: Delta, limits: Limits | None = None, policy: Policy | None = None) -> list[Any]:
    """Return the terminal events, by the calls' order."""
    assembler = Assembler(policy or Policy(), limits or Limits())
    for delta in deltas:
        assembler.advance([delta])
    assembler.close()
    found = [event for event in assembler.take() if isinstance(event, TERMINAL)]
    return sorted(found, key=lambda event: event.index)


def fate(event: Any) -> str:
    """Return the reason of a drop, or the flags of a call."""
    if isinstance(event, ToolCallDropped):
        return event.reason
    return " ".join((event.status if isinstance(event, ToolCall) else "", *event.flags)).strip()


def fates(*deltas: Delta, **options: Any) -> list[str]:
    """Return the result of each call."""
    return [fate(event) for event in all_of(*deltas, **options)]


@pytest.mark.parametrize(
    ("deltas", "reason", "detail"),
    [
        ([seen(), piece(A), LENGTH, END], "truncated", "the turn was cut inside this call"),
        ([seen("custom")], "unterminated", "the stream ended without ending this call"),
        ([seen(), piece(A), HOLE, CALLS, END], "incomplete_input", "argument text that could belong to this call was lost"),
        ([seen(), CallClosed(0, 0, "i", truncated=True)], "truncated", "the wire itself calls this call incomplete"),
        ([Labelled(0, 0, "c", None, A), CALLS, END], "nameless", "no name came before the call ended"),
    ],
)  # fmt: skip
def test_drops_say_why(deltas: list[Delta], reason: str, detail: str) -> None:
    """Each objection has a sentence for people."""
    (drop,) = all_of(*deltas)

    assert (reason, detail) == (drop.reason, drop.detail)


def test_text_of_another_choice() -> None:
    """A chat call without text may have lost it to another choice; a block, whose slots are its own, has not (quirk 14)."""
    orphan, others = Fragment(1, 0, A), [Finish(1, "stop", None), END]
    chat = all_of(Labelled(0, 0, "c", "f"), orphan, CALLS, *others)
    block = all_of(seen(), orphan, CALLS, *others)

    assert ("ambiguous", "its text may have come in another choice") == (chat[0].reason, chat[0].detail)
    assert "empty" == fate(block[0])


LONG = Limits(max_name_chars=3, max_arguments_bytes=20, max_id_chars=9)


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ([CallSeen(0, 0, "i", "c" * 10, "f")], "id_too_long"),
        ([CallSeen(0, 0, "i", "c", "long name")], "name_too_long"),
        ([seen(), piece(A * 9)], "arguments_too_large"),
    ],
)
def test_a_limit_outranks_what_is_lost(call: list[Delta], expected: str) -> None:
    """A call beyond a limit is reported as that, though text was lost and the turn was cut."""
    assert [expected] == fates(*call, HOLE, LENGTH, END, limits=LONG)


def test_calls_beyond_the_limit_outrank_what_is_lost() -> None:
    """The drop that represents the calls beyond the limit says so, whatever was lost."""
    two = [Labelled(0, 0, "c", "f", A), Labelled(0, 1, "d", "f", A)]

    assert "too_many_calls" == fates(*two, HOLE, LENGTH, END, limits=Limits(max_calls=1))[-1]


def test_a_drop_beyond_a_limit_tells_the_limit() -> None:
    """The drop that represents the calls beyond the limit counts them; that of a call which is too long tells the size."""
    three = [Labelled(0, n, f"c{n}", "f", A) for n in range(3)]
    *_, beyond = all_of(*three, CALLS, END, limits=Limits(max_calls=1))
    (long,) = all_of(CallSeen(0, 0, "i", "c" * 10, "f"), END, limits=LONG)

    assert ["2 calls beyond the limit of 1", "an id of 10 characters"] == [beyond.detail, long.detail]


def test_a_drop_tells_each_fact_once() -> None:
    """The facts of a drop are those that its detail does not tell already."""
    (long,) = all_of(CallSeen(0, 0, "i", "c" * 10, "f"), HOLE, END, limits=LONG)

    assert ("an id of 10 characters", ("a part of the stream was lost while it was open",)) == (
        long.detail,
        long.facts,
    )


def test_a_call_that_the_provider_took_back() -> None:
    """The drop of a call that was taken back tells who did it, though the rest of the answer goes on."""
    (drop,) = all_of(seen(), piece(A), CallCancelled("c"), CALLS, END)

    assert ("aborted", "the provider took the call back") == (drop.reason, drop.detail)


def test_an_unreadable_call_needs_no_name() -> None:
    """Text that the provider itself could not read cannot show its name."""
    refused = CallRefused(0, 0, "i", "unparseable", "the provider could not read it", "x")
    (drop,) = all_of(seen(name=None), refused, END)

    assert ("unparseable", "the provider could not read it") == (drop.reason, drop.detail)


CLOSED = CallClosed(0, 0, "i")


@together(
    ("deltas", "expected"),
    [
        ([CLOSED], ""),
        ([CALLS, END], ""),
        ([whole("go", kind="custom"), TurnEnded(of_transport=True)], ""),
        ([END], ""),
        ([TurnEnded(of_transport=True)], "unterminated"),
        ([whole("go", kind="custom")], "unterminated"),
        ([CallClosed(0, 0, "i", waits=True)], "unterminated"),
        ([CallClosed(0, 0, "i", final=False)], "unterminated"),
        ([CALLS], ""),
    ],
)
def test_ends_of_free_text(deltas: list[Delta], expected: str) -> None:
    """Free text is whole by its own end, its restated text, or the reason of its turn, and never where the stream just stops."""
    assert [expected] == fates(seen("custom"), piece("go"), *deltas)


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_silence_after_a_loss_in_a_block(kind: Kind) -> None:
    """Text that was lost before a call that brings none may have been its own, free text as well."""
    assert ["incomplete_input"] == fates(HOLE, seen(kind), CLOSED, CALLS, END)[-1:]


def test_a_started_object_is_not_silent() -> None:
    """The empty input at the start of a block is not silence where pieces followed it: text without an owner is
    another's.
    """
    orphan = Slot(0, 7, None, '{"b":2}')

    assert ["exact"] == fates(orphan, seen(), whole("{}", OBJECT), piece(A), CLOSED, CALLS, END)[:1]


def test_an_object_of_a_final_message_is_not_silent() -> None:
    """A final message that lists a call without arguments says so: text without an owner is another's."""
    orphan = Slot(0, 7, None, A)

    assert ["exact", "incomplete_input"] == [
        fates(orphan, seen(), whole("{}", rank), CALLS, END)[0] for rank in (HYDRATION, OBJECT)
    ]


@together(
    ("pieces", "text", "expected"),
    [
        (['{"a":', A], A, "exact snapshots"),
        (['{"a":', A, "}"], '{"a":{"a":1}}', "exact"),
        (['{"a":', '{"a":1'], '{"a":{"a":1', "truncated"),
        (['{"a":', '{"a":[{}]', '{"a":[{}]}'], '{"a":[{}]}', "exact snapshots"),
        (['{"a":', '{"a":1,}'], '{"a":1,}', "recovered snapshots"),
        (['{"a":', '{"a":1,}', "}"], '{"a":{"a":1,}}', "recovered"),
        (['{"a":', '{"a":1', "]}"], '{"a":{"a":1]}', "invalid_json"),
        (['{"a":', '{"a"1', "}}"], '{"a":{"a"1}}', "invalid_json"),
        (['{"a":', '{"a":1}', "}}"], '{"a":{"a":1}}}', "recovered"),
        (['{"', '{"":"\\""}'], '{"":"\\""}', "exact snapshots"),
        (['{"a":', '{"a":"}\\"', '{"a":"}\\"]",}'], '{"a":{"a":"}\\"{"a":"}\\"]",}', "invalid_json"),
    ],
)
def test_the_second_reading_of_a_block(pieces: list[str], text: str, expected: str) -> None:
    """In a block, too, a snapshot is believed only if appending does not parse (quirk 24)."""
    (event,) = all_of(seen(), *map(piece, pieces), CLOSED, CALLS, END)

    assert (text, expected) == (event.raw_arguments, fate(event))


def test_a_silent_end_proves_no_snapshot() -> None:
    """Where the stream just stops, the text so far is not read another way, even if the policy asks for no end."""
    lenient = Policy(require_terminal=False)

    assert ["unterminated"] == fates(seen(), piece('{"a":'), piece(A), policy=lenient)


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [("undefined", "exact done_mismatch"), ('"x" y', "exact done_mismatch"), ('{"a" x}', "invalid_json")],
)  # fmt: skip
def test_pieces_that_were_never_an_object(pieces: str, expected: str) -> None:
    """A text that was restated as empty is empty, if its pieces could never have been an object."""
    (event,) = all_of(seen(), piece(pieces), whole("{}"), CLOSED, CALLS, END)

    assert expected == fate(event)


def test_who_speaks_was_said_again() -> None:
    """Later text may be another answer's: only a reason that promises calls shows that a silent call was meant."""
    call, stop = Labelled(0, 0, "c", "f"), Finish(0, "stop", None)
    (drop,) = all_of(call, SaidAgain(0), stop, END)
    detail = "who speaks was said again after it began, and no reason promised calls"

    assert ("incomplete_input", detail) == (drop.reason, drop.detail)
    assert ["empty"] == fates(call, SaidAgain(0), CALLS, END) == fates(call, stop, END)


def test_free_text_without_text() -> None:
    """Free text may be empty, if nothing was lost."""
    (event,) = all_of(seen("custom"), CLOSED, CALLS, END)

    assert isinstance(event, CustomToolCall)
    assert "" == event.input
