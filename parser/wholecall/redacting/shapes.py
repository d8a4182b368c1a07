"""The part of events that does not depend on letters: everything except texts, and the sizes of texts.

Theory of operation. Words of this package and of the protocol are compared as they are, ids and names by which of them
are equal, all other text by its number of characters; values other than text are compared as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from wholecall import Event
from wholecall.redacting.rules import is_long_number

__all__ = ["shape"]

_WORDS = frozenset(
    [
        "type",
        "kind",
        "dialect",
        "reason",
        "provider_reason",
        "status",
        "flags",
        "edits",
        "anomalies",
        "usage",
    ]
)
_LABELS = frozenset({"id", "name", "namespace", "model"})


def shape(events: Iterable[Event[Any]]) -> list[Any]:
    """Return the events of one stream without their letters."""
    labels: dict[tuple[str, str], int] = {}
    return [
        {key: _of(key, value, labels) for key, value in msgspec.to_builtins(event).items()}
        for event in events
    ]


def _of(key: str, value: Any, labels: dict[tuple[str, str], int]) -> Any:
    if key in _WORDS:
        return value if key != "usage" else _counted(value)
    if key in _LABELS and isinstance(value, str):
        return labels.setdefault((key, value), len(labels)), len(value)
    return _sizes(value)


def _sizes(value: Any) -> Any:
    """Return a value of JSON with the sizes of its texts."""
    if isinstance(value, str):
        return ("text", len(value))
    if isinstance(value, dict):
        return [(len(key), _sizes(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [_sizes(one) for one in value]
    return _number(value)


def _counted(value: Any) -> Any:
    """Return usage counts with the sizes of their long numbers."""
    if isinstance(value, dict):
        return {key: _counted(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_counted(one) for one in value]
    return _number(value)


def _number(value: Any) -> Any:
    is_long = type(value) is int and is_long_number(str(value))
    return ("number", len(str(value))) if is_long else value
