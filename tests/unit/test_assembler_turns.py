"""Turns that are released, turns that move with their parser, and the faults that are kept."""

from __future__ import annotations

import gc
import weakref
from itertools import product
from typing import Any

import pytest

from tests.support.assembled import CALLS, END, HOLE, A, B, ends, finishes, head, new, told
from tests.support.snapshots import moved, opened
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCallCancelled
from wholecall.calls.output.events import StreamFault, TurnFinished, TurnStarted
from wholecall.deltas import (
    CallCancelled,
    Delta,
    Fragment,
    Labelled,
    TextFragment,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.policy import Policy

# Turns that are released.


def turn(key: str, text: str = "x") -> list[Delta]:
    """Return an open turn."""
    return [TurnOpened(key), TextFragment(0, text)]


def order(events: list[Any]) -> list[str]:
    """Return the first and last events of turns, by their numbers."""
    kinds = {TurnStarted: "start", TurnFinished: "end"}
    return [f"{kinds[type(event)]} {event.turn}" for event in events if type(event) in kinds]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        (1, ["start 0", "end 0", "start 1", "end 1", "start 2", "end 2"]),
        (0, ["start 0", "end 0", "start 1", "end 1", "start 2", "end 2"]),
        (2, ["start 0", "start 1", "end 0", "start 2", "end 1", "end 2"]),
        (3, ["start 0", "start 1", "start 2", "end 0", "end 1", "end 2"]),
        (None, ["start 0", "start 1", "start 2", "end 0", "end 1", "end 2"]),
    ],
)
def test_the_oldest_turn_makes_room(limit: int | None, expected: list[str]) -> None:
    """Beyond `max_turns` the oldest turn ends where the next one begins; there is always room for one."""
    events = told(*turn("a"), *turn("b"), *turn("c"), limits=Limits(max_turns=limit))

    assert expected == order(events)


def test_a_call_of_a_turn_that_makes_room() -> None:
    """The open calls of the turn end as at the end of a stream: without evidence that they are whole."""
    free_text = Labelled(0, 1, "c1", "f1", "x", "custom")
    deltas = [TurnOpened("a"), head(0, A), free_text, TurnOpened("b"), head(2, B), CALLS, END]
    loose, one = Policy(require_terminal=False), Limits(max_turns=1)

    assert [("c0", "unterminated"), ("c1", "unterminated"), ("c2", "exact")] == ends(
        told(*deltas, limits=one)
    )
    assert [("c0", "exact unterminated"), ("c1", "unterminated"), ("c2", "exact")] == ends(
        told(*deltas, limits=one, policy=loose)
    )


@pytest.mark.parametrize(
    ("start", "expected"), [(0, "cd"), (1, "cd"), (2, "cd"), (3, "d"), (4, ""), (-1, "cd")]
)
def test_views_of_the_turns_that_are_kept(start: int, expected: str) -> None:
    """Turns keep their numbers when earlier turns are released; the last turns can be read."""
    assembler = new(limits=Limits(max_turns=2))
    assembler.advance([delta for name in "abcd" for delta in turn(name, name)])

    assert expected == "".join(view.text for view in assembler.snapshots(start))
    assert (4, "d") == (assembler.n_turns, assembler.snapshot().text)


def test_the_key_of_a_turn_that_was_let_go_is_free() -> None:
    """The key no longer names a turn: an end under it ends the current turn, and a beginning under it is a new turn."""
    limits = Limits(max_turns=2)
    ended = told(*turn("a"), *turn("b"), *turn("c"), TurnEnded("a"), TextFragment(0, "late"), limits=limits)
    opened = told(*turn("a"), *turn("b"), *turn("c"), *turn("a"), limits=limits)

    assert [(0, ()), (1, ()), (2, ("data_after_end",))] == [
        (event.turn, tuple({"data_after_end"} & {*event.anomalies}))
        for event in ended
        if isinstance(event, TurnFinished)
    ]
    assert ["start 0", "start 1", "end 0", "start 2", "end 1", "start 3", "end 2", "end 3"] == order(opened)


def test_a_later_turn_keeps_its_key() -> None:
    """Where a later turn took over the key, it belongs to that turn, also after the first one is released."""
    again = TurnOpened("a", restart=True)
    events = told(
        *turn("a"),
        END,
        again,
        TextFragment(0, "y"),
        *turn("b"),
        TurnOpened("a"),
        head(0, A),
        limits=Limits(max_turns=2),
    )

    assert [("c0", "unterminated")] == ends(events)
    assert ["start 0", "end 0", "start 1", "start 2", "end 1", "end 2"] == order(events)


def test_turns_without_keys_make_room_too() -> None:
    """A key is not required of a turn."""
    events = told(*[TurnOpened(None), TextFragment(0, "x")] * 3, limits=Limits(max_turns=1))

    assert ["start 0", "end 0", "start 1", "end 1", "start 2", "end 2"] == order(events)


