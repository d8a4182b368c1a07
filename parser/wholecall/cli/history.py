"""The command `wholecall history`: check, repair and shrink transcripts.

Theory of operation. Each of the three actions reads files one after the other, lets `wholecall.history` examine their
messages, and lists the actual or possible changes on standard error, one fact a line. The new file goes to standard
output or to the path of `-o`; `check` writes none.

All input files are found before anything is written, so that no output is read. In folders and globs only files with
the suffix of a transcript count. Several files are written into a folder, each under its path in the folder in which it
was found; the output folder must not be in a folder that is read.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from textwrap import wrap
from typing import Any

import msgspec

from wholecall import BadRecording
from wholecall.cli.output import FOUND, OK, STDIO, UNREADABLE, complain, json_writer, replacing
from wholecall.cli.show import printable
from wholecall.history import checking, shrinking
from wholecall.history.indexed import IndexedTranscript, pages
from wholecall.history.judging import Rules
from wholecall.history.transcripts import TranscriptReport, mend
from wholecall.recordings.finding import Place, find
from wholecall.recordings.transcripts import NoTranscript, Page, Transcript, opened_transcript

_ABOUT = """\
Transcripts of conversations, as they are sent to a provider (Chat Completions, Responses, Anthropic, Gemini) or
stored by an agent (pi and openclaw, Claude Code, Codex): a JSON list of messages, a request body that holds one, or
a session file of JSON lines, which may be larger than memory.
"""
_PATHS = """\
a file, a folder (the .jsonl, .ndjson and .json files in it and below it;
those that hold no messages are left out), a glob, or - for standard input"""
_EXAMPLES = """\
examples:
  wholecall history check session.jsonl                      what would a provider refuse?
  wholecall history check --for anthropic request.json       may I send this to Anthropic?
  wholecall history check --json ~/.claude/projects          of all sessions, one JSON object a file
  wholecall history repair session.jsonl -o mended.jsonl     aborted calls out, missing results in
  wholecall history repair sessions -o mended/               a folder of them
  wholecall history shrink request.json --max-leaf 200       long strings in the calls of old turns cut
  wholecall history repair - < request.json | curl ...       in a pipe

exit status:
  0  every file was read; of check: and none needs a repair, or has what the provider refuses
  1  of check, and of the others with --exit-code: something would be or was changed, or refused (named on standard
     error)
  2  the command line was wrong
  3  a file could not be read, or not be written (named on standard error; the others are done anyway)
