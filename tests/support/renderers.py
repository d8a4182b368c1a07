"""How an abstract turn goes over the wire in each dialect: the table of the law that all dialects agree."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import encode, encode_agents, encode_bedrock, encode_cohere, encode_gemini, encode_ollama
from tests.support.encode import Pieces, Turn

__all__ = ["RENDERERS", "SERVER_SIDE", "WITHOUT_IDS"]

RENDERERS: dict[str, Callable[[Turn, Pieces], bytes]] = {
    "chat-completions": encode.render_chat,
    "responses": encode.render_responses,
    "anthropic": encode.render_anthropic,
    "cohere-v2": encode_cohere.render_v2,
    "cohere-v1": encode_cohere.render_v1,
    "ollama": encode_ollama.render,
    "bedrock-converse": encode_bedrock.render_converse,
    "bedrock-invoke-anthropic": encode_bedrock.render_invoke_anthropic,
    "bedrock-invoke-nova": encode_bedrock.render_invoke_nova,
    "bedrock-invoke-chat-completions": encode_bedrock.render_invoke_chat,
    "gemini": encode_gemini.render,
    "gemini, as a JSON array": encode_gemini.render_array,
    "gemini, with streamed arguments": encode_gemini.render_streamed,
    "ag-ui": encode_agents.render_ag_ui,
    "acp": encode_agents.render_acp,
}

WITHOUT_IDS = frozenset({"cohere-v1"})  # their calls get minted ids
SERVER_SIDE = frozenset({"acp"})  # who sends their calls executes them
