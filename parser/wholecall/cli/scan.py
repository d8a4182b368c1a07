"""The command `wholecall scan`: convert any number of recordings to tables in Parquet, show the progress, and sum up.

Theory of operation. The tables need the extra `bulk`. Its modules are imported when the command runs, so that the other
commands start without it.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any, Final

from wholecall import Limits
from wholecall.cli import output, show
from wholecall.cli import progress as shown
from wholecall.cli.options import add_command_parser, add_import, add_max_bytes

if TYPE_CHECKING:
    from wholecall.bulk.options import Request
    from wholecall.bulk.scanning import Progress

_ABOUT = """\
Read recordings with all cores, and write two tables in Parquet: OUT/calls has a row for each call, whole or dropped,
OUT/recordings one for each recording, also for those that cannot be read. docs/bulk.md lists the columns.

With --body the inputs are tables (.parquet, .arrow, .jsonl) that hold raw responses in a column, with --messages
such that hold conversations. Session files of pi, openclaw, Claude Code and Codex, and other files of messages, are
read beside recordings.

Each input is in the tables exactly once, whatever happens meanwhile: --resume goes on with a scan that was ended, and
the files that it writes are the same, byte for byte, for any number of workers. It needs the extra bulk:
pip install 'wholecall[bulk]'.
"""
_EXAMPLES = """\
examples:
  wholecall scan logs --out tables                              every recording in a folder and below it
  wholecall scan logs --out tables --resume                     go on; new files are added
  wholecall scan 'logs/**/*.sse.zst' --out tables --workers 4   a glob, with four processes
  wholecall scan raw.parquet --body raw --id request_id --out tables
                                                                a column of raw responses
  wholecall scan chats.parquet --messages messages --out tables
                                                                a column of conversations
  wholecall scan ~/.claude/projects --out tables                sessions of an agent
  wholecall scan s3://bucket/logs --out s3://bucket/tables      object stores (docs/bulk.md)
  wholecall scan logs --out tables --plan                       what there is to do
  wholecall report tables                                       what is in them

exit status:
  0    every recording was read
  2    the command line was wrong, or does not fit to the scan that is there
  3    a recording could not be read (it is a row, the first 20 are named on standard error), or the output could
       not be written
  130  it was interrupted; what was finished stays
