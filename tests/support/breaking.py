"""Write which clients fail on which cases into the package, from the published results.

    python -m tests.support.breaking

The file is what `wholecall probe` looks up the clients in that a fault breaks. Disputed cases are left out.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any, cast

from tests.support import client_results
from wholecall.grading.conform.cases import Case, open_suite
from wholecall.grading.conform.results import Graded, load
from wholecall.grading.conform.verdicts import Word
from wholecall.grading.probe.bodies import Habits, body_of
from wholecall.grading.probe.exchange import SEVERITIES, WIRES, Asked, AskedCall, Exchange, Wire
from wholecall.grading.probe.offered import OfferedTool
from wholecall.grading.probe.rules.table import ALL
from wholecall.grading.probe.scenarios import Variant
from wholecall.grading.probe.verdict import look

SUITE = client_results.SUITE
PATH = SUITE.parent / "parser/wholecall/grading/probe/breaking.json"
# The member of a client that a verdict goes to, the worst first.
_MEMBERS: dict[Word, str | None] = {
    "unsafe": "unsafe",
    "crash": "crash",
    "timeout": "crash",
    "lost": "lost",
    "refused": "refused",
    "pass": None,
    "unsupported": "unasked",
}


def text() -> str:
    """Return the file as it should be, one rule or one client a line."""
    suite = open_suite(SUITE)
    rules = {wire: _rules(case for case in suite.cases(wires=[wire]) if not case.disputed) for wire in WIRES}
    listed = ",\n".join(f"{_json(wire)}: {{\n{_lines(found)}\n}}" for wire, found in rules.items())
    clients = ",\n".join(map(_json, _clients(rules)))
    return f'{{"data": {_json(suite.version)},\n"cases": {{\n{listed}}},\n"clients": [\n{clients}\n]}}\n'


def _lines(rules: dict[str, list[str]]) -> str:
    return ",\n".join(f"{_json(rule)}: {_json(cases)}" for rule, cases in rules.items())


def _rules(cases: Iterable[Case]) -> dict[str, list[str]]:
    """Return for each rule the cases that show it.

    A case shows a rule if it has one of the rule's quirks, the rule finds the fault in its bytes, and no rule that is
    more severe finds another fault in them, which would be to blame.
    """
    found: dict[str, list[str]] = {}
    for case in cases:
        broken = [ALL[name] for name, hits in look(exchange_of(case)).hits.items() if hits]
        worst = min((SEVERITIES.index(rule.severity) for rule in broken), default=0)
        for rule in broken:
            if {*rule.quirks} & {*case.quirks} and SEVERITIES.index(rule.severity) == worst:
                found.setdefault(rule.id, []).append(_name(case.id))
    return dict(sorted(found.items()))


def exchange_of(case: Case) -> Exchange:
    """Return a case as an exchange of the probe."""
    is_cut = case.finish == "length"
    tools = tuple(OfferedTool(tool.name, "", tool.schema) for tool in case.request.tools)
    calls = tuple(AskedCall(tool.name) for tool in tools[:is_cut])
    asked = Asked(outcome="cut" if is_cut else "any", calls=calls)
    variant = Variant(prompt="Call the tools.", tools=tools, asked=asked)
    wire = cast("Wire", case.wire)
    return Exchange(
        scenario="case",
        wire=wire,
        is_streamed=case.request.stream,
        request=body_of(variant, wire, "m", is_streamed=case.request.stream, habits=Habits()),
        status=case.http.status,
        headers={"content-type": case.http.content_type},
        chunks=((0.0, case.data),),
        ended="closed" if case.http.ending in {"clean", "half"} else "broken",
        asked=asked,
    )


def _clients(rules: dict[str, dict[str, list[str]]]) -> Iterator[dict[str, Any]]:
    """Yield each client on each wire, with those verdicts that are not `pass`."""
    for path in sorted(client_results.FOLDER.glob("*.json")):
        for client in (one for one in load(path).clients if one.wire in rules):
            verdicts = _worst(client)
            about = {"name": client.name, "version": client.version, "wire": client.wire}
            found: dict[str, list[str]] = defaultdict(list)
            for case in sorted({case for cases in rules[client.wire].values() for case in cases}):
                member = _MEMBERS[verdicts.get(f"{client.wire}/{case}", "unsupported")]
                if member is not None:
                    found[member].append(case)
            yield about | dict(sorted(found.items()))


def _worst(client: Graded) -> dict[str, Word]:
    """Return the worst verdict on each case, of several ways of writing it."""
    order = list(_MEMBERS)
    runs = sorted(client.cases, key=lambda run: order.index(run.verdict), reverse=True)
    return {run.case: run.verdict for run in runs}


def _name(id_: str) -> str:
    return id_.partition("/")[2]


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def main() -> None:
    """Write the file."""
    PATH.write_text(text(), "utf-8")


if __name__ == "__main__":
    main()
