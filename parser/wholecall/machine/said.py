"""Texts that grow by pieces of a few characters: the visible text of a model, and each block of its reasoning.

Theory of operation. A string of four characters takes 53 bytes, and a text comes in thousands of them. Therefore pieces
are joined as soon as there are 64, and the text as a whole when it is read: the next read joins only the new pieces.
Places in a text are counted in characters, which joining does not change.
"""

from __future__ import annotations

from typing import ClassVar, Final, Union

from wholecall.calls.output.turns import ReasoningBlock
from wholecall.deltas import Index, ReasoningFragment

_MOST: Final = 64  # pieces that are not joined


class SaidText:
    """A text that grows."""

    DERIVED: ClassVar = frozenset({"_n_joined"})

    _joined: list[str]
    _pieces: list[str]

    __slots__ = ("_joined", "_n_joined", "_pieces")

    def __init__(self) -> None:
        self._joined = []
        self._pieces = []
        self._n_joined = 0  # characters of the joined text

    def remade(self) -> None:
        """Count the characters anew."""
        self._count()

    def _count(self) -> None:
        self._n_joined = sum(map(len, self._joined))

    def add(self, text: str) -> None:
        """Append text."""
        pieces = self._pieces
        pieces.append(text)
        if len(pieces) > _MOST:
            text = "".join(pieces)
            pieces.clear()
            self._joined.append(text)
            self._n_joined += len(text)

    def join(self) -> None:
        """Join all pieces."""
        if self._pieces or len(self._joined) > 1:
            self._joined = ["".join([*self._joined, *self._pieces])]
            self._pieces.clear()
            self._count()

    @property
    def text(self) -> str:
        """All of it."""
        self.join()
        return self._joined[0] if self._joined else ""

    @property
    def size(self) -> int:
        """The number of its characters."""
        pieces = self._pieces
        return self._n_joined + sum(map(len, pieces)) if pieces else self._n_joined

    def clear(self) -> None:
        """Forget it."""
        self._joined.clear()
        self._pieces.clear()
        self._count()


class ReasoningText(SaidText):
    """A block of reasoning: its text, and the latest label of each kind.

    Attributes:
        block: its label, None if it has none.
        id, signature, data: see `ReasoningFragment`.
        is_sealed: its last piece brought a signature.
    """

    block: Union[Index, None]
    id: Union[str, None]
    signature: Union[str, None]
    data: Union[str, None]
    is_sealed: bool

    __slots__ = tuple(__annotations__)

    def __init__(self, block: Index | None = None) -> None:
        super().__init__()
        self.block = block
        self.id = self.signature = self.data = None
        self.is_sealed = False

    def label(self, piece: ReasoningFragment) -> None:
        """Take the labels of a piece."""
        self.id = piece.id or self.id
        self.signature = piece.signature or self.signature
        self.data = piece.data or self.data
        self.is_sealed = piece.signature is not None

    def seen(self) -> ReasoningBlock:
        """Return the block for users."""
        name = self.block if isinstance(self.block, str) else None
        return ReasoningBlock(self.text, self.id, self.signature, self.data, name)
