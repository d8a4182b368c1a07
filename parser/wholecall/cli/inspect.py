"""The command `wholecall inspect`: the effect of each frame of a stream: as text, JSON, or a page to scrub through.

Theory of operation. A recording becomes a timeline (see `wholecall.timeline`); its steps go to one of three outputs as
they arrive. A recording that cannot be read is named on standard error and the next one is tried.

In the page (see `pages`) the steps are JSON, which the script shows as text only. The page may be shared. Therefore it
has only the parts of names below their common folder.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from wholecall import BadRecording
from wholecall.cli import output, pages, show
from wholecall.cli.batch import Beginning, Nonsense, Tally
from wholecall.cli.options import add_command_parser, add_dialect, add_max_bytes, add_text
from wholecall.cli.timeline_text import MIN_WIDTH, Plain, Rich, TimelineText, summary, touches_calls
from wholecall.recordings import Recording, finding, read, replay
from wholecall.recordings.timeline.steps import Step, timeline

_ABOUT = """\
Show a stream frame by frame: where each frame is, what it says, and what it did to the calls that are being put
together: phases, text that was added or replaced, ids and names, edits, drops and their reasons, faults.

A frame can wait: a call that the wire has closed may get its verdict with a later frame, and what is still open
gets it at the end of the stream, the last step.
"""
_PATHS = """\
recordings, as for `wholecall replay`: files, folders, globs, or - for
standard input"""
_EXAMPLES = """\
examples:
  wholecall inspect cut.sse                           what happened, and where it went wrong
  wholecall inspect --calls cut.sse                   only the frames that touched a call
  wholecall inspect --html cut.html cut.sse           a page to scrub through; it needs no network
  wholecall inspect --text hermes leaked.sse          calls that the model wrote as text, and what was markup
  curl -sN ... | wholecall inspect --follow           a live stream, each frame as it comes, with its time
  wholecall inspect --json cut.sse | jq 'select(.changes != []) | [.offset, .changes]'
  NO_COLOR=1 wholecall inspect --width 160 cut.sse    no colours, long lines

