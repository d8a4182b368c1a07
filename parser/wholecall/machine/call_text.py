"""What the text of a call says so far: to those who bind fragments, and to those who judge the call.

Theory of operation. The questions are asked while text streams, so none reads what it has read: a lexical scan goes on
from where it was, and what was found to be an object is remembered with its size.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wholecall.arguments.lexical import begins_object
from wholecall.arguments.placeholders import BEGINNINGS, PLACEHOLDER_SIZE, is_placeholder

if TYPE_CHECKING:
    from wholecall.arguments.lexical import Scan
    from wholecall.types import Kind

__all__ = ["TextQuestions"]


class TextQuestions:
    """The questions; `Call` has the state."""

    __slots__ = ()

    if TYPE_CHECKING:
        kind: Kind
        phase: Any
        parts: list[str]
        restated: str | None
        full: bool
        _scan: Scan | None
        _surrogate: str
        _other_reading: list[str]
        _other_size: int

        @property
        def size(self) -> int:
            """Characters of the fragments in force."""
            return 0

        @property
        def empty(self) -> bool:
            """Whether no text at all has come."""
            return not self.parts

        @property
        def text(self) -> str:
            """The fragments in force, joined."""
            return ""

        @property
        def other_reading(self) -> str:
            """The text if an undecidable fragment was a snapshot."""
            return ""

        def _lexical(self) -> Scan:
            """Return the state of the scan after all of the text."""
            return Scan()

    @property
    def is_over(self) -> bool:
        """Whether its terminal event is decided."""
        is_over: bool = self.phase == "ended"
        return is_over

    @property
    def complete(self) -> bool:
        """Whether the text is one whole value; scans only what it has not seen."""
        if self.restated is not None:
            return True
        if not self.parts or self._lexical().complete:
            return bool(self.parts)
        return len(self.parts) <= PLACEHOLDER_SIZE and self.holds_placeholder

    @property
    def scanned(self) -> bool:
        """Whether a scan of the text has begun, so that another one costs only what is new."""
        return self._scan is not None

    @property
    def unfinished(self) -> bool:
        """Whether the text so far asks for more: it is no whole value, or more than one."""
        if self.is_over or self.empty or self.restated is not None:
            return False
        scan = self._lexical()
        return not scan.complete or scan.overfull

    @property
    def plain(self) -> bool:
        """Whether a fragment simply appends, unless it begins an object."""
        return not (self.full or self._surrogate or self._other_reading)

    @property
    def has_two_readings(self) -> bool:
        """Whether a fragment may have been a snapshot, so that the text may be whole already."""
        return bool(self._other_reading)

    @property
    def continuable(self) -> bool:
        """Whether argument text may still follow."""
        return not self.is_over and (self.kind == "custom" or not self.complete)

    @property
    def takes_value(self) -> bool:
        """Whether an object, or text that looks like one, can follow the text so far."""
        scan = self._lexical()
        return self.restated is None and (scan.inside_string or scan.value_may_start)

    @property
    def hollow(self) -> bool:
        """Whether what comes next may be all of the text: there is none yet, only a placeholder, or a blank."""
        if self.restated is not None:
            return is_placeholder(self.restated)
        return self.size <= PLACEHOLDER_SIZE and (not self.text.strip() or is_placeholder(self.text))

    @property
    def holds_placeholder(self) -> bool:
        """Whether all that came is a placeholder, which what comes next may fill (quirk 25)."""
        if self.restated is not None:
            return is_placeholder(self.restated)
        return self.size <= PLACEHOLDER_SIZE and is_placeholder(self.text)

    def is_restated_by(self, text: str) -> bool:
        """Return whether the text is what the call already holds, in either reading."""
        if self._other_reading and len(text) == self._other_size and text == self.other_reading:
            return True
        return text == self.restated or (len(text) == self.size and text == self.text)

    def grows_by(self, text: str) -> bool:
        """Return whether the text is the next snapshot, if the call's fragments are snapshots."""
        return self.has_two_readings and len(text) >= self._other_size and text.startswith(self.other_reading)

    def may_be_retold_by(self, text: str) -> bool:
        """Return whether a fragment could tell all of the text once more, or fill a placeholder."""
        if self.kind == "custom" or self.empty or text[0] not in BEGINNINGS:
            return False
        return self.holds_placeholder or (len(text) >= self.size and text.startswith(self.text))

    @property
    def begins_object(self) -> bool:
        """Whether the text in force begins with a brace."""
        return begins_object(self.parts if self.restated is None else (self.restated,))
