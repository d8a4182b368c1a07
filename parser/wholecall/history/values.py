"""JSON values as Python holds them, walked without recursion: checked, copied, dumped.

Theory of operation. `walk` turns a value into a series of steps, in the order of its JSON text; `built` and
`dumped` make a new value and a text from such steps. There is no recursion, therefore no depth is too large. Values
that cannot be JSON are refused where they are found.

====================  =================================================
step                  its item
====================  =================================================
``{`` ``[``           the object or array that begins
``}`` ``]``           the one that ends
``key``               the key of the member whose value follows
``value``             a string, number, boolean or None
====================  =================================================
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from typing import Any

Step = tuple[str, Any]

_spelled = json.JSONEncoder(ensure_ascii=False).encode  # of strings, numbers and words


def walk(value: object) -> Iterator[Step]:
    """Yield the steps of a value; tuples are arrays.

    Raises:
        TypeError: a value or a key of a type that JSON lacks.
        ValueError: NaN, an infinity, or a container that contains itself.
    """
    path: set[int] = set()  # the open containers
    steps: list[Step] = [("", value)]
    while steps:
        kind, item = steps.pop()
        if kind in ("}", "]"):
            path.discard(id(item))
        elif kind != "key":
            kind = _kind(item)
            if kind != "value":
                _enter(item, path)
                steps += reversed(_members(kind, item))
        yield kind, item


def _kind(item: object) -> str:
    if isinstance(item, dict):
        return "{"
    if isinstance(item, (list, tuple)):
        return "["
    if isinstance(item, float) and not math.isfinite(item):
        raise ValueError("JSON has neither NaN nor infinities; replace them before")
    if item is None or isinstance(item, (str, bool, int, float)):
        return "value"
    raise TypeError(f"JSON has no {type(item).__name__}; convert it before")


def _enter(container: object, path: set[int]) -> None:
    if id(container) in path:
        raise ValueError("an object or array that holds itself cannot be JSON")
    path.add(id(container))


def _members(kind: str, container: Any) -> list[Step]:
    """Return the steps after the beginning of a container, its end included."""
    if kind == "[":
        return [*(("", item) for item in container), ("]", container)]
    steps: list[Step] = []
    for key, member in container.items():
        if not isinstance(key, str):
            raise TypeError(f"the keys of a JSON object are strings, not {type(key).__name__}")
        steps += (("key", key), ("", member))
    return [*steps, ("}", container)]


def built(steps: Iterable[Step]) -> Any:
    """Return the value that the steps describe: its containers are new, its strings and numbers the same."""
    root: list[Any] = []
    stack: list[Any] = [root]
    key = ""
    for kind, item in steps:
        if kind == "key":
            key = item
        elif kind in ("}", "]"):
            stack.pop()
        else:
            new: Any = {} if kind == "{" else [] if kind == "[" else item
            parent = stack[-1]
            if isinstance(parent, dict):
                parent[key] = new
            else:
                parent.append(new)
            if kind != "value":
                stack.append(new)
    return root[0]


def copied(value: Any) -> Any:
    """Return a copy that shares no dict and no list with the value; raises as `walk` does."""
    return built(walk(value))


def dumped(value: object) -> str:
    r"""Return compact JSON text: non-ASCII kept, lone surrogates as `\udXXX`.

    Raises:
        TypeError: a value or a key of a type that JSON lacks.
        ValueError: NaN, an infinity, a container that contains itself, or an integer that is too long.
    """
    pieces: list[str] = []
    follows = False  # whether a value comes before, so that a comma is needed
    for kind, item in walk(value):
        if follows and kind not in ("}", "]"):
            pieces.append(",")
        follows = kind in ("value", "}", "]")
        if kind == "key":
            pieces += (_spelled(item), ":")
        else:
            pieces.append(_spelled(item) if kind == "value" else kind)
    text = "".join(pieces)
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode()
    return text
