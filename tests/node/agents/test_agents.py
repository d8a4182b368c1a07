"""Coding agents over a provider on this machine: their handling of odd calls, unchanged and through the proxy.

These tests need Node.js, and the packages that `npm install --ignore-scripts` puts into this folder (1.2 GB);
`pytest -m 'node and slow' tests/node` runs them. The agents are configured to make no other requests; under
`unshare -rn sh -c 'ip link set lo up; exec pytest ...'` they cannot.
"""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import pytest

from tests.support.agents import AGENTS, NOTE_TEXT, results
from tests.support.proxy_process import proxied

pytestmark = [pytest.mark.node, pytest.mark.slow]

FAULTS = [(name, fault) for name, agent in AGENTS.items() for fault in agent.faults({})]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_an_odd_call_is_not_run(name: str, fault: str, tmp_path: Path) -> None:
    """As it is, the agent does not run the call: the model is told of an error, or nothing happens at all."""
    requests = AGENTS[name].ask(fault, tmp_path, nullcontext)

    assert requests
    assert [] == [text for text in results(requests) if NOTE_TEXT in text]


@pytest.mark.parametrize(("name", "fault"), FAULTS)
def test_a_call_through_the_proxy_is_run(name: str, fault: str, tmp_path: Path) -> None:
    """Through the proxy the agent runs the call at once, and the model gets only the result."""
    told = results(AGENTS[name].ask(fault, tmp_path, proxied))

    assert 1 == len(told)
    assert NOTE_TEXT in told[0]
