"""Golden event logs: how a recording is parsed and cut, and the script that writes the logs.

`python -m tests.support.bless --reason TEXT [NAME ...]` rewrites `<case>.events.jsonl` next to each recording (or the
named recordings) and reports the changed files. A bless needs a reason: the reason belongs into the commit message,
because a golden that changes without one hides a regression.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterable, Iterator, Sequence

from tests.support import corpora
from wholecall import ToolCallParser
from wholecall.calls.output.events import Event

CHUNK_SIZES = (1, 2, 3, 7, 64, 1460)


def parse(chunks: Iterable[bytes]) -> list[Event]:
    """Return all events of a stream that arrives in these chunks."""
    parser = ToolCallParser()
    events: list[Event] = []
    for chunk in chunks:
        events += parser.feed(chunk)
    return events + parser.close()


def lines(events: Iterable[Event]) -> bytes:
    """Return events as the lines of a log."""
    return b"".join(event.to_json() + b"\n" for event in events)


def in_chunks(data: bytes, size: int) -> Iterator[bytes]:
    """Cut bytes after each `size` of them."""
    return (data[start : start + size] for start in range(0, len(data), size))


def at_random(data: bytes, seed: int) -> list[bytes]:
    """Cut bytes at seeded random places: few, many, or in bursts."""
    rng = random.Random(seed)
    longest = rng.choice((2, 9, 80, 700, 5000))
    chunks, start = [], 0
    while start < len(data):
        end = start + rng.randint(1, longest)
        chunks.append(data[start:end])
        start = end
    return chunks


def bless(names: Sequence[str]) -> list[str]:
    """Write the logs of the named recordings, or of all; return the names of those that changed."""
    changed = []
    for entry in corpora.cases():
        if names and entry["name"] not in names:
            continue
        log = lines(parse([corpora.recorded(entry)]))
        path = corpora.golden(entry)
        if not path.exists() or path.read_bytes() != log:
            path.write_bytes(log)
            changed.append(entry["name"])
    return changed


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the script."""
    options = argparse.ArgumentParser(description="Write the golden event logs of the corpora.")
    options.add_argument("--reason", required=True, help="why the logs change; say it in the commit message")
    options.add_argument("names", nargs="*", metavar="NAME", help="recordings: <dialect>/<case>")
    chosen = options.parse_args(arguments)
    if not chosen.reason.strip():
        options.error("the reason is empty")
    unknown = set(chosen.names) - {entry["name"] for entry in corpora.cases()}
    if unknown:
        options.error(f"no such recording whose sidecar says what to expect: {', '.join(sorted(unknown))}")
    changed = bless(chosen.names)
    sys.stdout.write("".join(f"{name}\n" for name in changed))
    sys.stderr.write(f"{len(changed)} logs changed. Say so in the commit message: {chosen.reason}\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
