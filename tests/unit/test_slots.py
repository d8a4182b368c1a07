"""The call of a slotted fact: by its index, else its alias, else its id, else the order."""

from __future__ import annotations

import pytest

from tests.support.bound import Got, assembled
from wholecall import parse_arguments
from wholecall.calls.arguments.verdict import Verdict
from wholecall.calls.output.call_events import ArgumentsReset, ServerToolCall, ToolCall, ToolCallDropped
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Labelled,
    Slot,
    TurnEnded,
    WireFault,
)
from wholecall.limits import Limits
from wholecall.machine import sameness
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy
from wholecall.types import DropReason, Kind, TurnReason

A, B = '{"a":1}', '{"b":2}'


def seen(
    index: Index | None, alias: str | None = None, id: str | None = None, name: str | None = None
) -> CallSeen:
    """Return an announcement."""
    return CallSeen(0, index, alias, id, name)


def begun(index: Index | None, id: str | None = None, name: str | None = None) -> CallSeen:
    """Return the start of a block."""
    return CallSeen(0, index, None, id, name, begins=True)


def piece(index: Index | None, text: str, alias: str | None = None) -> Slot:
    """Return a piece of text."""
    return Slot(0, index, alias, text)


def done(
    index: Index | None,
    text: str,
    alias: str | None = None,
    id: str | None = None,
    name: str | None = None,
    rank: int = DONE,
    *,
    id_wins: bool = False,
) -> CallWhole:
    """Return a whole text in a slot."""
    return CallWhole(0, index, alias, id, name, text, rank, id_wins=id_wins)


def again(
    text: str,
    index: Index | None = None,
    alias: str | None = None,
    id: str | None = None,
    name: str | None = "f",
    kind: Kind = "function",
) -> CallWhole:
    """Return a final message's update of a call."""
    return CallWhole(0, index, alias, id, name, text, HYDRATION, kind)


def closed(index: Index | None = None, alias: str | None = None, *, final: bool = True) -> CallClosed:
    """Return the end of a call."""
    return CallClosed(0, index, alias, final)


def stream(*deltas: Delta, reason: TurnReason | None = "stop") -> tuple[list[Got], tuple[str, ...]]:
    """Stream the deltas to their end (a clean one if there is a reason); return the calls and the anomalies."""
    return assembled(*deltas, *([Finish(0, reason, "completed"), TurnEnded()] if reason else []))


def bound(*deltas: Delta, reason: TurnReason | None = "stop") -> list[Got]:
    """Return the calls of a stream."""
    return stream(*deltas, reason=reason)[0]


# By index, alias, id.


def test_by_index() -> None:
    """The slot's number is the key of a call, whatever turns its fragments take (quirk 56)."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, "i", "c", "f"),
        seen(1, "j", "d", "g"),
        piece(0, '{"a"'),
        piece(1, '{"b"'),
        piece(0, ":1}"),
        piece(1, ":2}"),
    )


def test_by_index_before_the_announcement() -> None:
    """Text that comes before its announcement waits in its slot for the name (quirk 74)."""
    assert [Got("c", "f", A)] == bound(piece(0, '{"a"', "i"), piece(0, ":1}"), seen(0, "i", "c", "f"))
    assert [Got(None, None, A, "dropped: nameless")] == bound(piece(0, A, "i"))


@pytest.mark.parametrize("index", [None, 5])
def test_by_alias(index: int | None) -> None:
    """Without a known index the alias finds the call, and the call learns the index."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, "i", "c", "f"),
        seen(1, "j", "d", "g"),
        piece(index, '{"a"', "i"),
        piece(index, ":1}", "i"),
        piece(1, B, "j"),
    )


