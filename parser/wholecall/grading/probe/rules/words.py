"""The parser as a second witness: each word that it notes about a stream, and the rule that it breaks.

Theory of operation. The rules look at frames; the parser reads the whole stream by other code. A word of the parser
counts where its rule applies to the wire and has found nothing itself. Words for what a model wrote (single quotes, a
trailing comma), and words for cuts, which the rules of ends judge with the request in hand, are not in the table.
"""

from __future__ import annotations

from collections.abc import Mapping

RULE_OF_WORD: Mapping[str, str] = {
    # flags
    "id_churn": "labels.id-churn",
    "index_churn": "labels.index-churn",
    "duplicate_id": "labels.id-twice",
    "id_generated": "labels.id-missing",
    "bound_by_order": "labels.index-missing",
    "name_joined": "labels.name-pieces",
    "repeated": "arguments.repeated",
    "placeholder": "arguments.placeholder",
    "snapshots": "arguments.snapshots",
    "done_mismatch": "arguments.restated",
    "done_completed_buffer": "arguments.restated",
    # edits
    "double_encoded": "arguments.double-encoded",
    "code_fence": "arguments.fenced",
    "special_token": "arguments.markers",
    # reasons of drops
    "nameless": "labels.name-missing",
    "multiple_objects": "arguments.several",
    "not_an_object": "arguments.not-object",
    "lone_surrogate": "arguments.surrogate",
    "invalid_utf8": "frame.utf8",
    # anomalies
    "late_fragment": "arguments.late",
    "conflicting_arguments": "arguments.restated",
    "finish_reason_mismatch": "ends.reason-not-calls",
    "reason_without_call": "ends.reason-without-call",
    "missing_finish": "ends.reason-missing",
    "data_after_end": "frame.after-end",
    "invalid_index": "labels.index-from-zero",
    "unread_call": "schema.type",
    # faults
    "undecodable_frame": "frame.json",
    "not_sse": "frame.grammar",
    "unknown_dialect": "frame.json",
}
# Words that another rule's breach explains: they add nothing where one of these was found.
_UNREAD = frozenset({"frame.grammar", "frame.utf8", "frame.bom-inside", "frame.json"})
EXPLAINED: Mapping[str, frozenset[str]] = {
    "id_generated": frozenset({"labels.id-null", "labels.id-type", "labels.id-twice"}),
    "reason_without_call": frozenset({"ends.block-unopened"}),
    "bound_by_order": frozenset({"labels.index-reused", "labels.index-churn"}),
    "late_fragment": frozenset({"ends.late-content", "ends.reason-twice", "frame.after-end"}),
    "conflicting_arguments": frozenset({"arguments.several", "arguments.repeated", "labels.index-reused"}),
    "multiple_objects": frozenset({"arguments.snapshots", "arguments.repeated", "arguments.placeholder"}),
    "repeated": frozenset({"arguments.snapshots"}),
    "snapshots": frozenset({"arguments.repeated", "arguments.placeholder"}),
    "placeholder": frozenset({"arguments.snapshots", "arguments.repeated"}),
    "nameless": frozenset({"ends.block-unopened", "labels.index-churn"}),
    "id_churn": frozenset({"labels.index-reused"}),
    "unknown_dialect": frozenset(
        {"frame.empty", "errors.as-200", "frame.grammar", "frame.utf8", "frame.bom-inside"}
    ),
    "undecodable_frame": _UNREAD | {"frame.sequence"},  # a gap in the numbers is lost text
    "missing_finish": _UNREAD | {"frame.stop-missing"},
}
