"""The command `wholecall fuzz`: test whether a recording's events depend on how its bytes are cut.

Theory of operation. The bytes are parsed once as one piece, then again in random splits that follow from a seed; the
first split is into single bytes. Every event has to be the same. For the dialects that come with wholecall this is
guaranteed; your own dialect (`--import`) can be tested for it.
"""

from __future__ import annotations

import argparse
import json
from itertools import zip_longest
from typing import Any

from wholecall.cli import output, show
from wholecall.cli.batch import Batch
from wholecall.cli.options import add_command_parser, add_dialect, add_max_bytes
from wholecall.recordings import Recording
from wholecall.recordings.replay import Chunking, replay

_ABOUT = """\
Replay recordings with their bytes cut in other places, many times, and report where the events differ. Servers
and proxies cut streams anywhere; whoever reads them must not care. The splits are drawn from a seed, and a
finding names it: `wholecall replay --chunk random:SEED` shows it again.
"""
_EXAMPLES = """\
examples:
  wholecall fuzz corpora/recordings                        single bytes, and 20 random splits of each
  wholecall fuzz --splits 500 --seed 7 a.sse               more of them, other ones
  wholecall fuzz --import my_dialect --dialect mine a.sse  a dialect that the module registers

exit status:
  0  the events never differed
  1  they did
  2  the command line was wrong
  3  a recording could not be read (named on standard error; the others are read anyway),
     or the output could not be written
"""


def add_command(commands: Any) -> None:
    """Add the command to the program's parser."""
    command = add_command_parser(
        commands, "fuzz", "replay recordings under random splits: nothing may change", _ABOUT, _EXAMPLES
    )
    command.set_defaults(run=_fuzz, refuse=command.error)
    add = command.add_argument
    add("paths", nargs="+", metavar="PATH", help="recordings, as for `wholecall replay`")
    add(
        "--splits", type=_count, default=20, metavar="N", help="how many random splits of each recording (20)"
    )
    add("--seed", default="0", metavar="SEED", help="begin of the seeds; equal ones draw equal splits (0)")
    add("--json", action="store_true", help="write each split as one line, also those without a difference")
    add_dialect(command)
    add_max_bytes(command)


def _count(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of splits")
    return int(text)


def _fuzz(options: argparse.Namespace) -> int:
    batch = Batch(options.paths, max_bytes=options.max_bytes)
    differing = sum(batch.each(lambda recording: _fuzz_one(recording, options)))
    if not options.json:
        output.write(
            f"{batch.count:,} recordings, each under {options.splits + 1:,} splits: {differing:,} differences\n"
        )
    if batch.unreadable:
        return output.UNREADABLE
    return output.FOUND if differing else output.OK


def _fuzz_one(recording: Recording, options: argparse.Namespace) -> int:
    """Return how many splits made a difference."""
    dialect = options.dialect if options.dialect != "auto" else recording.dialect or "auto"
    data = b"".join(chunk for _, chunk in recording.chunks)
    expected = _events(recording.name, data, Chunking(size=max(len(data), 1)), dialect)
    seeds = [f"{options.seed}-{number}" for number in range(1, options.splits + 1)]
    differing = 0
    for seed in (None, *seeds):
        chunking = Chunking(size=1) if seed is None else Chunking(seed=seed)
        found = _events(recording.name, data, chunking, dialect)
        differing += found != expected
        _report(
            recording.name, "1" if seed is None else f"random:{seed}", expected, found, as_json=options.json
        )
    return differing


def _events(name: str, data: bytes, chunking: Chunking, dialect: str) -> list[bytes]:
    recording = Recording(name=name, chunks=iter([(None, data)]))
    return [event.to_json() for event in replay(recording, dialect, chunking=chunking)]


def _report(name: str, split: str, expected: list[bytes], found: list[bytes], *, as_json: bool) -> None:
    if found == expected and not as_json:
        return
    pairs = zip_longest(expected, found)
    position = next((number for number, (one, other) in enumerate(pairs) if one != other), None)
    if as_json:
        output.json_writer(name)(
            json.dumps({"split": split, "same": position is None, "event": position}).encode()
        )
        return
    assert position is not None
    output.write(f"{show.printable(name)}: --chunk {split}: event {position} differs\n")
    for sign, events in (("-", expected), ("+", found)):
        text = events[position].decode() if position < len(events) else "(no event)"
        output.write(f"  {sign} {show.printable(text)}\n")
