"""Lists of the probe: its scenarios with their costs, and its rules with the texts that they go back to."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator

from wholecall.grading.probe.rules.table import ALL
from wholecall.grading.probe.running import asks_of, cost_of
from wholecall.grading.probe.scenarios import LEVELS, SCENARIOS, TRIES, Level, scenarios_at

SOURCES = {rule.id: f"{rule.source.title}, {rule.source.url}" for rule in ALL.values()}
_WIDTH = 110


def text_of() -> str:
    """Return the scenarios, the sums of the levels, and the rules."""
    return "\n".join([*_scenarios(), "", *_levels(), "", *_rules(), ""])


def _scenarios() -> Iterator[str]:
    yield "scenario  level     requests   tokens  purpose and variants"
    for scenario in SCENARIOS:
        (found,) = (one for one in scenarios_at("full") if one.id == scenario.id)
        requests, tokens = cost_of(asks_of([found], TRIES[scenario.level]), "chat-completions", "m")
        names = ", ".join(variant.name for variant in scenario.variants if variant.name)
        about = scenario.about + (f" [{names}]" if names else "")
        first, *others = textwrap.wrap(about, _WIDTH - 39)
        yield f"{scenario.id:9} {scenario.level:9} {requests:8,} {tokens:8,}  {first}"
        yield from (" " * 39 + line for line in others)
    yield "(requests and tokens are the most, at the usual number of tries, with all variants, plain and streamed)"


def _levels() -> Iterator[str]:
    for level in LEVELS:
        requests, tokens = _cost(level)
        yield f"level {level:9} {TRIES[level]} tries  {requests:4,} requests  {tokens:8,} tokens at most"


def _cost(level: Level) -> tuple[int, int]:
    return cost_of(asks_of(scenarios_at(level), TRIES[level]), "chat-completions", "m")


def _rules() -> Iterator[str]:
    yield f"{len(ALL)} rules of the wire; they cost no request of their own: each is judged on every answer it applies to"
    for rule in ALL.values():
        wires = "" if len(rule.wires) == 3 else f" ({', '.join(rule.wires)})"
        first, *others = textwrap.wrap(rule.says + wires, _WIDTH - 39)
        yield f"{rule.id:28} {rule.severity:8}  {first}"
        yield from (" " * 39 + line for line in others)


def self_test() -> int:
    """Run the probe against servers with known faults, and return the exit code."""
    raise NotImplementedError
