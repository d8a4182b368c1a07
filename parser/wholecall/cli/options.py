"""Options that several commands have.

Theory of operation. Each command that reads streams takes `--import`. Before the command runs, `prepare` registers the
dialects of installed packages, imports the named modules, and checks that the named dialect and the named format of
calls in text are known.
"""

from __future__ import annotations

import argparse
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import Any

from wholecall import text_formats
from wholecall.dialects.table import DIALECTS, load_plugins, named
from wholecall.text.options import text_calls


def add_command_parser(commands: Any, name: str, help: str, about: str, examples: str) -> Any:  # noqa: A002
    """Add a command to the program's parser and return its parser, whose help keeps its lines."""
    return commands.add_parser(
        name,
        help=help,
        description=about,
        epilog=examples,
        formatter_class=argparse.RawTextHelpFormatter,
    )


def add_dialect(command: argparse.ArgumentParser) -> None:
    """Add the option that names the dialect, and the option that imports a module with more dialects."""
    listed = textwrap.fill(", ".join(dialect_names()), 70, break_on_hyphens=False)
    text = f"the wire format, if the bytes do not show it; one of\n{listed},\nor one that is registered"
    command.add_argument("--dialect", default="auto", metavar="D", help=text)
    add_import(command)
    command.set_defaults(names_dialect=True)


def add_max_bytes(command: argparse.ArgumentParser) -> None:
    """Add the option that lifts the bound on the size of compressed files' contents."""
    text = "what a compressed file may hold, and a compressed body in a\nfile (64 MiB, or 200 times its size if that is more)"
    command.add_argument("--max-bytes", type=_bytes, metavar="N", help=text)


def _bytes(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of bytes from 1")
    return int(text)


def add_text(command: argparse.ArgumentParser) -> None:
    """Add the option for the format in which the model wrote calls as text."""
    listed = textwrap.fill(", ".join(text_formats()), 70, break_on_hyphens=False)
    text = f"read calls that the model wrote as text, in one of the formats\n{listed}"
    command.add_argument("--text", metavar="FORMAT", help=text)


def dialect_names() -> list[str]:
    """Return the values of `--dialect` that need no import."""
    return ["auto", *sorted(dialect.name for dialect in DIALECTS)]


def add_import(command: argparse.ArgumentParser) -> None:
    """Add the option that imports a module before the command runs."""
    text = "a module to import first, also from this folder: it may\nregister a dialect; may be given again"
    command.add_argument("--import", dest="modules", action="append", metavar="MODULE", help=text)
    command.set_defaults(modules=[], refuse=command.error, names_dialect=False)


def prepare(options: argparse.Namespace) -> None:
    """Import the modules that the command line names, and refuse an unregistered dialect.

    Raises:
        SystemExit: a module cannot be imported, or registers an existing dialect; there is no such dialect, or no such
            format of calls in text.
    """
    if not hasattr(options, "modules"):
        return  # the command reads no streams
    load_plugins()
    if options.modules:
        sys.path.append(str(Path.cwd()))  # last, so that nothing in it hides an installed module
    try:
        for module in options.modules:
            import_module(module)
        if options.names_dialect and options.dialect != "auto":
            options.dialect = named(options.dialect).name
        text_calls(getattr(options, "text", None))
    except (ImportError, ValueError) as error:
        options.refuse(str(error))
