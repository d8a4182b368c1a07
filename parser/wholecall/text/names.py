"""Names as models write them: prefixes, counters and doublings that templates put around a tool's name."""

from __future__ import annotations

import re
from collections.abc import Container
from typing import Final

LONGEST: Final = 256  # characters of a name
# A letter of any script, a digit or `_` first: no signs, because documents write `<tool_call>` and a line end.
NAME: Final = re.compile(r"\w[\w.\-:/]*")

_COUNTED = re.compile(r"(.+?):\d+")
_TOKENS = re.compile(r"(?:<\|\w+\|>)+\Z")  # of the template, which slip in after a name
_PREFIX = re.compile(r"(?:functions\.|function\.|tools\.|default_api:)(.+)", re.DOTALL)


def cleaned(written: str, declared: Container[str]) -> str:
    """Return the intended name: a name that is declared as written is not changed."""
    name = _TOKENS.sub("", written).strip()
    counted = _COUNTED.fullmatch(name)
    if counted is not None and name not in declared:
        name = counted[1]
    prefixed = _PREFIX.fullmatch(name)
    if prefixed is not None and name not in declared:
        name = prefixed[1]
    half, dot, rest = name.partition(".")
    if dot and half == rest and name not in declared and half in declared:
        name = half
    return name
