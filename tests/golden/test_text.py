"""The project's own cases of calls in text: hand-written expectations, any cut, and `auto` next to the named format."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import bless
from tests.support.expected import differences, of_kind
from tests.support.texts import leaks, read_stream, read_text_case, texts
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.text import FORMATS
from wholecall.text.formats import NOT_IN_AUTO

TEXTS = texts()
LEAKS = leaks()
NOTHING: dict[str, Any] = {"text": "", "reasoning": ""}
# Its opener is a plain word, which `auto` leaves out.
OF_ITS_FORMAT_ONLY = frozenset({"gigachat3-role-form"})
IN_AUTO = [
    case for case in TEXTS if case["format"] not in NOT_IN_AUTO and case["case"] not in OF_ITS_FORMAT_ONLY
]


def by_format(cases: list[dict[str, Any]]) -> pytest.MarkDecorator:
    """Give a test all cases of a format at once: a separate test for each costs more than the case itself."""
    formats = sorted({case["format"] for case in cases})
    groups = [[case for case in cases if case["format"] == name] for name in formats]
    return pytest.mark.parametrize("cases", groups, ids=formats)


every_leak = pytest.mark.parametrize("case", LEAKS, ids=[case["case"] for case in LEAKS])


@by_format(TEXTS)
def test_what_was_expected_by_hand_comes_out(cases: list[dict[str, Any]]) -> None:
    """A text gives the calls, drops, text and reasoning that were derived by hand from the rules, and no others."""
    for case in cases:
        assert [] == differences(read_text_case(case), NOTHING | case["expect"]), case["case"]


@pytest.mark.sampled(19)
@by_format(TEXTS)
def test_no_cut_of_a_text_changes_an_event(cases: list[dict[str, Any]]) -> None:
    """By the character or in pieces of seven, the same text gives the same events."""
    for case in cases:
        whole = read_text_case(case)

        assert [whole, whole] == [read_text_case(case, size=1), read_text_case(case, size=7)], case["case"]


@by_format(TEXTS)
def test_every_call_says_where_it_comes_from(cases: list[dict[str, Any]]) -> None:
    """Calls of texts are flagged, name their format, and the text of a drop is a part of the model's text."""
    for case in cases:
        events = read_text_case(case)
        calls, drops = of_kind(events, ToolCall), of_kind(events, ToolCallDropped)

        assert [] == [call for call in calls if "from_text" not in call.flags], case["case"]
        assert {case["format"]} >= {call.extra["text_format"] for call in calls}, case["case"]
        assert [] == [drop for drop in drops if drop.raw_arguments not in case["text"]], case["case"]


@pytest.mark.sampled(7)
@by_format(IN_AUTO)
def test_auto_reads_the_calls_of_every_format(cases: list[dict[str, Any]]) -> None:
    """With the format's weak shapes, `auto` gives the same calls and drops as the format itself."""
    for case in cases:
        weak = frozenset(FORMATS[case["format"]].weak)
        found = read_text_case(case, format="auto", weak=weak)
        expected = {key: case["expect"][key] for key in ("calls", "dropped") if key in case["expect"]}

        assert [] == differences(found, expected), case["case"]


@every_leak
def test_a_leak_gives_what_was_expected_by_hand(case: dict[str, Any]) -> None:
    """A stream with calls in its texts gives the calls, drops and texts that were derived by hand, and no others."""
    events = read_stream(case["stream"], [case["stream"].read_bytes()], case["text"], case.get("tools"))

    assert [] == differences(events, case["expect"])


@every_leak
def test_no_cut_of_a_leak_changes_an_event(case: dict[str, Any]) -> None:
    """In chunks of any usual size, the same stream gives the same events."""
    data = case["stream"].read_bytes()
    whole = read_stream(case["stream"], [data], case["text"], case.get("tools"))
    for size in bless.CHUNK_SIZES:
        chunks = bless.in_chunks(data, size)
        assert whole == read_stream(case["stream"], chunks, case["text"], case.get("tools")), size


@every_leak
def test_text_is_text_unless_asked_for(case: dict[str, Any]) -> None:
    """Without `text=` no stream gives a call of its texts, nor a drop."""
    found = read_stream(case["stream"], [case["stream"].read_bytes()], None, case.get("tools"))
    ended = [*of_kind(found, ToolCall), *of_kind(found, ToolCallDropped)]

    assert [] == [event for event in ended if "from_text" in event.flags]
    assert len(of_kind(found, ToolCall)) == (
        case["case"].rpartition("/")[2] in {"told-twice", "marker-left-behind"}
    )
