"""Print the source that the table of a dialect is compiled to: `python -m tests.support.compiled cohere-v2`."""

from __future__ import annotations

import linecache
import sys

from wholecall.dialects.compiled import TableTranslator, source_of
from wholecall.dialects.table import named


def compiled(dialect: str) -> str:
    """Return the functions of a dialect's rows and, if it has a short way, the function that reads its pieces.

    Raises:
        TypeError: the dialect is no table.
    """
    cls = type(named(dialect).start())
    if not issubclass(cls, TableTranslator) or not source_of(cls):
        raise TypeError(f"{dialect} is not a table; its translator is {cls.__module__}.{cls.__name__}")
    pieces = "".join(linecache.getlines(f"<the pieces of {cls.__name__}>"))
    return "\n\n".join(filter(None, [source_of(cls), pieces]))


if __name__ == "__main__":
    print(compiled(sys.argv[1]))  # noqa: T201 - that is what it is for
