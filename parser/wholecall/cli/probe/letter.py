"""An issue for a vendor, in Markdown: each fault of the wire with its request, its bytes, and what the standard says."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from wholecall.cli.probe.evidence import answered, command, excerpt
from wholecall.cli.probe.text import breaks, head, held
from wholecall.cli.show import printable
from wholecall.grading.probe.exchange import Exchange, Finding
from wholecall.grading.probe.results import Report


def letter_of(report: Report, exchanges: Mapping[str, Exchange], sources: Mapping[str, str]) -> str:
    """Return the issue: only faults of the wire, none of the model, and no key.

    Args:
        report: the report.
        exchanges: the exchanges by the names of their files.
        sources: by a rule's id, where it is written.
    """
    faults = [finding for finding in report.findings if finding.severity != "note"]
    lines = [
        f"# Tool calls of {printable(report.about.endpoint)}, model {printable(report.about.model)}",
        "",
        f"{head(report)}, {report.about.date}. Rules of the wire that held: {held(report)}.",
        "What the model chose to say is not part of this list.",
    ]
    if not faults:
        lines += ["", "No fault of the wire was found."]
    for finding in faults:
        lines += ["", *_fault(finding, report, exchanges, sources.get(finding.rule, ""))]
    return "\n".join(lines) + "\n"


def _fault(finding: Finding, report: Report, exchanges: Mapping[str, Exchange], source: str) -> Iterator[str]:
    yield f"## {finding.rule} ({finding.severity})"
    yield ""
    yield f"{finding.says} Found in {finding.count} of {finding.of} answers."
    if source:
        yield ""
        yield f"Where it is written: {source}"
    if finding.clients:
        yield ""
        yield f"It {breaks(finding, len(finding.clients))}."
    place = next((one for one in finding.evidence if one.file in exchanges), None)
    if place is None:
        return
    exchange = exchanges[place.file]
    yield from (
        "",
        "The request:",
        "",
        *_fenced(command(exchange, report.about.endpoint, report.about.model), "sh"),
    )
    where = f", event {place.frame}" if place.frame else ""
    yield from ("", f"The answer ({answered(exchange)}){where}:", "", *_fenced(excerpt(exchange, place)))


def _fenced(text: str, kind: str = "text") -> Iterator[str]:
    """Yield a text between fences that are longer than any in it."""
    fence = "```"
    while fence in text:
        fence += "`"
    yield f"{fence}{kind}"
    yield from (printable(line) for line in text.split("\n"))
    yield fence
