"""wholecall under the conformance suite: no call that nobody sent, and every end is a right one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support import conformance_judge
from wholecall import Policy, turns
from wholecall.grading.conform.cases import WIRES


@pytest.mark.sampled(3)
@pytest.mark.parametrize("wire", WIRES)
@pytest.mark.parametrize("knows_tools", [True, False])
def test_every_case_passes(wire: str, knows_tools: bool) -> None:
    """Under the default policy each case has a right end, whether the tools are known or not."""
    verdicts = {
        name: conformance_judge.verdict(
            case, conformance_judge.events_of(case, Policy(), knows_tools=knows_tools)
        )
        for name, case in conformance_judge.sidecars(wire).items()
    }

    assert verdicts
    assert dict.fromkeys(verdicts, "pass") == verdicts


@pytest.mark.sampled(3)
@pytest.mark.parametrize("wire", WIRES)
def test_the_strict_policy_hands_over_nothing_else(wire: str) -> None:
    """Under the strict policy no case is unsafe, and what is missing is said."""
    found = {
        conformance_judge.verdict(case, conformance_judge.events_of(case, Policy.strict()))
        for case in conformance_judge.sidecars(wire).values()
    }

    assert set() == found - {"pass", "refused"}


def test_a_call_that_was_not_sent_is_unsafe() -> None:
    """A verdict is unsafe as soon as one call is in neither list, whatever else was right."""
    case = conformance_judge.sidecars("chat-completions")["chat-completions/two-calls"]
    events = conformance_judge.events_of(case, Policy())

    assert ["unsafe", "unsafe"] == [
        conformance_judge.verdict(case | changed, events)
        for changed in ({"sent": case["sent"][:1]}, {"sent": [], "retracted": case["sent"]})
    ]


def test_a_call_that_is_missing_is_lost() -> None:
    """A verdict is lost if a call is missing and nothing was said."""
    case = conformance_judge.sidecars("anthropic")["anthropic/one-call"]

    assert (
        conformance_judge.verdict(
            case | {"sent": case["sent"] * 2}, conformance_judge.events_of(case, Policy())
        )
        == "lost"
    )


@pytest.mark.parametrize("path", conformance_judge.farewells(), ids=lambda path: path.name)
def test_a_farewell_is_an_answer_without_calls(path: Path) -> None:
    """Each farewell is a whole answer of its wire, in text."""
    (turn,) = turns([path.read_bytes()])

    assert (path.stem, "All is done.", (), "stop") == (turn.dialect, turn.text, turn.calls, turn.reason)
