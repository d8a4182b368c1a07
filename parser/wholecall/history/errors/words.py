"""The closed vocabularies of an error's class; docs/errors.md explains each word."""

from __future__ import annotations

from typing import Literal

__all__ = ["ErrorCategory", "ErrorKind", "ErrorScope"]

ErrorCategory = Literal[
    "transcript",
    "context_overflow",
    "request",
    "rate_limit",
    "billing",
    "auth",
    "content_filter",
    "overloaded",
    "server_error",
    "unknown",
]
ErrorScope = Literal["session", "request", "credential", "provider"]
ErrorKind = Literal[
    # transcript
    "unanswered_tool_call",
    "orphan_tool_result",
    "duplicate_tool_call_id",
    "duplicate_tool_result",
    "malformed_arguments",
    "arguments_type",
    "bad_tool_call_id",
    "bad_tool_name",
    "empty_tool_calls",
    "empty_content",
    "empty_history",
    "role_order",
    "bad_role",
    "thinking_signature",
    "missing_reasoning",
    "orphan_reasoning",
    "unknown_item",
    "unknown_field",
    "missing_field",
    "content_form",
    "bad_media",
    # context_overflow
    "request_too_large",
    # request
    "unsupported_parameter",
    "invalid_parameter",
    "tool_definition",
    "missing_tools",
    "response_format",
    "unknown_model",
    "unsupported_feature",
    "failed_generation",
    "malformed_body",
    # rate_limit
    "upstream",
    # auth
    "blocked",
]
