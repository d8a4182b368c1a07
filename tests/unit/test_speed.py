"""Figures of speed: measured, judged, printed and drawn. No library is needed, and nothing rests on a time."""

from __future__ import annotations

import itertools
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable
from typing import Any

import pytest

from benchmarks import baselines, workloads
from benchmarks.rivals import races, speed_chart, speed_table
from benchmarks.rivals.figures import BY_EVENT, FLOOR, Failure, Figure, Run, merged
from benchmarks.rivals.memory import OutOfTime, Within
from benchmarks.rivals.readers import ANTHROPIC, CHAT, LIVE, NAIVE_LOOP, RESPONSES, Reader

PACE = races.Pace(rounds=1, seconds=60)
SVG = "{http://www.w3.org/2000/svg}"

FIGURES = (
    Figure(FLOOR, {}, CHAT, "W1", 1.0, 2.0, 0.5),
    Figure(NAIVE_LOOP, {}, CHAT, "W1", 3.1, 2.1, 1.5),
    Figure("openai create()", {"openai": "3.54.0"}, CHAT, "W1", 60.0, 2.0, 30.0),
    Figure("langchain", {"langchain-core": "1.7.2"}, CHAT, "W1", 1234.5, 2.0, 617.25, capped=True),
    Figure("langchain", {"langchain-core": "1.7.2"}, CHAT, "plain text", 20.0, 2.0, 10.0),
    Figure("anthropic create()", {"anthropic": "2.12.0"}, ANTHROPIC, "W1", 6.0, 1.5, 4.0),
    Figure("jiter", {"jiter": "0.19.0"}, LIVE, "8K d4", 4.0, 2.0, 2.0),
    Figure(NAIVE_LOOP, {}, CHAT, "W1" + BY_EVENT, 3.2, 3.0, 1.1),
    Figure(NAIVE_LOOP, {}, RESPONSES, "W2 512K d40", 21.0, 2.1, 10.0),
)
FAILURE = Failure("llmstream", {"llmstream": "0.1.0"}, CHAT, "W1" + BY_EVENT, "raises KeyError")
RUN = Run("2026-11-22", "CPython 3.11.7", FIGURES, ("litellm",), (FAILURE,))

TABLE = """\
2026-11-22, CPython 3.11.7, processor time; a figure behind > is of a rival that was stopped by then

Chat Completions: bytes to text and calls
rival                 version           workload         us/event     ours    slower  budget
bare floor                              W1                    1.0     2.00      0.5x
json.loads loop                         W1                    3.1     2.10      1.5x
openai create()       3.54.0            W1                   60.0     2.00       30x  >= 25x
langchain             1.7.2             W1               >1,234.5     2.00     >617x  >= 80x
langchain             1.7.2             plain text           20.0     2.00       10x
json.loads loop                         W1, by event          3.2     3.00      1.1x
llmstream             0.1.0             W1, by event                                  raises KeyError

Anthropic Messages: bytes to text and calls
rival                 version           workload         us/event     ours    slower  budget
anthropic create()    2.12.0            W1                    6.0     1.50      4.0x  >= 5x  MISSED

live arguments: the value so far at every delta of 4 characters (an event is a delta)
rival                 version           workload         us/event     ours    slower  budget
jiter                 0.19.0            8K d4                 4.0     2.00      2.0x

OpenAI Responses: bytes to text and calls
rival                 version           workload         us/event     ours    slower  budget
json.loads loop                         W2 512K d40          21.0     2.10       10x  its buffer is quadratic here

not installed, and left out: litellm
"""

