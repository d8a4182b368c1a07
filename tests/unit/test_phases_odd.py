"""A call with odd labels once the meaning of its fragments is known (`read_as`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.bound import at, whole
from tests.support.words import CALLS, END, OPEN, A, B, told
from wholecall.deltas import Delta, Fragment
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

SCATTERED = [at(1, '{"a"', None, "f"), at(0, "", "c", "f"), at(0, ":1}", "c", "f")]
GROWN = [at(None, '{"b":', "c", "f"), at(None, B, None, "f")]


@pytest.mark.parametrize(
    ("deltas", "shown", "end"),
    [
        (SCATTERED, [["+f", '{"a"'], [], []], [":1}", f"call {A} index_churn"]),
        (GROWN, [["+f", '{"b":'], [B]], [f"={B}", f"call {B} snapshots"]),
    ],
    ids=["its beginning", "too much"],
)
def test_what_was_shown_is_put_right(deltas: Sequence[Delta], shown: list[list[str]], end: list[str]) -> None:
    """At the end the rest of a text is emitted if its beginning was shown, and all of it if something else was."""
    assert [*shown, [], end, ["tool_calls"]] == told(*deltas, CALLS, END)


def test_the_limit_holds_for_what_was_meant() -> None:
    """A text that is too large only once its fragments are put together is refused, as any other."""
    said = told(*SCATTERED, CALLS, END, limits=Limits(max_arguments_bytes=len(A) - 1))

    assert [f"drop {A} arguments_too_large"] == said[-2]


def test_nobody_is_told_of_a_call_that_said_nothing_and_never_ended() -> None:
    """Where the stream just stops, a call without text does not begin, whatever its labels were."""
    assert ["drop  unterminated", "malformed missing_finish"] == told(at(None, "", "c", "f"))[-1]


def test_an_object_amidst_fragments_ends_nothing() -> None:
    """An object inside the text of a call settles nothing: later text is shown as it comes."""
    said = told(OPEN, Fragment(0, 0, '{"a"'), whole(0, B), Fragment(0, 0, ":1}"), CALLS, END)

    assert [["+f", '{"a"'], [], [":1}"]] == said[1:4]


def test_a_call_that_only_the_reading_shows() -> None:
    """A call shown as none of the existing calls begins with its text when it is read, however the stream ends."""
    words = told(at(0, "{", "c", "l"), at(0, "}", None, "ong"))[-1]

    assert ["+long", "{}"] == words[:2]
    assert "drop {} unterminated" in words
