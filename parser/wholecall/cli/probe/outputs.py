"""Files with the report of a probe: JSON, a page, JUnit, a badge, an issue for the vendor."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import msgspec

from wholecall.cli import output, pages
from wholecall.cli.probe.letter import letter_of
from wholecall.cli.probe.listing import SOURCES
from wholecall.cli.probe.page import page_of
from wholecall.cli.probe.text import held
from wholecall.grading import badge, junit
from wholecall.grading.probe.exchange import SEVERITIES, Exchange
from wholecall.grading.probe.keys import Cover
from wholecall.grading.probe.results import Report

_LABEL = "tool calls"


def check(options: argparse.Namespace) -> None:
    """Refuse options whose files would be lost or are no files."""
    if options.html is not None and not pages.is_page(options.html):
        options.refuse(f"{options.html} is no page, and would be lost: --html FILE names the page to write")
    if options.badge is not None and Path(options.badge).suffix not in {".svg", ".json"}:
        options.refuse("--badge FILE ends in .svg for a picture, or in .json for the data of one")


def write(
    report: Report, exchanges: Mapping[str, Exchange], cover: Cover, options: argparse.Namespace
) -> None:
    """Write the files that the options name, with secrets covered.

    Raises:
        OSError: a file cannot be written.
    """
    makers: dict[str, Callable[[], str]] = {
        "json": lambda: report.to_json().decode(),
        "html": lambda: page_of(report, exchanges),
        "junit": lambda: _junit(report, options.fail_on),
        "badge": lambda: _badge(report, options.badge),
        "markdown": lambda: letter_of(report, exchanges, SOURCES),
    }
    for name, make in makers.items():
        path = getattr(options, name)
        if path is not None:
            _write(path, cover.text(make()))


def _write(path: str, text: str) -> None:
    if path == output.STDIO:
        sys.stdout.write(text)
        return
    with output.replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _junit(report: Report, fail_on: str) -> str:
    return junit.document("wholecall.probe", _cases(report, fail_on))


def _cases(report: Report, fail_on: str) -> Iterator[junit.Case]:
    """Yield a test for each rule: failed from a severity on, skipped if it was not seen."""
    fails = SEVERITIES[: [*SEVERITIES].index(fail_on) + 1]  # type: ignore[arg-type]  # one of them
    for finding in report.findings:
        told = f"{finding.severity}: {finding.count} of {finding.of}: {finding.says}"
        shown = "\n".join(f"{one.file} event {one.frame}" for one in finding.evidence)
        yield junit.Case(finding.rule, 0.0, f"{told}\n{shown}" if finding.severity in fails else None)
    for rule in report.held:
        yield junit.Case(rule, 0.0)
    for rule in report.not_seen:
        yield junit.Case(rule, 0.0, skipped="not seen: no answer came that the rule applies to")


def _badge(report: Report, path: str) -> str:
    message, colour = badge_of(report)
    if Path(path).suffix == ".json":
        return msgspec.json.encode(badge.endpoint(_LABEL, message, colour)).decode() + "\n"
    return badge.svg(_LABEL, message, colour)


def badge_of(report: Report) -> tuple[str, str]:
    """Return the message of a badge and its colour: grey where nothing could be told."""
    if not report.is_told:
        return "could not be told", "grey"
    worst = next((one for one in SEVERITIES if report.severities[one]), "note")
    colour = {"critical": "red", "major": "amber"}.get(worst, "green")
    return f"{report.severities['critical']} critical · {held(report).replace(' of ', '/')}", colour
