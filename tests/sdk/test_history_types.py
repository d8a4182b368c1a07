"""Repaired transcripts against the SDKs: their own types of parameters, and another library's rules.

These tests need the extra `sdk`; `pytest -m sdk` runs them. The SDKs promise to accept the values of their types, read
by pydantic. An iterable field is checked while it is read, so everything is read to its end.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings

from tests.support.histories import Answer, Block, Happening, Result, Said, happenings, render
from wholecall.history import repair_transcript

pytestmark = pytest.mark.sdk

# The usual two hundred histories are few; the long profile looks at five thousand.
_USUAL = settings().max_examples
MANY = settings(max_examples=5000 if _USUAL >= 2000 else 200)

# The type of one message or item of each request. Gemini's is a model and not a typed dict.
TYPES = {
    "anthropic": ("anthropic.types", "MessageParam"),
    "chat-completions": ("openai.types.chat", "ChatCompletionMessageParam"),
    "gemini": ("google.genai.types", "Content"),
    "responses": ("openai.types.responses", "ResponseInputItemParam"),
}
# How a turn ended is a note of the host's: requests have no member for it, and Gemini's type refuses it.
STOPS = ("finishReason", "finish_reason", "stop_reason")


@cache
def _adapter(shape: str) -> Any:
    """Return the validator of a list of messages; it is kept, because lazy iterators refer to it."""
    pydantic = importlib.import_module("pydantic")
    module, name = TYPES[shape]
    kind = getattr(importlib.import_module(module), name)
    return pydantic.TypeAdapter(list[kind])


def _exhaust(value: Any) -> int:
    """Read a validated value to its end; return how many values are in it."""
    if isinstance(value, Mapping):
        return sum(map(_exhaust, value.values()))
    if isinstance(value, (Sequence, Iterator)) and not isinstance(value, (str, bytes)):
        return sum(map(_exhaust, value))
    return 1


def _sendable(messages: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return messages as a request has them, without the host's notes."""
    return [{name: value for name, value in one.items() if name not in STOPS} for one in messages]


def _repaired(shape: str, happened: list[Happening], **options: Any) -> list[dict[str, Any]]:
    found = repair_transcript(render(shape, happened), shape=shape, **options)  # type: ignore[arg-type]
    return _sendable(found.messages)


@pytest.mark.parametrize("shape", sorted(TYPES))
@MANY
@given(happened=happenings)
def test_repaired_transcripts_have_the_types_of_requests(shape: str, happened: list[Happening]) -> None:
    """After any damage, the SDK's types accept the output, each iterable read to its end (law 42)."""
    assert _exhaust(_adapter(shape).validate_python(_repaired(shape, happened))) >= 0


@pytest.mark.parametrize("shape", sorted(TYPES))
def test_the_types_refuse_what_is_not_repaired(shape: str) -> None:
    """The check can fail: a call whose arguments are of the wrong type is refused before its repair."""
    pydantic = importlib.import_module("pydantic")
    wrong: Any = ["no", "object"] if shape in ("anthropic", "gemini") else None
    broken = [Said("a"), Answer((Block("call", id="c1", arguments=wrong),)), Result("c1")]
    messages = _sendable(render(shape, broken))

    with pytest.raises(pydantic.ValidationError):
        _exhaust(_adapter(shape).validate_python(messages))
    assert _exhaust(_adapter(shape).validate_python(_repaired(shape, broken))) > 0


# --- another library's rules --------------------------------------------------------------------------------

PROVIDERS = {"anthropic": "anthropic", "chat-completions": "openai"}


def _violations(shape: str, messages: list[dict[str, Any]]) -> list[tuple[str, int, str | None]]:
    """Return the faults that `turnsafe` finds; its warnings are about input that only some models accept."""
    turnsafe = importlib.import_module("turnsafe")
    report = turnsafe.validate(messages, provider=PROVIDERS[shape])
    return [(one.code, one.index, one.tool_call_id) for one in report.violations if one.severity == "error"]


@pytest.mark.parametrize("shape", sorted(PROVIDERS))
@MANY
@given(happened=happenings)
def test_another_validator_agrees(shape: str, happened: list[Happening]) -> None:
    """A repaired list breaks no rule that `turnsafe` knows of the provider."""
    assert [] == _violations(shape, _repaired(shape, happened))


@pytest.mark.parametrize("shape", sorted(PROVIDERS))
def test_another_validator_finds_what_is_not_repaired(shape: str) -> None:
    """The check can fail: a missing result is found before its repair."""
    broken: list[Happening] = [Said("a"), Answer((Block("call", id="c1"),)), Said("b")]

    assert [("unanswered_tool_call", 1, "c1")] == _violations(shape, _sendable(render(shape, broken)))
    assert [] == _violations(shape, _repaired(shape, broken))
