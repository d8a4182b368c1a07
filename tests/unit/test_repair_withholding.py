"""Messages about calls that were withheld, and the reasons of their turns."""

from __future__ import annotations

from typing import Any

from tests.support.together import together
from wholecall import ToolCallDropped
from wholecall.repairing.withholding import Losses


def losses(*lost: tuple[str | None, Any], withheld: Any = "auto", goes_on_after_cuts: bool = False) -> Losses:
    """Return losses of these names and reasons."""
    found = Losses(withheld, goes_on_after_cuts=goes_on_after_cuts)
    for index, (name, reason) in enumerate(lost):
        found.note(ToolCallDropped(0, 0, index, f"c{index}", name, "function", "secret", reason))
    return found


def test_errors_name_tools_and_reasons() -> None:
    """A name that is not plain is not repeated, nor is any text of arguments; of many calls the first are named."""
    many = losses(
        ("get_tide", "truncated"), ("rm -rf /", "schema"), (None, "nameless"), *[("f", "schema")] * 9
    )

    assert (
        "get_tide (truncated), a call (schema), a call (nameless), f (schema), f (schema), f (schema), f (schema),"
        " f (schema) and 4 more"
    ) == str(many)
    assert "f (schema)" == str(losses(("f", "schema")))


@together("claimed", ["length", "content_filter", "malformed", "error", "pause"])
@together("withheld", ["auto", "error", "end"])
def test_reasons_that_say_what_happened_stay(claimed: Any, withheld: str) -> None:
    """Loops must see them, whatever is emitted."""
    lost = losses(("f", "schema"), withheld=withheld)

    assert (False, claimed, claimed) == (
        lost.is_error(claimed, executed=False),
        lost.reason(claimed, executed=False),
        lost.reason(claimed, executed=True),
    )


@together(
    ("withheld", "goes_on", "reason", "expected"),
    [
        ("auto", False, "truncated", True),
        ("auto", True, "truncated", False),
        ("auto", True, "schema", True),
        ("error", True, "truncated", True),
        ("end", True, "schema", False),
        ("end", False, "truncated", False),
    ],
)
@together("claimed", ["stop", "tool_calls", "unknown"])
def test_successes_without_their_calls(
    withheld: str, goes_on: bool, reason: str, expected: bool, claimed: Any
) -> None:
    """They are errors, unless the caller chose an end, or a cut says enough; never where a call is emitted."""
    lost = losses(("f", reason), withheld=withheld, goes_on_after_cuts=goes_on)

    assert (expected, False) == (
        lost.is_error(claimed, executed=False),
        lost.is_error(claimed, executed=True),
    )


def test_a_turn_that_lost_nothing_is_no_error() -> None:
    """A turn whose losses were those of the turn before is not an error either."""
    lost = losses(("f", "schema"))
    lost.clear()

    assert (False, "stop", False) == (
        lost.is_error("tool_calls", executed=False),
        lost.reason("tool_calls", executed=False),
        lost.is_cut(),
    )
