"""The command `wholecall replay`: the tool calls of recorded streams.

Theory of operation. The events of a recording are counted, and go to one of three outputs: lines of JSON, a list of the
events, or a summary. The summary is the list if there is one recording, and a table if there are several. Therefore it
holds the first recording's list until a second recording comes. Data is written before messages about it on standard
error.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from typing import Any

from wholecall import BadRecording, Event
from wholecall.cli.batch import Batch, Beginning, Nonsense, Tally
from wholecall.cli.options import add_command_parser, add_dialect, add_max_bytes, add_text
from wholecall.cli.output import CHOICES, FOUND, OK, UNREADABLE
from wholecall.cli.replay_output import Output, output_of
from wholecall.recordings import Recording
from wholecall.recordings.finding import STDIN
from wholecall.recordings.replay import Chunking, replay

_ABOUT = """\
Read recorded streams and show the tool calls in them: those that are whole, with their arguments, and those
that were dropped, with the reason and the beginning of their raw text. For several recordings there is a table
with a row for each folder (or dialect, in one folder) and its counts; -v lists what happened in each of them.

A recording is the body of a response as the server sent it: server-sent events, JSON lines, a JSON array, a
binary event stream, or one JSON object of a response that was not streamed. Files that hold many are read too:
streams one after the other (cat a b), JSON lines with a body each and the outputs of batches, VCR cassettes (YAML
or JSON), HAR, llm-interceptor's logs, llm-mock's files, and what wholecall records itself; each also as .gz or .zst.
What a file is, is found out from its bytes.
"""
_PATHS = """\
a file, a folder (the .sse, .ndjson, .jsonl, .json, .bin, .har, .yaml and
.yml files in it and below it, compressed ones too; event logs and sidecars
aside), a glob, or - for standard input"""
_CHUNK = """\
feed N bytes at a time, or pieces of random sizes; whatever is
given, the events are the same"""
_EXAMPLES = """\
examples:
  wholecall replay corpora/recordings                 a table: every recording in a folder and below it
  wholecall replay --calls corpora/recordings         each of their calls (-v: faults and ends, too)
  wholecall replay --full a.sse                       one recording, its arguments whole
  wholecall replay 'logs/**/*.sse'                    a glob
  wholecall replay browser.har tests/cassettes        what a browser exported, and what tests recorded
  curl -sN ... | wholecall replay -                   a live stream, call by call
  wholecall replay --json --calls a.sse | jq .name    one JSON object a line, calls only
  wholecall replay --check recordings                 fail if a call was dropped, for scripts
  wholecall replay --chunk random:7 a.sse             cut the bytes differently: nothing changes

exit status:
  0  every recording was read
  1  a file holds no answer of a model (named on standard error with what it holds), or with
     --check: something was dropped or faulted
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are read anyway),
     or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "replay", "show the tool calls of recorded streams", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_replay)
    _add_options(command)


def _add_options(command: argparse.ArgumentParser) -> None:
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help=_PATHS)
    add("--json", action="store_true", help='write each event as one line, {"recording": NAME, ...event}')
    add("--calls", action="store_true", help="list only calls, the whole and the dropped, of each recording")
    add("-v", "--verbose", action="store_true", help="list what happened in each recording, however many")
    add("--full", action="store_true", help="list arguments and raw texts whole (as -v)")
    add("--check", action="store_true", help="exit with 1 if something was dropped or faulted")
    add(
        "--color",
        choices=CHOICES,
        default="auto",
        help="colours (auto: on a terminal, unless NO_COLOR is set)",
    )
    add_dialect(command)
    add_max_bytes(command)
    add_text(command)
    add("--chunk", type=_chunking, default=Chunking(), metavar="N|random:SEED", help=_CHUNK)


def _chunking(text: str) -> Chunking:
    try:
        return Chunking.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _replay(options: argparse.Namespace) -> int:
    total, output = Tally(), output_of(options)
    batch = Batch(options.paths, quiet=output.is_quiet, max_bytes=options.max_bytes)
    for _ in batch.each(lambda recording: _play(recording, options, total, output)):
        pass
    total.recordings, total.unreadable = batch.count, batch.unreadable
    total.nonsense, total.skipped = batch.nonsense, batch.skipped
    output.end(total)
    if total.unreadable:
        return UNREADABLE
    return FOUND if total.nonsense or (options.check and not total.clean) else OK


def _play(recording: Recording, options: argparse.Namespace, total: Tally, output: Output) -> None:
    """Show a recording and count it; events before damage count, nonsense does not."""
    beginning, tally = Beginning(recording), Tally()
    id = recording.meta.get("id")
    output.begin(recording.name, id if isinstance(id, str) else None)
    try:
        for event in _events(recording, options, output):
            tally.count(event)
            output.add(event, tally)
            if recording.name == STDIN:
                sys.stdout.flush()
        beginning.refuse_nonsense(tally)
        tally.end()
    except Nonsense:
        output.forget()
        raise
    except BadRecording:
        _count(recording, tally, total, output)
        raise
    _count(recording, tally, total, output)


def _events(recording: Recording, options: argparse.Namespace, output: Output) -> Iterator[Event]:
    return replay(recording, options.dialect, events=output.events, text=options.text, chunking=options.chunk)


def _count(recording: Recording, tally: Tally, total: Tally, output: Output) -> None:
    output.keep(recording.name, tally)
    total.merge(tally)
