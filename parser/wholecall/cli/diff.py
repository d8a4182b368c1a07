"""The command `wholecall diff`: differences between two recordings, or two parses of one.

Theory of operation. Either side is a recording, which is parsed, or a log of events as `replay --json` writes it. Both
become lists of events that do not depend on the pieces in which text arrived: consecutive texts are joined, and
argument deltas left out, since the end of each call holds the whole text. These are compared line by line.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from difflib import unified_diff
from pathlib import Path
from typing import Any

import msgspec

from wholecall import BadRecording
from wholecall.cli import output, show
from wholecall.cli.options import add_command_parser, add_dialect, add_max_bytes, add_text
from wholecall.recordings import read
from wholecall.recordings.replay import replay

_ABOUT = """\
Compare what two recordings say, or what two versions made of one: their turns, texts, calls, drops and faults,
whatever the pieces were in which the text came. A side is a recording, or a log of events (`replay --json`).
"""
_EXAMPLES = """\
examples:
  wholecall diff today.sse yesterday.sse               did the server change its habits?
  wholecall diff --ignore id --ignore usage a.sse b.sse  members that differ in any case
  wholecall replay --json a.sse > before.jsonl         then change the parser, and
  wholecall diff before.jsonl a.sse                    see what it makes of the same bytes

exit status:
  0  both say the same
  1  they differ
  2  the command line was wrong
  3  one could not be read, or the output could not be written
"""
_PIECES = frozenset({"arguments_delta", "arguments_reset", "arguments_progress"})
_TEXTS = frozenset({"text_delta", "reasoning_delta"})
_HEAD_SIZE = 200  # bytes of a log's beginning
Line = dict[str, Any]


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "diff", "compare what two recordings say", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_diff)
    command.add_argument("first", metavar="A", help="a recording, or a log of events")
    command.add_argument("second", metavar="B", help="another one")
    command.add_argument("--json", action="store_true", help="write each differing event as one line")
    command.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="MEMBER",
        help="a member of events that may differ (id, usage, raw_arguments, dialect ...); may be given again",
    )
    add_dialect(command)
    add_max_bytes(command)
    add_text(command)


def _diff(options: argparse.Namespace) -> int:
    try:
        sides = [list(_lines(path, options)) for path in (options.first, options.second)]
    except BadRecording as error:
        output.complain(str(error))
        return output.UNREADABLE
    if sides[0] == sides[1]:
        return output.OK
    if options.json:
        _write_json(*sides)
    else:
        first, second = ([text for line in side for text in _shown(line)] for side in sides)
        for text in unified_diff(first, second, options.first, options.second, lineterm=""):
            output.write(show.printable(text) + "\n")
    return output.FOUND


def _lines(path: str, options: argparse.Namespace) -> Iterator[Line]:
    events = _logged(path) if _is_log(path) else _parsed(path, options)
    for line in _joined(line for line in events if line.get("type") not in _PIECES):
        yield {name: value for name, value in line.items() if name not in options.ignore}


def _is_log(path: str) -> bool:
    """Return whether a file begins with an event, with or without the recording's name before its members."""
    try:
        with Path(path).open("rb") as file:
            head = file.read(_HEAD_SIZE)
    except OSError:
        return False  # the later read reports the reason
    return head.startswith((b'{"type":"turn_started"', b'{"recording":'))


def _logged(path: str) -> Iterator[Line]:
    with Path(path).open("rb") as file:
        for number, text in enumerate(file, 1):
            line: Line | None = None
            with suppress(msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                line = msgspec.json.decode(text, type=Line)
            if line is None:  # not inside a handler: the decoder's error may hold the line
                raise BadRecording(f"{path}: line {number} is not an event")
            line.pop("recording", None)
            yield line


def _parsed(path: str, options: argparse.Namespace) -> Iterator[Line]:
    with closing(read(path, max_bytes=options.max_bytes)) as recordings:
        for recording in recordings:
            for event in replay(recording, options.dialect, text=options.text):
                yield json.loads(event.to_json())


def _joined(lines: Iterable[Line]) -> Iterator[Line]:
    """Yield the events, with consecutive texts joined."""
    held: Line | None = None
    for line in lines:
        if held is not None and _continues(held, line):
            held["text"] += line["text"]
            continue
        if held is not None:
            yield held
        held = line
    if held is not None:
        yield held


def _continues(held: Line, line: Line) -> bool:
    of = ("type", "turn", "choice")
    return line.get("type") in _TEXTS and all(held.get(name) == line.get(name) for name in of)


def _shown(line: Line) -> list[str]:
    """Return an event in lines, one member each, so that a difference shows alone."""
    kind = line.get("type", "?")
    members = [
        f"  {name}: {json.dumps(value, ensure_ascii=False)}" for name, value in line.items() if name != "type"
    ]
    return [str(kind), *members]


def _write_json(first: list[Line], second: list[Line]) -> None:
    texts = unified_diff(
        [json.dumps(line) for line in first], [json.dumps(line) for line in second], n=0, lineterm=""
    )
    for text in texts:
        if not text.startswith(("---", "+++", "@@")):
            output.write(f'{{"side":"{"A" if text[0] == "-" else "B"}","event":{text[1:]}}}\n')
