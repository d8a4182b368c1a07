"""Base class of menders: the queue of held frames, and what was reported.

Theory of operation. A mender reads the frames of one dialect in parallel with the parser. It lets pass what is not a
call, holds what is, and writes the held part once the parser has a verdict: as it came if every naive accumulator
reads the calls from it correctly, else encoded again. See the dialects' menders for what waits for what.
"""

from __future__ import annotations

import re
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace

from wholecall.encoders.base import Encoder, Executable
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
from wholecall.repairing.moulds import Mould
from wholecall.repairing.pieces import Piece
from wholecall.repairing.schema import Kinds, Schema, conformed
from wholecall.repairing.strict import Track
from wholecall.repairing.withholding import CALLS_WITHHELD, INCOMPLETE, Losses, Withheld

__all__ = [
    "EXECUTABLE",
    "Mender",
    "ends_turn",
    "lasting",
    "most_of",
    "never_ended",
    "own_fault",
]

EncoderT = TypeVar("EncoderT", bound=Encoder)

_MINTED = {"id_generated", "duplicate_id"}
_NOTED = frozenset(
    {*EXECUTABLE, ToolCallDropped, TurnStarted}
)  # of a call that is not shown while it arrives


def most_of(limit: int | None) -> int:
    """Return a bound as a number."""
    return sys.maxsize if limit is None else limit


def ends_turn(pieces: Iterable[Piece], events: Iterable[Event[Any]]) -> bool:
    """Whether nothing that is open stays so: the turn was ended, or an error broke it off."""
    return any(piece.is_done for piece in pieces) or any(
        type(event) is TurnFinished or (type(event) is StreamFault and event.fatal) for event in events
    )


def never_ended(events: Iterable[Event[Any]]) -> bool:
    """Whether a turn was over before the wire gave a reason for it."""
    return any(isinstance(event, TurnFinished) and "missing_finish" in event.anomalies for event in events)


def lasting(call: Executable, response_id: str | None) -> Executable:
    """Return a call whose minted id differs from those of other responses in the same conversation."""
    if not _MINTED & set(call.flags) or not response_id:
        return call
    digest = zlib.crc32(response_id.encode("utf-8", "surrogatepass"))
    return replace(call, id=f"{call.id.replace('#', '_')}_{digest:08x}")


def own_fault(events: Iterable[Event[Any]]) -> StreamFault | None:
    """Return the fatal fault that the parser found itself: the provider did not say it, so clients cannot know."""
    for event in events:
        if type(event) is StreamFault and event.fatal and event.kind != "provider_error":
            return event
    return None


