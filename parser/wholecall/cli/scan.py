"""The command `wholecall scan`: convert any number of recordings to tables in Parquet.

Theory of operation. The command's action is in another module, which is imported when it runs: it needs the extra
`bulk`, and the other commands start without it.
"""

from __future__ import annotations

import argparse
from typing import Any

from wholecall.cli.options import add_command_parser, add_import, add_max_bytes
from wholecall.cli.out import complain

__all__ = ["add_command"]

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
        from wholecall.cli import scanning  # noqa: PLC0415 - the other commands do without
    except ImportError as error:
        if error.name != "pyarrow":
            raise
        complain("scan needs pyarrow: pip install 'wholecall[bulk]'")
        return 2
    return scanning.scan(options)
