"""The command `wholecall replay`: the tool calls of recorded streams.

Theory of operation. A recording that cannot be read is named on standard error and the next one is tried; the
exit code shows that.
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
from collections.abc import Callable
from typing import Any

from wholecall.cli.batch import Batch
from wholecall.cli.options import add_command_parser, add_dialect
from wholecall.cli.out import FOUND, OK, UNREADABLE, json_writer, write
from wholecall.cli.show import Listing, Tally
from wholecall.output.events import TERMINAL, Event
from wholecall.recordings import Recording
from wholecall.recordings.finding import STDIN
from wholecall.replay import Chunking, replay

__all__ = ["add_command"]

_ABOUT = """\
Read recorded streams and show the tool calls in them: those that are whole, with their arguments, and those
that were dropped, with the reason and the beginning of their raw text.

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
  wholecall replay corpora/recordings                 every recording in a folder and below it
  wholecall replay 'logs/**/*.sse'                    a glob
  wholecall replay browser.har tests/cassettes        what a browser exported, and what tests recorded
  curl -sN ... | wholecall replay -                   a live stream, call by call
  wholecall replay --json --calls a.sse | jq .name    one JSON object a line, calls only
  wholecall replay --check recordings                 fail if a call was dropped, for scripts
  wholecall replay --chunk random:7 a.sse             cut the bytes differently: nothing changes

exit status:
  0  every recording was read
  1  with --check: something was dropped or faulted
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
    add("--json", action="store_true", help='write each event as one line, {"recording": PATH, ...event}')
    add("--calls", action="store_true", help="show only calls, the whole and the dropped")
    add("--check", action="store_true", help="exit with 1 if something was dropped or faulted")
    add_dialect(command)
    add("--chunk", type=_chunking, default=Chunking(), metavar="N|random:SEED", help=_CHUNK)


def _chunking(text: str) -> Chunking:
    try:
        return Chunking.parse(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _replay(options: argparse.Namespace) -> int:
    tally = Tally()
    listing = None if options.json else _listing(options.calls)
    batch = Batch(options.paths)
    for _ in batch.each(lambda recording: _play(recording, options, tally, listing)):
        pass
    tally.recordings, tally.unreadable, tally.skipped = batch.count, batch.unreadable, batch.skipped
    if listing is not None:
        listing.end(tally.summary())
    if tally.unreadable:
        return UNREADABLE
    return FOUND if options.check and not tally.clean else OK


def _play(recording: Recording, options: argparse.Namespace, tally: Tally, listing: Listing | None) -> None:
    if listing is None:
        show = _json_lines(recording.name, options.calls)
    else:
        listing.begin(recording.name)
        show = listing.add
    for event in replay(recording, options.dialect, chunking=options.chunk):
        tally.add(event)
        show(event)
        if recording.name == STDIN:  # it may be live
            sys.stdout.flush()


def _listing(only_calls: bool) -> Listing:
    terminal = sys.stdout.isatty()
    return Listing(
        write,
        width=shutil.get_terminal_size((100, 24)).columns,
        colour=terminal and not os.environ.get("NO_COLOR"),
        only_calls=only_calls,
    )


def _json_lines(name: str, only_calls: bool) -> Callable[[Event], None]:
    """Return what writes the events of a recording as JSON lines."""
    write_line = json_writer(name)

    def write(event: Event) -> None:
        if not only_calls or isinstance(event, TERMINAL):
            write_line(event.to_json())

    return write
