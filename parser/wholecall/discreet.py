"""How values are written and shown: compact JSON, an event in a line, and a repr that holds no argument text."""

from __future__ import annotations

import json

import msgspec

__all__ = ["compact", "discreet_repr", "to_line"]
_private = True

# Fields whose text is argument text (or may hold it): a repr shows their length only.
_SECRET = frozenset(
    {
        "delta",
        "raw_arguments",
        "arguments",
        "input",
        "raw",
        "error",
        "detail",
        "extra",
        "text",
        "typed",
        "path",
        "value",
        "output",
        "added",
        "data",
        "texts",
        "source",
    }
)


def compact(value: object, *, allow_nan: bool = False) -> str:
    """Return a value as JSON without white space, other letters than ASCII's as they are.

    Raises:
        TypeError, ValueError: JSON has no such value; NaN and the infinities, unless they are allowed, are none.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=allow_nan)


def to_line(event: msgspec.Struct) -> bytes:
    r"""Return the event as one compact JSON line: non-ASCII kept, lone surrogates as `\\udXXX`."""
    try:
        return msgspec.json.encode(event)
    except UnicodeEncodeError:
        builtins = msgspec.to_builtins(event)
        return compact(builtins).encode("utf-8", "backslashreplace")


def _shown(name: str, value: object) -> str:
    if name in _SECRET and value is not None:
        size = len(value) if isinstance(value, (str, bytes, dict, list)) else 1
        return f"{name}=<{size}>"
    return f"{name}={value!r}"


def discreet_repr(self: msgspec.Struct) -> str:
    """Return a repr that shows of argument text how long it is."""
    fields = (_shown(name, getattr(self, name)) for name in self.__struct_fields__)
    return f"{type(self).__name__}({', '.join(fields)})"