def cancelled(events: list[Any]) -> list[tuple[str, int, int]]:
    """Return id, turn and choice of the retracted calls."""
    return [(e.id, e.turn, e.choice) for e in events if isinstance(e, ToolCallCancelled)]


def test_calls_of_turns_that_were_let_go_are_unknown() -> None:
    """A call that is taken back then is not among the kept calls: the current turn passes the retraction on."""
    deltas = [
        *(TurnOpened("a", restart=True), head(0, A), head(1, B, choice=1), END),
        *(TurnOpened("b", restart=True), head(1, A, choice=2), END),
        TurnOpened("c", restart=True),
        *(CallCancelled("c0"), CallCancelled("c1")),
    ]

    assert [("c0", 0, 0), ("c1", 1, 2)] == cancelled(told(*deltas, limits=Limits(max_turns=4)))
    assert [("c0", 2, 0), ("c1", 1, 2)] == cancelled(told(*deltas, limits=Limits(max_turns=2)))
    assert [("c0", 2, 0), ("c1", 2, 0)] == cancelled(told(*deltas, limits=Limits(max_turns=1)))


def test_nothing_is_kept_of_a_turn_that_was_let_go() -> None:
    """A stream without end takes the memory of its last turns."""
    assembler = new(limits=Limits(max_turns=1))
    assembler.advance([TurnOpened("a"), head(0, A), TextFragment(1, "x"), END])
    first = weakref.ref(assembler.turns[0])
    assembler.advance([TurnOpened("b")])
    assembler.take()
    gc.collect()

    assert first() is None


def test_calls_by_number() -> None:
    """A call is found by its turn, its choice and its number, as long as its turn is kept."""
    assembler = new(limits=Limits(max_turns=2))
    assembler.advance(
        [TurnOpened("a"), TurnOpened("b"), head(0), head(1), TurnOpened("c"), head(2, choice=3)]
    )
    found = {place: assembler.call(*place) for place in product(range(-2, 5), (0, 3), (0, 1, 2))}

    assert {(1, 0, 0): "c0", (1, 0, 1): "c1", (2, 3, 0): "c2"} == {
        place: call.id for place, call in found.items() if call is not None
    }


# Turns that move with their parser.

EVENT = 'data: {"id":"r","choices":[{"index":%d,"delta":{"tool_calls":[{"index":0%s,"function":{%s}}]}}]}\n\n'
STREAM = "".join(
    [
        *(EVENT % (choice, f',"id":"c{choice}"', '"name":"f"') for choice in (0, 1)),
        *(EVENT % (choice, "", f'"arguments":"{text}"') for text in ("{", "}") for choice in (0, 1)),
        'data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}\n\n',
        "data: [DONE]\n\n",
    ]
).encode()


@pytest.mark.parametrize("size", [1000, 60])
def test_turns_move_with_their_parser(size: int) -> None:
    """A parser that continues elsewhere at any byte, also before the first one, knows its turns and its open calls."""
    chunks = [STREAM[at : at + size] for at in range(0, len(STREAM), size)]
    stay, move = (moved(chunks, ToolCallParser(), moves=moves) for moves in (False, True))

    assert stay == move
    assert 1 == len(stay.turns[0].calls)


def test_a_snapshot_names_the_dialect_once() -> None:
    """Before the first turn the dialect is in one place, so that no other part can contradict it."""
    assert 1 == str(opened(ToolCallParser("anthropic").snapshot())).count("anthropic")


def test_turns_that_make_no_sense_are_refused() -> None:
    """The turns in a snapshot must be the last ones, in their order."""
    assembler = new()
    assembler.advance([*turn("a"), *turn("b")])
    assembler.remade()
    assembler.turns.reverse()

    with pytest.raises(ValueError, match="the turns are not the last ones"):
        assembler.remade()


# The faults that are kept.


def test_faults_are_bounded() -> None:
    """Of a server's error message 4096 characters are kept, of an unusable frame `max_raw_bytes`."""
    fault = WireFault("provider_error", "d" * 5000, raw="r" * 50)
    found = [event for event in told(fault, limits=Limits(max_raw_bytes=7)) if isinstance(event, StreamFault)]

    assert [("d" * 4096, "r" * 7)] == [(event.detail, event.raw) for event in found]


def test_holes_before_the_first_turn() -> None:
    """Text that was lost before any content hits nothing; text lost later does, each time."""
    events = told(HOLE, HOLE, head(0, A), HOLE, head(1), HOLE, Fragment(0, 1, B), CALLS, END)

    assert [("c0", "incomplete_input"), ("c1", "incomplete_input")] == ends(events)
    assert [(0, 0, "malformed")] == finishes(events)
