"""Text completions: frame in, deltas out."""

from __future__ import annotations

from typing import Any

from tests.support.together import together
from wholecall.dialects.table import named


@together(
    ("payload", "known"),
    [
        ({"choices": [{"text": "x"}]}, True),
        ({"choices": [{"text": "x", "delta": {}}]}, False),
        ({"generation": "", "stop_reason": None}, True),
        ({"generation": "x"}, False),
        ({"generation": {}, "stop_reason": None}, False),
        ({"outputText": "x", "completionReason": None}, True),
        ({"outputText": "x"}, False),
        ({"outputs": [{"text": "x", "stop_reason": None}]}, True),
        ({"outputs": [{"text": "x"}]}, False),
        ({"outputs": [{"delta": {"content": "x"}}]}, False),
        ({"outputs": [], "results": []}, False),
        ({"results": [{"outputText": "x", "completionReason": "FINISH"}]}, True),
        ({"stop_reason": "stop"}, False),
    ],
    ids=str,
)
def test_text_and_a_place_for_the_reason_decide(payload: dict[str, Any], known: bool) -> None:
    """A member that happens to be called so is not enough: text and reason go together."""
    assert known == named("legacy-completions").detect(payload, "")
