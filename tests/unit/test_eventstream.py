"""Binary event streams: both checksums match, or nothing after them is believed."""

from __future__ import annotations

import json
import struct
import zlib
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import frames
from tests.support.encode_bedrock import error, event, exception, header, message, parts
from tests.support.frames import Item, kinds, split
from wholecall.deltas import WireFault
from wholecall.framing import EventStreamFraming, Frame
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(chunks: Iterable[bytes], limits: Limits | None = None) -> list[str]:
    """Return the frames' data and the faults' kinds of a stream in their order."""
    return kinds(frames.read(EventStreamFraming(limits or Limits()), chunks))


def read_all_ways(stream: bytes, limits: Limits | None = None) -> list[Item]:
    """Read a stream whole, at every 2-split and byte by byte; all must agree."""
    return frames.read_all_ways(lambda: EventStreamFraming(limits or Limits()), stream)


def test_events() -> None:
    """A frame is an event's type and its payload, whatever the payload."""
    stream = event("ping", b"") + event("delta", '{"a":"é\n"}'.encode()) + event("end", b"\x00\xff")

    assert [
        Frame("ping", ""),
        Frame("delta", '{"a":"é\n"}'),
        Frame("end", "\x00\ufffd", replaced=True),
    ] == read_all_ways(stream)


def test_messages_of_other_kinds() -> None:
    """Without a message type a message is an event, without an event type it has no name."""
    headers = header(":event-type", "x")

    assert [Frame("x", "1"), Frame("", "2")] == read_all_ways(message(headers, b"1") + message(b"", b"2"))


def test_headers_of_every_type() -> None:
    """Headers that are not strings are skipped, whatever their type."""
    sizes = {0: 0, 1: 0, 2: 1, 3: 2, 4: 4, 5: 8, 8: 8, 9: 16}
    before, behind = (
        b"".join(header(f"{name}{kind}", b"\x07" * size, kind) for kind, size in sizes.items())
        + header(f"{name}bytes", b"\x00\x03:::", 6)
        for name in "hi"
    )
    stream = message(before + header(":event-type", "x") + behind, b"1")

    assert [Frame("x", "1")] == read_all_ways(stream)


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(b"\x05", id="no name"),
        pytest.param(b"\x01a", id="no type"),
        pytest.param(header("a", b"", 10), id="unknown type"),
        pytest.param(header("a", b"\x00", 5), id="short number"),
        pytest.param(header("a", b"\x00", 7), id="short length"),
        pytest.param(header("a", b"\x00\x02b", 7), id="short string"),
        pytest.param(header(":event-type", "x") + header(":event-type", "y"), id="a header twice"),
    ],
)
def test_headers_that_cannot_be_read(headers: bytes) -> None:
    """The message is lost; its checksum matches, so the stream continues; argument text may have been in it."""
    detail = "the headers of a message cannot be read"
    fault = WireFault("undecodable_frame", detail, raw='{"a":1}', hole=True)

    assert [fault, Frame("x", "2")] == read_all_ways(message(headers, b'{"a":1}') + event("x", b"2"))


def told(stream: bytes) -> tuple[str, Any]:
    """Return name and object of the only frame of a stream."""
    (frame,) = read_all_ways(stream)
    assert isinstance(frame, Frame)
    return frame.event, json.loads(frame.data)


@pytest.mark.parametrize(
    ("payload", "members"),
    [
        (b'{"message":"slow down","code":3}', {"message": "slow down"}),
        (
            b'{"originalStatusCode":424,"n":1e999}',
            {"message": "", "originalStatusCode": 424, "n": float("inf")},
        ),
        (b"", {"message": ""}),
        (b"busy \xff", {"message": "busy \ufffd"}),
        (b"[1]", {"message": "[1]"}),
    ],
)
def test_an_exception_is_an_error_with_its_code(payload: bytes, members: dict[str, Any]) -> None:
    """The payload's content is kept; the type in the header is the code."""
    code = "throttlingException"

    assert ("error", {"code": code} | members) == told(exception(code, payload))


