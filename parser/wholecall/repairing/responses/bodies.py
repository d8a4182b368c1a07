"""Whole bodies of Responses: the items that are calls, the text of messages, and the status."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.chat import error_of
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.items import label_of
from wholecall.repairing.responses import places
from wholecall.repairing.schema import BODIES
from wholecall.repairing.wire import Body, Leaked, placed
from wholecall.repairing.withholding import Losses
from wholecall.types import TurnReason


def _claims(payload: dict[str, Any]) -> list[TurnReason]:
    return [places.response_claim(payload)]


def _rewritten(payload: dict[str, Any], calls: Sequence[Executable], losses: Losses) -> dict[str, Any]:
    output = payload.get("output")
    if not isinstance(output, list):
        return payload
    edited = dict(payload)
    if [places.item_label(item) for item in output if places.is_ours(item)] != list(map(label_of, calls)):
        encoder = ResponsesEncoder()
        edited["output"] = placed(output, places.is_ours, [encoder.item(call) for call in calls])
    if places.response_claim(payload) == "stop" and not calls and losses.is_cut():
        edited |= places.cut_response()
    edited["output"] = [_with_id(item, payload.get("id"), at) for at, item in enumerate(edited["output"])]
    return edited


def _with_id(item: Any, response_id: object, place: int) -> Any:
    if not isinstance(item, dict) or (type(item.get("id")) is str and item["id"]):
        return item
    return {**item, "id": places.minted_id(item, response_id, place)}


# Calls that were leaked into text.


def _unleaked(payload: dict[str, Any], found: Leaked) -> dict[str, Any]:
    """Write the text into the first part with text, and the calls after all items."""
    output = payload.get("output")
    items = places.with_text(output, found.text(0)) if isinstance(output, list) else []
    calls = [places.call_item(call.id, call.name, argument_text(call)) for call in found.calls(0)]
    return {**payload, "output": [*items, *calls]}


BODY: Final = Body(_claims, _rewritten, error_of, _unleaked, schema=BODIES["responses"])
