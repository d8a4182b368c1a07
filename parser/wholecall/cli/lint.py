"""The command `wholecall lint`: oddities in recorded streams, by recording and by provider.

Theory of operation. The events of a recording are counted in a ledger; ledgers add up to one for each provider and one
for all. The counts are those of every reader of recordings (`wholecall.recordings.counts`), so a report on tables has
the same. If calls in text are not read, texts are searched for them: each is a finding, too, under the name of the
format that reads it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import defaultdict
from typing import Any, get_args

import msgspec

from wholecall import EventsWanted
from wholecall.cli import output, show
from wholecall.cli.batch import Batch, Beginning, Tally
from wholecall.cli.options import add_command_parser, add_dialect, add_max_bytes, add_text
from wholecall.recordings import Recording
from wholecall.recordings.counts import KINDS, Words
from wholecall.recordings.replay import replay
from wholecall.stream.shells.leaks import Leaks
from wholecall.types import Anomaly, DropReason, EditKind, FaultKind, Flag

_ABOUT = """\
Count what is odd in recorded streams: calls that were dropped and why, faults of the wire, and the quirks that
were survived (flags, edits, anomalies). Each recording with a finding has a line; then there is a table with
one line a provider, or a dialect where the provider is unknown. docs/words.md explains every word.

Calls that a model wrote as text and nobody read are findings too (calls_in_text, with the format). With --text
they are read, and judged like others; their flag is from_text.
"""
_EXAMPLES = """\
examples:
  wholecall lint logs                              every recording in a folder and below it
  wholecall lint --ignore id_generated logs        some habits are well known
  wholecall lint --text hermes logs                calls in text are read
  wholecall lint --json logs | jq 'select(.total)' one object a recording, one a provider, one for all
  wholecall lint nightly.har && deploy             findings fail

exit status:
  0  nothing was found
  1  there are findings, or files that hold no answer of a model (named on standard error)
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are read anyway),
     or the output could not be written
"""
LEAKS = "calls_in_text"  # the finding of calls in texts that were not to be read
_KINDS = (*KINDS, LEAKS)
_WORDS = frozenset(
    word for words in (DropReason, FaultKind, Flag, EditKind, Anomaly) for word in get_args(words)
) | {LEAKS}
_COLUMNS = ("recordings", "odd", "calls", "empty", "dropped", "faults")


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(commands, "lint", "count what is odd in recorded streams", _ABOUT, _EXAMPLES)
    command.set_defaults(run=_lint)
    command.add_argument("paths", nargs="+", metavar="PATH", help="recordings, as for `wholecall replay`")
    command.add_argument("--json", action="store_true", help="write one JSON object a line")
    command.add_argument(
        "--ignore",
        action="append",
        default=[],
        choices=sorted(_WORDS),
        metavar="WORD",
        help="a word that is not a finding; may be given again",
    )
    add_dialect(command)
    add_max_bytes(command)
    add_text(command)


def _lint(options: argparse.Namespace) -> int:
    total, batch = Ledger(), Batch(options.paths, max_bytes=options.max_bytes)
    groups: defaultdict[str, Ledger] = defaultdict(Ledger)
    for recording, ledger in batch.each(lambda recording: (recording, _ledger(recording, options))):
        groups[recording.provider or ledger.last_dialect or "unknown"].merge(ledger)
        total.merge(ledger)
        _list_findings(recording.name, ledger, as_json=options.json)
    _sum_up(groups, total, as_json=options.json)
    if batch.unreadable:
        return output.UNREADABLE
    return output.FOUND if total.is_odd or batch.nonsense else output.OK


class Ledger(Tally):
    """Counts of one recording, or of several; calls in texts that nobody read are findings, too."""

    findings: dict[str, Words] = msgspec.field(default_factory=lambda: {kind: Words() for kind in _KINDS})

    def ignore(self, words: frozenset[str]) -> None:
        """Forget findings of some words; calls in texts have one word, whatever the format."""
        if LEAKS in words:
            self.findings[LEAKS].clear()
        for counts in self.findings.values():
            for word in words & counts.keys():
                del counts[word]


def _ledger(recording: Recording, options: argparse.Namespace) -> Ledger:
    beginning, ledger, leaks = Beginning(recording), Ledger(), Leaks()
    wanted: EventsWanted = "all" if options.text is None else "calls"
    for event in replay(recording, options.dialect, events=wanted, text=options.text):
        ledger.count(event)
        if options.text is None:
            leaks.add(event)
    beginning.refuse_nonsense(ledger)
    ledger.findings[LEAKS].update(leaks.found)
    ledger.ignore(frozenset(options.ignore))
    ledger.end()
    return ledger


def _list_findings(name: str, ledger: Ledger, *, as_json: bool) -> None:
    if as_json:
        output.json_writer(name)(json.dumps({"dialect": ledger.last_dialect} | ledger.to_dict()).encode())
    elif ledger.is_odd:
        found = [f"{kind} {_words(ledger, kind)}" for kind in _KINDS if ledger.findings[kind]]
        output.write(f"{show.printable(name)}: {'; '.join(found)}\n")


def _words(ledger: Ledger, kind: str) -> str:
    return ", ".join(
        word if count == 1 else f"{word} x{count}" for word, count in ledger.findings[kind].most_common()
    )


# The sums.


def _sum_up(groups: dict[str, Ledger], total: Ledger, *, as_json: bool) -> None:
    if as_json:
        for name, ledger in sorted(groups.items()):
            sys.stdout.write(json.dumps({"provider": name} | ledger.to_dict()) + "\n")
        sys.stdout.write(json.dumps({"total": True} | total.to_dict()) + "\n")
        return
    rows = [("", *_COLUMNS), *(_row(*item) for item in sorted(groups.items())), _row("all", total)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    output.write("\n")
    for first, *others in rows:
        cells = [cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True)]
        output.write("  ".join([first.ljust(widths[0]), *cells]).rstrip() + "\n")
    output.write("\n")
    for kind in _KINDS:
        for word, count in total.findings[kind].most_common():
            advice = f"  (--text {word} reads them)" if kind == LEAKS else ""
            output.write(f"{kind:13}  {count:7,}  {word}{advice}\n")


def _row(name: str, ledger: Ledger) -> tuple[str, ...]:
    counts = {
        "recordings": f"{ledger.recordings:,}",
        "odd": _shared(ledger.odd, ledger.recordings),
        "calls": f"{ledger.calls:,}",
        "empty": _shared(ledger.empty, ledger.calls),
        "dropped": _shared(ledger.dropped, ledger.calls + ledger.dropped),
        "faults": f"{ledger.faults:,}",
    }
    return (show.printable(name), *(counts[column] for column in _COLUMNS))


def _shared(count: int, whole: int) -> str:
    """Return a count with its share of the whole."""
    return f"{count:,} ({count / whole:.0%})" if count else "0"
