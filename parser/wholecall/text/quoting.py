"""Find quoting lines of a text: code fences, indented code and block quotes, by CommonMark.

Theory of operation. A model that shows a call, or repeats a page that holds one, quotes it; a quoted call is text.
Quoting is a matter of blocks: each shown line is read once, at its end, and changes the state for the lines
that follow: a fence opens or closes, a list item begins or ends, a paragraph continues or is over. A line that has not
ended is judged by its content so far. Only the beginning of a line decides, and no more than that is kept.

    > ```                a fence in a block quote, closed by its end, too
    - ````md             a fence in a list item: only four backticks or more close it
          indented       code, where no paragraph goes on

Code spans, which begin and end within a paragraph, are counted in `state`.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

import msgspec

_LONGEST_HEAD: Final = 256  # characters of a line that can decide its kind
_MOST_ITEMS: Final = 32  # list items within one another
_CODE: Final = 4  # columns from which a line is code
_ITEM: Final = re.compile(r"(?:[-+*]|[0-9]{1,9}[.)])(?=[ \t]|$)")
_FENCE: Final = re.compile(r"`{3,}[^`]*$|~{3,}.*$")
_NO_PARAGRAPH: Final = re.compile(
    r"#{1,6}(?:\s|$)|=+$|([-_*])[ \t]*(?:\1[ \t]*){2,}$"
)  # a heading, or a line across
_PROSE: Final = re.compile(r" {0,3}[^\W\d_]")
# The end of a line before a line that is neither prose nor blank.
_ODD: Final = re.compile(r"\n(?! {0,3}[^\W\d_]| {0,3}\n)")
_UNDECIDED: Final = re.compile(r"[-_*=+`~ \t]*$|[0-9]{1,9}[.)]?$")


class _Line(NamedTuple):
    """A line without the marks of its containers: its content, its indentation in them, and those marks."""

    text: str
    indent: int
    quotes: int
    items: tuple[int, ...]


class Blocks(msgspec.Struct, kw_only=True):
    """The blocks that are open, and the line that has not ended.

    Attributes:
        line: the beginning of that line; text after its first characters changes nothing.
        fence: the characters that opened the open fence, `""` if none is open.
        quotes: how many block quotes the fence is in.
        items: the columns at which the open list items begin; those at the fence, while one is open.
        paragraph: whether the next line continues a paragraph.
    """

    line: str = ""
    fence: str = ""
    quotes: int = 0
    items: tuple[int, ...] = ()
    paragraph: bool = False

    def is_quoting(self) -> bool:
        """Return whether the next text in the line is quoted: it is in a block quote, or is code."""
        line = self._read(self.line + "x")
        if line.quotes:
            return True
        if self.fence and not self._leaves(line):
            return True
        if line.indent >= _CODE and not self.paragraph:
            return True
        return _FENCE.match(line.text) is not None

    def in_fence(self) -> bool:
        """Return whether a fence is open in this line."""
        line = self._read(self.line + "x")
        return bool(self.fence) and not self._leaves(line)

    def is_decided(self) -> bool:
        """Return whether the rest of the line cannot change its kind; backticks are counted all the same."""
        if _PROSE.match(self.line) or len(self.line) >= _LONGEST_HEAD:
            return True
        return _UNDECIDED.match(self._read(self.line).text) is None

    def extend(self, part: str) -> None:
        """Add to the line."""
        if len(self.line) < _LONGEST_HEAD:
            self.line += part[: _LONGEST_HEAD - len(self.line)]

    def past_prose(self, text: str, at: int) -> int:
        """Return the end of the lines of mere words that start here: of all of these only the last one matters.

        That may be their start: in a fence or a list any line may matter.
        """
        if self.fence or self.items:
            return at
        odd = _ODD.search(text, at - 1)
        end = odd.start() + 1 if odd else text.rfind("\n") + 1
        if end > at:
            self.paragraph = bool(text[text.rfind("\n", at, end - 1) + 1 or at : end].strip())
        return max(at, end)

    def end_line(self) -> bool:
        """End the line; return whether a paragraph continues after it."""
        prose = _PROSE.match(self.line) is not None and not self.items
        if (prose or not self.line) and not self.quotes:  # most lines by far
            self.paragraph = prose and not self.fence
            self.line = ""
            return self.paragraph
        line, self.line = self._read(self.line), ""
        if self.fence and not self._leaves(line):
            if self._closes(line):
                self.fence, self.quotes = "", 0
            return False
        self.fence, self.quotes = "", 0
        if line.text:
            self.items = line.items
        code = line.indent >= _CODE and not self.paragraph
        opens = None if code else _FENCE.match(line.text)
        if opens is not None:
            self.fence, self.quotes = (
                line.text[: len(line.text) - len(line.text.lstrip(line.text[0]))],
                line.quotes,
            )
        plain = bool(line.text) and not code and opens is None
        self.paragraph = plain and _NO_PARAGRAPH.match(line.text) is None
        return self.paragraph

    def _leaves(self, line: _Line) -> bool:
        """Return whether a line is outside of the containers of the open fence."""
        return line.quotes < self.quotes or (bool(line.text) and len(line.items) < len(self.items))

    def _closes(self, line: _Line) -> bool:
        """Return whether a line closes the open fence: as many of its characters or more, and nothing else."""
        return line.indent < _CODE and line.text.startswith(self.fence) and not line.text.strip(self.fence[0])

    def _read(self, line: str) -> _Line:
        """Take the marks of containers from a line: in a fence only those of the containers of the fence."""
        at, column, base, quotes = 0, 0, 0, 0
        items: tuple[int, ...] = ()
        waiting = list(self.items)
        while True:
            at, column = _past_blanks(line, at, column)
            while waiting and column >= waiting[0]:
                base = waiting.pop(0)
                items = (*items, base)
            if (
                column - base < _CODE
                and line.startswith(">", at)
                and not (self.fence and quotes == self.quotes)
            ):
                at, column, quotes = at + 1, column + 1, quotes + 1
                base = column + line.startswith(" ", at)
                continue
            item = (
                None
                if self.fence or column - base >= _CODE or len(items) >= _MOST_ITEMS
                else _ITEM.match(line, at)
            )
            if item is None:
                return _Line(line[at:].rstrip(), column - base, quotes, items)
            at, column = item.end(), column + len(item[0])
            content, begins = _past_blanks(line, at, column)
            base = begins if begins - column <= _CODE and content < len(line) else column + 1
            items, waiting = (*items, base), []


def _past_blanks(line: str, at: int, column: int) -> tuple[int, int]:
    """Return the place after blanks, and its column; a tab reaches to the next multiple of four."""
    while line[at : at + 1] in (" ", "\t") and at < len(line):
        column += 1 if line[at] == " " else 4 - column % 4
        at += 1
    return at, column
