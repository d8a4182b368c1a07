"""A turn as users read it: while it continues, once it is over, for each choice."""

from __future__ import annotations

import pytest

from tests.support.together import together
from wholecall.calls.output.turns import Reasoning, ReasoningBlock, Turn
from wholecall.deltas import (
    CallCancelled,
    CallClosed,
    CallSeen,
    Delta,
    Finish,
    Fragment,
    Labelled,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.errors import StreamFailed
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy
from wholecall.types import Kind

A = '{"a":1}'


def assembled(*deltas: Delta) -> Assembler:
    """Return an assembler that took the deltas."""
    assembler = Assembler(Policy(), Limits())
    assembler.dialect = "chat-completions"
    assembler.advance(deltas)
    return assembler


def turn(*deltas: Delta) -> Turn:
    """Return the turn of a stream that is over."""
    assembler = assembled(*deltas)
    assembler.close()
    return assembler.snapshot()


def thought(text: str, block: int | str | None = None, **fields: str) -> ReasoningFragment:
    """Return a piece of reasoning."""
    return ReasoningFragment(0, text, block, **fields)


def test_nothing_yet() -> None:
    """Before anything came there is an empty turn, of no dialect."""
    assert Turn(None) == Assembler(Policy(), Limits()).snapshot()
    assert () == Assembler(Policy(), Limits()).snapshots()


def test_a_turn_that_goes_on() -> None:
    """A turn so far: it has text, but no reason yet, and its open calls are not in it."""
    seen = assembled(
        TurnOpened(None, "r", "m"), TextFragment(0, "a"), TextFragment(0, "b"), Labelled(0, 0, "c", "f", A)
    )
    view = seen.snapshot()

    assert ("chat-completions", "r", "m", "ab") == (view.dialect, view.response_id, view.model, view.text)
    assert (None, None, (), (), ()) == (
        view.reason,
        view.provider_reason,
        view.calls,
        view.dropped,
        view.anomalies,
    )


def test_a_turn_without_choices() -> None:
    """A turn that only began knows its names."""
    view = assembled(TurnOpened(None, "r", "m"), UsageSeen({"n": 1})).snapshot()

    assert Turn("chat-completions", "r", "m", usage={"n": 1}) == view


def test_a_view_stays_as_it_is() -> None:
    """Later counts of the provider are in later views alone."""
    seen = assembled(TurnOpened(None, "r", "m"), UsageSeen({"a": 1}))
    before = seen.snapshot()
    seen.advance([UsageSeen({"a": 2, "b": 3})])

    assert ({"a": 1}, {"a": 2, "b": 3}) == (before.usage, seen.snapshot().usage)


def test_a_turn_that_is_over() -> None:
    """A finished turn has its reason, the provider's word, its anomalies and its usage."""
    view = turn(
        Labelled(0, 0, "c", "f", A),
        Finish(0, "stop", "done"),
        UsageSeen({"a": 1, "b": 2}),
        UsageSeen({"b": 3}),
        TurnEnded(),
    )

    assert ("tool_calls", "done", {"a": 1, "b": 3}) == (view.reason, view.provider_reason, view.usage)
    assert ("finish_reason_mismatch",) == view.anomalies
    assert ["c"] == [call.id for call in view.calls]


def test_anomalies_so_far() -> None:
    """Anomalies show while the turn continues, sorted."""
    view = assembled(
        Noted(0, "unknown_events"), Noted(0, "late_fragment"), Noted(0, "unknown_events")
    ).snapshot()

    assert ("late_fragment", "unknown_events") == view.anomalies


def whole(id: str, kind: Kind = "function") -> list[Delta]:
    """Return a call that the wire ended."""
    name = "shell" if kind == "builtin" else "f"
    return [CallSeen(0, id, None, id, name, kind), Slot(0, id, None, A), CallClosed(0, id, None)]


def test_calls_by_kind() -> None:
    """Each kind of call is in its own field, in the order of the calls and not of their ends."""
    kinds: list[tuple[Kind, str]] = [
        ("custom", "f"),
        ("builtin", "shell"),
        ("server", "f"),
        ("function", "f"),
        ("function", "g"),
    ]
    deltas: list[Delta] = [
        CallSeen(0, number, None, f"c{number}", name, kind) for number, (kind, name) in enumerate(kinds)
    ]
    deltas += [CallSeen(0, number, None, None, None) for number in (5, 6)]
    deltas += [Slot(0, number, None, A) for number in range(5)]
    deltas += [Slot(0, 5, None, "{"), Slot(0, 6, None, "}"), CallClosed(0, 6, None), CallClosed(0, 5, None)]
    deltas += [CallClosed(0, number, None) for number in reversed(range(5))]
    view = turn(*deltas)

    assert ["c0"] == [call.id for call in view.custom_calls]
    assert ["shell"] == [call.name for call in view.builtin_calls]
    assert ["c2"] == [call.id for call in view.server_calls]
    assert ["c3", "c4"] == [call.id for call in view.calls]
    assert [("{", 5), ("}", 6)] == [(drop.raw_arguments, drop.index) for drop in view.dropped]


KINDS: list[Kind] = ["function", "custom", "builtin", "server"]


@together("kind", KINDS)
@together("later", [True, False], ids=["in a later turn", "in its turn"])
def test_a_call_that_is_taken_back_is_not_to_be_executed(kind: Kind, later: bool) -> None:
    """It leaves the list of calls, its id gives the reason; calls that the provider executes itself have happened
    (quirk 103).
    """
    seen = assembled(*whole("c", kind), *whole("d", kind))
    seen.advance([TurnEnded(), TurnOpened("t", restart=True)] if later else [])
    seen.advance([CallCancelled("c"), CallCancelled("c"), CallCancelled("elsewhere")])
    view = seen.snapshots()[0]
    listed = [*view.calls, *view.custom_calls, *view.builtin_calls, *view.server_calls]

    assert (["c", "d"] if kind == "server" else ["d"]) == [call.id for call in listed]
    assert ("c",) == view.cancelled


def test_an_open_call_that_is_taken_back() -> None:
    """It is a drop, and its id is with the others; a call that takes over the id is another one."""
    view = turn(
        *whole("c")[:2],
        CallCancelled("c"),
        CallClosed(0, "c", None),
        Labelled(0, 7, "c", "g", A),
        TurnEnded(),
    )

    assert [("f", "aborted")] == [(drop.name, drop.reason) for drop in view.dropped]
    assert ["g"] == [call.name for call in view.calls]
    assert ("c",) == view.cancelled


def test_two_calls_of_one_id_are_taken_back() -> None:
    """The provider cannot mean only one of them, and its id is reported once."""
    view = turn(Labelled(0, 0, "c", "f", A), Labelled(0, 1, "c", "g", A), TurnEnded(), CallCancelled("c"))

    assert ((), ("c",)) == (view.calls, view.cancelled)


# Order.


def test_content_is_in_order() -> None:
    """The content of a turn is its text, its reasoning and its calls in the order in which they began."""
    view = turn(
        thought("Hm.", 0),
        TextFragment(0, "On"),
        TextFragment(0, "e."),
        Labelled(0, 0, "c", "f", '{"a"'),
        TextFragment(0, "Two."),
        Labelled(0, 0, "c", None, ":1}"),
        thought("So", 1),
        thought(".", 1, signature="s"),
        Labelled(0, 1, "d", None, "{"),
        TextFragment(0, "Three."),
        Finish(0, "stop", "stop"),
        TurnEnded(),
    )
    first, second = view.reasoning.blocks

    assert (first, "One.", 0, "Two.", second, 1, "Three.") == view.content
    assert (["Hm.", "So."], [0], [1]) == (
        [block.text for block in view.reasoning.blocks],
        [call.index for call in view.calls],
        [drop.index for drop in view.dropped],
    )
    assert view.text == "".join(piece for piece in view.content if isinstance(piece, str))


def test_content_so_far() -> None:
    """While a turn continues its content names the calls that are open; a choice has its own."""
    view = assembled(
        TextFragment(0, "a"), Labelled(0, 0, "c", "f", "{"), TextFragment(1, "b"), TextFragment(0, "c")
    ).snapshot()

    assert (("a", 0, "c"), ("b",)) == (view.content, view.choice(1).content)
    assert () == turn().content


def test_phantoms_have_no_place() -> None:
    """Labels that come again on a finished call do not make a call, unless text follows: then it begins with the
    text.
    """
    churned = [Labelled(0, 0, "c", "f", '{"a"'), Labelled(0, 0, "d", None, ":1}")]
    deltas: list[Delta] = [*churned, Labelled(0, 0, "e", "f"), TextFragment(0, "x")]

    assert (0, "x") == turn(*deltas).content
    assert (0, "x", 1) == turn(*deltas, Fragment(0, 0, A)).content


def test_names_of_blocks() -> None:
    """A block that the wire calls by a name has that name; numbers say nothing."""
    blocks = turn(thought("a", "tool_plan"), thought("b", 3), thought("c")).reasoning.blocks

    assert ["tool_plan", None, None] == [block.name for block in blocks]


# Choices.


def test_choices() -> None:
    """Choices are alternatives: the turn's own fields are those of choice 0, the others are next to it (quirk 82)."""
    view = turn(
        TurnOpened(None, "r"),
        TextFragment(1, "b"),
        TextFragment(0, "a"),
        Labelled(2, 0, "c", "f", A),
        Finish(1, "length", "length"),
        UsageSeen({"n": 1}),
        TurnEnded(),
    )

    assert ("a", "b", "") == (view.text, view.choice(1).text, view.choice(2).text)
    assert view is view.choice(0)
    assert ("unknown", "length", "tool_calls") == (view.reason, view.choice(1).reason, view.choice(2).reason)
    assert ((), ["c"]) == (view.calls, [call.id for call in view.choice(2).calls])
    assert [1, 2] == list(view.others)
    assert ("r", {"n": 1}, {}) == (view.choice(2).response_id, view.choice(2).usage, view.choice(2).others)


def test_no_such_choice() -> None:
    """Asking for a choice that the turn does not have is the caller's mistake."""
    with pytest.raises(KeyError):
        turn(TextFragment(0, "a")).choice(1)


def test_a_stream_of_another_choice_alone() -> None:
    """If choice 0 never came, the turn's own fields are empty (quirk 57)."""
    view = turn(TextFragment(3, "x"), TurnEnded())

    assert ("", None, "x") == (view.text, view.reason, view.choice(3).text)


# Reasoning.


@pytest.mark.parametrize(
    ("pieces", "blocks"),
    [
        ([], []),
        ([thought("a"), thought("b")], [ReasoningBlock("ab")]),
        ([thought("a", 0), thought("b", 1), thought("c", 1)], [ReasoningBlock("a"), ReasoningBlock("bc")]),
        (
            [thought("a", 0), thought("", 0, signature="s1"), thought("", 0, signature="s2")],
            [ReasoningBlock("a", signature="s2")],
        ),
        (
            [thought("", 0, data="enc"), thought("b", 1, id="r1")],
            [ReasoningBlock(data="enc"), ReasoningBlock("b", "r1")],
        ),
        (
            [thought("a", 0, id="r", signature="s", data="d"), thought("b", 0)],
            [ReasoningBlock("ab", "r", "s", "d")],
        ),
        (
            [thought("a", 0), thought("b", 1), thought("c", 0)],
            [ReasoningBlock("a"), ReasoningBlock("b"), ReasoningBlock("c")],
        ),
    ],
)
def test_reasoning(pieces: list[Delta], blocks: list[ReasoningBlock]) -> None:
    """Reasoning is in blocks with the values that the provider wants back: the last non-empty value (quirk 96)."""
    view = turn(TextFragment(0, "x"), *pieces)

    assert Reasoning(tuple(blocks)) == view.reasoning
    assert "".join(block.text for block in blocks) == view.reasoning.text
    assert bool(blocks) == bool(view.reasoning)


# Faults.


def test_raise_for_fault() -> None:
    """The first fatal fault is raised, with the provider's error; others are not."""
    view = turn(
        TextFragment(0, "x"),
        WireFault("undecodable_frame", "a frame"),
        WireFault("provider_error", "overloaded", {"code": 502}, fatal=True),
    )
    with pytest.raises(StreamFailed) as failed:
        view.raise_for_fault()

    assert ("provider_error", {"code": 502}) == (failed.value.kind, failed.value.error)
    assert ["undecodable_frame", "provider_error"] == [fault.kind for fault in view.faults]


@pytest.mark.parametrize("deltas", [[], [WireFault("undecodable_frame", "a frame")]])
def test_no_fatal_fault(deltas: list[Delta]) -> None:
    """A turn that says something, and has no fatal fault, did not fail."""
    view = turn(TextFragment(0, "x"), *deltas)
    view.raise_for_fault()

    assert not any(fault.fatal for fault in view.faults)


@pytest.mark.parametrize(
    ("deltas", "told"),
    [
        ([WireFault("not_sse", "bytes came but no event")], "not_sse: bytes came but no event"),
        ([], "nothing_came: the stream ended before it said anything"),
    ],
)
def test_a_turn_that_says_nothing_failed(deltas: list[Delta], told: str) -> None:
    """An error page, an empty body, a stream of another dialect: none of them is an answer."""
    with pytest.raises(StreamFailed, match=told):
        turn(*deltas).raise_for_fault()


@pytest.mark.parametrize(
    "deltas", [[Finish(0, "stop", "stop")], [TurnOpened("k", "r1")], [UsageSeen({"n": 1})]]
)
def test_an_answer_may_be_empty(deltas: list[Delta]) -> None:
    """A reason, an id or counts say that the provider answered."""
    found = turn(*deltas)

    assert found is found.raise_for_fault()


def test_faults_before_the_turn() -> None:
    """A fault before the first message belongs to the first turn."""
    view = turn(WireFault("undecodable_frame", "early"), TurnOpened(None), WireFault("bad_crc", "late"))

    assert ["early", "late"] == [fault.detail for fault in view.faults]


def test_kept_faults_are_bounded() -> None:
    """A turn keeps `max_faults` faults; later ones are events only."""
    assembler = Assembler(Policy(), Limits(max_faults=2))
    assembler.advance([WireFault("bad_crc", str(n)) for n in range(3)])
    assembler.advance([TurnOpened(None), WireFault("bad_crc", "3")])
    assembler.close()

    assert ["0", "1"] == [fault.detail for fault in assembler.snapshot().faults]
    assert 4 == sum(type(event).__name__ == "StreamFault" for event in assembler.take())


# Several turns, and reprs.


def test_several_turns() -> None:
    """Every turn can be read, in order; the current one is the last that began or was switched to."""
    seen = assembled(
        TurnOpened("a"), TextFragment(0, "a"), TurnOpened("b"), TextFragment(0, "b"), TurnOpened("a")
    )

    assert "a" == seen.snapshot().text
    assert ["a", "b"] == [view.text for view in seen.snapshots()]


def test_repr_holds_no_text() -> None:
    """The repr of a turn gives its size, not its content (law 28)."""
    view = turn(
        TextFragment(0, "secret"),
        Labelled(0, 0, "c", "f", '{"secret":1'),
        Fragment(0, 0, "}"),
        Finish(0, "stop", None),
        TurnEnded(),
    )

    assert "<Turn chat-completions reason=tool_calls calls=1 dropped=0 text=6 chars>" == repr(view)
