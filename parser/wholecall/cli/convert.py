"""The command `wholecall convert`: recordings from one form into another."""

from __future__ import annotations

import argparse
from typing import Any

from wholecall.cli.options import add_command_parser
from wholecall.cli.saving import add_saving, save
from wholecall.recordings.secrets import without_secrets

_ABOUT = """\
Write recordings in another form. What is read is what `wholecall replay` reads: raw streams, JSON lines with a body
each, outputs of batches, VCR cassettes, HAR, llm-interceptor's logs, llm-mock's files, wholecall's own recordings;
also .gz and .zst.

forms:
  recording   wholecall's own: JSON lines that keep chunks and times (docs/recordings.md)
  raw         the bytes of the responses, one after the other; choose one with --only
  har         an HTTP archive with an entry for each recording
  cassette    a VCR cassette (YAML) with an interaction for each recording
  session     messages with their tool calls, in the Session Trace Simple format; what was dropped is not in it

Keys and passwords in the URL of a request (user, members of the query) are left out; what the server sent stays as it
is (see `wholecall redact`).
"""
_EXAMPLES = """\
examples:
  wholecall convert browser.har -o answers.jsonl              keep the answers of models, nothing else
  wholecall convert tests/cassettes --only 3 --to raw         the third answer as the server sent it
  wholecall convert answers.jsonl --to session -o trace.jsonl what the model said and called

exit status:
  0  every recording was read and written
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are written anyway), there was
     none, or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "convert", "write recordings in another form", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_convert)
    add_saving(command)


def _convert(options: argparse.Namespace) -> int:
    return save(options, without_secrets)
