"""Large reads: where they are cut, and that the cuts have no effect."""

from __future__ import annotations

import pytest

from tests.support import quirky
from wholecall import ToolCallParser
from wholecall.framing.parts import LARGE, parted

EVENT = b'data: {"n": 1}\n\n'


def test_parts_are_whole_events() -> None:
    """Put together the parts are the read; each but the last ends with an event, and contains enough of them."""
    data = EVENT * (3 * LARGE // len(EVENT)) + b"data: {"
    parts = parted(data)

    assert data == b"".join(parts)
    assert {True} == {part.endswith(b"}\n\n") and LARGE // 2 <= len(part) < LARGE for part in parts[:-1]}
    assert 0 < len(parts[-1]) < LARGE


@pytest.mark.parametrize("data", [b"data: " + b"x" * 3 * LARGE + b"\n\n", b'{"n": 1}\n' * LARGE])
def test_what_has_no_blank_line_inside_stays_whole(data: bytes) -> None:
    """One large event, or lines of JSON, are one part."""
    assert [data] == parted(data)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_large_reads_say_what_small_ones_say(end: bytes) -> None:
    """A stream in one read, many times as large as a part, gives the events of its bytes."""
    data = b"".join(quirky.make(f"large:{n}", ("plain",)).bytes() for n in range(60)).replace(b"\n", end)
    large, small = ToolCallParser(), ToolCallParser()
    in_bytes = [event for n in range(len(data)) for event in small.feed(data[n : n + 1])]

    assert len(data) > 3 * LARGE
    assert [*in_bytes, *small.close()] == [*large.feed(data), *large.close()]
