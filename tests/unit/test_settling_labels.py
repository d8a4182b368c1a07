"""Attributes of a call from its reading: kind, provider's fields, objections, and flags."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.bound import A, B, Got, at, whole
from tests.support.settled import CALLS, END, ENDS, HOLE, Replaced, dropped, restates, settled, signs
from tests.support.together import together
from wholecall.calls.output.call_events import CustomToolCall, ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.deltas import Delta, Finish, Labelled

if TYPE_CHECKING:
    from wholecall.types import Kind

LOST = dropped("incomplete_input")
PAUSE = Finish(0, "pause", "pause_turn")


# Flags.


@together(
    ("deltas", "flags"),
    [
        ([at(None, '{"a"', "c", "f"), at(None, ":1}"), at(None, '{"b"', "d", "g"), at(None, ":2}")], [True, True]),
        ([at(0, '{"a"', "c", "f"), at(0, ":1}"), at(0, '{"b"', "d", "g"), at(0, ":2}")], [True, True]),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c"), at(None, '{"b"', "d", "g"), at(None, ":2}")], [False, True]),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c"), at(None, '{"b"', "d", "g"), at(None, ":2}", "d")], [False, False]),
        ([at(0, '{"a"', None, "f"), at(0, ":1}"), at(1, '{"b"', None, "g"), at(1, ":2}", None, "g")], [False, False]),
        ([at(0, '{"a"', "c", "f"), at(0, ":1}", "c"), at(0, '{"b"', "d", "g"), at(0, ":2}", "d")], [False, False]),
        ([at(None, A, "c", "f"), at(None, B, "d", "g")], [False, False]),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}")], [False]),
        ([at(None, A, "c", "f"), at(None, '{"b"', "d", "g"), at(None, ":"), at(None, "2}")], [False, True]),
    ],
)  # fmt: skip
def test_calls_that_only_the_order_binds(deltas: list[Delta], flags: list[bool]) -> None:
    """Law: a call is flagged `bound_by_order` if a later piece of it has no label that is its own, and there are others."""
    assert flags == ["bound_by_order" in sign for sign in signs(*deltas, *ENDS)]


@together(
    ("deltas", "sign"),
    [
        ([at(None, '{"a"', "c", "f"), at(None, A, "c", "f")], "snapshots"),
        ([at(None, '{"a"', "c", "f"), at(None, '{"a"', "c", "f"), at(None, A, "c", "f")], "repeated snapshots"),
        ([at(None, '{"a"', "c", "f"), at(None, A, "c", "f"), at(None, A, "c", "f")], "repeated snapshots"),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c", "f"), at(None, A, "c", "f")], "repeated"),
        ([at(None, A, "c", "f"), at(None, A)], "repeated"),
        ([at(None, "{}", "c", "f"), at(None, '{"a"'), at(None, ":1}")], "placeholder"),
        ([at(None, "null", "c", "f"), at(None, A)], "placeholder"),
        ([at(None, "{}", "c", "f")], ""),
        ([at(None, "", "c", "f"), at(None, "{}")], ""),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}")], ""),
        ([at(None, '{"a":[', "c", "f"), at(None, "1"), at(None, ","), at(None, "1"), at(None, "]}")], ""),
    ],
)  # fmt: skip
def test_how_a_text_came(deltas: list[Delta], sign: str) -> None:
    """Law: a text that came as snapshots, repeated or after a placeholder says so; one that came in pieces does not."""
    assert [sign] == signs(*deltas, *ENDS)


@pytest.mark.parametrize(
    ("deltas", "sign"),
    [
        ([at(0, '{"a"', "c", "f"), at(1, ":1}", "c")], "index_churn"),
        ([at(0, '{"a"', "c", "f"), at(None, ":1}", "c")], ""),
        ([at(0, '{"a"', "c", "f"), at(1, ":1", "c"), at(2, "}", "c")], "index_churn"),
        ([at(0, '{"a"', "c", "f"), at(1, ":1}", "c"), restates(A, "c")], "index_churn"),
        ([at(0, A, "c", "f"), at(2, A, "c", "f")], "repeated"),
        ([at(None, '"b":2}'), restates(A, "e")], "done_mismatch"),
    ],
)
def test_indices_that_change(deltas: list[Delta], sign: str) -> None:
    """A call that came at several indices says so, unless it came at another one once more, whole."""
    assert [sign] == signs(*deltas, *ENDS)


def test_only_what_came_so_is_flagged() -> None:
    """Next to a call that came as snapshots a call that came at once has no flag, though its text may be a snapshot,
    too.
    """
    grown = at(None, '{"a"', "c", "f"), at(None, A, "c", "f"), at(None, B, "d", "g")

    assert ["snapshots", ""] == signs(*grown, *ENDS)


def test_a_name_in_pieces() -> None:
    """A name that was joined from pieces says so, unless a final message gives it whole."""
    pieces = at(None, "", "c", "f"), at(None, A, "c", "g")

    assert [["name_joined"], [""]] == [
        signs(*pieces, *told, *ENDS, tools=["fg"]) for told in ([], [restates(A, "c", "fg")])
    ]


# Kinds and fields.


@pytest.mark.parametrize(
    ("deltas", "calls"),
    [
        ([at(None, "x", "c", "f", "custom"), at(None, "y")], [("f", "xy", "")]),
        ([at(None, "x", "c", None, "custom"), at(None, "y", None, "f")], [("f", "xy", "")]),
        ([at(None, "", "c", None), at(None, "y", None, "f", "custom")], [("f", "y", "")]),
        ([at(None, A, "c", "f"), at(None, "x", "d", None, "custom"), at(None, "y", None, "g", "custom")],
         [("f", A, ""), ("g", "xy", "bound_by_order")]),
    ],
)  # fmt: skip
def test_free_text(deltas: list[Delta], calls: list[tuple[str, str, str]]) -> None:
    """Law: a call is one with free text if a piece of it says so, and no event has called it a function before."""
    assert calls == [call[1:] for call in settled(*deltas, *ENDS).calls]


@pytest.mark.parametrize(
    ("texts", "name", "sign"),
    [
        (["rm x", "rm x"], "f", dropped("ambiguous")),
        (["rm", " x", "rm x"], "f", dropped("ambiguous")),
        (["rm x", "rm x"], None, "index_churn"),
        (["rm x", "rm x "], "f", "index_churn"),
        (["", "rm x"], "f", "index_churn"),
    ],
)
def test_free_text_that_may_have_come_twice_is_not_run(texts: list[str], name: str | None, sign: str) -> None:
    """A head that repeats all of a free text under another index sends it again, or another piece: nothing says which."""
    first, *others = texts
    pieces = [at(n, text, "c", name, "custom") for n, text in enumerate(others, 2)]
    found = settled(at(0, B, "d", "g"), at(1, first, "c", "f", "custom"), *pieces, *ENDS).calls

    assert [("g", ""), ("f", sign)] == [(call.name, call.sign) for call in found]


def test_free_text_of_a_name_in_pieces() -> None:
    """A call of free text that was not shown before keeps that kind, too."""
    found = settled(at(0, "{}", "c", "f", "custom"), at(0, '{"a":', "c", "g", "custom"), *ENDS)

    assert ("fg", '{}{"a":') == found.calls[-1][1:3]
    assert "custom" == [event for event in found.events if isinstance(event, ToolCallStarted)][-1].kind


def test_free_text_that_is_spelled_otherwise_is_another_one() -> None:
    """Of two calls under one id, arguments that are only spelled otherwise are the same; free texts are two calls.

    Servers name the kind of a call on its first piece alone.
    """
    odd, first, second = at(None, B, "d", "g"), ' {"a":1', ' {"a": 1'

    def texts(*kinds: Kind) -> list[str]:
        pieces = [
            at(index, text, id, name, kind)
            for index, head in enumerate((first, second))
            for text, id, name, kind in zip((head, "}"), ("c", None), ("f", None), kinds, strict=True)
        ]
        return [call.text for call in settled(odd, *pieces, *ENDS).calls if call.name == "f" and call.text]

    assert [first + "}"] == texts("function", "function")
    assert [first + "}", second + "}"] == texts("custom", "custom") == texts("custom", "function")


@pytest.mark.parametrize("kind", ["function", "custom"])
def test_the_kind_that_was_shown(kind: str) -> None:
    """A call that an event has reported ends as the call that was reported."""
    found = settled(at(None, "x", "c", "f", kind), at(None, "y", "d", "g", kind), *ENDS).events  # type: ignore[arg-type]
    ends = [type(event) for event in found if isinstance(event, (CustomToolCall, ToolCall, ToolCallDropped))]

    assert [CustomToolCall if kind == "custom" else ToolCallDropped] * 2 == ends
    grown = settled(at(None, A, "c", "f"), at(None, " ", None, None, "custom"), *ENDS).events
    assert [A + " "] == [event.raw_arguments for event in grown if isinstance(event, ToolCall)]


def test_fields_of_the_provider() -> None:
    """Law: a call has the fields that came with its own pieces and in the final message, each as it came last."""
    pieces = (
        Labelled(0, None, "c", "f", '{"a"', extra={"x": 1, "y": 1}),
        Labelled(0, None, "c", None, ":1}", extra={"y": 2}),
    )
    other = Labelled(0, None, "d", "g", B)
    message = restates(A, "c", extra={"z": 3}), restates(B, "d", "g")

    assert [
        [{"x": 1, "y": 2}, None],
        [{"x": 1, "y": 2, "z": 3}, None],
    ] == [
        [event.extra for event in settled(*pieces, other, *told, *ENDS).events if isinstance(event, ToolCall)]
        for told in ([], message)
    ]


# Reasons.


@together(
    ("deltas", "sign"),
    [
        ([at(None, A, "c", "f"), CALLS], ""),
        ([CALLS, at(None, A, "c", "f")], dropped("unterminated")),
        ([at(None, '{"a"', "c", "f"), CALLS, at(None, ":1}")], ""),
        ([at(None, A, "c", "f")], dropped("unterminated")),
        ([at(None, '{"a"', "c", "f"), CALLS, restates(A, "c")], "done_completed_buffer"),
        ([CALLS, at(None, '{"a"', "c", "f"), restates(A, "c")], "done_completed_buffer"),
        ([at(None, '"b":2}'), CALLS, restates(A, "e")], "done_mismatch"),
        ([at(None, "x", "c", "f", "custom"), CALLS], ""),
        ([at(None, '{"a"', "c", "f"), Finish(0, "length", "length", ends=True), at(None, ":1}", "c")], "turn_truncated"),
    ],
)  # fmt: skip
def test_a_reason_is_of_the_calls_that_began_before_it(deltas: list[Delta], sign: str) -> None:
    """Law: where the stream just stops, a call ended with its turn if it began before the reason, or a message reports
    it.
    """
    assert [sign] == signs(*deltas)


@pytest.mark.parametrize(
    ("deltas", "sign"),
    [
        ([at(None, "", "c", "f"), END], LOST),
        ([at(None, "", "c", "f"), CALLS, END], ""),
        ([at(None, "", "c", "f"), CALLS, at(None, "", "c"), END], ""),
        ([CALLS, at(None, "", "c", "f"), END], LOST),
        ([PAUSE, at(None, "", "c", "f"), END], LOST),
        ([at(None, "", "c", "f"), PAUSE, END], LOST),
        ([at(None, "", "c", "f"), restates("", "c"), END], ""),
    ],
)
def test_silence_of_odd_labels(deltas: list[Delta], sign: str) -> None:
    """Law: a call without text has no arguments if a reason that allows calls came after it began, or a message lists it."""
    assert [sign] == signs(*deltas)


def test_a_reason_is_of_the_call_that_began_not_of_the_one_that_was_shown() -> None:
    """Law: a call without text that began after the reason did not end with it, though its id came before on another call."""
    calls = at(0, A, "c", "f"), at(0, "", "d"), CALLS, at(1, "", "d", "g"), END

    assert [Got("c", "f", A, "id_churn"), Got("d", "g", "", LOST)] == settled(*calls).calls


# Objections.


def test_replaced_bytes() -> None:
    """Law: a call one of whose pieces shows replaced bytes is not the one that was sent; its siblings are."""
    spoilt = '{"\ufffd":1}'
    (drop,) = [
        event
        for event in settled(at(None, '{"b', "c", "f"), Replaced(at(None, '\ufffd":2}')), *ENDS).events
        if isinstance(event, ToolCallDropped)
    ]

    assert ("invalid_utf8", "the argument text held bytes that are not UTF-8") == (drop.reason, drop.detail)
    assert [dropped("invalid_utf8"), ""] == signs(
        Replaced(at(None, spoilt, "c", "f")), at(None, A, "d", "g"), *ENDS
    )


def test_whole_values_are_never_joined() -> None:
    """Law: two whole texts under one label are not sure, whatever a message without a text says of them."""
    spliced = whole(None, A, "c", "f"), whole(None, B, "c")

    assert [[dropped("ambiguous")], [dropped("ambiguous")], [Got("c", "f", A, "done_mismatch").sign]] == [
        signs(*spliced, *told, *ENDS) for told in ([], [restates("", "c")], [restates(A, "c")])
    ]


# After a loss.


@together(
    ("deltas", "sign"),
    [
        ([at(None, A, "c", "f")], ""),
        ([at(None, A, "c")], dropped("nameless")),
        ([at(None, A, None, "f")], LOST),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}")], LOST),
        ([at(0, '{"a"', "c", "f"), at(0, ":1}", None, "f")], ""),
        ([at(0, '{"a"', "c", "f"), at(1, ":1}")], LOST),
        ([at(0, '{"a"', "c", "f"), at(1, ":1}", "c", "f")], "index_churn"),
        ([at(0, '{"a"', "c", "f"), at(1, ":1}", "c")], LOST),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c")], LOST),
        ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c", "f")], ""),
        ([at(None, '{"a"', "c", "f"), at(None, ":", "c"), at(None, "1}", "c", "f")], ""),
        ([at(None, '{"a"', "c", "f"), restates(A, "c")], "done_completed_buffer"),
        ([at(None, "}", "c", "f"), restates(A, "c")], "done_mismatch"),
        ([at(0, "}"), restates(A, "c")], "done_mismatch"),
    ],
)
def test_what_stands_alone_after_a_loss(deltas: list[Delta], sign: str) -> None:
    """Law: after a loss a call needs a beginning (id and whole name) and labels on all pieces that none before it had."""
    assert [sign] == signs(HOLE, *deltas, *ENDS)


@together(
    ("deltas", "lost"),
    [
        ([at(0, A, "c", "f"), HOLE, at(0, B, "d", "g")], [True, False]),
        ([at(None, A, "c", "f"), HOLE, at(None, '{"b"', "d", "g"), at(None, ":2}", "d", "g")], [True, False]),
        ([at(0, A, "c", "f"), HOLE, at(0, '{"b"', "d", "g"), at(0, ":2}")], [True, True]),
        ([at(None, A, "c", "f"), HOLE, at(0, '{"b"', "d", "g"), at(0, ":2}")], [True, False]),
        ([at(None, '{"a"', "c", "f"), HOLE, at(None, ":1}", "c", "f")], [True]),
        ([at(None, A, "c", "f"), HOLE, at(None, "", "d", "f"), at(None, B, "d", "g")], [True, True]),
        ([at(5, A, "c", "f"), HOLE, at(5, '{"b"', "d", "g"), at(6, ":2}", None, "g")], [True, True]),
        ([at(0, '{"a"', "c", "f"), HOLE, at(0, ":1}", None, "f")], [True]),
        ([at(None, A, "c", "f"), HOLE, at(None, B, "c", "g")], [True, True]),
        ([at(5, A, "c", "f"), HOLE, at(6, '{"b"', "c", "g"), at(None, ":2}")], [True, True]),
        ([HOLE, at(None, A, "c", "f"), restates(A, "c"), restates("", "e", "g")], [False, True]),
    ],
)  # fmt: skip
def test_labels_that_came_before_a_loss(deltas: list[Delta], lost: list[bool]) -> None:
    """Law: after a loss, a label that came before it shows nothing of a call."""
    assert lost == [sign == LOST for sign in signs(*deltas, *ENDS, tools=["f", "g", "fg"])]


def test_what_was_lost_is_said_in_words() -> None:
    """The drop of a call that stands not alone after a loss tells that its labels may be those of others."""
    (drop,) = [
        event
        for event in settled(HOLE, at(None, A, None, "f"), *ENDS).events
        if isinstance(event, ToolCallDropped)
    ]

    assert ("text was lost, and its labels may be those of other calls",) == drop.facts


def test_a_name_in_pieces_behind_a_loss() -> None:
    """A name that was joined from pieces may lack its first one."""
    pieces = at(None, "", "c", "f"), at(None, A, "c", "g")

    assert [LOST] == signs(HOLE, *pieces, *ENDS, tools=["fg"])
