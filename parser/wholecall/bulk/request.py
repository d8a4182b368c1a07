"""Check a scan's options before anything is read."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import msgspec

from wholecall import ToolCallParser, UnknownDialect
from wholecall.bulk.addresses import address
from wholecall.bulk.options import Columns, Options
from wholecall.bulk.planning import Changed, Start

__all__ = ["Errors", "Request", "request_of"]
_private = True

_SURE = 1_000  # recordings from which on a share of unreadable recordings counts


class Errors(msgspec.Struct, frozen=True):
    """The number of recordings that may be unreadable.

    Attributes:
        number: at most so many; None allows any number.
        share: at most this share of the recordings, from 0 to 1, once 1,000 were read; None allows any.
    """

    number: int | None = None
    share: float | None = None

    @classmethod
    def parse(cls, text: str) -> Errors:
        """Read `"N"` or `"P%"`.

        Raises:
            ValueError: it is neither.
        """
        digits = text.removesuffix("%")
        try:
            value = float(digits) if text != digits else int(digits)
        except ValueError:
            value = -1
        if not 0 <= value <= (100 if text != digits else float("inf")):
            raise ValueError(f"{text!r} is neither a number from 0 nor a percentage such as 2%")
        return cls(share=value / 100) if text != digits else cls(number=int(value))

    def allow(self, troubles: int, recordings: int, *, at_end: bool) -> bool:
        """Return whether a scan may continue."""
        if self.number is not None and troubles > self.number:
            return False
        is_sure = at_end or recordings >= _SURE
        return self.share is None or not is_sure or troubles <= self.share * recordings


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The request for a scan.

    Attributes:
        paths: the addresses of the inputs.
        out: the address of the output folder.
        options: the options on which the tables depend.
        start: how an existing scan is treated.
        changed: how inputs are treated that have changed since they were planned.
        workers: the number of processes; None takes one for each core.
        errors: how many recordings may be unreadable.
    """

    paths: tuple[str, ...]
    out: str
    options: Options
    start: Start = "new"
    changed: Changed = "refuse"
    workers: int | None = None
    errors: Errors = Errors()


def request_of(
    paths: Iterable[str | os.PathLike[str]],
    out: str | os.PathLike[str],
    *,
    body: str | None,
    messages: str | None = None,
    columns: dict[str, str | None],
    dialect: str | None,
    judging: dict[str, Any],
    **others: Any,
) -> Request:
    """Return a request whose parts fit together.

    Args:
        paths: the inputs.
        out: the output folder.
        body: the column of bodies, None without one.
        messages: the column of conversations, None without one; without both the inputs are files of recordings.
        columns: further columns.
        dialect: the name of a dialect, or of a column.
        judging: further options.
        others: further parts of the request.

    Raises:
        ValueError: the parts do not fit together.
        UnknownDialect: the dialect is not known.
        ImportError: a module that is to be imported is missing.
    """
    options = Options(dialect=dialect, **judging)
    options.register()
    given = [name for name, column in columns.items() if column is not None]
    if body is not None and messages is not None:
        raise ValueError("a table has a column of bodies or of messages: name one of them")
    if body is None and messages is None and given:
        raise ValueError(
            f"{given[0]} is a column of a table: say which column holds the bodies (body, or --body), or the "
            "messages (messages, or --messages)"
        )
    if messages is not None and dialect is not None:
        raise ValueError("a dialect is of raw bodies; messages show what they are: leave it out")
    workers = others.get("workers")
    if workers is not None and workers < 1:
        raise ValueError("there is at least one worker")
    is_table = body is not None or messages is not None
    table = Columns(body=body, messages=messages, **columns) if is_table else None
    if dialect is not None:
        table, dialect = _dialect(table, dialect)
    listed = tuple(os.fspath(path) for path in ([paths] if isinstance(paths, (str, os.PathLike)) else paths))
    if not listed:
        raise ValueError("there is nothing to read")
    options = msgspec.structs.replace(options, columns=table, dialect=dialect)
    named = tuple(map(address, listed))
    return Request(paths=named, out=address(os.fspath(out)), options=options, **others)


def _dialect(table: Columns | None, name: str) -> tuple[Columns | None, str | None]:
    """Return the meaning of a name: a dialect, or else a column."""
    try:
        ToolCallParser(name)
    except UnknownDialect:
        if table is None:
            raise
        return msgspec.structs.replace(table, dialect=name), None
    return table, name
