"""What of events does not depend on letters: all but the texts, and of these the sizes.

Theory of operation. Words of our own and of the protocol are compared as they are, ids by which of them are
equal, everything else by its number of characters; what is no text counts as it is.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from wholecall.events import Event

__all__ = ["shape"]

_WORDS = frozenset(
    "type kind dialect model reason provider_reason status flags edits anomalies usage".split()
)


def shape(events: Iterable[Event[Any]], *, names: bool) -> list[Any]:
    """Return events without their letters.

    Args:
        events: of one stream.
        names: whether names of tools are letters, too.
    """
    ids: dict[str, int] = {}
    words = _WORDS if names else _WORDS | {"name", "namespace"}
    return [
        {key: _of(key, value, words, ids) for key, value in msgspec.to_builtins(event).items()}
        for event in events
    ]


def _of(key: str, value: Any, words: frozenset[str], ids: dict[str, int]) -> Any:
    if key in words:
        return value
    if key == "id" and isinstance(value, str):
        return ids.setdefault(value, len(ids)), len(value)
    return _sizes(value)


def _sizes(value: Any) -> Any:
    """Return a value of JSON with the sizes of its texts."""
    if isinstance(value, str):
        return ("text", len(value))
    if isinstance(value, dict):
        return [(len(key), _sizes(one)) for key, one in value.items()]
    if isinstance(value, list):
        return [_sizes(one) for one in value]
    return value
