"""The effect of one missing frame on calls: `python -m tests.damage.rates [--recordings DIR]`.

Prints the table of `docs/promises.md`, which is made from the project's own recordings, or the table of another folder.
A frame is removed whole, so no damaged frame is visible: a loss shows in the missing number where frames are numbered,
and elsewhere only if the rest does not fit together.

Theory of operation. Only intact recordings are tried: both policies give the same calls of them, and drop none. The
frames before a removed frame are read once; each case starts from a snapshot of the parser.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.damage.streams import Recordings, Stream, called, of_corpora, of_folder, told
from tests.damage.ways import framing
from wholecall import Policy, ToolCallParser
from wholecall.calls.output.call_events import ToolCallCancelled, ToolCallDropped
from wholecall.calls.output.events import StreamFault

POLICIES: Mapping[str, Policy] = {"Policy()": Policy(), "Policy.strict()": Policy.strict()}
_NUMBER = "responses", b'"sequence_number":'  # the dialect whose frames are counted, if they bear numbers
_NUMBERED = ", numbered"
_TOTAL = "**all**"


@dataclass
class Row:
    """The results of removing frames from the recordings of one dialect.

    Attributes:
        recordings: the number that were tried.
        calls: in them.
        removals: the number of frames that were removed, one at a time.
        lost: by policy, the number of removals after which a call was missing, and no other was emitted.
        changed: by policy, the number after which a call was emitted that the recording does not hold.
    """

    recordings: int = 0
    calls: int = 0
    removals: int = 0
    lost: Counter[str] = field(default_factory=Counter)
    changed: Counter[str] = field(default_factory=Counter)

    def add(self, other: Row) -> None:
        """Add the results of other recordings."""
        self.recordings += other.recordings
        self.calls += other.calls
        self.removals += other.removals
        self.lost += other.lost
        self.changed += other.changed


def is_in_order(stream: Stream) -> bool:
    """Return whether both policies give the same calls of a stream, at least one, and no other report."""
    if len(stream.frames) < 2 or not has_frames(stream):
        return False
    wrong = (ToolCallDropped, ToolCallCancelled, StreamFault)
    found = [list(told(ToolCallParser(policy=policy), [stream.data])) for policy in POLICIES.values()]
    if any(isinstance(event, wrong) for events in found for event in events):
        return False
    calls, *others = map(called, found)
    return bool(calls) and all(calls == other for other in others)


def has_frames(stream: Stream) -> bool:
    """Return whether lines separate frames: a body printed over many lines has no frames."""
    if framing(stream.data) != "lines":
        return True
    first = stream.frames[0].lstrip(b"[")
    try:
        json.loads(first[first.find(b":") + 1 :] if first[1:2] == b":" else first)
    except ValueError:
        return False
    return True


def is_numbered(stream: Stream) -> bool:
    """Return whether a missing frame shows in the numbers of the others."""
    dialect, number = _NUMBER
    return stream.dialect == dialect and number in stream.data


def outcomes(stream: Stream, policy: Policy) -> Iterator[str]:
    """Return the fate of a stream's calls without each frame: `same`, `lost` or `changed`."""
    sent = called(told(ToolCallParser(policy=policy), [stream.data]))
    parser: ToolCallParser[Any] = ToolCallParser(events="calls", policy=policy)
    before: list[Any] = []
    for n, frame in enumerate(stream.frames):
        rest = b"".join(stream.frames[n + 1 :])
        calls = called([*before, *told(ToolCallParser.restore(parser.snapshot()), [rest])])
        yield "changed" if calls - stream.held else "lost" if sent - calls else "same"
        before += parser.feed(frame)


def row_of(stream: Stream) -> Row:
    """The result of removing each frame of a stream."""
    calls = called(told(ToolCallParser(), [stream.data])).total()
    found = {said: Counter(outcomes(stream, policy)) for said, policy in POLICIES.items()}
    lost, changed = (Counter({said: found[said][what] for said in POLICIES}) for what in ("lost", "changed"))
    return Row(1, calls, len(stream.frames), lost, changed)


def rows(
    recordings: Recordings, most: int | None = None, dialects: Collection[str] | None = None
) -> dict[str, Row]:
    """The rows by dialect; streams with numbered frames have a separate row.

    Args:
        recordings: where the streams are.
        most: frames that the recordings of a dialect may have, so that it is tried; None for any number.
        dialects: those that are tried; None for all.
    """
    frames = Counter[str]()
    for stream in recordings.streams:
        frames[stream.dialect] += len(stream.frames)
    found: dict[str, Row] = {}
    for stream in recordings.streams:
        is_left_out = dialects is not None and stream.dialect not in dialects
        if is_left_out or (most is not None and frames[stream.dialect] > most) or not is_in_order(stream):
            continue
        name = f"`{stream.dialect}`" + (_NUMBERED if is_numbered(stream) else "")
        found.setdefault(name, Row()).add(row_of(stream))
    return dict(sorted(found.items()))


def table(found: Mapping[str, Row]) -> str:
    """The table of rows, the sum of all below it."""
    total = Row()
    for row in found.values():
        total.add(row)
    heads = [f"`{policy}`: {what}" for policy in POLICIES for what in ("lost", "changed")]
    lines = [f"| dialect | recordings | calls | frames removed | {' | '.join(heads)} |", "|---" * 8 + "|"]
    lines += [line(name, row) for name, row in [*found.items(), (_TOTAL, total)]]
    return "\n".join(lines) + "\n"


def line(name: str, row: Row) -> str:
    """The line of a row."""
    shares = [_share(n[policy], row.removals) for policy in POLICIES for n in (row.lost, row.changed)]
    return f"| {name} | {row.recordings} | {row.calls} | {row.removals} | {' | '.join(shares)} |"


def _share(n: int, removals: int) -> str:
    return f"{100 * n / removals:.1f} %" if n else "0"


def markdown() -> str:
    """Return the table of the project's own recordings, as the page has it."""
    return table(rows(of_corpora()))


def main() -> int:
    """Print the table."""
    options = argparse.ArgumentParser(prog="python -m tests.damage.rates", description=__doc__)
    options.add_argument("--recordings", type=Path, metavar="DIR", help="recordings other than the project's")
    folder = options.parse_args().recordings
    sys.stdout.write(table(rows(of_folder(folder))) if folder else markdown())
    return 0


if __name__ == "__main__":
    sys.exit(main())
