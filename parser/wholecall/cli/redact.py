"""The command `wholecall redact`: recordings that can be shown, with other letters and the same behaviour.

Theory of operation. Recordings are read, redacted and written one at a time. One that cannot be read, or would
not be the same stream any more, is named on standard error and left out; the others are written all the same.
"""

from __future__ import annotations

import argparse
import secrets
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
from wholecall.recordings.writing import to_bytes
from wholecall.redacting import Redaction, redact

__all__ = ["add_command"]

_OWN, _RAW = "recording", "raw"
_ABOUT = """\
Write recordings without what they tell. Letters and digits of texts, ids, keys and argument values become others of
their kind; structure, sizes, chunks and times stay, so a recording replays as before: the same events with other
letters. What is read is what `wholecall replay` reads.

Kept are words of the protocol, models, names of tools (see --names), numbers and literals outside strings. Of a
request the user, query and fragment of its URL are left out.

Look at the result before you publish it. The substitution keeps sizes and equality: it hides what was said from
readers, not from cryptanalysis.
"""
_EXAMPLES = """\
examples:
  wholecall redact broken.sse -o broken.jsonl             for a report of a bug
  wholecall redact broken.sse --to raw -o other.sse       the bytes as a server would have sent them
  wholecall redact logs --names --seed 7 -o all.jsonl     no names of tools; the same letters in each run

exit status:
  0  every recording was redacted and written
  2  the command line was wrong
  3  a recording could not be read or not be redacted (named on standard error; the others are written all the
     same), there was none, more than one for --to raw, or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "redact", "write recordings that can be shown", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_redact)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="a file, a folder, a glob, or - for standard input")
    add("-o", "--output", metavar="OUT", help="where to write it; standard output by default")
    add("--to", choices=[_OWN, _RAW], default=_OWN, help="the form (recording); raw takes one recording")
    add("--seed", metavar="S", help="of the substitution; another one in each run by default")
    add("--names", action="store_true", help="replace names of tools, too")
    add("--keep-text", action="store_true", help="keep what the model says and thinks")


class _Redacted:
    """The recordings, redacted; counts them, and those that cannot be."""

    def __init__(self, options: argparse.Namespace) -> None:
        seed = secrets.token_hex() if options.seed is None else options.seed
        self._paths = options.paths
        self._redaction = Redaction(seed, options.names, options.keep_text)
        self.count = 0
        self.refused = 0

    def __iter__(self) -> Iterator[Recording]:
        with closing(read(*self._paths)) as recordings, Progress() as progress:
            for recording in recordings:
                progress.step(recording.name)
                try:
                    redacted = redact(recording, self._redaction)
                except BadRecording as error:
                    self.refused += 1
                    progress.clear()
                    complain(str(error))
                    continue
                self.count += 1
                yield redacted


def _redact(options: argparse.Namespace) -> int:
    found = _Redacted(options)
    recordings = iter(found)
    if options.to == _RAW:
        every = list(found)
        if len(every) > 1:
            complain(f"--to raw takes one recording, there are {len(every):,}")
            return UNREADABLE
        recordings = iter(every)
    if options.output in {None, "-"}:
        _write(options.to, recordings, sys.stdout.buffer)
    else:
        try:
            with Path(options.output).open("wb") as file:
                _write(options.to, recordings, file)
        except OSError as error:
            complain(f"{options.output}: {error.strerror}")
            return UNREADABLE
    if not found.count and not found.refused:
        complain("there is no recording")
    return OK if found.count and not found.refused else UNREADABLE


def _write(form: str, recordings: Iterator[Recording], file: IO[bytes]) -> None:
    if form == _RAW:
        file.writelines(to_bytes(recordings))
        return
    for recording in recordings:
        write(file, recording)
