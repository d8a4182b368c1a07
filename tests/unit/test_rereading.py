"""Shown calls after all of their pieces are read anew."""

from __future__ import annotations

from typing import Any

from tests.support.bound import Got, assembled, lost, orphan
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event
from wholecall.calls.tools.tool import Tools
from wholecall.deltas import (
    HYDRATION,
    CallClosed,
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


# Two calls of two ids, whose texts have no label: nothing shows yet whose they are.
UNLABELLED: list[Delta] = [
    CallSeen(0, 0, None, "c", "f", extra={"sign": 1}, begins=True),
    CallSeen(0, 1, None, "d", "g", extra={"sign": 2}, begins=True),
    Slot(0, None, None, A),
    Slot(0, None, None, B),
]
SILENT: list[Delta] = [CallSeen(0, n, None, None, name, begins=True) for n, name in enumerate("fg")]
HOLE = WireFault("undecodable_frame", "lost", hole=True)
END = Marked("E", None, None, None)


def start(slot: int, id: str | None, name: str | None) -> Marked:
    """Return the start of a call, shown in a slot."""
    return Marked("S", slot, id, name)


def text(what: str, id: str | None = None, n: int = 1) -> Marked:
    """Return a piece of text, or `n` that were joined."""
    return Marked("T", None, id, None, what, n)


def listed(what: str, name: str, id: str | None = "c") -> CallWhole:
    """Return a call that a final message lists."""
    return CallWhole(0, None, None, id, name, what, HYDRATION)


def got(*deltas: Delta, limits: Limits | None = None) -> list[Got]:
    """Return all calls, with the flags of each, or why it was dropped."""
    return assembled(TurnOpened("r"), *deltas, *ENDING, limits=limits)[0]


ROW = (start(0, "c", "f"), text(A), END, start(1, "d", "g"), text(B), END)
CALLS_OF_ROW = [Got("c", "f", A, "bound_by_order"), Got("d", "g", B, "bound_by_order")]


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


def test_each_call_is_given_to_the_call_that_showed_it() -> None:
    """Calls keep their order, ids and further fields, and nothing that was shown is left over."""
    told = [event for event in events(*UNLABELLED, Reread(0, ROW)) if isinstance(event, ToolCall)]

    assert CALLS_OF_ROW == got(*UNLABELLED, Reread(0, ROW))
    assert [(0, {"sign": 1}), (1, {"sign": 2})] == [(event.index, event.extra) for event in told]
    assert [lost("c", "f", ""), lost("d", "g", ""), orphan(A), orphan(B)] == got(*UNLABELLED)


def test_calls_that_were_not_shown_are_told_too() -> None:
    """A second call under a slot and an id is a call of its own, even if its text has a slip."""
    shown: list[Delta] = [CallSeen(0, 0, None, "c", "f", begins=True), Slot(0, None, "c", A)]
    slip = '{"b":2,}'
    pieces = (start(0, "c", "f"), text(A, "c"), END, start(0, "c", "g"), text(slip, "c"), END)

    assert [("c", A), ("c#2", slip)] == [(call.id, call.text) for call in got(*shown, Reread(0, pieces))]


@together(
    ("shown", "pieces", "names"),
    [
        (SILENT, (start(0, None, "f"), start(1, None, "g")), []),
        (SILENT, (start(0, None, "f"), END, start(1, None, "g"), END), ["f", "g"]),
        (SILENT, (start(0, None, "f"), END, start(1, None, "g")), ["f"]),
    ],
)
def test_only_an_end_shows_that_a_call_has_no_arguments(
    shown: list[Delta], pieces: tuple[Marked, ...], names: list[str]
) -> None:
    """Without ends, and without a list, the text of a call may still have been to come."""
    assert [(name, "") for name in names] == came(*shown, Reread(0, pieces))


def test_chunks_and_lists_show_that_calls_have_no_arguments() -> None:
    """Chunks have no ends, and a call that a list has without text has none."""
    heads = start(0, None, "f"), start(1, None, "g")
    empty = listed("", "f", None), listed("", "g", None)

    assert [("f", ""), ("g", "")] == came(*SILENT, Reread(0, heads, (), True))
    assert [("f", ""), ("g", "")] == came(*SILENT, Reread(0, heads, empty))


def test_a_list_decides_between_orders() -> None:
    """Of two orders that gave different calls the one with the calls of the list is meant, and no text is left."""
    crossed = (*HEADS, IN_A_ROW[1], IN_A_ROW[3])

    for one, other in ((A, B), (B, A)):
        both = listed(one, "f"), listed(other, "g")
        told = [event for event in events(*SHOWN, Reread(0, crossed, both)) if isinstance(event, ToolCall)]
        assert [("f", one, 0), ("g", other, 1)] == [
            (call.name, call.raw_arguments, call.index) for call in told
        ]
        assert [one, other] == [call.text for call in got(*SHOWN, Reread(0, crossed, both))]


def test_a_list_decides_between_habits() -> None:
    """Pieces that make up other texts in some reading are read with the texts of the list."""
    pieces = (*HEADS, text("{}", "c"), text(B, "c"), END, text("{", "c"), text("}", "c"), END)

    assert [("g", B), ("f", "{}")] == came(*SHOWN[:2], Reread(0, pieces, (listed("{}", "f"), listed(B, "g"))))


def test_an_empty_text_of_a_list_proves_nothing() -> None:
    """A call that only an empty text of the list matches is as unsure as its pieces."""
    crossed = (*HEADS, IN_A_ROW[1], IN_A_ROW[3])

    assert [("g", B)] == came(*SHOWN, Reread(0, crossed, (listed("", "f"), listed(B, "g"))))


def test_a_list_corrects_texts() -> None:
    """A text of the list outranks the pieces of its call; an empty one leaves them in force."""
    one = listed(A, "f", "c")
    other = '{"c":3}'

    assert CALLS_OF_ROW == got(*UNLABELLED, Reread(0, ROW, (one, listed("", "g", "d"))))
    assert [CALLS_OF_ROW[0], Got("d", "g", other, "bound_by_order done_mismatch")] == got(
        *UNLABELLED, Reread(0, ROW, (one, listed(other, "g", "d")))
    )
    assert CALLS_OF_ROW == got(*UNLABELLED, Reread(0, ROW, (listed(B, "g", "d"), one)))


@together(
    ("before", "pieces"),
    [
        ([HOLE], IN_A_ROW),
        ([], ()),
        ([], (END,)),
        ([], (start(0, "\ufffd", "f"), *IN_A_ROW[1:])),
    ],
)
def test_a_list_is_told_as_any_other_where_nothing_is_read(
    before: list[Delta], pieces: tuple[Marked, ...]
) -> None:
    """After a loss, without the start of a call and with a replaced label the list alone decides; what was shown stays."""
    both = listed(A, "f"), listed(B, "g")
    told = [Got("c", "f", A), Got("c#2", "g", B, "duplicate_id"), orphan(A), orphan(B)]

    assert told == got(*SHOWN, *before, Reread(0, pieces, both))


@together(
    ("odd", "limits"),
    [
        ([CallClosed(0, 0, None, final=True)], None),
        ([CallClosed(0, 0, None, truncated=True)], None),
        ([CallSeen(0, 0, None, None, None, "server")], None),
        ([Slot(0, 0, None, "x" * 99)], Limits(max_arguments_bytes=50, max_raw_bytes=0)),
    ],
)
def test_calls_that_more_than_labels_speaks_against(odd: list[Delta], limits: Limits | None) -> None:
    """Calls that ended, that the wire cut, that it executes, or that exceed a limit keep what was shown."""
    told = got(*UNLABELLED[:2], *odd, Reread(0, ROW), limits=limits)

    assert [("c", ""), ("d", "")] == [(call.id, call.text) for call in told if call.name]


def test_snapshots_in_pieces_are_not_believed() -> None:
    """Where labels are odd a snapshot that came in several pieces may have the text of another call."""
    shown = UNLABELLED[:2]

    def pieces(n: int) -> tuple[Marked, ...]:
        return start(0, "c", "f"), text('{"a":'), text(A, n=n), END, start(1, "d", "g"), text(B), text(B), END

    assert [("f", A), ("g", B)] == came(*shown, Reread(0, pieces(1)))
    assert [] == came(*shown, Reread(0, pieces(2)))


def test_a_turn_that_was_cut_for_length_emits_none_of_them() -> None:
    """Calls that were read again are dropped with the turn, those that were not shown, too."""
    shown: list[Delta] = [CallSeen(0, 0, None, "c", "f", begins=True)]
    pieces = (start(0, "c", "f"), text(A, "c"), END, start(0, "c", "g"), text(B, "c"), END)
    cut: list[Delta] = [Finish(0, "length", "max_tokens"), TurnEnded(None)]
    told, _ = assembled(TurnOpened("r"), *shown, Reread(0, pieces), *cut)

    assert ["dropped: truncated"] * 2 == [call.sign for call in told]


def test_calls_of_one_slot_are_shown_in_their_order() -> None:
    """Each start of a slot is that of its next call, whatever texts came there in between."""
    shown: list[Delta] = [
        CallSeen(0, 0, None, id, name, extra={"sign": name}, begins=True) for id, name in ("cf", "dg", "eh")
    ]
    calls = zip("cde", "fgh", (A, B, "{}"), strict=True)
    pieces = [
        piece
        for id, name, what in calls
        for piece in (start(0, id, name), Marked("T", 0, None, None, what), END)
    ]
    told = [event for event in events(*shown, Reread(0, (*pieces,))) if isinstance(event, ToolCall)]

    assert [(0, "c", A), (1, "d", B), (2, "e", "{}")] == [
        (call.index, call.id, call.raw_arguments) for call in told
    ]
    assert [{"sign": name} for name in "fgh"] == [call.extra for call in told]


def test_bytes_that_were_replaced_are_not_read_again() -> None:
    """A call whose text held bytes that are not UTF-8 is dropped, though the marked pieces show none."""
    assembler = Assembler(Policy(), Limits(), None)
    assembler.advance([TurnOpened("r"), *UNLABELLED[:2]])
    assembler.advance_replaced([Slot(0, 0, None, "\ufffd")])
    assembler.advance([Reread(0, ROW), *ENDING])
    assembler.close()

    assert [] == [event for event in assembler.take() if isinstance(event, ToolCall)]


def test_a_choice_is_read_again_once() -> None:
    """Where the dialect hands over its record, the pieces of blocks are not read as well."""
    blocks: list[Delta] = [*UNLABELLED[:2], Slot(0, 90, None, A), CallClosed(0, 0, None)]
    blocks += [Slot(0, 91, None, B), CallClosed(0, 1, None)]

    assert [("f", A), ("g", B)] == came(*blocks)
    assert [] == came(*blocks, Reread(0, ()))


def test_a_list_chooses_its_calls_from_pieces_in_turns() -> None:
    """Where the pieces alone leave a call unsure, the list with just these calls settles it."""
    shown: list[Delta] = [CallSeen(0, n, None, id, "f", begins=True) for n, id in enumerate("cd")]
    heads = start(0, "c", "f"), start(1, "d", "f")
    first, second = (text(""), text("{"), text("}"), END, END), (text(""), text(B), END, END)
    both = listed("{}", "f", "c"), listed(B, "f", "d")

    assert {("f", "{}"), ("f", B)} == {*came(*shown, Reread(0, (*heads, *first, *second), both))}


def test_empty_pieces_end_nothing() -> None:
    """Without any end a call without text may have been cut, and the text may be either call's."""
    pieces = *HEADS, *(text(what, "c") for what in ("", "{", "}", "", ""))

    assert [] == came(*SHOWN[:2], Reread(0, pieces))


def test_a_name_that_contradicts_is_an_odd_label() -> None:
    """A call that is only doubtful because of its labels is read again; beyond a limit it stays as it is."""
    shown: list[Delta] = [*UNLABELLED[:2], CallSeen(0, 0, None, "c", "x")]
    limits = Limits(max_arguments_bytes=50, max_raw_bytes=0)
    full = got(*shown, Slot(0, 0, None, "x" * 99), Reread(0, ROW), limits=limits)

    assert CALLS_OF_ROW == got(*shown, Reread(0, ROW))
    assert [("c", ""), ("d", "")] == [(call.id, call.text) for call in full]


def test_chunks_continue_the_last_call() -> None:
    """A chunk without a label after two calls has the text of the second one."""
    pieces = start(0, "c", "f"), start(1, "d", "g"), text(A)

    assert [("", "f"), (A, "g")] == [
        (call.text, call.name) for call in got(*UNLABELLED[:2], Reread(0, pieces, (), True))
    ]


def test_a_stream_that_was_cut_is_not_read_again() -> None:
    """Blocks with odd labels stay as shown, even where the policy asks for no end of the stream."""
    assembler = Assembler(Policy(require_terminal=False), Limits(), None)
    assembler.advance([TurnOpened("r"), *UNLABELLED[:2], Slot(0, 90, None, A), CallClosed(0, 0, None)])
    assembler.advance([Slot(0, 91, None, B), CallClosed(0, 1, None)])
    assembler.close()

    assert [] == [event for event in assembler.take() if isinstance(event, ToolCall)]
