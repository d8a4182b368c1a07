"""The table of finish reasons."""

from __future__ import annotations

from typing import get_args

from tests.support.together import together
from wholecall.deltas import Finish
from wholecall.dialects import report
from wholecall.dialects.reasons import FINISH_REASONS, turn_reason
from wholecall.types import TurnReason


@together(
    ("raw", "reason"),
    [
        ("tool_calls", "tool_calls"),
        ("tool-calls", "tool_calls"),
        ("TOOL_CALL", "tool_calls"),
        ("STOP", "stop"),
        ("end_turn", "stop"),
        ("MAX_TOKENS", "length"),
        ("model_context_window_exceeded", "length"),
        ("refusal", "content_filter"),
        ("sensitive", "content_filter"),
        ("MALFORMED_FUNCTION_CALL", "malformed"),
        ("cancelled", "error"),
        ("pause_turn", "pause"),
        ("success", "stop"),
        ("eos_token", "stop"),
        ("FINISH", "stop"),
        ("FINISHED", "stop"),
        ("STOP_CRITERIA_MET", "stop"),
        ("end_of_turn", "stop"),
        ("end_of_message", "tool_calls"),
        ("out_of_tokens", "length"),
        ("interrupt", "pause"),
        ("max_turn_requests", "pause"),
        ("budget_reached", "pause"),
        ("retries_exhausted", "error"),
        ("a_word_of_its_own", "unknown"),
    ],
)
def test_every_spelling_has_one_meaning(raw: str, reason: TurnReason) -> None:
    """Case and hyphens do not matter, and the provider's word stays verbatim next to ours."""
    assert (reason, raw) == turn_reason(raw)


@together("raw", [None, "", " ", "null", "None", "FINISH_REASON_UNSPECIFIED", 0, True, {}])
def test_some_words_are_no_reason(raw: object) -> None:
    """Null, blanks and their spellings mean that there is no reason yet (quirk 45)."""
    assert turn_reason(raw) is None


def test_the_table_speaks_our_words() -> None:
    """Every entry maps a word in lower case to a turn reason, and none to `unknown`."""
    assert set(FINISH_REASONS.values()) <= set(get_args(TurnReason)) - {"unknown"}
    assert [key.lower() for key in FINISH_REASONS] == list(FINISH_REASONS)


@together(
    ("raw", "drops"), [("interrupted", True), ("error", False), ("length", False), ("tool-calls", False)]
)
def test_a_turn_that_was_broken_off_leaves_no_open_call(raw: str, drops: bool) -> None:
    """A whole text of an open call is not the call's end; other reasons take calls back where a dialect says so."""
    assert [drops] == [finish.drops for finish in report.finish(raw) if isinstance(finish, Finish)]
