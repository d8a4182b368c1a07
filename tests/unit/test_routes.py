"""Effects of deltas of blocks and items on their calls: closes, heals, taints, repetitions, final lists."""

from __future__ import annotations

import pytest

from tests.support.assembled import HOLE, told
from tests.support.blocks import (
    ENDS,
    LOST,
    astray,
    begun,
    bound,
    closed,
    cut,
    dropped,
    listed,
    over,
    piece,
    whole,
)
from tests.support.bound import A, B, Got, assembled
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallCancelled,
    ToolCallDropped,
)
from wholecall.deltas import (
    DONE,
    HYDRATION,
    ITEM_DONE,
    OBJECT,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    CallWritten,
    Delta,
    Finish,
    Labelled,
    Restated,
    StepBegan,
    TurnEnded,
)
from wholecall.limits import Limits
from wholecall.types import DropReason, Kind

# Kinds and labels that come late.


@pytest.mark.parametrize(
    ("before", "text", "type_"), [("", "grep -r", CustomToolCall), ('{"a"', ":1}", ToolCall)]
)
def test_a_kind_that_comes_late(before: str, text: str, type_: type) -> None:
    """A call may say with its first text that this is free text; text that began as JSON stays JSON."""
    kind: Kind = "custom"
    events = told(Labelled(0, "s", "c", "f", before), Labelled(0, "s", None, None, text, kind), *ENDS)

    assert [type_] == [type(event) for event in events if isinstance(event, (CustomToolCall, ToolCall))]


@pytest.mark.parametrize(("before", "text", "type_"), [("", "x y", CustomToolCall), (A, "", ToolCall)])
def test_a_kind_of_a_block_that_comes_late(before: str, text: str, type_: type) -> None:
    """The kind of a block's call may be stated until it is reported for the first time."""
    late = CallSeen(0, 0, None, None, None, "custom")
    events = told(begun(0, "c", "f"), piece(0, before), late, piece(0, text), closed(), *ENDS)

    assert [type_] == [type(event) for event in events if isinstance(event, (CustomToolCall, ToolCall))]


def test_ids_of_a_block() -> None:
    """A repeated id is the same id, and an ended call learns none: later text under it is another call."""
    again, other = CallSeen(0, 0, "i", "c", None), CallSeen(0, 0, None, "e", None)
    call = [begun(0, "c", "f", "i"), piece(0, A)]
    one_alias = Limits(max_aliases=1)

    assert [Got("c", "f", A)] == assembled(*call, again, closed(), *ENDS, limits=one_alias)[0]
    assert [Got("c", "f", A), Got("e", "f", A)] == bound(
        *call, closed(), other, begun(1, "e", "f"), piece(1, A), closed(1)
    )


def test_labels_of_a_block_go_to_its_call() -> None:
    """Namespace, flags and values to be sent back are the call's, whichever delta brings them; the first namespace
    counts.
    """
    events = told(
        CallSeen(0, 0, None, "c", "f", namespace="sea", flags=("needs_approval",), extra={"x": 1}),
        CallSeen(0, 0, None, None, None, namespace="land", extra={"y": 2}),
        piece(0, A),
        closed(),
        *ENDS,
    )
    (call,) = (event for event in events if isinstance(event, ToolCall))

    assert ("sea", ("needs_approval",), {"x": 1, "y": 2}) == (call.namespace, call.flags, call.extra)


# Whole texts.


@pytest.mark.parametrize("ranks", [(OBJECT, DONE), (DONE, OBJECT), (HYDRATION, DONE, HYDRATION)])
def test_a_text_that_was_told_whole_lacks_nothing(ranks: tuple[int, ...]) -> None:
    """Text without an owner does not belong to a call whose text a done event gave, whatever else gave the same
    text.
    """
    same = [whole(A, rank, id="c", name="f") for rank in ranks]

    assert Got("c", "f", A) in bound(begun(0, "c", "f"), *same, *astray('{"z"'), closed())
    assert Got("c", "f", A, LOST) in bound(begun(0, "c", "f"), piece(0, A), *astray('{"z"'), closed())


def test_pieces_that_repeat_the_input_at_the_start_are_shown() -> None:
    """The input at the start of a block is not text that was shown: pieces that say the same are."""
    events = told(begun(0, "c", "f"), whole(A, OBJECT), piece(0, A), closed(), *ENDS)

    assert [A] == [event.delta for event in events if isinstance(event, ArgumentsDelta)]


