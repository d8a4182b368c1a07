"""The evidence about calls: which facts count, and what snapshots keep of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.support.slotted import HOLE, RESTART, A, after, begun, closed, piece
from wholecall import ToolCall, ToolCallDropped
from wholecall.deltas import TurnEnded
from wholecall.machine.evidence import CallEvidence, FactKind
from wholecall.stream.snapshots.shapes import kept_by

if TYPE_CHECKING:
    from wholecall.deltas import Delta


def noted(*facts: FactKind) -> CallEvidence:
    """Return the evidence after these facts."""
    evidence = CallEvidence()
    for fact in facts:
        evidence.note(fact)
    return evidence


def answers(evidence: CallEvidence) -> dict[str, object]:
    """Return the answer to each question."""
    questions = [name for name in dir(CallEvidence) if isinstance(getattr(CallEvidence, name), property)]
    return {name: getattr(evidence, name) for name in questions}


@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((), (False, False, False)),
        (("lost_text",), (True, False, True)),
        (("orphan_text",), (False, True, True)),
        (("orphan_text", "accounted"), (False, False, False)),
        (("lost_text", "accounted"), (True, False, True)),
        (("lost_text", "orphan_text", "restored"), (False, False, False)),
        (("lost_text", "orphan_text", "confirmed_empty"), (False, False, False)),
        (("lost_text", "restored", "lost_text"), (True, False, True)),
        (("lost_text", "orphan_text", "started_over"), (False, False, False)),
    ],
)
def test_a_later_fact_makes_an_earlier_one_void(
    facts: tuple[FactKind, ...], expected: tuple[bool, bool, bool]
) -> None:
    """Text is missing as long as no later fact accounts for it or brings it, and again if more is lost then."""
    evidence = noted(*facts)

    assert expected == (evidence.lost_text, evidence.orphan_text, evidence.lacks_text)


@pytest.mark.parametrize(
    ("fact", "question"),
    [
        ("text_elsewhere", "text_elsewhere"),
        ("restored", "restored"),
        ("cut", "cut"),
        ("closed", "closed"),
        ("role_repeated", "role_repeated"),
        ("reasoned", "reasoned"),
        ("end_shown", "end_shown"),
        ("came_whole", "came_whole"),
    ],
)
def test_each_fact_answers_its_question(fact: FactKind, question: str) -> None:
    """A fact that is noted answers one question with yes, and no other one."""
    changed = dict(answers(noted()).items() ^ answers(noted(fact)).items())

    assert ({question}, False, True) == (
        set(changed),
        getattr(noted(), question),
        getattr(noted(fact), question),
    )


def test_why_a_call_was_dropped_or_a_turn_aborted() -> None:
    """A drop has a reason; of several aborts the last one's words count."""
    evidence = CallEvidence()
    before = evidence.dropped, evidence.aborted
    evidence.note("dropped", "truncated", "one")
    evidence.note("aborted", detail="two")
    evidence.note("aborted", detail="three")

    assert [(None, ""), ("truncated", "three")] == [before, (evidence.dropped, evidence.aborted)]


def test_text_that_is_missing_can_be_noted_again() -> None:
    """The losses in force can be taken down, and noted after a fact that made them void."""
    evidence = noted("orphan_text", "closed")
    evidence.note("lost_text", detail="two")
    missing = evidence.missing_text()
    evidence.note("restored")
    void = evidence.missing_text()
    evidence.note_again(missing)

    assert (["lost_text", "orphan_text"], ["two", ""]) == (
        [fact.kind for fact in missing],
        [fact.detail for fact in missing],
    )
    assert ((), missing) == (void, evidence.missing_text())


@pytest.mark.parametrize(
    ("facts", "left"),
    [
        (("reasoned", "end_shown", "closed", "read_again"), {"closed", "read_again"}),
        (("restored", "cut", "started_over"), {"cut"}),
    ],
)
def test_a_call_that_is_read_again_needs_its_ends_again(facts: tuple[FactKind, ...], left: set[str]) -> None:
    """What readings assign anew is void: ends of the turn for calls that are read again, texts for those started over."""
    assert left == {name for name, answer in answers(noted(*facts)).items() if answer is True}


