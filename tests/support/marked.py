"""Frames that are made from the marks of dialects: for each row the smallest frames for which it holds."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import product
from typing import Any

from wholecall.dialects.detect import ENTRIES
from wholecall.dialects.marks import (
    EMPTY,
    FILLED,
    FRAME,
    HERE,
    LIST,
    NAME,
    NULL,
    OBJECT,
    SAID,
    TEXT,
    TRUTH,
    Mark,
    Row,
    Test,
    mark_of,
)

# The dialects in the chunks of others.
INVOKED = {
    name: name.removeprefix("bedrock-invoke-") for name in ENTRIES if name.startswith("bedrock-invoke-")
}
INVOKED["bedrock-invoke-nova"] = "bedrock-converse"

_EXAMPLES: dict[Mark, Any] = {
    TEXT: "x",
    OBJECT: {},
    LIST: [],
    TRUTH: True,
    FILLED: {"x": 1},
    EMPTY: [],
    NULL: None,
    SAID: "x",
    HERE: 1,
}
_EXAMPLES_OF_FUNCTIONS: dict[str, Any] = {
    "_is_prose": "SGVs",
    "_has_trace": {"orchestrationTrace": {}},
    "_has_invocation": [{"type": "tool-invocation"}],
    "_are_typed": [{"type": "text"}],
    "_has_tool_use": [{"tool_use": {}}],
}


def frames_of(name: str) -> Iterator[tuple[dict[str, Any], str]]:
    """Yield frames of a dialect: for each row one for each of its paths and words."""
    for row in ENTRIES[name].rows:
        asked = [(path, test) for path, test in row.items() if not mark_of(test).negative and path != FRAME]
        choices = [list(product(path.split("|"), _values(name, test))) for path, test in asked]
        yield from map(_frame, product(*choices))


def words_of(row: Row, path: str) -> list[str]:
    """Return the words that a row accepts at a path."""
    found = [test for paths, test in row.items() if path in paths.split("|") and not mark_of(test).negative]
    return [word for test in found if not isinstance(test, Mark) for word in _words(test)]


def _values(name: str, test: Test) -> list[Any]:
    if not isinstance(test, Mark):
        return [re.sub(r"\*$", "x", word) for word in _words(test)]
    if test.function is None:
        return [_EXAMPLES[test]]
    if name in INVOKED:
        return [json.dumps(payload) for payload, event in frames_of(INVOKED[name]) if not event]
    return [_EXAMPLES_OF_FUNCTIONS[test.function.__name__]]


def _words(test: Any) -> list[str]:
    return [test] if isinstance(test, str) else sorted(test)


def _frame(said: tuple[tuple[str, Any], ...]) -> tuple[dict[str, Any], str]:
    payload: dict[str, Any] = {}
    event = ""
    for path, value in said:
        if path == NAME:
            event = value
        else:
            _put(payload, re.findall(r"[^.\[\]]+", path), value)
    return payload, event


def _put(within: Any, path: list[str], value: Any) -> None:
    """Put a value at a path; a number is the only place of a list."""
    key, *left = path
    if not left:
        within.setdefault(key, value)
    elif not left[0].lstrip("-").isdigit():
        _put(within.setdefault(key, {}), left, value)
    elif left[1:]:
        _put(within.setdefault(key, [{}])[0], left[1:], value)
    else:
        within[key] = [value]
