"""Shared parts of the readers of tables: the content of a row, and how a table is cut and read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Optional, Union

import msgspec

from wholecall.bulk.options import Columns
from wholecall.bulk.plan import Piece

__all__ = ["Found", "Table"]
_private = True

# Values by member of `Columns`: texts, bytes, a time. `trouble` is why there is no body.
Found = dict[str, Any]
Rows = Iterator[Optional[Union[Found, str]]]  # a text says why a row cannot be read; None is no row at all


class Table(msgspec.Struct, frozen=True):
    """The reader of tables in one format.

    Attributes:
        cut: yields the pieces of a table; raises ValueError for columns that are missing or of other types.
        rows: yields the content of each row of a piece; the last argument bounds compressed content, None for the usual
            bound.
    """

    cut: Callable[[Piece, Columns], Iterator[Piece]]
    rows: Callable[[Piece, Columns, Optional[int]], Rows]
