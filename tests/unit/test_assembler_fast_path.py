"""The fast path of text that simply appends gives the same events as the slow path."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.assembled import CALLS, END, A, ends, head, new, told
from tests.support.together import together
from wholecall.calls.output.call_events import ArgumentsDelta, ToolCall
from wholecall.calls.output.events import TextDelta
from wholecall.deltas import (
    CallSeen,
    Delta,
    Fragment,
    Piecewise,
    ReasoningFragment,
    Run,
    Slot,
    TextFragment,
    TurnOpened,
)
from wholecall.limits import Limits
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy

# The fast path.


@pytest.mark.parametrize("pieces", [[A], ['{"a"', ":1}"], list(A), ['{"a":', "1", "}", " "]])
def test_frames_are_not_seen(pieces: list[str]) -> None:
    """Deltas of one frame or of several: the same events."""
    deltas = [head(0), *(Fragment(0, 0, piece) for piece in pieces), CALLS, END]
    together = new()
    together.advance(deltas)
    together.close()

    assert told(*deltas) == together.take()


@given(
    st.lists(st.text(alphabet='{}[]",:1 a😀\ud83d\ude00', min_size=1, max_size=12), max_size=8),
    st.booleans(),
    st.integers(0, 60),
)
def test_the_hot_path_is_a_short_cut(pieces: list[str], slotted: bool, limit: int) -> None:
    """Fragments that simply append give the same events as on the slow path, one by one or in a run (law 33)."""
    first: Delta = CallSeen(0, 0, "i", "c", "f") if slotted else head(0)
    pointed = [Slot(0, 0, None, piece) if slotted else Fragment(0, 0, piece) for piece in pieces]
    deltas = [first, *pointed, CALLS, END]
    limits = Limits(max_arguments_bytes=limit)
    slow = new(limits=limits)
    for delta in deltas:
        slow.advance_replaced([delta])  # never takes the short cut; these texts hold no U+FFFD
    slow.close()
    expected = slow.take()
    halves = any("\ud800" <= character <= "\udfff" for piece in pieces for character in piece)
    in_a_row = [Run(pointed[0], pieces)] if pointed and not halves else pointed

    assert expected == told(*deltas, limits=limits)
    assert expected == told(first, *in_a_row, CALLS, END, limits=limits)


@pytest.mark.parametrize("pieces", [['"a"'], ['"a"', ":1}"], ['"a"', ":", "1}"]])
def test_a_run_of_arguments_is_its_pieces(pieces: list[str]) -> None:
    """However many pieces of a call on the fast path come in a run, each is reported separately."""
    run = Run(Fragment(0, 0, ""), pieces)
    events = told(head(0), Fragment(0, 0, "{"), run, CALLS, END)

    assert ["{", *pieces] == [event.delta for event in events if isinstance(event, ArgumentsDelta)]


def test_a_run_of_text_is_its_pieces() -> None:
    """Text in a run is reported piece by piece, before its choice is known, and not after the turn has ended."""
    run = Run(TextFragment(0, "a"), ["a", "b"])
    pieces = run.pieces()

    assert told(*pieces, END, *pieces) == told(run, END, run)
    assert ["a", "b"] == [event.text for event in told(run, END, run) if isinstance(event, TextDelta)]


def test_hot_fragments_of_several_choices() -> None:
    """Each choice has separate calls and indices (quirk 82)."""
    events = told(
        head(0, choice=0),
        head(0, choice=1),
        *(Fragment(choice, 0, piece) for piece in ('{"a"', ":1}") for choice in (0, 1)),
        END,
    )

    assert [(0, 0, "c0", A), (1, 0, "c0", A)] == [
        (event.choice, event.index, event.id, event.raw_arguments)
        for event in events
        if isinstance(event, ToolCall)
    ]


def opened(pieces: list[str], *, slotted: bool) -> list[Delta]:
    """Return a call and its pieces, by label or by slot."""
    if slotted:
        return [CallSeen(0, 0, None, "c0", "f0"), *(Slot(0, 0, None, piece) for piece in pieces)]
    return [head(0), *(Fragment(0, 0, piece) for piece in pieces)]


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
def test_deltas_end_in_no_half(slotted: bool) -> None:
    """A delta never ends in a high surrogate, and its other half finds it, on the fast path too (quirk 35)."""
    events = told(
        *opened(['{"a":"', "x", "\ud83d", "\ude00", "y\ud83d", '\ude00"}'], slotted=slotted), CALLS, END
    )

    assert ['{"a":"', "x", "😀", "y", '😀"}'] == [
        event.delta for event in events if isinstance(event, ArgumentsDelta)
    ]
    assert [("c0", "exact")] == ends(events)


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
def test_two_readings_leave_the_hot_path(slotted: bool) -> None:
    """Both readings of a text continue with each fragment that follows (quirk 24)."""
    whole, cut = ['{"a":', '{"a":1', ',"b":2', "}"], ['{"a":', '{"a":1}', '{"b":2']

    assert [("c0", "exact snapshots")] == ends(told(*opened(whole, slotted=slotted), CALLS, END))
    assert [("c0", "truncated")] == ends(told(*opened(whole[:-1], slotted=slotted), CALLS, END))
    assert "exact" not in ends(told(*opened(cut, slotted=slotted), CALLS, END))[0][1]


PLAIN = ['{"a":"', "xy", "z", '"}']


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
@pytest.mark.parametrize("in_a_run", [False, True], ids=["one by one", "run"])
def test_text_that_simply_appends(slotted: bool, in_a_run: bool) -> None:
    """Each piece is shown as it came, and all of them are the text of the call."""
    first, *rest = opened(PLAIN, slotted=slotted)
    events = told(first, *([Run(rest[0], PLAIN)] if in_a_run else rest), CALLS, END)

    assert PLAIN == [event.delta for event in events if isinstance(event, ArgumentsDelta)]
    assert ["".join(PLAIN)] == [event.raw_arguments for event in events if isinstance(event, ToolCall)]


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
def test_a_piece_without_text_says_nothing(slotted: bool) -> None:
    """An empty piece amidst others is not an event."""
    events = told(*opened(['{"a"', "", ":1}"], slotted=slotted), CALLS, END)

    assert ['{"a"', ":1}"] == [event.delta for event in events if isinstance(event, ArgumentsDelta)]


@together("slotted", [False, True], ids=["label", "slot"])
@together(
    ("pieces", "outcome"),
    [
        (['{"abc":1}', '{"abc":1}'], "exact repeated"),
        (['{"abc":1', '{"abc":1}'], "exact snapshots"),
        (["{}      ", A], "exact placeholder"),
        (["{     }", "{ }"], "exact placeholder"),
        (['{"abc":', '{"b":2}', "}"], "exact"),
    ],
)
def test_an_object_behind_text_takes_the_long_way(pieces: list[str], outcome: str, slotted: bool) -> None:
    """An object may repeat the text, continue it as a snapshot, or fill a placeholder (quirks 23 to 25)."""
    found = ends(told(*opened(pieces, slotted=slotted), CALLS, END))

    assert [("c0", outcome)] == found


@together("slotted", [False, True], ids=["label", "slot"])
@together("size", [1, 2, 7, 40], ids=lambda size: f"pieces of {size}")
@together("length", [40, 41, 42, 43])
def test_a_limit_is_met_at_its_byte(size: int, slotted: bool, length: int) -> None:
    """Text of exactly the limit passes, one byte more does not, however many pieces it comes in (law 23)."""
    text = '{"a":"' + "x" * length + '"}'
    pieces = opened([text[at : at + size] for at in range(0, len(text), size)], slotted=slotted)

    assert [("c0", "exact")] == ends(told(*pieces, CALLS, END, limits=Limits(max_arguments_bytes=len(text))))
    assert [("c0", "arguments_too_large")] == ends(
        told(*pieces, CALLS, END, limits=Limits(max_arguments_bytes=len(text) - 1))
    )


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
@pytest.mark.parametrize("last", [1, 2, 3])
def test_single_characters_meet_a_limit_too(last: int, slotted: bool) -> None:
    """Where a call's room is used up to the byte, one more character is neither shown nor kept."""
    text = '{"a":"' + "x" * 9 + '"}'
    pieces = opened([text[:-last], *text[-last:]], slotted=slotted)
    events = told(*pieces, CALLS, END, limits=Limits(max_arguments_bytes=len(text) - 1))

    assert [("c0", "arguments_too_large")] == ends(events)
    assert text[:-1] == shown(events)


