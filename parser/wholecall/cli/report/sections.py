"""The sections of a report: their parts, their numbers and their explanations.

Theory of operation. A report becomes sections once; a terminal and a page show the same ones. If there are many groups,
the first have separate rows, and the others share the last row, so that a table adds up to the total.
"""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Union

from wholecall.cli.show import counted

if TYPE_CHECKING:
    from wholecall.bulk import Histogram
    from wholecall.bulk.reporting.result import BulkReport, Counts, Group, Worst


class Cell(NamedTuple):
    """A cell in a row of a table.

    Attributes:
        text: the shown text; text of the wire, if it is a name.
        value: the key that rows are sorted by, a number or a text; None comes last.
        tone: `""`, `"dim"` for minor cells, `"bad"` for errors, `"code"` for a command.
        bar: a share of 1 and an interval around it, drawn next to the text.

    A row whose first cell has no value sums up other rows: it stays the last.
    """

    text: str
    value: float | str | None = None
    tone: str = ""
    bar: tuple[float, float, float] | None = None


class Column(NamedTuple):
    """A column of a table.

    Attributes:
        name: its head.
        is_text: whether it holds names rather than numbers.
        worth: if there is no room for all columns, those with a lower worth are dropped first.
        about: its meaning, if its head is too short for that.
    """

    name: str
    is_text: bool = False
    worth: int = 9
    about: str = ""