def test_an_error_tells_itself_in_its_headers() -> None:
    """An error that the service does not model has a code and a message, and no payload."""
    assert ("error", {"code": "InternalError", "message": "oh"}) == told(error("InternalError", "oh"))


@pytest.mark.sampled(9)
@pytest.mark.parametrize("place", range(len(event("x", b'{"a":1}'))))
def test_a_changed_byte_ends_the_stream(place: int) -> None:
    """Whatever byte of a message was changed, neither it nor any later message makes a frame."""
    good = event("x", b'{"a":1}')
    bad = bytearray(good)
    bad[place] ^= 0x20
    first, fault = read_all_ways(good + bytes(bad) + good)

    assert Frame("x", '{"a":1}') == first
    assert isinstance(fault, WireFault)
    assert ("bad_crc", True) == (fault.kind, fault.fatal)


def prelude(total: int, headers: int) -> bytes:
    """Return the head of a message with a right checksum."""
    lengths = struct.pack(">II", total, headers)
    return lengths + struct.pack(">I", zlib.crc32(lengths))


@pytest.mark.parametrize(
    ("total", "headers"), [(0, 0), (15, 0), (20, 5), (16, 2**32 - 1), (2**18, 128 * 1024 + 1)]
)
def test_impossible_lengths_end_the_stream(total: int, headers: int) -> None:
    """Lengths that no message can have are not believed, though their checksum is right."""
    stream = event("x", b"1") + prelude(total, headers) + event("x", b"2")

    assert ["1", "bad_crc"] == kinds(read_all_ways(stream))


@pytest.mark.parametrize("kept", [1, 11, 12, 40, -1])
def test_a_stream_that_ends_inside_a_message(kept: int) -> None:
    """The rest is reported and not fatal; it is not a hole, as open calls then end anyway."""
    rest = event("x", b'{"text":"abc"}')[:kept]
    detail = "the stream ends inside a message"
    fault = WireFault("undecodable_frame", detail, raw=rest.decode("utf-8", "replace"))

    assert [Frame("x", "1"), fault] == read_all_ways(event("x", b"1") + rest)


def test_event_limit() -> None:
    """A payload beyond `max_event_bytes` is skipped, and is a hole; headers do not count."""
    stream = event("a", b"123") + event("b" * 50, b"12") + event("c", b"1234") + event("d", b"1")
    detail = "one event is larger than 2 bytes and was skipped"
    fault = WireFault("event_too_large", detail, hole=True)

    assert ["123", "12", "event_too_large", "1"] == kinds(read_all_ways(stream, Limits(max_event_bytes=3)))
    assert [fault, Frame("b" * 50, "12"), fault, Frame("d", "1")] == read_all_ways(
        stream, Limits(max_event_bytes=2)
    )


def test_a_message_that_is_skipped_is_not_kept() -> None:
    """A message of 4 GB takes no memory, and the stream may end inside it."""
    framing = EventStreamFraming()
    framing.feed(prelude(2**32 - 1, 0))
    for _ in range(8):
        framing.feed(bytes(1 << 20))

    assert 0 == len(framing._unread)
    assert [] == framing.close()
    assert ["event_too_large"] == [fault.kind for fault in framing.faults]


def test_stream_limit() -> None:
    """Messages that are whole within `max_stream_bytes` are returned, the cut one is not."""
    stream = event("x", b"1") + event("x", b"2")

    assert ["1", "2"] == kinds(read_all_ways(stream, Limits(max_stream_bytes=len(stream))))
    assert ["1", "stream_too_large"] == kinds(read_all_ways(stream, Limits(max_stream_bytes=len(stream) - 1)))


