"""The substitution: each letter and digit becomes another one, which depends on the key and on all text before it.

Theory of operation
-------------------
The distance that a letter moves within its alphabet is a keyed hash of the text before it. Equal texts therefore stay
equal, different texts stay different, and a prefix stays a prefix. A parser compares nothing else: ids, repeated texts,
snapshots that grow. But one letter reveals nothing about the same letter elsewhere: after the first place at which two
texts differ, their substitutes are unrelated, and counting letters reveals nothing.

Letters stay letters, digits digits, and every character keeps its size in UTF-8 and in UTF-16: letters that are not
ASCII move within the letters of their size, the others keep their high half. All other characters stay.

Each kind of field has its own key (`Alphabets`), so that knowledge of one text, such as an id, reveals nothing about
arguments.

Argument text is JSON, or is meant to be: numbers, literals and special tokens outside its strings stay, and so do
escapes inside them. Each string in it is a separate text, because a parser compares members and values. Therefore the
text of a call has to be passed as a whole, and so has a model's text that came in pieces.

The text between the quotes of a JSON string is cut into units, each a character and its spelling: the character itself,
or an escape. A substitute of equal class is written in the spelling of the original, so that the string keeps its size.
Bytes that are not UTF-8 are surrogates without an escape, and stay.
"""

from __future__ import annotations

import re
import string
from bisect import bisect_left
from functools import cache
from hashlib import blake2b
from typing import Literal

from wholecall.calls.arguments.recovery import SPECIAL_TOKENS
from wholecall.recordings.redacting.rules import LONG_NUMBER

Units = list[tuple[str, str]]  # characters and their spellings

_UNIT = re.compile(
    r"\\u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})|\\u([0-9a-fA-F]{4})|\\([\s\S])|([\s\S])"
)
_SHORT = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "/": "/"}
# The kind of a text's field: equal letters of two kinds reveal nothing about each other.
Field = Literal["argument", "id", "name", "text", "comment", "meta"]
_LITERALS = ("true", "false", "null", "True", "False", "None", "NaN", "Infinity", "undefined")
# Prefixes of ids mean something to readers, and some to this package.
_PREFIX = re.compile(
    r"(?:call|toolu|fc|ctc|srvtoolu|server_tool|mcptoolu|chatcmpl|cmpl|gen|resp|msg|message|rs|item|ws|ci|mcp"
    r"|mcpr|mcpl|event|run|lc_run|step|thread|asst|tooluse|chatcmpl-tool|functions)(?:--|[-_.])(?=[\w:.|-]+$)"
)
_ABSENT = frozenset({"null", "None"})  # placeholders for an absent id
_PART = re.compile(
    rf"""
      (?P<string>"[^"\\]*(?:\\[\s\S][^"\\]*)*(?:"|\\?\Z))
    | (?P<single>'[^'\\\n]*(?:\\[^\n][^'\\\n]*)*'(?=\s*(?:[,:\]}}]|\Z)))
    | (?P<token>{"|".join(map(re.escape, SPECIAL_TOKENS))})
    | (?P<exponent>(?<=[0-9.])[eE](?=[+-]?(?:[0-9]|\Z)))
    | (?P<digits>(?<![\w.+-]){LONG_NUMBER}(?![\w.+-]))
    | (?P<word>[^\W\d_]+)
    """,
    re.VERBOSE,
)
# A string in parts: escapes that JSON does not have, and the rest.
_ESCAPE = re.compile(
    r"(?P<hex>\\(?:x[0-9a-fA-F]{2}|U[0-9a-fA-F]{8}))|(?:(?!\\[xU])\\[\s\S]|\\(?![xU])|[^\\])+|\\"
)
_ENCODED = re.compile(r'\s*"(?:\s|\\[nrt])*[{\[]')
_LETTERS, _DIGITS = string.ascii_letters, string.digits
_HALF = 0x3FF  # the bits of a code point that its low surrogate carries
_HIGH, _LOW, _ASTRAL = 0xD800, 0xDC00, 0x10000


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


