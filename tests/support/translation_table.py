"""The members of requests, and their fate in the other wires, as docs/translation.md shows them.

python -m tests.support.translation_table     prints the tables, to be pasted between the markers in docs/translation.md
"""

from __future__ import annotations

import json
from typing import Any

from wholecall.translation import Untranslatable, translate_request

JSON = dict[str, Any]
PIXEL = "iVBORw0KGgo="
SCHEMA: JSON = {"type": "object", "properties": {"port": {"type": "string"}}}
BASE: dict[str, JSON] = {
    "anthropic": {
        "model": "m",
        "max_tokens": 10,
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"name": "f", "input_schema": SCHEMA}],
    },
    "chat-completions": {
        "model": "m",
        "messages": [{"role": "user", "content": "hi"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": SCHEMA}}],
    },
    "responses": {
        "model": "m",
        "input": "hi",
        "tools": [{"type": "function", "name": "f", "parameters": SCHEMA}],
    },
}
_SHARED: JSON = {
    "metadata": {"a": "b"},
    "prompt_cache_key": "k",
    "prompt_cache_options": {"mode": "auto"},
    "prompt_cache_retention": "24h",
    "safety_identifier": "s",
    "service_tier": "flex",
    "temperature": 0.5,
    "top_p": 0.5,
    "parallel_tool_calls": False,
    "tool_choice": "required",
    "stream": True,
    "user": "u",
    "store": True,
    "moderation": {"model": "m"},
}
# The members of each wire's requests, each with a value that says something.
MEMBERS: dict[str, JSON] = {
    "anthropic": {
        "model": "n",
        "messages": [{"role": "user", "content": "ho"}],
        "max_tokens": 11,
        "system": "Be brief.",
        "stream": True,
        "temperature": 0.5,
        "top_p": 0.5,
        "top_k": 5,
        "stop_sequences": ["x"],
        "tools": [{"name": "g", "input_schema": SCHEMA}],
        "tool_choice": {"type": "any"},
        "metadata": {"user_id": "u"},
        "output_config": {"effort": "low"},
        "output_format": {"type": "json_schema", "schema": SCHEMA},
        "thinking": {"type": "adaptive"},
        "cache_control": {"type": "ephemeral"},
        "service_tier": "standard_only",
        "context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]},
        "billing_policy": {"type": "x"},
        "compaction": {"type": "x"},
        "diagnostics": {"type": "x"},
        "fallback_credit_token": "x",
        "inference_geo": "us",
        "speed": "fast",
        "user_profile_id": "x",
        "workspace_id": "x",
        "betas": ["x"],
        "container": "c",
        "mcp_servers": [{"type": "url", "url": "https://x", "name": "x"}],
        "fallbacks": [{"model": "n"}],
        "thread": {"type": "x"},
    },
    "chat-completions": {
        **_SHARED,
        "model": "n",
        "messages": [{"role": "user", "content": "ho"}],
        "tools": [{"type": "function", "function": {"name": "g"}}],
        "max_tokens": 11,
        "max_completion_tokens": 11,
        "stop": ["x"],
        "reasoning_effort": "low",
        "response_format": {"type": "json_schema", "json_schema": {"name": "", "schema": SCHEMA}},
        "verbosity": "low",
        "stream_options": {"include_usage": True},
        "frequency_penalty": 0.5,
        "presence_penalty": 0.5,
        "logit_bias": {"5": 1},
        "seed": 5,
        "prediction": {"type": "content", "content": "x"},
        "n": 2,
        "logprobs": True,
        "top_logprobs": 2,
        "audio": {"voice": "x"},
        "modalities": ["audio"],
        "functions": [{"name": "f"}],
        "function_call": {"name": "f"},
        "web_search_options": {"search_context_size": "low"},
    },
    "responses": {
        **_SHARED,
        "model": "n",
        "input": [{"role": "user", "content": "ho"}],
        "instructions": "Be brief.",
        "tools": [{"type": "function", "name": "g"}],
        "max_output_tokens": 11,
        "reasoning": {"effort": "low"},
        "text": {"format": {"type": "json_schema", "name": "", "schema": SCHEMA}},
        "include": ["reasoning.encrypted_content"],
        "max_tool_calls": 2,
        "stream_options": {"include_obfuscation": True},
        "top_logprobs": 2,
        "truncation": "auto",
        "context_management": [{"type": "compaction"}],
        "access_programs": {"cyber": True},
        "image": {"context_compression": True},
        "background": True,
        "background_options": {"completion_window": "1h"},
        "conversation": "c",
        "previous_response_id": "r",
        "prompt": {"id": "p"},
    },
}


def others(wire: str) -> list[str]:
    """Return the other wires."""
    return [other for other in BASE if other != wire]


def fate(member: str, value: object, client: str, server: str) -> str:
    """Return the fate of a member: `said`, `left out`, `refused`, or `lost`, which no member must be."""
    plain = translate_request(json.dumps(BASE[client]).encode(), client, server)
    try:
        said = translate_request(json.dumps({**BASE[client], member: value}).encode(), client, server)
    except Untranslatable as error:
        return "refused" if error.member.startswith(member) else "lost"
    if any(path == member or path.startswith((f"{member}.", f"{member}[")) for path in said.left_out):
        return "left out"
    is_said = said.body != plain.body or said.wants_usage != plain.wants_usage
    return "said" if is_said else "lost"


def markdown(client: str) -> str:
    """Return the table of a wire's members."""
    servers = others(client)
    lines = [f"| of `{client}` | {' | '.join(f'to `{server}`' for server in servers)} |", "|---" * 3 + "|"]
    rows: dict[tuple[str, ...], list[str]] = {}
    for member, value in MEMBERS[client].items():
        fates = tuple(fate(member, value, client, server) for server in servers)
        rows.setdefault(fates, []).append(member)
    for fates, members in rows.items():
        lines.append(f"| {', '.join(f'`{member}`' for member in sorted(members))} | {' | '.join(fates)} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print("\n".join(map(markdown, BASE)), end="")  # noqa: T201 - that is what it is for
