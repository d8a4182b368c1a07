"""Columns as numbers: rows are counted by several columns without a loop over rows.

Theory of operation. A column is *coded*: each of its values gets a number, and rows have numbers instead of values. The
numbers of several columns make one number, which Arrow counts; only the few existing combinations reach Python. Callers
pass at most some 100,000 rows, so that numbers of three columns fit 64 bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute

_private = True

pc: Any = pyarrow.compute  # its functions are made at import


class Coded(NamedTuple):
    """A column of which row n holds `values[codes[n]]`.

    Attributes:
        codes: an array of `int64`.
        values: the values of the codes; two codes may have the same value.
    """

    codes: Any
    values: Sequence[Any]

    def take(self, rows: Any) -> Coded:
        """Return these rows."""
        return self._replace(codes=self.codes.take(rows))

    def filter(self, mask: Any) -> Coded:
        """Return the rows where a mask is true."""
        return self._replace(codes=self.codes.filter(mask))

    def crossed(self, other: Coded) -> Coded:
        """Return the pairs of two columns: values are tuples of a value of this column and one of the other."""
        both, width = coded(_joined([self, other])), len(other.values)
        pairs = [divmod(code, width) for code in both.values]
        return both._replace(values=[(*self.values[one], other.values[two]) for one, two in pairs])


def coded(column: Any) -> Coded:
    """Return an array as coded values; null is a value, too."""
    encoded = pc.dictionary_encode(column, null_encoding="encode")
    return Coded(encoded.indices.cast(pa.int64()), encoded.dictionary.to_pylist())


def constant(value: Any, n_rows: int) -> Coded:
    """Return a column with the same value everywhere."""
    return Coded(pa.repeat(_int(0), n_rows), [value])


def numbers(count: int) -> Any:
    """Return the numbers of rows: from 0 to `count` less one."""
    return pc.subtract(pc.cumulative_sum(pa.repeat(_int(1), count)), _int(1))


def tallied(*columns: Coded) -> Iterator[tuple[Any, ...]]:
    """Yield each combination of values in columns of equal length, followed by its number of rows.

    A combination is yielded twice if two codes have the same value.
    """
    counted = pc.value_counts(_joined(columns))
    for code, count in zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True):
        values, rest = [count], code
        for column in reversed(columns):
            rest, own = divmod(rest, len(column.values))
            values.append(column.values[own])
        yield tuple(reversed(values))


def distinct(rows: Any, n_rows: int, column: Coded) -> tuple[Any, Any, Coded]:
    """Number the pairs of a row and a value.

    Args:
        rows: an array of `int64`, below `n_rows`.
        n_rows: how many rows there are.
        column: of the same length as `rows`.

    Returns:
        for each entry the number of its pair; for each pair its row; for each pair its value.
    """
    width = max(len(column.values), 1)
    encoded = pc.dictionary_encode(_joined([Coded(rows, range(n_rows)), column]))
    pairs = encoded.dictionary
    owners = pc.divide(pairs, _int(width))
    rest = pc.subtract(pairs, pc.multiply(owners, _int(width)))
    return encoded.indices.cast(pa.int64()), owners, column._replace(codes=rest)


def summed(column: Coded, numbers: Mapping[str, Any]) -> Iterator[tuple[Any, dict[str, int]]]:
    """Yield each value of a column with the sums of numbers of its rows; a value may be repeated as in `tallied`."""
    table = pa.table({"": column.codes, **numbers})
    sums = table.group_by("", use_threads=False).aggregate([(name, "sum") for name in numbers])
    for row in sums.to_pylist():
        code = row.pop("")
        yield column.values[code], {name.removesuffix("_sum"): total or 0 for name, total in row.items()}


def _joined(columns: Sequence[Coded]) -> Any:
    joined = columns[0].codes
    for column in columns[1:]:
        joined = pc.add(pc.multiply(joined, _int(len(column.values))), column.codes)
    return joined


def _int(number: int) -> Any:
    """Return a number as an Arrow scalar: converting a Python number costs more than its use."""
    return pa.scalar(number, pa.int64())