def test_by_id() -> None:
    """Without a known index and alias the id finds the call."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, "i", "c", "f"), seen(1, "j", "d", "g"), done(None, A, None, "c"), done(None, B, "k", "d")
    )
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", None), seen(None, None, "c", "f"), piece(0, A))


def test_rotating_aliases() -> None:
    """The alias changes with every event: the index binds, and no id is said to have changed (quirk 69)."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, "i1", "c", "f"),
        seen(1, "j1", "d", "g"),
        piece(0, '{"a"', "i2"),
        piece(1, B, "j2"),
        piece(0, ":1}", "i3"),
        done(0, A, "i4"),
        closed(0, "i5"),
        done(1, B, "j3"),
    )


def test_labels_of_different_calls_name_none() -> None:
    """Text whose alias is one call's and whose index is another's has no owner: neither is sure, and it is reported."""
    assert [
        Got("c", "f", "", "dropped: incomplete_input"),
        Got("d", "g", "", "dropped: incomplete_input"),
        Got(None, None, A, "dropped: nameless"),
    ] == bound(seen(0, "i", "c", "f"), seen(1, "j", "d", "g"), piece(1, A, "i"))


def test_a_slot_that_cannot_be_an_index() -> None:
    """A slot with an impossible index is separate."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, "i", "c", "f"), seen(-1, "j", "d", "g"), piece(-1, B), piece(0, A)
    )


def test_a_repeated_announcement() -> None:
    """An announcement that comes twice changes nothing (quirk 91)."""
    assert [Got("c", "f", A)] == bound(
        seen(0, "i", "c", "f"), piece(0, '{"a"'), seen(0, "i", "c", "f"), piece(0, ":1}")
    )


def test_another_call_in_the_same_slot() -> None:
    """An announcement with another id in the slot of a call announces another call, which ends the other one not."""
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(
        begun(0, "c", "f"), piece(0, A), closed(0), begun(0, "d", "f"), piece(0, B), closed(0)
    )
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(
        begun(0, "c", "f"), piece(0, A), closed(0, final=False), begun(0, "d", "f"), piece(0, B)
    )


def test_the_same_call_in_its_slot() -> None:
    """An announcement in the slot of an open call, without id or with its id, is about that call."""
    assert [Got("c", "f", A, "id_churn")] == bound(
        seen(0, "i", "c", "f"), piece(0, A), seen(0, "j", "d", "f")
    )
    assert [Got("c", "f", A)] == bound(
        seen(0, "i", "c", "f"), piece(0, A), closed(0), seen(0, "i", None, "f")
    )
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), piece(0, A), closed(0), seen(0, "i", "c", "f"))
    assert [Got("c", "f", A)] == bound(
        seen(0, "i", None, "f"), piece(0, A), seen(0, "i", "c", "f"), closed(0)
    )


@pytest.mark.parametrize(("late", "type_"), [("server", ServerToolCall), ("custom", ToolCall)])
def test_who_executes_may_be_said_late(late: Kind, type_: type) -> None:
    """A call that the wire executed itself after all is not to be executed again; its text stays JSON."""
    assembler = Assembler(Policy(), Limits())
    for delta in (seen(0, None, "c", "f"), piece(0, A), CallSeen(0, 0, None, None, None, late), closed(0)):
        assembler.advance([delta])
    *_, event = assembler.take()

    assert type_ is type(event)


def test_free_text_may_turn_out_to_be_the_servers() -> None:
    """A tool of free text that the wire executed itself is reported with the object that restates its text."""
    assembler = Assembler(Policy(), Limits())
    whole = CallWhole(0, 0, None, None, None, '{"input":"ab"}', ITEM_DONE, "server")
    for delta in (CallSeen(0, 0, None, "c", "f", "custom"), piece(0, "a"), piece(0, "b"), whole, closed(0)):
        assembler.advance([delta])
    *_, reset, event = assembler.take()

    assert ArgumentsReset(0, 0, 0, '{"input":"ab"}') == reset
    assert ServerToolCall(0, 0, 0, "c", "f", {"input": "ab"}, '{"input":"ab"}', ("done_mismatch",)) == event


# By order.


def test_by_order_alone() -> None:
    """Text without any identifier goes to the sole open call."""
    assert [Got("c", "f", A)] == bound(
        seen(0, "i", "c", "f"), piece(None, '{"a"'), piece(None, ":1}"), closed()
    )


def test_by_order_ambiguous() -> None:
    """Text without any identifier, and several open calls: it belongs to no call, and none of them is sure."""
    calls = bound(
        seen(0, "i", "c", "f"), seen(1, "j", "d", "g"), piece(None, A), closed(), piece(0, A), piece(1, B)
    )

    assert [
        Got("c", "f", A, "dropped: incomplete_input"),
        Got("d", "g", B, "dropped: incomplete_input"),
        Got(None, None, A, "dropped: nameless"),
    ] == calls


def test_whole_texts_without_labels() -> None:
    """A whole text without any identifier is the only open call's; several are bound by order if any gives the same calls."""
    assert ["dropped: incomplete_input"] * 2 == [
        got.sign
        for got in bound(seen(0, "i", "c", "f"), seen(1, "j", "d", "g"), done(None, A), done(None, B))
    ][:2]
    alike = seen(0, "i", "c", "f"), seen(1, "j", "d", "f")
    assert [Got("c", "f", A, "bound_by_order"), Got("d", "f", B, "bound_by_order")] == bound(
        *alike, done(None, A), done(None, B)
    )
    assert ["dropped: incomplete_input"] * 2 == [got.sign for got in bound(*alike, done(None, A))][:2]
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), done(None, A))
    assert [Got(None, None, A, "dropped: nameless")] == bound(done(None, A))