MARKDOWN = """\
| one event a read | Chat Completions |
| --- | ---: |
| **wholecall** | **3.0 µs** |
| json.loads loop | 1.1x |
| llmstream | raises KeyError |

| reads of 1,460 bytes | Chat Completions | Anthropic |
| --- | ---: | ---: |
| **wholecall** | **2.0 µs** | **1.5 µs** |
| json.loads loop | 1.5x |  |
| anthropic create() |  | 4.0x |
| openai create() | 30x |  |
| langchain | > 617x |  |

| the value so far at every delta | 8 KB |
| --- | ---: |
| **wholecall** | **2.0 µs** |
| jiter | 2.0x |

Measured on 2026-11-22 with CPython 3.11.7: anthropic 2.12.0, jiter 0.19.0, langchain-core 1.7.2, openai 3.54.0.
"""


def reader(open_: Callable[[Iterable[Any]], Callable[[], Any]], name: str = "rival") -> Reader:
    """Return a rival that is always there."""
    return Reader(name, CHAT, (), (), open_)


def small_race(kind: str = "W2") -> races.Race:
    """Return a short stream of chat chunks to race on."""
    workload = workloads.parallel_calls(CHAT, 1)
    reads = workloads.cut(workload.data, 1460)
    return races.Race(CHAT, kind, "small", reads, workload.n_events, baselines.ours, workload.result)


def honest(reads: Iterable[bytes]) -> Callable[[], Any]:
    """Open a rival that reads as we do."""
    return lambda: baselines.ours(reads)


def test_pieces_come_within_their_time() -> None:
    """All pieces come, again and again, while there is time; without it the reader is stopped after the first."""
    pieces, late = Within(60, ("a", "b")), Within(-1, ("a", "b"))

    assert (["a", "b"], ["a", "b"], 2) == (list(pieces), list(pieces), pieces.n_given)
    with pytest.raises(OutOfTime):
        list(late)
    assert 1 == late.n_given


def test_no_library_takes_the_stop_for_trouble() -> None:
    """The exception that stops a rival is not an `Exception`: none of them would let that through."""
    assert not issubclass(OutOfTime, Exception)


def test_a_rival_that_reads_as_we_do_is_timed() -> None:
    """The figure names the rival and its workload, and both took time."""
    figure = races.race(reader(honest), small_race(), PACE)

    assert ("rival", CHAT, "small", False) == (figure.rival, figure.dialect, figure.workload, figure.capped)
    assert min(figure.theirs, figure.ours, figure.ratio) > 0


@pytest.mark.parametrize(("first", "rounds"), [(0.01, 20), (0.1, 5), (2, 5), (3, 4), (20, 1)], ids=str)
def test_rounds_by_the_first(first: float, rounds: int) -> None:
    """The fast are timed more often, the slow as often as there is time for it, everyone once."""
    assert rounds == races.Pace(rounds=5, seconds=12, steady=0.2).rounds_of(first)


def test_a_rival_that_reads_otherwise_is_not_timed() -> None:
    """A differing result is never compared."""
    with pytest.raises(races.OtherResult, match="rival reads another result"):
        races.race(reader(lambda _: lambda: baselines.Result("", [])), small_race(), PACE)


