"""The strict policy on the corpora: the calls that it emits, and its cost."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from msgspec.structs import replace

from tests.support import corpora
from wholecall import Policy, ToolCallParser
from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall
from wholecall.calls.output.events import Event, TurnFinished

STRICT = Policy.strict()
CHOICES = ("recovery", "silence", "refused_flags", "truncated_turn", "require_reason", "on_bad_sibling")
POLICIES = {
    "`Policy()`": Policy(),
    **{f"`{name}` alone": replace(Policy(), **{name: getattr(STRICT, name)}) for name in CHOICES},
    "`Policy.strict()`": STRICT,
}
RECORDED = [corpora.recorded(entry) for entry in corpora.cases()]
DOCS = Path(__file__).parents[2] / "docs" / "policy.md"


def _read(recorded: bytes, policy: Policy) -> list[Event]:
    parser = ToolCallParser("auto", policy=policy)
    return [*parser.feed(recorded), *parser.close()]


def _calls(events: list[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, (ToolCall, CustomToolCall, BuiltinToolCall))]


def _is_plain(event: Any) -> bool:
    right = not isinstance(event, ToolCall) or event.status in ("exact", "normalised")
    return right and STRICT.refused_flags.isdisjoint(event.flags)


def test_costs_are_the_documented_ones() -> None:
    """The table of `docs/policy.md` matches the corpora."""
    counts = {
        said: sum(len(_calls(_read(one, policy))) for one in RECORDED) for said, policy in POLICIES.items()
    }
    rows = [f"| {said} | {n} | {1 - n / counts['`Policy()`']:.1%} |" for said, n in counts.items()]

    found = [row for row in DOCS.read_text(encoding="utf-8").splitlines() if row.endswith("% |")]
    told = "\n".join(rows)
    assert found == rows, f"put these rows into docs/policy.md:\n{told}"


def test_strict_calls_are_plainly_right() -> None:
    """The default policy lets through all that the strict one does, plain and in whole turns that ended for a
    reason.
    """
    for recorded in RECORDED:
        found = _read(recorded, STRICT)
        calls = _calls(found)
        with_calls = {(call.turn, call.choice) for call in calls}
        turns = [e for e in found if isinstance(e, TurnFinished) and (e.turn, e.choice) in with_calls]

        assert [call for call in calls if call not in _calls(_read(recorded, Policy()))] == []
        assert [call for call in calls if not _is_plain(call)] == []
        assert [turn for turn in turns if turn.n_dropped or turn.reason in ("length", "content_filter")] == []
        assert [turn for turn in turns if "missing_finish" in turn.anomalies] == []
