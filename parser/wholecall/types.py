"""The closed vocabularies of events: nothing else may appear in their fields."""

from __future__ import annotations

from typing import Literal

__all__ = [
    "CUT_REASONS",
    "Anomaly",
    "BuiltinKind",
    "DropReason",
    "EditKind",
    "FaultKind",
    "Flag",
    "JsonState",
    "Kind",
    "OutputReason",
    "Status",
    "TurnReason",
]

Kind = Literal["function", "custom", "builtin", "server"]
BuiltinKind = Literal["shell", "local_shell", "apply_patch", "computer", "tool_search"]
JsonState = Literal["complete", "incomplete", "invalid"]
Status = Literal["exact", "normalised", "recovered", "empty"]
EditKind = Literal[
    "bom",
    "whitespace",
    "code_fence",
    "double_encoded",
    "special_token",
    "placeholder",
    "duplicate_object",
    "leading_text",
    "trailing_text",
    "trailing_comma",
    "comment",
    "python_literal",
    "single_quotes",
    "smart_quotes",
    "unquoted_key",
    "control_char",
    "invalid_escape",
    "nested_json",
    "numeric_string",
    "coerced",
    "translated",
    "closer_missing",
]
Flag = Literal[
    "id_churn",
    "index_churn",
    "duplicate_id",
    "id_generated",
    "repeated",
    "placeholder",
    "snapshots",
    "done_completed_buffer",
    "done_mismatch",
    "bound_by_order",
    "name_joined",
    "turn_truncated",
    "unterminated",
    "duplicate_key",
    "nul_in_string",
    "needs_approval",
    "unknown_tool",
    "from_text",
    "after_unreadable",
]
DropReason = Literal[
    "nameless",
    "truncated",
    "unterminated",
    "aborted",
    "incomplete_input",
    "unparseable",
    "invalid_json",
    "ambiguous",
    "multiple_objects",
    "not_an_object",
    "empty_arguments",
    "duplicate_key",
    "lone_surrogate",
    "invalid_utf8",
    "nesting_too_deep",
    "number_too_long",
    "number_out_of_range",
    "arguments_too_large",
    "too_many_calls",
    "id_too_long",
    "name_too_long",
    "unknown_tool",
    "schema",
    "told_twice",
]
OutputReason = Literal[
    "refused",
    "aborted",
    "truncated",
    "unterminated",
    "incomplete_input",
    "invalid_utf8",
    "empty",
    "unparseable",
    "invalid_json",
    "ambiguous",
    "multiple_objects",
    "duplicate_key",
    "lone_surrogate",
    "nesting_too_deep",
    "number_too_long",
    "number_out_of_range",
    "arguments_too_large",
    "schema",
]
Anomaly = Literal[
    "late_fragment",
    "conflicting_arguments",
    "finish_reason_mismatch",
    "reason_without_call",
    "missing_finish",
    "data_after_end",
    "invalid_choice",
    "invalid_index",
    "unknown_events",
    "unread_call",
    "repeated_call",
    "dangling_marker",
]
FaultKind = Literal[
    "provider_error",
    "undecodable_frame",
    "unknown_dialect",
    "not_sse",
    "line_too_long",
    "event_too_large",
    "stream_too_large",
    "invalid_utf8",
    "bad_crc",
    "nesting_too_deep",
    "source_failed",
]
TurnReason = Literal[
    "tool_calls", "stop", "length", "content_filter", "malformed", "error", "aborted", "pause", "unknown"
]
CUT_REASONS: frozenset[TurnReason] = frozenset(
    {"length", "content_filter"}
)  # of the turn, perhaps amidst a call
