"""Shared parts of the engine and the readers of messages and weak shapes: source, state and reporting."""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import TYPE_CHECKING, Final

from wholecall.text.markers import Matcher, matcher
from wholecall.text.outputs import Markup, Output, Shown, Unread, Written
from wholecall.text.region import Region
from wholecall.text.source import Source
from wholecall.text.state import State

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.text.options import InFence
    from wholecall.text.rules import Rules
    from wholecall.text.tools import Declared

_IN_PARAGRAPH: Final = matcher(["`", "\n"])
_TICKS: Final = re.compile("`*")

_MOST_OWED = 16


class Teller:
    """Emits spans of the source in order.

    Attributes:
        rules: the format.
        declared: the tools.
        limits: the limits of a text.
        in_fence: the treatment of a marker in code or in a block quote.
        source: the text.
        state: the state of the reading.
        done: up to here everything is emitted.
        hidden: up to here nothing is shown: it is the prompt.
        weak_after: up to here no weak shape is looked for.
        span_ends: up to here the text is in a code span, as far as that is known.
        out: the outputs since they were last taken.
        calm: while nothing is held in the middle of a line, the characters that can matter; else None.
        aside: whether text shown then is reasoning.
    """

    def __init__(self, rules: Rules, declared: Declared, limits: Limits) -> None:
        self.rules = rules
        self.declared = declared
        self.limits = limits
        self.in_fence: InFence = "text"
        self.source = Source()
        self.state = State()
        self.done = 0
        self.hidden = 0
        self.weak_after = 0
        self.span_ends = 0
        self.out: list[Output] = []
        self.calm: str | None = None
        self.aside = False

    def shown_up_to(self, marks: Matcher, held: int) -> Generator[None, None, str | None]:
        """Go to the next literal and show the text before it; white space up to `held` waits for the text after it."""
        source = self.source
        while True:
            literal = source.look(marks)
            place = source.pos
            if place > held:
                self.show(place)
                held = place
            if literal is not None or source.eof:
                if literal is None:
                    self.show(place)
                return literal
            state = self.state
            if (
                self.done == source.size
                and not (state.edge or state.bol or state.run)
                and state.blocks.is_decided()
            ):
                self.calm = self.rules.calm if marks is self.rules.text else marks.calm
                self.aside = state.mode == "reasoning" or state.body
            yield

    def is_quoted(self) -> Generator[None, None, bool]:
        """Return whether a marker at the cursor is text: it is in a code span, in code, or in a block quote."""
        state, blocks = self.state, self.state.blocks
        state.settle()
        code = blocks.is_quoting() and (not state.edge or blocks.in_fence())
        if code or blocks.in_fence():
            return code and self.in_fence == "text"
        if not (state.quoted or state.edge):
            state.quoted = yield from self._is_in_span()
        return state.quoted

    def _is_in_span(self) -> Generator[None, None, bool]:
        """Return whether the cursor is in a code span.

        Backticks before a marker in the same line quote it in any case. Backticks of an earlier line of its paragraph
        quote it if they are closed in the paragraph.
        """
        state, source = self.state, self.source
        if state.span == 0:
            return False
        if not state.span_here and source.pos >= self.span_ends:
            ends = yield from self._end_of_span(state.span)
            state.span = 0 if ends is None else state.span
            self.span_ends = ends or 0
        return state.span > 0

    def _end_of_span(self, ticks: int) -> Generator[None, None, int | None]:
        """Return the end of the open code span in its paragraph; None if it does not end there."""
        source, start = self.source, self.source.pos
        most = self.limits.max_held_text
        ends: int | None = None
        while ends is None and (most is None or source.pos - start <= most):
            mark = yield from source.find(_IN_PARAGRAPH, most)
            if mark is None:
                break
            if mark == "`":
                run = yield from source.run(_TICKS, ticks + 1)
                ends = source.pos if len(run) == ticks else None
                continue
            source.pos += 1
            if (yield from source.space_in_line()) in ("", "\n"):
                break
        else:
            ends = source.pos  # text that is too long to be held is quoted
        source.pos = start
        return ends

    def as_text(self, literal: str) -> None:
        """Show the literal at the cursor."""
        if literal in self.rules.openers or literal in self.rules.inner - self.rules.lone:
            self.state.opened = True
        self.source.pos += len(literal)
        self.show(self.source.pos)

    def show(self, end: int) -> None:
        """Show the text up to here."""
        text = self._span(end)
        if text:
            self.state.saw(text)
            self.out.append(Shown(text, self.state.mode == "reasoning" or self.state.body))

    def tell_markup(self, end: int, *, dangling: bool = False) -> None:
        """Pass over the text up to here as markup; white space after it waits."""
        text = self._span(end)
        if text:
            self.out.append(Markup(text, dangling))
            if "\n" in text:
                self.state.end_line()
        self.state.edge = True
        self.state.run = 0

    def tell(self, items: list[Output]) -> None:
        """Emit the results of a region; its spans end at the cursor."""
        if "\n" in self._span(self.source.pos):
            self.state.end_line()
        self.out += items
        self.state.edge = True
        self.state.in_wrapper = False
        self.state.run = 0

    def _span(self, end: int) -> str:
        start, source = self.done, self.source
        start = max(start, self.hidden)
        text = source.text(start, end) if end > start else ""
        self.done = end
        source.forget(end)
        return text

    def new_region(self, opener: str, closes: tuple[str, ...], most: int | None) -> Region:
        """Return a region that begins at the cursor, with a maximal length in characters."""
        state = self.state
        region = Region(
            self.source, opener, self.declared, self.limits,
            closes=closes, wrapped=state.wrapper, at_line=state.edge or state.bol, hidden=self.hidden, most=most,
        )  # fmt: skip
        region.after_unread = state.unreadable
        return region

    def _too_long(self, region: Region) -> Unread:
        most = [size for size in (region.most, self.limits.max_raw_bytes) if size is not None]
        start = max(region.start, self.hidden)
        raw = self.source.text(start, region.start + min(most))
        return Unread("arguments_too_large", raw, detail="it is longer than Limits.max_arguments_bytes")

    def finish(self, region: Region) -> None:
        """Emit the results of a region, and continue after it."""
        state = self.state
        if region.start > self.done:
            self.tell_markup(region.start)
        if region.is_too_long:
            region.items = [self._too_long(region)]
        self.tell(region.items)
        state.owed = (*state.owed, *region.owed)[-_MOST_OWED:]
        state.unreadable = region.after_unread
        if region.is_wrapper:
            state.wrapper, state.in_wrapper = region.owed, True
        else:
            state.strong = state.strong or any(isinstance(item, (Written, Unread)) for item in region.items)