class Table(NamedTuple):
    """Rows of cells, the most informative first."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Matrix(NamedTuple):
    """How often words occurred, by group.

    Attributes:
        columns: the columns of the groups' keys.
        rows: the cells of each group, the total of its shares, and how often each word occurred.
        words: all words, the most frequent first.
        of: the unit of the totals.
        name: the head of the words' column, if they have one column.
    """

    columns: Sequence[Column]
    rows: Sequence[tuple[Sequence[Cell], int, Mapping[str, int]]]
    words: Sequence[str]
    of: str
    name: str


class Bars(NamedTuple):
    """Counts by word, the largest first."""

    of: str
    counts: Sequence[tuple[str, int]]


class Curves(NamedTuple):
    """Histograms with one axis.

    Attributes:
        unit: the unit of the axis.
        curves: the histograms by name.
    """

    unit: str
    curves: Mapping[str, Histogram]


class Fact(NamedTuple):
    """A number about the whole report."""

    name: str
    text: str
    more: str = ""
    tone: str = ""


class Section(NamedTuple):
    """A part of a report.

    Attributes:
        id: the id of its place in a page.
        title: its heading.
        about: its meaning, in a sentence or two.
        parts: its contents, in order; if they are empty the section says only why.
    """

    id: str
    title: str
    about: str
    parts: Sequence[Union[Table, Matrix, Bars, Curves, Sequence[Fact]]]


def number(count: int, tone: str = "") -> Cell:
    """Return a cell with a number."""
    return Cell(f"{count:,}", count, tone if count else "dim")


def shared(share: float | None, tone: str = "") -> Cell:
    """Return a cell with a share; None is a share of nothing."""
    return Cell(short_share(share), share, tone if share else "dim")


def short_share(share: float | None) -> str:
    """Return a share as per cent, with two significant digits."""
    if share is None:
        return "-"
    percent = 100 * share
    if percent in {0, 100}:
        return f"{percent:.0f} %"
    if percent < 0.01:
        return "<0.01 %"
    if percent >= 99.95:
        return ">99.9 %"
    return f"{percent:.2f} %" if percent < 1 else f"{percent:.1f} %"


def short(value: float | None, *, is_whole: bool = False) -> Cell:
    """Return a cell with a measured value, to two digits; a count has no decimals."""
    return Cell("-", None, "dim") if value is None else Cell(_rounded(value, is_whole), value)


def _rounded(value: float, is_whole: bool) -> str:
    if value >= 100 or is_whole:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:#.2g}".rstrip(".") if value else "0"


def key_columns(by: Sequence[str]) -> list[Column]:
    """Return the columns that identify a group."""
    return [Column(name, is_text=True) for name in by]


_SECONDS = {"first_text_s": "text", "first_call_s": "call", "last_s": "end"}
_TIMES = {"first_text_s": "the first text", "first_call_s": "the first call", "last_s": "the end"}
_QUANTILES = (50, 90, 99)
_QUIRKS = ("flags", "edits", "anomalies")


class Row(NamedTuple):
    """A group with a separate row, or several groups that share one."""

    key: Sequence[Cell]
    counts: Counts
    is_ranked: bool


# The sections of a report.


def sections_of(report: BulkReport, most: int) -> Iterator[Section]:
    """Yield the sections of a report.

    Args:
        report: the counts.
        most: the number of rows that a readable table has at most.
    """
    groups, tools = (_rows(report, its, most) for its in (report.groups, report.tools))
    yield _summary(report)
    yield _groups(report, groups)
    yield _drops(report, groups)
    yield _quirks(report, groups)
    yield _tools(report, tools)
    yield _times(report, groups)
    yield _finishes(report, most)
    yield _tokens(report, groups)
    yield _duplicates(report)
    yield _unreadable(report, most)
    yield _worst(report)


def _rows(report: BulkReport, groups: Sequence[Group], most: int) -> list[Row]:
    shown = groups if len(groups) <= most else groups[: most - 1]
    rows = [
        Row([Cell(name, name) for name in one.key], one.counts, report.is_ranked(one.counts)) for one in shown
    ]
    if rest := groups[len(shown) :]:
        key = [Cell(f"({len(rest):,} others)"), *[Cell("")] * (len(rest[0].key) - 1)]
        rows.append(Row(key, report.together(rest), is_ranked=False))
    return rows


def _summary(report: BulkReport) -> Section:
    total, unreadable = report.total, report.unreadable
    low, high = total.drop_rate.interval
    whole = total.drop_rate.whole
    facts = [
        Fact("recordings", f"{total.recordings:,}", _with(unreadable.recordings, "more could not be read")),
        Fact("calls", f"{total.calls:,}", counted(total.turns, "turn")),
        Fact("dropped", f"{total.dropped:,}", f"of {whole:,}", "bad" if total.dropped else ""),
        Fact(
            "drop rate",
            short_share(total.drop_rate.share),
            f"95 %: {100 * low:.3g} to {100 * high:.3g} %" if whole else "no calls",
        ),
        Fact("recovered", f"{total.recovered:,}", _of(total.recovered, total.calls, "calls")),
        Fact("empty", f"{total.empty:,}", _of(total.empty, total.calls, "calls")),
        Fact("faults", f"{total.faults:,}", "of the wire", "bad" if total.faults else ""),
        Fact("odd", f"{total.odd:,}", _of(total.odd, total.recordings, "recordings")),
    ]
    if report.waiting:
        more = "units of a scan that is not finished: scan again"
        facts.append(Fact("not read yet", f"{report.waiting:,}", more, "bad"))
    if report.missing:
        facts.append(Fact("missing", f"{report.missing:,}", "calls that the tables lack: scan again", "bad"))
    return Section("summary", "Summary", "", [facts])


def _with(count: int, more: str) -> str:
    return f"{count:,} {more}" if count else "all could be read"


def _of(part: int, whole: int, what: str) -> str:
    return f"{short_share(part / whole if whole else None)} of {what}"


# The columns of counts, in order; tools have fewer.
_COUNTS = (
    Column("recordings", worth=4),
    Column("calls", about="calls that came out whole"),
    Column("dropped", about="calls that must not be executed"),
    Column("rate", about="dropped, of calls and drops"),
    Column("95 %", worth=6, about="where the drop rate lies if the recordings are a sample"),
    Column("faults", worth=5, about="faults of the wire"),
    Column("odd", worth=1, about="recordings with a finding"),
    Column("empty", worth=2, about="calls without arguments"),
    Column("recovered", worth=3, about="calls whose text had slips"),
)
_NOT_OF_TOOLS = frozenset({"recordings", "faults", "odd"})
_COUNTS_OF_TOOLS = tuple(column for column in _COUNTS if column.name not in _NOT_OF_TOOLS)


def _count_cells(row: Row, columns: Sequence[Column]) -> list[Cell]:
    counts = row.counts
    rate, interval = _rate_cells(row)
    cells = {
        "recordings": number(counts.recordings),
        "calls": number(counts.calls),
        "dropped": number(counts.dropped, "bad"),
        "rate": rate,
        "95 %": interval,
        "faults": number(counts.faults, "bad"),
        "odd": shared(counts.odd / counts.recordings),
        "empty": shared(counts.empty / counts.calls if counts.calls else None),
        "recovered": shared(counts.recovered / counts.calls if counts.calls else None),
    }
    return [cells[column.name] for column in columns]


def _rate_cells(row: Row) -> tuple[Cell, Cell]:
    """Return a drop rate and its interval."""
    rate = row.counts.drop_rate
    if rate.share is None:
        return shared(None), shared(None)
    low, high = rate.interval
    tone = "" if row.is_ranked else "dim"
    shown = Cell(
        short_share(rate.share),
        rate.share,
        "bad" if row.is_ranked and rate.part else tone,
        (rate.share, low, high),
    )
    return shown, Cell(f"{100 * low:.1f}-{100 * high:.1f}", high, tone)


def _groups(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = "How many calls of each group were dropped, the worst rate first." + _few(report, report.groups)
    table = Table(
        [*key_columns(report.by), *_COUNTS], [[*row.key, *_count_cells(row, _COUNTS)] for row in rows]
    )
    return Section("groups", "Groups", about, [table] if rows else [])


def _few(report: BulkReport, groups: Sequence[Group]) -> str:
    """Return the remark on grey rates; empty if there are none."""
    if all(report.is_ranked(one.counts) or one.counts.drop_rate.share is None for one in groups):
        return ""
    return f" Rates of fewer than {report.least:,} calls are not ranked, and grey where there are colours."


def _drops(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = "Why calls were dropped, by group: shares are of all drops of the group. docs/words.md explains each word."
    total = report.total.findings["dropped"]
    matrix = Matrix(
        key_columns(report.by),
        [(row.key, row.counts.dropped, row.counts.findings["dropped"]) for row in rows if row.counts.dropped],
        [word for word, _ in total.most_common()],
        "drops",
        "reasons",
    )
    return Section(
        "drops", "Reasons of drops", about, [Bars("drops", total.most_common()), matrix] if total else []
    )


def _quirks(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = "Oddities without a drop (flags, edits, anomalies), by their share of each group's recordings."
    seen = _quirks_seen(report.total, report.total)
    matrix = Matrix(
        key_columns(report.by),
        [(row.key, row.counts.recordings, _quirks_seen(row.counts, report.total)) for row in rows],
        [word for word, _ in seen.most_common()],
        "recordings",
        "seen in",
    )
    return Section("quirks", "Quirks", about, [matrix] if seen else [])


def _quirks_seen(counts: Counts, total: Counts) -> Counter[str]:
    """Return in how many recordings quirks were seen; a word of two kinds has its kind next to it."""
    kinds = Counter(word for kind in _QUIRKS for word in total.seen[kind])
    return Counter(
        {
            word if kinds[word] == 1 else f"{word} ({kind})": count
            for kind in _QUIRKS
            for word, count in counts.seen[kind].items()
        }
    )


def _tools(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = "Which tools were called, the worst drop rate first, and how many bytes their arguments have."
    about += _few(report, report.tools)
    sizes = [
        Column(f"p{q}", worth=5 if q == 90 else 7, about=f"bytes of arguments, of {q} % at most")
        for q in _QUANTILES
    ]
    columns = [Column("tool", is_text=True), *_COUNTS_OF_TOOLS, *sizes]
    cells = [
        [
            *row.key,
            *_count_cells(row, _COUNTS_OF_TOOLS),
            *(short(row.counts.sizes.quantile(q / 100), is_whole=True) for q in _QUANTILES),
        ]
        for row in rows
    ]
    curves = Curves("bytes", {"arguments": report.total.sizes})
    return Section("tools", "Tools", about, [Table(columns, cells), curves] if rows else [])


def _times(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = (
        "Seconds from the beginning of the response to its first text, its first call and its end: what half, 90 % and "
        "99 % of the recordings do not exceed, where times were recorded."
    )
    columns = [
        Column(f"{name} p{q}", worth=9 - 2 * (q == 90) - (q == 99))
        for name in _SECONDS.values()
        for q in _QUANTILES
    ]
    cells = [
        [
            *row.key,
            shared(row.counts.seconds["last_s"].total / row.counts.recordings),
            *(short(row.counts.seconds[name].quantile(q / 100)) for name in _SECONDS for q in _QUANTILES),
        ]
        for row in rows
        if row.counts.seconds["last_s"].total
    ]
    seconds = report.total.seconds
    curves = Curves("seconds", {f"time to {_TIMES[name]}": seconds[name] for name in _SECONDS})
    table = Table(
        [*key_columns(report.by), Column("timed", worth=8, about="recordings with times"), *columns], cells
    )
    return Section("times", "Times", about, [table, curves] if cells else [])


def _finishes(report: BulkReport, most: int) -> Section:
    about = "How the last turn ended: what the provider said, and what its calls showed."
    all_of = report.total.recordings
    rows = [
        [
            _said(one.provider, "(nothing)"),
            _said(one.ours, "(no turn)"),
            number(one.count),
            shared(one.count / all_of),
        ]
        for one in report.finishes[:most]
    ]
    columns = [
        Column("the provider said", is_text=True),
        Column("ours", is_text=True),
        Column("recordings"),
        Column("share"),
    ]
    return Section("finishes", "Ends of turns", about, [Table(columns, rows)] if rows else [])


def _said(word: str | None, nothing: str) -> Cell:
    return Cell(nothing, "", "dim") if word is None else Cell(word, word)


def _tokens(report: BulkReport, rows: Sequence[Row]) -> Section:
    about = "Tokens as providers count them, where they do, and how many were written for each call."
    columns = [
        Column("counted", worth=8, about="recordings with counts"),
        Column("input", worth=5),
        Column("output"),
        Column("output a call"),
    ]
    cells = [
        [
            *row.key,
            shared(row.counts.with_tokens / row.counts.recordings),
            number(row.counts.input_tokens),
            number(row.counts.output_tokens),
            short(
                row.counts.output_tokens / its_calls if (its_calls := row.counts.calls_with_tokens) else None
            ),
        ]
        for row in rows
        if row.counts.with_tokens
    ]
    table = Table([*key_columns(report.by), *columns], cells)
    return Section("tokens", "Tokens", about, [table] if cells else [])


def _duplicates(report: BulkReport) -> Section:
    found = report.duplicates
    about = "Recordings whose bodies are the same, byte for byte (content_hash)."
    if not found.exact:
        about += " There are more than a million different ones, so this is an estimate, good to about 0.2 %."
    tilde = "" if found.exact else "about "
    facts = [
        Fact("with a hash", f"{found.hashed:,}", _of(found.hashed, report.total.recordings, "recordings")),
        Fact("different", f"{tilde}{found.distinct:,}"),
        Fact("surplus", f"{tilde}{found.surplus:,}", _of(found.surplus, found.hashed, "these")),
    ]
    return Section("duplicates", "Duplicates", about, [facts] if found.hashed else [])


def _unreadable(report: BulkReport, most: int) -> Section:
    its = report.unreadable
    about = (
        f"{counted(its.recordings, 'recording')} could not be read to the end. They are counted nowhere else, and "
        f"neither are {counted(its.calls, 'call')} before the damage."
    )
    columns = [
        Column("recordings"),
        Column("what went wrong", is_text=True),
        Column("the first one", is_text=True),
    ]
    rows = [
        [
            number(count),
            Cell(trouble, trouble),
            Cell(its.examples.get(trouble, ""), its.examples.get(trouble)),
        ]
        for trouble, count in its.troubles.most_common(most)
    ]
    return Section(
        "unreadable",
        "Unreadable",
        about if rows else "All recordings could be read.",
        [Table(columns, rows)] if rows else [],
    )


def _worst(report: BulkReport) -> Section:
    about = (
        "The recordings with the most drops and faults. Paths are below the folder that was scanned: `wholecall inspect` "
        "shows there what happened."
    )
    columns = [
        Column("dropped"),
        Column("faults"),
        Column("why", is_text=True),
        Column("recording", is_text=True, worth=3),
        Column("to look at it", is_text=True),
    ]
    rows = [
        [
            number(one.dropped, "bad"),
            number(one.faults, "bad"),
            Cell(words_of(one.words), ""),
            *_found_at(one),
        ]
        for one in report.worst
    ]
    return Section("worst", "The worst recordings", about, [Table(columns, rows)] if rows else [])


def _found_at(one: Worst) -> tuple[Cell, Cell]:
    """Return the name of a recording, unless its command contains it, and a command that shows the recording."""
    if not one.is_file or one.source is None:
        return Cell(one.recording_id, one.recording_id), Cell("")
    name = "" if one.recording_id == one.source else one.recording_id
    path = f"./{one.source}" if one.source.startswith("-") else one.source
    return Cell(name, name), Cell(f"wholecall inspect {shlex.quote(path)}", "", "code")


def words_of(counts: dict[str, int]) -> str:
    """Return words with their counts, as `wholecall lint` lists them."""
    return ", ".join(word if count == 1 else f"{word} x{count}" for word, count in counts.items())
