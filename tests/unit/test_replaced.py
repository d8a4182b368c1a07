"""A frame that holds bytes that are not UTF-8: whether it can still be read."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.together import together
from wholecall.dialects.replaced import fault_of
from wholecall.framing import Frame

BAD = "x\ufffdy"


@together(
    ("payload", "readable"),
    [
        ({"choices": [{"delta": {"content": BAD}}]}, True),
        ({"delta": {"type": "text_delta", "text": BAD}}, True),
        ({"function": {"name": "f", "arguments": BAD}}, True),
        ({"functionCall": {"name": "f", "args": {BAD: [BAD]}}}, True),
        ({"content": [BAD, {"text": BAD}]}, True),
        ({"function": {"name": BAD, "arguments": "{}"}}, False),
        ({"choices": [{"delta": {BAD: "text"}}]}, False),
        ({"type": BAD, "text": "x"}, False),
        ({"content": [{"id": BAD}]}, False),
        ({"delta": {"type": BAD}}, False),
    ],
)
def test_only_text_may_hold_replaced_bytes(payload: dict[str, Any], readable: bool) -> None:
    """Text is known by the name of its member; replaced bytes anywhere else make a hole of the frame."""
    fault = fault_of(Frame("message", json.dumps(payload, ensure_ascii=False), replaced=True))

    assert ("invalid_utf8", not readable) == (fault.kind, fault.hole)


def test_what_is_no_object() -> None:
    """A lone text is read; the name of an event is a label; the dialect reports undecodable text."""
    assert not fault_of(Frame("0", f'"{BAD}"', replaced=True)).hole
    assert not fault_of(Frame("message", f"{{{BAD}", replaced=True)).hole
    assert fault_of(Frame(BAD, "{}", replaced=True)).hole


@pytest.mark.parametrize("opens", ["[", '{"a":'])
@pytest.mark.parametrize("depth", [200, 900, 5000])
def test_depth_is_the_senders_to_choose(opens: str, depth: int) -> None:
    """However deep a damaged frame is nested, it is reported as damaged, and nothing raises."""
    closes = {"[": "]", '{"a":': "}"}[opens]
    body = '{"z":' + opens * depth + f'"{BAD}"' + closes * depth + "}"

    assert "invalid_utf8" == fault_of(Frame("message", body, replaced=True)).kind
