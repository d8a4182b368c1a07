"""A report on a terminal: tables that fit its width.

Theory of operation. Names come from the wire, so each passes through `printable`. If a table is too wide its names are
shortened, and then columns with a lower worth are dropped; a command to be copied is never cut.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from wholecall.cli.report import sections
from wholecall.cli.show import cells, clipped, padded, printable, wrapped

if TYPE_CHECKING:
    from wholecall.bulk.reporting.result import BulkReport

_MOST_ROWS = 20
_LEAST_NAME = 16  # cells that a name gets before a column is dropped
_GAP = 2
_CODES = {"bold": 1, "dim": 2, "bad": 31}

Paint = Callable[[str, str], str]


def text_of(report: BulkReport, width: int, *, colour: bool) -> Iterator[str]:
    """Yield the lines of a report.

    Args:
        report: the counts.
        width: columns of a line.
        colour: whether to use ANSI colours.
    """
    paint = _painted if colour else lambda text, _: text
    for section in sections.sections_of(report, _MOST_ROWS):
        if section.parts:
            yield from _heading(section, width, paint)
            for part in section.parts:
                yield from _SHOWN[type(part)](part, width, paint)


def _painted(text: str, tone: str) -> str:
    code = _CODES.get(tone)
    return f"\x1b[{code}m{text}\x1b[0m" if code and text.strip() else text


def _heading(section: sections.Section, width: int, paint: Paint) -> Iterator[str]:
    if section.about:
        yield ""
        yield paint(section.title, "bold")
        yield from (paint(line, "dim") for line in wrapped(section.about, width))
        yield ""


def _facts(facts: Sequence[sections.Fact], width: int, paint: Paint) -> Iterator[str]:
    names = max(cells(fact.name) for fact in facts)
    texts = max(cells(fact.text) for fact in facts)
    for fact in facts:
        text = paint(fact.text.rjust(texts), fact.tone)
        more = clipped(fact.more, max(width - names - texts - 2 * _GAP, 0))
        yield f"{padded(fact.name, names)}  {text}  {paint(more, 'dim')}".rstrip()


def _bars(bars: sections.Bars, _width: int, paint: Paint) -> Iterator[str]:
    all_of = sum(count for _, count in bars.counts)
    longest = max(len(f"{count:,}") for _, count in bars.counts)
    for word, count in bars.counts:
        yield f"{count:{longest},}  {paint(sections.short_share(count / all_of).rjust(7), 'dim')}  {printable(word)}"
    yield ""


def _matrix(matrix: sections.Matrix, width: int, paint: Paint) -> Iterator[str]:
    columns = [*matrix.columns, sections.Column(matrix.of), sections.Column(matrix.name, is_text=True)]
    rows = [
        [*key, sections.Cell(f"{whole:,}", whole), sections.Cell(", ".join(_shares(whole, said)), "")]
        for key, whole, said in matrix.rows
    ]
    yield from table_lines(sections.Table(columns, rows), width, paint)


def _shares(whole: int, said: Mapping[str, int]) -> Iterator[str]:
    for word, count in sorted(said.items(), key=lambda item: (-item[1], item[0])):
        yield f"{word} {sections.short_share(count / whole)}"


def _curves(_curves: sections.Curves, _width: int, _paint: Paint) -> Iterator[str]:
    """Yield nothing: the tables have the quantiles."""
    return iter(())


# Tables.


def table_lines(table: sections.Table, width: int, paint: Paint) -> Iterator[str]:
    """Yield the lines of a table."""
    heads = [sections.Cell(column.name) for column in table.columns]
    shown = [[cell._replace(text=printable(cell.text)) for cell in row] for row in (heads, *table.rows)]
    widths = _widths(table, shown, width)
    for row in shown:
        parts = (
            _placed(cell, column, room, paint)
            for cell, column, room in zip(row, table.columns, widths, strict=True)
            if room
        )
        yield (" " * _GAP).join(parts).rstrip()


def _placed(cell: sections.Cell, column: sections.Column, room: int, paint: Paint) -> str:
    if not column.is_text:
        return paint(cell.text.rjust(room), cell.tone)
    text = cell.text if cell.tone == "code" else clipped(cell.text, room)
    return paint(padded(text, room), cell.tone)


def _widths(table: sections.Table, rows: Sequence[Sequence[sections.Cell]], width: int) -> list[int]:
    """Return how many cells each column gets, 0 for dropped columns."""
    wanted = [max(cells(row[n].text) for row in rows) for n in range(len(table.columns))]
    is_empty = [not any(row[n].text for row in rows[1:]) for n in range(len(table.columns))]
    kept = {n for n, empty in enumerate(is_empty) if not empty}
    names = {n for n in kept if table.columns[n].is_text}

    def room() -> int:
        """Return the room that is left for names."""
        return width - sum(wanted[n] for n in kept - names) - _GAP * (len(kept) - 1)

    while room() < sum(min(wanted[n], _LEAST_NAME) for n in names & kept):
        rest = [n for n in kept if table.columns[n].worth < _MOST_WORTH]
        if not rest:
            break
        kept.remove(min(rest, key=lambda n: table.columns[n].worth))
        names &= kept
    given = _dealt([wanted[n] for n in sorted(names)], room())
    by_column = dict(zip(sorted(names), given, strict=True))
    return [by_column.get(n, wanted[n]) if n in kept else 0 for n in range(len(table.columns))]


_MOST_WORTH = 9


def _dealt(wanted: Sequence[int], room: int) -> list[int]:
    """Distribute room to names: room that a short name does not need goes to the others."""
    given = dict.fromkeys(range(len(wanted)), 0)
    waiting = sorted(given, key=lambda n: wanted[n])
    while waiting:
        n = waiting.pop(0)
        given[n] = max(min(wanted[n], room // (len(waiting) + 1)), 4)
        room -= given[n]
    return list(given.values())


_SHOWN: dict[type, Callable[[Any, int, Paint], Iterator[str]]] = {
    list: _facts,
    sections.Bars: _bars,
    sections.Curves: _curves,
    sections.Matrix: _matrix,
    sections.Table: table_lines,
}
