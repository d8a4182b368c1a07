"""A report as one self-contained page (see `pages`): tables that sort, bars, heat maps, histograms.

Theory of operation. The page is whole without its script, which only sorts and folds tables. It holds names, words and
counts; no text of arguments is in a report.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from wholecall import __version__
from wholecall.cli.pages import page_of
from wholecall.cli.reporting.markup import bar, element, figures, heat, rate, safe
from wholecall.cli.reporting.sections import sections_of
from wholecall.cli.reporting.shapes import (
    Bars,
    Cell,
    Column,
    Curves,
    Fact,
    Matrix,
    Section,
    Table,
    short_share,
)
from wholecall.cli.show import counted

if TYPE_CHECKING:
    from wholecall.bulk.reporting import BulkReport

__all__ = ["html_of"]

_STYLES = ("colours.css", "report.css")
_SCRIPTS = ("theme.js", "report.js")
_MOST_ROWS = 500
_MOST_WORDS = 40  # columns of a heat map


def html_of(report: BulkReport) -> str:
    """Return a report as a page."""
    sections = list(sections_of(report, _MOST_ROWS))
    shown = [section for section in sections if section.parts]
    unshown = [section.title.lower() for section in sections if not section.parts]
    total = report.total
    about = f"{total.bytes / 1e6:,.1f} MB of responses, grouped by {' and '.join(report.by)}."
    if unshown:
        about += f" No data for: {', '.join(unshown)}."
    return page_of(
        "report.html",
        _STYLES,
        _SCRIPTS,
        title=safe(f"Tool calls of {counted(total.recordings, 'recording')}"),
        about=safe(about),
        links="".join(element("a", safe(section.title), href=f"#{section.id}") for section in shown),
        sections="\n".join(map(_section, shown)),
        version=safe(__version__),
    )


def _section(section: Section) -> str:
    title = element("h2", safe(section.title), id=f"{section.id}-title") if section.about else ""
    about = element("p", safe(section.about)) if section.about else ""
    parts = "\n".join(markup for part in section.parts for markup in _SHOWN[type(part)](part, section.title))
    return element("section", f"{title}{about}\n{parts}", id=section.id, aria_label=section.title)


def _facts(facts: Sequence[Fact], _title: str) -> Iterator[str]:
    yield element("dl", "".join(map(_fact, facts)), class_="facts")


def _fact(fact: Fact) -> str:
    more = element("small", safe(fact.more)) if fact.more else ""
    return element(
        "div", element("dt", safe(fact.name)) + element("dd", safe(fact.text) + more, class_=fact.tone)
    )


def _bars(bars: Bars, title: str) -> Iterator[str]:
    all_of, most = sum(count for _, count in bars.counts), bars.counts[0][1]
    rows = [
        element("td", safe(word), class_="name")
        + element("td", bar(count / most), class_="full")
        + element("td", f"{count:,}")
        + element("td", short_share(count / all_of), class_="dim")
        for word, count in bars.counts
    ]
    body = element("tbody", "".join(element("tr", row) for row in rows))
    yield _wide(element("table", body, class_="bars"), f"{title}: number of {bars.of} by word")


def _wide(table: str, label: str) -> str:
    """Return a table that scrolls sideways if it is too wide."""
    return element("div", table, class_="wide", tabindex="0", role="region", aria_label=label)


# Tables.


def _table(table: Table, title: str) -> Iterator[str]:
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
    yield _wide(element("table", _headed(heads, rows)), f"{title}: table")


def _headed(heads: str, rows: Sequence[str]) -> str:
    return element("thead", element("tr", heads)) + "\n" + element("tbody", "\n".join(rows))


def _head(column: Column, class_: str = "") -> str:
    button = element("button", safe(column.name), type="button", title=column.about)
    return element("th", button, scope="col", class_="name" if column.is_text else class_)


def _cell(cell: Cell, column: Column, most: float) -> str:
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


def _matrix(matrix: Matrix, title: str) -> Iterator[str]:
    words = matrix.words[:_MOST_WORDS]
    heads = "".join(map(_head, matrix.columns)) + _head(Column(matrix.of), "of")
    heads += "".join(_head(Column(word, about=f"{word}: share of {matrix.of}")) for word in words)
    rows = [
        element(
            "tr",
            "".join(_cell(cell, column, 0) for cell, column in zip(key, matrix.columns, strict=True))
            + _cell(Cell(f"{whole:,}", whole), Column(matrix.of), 0)
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
    yield _wide(
        element("table", _headed(heads, rows), class_="heat"), f"{title}: shares of {matrix.of} by word"
    )


def _heated(count: int, whole: int, word: str) -> str:
    if not count:
        return '<td class="cell zero" data-value="0"><span>·</span></td>'
    share = count / whole
    inner = heat(share) + element("span", short_share(share).removesuffix(" %"))
    return element(
        "td", inner, class_="cell", data_value=f"{share:.6g}", title=f"{word}: {count:,} of {whole:,}"
    )


_SHOWN: dict[type, Callable[[Any, str], Iterator[str]]] = {
    list: _facts,
    Bars: _bars,
    Curves: lambda curves, _title: figures(curves),
    Matrix: _matrix,
    Table: _table,
}
