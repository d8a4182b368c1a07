"""Members that servers of chat completions put around a piece, as recorded: of chunk, choice and delta.

The words in them are ours. A null or empty member costs nothing to a reader that loads every event, and a typed reader
has to know it.
"""

from __future__ import annotations

from typing import Final

import msgspec
from msgspec.structs import replace

from benchmarks.envelopes.base import JSON

_CHUNK: Final[JSON] = {
    "id": "chatcmpl-CPx7hWq3nTz0VbYk2LmDs8RfGeUa4",
    "object": "chat.completion.chunk",
    "created": 1_760_000_000,
    "model": "gpt-4.1-mini-2025-04-14",
}
_NULLS: Final[JSON] = {
    "content": None,
    "function_call": None,
    "refusal": None,
    "role": None,
    "tool_calls": None,
}
_USAGE: Final[JSON] = {
    "prompt_tokens": 84,
    "completion_tokens": 12,
    "total_tokens": 96,
    "prompt_tokens_details": {"audio_tokens": 0, "cached_tokens": 0},
    "completion_tokens_details": {"audio_tokens": 0, "reasoning_tokens": 9},
}
_SPEAKS: Final[JSON] = {"role": "assistant", "content": ""}
_LOGPROBS: Final[JSON] = {"logprobs": None}
_NO_LABELS: Final[JSON] = {"id": None, "type": None}


class Gateway(msgspec.Struct, frozen=True):
    """The surroundings of a piece.

    Attributes:
        chunk, last: in a chunk, before and after the choices.
        choice: in a choice, after the delta.
        around_text, around_thought, around_calls: in a delta that brings text, reasoning, or a piece of a call.
        thought: the member of a delta that holds reasoning.
        details: the members of a reasoning detail in addition to its text; empty if the gateway sends none.
        call, function: in a call of a delta, and in its function, if it only brings a piece.
    """

    chunk: JSON
    last: JSON = {}
    choice: JSON = {}
    around_text: JSON = {}
    around_thought: JSON = {}
    around_calls: JSON = {}
    thought: str = "reasoning_content"
    details: JSON = {}
    call: JSON = {}
    function: JSON = {}


_TIER: Final[JSON] = {**_CHUNK, "service_tier": "default", "system_fingerprint": "fp_4c2851f862"}
_NAMED: Final[JSON] = {**_CHUNK, "system_fingerprint": "fp_4c2851f862"}
OPENAI: Final = Gateway(_TIER, {"usage": None}, _LOGPROBS)
_DUMPED = Gateway(  # whole objects of an SDK, as LiteLLM, Azure and vLLM write them
    {**_TIER, "service_tier": None},
    {"usage": None},
    _LOGPROBS,
    around_text=_NULLS,
    around_thought=_NULLS,
    around_calls=_NULLS,
    call=_NO_LABELS,
    function={"name": None},
)
_OPENROUTER = Gateway(
    {**_CHUNK, "provider": "Hafen"},
    choice={"native_finish_reason": None},
    around_text={"role": "assistant"},
    around_thought=_SPEAKS,
    around_calls={"role": "assistant", "content": None},
    thought="reasoning",
    details={"type": "reasoning.text", "format": "unknown", "index": 0},
)

GATEWAYS: Final[dict[str, Gateway]] = {
    "openai": OPENAI,
    "openai, obfuscated": replace(OPENAI, last={"usage": None, "obfuscation": "k3Jx9QpLw7Rt"}),
    "azure": replace(
        _DUMPED,
        choice={"logprobs": None, "content_filter_results": {}},
        last={"usage": None, "obfuscation": "k3Jx9QpLw7Rt"},
    ),
    "litellm": replace(
        _DUMPED,
        around_text={**_NULLS, "provider_specific_fields": None, "audio": None},
        around_thought={**_NULLS, "provider_specific_fields": None, "audio": None},
    ),
    "vllm": _DUMPED,
    "baseten": replace(_DUMPED, last={"usage": _USAGE}, choice={}),
    "openrouter": _OPENROUTER,
    "avian": replace(_OPENROUTER, thought="reasoning_content"),
    "vercel gateway": Gateway(
        _NAMED,
        choice=_LOGPROBS,
        thought="reasoning",
        details={"type": "reasoning.text", "id": "rs_68d2a1", "format": "openai-responses-v1", "index": 0},
    ),
    "groq": Gateway(_NAMED, choice=_LOGPROBS, around_thought={"channel": "analysis"}, thought="reasoning"),
    "cerebras": Gateway(_NAMED, thought="reasoning"),
    "deepseek": Gateway(_NAMED, {"usage": None}, _LOGPROBS, around_thought={"content": None}),
    "together": Gateway(
        _CHUNK,
        {"usage": None},
        choice={"text": "", "logprobs": None},
        around_text={"token_id": None, "role": "assistant", "reasoning": None},
        around_thought={"token_id": None, **_SPEAKS},
        around_calls={"token_id": None, **_SPEAKS, "reasoning": None},
        thought="reasoning",
        call={"id": None, "type": "function"},
        function={"name": None},
    ),
    "ollama": Gateway(_NAMED, around_text={"role": "assistant"}, around_thought=_SPEAKS, thought="reasoning"),
    "mistral.rs": Gateway(
        _NAMED,
        {"usage": None},
        _LOGPROBS,
        around_text={"role": "assistant", "tool_calls": None},
        around_thought={"content": None, "role": "assistant", "tool_calls": None},
    ),
    "llama.cpp": Gateway(_NAMED),
    "zai": Gateway(_CHUNK, around_text={"role": "assistant"}, around_thought={"role": "assistant"}),
    "tgi": Gateway(
        {**_NAMED, "id": ""},
        {"usage": None},
        _LOGPROBS,
        around_text={"role": "assistant", "tool_call_id": None},
        around_thought=_SPEAKS,
        around_calls={"role": "assistant", "content": None},
        function={"name": None},
    ),
}
