"""Laws of repair, over random histories of every shape: the output, the unchanged messages, the report."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.examples import examples
from tests.support.histories import SHAPES, Answer, Block, Happening, Result, Said, happenings, render
from tests.support.transcript_rules import complaints, said, texts
from wholecall.history import TranscriptReport, repair_transcript
from wholecall.history.transcripts import indexed_transcript

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
CALL, OTHER = (Block("call", id=id, arguments={"path": "/x"}) for id in ("c1", "c2"))
ASKED, BOTH = Answer((CALL,), "tool_calls"), Answer((CALL, OTHER), "tool_calls")
CUT, TWINS = Answer((CALL, OTHER), "length"), Answer((CALL, CALL), "length")


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
@example(happened=[CUT], chosen={**USUAL, "unanswered": "keep"})
@example(happened=[CUT, ASKED], chosen={**USUAL, "unanswered": "keep"})
@example(happened=[Result("c2"), ASKED, Result("c2"), ASKED], chosen=USUAL)
@example(happened=[Answer((Block("text", text="x"),), "length"), Result("c2"), ASKED], chosen=USUAL)
@example(happened=[TWINS, Answer((Block("call", id="c1", arguments={}),))], chosen=USUAL)
def test_repair_is_idempotent(shape: str, happened: list[Happening], chosen: dict[str, Any]) -> None:
    """A repaired list needs no repair: it comes back as the same object, with an empty report (law 41)."""
    found = repair_transcript(render(shape, happened), shape=shape, **chosen)  # type: ignore[arg-type]
    again = repair_transcript(found.messages, shape=shape, **chosen)  # type: ignore[arg-type]

    assert again.messages is found.messages
    assert TranscriptReport() == again.report


def _mixed(first: list[Any], other: list[Any], order: list[bool]) -> list[Any]:
    """Merge two lists, each in its own order."""
    waiting = {True: list(first), False: list(other)}
    merged = [waiting[turn].pop(0) for turn in order if waiting[turn]]
    return [*merged, *waiting[True], *waiting[False]]


def _results(messages: Sequence[dict[str, Any]], shape: str) -> int:
    lines = indexed_transcript(messages, shape).lines
    return sum(part.kind == "result" for line in lines for part in line.parts)


@pytest.mark.sampled(4)
@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(
    happened=happenings,
    foreign=st.tuples(st.sampled_from(EVERY), happenings),
    order=st.lists(st.booleans(), max_size=12),
    chosen=options,
)
@example([], ("anthropic", [Said("hello"), Result("c1", glued=True), ASKED]), [], USUAL)
@example([], ("chat-completions", [BOTH, Said("go on"), Result("c2"), Result("c1")]), [], USUAL)
@example([], ("anthropic", [TWINS]), [], {**USUAL, "unanswered": "keep"})
def test_repair_of_mixed_shapes_settles(
    shape: str,
    happened: list[Happening],
    foreign: tuple[str, list[Happening]],
    order: list[bool],
    chosen: dict[str, Any],
) -> None:
    """The same for a list with messages of another shape among its own, as agents that change providers leave it (law
    41).

    And no result is lost without a report.
    """
    messages = _mixed(render(shape, happened), render(*foreign), order)
    found = repair_transcript(messages, shape=shape, **chosen)  # type: ignore[arg-type]
    again = repair_transcript(found.messages, shape=shape, **chosen)  # type: ignore[arg-type]
    report = found.report
    expected = _results(messages, shape) - len(report.dropped_results) + len(report.synthesised)

    assert again.messages is found.messages
    assert TranscriptReport() == again.report
    assert expected == _results(found.messages, shape)


@pytest.mark.sampled(3)
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


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
def test_repair_changes_nothing_in_place(
    shape: str, happened: list[Happening], chosen: dict[str, Any]
) -> None:
    """The input is unchanged; an unchanged message is the same object, and so is the list (law 43)."""
    messages = [one | {"mark": number} for number, one in enumerate(render(shape, happened))]
    before = copy.deepcopy(messages)
    found = repair_transcript(messages, shape=shape, **chosen)  # type: ignore[arg-type]
    copies = [one for one in found.messages if "mark" in one and one is not messages[one["mark"]]]

    assert before == messages
    assert found.report.changed == (found.messages is not messages) == (found.messages != messages)
    assert [] == [one for one in copies if one == messages[one["mark"]]]


@pytest.mark.sampled(3)
@pytest.mark.parametrize("shape", EVERY)
@MANY
@given(happened=happenings, chosen=options)
def test_repair_keeps_what_was_said(shape: str, happened: list[Happening], chosen: dict[str, Any]) -> None:
    """Every text that is not blank is still there, in order; only aborted turns may be dropped whole (law 44)."""
    messages = render(shape, happened)
    found = repair_transcript(messages, shape=shape, **{**chosen, "aborted": "keep_text"})  # type: ignore[arg-type]

    assert texts(shape, messages) == texts(shape, list(found.messages))


@pytest.mark.sampled(3)
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
    assert results["before"] + len(report.synthesised) == results["after"] + len(report.dropped_results)
    assert thoughts["before"] == thoughts["after"] + len(report.dropped_thinking)
    kept = len(messages) - len(report.dropped_messages)
    assert kept <= len(found.messages) <= kept + len(report.synthesised) + len(report.moved)
