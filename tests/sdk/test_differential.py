"""Against readers that come with SDKs: orjson, jiter, httpx-sse, and botocore's parser of binary event streams."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any
from zlib import crc32

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.differences import DAMAGED, SSE_STREAMS, STREAMS, TEXTS, cells, disagreement, of_peer
from tests.support.encode_bedrock import event, header, message
from tests.support.frames import split
from tests.support.references import SSEvent, sse_events
from tests.support.surfaces import sdk
from wholecall.framing import EventStreamFraming

pytestmark = pytest.mark.sdk


def _octets(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


READERS: dict[str, Callable[[str], Any]] = {
    "orjson": lambda text: sdk("orjson").loads(_octets(text)),
    "jiter": lambda text: sdk("jiter").from_json(_octets(text)),
}


@pytest.mark.parametrize("reader", READERS)
@pytest.mark.parametrize("name", TEXTS)
def test_listed_texts(name: str, reader: str) -> None:
    """Law 11: docs/differences.md states the other reader's result for each text."""
    (expected,) = cells("Argument texts", [reader])[name]

    assert expected == of_peer(READERS[reader], TEXTS[name])


@pytest.mark.parametrize("reader", READERS)
@given(text=DAMAGED)
def test_nothing_else_differs(reader: str, text: str) -> None:
    """Law 11: over JSON with some characters changed, readers differ from us only as the document says."""
    assert disagreement(READERS[reader], text, rounds=reader == "orjson") is None


# Event streams.


def httpx_events(stream: bytes) -> list[SSEvent]:
    """Return the events that httpx-sse makes of a stream."""
    headers = {"content-type": "text/event-stream; charset=utf-8"}
    response = sdk("httpx").Response(200, headers=headers, content=stream)
    found = sdk("httpx_sse").EventSource(response).iter_sse()
    return [SSEvent(one.event, one.data, one.id, one.retry) for one in found]


@pytest.mark.parametrize("name", SSE_STREAMS)
def test_listed_streams(name: str) -> None:
    """Law 30: the document's counts of httpx-sse's events are right."""
    (expected,) = cells("Event streams", ["httpx-sse"])[name]

    assert int(expected) == len(httpx_events(SSE_STREAMS[name]))


@pytest.mark.parametrize(
    ("name", "retry"), [("`retry: 1_0`", 10), ("`retry: -5`", -5), ("a `retry` of 30 digits", int("9" * 30))]
)
def test_times_to_retry(name: str, retry: int) -> None:
    """Law 30: httpx-sse accepts the input that the document names."""
    assert [retry] == [one.retry for one in httpx_events(SSE_STREAMS[name])]


@given(STREAMS)
def test_httpx_sse_is_the_standard_without_three_rules(stream: bytes) -> None:
    """Law 30: no other difference: without the rules that it does not follow, the standard gives its events."""
    assert sse_events(stream, mark=False, dataless=True, digits=False) == httpx_events(stream)


# Binary event streams.

_HEAD = header(":event-type", "x")


def _prelude(total: int, headers: int) -> bytes:
    lengths = struct.pack(">II", total, headers)
    return lengths + struct.pack(">I", crc32(lengths))


MESSAGES: dict[str, bytes] = {
    "whole": event("x", b"1"),
    "a header twice": message(_HEAD + _HEAD, b"1"),
    "a header of unknown type": message(_HEAD + header("a", b"\0", 77), b"1"),
    "a value longer than the headers": message(_HEAD + b"\x01a\x07\x00\x09xy", b"1"),
    "a header's name that is not UTF-8": message(_HEAD + b"\x01\xff\x00", b"1"),
    "a wrong checksum": event("x", b"1")[:-1] + b"?",
    "lengths that cannot be": _prelude(2**18, 128 * 1024 + 1),
    "a payload of 25 MiB": message(_HEAD, b" " * (25 << 20)),
    "cut inside a message": event("x", b"1")[:-3],
}


def _ours(chunks: list[bytes]) -> tuple[list[tuple[str, str]], list[str]]:
    framing = EventStreamFraming()
    frames = [frame for chunk in chunks for frame in framing.feed(chunk)] + framing.close()
    return [(frame.event, frame.data) for frame in frames], [fault.kind for fault in framing.faults]


def _botocore(data: bytes) -> tuple[list[tuple[str, str]], str]:
    """Return names and payloads of the messages that botocore reads, and how that ended."""
    buffer = sdk("botocore.eventstream").EventStreamBuffer()
    buffer.add_data(data)
    found = []
    try:
        found.extend(
            (told.headers.get(":event-type", ""), told.payload.decode("utf-8", "replace")) for told in buffer
        )
    except (sdk("botocore.eventstream").ParserError, KeyError, UnicodeDecodeError, struct.error):
        return found, "raises"
    return found, "reads" if found else "silent"


@pytest.mark.parametrize("name", MESSAGES)
def test_listed_messages(name: str) -> None:
    """The document states the fate of a message in both readers."""
    frames, faults = _ours([MESSAGES[name]])
    found = ["frame" if frames else faults[0], _botocore(MESSAGES[name])[1]]

    assert cells("Binary event streams", ["wholecall", "botocore"])[name] == found


def test_the_document_lists_what_is_tried() -> None:
    """Exactly the messages of the document are tried."""
    assert [*MESSAGES] == [*cells("Binary event streams", [])]


_headers = st.dictionaries(
    st.sampled_from([":event-type", "a", "b"]), st.sampled_from(["x", "", "é", "y" * 40]), max_size=3
)
_messages = st.lists(st.tuples(_headers, st.binary(max_size=40)), max_size=5)


def _joined(headers: dict[str, str]) -> bytes:
    return b"".join(header(name, value) for name, value in headers.items())


@given(_messages, st.lists(st.integers(0, 600)), st.integers(0, 600), st.booleans())
def test_messages_are_those_of_botocore(told: list[Any], cuts: list[int], place: int, damaged: bool) -> None:
    """Whole messages give the same names and payloads, in any chunks, and so do those before a changed byte."""
    stream = bytearray(b"".join(message(_joined(some), data) for some, data in told))
    if damaged and stream:
        stream[place % len(stream)] ^= 0x20
    expected, _ = _botocore(bytes(stream))
    found, _ = _ours(split(bytes(stream), cuts))

    assert expected == found
