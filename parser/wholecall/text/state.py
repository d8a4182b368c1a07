"""The state of the engine between two commits: everything it remembers in addition to the held text."""

from __future__ import annotations

from typing import Literal

import msgspec
from msgspec.structs import replace

from wholecall.text.quoting import Blocks

Mode = Literal["text", "reasoning", "body"]


class State(msgspec.Struct, kw_only=True):
    """The state between two commits.

    Attributes:
        mode: the current mode of reading.
        ends: the closers of the reasoning.
        fresh: whether nothing of the reasoning was shown yet.
        edge: whether nothing was shown since the last markup: white space waits here.
        bol: whether only blanks were shown since the last line end.
        blocks: the fences, quotes and other blocks that are open.
        quoted: whether a marker in a code span was shown: up to the next backtick every marker is text.
        span: how many backticks may have opened a code span of this paragraph, 0 if none have.
        span_here: whether they are in this line.
        run: how many backticks were shown last.
        owed: closers that did not come yet.
        wrapper: the closers of the open wrapper, and of those around it.
        in_wrapper: whether nothing was read since that wrapper.
        opened: whether an opener was shown as text, so that closers after it belong to text.
        strong: whether a marker held a call, or an attempted call.
        unreadable: whether the end of something could not be known.
        body: whether the body of a message is reasoning.
    """

    mode: Mode = "text"
    ends: tuple[str, ...] = ()
    fresh: bool = False
    edge: bool = True
    bol: bool = True
    blocks: Blocks = msgspec.field(default_factory=Blocks)
    quoted: bool = False
    span: int = 0
    span_here: bool = False
    run: int = 0
    owed: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    in_wrapper: bool = False
    opened: bool = False
    strong: bool = False
    unreadable: bool = False
    body: bool = False

    def saw(self, text: str) -> None:
        """Note text that is shown."""
        self.edge = self.in_wrapper = self.fresh = False
        line_end = text.rfind("\n")
        if line_end >= 0 or self.bol:
            self.bol = not text[line_end + 1 :].strip()
        ticks = bool(self.run) or "`" in text
        start = 0
        while start <= line_end:
            end = text.index("\n", start)
            self._saw_in_line(text[start:end], ticks=ticks)
            self.end_line()
            start = end + 1
            if start <= line_end and not (ticks or self.span):
                start = self.blocks.past_prose(text, start)
        self._saw_in_line(text[start:], ticks=ticks)

    def _saw_in_line(self, part: str, *, ticks: bool) -> None:
        if ticks:
            self._count_backticks(part)
        self.blocks.extend(part)

    def end_line(self) -> None:
        """Note the end of a line; a code span may continue after it as long as its paragraph does."""
        if self.run:
            self.settle()
        self.span_here = False
        if not self.blocks.end_line():
            self.span = 0

    def begin(self) -> None:
        """Begin anew after markup, as at the start of a text."""
        self.edge = self.bol = True
        self.blocks = Blocks()
        self.span = self.run = 0
        self.quoted = False

    def _count_backticks(self, text: str) -> None:
        at = 0
        while at < len(text):
            found = text.find("`", at)
            if found != at:
                self.settle()
            if found < 0:
                return
            at = found
            while at < len(text) and text[at] == "`":
                at += 1
            self.run += at - found
            self.quoted = False

    def settle(self) -> None:
        """Note that a run of backticks is over: it opens a code span, closes one of equal length, or does nothing."""
        if self.run and self.span == 0:
            self.span, self.span_here = self.run, True
        elif self.run == self.span:
            self.span = 0
        self.run = 0

    def copied(self) -> State:
        """Return a copy that shares nothing that changes."""
        return replace(self, blocks=replace(self.blocks))


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """The state for an engine to continue elsewhere. Positions are counted from the start of the held text.

    Attributes:
        state: the state at the last commit.
        held: the text since then.
        hidden: how much of it is the prompt.
        weak_after: up to here no weak shape is looked for.
    """

    state: State
    held: str = ""
    hidden: int = 0
    weak_after: int = 0
