"""A report in the XML of JUnit, which continuous integration reads."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Optional
from xml.sax.saxutils import escape, quoteattr

import msgspec

# Characters that XML 1.0 cannot hold, not even escaped.
_IMPOSSIBLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Case(msgspec.Struct, frozen=True):
    """One line of the report.

    Attributes:
        name: its name; `a/b` is shown as `b` in the class `a`.
        seconds: how long it took.
        failure: why it failed, None if it did not.
        skipped: why it was not run, None if it was.
    """

    name: str
    seconds: float
    failure: Optional[str] = None
    skipped: Optional[str] = None


def document(suite: str, cases: Iterable[Case]) -> str:
    """Return a report as XML.

    Args:
        suite: its name.
        cases: its lines, in order.
    """
    listed = list(cases)
    head = (
        f"<testsuite name={_quoted(suite)} tests={_quoted(len(listed))} "
        f"failures={_quoted(sum(case.failure is not None for case in listed))} "
        f'errors="0" skipped={_quoted(sum(case.skipped is not None for case in listed))} '
        f"time={_quoted(_seconds(sum(case.seconds for case in listed)))}>"
    )
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', "<testsuites>", head]
    lines += [_line(suite, case) for case in listed]
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def _line(suite: str, case: Case) -> str:
    group, _, name = case.name.rpartition("/")
    about = f"classname={_quoted(group or suite)} name={_quoted(name)} time={_quoted(_seconds(case.seconds))}"
    if case.failure is not None:
        summary = case.failure.partition("\n")[0]
        inner = f"<failure message={_quoted(summary)}>{escape(_possible(case.failure))}</failure>"
    elif case.skipped is not None:
        inner = f"<skipped message={_quoted(case.skipped)}/>"
    else:
        return f"<testcase {about}/>"
    return f"<testcase {about}>{inner}</testcase>"


def _quoted(value: object) -> str:
    return quoteattr(_possible(str(value)))


def _seconds(seconds: float) -> str:
    return f"{seconds:.3f}"


def _possible(text: str) -> str:
    return _IMPOSSIBLE.sub("\ufffd", text)
