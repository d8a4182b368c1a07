"""Events whose field was damaged on its way: the reports of them, the open state they end, and the limits they keep."""

from __future__ import annotations

import pytest

from tests.support import frames
from tests.support.frames import kinds, pieces
from wholecall.deltas import WireFault
from wholecall.framing import Frame, SSEFraming
from wholecall.limits import Limits

LINE = b'dxta: {"a":1}'


def read_all_ways(stream: bytes, limits: Limits | None = None) -> list[frames.Item]:
    """Read a stream whole, at every 2-split and at some read sizes; all must agree."""
    return frames.read_all_ways(
        lambda: SSEFraming(limits or Limits(), dispatch_at_eof=True, raw_json=True, misspelt=True),
        stream,
        (1, 2, 5, 64),
    )


def test_a_damaged_event_is_told_with_its_line() -> None:
    """The fault describes the skipped line, and shows it as far as the limit of raw text lets it."""
    detail = "an event with JSON in an unknown field was skipped"
    fault = WireFault("undecodable_frame", detail, raw='dxta: {"a', hole=True)

    assert [fault, Frame("message", "b")] == read_all_ways(LINE + b"\n\ndata: b\n\n", Limits(max_raw_bytes=9))


@pytest.mark.parametrize("reads", [[b"data:\n" + LINE + b"\n"], [b"data", b":\n" + LINE + b"\n"]])
def test_damage_is_told_by_the_read_that_ends_its_line(reads: list[bytes]) -> None:
    """An event that is not over yet waits for no blank line to be found damaged, however it is cut."""
    framing = SSEFraming(Limits(), dispatch_at_eof=True, raw_json=True, misspelt=True)
    for data in reads:
        framing.feed(data)

    assert ["undecodable_frame"] == [fault.kind for _, fault in framing.take_faults()]


def test_a_damaged_event_ends_bare_json() -> None:
    """A bare object ends at the line of a damaged event, as at that of any other."""
    expected = ["{", "undecodable_frame", "b"]

    assert expected == kinds(read_all_ways(b"{\n" + LINE + b"\n\ndata: b\n\n"))


@pytest.mark.parametrize(("most", "outcome"), [(0, "undecodable_frame"), (-1, "event_too_large")])
def test_a_damaged_event_is_as_large_as_its_line(most: int, outcome: str) -> None:
    """A line that breaks the limit of events is reported for that; a line of just that size for its damage."""
    limits = Limits(max_event_bytes=len(LINE) + most)

    assert [outcome, "b"] == kinds(read_all_ways(LINE + b"\n\ndata: b\n\n", limits))


@pytest.mark.parametrize(
    ("limits", "kind"),
    [
        (Limits(max_line_bytes=16, max_event_bytes=99), "line_too_long"),
        (Limits(max_event_bytes=16, max_line_bytes=99), "event_too_large"),
    ],
    ids=["of lines", "of events"],
)
def test_a_limit_does_not_wait_for_the_end_of_a_damaged_line(limits: Limits, kind: str) -> None:
    """The byte that breaks a limit is the one that decides, also in a line that is skipped in the end."""
    framing = SSEFraming(limits, misspelt=True)
    told = []
    for byte in pieces(LINE[:-1] + b"7" * 17, 1)[:17]:
        framing.feed(byte)
        told.append([fault.kind for fault in framing.faults])

    assert [[]] * 16 + [[kind]] == told


def test_the_field_behind_bare_json_ends_it() -> None:
    """A bare object that was never closed is emitted as soon as the next field is known to be one."""
    framing = SSEFraming(raw_json=True)
    read = [framing.feed(piece) for piece in (b'{"a":[\n', b"data", b":")]

    assert [[], [], [Frame("", '{"a":[')]] == read


@pytest.mark.parametrize("line", [b"foo: ", b'"', b"x", b"dat: "])
def test_unknown_fields_are_not_kept(line: bytes) -> None:
    """Where damage is not looked for, nothing of a line is kept once it cannot be a known field."""
    framing = SSEFraming(Limits(max_line_bytes=16, max_event_bytes=16))
    kept = []
    for byte in pieces(line + b"{" * 30, 1):
        framing.feed(byte)
        kept.append(len(framing._partial))

    assert (3 if line.startswith(b"dat") else 0) == max(kept)
    assert (0, []) == (kept[-1], framing.faults)
