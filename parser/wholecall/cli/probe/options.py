"""The options of `wholecall probe`.

Theory of operation. The rest of the command is imported when it runs: other commands need none of it.
"""

from __future__ import annotations

import argparse
from typing import Any

from wholecall.cli.options import add_command_parser
from wholecall.grading.probe.exchange import WIRES
from wholecall.grading.probe.scenarios import LEVELS

_ABOUT = """\
Grade a live endpoint: are the tool calls that it sends right on the wire, plain and streamed? A few prompts with tools
that no model can miss are sent, each several times; each answer is judged by many rules. Three things are never mixed:
faults of the wire, what the model did not do, and what could not be told. docs/probe.md explains the report.

A key is read from the environment variable that --key-env names, and sent to the URL's host only: redirects are not
followed, and plain http takes a key to this machine only. Saved answers have no headers, and no key that a server shows.

Before it starts, the command says what it costs at most. Where that is more than the quick level costs, and the host is
not this machine, it needs --yes.
"""
_EXAMPLES = """\
examples:
  wholecall probe http://127.0.0.1:8000/v1 --model qwen3 --level quick
  wholecall probe https://api.example/v1 --model m --key-env EXAMPLE_KEY --save probe-out --html probe.html --yes
  wholecall probe https://api.example/v1 --model m --key-env KEY --only cut --only 'choice/*' --tries 10 --yes
  wholecall probe https://gateway.example/v1 --model m --key-env KEY --tries 20 --yes \\
      --reference https://api.example/v1 --reference-model m --reference-key-env KEY2
  wholecall probe --regrade probe-out --markdown issue.md       judge saved answers again; no requests
  wholecall probe --list                                        scenarios and rules, with their costs
  wholecall probe --self-test                                   against servers with known faults

exit status:
  0    no fault of the wire is as bad as --fail-on, whatever the model did
  1    there is one
  2    the command line was wrong, an extra is missing, or nothing could be told: no answer came that can be judged
  3    saved exchanges could not be read, or the output could not be written
  130  it was interrupted; what was measured is reported
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "probe", "grade the tool calls of a live endpoint", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_run, refuse=command.error)
    command.add_argument(
        "url", nargs="?", metavar="URL", help="the base URL, as for an SDK: https://api.example/v1"
    )
    command.add_argument("--key", "--api-key", action=_NoKey, help=argparse.SUPPRESS)
    _add_endpoint(command)
    _add_bounds(command)
    _add_outputs(command)
    modes = command.add_argument_group("instead of a run").add_mutually_exclusive_group()
    modes.add_argument(
        "--regrade", metavar="DIR", help="judge the exchanges that --save kept, without any request"
    )
    modes.add_argument("--list", action="store_true", help="list scenarios and rules, with their costs")
    modes.add_argument("--self-test", action="store_true", help="show that each known fault is found")


class _NoKey(argparse.Action):
    """Refuses a key on the command line without repeating it, as the message about an unknown option would."""

    def __call__(
        self, parser: argparse.ArgumentParser, _options: object, _value: object, _name: str | None = None
    ) -> None:
        parser.error("keys are read from environment variables only: --key-env NAME")


def _add_endpoint(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("the endpoint").add_argument
    add("--model", metavar="M", help="the model's name")
    add(
        "--wire",
        choices=["auto", *WIRES],
        default="auto",
        help="the API (auto: by the URL, else the first that answers)",
    )
    add("--key-env", metavar="NAME", help="the environment variable with the key")
    add(
        "--header",
        action="append",
        default=[],
        metavar="NAME:ENV",
        help="a header whose value is in a variable; may be given again",
    )
    add("--extra", metavar="JSON", help="an object whose members are added to each request")
    add("--reference", metavar="URL2", help="another endpoint, asked the same at the same time")
    add("--reference-model", metavar="M2", help="its model (the same by default)")
    add("--reference-key-env", metavar="N2", help="the environment variable with its key")


def _add_bounds(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("how much is asked").add_argument
    add("--level", choices=LEVELS, default="standard", help="how many scenarios (standard)")
    add("--tries", type=_count, metavar="N", help="how often each is asked plain, and streamed (5; quick: 3)")
    add(
        "--only",
        action="append",
        default=[],
        metavar="GLOB",
        help="scenarios (cut, 't*') or variants (choice/strict);\nmay be given again",
    )
    add(
        "--budget-tokens",
        type=_count,
        default=200_000,
        metavar="N",
        help="stop before more tokens are spent (200000)",
    )
    add("--jobs", type=_count, default=2, metavar="N", help="requests at a time (2)")
    add("--timeout", type=_seconds, default=120.0, metavar="S", help="seconds for an answer (120)")
    add("--yes", action="store_true", help="consent to the costs")


def _add_outputs(command: argparse.ArgumentParser) -> None:
    add = command.add_argument_group("the report").add_argument
    add("--save", metavar="DIR", help="keep all exchanges in a new folder, as recordings")
    add("--json", metavar="FILE", help="the report as JSON; - is standard output, instead of the text")
    add("--html", metavar="FILE", help="the report as one self-contained page")
    add("--junit", metavar="FILE", help="a test for each rule")
    add("--badge", metavar="FILE", help="a picture (.svg), or the data for one (.json)")
    add("--markdown", metavar="FILE", help="an issue for the vendor: requests, bytes, what the standard says")
    add("--fail-on", choices=["critical", "major"], default="major", help="the severity that fails (major)")


def _count(text: str) -> int:
    if not (text.isascii() and text.isdecimal()) or not 1 <= int(text) <= 10**9:
        raise argparse.ArgumentTypeError("it is not a number from 1")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise argparse.ArgumentTypeError("it is not a number of seconds")
    return seconds


def _run(options: argparse.Namespace) -> int:
    from wholecall.cli.probe.command import probe  # noqa: PLC0415 - see above

    return probe(options)
