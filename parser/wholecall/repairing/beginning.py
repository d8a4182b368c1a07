"""The beginning of a stream to be repaired: its framing, dialect and rewriter, and the lookout for another dialect.

Theory of operation. The input waits until the first bytes identify the framing, and the first frames the dialect. A
stream of a dialect without a rewriter, or a stream that is not an event stream, passes unchanged from then on. No parser
counts its bytes, so they are counted here: nothing is sent beyond `max_stream_bytes`, and as there is no form for an
error, the report says so.

A relay may put its own frame in front (`data: {"candidates": []}`, a line of JSON, a start of another API). Then
everything after it would pass, because no rewriter knows it. The endpoint shows the requested dialect: from the first
frame that may be of that dialect on, whichever other dialect it may also be of, the stream is read as that dialect
(`Lookout`). A passing stream is held only from a line on with which a frame may begin, so that lines of JSON and text
pass at once.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from wholecall.calls.output.events import Event, ReasoningDelta, StreamFault, TextDelta
from wholecall.dialects.table import claimants, claimants_by_name
from wholecall.framing import frame, opening
from wholecall.limits import Limits
from wholecall.repairing.blocks import Blocks, is_comment
from wholecall.repairing.pieces import PieceReader
from wholecall.repairing.table import WIRES

if TYPE_CHECKING:
    from wholecall.repairing.rewriter import Rewriter
    from wholecall.repairing.withholding import Withheld
    from wholecall.stream.parser import ToolCallParser

_TOO_LARGE: Final = "stream_too_large"
_MAY_BEGIN: Final = re.compile(rb"(?<![^\r\n])(?:[de]|\Z)")  # `data`, `event`


class Beginning:
    """The state of a stream before it is repaired."""

    def __init__(
        self,
        parser: ToolCallParser[Any],
        limits: Limits,
        *,
        live: bool,
        withheld: Withheld,
        legacy: bool | None,
        only_data: bool,
    ) -> None:
        self._parser = parser
        self._limits = limits
        self._live = live
        self._withheld: Withheld = withheld
        self._legacy = legacy
        self._only_data = only_data  # comments must not be sent
        self._rewriter: Rewriter[Any] | None = None
        self._waiting: list[bytes] = []  # blocks before the dialect is known
        self._n_waiting = 0  # their size
        self._passes = False  # nothing is mended any more
        self._opens = False  # frames are taken out of their envelopes
        self._head = b""  # the first bytes, while they do not identify the framing
        self._begun = False
        self._room = limits.max_stream_bytes  # bytes that may still come; below 0 the stream is too large
        self._refused: str | None = None  # the code of the error that ended a stream without a rewriter

    @abstractmethod
    def _mend(self, block: bytes, events: Sequence[Event[Any]]) -> bytes:
        """Return the output for a block."""

    def _begin(self, data: bytes) -> bytes:
        """Return the first bytes once they identify the framing; everything except events passes."""
        self._head += data
        framing = opening.framing_of(self._head[: self._limits.max_stream_bytes])
        if framing is None:
            return b""
        self._begun = True
        self._passes = framing != "sse"
        data, self._head = self._head, b""
        return data

    def _find_rewriter(self, block: bytes, events: Sequence[Event[Any]]) -> bytes:
        """Hold a block until the dialect is known; then pass or repair all waiting blocks."""
        self._waiting.append(block)
        self._n_waiting = (self._n_waiting if len(self._waiting) > 1 else 0) + len(block) + frame.OWN_SIZE
        dialect = self._parser.dialect
        self._rewriter = self._new_rewriter()
        if self._rewriter is None and any(_is_too_large(event) for event in events):
            return self._refuse()
        if self._rewriter is not None:
            held, self._waiting = self._waiting[:-1], []
            if held:  # any of them may have caused the parser's events
                events = [event for event in events if not isinstance(event, (TextDelta, ReasoningDelta))]
            return b"".join([*(self._mend(early, []) for early in held), self._mend(block, events)])
        limit = self._limits.max_pending_frames_bytes
        if dialect is not None or (limit is not None and self._n_waiting > limit):
            return self._give_up()
        if len(self._waiting) == 1 and is_comment(block):
            comment = self._waiting.pop()
            return b"" if self._only_data else comment
        return b""

    def _new_rewriter(self) -> Rewriter[Any] | None:
        """Return the rewriter of the stream; frames in envelopes pass, unless the client asked for their content."""
        wire = WIRES.get(self._parser.dialect or "")
        if wire is None or (self._parser.is_enveloped and not self._opens):
            return None
        rewriter: Rewriter[Any] = wire.rewriter(self._limits, live=self._live, withheld=self._withheld)
        rewriter.legacy = self._legacy
        self._only_data = rewriter.only_data
        return rewriter

    @property
    def _room_is_up(self) -> bool:
        return self._room is not None and self._room < 0

    def _passed(self, data: bytes) -> bytes:
        """Return bytes of a passing stream, the last of them within its limit."""
        if self._room_is_up:
            self._refused = _TOO_LARGE
        return data

    def _refuse(self) -> bytes:
        """End a stream that is too large; without a rewriter no waiting bytes are sent."""
        if self._rewriter is not None:
            return self._rewriter.fail(_TOO_LARGE, "the stream is larger than max_stream_bytes")
        self._refused = _TOO_LARGE
        self._waiting.clear()
        self._head = b""
        return b""

    def _give_up(self) -> bytes:
        """Stop mending: the rest passes unchanged, unless calls may be waiting in it."""
        if self._rewriter is not None:
            return self._rewriter.fail("event_too_large", "an event is larger than max_event_bytes")
        self._passes = True
        held, self._waiting = self._waiting, []
        return b"".join(held)


def _is_too_large(event: Event[Any]) -> bool:
    return type(event) is StreamFault and event.fatal and event.kind == _TOO_LARGE


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
