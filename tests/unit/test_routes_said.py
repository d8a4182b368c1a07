"""Effects of deltas about no call: texts, reasoning, other parts, notes, and beginnings of messages."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.assembled import END, A, new, told
from wholecall.calls.output.events import ReasoningDelta, TextDelta, TurnFinished
from wholecall.calls.output.turns import OtherBlock, ReasoningBlock, Turn
from wholecall.deltas import (
    BlockKept,
    CallPlaced,
    CallSeen,
    Delta,
    Finish,
    MessageBegan,
    Noted,
    ReasoningFragment,
    StepBegan,
    StepTakenBack,
    TextBegan,
    TextFragment,
    TextRefused,
)
from wholecall.limits import Limits
from wholecall.machine.answer import OutputWanted
from wholecall.machine.assembler import Assembler
from wholecall.policy import Policy
from wholecall.types import TurnReason

HELD = {"type": "web_search_result", "n": 1}
STOP = Finish(0, "stop", "stop")


def seen(*deltas: Delta) -> Turn[Any]:
    """Return the turn that users see at the end."""
    assembler = new()
    assembler.advance([*deltas, STOP, END])
    assembler.close()
    return assembler.snapshot()


def test_text_and_reasoning_are_told_and_kept() -> None:
    """Text is reported piece by piece, and is in the turn; a signature is kept, and is not text to report."""
    said = [ReasoningFragment(0, "Hm"), ReasoningFragment(0, "", signature="s"), TextFragment(0, "Hi")]
    events = [event for event in told(*said) if isinstance(event, (ReasoningDelta, TextDelta))]
    turn = seen(*said)

    assert [(ReasoningDelta, "Hm"), (TextDelta, "Hi")] == [(type(event), event.text) for event in events]
    assert ("Hi", (ReasoningBlock("Hm", signature="s"),)) == (turn.text, turn.reasoning.blocks)


@pytest.mark.parametrize(
    ("said", "content"),
    [
        ([TextFragment(0, "a"), TextFragment(0, "b")], ("ab",)),
        ([TextFragment(0, "a"), TextBegan(0), TextFragment(0, "b")], ("a", "b")),
        ([TextFragment(0, "a"), BlockKept(0, HELD), TextFragment(0, "b")], ("a", OtherBlock(HELD), "b")),
        ([CallPlaced(0, "c"), BlockKept(0, HELD), CallSeen(0, 0, None, "c", "f")], (0, OtherBlock(HELD))),
        ([BlockKept(0, HELD), CallSeen(0, 0, None, "c", "f")], (OtherBlock(HELD), 0)),
    ],
)
def test_the_parts_of_an_answer_keep_their_order(said: list[Delta], content: tuple[Any, ...]) -> None:
    """Texts that begin apart, other parts, and calls are where they began; a call that was placed, at its place."""
    assert content == seen(*said).content


def test_what_is_odd_is_noted() -> None:
    """An anomaly that the dialect notes is one of the turn's."""
    assert ("unknown_events",) == seen(Noted(0, "unknown_events")).anomalies


# Answers that were asked for as values.


def answered(*deltas: Delta) -> tuple[str, str]:
    """Return the result of an answer that any JSON would satisfy: `value` or the reason for none, and its text."""
    assembler = Assembler(Policy(), Limits(), wanted=OutputWanted(None, is_live=False))
    assembler.advance([*deltas, STOP, END])
    assembler.close()
    output = assembler.snapshot().output
    assert output is not None
    return getattr(output, "reason", "value"), output.raw_text


def test_the_last_message_is_the_answer() -> None:
    """Where another message or step begins, the earlier text is not part of the answer."""
    for further in (MessageBegan(0), StepBegan(0), StepTakenBack(0)):
        assert ("value", A) == answered(TextFragment(0, "Let me see."), further, TextFragment(0, A))
    assert ("unparseable", f"Well: {A[1:]}") == answered(TextFragment(0, "Well: "), TextFragment(0, A[1:]))


def test_a_refusal_is_no_answer() -> None:
    """A wire's refusal is never read, even if it is JSON; where no value was asked for, it is text."""
    said = [TextRefused(0), TextFragment(0, A)]

    assert [("refused", A), A] == [answered(*said), seen(*said).text]


# Reasons.


@pytest.mark.parametrize(
    ("reasons", "wins"),
    [
        (["stop"], "stop"),
        (["stop", "tool_calls"], "tool_calls"),
        (["stop", "length"], "length"),
        (["length", "stop"], "length"),
        (["content_filter", "tool_calls"], "content_filter"),
    ],
)
def test_the_worse_of_two_reasons_counts(reasons: list[TurnReason], wins: TurnReason) -> None:
    """A further reason replaces the first, with the provider's word for it, unless the first one is worse."""
    events = told(*(Finish(0, reason, f"the provider's {reason}") for reason in reasons), END)
    (finished,) = (event for event in events if isinstance(event, TurnFinished))
    reason = "stop" if wins == "tool_calls" else wins  # none of these turns holds a call

    assert (reason, f"the provider's {wins}") == (finished.reason, finished.provider_reason)