how to read a line:
  call 0  pending -> streaming  get_tide  +9  {"port":"     the frame named call 0 and brought 9 characters
  call 0  +8 = 17  Brest"}                                  8 more, 17 in all
  call 0  streaming -> ended  dropped: truncated            it must not be executed, and why
  call 2.1.0                                                a call of turn 2, choice 1 (0 and 0 are not shown)
  markup  +12  <tool_call>                                  with --text: a marker, which is not shown to anybody
  written call  +34  {"name": "get_tide",                   what the model wrote of a call or a drop

exit status:
  0  every recording was read
  1  a file holds no answer of a model (named on standard error)
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are read anyway),
     or the output could not be written
"""
_STYLES = ("colours.css", "page.css")
_SCRIPTS = ("theme.js", "text.js", "model.js", "lists.js", "calls.js", "track.js", "chooser.js", "main.js")
_SUMMARY = 160  # characters of a frame's summary


class Output(Protocol):
    """The destination of steps."""

    def begin(self, name: str) -> None:
        """Start another recording."""
        ...

    def step(self, step: Step) -> None:
        """Add one step."""
        ...

    def end(self, text: str) -> None:
        """Finish; `text` is the summary."""
        ...


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "inspect", "show what each frame of a stream did to its calls", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_inspect, refuse=command.error)
    _add_options(command)


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("paths", nargs="*", metavar="PATH", help=_PATHS)
    form = command.add_mutually_exclusive_group().add_argument
    form("--json", action="store_true", help='write each step as one line, {"recording": NAME, ...step}')
    form("--html", metavar="OUT", help="write one self-contained page; - is standard output")
    add("--calls", action="store_true", help="leave out steps that touch no call")
    add("--follow", action="store_true", help="read standard input and show steps as their bytes arrive")
    add(
        "--width",
        type=_width,
        metavar="N",
        help=f"columns of a line, at least {MIN_WIDTH}; by default the terminal's",
    )
    add(
        "--color", choices=output.CHOICES, default="auto", help="colours, with the extra cli installed (auto)"
    )
    add_dialect(command)
    add_max_bytes(command)
    add_text(command)


def _width(text: str) -> int:
    if not text.isdecimal() or int(text) < MIN_WIDTH:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of columns from {MIN_WIDTH}")
    return int(text)


def _inspect(options: argparse.Namespace) -> int:
    _check(options)
    tally = Tally()
    out = _output(options)
    with closing(read(*options.paths or [finding.STDIN], max_bytes=options.max_bytes)) as recordings:
        for recording in recordings:
            out.begin(recording.name)
            try:
                _show(recording, options, tally, out)
            except (BadRecording, Nonsense) as error:
                tally.unreadable += isinstance(error, BadRecording)
                tally.nonsense += isinstance(error, Nonsense)
                sys.stdout.flush()  # the complaint comes after earlier output
                output.complain(str(error))
        tally.skipped = recordings.skipped.total()
    out.end(tally.summary())
    if tally.unreadable:
        return output.UNREADABLE
    return output.FOUND if tally.nonsense else output.OK


def _show(recording: Recording, options: argparse.Namespace, total: Tally, out: Output) -> None:
    """Show a recording's steps and count it; steps before damage count, nonsense does not."""
    beginning, tally = Beginning(recording), Tally()
    try:
        for step in _steps(recording, options):
            for event in step.events:
                tally.count(event)
            out.step(step)
            if options.follow:
                sys.stdout.flush()
    except BadRecording:
        total.merge(tally)
        raise
    beginning.refuse_nonsense(tally)
    tally.end()
    total.merge(tally)


def _check(options: argparse.Namespace) -> None:
    if options.follow and options.paths not in ([], [finding.STDIN]):
        options.refuse("--follow reads standard input, no PATH")
    if not options.follow and not options.paths:
        options.refuse("the following arguments are required: PATH (or --follow)")
    if options.follow and options.html is not None:
        options.refuse("--html needs a whole stream: it cannot follow one")
    if options.calls and options.html is not None:
        options.refuse("--html shows all steps: --calls is for lists")
    if options.html is not None and not _may_be_page(options.html, options.paths):
        options.refuse(f"{options.html} is no page, and would be lost: --html OUT names the page to write")


def _may_be_page(path: str, inputs: Iterable[str]) -> bool:
    """Return whether the path is free of files that a page must not replace, such as a recording."""
    return pages.is_page(path) and not (Path(path).is_file() and output.is_read(inputs, path))


def _steps(recording: Recording, options: argparse.Namespace) -> Iterator[Step]:
    dialect = replay.dialect_of(recording) if options.dialect == "auto" else options.dialect
    chunks: Iterable[tuple[float | None, bytes]] = recording.chunks
    return timeline(_timed(chunks) if options.follow else chunks, dialect, text=options.text)


def _timed(
    chunks: Iterable[tuple[float | None, bytes]], clock: Callable[[], float] = time.monotonic
) -> Iterator[tuple[float | None, bytes]]:
    """Yield chunks with the time since the first chunk."""
    began: float | None = None
    for _, data in chunks:
        now = clock()
        began = now if began is None else began
        yield now - began, data


# Outputs.


def _output(options: argparse.Namespace) -> Output:
    if options.html is not None:
        return HtmlPage(options.html)
    if options.json:
        return _JsonLines(options.calls)
    width = options.width or shutil.get_terminal_size((100, 24)).columns
    rich = output.console(width) if output.wants_colour(options.color) else None
    if rich is None and options.color == "always":
        output.complain("colours need rich: pip install 'wholecall[cli]'")
    return TimelineText(
        Plain(output.write) if rich is None else Rich(rich), width=width, only_calls=options.calls
    )


class _JsonLines:
    """Steps for programs."""

    def __init__(self, only_calls: bool) -> None:
        self._only_calls = only_calls
        self._write = output.json_writer("")

    def begin(self, name: str) -> None:
        self._write = output.json_writer(name)

    def step(self, step: Step) -> None:
        if not self._only_calls or touches_calls(step):
            self._write(step.to_json())

    def end(self, text: str) -> None:
        """Write nothing: the totals are for people."""


class HtmlPage:
    """Gathers recordings and writes them as a page.

    Args:
        path: the file to write, `"-"` for standard output.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._recordings: list[_Shown] = []

    def begin(self, name: str) -> None:
        """Start another recording."""
        self._recordings.append(_Shown(name, Tally(), []))

    def step(self, step: Step) -> None:
        """Add one step."""
        shown = self._recordings[-1]
        for event in step.events:
            shown.tally.count(event)
        name, text = summary(step, _SUMMARY)
        said = f'"name":{json.dumps(name)},"summary":{json.dumps(text[: 2 * _SUMMARY])}'
        shown.steps.append(pages.harmless(f"{{{said},{step.to_json().decode()[1:]}"))

    def end(self, text: str) -> None:  # noqa: ARG002 - the page counts by recording
        """Write the page, unless there is nothing to show.

        Raises:
            OSError: it cannot be written.
        """
        shown = [one for one in self._recordings if one.steps]
        if not shown:
            output.complain("there is nothing to show, so no page was written")
            return
        names = show.below_common_folder([one.name for one in shown])
        recordings = (one.to_json(name) for one, name in zip(shown, names, strict=True))
        data = f'{{"recordings":[{",".join(recordings)}]}}'
        pages.write_page(self._path, pages.page_of("page.html", _STYLES, _SCRIPTS, data=data))


class _Shown(NamedTuple):
    """A recording of the page: its name, its summary, its steps as JSON."""

    name: str
    tally: Tally
    steps: list[str]

    def to_json(self, name: str) -> str:
        """Return the JSON of the recording under another name."""
        facts = {
            "name": name,
            "dialect": self.tally.dialect or "unknown dialect",
            "calls": self.tally.calls,
            "dropped": self.tally.dropped,
            "faults": self.tally.faults,
        }
        return f'{pages.harmless(json.dumps(facts))[:-1]},"steps":[{",".join(self.steps)}]}}'
