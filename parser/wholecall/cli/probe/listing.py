"""Lists of the probe (scenarios with their costs, rules with their sources), and the results of its self-test."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Iterator, Sequence

from wholecall.cli import output
from wholecall.grading.probe.exchange import WIRES, Wire
from wholecall.grading.probe.rules.table import ALL
from wholecall.grading.probe.running import asks_of, cost_of
from wholecall.grading.probe.scenarios import LEVELS, SCENARIOS, TRIES, Level, scenarios_at
from wholecall.grading.probe.trial import Trial, trials

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
        wires = "" if len(rule.wires) == len(WIRES) else f" ({', '.join(rule.wires)})"
        first, *others = textwrap.wrap(rule.says + wires, _WIDTH - 39)
        yield f"{rule.id:28} {rule.severity:8}  {first}"
        yield from (" " * 39 + line for line in others)


def self_test(wires: Sequence[Wire]) -> int:
    """Run the probe against good servers and faulty ones, say what came of each, and return the exit code."""
    count = wrong = 0
    for trial in trials(wires):
        count += 1
        wrong += not trial.is_right
        output.write(f"{_said(trial)}\n")
        sys.stdout.flush()
    output.write(f"{count - wrong} of {count} servers are judged as they should be\n")
    return output.FOUND if wrong else output.OK


def _said(trial: Trial) -> str:
    """Return the result of a trial in a line."""
    name = trial.fault or "good server"
    head = f"{'ok   ' if trial.is_right else 'WRONG'} {trial.wire:16} {name:28}"
    if trial.rule:
        state = "found" if trial.is_right else f"not found; found: {', '.join(trial.found) or 'nothing'}"
        return f"{head} {trial.rule} {state}"
    what = [*trial.found, *trial.missed]
    return f"{head} {trial.answers} answers, {'no finding' if not what else ', '.join(what)}"
