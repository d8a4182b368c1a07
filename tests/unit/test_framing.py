"""Shared parts of all framings: the table, sniffing, input, positions of faults, and counting brackets."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.encode_bedrock import event
from tests.support.together import together
from wholecall.framing import FRAMINGS, Frame
from wholecall.framing.base import ByteFraming, LineFraming, decode
from wholecall.framing.nesting import Nesting
from wholecall.framing.opening import sniff
from wholecall.limits import Limits

NAMES = sorted(FRAMINGS)


def body_of(name: str, value: bytes = b"1") -> bytes:
    """Return a stream of one frame that holds the value."""
    if name == "eventstream":
        return event("x", value)
    return {"sse": b"data: %b\n\n", "jsonl": b"%b\n", "jsonarray": b"[%b]", "vercel": b"0:%b\n"}[name] % value


@together(
    ("first_bytes", "name"),
    [
        (b"", None),
        (b"\xef", None),
        (b"\xef\xbb", None),
        (b"\xef\xbb\xbf", None),
        (b" \r\n\t", None),
        (b"\xef\xbb\xbf\n", None),
        (b'{"a"', "jsonl"),
        (b"\xef\xbb\xbf {", "jsonl"),
        (b"\n[", None),
        (b"[ \n", None),
        (b"[ {", "jsonarray"),
        (b"[]", "jsonarray"),
        (b"[1", "jsonarray"),
        (b'[ "messages"', "jsonl"),
        (b'[["agent:1"]', "jsonl"),
        (b"data", "sse"),
        (b"d", None),
        (b"\n0:", None),
        (b'0:"', "vercel"),
        (b"f:{", "vercel"),
        (b"2:[", "vercel"),
        (b"e: x", "sse"),
        (b"l:{", "sse"),
        (b":", "sse"),
        (b"\xef\xbb\xbfevent", "sse"),
        (b"\xef\xbbx", "sse"),
        (b"<html>", "sse"),
        (b"\xff", "sse"),
        (b"\0", None),
        (b"\1\0\0\0\0\0\0\0\0\0\0", None),
        (b"\0{[data: and so on", "sse"),
        (event("x", b"1")[:11], None),
        (event("x", b"1")[:12], "eventstream"),
        (event("x", bytes(1 << 24)), "eventstream"),
    ],
)
def test_sniff(first_bytes: bytes, name: str | None) -> None:
    """The first byte that is neither BOM nor white space decides; until it came nothing is decided.

    Only where a binary stream may begin, the checksum of its first head does.
    """
    assert name == sniff(first_bytes)
    if name is not None:
        assert name == sniff(first_bytes + b"\n{[data:")


def test_names() -> None:
    """The table names the framings that `sniff` can name."""
    assert NAMES == ["eventstream", "jsonarray", "jsonl", "sse", "vercel"]


def test_sse_of_the_table_is_lenient() -> None:
    """Parsers read a last event without its blank line, and bare JSON among the lines."""
    framing = FRAMINGS["sse"](Limits())

    assert [Frame("", "{}")] == framing.feed(b"{}\ndata: a")
    assert [Frame("message", "a")] == framing.close()


@together("name", NAMES)
@together("kind", [bytes, bytearray, memoryview])
def test_bytes_like(name: str, kind: type) -> None:
    """Anything bytes-like is read, also a part of something larger, in one read or many."""
    body = body_of(name)
    framing = FRAMINGS[name](Limits())

    assert ["1"] == [frame.data for frame in framing.feed(kind(body))]
    frames = [frame for at in range(len(body)) for frame in framing.feed(kind(body[at : at + 1]))]
    assert ["1"] == [frame.data for frame in frames]
    assert ["1"] == [frame.data for frame in framing.feed(kind(body + b"xx")[:-2])]


@pytest.mark.parametrize("name", NAMES)
def test_close_is_idempotent_and_final(name: str) -> None:
    """A second close, and input after the first, yield nothing."""
    framing = FRAMINGS[name](Limits())
    framing.feed(body_of(name)[:-1])

    assert len(framing.close()) <= 1
    assert [] == framing.close()
    assert [] == framing.feed(body_of(name))
    assert [] == framing.close()


@pytest.mark.parametrize("name", NAMES)
def test_half_a_bom_is_no_bom(name: str) -> None:
    """Bytes that begin like a BOM and end there are read like any others."""
    framing = FRAMINGS[name](Limits())

    assert [] == framing.feed(b"\xef") + framing.feed(b"\xbb")
    assert ([True] if name in {"jsonl", "jsonarray", "vercel"} else []) == [
        frame.replaced for frame in framing.close()
    ]


@pytest.mark.parametrize("name", NAMES)
def test_a_healthy_stream_has_no_faults(name: str) -> None:
    """`faults` is falsy while nothing is wrong, so that asking costs nothing."""
    framing = FRAMINGS[name](Limits())
    framing.feed(body_of(name))

    assert not framing.faults
    assert [] == framing.take_faults()


@pytest.mark.parametrize("name", NAMES)
def test_positions_of_faults(name: str) -> None:
    """A fault counts the frames before it that its read returned, and is taken once."""
    framing = FRAMINGS[name](Limits(max_event_bytes=1))
    body, large = body_of(name), body_of(name, b'{"a":2}')
    framing.feed(body)
    framing.feed(body + large + body_of(name, b'{"a":3}'))

    assert [(1, "event_too_large"), (1, "event_too_large")] == [
        (position, fault.kind) for position, fault in framing.take_faults()
    ]
    assert [] == framing.faults
    framing.feed(large)
    assert [0] == [position for position, _ in framing.take_faults()]


@together("name", NAMES)
@together("size", [1, 100])
def test_stream_limit_is_fatal(name: str, size: int) -> None:
    """Beyond `max_stream_bytes` the framing is dead, and says so once."""
    body = body_of(name)
    framing = FRAMINGS[name](Limits(max_stream_bytes=2 * len(body)))
    stream = body * 4
    frames = [frame for at in range(0, len(stream), size) for frame in framing.feed(stream[at : at + size])]

    assert ["1", "1"] == [frame.data for frame in frames + framing.close()]
    assert [("stream_too_large", True)] == [(fault.kind, fault.fatal) for fault in framing.faults]


def test_a_framing_without_a_reader_is_no_framing() -> None:
    """The base classes read nothing by themselves, so that none of them can be made."""
    for base in (ByteFraming, LineFraming):
        with pytest.raises(TypeError, match="abstract"):
            base()  # type: ignore[abstract]


def test_decode() -> None:
    """Invalid UTF-8 is replaced as the standard requires, and flagged."""
    assert ("é", False) == decode("é".encode())
    assert ("\ufffd\ufffdA", True) == decode(bytearray(b"\xf0\x9f\xc0A"))


JSON = st.recursive(
    st.none() | st.text(st.sampled_from('"\\{}[]a\u00e9'), max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
).map(lambda value: json.dumps([value]).encode())


@given(JSON, st.integers(1, 5))
def test_nesting_finds_the_end(text: bytes, size: int) -> None:
    """The end of a value is where its outermost bracket closes, in pieces of any size."""
    nesting = Nesting()
    ends = [nesting.scan(text[at : at + size]) for at in range(0, len(text), size)]
    last = len(text) - (len(ends) - 1) * size

    assert [*[-1] * (len(ends) - 1), last] == ends
    assert len(text) == Nesting().scan(text + b"]}")
    assert len(text) + 1 == Nesting().scan(b"]" + text, 1)


def test_nesting_knows_where_it_is() -> None:
    """Depth and strings are known between pieces; an escape may be cut from what it escapes."""
    nesting = Nesting()

    assert nesting.scan(b'{"a\\') == -1
    assert (1, True) == (nesting.depth, nesting.in_string)
    assert nesting.scan(b"") == -1
    assert nesting.scan(b'"') == -1
    assert nesting.in_string
    assert nesting.scan(b'":[') == -1
    assert (2, False) == (nesting.depth, nesting.in_string)
    assert nesting.scan(b"]}") == 2
    assert nesting.scan(b"]") == 1
    assert nesting.depth == 0
