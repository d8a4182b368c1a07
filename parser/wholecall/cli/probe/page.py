"""The report of a probe as one self-contained page (see `pages`): the three parts, each fault with its frames.

Theory of operation. Texts of the endpoint are in frames that show a finding; like all texts they are escaped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from wholecall.cli.markup import Frame, element, facts, framed, safe, titled
from wholecall.cli.probe.evidence import answered, command, excerpt
from wholecall.cli.probe.text import breaks, caveat, client_said, compared_said, head, held, rate_said
from wholecall.cli.show import counted, printable
from wholecall.grading.probe.exchange import SEVERITIES, Evidence, Exchange, Finding
from wholecall.grading.probe.results import About, Report

_MOST_FRAMES = 2  # shown of a finding


def page_of(report: Report, exchanges: Mapping[str, Exchange]) -> str:
    """Return a report as a page.

    Args:
        report: the report.
        exchanges: the exchanges by the names of their files.
    """
    parts = [
        ("wire", "The wire", _wire(report, exchanges)),
        ("model", "The model", _model(report)),
        ("open", "What could not be told", _open(report)),
        ("rules", "The rules", _rules(report)),
    ]
    frame = Frame(
        command="probe",
        title=f"Tool calls of {printable(report.about.model)}",
        about=f"{head(report)} · {report.about.date}",
        warning="The run was interrupted." if report.is_interrupted else "",
        styles=("probe.css",),
        scripts=("theme.js", "probe.js"),
    )
    return framed(frame, [(id, title, titled(title, inner)) for id, title, inner in parts], _sums(report))


def _paragraph(text: str) -> str:
    return element("p", safe(text))


def _sums(report: Report) -> str:
    bad = [one for one in ("critical", "major") if report.severities[one]]
    found = [(one, str(report.severities[one]), "bad" if one in bad else "", "") for one in SEVERITIES]
    return facts([*found, (f"rules held ({len(report.not_seen)} not seen)", held(report), "", "")])


def _wire(report: Report, exchanges: Mapping[str, Exchange]) -> str:
    if not report.findings:
        return _paragraph("No rule of the wire found anything.")
    return "".join(_finding(finding, report, exchanges) for finding in report.findings)


def _finding(finding: Finding, report: Report, exchanges: Mapping[str, Exchange]) -> str:
    title = (
        element("span", safe(finding.severity), class_=f"severity {finding.severity}")
        + " "
        + element("code", safe(finding.rule))
        + " "
        + element("span", safe(f"{finding.count} of {finding.of}"), class_="dim")
    )
    quirks = f" Quirks: {', '.join(map(str, finding.quirks))}." if finding.quirks else ""
    shown = [one for one in finding.evidence if one.file in exchanges][:_MOST_FRAMES]
    places = "".join(_place(one, exchanges[one.file], report.about) for one in shown)
    files = ", ".join(one.file for one in finding.evidence)
    rest = element("p", f"Files: {safe(files)}", class_="note dim") if files else ""
    about = _paragraph(finding.says + quirks) + _breaks(finding)
    return element("article", element("h3", title) + about + places + rest)


def _breaks(finding: Finding) -> str:
    """Return the clients that fail on a fault, folded where there are several."""
    told = breaks(finding, 0)
    if not finding.clients:
        return _paragraph(f"In the published results it {told}.") if told else ""
    head, _, _ = told.partition(":")
    return element(
        "details", element("summary", safe(head)) + _list([client_said(one) for one in finding.clients])
    )


def _place(place: Evidence, exchange: Exchange, about: About) -> str:
    where = f", event {place.frame}" if place.frame else ""
    inner = element("summary", safe(f"{place.file}{where}: {answered(exchange)}"))
    inner += element("pre", "\n".join(map(safe, excerpt(exchange, place).split("\n"))))
    inner += element("p", "The request:", class_="dim") + element(
        "pre", safe(command(exchange, about.endpoint, about.model))
    )
    return element("details", inner)


def _model(report: Report) -> str:
    if not report.models:
        return _paragraph("No task of the model could be told.")
    tasks = element("ul", "".join(element("li", safe(rate_said(rate))) for rate in report.models))
    tasks += _paragraph(caveat(report))
    other = report.reference
    if other is None:
        return tasks
    agreed = "no calls to compare" if other.trigger_f1 is None else f"F score {other.trigger_f1:.3f}"
    said = (
        f"Reference: {other.about.endpoint}, model {other.about.model}. Agreement on whether to call: {agreed} over "
        f"{counted(other.pairs, 'request')}. All tasks: {compared_said(other.all)}."
    )
    return tasks + _paragraph(printable(said))


def _open(report: Report) -> str:
    said = [*_untold(report)]
    return _list(said) if said else _paragraph("Everything that was asked could be told.")


def _untold(report: Report) -> Iterator[str]:
    for finding in report.open:
        yield f"{finding.rule}, {finding.count} of {finding.of}: {finding.says}"
    for reason, count in report.unasked.items():
        yield f"{counted(count, 'request')} not made: {reason}"


def _list(texts: Sequence[str]) -> str:
    return element("ul", "".join(element("li", safe(text)) for text in texts))


def _rules(report: Report) -> str:
    groups = {"Held": report.held, "Found something": report.failed, "Not seen": report.not_seen}
    return "".join(
        element("details", element("summary", safe(f"{name} ({len(rules)})")) + _list(rules))
        for name, rules in groups.items()
    )
