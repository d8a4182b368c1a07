"""Shown calls after all of their pieces are read anew."""

from __future__ import annotations

from typing import Any

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import (
    HYDRATION,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Marked,
    Reread,
    Slot,
    TurnEnded,
    TurnOpened,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

A, B = '{"a":1}', '{"b":2}'
# Two calls of one id, opened side by side, which only their ends tell apart: shown as each label suggests.
SHOWN: list[Delta] = [
    CallSeen(0, 0, None, "c", "f", begins=True),
    CallSeen(0, 1, None, "c", "g", begins=True),
    Slot(0, None, "c", A),
    Slot(0, None, "c", B),
]
HEADS = Marked("S", 0, "c", "f"), Marked("S", 1, "c", "g")
IN_A_ROW = (HEADS[0], Marked("T", None, "c", None, A), HEADS[1], Marked("T", None, "c", None, B))
ENDING: list[Delta] = [Finish(0, "stop", "success"), TurnEnded(None)]


def events(*deltas: Delta, tools: Tools[Any] | None = None) -> list[Event]:
    """Return an assembler's result for the deltas."""
    assembler = Assembler(Policy(), Limits(), tools)
    assembler.advance([TurnOpened("r"), *deltas, *ENDING])
    assembler.close()
    return assembler.take()


def came(*deltas: Delta) -> list[tuple[str, str]]:
    """Return the name and the text of each call that is emitted."""
    return [(event.name, event.raw_arguments) for event in events(*deltas) if isinstance(event, ToolCall)]


def test_calls_get_what_their_pieces_mean() -> None:
    """The marked record outranks the shown text, and text shown without an owner is not a separate drop then."""
    told = events(*SHOWN, Reread(0, IN_A_ROW))

    assert [] == [event for event in told if isinstance(event, ToolCallDropped)]
    assert [("f", A), ("g", B)] == came(*SHOWN, Reread(0, IN_A_ROW))
    assert [] == came(*SHOWN)


def test_what_readings_do_not_share_is_dropped() -> None:
    """A call that has another text in another reading is dropped as ambiguous."""
    crossed = (*HEADS, IN_A_ROW[1], IN_A_ROW[3])
    dropped = [
        event.reason for event in events(*SHOWN, Reread(0, crossed)) if isinstance(event, ToolCallDropped)
    ]

    assert ["ambiguous", "ambiguous"] == dropped


def test_a_loss_leaves_what_was_shown() -> None:
    """After a loss the pieces are not all, so nothing is read anew."""
    lost = WireFault("undecodable_frame", "lost", hole=True)

    assert [] == came(lost, *SHOWN, Reread(0, IN_A_ROW))


def test_a_replaced_label_is_no_label() -> None:
    """A label with a broken byte may be any other label."""
    pieces = (Marked("S", 0, "\ufffd", "f"), *IN_A_ROW[1:])

    assert [] == came(*SHOWN, Reread(0, pieces))


def test_what_the_server_executes_is_not_read_anew() -> None:
    """A call that is not the client's stays the server's."""
    server = CallSeen(0, 0, None, None, None, "server")

    assert [] == came(*SHOWN, server, Reread(0, IN_A_ROW))


def test_a_list_that_disagrees_is_believed_where_it_tells_text() -> None:
    """A final message that lists fewer calls than came leaves the others unsure."""
    listed = CallWhole(0, 0, None, "c", "f", A, HYDRATION)

    assert [("f", A)] == came(*SHOWN, Reread(0, IN_A_ROW, (listed,)))


def test_what_waited_is_told_where_nothing_is_read() -> None:
    """Without pieces a final message is reported as any other."""
    listed = CallWhole(0, 0, None, "c", "f", A, HYDRATION)

    assert [("f", A)] == came(Reread(0, (), (listed,)))
    assert [] == came(Reread(0, (Marked("E", None, None, None),)))