def test_announcements_are_never_bound_by_order() -> None:
    """A call announced without index and alias, or restated under an unknown id, is a new one."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(None, None, "c", "f"), piece(None, A), closed(), seen(None, None, "d", "g"), piece(None, B)
    )
    assert [Got("c", "f", "", "dropped: incomplete_input"), Got("d", "g", B)] == bound(
        seen(0, "i", "c", "f"), done(None, B, None, "d", "g")
    )


# Restatements of a final message.


def test_restated_by_id() -> None:
    """A final message names calls by id, whatever the order (quirks 98 and 99)."""
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(
        seen(0, "i", "c", "f"), seen(1, "j", "d", "f"), again(B, 0, None, "d"), again(A, 1, None, "c")
    )


def test_restated_by_alias() -> None:
    """Without a known id the alias names the call."""
    assert [Got("c", "f", A, "id_churn"), Got("d", "f", B)] == bound(
        seen(0, "i", "c", "f"), seen(1, "j", "d", "f"), again(B, None, "j"), again(A, None, "i", "x")
    )


def test_restated_by_a_shared_id() -> None:
    """Where several calls have the id, the best fit is restated; a call that is not restated is not sure."""
    opened = [Labelled(0, 0, "c", "f", A), Labelled(0, 1, "c", "f", '{"b"')]
    second = Got("c#2", "f", B, "done_completed_buffer duplicate_id")

    unsure = Got("c", "f", A, "dropped: ambiguous")
    assert [unsure, second] == bound(*opened, again(B, None, None, "c"))
    assert [Got("c", "f", A), second] == bound(*opened, again(A, None, None, "c"), again(B, None, None, "c"))
    assert [A, '{"b"', '{"z":1}'] == [call.text for call in bound(*opened, again('{"z":1}', None, None, "c"))]


def test_restated_by_fit() -> None:
    """Without a common label the call whose text is the same, or begins the same, is restated."""
    opened = [seen(0, "i", None, "f"), piece(0, '{"b"'), seen(1, "j", None, "f"), piece(1, A)]
    calls = bound(*opened, again('{"a": 1}', id="c"), again(B, id="d"))

    assert [Got("d", "f", B, "done_completed_buffer"), Got("c", "f", '{"a": 1}')] == calls


def test_restated_by_kind_of_fit() -> None:
    """The same text fits better than a beginning, a beginning better than nothing, nothing better than a cut text."""
    cut, hollow = [seen(0, None, None, "f"), piece(0, '{"x"')], [seen(1, None, None, "f")]
    begun, same = [seen(2, None, None, "f"), piece(2, '{"a"')], [seen(3, None, None, "f"), piece(3, A)]
    calls = bound(*cut, *hollow, *begun, *same, *(again(A, id=id) for id in "stuv"))

    assert [("v", A), ("u", A), ("t", A), ("s", A)] == [(call.id, call.text) for call in calls]


def test_restated_by_position() -> None:
    """Among calls that fit equally well the one in the same position is restated, else the first."""
    hollow = [seen(0, None, None, "f"), seen(1, None, None, "f")]

    assert [("d", B), ("c", A)] == [
        call[::2] for call in bound(*hollow, again(A, 1, id="c"), again(B, id="d"))
    ]
    assert [("c", A), ("d", B)] == [
        call[::2] for call in bound(*hollow, again(A, id="c"), again(B, 7, id="d"))
    ]


def test_restated_calls_keep_their_kind_and_name() -> None:
    """A call of another kind or name is not restated: the final message opens a new one (quirk 72)."""
    assert [Got("c", "f", A), Got("d", "g", B)] == bound(
        seen(0, None, "c", "f"), piece(0, A), again(B, 0, id="d", name="g")
    )
    assert [Got("c", "f", A), Got("d", "f", A)] == bound(
        seen(0, None, "c", "f"), piece(0, A), again(A, 0, id="d", kind="custom")
    )
    assert [Got("c", "g", A, "done_completed_buffer")] == bound(piece(0, '{"a"'), again(A, id="c", name="g"))


def test_restated_under_another_id() -> None:
    """Two known ids that differ are one call only if their texts say the same."""
    assert [Got("c", "f", A, "id_churn")] == bound(seen(0, "i", "c", "f"), piece(0, A), again(A, 0, id="d"))
    assert [Got("c", "f", A), Got("d", "f", B)] == bound(
        seen(0, "i", "c", "f"), piece(0, A), again(B, 0, id="d")
    )


def test_restated_under_all_ids() -> None:
    """A message that also gives the call's own id speaks of another call, however equal the texts are."""
    opened = [seen(0, "i", "c", "f"), piece(0, A)]
    both = CallWhole(0, 0, None, "d", "f", A, HYDRATION, restated_ids=frozenset({"c", "d"}))

    assert [Got("c", "f", A), Got("d", "f", A)] == bound(*opened, both)
    assert [Got("c", "f", A, "id_churn")] == bound(*opened, again(A, 0, id="d"))


