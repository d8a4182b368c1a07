"""The parts of a report's section, on a terminal or on a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple, Union

if TYPE_CHECKING:
    from wholecall.bulk import Histogram

__all__ = [
    "Bars",
    "Cell",
    "Column",
    "Curves",
    "Fact",
    "Matrix",
    "Section",
    "Table",
    "key_columns",
    "number",
    "shared",
    "short",
    "short_share",
]


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
