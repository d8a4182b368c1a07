"""The fixtures of the pytest plugin; pytest itself loads `wholecall_pytest`, next to this package.

Theory of operation. A fixture makes a server, or a transport without a socket, gives it the recordings of the test's
nearest marker, and checks at the end whether there was a request without an answer, or an answer without a request.
With `--wholecall-record` the last recording may be missing: then the request goes to the provider, and the file is
written when the test is over. A mistake of the user fails the test with a message and without a traceback. Written
files are listed in the test's report, so that they also arrive from the workers of pytest-xdist.
"""

from __future__ import annotations

import glob
import os
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import pytest

from wholecall import BadRecording
from wholecall.recordings.finding import StrPath
from wholecall.recordings.serving.answers import Match
from wholecall.recordings.serving.recorded import RecordedAnswers, Served
from wholecall.recordings.testing import golden

_SHOWN_LINES = 40  # most lines of a shown difference, and
_SHOWN_CHARS = 400  # most characters of each line; -vv shows all
_ALL = 2
_BLESSED, _RECORDED = "wholecall_blessed", "wholecall_recorded"  # names of properties in reports

AnyAnswers = TypeVar("AnyAnswers", bound=RecordedAnswers)


class _Marked(NamedTuple):
    """The content of a test's marker."""

    recordings: tuple[Served, ...] = ()
    timing: bool = False
    repeat: int | bool = 1
    cut: int | None = None
    match: Match | None = None
    upstream: str | None = None
    strict: bool = True


_SERVING = pytest.StashKey[list[RecordedAnswers]]()  # of a test: its servers and transports
_WRITTEN = pytest.StashKey[dict[Path, tuple[str, list[str]]]]()  # of a run: golden files and their writers


@contextmanager
def serving(
    request: pytest.FixtureRequest, kind: type[AnyAnswers], seed: str | None
) -> Generator[AnyAnswers]:
    """Make a test's server or transport; at the end, fail the test for unanswered requests or unused recordings.

    Args:
        request: the fixture's request, with its test.
        kind: the class to make.
        seed: draws other chunk boundaries; None keeps the recorded ones.
    """
    marked = _marked(request.node)
    answers = kind(request.node.path.parent, seed)
    request.node.stash.setdefault(_SERVING, []).append(answers)
    recordings, missing = marked.recordings, _missing(request.node, marked)
    is_recording = missing is not None and request.config.option.wholecall_record
    try:
        if missing is not None and is_recording:
            recordings = recordings[:-1]
            answers.record(missing, marked.upstream)
        answers.serve(
            *recordings, timing=marked.timing, repeat=marked.repeat, cut=marked.cut, match=marked.match
        )
    except (BadRecording, TypeError, ValueError) as error:
        advice = "; `pytest --wholecall-record` makes it" if missing is not None and marked.upstream else ""
        message = f"@pytest.mark.wholecall: {error}{advice}"
        raise pytest.fail.Exception(message, pytrace=False) from None
    failed = request.session.testsfailed
    yield answers
    has_failed = request.session.testsfailed > failed
    if missing is not None and is_recording:
        _save(request.node, answers, missing)
    if marked.strict and answers.unanswered:
        pytest.fail(_too_many(answers), pytrace=False)
    could_ask = not has_failed  # a failed test may not have sent all requests
    if marked.strict and could_ask and answers.unused:
        pytest.fail(_too_few(answers), pytrace=False)


def _missing(node: pytest.Item, marked: _Marked) -> StrPath | None:
    """Return the recording that could be made: the last one, if its file does not exist."""
    last = marked.recordings[-1] if marked.recordings else b""
    if not isinstance(last, (str, os.PathLike)) or glob.has_magic(os.fspath(last)):
        return None
    return None if (node.path.parent / last).exists() else last


def _save(node: pytest.Item, answers: RecordedAnswers, path: StrPath) -> None:
    """Write the recorded answers, and report them; fail the test if any answer is missing."""
    count = answers.save()
    if count:
        node.user_properties.append((_RECORDED, f"{path} ({count} answer{'' if count == 1 else 's'})"))
    trouble = answers.takes.trouble if answers.takes is not None else []
    if trouble or not count:
        reasons = trouble or ["nothing was asked for"]
        pytest.fail("\n".join([f"wholecall: not all was recorded into {path}:", *reasons]), pytrace=False)


def _marked(node: pytest.Item) -> _Marked:
    marker = _marker(node)
    if marker is None:
        return _Marked()
    try:
        return _Marked(marker.args, **marker.kwargs)
    except TypeError as error:
        trouble = str(error).rpartition("() ")[2]
        raise pytest.fail.Exception(f"@pytest.mark.wholecall: {trouble}", pytrace=False) from None


def _marker(node: pytest.Item) -> pytest.Mark | None:
    """Return the marker of a test: of its parameters, else its own, else of its class or module."""
    parameters = getattr(node, "callspec", None)
    marks: list[pytest.Mark] = parameters.marks if parameters is not None else []
    found = [mark for mark in marks if mark.name == "wholecall"]
    return found[-1] if found else node.get_closest_marker("wholecall")


def _too_many(answers: RecordedAnswers) -> str:
    counts = Counter(request.endpoint for request in answers.unanswered)
    n_asked, n_beyond = len(answers.requests), len(answers.unanswered)
    came = "request came" if n_beyond == 1 else "requests came"
    lines = [
        f"wholecall: {n_beyond} {came} beyond the {n_asked - n_beyond} that answers were prepared for:",
        *(f"  {endpoint}" + (f" ({n} times)" if n > 1 else "") for endpoint, n in counts.items()),
        "Name more recordings in @pytest.mark.wholecall(...), let them repeat (repeat=True), or allow it (strict=False).",
    ]
    return "\n".join(lines)


