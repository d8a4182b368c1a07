"""Whole answers of Gemini: one response, or the list of them that is sent without `alt=sse`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import ToolCall
from wholecall.repairing.encoders.base import Executable
from wholecall.repairing.encoders.gemini import call_part, error_of
from wholecall.repairing.gemini import places
from wholecall.repairing.schema import END_WORDS, GEMINI, conformed
from wholecall.repairing.wire import Body, Leaked
from wholecall.repairing.withholding import Ends, Losses
from wholecall.types import TurnReason


def _claims(payload: Any) -> list[TurnReason]:
    """Return the reasons for which candidates end, in our words."""
    return [reason for each in _responses(payload) for _, _, reason in places.endings_of(each)]


def _rewritten(payload: Any, calls: Sequence[Executable], losses: Losses) -> Any:
    """Return the answer with these calls in its candidates; the same value if clients read them in it already."""
    ours = sorted(
        (call for call in calls if isinstance(call, ToolCall)), key=lambda call: (call.choice, call.index)
    )
    responses = _responses(payload)
    told = [label for response in responses for label in places.told_in(response)]
    if sorted(told, key=lambda label: label[0]) != [places.label_of(call) for call in ours]:
        written = _Written(ours)
        responses = [places.mapped(response, written.into) for response in responses]
    ends = Ends(losses, {call.choice for call in ours}, END_WORDS["gemini"])
    for response in responses:
        ends.note(places.endings_of(response))
    edited = [places.with_reasons(response, ends) for response in responses]
    return _with_responses(payload, edited)


def _responses(payload: Any) -> list[dict[str, Any]]:
    """Return the responses in an answer, as clients read them."""
    listed = payload if isinstance(payload, list) else [payload]
    found = [places.response_of(each) for each in listed if isinstance(each, dict)]
    shaped = (places.shaped(response) for response in found if response is not None)
    return [conformed(response, GEMINI) or {} for response in shaped]


def _with_responses(payload: Any, responses: list[dict[str, Any]]) -> Any:
    """Return an answer with its responses replaced."""
    left = iter(responses)

    def replaced(each: Any) -> Any:
        is_response = isinstance(each, dict) and places.response_of(each) is not None
        return places.with_response(each, next(left)) if is_response else each

    return [replaced(each) for each in payload] if isinstance(payload, list) else replaced(payload)


class _Written:
    """Calls that are to be written into an answer's candidates, each into the first with its number."""

    def __init__(self, calls: Sequence[ToolCall[Any]]) -> None:
        self._left: dict[int, list[ToolCall[Any]]] = {}
        for call in calls:
            self._left.setdefault(call.choice, []).append(call)

    def into(self, candidate: dict[str, Any]) -> dict[str, Any]:
        """Return a candidate with the remaining calls for it, instead of its own."""
        calls = self._left.pop(places.number_of(candidate), [])
        return places.with_calls(candidate, [call_part(call, with_minted=False) for call in calls])


# Calls that were leaked into text.


def _unleaked(payload: dict[str, Any], found: Leaked) -> dict[str, Any]:
    """Write the text into the first part of a candidate with text, and the calls after all parts."""

    def edit(candidate: dict[str, Any]) -> dict[str, Any]:
        number = places.number_of(candidate)
        if not found.is_told(number):
            return candidate
        return _with_spoken(candidate, found.text(number), found.calls(number))

    response = places.response_of(payload)
    if response is None:
        return payload
    return places.with_response(payload, places.mapped(places.shaped(response), edit))


def _with_spoken(candidate: dict[str, Any], text: str, calls: Sequence[ToolCall[Any]]) -> dict[str, Any]:
    """Return a candidate of a whole response with this text instead of its own, and with calls after its parts."""
    kept: list[dict[str, Any]] = []
    for part in places.parts_of(candidate):
        if not part.get("text") or part.get("thought"):
            kept.append(part)
        elif text:
            kept.append({**part, "text": text})
            text = ""
    return places.with_parts(candidate, [*kept, *(call_part(call, with_minted=False) for call in calls)])


BODY: Final = Body(_claims, _rewritten, error_of, _unleaked, (dict, list))
