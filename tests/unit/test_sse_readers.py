"""The two readers of event streams: the input of each, that ordinary events take the fast one, and that both agree."""

from __future__ import annotations

import pytest

from tests.support import frames
from tests.support.frames import kinds, pieces
from tests.support.together import together
from wholecall.framing import Frame, SSEFraming
from wholecall.limits import Limits

CHUNKINGS = (1, 2, 3, 5, 7, 16, 64)


def read_all_ways(stream: bytes, limits: Limits | None = None) -> list[frames.Item]:
    """Read a stream whole, at every 2-split and at many read sizes; all must agree."""
    return frames.read_all_ways(
        lambda: SSEFraming(limits or Limits(), dispatch_at_eof=True, raw_json=True, misspelt=True),
        stream,
        CHUNKINGS,
    )


def message(data: str, **fields: object) -> Frame:
    """Return a frame without an event name."""
    return Frame("message", data, **fields)  # type: ignore[arg-type]


class Watched(SSEFraming):
    """A framing that counts the bytes which the line reader searches."""

    searched = 0

    def _read_lines(self, data: bytes, frames: list[Frame]) -> None:
        self.searched += len(data)
        super()._read_lines(data, frames)


ONE = b"data: a\n\n"
X, Y = b"event: x\n" + ONE, b"event: y\n" + ONE


@together("by_texts", [False, True])
@together(
    ("reads", "searched"),
    [
        pytest.param([ONE * 2], 0, id="without names"),
        pytest.param([b"event: x\n" + ONE + b"event: x\n" + ONE], 0, id="with one name"),
        pytest.param([b"event: x\n" + ONE + b"event: y\n" + ONE], 0, id="with names"),
        pytest.param([X], 0, id="one with a name"),
        pytest.param([X, X + Y], 0, id="with one name, then with names"),
        pytest.param([b"event: x\n" + ONE, ONE], 0, id="with a name, then without"),
        pytest.param(
            [b"event: x\n" + ONE + b"event: y\n" + ONE * 2], 18 + 18 + 9, id="with names and without"
        ),
        pytest.param([b"id: 1\n" + ONE + b"id: 2\n" + ONE, b"id: 3\n" + ONE], 0, id="with ids"),
        pytest.param([b"event: x\nid: 1\n" + ONE + b"event: y\nid: 2\n" + ONE], 0, id="with names and ids"),
        pytest.param([b"data:a\n\ndata:b\n\n", b"data:c\n\n"], 0, id="without a space"),
        pytest.param([b"data:a\n\n" + ONE], 8 + 9, id="without a space, then with one"),
        pytest.param([b"id:1\nevent:x\n:200\ndata:a\n\n" * 2], 0, id="with a comment in each"),
        pytest.param([b"id: \0\n" + ONE], 6 + 9, id="with an id that is none"),
        pytest.param([ONE * 2, b"x: 1\n" + ONE, ONE], 5 + 9, id="with an unknown field"),
        pytest.param([b"data: a\r\n\r\ndata: b\r\n\r\n"], 0, id="CRLF"),
        pytest.param([b"data: a\r\rdata: b\r\r"], 0, id="CR"),
        pytest.param([b"data: hel", b"lo\n\n"], 0, id="in two reads"),
        pytest.param([ONE + b"event: x", b"\n" + ONE], 0, id="with a name, in two reads"),
        pytest.param([b"data: " + b"x" * 4090, b"\n\n"], 0, id="as long as may be held"),
        pytest.param([b"data: " + b"x" * 4091, b"\n\n"], 4097 + 2, id="longer than may be held"),
        pytest.param([b": ping\n\n", ONE], 0, id="behind a comment"),
        pytest.param(
            [b": ping\n\n" + ONE + b": a\n: b\n\n:\n\n" + ONE * 2 + b": c\n\n"], 0, id="among comments"
        ),
        pytest.param(
            [X, b": ping\n\n" + X + b": ping\n\n" + Y, b": ping\n\n" * 2, Y], 0, id="with names, too"
        ),
        pytest.param([ONE + b": ping\n\n" + ONE], 0, id="around a comment"),
        pytest.param([b": ping\n\n" + ONE], 0, id="a comment before it"),
        pytest.param([ONE + b": ping\n" + ONE], 9 + 9, id="with a comment in one"),
        pytest.param([b"retry: 1\n", ONE * 3], 9 + 9, id="behind an event in two reads"),
        pytest.param([b"id: 1\ndata: a\n", b"\n" + ONE], 24, id="another form after it"),
        pytest.param([b"id: 1\ndata: a", b"\n\n" + ONE], 24, id="another form after it, in one read"),
        pytest.param([b"retry: 1\n", b"data: a", b"\n", b"\n", ONE], 9 + 7 + 1 + 1, id="behind single bytes"),
        pytest.param([b"retry: 1\n", b"\n", ONE], 9 + 1, id="behind an event without data"),
        pytest.param([b"retry: 1\ndata: a\n", b"\n" + ONE], 17 + 1, id="behind a blank line"),
        pytest.param(
            [b"retry: 1\ndata: a", b"\n\n" + ONE], 16 + 2, id="behind the end of a line and a blank one"
        ),
        pytest.param([b"retry: 1\n" + ONE + b"data: b", b"\n\n"], 9 + 9, id="begun behind an unusual one"),
    ],
)
def test_the_line_reader_reads_unusual_events_alone(
    reads: list[bytes], searched: int, by_texts: bool
) -> None:
    """Ordinary events are read in blocks, and so are those after an unusual one, from its blank line on."""
    framing = Watched()
    found = frames.read(framing, reads, by_texts=by_texts)

    assert searched == framing.searched
    assert b"".join(reads).count(b"data:") == len(found)


