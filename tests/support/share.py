"""The share of a large enumeration that a run tries: another one after each change of the package.

A run over the same source gives the same verdict. Over many changes all is tried; `HYPOTHESIS_PROFILE=long` tries all
at once.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import wholecall

Item = TypeVar("Item")


def begin(n: int, name: str, *, source: int | None = None) -> int:
    """Return where to begin with every n-th: a number below n that depends on a name and on the source."""
    return crc32(name.encode(), _source() if source is None else source) % n


def every(n: int, items: Sequence[Item], name: str) -> Sequence[Item]:
    """Return every n-th of the items, beginning at another one for each name and source; or all."""
    return items if tries_all() else items[begin(n, name) :: n]


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
