"""The self-test of the probe: good servers without a finding, each known fault found by its rule."""

from __future__ import annotations

import msgspec
import pytest

from tests.support import share
from wholecall.cli.main import main
from wholecall.grading.probe import trial
from wholecall.grading.probe.exchange import WIRES, Wire
from wholecall.grading.probe.selftest.faults import FAULTS


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask two calls alone, of a good server, of one with one id for both, and of that one under another rule."""
    fault = FAULTS["id-twice"]
    other = msgspec.structs.replace(fault, rule="frame.utf8")
    monkeypatch.setattr(trial, "_SCENARIOS", ("two",))
    monkeypatch.setattr(trial, "faults_of", lambda _wire: [fault, other])


@pytest.mark.usefixtures("small")
def test_servers_are_judged_over_http(capsys: pytest.CaptureFixture[str]) -> None:
    """A good server and a found fault are right; a fault that its rule does not find fails the command."""
    code = main(["probe", "--self-test", "--wire", "chat-completions"])
    lines = capsys.readouterr().out.splitlines()

    assert 1 == code
    assert ["ok", "ok", "WRONG"] == [line.split()[0] for line in lines[:3]]
    assert "6 answers, no finding" in lines[0]
    assert "labels.id-twice found" in lines[1]
    assert "frame.utf8 not found; found: " in lines[2]
    assert "2 of 3 servers are judged as they should be" == lines[3]


@pytest.mark.slow
@pytest.mark.parametrize("wire", WIRES)
def test_every_fault_is_found(wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    """At three tries each fault is found by its rule, and the good server has no finding, no missed task, nothing open.

    A run tries a ninth of the faults.
    """
    some = share.every(9, list(trial.faults_of(wire)), f"trials of {wire}")
    monkeypatch.setattr(trial, "faults_of", lambda _wire: some)
    wrong = [one for one in trial.trials([wire]) if not one.is_right]

    assert [] == wrong