@together(
    ("reads", "like"),
    [
        pytest.param([ONE * 2], message(""), id="without names"),
        pytest.param([ONE + b"data: b"], message(""), id="and the beginning of one"),
        pytest.param([b"data:a\n\n" * 2], message(""), id="without a space"),
        pytest.param([b"id: 7\n" + ONE, ONE * 2], message("", id="7"), id="behind an id"),
        pytest.param([X], Frame("x", ""), id="one with a name"),
        pytest.param([X, Y], Frame("y", ""), id="one of another name"),
        pytest.param([X, X * 2], Frame("x", ""), id="with one name"),
        pytest.param([X * 2 + Y, Y * 2], Frame("y", ""), id="with the last name of several"),
        pytest.param([b"event:x\ndata:a\n\n", b"event:x\ndata:a\n\n" * 2], Frame("x", ""), id="and no space"),
        pytest.param([b"event: x\ndata: \n\n", X * 2], Frame("x", ""), id="behind one without data"),
        pytest.param(
            [X, b"event: x\ndata:  a\n\n" * 2], Frame("x", ""), id="with data that begins with a space"
        ),
    ],
)
def test_events_that_differ_in_their_data_alone_are_like_one_frame(reads: list[bytes], like: Frame) -> None:
    """No frame is made for each event of a read if they have the same name and id; nor does one keep their data."""
    framing = SSEFraming()

    assert like == [framing.read(data)[1] for data in reads][-1]


def test_events_that_cannot_pass_a_limit_are_read_in_blocks() -> None:
    """A block as large as the smallest limit holds no line and no event that could be larger."""
    at, beyond = (Watched(Limits(max_line_bytes=size, max_event_bytes=99)) for size in (16, 15))
    stream = b"data: a\n\ndata: b\n\n"

    assert [message("a"), message("b")] == at.feed(stream) == beyond.feed(stream)
    assert (0, 18) == (at.searched, beyond.searched)


