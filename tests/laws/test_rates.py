"""The table of docs/promises.md: the effect of one missing frame, by policy.

The ordinary suite makes the rows of the dialects with few frames, the slow one a share of all rows.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.damage import rates
from tests.damage.streams import Stream, of_corpora
from tests.hygiene.source_tree import table_cells
from tests.support import encode, share

PAGE = Path(__file__).parents[2] / "docs" / "promises.md"
MOST = 70  # frames of the recordings of a dialect


def _on_the_page() -> str:
    match = re.search(r"<!-- rates:[^\n]*-->\n(.*?)<!-- /rates -->", PAGE.read_text("utf-8"), re.DOTALL)
    assert match is not None
    return match[1]


def test_the_page_says_the_rates() -> None:
    """Each row of the page is the program's output, where the check is quick."""
    found = {rates.line(name, row) for name, row in rates.rows(of_corpora(), MOST).items()}

    assert set() == found - set(_on_the_page().splitlines()), (
        "put in what `python -m tests.damage.rates` prints"
    )


@pytest.mark.slow
def test_the_page_says_all_rates() -> None:
    """The table of the page is the program's output; but at night a run makes the rows of a seventh of the dialects."""
    dialects = sorted({stream.dialect for stream in of_corpora().streams})
    some = share.every(7, dialects, "rates")
    found = rates.rows(of_corpora(), dialects=some)
    page = _on_the_page()

    assert found
    assert set() == {rates.line(name, row) for name, row in found.items()} - set(page.splitlines()), (
        "put in what `python -m tests.damage.rates` prints"
    )
    assert some != dialects or page == rates.table(found)


# The page's statements about the table.


@dataclass(frozen=True)
class Lost:
    """A call whose text comes in pieces, the piece whose frame is missing, and the result by policy."""

    pieces: tuple[str, ...]
    gone: str
    said: tuple[str, str]


HOIST = '{"flag":"red'
LOST = {
    "a piece of a string": Lost((HOIST, " and white", '"}'), " and white", ("changed", "changed")),
    "what opens a string": Lost((HOIST, " and white", '"}'), HOIST, ("lost", "lost")),
    "what closes a string": Lost((HOIST, " and white", '"}'), '"}', ("lost", "lost")),
    "a whole member": Lost((HOIST + '"', ',"at":3', "}"), ',"at":3', ("changed", "changed")),
    "the whole text": Lost((HOIST + '"}',), HOIST + '"}', ("changed", "lost")),
    "the name": Lost((HOIST + '"}',), '"name":"hoist"', ("lost", "lost")),
    "the finish reason": Lost((HOIST + '"}',), '"finish_reason":"tool_calls"', ("same", "lost")),
}


@pytest.mark.parametrize("what", LOST)
def test_what_is_gone_decides_what_comes_of_it(what: str) -> None:
    """A text that is JSON without a piece looks whole to each policy; silence does so to the default policy alone."""
    case = LOST[what]
    call = encode.Call("call_1", "hoist", "".join(case.pieces))
    data = encode.render_chat(encode.Turn(calls=(call,)), lambda text: list(case.pieces if text else ()))
    stream = Stream("made up", "chat-completions", data)
    gone = case.gone if case.gone not in case.pieces else json.dumps(case.gone)
    at = next(n for n, frame in enumerate(stream.frames) if gone.encode() in frame)

    assert case.said == tuple(list(rates.outcomes(stream, policy))[at] for policy in rates.POLICIES.values())


def test_a_missing_number_is_seen() -> None:
    """Where frames are numbered, no missing frame changes a call, under any policy."""
    numbered = [
        stream for stream in of_corpora().streams if rates.is_numbered(stream) and rates.is_in_order(stream)
    ]
    changed = sum((rates.row_of(stream).changed for stream in numbered), Counter[str]())

    assert (True, 0) == (len(numbered) > 10, changed.total())


@pytest.mark.parametrize("dialect", ["responses", "openai-realtime", "copilot", "vercel-ui"])
def test_text_that_is_told_twice_is_not_changed(dialect: str) -> None:
    """In the rows of dialects that repeat the whole text of a call, no policy changes one."""
    rows = [table_cells(line) for line in _on_the_page().splitlines() if line.startswith(f"| `{dialect}`")]

    assert {("0", "0")} == {(row[5], row[7]) for row in rows}


def test_lines_of_a_printed_body_are_no_frames() -> None:
    """One JSON value has no frames to lose, however many lines it was printed over."""
    lines = (b'{"a":1}\n{"b":2}\n', b'{\n"a":1,\n"b":2}\n')

    assert [True, False] == [rates.has_frames(Stream("made up", "ollama", data)) for data in lines]
