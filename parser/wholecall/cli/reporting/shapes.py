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
    """What stands in a row of a table.

    Attributes:
        text: what is shown; of the wire, where it is a name.
        value: what rows are sorted by, a number or a text; None comes last.
        tone: `""`, `"dim"` for what says little, `"bad"` for what went wrong, `"code"` for a command.
        bar: a share of 1 and an interval around it, drawn beside the text.

    A row whose first cell has no value is one of others: it stays the last.
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
        worth: where there is no room for all columns, those that are worth less go first.
        about: what it says, where its head is too short to.
    """

    name: str
    is_text: bool = False
    worth: int = 9
    about: str = ""


class Table(NamedTuple):
    """Rows of cells, in the order in which they say most."""

    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]


class Matrix(NamedTuple):
    """How often words were said, by group.

    Attributes:
        columns: what makes groups.
        rows: the cells of each group, of how many the next are shares, and how often each word was said.
        words: all words, the most frequent first.
        of: what the shares are of.
        name: of the words, where they have one column.
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
        unit: of the axis.
        curves: by name.
    """

    unit: str
    curves: Mapping[str, Histogram]


class Fact(NamedTuple):
    """A number that says something of everything."""

    name: str
    text: str
    more: str = ""
    tone: str = ""


class Section(NamedTuple):
    """A part of a report.

    Attributes:
        id: of its place in a page.
        title: its heading.
        about: what it shows, in a sentence or two.
        parts: what it shows, in order; with nothing to show the section says only why.
    """

    id: str
    title: str
    about: str
    parts: Sequence[Union[Table, Matrix, Bars, Curves, Sequence[Fact]]]


def number(count: int, tone: str = "") -> Cell:
    """Return a cell with a number."""
    return Cell(f"{count:,}", count, tone if count else "dim")


def shared(share: float | None, tone: str = "") -> Cell:
    """Return a cell with a share; nothing has none."""
    return Cell(short_share(share), share, tone if share else "dim")


def short_share(share: float | None) -> str:
    """Return a share as per cent, with two digits that say something."""
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
    """Return a cell with a measured value, to two digits; one that counts something has none behind the point."""
    return Cell("-", None, "dim") if value is None else Cell(_rounded(value, is_whole), value)


def _rounded(value: float, is_whole: bool) -> str:
    if value >= 100 or is_whole:
        return f"{float(f'{value:.2g}'):,.0f}"
    return f"{value:#.2g}".rstrip(".") if value else "0"


def key_columns(by: Sequence[str]) -> list[Column]:
    """Return the columns that say which group it is."""
    return [Column(name, is_text=True) for name in by]
