"""The share of a large enumeration that a run tries: another one after each change of the package.

A run over the same source gives the same verdict. Over many changes all is tried; `HYPOTHESIS_PROFILE=long` tries all
at once.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, TypeVar
from zlib import crc32

import pytest

import wholecall

Item = TypeVar("Item")
REST_IN = 9  # of what the quick tests leave out the slow tests take every so-manieth


def begin(n: int, name: str, *, source: int | None = None) -> int:
    """Return where to begin with every n-th: a number below n that depends on a name and on the source."""
    return crc32(name.encode(), _source() if source is None else source) % n


def every(n: int, items: Sequence[Item], name: str) -> Sequence[Item]:
    """Return every n-th of the items, beginning at another one for each name and source; or all."""
    return items if tries_all() else items[begin(n, name) :: n]


def is_later(n: int, name: str, number: int) -> bool:
    """Return whether a run that tries every n-th item leaves out the one with this number."""
    return not tries_all() and number % n != begin(n, name)


class Part(NamedTuple):
    """Every n-th item of an enumeration, or a share of all others.

    Attributes:
        one_in: the n.
        is_rest: whether these are the others.
        rest_in: of the others every so-manieth is tried.
    """

    one_in: int
    is_rest: bool
    rest_in: int = REST_IN

    def of(self, items: Iterable[Item], name: str) -> list[Item]:
        """Return the items of this part; where it begins depends on the name and on the source.

        Of a shorter enumeration the quick tests take one item.
        """
        known = [*items]
        first = begin(min(self.one_in, len(known)), name) if known else 0
        chosen = [item for n, item in enumerate(known) if (n % self.one_in != first) == self.is_rest]
        return [*every(self.rest_in, chosen, f"{name}, the rest")] if self.is_rest else chosen


def in_parts(one_in: int, rest_in: int = REST_IN, *, argument: str = "part") -> Any:
    """Return a mark: the quick tests try a `part` of a test's enumeration, every n-th item, and the slow tests a share of the rest.

    With a `rest_in` of 1 the slow tests leave nothing out. The part is the argument of that name.
    """
    rest = pytest.param(Part(one_in, is_rest=True, rest_in=rest_in), id="the rest", marks=pytest.mark.slow)
    return pytest.mark.parametrize(argument, [pytest.param(Part(one_in, is_rest=False), id="a part"), rest])


def tries_all() -> bool:
    """Return whether this run leaves nothing out."""
    return os.environ.get("HYPOTHESIS_PROFILE") == "long"


@cache
def _source() -> int:
    """Return a number that differs between versions of the package."""
    number = 0
    for path in sorted(Path(wholecall.__file__).parent.rglob("*.py")):
        number = crc32(path.read_bytes(), number)
    return number