@together(
    ("stream", "expected"),
    [
        pytest.param(
            b"event: x\ndata: a\ndata: b\n\nevent: y\n\n",
            [Frame("x", "a\nb")],
            id="one line of data too many, one too few",
        ),
        pytest.param(
            b"event: y\n\nevent: x\ndata: a\ndata: b\n\n",
            [Frame("x", "a\nb")],
            id="one line of data too few, one too many",
        ),
        pytest.param(b"event: y\n\nevent: x\ndata: a\n\n", [Frame("x", "a")], id="a name without data first"),
        pytest.param(
            b"event: x\nfoo\ndata: a\n\nevent: y\ndata: b\n\n",
            [Frame("x", "a"), Frame("y", "b")],
            id="a name, and an unknown field",
        ),
        pytest.param(
            b"retry: 10\ndata: a\n\ndata: b\n\n", [message("a", retry=10), message("b")], id="retry"
        ),
        pytest.param(b"retry: 10\n\ndata: a\n\n", [message("a")], id="retry without data"),
        pytest.param(
            b"retry: " + b"9" * 18 + b"\ndata: a\n\n",
            [message("a", retry=10**18 - 1)],
            id="a retry of 18 digits",
        ),
        pytest.param(b"retry: " + b"1" * 19 + b"\ndata: a\n\n", [message("a")], id="a retry of 19 digits"),
        pytest.param(
            b"id: 7\nevent: x\ndata: a\n\ndata: b\n\n",
            [Frame("x", "a", "7"), message("b", id="7")],
            id="a name behind an id",
        ),
        pytest.param(
            b"event: x\nid: 7\ndata: a\n\nevent: y\ndata: b\n\n",
            [Frame("x", "a", "7"), Frame("y", "b", "7")],
            id="an id behind a name",
        ),
        pytest.param(b"data\n\ndata: a\n\n", [message(""), message("a")], id="a field without a colon"),
        pytest.param(b"xdata: a\n\ndata: b\n\n", [message("b")], id="a longer field"),
        pytest.param(b"event: xdata: y\n\ndata: b\n\n", [message("b")], id="data within a name"),
        pytest.param(
            b"event: data: x\ndata: a\n\n", [Frame("data: x", "a")], id="a name that looks like data"
        ),
        pytest.param(b"data: a\nevent: x\n\n", [Frame("x", "a")], id="a name behind the data"),
        pytest.param(b"data: data: a\n\n", [message("data: a")], id="data that looks like data"),
        pytest.param(b"data: a data: \n\n", [message("a data: ")], id="data that ends like a field"),
        pytest.param(
            b"data:a\n\ndata:b\n\ndata: c\n\n",
            [message(x) for x in "abc"],
            id="without a space, then with one",
        ),
        pytest.param(
            b"event: x\ndata: a\n\ndata:b\n\n", [Frame("x", "a"), message("b")], id="no name, and no space"
        ),
        pytest.param(
            b"id: 1\ndata: a\n\nid: 2\ndata: b\n\nid: 3\ndata: c\n\ndata: d\n\n",
            [message("a", id="1"), message("b", id="2"), message("c", id="3"), message("d", id="3")],
            id="the last of several ids",
        ),
        pytest.param(b": c\ndata: a\ndata: b\n\n", [message("a\nb")], id="lines of data behind a comment"),
        pytest.param(
            b"data: event: x\n\ndata: b\n\n", [message("event: x"), message("b")], id="data like a name"
        ),
        pytest.param(b"\n\n\ndata: a\n\n", [message("a")], id="blank lines first"),
        pytest.param(b"\r\ndata: a\r\n\r\n", [message("a")], id="a line end first"),
        pytest.param(
            b"data: a\n\n{\n\ndata: b\n\n", [message("a"), Frame("", "{\n"), message("b")], id="a brace"
        ),
        pytest.param(
            b"{\ndatax}\n\ndata: b\n\n",
            [Frame("", "{\ndatax}"), message("b")],
            id="a field's name within an object",
        ),
        pytest.param(b"{\ndata", [Frame("", "{"), message("")], id="a field's bare name behind a brace"),
        pytest.param(
            b"data: a\n\n{\n}\ndata: b\n\n", [message("a"), Frame("", "{\n}"), message("b")], id="an object"
        ),
    ],
)
def test_both_readers_agree_on_unusual_events(stream: bytes, expected: list[Frame]) -> None:
    """An unusual event is the same however it is cut, and so is the ordinary one after it."""
    assert expected == read_all_ways(stream)


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        (b"data: 0123\ndata: 4567\ndata: b\n\ndata: c\n\n", ["event_too_large", "c"]),
        (b"{\n01234567\ndata: b\n\ndata: c\n\n", ["event_too_large", "c"]),
        (b"data: 0123\nid: 7\ndata: 4567\nid: 8\n\ndata: c\n\n", ["event_too_large", "c"]),
    ],
)
def test_the_rest_of_a_large_event_is_skipped(stream: bytes, expected: list[str]) -> None:
    """The rest of an event that grew too large is not a separate event, also where it looks like one."""
    assert expected == kinds(read_all_ways(stream, Limits(max_event_bytes=6)))


@pytest.mark.parametrize("rest", [b"data: z\n", b'{"a":1}\n', b"event: x\ndata: z\n"])
def test_the_rest_of_a_large_event_is_skipped_in_any_reads(rest: bytes) -> None:
    """Lines after the one that was too much belong to its event, also where each read is a whole line."""
    framing = SSEFraming(Limits(max_event_bytes=10), raw_json=True)
    reads = [b"data: 0123456789x\n", rest, b"\n", b"data: b\n\n"]

    assert ["event_too_large", "b"] == kinds(frames.read(framing, reads))