def test_two_equal_calls_are_restated_once_each() -> None:
    """A call that a final message restated is not restated again: equal calls stay two."""
    opened = [seen(0, None, None, "f"), piece(0, A), seen(1, None, None, "f"), piece(1, A)]

    assert ["c", "d"] == [call.id for call in bound(*opened, again(A, id="c"), again(A, id="d"))]
    assert [("c", A), ("d", A), ("e", A)] == [
        call[::2] for call in bound(*opened, again(A, id="c"), again(A, id="d"), again(A, id="e"))
    ]


def test_restated_twice() -> None:
    """A final message that gives one call twice, with two texts, means two calls: the deltas cannot say whose theirs
    were.
    """
    opened = [seen(0, None, "c", "f"), again(A, id="c")]

    assert ([Got("c", "f", A)], ("conflicting_arguments",)) == stream(*opened, closed(0), again(B, id="c"))
    assert [Got("c", "f", A)] == bound(*opened, again(A, id="c"))
    first, second = bound(*opened, again(B, id="c"))
    assert (Got("c", "f", A, "dropped: ambiguous"), B) == (first, second.text)


def test_restated_texts_are_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A message can restate many calls under unknown ids: no text is read twice for it."""
    texts: list[str] = []

    def read(text: str) -> Verdict:
        texts.append(text)
        return parse_arguments(text)

    monkeypatch.setattr(sameness, "parse_arguments", read)
    held = [done(slot, f'{{"a":{slot}}}', id=f"c{slot}", name="f") for slot in range(5)]
    restated = [again(f'{{"b":{n}}}', id=f"d{n}") for n in range(20)]

    assert 25 == len(bound(*held, *restated))
    assert 25 == len(texts) == len(set(texts))


def test_only_in_the_final_message() -> None:
    """Calls that only the final message knows are opened there (quirk 72)."""
    assert [Got("c", "f", A), Got("d", "f", A)] == bound(again(A, 0, "i", "c"), again(A, 1, "j", "d"))


def test_an_empty_restatement_opens_nothing_else() -> None:
    """A restatement without text leaves the call as it was (quirk 73)."""
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), piece(0, A), again("", 0, "i", "c"))


# Ids of finished items.


def test_the_id_of_a_finished_item_wins() -> None:
    """The finished item's id is the public one, and the change is flagged (quirk 69)."""
    opened = [seen(0, "i", "c", "f"), piece(0, A)]

    assert [Got("d", "f", A, "id_churn")] == bound(
        *opened, done(0, A, "i", "d", rank=ITEM_DONE, id_wins=True)
    )
    assert [Got("c", "f", A, "id_churn")] == bound(*opened, done(0, A, "i", "d", rank=ITEM_DONE))
    assert [Got("c", "f", A)] == bound(*opened, done(0, A, "i", "c", rank=ITEM_DONE, id_wins=True))
    assert [Got("c", "f", A)] == bound(*opened, done(0, A, "i", None, rank=ITEM_DONE, id_wins=True))
    assert [Got("d", "f", A)] == bound(piece(0, A), done(0, A, "i", "d", "f", ITEM_DONE, id_wins=True))


