"""The table of all rules."""

from __future__ import annotations

from collections.abc import Mapping

from wholecall.grading.probe.exchange import Wire
from wholecall.grading.probe.rules import arguments, ends, frame, labels, leaks, requests, same, schema, usage
from wholecall.grading.probe.rules.rule import Rule, RuleText

RULES: tuple[Rule, ...] = (
    *frame.RULES,
    *schema.RULES,
    *labels.RULES,
    *arguments.RULES,
    *ends.RULES,
    *leaks.RULES,
    *requests.RULES,
    *usage.RULES,
)
PAIRS = same.PAIR_RULES
ALL: Mapping[str, RuleText] = {rule.id: rule for rule in (*RULES, *PAIRS, same.SAME_CALLS)}


def rules_of(wire: Wire) -> tuple[Rule, ...]:
    """Return the rules of single exchanges that apply to a wire."""
    return tuple(rule for rule in RULES if wire in rule.wires)
