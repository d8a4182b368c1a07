"""Names and ids as models write them: prefixes, counters and doublings that templates put round a tool's name."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final, NamedTuple

__all__ = ["LONGEST", "NAME", "Named", "cleaned"]

LONGEST: Final = 256  # characters of a name
# A letter of any script, a digit or `_` first: no signs, for documents write `<tool_call>` and a line end.
NAME: Final = re.compile(r"\w[\w.\-:/]*")

_COUNTED = re.compile(r"(.+?):\d+")
_PREFIX = re.compile(r"(?:functions\.|function\.|tools\.|default_api:)(.+)", re.DOTALL)


class Named(NamedTuple):
    """A tool's name, and the id that the model wrote with it."""

    name: str
    id: str | None


def cleaned(written: str, declared: Container[str]) -> Named:
    """Return the name that was meant: what is declared as it stands is not touched.

    `functions.NAME:IDX` is an id as well.
    """
    name, id = written.strip(), None
    counted = _COUNTED.fullmatch(name)
    if counted is not None and name not in declared:
        name, id = counted[1], name
    prefixed = _PREFIX.fullmatch(name)
    if prefixed is not None and name not in declared:
        name = prefixed[1]
    half, dot, rest = name.partition(".")
    if dot and half == rest and name not in declared and half in declared:
        name = half
    return Named(name, id)
