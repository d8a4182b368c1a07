"""Token counts of any provider, in the words of three wires.

Theory of operation. The prompt of OpenAI's wires includes the tokens that came from a cache; Anthropic counts these
apart. A usage with Anthropic's names for them is read that way. Details of zero are left out, except where a wire
requires them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from wholecall.calls.output.usage import tokens_of

_READ: Final = "cache_read_input_tokens"
_WRITTEN: Final = "cache_creation_input_tokens"
_INSIDE: Final = ("prompt_tokens_details", "input_tokens_details")
_ANSWER: Final = ("completion_tokens_details", "output_tokens_details")


class Counts(NamedTuple):
    """The tokens of a turn.

    Attributes:
        asked: of the whole prompt.
        cached: its part that was read from a cache.
        written: its part that was written to a cache.
        answered: of the answer.
        reasoned: the part of the answer that is reasoning.
    """

    asked: int = 0
    cached: int = 0
    written: int = 0
    answered: int = 0
    reasoned: int = 0

    def as_anthropic(self) -> dict[str, Any]:
        """Return the usage of a message."""
        apart = {_READ: self.cached, _WRITTEN: self.written}
        asked = max(self.asked - self.cached - self.written, 0)
        return {
            "input_tokens": asked,
            "output_tokens": self.answered,
            **{name: count for name, count in apart.items() if count},
        }

    def as_chat(self) -> dict[str, Any]:
        """Return the usage of a chat completion."""
        asked = {"prompt_tokens_details": {"cached_tokens": self.cached}} if self.cached else {}
        answered = {"completion_tokens_details": {"reasoning_tokens": self.reasoned}} if self.reasoned else {}
        return {
            "prompt_tokens": self.asked,
            "completion_tokens": self.answered,
            "total_tokens": self.asked + self.answered,
            **asked,
            **answered,
        }

    def as_responses(self) -> dict[str, Any]:
        """Return the usage of a response."""
        return {
            "input_tokens": self.asked,
            "input_tokens_details": {"cached_tokens": self.cached, "cache_write_tokens": self.written},
            "output_tokens": self.answered,
            "output_tokens_details": {"reasoning_tokens": self.reasoned},
            "total_tokens": self.asked + self.answered,
        }


def counts_of(usage: Mapping[str, Any] | None) -> Counts:
    """Return the counts of a usage, 0 for each that it lacks."""
    if not usage:
        return Counts()
    asked, answered = tokens_of(usage)
    if _READ in usage or _WRITTEN in usage:
        cached, written = _count(usage, _READ), _count(usage, _WRITTEN)
        return Counts((asked or 0) + cached + written, cached, written, answered or 0)
    inner, said = _inner(usage, _INSIDE), _inner(usage, _ANSWER)
    cached, written = _count(inner, "cached_tokens"), _count(inner, "cache_write_tokens")
    return Counts(asked or 0, cached, written, answered or 0, _count(said, "reasoning_tokens"))


def _inner(usage: Mapping[str, Any], names: tuple[str, ...]) -> Mapping[str, Any]:
    found = (usage.get(name) for name in names)
    return next((each for each in found if isinstance(each, Mapping)), {})


def _count(usage: Mapping[str, Any], name: str) -> int:
    value = usage.get(name)
    return value if type(value) is int and value > 0 else 0
