"""Laws of repair, over random histories of every shape: what comes out, what is left alone, what is told."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.histories import SHAPES, Answer, Block, Happening, Result, Said, happenings, render
from tests.support.transcript_rules import complaints, said, texts
from wholecall.history import Report, repair_transcript

EVERY = sorted(SHAPES)
# Histories differ in more ways than the usual number of examples shows; the long run looks at five thousand.
MANY = examples(long=2.5)

options = st.fixed_dictionaries(
    {
        "unanswered": st.sampled_from(("synthesise", "synthesise", "keep")),
        "nameless": st.sampled_from(("strip", "rename")),
        "aborted": st.sampled_from(("keep_text", "keep_text", "drop_turn")),
        "strict_json_arguments": st.booleans(),
        "names": st.sampled_from((None, None, frozenset({"read"}))),
    }
)
USUAL: dict[str, Any] = {"unanswered": "synthesise", "nameless": "strip", "aborted": "keep_text"}
ASKED = Answer((Block("call", id="c1", arguments={"path": "/x"}),), "tool_calls")
CUT = Answer(
    (Block("call", id="c1", arguments={"path": "/x"}), Block("call", id="c2", arguments={"n": 1})), "length"
)


@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
@example(happened=[CUT], chosen={**USUAL, "unanswered": "keep"})
@example(happened=[Result("c2"), ASKED, Result("c2"), ASKED], chosen=USUAL)
@example(happened=[Answer((Block("text", text="x"),), "length"), Result("c2"), ASKED], chosen=USUAL)
def test_repair_is_idempotent(shape: str, happened: list[Happening], chosen: dict[str, Any]) -> None:
    """What was repaired needs no repair: it comes back as the same object, with a report of nothing (law 41)."""
    found = repair_transcript(render(shape, happened), shape=shape, **chosen)  # type: ignore[arg-type]
    again = repair_transcript(found.messages, shape=shape, **chosen)  # type: ignore[arg-type]

    assert again.messages is found.messages
    assert Report() == again.report


@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
@example(happened=[Said("a"), ASKED, Said("b"), Result("c1")], chosen=USUAL)
@example(happened=[ASKED, Result("c1"), ASKED, Result("c1")], chosen=USUAL)
def test_a_repaired_transcript_is_sound(
    shape: str, happened: list[Happening], chosen: dict[str, Any]
) -> None:
    """Every call is answered once and in its place, ids differ, nothing is empty, entries link (law 42)."""
    found = repair_transcript(render(shape, happened), shape=shape, **chosen)  # type: ignore[arg-type]

    assert [] == complaints(shape, list(found.messages), kept=chosen["unanswered"] == "keep")


@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
def test_repair_changes_nothing_in_place(
    shape: str, happened: list[Happening], chosen: dict[str, Any]
) -> None:
    """The input stays as it was, a message that stays as it was is the same object, and so is the list (law 43)."""
    messages = [one | {"mark": number} for number, one in enumerate(render(shape, happened))]
    before = copy.deepcopy(messages)
    found = repair_transcript(messages, shape=shape, **chosen)  # type: ignore[arg-type]
    copies = [one for one in found.messages if "mark" in one and one is not messages[one["mark"]]]

    assert before == messages
    assert found.report.changed == (found.messages is not messages) == (found.messages != messages)
    assert [] == [one for one in copies if one == messages[one["mark"]]]


@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
def test_repair_keeps_what_was_said(shape: str, happened: list[Happening], chosen: dict[str, Any]) -> None:
    """Every text that is not blank is still there, in order; only aborted turns may be dropped whole (law 44)."""
    messages = render(shape, happened)
    found = repair_transcript(messages, shape=shape, **{**chosen, "aborted": "keep_text"})  # type: ignore[arg-type]

    assert texts(shape, messages) == texts(shape, list(found.messages))


@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
def test_reports_add_up(shape: str, happened: list[Happening], chosen: dict[str, Any]) -> None:
    """Calls that were there are there or stripped, results are there or dropped or made (law 45)."""
    messages = render(shape, happened)
    found = repair_transcript(messages, shape=shape, **chosen)  # type: ignore[arg-type]
    report = found.report
    words = {"before": said(shape, messages), "after": said(shape, list(found.messages))}
    calls = {when: sum(one.startswith("model calls") for one in told) for when, told in words.items()}
    results = {
        when: sum(not one.startswith(("model", "user")) for one in told) for when, told in words.items()
    }
    thoughts = {when: told.count("model thinks") for when, told in words.items()}

    assert calls["before"] == calls["after"] + len(report.stripped_calls)
    assert results["before"] + len(report.synthesized) == results["after"] + len(report.dropped_results)
    assert thoughts["before"] == thoughts["after"] + len(report.dropped_thinking)
    kept = len(messages) - len(report.dropped_messages)
    assert kept <= len(found.messages) <= kept + len(report.synthesized) + len(report.moved)
