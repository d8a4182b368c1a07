"""The published results of clients: one file for each client and version, judged by the rules of today.

    python -m tests.support.client_results REPORT.json ...

takes reports of `wholecall conform run`, later ones over earlier ones, and writes `conformance/results/CLIENT@VERSION.json` for each client in them.
Without a report it judges the published files again, as is due after a change of the rules or of a sidecar. A case that
the suite no longer has is left out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import msgspec

from wholecall.grading.conform.cases import Case, open_suite
from wholecall.grading.conform.results import Graded, Results, Run, load, scores, to_json
from wholecall.grading.conform.verdicts import Answer, judge

SUITE = Path(__file__).resolve().parents[2] / "conformance"
FOLDER = SUITE / "results"


@cache
def cases() -> dict[str, Case]:
    """Return the cases of the suite by their ids."""
    return {case.id: case for case in open_suite(SUITE).cases()}


def judged(run: Run) -> Run:
    """Return a run with the verdict of today's rules on what was got."""
    case = cases()[run.case]
    known = {"level": case.level, "disputed": case.disputed is not None}
    if run.got is None:
        return msgspec.structs.replace(run, **known)
    verdict = judge(case, msgspec.convert(run.got, Answer))
    return msgspec.structs.replace(run, verdict=verdict.word, why=verdict.why, **known)


def regraded(client: Graded) -> Graded:
    """Return a client's part of a report with today's verdicts."""
    runs = tuple(judged(run) for run in client.cases if run.case in cases())
    return msgspec.structs.replace(client, cases=runs, scores=scores(runs))


def write(reports: Iterable[Path]) -> None:
    """Write the result files of all clients of some reports."""
    found: dict[str, tuple[Results, dict[str, Graded]]] = {}
    for report in map(load, reports):
        for client in report.clients:
            whole, wires = found.setdefault(f"{client.name}@{client.version}", (report, {}))
            wires[client.wire] = regraded(together(wires.get(client.wire), client))
    for name, (whole, wires) in found.items():
        results = msgspec.structs.replace(whole, clients=tuple(wires.values()))
        (FOLDER / f"{name}.json").write_bytes(to_json(results) + b"\n")


def together(earlier: Graded | None, later: Graded) -> Graded:
    """Return two parts of a client's runs as one; a run of the later part replaces the same one of the earlier."""
    runs = {(run.case, run.write): run for part in (earlier, later) if part is not None for run in part.cases}
    return msgspec.structs.replace(
        later, cases=tuple(sorted(runs.values(), key=lambda run: (run.case, run.write)))
    )


if __name__ == "__main__":
    write([Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.json")))
