r"""Python's literals and keyword calls, as models write them, read without running anything.

Theory of operation. One reader walks over the text with one expression for tokens, and keeps the open brackets on its
own stack: depth is counted and never becomes recursion. A string's body is taken by one expression, in which no
character can be matched in two ways. The first token without a legal place ends the reading: the text after a string
with an unescaped quote has none, so nothing is guessed there. Where JSON and Python differ both spellings are read: the
words `true` and `null`, the escape `\/` in double quotes, and the two halves of a character beyond `\uffff`.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable
from typing import Any, Final, NamedTuple

from wholecall.calls.arguments import equal, tokens
from wholecall.types import DropReason

# The meaning of `max_depth=None`: deeper values could be read, but the readers and writers of JSON recurse.
DEEPEST: Final = 500
MOST_DIGITS: Final = 4300  # of an integer: the limit of CPython and msgspec


class NotPython(ValueError):
    """The text is not of the requested kind.

    Attributes:
        reason: the reason to drop a call with: `unparseable`, `duplicate_key`, `nesting_too_deep` or
            `number_out_of_range`.
    """

    def __init__(self, reason: DropReason = "unparseable") -> None:
        super().__init__(reason)
        self.reason: DropReason = reason


class PythonCall(NamedTuple):
    """One call and its place in the text.

    Attributes:
        name: the name before the bracket.
        arguments: the keyword arguments.
        start: the first character of the name.
        end: the character after the closing bracket.
    """

    name: str
    arguments: dict[str, Any]
    start: int
    end: int


def python_value(text: str, *, max_depth: int | None) -> Any:
    """Return the value of the one literal in `text`; tuples and sets become lists.

    Raises:
        NotPython: it is not one literal, or breaks a bound.
    """
    reader = _Reader(text, max_depth)
    value = reader.value()
    reader.finish()
    return value


def python_calls(text: str, *, max_depth: int | None) -> list[PythonCall]:
    """Return the calls in `text`: `[f(a=1), g()]`, or without brackets, also one on each line.

    Raises:
        NotPython: there is anything else, or a call breaks a bound.
    """
    return _Reader(text, max_depth).calls()


# --- leaves ------------------------------------------------------------------------------------------------

_WORDS: Final = {"True": True, "true": True, "False": False, "false": False, "None": None, "null": None}

_DIGITS = r"[0-9]+(?:_[0-9]+)*"
_INTEGER = re.compile(rf"[+-]?{_DIGITS}")
_FLOAT = re.compile(rf"[+-]?(?:{_DIGITS}(?:\.(?:{_DIGITS})?)?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?")
_BASED = re.compile(
    r"[+-]?0(?:[xX](?:_?[0-9a-fA-F])+|[oO](?:_?[0-7])+|[bB](?:_?[01])+)"
)  # a digit at a time: one way to match


def _float(word: str) -> float:
    value = float(word)
    if math.isinf(value):
        raise OverflowError
    return value


def _integer(word: str) -> int:
    if len(word) > MOST_DIGITS + 1:  # including the sign
        raise OverflowError
    return int(word)


def _based(word: str) -> int:
    value = int(word, 0)
    if value.bit_length() > _MOST_BITS:
        raise OverflowError
    return value


_MOST_BITS = 14_284  # which have at most `MOST_DIGITS` digits, and can be written again
_NUMBERS: Final[tuple[tuple[re.Pattern[str], Callable[[str], Any]], ...]] = (
    (_INTEGER, _integer),
    (_FLOAT, _float),
    (_BASED, _based),
)


def _word(word: str) -> Any:
    """Return the constant or number that a word spells."""
    if word in _WORDS:
        return _WORDS[word]
    read = next((read for pattern, read in _NUMBERS if pattern.fullmatch(word)), None)
    if read is None:
        raise NotPython
    try:
        return read(word)
    except (OverflowError, ValueError):  # ValueError: the interpreter reads fewer digits
        raise NotPython("number_out_of_range") from None


_BODIES: Final = {
    quote: re.compile(rf"([^{quote[0]}\\]*(?:{inside}[^{quote[0]}\\]*)*){quote}")
    for quote, inside in {
        "'": r"\\[\s\S]",
        '"': r"\\[\s\S]",
        "'''": r"(?:\\[\s\S]|'(?!''))",
        '"""': r'(?:\\[\s\S]|"(?!""))',
    }.items()
}
_ESCAPE = re.compile(
    r"\\(?:(?P<code>x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})|(?P<octal>[0-7]{1,3})"
    r"|N\{(?P<name>[^{}\r\n]{1,100})\}|(?P<short>\r\n|[\s\S]))"
)
_LINE_ENDS = ("\n", "\r", "\r\n")  # an escaped one is not a line end
_SHORT: Final = {
    **dict(zip("\\'\"abfnrtv", "\\'\"\a\b\f\n\r\t\v", strict=True)),
    **dict.fromkeys(_LINE_ENDS, ""),
}
_SHORT_OF_JSON: Final = {**_SHORT, "/": "/"}  # for a possible JSON string; in Python `\/` is two characters


