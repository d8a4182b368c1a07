"""Event streams: the WHATWG rules, the two departures from them, the limits, and the same events per chunking."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import frames
from tests.support.frames import kinds, pieces, split
from tests.support.snapshots import moved
from tests.support.together import together
from wholecall import ToolCallParser
from wholecall.framing import Frame, SSEFraming
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable

    from tests.support.frames import Item

# The parser's way to read, and the standard's.
LENIENT = {"dispatch_at_eof": True, "raw_json": True, "misspelt": True}
STRICT = {"dispatch_at_eof": False, "raw_json": False, "misspelt": False}
CHUNKINGS = (1, 2, 3, 5, 7, 16, 64, 1460)


def read(chunks: Iterable[bytes], limits: Limits | None = None, **options: bool) -> list[Item]:
    """Return the frames and faults of a stream in their order."""
    return frames.read(SSEFraming(limits or Limits(), **(options or LENIENT)), chunks)


def read_all_ways(stream: bytes, limits: Limits | None = None, **options: bool) -> list[Item]:
    """Read a stream whole, at every 2-split and at many read sizes; all must agree."""
    return frames.read_all_ways(
        lambda: SSEFraming(limits or Limits(), **(options or LENIENT)), stream, CHUNKINGS
    )


def message(data: str, **fields: object) -> Frame:
    """Return a frame without an event name."""
    return Frame("message", data, **fields)  # type: ignore[arg-type]


@together(
    ("stream", "expected"),
    [
        pytest.param(b"data: a\n\ndata: b\n\n", [message("a"), message("b")], id="chat"),
        pytest.param(b"data: \n\ndata:\n\ndata\n\n", [message("")] * 3, id="empty data is data"),
        pytest.param(
            b"event: x\ndata: a\n\nevent: \ndata: b\n\n", [Frame("x", "a"), message("b")], id="named"
        ),
        pytest.param(b"event: x\n\nevent: y\ndata: a\n\n", [Frame("y", "a")], id="name without data"),
        pytest.param(b"event: x\nid\n\nevent: y\ndata: a\n\n", [Frame("y", "a")], id="no data line"),
        pytest.param(b"event: x\ndata: a\ndata: b\n\n", [Frame("x", "a\nb")], id="lines are joined"),
        pytest.param(b"data: abcdefgh\ndata: i\n\n", [message("abcdefgh\ni")], id="lines without a name"),
        pytest.param(b"data:a\ndata:  b\n\n", [message("a\n b")], id="one space is no value"),
        pytest.param(b"data: a\r\rdata: b\r\n\r\ndata: c\n\n", [message(x) for x in "abc"], id="terminators"),
        pytest.param(b"data: a\r\ndata: b\r\n\r\n", [message("a\nb")], id="CRLF inside"),
        pytest.param(b"data: a\r\n\r\n\r\ndata: b\n\r", [message("a"), message("b")], id="blank lines"),
        pytest.param(b"\xef\xbb\xbfdata: a\n\n", [message("a")], id="one BOM"),
        pytest.param(b"\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: b\n\n", [message("b")], id="two BOMs"),
        pytest.param(b": ping\n\ndata: a\n:x\n\n", [message("a")], id="comments"),
        pytest.param(b"datax: a\nDATA: b\n data: c\n\n", [], id="unknown fields"),
        pytest.param(b"id: 7\ndata: a\n\ndata: b\n\n", [message(x, id="7") for x in "ab"], id="ids stay"),
        pytest.param(b"id: 7\nid: 8\0\ndata: a\n\n", [message("a", id="7")], id="an id with NUL is ignored"),
        pytest.param(
            b"id: 7\n\nevent: x\ndata: a\n\nid\n\ndata: b\n\n",
            [Frame("x", "a", "7"), message("b")],
            id="an empty id resets",
        ),
        pytest.param(
            b"retry: 10\ndata: a\n\ndata: b\n\nretry: -1\nretry: 1_0\nretry: \xd9\xa1\ndata: c\n\n",
            [message("a", retry=10), message("b"), message("c")],
            id="retry is ASCII digits",
        ),
        pytest.param(b"retry: " + b"9" * 5000 + b"\ndata: a\n\n", [message("a")], id="no huge retry"),
        pytest.param(
            "data: a\u2028\x85\x0bb\n\n".encode(), [message("a\u2028\x85\x0bb")], id="no other ends"
        ),
        pytest.param(b"", [], id="nothing"),
    ],
)
def test_fields(stream: bytes, expected: list[Frame]) -> None:
    """Fields, terminators and blank lines follow WHATWG HTML 9.2.6, however the stream is cut."""
    assert expected == read_all_ways(stream, **STRICT)
    assert expected == read_all_ways(stream, **LENIENT)


@pytest.mark.parametrize(
    "bad",
    [b"\xff", b"\x80", b"\xc0\x80", b"\xe2\x80", b"\xf0\x9f\x98", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80"],
)
def test_invalid_utf8_is_replaced(bad: bytes) -> None:
    """Each frame with invalid UTF-8 says so and holds as many U+FFFD as the WHATWG decoder writes."""
    text = (b'{"a":"' + bad + b'"}').decode("utf-8", "replace")
    stream = b'data: x\n\nevent: e\ndata: {"a":"' + bad + b'"}\n\ndata: y\n\n'

    assert [message("x"), Frame("e", text, replaced=True), message("y")] == read_all_ways(stream)


def test_invalid_utf8_at_the_end_is_replaced() -> None:
    """A character that the end of the stream cut is replaced too."""
    assert [message("a\ufffd", replaced=True)] == read_all_ways(b"data: a\xe2\x82")


def test_multibyte_characters_survive_every_cut() -> None:
    """A character that reads cut in two is one character."""
    assert [message("é€😀"), Frame("ö", "ü")] == read_all_ways("data: é€😀\n\nevent: ö\ndata: ü\n\n".encode())


@pytest.mark.parametrize("stream", [b"data: a\n\ndata: b\n", b"data: a\n\ndata: b", b"data: a\n\ndata: b\r"])
def test_last_event_without_blank_line(stream: bytes) -> None:
    """The standard discards an event whose blank line is missing; `dispatch_at_eof` returns it."""
    assert [message("a")] == read_all_ways(stream, **STRICT)
    assert [message("a"), message("b")] == read_all_ways(stream, **LENIENT)


ERROR = b'{\n  "error": {\n\n    "message": "}{ \\" "\n  }\n}'


@together(
    ("stream", "expected"),
    [
        pytest.param(ERROR, [Frame("", ERROR.decode())], id="alone"),
        pytest.param(ERROR.replace(b"\n", b"\r\n"), [Frame("", ERROR.decode())], id="CRLF"),
        pytest.param(b'{"a":1}\n\n', [Frame("", '{"a":1}')], id="one line"),
        pytest.param(
            b"data: a\n\n" + ERROR + b"\ndata: b\n\n",
            [message("a"), Frame("", ERROR.decode()), message("b")],
            id="between events",
        ),
        pytest.param(b'data: a\n{"b":1}\n\n', [Frame("", '{"b":1}'), message("a")], id="inside an event"),
        pytest.param(b'data: a\n\n{"b":\n:c\n1}\n', [message("a"), Frame("", '{"b":\n1}')], id="comments"),
        pytest.param(b"{oops\n\ndata: a\n\n", [Frame("", "{oops\n"), message("a")], id="a field ends it"),
        pytest.param(b'{"a\ndatax\n\n', [Frame("", '{"a')], id="a line end in a string ends it"),
        pytest.param(b'{"a":[\n1', [Frame("", '{"a":[\n1')], id="unfinished"),
        pytest.param(b'{"a":"\xff"}\n', [Frame("", '{"a":"\ufffd"}', replaced=True)], id="invalid UTF-8"),
    ],
)
def test_bare_json(stream: bytes, expected: list[Frame]) -> None:
    """A JSON object among the lines is a frame without a name; the standard alone sees unknown fields."""
    assert expected == read_all_ways(stream)
    assert [frame for frame in expected if frame.event] == read_all_ways(stream + b"\n\n", **STRICT)


def test_the_standard_is_the_default() -> None:
    """By default a framing reads as the standard says: no last event without its end, no bare JSON, no faults."""
    stream = b'data: a\n\n{"b":1}\n\ndxta: {"b":1}\n\ndata: c\n'

    assert [message("a")] == frames.read(SSEFraming(), [stream])


@pytest.mark.parametrize("by_texts", [False, True])
@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_any_bytes_will_do(kind: type[bytes | bytearray | memoryview], by_texts: bool) -> None:
    """A read may be of any type that holds bytes."""
    reads = [kind(data) for data in (b"data: ", b"a\n\n", b"data: b\n\n")]

    assert [message("a"), message("b")] == frames.read(SSEFraming(), reads, by_texts=by_texts)


@pytest.mark.parametrize("by_texts", [False, True])
def test_a_line_end_belongs_to_the_one_right_before_it(by_texts: bool) -> None:
    """An LF is half of a line end only if it comes right after a CR, also where another read is between them."""
    reads = [b"data: a\r\n\r", b"data: b\n", b"\ndata: c\r\n\r\n"]

    assert [message("a"), message("b"), message("c")] == frames.read(SSEFraming(), reads, by_texts=by_texts)


@pytest.mark.parametrize("reads", [[], [b"data: a\n\n"]])
def test_nothing_comes_after_the_end(reads: list[bytes]) -> None:
    """Input after the end says nothing, also where nothing came before it."""
    framing = SSEFraming()
    frames.read(framing, reads)

    assert ([], []) == (framing.feed(b"data: b\n\n"), framing.read(b"data: b\n\n")[0])


@pytest.mark.parametrize("size", [1, 7, 100])
def test_a_parser_may_move_between_any_two_reads(size: int) -> None:
    """A framing's knowledge of the stream goes into snapshots, its limits and options come from the new parser."""
    stream = b": hello\r\n\r\nid: 7\r\nevent: x\r\ndata: {}\r\n\r\n" + ERROR + b"\n\ndata: [DONE]\n\n"
    stay, move = (moved(pieces(stream, size), ToolCallParser(), moves=moves) for moves in (False, True))

    assert stay == move


