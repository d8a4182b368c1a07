"""The clients that are known to fail on a fault: those whose published results in the conformance suite fail.

Theory of operation. `breaking.json` says which of the suite's cases break which rule, and which of them each client
failed; `python -m tests.support.breaking` makes it from `conformance/`, which the installed package does not have. A
case belongs to a rule if it has one of the rule's quirks, the rule finds the fault in its bytes, and no worse fault is in
them; a number of a quirk alone is too coarse, as one may stand for several habits. Nothing is guessed: where no such
case is of the wire, nothing is known. A case that was run in several ways counts once, by its worst verdict.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files

import msgspec

from wholecall.grading.probe.exchange import Finding, TriedClient

FILE = "breaking.json"


class Results(msgspec.Struct, frozen=True, kw_only=True):
    """The failures of a client on one wire, as ids of cases without the wire.

    Attributes:
        name: the client's name.
        version: its version.
        wire: the wire.
        unasked: cases that it was not asked, or could not be.
        unsafe: cases in which it handed over a call that nobody sent.
        lost: cases in which a call, or a fault, went missing without a word.
        refused: cases in which a call went missing, and it said so.
        crash: cases in which it crashed, or gave no answer in time.
    """

    name: str
    version: str
    wire: str
    unasked: frozenset[str] = frozenset()
    unsafe: frozenset[str] = frozenset()
    lost: frozenset[str] = frozenset()
    refused: frozenset[str] = frozenset()
    crash: frozenset[str] = frozenset()


class Published(msgspec.Struct, frozen=True, kw_only=True):
    """What is published.

    Attributes:
        data: the version of the suite's data.
        cases: by wire, the cases of each rule.
        clients: the clients.
    """

    data: str
    cases: dict[str, dict[str, frozenset[str]]]
    clients: tuple[Results, ...]


@cache
def published() -> Published:
    """Return what is published, as the package has it."""
    data = (files("wholecall.grading.probe") / FILE).read_bytes()
    return msgspec.json.decode(data, type=Published)


def with_clients(finding: Finding, wire: str) -> Finding:
    """Return a finding with the clients that were tried on the same fault, and those of them that fail."""
    tried = clients_of(finding.rule, wire)
    failing = tuple(client for client in tried if client.failed)
    return msgspec.structs.replace(finding, clients=failing, clients_tried=len(tried))


def clients_of(rule: str, wire: str) -> list[TriedClient]:
    """Return the clients that were tried on cases of a wire that break a rule, the worst first."""
    cases = published().cases.get(wire, {}).get(rule, frozenset())
    tried = (_client(one, cases - one.unasked) for one in published().clients if one.wire == wire)
    return sorted((client for client in tried if client.of), key=_worst_first)


def _client(results: Results, cases: frozenset[str]) -> TriedClient:
    return TriedClient(
        name=results.name,
        version=results.version,
        of=len(cases),
        unsafe=len(cases & results.unsafe),
        lost=len(cases & results.lost),
        refused=len(cases & results.refused),
        crash=len(cases & results.crash),
    )


def _worst_first(client: TriedClient) -> tuple[float, float, float, str, str]:
    return (
        -client.unsafe / client.of,
        -client.lost / client.of,
        -client.failed / client.of,
        client.name,
        client.version,
    )
