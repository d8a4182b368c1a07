"""A format as the engine reads it: the roles of its literals, and the literals to look for in each mode."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from wholecall.text import records
from wholecall.text.markers import Matcher, calm_of, matcher

if TYPE_CHECKING:
    from wholecall.text.records import Format, Params, Record, Weak

FENCE: Final = "```"
JSON_FENCES: Final = ("```json", "```JSON", FENCE)
_SPECIAL = ("<|", "<\uff5c", "[T")  # beginnings of tokens that do not occur in prose
_BARS = frozenset("|\uff5c\u2016")
_PLAIN_TAG: Final = re.compile("</[a-z]+>")  # also in documents
# The beginnings of shapes without a marker.
_WEAK: Final[dict[str, tuple[str, ...]]] = {
    "json": ("{", "["),
    "python": ("[",),
    "calls": (),  # the names of the tools
    "fenced": (FENCE,),
    "relaxed": ("call:",),
    "action": ("Action:",),
    "react": ("Action:",),
}


class Rules:
    """A compiled format; made once for each format and choice of weak shapes.

    Attributes:
        form: the format.
        weak: the weak shapes that count.
        openers: each literal that opens a call, with its record.
        thinks: each literal that opens reasoning, with its closers.
        unthinks: the closers of reasoning.
        closers: the closers of calls and wrappers.
        inner: markers that mean something in a call only: those of parameters, and elements of documents that have
            the name of a closer.
        ends: the closers of calls, wrappers and parameters.
        lone: those of them that are text, unless they end a text that has no call for them.
        noise: literals that are never shown.
        starts: the openers of a message header.
        weak_openers: the beginnings of weak shapes.
        only_weak: those weak openers with no other role.
        calls: finds openers of calls.
        text: finds all that matters in text.
        names: the tools whose calls count without a marker and without brackets.
        calm: the characters that can matter in the middle of a line; weak shapes begin only after its end.
    """

    def __init__(self, form: Format, weak: frozenset[Weak], names: frozenset[str] = frozenset()) -> None:
        self.form: Final = form
        self.weak: Final = weak
        self.names: Final = names
        self.openers: Final[dict[str, Record]] = {}
        for record in form.calls:
            for opener in record.opens:
                self.openers.setdefault(opener, record)
        self.thinks: Final[dict[str, tuple[str, ...]]] = {}
        for opener, closer in form.think:
            self.thinks[opener] = (*self.thinks.get(opener, ()), closer)
        self.unthinks: Final = frozenset(closer for _, closer in form.think)
        self.closers: Final = frozenset(closer for record in form.calls for closer in record.closes)
        params = [found for record in form.calls if (found := params_of(record)) is not None]
        inner_closes = frozenset(mark for found in params for mark in found.closes)
        self.ends: Final = self.closers | inner_closes
        self.lone: Final = frozenset(filter(self._is_lone, self.ends))
        plain = frozenset(f"<{mark[2:-1]}" for mark in self.lone if _PLAIN_TAG.fullmatch(mark))
        self.inner: Final = inner_closes.union(plain, *(found.opens for found in params))
        messages = form.messages
        ends = (*messages.ends, messages.body) if messages is not None else ()
        self.noise: Final = frozenset((*form.noise, *ends))
        self.starts: Final = frozenset(messages.starts if messages is not None else ())
        self.weak_openers: Final = frozenset(
            (*(opener for shape in weak for opener in _WEAK[shape]), *(f"{name}(" for name in names))
        )
        self.calls: Final = matcher(self.openers)
        self.behind_noise: Final = matcher(self.noise | self.closers | self.unthinks)
        self.behind_lone: Final = matcher(self.ends | self.noise | self.unthinks)
        strong = [
            *self.openers,
            *self.thinks,
            *self.unthinks,
            *self.closers,
            *self.inner,
            *self.noise,
            *self.starts,
            *form.imply,
        ]
        self.text: Final = matcher([*strong, FENCE, *self.weak_openers])
        self.calm: Final = calm_of([*strong, *(["\n"] if weak else [])])
        self.only_weak: Final = self.weak_openers - {*strong, FENCE}

    def naming(self, declared: Iterable[str]) -> Rules:
        """Return the rules for these tools: their names begin calls without a marker, if such count."""
        if "calls" not in self.weak:
            return self
        return rules_of(self.form, self.weak, frozenset(declared))

    @lru_cache(maxsize=64)  # noqa: B019 - rules are few, and kept anyway
    def reasoning(self, ends: tuple[str, ...], *, calls: bool) -> Matcher:
        """Return the matcher for reasoning with these ends, and for openers of calls if those count."""
        return matcher([*ends, *self.form.imply, *(self.openers if calls else ())])

    @lru_cache(maxsize=64)  # noqa: B019
    def opens_of(self, closes: tuple[str, ...]) -> tuple[str, ...]:
        """Return the openers that belong to these closers."""
        return tuple(opener for opener, record in self.openers.items() if closes and record.closes == closes)

    @staticmethod
    def is_special(literal: str) -> bool:
        """Return whether this literal does not occur in prose."""
        return literal.startswith(_SPECIAL)

    def _is_lone(self, literal: str) -> bool:
        return not self.is_special(literal) and any(map(str.isalpha, literal))

    @staticmethod
    def has_bar(literal: str) -> bool:
        """Return whether this looks like a token of a chat template."""
        return not _BARS.isdisjoint(literal)


def params_of(record: Record) -> Params | None:
    """Return the tagged parameters of a record, None if it has none."""
    if isinstance(record, records.Tag):
        return record.params
    return record.pairs if isinstance(record, records.Block) else None


def are_closers(found: list[str]) -> bool:
    """Return whether successive closers cannot be anything else: one that no markup of documents has, or several."""
    return len(found) > 1 or any(_PLAIN_TAG.fullmatch(literal) is None for literal in found)


@lru_cache(maxsize=256)
def rules_of(form: Format, weak: frozenset[Weak], names: frozenset[str] = frozenset()) -> Rules:
    """Return the rules of a format, made once; `names` begin calls in Python's spelling without brackets."""
    return Rules(form, weak, names)
