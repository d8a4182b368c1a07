"""Facts against dropped calls, in words: those of whole texts, of final lists, and of texts without a name."""

from __future__ import annotations

from tests.support.assembled import told
from tests.support.blocks import ENDS, begun, closed, item, piece, whole
from tests.support.bound import A, B
from tests.support.slotted import RESTART
from tests.support.together import together
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.deltas import DONE, HYDRATION, CallSeen, CallWhole, Delta, Restated

C = begun(0, "c", "f")
NAMELESS = "text without a name came after its end"
OWNERLESS = "it came without text, and other text has no owner"
UNFINISHED = CallWhole(0, None, None, "c", "f", "", HYDRATION, goes_on=True)


def facts(*deltas: Delta) -> list[tuple[str, ...]]:
    """Return what speaks against each dropped call that has a name, beside the detail of its drop."""
    drops = (event for event in told(*deltas, *ENDS) if isinstance(event, ToolCallDropped))
    return [drop.facts for drop in drops if drop.name is not None]


@together(
    ("name", "deltas", "expected"),
    [
        ("a block without text", [C, closed(final=False), piece(1, A, "j"), CallSeen(0, 1, "j", "d", "g"), closed(1)], NAMELESS),
        ("an item without text", [piece(None, B), item("{}", 0, "c", alias="i")], OWNERLESS),
        ("a done event without text", [piece(None, B), whole("{}", DONE, "0/c", None, "f")], OWNERLESS),
        ("a message that began again", [C, RESTART], "the message started again while it was open"),
        ("a call in progress", [C, Restated(0, (UNFINISHED,))], "a message lists it as unfinished"),
        ("an item that says less", [piece(1, "{", "j"), item("{}", 1, "d", "g", "j")], "other text came under its labels"),
    ],
)  # fmt: skip
def test_a_drop_says_where_text_may_have_gone(name: str, deltas: list[Delta], expected: str) -> None:
    """People read in the facts of a drop which oddity of the wire made it."""
    assert (name, [True]) == (name, [expected in told_against for told_against in facts(*deltas)])


def test_a_drop_says_that_an_id_came_under_two_names() -> None:
    """A key of the dialect that gets a second name is one call's, and nobody knows which name is its own."""
    keyed = [CallSeen(0, "0/c", None, "c", "f"), piece("0/c", A), CallSeen(0, "0/c", None, "c", "g")]
    drops = [event for event in told(*keyed, *ENDS) if isinstance(event, ToolCallDropped)]

    assert [("ambiguous", "one id came under two names")] == [(drop.reason, drop.detail) for drop in drops]
