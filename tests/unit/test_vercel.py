"""The framing of coded lines: bytes in, frames out."""

from __future__ import annotations

import pytest

from wholecall.framing import Frame, VercelFraming
from wholecall.limits import Limits


def frames(data: bytes, size: int = 0, limits: Limits = Limits()) -> list[Frame]:  # noqa: B008 - frozen
    """Return the frames of a stream that comes in chunks of a size, 0 for all at once."""
    framing = VercelFraming(limits)
    size = size or len(data)
    found = [
        frame for start in range(0, len(data), size) for frame in framing.feed(data[start : start + size])
    ]
    return found + framing.close()


@pytest.mark.parametrize("size", [0, 1, 2, 3])
def test_a_line_is_a_frame_named_by_its_code(size: int) -> None:
    """CR goes, blank lines are skipped, the last LF may be missing, and U+2028 ends no line."""
    data = 'f:{"messageId":"m"}\r\n\r\n \n0:"a\u2028:b"\n9:{"args":{}}'.encode()

    assert [
        Frame("f", '{"messageId":"m"}'),
        Frame("0", '"a\u2028:b"'),
        Frame("9", '{"args":{}}'),
    ] == frames(data, size)


@pytest.mark.parametrize("line", ['{"error":"x"}', "l:{}", "99:{}", ":x", "<html>", "9"])
def test_a_line_without_a_code_stands_as_it_is(line: str) -> None:
    """A proxy's additions are not lost; the dialect names their meaning."""
    assert [Frame("0", "1"), Frame("", line), Frame("0", "2")] == frames(f"0:1\n{line}\n0:2\n".encode())


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_line_that_is_too_large_is_skipped(size: int) -> None:
    """The code counts for nothing; the lines around it stay, and text may be lost."""
    framing = VercelFraming(Limits(max_event_bytes=4))
    data = b'0:"ab"\n0:"abc"\nxxxxx\n0:"cd"'
    step = size or len(data)
    found = [f for start in range(0, len(data), step) for f in framing.feed(data[start : start + step])]

    assert ['"ab"', '"cd"'] == [frame.data for frame in found + framing.close()]
    assert [("event_too_large", True)] * 2 == [(fault.kind, fault.hole) for fault in framing.faults]


@pytest.mark.parametrize("size", [0, 1, 4])
def test_a_line_that_is_too_long_is_fatal(size: int) -> None:
    """As in the other framings of lines."""
    framing = VercelFraming(Limits(max_line_bytes=6, max_event_bytes=None))
    data = b'0:"ab"\n0:"abc"\n0:"cd"\n'
    step = size or len(data)
    found = [f for start in range(0, len(data), step) for f in framing.feed(data[start : start + step])]

    assert ['"ab"'] == [frame.data for frame in found + framing.close()]
    assert [("line_too_long", True)] == [(fault.kind, fault.fatal) for fault in framing.faults]
