"""JSON arrays: each element is a frame, with its own text, as soon as it is whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import frames
from tests.support.frames import kinds, split
from tests.support.together import together
from wholecall.framing import Frame, JSONArrayFraming
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(chunks: Iterable[bytes], limits: Limits | None = None) -> list[str]:
    """Return the frames' data and the faults' kinds of a stream in their order."""
    return kinds(frames.read(JSONArrayFraming(limits or Limits()), chunks))


def read_all_ways(stream: bytes, limits: Limits | None = None) -> list[str]:
    """Read a stream whole, at every 2-split and byte by byte; all must agree."""
    return kinds(frames.read_all_ways(lambda: JSONArrayFraming(limits or Limits()), stream))


@together(
    ("stream", "expected"),
    [
        pytest.param('[{"a":1},{"b":2}]', ['{"a":1}', '{"b":2}'], id="compact"),
        pytest.param(
            '[{\n "a": 1.0\n}\n,\r\n{"b": 1e2}\n]\n', ['{\n "a": 1.0\n}', '{"b": 1e2}'], id="Gemini"
        ),
        pytest.param('\ufeff [{"a":"]}\\"é\\\\"}, {}]', ['{"a":"]}\\"é\\\\"}', "{}"], id="strings, BOM"),
        pytest.param('[{"a":[[{}]]},[1,[2]]]', ['{"a":[[{}]]}', "[1,[2]]"], id="nested"),
        pytest.param('[1 , "a",null,{}]', ["1", '"a"', "null", "{}"], id="other elements"),
        pytest.param("[oops{}oops]", ["oops", "{}", "oops"], id="no JSON"),
        pytest.param('[]\n{"error":1}[{}]', ['{"error":1}', "{}"], id="what follows the array"),
        pytest.param('{"error":1}', ['{"error":1}'], id="no array"),
        pytest.param('[{"a":1},{"b":"x]', ['{"a":1}', '{"b":"x]'], id="unfinished"),
        pytest.param("[[1],[2]][[3]]", ["[1]", "[2]", "[3]"], id="arrays"),
        pytest.param("", [], id="nothing"),
        pytest.param("[ , ]", [], id="no elements"),
    ],
)
def test_elements(stream: str, expected: list[str]) -> None:
    """A frame holds the text of one element, byte for byte, wherever the reads end."""
    assert expected == read_all_ways(stream.encode())


def test_an_element_is_returned_with_its_last_bracket() -> None:
    """Nothing waits for the comma, which often comes with the next element."""
    framing = JSONArrayFraming()

    assert [] == framing.feed(b'[{"a":{"b":1}')
    assert [Frame("", '{"a":{"b":1}}')] == framing.feed(b"}")
    assert [] == framing.feed(b",\n")


def test_invalid_utf8_is_replaced() -> None:
    """An element with invalid UTF-8 is flagged."""
    assert [Frame("", '{"a":"\ufffd"}', replaced=True)] == JSONArrayFraming().feed(b'[{"a":"\xe2\x82"}')


def test_event_limit() -> None:
    """An element may have `max_event_bytes`; a larger one is a hole, and the next element is read."""
    stream = b'[{"a":1},{"b":"01]"},{"c":3}]'

    assert ['{"a":1}', '{"b":"01]"}', '{"c":3}'] == read_all_ways(stream, Limits(max_event_bytes=11))
    assert ['{"a":1}', "event_too_large", '{"c":3}'] == read_all_ways(stream, Limits(max_event_bytes=10))


def test_fault_is_a_hole() -> None:
    """Skipped bytes may have held argument text; their beginning is kept."""
    framing = JSONArrayFraming(Limits(max_event_bytes=10, max_raw_bytes=8))
    framing.feed(b'[{"a":"0123456789')
    (fault,) = framing.faults

    assert fault.hole
    assert not fault.fatal
    assert fault.raw == '{"a":"01'


def test_stream_limit() -> None:
    """Elements that are whole within `max_stream_bytes` are returned."""
    assert ["{}", "stream_too_large"] == read_all_ways(b"[{},{}]", Limits(max_stream_bytes=4))


@given(
    st.text(st.sampled_from('[]{},"\\a1 '), max_size=40),
    st.builds(
        Limits,
        max_event_bytes=st.sampled_from([None, 0, 3]),
        max_stream_bytes=st.sampled_from([None, 7]),
    ),
    st.lists(st.integers(0, 60)),
)
def test_split_invariance(text: str, limits: Limits, cuts: list[int]) -> None:
    """Elements, faults and their order do not depend on how the bytes were cut into reads."""
    stream = text.encode()

    assert read_all_ways(stream, limits) == read(split(stream, cuts), limits)


class Counted(JSONArrayFraming):
    """Counts the brackets of every element."""

    def _take_object(self, data: bytes, position: int, frames: list[Frame]) -> int:  # noqa: ARG002
        return position


SOUP = st.lists(
    st.sampled_from(
        [
            *(
                '{"aaaaaaaaa":1}',
                ',{"aaaaaaaaa":{"aaaaaaaaa":"]"}}',
                '{"a":"}',
                '"',
                ",",
                "\r\n,",
                "[",
                "]",
                "{",
                "}",
            ),
            *("oops", '{"a":NaN}', "1", " ", "\\", "é", '{"a":[1,{"b":2}]}', "[{}]", "\n]"),
        ]
    ),
    max_size=12,
)


@given(SOUP, st.integers(1, 40), st.sampled_from([Limits(), Limits(max_event_bytes=12)]))
def test_whole_objects_are_what_they_are_bracket_by_bracket(
    soup: list[str], size: int, limits: Limits
) -> None:
    """An object that a read holds as a whole ends where its brackets balance."""
    stream = "".join(["[", *soup]).encode()
    expected = kinds(frames.read(Counted(limits), split(stream, range(size, len(stream), size))))

    assert expected == read(split(stream, range(size, len(stream), size)), limits)
    assert expected == read([stream], limits)


def test_whole_objects_are_not_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Elements that begin alike are found without a look at their brackets."""
    framing = JSONArrayFraming()
    monkeypatch.setattr(framing, "_find_end", None)

    assert 3 == len(
        framing.feed(b'[{"candidates":[{"a":"}"}]},\n{"candidates":[]}\n,\r\n{"candidates":[{}]}\n]')
    )
