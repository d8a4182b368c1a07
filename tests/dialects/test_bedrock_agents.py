"""Agents for Amazon Bedrock: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

from tests.support.encode import JSON
from tests.support.encode_bedrock_agents import (
    api,
    returned,
)
from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    TurnOpened,
)
from wholecall.dialects.amazon.agents import BedrockAgentsTranslator
from wholecall.framing.frame import Frame

BARE = TurnOpened(None, None, restart=True)
CLOSED = CallClosed(0, 1, None)
RETURNED = Finish(0, "tool_calls", "returnControl")


def translate(*events: tuple[str, JSON], wrapped: bool = False) -> list[Delta]:
    """Translate events named by their frames, or as an SDK decodes them."""
    translator = BedrockAgentsTranslator()
    deltas: list[Delta] = []
    for name, payload in events:
        data = json.dumps({name: payload} if wrapped else payload, separators=(",", ":"))
        deltas += translator.translate(Frame("" if wrapped else name, data))
    return deltas + translator.close()


def whole(
    id: str | None = "t-1", kind: Any = "function", text: str = '{"a":"1"}', slot: int = 1
) -> CallWhole:
    """Return the events for the arguments of a call."""
    return CallWhole(0, slot, None, id, None, text, ITEM_DONE, kind)


def extra(**more: str) -> dict[str, Any]:
    """Return the data that the answer to a client's call needs."""
    return {"invocationId": "i", "actionGroup": "harbour"} | more


def test_an_operation_of_an_api() -> None:
    """Its path is its name; the parameters of the request and of its body are the arguments."""
    given, body = [{"name": "a", "value": "1"}], [{"name": "b", "value": "2"}]
    deltas = translate(returned("i", api("/berths", "POST", given, body)))
    seen = CallSeen(0, 1, None, "i", "/berths", extra=extra(httpMethod="POST"))

    assert [BARE, seen, whole("i", text='{"a":"1","b":"2"}'), CLOSED, RETURNED] == deltas
