"""Options that several commands have."""

from __future__ import annotations

import argparse
import textwrap
from typing import Any

from wholecall.dialects.table import DIALECTS

__all__ = ["add_command_parser", "add_dialect"]


def add_command_parser(commands: Any, name: str, help: str, about: str, examples: str) -> Any:  # noqa: A002
    """Add a command to the program's parser and return its own one, whose help keeps its lines."""
    return commands.add_parser(
        name,
        help=help,
        description=about,
        epilog=examples,
        formatter_class=argparse.RawTextHelpFormatter,
    )


def add_dialect(command: argparse.ArgumentParser, *, own: bool = False) -> None:
    """Add the option that names the dialect; with `own` it may be one that is registered later."""
    names = ["auto", *sorted(dialect.name for dialect in DIALECTS)]
    listed = textwrap.fill(", ".join(names), 70, break_on_hyphens=False)
    text = f"the wire format, if the bytes do not show it; one of\n{listed}"
    choices = None if own else names
    command.add_argument("--dialect", choices=choices, default="auto", metavar="D", help=text)