"""
_OUT = """\
where to write it; standard output by default. Several need a folder, one
that exists or ends in a slash; the file that was read may be replaced"""
_JSON = """\
report on standard output what would be or was changed, one JSON object
a file; the new files need -o OUT then"""
_FOR = """\
whose requests they are for: say what this provider refuses instead, and
with which words. One of {}"""
_THINKING = """\
with --for: the request lets the model think (Anthropic's `thinking`, Gemini 3)"""
# The fields of a report, each with the sign of a diff and the text of its line.
_FACTS = (
    ("stripped_calls", "-", "call {} taken out"),
    ("dropped_results", "-", "result of {} dropped"),
    ("dropped_messages", "-", "message {} dropped"),
    ("dropped_thinking", "-", "thinking in message {} taken out"),
    ("synthesised", "+", "result for {} made: there was none"),
    ("moved", "~", "result of {} moved after its call"),
    ("coerced", "~", "arguments of {} brought into the form that the transcript needs"),
    ("renamed", "~", "call {} renamed"),
    ("adjacent_turns", "!", "message {} now follows one of the same role"),
)
_SUFFIXES = (".jsonl", ".ndjson", ".json")


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
    add_action = partial(actions.add_parser, formatter_class=argparse.RawTextHelpFormatter)
    check = add_action("check", help="say what a repair would change, and write nothing")
    repair = add_action("repair", help="write the transcript as providers take it")
    shrink = add_action("shrink", help="cut long strings in the calls of old messages")
    for action, make in ((check, _mended), (repair, _mended), (shrink, _shrunk)):
        action.set_defaults(run=_run, make=make, refuse=action.error, writes=action is not check)
        action.set_defaults(provider=None, thinking=False)
        action.add_argument("paths", nargs="+", metavar="PATH", help=_PATHS)
        action.add_argument("--json", action="store_true", help=_JSON)
    check.set_defaults(output=None, exit_code=True, make=_checked)
    known = "\n".join(wrap(", ".join(checking.RULES), 72))
    check.add_argument(
        "--for", dest="provider", choices=[*checking.RULES], metavar="PROVIDER", help=_FOR.format(known)
    )
    check.add_argument("--thinking", action="store_true", help=_THINKING)
    for action in (repair, shrink):
        action.add_argument("-o", "--output", metavar="OUT", help=_OUT)
        action.add_argument("--exit-code", action="store_true", help="exit with 1 if something was changed")
    add = shrink.add_argument
    add("--max-leaf", type=_count, default=200, metavar="N", help="characters that a string keeps (200)")
    add("--keep-recent", type=_count, default=0, metavar="N", help="calls at the end that are left alone (0)")


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a count")
    return int(text)


# Changes of a transcript.


class Change(msgspec.Struct):
    """The actual or possible changes of a transcript.

    Attributes:
        changed: whether there are any.
        facts: a line for each, for people.
        report: the same for programs.
        pages: the messages of the new file.
        nothing: the message if there are no facts.
    """

    changed: bool
    facts: list[str]
    report: dict[str, Any]
    pages: Iterable[Page]
    nothing: str = "nothing to change"


def _mended(transcript: Transcript, _options: argparse.Namespace) -> Change:
    indexed = IndexedTranscript(transcript.messages, "auto")
    output, report = mend(indexed, Rules())
    facts = [f"{sign} {said.format(one)}" for field, sign, said in _FACTS for one in getattr(report, field)]
    return Change(report.changed, facts, _members(report), pages(indexed, output))


def _checked(transcript: Transcript, options: argparse.Namespace) -> Change:
    """Return the changes of a repair, or the reasons for which a provider would refuse."""
    if options.provider is None:
        return _mended(transcript, options)
    found = checking.check_transcript(list(transcript.messages), options.provider, thinking=options.thinking)
    facts = [f"! {one}" + (f" (as in: {one.refusal})" if one.refusal else "") for one in found]
    findings = [msgspec.to_builtins(one) for one in found]
    report = {"provider": options.provider, "findings": findings}
    return Change(bool(found), facts, report, (), nothing=f"nothing that {options.provider} refuses")


def _members(report: TranscriptReport) -> dict[str, Any]:
    return {name: value for name, value in msgspec.structs.asdict(report).items() if name != "changed"}


def _shrunk(transcript: Transcript, options: argparse.Namespace) -> Change:
    shrink = partial(shrinking.shrink_arguments, max_leaf=options.max_leaf)
    shrink("")  # fails for a `--max-leaf` that is too small for the marker
    indexed = IndexedTranscript(transcript.messages, "auto")
    shorter = shrinking.shorten(indexed, options.keep_recent, shrink)
    shrunk = [call.label for call in shorter.calls]
    facts = [f"~ arguments of {label} shortened" for label in shrunk]
    facts += [f"! arguments of {label} are not JSON and stay as they are" for label in shorter.invalid]
    return Change(bool(shrunk), facts, {"shrunk": shrunk, "invalid": shorter.invalid}, shorter.pages(indexed))


# Files in, files out.


def _run(options: argparse.Namespace) -> int:
    if options.thinking and options.provider is None:
        options.refuse("--thinking is said of a request to a provider, and needs --for PROVIDER")
    found = found_files(options.paths)
    targets: list[str | None] = [None] * len(found)
    if options.writes:
        targets[:] = targets_of(found, options.output, options.paths, options.refuse)
        if options.json and STDIO in targets:
            options.refuse("--json reports what was written, and needs -o OUT for the transcript")
    count = Count()
    for one, target in zip(found, targets, strict=True):
        _do(one, target, options, count)
    if len(found) > 1 and not options.json:
        sys.stderr.write(count.summary(_done_to(options)) + "\n")
    if count.unreadable:
        return UNREADABLE
    return FOUND if count.changed and options.exit_code else OK


def _done_to(options: argparse.Namespace) -> str:
    if options.writes:
        return "changed"
    return "would be changed" if options.provider is None else "would be refused"


class Count(msgspec.Struct):
    """The number of files that were read, changed, not read, and left out because they hold no messages."""

    read: int = 0
    changed: int = 0
    unreadable: int = 0
    others: int = 0

    def summary(self, done: str) -> str:
        """Return a sentence with the counts; `done` describes the changed files."""
        said = [f"{self.read} transcripts", f"{self.changed} {done}"]
        said += [f"{self.unreadable} not read or not written"] * (self.unreadable > 0)
        said += [f"{self.others} other files left out"] * (self.others > 0)
        return ", ".join(said)


def _do(found: Found, target: str | None, options: argparse.Namespace, count: Count) -> None:
    """Check or change one file, and count it."""
    try:
        with opened_transcript(Place(found.path, found.trouble)) as transcript:
            change = _change(found.path, transcript, options)
            if target is not None:
                _write(target, transcript, change, makes_folders=target != options.output)
            if options.json:
                said = {"messages": len(transcript.messages), "changed": change.changed, **change.report}
                json_writer(found.path, "file")(json.dumps({**said, "written": target}).encode())
    except NoTranscript as error:
        if found.is_named:
            complain(str(error))
        count.unreadable += found.is_named
        count.others += not found.is_named
    except BadRecording as error:
        complain(str(error))
        count.unreadable += 1
    else:
        count.read += 1
        count.changed += change.changed


def _change(path: str, transcript: Transcript, options: argparse.Namespace) -> Change:
    """Return the actual or possible changes, and list them for people.

    Raises:
        BadRecording: the messages cannot be read, or not be written.
    """
    try:
        change: Change = options.make(transcript, options)
    except (TypeError, ValueError) as error:  # a block that is not an object; nesting too deep to write
        raise BadRecording(f"{path}: {str(error).partition(';')[0]}") from None
    if not options.json:
        _list_changes(path, transcript, change)
    return change


def _write(target: str, transcript: Transcript, change: Change, *, makes_folders: bool) -> None:
    """Write the new file, or the old one if nothing was changed.

    Raises:
        BadRecording: it cannot be written.
        OSError: standard output cannot be written.
    """
    data = transcript.written(change.pages) if change.changed else transcript.same()
    if target == STDIO:
        sys.stdout.buffer.writelines(data)
        return
    try:
        if makes_folders:
            Path(target).parent.mkdir(parents=True, exist_ok=True)
        with replacing(target) as file:
            file.writelines(data)
    except OSError as error:
        raise BadRecording(f"{target}: {error.strerror}") from None


def _list_changes(path: str, transcript: Transcript, change: Change) -> None:
    """Write the actual or possible changes, one fact a line, under the name of the file."""
    count = f"{len(transcript.messages)} messages"
    if not change.facts:
        sys.stderr.write(f"{printable(path)}: {count}, {change.nothing}\n")
        return
    sys.stderr.write(f"--- {printable(path)} ({count})\n")
    for fact in change.facts:
        sys.stderr.write(printable(fact) + "\n")


# The files of transcripts.


class Found(msgspec.Struct, frozen=True):
    """A file that may hold a transcript.

    Attributes:
        path: its path, `-` for standard input.
        name: its path in the folder that was searched; for a named file, its name.
        is_named: whether it was named itself.
        trouble: why it cannot be read.
    """

    path: str
    name: str
    is_named: bool = True
    trouble: str | None = None


def found_files(paths: Iterable[str]) -> list[Found]:
    """Return the files at some paths: files, folders, globs, `-`."""
    return [found for path in paths for found in _at(path)]


def _at(path: str) -> Iterator[Found]:
    places = [place for place in find([path]) if _counts(place)]
    for place in places:
        name = os.path.relpath(place.path, path) if Path(path).is_dir() else Path(place.path).name
        yield Found(place.path, "stdin.jsonl" if place.path == STDIO else name, place.named, place.trouble)
    if not places:
        yield Found(path, path, trouble=f"no transcript ({' '.join(_SUFFIXES)}) there")


def _counts(place: Place) -> bool:
    if place.trouble is not None:
        return place.path != "" and Path(place.path).exists() and not Path(place.path).is_dir()
    return place.named or place.path.lower().endswith(_SUFFIXES)


def targets_of(
    found: Sequence[Found], output: str | None, paths: Iterable[str], refuse: Callable[[str], object]
) -> list[str]:
    """Return where each file is written, `-` for standard output.

    Args:
        found: the files.
        output: the value of `-o`: a file, or a folder, which exists or ends in a slash.
        paths: the input paths, as they were named.
        refuse: is called with an error message.
    """
    into = output is not None and (output.endswith(("/", os.sep)) or Path(output).is_dir())
    if output is None or not into:
        if len(found) > 1:
            refuse("several transcripts need a folder: -o DIR/")
        return [STDIO if output is None else output] * len(found)
    if any(_is_inside(output, path) for path in paths if Path(path).is_dir()):
        refuse(f"{output} is read, too; write to another folder")
    targets = [str(Path(output, one.name)) for one in found]
    twice = sorted({target for target in targets if targets.count(target) > 1})
    if twice:
        refuse(f"several transcripts would be written to {twice[0]}")
    return targets


def _is_inside(path: str, folder: str) -> bool:
    """Return whether a path is a folder, or in it."""
    inner, outer = Path(path).resolve(), Path(folder).resolve()
    return inner == outer or outer in inner.parents
