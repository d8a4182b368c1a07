"""The verdict on an endpoint: which rules held, failed or were never seen, and apart from them what the model did.

Theory of operation. Three things are never mixed. Wire findings are faults of the server or gateway, one counterexample
is enough, and the counts say how often. A model's failures are rates of tasks. What could not be told (refused, rate
limited, timed out) counts for neither: such exchanges are in no rate, and rules that never applied are not seen, never
held.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from wholecall.grading.probe.exchange import SEVERITIES, Evidence, Exchange, Finding, FindingKind
from wholecall.grading.probe.outcome import BLAMED, MODEL, OPEN, TOLD, Outcome, outcome_of, task_of
from wholecall.grading.probe.rules.rule import Hit, Rule, RuleText
from wholecall.grading.probe.rules.same import SAME_CALLS, never_and_always
from wholecall.grading.probe.rules.table import ALL, PAIRS, rules_of
from wholecall.grading.probe.rules.words import EXPLAINED, RULE_OF_WORD
from wholecall.grading.probe.sight import Sight

_MOST_EVIDENCE = 10
_MOST_HITS = 3  # places of one rule in one exchange
_SERIOUS = frozenset({"critical", "major"})


class ModelRate(msgspec.Struct, frozen=True, kw_only=True):
    """How often a model did what it was asked.

    Attributes:
        task: the scenario, with its variant after a slash where it has one.
        right: in how many exchanges.
        of: of how many that could be told.
        evidence: the exchanges in which it did not.
    """

    task: str
    right: int
    of: int
    evidence: tuple[Evidence, ...] = ()


class Judgement(msgspec.Struct, frozen=True, kw_only=True):
    """What many exchanges show.

    Attributes:
        exchanges: how many there are.
        findings: the wire's faults and notes, one for each rule, worst first.
        held: ids of the rules that applied and found nothing.
        failed: ids of the rules that found something, notes included.
        not_seen: ids of the rules that never applied.
        models: the rates of the model's tasks, in the order of the exchanges.
        open: what could not be told, one finding for each reason.
    """

    exchanges: int
    findings: tuple[Finding, ...] = ()
    held: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    not_seen: tuple[str, ...] = ()
    models: tuple[ModelRate, ...] = ()
    open: tuple[Finding, ...] = ()


class Looked(NamedTuple):
    """One exchange, looked at.

    Attributes:
        sight: the exchange.
        hits: the breaches of each rule that applied; none where it held.
        outcome: what it says about the model.
    """

    sight: Sight
    hits: dict[str, list[Hit]]
    outcome: Outcome


def look(exchange: Exchange) -> Looked:
    """Apply all rules to one exchange."""
    sight = Sight(exchange)
    hits = {
        rule.id: found for rule in rules_of(exchange.wire) if (found := _applied(rule, sight)) is not None
    }
    if sight.is_answer and not sight.is_error:
        _add_words(sight, hits)
    is_blamed = any(
        found and ALL[name].severity in _SERIOUS and ALL[name].group in BLAMED for name, found in hits.items()
    )
    is_told = any(hits.get(name) for name in TOLD)
    return Looked(sight, hits, outcome_of(sight, is_blamed=is_blamed, is_told=is_told))


def _applied(rule: Rule, sight: Sight) -> list[Hit] | None:
    if not rule.any_status and not sight.is_answer:
        return None
    found = rule.check(sight)
    return None if found is None else list(found)


def _add_words(sight: Sight, hits: dict[str, list[Hit]]) -> None:
    """Add what only the parser noted."""
    broken = {name for name, found in hits.items() if found}
    for word in sorted(sight.noted.words):
        name = RULE_OF_WORD.get(word)
        if name is None or sight.wire not in ALL[name].wires or broken & {name, *EXPLAINED.get(word, ())}:
            continue
        hits[name] = [Hit(0, f"noted by the parser: {word}")]


def grade(exchange: Exchange) -> list[Finding]:
    """Return what is wrong in one exchange, worst first: faults of the wire, then the model's failure, or what is open.

    ::

        for finding in grade(exchange):
            print(finding.severity, finding.rule, finding.says)

    An exchange from which nothing can be told has an `open` finding, and none of the model.

    Args:
        exchange: one request with its answer.
    """
    looked = look(exchange)
    found = [_finding(ALL[name], hits, exchange.file) for name, hits in looked.hits.items() if hits]
    return [*_sorted(found), *_others(looked)]


def _finding(rule: RuleText, hits: Sequence[Hit], file: str) -> Finding:
    evidence = tuple(dict.fromkeys(Evidence(file, hit.frame) for hit in hits))[:_MOST_HITS]
    details = sorted({hit.detail for hit in hits if hit.detail})
    return Finding(
        rule=rule.id,
        severity=rule.severity,
        kind="wire",
        says=" ".join([rule.says, *([f"({', '.join(details)})"] if details else [])]),
        quirks=rule.quirks,
        evidence=evidence,
    )


def _others(looked: Looked) -> list[Finding]:
    """Return the finding about the model, or about what could not be told."""
    kinds: dict[str, tuple[FindingKind, dict[str, str]]] = {"wrong": ("model", MODEL), "open": ("open", OPEN)}
    state, rule = looked.outcome
    if state not in kinds:
        return []
    kind, words = kinds[state]
    evidence = (Evidence(looked.sight.exchange.file),)
    return [Finding(rule=rule, severity="note", kind=kind, says=words[rule], evidence=evidence)]


def _sorted(findings: Iterable[Finding]) -> list[Finding]:
    return sorted(
        findings, key=lambda finding: (SEVERITIES.index(finding.severity), -finding.count, finding.rule)
    )


class _Count:
    """One rule over many exchanges."""

    def __init__(self) -> None:
        self.count = 0
        self.of = 0
        self.evidence: list[Evidence] = []
        self.details: set[str] = set()

    def add(self, hits: Sequence[Hit], file: str) -> None:
        self.of += 1
        self.count += bool(hits)
        self.evidence += [Evidence(file, hit.frame) for hit in hits[:1]]
        self.details |= {hit.detail for hit in hits if hit.detail}

    def finding(self, rule: RuleText) -> Finding:
        hits = [Hit(0, detail) for detail in self.details]
        found = _finding(rule, hits, "")
        return msgspec.structs.replace(
            found, count=self.count, of=self.of, evidence=tuple(self.evidence[:_MOST_EVIDENCE])
        )


def judge(exchanges: Iterable[Exchange]) -> Judgement:
    """Return the verdict on many exchanges of one endpoint.

    A rule fails by one counterexample. Plain and streamed answers of one scenario, variant and try are compared.

    Args:
        exchanges: all exchanges; the order decides only the order of evidence and of the model's tasks.
    """
    looked = [look(exchange) for exchange in exchanges]
    counts: dict[str, _Count] = {}
    for each in looked:
        for name, hits in each.hits.items():
            counts.setdefault(name, _Count()).add(hits, each.sight.exchange.file)
    untold = _compare(looked, counts)
    failed = [name for name in ALL if name in counts and counts[name].count]
    return Judgement(
        exchanges=len(looked),
        findings=tuple(_sorted(counts[name].finding(ALL[name]) for name in failed)),
        held=tuple(name for name in ALL if name in counts and not counts[name].count),
        failed=tuple(failed),
        not_seen=tuple(name for name in ALL if name not in counts),
        models=tuple(_rates(looked, untold)),
        open=tuple(_open(looked)),
    )


def _groups(looked: Sequence[Looked]) -> Iterable[tuple[list[Looked], list[Looked]]]:
    """Yield the plain and the streamed answers of each scenario and variant, in the order of their tries."""
    found: dict[tuple[str, str], tuple[list[Looked], list[Looked]]] = {}
    for each in sorted(looked, key=lambda each: each.sight.exchange.attempt):
        exchange = each.sight.exchange
        if each.sight.is_answer and each.sight.answer is not None and not each.sight.is_error:
            ways = found.setdefault((exchange.wire, task_of(exchange)), ([], []))
            ways[exchange.is_streamed].append(each)
    return found.values()


def _compare(looked: Sequence[Looked], counts: dict[str, _Count]) -> set[int]:
    """Count the rules of sameness, and return the exchanges (by `id`) whose model cannot be told for it."""
    untold: set[int] = set()
    for plain, streamed in _groups(looked):
        for one, other in zip(plain, streamed, strict=False):
            _compare_pair(one.sight, other.sight, counts)
        without = never_and_always([each.sight for each in plain], [each.sight for each in streamed])
        if without is not None:
            hits = [Hit()] if without else []
            file = without[0].exchange.file if without else ""
            counts.setdefault(SAME_CALLS.id, _Count()).add(hits, file)
            untold |= {id(sight) for sight in without}
    return untold


def _compare_pair(plain: Sight, streamed: Sight, counts: dict[str, _Count]) -> None:
    for rule in PAIRS:
        found = rule.check(plain, streamed)
        if found is not None:
            counts.setdefault(rule.id, _Count()).add(list(found), streamed.exchange.file)


def _rates(looked: Sequence[Looked], untold: set[int]) -> Iterable[ModelRate]:
    tasks: dict[str, list[Looked]] = {}
    for each in looked:
        if each.outcome.state in {"right", "wrong"} and id(each.sight) not in untold:
            tasks.setdefault(task_of(each.sight.exchange), []).append(each)
    for task, found in tasks.items():
        wrong = [Evidence(each.sight.exchange.file) for each in found if each.outcome.state == "wrong"]
        yield ModelRate(task=task, right=len(found) - len(wrong), of=len(found), evidence=tuple(wrong))


def _open(looked: Sequence[Looked]) -> Iterable[Finding]:
    reasons: dict[str, list[Evidence]] = {}
    for each in looked:
        if each.outcome.state == "open":
            reasons.setdefault(each.outcome.rule, []).append(Evidence(each.sight.exchange.file))
    for name, evidence in sorted(reasons.items()):
        yield Finding(
            rule=name,
            severity="note",
            kind="open",
            says=OPEN[name],
            count=len(evidence),
            of=len(looked),
            evidence=tuple(evidence[:_MOST_EVIDENCE]),
        )
