"""The published results of clients: one file for each client and version, judged by the rules of today.

    python -m tests.support.client_results REPORT.json ...

takes reports of `wholecall conform run` and writes `conformance/results/CLIENT@VERSION.json` for each client in them.
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
    found: dict[str, list[tuple[Results, Graded]]] = {}
    for path in reports:
        report = load(path)
        for client in report.clients:
            found.setdefault(f"{client.name}@{client.version}", []).append((report, regraded(client)))
    for name, parts in found.items():
        whole = msgspec.structs.replace(
            parts[0][0],
            clients=tuple(client for _, client in parts),
            complete=all(report.complete for report, _ in parts),
        )
        (FOLDER / f"{name}.json").write_bytes(to_json(whole) + b"\n")


if __name__ == "__main__":
    write([Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.json")))
