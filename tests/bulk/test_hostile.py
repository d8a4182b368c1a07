from __future__ import annotations

import json
import re
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support import corpora, encode, tables
from tests.support.renderers import RENDERERS
from tests.support.together import together
from wholecall import Limits, Policy
from wholecall.bulk import ASSEMBLED, JUDGED, assemble_batch, calls_of, judge_batch, recordings_of

HALF = "\ud800"  # half a surrogate pair, which UTF-8 does not have
# Odd content for any string, and in place of any value, of any frame.
STRINGS = ["\\ud800", "\\udfff\\ud800x", "\\u0000", "x" * 2000, "\\ufffd", "\\ud83d"]
VALUES = [
    "9" * 400,
    "-1e400",
    "[" * 10_000 + "]" * 10_000,
    '{"a":' * 10_000 + "1" + "}" * 10_000,
    "null",
    "1e-9",
]
_STRING = re.compile(rb'(?<=:)\s*"(?:[^"\\]|\\.)*"')


def judged(bodies: list[bytes], **options: Any) -> list[dict[str, Any]]:
    """Return the rows of some bodies, of a table that is whole: UTF-8, and of the declared schema."""
    ids = [str(number) for number in range(len(bodies))]
    out = assemble_batch(pa.table({"recording_id": ids, "body": pa.array(bodies, pa.binary())}), **options)
    for made in (out, calls_of(out), recordings_of(out)):
        made.validate(full=True)
    assert out.schema.equals(ASSEMBLED, check_metadata=True)
    found = tables.rows(out)
    assert ids == [row["recording_id"] for row in found]
    return found


def troubles(found: list[dict[str, Any]]) -> list[str]:
    """Return the troubles that the rows report."""
    return [row["trouble"] for row in found if row["trouble"] is not None]


def spoilt(n: int) -> list[bytes]:
    """Return every text stream of the corpus with a string that is replaced by odd content, n times."""
    rng, found = Random(25), []
    odds = [*(f'"{text}"' for text in STRINGS), *VALUES]
    for path in corpora.streams():
        data = path.read_bytes()
        spots = [match.span() for match in _STRING.finditer(data)]
        for odd in rng.sample(odds, n) if spots else ():
            begin, end = rng.choice(spots)
            found.append(data[:begin] + odd.encode() + data[end:])
    return found


@pytest.mark.parametrize("n", [1, pytest.param(6, marks=pytest.mark.slow)])
def test_odd_values_anywhere(n: int) -> None:
    """Law 91: half surrogates, NUL, large numbers and depths in any place of any dialect give a row without trouble."""
    found = judged(spoilt(n))

    assert len(found) > 400 * n
    assert [] == troubles(found)
    assert any(row["lossy"] for row in found)
    assert any(call["lossy"] for row in found for call in row["calls"])


@together("dialect", RENDERERS)
def test_odd_labels_in_every_dialect(dialect: str) -> None:
    """Law 91: ids, names and arguments of calls may hold anything."""
    odd = [json.loads(f'"{text}"') for text in STRINGS]
    calls = [encode.Call(f"c{text}", f"f{text}", json.dumps({"a": text, text: 10**400})) for text in odd]
    bodies = []
    for call in calls:
        turn = encode.Turn([call], text=f"so {HALF}")
        try:
            bodies.append(RENDERERS[dialect](turn, encode.whole))
        except UnicodeEncodeError:  # this one writes UTF-8, which has none of it
            bodies.append(RENDERERS[dialect](encode.Turn([call]), encode.whole) if call.id.isascii() else b"")
    found = judged(bodies, policy=Policy(lone_surrogates="keep"), limits=Limits.none())

    assert [] == troubles(found)


# The content of a table's columns.


def unchecked(texts: list[bytes | None], kind: pa.DataType) -> pa.Array:
    """Return a column of text that holds these bytes, UTF-8 or not, as an engine may hand it over."""
    return pa.array(texts, pa.binary()).view(kind) if kind == pa.string() else pa.array(texts, kind)


SOME = st.lists(st.none() | st.binary(max_size=40), min_size=3, max_size=3)
TIMES = st.none() | st.lists(
    st.none()
    | st.fixed_dictionaries(
        {
            "offset": st.none() | st.integers(-(2**63), 2**63 - 1) | st.integers(0, 9),
            "seconds": st.none() | st.floats(),
        }
    ),
    max_size=4,
)
_TIMES = pa.list_(pa.struct([("offset", pa.int64()), ("seconds", pa.float64())]))