# Limits.


@pytest.mark.parametrize("line", [b"data: 78901234", b"data:678901234", b"event: 8901234", b"id: 5678901234"])
def test_line_limit(line: bytes) -> None:
    """A line may have `max_line_bytes`, its terminator not counted; one byte more ends the stream."""
    fits = Limits(max_line_bytes=len(line))
    stream = b"data: a\n\n" + line + b"\n\ndata: b\n\n"

    assert ["a", "b"] == [data for data in kinds(read_all_ways(stream, fits)) if len(data) == 1]
    faulty = read_all_ways(stream, Limits(max_line_bytes=len(line) - 1))
    assert ["a", "line_too_long"] == kinds(faulty)
    assert faulty[1].fatal
    assert line[:-1].decode() == faulty[1].raw


def test_line_limit_without_a_terminator() -> None:
    """The breach does not wait for the end of the line, and nothing comes after it."""
    framing = SSEFraming(Limits(max_line_bytes=16, max_raw_bytes=8))

    assert [] == framing.feed(b"data: 7890123456")
    assert [] == framing.faults
    assert [] == framing.feed(b"7")
    assert [("line_too_long", "data: 78")] == [(fault.kind, fault.raw) for fault in framing.faults]
    assert [] == framing.feed(b"\n\ndata: a\n\n") + framing.close()


