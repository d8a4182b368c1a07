"""The self-test of the probe: whole runs against a good server and servers with one known fault each, over HTTP.

Theory of operation. The servers are the project's own, on a free port of this machine; each run makes the requests of a
real one. A fault is found if the rule that it is meant for is among the failed ones. A good server must have no finding
but notes, and every task done.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import msgspec

from wholecall.grading.probe.asking import Ask, Endpoint
from wholecall.grading.probe.exchange import WIRES, Exchange, Wire
from wholecall.grading.probe.folder import ordered
from wholecall.grading.probe.oracle import asked_of
from wholecall.grading.probe.running import Run, Runner, asks_of
from wholecall.grading.probe.scenarios import scenarios_at
from wholecall.grading.probe.selftest.faults import faults_of
from wholecall.grading.probe.selftest.server import SelfTestServer
from wholecall.grading.probe.verdict import judge

_TRIES = 3
# Enough for every fault; long answers and many tools would add time, and no rule.
_SCENARIOS = (
    "one",
    "none",
    "two",
    "noargs",
    "unicode",
    "cut/limit-40",
    "cut/last",
    "usage",
    "numbers/large",
    "choice/[rn]*",
    "choice/parallel-off",
    "turn/in-order",
    "turn/own-ids",
    "bad/orphan",
)
_UNLIMITED = 10**9  # tokens: they cost nothing
_TIMEOUT = 60.0
_JOBS = 4


class Trial(msgspec.Struct, frozen=True):
    """The result of a run against one server.

    Attributes:
        wire: the wire.
        fault: the server's fault; empty for a good one.
        says: what the server does.
        rule: the rule that finds it; empty for a good server.
        answers: how many answers there were.
        found: the rules that found something, notes left out.
        missed: tasks that were not done every time, and reasons for which something could not be told.
        is_right: whether the result is as it should be.
    """

    wire: Wire
    fault: str
    says: str
    rule: str
    answers: int
    found: tuple[str, ...]
    missed: tuple[str, ...]
    is_right: bool


def trials(wires: Sequence[Wire] = WIRES) -> Iterator[Trial]:
    """Yield the result of the good server of each wire, and of each fault.

    Args:
        wires: the wires.

    Raises:
        ImportError: neither httpx2 nor httpx is installed.
    """
    asks = asks_of(scenarios_at("standard", _SCENARIOS), _TRIES)
    for wire in wires:
        yield _tried(wire, "", "nothing is wrong", "", asks)
        for fault in faults_of(wire):
            yield _tried(wire, fault.id, fault.says, fault.rule, asks)


def _tried(wire: Wire, fault: str, says: str, rule: str, asks: Sequence[Ask]) -> Trial:
    exchanges = _exchanges(wire, fault or None, asks)
    verdict = judge(exchanges)
    notes = {finding.rule for finding in verdict.findings if finding.severity == "note"}
    found = tuple(name for name in verdict.failed if name not in notes)
    missed = [rate.task for rate in verdict.models if rate.right < rate.of]
    missed += [finding.rule for finding in verdict.open]
    is_right = rule in verdict.failed if rule else not found and not missed
    return Trial(wire, fault, says, rule, len(exchanges), found, tuple(missed), is_right)


def _exchanges(wire: Wire, fault: str | None, asks: Sequence[Ask]) -> tuple[Exchange, ...]:
    run = Run()
    with SelfTestServer(asked_of, fault=fault) as server:
        endpoint = Endpoint(server.url, "self-test", wire, timeout=_TIMEOUT)
        Runner(run, endpoint, budget=_UNLIMITED, jobs=_JOBS).measure(asks)
    if run.is_interrupted:
        raise KeyboardInterrupt
    return ordered(run.exchanges)
