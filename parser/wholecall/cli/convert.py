"""The command `wholecall convert`: recordings from one form into another.

Theory of operation. Recordings are read and written one at a time. One that cannot be read is named on
standard error and left out; the others are written all the same.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import IO, Any

from wholecall.cli.options import add_command_parser
from wholecall.cli.out import OK, UNREADABLE, complain
from wholecall.cli.progress import Progress
from wholecall.errors import BadRecording
from wholecall.recordings import Recording, read, write
from wholecall.recordings.writing import WRITERS

__all__ = ["add_command"]

_OWN = "recording"
_ABOUT = """\
Write recordings in another form. What is read is what `wholecall replay` reads: raw streams, VCR cassettes, HAR,
llm-interceptor's logs, llm-mock's files, wholecall's own recordings; also .gz and .zst.

forms:
  recording   wholecall's own: JSON lines that keep chunks and times (docs/recordings.md)
  raw         the bytes of the responses, one behind the other; choose one with --only
  har         an HTTP archive with an entry for each recording
  session     messages with their tool calls, in the Session Trace Simple format; what was dropped is not in it
"""
_EXAMPLES = """\
examples:
  wholecall convert browser.har -o answers.jsonl              keep the answers of models, nothing else
  wholecall convert tests/cassettes --only 3 --to raw         the third answer as the server sent it
  wholecall convert answers.jsonl --to session -o trace.jsonl what the model said and called

exit status:
  0  every recording was read and written
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are written all the same), there was
     none, or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "convert", "write recordings in another form", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_convert)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file, a folder, a glob, or - for standard input")
    add("--to", choices=[_OWN, *WRITERS], default=_OWN, help="the form (recording)")
    add("-o", "--output", metavar="OUT", help="where to write it; standard output by default")
    add("--only", type=_number, metavar="N", help="take only the N-th recording, counted from 1")


def _number(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1")
    return int(text)


class _Found:
    """The recordings that are asked for, whole; counts them, and those that cannot be read."""

    def __init__(self, options: argparse.Namespace) -> None:
        self._options = options
        self.count = 0
        self.unreadable = 0

    def __iter__(self) -> Iterator[Recording]:
        with closing(read(*self._options.paths)) as recordings, Progress() as progress:
            for number, recording in enumerate(recordings, 1):
                progress.step(recording.name)
                if self._options.only not in {None, number}:
                    continue
                try:
                    recording.chunks = iter(list(recording.chunks))  # a form is not left half written
                except BadRecording as error:
                    self.unreadable += 1
                    progress.clear()
                    complain(str(error))
                    continue
                self.count += 1
                yield recording


def _convert(options: argparse.Namespace) -> int:
    found = _Found(options)
    if options.output in {None, "-"}:
        _write(options.to, found, sys.stdout.buffer)
    else:
        try:
            with Path(options.output).open("wb") as file:
                _write(options.to, found, file)
        except OSError as error:
            complain(f"{options.output}: {error.strerror}")
            return UNREADABLE
    if found.count == 0 and not found.unreadable:
        complain("there is no such recording")
    return OK if found.count and not found.unreadable else UNREADABLE


def _write(form: str, found: _Found, file: IO[bytes]) -> None:
    if form == _OWN:
        for recording in found:
            write(file, recording)
    else:
        file.writelines(WRITERS[form](found))
