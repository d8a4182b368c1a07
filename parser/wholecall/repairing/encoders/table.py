"""The dialects that have an encoder, by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from wholecall.errors import UnknownDialect, choices, meant
from wholecall.repairing.encoders.anthropic import AnthropicEncoder
from wholecall.repairing.encoders.base import Encoder
from wholecall.repairing.encoders.chat import ChatEncoder
from wholecall.repairing.encoders.gemini import GeminiEncoder
from wholecall.repairing.encoders.responses import ResponsesEncoder

ENCODERS: Final[dict[str, Callable[[], Encoder]]] = {
    "anthropic": AnthropicEncoder,
    "chat-completions": ChatEncoder,
    "gemini": GeminiEncoder,
    "responses": ResponsesEncoder,
}


def encoder(dialect: str) -> Encoder:
    """Return an encoder that writes one turn in the dialect.

    Raises:
        UnknownDialect: the dialect cannot be written.
    """
    name = meant(dialect, ENCODERS)
    if name is None:
        raise UnknownDialect(f"cannot write {dialect!r}; {choices(dialect, ENCODERS)}")
    return ENCODERS[name]()