def test_line_limit_at_the_end() -> None:
    """A field's bare name, unfinished, breaks a limit only as the last line of a stream."""
    assert ["line_too_long"] == kinds(read_all_ways(b"data", Limits(max_line_bytes=3)))
    assert [] == read_all_ways(b"data", Limits(max_line_bytes=3), **STRICT)


@pytest.mark.parametrize(
    "unit", [b"event: x\n\n", b"id\n\n", b"id: 1\nid: 2\n\n", b"retry: 1\nx\n\n", b"id: 1\0\n\n"]
)
def test_of_events_without_data_only_the_last_id_stays(unit: bytes) -> None:
    """Any number of them; a name, a delay and unknown fields end with their event."""
    kept = {b"id\n\n": "", b"id: 1\nid: 2\n\n": "2"}.get(unit, "0")

    assert [Frame("message", "a", kept)] == read_all_ways(b"id: 0\n\n" + unit * 5 + b"data: a\n\n")


def test_unread_lines_have_no_limit_and_no_memory() -> None:
    """Comments and unknown fields are not kept: neither limit nor memory knows of them."""
    limits = Limits(max_line_bytes=20, max_event_bytes=20)
    stream = b": " + b"x" * 50 + b"\nfoo: " + b"x" * 50 + b"\n{" + b"x" * 50 + b"\ndata: a\n\n"
    framing = SSEFraming()
    for chunk in [b": ", *[b"x" * 1000] * 100, b"\nfoo", *[b"x" * 1000] * 100]:
        assert [] == framing.feed(chunk)
        assert len(framing._partial) < 10

    assert [message("a")] == read_all_ways(stream, limits, **STRICT)


