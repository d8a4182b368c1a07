"""The text to read: it arrives in pieces, a reader walks over it, and passed text can be asked for again.

Theory of operation. A *window* holds the text around the cursor. When the cursor is far into it, all but the last
characters before the cursor move to a list of parts, so that a piece costs the size of the window however long the text
before it is. Going back before the window joins the parts from there on again, which happens once per stretch of text.
Of text beyond its maximal length only the beginning is kept, and the last stretch, in which readers may still go back.

Every primitive is a generator that yields (suspends) exactly while the text so far leaves its answer open, and is
resumed when more text came or the text has ended. Its answer is a function of the whole text from the cursor on, never
of the division into pieces: that is why all splits of a text give the same.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Generator
from typing import TYPE_CHECKING, Literal, Union

if TYPE_CHECKING:
    from wholecall.text.markers import Matcher

Ended = Literal["clean", "length", "open"]
# As an engine is told: also that nothing follows, while nobody knows whether the model or a limit ended the text.
EngineEnded = Union[Ended, Literal["over"]]
Waiting = Generator[None, None, None]

LOOK_BACK = 64  # characters before the cursor that the window always holds
_WINDOW = 4096  # characters before the cursor that it holds at most, when a piece comes
_RECENT = 16384  # characters before the cursor that are kept of a text that is too long; readers go back half as far


class Source:
    """A growing text with a cursor. Positions are counted in characters from the start of the text.

    Attributes:
        eof: whether the text is complete.
        ended: how it ended; only to be read where its end was reached.
    """

    __slots__ = (
        "_base",
        "_cursor",
        "_kept",
        "_parts",
        "_starts",
        "_window",
        "ended",
        "eof",
        "window",
    )

    def __init__(self, window: int = _WINDOW) -> None:
        self.window = window
        self.eof = False
        self.ended: EngineEnded = "clean"
        self._window = ""
        self._base = 0  # the start of the window
        self._cursor = 0  # in the window
        self._parts: list[str] = []
        self._starts: list[int] = []
        self._kept: int | None = None  # up to here held text is kept, if it may be too long

    @property
    def pos(self) -> int:
        """The cursor."""
        return self._base + self._cursor

    @pos.setter
    def pos(self, value: int) -> None:
        if value < self._base:
            self._reach(value)
        self._cursor = value - self._base

    @property
    def size(self) -> int:
        """Characters of the text so far."""
        return self._base + len(self._window)

    @property
    def at_end(self) -> bool:
        """Whether the cursor is at the end of the whole text."""
        return self.eof and self._cursor >= len(self._window)

    def append(self, piece: str) -> None:
        """Take one more piece of the text."""
        if self._cursor > self.window + LOOK_BACK:
            self._slide()
        self._window += piece

    def _slide(self) -> None:
        cut = self._cursor - LOOK_BACK
        self._parts.append(self._window[:cut])
        self._starts.append(self._base)
        self._window = self._window[cut:]
        self._base += cut
        self._cursor = LOOK_BACK
        if self._kept is not None and self._base - self._kept > 2 * _RECENT:
            first = bisect_right(self._starts, self._kept)
            last = bisect_right(self._starts, self._base - _RECENT) - 1
            if last - first > len(self._starts) // 2:
                del self._parts[first:last], self._starts[first:last]

    def _reach(self, place: int) -> None:
        """Let the window begin a look back before this place, so that the text before it is not moved again."""
        first = max(bisect_right(self._starts, place) - 1, 0)
        start = self._starts[first]
        joined = "".join([*self._parts[first:], self._window])
        cut = max(place - LOOK_BACK - start, 0)
        self._parts[first:] = [joined[:cut]] if cut else []
        self._starts[first:] = [start] if cut else []
        self._window, self._base = joined[cut:], start + cut

    def text(self, start: int, end: int) -> str:
        """Return the text between two places, or nothing if it is in text that is too long and reaches far back."""
        base = self._base
        if self._kept is not None and end > self._kept and self.pos - start > _RECENT // 2:
            return ""
        if start >= base:
            return self._window[start - base : end - base]
        first = max(bisect_right(self._starts, start) - 1, 0)
        last = max(bisect_right(self._starts, end), first + 1)
        joined = "".join([*self._parts[first:last], self._window[: max(end - base, 0)]])
        return joined[start - self._starts[first] : end - self._starts[first]]

    def hold(self, start: int, most: int | None) -> None:
        """Keep the text from here on, up to a number of characters."""
        self._kept = None if most is None else start + most

    def forget(self, place: int) -> None:
        """Release the text before this place; no reader goes back there."""
        self._kept = None
        if self._parts:
            gone = len(self._parts) if place >= self._base else bisect_right(self._starts, place) - 1
            del self._parts[: max(gone, 0)], self._starts[: max(gone, 0)]

    def before(self, size: int = LOOK_BACK) -> str:
        """Return up to so many characters before the cursor, at most `LOOK_BACK` of them."""
        return self._window[max(self._cursor - size, 0) : self._cursor]

    def look(self, matcher: Matcher) -> str | None:
        """Go to the earliest literal, or up to the first place where one may begin; return it if that is decided."""
        place, literal = matcher.find(self._window, self._cursor, ended=self.eof)
        self._cursor = place
        return literal

    def ahead(self, matcher: Matcher) -> tuple[bool, str | None]:
        """Return whether the literal at the cursor is decided, and that literal."""
        return matcher.at(self._window, self._cursor, ended=self.eof)

    def window_at_cursor(self) -> tuple[str, int, int]:
        """Return the window, the cursor in it, and the start of the window."""
        return self._window, self._cursor, self._base

    def ends_in(self, matcher: Matcher) -> bool:
        """Return whether the text is complete, and its rest an incomplete literal."""
        return self.eof and matcher.is_begun(self._window[self._cursor :])

    # Primitives.

    def find(self, matcher: Matcher, limit: int | None = None) -> Generator[None, None, str | None]:
        """Go to the earliest literal, and return it; None if the text ends before one, or `limit` characters do."""
        last = None if limit is None else self.pos + limit
        while True:
            most = None if last is None else last - self._base + matcher.longest
            if most is None or most >= len(self._window):
                place, literal = matcher.find(self._window, self._cursor, ended=self.eof)
            else:  # nothing after the limit is searched, and a literal that begins before it is whole
                place, literal = matcher.find(self._window[self._cursor : most], 0, ended=False)
                place += self._cursor
            if last is not None and self._base + place > last:
                self._cursor = last - self._base
                return None
            self._cursor = place
            if literal is not None or self.eof:
                return literal
            yield

    def match(self, matcher: Matcher) -> Generator[None, None, str | None]:
        """Return the literal at the cursor, None if there is none."""
        while True:
            decided, literal = matcher.at(self._window, self._cursor, ended=self.eof)
            if decided:
                return literal
            yield

    def take(self, matcher: Matcher) -> Generator[None, None, str | None]:
        """Return the literal at the cursor and go past it; None if there is none."""
        literal = yield from self.match(matcher)
        if literal is not None:
            self._cursor += len(literal)
        return literal

    def space(self, limit: int | None = None) -> Generator[None, None, str]:
        """Skip white space, at most so many characters; return the next character, `""` at the end of the text."""
        last = None if limit is None else self.pos + limit
        while True:
            window, cursor, end = self._window, self._cursor, len(self._window)
            while cursor < end and window[cursor].isspace():
                cursor += 1
            if last is not None and self._base + cursor > last:
                self._cursor = last - self._base
                return self._window[self._cursor]
            self._cursor = cursor
            if cursor < end:
                return window[cursor]
            if self.eof:
                return ""
            yield

    def space_in_line(self) -> Generator[None, None, str]:
        """Skip blanks of this line; return the next character, `""` at the end of the text."""
        while True:
            window, cursor, end = self._window, self._cursor, len(self._window)
            while cursor < end and window[cursor] in " \t":
                cursor += 1
            self._cursor = cursor
            if cursor < end:
                return window[cursor]
            if self.eof:
                return ""
            yield

    def need(self, size: int) -> Generator[None, None, str]:
        """Return so many characters from the cursor on, fewer only at the end of the text."""
        while len(self._window) - self._cursor < size and not self.eof:
            yield
        return self._window[self._cursor : self._cursor + size]

    def past(self, body: re.Pattern[str], end: str) -> Generator[None, None, bool]:
        """Go past a match of the expression, and the character that ends it; False if the text ends before it."""
        while True:
            window = self._window
            match = body.match(window, self._cursor)
            self._cursor = self._cursor if match is None else match.end()
            if window[self._cursor : self._cursor + 1] == end:
                self._cursor += 1
                return True
            if self.eof:
                self._cursor = len(window)
                return False
            yield

    def run(self, pattern: re.Pattern[str], most: int) -> Generator[None, None, str]:
        """Go past a run that the expression matches, and return it, with one character more where it is too long."""
        while True:
            match = pattern.match(self._window, self._cursor, self._cursor + most + 1)
            end = self._cursor if match is None else match.end()
            if end < len(self._window) or end - self._cursor > most or self.eof:
                found = self._window[self._cursor : end]
                self._cursor = end
                return found
            yield
