"""How an abstract turn goes over the wire in each dialect: the table of the law that all dialects agree."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import encode, encode_bedrock
from tests.support.encode import Pieces, Turn

__all__ = ["RENDERERS"]

RENDERERS: dict[str, Callable[[Turn, Pieces], bytes]] = {
    "chat-completions": encode.render_chat,
    "responses": encode.render_responses,
    "anthropic": encode.render_anthropic,
    "bedrock-converse": encode_bedrock.render_converse,
    "bedrock-invoke-anthropic": encode_bedrock.render_invoke_anthropic,
    "bedrock-invoke-nova": encode_bedrock.render_invoke_nova,
    "bedrock-invoke-chat-completions": encode_bedrock.render_invoke_chat,
}
