"""The reasons that drops of blocks and items give in words."""

from __future__ import annotations

from tests.support.assembled import told
from tests.support.blocks import ENDS, bound
from tests.support.bound import A, B, Got
from tests.support.slotted import begun, closed, finished, piece
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.deltas import CallSeen, Delta

C, D = begun(0, "c", "f"), begun(1, "d", "g")
NEXT = "it ended under the index of text that has no start"
ECHO = "it holds the text of another call, and began again"
ASTRAY = "text without an owner came while it was open"
LABELS = "labels contradict each other while it was open"


def facts(*deltas: Delta) -> dict[str, tuple[str, ...]]:
    """Return what speaks against each dropped call that has an id, beside the detail of its drop."""
    drops = (event for event in told(*deltas, *ENDS) if isinstance(event, ToolCallDropped))
    return {drop.id: drop.facts for drop in drops if drop.id is not None}


@together(
    ("name", "deltas", "expected"),
    [
        ("text of the next block", [C, piece(1, A), closed(0)], {"c": (NEXT,)}),
        ("text that has no owner", [C, D, piece(7, A)], {"c": (ASTRAY,), "d": (ASTRAY,)}),
        (
            "text of an ended block, and a start that comes again",
            [C, piece(0, A), closed(0), D, piece(0, A), begun(1, "d", "g"), piece(1, B), closed(1)],
            {"d": (ECHO,)},
        ),
        (
            "an end of no block",
            [C, D, closed(7), piece(0, A), closed(0), piece(1, B), closed(1)],
            {"c": (LABELS,), "d": (LABELS,)},
        ),
        (
            "an item of one of two calls",
            [C, begun(1, "d", "f"), piece(0, A), piece(1, B), finished("{}", 7, "x")],
            {"c": (LABELS,), "d": (LABELS,)},
        ),
    ],
)
def test_a_drop_says_why_text_is_missing(
    name: str, deltas: list[Delta], expected: dict[str, tuple[str, ...]]
) -> None:
    """People read in the facts of a drop which oddity of the wire made it."""
    assert (name, expected) == (name, facts(*deltas))


def test_a_drop_says_which_labels_are_doubtful() -> None:
    """Of two open calls of one id and place the drop of each says what is doubtful: both have the id."""
    drops = [event for event in told(C, begun(0, "c", "g"), *ENDS) if isinstance(event, ToolCallDropped)]

    assert [("f", "one id came under two names"), ("g", "one id came under two names")] == [
        (drop.name, drop.detail) for drop in drops
    ]


def test_a_key_under_two_names() -> None:
    """Where the dialect distinguishes calls by a key, a second name there makes the call doubtful, and is no piece of the
    first; the same one says nothing new.
    """
    nameless, first = CallSeen(0, "0/c", None, "c", None), CallSeen(0, "0/c", None, "c", "f")
    second, text = CallSeen(0, "0/c", None, "c", "g"), piece("0/c", A)

    assert [Got("c", "f", A, "dropped: ambiguous")] == bound(first, second, text)
    assert [Got("c", "f", A)] == bound(first, first, text) == bound(nameless, first, text)
    pieces = CallSeen(0, 0, None, "c", "f"), CallSeen(0, 0, None, "c", "g")
    assert [Got("c", "fg", A, "name_joined")] == bound(*pieces, piece(0, A))
