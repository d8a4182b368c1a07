"""OpenAI Responses: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.parts import without_parts
from wholecall.deltas import (
    HYDRATION,
    ITEM_DONE,
    CallWhole,
    Delta,
    Restated,
    Slot,
    UsageSeen,
)
from wholecall.dialects.openai.responses.translator import ResponsesTranslator
from wholecall.framing.frame import Frame

ID = {"item_id": "fc_1"}
CREATED = {"type": "response.created", "response": {"id": "resp_1", "model": "m", "output": []}}


def translate(*payloads: dict[str, Any] | str | Frame, guest: bool = False) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = ResponsesTranslator(guest=guest)
    deltas: list[Delta] = []
    for payload in payloads:
        data = (
            payload if isinstance(payload, str) else json.dumps(payload) if isinstance(payload, dict) else ""
        )
        deltas += translator.translate(payload if isinstance(payload, Frame) else Frame("message", data))
    return without_parts(deltas + translator.close())


def call(**fields: Any) -> dict[str, Any]:
    """Build a function call item."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "f", "arguments": ""}
    return {**item, **fields}


def piece(text: object, index: object = 0, item_id: object = "fc_1", **more: Any) -> dict[str, Any]:
    """Build a piece of argument text."""
    event = {"type": "response.function_call_arguments.delta", "output_index": index, "item_id": item_id}
    return {**event, "delta": text, **more}


def ended(kind: str = "completed", *output: dict[str, Any], **response: Any) -> dict[str, Any]:
    """Build a final event."""
    return {"type": f"response.{kind}", "response": {"id": "resp_1", "output": list(output), **response}}


def whole(text: str, rank: int, index: int | None = 0, *, id_wins: bool = True) -> CallWhole:
    """Return the events for the item of `call` with text; a finished item is over."""
    closes = rank == ITEM_DONE
    return CallWhole(0, index, "fc_1", "call_1", "f", text, rank, id_wins=id_wins, extra=ID, closes=closes)


def restated(*calls: CallWhole) -> Restated:
    """Return the finished response's entries for calls."""
    return Restated(0, calls)


def test_a_guest_speaks_of_calls_only() -> None:
    """In a chat stream the turn belongs to the chat (quirk 89)."""
    deltas = translate(
        CREATED,
        piece("a", sequence_number=1),
        piece("b", sequence_number=9),
        ended("completed", call(arguments="{}"), usage={"n": 1}),
        ended("cancelled"),
        "[DONE]",
        guest=True,
    )

    assert [
        Slot(0, 0, "fc_1", "a"),
        Slot(0, 0, "fc_1", "b"),
        restated(whole("{}", HYDRATION, None)),
        UsageSeen({"n": 1}),
    ] == deltas
