"""The answer that a request of the probe asks for, found from the request alone, for servers that test the probe."""

from __future__ import annotations

from functools import cache
from typing import Any

import msgspec

from wholecall.grading.probe.asked import history_in, limit_in
from wholecall.grading.probe.bodies import body_of
from wholecall.grading.probe.exchange import Asked, Wire
from wholecall.grading.probe.running import AGAIN
from wholecall.grading.probe.scenarios import SCENARIOS, Variant

_TOLD_BY = ("messages", "input", "contents", "tools", "tool_choice", "toolConfig", "parallel_tool_calls")
_ENCODER = msgspec.json.Encoder(order="deterministic")


def asked_of(request: dict[str, Any], wire: Wire) -> Asked:
    """Return what a request of the probe asks for; of any other request an answer in text.

    Args:
        request: the JSON object of the request.
        wire: its wire.
    """
    whole, prompts = _table(wire)
    found = whole.get(_key(request))
    if found is not None:
        return found
    history = history_in(request)
    kind = "calls" if len(history) > 1 else "length"
    variant = prompts.get((kind, _ENCODER.encode(history[:1])))
    return Asked(outcome="text") if variant is None else variant.asked


def _key(request: dict[str, Any]) -> bytes:
    return _ENCODER.encode([{name: request[name] for name in _TOLD_BY if name in request}, limit_in(request)])


@cache
def _table(wire: Wire) -> tuple[dict[bytes, Asked], dict[tuple[str, bytes], Variant]]:
    """Return what whole requests ask for, and the variants that follow an answer, by kind and prompt."""
    whole: dict[bytes, Asked] = {}
    prompts: dict[tuple[str, bytes], Variant] = {}
    variants = [variant for scenario in SCENARIOS for variant in scenario.variants]
    for variant in [*variants, AGAIN]:
        body = body_of(variant, wire, "m", is_streamed=False)
        if variant.follows is None:
            whole[_key(body)] = variant.asked
        else:
            prompts[variant.follows, _ENCODER.encode(history_in(body)[:1])] = variant
    return whole, prompts