class Mender(ABC, Generic[EncoderT]):
    """Mends one stream of one dialect.

    Attributes:
        failed: the code of the error that ended the stream, None while it goes on; nothing may follow then.
        is_done: whether a `[DONE]` came, where that ends a stream.
        mould: of the frame that was taken last, if more that differ from it only in their text may be taken at once.
        legacy: whether the client reads calls in an older form of the dialect, where it has one; None if that is not known.
    """

    legacy: bool | None = None

    doubts: ClassVar[re.Pattern[bytes] | None] = None  # a text with any of this is looked at
    goes_on_after_cuts: ClassVar = False  # agents ask the model to go on if the reason says that it was cut
    only_data: ClassVar = False  # clients read lines of data, and fail for comments, names and ids of events
    asked: ClassVar[Schema | Kinds]  # what the published schema asks of a frame

    def __init__(self, encoder: EncoderT, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        self.failed: str | None = None
        self.is_done = False
        self.mould: Mould | None = None
        self._encoder = encoder
        self._live = LiveCalls(encoder, limits) if live else None
        self._most = most_of(limits.max_event_bytes)  # may wait
        self._calls: list[Executable] = []  # judged whole, and not written yet
        self._response_id: str | None = None
        self._executed: set[int] = set()  # choices of which calls come out
        self._losses = Losses(withheld, goes_on_after_cuts=self.goes_on_after_cuts)
        self._void: str | None = None  # why a call that was shown must not be executed
        self._n_waiting = 0
        self._open_track: Track | None = None  # of the call that the mould is of, while that is read
        self._alike: list[bytes] = []  # frames from the mould, which wait after the last one of the queue

    @abstractmethod
    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Whether a block may pass as it is, if the frame in it is sound, and nothing follows from it."""

    @abstractmethod
    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take the frames of a block, and the parser's events for them; return what may go out now."""

    def is_readable(self, piece: Piece) -> bool:
        """Whether clients can read a frame: all take its data for an object; what a server says of an error may be words."""
        return piece.payload is not None or piece.event == "error"

    def is_sound(self, payload: dict[str, Any]) -> bool:
        """Whether a frame is as the published schema asks, whatever was told before it."""
        return conformed(payload, self.asked, is_first=True) is payload

    def passed(self, payload: dict[str, Any]) -> None:
        """Take note of a frame that passed as it is."""

    def shaped(self, piece: Piece) -> Piece | None:
        """Return a frame as the published schema asks, None where what it needs cannot be made up.

        What an error holds is the server's own, and stays.
        """
        payload = piece.payload
        if payload is None or piece.is_error:
            return piece
        found = conformed(payload, self.asked)
        if found is payload or found is None:
            return piece if found is payload else None
        return piece._replace(payload=found, raw=piece.with_payload(found), plain=False)

    def shown(self, number: int | None) -> None:
        """Take note that text was shown, up to the frame of this number, if they have numbers."""

    def has_room(self, block: bytes) -> bool:
        """Whether a frame from the mould may wait."""
        return self._open_track is None or self._n_waiting + len(block) <= self._most

    def go_on(self, block: bytes, text: str, events: Sequence[Event[Any]]) -> bytes:
        """Take a frame from the mould with a further piece of a call, as the one before it was taken."""
        if self._open_track is not None:
            self._open_track.add(text)
            self._alike.append(block)
            self._n_waiting += len(block)
        return self._take_events(events) if self._live is not None else b""

    def _gather(self, queue: list[Piece]) -> None:
        """Put the frames from the mould into the queue."""
        if self._alike:
            queue[-1] = queue[-1]._replace(more=tuple(self._alike))
            self._alike.clear()

    @abstractmethod
    def ping(self) -> bytes:
        """Return a frame that says nothing, but that the server is alive; nothing where none may stand."""

    @abstractmethod
    def leave(self) -> bytes:
        """Let go of what waits; return what of it is neither of a call nor ends the turn."""

    @property
    def held(self) -> int:
        """How many bytes wait for a verdict."""
        return self._n_waiting

    def fail(self, code: str, message: str) -> bytes:
        """End the stream: return what waits besides calls, and the dialect's error frame."""
        if self.failed is not None:
            return b""
        self.failed, self.mould = code, None
        return self.leave() + self._encoder.error(message, code)

    def _fail_empty_handed(self) -> bytes:
        """End a turn that claims success, and all of whose calls were withheld."""
        return self.fail(CALLS_WITHHELD, self._losses.sentence)

    def fail_incomplete(self) -> bytes:
        """End a stream whose turn never came to its end."""
        return self.fail(INCOMPLETE, "the stream ended before the turn did")

    def _forget_turn(self) -> None:
        """Forget what came out of the turn before."""
        self._executed.clear()
        self._losses.clear()

    def _take_events(self, events: Sequence[Event[Any]]) -> bytes:
        """Take note of the parser's verdicts; return what is shown of calls that are still arriving."""
        if not events:
            return b""
        out: list[bytes] = []
        live = self._live
        for given in events:
            if live is None and type(given) not in _NOTED:
                continue
            event = lasting(given, self._response_id) if isinstance(given, EXECUTABLE) else given
            if isinstance(event, EXECUTABLE):
                self._executes(event)
            elif isinstance(event, TurnStarted):
                self._response_id = event.id
            elif isinstance(event, ToolCallDropped):
                self._losses.note(event)
            if live is not None and isinstance(event, ToolCallStarted):
                out.append(live.begin(event))
            elif live is not None and type(event) in LIVE and live.is_shown(event):
                out.append(self._go_on(live, event, is_broken=_is_broken(events)))
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
            return b"" if is_broken else self.fail(CALLS_WITHHELD, self._void)

    def _executes(self, call: Executable) -> None:
        """Take note of a call that comes out."""
        self._executed.add(call.choice)


def _is_broken(events: Iterable[Event[Any]]) -> bool:
    """Whether the provider reports an error."""
    return any(isinstance(event, StreamFault) and event.kind == "provider_error" for event in events)