def _too_few(answers: RecordedAnswers) -> str:
    counts = Counter(answers.unused)
    n_unused = counts.total()
    lines = [
        f"wholecall: {n_unused} {'recording was' if n_unused == 1 else 'recordings were'} not asked for:",
        *(f"  {name}" + (f" ({n} times)" if n > 1 else "") for name, n in counts.items()),
        "Name fewer recordings in @pytest.mark.wholecall(...), or allow it (strict=False).",
    ]
    return "\n".join(lines)


class Golden:
    """A comparison of values with golden files; `--wholecall-bless` rewrites the files.

    Args:
        node: the test.
    """

    def __init__(self, node: pytest.Item) -> None:
        self._node = node

    def __call__(self, value: Any, name: str = "", *, beside: StrPath | None = None) -> None:
        """Compare a value with the golden file `<recording>[.<name>].golden.jsonl`; fail the test if they differ.

        Args:
            value: events, Structs, dataclasses, pydantic's models (of SDKs too), or any JSON value; the items of a
                list, tuple or iterator are a line each.
            name: distinguishes the golden files of one recording.
            beside: the recording, relative to the test's file; None takes the first recording served to the test.

        Raises:
            TypeError, ValueError: JSON cannot represent the value.
        """
        __tracebackhide__ = True
        path = golden.beside(self._recording(beside), name)
        lines = golden.lines_of(value)
        found = golden.compare(path, lines)
        if self._node.config.option.wholecall_bless:
            self._bless(path, lines, found)
        elif found.kind != "equal":
            pytest.fail(self._refusal(path, found), pytrace=False)

    def _recording(self, beside: StrPath | None) -> Path:
        if beside is not None:
            return self._node.path.parent / beside
        for answers in self._node.stash.get(_SERVING, []):
            for file in answers.files:
                return file
        marked = RecordedAnswers(self._node.path.parent)
        marked.serve(*_marked(self._node).recordings)
        if not marked.files:
            pytest.fail(
                "wholecall_golden: beside which recording? Mark the test with @pytest.mark.wholecall(...),"
                " serve a file, or say beside=...",
                pytrace=False,
            )
        return marked.files[0]

    def _refusal(self, path: Path, found: golden.Comparison) -> str:
        shown = self._shown(path)
        if found.kind == "missing":
            return (
                f"wholecall_golden: there is no {shown}.\n"
                "Run pytest with --wholecall-bless to write it, and read what it holds before you keep it."
            )
        return (
            f"wholecall_golden: {shown} holds something else (+{found.added} -{found.removed} lines):\n"
            f"{self._cut(found.diff)}\n"
            "If the new lines are right, run pytest with --wholecall-bless."
        )

    def _cut(self, diff: tuple[str, ...]) -> str:
        if self._node.config.get_verbosity() >= _ALL:
            return "\n".join(diff)
        lines = [
            line if len(line) <= _SHOWN_CHARS else f"{line[:_SHOWN_CHARS]}…" for line in diff[:_SHOWN_LINES]
        ]
        more = len(diff) - len(lines)
        return "\n".join(lines + ([f"… {more} more lines, shown with -vv"] if more else []))

    def _bless(self, path: Path, lines: list[str], found: golden.Comparison) -> None:
        written = self._node.config.stash.setdefault(_WRITTEN, {})
        test, before = written.setdefault(path, (self._node.nodeid, lines))
        if before != lines:
            pytest.fail(
                f"wholecall_golden: {self._shown(path)} was blessed with other lines in this run, by {test}.\n"
                "Give one of them a name: wholecall_golden(value, name=...)",
                pytrace=False,
            )
        if found.kind != "equal":
            golden.write(path, lines)
            changed = (
                f"+{found.added} -{found.removed}" if found.kind == "different" else f"new, {found.added}"
            )
            self._node.user_properties.append((_BLESSED, f"{self._shown(path)} ({changed} lines)"))

    def _shown(self, path: Path) -> str:
        """Return a path relative to the folder of the run, if that is possible."""
        path = Path(os.path.abspath(path))  # noqa: PTH100 - `..` goes, links stay
        root = self._node.config.rootpath
        return path.relative_to(root).as_posix() if path.is_relative_to(root) else str(path)


def summary(reporter: pytest.TerminalReporter, *, blessed: bool, recorded: bool) -> None:
    """Report at the end of a run which files were written.

    Args:
        reporter: pytest's writer to the terminal.
        blessed: whether golden files were to be written.
        recorded: whether recordings were to be written.
    """
    for is_wanted, property_name, title, word, nothing in (
        (blessed, _BLESSED, "golden files", "blessed", "none changed"),
        (recorded, _RECORDED, "recordings", "recorded", "none recorded"),
    ):
        if is_wanted:
            reporter.section(f"wholecall: {title}")
            texts = sorted(_properties(reporter, property_name))
            for text in texts:
                reporter.line(f"{word} {text}")
            if not texts:
                reporter.line(nothing)


def _properties(reporter: pytest.TerminalReporter, name: str) -> set[str]:
    """Return the values of a property in all reports of a run."""
    return {
        str(text)
        for reports in reporter.stats.values()
        for report in reports
        if isinstance(report, pytest.TestReport)
        for key, text in report.user_properties
        if key == name
    }
