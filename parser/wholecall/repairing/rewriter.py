"""Base class of rewriters: the queue of held frames, and the calls reported so far.

Theory of operation. A rewriter reads the frames of one dialect in parallel with the parser. It passes frames without
calls, holds frames with calls, and writes the held part after the parser's verdict: unchanged if every naive
accumulator reads the calls from it correctly, else encoded again. The dialects' rewriters define which frames wait for
which.
"""

from __future__ import annotations

import re
import sys
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Generic, TypeVar

from msgspec.structs import replace

from wholecall.calls.output.call_events import ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import (
    EXECUTABLE,
    Event,
    ReasoningDelta,
    StreamFault,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from wholecall.limits import Limits
from wholecall.repairing.encoders.base import Encoder, Executable
from wholecall.repairing.live import LIVE, LiveCalls, Void
from wholecall.repairing.pieces import Piece, payload_once
from wholecall.repairing.schema import Kinds, Schema, conformed
from wholecall.repairing.strict import Track
from wholecall.repairing.templates import FrameTemplate
from wholecall.repairing.withholding import CALLS_WITHHELD, INCOMPLETE, Losses, Withheld

EncoderT = TypeVar("EncoderT", bound=Encoder)

_MINTED = {"id_generated", "duplicate_id"}
_NOTED = frozenset(
    {*EXECUTABLE, ToolCallDropped, TurnStarted}
)  # of a call that is not shown while it arrives


def most_of(limit: int | None) -> int:
    """Return a bound as a number."""
    return sys.maxsize if limit is None else limit


def ends_turn(pieces: Iterable[Piece], events: Iterable[Event[Any]]) -> bool:
    """Return whether nothing remains open: the turn was ended, or an error broke it off."""
    return any(piece.is_done for piece in pieces) or any(
        type(event) is TurnFinished or (type(event) is StreamFault and event.fatal) for event in events
    )


def never_ended(events: Iterable[Event[Any]]) -> bool:
    """Return whether a turn was over before the wire gave a reason for it."""
    return any(isinstance(event, TurnFinished) and "missing_finish" in event.anomalies for event in events)


def lasting(call: Executable, response_id: str | None) -> Executable:
    """Return a call whose minted id differs from those of other responses in the same conversation."""
    if not _MINTED & set(call.flags) or not response_id:
        return call
    digest = zlib.crc32(response_id.encode("utf-8", "surrogatepass"))
    return replace(call, id=f"{call.id.replace('#', '_')}_{digest:08x}")


def own_fault(events: Iterable[Event[Any]]) -> StreamFault | None:
    """Return the fatal fault found by the parser itself: the provider did not report it, so clients cannot know."""
    for event in events:
        if type(event) is StreamFault and event.fatal and event.kind != "provider_error":
            return event
    return None


class Rewriter(ABC, Generic[EncoderT]):
    """The rewriter of one stream of one dialect.

    Attributes:
        failed: the code of the error that ended the stream, None while it continues; nothing may follow then.
        is_done: whether a `[DONE]` was received, where that ends a stream.
        template: that of the last frame, if further frames that differ only in their text may be taken at once.
        legacy: whether the client reads calls in an older form of the dialect, where it has one; None if unknown.
    """

    legacy: bool | None = None

    doubts: ClassVar[re.Pattern[bytes] | None] = None  # a text with any of this is examined
    goes_on_after_cuts: ClassVar = False  # after a reason for a cut, agents ask the model to continue
    only_data: ClassVar = False  # clients read data lines only, and fail for comments, names and event ids
    asked: ClassVar[Schema | Kinds]  # the published schema of frames

    def __init__(self, encoder: EncoderT, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        self.failed: str | None = None
        self.is_done = False
        self.template: FrameTemplate | None = None
        self._encoder = encoder
        self._live = LiveCalls(encoder, limits) if live else None
        self._most = most_of(limits.max_event_bytes)  # bytes that may wait
        self._calls: list[Executable] = []  # judged whole, and not written yet
        self._response_id: str | None = None
        self._executed: set[int] = set()  # choices whose calls are emitted
        self._losses = Losses(withheld, goes_on_after_cuts=self.goes_on_after_cuts)
        self._void: str | None = None  # why a shown call must not be executed
        self._n_waiting = 0
        self._open_track: Track | None = None  # of the call of the template, while that is read
        self._alike: list[
            bytes
        ] = []  # frames from the template, which wait after the last frame of the queue

    def passes(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Return whether a block passes unchanged, without a closer look; make its template, if similar ones may follow.

        Such a block shows text in a sound frame, and nothing waits before it.
        """
        payload = payload_once(block) if self.is_plain(block, events) else None
        if payload is None or not self.is_sound(payload):
            return False
        self.passed(payload)
        event = events[0]
        if len(events) == 1 and isinstance(event, (TextDelta, ReasoningDelta)):
            self.template = FrameTemplate(block, event.text, is_call=False, doubts=self.doubts)
        return True

    def receive(self, pieces: Iterable[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take the frames of any other block and the parser's events for them; return the bytes that may be sent now.

        Frames that no client can read are left out, and all others brought into the published schema.
        """
        if self.failed is not None:
            return b""
        fault = own_fault(events)
        shaped = map(self.shaped, filter(self.is_readable, pieces))
        readable = [piece for piece in shaped if piece is not None]
        return self.take(readable, events) if fault is None else self.fail(fault.kind, fault.detail)

    # Defined by subclasses.

    @abstractmethod
    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Return whether a block may pass unchanged if its frame is sound, without further effects."""

    @abstractmethod
    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take readable frames and the parser's events for them; return the bytes that may be sent now."""

    def is_readable(self, piece: Piece) -> bool:
        """Return whether clients can read a frame: all expect an object; an error of a server may be text."""
        return piece.payload is not None or piece.event == "error"

    def is_sound(self, payload: dict[str, Any]) -> bool:
        """Return whether a frame follows the published schema, whatever preceded it."""
        return conformed(payload, self.asked, is_first=True) is payload

    def passed(self, payload: dict[str, Any]) -> None:
        """Note a frame that passed unchanged."""

    def shaped(self, piece: Piece) -> Piece | None:
        """Return a frame in the published schema, None where a needed member cannot be made up.

        The content of an error is the server's own, and stays.
        """
        payload = piece.payload
        if payload is None or piece.is_error:
            return piece
        found = conformed(payload, self.asked)
        if found is payload or found is None:
            return piece if found is payload else None
        return piece.changed(found, plain=False)

    def shown(self, number: int | None) -> None:
        """Note that text was shown, up to the frame of this number, if frames have numbers."""

    def has_room(self, block: bytes) -> bool:
        """Return whether a frame from the template may wait."""
        return self._open_track is None or self._n_waiting + len(block) <= self._most

    def go_on(self, block: bytes, text: str, events: Sequence[Event[Any]]) -> bytes:
        """Take a frame from the template with a further piece of a call, as the previous frame was taken."""
        if self._open_track is not None:
            self._open_track.add(text)
            self._alike.append(block)
            self._n_waiting += len(block)
        return self._take_events(events) if self._live is not None else b""

    def _gather(self, queue: list[Piece]) -> None:
        """Put the frames from the template into the queue."""
        if self._alike:
            queue[-1] = queue[-1]._replace(more=tuple(self._alike))
            self._alike.clear()

    @abstractmethod
    def ping(self) -> bytes:
        """Return a frame that only shows that the server is alive; nothing where none is allowed."""

    @abstractmethod
    def leave(self) -> bytes:
        """Release the waiting frames; return those that neither belong to a call nor end the turn."""

    @property
    def held(self) -> int:
        """The number of bytes that wait for a verdict."""
        return self._n_waiting

    def fail(self, code: str, message: str) -> bytes:
        """End the stream: return the waiting bytes except calls, and the dialect's error frame."""
        if self.failed is not None:
            return b""
        self.failed, self.template = code, None
        return self.leave() + self._encoder.error(message, code)

    def _fail_empty_handed(self) -> bytes:
        """End a turn that claims success but whose calls were all withheld."""
        return self.fail(CALLS_WITHHELD, self._losses.sentence)

    def fail_incomplete(self) -> bytes:
        """End a stream whose turn did not end."""
        return self.fail(INCOMPLETE, "the stream ended before the turn did")

    def _forget_turn(self) -> None:
        self._executed.clear()
        self._losses.clear()

    def _take_events(self, events: Sequence[Event[Any]]) -> bytes:
        """Note the parser's verdicts; return the output for calls that are still arriving."""
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
        """Continue a shown call; a call that must not be executed ends the stream.

        Where the provider reports an error, clients raise for its own frame, which follows.
        """
        try:
            return live.go_on(event)
        except Void as void:
            self._void = str(void)
            return b"" if is_broken else self.fail(CALLS_WITHHELD, self._void)

    def _executes(self, call: Executable) -> None:
        """Note a call that is emitted."""
        self._executed.add(call.choice)


def _is_broken(events: Iterable[Event[Any]]) -> bool:
    """Return whether the provider reports an error."""
    return any(isinstance(event, StreamFault) and event.kind == "provider_error" for event in events)
