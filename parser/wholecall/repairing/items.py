"""Streams of items, Anthropic's blocks and the items of Responses: frames after a call wait for its verdict.

Theory of operation. Verdicts come early here: when the next block begins, when an item is done. From the first frame of
a call on, everything except pings, comments and speech waits in a queue, until each call that began in the queue has
its verdict, or the turn is over. Speech that a server sends between the frames of a call overtakes it, and the call
waits until all speech has ended: one item is over before the next begins. Then the queue is replayed if every naive
reader gets our calls from it; else its calls are encoded again at the place of the first of them. Later frames of a
call that already has its verdict are withheld.

Items are numbered, and so are events in Responses. While everything passes unchanged, the wire's numbers are kept.
After something was withheld or encoded again, the following items are numbered consecutively.
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Sequence
from enum import Enum
from typing import Any, ClassVar, TypeVar, Union

from wholecall.calls.output.call_events import BuiltinToolCall, ToolCallCancelled, ToolCallDropped
from wholecall.calls.output.events import Event, TurnStarted
from wholecall.limits import Limits
from wholecall.repairing.encoders.anthropic import AnthropicEncoder
from wholecall.repairing.encoders.base import Executable, argument_text
from wholecall.repairing.encoders.responses import ResponsesEncoder
from wholecall.repairing.pieces import Piece
from wholecall.repairing.rewriter import Rewriter, ends_turn
from wholecall.repairing.schema import EVENTS
from wholecall.repairing.strict import Track
from wholecall.repairing.templates import FrameTemplate, shows_text
from wholecall.repairing.withholding import CALLS_WITHHELD, Withheld

ItemEncoderT = TypeVar("ItemEncoderT", bound=Union[AnthropicEncoder, ResponsesEncoder])


def begins_with(*kinds: str) -> re.Pattern[bytes]:
    """Return the pattern of a frame of one of these types; inside a string, the quotes of a type would be escaped."""
    return re.compile(rb"event: (%b)\r?\n" % "|".join(map(re.escape, kinds)).encode() + rb'.*?"type":\s*"\1"')


class Role(Enum):
    """The role of a frame for calls that the client executes."""

    PASSES = "it is about something else"
    OPENS = "it begins a call"
    BELONGS = "it goes on with a call, or ends it"
    WHOLE = "it holds a call that no frame has begun"
    LIVES = "it is a sign of life, and does not wait"
    BEGINS = "it begins a message, and ends all open blocks and items"
    ENDS = "it ends the turn, with all open blocks and items"


def label_of(call: Executable) -> tuple[str, str, str]:
    """Return the label that a reader must get of a call: id, name and text; of a provider-defined tool the id only."""
    if isinstance(call, BuiltinToolCall):
        return call.id, "", ""
    return call.id, call.name, argument_text(call)


_OF_CALLS = frozenset({Role.OPENS, Role.BELONGS, Role.WHOLE})


class ItemRewriter(Rewriter[ItemEncoderT]):
    """The queue of a stream of items; a subclass knows the frames and the numbering of its dialect."""

    asked = EVENTS
    text_frames: ClassVar[re.Pattern[bytes]]  # frames of a piece of text, which begin and end nothing
    # Whether a result may follow a call in the stream: then the call was executed elsewhere.
    may_be_answered: ClassVar = False

    def __init__(
        self, encoder: ItemEncoderT, limits: Limits, *, live: bool, withheld: Withheld = "auto"
    ) -> None:
        super().__init__(encoder, limits, live=live, withheld=withheld)
        self._is_shifted = False  # the wire's numbers are no longer ours
        self._shown: list[bytes] = []  # of calls that are still arriving
        self._queue: list[Piece] | None = None
        self._is_loose = False  # the queue holds no calls: they are to be encoded again, before the rest
        self._n_open = 0  # calls that began in the queue
        self._n_judged = 0  # those of them that have their verdict, or are shown
        self._spoken: set[Any] = set()  # the wire's numbers of open items of speech
        self._revocable: set[str] = set()  # ids of calls that wait, or that were shown while they arrived
        self._answered: set[str] = set()  # ids of calls that were withheld because their results came

    # Defined by subclasses.

    @abstractmethod
    def _is_named(self, piece: Piece) -> bool:
        """Return whether the parser takes the name of a frame without a type for its type."""

    @abstractmethod
    def _role(self, piece: Piece) -> Role:
        """Return the role of a frame for calls; called once for each frame, in order."""

    @abstractmethod
    def _begin_tracks(self) -> None:
        """Begin to read calls as a naive reader does."""

    @abstractmethod
    def _track(self, piece: Piece) -> bool:
        """Take a call's frame; return False if readers could differ about it."""

    @abstractmethod
    def _heard(self, piece: Piece) -> tuple[object, Track | None] | None:
        """Return the text of a frame with a piece of a call, and the call as a naive reader has it so far."""

    @abstractmethod
    def _read(self) -> list[tuple[str, str, str]]:
        """Return the label of each call that a naive reader gets, in order; see `label_of`."""

    @abstractmethod
    def _passing(self, piece: Piece) -> bytes:
        """Return a frame as it is sent now, with its numbers and its reason corrected."""

    @abstractmethod
    def _is_speech(self, piece: Piece) -> bool:
        """Return whether a frame is about text or reasoning; note which items of these are open."""

    def _is_result(self, piece: Piece) -> bool:  # noqa: ARG002
        """Return whether a frame holds the result of a call."""
        return False

    @abstractmethod
    def _is_end(self, piece: Piece) -> bool:
        """Return whether a frame says that the turn is over, or why."""

    @property
    @abstractmethod
    def _has_ended(self) -> bool:
        """Return whether a message has ended, and no other began."""

    @property
    @abstractmethod
    def _is_running(self) -> bool:
        """Return whether a message began for the client, and has not ended."""

    def _reach(self, piece: Piece) -> None:
        """Note the stream's position in the wire's numbers."""

    # Frames.

    def _typed(self, piece: Piece) -> Piece:
        """Return a frame with its type added if only its name shows the type: some clients read only the payload."""
        payload = piece.payload
        if payload is None or isinstance(payload.get("type"), str) or payload.get("error") is not None:
            return piece
        return piece.named() if self._is_named(piece) or _is_foreign(piece) else piece

    def shaped(self, piece: Piece) -> Piece | None:
        """Return a frame in the published schema; if one is left out, the following numbers close the gap."""
        found = super().shaped(self._typed(piece))
        self._is_shifted = self._is_shifted or found is None
        return found

    def is_readable(self, piece: Piece) -> bool:
        """Return whether clients can read a frame: its object has a type, or its name is one; they stop at `[DONE]`."""
        if piece.is_done:
            return self._has_ended
        payload = piece.payload
        if payload is None or payload.get("error") is not None:
            return super().is_readable(piece)
        return isinstance(payload.get("type"), str) or self._is_named(piece) or _is_foreign(piece)

    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Return whether a block needs no examination: it shows text, and nothing waits or was renumbered."""
        return (
            self._queue is None
            and not self._is_shifted
            and shows_text(events)
            and self.text_frames.match(block) is not None
        )

    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take frames; calls, and the frames after them, are held until their verdicts."""
        out: list[bytes] = []
        ended = ends_turn(pieces, events)
        waits = self.may_be_answered and not ended and self._live is None
        role = Role.PASSES
        self._gather(self._queue or [])
        for piece in pieces:
            role = self._role(piece)
            if role is Role.BEGINS or self._is_end(piece):
                self._spoken.clear()
            if self._queue is None and not self._is_shifted:
                self._reach(piece)
            if role not in {Role.BELONGS, Role.WHOLE}:
                said, events = (events, ()) if role is not Role.BEGINS else _parted(events)
                is_over = ended or role in {Role.BEGINS, Role.ENDS}
                out.append(self._judge(said, force=is_over, waits=waits and self._is_of_group(piece, role)))
            if self.failed is None:
                out.append(self._sort(piece, role))
        if self.failed is None:
            out.append(self._judge(events, force=ended, waits=waits))
            if len(pieces) == 1 and role is Role.BELONGS:
                self.template = self._template_of(pieces[0])
        return b"".join(out)

    def _is_of_group(self, piece: Piece, role: Role) -> bool:
        """Return whether results of the waiting calls may still follow a frame: it belongs to calls or results.

        A group of calls that fills half of the queue's limit is not waited for any longer.
        """
        if role is Role.OPENS:
            return self._n_waiting * 2 <= self._most
        return role is Role.LIVES or self._is_result(piece)

    def go_on(self, block: bytes, text: str, events: Sequence[Event[Any]]) -> bytes:
        """Take a frame from the template with a further piece of a call."""
        if shown := super().go_on(block, text, events):
            self._shown.append(shown)
        return b"" if self._queue is not None else self._settle()

    def _template_of(self, piece: Piece) -> FrameTemplate | None:
        """Return the template of a frame that belongs to a call, if similar frames may follow."""
        heard = self._heard(piece) if piece.plain else None
        if heard is None or (self._queue is None and not self._is_shifted):
            return None
        text, track = heard
        is_read = self._queue is not None and not self._is_loose
        if is_read and track is None:
            return None
        self._open_track = track if is_read else None
        return FrameTemplate(piece.raw, text, is_call=True, number=self._number_of(piece))

    def _number_of(self, piece: Piece) -> int | None:  # noqa: ARG002
        """Return the number of an event, where the dialect has them."""
        return None

    def _sort(self, piece: Piece, role: Role) -> bytes:
        """Put a frame into the queue, or return its output if it may be sent now."""
        if role is Role.LIVES:
            return piece.raw
        is_speech = role is Role.PASSES and self._is_speech(piece)
        if self._queue is None:
            if role is Role.BELONGS:  # to a call that has its verdict
                self._is_shifted = True
                return b""
            if role not in {Role.OPENS, Role.WHOLE}:
                return self._passing(piece)
            self._open_queue()
        if is_speech:
            if not self._is_loose:
                self._loosen()  # the call comes after it now, under other numbers
            return self._passing(piece)
        return self._wait(piece, role)

    def _note_spoken(self, number: int | str | None, *, begins: bool) -> None:
        (self._spoken.add if begins else self._spoken.discard)(number)

    def _open_queue(self) -> None:
        self._queue = []
        self._is_loose = self._live is not None
        self._is_shifted = self._is_shifted or self._is_loose
        self._n_open = self._n_judged = self._n_waiting = 0
        self._begin_tracks()

    def _wait(self, piece: Piece, role: Role) -> bytes:
        assert self._queue is not None
        self._n_open += role in {Role.OPENS, Role.WHOLE}
        is_call = role in _OF_CALLS
        if is_call and not self._is_loose and not (piece.plain and self._track(piece)):
            self._loosen()
        if is_call and self._is_loose:
            return b""
        self._queue.append(piece._replace(is_call=is_call))
        self._n_waiting += len(piece.raw)
        if self._n_waiting > self._most:
            self._loosen()
        if self._n_waiting <= self._most:
            return b""
        return self.fail("event_too_large", "too much waits for a tool call")

    def _loosen(self) -> None:
        """Forget the frames of calls: their calls are encoded again."""
        self._gather(self._queue or [])
        self._open_track = None
        self._is_loose = self._is_shifted = True
        self._queue = [piece for piece in self._queue or () if not piece.is_call]
        self._n_waiting = sum(len(piece.raw) for piece in self._queue)

    def leave(self) -> bytes:
        """Release the waiting frames; return those that neither belong to a call nor end the turn."""
        self._loosen()
        queue, self._queue = self._queue or [], None
        self._calls.clear()
        return b"".join(self._passing(piece) for piece in queue if not self._is_end(piece))

    def ping(self) -> bytes:
        """Return the frame without content, while a message is running."""
        return self._encoder.ping() if self._is_running and self.failed is None else b""

    @property
    def held(self) -> int:
        """The number of bytes that wait for a verdict."""
        return self._n_waiting if self._queue is not None else 0

    # Verdicts.

    def _judge(self, events: Sequence[Event[Any]], *, force: bool, waits: bool = False) -> bytes:
        """Take the parser's verdicts; return the frames they release, unless these also wait for the next frame."""
        if not events and self._queue is None and not (self._calls or self._shown):
            return b""  # nothing waits, and no speech is open
        n_known = self._n_known
        if shown := self._take_events(events):
            self._shown.append(shown)
        self._n_judged += self._n_known - n_known
        for event in events:
            if isinstance(event, ToolCallDropped) and event.kind != "server":
                self._n_judged += 1
                if self._queue is not None:
                    self._loosen()
            elif isinstance(event, ToolCallCancelled):
                self._take_back(event.id)
        if waits and self._calls and self._queue is not None and self.failed is None:
            return b""
        is_early = self._n_judged < self._n_open or (bool(self._spoken) and self._live is None)
        if self._queue is not None and is_early and not force and self.failed is None:
            return b""
        return self._settle()

    def _executes(self, call: Executable) -> None:
        super()._executes(call)
        self._revocable.add(call.id)

    def _take_back(self, id: str) -> None:
        """Withhold a waiting call whose result came; a call that was shown ends the stream."""
        if id not in self._revocable or self.failed is not None:
            return
        if self._may_be_shown:
            self._void = "a call must not be executed: its result came after it was shown"
            self._shown.append(self.fail(CALLS_WITHHELD, self._void))
            return
        self._revocable.discard(id)
        self._answered.add(id)
        if not self._is_loose:
            self._loosen()

    @property
    def _n_known(self) -> int:
        """Return how many calls wait whole, or were begun to be shown."""
        return len(self._calls) + (self._live.n_begun if self._live is not None else 0)

    def _settle(self) -> bytes:
        """Return the waiting frames, with their calls."""
        if self._queue is None and not (self._calls or self._shown):
            return b""
        self._forget_answered()
        if (
            self._queue is not None
            and not self._is_loose
            and list(map(label_of, self._calls)) != self._read()
        ):
            self._loosen()
        queue, self._queue = self._queue, None
        encoded = b"".join(self._shown)
        self._shown.clear()
        if self.failed is not None:
            return encoded
        if queue is None or self._is_loose:
            encoded += b"".join(self._encoder.call(call) for call in self._calls)
        self._calls.clear()
        self._is_shifted = self._is_shifted or bool(encoded)
        return encoded + self._all_passing(queue or ())

    def _forget_answered(self) -> None:
        """Keep only the calls that are to be emitted, in their order."""
        kept = (call for call in self._calls if call.id in self._revocable)
        self._calls = sorted(kept, key=lambda call: call.index)
        if not self._may_be_shown:
            self._revocable.clear()

    @property
    def _may_be_shown(self) -> bool:
        """Return whether a call may have been shown whose result is still to come."""
        return self.may_be_answered and self._live is not None

    def _all_passing(self, queue: Sequence[Piece]) -> bytes:
        """Return frames as they are sent now, up to a frame that ends the stream by an error."""
        return b"".join(self._with_more(piece) for piece in queue if self.failed is None)

    def _with_more(self, piece: Piece) -> bytes:
        """Return a frame as it is sent now, and the further frames of its template."""
        out = self._passing(piece)
        if piece.more and out is piece.raw:
            self._pass_more(piece)
            return piece.whole
        return b"".join((out, *map(self._passing, piece.others())))

    def _pass_more(self, piece: Piece) -> None:
        """Note that the frames of a piece's template were sent after it."""


def _parted(events: Sequence[Event[Any]]) -> tuple[Sequence[Event[Any]], Sequence[Event[Any]]]:
    """Return the events of the previous messages, and those of the message that begins."""
    for at, event in enumerate(events):
        if isinstance(event, TurnStarted):
            return events[:at], events[at:]
    return events, ()


def _is_foreign(piece: Piece) -> bool:
    """Return whether a frame has a name, and an object with members: an unrelated event."""
    return bool(piece.payload) and piece.event is not None
