"""The command `wholecall completion`: a script with which a shell completes commands, options and file names.

Theory of operation. shtab (the extra `cli`) writes the script from the program's own parser, so that it knows every
command and option. Arguments that are file names are recognized by their metavars.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping
from typing import Any

from wholecall import text_formats
from wholecall.cli.options import add_command_parser, dialect_names
from wholecall.cli.output import OK, UNREADABLE, complain

_SHELLS = ("bash", "zsh", "fish")
_ABOUT = """\
Write a script to standard output with which a shell completes commands, options, dialects, formats and file names.
It comes from the extra cli: pip install 'wholecall[cli]'.
"""
_EXAMPLES = """\
examples:
  eval "$(wholecall completion bash)"                                      in ~/.bashrc
  wholecall completion bash > ~/.local/share/bash-completion/completions/wholecall
  wholecall completion zsh > "${fpath[1]}/_wholecall"                      then start zsh again
  wholecall completion fish > ~/.config/fish/completions/wholecall.fish

exit status:
  0  the script was written
  2  the command line was wrong
  3  shtab is not installed
"""
_FILES = frozenset({"PATH", "FILE", "OUT", "A", "B"})  # metavars
_FOLDERS = frozenset({"DIR"})
_NAMES = {"dialect": dialect_names, "text": text_formats}  # an imported module may register other dialects


def add_command(commands: Any, program: argparse.ArgumentParser) -> None:
    """Add the command to the program's parser, the second argument."""
    command = add_command_parser(
        commands, "completion", "write a script that completes commands in a shell", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_complete, program=program)
    command.add_argument("shell", choices=_SHELLS, metavar="SHELL", help=" or ".join(_SHELLS))


def _complete(options: argparse.Namespace) -> int:
    try:
        import shtab  # noqa: PLC0415 - an extra
    except ImportError:
        complain("completion needs shtab: pip install 'wholecall[cli]'")
        return UNREADABLE
    for action in _actions(options.program):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # what shtab looks for
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # as above
        elif action.dest in _NAMES:
            action.choices = list(_NAMES[action.dest]())  # in the script alone, not in the help
    sys.stdout.write(shtab.complete(options.program, options.shell))
    return OK


def _actions(parser: argparse.ArgumentParser) -> Iterator[argparse.Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001 - argparse has no other way to list them
        yield action
        if isinstance(action.choices, Mapping):  # of commands, by name
            for command in action.choices.values():
                yield from _actions(command)
