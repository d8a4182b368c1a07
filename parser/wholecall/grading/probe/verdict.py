"""The verdict on an endpoint: which rules held, failed or were never seen, and apart from them what the model did.

Theory of operation. Three things are never mixed. Wire findings are faults of the server or gateway, one counterexample
is enough, and the counts say how often. A model's failures are rates of tasks. What could not be told (refused, rate
limited, timed out) counts for neither: such exchanges are in no rate, and rules that never applied are not seen, never
held.
"""

from __future__ import annotations

import msgspec

from wholecall.grading.probe.exchange import Evidence, Finding


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


class Verdict(msgspec.Struct, frozen=True, kw_only=True):
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