def _meaning(match: re.Match[str]) -> str:
    """Return the meaning of an escape; an unknown escape keeps its backslash."""
    code, octal, name, short = match.groups()
    if octal is not None:
        return chr(int(octal, 8))
    if code is not None:
        return chr(int(code[1:], 16)) if int(code[1:], 16) <= 0x10FFFF else match.group()
    if name is None:
        return _SHORT.get(short, match.group())
    try:
        return unicodedata.lookup(name)
    except KeyError:
        return match.group()


def _meaning_or_json(match: re.Match[str]) -> str:
    """Return the meaning of an escape in a string that may be JSON."""
    return _SHORT_OF_JSON["/"] if match.group() == "\\/" else _meaning(match)


def whole_characters(text: str) -> str | None:
    """Join the halves of surrogate pairs; None for an unpaired half, which JSON cannot hold."""
    if not tokens.holds_half(text):
        return text
    try:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le")
    except UnicodeDecodeError:
        return None


# --- open brackets -----------------------------------------------------------------------------------------

_CLOSERS: Final = {"[": "]", "(": ")", "{": "}"}
_MORE: Final = object()


def _add(members: dict[str, Any], key: str, value: Any) -> None:
    """Add a member; a repeated one has to be equal."""
    if key in members and not equal.spelled_alike(members[key], value):
        raise NotPython("duplicate_key")
    members[key] = value


class _Open:
    """An open bracket with its content so far: a list, a tuple, a set, a dict, or one value in round brackets."""

    __slots__ = ("closer", "commas", "items", "key", "members", "opener")

    def __init__(self, opener: str) -> None:
        self.opener = opener
        self.closer = _CLOSERS[opener]
        self.items: list[Any] = []
        self.members: dict[str, Any] = {}
        self.key: str | None = None  # whose value is awaited
        self.commas = 0

    def take(self, value: Any, mark: str) -> bool:
        """Take a value with the mark after it; return whether more is to come."""
        if mark == ":":
            self._take_key(value)
            return True
        if mark not in {",", self.closer}:
            raise NotPython
        if self.key is not None:
            _add(self.members, self.key, value)
            self.key = None
        elif self.members:  # a dict, and a value without its key
            raise NotPython
        else:
            self.items.append(value)
        self.commas += mark == ","
        return mark == ","

    def _take_key(self, value: Any) -> None:
        if self.opener != "{" or self.key is not None or self.items or type(value) is not str:
            raise NotPython
        self.key = value

    def value(self) -> Any:
        """Return the value of the closed bracket."""
        if self.opener == "{" and not self.items:
            return self.members
        if self.opener == "(" and len(self.items) == 1 and not self.commas:
            return self.items[0]
        return self.items


# --- the reader --------------------------------------------------------------------------------------------

_TOKEN = re.compile(
    r"""\s*(?:(?P<mark>[\[\](){},:])|(?P<quote>'''|\"\"\"|'|")|(?P<word>[^\s\[\](){},:'"]+)|(?P<end>\Z))"""
)
_SPACE = re.compile(r"\s*")
_BEGIN = re.compile(r"\s*(\[?)\s*")
_BETWEEN = re.compile(r"\s*(?:[,;]\s*)?")
_LINE_ENDS_AND_MARKS = frozenset(",;\r\n")
_NAME = re.compile(r"(\w[\w.\-]*)\s*\(")
_KEY = re.compile(r"(\w[\w.\-]*)\s*=")


