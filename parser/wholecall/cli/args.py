"""The command `wholecall args`: repair one text of arguments, or show its readable part.

Theory of operation. The value goes to standard output, as a line of JSON. The changes that were needed to read it, or
the reason why there is none, go to standard error. Only the value reveals content of the text; the rest is names of
edits and reasons, and positions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from wholecall import BadRecording, parse_arguments, partial_json
from wholecall.cli import output, show
from wholecall.cli.options import add_command_parser

_ABOUT = """\
Read the arguments of one call, a JSON object, and write them as one line of strict JSON. Slips that have one reading
(a comma too many, a code fence, single quotes, ...) are repaired, and each is listed on standard error. Nothing is
guessed: of a text that was cut, or has several readings, nothing is written but the reason.
"""
_EXAMPLES = """\
examples:
  wholecall args arguments.txt                    what would be executed, and what was changed for it?
  pbpaste | wholecall args - | jq .path           in a pipe
  wholecall args --partial cut.json               as far as it goes: to look at, never to execute

exit status:
  0  there is a value, repaired or as it came; with --partial: the text is one whole JSON value
  1  there is none (standard error says why); with --partial: the text is not whole, and what is known of it was
     written
  2  the command line was wrong
  3  the file could not be read, or is not UTF-8
"""
_PARTIAL = """\
write what is known of a JSON text of any type that was cut or goes
wrong: nothing is repaired, closed or guessed"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "args", "repair the arguments of a call, or show them as far as they go", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_run)
    command.add_argument("file", metavar="FILE", help="a file with the text, or - for standard input")
    command.add_argument("--partial", action="store_true", help=_PARTIAL)


def _run(options: argparse.Namespace) -> int:
    try:
        text = _text(options.file)
    except BadRecording as error:
        output.complain(str(error))
        return output.UNREADABLE
    return (_show if options.partial else _repair)(options.file, text)


def _text(path: str) -> str:
    """Return the text of a file.

    Raises:
        BadRecording: it cannot be read, or is not UTF-8.
    """
    if path == output.STDIO and sys.stdin is None:
        raise BadRecording(f"{path}: there is no standard input")
    try:
        data = sys.stdin.buffer.read() if path == output.STDIO else Path(path).read_bytes()
    except OSError as error:
        raise BadRecording(f"{path}: {error.strerror}") from None
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        at = error.start  # the error itself holds the text
    raise BadRecording(f"{path}: byte {at} is not UTF-8")


def _repair(path: str, text: str) -> int:
    """Write the arguments if the text has them, and list the changes."""
    verdict = parse_arguments(text)
    if verdict.arguments is None:
        _list(path, f"dropped, {verdict.reason}", [f"! {verdict.detail}"])
        return output.FOUND
    _write(verdict.arguments)
    facts = [f"~ {edit.kind} at character {edit.offset}" for edit in verdict.edits]
    facts += [f"! {flag}" for flag in verdict.flags]
    if verdict.status != "exact" or facts:
        _list(path, verdict.status, facts)
    return output.OK


def _show(path: str, text: str) -> int:
    """Write the known part of the text, and why it is not whole."""
    partial = partial_json(text)
    if partial.value is not None or partial.complete:
        _write(partial.value)
    if partial.complete:
        return output.OK
    where = [] if partial.offset is None else [f"! {partial.reason} at character {partial.offset}"]
    _list(path, partial.state, where)
    return output.FOUND


def _write(value: object) -> None:
    output.line_writer()(
        json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=dict)
    )  # a partial object is a read-only mapping


def _list(path: str, said: str, facts: Iterable[str]) -> None:
    """Report the result for the text, and one fact a line."""
    sys.stderr.write("".join(f"{line}\n" for line in (f"{show.printable(path)}: {said}", *facts)))
