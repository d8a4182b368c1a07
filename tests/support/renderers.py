"""Renderings of an abstract turn in each dialect: the table of the law that all dialects agree."""

from __future__ import annotations

from collections.abc import Callable

from tests.support import (
    encode,
    encode_agents,
    encode_assistant_ui,
    encode_bedrock,
    encode_bedrock_agents,
    encode_claude_code,
    encode_clouds,
    encode_codex,
    encode_cohere,
    encode_copilot,
    encode_coze,
    encode_dify,
    encode_frameworks,
    encode_gemini,
    encode_gigachat,
    encode_langchain_protocol,
    encode_letta,
    encode_live,
    encode_llama_stack,
    encode_lmstudio,
    encode_mastra,
    encode_ollama,
    encode_openai,
    encode_pi,
    encode_pydantic_ai,
    encode_runs,
    encode_sap,
    encode_snowflake,
    template,
)
from tests.support.encode import Pieces, Turn
from wholecall.dialects import DIALECTS

_WRITTEN: dict[str, Callable[[Turn, Pieces], bytes]] = {
    "chat-completions": encode.render_chat,
    "responses": encode.render_responses,
    "anthropic": encode.render_anthropic,
    "cohere-v2": encode_cohere.render_v2,
    "cohere-v1": encode_cohere.render_v1,
    "langchain": encode_frameworks.render_langchain,
    "langchain-events": encode_frameworks.render_langchain_events,
    "langchain-protocol": encode_langchain_protocol.render,
    "langchain-protocol, bare": encode_langchain_protocol.render_bare,
    "vercel-data": encode_frameworks.render_data,
    "vercel-ui": encode_frameworks.render_ui,
    "ollama": encode_ollama.render,
    "bedrock-converse": encode_bedrock.render_converse,
    "bedrock-invoke-anthropic": encode_bedrock.render_invoke_anthropic,
    "bedrock-invoke-nova": encode_bedrock.render_invoke_nova,
    "bedrock-invoke-chat-completions": encode_bedrock.render_invoke_chat,
    "bedrock-invoke-cohere-v1": encode_bedrock.render_invoke_cohere_v1,
    "bedrock-invoke-cohere-v2": encode_bedrock.render_invoke_cohere_v2,
    "openai-assistants": encode_openai.render_assistants,
    "openai-realtime": encode_openai.render_realtime,
    "gemini": encode_gemini.render,
    "gemini, as a JSON array": encode_gemini.render_array,
    "gemini, with streamed arguments": encode_gemini.render_streamed,
    "dashscope": encode_clouds.render_dashscope,
    "dashscope, restating": encode_clouds.render_dashscope_restating,
    "mistral-conversations": encode_clouds.render_conversation,
    "workers-ai": encode_clouds.render_workers,
    "llama-api": encode_clouds.render_llama,
    "llama-stack": encode_llama_stack.render,
    "gemini-live": encode_live.render_live,
    "xai-grpc": encode_live.render_xai,
    "gemini-interactions": encode_live.render_interaction,
    "gemini-interactions, before steps": encode_live.render_contents,
    "ag-ui": encode_agents.render_ag_ui,
    "acp": encode_agents.render_acp,
    "copilot": encode_copilot.render,
    "coze": encode_coze.render,
    "dify": encode_dify.render,
    "claude-code": encode_claude_code.render,
    "claude-code, with events": encode_claude_code.render_streamed,
    "pi": encode_pi.render,
    "sap-orchestration": encode_sap.render,
    "ernie": encode_clouds.render_ernie,
    "hunyuan": encode_clouds.render_hunyuan,
    "gigachat": encode_gigachat.render,
    "gigachat, calls as they come": encode_gigachat.render_as_they_come,
    "bedrock-agents": encode_bedrock_agents.render,
    "bedrock-agents, returning control": encode_bedrock_agents.render_returning,
    "codewhisperer": encode_bedrock.render_codewhisperer,
    "codex-app-server": encode_codex.render,
    "codex-app-server, tools of the client": encode_codex.render_asking,
    "gemini-cli": encode_runs.render_gemini,
    "cursor": encode_runs.render_cursor,
    "assistant-transport": encode_assistant_ui.render,
    "snowflake-cortex": encode_snowflake.render,
    "letta": encode_letta.render,
    "letta, by steps": encode_letta.render_steps,
    "lmstudio": encode_lmstudio.render,
    "mastra": encode_mastra.render,
    "pydantic-ai": encode_pydantic_ai.render,
    "pydantic-ai, deferring": encode_pydantic_ai.render_deferring,
    "opencode": encode_runs.render_opencode,
    "opencode, newer events": encode_runs.render_opencode_newer,
    "opencode, lines of a run": encode_runs.render_opencode_run,
    "strands": encode_runs.render_strands,
}
# Dialects without a renderer of their own, whose cases show a turn with a whole call.
_SHOWN = {
    name: made
    for name in (dialect.name for dialect in DIALECTS)
    if name not in _WRITTEN and (made := template.renderer(name)) is not None
}
RENDERERS = _WRITTEN | _SHOWN

WITHOUT_IDS = frozenset(
    {"cohere-v1", "bedrock-invoke-cohere-v1", "ernie", "lmstudio"}
)  # their calls get minted ids
# The sender of their calls executes them.
SERVER_SIDE = frozenset(
    {
        "acp",
        "claude-code",
        "claude-code, with events",
        "codex-app-server",
        "gemini-cli",
        "letta",
        "letta, by steps",
        "lmstudio",
        "coze",
        "dify",
        "cursor",
        "opencode",
        "opencode, newer events",
        "opencode, lines of a run",
        "pi",
        "pydantic-ai",
        "strands",
        "bedrock-agents",
        *(name for name in _SHOWN if template.is_of_server(name)),
    }
)
