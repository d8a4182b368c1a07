"""Steps of a message: when a call under a known id is another one, and the calls of a step that is taken back."""

from __future__ import annotations

from tests.support.assembled import told
from tests.support.blocks import ENDS, begun, bound, closed, dropped, piece
from tests.support.bound import A, Got
from wholecall.calls.output.call_events import ToolCall, ToolCallCancelled, ToolCallDropped
from wholecall.deltas import Delta, StepBegan, StepTakenBack

CALL: list[Delta] = [begun(0, "c", "f"), piece(0, A), closed()]
AGAIN: list[Delta] = [begun(1, "c", "f"), piece(1, A), closed(1)]
ONE = Got("c", "f", A)


def test_each_step_has_calls_of_its_own() -> None:
    """Servers that number their calls begin anew with each step; a step of the same number is the same step, sent again."""
    two = [ONE, Got("c#2", "f", A, "duplicate_id")]

    assert two == bound(*CALL, StepBegan(0), *AGAIN)
    assert two == bound(StepBegan(0), *CALL, StepBegan(0), *AGAIN)
    assert two == bound(StepBegan(0, 1), *CALL, StepBegan(0, 2), *AGAIN)
    assert [ONE] == bound(StepBegan(0, 1), *CALL, StepBegan(0, 1), *AGAIN)


def test_a_step_that_is_taken_back() -> None:
    """Its emitted calls are taken back, its open ones are dropped, and its ids are free for the step that follows."""
    step = [*CALL, begun(1, "d", "g"), piece(1, '{"b"')]
    ended = (ToolCall, ToolCallDropped, ToolCallCancelled)
    came = [event for event in told(*step, StepTakenBack(0), *CALL, *ENDS) if isinstance(event, ended)]

    assert [ToolCall, ToolCallDropped, ToolCallCancelled, ToolCall] == [type(event) for event in came]
    assert ["c", "d", "c", "c"] == [event.id for event in came]
    assert Got("d", "g", '{"b"', dropped("aborted")) in bound(*step, StepTakenBack(0), *CALL)
