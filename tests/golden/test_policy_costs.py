"""The strict policy on the corpora: the calls that it emits, and its cost."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support import corpora
from tests.support.policy_costs import PAGE, STRICT, emitted, read, rows, shown
from wholecall import Policy
from wholecall.calls.output.call_events import ToolCall
from wholecall.calls.output.events import TurnFinished

RECORDED = [corpora.recorded(entry) for entry in corpora.cases()]


def _is_plain(event: Any) -> bool:
    right = not isinstance(event, ToolCall) or event.status in ("exact", "normalised")
    return right and STRICT.refused_flags.isdisjoint(event.flags)


@pytest.mark.slow
def test_costs_are_the_documented_ones() -> None:
    """The table of `docs/policy.md` matches the corpora."""
    assert rows() == shown(PAGE.read_text("utf-8")), "run python -m tests.support.policy_costs"


def test_strict_calls_are_plainly_right() -> None:
    """The default policy lets through all that the strict one does, plain and in whole turns that ended for a
    reason.
    """
    for recorded in RECORDED:
        found = read(recorded, STRICT)
        calls = emitted(found)
        with_calls = {(call.turn, call.choice) for call in calls}
        turns = [e for e in found if isinstance(e, TurnFinished) and (e.turn, e.choice) in with_calls]

        assert [call for call in calls if call not in emitted(read(recorded, Policy()))] == []
        assert [call for call in calls if not _is_plain(call)] == []
        assert [turn for turn in turns if turn.n_dropped or turn.reason in ("length", "content_filter")] == []
        assert [turn for turn in turns if "missing_finish" in turn.anomalies] == []
