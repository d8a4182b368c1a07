"""Strict JSON in pieces: reads one value as its text arrives and calls a method of a subclass for each part.

Theory of operation. A table maps each significant character that may come next to the step that reads it; a character
that is not in the table ends the reading for good. Nothing is guessed and nothing is closed: the reading stops where
the text is not strict JSON (RFC 8259) or exceeds the limits.

====================  =======================================================================
read as               treatment at the end of a piece
====================  =======================================================================
brackets, ``: ,``     one character each; nothing to remember but the open brackets
number, literal       kept until the character that ends it: `12` may become `123`; at
                      the top that may be the end of the text
key                   kept until its closing quote
string value          reported at once, decoded; a cut escape, and half of a surrogate
                      pair, are held back until the rest comes (at most eleven characters)
====================  =======================================================================

String content is skipped by one search per piece. Each character is examined once, except for text that is held back;
memory is needed only for open values. Strings are decoded by the decoder that also decides the verdict, so the two
cannot disagree.

The reading stops at the first invalid character: in `[1, tru]` that is the second bracket, in `[01]` the `1`. It is
found as soon as it arrives. Until then the text is the beginning of some JSON text, except for the size of a number and
a second value of a key, which are known when they end.

White space and one byte order mark before the value are skipped, and white space after it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar

import msgspec

from wholecall.calls.arguments import strict, tokens
from wholecall.limits import Limits

if TYPE_CHECKING:
    from wholecall.types import DropReason

_decode: Callable[[str], Any] = msgspec.json.Decoder().decode
_NOT_JSON = (msgspec.DecodeError, UnicodeEncodeError)

_SPACE = re.compile(f"[{tokens.JSON_SPACE}]*")
_SCALAR = re.compile(r"[-+.0-9A-Za-z]*")
# String content, and its last escape as group 1. A match remembers each round of a group: the bound keeps that small,
# and callers continue where the match ended.
_CONTENT = re.compile(r'[^"\\\x00-\x1f]*(?:(\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))[^"\\\x00-\x1f]*){0,1000}')
_CUT_ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
_WRONG_ESCAPE = re.compile(r"(?:\\(?:u[0-9a-fA-F]{0,3})?)?")  # any text after it is invalid
_HIGH = re.compile(r"\\u[dD][89abAB]")
_NUMERIC = frozenset("-0123456789")
# The longest beginning of a number or a literal: `-` of `-x`, `1.` of `1.e5`, `tru` of `trux`.
_BEGINNING = re.compile(
    r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[eE][+-]?[0-9]*)?|[eE][+-]?[0-9]*|\.)?|-"
    r"|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?"
)
_is_beginning = _BEGINNING.fullmatch
_DIGITS = re.compile(r"([0-9])[0-9]+")
_LONG = 40  # characters of a number that are read again when the next piece comes
_WHOLE = re.compile(r".*[0-9]|true|false|null")  # of beginnings


def _meaning(content: str) -> str:
    """Decode valid string content."""
    if "\\" not in content and content.isprintable():
        return content
    try:
        meaning: str = _decode(f'"{content}"')
    except _NOT_JSON:  # a lone half of a surrogate pair, or a pair that the wire split
        return tokens.plain(f'"{content}"')
    return meaning


def _after(pattern: re.Pattern[str], text: str, at: int) -> int:
    """Return the end of the match of a pattern, which also matches the empty text."""
    match = pattern.match(text, at)
    assert match is not None
    return match.end()


def _end_of_text(content: re.Match[str]) -> int:
    """Return the end of the reportable content: before a high surrogate, as its other half may follow."""
    end = content.end()
    if content.lastindex and end - content.start(1) == 6 and _HIGH.match(content.string, content.start(1)):
        return end - 6
    return end - 1 if "\ud800" <= content.string[end - 1 : end] <= "\udbff" else end


class Grammar:
    """The position in the text of one value; a subclass overrides the methods named `_on_…`.

    Attributes:
        complete: whether the text is one complete value, with only white space after it.
        stopped: whether the text stopped being strict JSON, or exceeded the limits; final.
        reason: the reason for the stop, else None.
    """

    __slots__ = (
        *("_expected", "_held", "_in_key", "_key", "_left", "_max_depth", "_max_number", "_reads", "_scalar"),
        *("_scalar_begun", "_scalar_size", "_skips", "_stack", "_step", "complete", "reason", "stopped"),
    )

    def __init__(self, limits: Limits) -> None:
        self._max_depth = limits.max_depth
        self._max_number = limits.max_number_chars
        self._begin()

    def _begin(self) -> None:
        """Start again, before the first character."""
        self.complete = False
        self.stopped = False
        self.reason: DropReason | None = None
        self._left = 0  # number of characters of the last piece that were not read
        self._stack: list[Table] = []  # for each open bracket: the steps that may follow a value inside
        self._expected = self._START
        self._step: Step = Grammar._between
        self._held = ""  # text that the next piece continues: a cut escape, half of a surrogate pair
        self._reads = False  # whether an open string value's text is wanted
        self._skips = False  # whether an unwanted string, key or value, is open
        self._in_key = False  # whether the last opened string is a key
        self._key: list[str] = []
        self._scalar: list[str] = []
        self._scalar_size = 0
        self._scalar_begun = (
            ""  # its pieces so far; a long one is shortened, `-1.5e+7` for `-10.55e+77`: the same may follow
        )

    def end(self) -> None:
        """Note the end of the text: it ends a complete number or literal at the top."""
        at_top = not (self._stack or self.stopped)
        if at_top and self._step is Grammar._read_scalar and _WHOLE.fullmatch(self._scalar_begun):
            self._left = -self._close_scalar("", 0, 0)

    def _scan(self, text: str) -> None:
        """Read one more piece of the text."""
        if self.stopped:
            return
        if (self._reads or self._skips) and self._within(text):
            return
        if self._held:
            text, self._held = self._held + text, ""
        at, end = 0, len(text)
        while at < end and not self.stopped:
            at = self._step(self, text, at)
        self._left = end - at

    def _within(self, text: str) -> bool:
        """Read a piece that lies inside the open string, perhaps up to a backslash; return whether that was possible.

        This is the short way for a piece that holds an escape. It reads all of the piece or nothing.
        """
        piece, held = self._held + text, ""
        if piece[-1:] == "\\":
            piece, held = piece[:-1], "\\"
        try:
            decoded: str = _decode(f'"{piece}"')
        except _NOT_JSON:
            return False
        self._held = held
        if decoded and self._reads:
            self._on_text(decoded)
        return True

    def _stop(self, reason: DropReason, at: int = 0) -> int:
        """Stop reading; return `at`, the offset of the invalid character."""
        self.stopped = True
        self.complete = False
        self.reason = reason
        self._reads = self._skips = False
        return at

    # Callbacks for subclasses.

    def _on_key(self, key: str) -> None:
        """Take the key of a member; its value follows."""

    def _wants_key(self) -> bool:
        """Return whether the key that begins is wanted."""
        return True

    def _on_string(self) -> bool:
        """Return whether the text of the string value that begins is wanted."""
        return False

    def _on_text(self, text: str) -> None:
        """Take more text of a wanted string value, decoded, never empty."""

    def _on_string_end(self) -> None:
        """Note that the string value is closed."""

    def _on_scalar(self) -> None:
        """Note that a number or a literal begins."""

    def _on_scalar_end(self, value: object) -> None:
        """Take the value of the number or literal that has ended."""

    def _on_open(self, container: dict[str, Any] | list[Any]) -> None:
        """Note that an object or a list begins, empty."""

    def _on_close(self) -> None:
        """Note that the innermost object or list is closed."""

    # Steps: each reads a token at `at`, and returns its end.

    def _between(self, text: str, at: int) -> int:
        """Read one character between strings and scalars, and take its step from the table."""
        if text[at] in tokens.JSON_SPACE:
            at = _after(_SPACE, text, at)
            if at == len(text):
                return at
        step = self._expected.get(text[at])
        return self._stop("invalid_json", at) if step is None else step(self, text, at)

    def _skip_mark(self, _text: str, at: int) -> int:
        self._expected = self._OBJECT
        return at + 1

    def _open_object(self, _text: str, at: int) -> int:
        return self._open_container(at, {}, self._FIRST_KEY, self._AFTER_MEMBER)

    def _open_list(self, _text: str, at: int) -> int:
        return self._open_container(at, [], self._FIRST_ITEM, self._AFTER_ITEM)

    def _open_container(
        self, at: int, container: dict[str, Any] | list[Any], inside: Table, after: Table
    ) -> int:
        if self._max_depth is not None and len(self._stack) >= self._max_depth:
            return self._stop("nesting_too_deep", at)
        self._stack.append(after)
        self._expected = inside
        self._on_open(container)
        return at + 1

    def _close(self, _text: str, at: int) -> int:
        self._stack.pop()
        self._after_value()
        self._on_close()
        return at + 1

    def _after_value(self) -> None:
        self._step = Grammar._between
        if self._stack:
            self._expected = self._stack[-1]
        else:
            self._expected = self._END
            self.complete = True

    def _next_member(self, _text: str, at: int) -> int:
        self._expected = self._KEY
        return at + 1

    def _next_item(self, _text: str, at: int) -> int:
        self._expected = self._VALUE
        return at + 1

    def _open_key(self, _text: str, at: int) -> int:
        self._key = []
        self._in_key = True
        self._skips = not self._wants_key()
        self._step = Grammar._string
        return at + 1

    def _open_string(self, _text: str, at: int) -> int:
        self._in_key = False
        self._reads = self._on_string()
        self._skips = not self._reads
        self._step = Grammar._string
        return at + 1

    def _string(self, text: str, at: int) -> int:
        content = _CONTENT.match(text, at)
        assert content is not None  # the pattern also matches the empty text
        end = content.end()
        follows = text[end : end + 1]
        if follows == '"':
            self._take(text[at:end])
            self._close_string()
            return end + 1
        known = _end_of_text(content)
        if not follows or _CUT_ESCAPE.match(text, end):
            self._take(text[at:known])
            self._held = text[known:]
            return len(text)
        if known > at:
            self._take(text[at:known])
            return known  # more content than one match takes, or a fault, which the next step finds
        self._take(text[at:end])
        return self._stop("invalid_json", _after(_WRONG_ESCAPE, text, end))

    def _take(self, content: str) -> None:
        if self._skips or not content:
            return
        if self._in_key:
            self._key.append(_meaning(content))
        else:
            self._on_text(_meaning(content))

    def _close_string(self) -> None:
        skipped = self._skips
        self._reads = self._skips = False
        if not self._in_key:
            self._after_value()
            self._on_string_end()
            return
        self._step = Grammar._between
        self._expected = self._COLON
        if not skipped:
            self._on_key("".join(self._key))

    def _colon(self, _text: str, at: int) -> int:
        self._expected = self._VALUE
        return at + 1

    def _open_scalar(self, _text: str, at: int) -> int:
        self._scalar = []
        self._scalar_size = 0
        self._scalar_begun = ""
        self._step = Grammar._read_scalar
        self._on_scalar()
        return at

    def _read_scalar(self, text: str, at: int) -> int:
        end = _after(_SCALAR, text, at)
        piece = text[at:end]
        self._scalar.append(piece)
        self._scalar_size += end - at
        most = self._max_number
        if most is not None and self._scalar_size > most and self._scalar[0][0] in _NUMERIC:
            longest = end - self._scalar_size + most
            wrong = self._wrong_in_scalar(text, at, end)
            if wrong <= longest:
                return self._stop("invalid_json", wrong)
            return self._stop("number_too_long", longest)
        if end < len(text):
            return self._close_scalar(text, at, end)
        begun = self._scalar_begun + piece
        if not _is_beginning(begun):
            return self._stop("invalid_json", self._wrong_in_scalar(text, at, end))
        self._scalar_begun = begun if len(begun) < _LONG else _DIGITS.sub(r"\1", begun)
        return end

    def _wrong_in_scalar(self, text: str, at: int, end: int) -> int:
        """Return the offset of the first character that no number or literal allows there; `end` if all are allowed."""
        before = self._scalar_begun
        return at + _after(_BEGINNING, before + text[at:end], 0) - len(before)

    def _close_scalar(self, text: str, at: int, end: int) -> int:
        """Take the number or literal whose last piece is between `at` and `end`."""
        scalar = "".join(self._scalar)
        try:
            value = _decode(scalar)
        except msgspec.ValidationError:  # a number that Python cannot hold
            return self._stop(strict.fault_of_number(scalar), end - len(scalar))
        except msgspec.DecodeError:
            return self._stop("invalid_json", self._wrong_in_scalar(text, at, end))
        follows = text[end : end + 1]
        if follows not in tokens.JSON_SPACE and follows not in (
            self._stack[-1] if self._stack else self._END
        ):
            return self._stop("invalid_json", end)
        self._after_value()
        self._on_scalar_end(value)
        return end

    # The tables: the steps that may come next.

    _END: ClassVar[Table] = {}
    _OBJECT: ClassVar[Table] = {"{": _open_object}
    _START: ClassVar[Table] = {"{": _open_object, "\ufeff": _skip_mark}
    _KEY: ClassVar[Table] = {'"': _open_key}
    _FIRST_KEY: ClassVar[Table] = {'"': _open_key, "}": _close}
    _COLON: ClassVar[Table] = {":": _colon}
    _VALUE: ClassVar[Table] = {
        '"': _open_string,
        "{": _open_object,
        "[": _open_list,
        **dict.fromkeys("-0123456789tfn", _open_scalar),
    }
    _FIRST_ITEM: ClassVar[Table] = {**_VALUE, "]": _close}
    _AFTER_MEMBER: ClassVar[Table] = {",": _next_member, "}": _close}
    _AFTER_ITEM: ClassVar[Table] = {",": _next_item, "]": _close}


# Takes a Grammar, a text and an offset in it; returns the offset after the text that was read.
Step = Callable[..., int]
Table = Mapping[str, Step]