@pytest.mark.parametrize("again", [A, B])
def test_a_loss_is_healed_by_the_final_list(again: str) -> None:
    """Text lost before the list is in the list's text, also if that is the text that came before the loss."""
    assert [Got("c", "f", again)] == [
        got._replace(sign="")
        for got in bound(begun(0, "c", "f"), whole(A, OBJECT), HOLE, listed(("c", "f", again)))
    ]
    assert [Got("c", "f", A, LOST)] == bound(begun(0, "c", "f"), whole(A, OBJECT), HOLE, closed())


@pytest.mark.parametrize(
    ("text", "id", "sign"), [(A, "c", ""), (A, None, LOST), ("{}", "c", LOST), ("{}", None, LOST)]
)
def test_only_a_text_under_its_id_heals_a_call(text: str, id: str | None, sign: str) -> None:
    """A finished item is the truth about the call of its id, if it is not a placeholder; its place alone proves
    nothing.
    """
    name = "f" if id else None
    item = whole(text, ITEM_DONE if id else DONE, id=id, name=name)

    assert Got("c", "f", text, sign) in bound(begun(0, "c", "f"), *astray('{"z"'), item, closed())


@pytest.mark.parametrize("orphan", [True, False])
def test_an_empty_done_event_behind_text_without_an_owner(orphan: bool) -> None:
    """Servers send `{}` where they lost the text: it is not a whole text while there is text that could be it."""
    orphans = [piece(7, A)] if orphan else []
    told_empty = CallWhole(0, 0, "i", None, None, "{}", DONE)

    assert Got("c", "f", "{}", LOST if orphan else "") in bound(
        *orphans, CallSeen(0, 0, "i", "c", "f"), told_empty
    )


def test_an_item_that_closes_its_call() -> None:
    """A finished item that is the end of its call ends it: the stream may stop there."""
    item = CallWhole(0, 0, None, "c", "f", A, ITEM_DONE, closes=True)

    assert [Got("c", "f", A)] == cut(begun(0, "c", "f"), item)
    assert [Got("c", "f", A, dropped("unterminated"))] == cut(
        begun(0, "c", "f"), whole(A, ITEM_DONE, id="c", name="f")
    )


def test_a_finished_item_settles_two_names_of_one_id() -> None:
    """Of two open calls of one id and place the finished item's name is the right one; the other is not sure."""
    assert [Got("c", "f", "", dropped("ambiguous")), "g"] == [
        got if got.name == "f" else got.name
        for got in bound(begun(0, "c", "f"), begun(0, "c", "g"), whole(A, ITEM_DONE, id="c", name="g"))
        if got.name == "f" or not got.sign.startswith("dropped")
    ]


# Text that came after a block that is over and empty.


def test_text_without_a_name_may_be_the_block_befores() -> None:
    """A block that closed without text lacks the text after it that was not yet announced, though a later event does
    so.
    """
    later = [piece(1, A, "j"), CallSeen(0, 1, "j", "d", "g"), closed(1)]

    assert [Got("c", "f", "", LOST), Got("d", "g", A)] == bound(
        begun(0, "c", "f"), closed(final=False), *later
    )
    assert [Got("c", "f", B), Got("d", "g", A)] == bound(
        begun(0, "c", "f"), piece(0, B), closed(final=False), *later
    )


def test_text_of_a_block_that_closed_early() -> None:
    """Text after the end of its own block is the call's where no other is open (quirk 77)."""
    assert [Got("c", "f", A)] == bound(
        begun(0, "c", "f"), closed(final=False), piece(0, '{"a"'), piece(0, ":1}")
    )


# Ends.


def test_the_next_block_ends_the_one_before() -> None:
    """A block that was closed is over when the next one begins, before anything of that one is reported."""
    events = told(begun(0, "c", "f"), piece(0, A), closed(final=False), begun(1, "d", "g"), piece(1, B))
    kinds = [(type(event).__name__, event.index) for event in events if hasattr(event, "index")]

    assert kinds.index(("ToolCall", 0)) < kinds.index(("ToolCallStarted", 1))


