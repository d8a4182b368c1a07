"""What menders of all dialects share: pieces of a stream, what waits for a verdict, and what was reported.

Theory of operation. A mender reads the frames of one dialect in parallel with the parser. It lets pass what is not a
call, holds what is, and writes the held part once the parser has a verdict: as it came if every naive accumulator
reads the calls from it correctly, else encoded again. See the dialects' menders for what waits for what.
"""

from __future__ import annotations

import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, NamedTuple, TypeVar

from msgspec.structs import replace

from wholecall.dialects.decode import is_done, is_noise, payloads, plain
from wholecall.encoders.base import Encoder, Executable, json_bytes
from wholecall.framing import Frame
from wholecall.limits import Limits
from wholecall.output.events import (
    EXECUTABLE,
    Event,
    StreamFault,
    ToolCallDropped,
    ToolCallStarted,
    TurnFinished,
    TurnStarted,
)
from wholecall.repairing.live import LIVE, LiveCalls, Void
from wholecall.types import CUT_REASONS, TurnReason

__all__ = ["EXECUTABLE", "Mender", "Piece", "ends_turn", "mended_reason", "own_fault", "pieces"]

EncoderT = TypeVar("EncoderT", bound=Encoder)

_MINTED = {"id_generated", "duplicate_id"}
_CUT = {"truncated", "unterminated", "incomplete_input"}  # why calls are dropped that came to no end
# Reasons that an agent's loop must see, whatever comes out.
_KEPT_REASONS: frozenset[TurnReason] = frozenset({*CUT_REASONS, "malformed", "error", "pause"})
_ODD_LINE_ENDS = (b"\xc2\x85", b"\xe2\x80\xa8", b"\xe2\x80\xa9")  # see `json_bytes`


class Piece(NamedTuple):
    """One frame of the stream.

    Attributes:
        raw: its bytes, the blank line included.
        event: its name, None where it has none.
        payload: its JSON object, None if it holds none.
        plain: whether every reader takes the bytes for this frame and nothing else.
        is_done: whether it is the `[DONE]` after a stream.
        is_call: whether it is about a call that the client executes.
    """

    raw: bytes
    event: str | None
    payload: dict[str, Any] | None
    plain: bool
    is_done: bool = False
    is_call: bool = False

    @property
    def kind(self) -> str:
        """The `type` of its payload, `""` where there is none."""
        kind = (self.payload or {}).get("type")
        return kind if type(kind) is str else ""

    def with_payload(self, payload: Mapping[str, Any]) -> bytes:
        """Return the frame with another payload; its name stays."""
        head = b"" if self.event is None else b"event: " + self.event.encode() + b"\n"
        return head + b"data: " + json_bytes(payload) + b"\n\n"

    def named(self) -> Piece:
        """Return the frame with its name for its `type`, which clients read."""
        payload = {**(self.payload or {}), "type": self.event}
        return self._replace(payload=payload, raw=self.with_payload(payload), plain=False)


def pieces(block: bytes, frames: Sequence[Frame]) -> list[Piece]:
    """Return the frames of a block; one that joins several payloads is parted (quirk 55).

    Frames that hold nothing are left out: clients take all data for JSON objects that have members (quirk 53).
    """
    found: list[Piece] = []
    for frame in frames:
        if frame.event != "ping" and is_noise(frame):
            continue
        event = None if frame.event in ("message", "") else frame.event
        texts = payloads(frame.data) if "\n" in frame.data else [frame.data]
        for text in texts:
            if len(texts) > 1 and is_noise(Frame(frame.event, text)):
                continue
            value = plain(text)
            payload = value if isinstance(value, dict) else None
            if len(texts) == len(frames) == 1:
                is_plain = not frame.replaced and (
                    block.isascii() or not any(end in block for end in _ODD_LINE_ENDS)
                )
                found.append(Piece(block, event, payload, is_plain, payload is None and is_done(text)))
            else:
                piece = Piece(
                    b"data: " + text.encode("utf-8", "surrogatepass") + b"\n\n", event, payload, False
                )
                found.append(piece if payload is None else piece._replace(raw=piece.with_payload(payload)))
    return found


