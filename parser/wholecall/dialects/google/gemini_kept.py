"""The parts of Gemini that go back as they came: those that text, thoughts and the client's calls do not tell.

They are code that Google ran and what came of it, calls of its tools and their responses, media, and parts of kinds that
nobody knows, each with its signature and all its members:

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

# Members that are told otherwise, or belong to what the others say.
_LABELS: Final = frozenset(
    {
        *("thought", "thoughtSignature", "thought_signature", "partMetadata", "part_metadata"),
        *("text", "functionCall", "function_call"),
    }
)


def no_parts(_number: int) -> dict[str, Any]:
    """Return no part: of a dialect in which none goes back."""
    return {}


class WireParts:
    """The parts of a frame as the wire has them, read where one is asked for."""

    _text: str
    _candidates: Union[list[list[Any]], None]  # of each one its parts, once they were asked for

    def __init__(self, text: str) -> None:
        self._text = text
        self._candidates = None

    def of(self, place: int) -> Callable[[int], dict[str, Any]]:
        """Return what returns the parts of a candidate by their number."""
        return partial(self._part, place)

    def _part(self, place: int, number: int) -> dict[str, Any]:
        """Return a part, an empty one if there is nothing in it but labels, or it cannot be found."""
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
