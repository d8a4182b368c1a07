"""A growing JSON text without a stream: live arguments for a value of any type instead of a call.

Theory of operation. The reader is that of live arguments (`progress`) and keeps its promises: shown values stay true,
no text is read twice, nothing is closed or guessed. Two things are different. The value may be of any type; a string at
the top grows like any other, a number or a literal at the top ends with white space or with the text (`12` may become
`123`). And the text is not bounded elsewhere; the reader stops at `max_arguments_bytes`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar

from wholecall.calls.arguments.grammar import Grammar
from wholecall.calls.arguments.partial import Mark, OpenText, Partial, Path, Piece, shown, size_of
from wholecall.calls.arguments.progress import ProgressScanner
from wholecall.calls.arguments.tokens import utf8_size
from wholecall.limits import Limits

if TYPE_CHECKING:
    from wholecall.types import DropReason, JsonState


class PartialJson(Partial):
    """A snapshot of a JSON text, complete or not: to show, never to execute.

    Later text does not change a snapshot. In later snapshots of the same text strings have only grown, lists and
    objects have only gained members, and closed members are the same.
    """

    __slots__ = ("_offset", "_reason", "_whole")

    def __init__(
        self,
        marks: Sequence[Mark],
        open_path: Path | None,
        text: OpenText | None,
        complete: bool,
        whole: Any,
        reason: DropReason | None,
        offset: int | None,
    ) -> None:
        super().__init__(marks, open_path, text, complete)
        self._whole = whole
        self._reason: DropReason | None = reason
        self._offset = offset

    def __repr__(self) -> str:
        return (
            f"PartialJson(value={size_of(self.value)}, state={self.state!r}, reason={self._reason!r}, "
            f"offset={self._offset})"
        )

    def _further(self) -> tuple[Any, ...]:
        return self._whole, self._reason, self._offset

    @property
    def value(self) -> Any:
        """The value so far, read-only: of an object a mapping that is not a dict, of a list a tuple, else the value.

        It is None before anything is known. It contains no unfinished key, number or literal. It is built on first
        access, at the cost of the open containers' members and the open string's characters; nested values are shared
        with other snapshots: read them, do not change them.
        """
        if self._value is None:
            self._value = shown(self._put_together() if self._whole is None else self._whole)
        return self._value

    @property
    def state(self) -> JsonState:
        """The state of the text: `complete`, `incomplete` (more text can complete it) or `invalid` (no text can)."""
        if self._complete:
            return "complete"
        return "incomplete" if self._reason is None else "invalid"

    @property
    def reason(self) -> DropReason | None:
        """The reason why the text is invalid, in the terms of `parse_arguments`; None if it is not invalid."""
        return self._reason

    @property
    def offset(self) -> int | None:
        """The offset of the first invalid character; None if the text is not invalid.

        For a number that is too large it is the number's beginning, for a key with a second value the end of that
        value.
        """
        return self._offset


class JsonScanner(ProgressScanner):
    """A reader of the text of any JSON value, as `ProgressScanner` is for an object."""

    __slots__ = ("_fed", "_most", "_scalar_open", "_size", "_whole")

    _OBJECT: ClassVar = Grammar._VALUE  # noqa: SLF001 - the tables of its base
    _START: ClassVar = {**Grammar._START, **_OBJECT}  # noqa: SLF001

    def __init__(self, limits: Limits) -> None:
        self._most = limits.max_arguments_bytes
        super().__init__(limits=limits)

    def _begin(self) -> None:
        super()._begin()
        self._fed = 0  # characters
        self._size = 0  # bytes of UTF-8
        self._scalar_open = False  # whether a string, number or literal at the top is open
        self._whole: Any = None  # its value once it is closed

    def feed(self, delta: str) -> list[Piece]:
        """Read more text, split anywhere, as far as the limits allow."""
        if self.stopped:
            return []
        self._size += len(delta) if delta.isascii() else utf8_size(delta)
        if self._most is not None and self._size > self._most:
            return self._feed_the_last(delta, self._most - self._size)
        self._fed += len(delta)
        return super().feed(delta)

    def _feed_the_last(self, delta: str, beyond: int) -> list[Piece]:
        """Read the part within the limit of a piece that exceeds it, however the text is split."""
        data = delta.encode("utf-8", "surrogatepass")
        end = len(data) + beyond
        while data[end] & 0xC0 == 0x80:  # not the first byte of a character
            end -= 1
        delta = data[:end].decode("utf-8", "surrogatepass")
        self._fed += len(delta)
        told = super().feed(delta)
        if not self.stopped:
            self._stop("arguments_too_large")
        return told

    def partial(self) -> PartialJson:
        """Return a snapshot; costs one step per open object or list."""
        text = self._text if self._shown else None
        offset = self._fed - self._left if self.stopped else None
        return PartialJson(
            self._open_marks(), self.open_path, text, self.complete, self._whole, self.reason, offset
        )

    @property
    def open_path(self) -> Path | None:
        """The path at which text continues, as `PartialJson.open_path`."""
        return self._path if self._stack else () if self._scalar_open else None

    def _begin_value(self) -> None:
        if self._levels:
            super()._begin_value()
        else:
            self._scalar_open = self._shown = True

    def _end_value(self, value: object) -> None:
        if self._levels:
            super()._end_value(value)
        else:
            self._scalar_open, self._whole = False, value
