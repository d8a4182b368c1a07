"""Argument text that is shown while it arrives: how much of it no correction can change any more.

Theory of operation. A grammar of strict JSON reads along. What it has accepted may be shown, but for what a slip could
begin with: a comma and white space, which may be trailing, a number or a literal that has not ended, and the brace that closes
the whole, which may be that of a placeholder. From the first slip on nothing is shown before the verdict. If a server
tells the whole text anew, it is shown again as soon as it goes beyond what was shown, as long as it repeats that.
"""

from __future__ import annotations

import re
from typing import ClassVar, Final

from wholecall.arguments.grammar import Grammar, Table
from wholecall.arguments.tokens import JSON_SPACE
from wholecall.limits import Limits

__all__ = ["LiveText"]

_STRING_OR_SPACE: Final = re.compile(rf'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[{JSON_SPACE}]+', re.DOTALL)


class _Strict(Grammar):
    """Reads along.

    Attributes:
        n_safe: how many characters of the text no correction would change.
    """

    __slots__ = ("_n_read", "n_safe")

    _START: ClassVar[Table] = Grammar._OBJECT  # noqa: SLF001 - a mark before the object is a slip

    def __init__(self, limits: Limits) -> None:
        super().__init__(limits)
        self.n_safe = 0
        self._n_read = 0

    def read(self, piece: str) -> None:
        """Read one more piece of the text."""
        text, self._held = self._held + piece, ""
        at = 0
        while at < len(text):
            at = self._step(self, text, at)
            if self.stopped:
                return
            if self._is_safe(text[at - 1 : at]):
                self.n_safe = self._n_read + at - len(self._held)
        self._n_read += len(text) - len(self._held)

    def _is_safe(self, last: str) -> bool:
        """Whether all is safe up to this character, or to what ended before any."""
        if self._step is Grammar._read_scalar or not self._stack:  # noqa: SLF001
            return False
        if self._step is Grammar._between and last:  # noqa: SLF001
            return last not in JSON_SPACE and last != ","
        return True


class LiveText:
    """What is shown of one call's arguments.

    Args:
        limits: for nesting and numbers.
        is_json: False for free text, all of which is shown at once.
    """

    def __init__(self, limits: Limits, *, is_json: bool) -> None:
        self._limits = limits
        self._strict = _Strict(limits) if is_json else None
        self._shown: list[str] = []
        self._waiting = ""  # text that came and was not looked at
        self._n_seen = 0  # characters of the text before it
        self._owed = ""  # what a text that is told anew has to repeat
        self._is_lost = False  # it did not

    def add(self, delta: str) -> str:
        """Take more text; return what may be shown now."""
        strict = self._strict
        if strict is None:
            return self._show(delta)
        if strict.stopped or self._is_lost:
            return ""
        strict.read(delta)
        self._waiting += delta
        n_safe = strict.n_safe - self._n_seen
        safe, self._waiting = self._waiting[:n_safe], self._waiting[n_safe:]
        self._n_seen = strict.n_safe
        return self._show(safe)

    def reset(self, text: str) -> str:
        """Take the whole text anew; return what may be shown now."""
        self._owed, self._waiting, self._n_seen = "".join(self._shown), "", 0
        self._is_lost = False
        if self._strict is not None:
            self._strict = _Strict(self._limits)
        return self.add(text)

    def rest(self, text: str) -> str | None:
        """Return what must follow what was shown, for the whole to be this text; None if nothing can.

        White space that was shown and is not in the text does not matter outside of strings.
        """
        shown = "".join(self._shown)
        if text.startswith(shown):
            return text[len(shown) :]
        if self._strict is None:
            return None
        squeezed = _STRING_OR_SPACE.sub(lambda match: match[0] if match[0][0] == '"' else "", shown)
        return text[len(squeezed) :] if text.startswith(squeezed) else None

    def _show(self, text: str) -> str:
        """Return what is new of a text that may be shown."""
        common = min(len(text), len(self._owed))
        if text[:common] != self._owed[:common]:
            self._is_lost = True
            return ""
        self._owed, text = self._owed[common:], text[common:]
        if text:
            self._shown.append(text)
        return text
