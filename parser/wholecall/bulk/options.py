"""The options of a scan, checked before anything is read.

Theory of operation. Two scans with equal `Options` and equal inputs write equal bytes; a setting without influence on
the bytes (the number of workers, when to give up) is a part of the `Request` only. The options are stored next to the
tables, so that a scan continues with its original options.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any, Literal

import msgspec

from wholecall import Limits, Policy, ToolCallParser, UnknownDialect
from wholecall.bulk.addresses import address
from wholecall.dialects.table import load_plugins

_private = True

Start = Literal["new", "resume", "overwrite"]
Changed = Literal["refuse", "redo", "keep"]
_SURE = 1_000  # recordings from which on a share of unreadable recordings counts


class Columns(msgspec.Struct, frozen=True, kw_only=True):
    """The columns of a table by their role; `a.b` is the member `b` of the struct `a`.

    Attributes:
        body: the raw body of the response, text or bytes; None where there is a column of messages.
        messages: the conversation, a text of JSON or lists of structs.
        id: the column that becomes `recording_id`; None makes it of the source and the number of the row.
        provider: the provider that answered.
        model: the requested model.
        dialect: the name of the wire format.
        recorded_at: the time of recording.
    """

    body: str | None = None
    messages: str | None = None
    id: str | None = None
    provider: str | None = None
    model: str | None = None
    dialect: str | None = None
    recorded_at: str | None = None

    @property
    def main(self) -> str:
        """The column that becomes rows."""
        return self.body or self.messages or ""

    def named(self) -> dict[str, str]:
        """Return the columns that exist, by role."""
        return {role: name for role, name in msgspec.structs.asdict(self).items() if name is not None}


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """The options on which the tables depend.

    Attributes:
        columns: the columns of tables; None where the inputs are files of recordings.
        dialect: the wire format of all recordings; None detects it in each.
        policy: the policy for judging calls.
        limits: the limits of a stream.
        arguments: whether the texts of arguments are kept.
        hashed: whether bodies are hashed.
        max_bytes: the largest content of a compressed file, and of a compressed body in it; None for the usual bound.
        imports: modules that register dialects; modules of installed packages are loaded without it.
    """

    columns: Columns | None = None
    dialect: str | None = None
    policy: Policy = Policy()
    limits: Limits = Limits()
    arguments: bool = True
    hashed: bool = True
    max_bytes: int | None = None
    imports: tuple[str, ...] = ()

    def register(self) -> None:
        """Register the dialects of other packages in the process that reads.

        Raises:
            ImportError: there is no such module.
            ValueError: it registers a dialect that exists already.
        """
        load_plugins()
        for module in self.imports:
            import_module(module)

    def told(self) -> dict[str, Any]:
        """Return the options as JSON values."""
        told: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return told


def differences(then: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """Return the differences between the options of two scans, a text each."""
    before, after = dict(_flat(then)), dict(_flat(now))
    names = sorted(before.keys() | after.keys())
    return [
        f"{name} was {_shown(before, name)} and is {_shown(after, name)}"
        for name in names
        if before.get(name) != after.get(name)
    ]


def _flat(values: dict[str, Any], under: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{under}{name}.")
        else:
            yield f"{under}{name}", value


def _shown(values: dict[str, Any], name: str) -> str:
    return repr(values[name]) if values.get(name) is not None else "the default"


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
