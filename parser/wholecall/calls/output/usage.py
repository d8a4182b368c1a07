"""Token counts of a provider, under all names in use."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_private = True

_INPUT = (
    "input_tokens",
    "prompt_tokens",
    "inputTokens",
    "promptTokens",
    "promptTokenCount",
    "prompt_token_count",
    "prompt_eval_count",
    "num_prompt_tokens",
    "total_input_tokens",
    "inputTextTokenCount",
)
_OUTPUT = (
    "output_tokens",
    "completion_tokens",
    "outputTokens",
    "completionTokens",
    "candidatesTokenCount",
    "candidates_token_count",
    "responseTokenCount",
    "response_token_count",
    "eval_count",
    "num_completion_tokens",
    "total_output_tokens",
    "generation_token_count",
    "totalOutputTextTokenCount",
)
_WITHIN = ("tokens", "billed_units")  # the members with Cohere's counts
_MOST = 2**63 - 1


def tokens_of(usage: Mapping[str, Any]) -> tuple[int | None, int | None]:
    """Return the tokens of input and output in a usage; None for a count that has no usual name there."""
    inner = (usage.get(name) for name in _WITHIN)
    places = [usage, *(place for place in inner if isinstance(place, Mapping))]
    return _first(places, _INPUT), _first(places, _OUTPUT)


def _first(places: list[Mapping[str, Any]], names: tuple[str, ...]) -> int | None:
    counts = (_count(place.get(name)) for place in places for name in names)
    return next((count for count in counts if count is not None), None)


def _count(value: object) -> int | None:
    """Return a count as a number that fits a column, None if it is not a count."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return value if type(value) is int and 0 <= value <= _MOST else None
