"""The verdict on an argument text: whether it can be executed, and the edits made to read it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, Literal

import msgspec

from wholecall.types import DropReason, EditKind, Flag, Status

if TYPE_CHECKING:
    from typing_extensions import TypeVar

    ArgsT = TypeVar("ArgsT", default=dict[str, Any])
else:  # only a type checker knows the default
    from typing import TypeVar

    ArgsT = TypeVar("ArgsT")


class Edit(msgspec.Struct, frozen=True, gc=False):
    """One change that made argument text readable.

    Attributes:
        kind: the kind of change.
        offset: its place, in characters from the start of the raw argument text.
    """

    kind: EditKind
    offset: int


class Verdict(msgspec.Struct, Generic[ArgsT], frozen=True):
    """The verdict on a text of arguments.

    Attributes:
        status: `exact`, `normalised`, `recovered` or `empty`; `dropped` means: do not execute.
        arguments: the decoded object, None if dropped.
        edits: the changes made to read the text, offsets in characters of the raw text.
        flags: its oddities, sorted.
        reason: why it was dropped, else None.
        detail: a sentence for people; it never contains argument text.
        value: the arguments converted to the tool's type; None if dropped, or if no tool was given.
    """

    status: Status | Literal["dropped"]
    arguments: dict[str, Any] | None = None
    edits: tuple[Edit, ...] = ()
    flags: tuple[Flag, ...] = ()
    reason: DropReason | None = None
    detail: str = ""
    value: ArgsT | None = None

    def __repr__(self) -> str:
        size = None if self.arguments is None else f"<{len(self.arguments)}>"
        return (
            f"Verdict(status={self.status!r}, arguments={size}, edits={self.edits!r}, "
            f"flags={self.flags!r}, reason={self.reason!r}, detail={self.detail!r})"
        )
