"""The beginning of a stream to be repaired: its framing, its dialect and its rewriter.

Theory of operation. The input waits until the first bytes identify the framing, and the first frames the dialect. A
stream of a dialect without a rewriter, or a stream that is not an event stream, passes unchanged from then on. No parser
counts its bytes, so they are counted here: nothing is sent beyond `max_stream_bytes`, and as there is no form for an
error, the report says so.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

from wholecall.framing.frame import OWN_SIZE
from wholecall.framing.opening import framing_of
from wholecall.output.events import Event, ReasoningDelta, StreamFault, TextDelta
from wholecall.repairing.blocks import is_comment
from wholecall.repairing.table import REWRITERS

if TYPE_CHECKING:
    from wholecall.limits import Limits
    from wholecall.repairing.rewriter import Rewriter
    from wholecall.repairing.withholding import Withheld
    from wholecall.stream.parser import ToolCallParser

__all__ = ["Beginning"]

_TOO_LARGE: Final = "stream_too_large"


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
        framing = framing_of(self._head[: self._limits.max_stream_bytes])
        if framing is None:
            return b""
        self._begun = True
        self._passes = framing != "sse"
        data, self._head = self._head, b""
        return data

    def _find_rewriter(self, block: bytes, events: Sequence[Event[Any]]) -> bytes:
        """Hold a block until the dialect is known; then pass or repair all waiting blocks."""
        self._waiting.append(block)
        self._n_waiting = (self._n_waiting if len(self._waiting) > 1 else 0) + len(block) + OWN_SIZE
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
        make = REWRITERS.get(self._parser.dialect or "")
        if make is None or (self._parser.is_enveloped and not self._opens):
            return None
        rewriter: Rewriter[Any] = make(self._limits, live=self._live, withheld=self._withheld)
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
