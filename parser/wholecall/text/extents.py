"""From an opening bracket to its end, while the text still grows.

Theory of operation. A `Spelling` describes the spelling of values: its strings, its brackets, and the literals that may
not be outside strings, because they end the container of the value. The walk goes from one of these to the next, keeps
the open brackets, and passes a string's body by one search. It trusts brackets and quotes alone: the verdict on the
value decides whether the text between them can be read.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Final, Literal

from wholecall.text.markers import Matcher, matcher

if TYPE_CHECKING:
    from wholecall.text.source import Source

Extent = Literal["ok", "bad", "cut"]


class Spelling:
    """The spelling of values: their strings, with whether a backslash escapes in them, and their brackets.

    `careful` strings begin only where a value or a key may: apostrophes occur in unquoted text, too.
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
        """Return the matcher of the tokens outside strings."""
        return matcher([*self.strings, *self.brackets, *self.closing, *stops])

    @lru_cache(maxsize=256)  # noqa: B019
    def quick(self, stops: frozenset[str]) -> re.Pattern[str]:
        """Return the expression of strings that close (`whole`), other openers of one (`open`), brackets and stops."""
        plain = [quote for quote in self.bodies if quote not in self.careful]
        whole = "|".join(f"{quote}(?!{quote}{quote}){self.bodies[quote].pattern}{quote}" for quote in plain)
        openers = Matcher(self.strings).pattern
        others = Matcher([*self.brackets, *self.closing, *stops]).pattern
        return re.compile(f"(?P<whole>{whole})|(?P<open>{openers})|{others}", re.DOTALL)


def _body(quote: str) -> re.Pattern[str]:
    """Return the expression of a string's body: up to its quote, or to an escape that is cut at the end of the text."""
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
    """Go from the opening bracket at the cursor past its end; return whether that worked, and whether it was too deep.

    `bad`: a stop or a wrong bracket is outside strings, with the cursor before it. `cut`: the text ends inside.
    """
    tokens, quick = spelling.tokens(frozenset(stops)), spelling.quick(frozenset(stops))
    open_brackets = _Brackets(spelling, max_depth)
    while True:
        outcome: Extent | None = _quickly(source, open_brackets, quick, tokens.longest)
        if outcome is None:
            outcome = yield from _one_token(source, spelling, tokens, open_brackets)
        if outcome is not None:
            return outcome, open_brackets.too_deep


class _Brackets:
    """The open brackets; of those beyond the limit only the number."""

    __slots__ = ("closing", "deeper", "left", "most", "open", "too_deep")

    def __init__(self, spelling: Spelling, most: int | None) -> None:
        self.left, self.closing = spelling.brackets, spelling.closing
        self.most = most
        self.open: list[str] = []
        self.deeper = 0
        self.too_deep = False

    def take(self, token: str) -> Literal["ok", "bad"] | None:
        """Take a token; `ok`: the first bracket is closed, `bad`: the token is illegal or the wrong bracket."""
        if token in self.left:
            if self.most is not None and len(self.open) >= self.most:
                self.deeper, self.too_deep = self.deeper + 1, True
            else:
                self.open.append(self.left[token])
            return None
        if token not in self.closing:
            return "bad"
        if self.deeper:
            self.deeper -= 1
            return None
        if self.open.pop() != token:
            return "bad"
        return None if self.open else "ok"


def _quickly(
    source: Source, brackets: _Brackets, pattern: re.Pattern[str], longest: int
) -> Literal["ok", "bad"] | None:
    """Go past the decided tokens in the window: brackets, and strings that close; return how it ended, if it did."""
    window, at, base = source.window_at_cursor()
    last = len(window) - longest
    if at >= last:
        return None
    outcome: Literal["ok", "bad"] | None = None
    for match in pattern.finditer(window, at):
        first, end = match.span()
        if first >= last or match.lastgroup == "open":
            at = first
            break
        if match.lastgroup is None:
            outcome = brackets.take(match.group())
            if outcome is not None:
                at = first if outcome == "bad" else end
                break
        at = end
    source.pos = base + at
    return outcome


def _one_token(
    source: Source, spelling: Spelling, tokens: Matcher, brackets: _Brackets
) -> Generator[None, None, Extent | None]:
    """Go past the next token, a string as a whole; return how the value ended, if it did."""
    token = yield from source.find(tokens)
    if token is None:
        return "cut"
    if token in spelling.strings:
        whole = yield from _string(source, spelling, token)
        return None if whole else "cut"
    outcome = brackets.take(token)
    source.pos += outcome != "bad"
    return outcome


def _string(source: Source, spelling: Spelling, quote: str) -> Generator[None, None, bool]:
    """Go past the string at the cursor; return False if the text ends in it."""
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