@pytest.mark.parametrize(
    "event", [b"data: 0123456789", b"data: 0123\ndata: 56789", b"data:0123\nevent: x\ndata\ndata:6789"]
)
def test_event_limit(event: bytes) -> None:
    """An event may hold `max_event_bytes` with its joints; a larger one is a hole, and the next is read."""
    size = len(read([event + b"\n\n"])[0].data)
    stream = b"data: a\n\n" + event + b"\ndata\n:\n\ndata: b\n\n"

    assert 3 == len(read_all_ways(stream, Limits(max_event_bytes=size + 1)))
    faulty = read_all_ways(stream, Limits(max_event_bytes=size))
    assert ["a", "event_too_large", "b"] == kinds(faulty)
    assert faulty[1].hole
    assert not faulty[1].fatal
    assert size == len(faulty[1].raw)


def test_event_limit_inside_a_line() -> None:
    """The rest of a line that broke the limit is not kept, nor are the lines after it."""
    limits = Limits(max_event_bytes=10, max_raw_bytes=4)
    items = read_all_ways(b"data: 0123456789x" + b"y" * 50 + b"\ndata: z\n\ndata: b\n\n", limits)

    assert ["event_too_large", "b"] == kinds(items)
    assert items[0].raw == "0123"


def test_event_limit_of_bare_json() -> None:
    """Bare JSON has the limit of an event, blank lines counted."""
    limits = Limits(max_event_bytes=10)

    assert ["event_too_large", "b"] == kinds(read_all_ways(b'{"a":\n"0123456"}\n\ndata: b\n\n', limits))
    assert ["event_too_large"] == kinds(read_all_ways(b"{" + b"\n" * 20, limits))


def test_the_nearer_limit_counts() -> None:
    """A line that breaks both limits breaks the one whose byte comes first."""
    stream = b"data: 0123456789\n\ndata: b\n\n"

    assert ["line_too_long"] == kinds(read_all_ways(stream, Limits(max_line_bytes=13, max_event_bytes=8)))
    both = Limits(max_line_bytes=15, max_event_bytes=8)
    assert ["event_too_large", "b"] == kinds(read_all_ways(stream, both))


def test_stream_limit() -> None:
    """A stream may have `max_stream_bytes`; events complete by then are returned."""
    stream = b'data: a\n\ndata: b\n{"c":1}\n'

    assert ["a", '{"c":1}', "b"] == kinds(read_all_ways(stream, Limits(max_stream_bytes=len(stream))))
    more = stream + b"\n"
    assert ["a", '{"c":1}', "stream_too_large"] == kinds(read_all_ways(more, Limits(max_stream_bytes=25)))
    assert ["a", '{"c":1}', "stream_too_large"] == kinds(
        read_all_ways(more + b"x", Limits(max_stream_bytes=len(stream)))
    )


def test_no_limits() -> None:
    """Without limits nothing is too long."""
    stream = b"data: " + b"x" * 100_000 + b"\n\n"

    assert [message("x" * 100_000)] == read(pieces(stream, 999), Limits.none())


# Laws.

