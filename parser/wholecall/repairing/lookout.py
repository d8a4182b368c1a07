"""A lookout for frames of the requested dialect, in a stream that passes or is read as another dialect.

Theory of operation. The dialect of a stream is found from its first decisive frame, and a relay may put its own frame
in front (`data: {"candidates": []}`, a line of JSON, a start of another API). Then everything after it would pass,
because no rewriter knows it. The endpoint shows the requested dialect: from the first frame that may be of that dialect
on, whichever other dialect it may also be of, the stream is read as that dialect. A passing stream is held only from a
line on with which a frame may begin, so that lines of JSON and text pass at once.
"""

from __future__ import annotations

import re
from typing import Final

from wholecall.dialects.table import claimants, claimants_by_name
from wholecall.limits import Limits
from wholecall.repairing.blocks import Blocks
from wholecall.repairing.pieces import PieceReader

__all__ = ["Lookout"]

_MAY_BEGIN: Final = re.compile(rb"(?<![^\r\n])(?:[de]|\Z)")  # `data`, `event`


class Lookout:
    """A lookout for frames of one dialect.

    Args:
        dialect: the requested one.
        limits: bounds of a frame.
        most: bytes of a block that is read.

    Attributes:
        dialect: that was asked for.
    """

    def __init__(self, dialect: str, limits: Limits, most: int) -> None:
        self.dialect = dialect
        self._limits = limits
        self._most = most
        self._pieces: PieceReader | None = None  # hardly any stream needs one
        self._blocks = Blocks()  # of the passing bytes
        self._n_gone = 0  # bytes of the open block that have passed already

    def __repr__(self) -> str:
        return f"<Lookout {self.dialect}>"

    @property
    def held(self) -> int:
        """The number of bytes that wait for the end of their block."""
        return len(self._blocks) - self._n_gone

    @property
    def is_full(self) -> bool:
        """Return whether a block is too large to be read."""
        return len(self._blocks) > self._most

    def take(self, data: bytes) -> tuple[bytes, bytes]:
        """Take passing bytes; return those that may be sent, and all from the first frame of the dialect on."""
        gone, self._n_gone = self._n_gone, 0
        blocks = self._blocks.feed(data)
        at = next((number for number, block in enumerate(blocks) if self.sees(block)), None)
        if at is not None:
            before, ours = b"".join(blocks[:at]), b"".join([*blocks[at:], self._blocks.close()])
            return (before[gone:], ours) if at else (b"", ours[gone:])
        passed = b"".join(blocks)[gone:]
        gone = 0 if blocks else gone
        waiting = self._blocks.waiting
        found = _MAY_BEGIN.search(waiting, gone)
        self._n_gone = found.start() if found else len(waiting)
        return passed + bytes(waiting[gone : self._n_gone]), b""

    def close(self, data: bytes = b"") -> tuple[bytes, bytes]:
        """Take the last passing bytes; return the same as `take`, and hold nothing."""
        out, ours = self.take(data)
        if ours:
            return out, ours
        gone, self._n_gone = self._n_gone, 0
        block = self._blocks.close()
        return (out, block[gone:]) if self.sees(block) else (out + block[gone:], b"")

    def sees(self, block: bytes) -> bool:
        """Return whether a block holds a frame of the dialect."""
        if b"data" not in block or len(block) > self._most:
            return False
        if self._pieces is None:
            self._pieces = PieceReader(self._limits, self._most)
        return any(
            piece.payload is not None and self._may_be_ours(piece.payload, piece.event or "")
            for piece in self._pieces.read(block)
        )

    def _may_be_ours(self, payload: dict[str, object], event: str) -> bool:
        found = claimants(payload, event).best or claimants_by_name(payload, event).best
        return any(dialect.name == self.dialect for dialect in found)