# Ends.


def test_a_final_close_ends_the_call() -> None:
    """A final close is the call's end: the stream may stop after it (quirk 51)."""
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), piece(0, A), closed(0), reason=None)
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), piece(0, A), closed(None, "i"), reason=None)


def test_a_close_of_no_call() -> None:
    """A close whose labels no call has ends the only open call, and none of several; a second close ends none."""
    assert [Got("c", "f", A)] == bound(seen(0, "i", "c", "f"), piece(0, A), closed(3), reason=None)
    assert ["dropped: incomplete_input"] * 2 == [
        got.sign
        for got in bound(
            seen(0, "i", "c", "f"), seen(1, "j", "d", "g"), piece(0, A), piece(1, B), closed(3), reason=None
        )
    ]
    assert [Got("c", "f", A)] == bound(
        seen(0, "i", "c", "f"), piece(0, A), closed(0), closed(0), closed(0, final=False)
    )


@pytest.mark.parametrize(
    ("reason", "first", "second"),
    [
        ("stop", "", ""),
        ("pause", "", ""),
        ("length", "", "dropped: truncated"),
        ("content_filter", "", "dropped: truncated"),
        (None, "", "dropped: unterminated"),
    ],
)
def test_held_closes(reason: TurnReason | None, first: str, second: str) -> None:
    """A close that is not final holds until the next call, or the reason: at a cut the last block goes (quirk 49)."""
    calls = bound(
        seen(0, None, "c", "f"),
        piece(0, A),
        closed(0, final=False),
        seen(1, None, "d", "g"),
        piece(1, B),
        closed(1, final=False),
        reason=reason,
    )

    assert [Got("c", "f", A, first), Got("d", "g", B, second)] == calls


def test_a_second_close_releases_the_first() -> None:
    """A close of another call releases the one that was held; a repeated one does not."""
    opened = [seen(0, None, "c", "f"), piece(0, A), seen(1, None, "d", "g"), piece(1, B)]
    held = [closed(0, final=False), closed(0, final=False)]

    assert ["dropped: unterminated"] * 2 == [call.sign for call in bound(*opened, *held, reason=None)]
    assert ["", "dropped: unterminated"] == [
        call.sign for call in bound(*opened, *held, closed(1, final=False), reason=None)
    ]