def test_a_fact_counts_once() -> None:
    """A fact that is in force is not noted again: many damaged frames are one loss, and the first refusal stands."""
    evidence = noted("lost_text", "lost_text", "cut")
    evidence.note("refused", "ambiguous", "one")
    evidence.note("refused", "nameless", "two")

    assert ["lost_text", "cut", "refused"] == [fact.kind for fact in evidence.facts]
    assert ("ambiguous", "one") == (evidence.refusal, evidence.detail)


def test_a_refusal_can_be_withdrawn() -> None:
    """After a refusal was withdrawn another one counts, with its own words."""
    evidence = CallEvidence()
    evidence.note("refused", "ambiguous", "one")
    evidence.note("permitted")
    withdrawn = evidence.refusal, evidence.detail
    evidence.note("refused", "nameless", "two")

    assert [(None, ""), ("nameless", "two")] == [withdrawn, (evidence.refusal, evidence.detail)]


def test_a_call_can_close_and_open_often() -> None:
    """The last of many ends and starts counts, and the record of them stays short."""
    evidence = noted(*(["closed", "reopened"] * 500))
    before = evidence.closed
    evidence.note("closed")

    assert (False, True, True) == (before, evidence.closed, len(evidence.facts) < 100)


@pytest.mark.parametrize(
    "facts",
    [
        ("lost_text", "restored", "lost_text", "closed"),
        ("closed", "reopened", "cut", "reasoned", "end_shown", "read_again", "reasoned"),
        (*["closed", "reopened"] * 100, "closed", "orphan_text", "accounted", "came_whole", "role_repeated"),
    ],
)
def test_snapshots_keep_the_facts_only(facts: tuple[FactKind, ...]) -> None:
    """Which facts are in force follows from their record, however long it was; a short record holds void facts, too."""
    evidence = noted(*facts)
    again = CallEvidence()
    again.facts = list(evidence.facts)
    again.remade()

    assert (answers(evidence), evidence.told_against()) == (answers(again), again.told_against())
    assert ["facts"] == list(kept_by(CallEvidence))
    assert ["lost_text", "restored"] == [fact.kind for fact in noted("lost_text", "restored").facts]


def test_what_speaks_against_a_call_is_said_in_words() -> None:
    """The facts in force that speak against a call are told in their order; others and void ones are not."""
    evidence = noted("cut", "lost_text", "restored", "reasoned", "orphan_text", "role_repeated")
    evidence.note("refused", "ambiguous", "its labels can be read in several ways")

    assert evidence.told_against() == (
        "the wire calls it incomplete",
        "text without an owner came while it was open",
        "the role came again after it began",
        "its labels can be read in several ways",
    )
    assert noted("refused").told_against() == ("it cannot be emitted",)


@pytest.mark.parametrize(
    ("trouble", "facts"),
    [
        ([], None),
        ([HOLE], ["a part of the stream was lost while it was open"]),
        ([piece(7, A), piece(8, A)], ["text without an owner came while it was open"]),
        ([closed(7)], ["labels contradict each other while it was open"]),
        (
            [piece(7, A), HOLE, HOLE, piece(9, A)],
            [
                "text without an owner came while it was open",
                "a part of the stream was lost while it was open",
            ],
        ),
        ([RESTART], ["the message started again while it was open"]),
    ],
)
def test_a_drop_carries_its_facts(trouble: list[Delta], facts: list[str] | None) -> None:
    """A drop names in words what came in the stream that speaks against its call, each once, in its order."""
    choice = after(
        begun(0, "c", "f"), piece(0, A), begun(1, "d", "g"), *trouble, closed(0), closed(1), TurnEnded()
    )
    (end,) = (
        event
        for event in choice.emitted
        if isinstance(event, (ToolCall, ToolCallDropped)) and event.id == "c"
    )

    assert facts == (list(end.facts) if isinstance(end, ToolCallDropped) else None)
