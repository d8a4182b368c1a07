"""The event streams of the further vectors, read strictly."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING

import pytest

from wholecall.framing import SSEFraming

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

Seen = list[tuple[str, str, str, "int | None"]]


def read(chunks: Iterable[bytes]) -> Seen:
    """Return a strict reader's dispatched events."""
    framing = SSEFraming()
    frames = [frame for chunk in chunks for frame in framing.feed(chunk)] + framing.close()

    assert not framing.faults
    return [(frame.event, frame.data, frame.id, frame.retry) for frame in frames]


@pytest.mark.cases
def test_sse_vectors(vectors_dir: Path) -> None:
    """Every case gives the events of the standard: whole, at every 2-split of short ones, byte by byte."""
    lines = (vectors_dir / "sse_cases.jsonl").read_bytes().splitlines()
    cases = [json.loads(line) for line in lines]
    wrong = []
    for case in cases:
        stream = base64.b64decode(case["bytes_b64"])
        size = len(stream)
        expected = [
            (event["event"], event["data"], event["id"], event["retry"]) for event in case["expected"]
        ]
        ways = [[stream], [stream[at : at + 1] for at in range(size)]]
        ways += [[stream[:cut], stream[cut:]] for cut in range(1, size if size <= 300 else 1)]
        wrong += [(case["name"], len(way[0])) for way in ways if read(way) != expected]

    assert cases
    assert [] == wrong