@given(
    bodies=SOME,
    ids=SOME,
    words=SOME,
    at=st.lists(st.none() | st.integers(-(2**63), 2**63 - 1), min_size=3, max_size=3),
    times=st.lists(TIMES, min_size=3, max_size=3),
)
def test_any_bytes_in_any_column(
    bodies: list[bytes | None],
    ids: list[bytes | None],
    words: list[bytes | None],
    at: list[int | None],
    times: list[Any],
) -> None:
    """Law 91: whatever is in the columns, there is a row for each row, in their order."""
    text = unchecked(words, pa.string())
    given_ = pa.table(
        {
            "recording_id": unchecked(ids, pa.string()),
            "body": pa.array(bodies, pa.binary()),
            "text": text,
            "at": pa.array(at, pa.timestamp("ms")),
            "times": pa.array(times, _TIMES),
        }
    )
    names = {
        "provider": "text",
        "model": "text",
        "dialect": "text",
        "recorded_at": "at",
        "chunk_times": "times",
    }
    out = assemble_batch(given_, **names)
    out.validate(full=True)
    expected = ["" if id is None else id.decode("utf-8", "surrogateescape") for id in ids]

    assert [re.sub("[\udc80-\udcff]", "\ufffd", id) for id in expected] == out.column(
        "recording_id"
    ).to_pylist()
    assert [0 if body is None else len(body) for body in bodies] == out.column("bytes").to_pylist()
    assert not any(str(trouble).startswith("internal") for trouble in out.column("trouble").to_pylist())
    assert all(
        row["lossy"]
        for row, id in zip(tables.rows(out), expected, strict=True)
        if not id.isprintable() and _is_lossy(id)
    )


def _is_lossy(text: str) -> bool:
    return any("\ud800" <= character <= "\udfff" for character in text)


@given(
    st.lists(
        st.lists(
            st.sampled_from(
                [
                    b"data: ",
                    b"\n",
                    b"\n\n",
                    b"{",
                    b"}",
                    b'"',
                    b"[",
                    b"\xff",
                    b"\x00",
                    b"event: message_start",
                    b'{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"',
                    b"\\ud800",
                    b'"}]}}]}',
                    b":",
                    b"1",
                ]
            ),
            max_size=30,
        ).map(b"".join),
        max_size=6,
    )
)
def test_any_bytes_in_a_body(bodies: list[bytes]) -> None:
    """Law 91: a malformed stream gives a row as well."""
    assert [] == troubles(judged(bodies))


def test_what_is_no_answer() -> None:
    """Nothing, noise and the page of a proxy are rows without calls."""
    found = judged([b"", b"\n", bytes(range(256)), b"<html><h1>502 Bad Gateway</h1></html>"])

    assert [(0, None)] * 4 == [(len(row["calls"]), row["trouble"]) for row in found]
    assert [[], ["not_sse"], ["not_sse"], ["not_sse"]] == [row["faults"] for row in found]


def test_a_line_without_end() -> None:
    """A line that is longer than the limit is a fault of its row."""
    (row,) = judged([b"data: " + b"x" * 5000], limits=Limits(max_line_bytes=1000))

    assert (["line_too_long"], None) == (row["faults"], row["trouble"])


def test_lossy_says_which_rows() -> None:
    """Only the row whose string was repaired is lossy: of a recording, of a call, of all calls of a lossy id."""
    call = '{"index":%d,"id":"%s","function":{"name":"f","arguments":"{}"}}'
    body = 'data: {"id":"%s","choices":[{"delta":{"tool_calls":[%s]}}]}\n\ndata: [DONE]\n\n'
    odd = body % ("r\\ud800", f"{call % (0, 'a')},{call % (1, 'b' + chr(92) + 'ud800')}")
    clean = body % ("r", call % (0, "a"))
    ids = unchecked([b"odd", b"clean", b"\xff"], pa.string())
    out = assemble_batch(pa.table({"recording_id": ids, "body": [odd, clean, clean]}))
    found = [(row["recording_id"], row["response_id"], row["lossy"]) for row in tables.rows(out)]

    assert [("odd", "r\ufffd", True), ("clean", "r", False), ("\ufffd", "r", True)] == found
    assert [("odd", "a", False), ("odd", "b\ufffd", True), ("clean", "a", False), ("\ufffd", "a", True)] == [
        (call["recording_id"], call["call_id"], call["lossy"]) for call in tables.rows(calls_of(out))
    ]


@given(
    st.lists(
        st.none() | st.text(st.characters(codec=None), max_size=30) | st.sampled_from(['{"a":1}', "{'a':1}"])
    )
)
def test_any_text_is_judged(texts: list[str | None]) -> None:
    """Law 91: a column of texts has a verdict for each."""
    column = unchecked([text and text.encode("utf-8", "surrogatepass") for text in texts], pa.string())
    out = judge_batch(pa.table({"arguments": column}), policy=Policy(lone_surrogates="keep"))
    out.validate(full=True)

    assert (len(texts), True) == (out.num_rows, out.schema.equals(JUDGED, check_metadata=True))
    assert [text is None for text in texts] == [row["status"] is None for row in tables.rows(out)]