@pytest.mark.parametrize("kept", [{"waits": True}, {"of_text": True}])
def test_the_end_of_a_text_that_is_empty(kept: dict[str, bool]) -> None:
    """A call without text has no arguments where the wire reported the end of its text; the end of the turn ends it."""
    said = CallClosed(0, 0, None, final=False, **kept)

    assert [Got("c", "f", "")] == over(begun(0, "c", "f"), said)
    assert [Got("c", "f", "", LOST)] == over(begun(0, "c", "f"))
    assert [Got("c", "f", "", dropped("unterminated"))] == cut(begun(0, "c", "f"), said)


def test_a_closed_block_beside_another_is_not_silent() -> None:
    """The end of a block shows that it has no text, also while another one is open."""
    beside = [begun(0, "c", "f"), begun(1, "d", "g"), piece(1, B), closed(final=False)]

    assert [Got("c", "f", ""), Got("d", "g", B)] == over(*beside, closed(1, final=False))
    assert [Got("c", "f", "", LOST), Got("d", "g", B)] == over(*beside[:-1], closed(1, final=False))


def test_a_tainted_call_waits_for_the_list() -> None:
    """A call that may lack text is not judged by its own end: the final list may give its text."""
    tainted = [begun(0, "c", "f"), piece(0, '{"a"'), *astray(":1}"), closed()]

    assert ["c"] == [
        got.id for got in bound(*tainted, listed(("c", "f", A))) if not got.sign.startswith("dropped")
    ]
    assert Got("c", "f", '{"a"', LOST) in bound(*tainted)


def test_a_refused_call_ends_the_block_before_it() -> None:
    """An unreadable call is a separate block: a call that was closed before it is over, also without text."""
    refused = CallRefused(0, 1, None, "unparseable", "so it says")

    assert [Got("c", "f", ""), Got(None, None, "", dropped("unparseable"))] == cut(
        begun(0, "c", "f"), closed(final=False), refused
    )


# Final lists.


def test_the_list_tells_a_call_that_nobody_closed() -> None:
    """A call that a final list gives without text has no arguments."""
    assert [Got("c", "f", "")] == over(begun(0, "c", "f"), listed(("c", "f", "")))
    assert [Got("c", "f", "", LOST)] == over(begun(0, "c", "f"))


@pytest.mark.parametrize(("other", "sign"), [(A, ""), (B, LOST)])
@pytest.mark.parametrize("turned", [False, True])
def test_silence_is_believed_where_all_text_has_an_owner(other: str, sign: str, turned: bool) -> None:
    """A list with a call without text is believed if the text that had no owner is another call's, in any order."""
    calls = [("c", "f", ""), ("d", "g", other)]
    came = bound(
        begun(0, "c", "f"), begun(1, "d", "g"), piece(7, A), listed(*(calls[::-1] if turned else calls))
    )

    assert ("c", sign) in {(got.id, got.sign) for got in came}
    assert Got("d", "g", other) in [got._replace(sign="") for got in came]


def test_silence_is_not_believed_after_a_loss() -> None:
    """Where text was lost, no list shows that a call without text had none."""
    assert [Got("c", "f", "", LOST)] == bound(begun(0, "c", "f"), HOLE, listed(("c", "f", "")))


def test_an_unfinished_call_of_a_list() -> None:
    """A call that the list calls in progress may get its text yet, and an incomplete call is a drop."""
    in_progress = CallWhole(0, None, None, "c", "f", "", HYDRATION, goes_on=True)
    incomplete = CallWhole(0, None, None, "c", "f", A, HYDRATION, truncated=True)

    assert [Got("c", "f", "", LOST)] == bound(begun(0, "c", "f"), Restated(0, (in_progress,)))
    assert [Got("c", "f", A, dropped("truncated"))] == bound(begun(0, "c", "f"), Restated(0, (incomplete,)))


def test_a_call_that_a_list_tells_twice() -> None:
    """Equal calls under one id are one, and others are others."""
    assert [Got("c", "f", A)] == bound(listed(("c", "f", A), ("c", "f", A)))
    assert ["c", "d"] == [got.id for got in bound(listed(("c", "f", A), ("d", "f", A)))]


# Calls that seem to come again.


def test_an_id_under_two_names_identifies_nothing() -> None:
    """Calls of one id and text are one until another name comes under it: then the id says nothing, and all are calls."""
    twice = [begun(0, "c", "f"), piece(0, A), closed(), begun(1, "c", "f"), piece(1, A), closed(1)]

    assert [Got("c", "f", A)] == [got._replace(sign="") for got in bound(*twice)]
    assert [("f", A), ("f", A), ("g", B)] == [
        (got.name, got.text) for got in bound(*twice, begun(2, "c", "g"), piece(2, B), closed(2))
    ]