def ends_turn(pieces: Iterable[Piece], events: Iterable[Event[Any]]) -> bool:
    """Whether nothing that is open stays so: the turn was ended, or an error broke it off."""
    return any(piece.is_done for piece in pieces) or any(
        isinstance(event, TurnFinished) or (isinstance(event, StreamFault) and event.fatal)
        for event in events
    )


def own_fault(events: Iterable[Event[Any]]) -> StreamFault | None:
    """Return the fatal fault that the parser found itself: the provider did not say it, so clients cannot know."""
    for event in events:
        if isinstance(event, StreamFault) and event.fatal and event.kind != "provider_error":
            return event
    return None


def mended_reason(claimed: TurnReason, *, executed: bool, cut: bool) -> TurnReason:
    """Return the reason that goes with what comes out of a turn; every dialect has its own words for it.

    Args:
        claimed: the reason of the wire.
        executed: whether calls come out of the turn.
        cut: whether one was withheld because it came to no end.
    """
    if claimed in _KEPT_REASONS:
        return claimed
    if executed:
        return "tool_calls"
    if claimed != "tool_calls":
        return claimed
    return "length" if cut else "stop"  # an empty turn without an error would hide the loss


class Mender(ABC, Generic[EncoderT]):
    """Mends one stream of one dialect.

    Attributes:
        failed: why the stream was ended by an error frame, None while it goes on; nothing may follow then.
    """

    def __init__(self, encoder: EncoderT, limits: Limits, *, live: bool) -> None:
        self.failed: str | None = None
        self._encoder = encoder
        self._live = LiveCalls(encoder) if live else None
        self._most = sys.maxsize if limits.max_event_bytes is None else limits.max_event_bytes  # may wait
        self._calls: list[Executable] = []  # judged whole, and not written yet
        self._response_id: str | None = None
        self._executed: set[int] = set()  # choices of which calls come out
        self._void: str | None = None  # why a call that was shown must not be executed
        self._cut: set[int] = set()  # and of which one was withheld that came to no end

    @abstractmethod
    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Whether a block needs no look: it passes, and nothing follows from it."""

    @abstractmethod
    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take the frames of a block, and the parser's events for them; return what may go out now."""

    def fail(self, message: str) -> bytes:
        """End the stream with the dialect's error frame and return that."""
        self.failed = message
        return self._encoder.error(message)

    def _take_events(self, events: Sequence[Event[Any]]) -> bytes:
        """Take note of the parser's verdicts; return what is shown of calls that are still arriving."""
        out: list[bytes] = []
        broken = any(isinstance(event, StreamFault) and event.kind == "provider_error" for event in events)
        for given in events:
            event = self._with_lasting_id(given) if isinstance(given, EXECUTABLE) else given
            if isinstance(event, EXECUTABLE):
                self._executes(event)
            elif isinstance(event, TurnStarted):
                self._response_id = event.id
            elif isinstance(event, ToolCallDropped) and event.reason in _CUT:
                self._cut.add(event.choice)
            live = self._live
            if live is not None and isinstance(event, ToolCallStarted):
                out.append(live.begin(event))
            elif live is not None and type(event) in LIVE and live.is_shown(event):
                out.append(self._go_on(live, event, is_broken=broken))
            elif isinstance(event, EXECUTABLE):
                self._calls.append(event)
            if self.failed is not None:
                break
        return b"".join(out)

    def _go_on(self, live: LiveCalls, event: Event[Any], *, is_broken: bool) -> bytes:
        """Go on with a call that is shown; one that must not be executed ends the stream.

        Where the provider reports an error, its own frame, which follows, is what clients raise for.
        """
        try:
            return live.go_on(event)
        except Void as void:
            self._void = str(void)
            return b"" if is_broken else self.fail(self._void)

    def _executes(self, call: Executable) -> None:
        """Take note of a call that comes out."""
        self._executed.add(call.choice)

    def _with_lasting_id(self, call: Executable) -> Executable:
        """Return a call whose minted id differs from those of other responses in the same conversation."""
        if not _MINTED & set(call.flags) or not self._response_id:
            return call
        digest = zlib.crc32(self._response_id.encode("utf-8", "surrogatepass"))
        return replace(call, id=f"{call.id.replace('#', '_')}_{digest:08x}")