def shown(events: list[Any]) -> str:
    """Return the argument text that was shown."""
    return "".join(event.delta for event in events if isinstance(event, ArgumentsDelta))


@pytest.mark.parametrize("slotted", [False, True], ids=["label", "slot"])
@pytest.mark.parametrize("most", [20_000, 30_008])
def test_a_long_text_meets_a_limit(most: int, slotted: bool) -> None:
    """A limit far away is met at its byte, though the fast path does not count: room is granted in portions."""
    pieces = opened(['{"a":"', *["x" * 1000] * 30, '"}'], slotted=slotted)
    events = told(*pieces, CALLS, END, limits=Limits(max_arguments_bytes=most))

    assert [("c0", "exact" if most == 30_008 else "arguments_too_large")] == ends(events)
    assert most - 1000 < len(shown(events)) <= most


@together(
    "of",
    [Fragment(0, 0, ""), Slot(0, 0, None, ""), TextFragment(0, ""), ReasoningFragment(0, "")],
    ids=repr,
)
@together("replaced", [False, True])
def test_a_run_is_its_pieces(of: Piecewise, replaced: bool) -> None:
    """A run gives the same events as its pieces one by one, at the beginning and later, also in a bad frame."""

    def said(deltas: list[Delta]) -> tuple[list[Any], Any]:
        assembler = new()
        for delta in [*deltas, head(0), *deltas, *deltas]:
            (assembler.advance_replaced if replaced else assembler.advance)([delta])
        view = assembler.snapshot()
        return assembler.take(), (view.text, view.reasoning)

    run = Run(of, ["a", "bc", "d"])

    assert said([*run.pieces()]) == said([run])


