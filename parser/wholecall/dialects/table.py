"""The dialects, as one literal table: a record each, in the order in which detection asks them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import msgspec

from wholecall.dialects import detect
from wholecall.dialects.anthropic import AnthropicTranslator
from wholecall.dialects.chat import ChatTranslator
from wholecall.dialects.legacy import LegacyTranslator
from wholecall.dialects.responses import ResponsesTranslator
from wholecall.dialects.translator import Translator
from wholecall.errors import UnknownDialect

__all__ = ["DIALECTS", "Dialect", "Translator", "detect_dialect", "named"]


class Dialect(msgspec.Struct, frozen=True):
    """A wire format.

    Attributes:
        name: as in `TurnStarted.dialect`.
        detect: whether a decoded frame is decisive for this dialect.
        start: makes the translator of one stream.
    """

    name: str
    detect: Callable[[Mapping[str, Any]], bool]
    start: Callable[[], Translator]


DIALECTS: Final[tuple[Dialect, ...]] = (
    Dialect("responses", detect.is_responses, ResponsesTranslator),
    Dialect("anthropic", detect.is_anthropic, AnthropicTranslator),
    Dialect("legacy-completions", detect.is_legacy_completions, LegacyTranslator),
    Dialect("chat-completions", detect.is_chat_completions, ChatTranslator),
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


def detect_dialect(payload: Mapping[str, Any]) -> Dialect | None:
    """Return the first dialect for which the frame is decisive, None while none is."""
    return next((dialect for dialect in DIALECTS if dialect.detect(payload)), None)
