"""Finish reasons of all providers in our words: one table for every dialect.

Providers spell the same reason in many ways and cases, and some send their own word. Reasons never decide whether a
call is emitted; the provider's word is kept, too.
"""

from __future__ import annotations

from wholecall.types import CUT_REASONS, TurnReason

NOT_WHOLE: frozenset[TurnReason] = frozenset({*CUT_REASONS, "error", "aborted"})

_SPELLINGS: dict[TurnReason, tuple[str, ...]] = {
    "tool_calls": (
        *("tool_calls", "function_call", "tool_use", "tool_call", "requires_action"),
        "tooluse",  # pi and openclaw
        "end_of_message",  # llama-stack: a partial answer, so a call
    ),
    "stop": (
        *("stop", "end_turn", "end_of_turn", "stop_sequence", "stop_criteria_met", "eos", "eos_token"),
        *("complete", "completed", "finish", "finished", "success"),
        "normal",  # ERNIE
    ),
    "length": (
        *("length", "max_tokens", "max_output_tokens", "out_of_tokens"),
        *("model_length", "model_context_window_exceeded"),
        *("max_len", "max_context", "time_limit"),  # xAI
    ),
    "content_filter": (
        "content_filter",
        "content_filtered",
        "guardrail_intervened",
        "refusal",
        "safety",
        "recitation",
        "blocklist",
        "prohibited_content",
        "spii",
        "error_toxic",
        "language",
        *("blacklist", "request_blacklist", "response_blacklist"),  # GigaChat
        *("request_whitelist", "request_filter"),
        "sensitive",  # GLM and Hunyuan
    ),
    "malformed": (
        "malformed_function_call",
        "unexpected_tool_call",
        "too_many_tool_calls",
        "malformed_response",
        "missing_thought_signature",
        "malformed_tool_use",
        "malformed_model_output",
        "function_call_error",  # GigaChat
    ),
    "error": (
        "error",
        "error_limit",
        "timeout",
        "failed",
        "cancelled",
        "budget_exceeded",
        "retries_exhausted",
    ),
    "aborted": ("interrupted",),  # the AI SDK: the model's stream ended without its end, and no tool may run
    "pause": (
        "pause_turn",
        "requires_continuation",
        "continuation",
        "interrupt",
        "max_turn_requests",
        "budget_reached",
    ),
}

# Keys are in lower case with underscores; look up through `turn_reason`.
FINISH_REASONS: dict[str, TurnReason] = {
    spelling: reason for reason, spellings in _SPELLINGS.items() for spelling in spellings
}

_NONE_YET = frozenset({"", "null", "none", "finish_reason_unspecified", "reason_invalid"})


def turn_reason(raw: object) -> tuple[TurnReason, str] | None:
    """Return our word for a wire reason and the wire's own; None while there is none (quirk 45)."""
    if type(raw) is not str:
        return None
    key = raw.strip().lower().replace("-", "_")
    if key in _NONE_YET:
        return None
    return FINISH_REASONS.get(key.removeprefix("reason_"), "unknown"), raw
