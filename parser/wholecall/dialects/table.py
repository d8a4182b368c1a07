"""The dialects, as one literal table: a record each, in the order in which detection asks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from wholecall.dialects import anthropic, chat, gemini, legacy, responses
from wholecall.dialects.translator import Translator
from wholecall.errors import UnknownDialect

__all__ = ["DIALECTS", "Dialect", "Translator", "detect_dialect", "named"]


class Dialect(msgspec.Struct, frozen=True):
    """A wire format.

    Attributes:
        name: as in `TurnStarted.dialect`.
        framings: the framings in which it comes, by their names, the usual one first.
        detect: whether a frame is decisive for this dialect; it is given the decoded object and the event's name.
        start: makes the translator of one stream.
    """

    name: str
    framings: tuple[str, ...]
    detect: Callable[[Mapping[str, Any], str], bool]
    start: Callable[[], Translator]


_SSE = ("sse", "jsonl")

DIALECTS: Final[tuple[Dialect, ...]] = (
    Dialect("responses", _SSE, responses.detect, responses.ResponsesTranslator),
    Dialect("anthropic", _SSE, anthropic.detect, anthropic.AnthropicTranslator),
    Dialect("gemini", ("sse", "jsonarray", "jsonl"), gemini.detect, gemini.GeminiTranslator),
    Dialect("legacy-completions", _SSE, legacy.detect, legacy.LegacyTranslator),
    Dialect("chat-completions", _SSE, chat.detect, chat.ChatTranslator),
)


def named(name: str) -> Dialect:
    """Return the dialect of this name.

    Raises:
        UnknownDialect: there is none.
    """
    for dialect in DIALECTS:
        if dialect.name == name:
            return dialect
    known = ", ".join(dialect.name for dialect in DIALECTS)
    raise UnknownDialect(f"there is no dialect {name!r}; use 'auto' or one of: {known}")


def detect_dialect(payload: Mapping[str, Any], event: str = "") -> Dialect | None:
    """Return the first dialect for which the frame is decisive, None while none is."""
    return next((dialect for dialect in DIALECTS if dialect.detect(payload, event)), None)
