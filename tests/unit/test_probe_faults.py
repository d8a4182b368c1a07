"""The self-test of the judge: each fault of a server is found by its rule, and nothing is found in a good server."""

from __future__ import annotations

import pytest

from tests.support import share
from wholecall.grading.probe.exchange import WIRES, Wire
from wholecall.grading.probe.rules.table import ALL
from wholecall.grading.probe.selftest.faults import FAULTS, faults_of
from wholecall.grading.probe.selftest.scenes import exchanges
from wholecall.probe import Judgement, judge

TRIES = 3
CASES = [(fault.id, wire) for fault in FAULTS.values() for wire in fault.wires]
QUICK_RUNS, RUNS = 10, 250  # good servers of each of four wires


def above_note(verdict: Judgement) -> list[str]:
    """Return the ids of the rules that found more than a note."""
    return [finding.rule for finding in verdict.findings if finding.severity != "note"]


def failures(verdict: Judgement) -> list[str]:
    """Return the tasks in which the model failed."""
    return [rate.task for rate in verdict.models if rate.right != rate.of]


@pytest.mark.sampled(43)
@pytest.mark.parametrize(("fault", "wire"), CASES)
def test_a_fault_is_found(fault: str, wire: Wire) -> None:
    """Each fault is found by its rule at three tries, and the model, which did everything, is never blamed for it."""
    verdict = judge(exchanges(wire, fault=fault, seed=3, tries=TRIES))

    assert FAULTS[fault].rule in verdict.failed
    assert [] == failures(verdict)


@pytest.mark.sampled(7)
@pytest.mark.parametrize("wire", WIRES)
def test_a_good_server_is_good(wire: Wire) -> None:
    """Whatever its ids, texts, spellings and cuts: nothing above a note is found, and nothing is open."""
    found = [
        (seed, above_note(verdict), failures(verdict), verdict.open)
        for seed in range(QUICK_RUNS)
        if above_note(verdict := judge(exchanges(wire, seed=seed))) or failures(verdict) or verdict.open
    ]

    assert [] == found


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_a_good_server_is_good_a_thousand_times(wire: Wire) -> None:
    """The same over a thousand runs of all wires; a run of the tests makes a ninth of them."""
    found = [
        (seed, above_note(verdict), failures(verdict), verdict.open)
        for seed in share.every(9, range(QUICK_RUNS, QUICK_RUNS + RUNS), f"good servers, {wire}")
        if above_note(verdict := judge(exchanges(wire, seed=seed))) or failures(verdict) or verdict.open
    ]

    assert [] == found


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "wire"), share.every(17, CASES, "faults"))
def test_a_fault_is_found_whatever_the_seed(fault: str, wire: Wire) -> None:
    """The same for other names, ids, texts and cuts."""
    missed = [
        seed
        for seed in range(4, 10)
        if FAULTS[fault].rule not in judge(exchanges(wire, fault=fault, seed=seed, tries=TRIES)).failed
    ]

    assert [] == missed


def test_there_are_enough_faults() -> None:
    """Chat Completions has more than thirty faults, the other wires ten at least, and each names a rule."""
    counts = {wire: len(faults_of(wire)) for wire in WIRES}

    assert counts["chat-completions"] >= 30
    assert min(counts.values()) >= 10
    assert {fault.rule for fault in FAULTS.values()} <= ALL.keys()


def test_a_self_test_is_repeatable() -> None:
    """The same seed gives the same bytes, another one other bytes."""
    one, again, other = ([each.body for each in exchanges("responses", seed=seed)] for seed in (1, 1, 2))

    assert one == again
    assert one != other
