"""The report of a probe as text for a terminal.

Theory of operation. The head says what was probed and at which costs. Below it are three parts that never mix: faults
and notes of the wire, the model's tasks, and what could not be told; requests that were not made come last.
"""

from __future__ import annotations

from collections.abc import Iterator

from wholecall.cli.show import counted, printable, wrapped
from wholecall.grading.probe.exchange import SEVERITIES, Finding, TriedClient
from wholecall.grading.probe.results import Compared, Rate, Report

_MOST_PLACES = 3
_MOST_CLIENTS = 4
_MANY = 40  # tries of a task, plain and streamed
_K = "3"  # of the pass^k that is shown
_SAID = {"worse": "worse", "better": "better", "not shown": "no difference shown"}


def text_of(report: Report, width: int) -> Iterator[str]:
    """Yield the lines of a report.

    Args:
        report: the report.
        width: the columns of the terminal.
    """
    for text in (head(report), *_costs(report)):
        yield from wrapped(text, width)
    yield sums(report)
    for finding in report.findings:
        yield ""
        yield from _finding(finding, report.saved, width)
    if report.models:
        yield ""
        for rate in report.models:
            yield from wrapped(f"model    {rate_said(rate)}", width)
        if shown := caveat(report):
            yield from wrapped(f"         {shown}", width)
    yield from _referred(report, width)
    if report.open or report.unasked:
        yield ""
    for finding in report.open:
        yield from wrapped(f"open     {finding.rule}  {finding.count} of {finding.of}  {finding.says}", width)
    for reason, count in report.unasked.items():
        yield from wrapped(f"unasked  {counted(count, 'request')}: {reason}", width)


def head(report: Report) -> str:
    """Return what was probed, and at which costs, in a line."""
    about = report.about
    parts = [
        f"wholecall probe {about.version}",
        about.endpoint,
        f"model {about.model}",
        about.wire,
        counted(report.requests, "request"),
        f"{_amount(report.tokens)} tokens at most",
    ]
    if report.seconds is not None:
        parts.append(_time(report.seconds))
    return printable(" · ".join(parts))


def _costs(report: Report) -> Iterator[str]:
    if report.is_interrupted:
        yield "The run was interrupted; this is what was measured until then."
    for note in report.notes:
        yield f"Note: {note}."


def sums(report: Report) -> str:
    """Return the number of findings by severity, and how many rules held."""
    found = "   ".join(f"{severity} {report.severities[severity]}" for severity in SEVERITIES)
    return f"{found}        wire rules held: {held(report)} ({len(report.not_seen)} not seen)"


def held(report: Report) -> str:
    """Return how many rules held of those that applied."""
    return f"{len(report.held)} of {len(report.held) + len(report.failed)}"


def _finding(finding: Finding, saved: str | None, width: int) -> Iterator[str]:
    yield from wrapped(
        f"{finding.severity.upper():8} {finding.rule}  {finding.count} of {finding.of}  {finding.says}", width
    )
    facts = []
    if finding.quirks:
        word = "quirk" if len(finding.quirks) == 1 else "quirks"
        facts.append(f"{word} {', '.join(map(str, finding.quirks))}")
    facts += places(finding, saved)
    yield from wrapped("   " + "; ".join(facts), width)
    if told := breaks(finding):
        yield from wrapped(f"   {told}", width)


def places(finding: Finding, saved: str | None) -> list[str]:
    """Return the first places that show a finding, as `file:frame`."""
    folder = f"{saved}/" if saved else ""
    shown = [
        f"{folder}{one.file}" + (f" event {one.frame}" if one.frame else "")
        for one in finding.evidence[:_MOST_PLACES]
    ]
    more = len(finding.evidence) - len(shown)
    return [*shown, f"and {more} more"] if more > 0 else shown


def breaks(finding: Finding, most: int = _MOST_CLIENTS) -> str:
    """Return which clients fail on a fault in the conformance suite; empty where none was run over such a stream.

    Args:
        finding: the finding of a report.
        most: how many clients are named.
    """
    if not finding.clients_tried:
        return ""
    tried = counted(finding.clients_tried, "client")
    if not finding.clients:
        return f"breaks none of {tried} in the conformance suite"
    named = [client_said(client) for client in finding.clients[:most]]
    if (more := len(finding.clients) - len(named)) > 0:
        named.append(f"and {more} more")
    return f"breaks {len(finding.clients)} of {tried} in the conformance suite: {', '.join(named)}"


def client_said(client: TriedClient) -> str:
    """Return a client with what it does on a fault: `unsafe` is a call that nobody sent."""
    words = ("unsafe", "lost", "refused", "crash")
    found = [f"{word} {count}" for word in words if (count := getattr(client, word))]
    return f"{client.name} {client.version} ({', '.join(found)} of {client.of})"


def caveat(report: Report) -> str:
    """Return how little a clean run of so few tries shows; empty where there were many, or no task was clean."""
    clean = [rate for rate in report.models if rate.right == rate.of and rate.of < _MANY]
    if not clean:
        return ""
    least = min(clean, key=lambda rate: rate.of)
    shown = f"{least.right} right of {least.of} tries show a rate of {least.low:.0%} or more, and no better"
    return f"({shown}; --tries 20 shows more)"


def rate_said(rate: Rate) -> str:
    """Return a rate in words: the task, the tries, pass^k, the interval, the reference."""
    facts = []
    if (drawn := rate.pass_k.get(_K)) is not None:
        facts.append(f"pass^{_K} {drawn:.2f}")
    facts.append(f"95 %: {rate.low:.2f} to {rate.high:.2f}")
    told = f"{rate.task} ({rate.about}): {rate.right} of {rate.of}, {', '.join(facts)}"
    return told if rate.reference is None else f"{told}; {compared_said(rate.reference)}"


def compared_said(compared: Compared) -> str:
    """Return a comparison with the reference in words."""
    interval = f"difference {compared.low:+.2f} to {compared.high:+.2f}"
    return f"reference {compared.right} of {compared.of}: {_SAID[compared.difference]} ({interval})"


def _referred(report: Report, width: int) -> Iterator[str]:
    other = report.reference
    if other is None:
        return
    yield ""
    about = f"reference {other.about.endpoint} · model {other.about.model} · {other.about.wire}"
    yield from wrapped(printable(about), width)
    agreed = "no calls to compare" if other.trigger_f1 is None else f"F score {other.trigger_f1:.3f}"
    yield from wrapped(
        f"   agreement on whether to call: {agreed} over {counted(other.pairs, 'request')}", width
    )
    yield from wrapped(f"   all tasks: {compared_said(other.all)}", width)
    own = ", ".join(f"{severity} {count}" for severity, count in other.severities.items())
    yield from wrapped(f"   its own findings: {own}", width)


def _amount(count: int) -> str:
    return f"{count / 1000:,.0f}k" if count >= 10_000 else f"{count:,}"


def _time(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 120 else f"{seconds:.0f} s"
