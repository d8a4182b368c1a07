"""Law 118, by the SDKs' own types: for any change of a member by a server, their strict checks accept the output.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support import share
from tests.support.conforming import BODIES, STREAMS, changed, payloads, stream_of
from wholecall.repairing import Repairer, repair_body

pytestmark = pytest.mark.sdk

# The type of a frame, and of a body.
TYPES = {
    "anthropic": ("anthropic.types.beta", "BetaRawMessageStreamEvent", "BetaMessage"),
    "chat-completions": ("openai.types.chat", "ChatCompletionChunk", "ChatCompletion"),
    "gemini": ("google.genai.types", "GenerateContentResponse", "GenerateContentResponse"),
    "responses": ("openai.types.responses", "ResponseStreamEvent", "Response"),
}
# Members that these types require, most servers omit, and no client needs.
UNASKED = {
    *("logprobs", "parallel_tool_calls", "tool_choice", "tools"),
    *("input_tokens_details", "output_tokens_details", "cache_write_tokens"),
}
# A reason for which chat completions have no word leaves unchanged.
UNSAID = "finish_reason word"


def checker(dialect: str, *, body: bool = False) -> Any:
    """Return the validator of a dialect's frames or bodies."""
    pydantic: Any = importlib.import_module("pydantic")
    module, frame, whole = TYPES[dialect]
    return pydantic.TypeAdapter(getattr(importlib.import_module(module), whole if body else frame))


def flaws(check: Any, payload: dict[str, Any]) -> Iterator[str]:
    """Yield the faults that a check finds; of a union, only those in the variants that the object names."""
    pydantic: Any = importlib.import_module("pydantic")
    try:
        check.validate_python(payload)
    except pydantic.ValidationError as error:
        found = error.errors()
        others = {
            each["loc"][:-1]
            for each in found
            if each["type"] == "literal_error" and each["loc"][-1] == "type"
        }
        for each in found:
            is_other = any(each["loc"][:length] in others for length in range(len(each["loc"]) + 1))
            is_unasked = each["type"] == "extra_forbidden" or not UNASKED.isdisjoint(map(str, each["loc"]))
            if not is_other and not is_unasked:
                yield f"{each['loc']} {each['type']}"


@pytest.mark.parametrize("dialect", STREAMS)
def test_the_sdk_takes_every_frame(dialect: str) -> None:
    """Any member of any frame may be missing or of another type: the SDK's type accepts the output."""
    check = checker(dialect)
    found = []
    for sound in STREAMS[dialect]:
        for at, frame in enumerate(sound):
            for what, payload in share.every(11, list(changed(frame)), f"{dialect} {at}"):
                repairer = Repairer(expected=dialect, withheld="end")
                data = stream_of(dialect, [*sound[:at], payload, *sound[at + 1 :]])
                out = repairer.feed(data) + repairer.close()
                found += [
                    (what, flaw)
                    for each in payloads(out)
                    for flaw in flaws(check, each)
                    if not what.endswith(UNSAID)
                ]

    assert [] == found


@pytest.mark.parametrize("dialect", BODIES)
def test_the_sdk_takes_every_body(dialect: str) -> None:
    """The same for its type of a body."""
    check = checker(dialect, body=True)
    found = []
    for sound in BODIES[dialect]:
        for what, body in changed(sound):
            repaired = repair_body(json.dumps(body).encode(), withheld="end")
            payload = json.loads(repaired.data)
            is_ours = repaired.report.dialect == dialect and not repaired.report.unread
            if is_ours and not payload.get("error") and not what.endswith(UNSAID):
                found += [(what, flaw) for flaw in flaws(check, payload)]

    assert [] == found