# Calls that the server executes itself.


def served(index: int, id: str | None, name: str | None) -> CallSeen:
    """Return the start of a block of the server."""
    return CallSeen(0, index, None, id, name, "server", begins=True)


def ran(*deltas: Delta) -> list[tuple[str, str | None]]:
    """Return the last events of the calls: the kind and name of each; and the calls that were taken back."""
    kinds = (ToolCall, CustomToolCall, ServerToolCall, ToolCallDropped)
    return [
        (type(event).__name__, event.name if isinstance(event, kinds) else event.id)
        for event in told(*deltas, *ENDS)
        if isinstance(event, (*kinds, ToolCallCancelled))
    ]


OURS: list[Delta] = [begun(0, "c", "f"), piece(0, A)]
THEIRS: list[Delta] = [served(1, "c", "f"), piece(1, A), closed(1)]


def test_a_call_told_again_as_the_servers_own() -> None:
    """One that is open becomes the server's; one that was emitted is taken back, once."""
    assert [("ServerToolCall", "f")] == ran(*OURS, *THEIRS)
    assert [("ServerToolCall", "f")] == ran(*OURS, closed(final=False), *THEIRS)
    assert [("ToolCall", "f"), ("ToolCallCancelled", "c")] == ran(*OURS, closed(), *THEIRS, *THEIRS)


def test_another_name_or_id_of_the_server_is_another_call() -> None:
    """Only the same id and name tell the same call: the server's other executions leave ours alone."""
    for id, name in (("d", "f"), ("c", "g")):
        others = [served(1, id, name), piece(1, B), closed(1)]
        assert ("ToolCall", "f") in ran(*OURS, closed(), *others)
        assert ("ToolCallCancelled", "c") not in ran(*OURS, closed(), *others)


def test_what_the_server_executes_stays_the_servers() -> None:
    """A call that was said to be the server's is never the client's again, whatever is said of it later."""
    again = CallSeen(0, 0, None, "c", "f")

    assert [("ServerToolCall", "f")] == ran(served(0, "c", "f"), again, piece(0, A), again, closed())
    assert [("ServerToolCall", "f")] == ran(
        begun(0, "c", "f"), CallSeen(0, 0, None, None, None, "server"), again, piece(0, A), closed()
    )


@pytest.mark.parametrize("turned", [False, True])
def test_a_list_that_tells_a_call_as_both(turned: bool) -> None:
    """A list that holds a call once as the client's and once as the server's means one call, of the server."""
    ours = CallWhole(0, None, None, "c", "f", A, HYDRATION)
    theirs = CallWhole(0, None, None, "c", "f", A, HYDRATION, "server")
    both = (theirs, ours) if turned else (ours, theirs)

    assert "ToolCall" not in {what for what, _ in ran(*OURS, Restated(0, both))}


def test_who_executes_a_repetition_may_be_said_late() -> None:
    """Statements about a repeated call apply to the first one."""
    late = CallSeen(0, 1, None, None, None, "server")

    assert [("ServerToolCall", "f")] == ran(
        begun(0, "c", "f"), closed(final=False), begun(1, "c", "f"), piece(1, A), late, closed(1)
    )


# Steps of a message, and restarts.


def test_each_step_has_ids_of_its_own() -> None:
    """A call under an id in another step is another call, and a third step has its own ids, too."""
    call = [begun(0, "c", "f"), piece(0, A), closed()]
    step = [StepBegan(0)]

    assert 1 == len(bound(*call, *call))
    assert 3 == len(bound(*call, *step, *call, *step, *call))


def test_a_held_block_without_id_goes_on_in_the_next() -> None:
    """A block without id and name continues with the one before that has no id either: its end is this one's."""
    more = [CallSeen(0, 1, None, None, None, begins=True), piece(1, A)]
    first = [begun(0, None, "f"), closed(final=False)]

    assert [("f", A, "id_generated")] == [got[1:] for got in bound(*first, *more, closed(1))]
    assert [("f", A, dropped("unterminated"))] == [
        got[1:] for got in cut(*first, *more, closed(1, final=False))
    ]


