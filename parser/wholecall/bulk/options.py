"""Options on which the tables of a scan depend in addition to its inputs.

Theory of operation. Two scans with equal options and equal inputs write equal bytes; a setting without influence on the
bytes (the number of workers, when to give up) is not an option here. The options are stored next to the tables, so that
a scan continues with its original options.
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

import msgspec

from wholecall import Limits, Policy
from wholecall.dialects.table import load_plugins

__all__ = ["Columns", "Options", "differences"]
_private = True


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
        return {what: name for what, name in msgspec.structs.asdict(self).items() if name is not None}


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
