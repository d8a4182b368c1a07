"""Gemini: whole calls pass with their verdict, and the ends of candidates wait for the end of the stream.

Theory of operation. Every frame is a response, a call is one of its parts, and clients read no call in pieces. A frame
with calls waits until the parser has judged all of them, mostly at once; its other content does not wait. It passes
unchanged if a client reads exactly our calls from the waiting frames. Else the turn is *loose*: calls are cut out of
its frames, and each is written when it is judged. Therefore values at paths (`partialArgs`), calls in snake_case and
calls without `args` become parts that clients read.

Clients read data lines only, and some fail for any other: comments, names and ids of events are left out.

The stream has no end mark: the last frame has a reason for each candidate, and perhaps text. Therefore a frame with a
reason waits until the stream ends, text included; if more follows for its candidate, it is sent without the reason.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, TurnFinished, TurnStarted
from wholecall.limits import Limits
from wholecall.repairing import schema, templates
from wholecall.repairing.encoders.gemini import GeminiEncoder
from wholecall.repairing.gemini import places
from wholecall.repairing.pieces import Piece
from wholecall.repairing.rewriter import Rewriter, ends_turn
from wholecall.repairing.withholding import Ends, Withheld

# A response without any of this holds no call, ends nothing and is spelt as clients read it.
_NOTABLE: Final = re.compile(
    rb'"(?:functionCall"|finish_?Reason"|error"|candidates"\s*:\s*\{|parts"\s*:\s*\{|[a-z]+(?:_[a-z]+)+"\s*:)'
)
_BARE: Final = re.compile(rb"data:[^\r\n]*(?:\r\n|\r|\n){2}")  # an event that is one data line only
_MOST_TOLD: Final = 64  # calls that are compared with ours at each frame; with more, calls are rewritten


class GeminiRewriter(Rewriter[GeminiEncoder]):
    """The rewriter of one stream of responses."""

    doubts = _NOTABLE
    only_data = True

    def __init__(self, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        del live  # no client reads a call before it is whole
        super().__init__(GeminiEncoder(with_minted=False), limits, live=False, withheld=withheld)
        self._queue: list[Piece] = []  # frames with calls that are not judged yet
        self._told: list[places.Label] = []  # the labels that clients read in these
        self._is_loose = False  # calls are written, not left in place
        self._begin_ends()

    def _begin_ends(self) -> None:
        # Frames that end candidates, and later frames without content; in order of arrival.
        self._ends: dict[int, Piece] = {}
        self._ended: dict[int, int] = {}  # candidates that these end, each with the key of its frame
        self._n_ends = 0
        self._why = Ends(self._losses, self._executed, schema.END_WORDS["gemini"])

    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Return whether a block needs no examination: it shows text, and nothing waits."""
        return (
            not (self._queue or self._ends)
            and templates.shows_text(events)
            and len({event.choice for event in events}) == 1  # of several, clients take the first
            and _NOTABLE.search(block) is None
            and _BARE.fullmatch(block) is not None
        )

    def is_sound(self, payload: dict[str, Any]) -> bool:
        """Return whether a frame is as the published schema asks."""
        response = places.response_of(payload)
        return response is not None and schema.conformed(response, schema.GEMINI) is response

    def shaped(self, piece: Piece) -> Piece | None:
        """Return the frame as a data line; its content is shaped after its spelling is corrected."""
        if piece.payload is None or _BARE.fullmatch(piece.raw) is not None:
            return piece
        return piece._replace(event=None).changed(piece.payload, plain=False)

    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take frames; calls wait for their verdict, and ends of candidates for the end of the turn."""
        at = _next_turn(events)
        out = [self._end_of_turn(events[:at])] if at else []
        self._note(events[at:])
        out += [self._sort(piece) for piece in pieces if self.failed is None]
        if self.failed is None:
            out.append(self._release())
            out.append(self._settle() if ends_turn((), events[at:]) else b"")
        return b"".join(out)

    def _note(self, events: Sequence[Event[Any]]) -> None:
        self._take_events(events)
        if any(isinstance(event, ToolCallDropped) and event.kind != "server" for event in events):
            self._is_loose = True

    def _end_of_turn(self, events: Sequence[Event[Any]]) -> bytes:
        """End a turn that is followed by another one."""
        self._note(events)
        return self._release() + self._settle()

    def ping(self) -> bytes:
        """Return nothing: no response is without content."""
        return b""

    # One frame.

    def _sort(self, piece: Piece) -> bytes:
        """Let a frame wait, or return its output if it may be sent now."""
        response = None if piece.payload is None else places.response_of(piece.payload)
        if response is None:
            return self._other(piece)
        if not response:
            return b""
        known = schema.conformed(places.shaped(response), schema.GEMINI) or {}
        if known != response:
            piece, response = _replaced(piece, known), known
        self._take_head(response)
        calls = places.has_calls(response)
        ended = {number for number, _, _ in places.endings_of(response)}
        out = self._unend(places.numbers_with(response) | ended)
        if calls:
            told = places.told_in(response)
            self._told += told
            self._is_loose = self._is_loose or places.ODD in told or len(self._told) > _MOST_TOLD
            self._queue.append(piece)
            return out + self._kept(piece)
        if ended or (self._ends and not places.shows_content(response)):
            return out + self._wait_for_end(piece)
        return out + piece.raw

    def _other(self, piece: Piece) -> bytes:
        """Take a frame that is not a response: an error is sent after the waiting content, others in their place."""
        if piece.payload is not None:
            return self.leave() + piece.raw
        return self._wait_for_end(piece) if self._ends else piece.raw

    def _take_head(self, response: dict[str, Any]) -> None:
        if head := places.head_of(response):
            self._encoder.set_head(head)

    def _kept(self, piece: Piece) -> bytes:
        """Count a waiting frame; fail if too much waits."""
        self._n_waiting += len(piece.raw)
        if self._n_waiting <= self._most:
            return b""
        return self.fail("event_too_large", "too much waits for the end of the turn")

    def _wait_for_end(self, piece: Piece) -> bytes:
        """Let a frame wait for the end; of those without content only the last is kept."""
        self._n_ends += 1
        ended = self._why.note(places.endings_of(_response(piece)))
        self._ended.update(dict.fromkeys(ended, self._n_ends))
        if not ended and self._ends and _says_nothing(self._ends[last := next(reversed(self._ends))]):
            self._n_waiting -= len(self._ends.pop(last).raw)
        self._ends[self._n_ends] = piece
        return self._kept(piece)

    def _unend(self, numbers: set[int]) -> bytes:
        """Return the frames that ended candidates which continue, without ends: these are written last."""
        out = b""
        for at in {self._ended[number] for number in numbers & self._ended.keys()}:
            piece = self._ends.pop(at)
            self._n_waiting -= len(piece.raw)
            response = _response(piece)
            ended = {number for number, _, _ in places.endings_of(response)}
            for number in ended:
                self._ended.pop(number, None)
            rest = places.without(response, ends=ended)
            out += _replaced(piece, rest).raw if places.shows_content(rest) else b""
        return out + (self._let_quiet_go() if out or numbers else b"")

    def _let_quiet_go(self) -> bytes:
        """Return the frames that end nothing, and before which nothing waits any more."""
        out = b""
        while self._ends and _says_nothing(piece := self._ends[first := next(iter(self._ends))]):
            del self._ends[first]
            self._n_waiting -= len(piece.raw)
            out += piece.raw
        return out

    # Calls.

    def _release(self) -> bytes:
        """Return the frames with judged calls, unchanged or with their calls rewritten; else their other content."""
        if not (self._queue or self._calls):
            return b""
        self._calls.sort(key=lambda call: (call.choice, call.index))
        ours = [places.label_of(call) for call in self._calls if isinstance(call, ToolCall)]
        if not self._is_loose and self._told == ours:
            return self._let_go()
        left = iter(self._told)
        self._is_loose = self._is_loose or not all(label in left for label in ours)
        if self._is_loose:
            return self._let_go(loose=True) + self._write()
        return self._part()

    def _let_go(self, *, loose: bool = False) -> bytes:
        """Return the frames that wait for verdicts; those that end a candidate wait longer."""
        queue, self._queue = self._queue, []
        self._told.clear()
        if not loose:
            self._calls.clear()
        self._n_waiting -= sum(len(piece.raw) for piece in queue)
        out = b""
        for piece in queue:
            kept = _without_calls(piece) if loose else piece
            if kept is None:
                continue
            out += self._wait_for_end(kept) if places.endings_of(_response(kept)) else kept.raw
        return out

    def _write(self) -> bytes:
        calls, self._calls = self._calls, []
        return b"".join(map(self._encoder.call, calls))

    def _part(self) -> bytes:
        """Return the other content of the last frame, whose calls wait alone; nothing if it ends a candidate."""
        piece = self._queue[-1]
        response = _response(piece)
        if places.endings_of(response) or not places.shows_content(response):
            return b""
        self._queue[-1] = _replaced(piece, places.without(response, content=True))
        self._n_waiting += len(self._queue[-1].raw) - len(piece.raw)
        return _replaced(piece, places.without(response, calls=True)).raw

    # The end of the turn.

    def _settle(self) -> bytes:
        """Return all waiting frames; or end the stream if all calls of a turn that claims success were withheld."""
        if self._queue:
            self._is_loose = True
        out = self._release()
        if self._why.is_error():
            return out + self._fail_empty_handed()
        out += b"".join(map(self._with_reasons, self._ends.values()))
        over = sorted(self._why.words.keys() - self._ended.keys())  # those that continued after their reason
        out += b"".join(self._encoder.finish(number, self._why.reason(number)[1]) for number in over)
        self._forget_turn()
        self._begin_ends()
        self._n_waiting, self._is_loose = 0, False
        return out

    def _with_reasons(self, piece: Piece) -> bytes:
        """Return a frame with the reasons for which its candidates ended."""
        if piece.payload is None:
            return piece.raw
        response = _response(piece)
        known = places.with_reasons(response, self._why)
        return piece.raw if known == response else _replaced(piece, known).raw

    def leave(self) -> bytes:
        """Release the waiting frames; return those that neither belong to a call nor end the turn."""
        self._is_loose = True
        waiting = [*self._queue, *self._ends.values()]
        self._queue, self._calls, self._n_waiting = [], [], 0
        self._told.clear()
        self._begin_ends()
        out = b""
        for piece in waiting:
            response = _response(piece)
            ended = [number for number, _, _ in places.endings_of(response)]
            rest = places.without(response, calls=True, ends=ended)
            out += _replaced(piece, rest).raw if places.shows_content(rest) else b""
        return out


def _next_turn(events: Sequence[Event[Any]]) -> int:
    """Return where a turn begins after another one has ended; 0 if none does."""
    over = False
    for at, event in enumerate(events):
        if over and isinstance(event, TurnStarted):
            return at
        over = over or isinstance(event, TurnFinished)
    return 0


def _response(piece: Piece) -> dict[str, Any]:
    """Return the response in a frame, an empty one if it holds none."""
    return places.response_of(piece.payload or {}) or {}


def _says_nothing(piece: Piece) -> bool:
    return piece.payload is not None and not places.candidates_of(_response(piece))


def _replaced(piece: Piece, response: dict[str, Any]) -> Piece:
    return piece.changed(places.with_response(piece.payload or {}, response))


def _without_calls(piece: Piece) -> Piece | None:
    """Return a frame without its calls, None if it then neither shows nor ends anything."""
    rest = places.without(_response(piece), calls=True)
    if not (places.shows_content(rest) or places.endings_of(rest)):
        return None
    return _replaced(piece, rest)
