"""The interface of a dialect's wire for `leaks`: leaked calls, and the rest of their text.

Theory of operation. `leaks` knows which blocks hold text that was read, the part of it to show, and the emitted calls.
A wire knows the places of text in a dialect's frames, the frames without it, and how to write text and calls. Only the
rewriter that follows has to understand the result: numbers of blocks and indices of calls are corrected there.

A frame is *seen* on arrival, and passes, whole or stripped, when it is sent.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from wholecall.repairing.pieces import Piece

__all__ = ["Wire"]


class Wire(ABC):
    """The frames of one stream.

    Args:
        most: bytes of an event, and of a text that is to be restated.
    """

    def __init__(self, most: int) -> None:
        self._most = most

    @abstractmethod
    def see(self, piece: Piece) -> bool:
        """Note a received frame; return whether it is new: repeated frames must not be sent again."""

    @abstractmethod
    def ends(self, piece: Piece) -> bool:
        """Return whether the frame ends a choice or the stream: calls come before it."""

    @abstractmethod
    def stripped(self, piece: Piece) -> bytes | None:
        """Return the frame without its text, nothing if it has no other effect; None if it has no text."""

    def passing(self, piece: Piece) -> bytes:
        """Return the frame to send; it is another one if it restates text that was stripped before."""
        return piece.raw

    @abstractmethod
    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:
        """Return the frame that says this text; nothing if a later frame says it."""

    @abstractmethod
    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:
        """Return the frames that hold a whole call."""
