"""Where the engine stands between two commits: all that it has to remember besides the text that it still holds."""

from __future__ import annotations

from typing import Literal

import msgspec

__all__ = ["Mode", "Saved", "State"]

Mode = Literal["text", "reasoning", "body"]


class State(msgspec.Struct, kw_only=True):
    """The state between two commits.

    Attributes:
        mode: what is being read.
        ends: what closes the reasoning.
        fresh: whether nothing of the reasoning was shown yet.
        edge: whether nothing was shown since the last markup: white space waits here.
        bol: whether only blanks were shown since the last line end.
        fence: whether a code fence is open.
        quoted: whether a marker in a code span was shown: up to the next backtick every marker is text.
        span: how many backticks opened the code span that is open, 0 if none is.
        run: how many backticks were shown last.
        owed: closers that did not come yet.
        wrapper: the closers of the wrapper that is open, and of those round it.
        in_wrapper: whether nothing was read since that wrapper.
        strong: whether a marker held a call, or what was to be one.
        unreadable: whether the end of something could not be known.
        body: whether the body of a message is reasoning.
    """

    mode: Mode = "text"
    ends: tuple[str, ...] = ()
    fresh: bool = False
    edge: bool = True
    bol: bool = True
    fence: bool = False
    quoted: bool = False
    span: int = 0
    run: int = 0
    owed: tuple[str, ...] = ()
    wrapper: tuple[str, ...] = ()
    in_wrapper: bool = False
    strong: bool = False
    unreadable: bool = False
    body: bool = False

    def saw(self, text: str) -> None:
        """Take note of text that is shown."""
        self.edge = self.in_wrapper = self.fresh = False
        line_end = text.rfind("\n")
        if line_end >= 0 or self.bol:
            self.bol = not text[line_end + 1 :].strip()
        if self.run or "`" in text:
            self._count_backticks(text)
        elif self.span and line_end >= 0:
            self.span = 0

    def _count_backticks(self, text: str) -> None:
        at = 0
        while at < len(text):
            found = text.find("`", at)
            if found != at:
                self.settle()
                if "\n" in text[at : found if found >= 0 else len(text)]:
                    self.span = 0
            if found < 0:
                return
            at = found
            while at < len(text) and text[at] == "`":
                at += 1
            self.run += at - found
            self.quoted = False

    def settle(self) -> None:
        """Note that a run of backticks is over: it opens a code span, closes the one that it equals, or does nothing."""
        if not self.run:
            return
        if self.span == 0:
            self.span = self.run
        elif self.span == self.run:
            self.span = 0
        self.run = 0


class Saved(msgspec.Struct, frozen=True, kw_only=True):
    """All that an engine needs to go on elsewhere. Positions are counted from the start of the held text.

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