@pytest.mark.parametrize("field", [b"data: ", b"data:", b"event: ", b"id: ", b"retry: ", b"{"])
def test_a_limit_does_not_wait_for_the_end_of_the_line(field: bytes) -> None:
    """The byte that breaks the limit of lines ends the stream, in every field and in bare JSON."""
    framing = SSEFraming(Limits(max_line_bytes=16), raw_json=True)
    faults = []
    for byte in [*(field + b"7" * 20)[:17]]:
        framing.feed(bytes([byte]))
        faults.append(len(framing.faults))

    assert [0] * 16 + [1] == faults
    assert "line_too_long" == framing.faults[0].kind


@pytest.mark.parametrize(("field", "value"), [(b"data: ", 10), (b"data:", 10), (b"{", 9)])
def test_an_event_that_is_too_large_is_told_at_once(field: bytes, value: int) -> None:
    """The first byte of data beyond the limit decides; the space after the colon is not data."""
    framing = SSEFraming(Limits(max_event_bytes=10), raw_json=True)
    told = []
    for byte in field + b"7" * (value + 1):
        framing.feed(bytes([byte]))
        told.append([fault.kind for fault in framing.faults])

    assert [[]] * (len(field) + value) + [["event_too_large"]] == told


@together("limit", [0, 1, 2, 16])
@together("line", [b":77777", b"foo: 77", b"foo: {7", b"{7777"])
def test_what_nobody_reads_breaks_no_limit(line: bytes, limit: int) -> None:
    """Comments and unknown fields may be longer than the smallest limit of lines, however they are cut."""
    for size in (1, 8, 100):
        framing = SSEFraming(Limits(max_line_bytes=limit))
        assert [] == frames.read(framing, pieces(line * 9 + b"\n", size))


@pytest.mark.parametrize("size", [1, 100])
def test_the_rest_of_a_large_event_breaks_no_limit(size: int) -> None:
    """The skipped part of an event may be longer than the limit of lines."""
    framing = SSEFraming(Limits(max_line_bytes=1, max_event_bytes=0), raw_json=True)

    assert ["event_too_large"] == kinds(frames.read(framing, pieces(b"{\ndata: 7\n\n", size)))


def test_lines_of_an_event_that_was_too_large_are_not_kept() -> None:
    """The skipped part of an event takes no memory, however long its lines are."""
    framing = SSEFraming(Limits(max_event_bytes=100))
    framing.feed(b"data: " + b"7" * 101 + b"\n")
    kept = []
    for byte in b"data: " + b"7" * 90:
        framing.feed(bytes([byte]))
        kept.append(len(framing._partial))

    assert (5, 0) == (max(kept), kept[-1])


@pytest.mark.parametrize("line", [b": ", b"foo: ", b"x", b"dat: "])
def test_what_nobody_reads_is_not_kept(line: bytes) -> None:
    """Comments and unknown fields have no limit: a line that is known to be one, and to hold no JSON, is not kept."""
    framing = SSEFraming(Limits(max_line_bytes=16, max_event_bytes=16), misspelt=True)
    kept = []
    for byte in line + b"7" * 30:
        framing.feed(bytes([byte]))
        kept.append(len(framing._partial))

    assert max(kept) <= 8
    assert (0, []) == (kept[-1], framing.faults)


@pytest.mark.parametrize(("ends", "outcome"), [(5, "{\n\n\n\n"), (6, "event_too_large")])
def test_blank_lines_count_in_bare_json(ends: int, outcome: str) -> None:
    """Bare JSON may be as large as an event, its blank lines counted."""
    stream = b"{" + b"\n" * ends

    assert [outcome] == kinds(read_all_ways(stream, Limits(max_event_bytes=5)))


def test_bare_json_begins_anew() -> None:
    """Each bare object has its own brackets: one that was never closed says nothing of the next."""
    stream = b'{"a":[\ndata: x\n\n{"b":1}\n{"c":\n2}\n'
    expected = [Frame("", '{"a":['), message("x"), Frame("", '{"b":1}'), Frame("", '{"c":\n2}')]

    assert expected == read_all_ways(stream)
