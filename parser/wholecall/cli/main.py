"""The program `wholecall`: its commands and its exit code.

Theory of operation. Each command is a module that adds itself to the parser and names the function that runs it. Data
goes to standard output, everything else to standard error; errors of either are handled here for all commands.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version

from wholecall.cli import (
    args,
    completion,
    conform,
    convert,
    diff,
    fuzz,
    history,
    inspect,
    lint,
    probe,
    proxy,
    record,
    redact,
    replay,
    report,
    scan,
)
from wholecall.cli.options import prepare
from wholecall.cli.output import UNREADABLE, complain, silence

_INTERRUPTED, _BROKEN_PIPE = 130, 141  # as a shell reports SIGINT and SIGPIPE

_ABOUT = "Whole tool calls, or none: the bytes of any LLM stream in, tool calls that are safe to execute out."

_COMMANDS = (
    replay,
    inspect,
    lint,
    diff,
    fuzz,
    record,
    convert,
    redact,
    scan,
    report,
    history,
    args,
    proxy,
    probe,
    conform,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program and return its exit code.

    Args:
        argv: the arguments after the program's name; None takes those of the process.

    Raises:
        SystemExit: for `--help`, `--version` (0) and a wrong command line (2).
    """
    options = _parser().parse_args(argv)
    prepare(options)
    if sys.stdout is None:  # closed by the parent process
        complain("there is no standard output")
        return UNREADABLE
    try:
        code: int = options.run(options)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough
        silence()
        return _BROKEN_PIPE
    except OSError as error:  # an error of a recording is a BadRecording
        silence()
        complain(f"cannot write: {error.strerror}")
        return UNREADABLE
    except KeyboardInterrupt:
        return _INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "wholecall", description=_ABOUT, epilog="`wholecall COMMAND --help` says more and shows examples."
    )
    parser.add_argument("--version", action="version", version=f"%(prog)s {_version()}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for command in _COMMANDS:
        command.add_command(commands)
    completion.add_command(commands, parser)
    return parser


def _version() -> str:
    try:
        return version("wholecall")
    except PackageNotFoundError:
        return "(not installed)"
