"""The UI message stream of the Vercel AI SDK: chunk in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
)
from wholecall.dialects.frameworks.vercel_ui import VercelUITranslator
from wholecall.framing.frame import Frame

START = {"type": "start", "messageId": "m"}


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = VercelUITranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame("message", data))
    return deltas + translator.close()


def chunk(kind: str, id: Any = "c", **more: Any) -> dict[str, Any]:
    """Return a chunk about a call."""
    return {"type": f"tool-{kind}", "toolCallId": id, **more}


def test_a_request_for_approval_finds_its_call_open() -> None:
    """It follows the whole input, also that of a second call; for a call that has ended it comes too late."""
    asked = CallSeen(0, "0/c", None, "c", None, flags=("needs_approval",))
    one, two = (chunk("input-available", id, toolName="f", input={"a": 1}) for id in "cd")
    request = chunk("approval-request", approvalId="a")
    deltas = translate(one, two, request, {"type": "finish-step"}, request)

    assert [asked, CallClosed(0, "0/c", None), CallClosed(0, "0/d", None)] == deltas[-3:]
    assert 1 == deltas.count(asked)


def test_equal_calls_of_one_id_are_one() -> None:
    """The same call again is that call, also if it was begun as often as it came, and has text each time."""
    begun, piece = chunk("input-start", toolName="f"), chunk("input-delta", inputTextDelta='{"a":1}')
    whole, finish = chunk("input-available", toolName="f", input={"a": 1}), {"type": "finish"}
    one = [piece, whole]
    new = CallWhole(0, None, None, None, "f", '{"a":1}', ITEM_DONE, begins=True, closes=True)

    assert new not in translate(START, begun, begun, *one, *one, finish)
    assert new not in translate(START, begun, begun, *one, whole, finish)
    assert new not in translate(START, begun, begun, *one, whole, *one, whole, finish)
    assert new not in translate(START, begun, *one, *one, finish)
    assert new not in translate(START, begun, *one, begun, *one, finish)  # the call is repeated
    assert new not in translate(START, begun, begun, *one, *one, chunk("approval-request"), finish)
    assert new not in translate(START, begun, begun, *one, *one, chunk("output-available"), finish)
