"""The report of a run: verdicts, rates with their intervals, the comparison with a reference, as JSON values.

Theory of operation. Three things stay apart: `findings` are faults of the wire, `models` are rates of the model's tasks,
`open` could not be told; requests that were never made are in `unasked`. Nothing in a report is content of an answer:
findings name frames of files. The JSON has a version, `schema`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, Optional

import msgspec

from wholecall.grading.probe.asking import tokens_spent, turn_of
from wholecall.grading.probe.breaking import with_clients
from wholecall.grading.probe.exchange import SEVERITIES, Evidence, Exchange, Finding, Severity
from wholecall.grading.probe.statistics import f1, newcombe, pass_k, wilson
from wholecall.grading.probe.verdict import Judgement, ModelRate

SCHEMA = 1
_MOST_EVIDENCE = 10
DRAWS = (1, 3, 5)  # the k of pass^k
Difference = Literal["worse", "better", "not shown"]


class Compared(msgspec.Struct, frozen=True):
    """A rate against the reference's.

    Attributes:
        right: how many tries of the reference were right.
        of: how many tries of the reference could be told.
        low: the lower end of the 95 % interval of the difference, the endpoint's rate less the reference's.
        high: the upper end.
        difference: `worse` or `better` only where the interval excludes 0.
    """

    right: int
    of: int
    low: float
    high: float
    difference: Difference


class Rate(msgspec.Struct, frozen=True):
    """A task of the model, and how often it was done.

    Attributes:
        task: the scenario, with its variant after a slash where it has one.
        about: the scenario's purpose.
        right: how many tries were right.
        of: how many tries could be told.
        pass_k: by k, the probability that k tries are all right; null where there were fewer tries.
        low: the lower end of the 95 % interval of the rate.
        high: the upper end.
        evidence: files with the tries that were not right.
        reference: the comparison, where there is a reference.
    """

    task: str
    about: str
    right: int
    of: int
    pass_k: dict[str, Optional[float]]
    low: float
    high: float
    evidence: tuple[str, ...] = ()
    reference: Optional[Compared] = None


class About(msgspec.Struct, frozen=True, kw_only=True):
    """What was probed, and how.

    Attributes:
        endpoint: the URL without its query, and without parts that look like keys.
        model: the model's name.
        wire: the wire.
        date: when the run began, in UTC.
        version: the version of wholecall.
        level: the level.
        tries: how often each scenario was asked plain, and streamed.
    """

    endpoint: str
    model: str
    wire: str
    date: str
    version: str
    level: str
    tries: int


class ReferenceResult(msgspec.Struct, frozen=True):
    """The other endpoint, and what differs.

    Attributes:
        about: what it is.
        trigger_f1: the agreement on whether to call a tool; null where neither called.
        pairs: of how many requests.
        all: all tasks together, compared.
        severities: the reference's own faults of the wire, by severity.
    """

    about: About
    trigger_f1: Optional[float]
    pairs: int
    all: Compared
    severities: dict[str, int]


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """A report, the JSON of `--json`.

    Attributes:
        schema: the version of this form.
        about: what was probed.
        answers: how many answers of the endpoint could be judged.
        requests: how many requests were made, with those of a reference and those that were made again.
        tokens: how many tokens they cost; where an answer has no usage, the most that it may have cost.
        seconds: how long it took.
        is_interrupted: whether the run was left early.
        saved: the folder with the exchanges, if they were kept.
        notes: parameters that the endpoint refused, and what was sent instead.
        unasked: how many requests were not made, by reason.
        severities: findings by severity.
        held: rules that applied and found nothing.
        failed: rules that found something.
        not_seen: rules that never applied.
        findings: faults and notes of the wire, worst first.
        models: the model's tasks.
        open: what could not be told.
        reference: the comparison.
    """

    schema: int = SCHEMA
    about: About
    answers: int
    requests: int
    tokens: int
    seconds: Optional[float] = None
    is_interrupted: bool = False
    saved: Optional[str] = None
    notes: tuple[str, ...] = ()
    unasked: dict[str, int] = {}
    severities: dict[str, int]
    held: tuple[str, ...]
    failed: tuple[str, ...]
    not_seen: tuple[str, ...]
    findings: tuple[Finding, ...]
    models: tuple[Rate, ...]
    open: tuple[Finding, ...]
    reference: Optional[ReferenceResult] = None

    def to_json(self) -> bytes:
        """Return the report as JSON, indented."""
        return msgspec.json.format(msgspec.json.encode(self), indent=2) + b"\n"

    def reaches(self, severity: Severity) -> bool:
        """Return whether a fault of the wire is as bad as a severity, or worse."""
        return any(self.severities[one] for one in SEVERITIES[: SEVERITIES.index(severity) + 1])

    @property
    def is_told(self) -> bool:
        """Whether any answer could be judged at all."""
        return self.answers > 0


def report_of(
    about: About,
    exchanges: Sequence[Exchange],
    verdict: Judgement,
    purposes: Mapping[str, str],
    reference: tuple[About, Sequence[Exchange], Judgement] | None = None,
    **more: Any,
) -> Report:
    """Return the report on the exchanges of an endpoint.

    Args:
        about: what was probed.
        exchanges: the exchanges.
        verdict: the verdict on them.
        purposes: the scenarios' purposes by their ids.
        reference: the same of the reference.
        more: further members of the report.
    """
    theirs = reference[2].models if reference else None
    known: dict[str, Any] = {
        "requests": len(exchanges) + (len(reference[1]) if reference else 0),
        "tokens": sum(map(tokens_spent, [*exchanges, *(reference[1] if reference else ())])),
    }
    return Report(
        about=about,
        answers=sum(map(_is_answer, exchanges)),
        severities=_severities(verdict.findings),
        held=verdict.held,
        failed=verdict.failed,
        not_seen=verdict.not_seen,
        findings=tuple(with_clients(finding, about.wire) for finding in verdict.findings),
        models=tuple(_rate(rate, purposes, theirs) for rate in verdict.models),
        open=(*verdict.open, *_redirected(exchanges)),
        reference=_referred(exchanges, verdict, *reference) if reference else None,
        **(known | more),
    )


def _is_answer(exchange: Exchange) -> bool:
    """Return whether an exchange is a whole answer, or the refusal that was asked for."""
    status = exchange.status or 0
    is_refusal = exchange.asked.outcome == "refusal" and 400 <= status < 500
    return exchange.ended in {"closed", "hung_up"} and (200 <= status < 300 or is_refusal)


def _redirected(exchanges: Sequence[Exchange]) -> Iterator[Finding]:
    """Yield the finding about redirects, which are not followed, and of which no rule is."""
    found = [Evidence(one.file) for one in exchanges if 300 <= (one.status or 0) < 400]
    if found:
        yield Finding(
            rule="open.redirected",
            severity="note",
            kind="open",
            says="The server redirects to another address; redirects are not followed.",
            count=len(found),
            of=len(exchanges),
            evidence=tuple(found[:_MOST_EVIDENCE]),
        )


def _severities(findings: Iterable[Finding]) -> dict[str, int]:
    found = [finding.severity for finding in findings]
    return {severity: found.count(severity) for severity in SEVERITIES}


def _rate(rate: ModelRate, purposes: Mapping[str, str], theirs: Sequence[ModelRate] | None) -> Rate:
    interval = wilson(rate.right, rate.of)
    other = next((one for one in theirs if one.task == rate.task), None) if theirs is not None else None
    return Rate(
        task=rate.task,
        about=purposes.get(rate.task.partition("/")[0], ""),
        right=rate.right,
        of=rate.of,
        pass_k={str(k): pass_k(rate.right, rate.of, k) for k in DRAWS},
        low=interval.low,
        high=interval.high,
        evidence=tuple(one.file for one in rate.evidence),
        reference=None if other is None else _compared(rate.right, rate.of, other.right, other.of),
    )


def _compared(right: int, of: int, their_right: int, their_of: int) -> Compared:
    interval = newcombe(right, of, their_right, their_of)
    shown: Difference = "not shown"
    if interval.excludes_zero:
        shown = "worse" if interval.high < 0 else "better"
    return Compared(their_right, their_of, interval.low, interval.high, shown)


def _referred(
    exchanges: Sequence[Exchange],
    verdict: Judgement,
    about: About,
    theirs: Sequence[Exchange],
    their_verdict: Judgement,
) -> ReferenceResult:
    ours, others = _triggers(exchanges), _triggers(theirs)
    pairs = [(ours[file], others[file]) for file in ours.keys() & others.keys()]
    tasks = {rate.task for rate in verdict.models} & {rate.task for rate in their_verdict.models}
    mine, other = (
        [(rate.right, rate.of) for rate in rates if rate.task in tasks]
        for rates in (verdict.models, their_verdict.models)
    )
    return ReferenceResult(
        about=about,
        trigger_f1=f1(pairs),
        pairs=len(pairs),
        all=_compared(*_sums(mine), *_sums(other)),
        severities=_severities(their_verdict.findings),
    )


def _sums(pairs: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(right for right, _ in pairs), sum(of for _, of in pairs)


def _triggers(exchanges: Iterable[Exchange]) -> dict[str, bool]:
    """Return by file whether the model called a tool, of those answers for which the model was free to."""
    free = (one for one in exchanges if one.asked.outcome in {"calls", "text"} and one.ended == "closed")
    turns = ((one.file, turn_of(one)) for one in free)
    return {file: bool(turn.calls or turn.dropped) for file, turn in turns if turn is not None}
