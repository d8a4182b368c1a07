"""The clients that a fault breaks, as `wholecall probe` looks them up."""

from __future__ import annotations

import pytest

from tests.support import breaking
from wholecall.cli.probe.text import breaks
from wholecall.grading.probe.breaking import clients_of, published, with_clients
from wholecall.grading.probe.exchange import Finding, TriedClient
from wholecall.grading.probe.rules.table import ALL


def test_the_file_is_that_of_the_results() -> None:
    """What the package holds is what the published results say; `python -m tests.support.breaking` writes it."""
    assert breaking.text() == breaking.PATH.read_text("utf-8")


def test_only_known_rules_are_in_it() -> None:
    """Each case is listed under a rule that there is, for a wire of that rule."""
    listed = [(wire, rule) for wire, rules in published().cases.items() for rule in rules]

    assert [] == [(wire, rule) for wire, rule in listed if wire not in ALL[rule].wires]


def test_an_index_in_pieces_breaks_clients_that_join_by_index() -> None:
    """A client is named with its version and the counts of its verdicts; the worst come first."""
    tried = clients_of("labels.index-churn", "chat-completions")
    [client] = [client for client in tried if client.name == "agno"]

    assert TriedClient(name="agno", version=client.version, of=2, unsafe=2) == client
    assert sorted((client.unsafe for client in tried), reverse=True) == [client.unsafe for client in tried]


@pytest.mark.parametrize(
    ("rule", "wire"), [("frame.content-type", "chat-completions"), ("labels.index-churn", "anthropic")]
)
def test_nothing_is_guessed(rule: str, wire: str) -> None:
    """Of a rule that no case of the wire shows nothing is said."""
    found = with_clients(Finding(rule=rule, severity="major", kind="wire", says=""), wire)

    assert ((), 0, "") == (found.clients, found.clients_tried, breaks(found))


def test_a_fault_that_breaks_nobody() -> None:
    """A fault that all clients live with is told apart from one that nobody tried."""
    note = Finding(rule="ends.reason-without-call", severity="note", kind="wire", says="")
    found = with_clients(note, "chat-completions")

    assert f"breaks none of {found.clients_tried} clients in the conformance suite" == breaks(found)


def test_a_worse_fault_is_to_blame() -> None:
    """A case with several faults says nothing about the lesser ones: a cut call is not the fault of its last line end."""
    cases = published().cases["chat-completions"]

    assert "watsonx-events" in cases["labels.name-repeated"]
    assert "watsonx-events" not in cases["usage.unasked"]
