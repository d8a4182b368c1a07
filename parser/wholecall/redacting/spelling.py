"""The spelling of characters in a JSON string, and substitutes in the same spelling.

Theory of operation. The text between the quotes is cut into units, each a character and its spelling: the character
itself, or an escape. A substitute of equal class is written in the spelling of the original, so that the string keeps
its size. Bytes that are not UTF-8 are surrogates without an escape, and stay.
"""

from __future__ import annotations

import re

__all__ = ["Units", "respelled", "units"]

Units = list[tuple[str, str]]  # characters and their spellings

_UNIT = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([\s\S])|([\s\S])"
)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
_ASTRAL = 0x10000


def units(raw: str) -> Units:
    """Return the text between the quotes as units; an escape that JSON does not have counts as one backslash."""
    found: Units = []
    for match in _UNIT.finditer(raw):
        high, low, code, short, char = match.groups()
        if high:
            joined = _ASTRAL + ((int(high, 16) & 0x3FF) << 10 | int(low, 16) & 0x3FF)
            found.append((chr(joined), match[0]))
        elif code:
            found.append((chr(int(code, 16)), match[0]))
        else:
            found.append((char or _SHORT.get(short, "\\"), match[0]))
    return found


def respelled(spelled: Units, text: str) -> str:
    """Return as many other characters in the spelling of these."""
    return "".join(
        spelling if char == other else _like(spelling, other)
        for (char, spelling), other in zip(spelled, text, strict=True)
    )


def _like(spelling: str, char: str) -> str:
    if len(spelling) == 1:
        return spelling if "\ud800" <= spelling <= "\udfff" else char
    code = ord(char)
    pair = (0xD800 | (code - _ASTRAL) >> 10, 0xDC00 | code & 0x3FF) if code >= _ASTRAL else (code,)
    digits = "04X" if any(letter in spelling for letter in "ABCDEF") else "04x"
    return "".join(f"\\u{half:{digits}}" for half in pair)
