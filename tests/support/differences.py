"""Results of other readers for texts and streams, next to ours: the tables of docs/differences.md, run.

The document is the list of differences; the tests compare each of its cells with the real behaviour. Results not in the
list must not differ, over random texts.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from tests.support.turns import canonical, objects
from wholecall import parse_arguments
from wholecall.calls.arguments.verdict import Verdict

DOCUMENT = Path(__file__).resolve().parents[2] / "docs" / "differences.md"
Reader = Callable[[str], Any]

# The texts of the document's first table, by the words in which it names them.
TEXTS: dict[str, str] = {
    "`NaN`, `Infinity`": '{"a":NaN}',
    "`1e400`": '{"a":1e400}',
    "a key twice, two values": '{"a":1,"a":2}',
    "a key twice, one value": '{"a":1,"a":1}',
    "half of a surrogate pair": '{"a":"\\ud83d"}',
    "an integer beyond 64 bits": '{"a":123456789012345678901234567890}',
    "an integer of 4,301 digits": '{"a":' + "9" * 4301 + "}",
    "a fraction of 5,000 digits": '{"a":0.' + "1" * 5000 + "}",
    "129 levels": '{"a":' * 129 + "1" + "}" * 129,
    "201 levels": '{"a":' * 201 + "1" + "}" * 201,
    "100,000 levels": '{"a":' * 100_000 + "1" + "}" * 100_000,
    "a byte order mark": '\ufeff{"a":1}',
    "space that is not JSON's": '\u00a0{"a":1}',
    "a line end in a string": '{"a":"x\ny"}',
    "a comma after the last member": '{"a":1,}',
    "a comment": '{"a":1/* one */}',
    "the object twice": '{"a":1}{"a":1}',
    "the object in a string": '"{\\"a\\":1}"',
    "no text": "",
    "`null`": "null",
    "a list": "[1]",
}
# The reasons for which we refuse texts that others read: each is a row of the document.
STRICTER = {"duplicate_key", "lone_surrogate", "number_too_long", "number_out_of_range", "nesting_too_deep"}
_EDITS = ("", " ", ",", "}", "{", '"', "\\", "1", "e", "-", ".", "\n", "\x00", "]", "[", ":", "true", "'", "\u00a0", "\ufeff",
          "NaN", "-Infinity", "9" * 30, "1e400", "\\ud83d", "\\ude00", "\\u0000", "null", '"a":1,')  # fmt: skip


@st.composite
def _damaged(draw: st.DrawFn) -> str:
    text = json.dumps(draw(objects), ensure_ascii=draw(st.booleans()))
    for _ in range(draw(st.integers(0, 3))):
        place = draw(st.integers(0, len(text)))
        text = text[:place] + draw(st.sampled_from(_EDITS)) + text[place + draw(st.integers(0, 2)) :]
    return text


DAMAGED = _damaged()


def ours(text: str) -> str:
    """Return our result for a text: a status, or the reason of its drop."""
    verdict = parse_arguments(text)
    return verdict.reason or verdict.status


def of_peer(read: Reader, text: str) -> str:
    """Return another reader's result for a text: it `reads` or `refuses` it, or `rounds` a number in it."""
    try:
        value = read(text)
    except (ValueError, RecursionError):
        return "refuses"
    verdict = parse_arguments(text)
    same = verdict.arguments is None or not isinstance(value, dict) or _is_same(verdict.arguments, value)
    return "reads" if same else "rounds"


def disagreement(read: Reader, text: str, *, rounds: bool = False) -> str | None:
    """Return the difference between another reader and us over a text that the document does not list, or None.

    Args:
        read: the other reader.
        text: the text.
        rounds: whether it rounds integers beyond 64 bits.
    """
    verdict: Verdict[Any] = parse_arguments(text)
    try:
        value = read(text)
    except (ValueError, RecursionError) as error:
        too_large = rounds and "infinity" in str(error)  # an integer that is not a float
        return None if verdict.status != "exact" or too_large else "we read what it refuses"
    if verdict.status == "exact":
        same = verdict.arguments is not None and _is_same(verdict.arguments, value, rounds=rounds)
        return None if same else "we read another value"
    stricter = verdict.reason in STRICTER or not _is_finite(value)
    return "it reads what we do not" if isinstance(value, dict) and not stricter else None


def _is_finite(value: Any) -> bool:
    if isinstance(value, dict):
        return all(map(_is_finite, value.values()))
    if isinstance(value, list):
        return all(map(_is_finite, value))
    return not isinstance(value, float) or math.isfinite(value)


def _is_same(one: Any, other: Any, *, rounds: bool = False) -> bool:
    return canonical(_rounded(one) if rounds else one) == canonical(other)


def _rounded(value: Any) -> Any:
    """Return a value with the integers beyond 64 bits as floats."""
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_rounded(inner) for inner in value]
    is_long = type(value) is int and not -(2**63) <= value < 2**64
    return float(value) if is_long else value


# Event streams.

SSE_STREAMS: dict[str, bytes] = {
    "a byte order mark": b"\xef\xbb\xbfdata: a\n\n",
    "an event without data": b"event: ping\n\ndata: a\n\n",
    "an id alone, then blank lines": b"id: 7\n\n\ndata: a\n\n",
    "`retry: 1_0`": b"retry: 1_0\ndata: a\n\n",
    "`retry: -5`": b"retry: -5\ndata: a\n\n",
    "a `retry` of 30 digits": b"retry: " + b"9" * 30 + b"\ndata: a\n\n",
    "the last event lacks its blank line": b"data: a\n\ndata: b\n",
    "a bare JSON object": b'data: a\n\n{"error":{}}\n\n',
    "JSON in an unknown field": b'data: a\n\ndata: b\ndxta: {"error":{}}\n\n',
}
_LINES = (b"data: a", b"data:", b"data", b"data:  b", b"event: x", b"event", b"id: 1", b"id", b"id: \x00", b"retry: 5", b"retry: x",
          b"retry: 1_0", b": c", b":", b"foo: x", b"", b"", b"", b'{"a":1}', b"\xff", "data: é\u2028".encode(), b"data: \xe2\x82",
          b"dat", b" data: a", b"\xef\xbb\xbf", b"data: \x00", b"Data: a", b"data : a")  # fmt: skip
STREAMS = st.lists(
    st.tuples(st.sampled_from(_LINES), st.sampled_from((b"\n", b"\n", b"\r", b"\r\n", b""))), max_size=25
).map(lambda lines: b"".join(line + end for line, end in lines))


# The document.


def cells(title: str, columns: Iterable[str]) -> dict[str, list[str]]:
    """Return the cells in these columns of the table under a title, by each row's first cell."""
    section = DOCUMENT.read_text("utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    rows = [_split(line) for line in section.splitlines() if line.startswith("| ")]
    head, *body = rows
    return {row[0]: [row[head.index(column)] for column in columns] for row in body}


def _split(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]