def test_text_of_a_call_that_is_named_later() -> None:
    """Text under an item's id waits for its name; a name without it, or another item's, takes no text."""
    early = piece(1, A, "j")

    assert [Got("d", "g", A)] == bound(early, CallSeen(0, 1, "j", "d", "g", begins=True), closed(1))
    assert [Got("d", "g", A)] == bound(early, CallWhole(0, 1, "j", "d", "g", A, ITEM_DONE), closed(1))
    assert [Got("d", "g", A, LOST)] == bound(
        early, CallWhole(0, 1, "j", "d", "g", "{}", ITEM_DONE), closed(1)
    )


def test_a_reason_that_drops() -> None:
    """A failed turn drops open calls, and keeps whole ones; a reason that ends the turn leaves open calls to its
    end.
    """
    failed = Finish(0, "error", "failed", drops=True)
    ended = Finish(0, "tool_calls", "tool_use", ends=True)
    call = [begun(0, "c", "f"), piece(0, A)]

    assert [Got("c", "f", A, dropped("aborted"))] == assembled(*call, failed, TurnEnded())[0]
    assert [Got("c", "f", A)] == assembled(*call, closed(), failed, TurnEnded())[0]
    assert [Got("c", "f", B)] == assembled(begun(0, "c", "f"), ended, piece(0, B), TurnEnded())[0]


# Calls that were written as text.


def written(text: str, reason: DropReason | None = None, id: str | None = None) -> CallWritten:
    """Return a call that a model wrote."""
    said = "so it says" if reason else ""
    return CallWritten(
        0, "f", id, text, f"<call>{text}</call>", (), ("needs_approval",), {"x": 1}, reason, said
    )


def test_a_written_call_is_whole() -> None:
    """A call of a text is whole, with its flags and the values to be sent back, also where the turn was cut after
    it.
    """
    for ends in (ENDS, [Finish(0, "length", "length"), TurnEnded()]):
        (call,) = (event for event in told(written(A, id="c"), *ends) if isinstance(event, ToolCall))
        assert ("c", A, {"x": 1}, ("needs_approval",)) == (
            call.id,
            call.raw_arguments,
            call.extra,
            call.flags,
        )


@pytest.mark.parametrize(("text", "reason"), [(A, None), ("x", "unparseable")])
def test_how_a_written_call_is_shown(text: str, reason: DropReason | None) -> None:
    """A written call is a function; it starts with all of its text, or as a drop if it cannot be read: none is shown then."""
    started, *others = told(written(text, reason), close=False)[1:]
    pieces = [event.delta for event in others if isinstance(event, ArgumentsDelta)]

    assert ("ToolCallStarted", "function") == (type(started).__name__, started.kind)
    assert [[], [text]][reason is None] == pieces


def test_what_comes_behind_a_written_call() -> None:
    """Nothing that follows is about it: not text under its id, and no odd label."""
    odd = [Labelled(0, 0, "c", "f", '{"a"'), Labelled(0, None, None, None, ":1}")]
    calls, anomalies = assembled(*odd, written(B, id="d"), written("x", "unparseable"), *ENDS)

    assert [("c", A), ("d", B)] == [(got.id, got.text) for got in calls[:2]]
    assert () == anomalies
    assert ["d"] == [
        event.id
        for event in told(*odd, written(B, id="d"), ENDS[0], close=False)
        if isinstance(event, ToolCall)
    ]


def test_a_written_call_without_arguments() -> None:
    """A written call lacks no text: text without an owner is another call's, also if this one has none."""
    call, orphan = bound(piece(None, A), written("{}"))

    assert [dropped("nameless"), "{}", "id_generated needs_approval"] == [orphan.sign, call.text, call.sign]


def test_a_written_call_that_cannot_be_read() -> None:
    """A call that the text refuses is a drop at once, with all that the model wrote of it."""
    events = told(written("x", "unparseable"), close=False)
    (drop,) = (event for event in events if isinstance(event, ToolCallDropped))

    assert ("unparseable", "so it says", "<call>x</call>") == (drop.reason, drop.detail, drop.raw_arguments)


def test_written_calls_beyond_the_limit() -> None:
    """Calls of a text count like all others: those beyond the limit are one drop, which says how many they were."""
    calls, _ = assembled(
        written(A), written(B), written("x", "unparseable"), *ENDS, limits=Limits(max_calls=1)
    )

    assert [(A, ""), ("", dropped("too_many_calls"))] == [
        (got.text, got.sign.removeprefix("id_generated needs_approval")) for got in calls
    ]
