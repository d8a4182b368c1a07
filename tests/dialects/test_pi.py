"""pi's events: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import Call
from tests.support.encode_pi import reply, started, tool_call, updates
from wholecall.deltas import (
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.agents.pi import PiTranslator
from wholecall.framing.frame import Frame

CALL = Call("c", "f", '{"a": 1}')
BLOCK = tool_call(CALL)
OPENED = TurnOpened(None, None, "model-1", restart=True)
SEEN = CallSeen(0, 0, None, "c", "f", "server", begins=True)
LEARNT = CallSeen(0, 0, None, "c", "f", "server")
CLOSED = CallClosed(0, 0, None, final=False)


def translate(*events: dict[str, Any]) -> list[Delta]:
    """Translate the events of one agent, without their token counts."""
    translator = PiTranslator()
    deltas = [delta for one in events for delta in translator.translate(Frame("", json.dumps(one)))]
    return [delta for delta in deltas + translator.close() if not isinstance(delta, UsageSeen)]


@pytest.mark.parametrize(("given", "n"), [({"a": 1}, 1), ({}, 0)])
def test_a_call_without_pieces_is_its_object(given: dict[str, Any], n: int) -> None:
    """An empty one is a placeholder."""
    block = BLOCK | {"arguments": given}
    deltas = translate(started(reply([])), *updates(0, [], block, []))
    text = CallWhole(0, 0, None, None, None, '{"a": 1}', OBJECT, "server")

    assert [OPENED, SEEN, LEARNT, *[text] * n, CLOSED] == deltas
