"""JSON lines: one value a line or over many, and no cut line that swallows the rest."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import frames
from tests.support.frames import kinds, split
from tests.support.together import together
from wholecall.framing import Frame, JSONLinesFraming
from wholecall.limits import Limits

if TYPE_CHECKING:
    from collections.abc import Iterable


def read(chunks: Iterable[bytes], limits: Limits | None = None) -> list[str]:
    """Return the frames' data and the faults' kinds of a stream in their order."""
    return kinds(frames.read(JSONLinesFraming(limits or Limits()), chunks))


def read_all_ways(stream: bytes, limits: Limits | None = None) -> list[str]:
    """Read a stream whole, at every 2-split and byte by byte; all must agree."""
    return kinds(frames.read_all_ways(lambda: JSONLinesFraming(limits or Limits()), stream))


PRETTY = '{\n  "a": [\n\t"}{\\"",\n{\n}\n,\n{ "b": 1 }\n  ],\n  "c":\n{}\n}'


@together(
    ("stream", "expected"),
    [
        pytest.param('{"a":1}\n{"b":2}\n', ['{"a":1}', '{"b":2}'], id="lines"),
        pytest.param('{"a":1}\r\n\r\n{"b":2}', ['{"a":1}', '{"b":2}'], id="CRLF, blank, no last LF"),
        pytest.param('\ufeff{"a":"\ufeff\u2028é"}\n', ['{"a":"\ufeff\u2028é"}'], id="one BOM; LF only"),
        pytest.param(PRETTY, [PRETTY], id="pretty-printed"),
        pytest.param(PRETTY.replace("\n", "\r\n"), [PRETTY], id="pretty-printed with CRLF"),
        pytest.param('{"a":0}\n' + PRETTY + '\n\n{"b":2}\n', ['{"a":0}', PRETTY, '{"b":2}'], id="mixed"),
        pytest.param("[1,\n2]\n[]\n", ["[1,\n2]", "[]"], id="arrays"),
        pytest.param("oops\n\n}\n1\n", ["oops", "}", "1"], id="other lines as they are"),
        pytest.param('{"a":1}{"b":2}\n', ['{"a":1}{"b":2}'], id="two values in a line"),
        pytest.param('{"a": {}\n', ['{"a": {}'], id="unfinished"),
        pytest.param('{"a":"x\n{"b":2}\n', ['{"a":"x', '{"b":2}'], id="cut in a string"),
        pytest.param('{"a":1\n{"b":2}\n', ['{"a":1', '{"b":2}'], id="cut behind a value"),
        pytest.param('{"a":\n{"b":1}\n', ['{"a":\n{"b":1}'], id="a line that needs the next"),
        pytest.param('{"a":{}\n,"b":2}\n{"c":3}\n', ['{"a":{}\n,"b":2}', '{"c":3}'], id="a comma in front"),
        pytest.param("  \n\t\r\n", [], id="white space"),
        pytest.param('{"a":NaN}\n', ['{"a":NaN}'], id="not quite JSON"),
        pytest.param("[" * 5000 + "]" * 5000 + "\n", ["[" * 5000 + "]" * 5000], id="deep"),
        pytest.param("", [], id="nothing"),
    ],
)
def test_values(stream: str, expected: list[str]) -> None:
    """A frame holds the text of one value, wherever its lines and the reads end."""
    data = stream.encode()

    assert expected == (read_all_ways(data) if len(data) < 1000 else read([data]))


def test_frames_have_no_event_name() -> None:
    """Neither name nor id exist here, and invalid UTF-8 is replaced and flagged."""
    assert [Frame("", "1"), Frame("", '{"a":"\ufffd"}', replaced=True)] == JSONLinesFraming().feed(
        b'1\n{"a":"\xff"}\n'
    )


def test_line_limit() -> None:
    """A line may have `max_line_bytes`; one byte more ends the stream."""
    stream = b'{"a":1}\n{"b":23}\n{"c":3}\n'

    assert ['{"a":1}', '{"b":23}', '{"c":3}'] == read_all_ways(stream, Limits(max_line_bytes=8))
    assert ['{"a":1}', "line_too_long"] == read_all_ways(stream, Limits(max_line_bytes=7))


def test_event_limit() -> None:
    """A joined value beyond `max_event_bytes` is skipped to the next line that begins with a brace."""
    stream = b'{"a":\n[1,\n2]}\noops\n  {}\n\n{"c":3}\n'

    assert ['{"a":\n[1,\n2]}', "oops", "  {}", '{"c":3}'] == read_all_ways(stream, Limits(max_event_bytes=13))
    assert ["event_too_large", '{"c":3}'] == read_all_ways(stream, Limits(max_event_bytes=12))
    assert ["event_too_large", '{"c":3}'] == read_all_ways(stream, Limits(max_event_bytes=7))


def test_fault_is_a_hole() -> None:
    """Skipped bytes may have held argument text; their beginning is kept."""
    framing = JSONLinesFraming(Limits(max_event_bytes=10, max_raw_bytes=8))
    framing.feed(b'{"a":\n"0123456789"}\n')
    (fault,) = framing.faults

    assert fault.hole
    assert not fault.fatal
    assert fault.raw == '{"a":\n"0'


def test_stream_limit() -> None:
    """Values that are whole within `max_stream_bytes` are returned, the cut one is not."""
    assert ["1", "stream_too_large"] == read_all_ways(b"1\n23", Limits(max_stream_bytes=3))
    assert ["1", "2"] == read_all_ways(b"1\n2", Limits(max_stream_bytes=3))


LINES = [b'{"a":1}', b'{"a":', b"1}", b"[", b"]", b",", b"{", b"}", b'"x', b"", b" ", b'{"s":"}{', b"\xff"]


@given(
    st.lists(st.tuples(st.sampled_from(LINES), st.sampled_from([b"\n", b"\r\n", b""])), max_size=20),
    st.builds(
        Limits,
        max_line_bytes=st.sampled_from([None, 4, 7]),
        max_event_bytes=st.sampled_from([None, 0, 5, 9]),
        max_stream_bytes=st.sampled_from([None, 20]),
    ),
    st.lists(st.integers(0, 100)),
)
def test_split_invariance(lines: list[tuple[bytes, bytes]], limits: Limits, cuts: list[int]) -> None:
    """Values, faults and their order do not depend on how the bytes were cut into reads."""
    stream = b"".join(line + end for line, end in lines)

    assert read_all_ways(stream, limits) == read(split(stream, cuts), limits)


def test_a_value_is_returned_with_its_line_end() -> None:
    """Nothing waits for the next line."""
    framing = JSONLinesFraming()

    assert [] == framing.feed(b'{"a":1}')
    assert [Frame("", '{"a":1}')] == framing.feed(b"\n")


def test_each_line_is_scanned_once() -> None:
    """A value over many lines is joined in linear work: its brackets are counted line by line."""
    framing = JSONLinesFraming()
    scanned: list[int] = []
    framing.feed(b"[\n")
    nesting = framing._nesting
    scan = nesting.scan
    nesting.scan = lambda data, start=0: scanned.append(len(data)) or scan(data, start)  # type: ignore[method-assign,func-returns-value]
    for _ in range(1000):
        framing.feed(b"{},\n")

    assert [3] * 1000 == scanned
    assert ["[\n" + "{},\n" * 1000 + "{}]"] == [frame.data for frame in framing.feed(b"{}]\n")]


class ByLine(JSONLinesFraming):
    """Reads every line by itself."""

    def _objects(self, data: bytes) -> tuple[list[str], bytes]:
        return [], data


SOUP = st.lists(
    st.sampled_from(
        [
            *(
                '{"a":1}\n',
                '{"a":{"b":1}\n',
                '{"t":"}\\n{"}\n',
                '{"a":1}\r\n',
                '{"a":1}{"b":2}\n',
                '{"a":1',
                "}\n",
            ),
            *(
                ',"c":2}\n',
                "{",
                "\n",
                "\n{",
                "}",
                '"',
                "[1,\n",
                "]\n",
                '{"a":NaN}\n',
                "oops\n",
                '{"a":\n',
                "\\",
                "é",
                " ",
            ),
        ]
    ),
    max_size=12,
)


@given(
    SOUP,
    st.integers(1, 40),
    st.sampled_from([Limits(), Limits(max_event_bytes=9), Limits(max_line_bytes=12)]),
)
def test_many_lines_at_once_are_what_they_are_one_by_one(soup: list[str], size: int, limits: Limits) -> None:
    """A read of usual lines is cut at its line ends, whatever is in and between them."""
    stream = "".join(soup).encode()
    expected = kinds(frames.read(ByLine(limits), split(stream, range(size, len(stream), size))))

    assert expected == read(split(stream, range(size, len(stream), size)), limits)
    assert expected == read([stream], limits)
    parts = split(stream, range(size, len(stream), size))
    assert expected == kinds(frames.read(JSONLinesFraming(limits), parts, by_texts=True))


def test_reading_goes_on_at_an_object_after_a_loss() -> None:
    """Once an object came, other lines count again."""
    limits = Limits(max_event_bytes=9)
    lines = [b'{"a":"aaaaaaaaaaaaaaaa"}\n', b"lost\n", b'{"a":1}\n', b"kept\n"]

    assert ["event_too_large", '{"a":1}', "kept"] == read(lines, limits) == read([b"".join(lines)], limits)


def test_usual_lines_are_not_read_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """An object a line, cut anywhere: only unusual lines are examined one by one."""
    framing = JSONLinesFraming()
    monkeypatch.setattr(framing, "_read_line", None)
    stream = b"".join(b'{"a":{"b":"%d"}}\n' % n for n in range(50))

    assert 50 == sum(len(framing.feed(part)) for part in split(stream, range(30, len(stream), 30)))
