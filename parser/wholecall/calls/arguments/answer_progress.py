"""A growing answer: live arguments for a JSON value that may be a list as well as an object.

Theory of operation. The reader is that of live arguments (`progress`) and keeps its promises: reports stay true, and no
text is read twice. Only the root differs. An answer that is a string, a number or a literal has no progress.
"""

from __future__ import annotations

from typing import Any, ClassVar

from wholecall.calls.arguments.grammar import Grammar
from wholecall.calls.arguments.partial import PartialArguments, shown
from wholecall.calls.arguments.progress import ProgressScanner


class PartialOutput(PartialArguments):
    """A snapshot of an answer at one moment, as `PartialArguments`; to show, never to act upon.

    For a list, `value` is a tuple of its items, and `closed` is empty; before the answer begins `value` is an empty
    mapping.
    """

    __slots__ = ()

    @property
    def value(self) -> Any:
        """The value so far, read-only: a mapping, or a tuple of the items of a list."""
        if self._value is None:
            self._value = shown(self._put_together(), {})
        return self._value


class AnswerScanner(ProgressScanner):
    """A reader of the text of an answer as it arrives, as `ProgressScanner`; the answer may be an object or a list."""

    __slots__ = ()

    _OBJECT: ClassVar = {symbol: Grammar._VALUE[symbol] for symbol in "{["}  # noqa: SLF001 - a table of its base
    _START: ClassVar = {**Grammar._START, **_OBJECT}  # noqa: SLF001

    def snapshot(self) -> PartialOutput:
        """Return a snapshot; costs one step per open object or list, however large they are."""
        return PartialOutput(*self._facts())