def crashing(_: Iterable[bytes]) -> Callable[[], Any]:
    """Open a rival that cannot be opened."""
    raise KeyError("no such part")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("open_", "trouble"),
    [
        (crashing, "raises KeyError"),
        (lambda _: lambda: baselines.Result("", []), "reads another result"),
    ],
)
def test_a_rival_that_fails_costs_its_own_row(
    open_: Callable[[Iterable[Any]], Callable[[], Any]], trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rival's failure is in its row, and those after it are timed."""
    monkeypatch.setattr(races, "READERS", (reader(open_, "rival 1"), reader(honest, "rival 2")))
    monkeypatch.setattr(races, "races", lambda **_: [small_race()])

    failed, timed = races.outcomes(PACE, quick=True, only="rival")

    assert Failure("rival 1", {}, CHAT, "small", trouble) == failed
    assert isinstance(timed, Figure)
    assert "rival 2" == timed.rival


def test_a_fault_of_ours_ends_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where wholecall itself misreads the stream, nothing is timed."""
    wrong = small_race()._replace(result=baselines.Result("", []))
    monkeypatch.setattr(races, "races", lambda **_: [wrong])

    with pytest.raises(AssertionError, match="wholecall is wrong on small"):
        list(races.outcomes(PACE, quick=True))


@pytest.mark.slow
def test_a_rival_out_of_time_is_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stopped rival's figure is that of the events so far: here 2.5 seconds for three of all the pieces."""
    seconds = itertools.count()
    monkeypatch.setattr("time.process_time", lambda: next(seconds))
    one = small_race()
    figure = races.race(reader(lambda reads: lambda: list(reads)), one, races.Pace(rounds=1, seconds=2.5))

    assert figure.capped
    assert pytest.approx(2.5 * len(one.pieces) / 3 / one.n_events * 1e6) == figure.theirs


def test_a_stopped_rival_is_not_asked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """After a stop the larger workloads of the kind are left out, those of other kinds are not."""
    slow = reader(honest, "slow")
    kinds = ["W1", "W2", "W2", "text"]
    monkeypatch.setattr(races, "READERS", (slow,))
    monkeypatch.setattr(races, "races", lambda **_: [small_race(kind) for kind in kinds])
    asked: list[str] = []
    monkeypatch.setattr(
        races,
        "race",
        lambda _reader, one, _pace: asked.append(one.kind) or FIGURES[3 if one.kind == "W2" else 4],
    )

    found = list(races.outcomes(PACE, quick=True, only="slow"))

    assert ["W1", "W2", "text"] == asked
    assert [FIGURES[4], FIGURES[3], FIGURES[4]] == found


@pytest.mark.slow
def test_the_floor_is_a_figure(monkeypatch: pytest.MonkeyPatch) -> None:
    """The floor is measured on every stream."""
    monkeypatch.setattr(races, "READERS", ())
    monkeypatch.setattr(races, "races", lambda **_: [small_race()])

    assert [FLOOR] == [outcome.rival for outcome in races.outcomes(PACE, quick=True)]


@pytest.mark.slow
@pytest.mark.parametrize("quick", [False, True])
def test_workloads_of_a_kind_grow(quick: bool) -> None:
    """Workloads of one kind are ordered by their content, as the rule of stopped rivals needs; every dialect has W1
    twice.
    """
    found = list(races.races(quick=quick))
    by_kind: dict[tuple[str, str], list[int]] = {}
    for one in found:
        by_kind.setdefault((one.dialect, one.kind), []).append(len(str(one.ours(one.pieces))))

    assert {CHAT, ANTHROPIC, RESPONSES} == {one.dialect for one in found if one.name == "W1"}
    assert {CHAT, ANTHROPIC, RESPONSES} == {one.dialect for one in found if one.name == "W1" + BY_EVENT}
    assert all(len(one.pieces) == one.n_events for one in found if one.name.endswith(BY_EVENT))
    assert list(by_kind.values()) == [sorted(sizes) for sizes in by_kind.values()]


def test_budgets_are_held_where_calls_are_read() -> None:
    """A budget is missed below it, kept from it on, and there is none for text."""
    create, text, anthropic = FIGURES[2], FIGURES[4], FIGURES[5]

    assert (25, False) == (create.budget, create.missed)
    assert (None, False) == (text.budget, text.missed)
    assert (5, True) == (anthropic.budget, anthropic.missed)


def test_the_table() -> None:
    """The table has a part for each dialect, marks missed calls and stopped rivals, and names the missing ones."""
    assert TABLE == speed_table.table(RUN)


def test_the_short_tables() -> None:
    """The tables of docs/speed.md show how many times slower rivals are, and only columns with figures."""
    assert MARKDOWN == speed_table.markdown(RUN)


def test_runs_are_merged() -> None:
    """Figures of another environment are added, the first run's stay, and figures of one run are not absent."""
    litellm = Figure("litellm", {"litellm": "1.106.2"}, CHAT, "W1", 900.0, 3.0, 300.0)
    mended = Figure("llmstream", {"llmstream": "0.1.1"}, CHAT, "W1" + BY_EVENT, 9.0, 3.0, 3.0)
    again = Figure("openai create()", {"openai": "2.54.0"}, CHAT, "W1", 70.0, 2.0, 35.0)
    other = Run("2026-11-23", "CPython 3.11.7", (again, litellm), ("openai", "agno"), (FAILURE,))

    both = merged([RUN, other])

    assert (*FIGURES, litellm) == both.figures
    assert ("2026-11-23", ("agno",)) == (both.date, both.absent)
    assert (FAILURE,) == both.failures
    assert () == merged([RUN, Run("2026-11-23", "CPython 3.11.7", (mended,))]).failures


def test_bars_are_by_length() -> None:
    """Bars are in order; a rival's bar is ours times its slowdown."""
    found = [
        (one.name, one.kind, [(bar.micro, bar.lower) for bar in one.bars])
        for one in speed_chart.racers(RUN, CHAT)
    ]

    assert [
        ("splitting + decoding", "base", [(1.0, True)]),
        ("wholecall", "ours", [(3.0, False), (2.0, True)]),
        ("json.loads loop", "base", [(3.3000000000000003, False), (3.0, True)]),
        ("openai create()", "rival", [(60.0, True)]),
        ("langchain", "rival", [(1234.5, True)]),
    ] == found


def drawn() -> ET.Element:
    """Return the chart as it is parsed."""
    return ET.fromstring(speed_chart.chart(RUN))  # noqa: S314 - ours


def test_the_chart_tells_its_figures_as_text() -> None:
    """Title, groups, names, figures, date and versions are text of a well-formed SVG."""
    told = ["".join(text.itertext()) for text in drawn().iter(f"{SVG}text")]

    assert {
        "Chat Completions",
        "Anthropic Messages",
        "wholecall",
        "2.0 µs",
        "60 µs30x",
        "> 1,234 µs> 617x",
    } <= set(told)
    assert "OpenAI Responses" not in told
    assert "2026-11-22, CPython 3.11.7, processor time, each in turns with wholecall" in told
    assert "anthropic 2.12.0 · langchain-core 1.7.2 · openai 3.54.0" in told


def test_the_chart_has_a_bar_for_each_figure() -> None:
    """Every figure of W1 and wholecall itself in each dialect have a bar; a longer time has a longer bar."""
    paths = [path for path in drawn().iter(f"{SVG}path") if path.get("class", "").startswith("bar-")]
    kinds = [path.get("class", "").removeprefix("bar-") for path in paths]
    lengths = [float(path.get("d", "").partition("h")[2].partition("a")[0]) for path in paths]
    lower = [length for kind, length in zip(kinds, lengths, strict=True) if kind.endswith(" lower")]

    assert [
        "base lower",
        *("ours", "ours lower"),
        *("base", "base lower"),
        *("rival lower", "rival lower"),
        *("ours lower", "rival lower"),
    ] == kinds
    assert lower[:5] == sorted(lower[:5])
    assert min(lengths) > 0


def test_the_chart_needs_nothing_from_outside() -> None:
    """The chart loads nothing, has colours for light and dark, and describes itself to those who do not see it."""
    svg = speed_chart.chart(RUN)
    links = [part for part in ("href", "@import", "url(", "<image", "@font-face") if part in svg]

    assert [] == links
    assert "prefers-color-scheme: dark" in svg
    assert [f"{SVG}title", f"{SVG}desc"] == [child.tag for child in drawn()][:2]


def test_nothing_to_draw_is_an_error() -> None:
    """Without a figure of W1 there is no chart."""
    with pytest.raises(ValueError, match="no figure of W1"):
        speed_chart.chart(Run("2026-11-22", "CPython 3.11.7", FIGURES[4:5]))