class _Reader:
    """Walks over one text."""

    __slots__ = ("at", "most", "text")

    def __init__(self, text: str, max_depth: int | None) -> None:
        self.text = text
        self.at = 0
        self.most = DEEPEST if max_depth is None else max_depth

    def token(self) -> tuple[str, str]:
        """Take one token: its kind, and the token itself (of a string the opening quotes)."""
        match = _TOKEN.match(self.text, self.at)
        assert match is not None  # the alternatives cover every text
        assert match.lastgroup is not None
        self.at = match.end()
        return match.lastgroup, match.group(match.lastgroup)

    def finish(self) -> None:
        """Refuse anything but white space up to the end."""
        if self.token()[0] != "end":
            raise NotPython

    def value(self, depth: int = 0) -> Any:
        """Read one value, which is in `depth` brackets."""
        opened: list[_Open] = []
        while True:
            kind, piece = self.token()
            if kind == "mark" and piece in _CLOSERS:
                if depth + len(opened) >= self.most:
                    raise NotPython("nesting_too_deep")
                opened.append(_Open(piece))
                continue
            value = self._handed_up(opened, self._leaf(kind, piece, opened))
            if value is not _MORE:
                return value

    def _leaf(self, kind: str, piece: str, opened: list[_Open]) -> Any:
        """Return a string, a word, or the value of a bracket that closes here with nothing more in it."""
        if kind == "quote":
            return self._string(piece)
        if kind == "word":
            return _word(piece)
        if not opened or opened[-1].closer != piece or opened[-1].key is not None:
            raise NotPython
        return opened.pop().value()

    def _handed_up(self, opened: list[_Open], value: Any) -> Any:
        """Hand a value to its bracket, and each bracket that this closes to the next; return the outermost."""
        while opened:
            if opened[-1].take(value, self.token()[1]):
                return _MORE
            value = opened.pop().value()
        return value

    def _string(self, quote: str) -> str:
        """Read a string after its opening quotes, and adjacent strings, which are parts of it."""
        parts = [self._body(quote)]
        while (beside := _TOKEN.match(self.text, self.at)) and beside.lastgroup == "quote":
            if beside.start("quote") == self.at and beside.group("quote")[0] == quote[0]:
                raise NotPython  # 'a''b': two strings, or one with quotes that were not escaped
            quote, self.at = beside.group("quote"), beside.end()
            parts.append(self._body(quote))
        whole = whole_characters("".join(parts))
        if whole is None:
            raise NotPython
        return whole

    def _body(self, quote: str) -> str:
        match = _BODIES[quote].match(self.text, self.at)
        if match is None:
            raise NotPython
        self.at = match.end()
        body = match.group(1)
        if "\\" not in body:
            return body
        return _ESCAPE.sub(_meaning_or_json if quote == '"' else _meaning, body)

    # --- calls ---------------------------------------------------------------------------------------------

    def calls(self) -> list[PythonCall]:
        """Read all calls, up to the end of the text."""
        found: list[PythonCall] = []
        opened = self._skip(_BEGIN).strip() == "["
        gap = ","
        while self.at < len(self.text):
            if opened and self.text[self.at] == "]":
                self.at += 1
                self.finish()
                break
            if _LINE_ENDS_AND_MARKS.isdisjoint(gap):
                raise NotPython
            found.append(self._call())
            gap = self._skip(_BETWEEN)
        return found

    def _skip(self, pattern: re.Pattern[str]) -> str:
        """Take the match of the pattern, perhaps nothing."""
        match = pattern.match(self.text, self.at)
        assert match is not None  # such a pattern matches everywhere
        self.at = match.end()
        return match.group()

    def _call(self) -> PythonCall:
        start = self.at
        name = self._named(_NAME)
        arguments: dict[str, Any] = {}
        mark = ","
        while mark != ")":
            self._skip(_SPACE)
            if self.text.startswith(")", self.at):
                self.at += 1
                break
            key = self._named(_KEY)
            _add(arguments, key, self.value(depth=1))
            mark = self.token()[1]
            if mark not in {",", ")"}:
                raise NotPython
        return PythonCall(name, arguments, start, self.at)

    def _named(self, pattern: re.Pattern[str]) -> str:
        """Take a name with the mark after it."""
        match = pattern.match(self.text, self.at)
        if match is None:
            raise NotPython
        self.at = match.end()
        return match.group(1)
