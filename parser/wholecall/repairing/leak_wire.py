"""The interface of a dialect's wire for `leaks`: leaked calls, and the rest of their text.

Theory of operation. `leaks` knows which blocks hold text that was read, what of it is shown, and which calls came out. A
wire knows where a dialect's frames hold text, how such a frame is without it, and how to write text and calls. It only
has to be understood by the mender that follows: numbers of blocks and indices of calls are put right there.

A frame is *seen* when it comes, and passes, whole or stripped, when it goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from wholecall.repairing.pieces import Piece

__all__ = ["Wire"]


class Wire(ABC):
    """The frames of one stream.

    Args:
        most: bytes that an event may have, and a text that is to be restated.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    @abstractmethod
    def see(self, piece: Piece) -> bool:
        """Take note of a frame that came; return whether it is new: what came before is not to go on again."""

    @abstractmethod
    def ends(self, piece: Piece) -> bool:
        """Return whether the frame ends a choice or the stream: calls come before it."""

    @abstractmethod
    def stripped(self, piece: Piece) -> bytes | None:
        """Return the frame without what it says, nothing if it does nothing else; None if it says nothing."""

    def passing(self, piece: Piece) -> bytes:
        """Return the frame as it goes on; another one than came where it restates what was stripped before."""
        return piece.raw

    @abstractmethod
    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return the frame that says this; nothing if another one says it later."""

    @abstractmethod
    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:
        """Return the frames that hold a whole call."""
