"""The command `wholecall report`: the contents of the tables that `wholecall scan` or an engine wrote, by group."""

from __future__ import annotations

import argparse
import json
import shutil
import sys
from typing import TYPE_CHECKING, Any

from wholecall.cli import output, pages
from wholecall.cli.options import add_command_parser
from wholecall.cli.report.page import html_of
from wholecall.cli.report.text import text_of

if TYPE_CHECKING:
    from wholecall.bulk import BulkReport

_ABOUT = """\
Count what the tables of recordings and calls hold: drop rates by group, reasons of drops, quirks, tools, times, ends of
turns, tokens, duplicates, and the recordings that one should look at. The tables are read once; texts of arguments are
not read at all.

A drop rate has its 95 % interval. Rates of fewer calls than --min stand below the others, in grey where there are colours.
"""
_PATHS = """\
a folder that `wholecall scan` wrote, Parquet files or
folders of its tables, or what `assemble_batch` returned;
also URLs of object stores"""
_BY = """\
what makes groups: some of provider, model, dialect, folder
and tool, with commas (provider,model)"""
_EXAMPLES = """\
examples:
  wholecall scan logs --out tables && wholecall report tables
  wholecall report tables --by folder                 where the recordings lie
  wholecall report tables --by model,tool --min 100   which model has trouble with which tool
  wholecall report tables --html report.html          a page with charts; it needs no network
  wholecall report tables --json | jq 'select(.section == "group") | [.model, .drop_rate.share]'

exit status:
  0  the report was written
  2  the command line was wrong, or pyarrow is not installed
  3  a table could not be read, or the output could not be written
"""
_MIN_WIDTH = 40
_PIPE_WIDTH = 100  # columns by default
_WRONG = 2  # as argparse exits


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "report", "count what scanned recordings hold, by group", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_report, refuse=command.error)
    add = command.add_argument
    add("paths", nargs="+", metavar="OUT", help=_PATHS)
    add("--by", type=_names, default=["provider", "model"], metavar="NAME,...", help=_BY)
    add(
        "--min",
        dest="least",
        type=_count,
        default=30,
        metavar="N",
        help="of how many calls a rate is ranked (30)",
    )
    form = command.add_mutually_exclusive_group().add_argument
    form("--json", action="store_true", help="write one JSON object a line, with a member `section`")
    form("--html", metavar="FILE", help="write one self-contained page; - is standard output")
    add(
        "--color",
        choices=output.CHOICES,
        default="auto",
        help="colours (auto: on a terminal, unless NO_COLOR is set)",
    )


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",") if name.strip()]


def _count(text: str) -> int:
    if not text.isdecimal() or len(text) > 18:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of calls")
    return int(text)


def _report(options: argparse.Namespace) -> int:
    if options.html is not None and not pages.is_page(options.html):
        options.refuse(f"{options.html} is no page, and would be lost: --html FILE names the page to write")
    try:
        from wholecall import bulk  # noqa: PLC0415 - needs an extra
    except ImportError as error:
        if error.name is None or error.name.partition(".")[0] != "pyarrow":
            raise
        output.complain("report needs pyarrow: pip install 'wholecall[bulk]'")
        return _WRONG
    if not options.by or set(options.by) - set(bulk.GROUPS):
        options.refuse(f"argument --by: take some of {', '.join(bulk.GROUPS)}, with commas")
    try:
        found = bulk.report(*options.paths, by=options.by, least=options.least)
    except OSError as error:
        output.complain(f"cannot read {error.filename}: {error.strerror}" if error.strerror else str(error))
        return output.UNREADABLE
    except ValueError as error:
        output.complain(str(error))
        return output.UNREADABLE
    _show(found, options)
    return output.OK


def _show(report: BulkReport, options: argparse.Namespace) -> None:
    if options.html is not None:
        pages.write_page(options.html, html_of(report))
    elif options.json:
        for section in report.to_dicts():
            sys.stdout.write(json.dumps(section) + "\n")
    else:
        width = max(shutil.get_terminal_size((_PIPE_WIDTH, 24)).columns, _MIN_WIDTH)
        for line in text_of(report, width, colour=output.wants_colour(options.color)):
            output.write(f"{line}\n")