class Letters:
    """One substitution.

    Args:
        seed: equal seeds give equal substitutions; without it the text cannot be decoded.
    """

    def __init__(self, seed: str) -> None:
        self._key = _hash(b"", seed.encode("utf-8", "surrogatepass"))

    def other(self, text: str) -> str:
        """Return the substitute of a text, character by character; the substitute of a prefix is its prefix."""
        state, out = self._key, []
        for code in map(ord, text):
            high, low = divmod(code - _ASTRAL, _HALF + 1)
            if high >= 0:  # handled as its two halves, which may come in two fragments
                state = _hash(state, _unit(_HIGH + high))
                other = _ASTRAL + (high << 10 | _moved(_LOW + low, state) & _HALF)
                state = _hash(state, _unit(_LOW + low))
            else:
                other = _moved(code, state)
                state = _hash(state, _unit(code))
            out.append(chr(other))
        return "".join(out)

    def plain(self, text: str) -> str:
        """Return the substitute of a text that is not JSON; ids keep the prefix that shows their kind."""
        if text in _ABSENT:
            return text
        prefix = _PREFIX.match(text)
        kept = prefix.end() if prefix else 0
        return text[:kept] + self.other(text[kept:])

    def number(self, text: str) -> str:
        """Return a number with as many other digits; the sign stays, and the first digit is not zero."""
        sign = "-" if text.startswith("-") else ""
        first, rest = text[len(sign)], text[len(sign) + 1 :]
        moved = 1 + (int(first) - 1 + _steps(self._key, 9)) % 9
        return f"{sign}{moved}{self.other(first + rest)[1:]}"

    def arguments(self, text: str) -> str:
        """Return the substitute of the whole argument text of a call, character by character."""
        if _ENCODED.match(text):
            start = text.index('"') + 1
            end = len(text.rstrip()) - 1 if text.rstrip().endswith('"') else len(text)
            spelled = units(text[start:end])
            inner = self.arguments("".join(char for char, _ in spelled))
            return text[:start] + respelled(spelled, inner) + text[end:]
        return _PART.sub(self._part, text)

    def _part(self, match: re.Match[str]) -> str:
        text, kind = match.group(), match.lastgroup
        if kind in {"string", "single"}:
            return self._string(text)
        if kind == "digits":
            return self.number(text)
        at_end = match.end() == len(match.string)
        if kind != "word" or text in _LITERALS or (at_end and _begins_literal(text)):
            return text
        return self.other(text)

    def _string(self, text: str) -> str:
        """Return the substitute of a string with its quotes (the last may be missing); escapes stay unchanged."""
        end = len(text) - 1 if len(text) > 1 and text.endswith(text[0]) else len(text)
        spelled: list[tuple[str, str]] = []
        for match in _ESCAPE.finditer(text, 1, end):
            spelled += [("\\", match[0])] if match["hex"] else units(match[0])
        others = self.other("".join(char for char, _ in spelled))
        pieces = (
            respelled([(char, spelling)], other) if len(spelling) == 1 or spelling[1] == "u" else spelling
            for (char, spelling), other in zip(spelled, others, strict=True)
        )
        return text[0] + "".join(pieces) + text[end:]


class Alphabets:
    """The substitutions of one recording, one for each kind of field.

    Args:
        seed: equal seeds give equal substitutions.
    """

    def __init__(self, seed: str) -> None:
        self._seed = seed
        self._made: dict[Field, Letters] = {}

    def of(self, field: Field) -> Letters:
        """Return the substitution of a kind of field."""
        if field not in self._made:
            self._made[field] = Letters(f"{field}:{self._seed}")
        return self._made[field]


def _begins_literal(text: str) -> bool:
    return any(literal.startswith(text) for literal in _LITERALS)


def _hash(state: bytes, data: bytes) -> bytes:
    return blake2b(data, key=state, digest_size=16).digest()


def _unit(code: int) -> bytes:
    return code.to_bytes(2, "big")


def _moved(code: int, state: bytes) -> int:
    """Return the substitute of half a surrogate pair or another character of the BMP; no letter stays the same."""
    if _LOW <= code <= _LOW + _HALF:
        return code & ~_HALF | (code + _steps(state, _HALF + 1)) & _HALF
    char = chr(code)
    if code < 0x80:
        members = _LETTERS if char.isalpha() else _DIGITS if char.isdigit() else ""
        return (
            ord(members[(members.index(char) + _steps(state, len(members))) % len(members)])
            if members
            else code
        )
    if not char.isalnum():
        return code
    others = _classes()[_class(code)]
    return others[(bisect_left(others, code) + _steps(state, len(others))) % len(others)]


def _steps(state: bytes, n: int) -> int:
    """Return the distance that a character moves among `n`: at least one, and never a full round."""
    return 1 + int.from_bytes(state[:8], "big") % (n - 1)


def _class(code: int) -> tuple[bool, bool]:
    return code < 0x800, chr(code).isdecimal()


@cache
def _classes() -> dict[tuple[bool, bool], list[int]]:
    """Return the letters and digits of each class in order, except those of ASCII and of surrogate pairs."""
    classes: dict[tuple[bool, bool], list[int]] = {}
    for code in range(0x80, 0xFFFF):
        if chr(code).isalnum():
            classes.setdefault(_class(code), []).append(code)
    return classes
