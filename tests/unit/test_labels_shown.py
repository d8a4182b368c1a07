"""The call in which a fragment is shown while it streams: the one that emits it, where a guess can be right."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.support.bound import A, B, at, whole
from tests.support.together import together
from tests.support.words import CALLS, END, events_of
from wholecall.calls.output.call_events import (
    ArgumentsDelta,
    ArgumentsReset,
    CustomToolCall,
    ToolCall,
    ToolCallStarted,
)
from wholecall.deltas import INVALID_INDEX, Delta, Fragment

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wholecall.calls.output.events import Event


def shown(events: Sequence[Event]) -> str:
    """Return the number of the call of which a delta shows something, `-` if it shows nothing."""
    told = (ToolCallStarted, ArgumentsDelta, ArgumentsReset)
    return " ".join(dict.fromkeys(str(event.index) for event in events if isinstance(event, told))) or "-"


def places(*deltas: Delta, tools: Sequence[str] | None = None) -> str:
    """Return the result of `shown` for each delta."""
    return " ".join(map(shown, events_of(*deltas, tools=tools)[: len(deltas)]))


GROWN = [at(0, '{"a": [["}"]]}'[:size], "c", "f") for size in (2, 4, 6, 8, 10, 12, 14)]

RIGHT = [
    # No index.
    ([at(None, '{"a"', "c", "f"), at(None, ":1}"), at(None, '{"b"', "d", "g"), at(None, ":2}")], "0 0 1 1"),
    (
        [
            at(None, '{"a"', "c", "f"),
            at(None, '{"b"', "d", "g"),
            at(None, ":1}", "c"),
            at(None, ":2}", "d"),
        ],
        "0 1 0 1",
    ),
    ([at(None, '{"a"', "c", "f"), at(None, ":1}", "c", "f"), at(None, B, "d", "f")], "0 0 1"),
    ([at(None, A, None, "f"), at(None, B, None, "f")], "0 1"),
    ([at(None, A, None, "f"), at(None, '{"b"', None, "g"), at(None, ":2}")], "0 1 1"),
    ([at(INVALID_INDEX, A, "c", "f"), at(INVALID_INDEX, '{"b"', "d", "g"), at(-1, ":2}", "d")], "0 1 1"),
    ([at(None, A, "c", "f"), at(None, '{"b"', "d", "g"), at(None, ":2}", "d", "g")], "0 1 1"),
    ([at(None, A, "c", "f"), at(None, " "), at(None, B, "d", "g")], "0 0 1"),
    ([at(None, A, "c"), at(None, "", None, "f"), at(None, B, "d", "g")], "- 0 1"),
    ([at(None, A, "c", "f"), at(1, "", "d", "f"), at(1, B)], "0 - 1"),
    # Another index.
    ([at(0, '{"a"', "c", "f"), at(1, ":1}", "c"), at(1, '{"b"', "d", "g"), at(2, ":2}", "d")], "0 0 1 1"),
    ([at(0, '{"a"', None, "f"), at(1, ":1}"), at(2, B, None, "g")], "0 0 1"),
    ([at(0, '{"a"', "c", "f"), at(3, ":1}", "c", "f"), at(4, B, "d", "f")], "0 0 1"),
    ([at(0, A, "c", "f"), at(1, '{"b"', "c", "f"), at(1, ":2}")], "0 1 1"),
    ([at(0, A, "c", "f"), at(1, '{"b"', "c", "f"), at(1, ":2}", "c"), at(2, A, "c", "f")], "0 1 1 2"),
    ([at(0, "", "c", "f"), at(1, "", "c", "g"), at(0, A), at(1, B)], "- - 0 1"),
    ([at(0, '{"a"', "c", "f"), at(1, '{"b"', "c", "g"), at(1, ":2}", "c"), at(0, ":1}", "c")], "0 1 1 0"),
    # Another id.
    ([at(0, '{"a"', "c", "f"), at(1, '{"b"', "d", "g"), at(0, ":1}", "e"), at(1, ":2}", "d")], "0 1 0 1"),
    ([at(0, '{"a"', "c", "f"), at(0, ":", "d"), at(0, "1}", "e")], "0 0 0"),
    ([at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "f"), at(0, B, "e", "g")], "0 0 1"),
    ([at(0, '{"a":', "c", "f"), at(0, B + "}", "d", "f")], "0 0"),
    ([at(0, A, "c", "f"), at(0, '{"b"', "d", "f"), at(0, ":2}")], "0 1 1"),
    ([at(0, '{"a"', "c", "f"), at(0, B, "d", "g"), at(0, ":1}", "c")], "0 1 0"),
    ([at(0, '{"a"', None, "f"), at(0, ":1}", "c", "f")], "0 0"),
    ([at(0, A, None, "f"), at(0, "", "c"), at(1, B, "d", "g")], "0 - 1"),
    ([at(0, A, None, "f"), at(0, A, "c", "f"), at(1, B, "d", "g")], "0 - 1"),
    ([at(0, '{"a"', "c", "f"), at(1, B, None, "g"), Fragment(0, 0, ":1}")], "0 1 0"),
    ([at(0, "", "c", "f"), at(0, A, "d", "f")], "- 0"),
    # Names.
    ([at(0, "", "c", "get_"), at(0, "", None, "tide"), at(0, A)], "- - 0"),
    ([at(0, '{"a"', "c"), at(0, ":1}"), at(0, "", None, "f")], "- - 0"),
    ([at(0, A, "c"), at(1, B, "d"), at(0, "", None, "f"), at(1, "", None, "g")], "- - 0 1"),
    ([at(0, '{"a"', "c", "f"), at(0, ":1}", None, "f")], "0 0"),
    ([at(0, A, "c", "f"), at(0, B, None, "g")], "0 1"),
    ([at(0, A, "c", "f"), at(1, B, None, "f")], "0 1"),
    # Texts.
    ([at(0, '{"a":1', "c", "f"), at(0, A, "c", "f")], "0 0"),
    ([at(0, A, "c", "f"), at(0, B, "c", "f")], "0 1"),
    ([at(0, A, "c", "f"), at(0, A, "c", "f"), at(0, B, "d", "g")], "0 - 1"),
    ([at(None, A, "c", "f"), at(None, B, "d", "g"), at(None, " ")], "0 1 1"),
    # Free text.
    ([at(0, A, "c", "f", "custom"), at(0, B, "c", "f", "custom")], "0 0"),
    ([at(0, "x", "c", "f", "custom"), at(0, "no", "c", "f", "custom")], "0 0"),
    ([at(0, "x", "c", "f", "custom"), at(0, "y", "d", kind="custom")], "0 0"),
    ([at(None, "{}", "c", "f", "custom"), at(None, A, kind="custom")], "0 0"),
    ([at(0, "x", "c", "f", "custom"), at(0, "y", "c", "f", "custom")], "0 0"),
    ([at(0, "x", "c", "f", "custom"), at(0, "y", "d", "g", "custom")], "0 1"),
    ([at(0, "", "c", "f", "custom"), at(0, "y", "d", "f", "custom")], "- 0"),
]


@together(("deltas", "expected"), RIGHT, ids=lambda one: one if type(one) is str else "")
def test_fragments_are_shown_where_they_come_out(deltas: list[Delta], expected: str) -> None:
    """Where a server departs from the documents in one way, no shown text has to be corrected."""
    events = [event for some in events_of(*deltas, CALLS, END) for event in some]
    texts: dict[int, str] = {}
    for event in events:
        if isinstance(event, ArgumentsDelta):
            texts[event.index] = texts.get(event.index, "") + event.delta
    calls = [event for event in events if isinstance(event, (ToolCall, CustomToolCall))]

    assert expected == places(*deltas)
    assert texts == {
        call.index: call.raw_arguments if isinstance(call, ToolCall) else call.input for call in calls
    }


@together(
    ("deltas", "expected"),
    [
        (GROWN, "0 0 0 0 0 0 0"),
        ([at(0, "{}", "c", "f"), at(0, A, "c", "f")], "0 0"),
        ([at(0, "{}", "c", "f"), at(0, A, "d")], "0 0"),
        ([at(0, '{"a"', "c", "f"), at(0, B, "d", "f")], "0 1"),
        ([at(0, "x", "c", "f", "custom"), at(0, "y", "d", "f", "custom")], "0 1"),
        ([at(0, '{"a":"', "c", "f"), at(0, B + '"}', None, "f")], "0 0"),
        ([at(0, '{"a"', "c", "f"), at(1, B)], "0 0"),
        ([at(None, '{"a"', "c", "f"), at(None, " " + B)], "0 0"),
        ([at(0, A, "c"), at(1, "", None, "f")], "- -"),
        ([at(None, A), at(None, B)], "- -"),
        ([at(0, '{"a"', "c", "f"), whole(0, B), Fragment(0, 0, ":1}")], "0 - 0"),
        ([at(0, A, "c", "f"), at(INVALID_INDEX, B)], "0 0"),
        ([at(0, '{"a"', "c", "f"), at(None, B, "d", "g"), Fragment(0, 0, ":1}")], "0 1 0"),
        ([at(0, '{"a"', "c", "f"), at(1, ":", "c"), at(2, B, "d", "g"), at(1, "1}")], "0 0 1 0"),
        ([at(0, '{"a"', None, "f"), at(1, ":"), at(2, B, None, "g"), at(1, "1}")], "0 0 1 0"),
        ([at(0, '{"a"', "c", "f"), at(0, ":", "e"), at(1, B, "d", "g"), at(None, "1}", "e")], "0 0 1 0"),
        ([at(0, A, "c", "f"), at(1, " ")], "0 0"),
        ([at(0, A, "c", "f"), at(1, B, "c")], "0 0"),
        ([at(0, '{"a"', "c", "f"), at(0, ":1}", "d", "g")], "0 1"),
        ([at(0, '{"a"', "c", "f"), at(0, B, "c", "f")], "0 0"),
        ([at(0, '{"a"', "c", "f"), at(0, B, "d")], "0 0"),
        ([at(None, '{"a":', "c", "f"), at(1, B, "d", "f")], "0 1"),
        ([at(None, '{"a":', "c"), at(None, B, "d", "f")], "- 1"),
        ([at(None, '{"a":', "c", "f"), whole(None, B, "d", "f")], "0 1"),
        ([at(None, '{"a"', "c", "f"), at(None, " " + B, "d", "f")], "0 1"),
        ([at(None, '{"a":', "c", "f"), at(1, B, "d")], "0 0"),
        ([at(None, '{"a":', "c", "f"), at(1, B, "c", "f")], "0 0"),
        ([at(0, '{"a":'), at(1, B, None, "f")], "- 1"),
        ([at(0, '{"a"'), at(1, B), at(1, "", None, "f")], "- - 0"),
        ([at(None, '{"a"', "c"), at(None, B, "d"), at(None, "", None, "f")], "- - 0"),
        ([at(0, '{"a"', "c", "f"), at(1, "", "d"), at(1, B), at(1, "", None, "g")], "0 - - 1"),
        ([at(0, '{"a"', "c", "f"), at(1, '{"b"', None, "g"), at(1, ":2}", "c")], "0 1 1"),
        ([at(0, '{"a"'), at(1, ":1}", None, "f")], "- 0"),
        ([whole(0, "{}", "c", "get"), at(0, A, None, "tide")], "- 1"),
    ],
)
def test_the_most_likely_call(deltas: list[Delta], expected: str) -> None:
    """A fragment whose meaning is unknown before the end is shown in its most likely call."""
    assert expected == places(*deltas)


@together(
    ("deltas", "expected"),
    [
        ([at(0, A, "c", "f"), at(0, "", "d", "f"), at(0, B), at(1, A, "e", "g")], "0 - - -"),
        ([at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B), at(1, A, "e", "g")], "0 - - -"),
        ([at(0, A, "c", "f"), at(0, "", None, "f"), at(0, B, None, "g")], "0 - -"),
        ([at(0, A, "c", "f"), at(1, B)], "0 -"),
        ([at(0, "", "c", "get_"), at(0, "", None, "tide"), at(0, A), at(1, B, "d", "f")], "- - 0 -"),
        ([at(0, A, "c", "f"), at(0, A, None, "f"), at(1, B, "d", "g")], "0 - -"),
        ([at(0, A, None, "f"), at(0, A, None, "f"), at(1, B, None, "g")], "0 - -"),
        ([at(0, A, "c", "f"), at(0, B, "d")], "0 -"),
        ([at(0, A, "c", "f"), at(0, "", "d"), at(1, B, "e", "g")], "0 - -"),
        ([at(0, A, "c", "f"), at(0, "", "c", "f"), at(1, B, "d", "g")], "0 - -"),
        ([at(None, A, "c", "f"), at(1, "", "c", "f"), at(2, B, "d", "g")], "0 - -"),
        ([at(0, A, "c", "f"), at(1, A, "c", "f"), at(2, B, "d", "g")], "0 - -"),
        ([at(0, "", "c", "f"), at(0, A, "d", "f"), at(1, B, "e", "g")], "- 0 -"),
        ([at(0, "", "c", "f"), at(0, "x", "d"), at(1, B, "e", "g")], "- 0 -"),
        ([at(None, '{"a"', "c", "f"), at(1, "", None, "f"), at(1, B)], "0 - -"),
        ([at(0, A, "c", "f"), at(0, "x", "d")], "0 -"),
        ([at(0, A, "c", "f"), at(1, "", "d"), at(1, B), at(1, "", None, "g")], "0 - - 1"),
        ([at(0, "{}", "c", "f"), at(0, "", "c", "f"), at(0, A)], "0 - -"),
    ],
)
def test_in_doubt_no_further_call_is_told(deltas: list[Delta], expected: str) -> None:
    """Labels that may only be repeated, or may begin a call: a call that may not exist is not reported."""
    assert expected == places(*deltas)


@together(
    ("names", "tools", "expected"),
    [
        (("get", "tide"), ["get", "tide"], "- -"),
        (("get ", " tide"), ["get", "tide"], "- -"),
        (("get", "tide"), ["get", "tide", "gettide"], "- 0"),
        (("get", "tide"), ["get", "tide", "gettide_now"], "- 0"),
        (("ge", "t"), ["get", "t"], "- 0"),
        (("ge", "tide"), ["get", "tide"], "- 0"),
        (("get", "_it"), ["get"], "- 0"),
        (("get", "tide"), None, "- 0"),
    ],
)
def test_a_second_name_of_a_tool(names: tuple[str, str], tools: list[str] | None, expected: str) -> None:
    """Two names of tools before any text may be two calls: nothing is reported; else they are pieces of one name."""
    deltas = at(0, "", "c", names[0]), at(0, A, None, names[1])

    assert expected == places(*deltas, tools=tools)
