"""The parts of Gemini that go back as they came: those that text, thoughts and the client's calls do not cover.

They are code that Google ran and its result, calls of its tools and their responses, media, and parts of unknown kinds,
each with its signature and all its members:

    {"executableCode": {"language": "PYTHON", "code": "…"}, "thoughtSignature": "…"}
    {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "…"}}
    {"inlineData": {"mimeType": "image/png", "data": "…"}, "thoughtSignature": "…"}

Source: Gemini API reference, `Content.parts`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, Union

from wholecall.dialects.decode import listed, member, plain

__all__ = ["WireParts", "no_parts"]

# Members that are reported otherwise, or belong to such members.
_LABELS: Final = frozenset(
    {
        *("thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"),
        *("text", "functionCall", "function_call"),
    }
)


def no_parts(_number: int) -> dict[str, Any]:
    """Return an empty part, for a dialect in which no part goes back."""
    return {}


class WireParts:
    """The parts of a frame as the wire has them, read on the first request."""

    _text: str
    _candidates: Union[list[list[Any]], None]  # the parts of each candidate, once they were asked for

    def __init__(self, text: str) -> None:
        self._text = text
        self._candidates = None

    def of(self, place: int) -> Callable[[int], dict[str, Any]]:
        """Return the function that gives the parts of a candidate by their number."""
        return partial(self._part, place)

    def _part(self, place: int, number: int) -> dict[str, Any]:
        """Return a part, an empty one if it holds nothing but labels, or cannot be found."""
        if self._candidates is None:
            self._candidates = _parts(plain(self._text))
        parts = self._candidates[place] if place < len(self._candidates) else []
        part = parts[number] if number < len(parts) else None
        return part if isinstance(part, dict) and part.keys() - _LABELS else {}


def _parts(frame: Any) -> list[list[Any]]:
    response = frame if member(frame, "candidates") is not None else member(frame, "response")
    return [
        _several(member(member(candidate, "content"), "parts"))
        for candidate in _several(member(response, "candidates"))
    ]


def _several(value: Any) -> list[Any]:
    return [value] if isinstance(value, dict) else listed(value)
