"""One region: the text after an opener, until it is a call, a drop, or nothing at all.

Theory of operation. A reader walks on from the opener. Until it has *committed*, that is, until the first evidence that
a call was meant, every failure rejects: the opener is text. After it every failure drops. The region's results are
emitted when it ends, as adjacent spans: a call's source runs from the end of the call before it to its own end.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from msgspec.structs import replace

from wholecall.text.names import cleaned
from wholecall.text.outputs import Markup, Output, Unread, Written

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wholecall.limits import Limits
    from wholecall.text.source import Source
    from wholecall.text.tools import Declared
    from wholecall.types import DropReason, EditKind, Flag


class NotOne(Exception):
    """The text here is not a call: the opener is text."""


class Unreadable(Exception):
    """The text here was meant as a call and cannot be read; this goes up to the cursor."""

    def __init__(self, reason: DropReason, detail: str, name: str | None = None) -> None:
        super().__init__(reason)
        self.reason: DropReason = reason
        self.detail = detail
        self.name = name


class Region:
    """The results of reading one region so far.

    Attributes:
        source: the text.
        opener: the opener.
        start: the position of the opener.
        closes: the closers that may end it.
        wrapped: the closers of a wrapper around it, if it is in one.
        at_line: whether it is at the start of a line.
        items: the outputs to emit when it ends.
        owed: closers that may still come, and are markup then.
        committed: whether a call was meant.
        most: the number of its characters that are kept, and its maximal length.
        is_wrapper: whether it was a wrapper, with a call to follow in it.
        after_unread: whether it ended at a fault that hides its end.
    """

    __slots__ = (
        "after_unread",
        "at_line",
        "closes",
        "committed",
        "declared",
        "is_wrapper",
        "items",
        "limits",
        "most",
        "opener",
        "owed",
        "source",
        "start",
        "told",
        "wrapped",
    )

    def __init__(
        self, source: Source, opener: str, declared: Declared, limits: Limits, *, closes: tuple[str, ...] = (),
        wrapped: tuple[str, ...] = (), at_line: bool = True, hidden: int = 0, most: int | None = None,
    ) -> None:  # fmt: skip
        self.source = source
        self.opener = opener
        self.closes = closes
        self.declared = declared
        self.limits = limits
        self.wrapped = wrapped
        self.at_line = at_line
        self.start = source.pos
        self.told = max(source.pos, hidden)
        self.items: list[Output] = []
        self.owed: tuple[str, ...] = ()
        self.most = most
        self.committed = False
        self.after_unread = False
        self.is_wrapper = False

    def commit(self) -> None:
        """Note that a call was meant: a region beyond its maximal length is read to its end, and not kept."""
        self.committed = True
        self.source.hold(self.start, self.most)

    @property
    def is_too_long(self) -> bool:
        """Whether it is longer than allowed."""
        return self.committed and self.most is not None and self.source.pos - self.start > self.most

    def reject(self) -> NoReturn:
        """Give up before the region has committed."""
        raise NotOne

    def call(
        self, end: int, name: str, arguments: str, *, id: str | None = None, edits: Iterable[EditKind] = ()
    ) -> None:
        """Record a call that ends here."""
        name = cleaned(name, self.declared)
        span = self._span(end)
        if not name:
            self.items.append(Unread("nameless", span, None, id, "the call names no tool"))
            return
        flags: tuple[Flag, ...] = ("after_unreadable",) if self.after_unread else ()
        self.items.append(Written(name, arguments, span, id, tuple(edits), flags))

    def drop(
        self, end: int, reason: DropReason, detail: str, name: str | None = None, id: str | None = None
    ) -> None:
        """Record a call that cannot be read, and ends here."""
        known = (cleaned(name, self.declared) or None) if name is not None else None
        self.items.append(Unread(reason, self._span(end), known, id, detail))

    def markup(self, end: int, *, dangling: bool = False) -> None:
        """Record the text up to here as markup: at once with the call before it, if there is one."""
        span = self._span(end)
        if not span:
            return
        self.items.append(Markup(span, dangling))

    def _span(self, end: int) -> str:
        span = self.source.text(self.told, end)
        self.told = end
        return span

    def retract(self) -> None:
        """Take back the last output: the next output begins at its start."""
        last = self.items.pop()
        self.told -= len(last.source if isinstance(last, (Written, Unread)) else last.text)

    def cut(self, name: str | None = None) -> Unreadable:
        """Return the exception to raise where the text ends inside the call."""
        if self.source.ended == "open":
            return Unreadable("unterminated", "the stream ended in it", name)
        return Unreadable("truncated", "the text ends in it", name)

    def close(self, end: int) -> None:
        """Record the closer that ends here as part of the last call."""
        span = self._span(end)
        if not span:
            return
        if not self.items:
            self.items.append(Markup(span))
            return
        last = self.items[-1]
        if isinstance(last, (Written, Unread)):
            self.items[-1] = replace(last, source=last.source + span)
        else:
            self.items[-1] = replace(last, text=last.text + span)

    def unclosed(self) -> None:
        """Note that the closer did not come: it is markup if it still does."""
        if not self.closes:
            return
        self.owed = self.closes
        last = self.items[-1] if self.items else None
        if isinstance(last, Written) and "closer_missing" not in last.edits:
            self.items[-1] = replace(last, edits=(*last.edits, "closer_missing"))
