"""The lexer of recovery: text that means to be JSON, cut into tokens that cover all of it.

Theory of operation
-------------------
`scan` walks the text once with one regular expression. Every character belongs to exactly one token, and
no alternative can be matched in two ways; the work is linear even for hostile text: a string that is never
closed becomes one `open` token that runs to the end, instead of being tried again at each quote.

====================  ==================================================================================
kind                  text
====================  ==================================================================================
``{ } [ ] , :``       the character itself
``string``            a closed string in ``"``, ``'`` or typographic quotes, quotes included
``open``              a string without its closing quote
``word``              any other run without space, quotes or punctuation: numbers, literals, names, junk
``comment``           from ``//`` or ``#`` to the end of the line, or ``/* … */`` (perhaps unclosed)
``space``             white space that JSON does not know (JSON's own is skipped)
====================  ==================================================================================

`spell` writes one string token as a strict JSON string. Inside a string it changes only control characters
(written as escapes) and escapes that JSON does not know (the backslash is taken literally); if a second
reading exists it refuses. `plain` reads the same token directly, without spelling it; recovery compares the
two readings.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, NamedTuple

from wholecall.types import EditKind

JSON_SPACE = " \t\r\n"
# All white space of Unicode, the BOM, and the zero-width characters that models emit.
SPACES = "".join(filter(str.isspace, map(chr, range(0x3001)))) + "\ufeff\u200b\u2060\u180e"

# The opening quotes that are understood, with the quotes that close them.
QUOTES = {'"': '"', "'": "'", "\u201c": "\u201d", "\u2018": "\u2019"}

_HALF = re.compile("[\ud800-\udfff]")


def _closed(opening: str, closing: str) -> str:
    """Return the pattern of a closed string; unrolled: no character can be matched in two ways."""
    return rf"{opening}[^{closing}\\]*(?:\\[\s\S][^{closing}\\]*)*{closing}"


STRING = _closed('"', '"')

_SCANNER = re.compile(
    rf"""
      (?P<json_space>[ \t\r\n]+)
    | (?P<punctuation>[{{}}\[\],:])
    | (?P<string>{"|".join(_closed(*pair) for pair in QUOTES.items())})
    | (?P<open>[{"".join(QUOTES)}][\s\S]*)
    | (?P<comment>(?://|\#)[^\r\n\u2028\u2029]*|/\*[\s\S]*?(?:\*/|\Z))
    | (?P<space>[{re.escape(SPACES)}]+)
    | (?P<word>[^\s{{}}\[\],:/\#{"".join(QUOTES)}]+|/)
    """,
    re.VERBOSE,
)


class Token(NamedTuple):
    """One token: its kind and the half-open range of characters it covers."""

    kind: str
    start: int
    end: int


def scan(text: str, start: int = 0) -> Iterator[Token]:
    """Yield the tokens of `text` from character `start` on; lazily, so that a reader may stop at a fault."""
    for match in _SCANNER.finditer(text, start):
        kind = str(match.lastgroup)
        if kind != "json_space":
            yield Token(match.group() if kind == "punctuation" else kind, match.start(), match.end())


# The relevant content of a string: an escape, a control character, a straight quote.
_INSIDE = re.compile(r'\\(?:u[0-9a-fA-F]{4}|[\s\S])|[\x00-\x1f"]')
_QUOTE_EDITS: dict[str, EditKind] = {
    "'": "single_quotes",
    "\u201c": "smart_quotes",
    "\u2018": "smart_quotes",
}
_NEUTRAL = frozenset(['\\"', "\\\\", "\\/"])
_MEANT = frozenset("bfnrtu")
_SHORT = {"\b": "\\b", "\t": "\\t", "\n": "\\n", "\f": "\\f", "\r": "\\r"}
# Escapes that JSON does not know but other languages do: two readings. In single quotes Python's escapes
# count too.
_FOREIGN = r"['\u2018\u2019\u201c\u201d\x00-\x1f\x7f\u2028\u2029]|x[0-9a-fA-F]{2}|u\{|U[0-9a-fA-F]{8}|N\{|0"
_FOREIGN_DOUBLE = re.compile(_FOREIGN)
_FOREIGN_SINGLE = re.compile(_FOREIGN + r"|[avxNU0-7]")


_CLEAN = re.compile(r'"[^"\\\x00-\x1f]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*)*"')


def spell(source: str) -> tuple[str, list[tuple[EditKind, int]]] | None:
    """Write the string token `source` as strict JSON, or return None if it has several readings.

    Returns:
        The JSON string and, at most once per kind, each edit with its offset in `source`.
    """
    if _CLEAN.fullmatch(source):  # nearly all strings
        return source, []
    quote = source[0]
    seen: dict[EditKind, int] = {}
    pieces, done, suspicious = ['"'], 1, False
    if quote in _QUOTE_EDITS:
        if quote in source[1:-1] and quote != "'":  # which of two typographic quotes opens?
            return None
        seen[_QUOTE_EDITS[quote]] = 0
    for match in _INSIDE.finditer(source, 1, len(source) - 1):
        piece = match.group()
        spelled, edit = _spell_piece(source, match.start(), piece, quote)
        if spelled is None:
            return None
        if edit is not None:
            seen.setdefault(edit, match.start())
        suspicious = suspicious or (len(piece) > 1 and piece[1] in _MEANT and edit is None)
        pieces += (source[done : match.start()], spelled)
        done = match.end()
    if suspicious and "invalid_escape" in seen:
        return None
    pieces += (source[done:-1], '"')
    return "".join(pieces), list(seen.items())


def _spell_piece(source: str, at: int, piece: str, quote: str) -> tuple[str | None, EditKind | None]:
    """Return the strict spelling of one escape, control character or quote (None: ambiguous) and its edit."""
    if piece == '"':
        return ('\\"' if quote == "'" else None), None
    if piece[0] != "\\":
        return _SHORT.get(piece) or f"\\u{ord(piece):04x}", "control_char"
    if piece in _NEUTRAL or len(piece) > 2 or (piece[1] in _MEANT and piece[1] != "u"):
        return piece, None
    if piece[1] == quote == "'":
        return "'", None
    foreign = _FOREIGN_SINGLE if quote == "'" else _FOREIGN_DOUBLE
    if foreign.match(source, at + 1):
        return None, None
    return "\\" + piece, "invalid_escape"


ESCAPE: Final = re.compile(r"""\\(u[0-9a-fA-F]{4}|["\\/bfnrt])""")
_ESCAPE_OR_APOSTROPHE = re.compile(r"""\\(u[0-9a-fA-F]{4}|["\\/bfnrt'])""")
_MEANING = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def _meaning(match: re.Match[str]) -> str:
    escape = match.group(1)
    return chr(int(escape[1:], 16)) if len(escape) > 1 else _MEANING.get(escape, escape)


def plain(source: str) -> str:
    """Read the string token `source` directly: known escapes are resolved, all other text is kept."""
    escapes = _ESCAPE_OR_APOSTROPHE if source[0] == "'" else ESCAPE
    value = escapes.sub(_meaning, source[1:-1])
    return value.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


# --- strict JSON: facts that need no lexer -------------------------------------------------------------

_STRUCTURE = b'{}[]:"'
_NO_STRUCTURE = bytes(byte for byte in range(256) if byte not in _STRUCTURE)
_STEPS = [(byte in b"{[") - (byte in b"}]") for byte in range(128)]
_SEAM = re.compile(r"\}[ \t\r\n]*\{")
_BRACKETS = re.compile(STRING + r"|[{}\[\]]")
_NUMERIC = "-+.0123456789eE"
_NUMBERS = re.compile(STRING + r'|"[\s\S]*|([-+.0-9eE]+)')


class Nesting(NamedTuple):
    """The brackets outside strings: how deep they go, and whether one (or a string) is open at the end."""

    depth: int
    open: bool


def nesting(text: str) -> Nesting:
    """Count the levels of objects and arrays in `text`, without recursion."""
    brackets, open_string = _outside(text)
    depths = list(accumulate(map(_STEPS.__getitem__, brackets), initial=0))
    return Nesting(max(depths), open_string or depths[-1] > 0)


def members(text: str) -> int:
    """Count the members of all objects in valid JSON `text`: its colons outside strings."""
    return _outside(text)[0].count(b":")


def _outside(text: str) -> tuple[bytes, bool]:
    """Return the brackets and colons of `text` that are outside strings, and whether a string stays open.

    Every pass runs in C. A pair of adjacent quotes may be removed: it is a string without structure in it, or
    the seam of two strings.
    """
    data = text.encode("utf-8", "surrogatepass")
    if b'\\"' in data:
        data = data.replace(b"\\\\", b"").replace(b'\\"', b"")
    parts = data.translate(None, _NO_STRUCTURE).replace(b'""', b"").split(b'"')
    return b"".join(parts[::2]), len(parts) % 2 == 0


def holds_half(text: str) -> bool:
    """Return whether the text contains half of a surrogate pair, which the next text may complete."""
    return not text.isascii() and _HALF.search(text) is not None


def joined_surrogates(high: str, low: str) -> str:
    """Return the character whose halves these are."""
    return chr(0x10000 + ((ord(high) - 0xD800) << 10) + (ord(low) - 0xDC00))


def utf8_size(text: str) -> int:
    """Return the size of the text in UTF-8 bytes, a lone surrogate counted as three."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def holds_number(text: str, longest: int) -> bool:
    """Return whether a number outside the strings of `text` has more than `longest` characters.

    Such a run covers a multiple of its length, therefore only these places are checked first.
    """
    for at in range(0, len(text), max(longest + 1, 1)):
        before, after = text[max(at - longest, 0) : at], text[at : at + longest + 1]
        run = len(before) - len(before.rstrip(_NUMERIC)) + len(after) - len(after.lstrip(_NUMERIC))
        if text[at] in _NUMERIC and run > longest:  # perhaps within a string
            return any(len(number) > longest for number in _NUMBERS.findall(text))
    return False


def split(text: str, most: int | None) -> list[tuple[int, int]]:
    """Return the ranges of the brace groups that `text` consists of; [] if not, or if more than `most`."""
    spans: list[tuple[int, int]] = []
    if not _SEAM.search(text) or nesting(text).open:
        return spans
    depth = start = done = 0
    for match in _BRACKETS.finditer(text):
        bracket = match.group()
        if depth == 0:
            start = match.start()
            if bracket != "{" or text[done:start].strip(JSON_SPACE) or len(spans) == most:
                return []
        depth += 1 if bracket in "{[" else -1 if bracket in "}]" else 0
        if depth == 0:
            done = match.end()
            spans.append((start, done))
    return spans if done == len(text) else []
