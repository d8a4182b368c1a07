"""The text of an answer that was requested as a value, and the type of that value.

Theory of operation. Nothing is done while text arrives: an answer takes the text that its choice has when the turn
ends, or when the text is to be forgotten (`gather`). The answer is the last message: text before a call, or before
another message of the same turn, is not part of it once more text has come. Reasoning is not text. The result of an
answer is decided in `answers`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Union

from wholecall.calls.arguments.tokens import utf8_size
from wholecall.calls.output.answers import Output, OutputDropped

if TYPE_CHECKING:
    from collections.abc import Sequence

    from wholecall.calls.tools.misfit import Check
    from wholecall.limits import Limits


class OutputWanted:
    """The type of an answer: `check` is None for any JSON; `is_live`: its progress is reported."""

    __slots__ = ("check", "is_live")
    DERIVED: ClassVar = frozenset(__slots__)  # of the caller's

    def __init__(self, check: Check | None, *, is_live: bool) -> None:
        self.check = check
        self.is_live = is_live


class Answer:
    """The state of one answer.

    Attributes:
        is_refused: the wire calls text of it a refusal.
        is_spoilt: bytes of the turn's text were not UTF-8.
        is_over: a call or another message began since its last text: more text begins it anew.
        is_full: it is beyond `Limits.max_arguments_bytes`; only its beginning is kept.
        said: its result, None before its turn has ended, and where there is no answer.
    """

    is_refused: bool
    is_spoilt: bool
    is_over: bool
    is_full: bool
    said: Union[Output[Any], OutputDropped, None]
    _n_taken: int  # characters of its choice's text that were taken, and places of calls and reasoning in it
    _n_places: int
    _parts: list[str]
    _size: int

    __slots__ = tuple(__annotations__)

    def __init__(self) -> None:
        self._n_taken = self._n_places = self._size = 0
        self.is_refused = self.is_spoilt = self.is_full = self.is_over = False
        self.said = None
        self._parts = []

    @property
    def text(self) -> str:
        """The text so far."""
        return "".join(self._parts)

    def give(self) -> str:
        """Return the text, and forget it."""
        text = self.text
        self._parts.clear()
        return text

    def end_message(self) -> bool:
        """Note that another message comes next; return whether this message had text."""
        self.is_over = True
        return bool(self._parts)

    def gather(self, text: str, places: Sequence[tuple[int, tuple[str, int]]], limits: Limits) -> None:
        """Take the new text, given all of the text and the places of calls and reasoning in it."""
        at = self._n_taken
        for place, (what, _) in places[self._n_places :]:
            if what == "call":
                self._add(text[at:place], limits)
                self.end_message()
                at = place
        self._add(text[at:], limits)
        self._n_taken, self._n_places = len(text), len(places)

    def forget(self) -> None:
        """Note that the text and the places will begin anew; text that was taken stays."""
        self._n_taken = self._n_places = 0

    def _add(self, text: str, limits: Limits) -> None:
        if self.is_over:
            text = text.lstrip()
            if not text:
                return
            self._parts.clear()
            self._size, self.is_full, self.is_over = 0, False, False
        if not text or self.is_full:
            return
        self._parts.append(text)
        self._size += utf8_size(text)
        most = limits.max_arguments_bytes
        if most is not None and self._size > most:
            self.is_full, self._parts = True, [self.text[: limits.max_raw_bytes]]