"""
_PATHS = "recordings, as for `wholecall replay`, without standard input, and\ntranscripts; with --body or --messages tables;\nalso URLs of any of these in object stores"
_COLUMNS = {
    "body": "the column of a table that holds raw responses; a.b goes into structs",
    "messages": "the column of a table that holds conversations, as JSON or as lists of\nstructs",
    "id": "the column that becomes recording_id (file#row)",
    "provider": "the column that says who answered",
    "model": "the column that says which model was asked",
    "recorded_at": "the column that says when",
}

_WRONG: Final = 2  # as argparse exits
_MOST_NAMED: Final = 20
_LIMITS: Final = {"default": Limits(), "gateway": Limits.gateway(), "desktop": Limits.desktop()}
_DESCRIBING: Final = ("id", "provider", "model", "recorded_at")


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "scan", "write recordings as tables in Parquet", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_scan)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help=_PATHS)
    add(
        "--out",
        required=True,
        metavar="DIR",
        help="the folder that is written, or its URL in an object store",
    )
    add("--workers", type=int, metavar="N", help="how many processes (one for each core)")
    start = command.add_mutually_exclusive_group()
    start.add_argument("--resume", action="store_true", help="go on with the scan in DIR, if there is one")
    start.add_argument("--overwrite", action="store_true", help="remove the scan in DIR, and begin anew")
    changed = "inputs that have changed since they were planned: refuse to go\non, redo their units, or keep what is done (refuse)"
    add("--changed", choices=("refuse", "redo", "keep"), default="refuse", help=changed)
    add("--plan", action="store_true", help="say what there is to do, and write nothing")
    add(
        "--json",
        action="store_true",
        help="write a JSON object on standard error for each unit; with --plan on\nstandard output",
    )
    for name, text in _COLUMNS.items():
        add(f"--{name.replace('_', '-')}", metavar="COL", help=text)
    add("--dialect", metavar="D|COL", help="the wire format of all recordings; of a table also a column")
    add(
        "--no-arguments",
        dest="arguments",
        action="store_false",
        help="leave the texts of arguments out of the tables",
    )
    add(
        "--no-hash",
        dest="hashed",
        action="store_false",
        help="do not hash bodies: a little faster, duplicates do not show",
    )
    add(
        "--limits",
        choices=("default", "gateway", "desktop"),
        default="default",
        help="what a stream may hold (docs/limits.md)",
    )
    add_max_bytes(command)
    add_import(command)
    add("--errors", metavar="N|P%", help="stop if more recordings than that cannot be read (never)")


def _scan(options: argparse.Namespace) -> int:
    try:
        from wholecall.bulk.scanning import ScanFailed  # noqa: PLC0415 - the other commands do without
    except ImportError as error:
        if error.name != "pyarrow":
            raise
        output.complain("scan needs pyarrow: pip install 'wholecall[bulk]'")
        return _WRONG
    try:
        request = _request(options)
        return _plan(request, options) if options.plan else _run(request, options)
    except ValueError as error:
        output.complain(str(error))
        return _WRONG
    except ScanFailed as error:
        output.complain(str(error))
        output.complain(f"to go on: {_again(options)}")
        return output.UNREADABLE
    except KeyboardInterrupt:
        output.complain(f"interrupted; to go on: {_again(options)}")
        raise


def _request(options: argparse.Namespace) -> Request:
    from wholecall.bulk.options import Errors, request_of  # noqa: PLC0415 - as above

    return request_of(
        options.paths,
        options.out,
        body=options.body,
        messages=options.messages,
        columns={name: getattr(options, name) for name in _DESCRIBING},
        dialect=options.dialect,
        start="resume" if options.resume else "overwrite" if options.overwrite else "new",
        changed=options.changed,
        workers=options.workers,
        errors=Errors() if options.errors is None else Errors.parse(options.errors),
        judging={
            "arguments": options.arguments,
            "hashed": options.hashed,
            "max_bytes": options.max_bytes,
            "imports": tuple(options.modules),
            "limits": _LIMITS[options.limits],
        },
    )


def _again(options: argparse.Namespace) -> str:
    """Return the command that resumes the scan."""
    words = ["wholecall", "scan", *options.paths, "--out", options.out, "--resume"]
    for name in ("body", "messages", *_DESCRIBING, "dialect", "workers", "errors", "max_bytes"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name.replace('_', '-')}", str(value)]
    for name, usual in (("changed", "refuse"), ("limits", "default")):
        words += [] if getattr(options, name) == usual else [f"--{name}", getattr(options, name)]
    words += [word for module in options.modules for word in ("--import", module)]
    words += [] if options.arguments else ["--no-arguments"]
    words += [] if options.hashed else ["--no-hash"]
    return shlex.join(words)


# Output of `--plan`.


def _plan(request: Request, options: argparse.Namespace) -> int:
    from wholecall.bulk.scanning import preview  # noqa: PLC0415 - as above

    plan = preview(request)
    if options.json:
        for unit in plan.units:
            told = {"unit": unit.number, "id": unit.id, "inputs": len(unit.pieces), "bytes": unit.weight}
            sys.stdout.write(json.dumps(told | {"done": unit.number in plan.done}) + "\n")
        return output.OK
    left = [unit for unit in plan.units if unit.number not in plan.done]
    output.write(f"{_counted(len(plan.units), 'unit')}: {_size(plan.units)}\n")
    if plan.done:
        output.write(
            f"{_counted(len(plan.done), 'unit')} done, {_counted(len(left), 'unit')} left: {_size(left)}\n"
        )
    return output.OK


def _size(units: Iterable[Any]) -> str:
    listed = list(units)
    n_inputs = sum(len(unit.pieces) for unit in listed)
    return f"{_counted(n_inputs, 'input')}, {shown.amount(sum(unit.weight for unit in listed))}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


# Progress and summary.


def _run(request: Request, options: argparse.Namespace) -> int:
    from wholecall.bulk.scanning import run  # noqa: PLC0415 - as above

    begun = time.monotonic()
    first = last = None
    n_named = 0
    with shown.Progress(quiet=True) as bar, closing(run(request)) as steps:
        for last in steps:
            first = first or last
            if options.json:
                sys.stderr.write(_line(last) if last.unit is not None else "")
                sys.stderr.flush()
                continue
            bar.show(*_drawn(first, last, time.monotonic() - begun))
            for id_, trouble in last.named[: _MOST_NAMED - n_named]:
                bar.clear()
                output.complain(f"{id_}: {trouble}")
            n_named += len(last.named)
    assert first is not None
    assert last is not None
    for line in _summary(first, last, time.monotonic() - begun, options.out):
        output.write(f"{line}\n")
    return output.UNREADABLE if last.troubles else output.OK


def _line(progress: Progress) -> str:
    told = dataclasses.asdict(progress)
    return json.dumps(told) + "\n"


def _drawn(first: Progress, now: Progress, seconds: float) -> tuple[str, str]:
    """Return the progress of a scan: the work done, and the time left."""
    read, size = now.recordings - first.recordings, now.bytes - first.bytes
    speed = f"{read / seconds:,.0f} recordings/s, {shown.amount(int(size / seconds))}/s" if seconds else ""
    count = f"{now.done:,} of {_counted(now.total, 'unit')}, {speed}, {now.dropped:,} dropped, {now.troubles:,} unreadable"
    left = (now.total_bytes - now.bytes) * seconds / size if size else None
    return count, "" if left is None else f"{_clock(left)} left"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _summary(first: Progress, last: Progress, seconds: float, out: str) -> Iterator[str]:
    """Yield the lines of the summary; the last is the command that shows more."""
    units, size = last.done - first.done, last.bytes - first.bytes
    yield f"{_counted(last.recordings, 'recording')} in {_counted(last.total, 'unit')}"
    if first.done:
        yield f"{_counted(first.done, 'unit')} done before"
    if units:
        rate = shown.amount(int(size / seconds))
        yield f"{_counted(units, 'unit')} of {shown.amount(size)} in {seconds:,.1f} s ({rate}/s)"
    yield ""
    ended = last.calls + last.dropped
    share = f"  ({last.dropped / ended:.1%})" if last.dropped else ""
    yield f"calls       {last.calls:11,}"
    yield f"dropped     {last.dropped:11,}{share}"
    if last.cancelled:
        yield f"cancelled   {last.cancelled:11,}"
    yield f"unreadable  {last.troubles:11,}"
    if last.skipped:
        reasons = ", ".join(f"{count:,} {reason}" for reason, count in sorted(last.skipped.items()))
        yield f"skipped     {sum(last.skipped.values()):11,}  ({reasons})"
    yield ""
    yield f"wholecall report {shlex.quote(show.printable(out))}"
