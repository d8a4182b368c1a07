"""The command `wholecall redact`: recordings that can be shared, with other letters and the same behaviour.

Theory of operation. A recording that would behave differently is named on standard error and left out, like a recording
that cannot be read; the others are still written.
"""

from __future__ import annotations

import argparse
import secrets
from typing import Any

from wholecall.cli.options import add_command_parser
from wholecall.cli.saving import FORMS, add_saving, save
from wholecall.recordings.redacting.redact import Redaction, redact

_ABOUT = """\
Write recordings without their contents. Letters and digits of texts, ids, keys and argument values become others, by a
key that nobody keeps; structure, sizes, chunks and times stay, so a recording replays as before: the same events with other
letters. What is read is what `wholecall replay` reads.

Kept are words of the protocol, models, names of tools (see --names), numbers and literals outside strings. Of a
request the user, query and fragment of its URL are left out.

Look at the result before you publish it. Sizes, places of spaces and punctuation, numbers and what is equal stay
(docs/recordings.md).
"""
_EXAMPLES = """\
examples:
  wholecall redact broken.sse -o broken.jsonl             for a report of a bug
  wholecall redact broken.sse --to raw -o other.sse       the bytes as a server would have sent them
  wholecall redact logs --names --seed 7 -o all.jsonl     no names of tools; the same letters in each run

exit status:
  0  every recording was redacted and written
  2  the command line was wrong
  3  a recording could not be read or not be redacted (named on standard error; the others are written all the
     same), there was none, or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "redact", "write recordings that can be shown", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_redact)
    add_saving(
        command, [form for form in FORMS if form != "session"]
    )  # a session holds the conversation, not its transport
    add = command.add_argument
    add("--seed", metavar="S", help="the key of the substitution; a new one in each run by default")
    add("--names", action="store_true", help="replace names of tools, too")
    add("--keep-text", action="store_true", help="keep what the model says and thinks")


def _redact(options: argparse.Namespace) -> int:
    seed = secrets.token_hex() if options.seed is None else options.seed
    redaction = Redaction(seed, options.names, options.keep_text)
    return save(options, lambda recording: redact(recording, redaction))