def test_a_close_by_the_wire_as_cut() -> None:
    """A call that the wire closes as truncated is dropped, also if its text is a whole object (quirk 76)."""
    cut = CallClosed(0, 0, None, final=False, truncated=True)

    assert [Got("c", "f", '{"a"', "dropped: truncated")] == bound(
        seen(0, None, "c", "f"), piece(0, '{"a"'), cut
    )
    assert [Got("c", "f", A, "dropped: truncated")] == bound(seen(0, None, "c", "f"), piece(0, A), cut)


# Calls that the wire itself refuses.


def refused(index: Index | None, reason: DropReason = "unparseable", text: str = "") -> CallRefused:
    """Return the wire's word that a call is not whole."""
    return CallRefused(0, index, None, reason, "so it says", text)


def test_a_refused_call_ends_at_once() -> None:
    """Its text is kept and never judged, even if it is whole; text after it is late."""
    calls, anomalies = stream(seen(0, None, "c", "f"), refused(0, "truncated", A), piece(0, B))

    assert [Got("c", "f", A, "dropped: truncated")] == calls
    assert ("late_fragment",) == anomalies


def test_an_unreadable_call_needs_no_name() -> None:
    """An unreadable call cannot show its name; any other call without a name is nameless."""
    assert [Got(None, None, "f(", "dropped: unparseable")] == bound(refused(0, text="f("))
    assert [Got(None, None, "f(", "dropped: nameless")] == bound(refused(0, "truncated", "f("))


def test_a_lost_frame_outranks_what_the_wire_refuses() -> None:
    """Text that may be the call's was lost before the wire refused it."""
    hole = WireFault("undecodable_frame", "lost", hole=True)

    assert [Got("c", "f", A, "dropped: incomplete_input")] == bound(
        seen(0, None, "c", "f"), hole, refused(0, "truncated", A)
    )


def test_refused_calls_beyond_the_limit_are_counted() -> None:
    """They share the one drop of all calls beyond the limit, which ends with the turn and counts them all."""
    assembler = Assembler(Policy(), Limits(max_calls=1))
    assembler.advance([refused(0), refused(1), refused(2), Finish(0, "stop", None), TurnEnded()])
    drops = [event for event in assembler.take() if isinstance(event, ToolCallDropped)]

    expected = [("unparseable", "so it says"), ("too_many_calls", "2 calls beyond the limit of 1")]
    assert expected == [(drop.reason, drop.detail) for drop in drops]


def test_a_refused_call_lets_the_one_before_it_go() -> None:
    """It is a block like any other: the held call was whole."""
    assert [Got("c", "f", A), Got(None, None, "", "dropped: unparseable")] == bound(
        seen(0, None, "c", "f"), piece(0, A), closed(0, final=False), refused(1), reason=None
    )


def test_a_call_that_anothers_end_follows_was_whole() -> None:
    """A held call ends before the one after it, whose end shows that the message went on; a late end shows nothing."""
    held, later = CallSeen(0, 0, None, "c", "f"), CallSeen(0, 1, None, "d", "g")
    closed = CallClosed(0, 0, None, final=False)
    cut = Finish(0, "length", "length")

    assert [Got("c", "f", ""), Got("d", "g", A)] == assembled(
        held, later, Slot(0, 1, None, A), closed, CallClosed(0, 1, None), cut
    )[0]
    assert ["", "", "dropped: truncated"] == [
        got.sign
        for got in assembled(
            held, CallClosed(0, 0, None), later, Slot(0, 1, None, A),
            CallSeen(0, 2, None, "e", "h"), CallClosed(0, 1, None), CallClosed(0, 2, None, final=False),
            CallClosed(0, 0, None), cut,
        )[0]
    ]  # fmt: skip