LINES = [
    b"data: a", b"data:", b"data", b"event: x", b"event", b"id: 1", b"id", b"retry: 5", b": c", b"foo: x",
    b"", b"", b"", b'{"a":1}', b"{", b"}", b'{"', b"\xff", "data: é".encode(), b"data: \xe2\x82", b"dat",
]  # fmt: skip
STREAMS = st.lists(
    st.tuples(st.sampled_from(LINES), st.sampled_from([b"\n", b"\n", b"\r", b"\r\n", b""])), max_size=25
).map(lambda lines: b"".join(line + end for line, end in lines))
LIMITS = st.builds(
    Limits,
    max_line_bytes=st.sampled_from([None, 5, 6, 7, 9]),
    max_event_bytes=st.sampled_from([None, 0, 1, 2, 6]),
    max_stream_bytes=st.sampled_from([None, 10, 30]),
)


@given(STREAMS, LIMITS, st.booleans(), st.booleans(), st.lists(st.integers(0, 100)))
def test_split_invariance(
    stream: bytes, limits: Limits, dispatch_at_eof: bool, raw_json: bool, cuts: list[int]
) -> None:
    """Frames, faults and their order do not depend on how the bytes were cut into reads."""
    options = {"dispatch_at_eof": dispatch_at_eof, "raw_json": raw_json, "misspelt": raw_json}

    whole = read([stream], limits, **options)
    assert whole == read(split(stream, cuts), limits, **options)
    assert whole == read(pieces(stream, 1), limits, **options)


@given(st.binary(max_size=60))
def test_totality(stream: bytes) -> None:
    """No bytes make a framing raise."""
    assert read([stream]) == read(pieces(stream, 1))


def test_both_readers_agree() -> None:
    """Events that are taken in blocks are those that the line reader sees, also in a mixed stream."""
    block = b'data: {"a":1}\n\nevent: x\ndata: {}\n\ndata: b\n\nevent: y\ndata: c\n\n' * 5
    framing = SSEFraming()
    expected = [frame for line in block.splitlines(keepends=True) for frame in framing.feed(line)]

    assert expected == read_all_ways(block)
    assert 20 == len(expected)


def test_an_event_is_returned_with_its_last_byte() -> None:
    """Nothing waits for the next read: not the LF after a CR, not the next event."""
    for stream in (b"data: a\n\n", b"data: a\r\r", b"data: a\r\n\r", b'{"a":1}\n', b"event: x\ndata: a\n\n"):
        framing = SSEFraming(raw_json=True)
        assert [] == framing.feed(stream[:-1])
        assert 1 == len(framing.feed(stream[-1:]))


def test_only_new_bytes_are_searched() -> None:
    """The line of a large event is kept as it comes: no read looks at earlier bytes."""

    class Watched(SSEFraming):
        searched = 0

        def _read_lines(self, data: bytes, frames: list[Frame]) -> None:
            self.searched += len(data)
            super()._read_lines(data, frames)

    framing = Watched()
    stream = b"data: " + b"x" * 100_000 + b"\n\n"
    got = [frame for chunk in pieces(stream, 100) for frame in framing.feed(chunk)]

    assert [message("x" * 100_000)] == got
    assert framing.searched < 10_000  # bytes held at first, and the last read


@pytest.mark.parametrize("line", [b'dxta: {"a":1}', b'Data:{"a":1}', b'd\xffta: {"a":1}', b'x: ["a"]'])
def test_json_in_an_unknown_field_was_an_event(line: bytes) -> None:
    """No server writes JSON into an unread field: its name was damaged, and the event is lost with all its lines."""
    stream = b"data: x\n\n" + b"data: y\n" + line + b"\n\ndata: z\n\n"
    framing = SSEFraming(misspelt=True)
    items = framing.feed(stream)

    assert [message("x"), message("z")] == items
    assert [message("x"), message("y"), message("z")] == read_all_ways(stream, **STRICT)
    assert [("undecodable_frame", True, 1)] == [
        (fault.kind, fault.hole, at) for at, fault in framing.take_faults()
    ]
    read_all_ways(stream)


@pytest.mark.parametrize("line", [b": {}", b"foo: bar", b"<p>: {", b'"a": {', b"a_long_name: {"])
def test_other_unknown_lines_say_nothing(line: bytes) -> None:
    """Comments, words and unknown field names are ignored, as the standard requires."""
    assert [message("y")] == read_all_ways(b"data: y\n" + line + b"\n\n")
