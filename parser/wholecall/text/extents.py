"""From an opening bracket to its end, while the text still grows.

Theory of operation. A `Lexis` says what matters in a spelling of values: which strings there are, which brackets, and
which literals may not stand outside strings, because they end what holds the value. The walk goes from one of these to
the next, keeps the brackets that are open, and passes a string's body by one search. It trusts brackets and quotes alone:
whether the text between them can be read is for the verdict on it.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from wholecall.text.markers import Matcher, matcher

if TYPE_CHECKING:
    from wholecall.text.source import Source

__all__ = ["JSON", "PYTHON", "RELAXED", "Extent", "Spelling", "extent"]

Extent = Literal["ok", "bad", "cut"]


class Spelling:
    """How values are spelled: their strings, with whether a backslash escapes in them, and their brackets.

    `careful` strings begin only where a value or a key may: apostrophes stand in unquoted text, too.
    """

    def __init__(self, strings: Mapping[str, bool], brackets: Mapping[str, str], careful: str = "") -> None:
        self.strings: Final = dict(strings)
        self.brackets: Final = dict(brackets)
        self.closing: Final = frozenset(brackets.values())
        self.careful: Final = frozenset(careful)
        self.bodies: Final = {
            quote: _body(quote) for quote, escapes in strings.items() if escapes and len(quote) == 1
        }

    @lru_cache(maxsize=256)  # noqa: B019 - the spellings are three, and live for ever
    def tokens(self, stops: frozenset[str]) -> Matcher:
        """Return what is looked for outside strings."""
        return matcher([*self.strings, *self.brackets, *self.closing, *stops])


def _body(quote: str) -> re.Pattern[str]:
    """Return the expression of a string's body: up to its quote, or to an escape that the text so far cuts."""
    return re.compile(rf"[^{quote}\\]*(?:\\.[^{quote}\\]*)*", re.DOTALL)


_BRACKETS = {"{": "}", "[": "]"}
JSON: Final = Spelling({'"': True, "'": True}, _BRACKETS, careful="'")
PYTHON: Final = Spelling(
    {'"': True, "'": True, '"""': True, "'''": True}, {**_BRACKETS, "(": ")"}, careful="'"
)
RELAXED: Final = Spelling({'"': True, '<|"|>': False, "<escape>": False}, _BRACKETS)

_BEFORE_VALUES = frozenset("{[(,:=")


def extent(
    source: Source, spelling: Spelling, stops: Iterable[str], max_depth: int | None
) -> Generator[None, None, tuple[Extent, bool]]:
    """Go from the opening bracket at the cursor behind its end; say whether that worked, and whether it was too deep.

    `bad`: a stop or a wrong bracket stands outside strings, and the cursor before it. `cut`: the text ends inside.
    """
    tokens = spelling.tokens(frozenset(stops))
    open_brackets: list[str] = []
    deeper = 0  # brackets beyond the limit, which are only counted
    too_deep = False
    while True:
        token = yield from source.find(tokens)
        if token is None:
            return "cut", too_deep
        if token in spelling.brackets:
            source.pos += 1
            if max_depth is not None and len(open_brackets) >= max_depth:
                deeper, too_deep = deeper + 1, True
            else:
                open_brackets.append(spelling.brackets[token])
        elif token in spelling.closing:
            if deeper:
                deeper -= 1
            elif open_brackets.pop() != token:
                return "bad", too_deep
            source.pos += 1
            if not open_brackets:
                return "ok", too_deep
        elif token in spelling.strings:
            whole = yield from _string(source, spelling, token)
            if not whole:
                return "cut", too_deep
        else:
            return "bad", too_deep


def _string(source: Source, spelling: Spelling, quote: str) -> Generator[None, None, bool]:
    """Go behind the string at the cursor; return False if the text ends in it."""
    before = source.before().rstrip()[-1:]
    source.pos += len(quote)
    if quote in spelling.careful and before not in _BEFORE_VALUES:
        return True
    body = spelling.bodies.get(quote)
    if body is not None:
        return (yield from source.past(body, quote))
    marks = matcher([quote, "\\"] if spelling.strings[quote] else [quote])
    while (mark := (yield from source.find(marks))) == "\\":
        source.pos += len((yield from source.need(2)))
    if mark is not None:
        source.pos += len(mark)
    return mark is not None
