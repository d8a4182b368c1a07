"""A report as one self-contained page (see `pages`): tables that sort, bars, heat maps, histograms.

Theory of operation. The page is whole without its script, which only sorts and folds tables. It holds names, words and
counts; no text of arguments is in a report. All content of an element is escaped text, or is markup made here. Figures
are inline SVG, whose sizes are attributes: the page's policy forbids styles other than its own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wholecall.cli import show
from wholecall.cli.markup import Frame, element, facts, framed, headed, safe, wide
from wholecall.cli.report import sections

if TYPE_CHECKING:
    from wholecall.bulk.reporting.result import BulkReport

_MOST_ROWS = 500
_MOST_WORDS = 40  # columns of a heat map
_MOST_BARS = 96
_WIDTH, _HEIGHT, _FOOT = 760, 74, 18  # of a histogram in its own units, and of the labels below it


def html_of(report: BulkReport) -> str:
    """Return a report as a page."""
    found = list(sections.sections_of(report, _MOST_ROWS))
    shown = [section for section in found if section.parts]
    unshown = [section.title.lower() for section in found if not section.parts]
    total = report.total
    about = f"{total.bytes / 1e6:,.1f} MB of responses, grouped by {' and '.join(report.by)}."
    if unshown:
        about += f" No data for: {', '.join(unshown)}."
    return framed(
        Frame(
            command="report",
            title=f"Tool calls of {show.counted(total.recordings, 'recording')}",
            about=about,
            promise="The page holds names and counts, no arguments and no texts, and asks no network for anything.",
        ),
        [(section.id, section.title, _section(section)) for section in shown],
    )


def _section(section: sections.Section) -> str:
    title = element("h2", safe(section.title), id=f"{section.id}-title") if section.about else ""
    about = element("p", safe(section.about)) if section.about else ""
    parts = "\n".join(markup for part in section.parts for markup in _SHOWN[type(part)](part, section.title))
    return f"{title}{about}\n{parts}"


def _facts(found: Sequence[sections.Fact], _title: str) -> Iterator[str]:
    yield facts((fact.name, fact.text, fact.tone, fact.more) for fact in found)


def _bars(bars: sections.Bars, title: str) -> Iterator[str]:
    all_of, most = sum(count for _, count in bars.counts), bars.counts[0][1]
    rows = [
        element("td", safe(word), class_="name")
        + element("td", bar(count / most), class_="full")
        + element("td", f"{count:,}")
        + element("td", sections.short_share(count / all_of), class_="dim")
        for word, count in bars.counts
    ]
    body = element("tbody", "".join(element("tr", row) for row in rows))
    yield wide(element("table", body, class_="bars"), f"{title}: number of {bars.of} by word")


# Tables.


def _table(table: sections.Table, title: str) -> Iterator[str]:
    kept = [n for n in range(len(table.columns)) if any(row[n].text for row in table.rows)]
    most = [max((its[2] for row in table.rows if (its := row[n].bar)), default=0) for n in kept]
    rows = [
        element(
            "tr",
            "".join(_cell(row[n], table.columns[n], top) for n, top in zip(kept, most, strict=True)),
            class_="rest" if row[0].value is None else None,
        )
        for row in table.rows
    ]
    heads = "".join(_head(table.columns[n]) for n in kept)
    yield wide(element("table", headed(heads, rows)), f"{title}: table")


def _head(column: sections.Column, class_: str = "") -> str:
    button = element("button", safe(column.name), type="button", title=column.about)
    return element("th", button, scope="col", class_="name" if column.is_text else class_)


def _cell(cell: sections.Cell, column: sections.Column, most: float) -> str:
    if column.is_text:
        inner = element("code", safe(cell.text)) if cell.tone == "code" and cell.text else safe(cell.text)
        tone = "" if cell.tone == "code" else f" {cell.tone}"
        title = cell.text if len(cell.text) > 20 and cell.tone != "code" else None
        return element(
            "td", inner, class_=f"name{tone}".strip() if cell.tone != "code" else "command", title=title
        )
    drawn = rate(*cell.bar, most) if cell.bar and most else ""
    text = element("span", safe(cell.text)) if drawn else safe(cell.text)
    value = "" if cell.value is None else str(cell.value)
    return element("td", drawn + text, class_=cell.tone).replace("<td", f'<td data-value="{value}"', 1)


# Heat maps.


def _matrix(matrix: sections.Matrix, title: str) -> Iterator[str]:
    words = matrix.words[:_MOST_WORDS]
    heads = "".join(map(_head, matrix.columns)) + _head(sections.Column(matrix.of), "of")
    heads += "".join(_head(sections.Column(word, about=f"{word}: share of {matrix.of}")) for word in words)
    rows = [
        element(
            "tr",
            "".join(_cell(cell, column, 0) for cell, column in zip(key, matrix.columns, strict=True))
            + _cell(sections.Cell(f"{whole:,}", whole), sections.Column(matrix.of), 0)
            + "".join(_heated(said.get(word, 0), whole, word) for word in words),
            class_="rest" if key[0].value is None else None,
        )
        for key, whole, said in matrix.rows
    ]
    yield element(
        "p",
        f"In per cent of the {matrix.of} of each group; the stronger the colour, the more.",
        class_="note",
    )
    yield wide(
        element("table", headed(heads, rows), class_="heat"), f"{title}: shares of {matrix.of} by word"
    )


def _heated(count: int, whole: int, word: str) -> str:
    if not count:
        return '<td class="cell zero" data-value="0"><span>·</span></td>'
    share = count / whole
    inner = heat(share) + element("span", sections.short_share(share).removesuffix(" %"))
    return element(
        "td", inner, class_="cell", data_value=f"{share:.6g}", title=f"{word}: {count:,} of {whole:,}"
    )


_SHOWN: dict[type, Callable[[Any, str], Iterator[str]]] = {
    list: _facts,
    sections.Bars: _bars,
    sections.Curves: lambda curves, _title: figures(curves),
    sections.Matrix: _matrix,
    sections.Table: _table,
}


# Figures.


def _svg(
    class_: str, width: float, height: float, inner: str, *, label: str = "", is_stretched: bool = True
) -> str:
    return element(
        "svg",
        inner,
        class_=class_,
        viewBox=f"0 0 {width:g} {height:g}",
        preserveAspectRatio="none" if is_stretched else None,
        role="img" if label else None,
        aria_label=label,
        aria_hidden=None if label else "true",
    )


def bar(share: float) -> str:
    """Return a bar for a share of the whole width."""
    return _svg("bar", 100, 10, element("rect", class_="fill", width=f"{100 * share:.2f}", height=10))


def rate(share: float, low: float, high: float, most: float) -> str:
    """Return a bar with the interval around its end.

    Args:
        share: the length of the bar.
        low: where the interval begins.
        high: where it ends.
        most: the value of the whole width.
    """
    scale = 100 / most
    inner = element("rect", class_="fill", y=2, width=f"{scale * share:.2f}", height=8)
    inner += element("line", x1=f"{scale * low:.2f}", x2=f"{min(scale * high, 100):.2f}", y1=6, y2=6)
    return _svg("rate", 100, 12, inner)


def heat(share: float) -> str:
    """Return the background of a cell; a larger share makes it stronger."""
    return _svg("", 1, 1, element("rect", width=1, height=1, fill_opacity=f"{0.12 + 0.88 * share:.2f}"))


# Histograms.


def figures(curves: sections.Curves) -> Iterator[str]:
    """Yield a histogram for each curve that has values; all have the same axis, which excludes 0."""
    shown = {name: its.above_zero() for name, its in curves.curves.items()}
    places = [bucket for buckets in shown.values() for bucket in buckets]
    if not places:
        return
    axis = _Axis(min(places), max(places), next(iter(curves.curves.values())).STEPS)
    for name, buckets in shown.items():
        if buckets:
            count, all_of = sum(buckets.values()), curves.curves[name].total
            left_out = f", and {all_of - count:,} that are 0" if count < all_of else ""
            yield _figure(f"{name} in {curves.unit} ({count:,} values{left_out})", axis, buckets)


class _Axis:
    """An axis that grows by doubling; a bar is of one bucket, or of several if there are many.

    Args:
        least: the first bucket.
        most: the last bucket.
        steps: how many buckets a doubling has.
    """

    def __init__(self, least: int, most: int, steps: int) -> None:
        self.least, self.step = least, math.ceil((most - least + 1) / _MOST_BARS)
        self.n_bars = (most - least) // self.step + 1
        self._decade = steps / math.log10(2)  # buckets

    @property
    def bar_width(self) -> float:
        """Return the width of a bar."""
        return min(_WIDTH / self.n_bars, 24)

    def ticks(self) -> Iterator[tuple[float, str]]:
        """Yield places on the axis with the values there: powers of ten."""
        end = self.least + self.n_bars * self.step
        for power in range(math.ceil(self.least / self._decade), math.floor(end / self._decade) + 1):
            place = (power * self._decade - self.least) / self.step
            yield place * self.bar_width, f"{10.0**power:,.10g}"


def _figure(caption: str, axis: _Axis, buckets: Mapping[int, int]) -> str:
    heights = [0] * axis.n_bars
    for bucket, count in buckets.items():
        heights[(bucket - axis.least) // axis.step] += count
    base = element("line", class_="axis", x1=0, x2=_WIDTH, y1=_HEIGHT, y2=_HEIGHT)
    marks = "".join(
        element("line", class_="axis", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=_HEIGHT, y2=_HEIGHT + 5)
        + element("text", text, x=f"{x + 4:.1f}", y=_HEIGHT + 14)
        for x, text in axis.ticks()
    )
    drawn = "".join(_drawn(heights, axis.bar_width)) + base + marks
    picture = _svg("", _WIDTH, _HEIGHT + _FOOT, drawn, label=f"Histogram: {caption}", is_stretched=False)
    return element("figure", element("figcaption", safe(caption)) + element("div", picture, class_="wide"))


def _drawn(heights: Sequence[int], width: float) -> Iterator[str]:
    most = max(heights)
    for n, count in enumerate(heights):
        if count:
            height = max(count / most * (_HEIGHT - 4), 1)
            title = element("title", f"{count:,}")
            yield element(
                "rect",
                title,
                class_="fill",
                x=f"{n * width + 0.5:.2f}",
                y=f"{_HEIGHT - height:.2f}",
                width=f"{max(width - 1, 0.5):.2f}",
                height=f"{height:.2f}",
            )
