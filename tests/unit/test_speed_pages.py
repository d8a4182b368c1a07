"""Tables of ratios of several interpreters, and figures in the pages. Nothing rests on a time."""

from __future__ import annotations

import pytest

from benchmarks import publish, summary
from benchmarks.claims import QUICK, Comparison, Row
from benchmarks.rivals.figures import BY_EVENT, Figure, Run
from benchmarks.rivals.readers import ANTHROPIC, CHAT, MSGSPEC_LOOP, NAIVE_LOOP, RESPONSES
from benchmarks.summary import Measured
from tests.hygiene.source_tree import PROJECT
from tests.support.together import together

THREE = ("Chat Completions", "Anthropic", "Responses")
LOOP, OWN = summary.LOOPS
LINES = (
    Measured(LOOP, "20 parallel calls, one event a read", THREE, (0.5, 0.8, 1.25), (0.7, 0.85, 0.95)),
    Measured(LOOP, "20 parallel calls, 1,460-byte reads", THREE, (0.4, 0.5, 0.5), (0, 0, 0)),
    Measured(LOOP, "a tiny stream, one event a read", THREE, (4.0, 3.5, 3.0), (3, 3, 3)),
    Measured(
        OWN, "ollama, 100 whole calls", ("1,460-byte reads", "one event a read"), (5.0, 4.5), (2.5, 2.5)
    ),
)
MAIN = summary.Run("2026-11-23", "3.11.7", "0.22.0", LINES)
SLOWER = (Measured(LOOP, LINES[0].what, THREE, (0.56, 0.93, 1.25), (0.7, 0.85, 0.95)), *LINES[1:])
OTHER = summary.Run("2026-11-24", "3.10.13", "0.19.0", SLOWER)

MARKDOWN = """\
| as a multiple of the time of the `json.loads` loop | budget | 3.10 | 3.11 |
| --- | ---: | ---: | ---: |
| 20 parallel calls, one event a read | 0.7 / 0.85 / 0.95 | 0.56 / 0.93* / 1.25 | 0.50 / 0.80 / 1.25 |
| 20 parallel calls, 1,460-byte reads |  | 0.40 / 0.50 / 0.50 | 0.40 / 0.50 / 0.50 |
| a tiny stream, one event a read | 3 | 4.00 / 3.50 / 3.00 | 4.00 / 3.50 / 3.00 |

| as a multiple of a `json.loads` loop written for the dialect | budget | 3.10 | 3.11 |
| --- | ---: | ---: | ---: |
| ollama, 100 whole calls | 2.5 | 5.00 / 4.50 | 5.00 / 4.50 |

Where a cell has three ratios, they are of Chat Completions, Anthropic and Responses (through several servers: the \
least, the median and the worst); where it has two, of \
1,460-byte reads and of one event a read. `*` is more than 1.15 times the ratio of CPython 3.11. Measured on \
2026-11-24 with CPython 3.10.13 (msgspec 0.19.0), 3.11.7 (msgspec 0.22.0).
"""

OVERVIEW = """\
| 20 parallel calls: one event a read · 1,460-byte reads | Chat Completions | Anthropic Messages | OpenAI Responses |
| --- | ---: | ---: | ---: |
| **wholecall**, µs an event | **3.0 · 2.0** | **2.5 · ** | ** · 1.8** |
| `json.loads` loop | 1.6x · 2.0x | 1.2x · - | - · - |
| the same loop with `msgspec` | 0.9x · - | - · - | - · 0.7x |
| the SDK's `create()` | - · - | - · - | - · - |
| the SDK's `.stream()` | - · - | - · - | - · - |

`x` is a multiple of wholecall's time: below 1x is faster than wholecall.

A loop is written for one dialect and knows no quirks, no limits and no cut streams. Wholecall is furthest behind \
the loop on these streams, by these factors: ollama, 100 whole calls (4.5 to 5.0); a tiny stream (3.0 to 4.0); \
20 parallel calls (0.4 to 1.2). [All ratios](docs/speed.md) and their budgets.

| `json.loads` loop, on CPython | 3.10 | 3.11 |
| --- | ---: | ---: |
| one event a read | 1.8x / 1.1x / 0.8x | 2.0x / 1.2x / 0.8x |
| 1,460-byte reads | 2.5x / 2.0x / 2.0x | 2.5x / 2.0x / 2.0x |
"""
RIVALS = Run(
    "2026-11-22",
    "CPython 3.11.7",
    (
        Figure(NAIVE_LOOP, {}, CHAT, "W1" + BY_EVENT, 4.8, 3.0, 1.6),
        Figure(NAIVE_LOOP, {}, CHAT, "W1", 4.0, 2.0, 2.0),
        Figure(MSGSPEC_LOOP, {}, CHAT, "W1" + BY_EVENT, 2.7, 3.0, 0.9),
        Figure(NAIVE_LOOP, {}, ANTHROPIC, "W1" + BY_EVENT, 3.0, 2.5, 1.2),
        Figure(MSGSPEC_LOOP, {}, RESPONSES, "W1", 1.26, 1.8, 0.7),
    ),
)


