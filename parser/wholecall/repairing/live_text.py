"""Argument text that is shown while it arrives: the part that no correction can change any more.

Theory of operation. A grammar of strict JSON reads along. Accepted text may be shown, except where a slip could begin:
a comma and white space, which may be trailing, a number or a literal that has not ended, and the outermost closing
brace, which may be that of a placeholder. From the first slip on nothing is shown before the verdict. If a server
restates the whole text, showing continues as soon as the restated text repeats the shown text and is longer.
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
    """A strict reader of JSON text.

    Attributes:
        n_safe: the number of characters that no correction would change.
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
        """Return whether the text up to this character, or up to the last end, is safe."""
        if self._step is Grammar._read_scalar or not self._stack:  # noqa: SLF001
            return False
        if self._step is Grammar._between and last:  # noqa: SLF001
            return last not in JSON_SPACE and last != ","
        return True


class LiveText:
    """The shown text of one call's arguments.

    Args:
        limits: for nesting and numbers.
        is_json: False for free text, all of which is shown at once.
    """

    def __init__(self, limits: Limits, *, is_json: bool) -> None:
        self._limits = limits
        self._strict = _Strict(limits) if is_json else None
        self._shown: list[str] = []
        self._waiting = ""  # received text that was not read yet
        self._n_seen = 0  # characters of the text before it
        self._owed = ""  # text that a restated text has to repeat
        self._is_lost = False  # it was not repeated

    def add(self, delta: str) -> str:
        """Take more text; return the text that may be shown now."""
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
        """Take the restated whole text; return the text that may be shown now."""
        self._owed, self._waiting, self._n_seen = "".join(self._shown), "", 0
        self._is_lost = False
        if self._strict is not None:
            self._strict = _Strict(self._limits)
        return self.add(text)

    def rest(self, text: str) -> str | None:
        """Return the text that must follow the shown text to make this whole text; None if none can.

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
        """Return the new part of a text that may be shown."""
        common = min(len(text), len(self._owed))
        if text[:common] != self._owed[:common]:
            self._is_lost = True
            return ""
        self._owed, text = self._owed[common:], text[common:]
        if text:
            self._shown.append(text)
        return text
