"""How an abstract turn goes over the wire in each dialect: the table of the law that all dialects agree."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import encode, encode_gemini
from tests.support.encode import Pieces, Turn

__all__ = ["RENDERERS"]

RENDERERS: dict[str, Callable[[Turn, Pieces], bytes]] = {
    "chat-completions": encode.render_chat,
    "responses": encode.render_responses,
    "anthropic": encode.render_anthropic,
    "gemini": encode_gemini.render,
    "gemini, as a JSON array": encode_gemini.render_array,
    "gemini, with streamed arguments": encode_gemini.render_streamed,
}