def test_no_byte_order_mark_is_stripped() -> None:
    """Three bytes that text may begin with are binary data like any others."""
    for limits in (Limits(), Limits(max_stream_bytes=1000)):
        assert ["bad_crc"] == read([b"\xef\xbb\xbf" + event("x", b"1")], limits)


def test_nothing_is_read_twice() -> None:
    """A message that comes byte by byte is examined only at its beginning, with its lengths, and when it is whole."""
    framing = EventStreamFraming()
    looks: list[int] = []
    whole = framing._read_messages
    framing._read_messages = lambda data, found: looks.append(len(data)) or whole(data, found)  # type: ignore[method-assign,func-returns-value]
    stream = event("x", b"1" * 5000)
    found = [frame for at in range(len(stream)) for frame in framing.feed(stream[at : at + 1])]

    assert [Frame("x", "1" * 5000)] == found
    assert [1, 12, len(stream)] == looks
    assert 0 == len(framing._unread)


MESSAGES = [
    event("x", b"1"),
    event("x", b"12345678"),
    exception("e", b""),
    message(b"\x05", b""),
    prelude(15, 0),
    event("x", b"1")[:-1] + b"?",
    b"\x00",
]


@given(
    st.lists(st.sampled_from(MESSAGES), max_size=8),
    st.builds(
        Limits,
        max_event_bytes=st.sampled_from([None, 0, 5]),
        max_stream_bytes=st.sampled_from([None, 100, 150]),
    ),
    st.lists(st.integers(0, 400)),
)
def test_split_invariance(messages: list[bytes], limits: Limits, cuts: list[int]) -> None:
    """Frames, faults and their order do not depend on how the bytes were cut into reads."""
    stream = b"".join(messages)

    assert kinds(read_all_ways(stream, limits)) == read(split(stream, cuts), limits)


def test_parts_are_one_stream() -> None:
    """The payloads of parts are joined: what begins in one ends in another, and the end of all ends the last event."""
    framing = EventStreamFraming()
    found = framing.feed(parts(b"event: a\ndata: 1\n\ndata: 2", 6)) + framing.close()

    assert [Frame("a", "1"), Frame("message", "2")] == found


def test_an_exception_after_parts_keeps_its_place() -> None:
    """A failure between two parts is a frame between theirs."""
    framing = EventStreamFraming()
    data = (
        parts(b"data: 1\n\n", 99)
        + exception("ModelStreamError", {"Message": "x"})
        + parts(b"data: 2\n\n", 99)
    )

    assert ["message", "error", "message"] == [frame.event for frame in framing.feed(data)]


def test_faults_in_parts_keep_their_place() -> None:
    """A line beyond the limit of a line ends the stream, after the frames before it."""
    framing = EventStreamFraming(Limits(max_line_bytes=32))
    frames = framing.feed(parts(b"data: 1\n\n", 99) + parts(b"data: " + b"x" * 40 + b"\n\n", 16))

    assert [Frame("message", "1")] == frames
    assert [(1, "line_too_long", True)] == [(at, it.kind, it.fatal) for at, it in framing.take_faults()]
    assert [] == framing.feed(parts(b"data: 3\n\n", 99))


def test_headers_are_remembered_by_their_bytes_and_in_bounds() -> None:
    """Headers that were seen name the same event again, and headers without end take no memory without end."""
    framing = EventStreamFraming()
    names = [f"event{n}" for n in range(100)]

    for _ in range(2):
        assert names == [frame.event for name in names for frame in framing.feed(event(name, b"1"))]
    assert 32 == len(framing._known)
    long = EventStreamFraming()
    assert ["x" * 2000] == [frame.event for frame in long.feed(event("x" * 2000, b"1"))]
    assert {} == long._known


def test_remembered_headers_name_no_exceptions() -> None:
    """An exception is an error each time its headers come."""
    framing = EventStreamFraming()

    assert ["error", "error"] == [
        frame.event for _ in range(2) for frame in framing.feed(exception("e", b"{}"))
    ]
