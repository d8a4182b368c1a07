r"""Show values without argument text: compact JSON, an event in a line, and a discreet repr.

A line of JSON may hold nearly every character as it is. Some of them end a line to readers that know more line ends
than `\n` (U+0085, U+2028, U+2029), others are obeyed by terminals (C1) or reverse text (the bidirectional controls).
All of these are written as escapes, which are the same JSON. Therefore a line is one line for every reader.
"""

from __future__ import annotations

import json
import re
from typing import Any

import msgspec

_private = True

# Fields whose text is argument text (or may hold it): a repr shows their length only.
_SECRET = frozenset(
    {
        "delta",
        "raw_arguments",
        "raw_text",
        "decoded",
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
        "said",
    }
)


# DEL and C1; the marks of direction U+061C, U+200E, U+200F; line ends and embeddings U+2028 to U+202E; isolates.
_ODD = re.compile(rb"\x7f|\xc2[\x80-\x9f]|\xd8\x9c|\xe2\x80[\x8e\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]")


def compact(value: object, *, allow_nan: bool = False) -> str:
    """Return a value as JSON without white space, other letters than ASCII's as they are.

    Raises:
        TypeError, ValueError: JSON has no such value; unless they are allowed, this includes NaN and the infinities.
    """
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=allow_nan)


def to_line(event: msgspec.Struct) -> bytes:
    r"""Return the event as one compact JSON line, one line for every reader.

    Non-ASCII is kept; lone surrogates, other line ends, C1 and bidirectional controls become escapes like `\\u2028`.
    """
    try:
        line = msgspec.json.encode(event)
    except UnicodeEncodeError:
        builtins = msgspec.to_builtins(event)
        line = compact(builtins).encode("utf-8", "backslashreplace")
    return line if line.isascii() and b"\x7f" not in line else _ODD.sub(_escaped, line)


def _escaped(found: re.Match[bytes]) -> bytes:
    return b"\\u%04x" % ord(found[0].decode())


def _shown(name: str, value: object) -> str:
    if name in _SECRET and value is not None:
        size = len(value) if isinstance(value, (str, bytes, dict, list)) else 1
        return f"{name}=<{size}>"
    return f"{name}={value!r}"


def discreet_repr(self: msgspec.Struct) -> str:
    """Return a repr that shows only the length of argument text."""
    fields = (_shown(name, getattr(self, name)) for name in self.__struct_fields__)
    return f"{type(self).__name__}({', '.join(fields)})"


# Fields in the repr of a finished call in addition to its name, in this order, if they are set.
_SAID = ("id", "namespace", "status", "reason", "edits", "flags")
_TEXTS = ("arguments", "decoded", "input", "raw_arguments", "raw_text")  # the first of these that is set
_MOST_MEMBERS = 8


def call_repr(self: msgspec.Struct) -> str:
    """Return a description of a finished call, for `print`: its name, id, ending and the sizes of its arguments.

    Of arguments it shows the kinds and sizes of their members, but neither a key nor a value. Their place in the stream
    and usual values are left out.
    """
    label = getattr(self, "name", None)
    return f"<{type(self).__name__} {' '.join([repr(label), *_ended(self, always='id')])}>"


def answer_repr(self: msgspec.Struct) -> str:
    """Return a description of a finished answer, for `print`, as `call_repr` does for calls."""
    return f"<{type(self).__name__} {' '.join(_ended(self))}>"


def _ended(self: msgspec.Struct, always: str = "") -> list[str]:
    """Return the fields that a repr shows."""
    fields = {name: getattr(self, name) for name in self.__struct_fields__}
    said: list[str] = []
    for name in _SAID:
        value = fields.get(name)
        if value or name == always:
            said.append(f"{name}={_listed(value) if isinstance(value, tuple) else repr(value)}")
    text = next(name for name in _TEXTS if name in fields)
    return [*said, f"{text}={_sizes(fields[text])}"]


def _listed(odd: tuple[Any, ...]) -> str:
    """Return flags, or the kinds of edits."""
    return ",".join(str(getattr(one, "kind", one)) for one in odd)


def _sizes(value: object) -> str:
    if not isinstance(value, dict):
        return f"{{{_size(value)}}}"
    shown = [_size(member) for member in [*value.values()][:_MOST_MEMBERS]]
    more = len(value) - len(shown)
    return f"{{{', '.join([*shown, f'{more} more'] if more else shown)}}}"


_UNITS: dict[type, str] = {str: "character", list: "item", dict: "member"}
_WORDS: dict[type, str] = {bool: "boolean", type(None): "null", int: "number", float: "number"}


def _size(value: Any) -> str:
    unit = _UNITS.get(type(value))
    if unit is None:
        return _WORDS.get(type(value), "value")
    return f"{len(value)} {unit}{'' if len(value) == 1 else 's'}"
