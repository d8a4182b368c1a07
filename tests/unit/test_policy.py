"""Choices of `Policy.strict()`, one by one."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from tests.support.model import Fragment
from tests.support.turns import DONE, chunk, frame
from wholecall import Policy, ToolCallParser
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped

A = '{"a":1}'
PLAIN = Fragment(0, "c", "f", A)


def ends(*fragments: Fragment, policy: Policy, finish: str | None = "tool_calls") -> list[str]:
    """Return the calls and the drops of a chat stream."""
    frames = [*(frame(chunk(fragment)) for fragment in fragments)]
    frames += [frame(chunk(finish=finish))] if finish else []
    parser = ToolCallParser("chat-completions", policy=policy)
    found = [*parser.feed(b"".join([*frames, DONE])), *parser.close()]
    said = [event for event in found if isinstance(event, (ToolCall, ToolCallDropped))]
    return [event.name or "" if isinstance(event, ToolCall) else event.reason for event in said]


def test_strict_lets_plain_calls_through() -> None:
    """A call as documented is emitted."""
    assert ["f"] == ends(PLAIN, policy=Policy.strict())


@pytest.mark.parametrize(
    ("choice", "fragments", "finish", "reason"),
    [
        pytest.param(
            "recovery", [Fragment(0, "c", "f", '{"a":1,}')], "tool_calls", "invalid_json", id="a slip"
        ),
        pytest.param("silence", [Fragment(0, "c", "f", "")], "tool_calls", "empty_arguments", id="silence"),
        pytest.param(
            "refused_flags",
            [Fragment(0, "c", "get_", ""), Fragment(0, None, "tide", A)],
            "tool_calls",
            "ambiguous",
            id="a name in pieces",
        ),
        pytest.param("truncated_turn", [PLAIN], "length", "truncated", id="a cut turn"),
        pytest.param("require_reason", [PLAIN], None, "unterminated", id="no reason"),
    ],
)
def test_each_choice_drops(choice: str, fragments: list[Fragment], finish: str, reason: str) -> None:
    """Each choice alone drops a call that the default accepts, and so do all together."""
    alone = replace(Policy(), **{choice: getattr(Policy.strict(), choice)})

    assert [reason] != ends(*fragments, policy=Policy(), finish=finish)
    assert [reason] == ends(*fragments, policy=alone, finish=finish)
    assert [reason] == ends(*fragments, policy=Policy.strict(), finish=finish)


def test_a_bad_sibling_speaks_against_all() -> None:
    """One dropped call of a turn drops the others, too."""
    fragments = PLAIN, Fragment(1, "d", "g", '{"a"')

    assert ["f", "truncated"] == ends(*fragments, policy=Policy())
    assert ["aborted", "truncated"] == ends(*fragments, policy=Policy.strict())


def test_order_is_no_label() -> None:
    """Calls that only the order of their pieces distinguishes are flagged, and a strict policy drops them."""
    fragments = Fragment(0, "c", "f", A), Fragment(0, "d", "g", '{"b"'), Fragment(0, None, None, ":2}")

    assert ["f", "g"] == ends(*fragments, policy=Policy())
    assert ["aborted", "ambiguous"] == ends(*fragments, policy=Policy.strict())
