"""Objects as Gemma writes them: `{key:<|"|>text<|"|>,count:3}`, with bare keys and strings in their own markers.

Theory of operation. One reader walks over the text and keeps the open brackets on its own stack: depth is counted
and never becomes recursion. A string in markers has no escapes, so that its end is found at once. A text that cannot be
read so is read a second time with one more rule: text without quotes, up to a comma or the closing bracket, is a
string. Where such a string could also be a value followed by another member, it is refused.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, Final

from wholecall.calls.arguments import equal, tokens
from wholecall.text.python_values import DEEPEST, MOST_DIGITS, whole_characters
from wholecall.types import DropReason

DELIMITERS: Final = ('<|"|>', "<escape>")  # each opens a string and closes it


class NotRelaxed(ValueError):
    """The text is not such an object.

    Attributes:
        reason: the reason to drop a call with: `unparseable`, `duplicate_key`, `nesting_too_deep` or
            `number_out_of_range`.
    """

    def __init__(self, reason: DropReason = "unparseable") -> None:
        super().__init__(reason)
        self.reason: DropReason = reason


def relaxed_object(text: str, *, max_depth: int | None) -> dict[str, Any]:
    """Return the object in `text`.

    Raises:
        NotRelaxed: it is not one object, or breaks a bound.
    """
    try:
        return _Reader(text, max_depth).whole()
    except NotRelaxed as fault:
        if fault.reason != "unparseable":
            raise
    return _Reader(text, max_depth, unquoted=True).whole()


# --- leaves ------------------------------------------------------------------------------------------------

_WORDS: Final = {"true": True, "false": False, "null": None}
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")
_MORE: Final = object()


def _word(word: str) -> Any:
    """Return the constant or number that a word spells, `_MORE` for any other word."""
    if word in _WORDS:
        return _WORDS[word]
    number = _NUMBER.fullmatch(word)
    return _MORE if number is None else _number(number)


def _number(number: re.Match[str]) -> int | float:
    """Return a number; an integer keeps all its digits."""
    if number.group(1) is None and number.group(2) is None:
        if len(number.group()) > MOST_DIGITS + 1:  # including the sign
            raise NotRelaxed("number_out_of_range")
        try:
            return int(number.group())
        except ValueError:  # the interpreter reads fewer digits
            raise NotRelaxed("number_out_of_range") from None
    value = float(number.group())
    if math.isinf(value):
        raise NotRelaxed("number_out_of_range")
    return value


class _Open:
    """An open bracket with its content so far."""

    __slots__ = ("closer", "items", "key", "members")

    def __init__(self, opener: str) -> None:
        self.closer = {"{": "}", "[": "]"}[opener]
        self.items: list[Any] = []
        self.members: dict[str, Any] = {}
        self.key = ""

    def keep(self, value: Any) -> None:
        """Take an item, or the value of the preceding key."""
        if self.closer == "]":
            self.items.append(value)
            return
        if self.key in self.members and not equal.spelled_alike(self.members[self.key], value):
            raise NotRelaxed("duplicate_key")
        self.members[self.key] = value

    def value(self) -> Any:
        """Return the value of the closed bracket."""
        return self.items if self.closer == "]" else self.members


# --- the reader --------------------------------------------------------------------------------------------

_SPACE = re.compile(r"\s*")
_BARE_KEY = re.compile(r'[^{}\[\],":<>\r\n]+')  # no markup
_SINGLE = re.compile(
    r"'([^'\\\r\n]*)'(?=\s*[,:}\]])"
)  # a string in Python's quotes: one reading, without escapes
_QUOTED = re.compile(
    r"<\||\|>|<escape|\A'.*'", re.DOTALL
)  # a piece of a delimiter, or quotes that have two readings
_BARE_WORD = re.compile(r'[^\s{}\[\],":]+')
_COLON = re.compile(r"\s*:")
_JSON_STRING = re.compile(tokens.STRING)
# Text without quotes, by the bracket around it. Brackets are data (`a[0]`) where they cannot end it.
_UNQUOTED: Final = {"}": re.compile(r'[^,{}"]+'), "]": re.compile(r'[^,{}\[\]"]+')}
# `Paris unit:c`: perhaps a member after a missing comma. `see https://…` is not.
_LIKE_MEMBER = re.compile(r"\s[^\W\d][\w.\-]*:(?!//)")


class _Reader:
    """Walks over one text; with `unquoted`, strings may be unquoted."""

    __slots__ = ("at", "most", "text", "unquoted")

    def __init__(self, text: str, max_depth: int | None, *, unquoted: bool = False) -> None:
        self.text = text
        self.at = 0
        self.most = DEEPEST if max_depth is None else max_depth
        self.unquoted = unquoted

    def whole(self) -> dict[str, Any]:
        """Read one object that is the whole text."""
        if self.next() != "{":
            raise NotRelaxed
        value: dict[str, Any] = self._value()
        if self.next():
            raise NotRelaxed
        return value

    def next(self) -> str:
        """Skip white space; return the character after it, "" at the end."""
        match = _SPACE.match(self.text, self.at)
        assert match is not None  # it matches everywhere
        self.at = match.end()
        return self.text[self.at : self.at + 1]

    def _value(self) -> Any:
        """Read one value with its content."""
        opened: list[_Open] = []
        while True:
            mark = self.next()
            if opened and mark == opened[-1].closer:  # nothing in it, or a comma before it
                self.at += 1
                value = opened.pop().value()
            else:
                value = self._begun(opened)
            if value is not _MORE:
                value = self._handed_up(opened, value)
            if value is not _MORE:
                return value

    def _begun(self, opened: list[_Open]) -> Any:
        """Read the key, where there is one, and then a leaf, or `_MORE` for a bracket that opens here."""
        if opened and opened[-1].closer == "}":
            opened[-1].key = self._key()
        mark = self.next()
        if mark not in {"{", "["}:
            return self._leaf(opened[-1].closer)
        if len(opened) >= self.most:
            raise NotRelaxed("nesting_too_deep")
        self.at += 1
        opened.append(_Open(mark))
        return _MORE

    def _handed_up(self, opened: list[_Open], value: Any) -> Any:
        """Hand a value to its bracket, and each bracket that this closes to the next; return the outermost."""
        while opened:
            opened[-1].keep(value)
            mark = self.next()
            self.at += 1
            if mark == ",":
                return _MORE
            if mark != opened[-1].closer:
                raise NotRelaxed
            value = opened.pop().value()
        return value

    def _key(self) -> str:
        """Read a key, bare or quoted, and the colon after it."""
        key = self._quoted()
        if key is None:
            key = self._taken(_BARE_KEY).strip()
            if not key:
                raise NotRelaxed
        self._taken(_COLON)
        return key

    def _leaf(self, closer: str) -> Any:
        """Read a string, a number or a word; `closer` ends the bracket around it."""
        quoted = self._quoted()
        if quoted is not None:
            return quoted
        word = self._taken(_UNQUOTED[closer] if self.unquoted else _BARE_WORD).strip()
        value = _word(word)
        if value is not _MORE:
            return value
        if not (self.unquoted and word) or _LIKE_MEMBER.search(word) or _QUOTED.search(word):
            raise NotRelaxed
        return word

    def _quoted(self) -> str | None:
        """Read a string in markers or a JSON string; None if none begins here."""
        self.next()
        for delimiter in DELIMITERS:
            if self.text.startswith(delimiter, self.at):
                return self._marked(delimiter)
        if self.text.startswith("'", self.at) and (single := _SINGLE.match(self.text, self.at)):
            self.at = single.end()
            return self._sound(single.group(1))
        if not self.text.startswith('"', self.at):
            return None
        try:
            read: str = json.loads(self._taken(_JSON_STRING), strict=False)  # a raw line end is kept
        except ValueError:
            raise NotRelaxed from None
        return self._sound(read)

    def _marked(self, delimiter: str) -> str:
        start = self.at + len(delimiter)
        end = self.text.find(delimiter, start)
        if end < 0:
            raise NotRelaxed
        self.at = end + len(delimiter)
        return self._sound(self.text[start:end])

    def _sound(self, text: str) -> str:
        whole = whole_characters(text)
        if whole is None:
            raise NotRelaxed
        return whole

    def _taken(self, pattern: re.Pattern[str]) -> str:
        match = pattern.match(self.text, self.at)
        if match is None:
            raise NotRelaxed
        self.at = match.end()
        return match.group()