def test_text_in_a_run_is_kept() -> None:
    """A turn holds the text of a run as it holds the text of its pieces."""
    assembler = new()
    assembler.advance([TextFragment(0, "a"), Run(TextFragment(0, "b"), ["b", "c"])])

    assert "abc" == assembler.snapshot().text


@pytest.mark.parametrize("of", [TextFragment(0, ""), ReasoningFragment(0, "")], ids=repr)
@pytest.mark.parametrize("texts", [["ab"], ["ab", "c", "d"], ["x"] * 200])
def test_speech_is_told_and_kept(of: Piecewise, texts: list[str]) -> None:
    """Law: a turn holds the texts of its events, one a read or many, and a snapshot holds them joined."""
    assembler = new()
    for delta in [TurnOpened("t"), Run(of, texts), *(Run(of, [text]) for text in texts)]:
        assembler.advance([delta])
    assembler.keep()
    [choice] = assembler.turns[-1].choices.values()
    waiting = [piece for said in (choice.content.text, *choice.content.reasoning) for piece in said._pieces]
    events, view = assembler.take()[1:], assembler.snapshot()

    assert [] == waiting
    assert texts * 2 == [event.text for event in events]
    assert "".join(texts * 2) == view.text + view.reasoning.text


@pytest.mark.parametrize("texts", [['{"a":"', "\ufffd", '"}'], ['{"a":"\ufffd"}']], ids=["later", "first"])
def test_only_a_frame_with_bad_bytes_is_suspect(texts: list[str]) -> None:
    """U+FFFD in a call's text drops it if the frame held bytes that are not UTF-8, and otherwise is ordinary text."""
    pieces = [Fragment(0, 0, text) for text in texts]
    healthy, bad = new(), new()
    healthy.advance([head(0)])
    healthy.advance_replaced([TextFragment(0, "\ufffd")])
    healthy.advance([*pieces, CALLS, END])
    bad.advance([head(0)])
    bad.advance_replaced(pieces)
    bad.advance([CALLS, END])

    assert [("c0", "exact")] == ends(healthy.take())
    assert [("c0", "invalid_utf8")] == ends(bad.take())


class Watched(Assembler):
    """An assembler that counts the facts on the slow path."""

    routed = 0

    def _route(self, delta: Any, *, replaced: bool = False) -> None:
        self.routed += 1
        super()._route(delta, replaced=replaced)


@together("slotted", [False, True], ids=["label", "slot"])
@together("in_a_run", [False, True], ids=["one by one", "run"])
@together(
    "pieces",
    [['{"a":"', "x", "yz", '"}'], ['{"a":"long', '{"', "}", '"}'], ['{"a":"', "\u00e9", "\U0001f600", '"}']],
    ids=["plain", "with braces", "not ASCII"],
)
def test_the_common_fragment_asks_nobody(pieces: list[str], in_a_run: bool, slotted: bool) -> None:
    """After the first piece of a call's text the others take the fast path, whatever they contain."""
    assembler = Watched(Policy(), Limits())
    first, *rest = opened(pieces, slotted=slotted)
    assembler.advance([first, *([Run(rest[0], pieces)] if in_a_run else rest)])

    assert 2 == assembler.routed
    assert pieces == [event.delta for event in assembler.take() if isinstance(event, ArgumentsDelta)]


def test_an_id_that_says_the_same_asks_nobody() -> None:
    """Pieces that repeat the labels of their call take the fast path, too."""
    assembler = Watched(Policy(), Limits())
    pieces = [Slot(0, 0, "i", piece, "c") for piece in ('{"a":"', "x", '"}')]
    assembler.advance([CallSeen(0, 0, "i", "c", "f"), *pieces])

    assert 2 == assembler.routed


@pytest.mark.parametrize(("alias", "id"), [("j", None), ("i", "d"), ("j", "d")])
def test_a_label_of_another_call_leaves_the_short_way(alias: str, id: str | None) -> None:
    """Text that simply appended before, but now names another call as well, belongs to no call."""
    events = told(
        CallSeen(0, 0, "i", "c", "f", begins=True),
        CallSeen(0, 1, "j", "d", "g", begins=True),
        Slot(0, 0, "i", '{"a":"x'),
        Slot(0, 0, alias, "y", id),
        Slot(0, 0, "i", '"}'),
        CALLS,
        END,
    )

    assert '{"a":"x"}' == "".join(
        event.delta for event in events if isinstance(event, ArgumentsDelta) and event.index == 0
    )
    assert {("c", "incomplete_input"), (None, "nameless")} <= {*ends(events)}


def test_text_asks_nobody() -> None:
    """A run of text takes the fast path once its choice is known."""
    assembler = Watched(Policy(), Limits())
    assembler.advance([TextFragment(0, "a"), *[Run(TextFragment(0, "b"), ["b", "c"])] * 3])

    assert 1 == assembler.routed
