from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pydantic
import pytest

from tests.support.together import together
from wholecall import TextDelta
from wholecall.recordings.testing.golden import beside, compare, lines_of, write

LINES = ['{"a":1}', '{"b":[true,"\u2028é"]}']


@dataclass
class Point:
    """A dataclass."""

    x: int


class Model(pydantic.BaseModel):
    """Outputs of SDKs."""

    x: int


def some() -> Iterator[int]:
    """Yield values that are a line each."""
    yield 1
    yield 2


@together(
    ("value", "lines"),
    [
        ({"b": 1, "a": {"d": 1, "c": 2}}, ['{"a":{"c":2,"d":1},"b":1}']),
        ([{"a": 1}, None, "é"], ['{"a":1}', "null", '"é"']),
        (some(), ["1", "2"]),
        ((), []),
        ("one line\nand another", ['"one line\\nand another"']),
        (7, ["7"]),
        (Point(1), ['{"x":1}']),
        (Model(x=1), ['{"x":1}']),
        ([Model(x=1), Point(2)], ['{"x":1}', '{"x":2}']),
        ({"points": [Model(x=1)], "names": {"b", "a"}}, ['{"names":["a","b"],"points":[{"x":1}]}']),
        (TextDelta(turn=0, choice=0, text="hi"), ['{"choice":0,"text":"hi","turn":0,"type":"text_delta"}']),
        ("half \ud83d of a pair", ['"half \\ud83d of a pair"']),
    ],
)
def test_values_are_lines(value: Any, lines: list[str]) -> None:
    """An iterable is a line each, anything else is one; keys and sets are sorted, text stays readable."""
    assert lines == lines_of(value)


@pytest.mark.parametrize(("value", "error"), [(object(), TypeError), (float("nan"), ValueError)])
def test_what_json_cannot_say_is_refused(value: Any, error: type[Exception]) -> None:
    """A value that has no JSON is a mistake of the test."""
    with pytest.raises(error):
        lines_of(value)


def test_what_was_written_is_equal(tmp_path: Path) -> None:
    """A golden file contains the written values, a line for each, whatever the text."""
    path = tmp_path / "x.golden.jsonl"
    write(path, LINES)

    assert "equal" == compare(path, LINES).kind
    assert LINES == path.read_text("utf-8").rstrip("\n").split("\n")


def test_a_file_may_be_written_by_hand(tmp_path: Path) -> None:
    """White space, blank lines, other line ends and the order of keys are not differences."""
    path = tmp_path / "x.golden.jsonl"
    path.write_bytes(b'{ "b": 1,  "a": "\\u00e9" }\r\n\r\n')

    assert "equal" == compare(path, lines_of({"a": "é", "b": 1})).kind


@pytest.mark.parametrize(("held", "now"), [(b"1", 1.0), (b"1", True), (b'"1"', 1), (b"<<<<<<< HEAD", 1)])
def test_other_types_differ(tmp_path: Path, held: bytes, now: Any) -> None:
    """Lines are equal if they are the same JSON; a line that is not JSON equals nothing."""
    path = tmp_path / "x.golden.jsonl"
    path.write_bytes(held)

    assert "different" == compare(path, lines_of(now)).kind


def test_a_difference_is_told(tmp_path: Path) -> None:
    """A difference is shown with a line around it, and counted; the repr shows the counts alone."""
    path = tmp_path / "x.golden.jsonl"
    write(path, lines_of([1, 2, 3, 4]))
    found = compare(path, lines_of([1, 2, 5, 6, 4]))

    assert ("@@ -2,3 +2,4 @@", " 2", "-3", "+5", "+6", " 4") == found.diff
    assert "Comparison('different', added=2, removed=1)" == repr(found)


def test_a_missing_file_is_told(tmp_path: Path) -> None:
    """A missing file is neither equal nor an error."""
    found = compare(tmp_path / "none", LINES)

    assert ("missing", 2) == (found.kind, found.added)


@pytest.mark.parametrize(
    ("name", "expected"), [("", "tide.sse.golden.jsonl"), ("calls", "tide.sse.calls.golden.jsonl")]
)
def test_golden_files_are_beside(name: str, expected: str) -> None:
    """The golden file has the recording's whole name, and optionally a name of its own."""
    assert Path("d") / expected == beside(Path("d/tide.sse"), name)
