"""A growing answer: what live arguments do for a call, for a JSON value that may be a list as well as an object.

Theory of operation. The reader is that of live arguments (`progress`) and keeps its promises: what was reported stays true,
and nothing is read again. Only the root differs. An answer that is a string, a number or a literal has no progress.
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall.arguments.grammar import Grammar
from wholecall.arguments.partial import PartialArguments, shown
from wholecall.arguments.progress import ProgressScanner

__all__ = ["AnswerScanner", "PartialOutput"]


class PartialOutput(PartialArguments):
    """What was known of an answer at one moment, as `PartialArguments`; to show, never to act upon.

    Of an answer that is a list `value` is a tuple of its items, and `closed` is empty; before it begins `value` is an empty
    mapping.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """What is known so far, read-only: a mapping, or a tuple of the items of a list."""
        if self._value is None:
            self._value = shown(self._put_together(), {})
        return self._value


class AnswerScanner(ProgressScanner):
    """Reads the text of an answer as it arrives, as `ProgressScanner` does; it may be an object or a list."""

    __slots__ = ()

    _OBJECT: ClassVar = {symbol: Grammar._VALUE[symbol] for symbol in "{["}  # noqa: SLF001 - a table of its base
    _START: ClassVar = {**Grammar._START, **_OBJECT}  # noqa: SLF001

    def snapshot(self) -> PartialOutput:
        """Return what is known now; costs one step per open object or list, however much they hold."""
        return PartialOutput(*self._facts())
