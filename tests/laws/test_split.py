"""Split and framing invariance: how the bytes come in changes no event."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import encode, quirky
from tests.support.model import Fragment
from tests.support.together import together
from tests.support.turns import (
    DONE,
    Plan,
    chunk,
    frame,
    log,
    pairs,
    parse,
    partitions,
    plans,
    split,
    stream,
)

_CALLS = (
    encode.Call(id="call_1", name="get_tide", arguments='{"port":"Brést","n":[1,{"x":"}\\""}]}'),
    encode.Call(id="call_2", name="now", arguments="{}"),
)
_TURN = encode.Turn(calls=_CALLS)
_PIECES = encode.every(9)

SMALL = {
    "chat": encode.render_chat(_TURN, _PIECES),
    "responses": encode.render_responses(encode.Turn(calls=_CALLS[:1]), encode.every(17)),
    "anthropic": encode.render_anthropic(_TURN, _PIECES),
    "cut": b"".join(stream([Fragment(0, "c", "f", '{"a": "жар')], finish=None, done=False)),
    "no blank line at the end": b"".join(stream([Fragment(0, "c", "f", '{"a":1}')])).rstrip(b"\n"),
    "carriage returns": b"".join(stream([Fragment(0, "c", "f", '{"a":"\r\n"}')])).replace(b"\n", b"\r"),
    "fault in the middle": b"".join(
        [
            frame(chunk(Fragment(0, "c", "f", '{"a":'))),
            b'data: {"choices":[{"del\n\n',
            frame(chunk(finish="stop")),
            DONE,
        ]
    ),
    "error": frame(chunk(Fragment(0, "c", "f", "{}"))) + b'data: {"error":{"message":"no","code":502}}\n\n',
    "comments and names": b": hi\n\nevent: message\nid: 7\nretry: 5\ndata\n\n"
    + frame(chunk(finish="stop"))
    + DONE,
    "byte order mark": b"\xef\xbb\xbf" + b"".join(stream([Fragment(0, "c", "f", "{}")])),
    "invalid utf-8": b'data: {"choices":[{"index":0,"delta":{"content":"\xff\xc3"}}]}\n\n' + DONE,
    "json body": b'{"error": {"message": "slow down", "code": 429}}',
    "page": b"<html><title>502</title></html>\n",
    "lines": b'{"model":"m","message":{"role":"assistant","content":"x"},"done":false}\n{"done":true}\n',
    "nothing": b"",
}


@pytest.mark.sampled(23)
@pytest.mark.parametrize("name", SMALL)
def test_every_two_way_split(name: str) -> None:
    """Law 2: a small stream gives the same full event list at each two-way split."""
    data = SMALL[name]
    whole = log(parse([data], "auto"))

    for place in range(len(data) + 1):
        assert whole == log(parse([data[:place], data[place:]], "auto")), place


@together("name", SMALL)
@together("size", [1, 2, 3, 7, 64])
def test_every_chunk_size(name: str, size: int) -> None:
    """Law 2: a small stream gives the same full event list at each chunk size, empty chunks in between."""
    data = SMALL[name]
    chunks = [part for n in range(0, len(data), size) for part in (data[n : n + size], b"")]

    assert log(parse([data], "auto")) == log(parse(chunks, "auto"))


@given(plans(), st.data())
def test_partitions_of_honest_streams(plan: Plan, data: Any) -> None:
    """Law 1: any partition of the bytes gives the same full event list."""
    octets = b"".join(stream(plan.fragments()))
    cuts = data.draw(partitions(len(octets)))

    assert log(parse([octets])) == log(parse(split(octets, cuts)))


@given(st.integers(0, 10**6), st.data())
def test_partitions_of_quirky_streams(number: int, data: Any) -> None:
    """Law 1: any partition of a quirky stream gives the same full event list, live or not."""
    octets = quirky.make_numbered(7, number).bytes(data.draw(st.sampled_from(("\n", "\r", "\r\n"))))
    cuts, live = data.draw(partitions(len(octets))), data.draw(st.booleans())

    assert log(parse([octets], "auto", live=live)) == log(parse(split(octets, cuts), "auto", live=live))


@given(st.sampled_from(sorted(SMALL)), st.data())
def test_partitions_of_damaged_streams(name: str, data: Any) -> None:
    """Law 1: it also holds for bytes that no server meant to send."""
    octets = bytearray(SMALL[name])
    token = st.sampled_from(
        (b"", b"\n", b"\r", b"\n\n", b"data: ", b"\xff", b"\xef\xbb\xbf", b'"', b"{", b"}", b":")
    )
    for place in data.draw(st.lists(st.integers(0, len(octets)), max_size=4)):
        octets[place : place + data.draw(st.integers(0, 3))] = data.draw(token)
    cuts = data.draw(partitions(len(octets)))

    assert log(parse([bytes(octets)], "auto")) == log(parse(split(bytes(octets), cuts), "auto"))


@given(plans(), st.sampled_from((b"\r", b"\r\n")))
def test_line_endings(plan: Plan, newline: bytes) -> None:
    """Law 19: LF, CR and CRLF give the same events."""
    frames = stream(plan.fragments())

    assert log(parse(frames)) == log(parse([part.replace(b"\n", newline) for part in frames]))


@given(plans(), st.data())
def test_mixed_line_endings(plan: Plan, data: Any) -> None:
    """Law 19: each line may end as it likes."""
    frames = stream(plan.fragments())
    newlines = st.sampled_from((b"\n\n", b"\r\r", b"\r\n\r\n", b"\r\n\n", b"\r\n\r", b"\n\r\n"))
    mixed = [part[:-2] + data.draw(newlines) for part in frames]

    assert log(parse(frames)) == log(parse(mixed))


@given(plans())
def test_doors_agree(plan: Plan) -> None:
    """Law 3: the decoded payloads give the same calls as the bytes."""
    from wholecall import ToolCallParser  # noqa: PLC0415

    parser = ToolCallParser("chat-completions")
    payloads = [chunk(fragment) for fragment in plan.fragments()] + [chunk(finish="tool_calls")]
    found = [event for payload in payloads for event in parser.feed_event(payload)]

    assert pairs(parse(stream(plan.fragments()))) == pairs([*found, *parser.close()])
