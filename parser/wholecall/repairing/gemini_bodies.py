"""Whole answers of Gemini: one response, or the list of them that is sent without `alt=sse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from wholecall.encoders.base import Executable
from wholecall.encoders.gemini import call_part
from wholecall.output.events import ToolCall
from wholecall.repairing import gemini_reading as reading
from wholecall.repairing.schema import conformed
from wholecall.repairing.wires import GEMINI
from wholecall.repairing.withholding import Losses
from wholecall.types import TurnReason

__all__ = ["gemini_body", "gemini_claims"]


def gemini_claims(payload: Any) -> list[TurnReason]:
    """Return the reasons for which candidates end, in our words."""
    return [reason for each in _responses(payload) for _, _, reason in reading.endings_of(each)]


def gemini_body(payload: Any, calls: Sequence[Executable], losses: Losses) -> Any:
    """Return the answer with these calls in its candidates; the same value if clients read them in it already."""
    ours = sorted(
        (call for call in calls if isinstance(call, ToolCall)), key=lambda call: (call.choice, call.index)
    )
    responses = _responses(payload)
    told = [label for response in responses for label in reading.told_in(response)]
    if sorted(told, key=lambda label: label[0]) != [reading.label_of(call) for call in ours]:
        written = _Written(ours)
        responses = [reading.mapped(response, written.into) for response in responses]
    ends = reading.Ends(losses, {call.choice for call in ours})
    for response in responses:
        ends.note(response)
    edited = [reading.mapped(response, ends.named) for response in responses]
    return _with_responses(payload, edited)


def _responses(payload: Any) -> list[dict[str, Any]]:
    """Return the responses in an answer, as clients read them."""
    listed = payload if isinstance(payload, list) else [payload]
    found = [reading.response_of(each) for each in listed if isinstance(each, dict)]
    shaped = (reading.shaped(response) for response in found if response is not None)
    return [conformed(response, GEMINI) or {} for response in shaped]


def _with_responses(payload: Any, responses: list[dict[str, Any]]) -> Any:
    """Return an answer with its responses replaced."""
    left = iter(responses)

    def replaced(each: Any) -> Any:
        is_response = isinstance(each, dict) and reading.response_of(each) is not None
        return reading.with_response(each, next(left)) if is_response else each

    return [replaced(each) for each in payload] if isinstance(payload, list) else replaced(payload)


class _Written:
    """Calls that are to be written into an answer's candidates, each into the first with its number."""

    def __init__(self, calls: Sequence[ToolCall[Any]]) -> None:
        self._left: dict[int, list[ToolCall[Any]]] = {}
        for call in calls:
            self._left.setdefault(call.choice, []).append(call)

    def into(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """Return a candidate with the remaining calls for it, instead of its own."""
        calls = self._left.pop(reading.number_of(candidate), [])
        return reading.with_calls(candidate, [call_part(call, with_minted=False) for call in calls])