@together("line", summary.LINES, ids=lambda line: f"{line.against}: {line.what}")
def test_every_line_has_its_claims(line: summary.Line) -> None:
    """Each part of a line is a ratio that some benchmark claims, or one of the least, the median and the worst of many."""
    assert (len(line.claims) > 10) if line.spread else (len(line.parts) == len(line.claims))
    for what in line.claims:
        claim = summary.CLAIMS[what]
        ratios = claim.ratios if isinstance(claim, Comparison) else ()
        assert not line.contender or any(line.contender in (ratio.one, ratio.other) for ratio in ratios)


def test_a_spread_shows_three_of_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among claims about the same work through many servers, the least, the median and the worst are shown."""
    line = next(line for line in summary.LINES if line.spread)
    values = {what: float(number) for number, what in enumerate(line.claims, 1)}

    def rows(self: Comparison, _scale: object) -> list[Row]:
        return [Row(ratio.other, values[self.what], ratio.budget) for ratio in self.ratios]

    monkeypatch.setattr(Comparison, "rows", rows)
    monkeypatch.setattr(summary, "LINES", (line,))
    [found] = summary.run(QUICK)

    n = len(line.claims)
    assert ((1.0, (n + 1) / 2, float(n)), (0.8,) * 3) == (found.values, found.budgets)


def test_lines_are_measured_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A claim with several ratios gives each line its own of them, and is measured once."""
    measured: list[str] = []

    def rows(self: Comparison, _scale: object) -> list[Row]:
        measured.append(self.what)
        return [Row(ratio.other, float(number), ratio.budget) for number, ratio in enumerate(self.ratios, 1)]

    lines = [line for line in summary.LINES if line.claims[0] == "W1 chat-completions"]
    monkeypatch.setattr(Comparison, "rows", rows)
    monkeypatch.setattr(summary, "LINES", tuple(lines))
    found = list(summary.run(QUICK))

    assert [(1.0,) * 3, (2.0,) * 3, (3.0,) * 3, (4.0,) * 3] == [one.values for one in found]
    assert (0.7, 0.9, 0.9) == found[0].budgets
    assert ["W1 chat-completions", "W1 anthropic", "W1 responses"] == measured


def test_the_table_of_interpreters() -> None:
    """There is a column for each interpreter, and a mark where a ratio is far above that of the main one."""
    assert MARKDOWN == summary.markdown([OTHER, MAIN])


def test_figures_of_other_benchmarks_are_refused() -> None:
    """Runs whose lines differ are of different versions, and make no table."""
    with pytest.raises(ValueError, match=r"CPython 3\.10\.13 are of another version"):
        summary.markdown([summary.Run("2026-11-24", "3.10.13", "0.19.0", LINES[1:]), MAIN])


def test_the_overview_says_what_is_lost() -> None:
    """The README shows both ways to read, and names the streams on which loops are faster, the worst first."""
    assert OVERVIEW == publish.overview(RIVALS, [OTHER, MAIN])


def test_only_the_marked_part_changes() -> None:
    """Text outside of a part stays, whatever the new text holds; a page without the part is refused."""
    page = "a\n<!-- speed -->\nold\n<!-- /speed -->\nb\n"

    assert "a\n<!-- speed -->\n\\1 new\n<!-- /speed -->\nb\n" == publish.replaced(page, "speed", "\\1 new\n")
    with pytest.raises(ValueError, match="0 parts 'ratios'"):
        publish.replaced(page, "ratios", "new\n")


@pytest.mark.parametrize(
    ("page", "part"), [("README.md", "speed"), ("docs/speed.md", "rivals"), ("docs/speed.md", "ratios")]
)
def test_the_pages_have_their_parts(page: str, part: str) -> None:
    """Each part that is published has its place, once."""
    text = (PROJECT / page).read_text("utf-8")

    assert text != publish.replaced(text, part, "other\n")
