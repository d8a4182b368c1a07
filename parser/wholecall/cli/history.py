"""The command `wholecall history`: transcripts checked, repaired and shrunk.

Theory of operation. Each of the three reads a file, lets `wholecall.history` check its messages, and lists on
standard error, one fact a line, what was or would be changed. The new file goes to standard output or to the
file that `-o` names; `check` writes none. The exit code is 1 if something was or would be changed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from wholecall.cli.out import FOUND, OK, UNREADABLE, complain
from wholecall.cli.show import printable
from wholecall.cli.transcripts import Transcript, read_transcript
from wholecall.errors import BadRecording
from wholecall.history import Report, repair_transcript, shrink_transcript

__all__ = ["add_command"]

_STDIN = "-"
_ABOUT = """\
Transcripts of conversations, as they are sent to a provider (Chat Completions, Responses, Anthropic, Gemini) or
stored by an agent (pi and openclaw, Claude Code, Codex). A FILE is a JSON list of messages, a request body that
holds one, or a session file of JSON lines; - is standard input.
"""
_EXAMPLES = """\
examples:
  wholecall history check session.jsonl                      what would a provider refuse?
  wholecall history repair session.jsonl -o mended.jsonl     aborted calls out, missing results in
  wholecall history shrink request.json --max-leaf 200       long strings in the calls of old turns cut
  wholecall history repair - < request.json | curl ...       in a pipe

exit status:
  0  nothing was or would be changed
  1  something was or would be changed (named on standard error)
  2  the command line was wrong
  3  the file could not be read, or the output not be written
"""
# The fields of a report, each with the sign of a diff and the text of its line.
_FACTS = (
    ("stripped_calls", "-", "call {} taken out"),
    ("dropped_results", "-", "result of {} dropped"),
    ("dropped_messages", "-", "message {} dropped"),
    ("dropped_thinking", "-", "thinking in message {} taken out"),
    ("synthesized", "+", "result for {} made: there was none"),
    ("moved", "~", "result of {} moved after its call"),
    ("coerced", "~", "arguments of {} brought into the form that the transcript needs"),
    ("renamed", "~", "call {} renamed"),
    ("adjacent_turns", "!", "message {} now follows one of the same role"),
)


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = commands.add_parser(
        "history",
        help="check, repair or shrink transcripts",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawTextHelpFormatter,
    )
    actions = command.add_subparsers(metavar="ACTION", required=True)
    check = actions.add_parser("check", help="say what a repair would change, and write nothing")
    repair = actions.add_parser("repair", help="write the transcript as providers take it")
    shrink = actions.add_parser("shrink", help="cut long strings in the calls of old messages")
    for action, run in ((check, _check), (repair, _repair), (shrink, _shrink)):
        action.set_defaults(run=run)
        action.add_argument("file", metavar="FILE", help="the transcript, or - for standard input")
    for action in (repair, shrink):
        action.add_argument(
            "-o", "--output", metavar="OUT", help="where to write it; standard output by default"
        )
    add = shrink.add_argument
    add("--max-leaf", type=_count, default=200, metavar="N", help="characters that a string keeps (200)")
    add("--keep-recent", type=_count, default=0, metavar="N", help="calls at the end that are left alone (0)")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a count")
    return int(text)


def _check(options: argparse.Namespace) -> int:
    return _mend(options, is_dry=True)


def _repair(options: argparse.Namespace) -> int:
    return _mend(options, is_dry=False)


def _mend(options: argparse.Namespace, *, is_dry: bool) -> int:
    transcript = _read(options.file)
    if transcript is None:
        return UNREADABLE
    try:
        repaired = repair_transcript(transcript.messages)
    except ValueError as error:  # arguments that nest too deep to be written
        complain(f"{options.file}: {error}")
        return UNREADABLE
    _list_changes(options.file, transcript, list(_facts(repaired.report)))
    if not is_dry and not _write(options.output, transcript.written(repaired.messages)):
        return UNREADABLE
    return FOUND if repaired.report.changed else OK


def _facts(report: Report) -> Iterator[str]:
    for field, sign, said in _FACTS:
        for one in getattr(report, field):
            yield f"{sign} {said.format(one)}"


def _shrink(options: argparse.Namespace) -> int:
    transcript = _read(options.file)
    if transcript is None:
        return UNREADABLE
    try:
        shrunk = shrink_transcript(
            transcript.messages, keep_recent=options.keep_recent, max_leaf=options.max_leaf
        )
    except ValueError as error:  # a shape of its own, or a `--max-leaf` that the marker does not fit into
        complain(f"{options.file}: {error}")
        return UNREADABLE
    facts = [f"~ arguments of {label} shortened" for label in shrunk.shrunk]
    facts += [f"! arguments of {label} are not JSON and stay as they are" for label in shrunk.invalid]
    _list_changes(options.file, transcript, facts)
    if not _write(options.output, transcript.written(shrunk.messages)):
        return UNREADABLE
    return FOUND if shrunk.changed else OK


def _read(path: str) -> Transcript | None:
    try:
        source = sys.stdin.buffer.read() if path == _STDIN else Path(path).read_bytes()
        return read_transcript(path, source)
    except OSError as error:
        complain(f"{path}: {error.strerror}")
    except BadRecording as error:
        complain(str(error))
    return None


def _write(path: str | None, data: bytes) -> bool:
    if path is None or path == _STDIN:
        sys.stdout.buffer.write(data)
        return True
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        complain(f"{path}: {error.strerror}")
        return False
    return True


def _list_changes(path: str, transcript: Transcript, facts: list[str]) -> None:
    """Write what was or would be changed, a fact a line, under the name of the file."""
    count = f"{len(transcript.messages)} messages"
    if not facts:
        sys.stderr.write(f"{printable(path)}: {count}, nothing to change\n")
        return
    sys.stderr.write(f"--- {printable(path)} ({count})\n")
    for fact in facts:
        sys.stderr.write(printable(fact) + "\n")
