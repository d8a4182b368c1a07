"""Chat completions: calls wait for the end of their turn, and text overtakes them.

Theory of operation. A call has no end mark here, and late calls may follow a finish reason (a whole
`message.tool_calls` after it). Therefore frames with calls wait in a queue, together with the frames that finish
choices and all that show nothing, until the parser ends the turn. Text passes at once, whatever precedes it: some
servers say `"finish_reason": "stop"` in every chunk. A frame that shows text and holds calls, or finishes a choice, is
split; and one reason of each choice is kept, after all of its text. At the end of the turn the queue is replayed
unchanged if every naive reader gets our calls from it. Else it is *loosened*: the calls are cut out of its frames and
encoded again, where the first of them was or before the first reason. Reasons are corrected in either case.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Final

from wholecall.calls.output.call_events import BuiltinToolCall, CustomToolCall, ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, TurnFinished, TurnStarted
from wholecall.dialects.reasons import turn_reason
from wholecall.limits import Limits
from wholecall.repairing.chat import places, shapes
from wholecall.repairing.encoders.base import argument_text
from wholecall.repairing.encoders.chat import ChatEncoder
from wholecall.repairing.pieces import Piece
from wholecall.repairing.rewriter import Rewriter, ends_turn
from wholecall.repairing.schema import CHUNK, END_WORDS, stand_ins
from wholecall.repairing.strict import Track
from wholecall.repairing.templates import FrameTemplate, shows_text
from wholecall.repairing.withholding import Ends, Withheld

# A chunk without any of this holds no call, ends nothing and has its text where clients look for it.
_NOTABLE: Final = re.compile(
    rb'"(?:tool_calls"|toolCalls"|function_call"|message"|apiFormat"|response\.|delta"\s*:\s*null|content"\s*:\s*\[)'
    rb'|inish_?[rR]eason"\s*:\s*"|"role"\s*:\s*""'
)
_OPENINGS: Final = frozenset({TurnStarted})
_MEMBERS: Final = stand_ins(CHUNK)
_HEAD: Final = frozenset({"id", "model", "created"})  # frames of other shapes have none of these


class ChatRewriter(Rewriter[ChatEncoder]):
    """The rewriter of one chat stream."""

    doubts = _NOTABLE
    asked = CHUNK

    def __init__(self, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        super().__init__(ChatEncoder(), limits, live=live, withheld=withheld)
        self._is_shown = False  # something of the turn was sent
        self._headed: dict[int, tuple[Any, Any]] = {}  # id and model of the chunks of each choice
        self._members: dict[str, Any] = dict(_MEMBERS)  # required in each chunk
        self._is_odd = False  # frames lack members that clients expect
        self._begun = False  # something was sent that a `[DONE]` can end
        self._early: Piece | None = None  # a `[DONE]` before that
        self._queue: list[Piece] = []
        self._restart()

    def _restart(self) -> None:
        self._queue.clear()
        self._place: int | None = None  # the place in the queue for calls
        self._tracks = ChatTracks()
        self._is_loose = self._live is not None
        self._calls.clear()
        self._forget_turn()
        self._finished: set[int] = set()  # choices that the wire ended
        self._ends = Ends(self._losses, self._executed, END_WORDS["chat-completions"])
        self._n_waiting = 0  # bytes
        self._is_shown = False

    def is_plain(self, block: bytes, events: Sequence[Event[Any]]) -> bool:
        """Return whether a block needs no examination: it shows text and does nothing else."""
        return (
            self._begun
            and not self._is_odd
            and shows_text(events)
            and _NOTABLE.search(block) is None
            and (b'"role"' not in block or all(self._encoder.has_role(event.choice) for event in events))
        )

    def is_readable(self, piece: Piece) -> bool:
        """Return whether clients can read a frame: it is the `[DONE]`, or holds an object."""
        return piece.is_done or super().is_readable(piece)

    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take frames; calls and ends of the turn are held, everything else passes."""
        kinds = set(map(type, events))
        self._note_roles(pieces)
        out = [self._take_events(events)]
        if ToolCallDropped in kinds:
            self._loosen()  # the turn's own calls will not be emitted: its frames can be dropped
        has_done = any(piece.is_done for piece in pieces)
        self.is_done = self.is_done or has_done
        ends = has_done or ends_turn((), events)
        following: list[bytes] = []
        self._gather(self._queue)
        readable = self._readable(pieces, events)
        for piece in self._in_time(readable, events):
            if ends and not _is_held(piece):
                following.append(piece.raw)
            else:
                out.append(self._sort(piece))
        if ends and self.failed is None:
            out.append(self._settle(is_done=has_done))
        if ends and self.failed is None:
            out += following
        if len(readable) == 1 and not ends and self.failed is None and readable[0] is pieces[0]:
            self.template = self._template_of(readable[0])
        return b"".join(out)

    def _template_of(self, piece: Piece) -> FrameTemplate | None:
        """Return the template of a frame, if it is nothing but a further piece of a call."""
        payload = piece.payload or {}
        found = places.piece_in(payload) if piece.plain else None
        if found is None or not self._begun or places.has_content(places.rest_of(payload)):
            return None
        choice, index, text = found
        self._open_track = None if self._is_loose else self._tracks.track(choice, index)
        if self._open_track is None and not self._is_loose:
            return None
        return FrameTemplate(piece.raw, text, is_call=True)

    def ping(self) -> bytes:
        """Return a chunk without content, once the turn has begun for the client and until it ends."""
        return self._encoder.ping() if self._headed and self._is_shown else b""

    def _in_time(self, pieces: Iterable[Piece], events: Sequence[Event[Any]]) -> Iterator[Piece]:
        """Yield the frames; a `[DONE]` before any content is yielded only after all content.

        The parser continues to read after it, clients do not.
        """
        kinds = set(map(type, events))
        self._begun = self._begun or not kinds <= _OPENINGS
        for piece in pieces:
            self._begun = self._begun or bool(places.finishes(piece.payload or {}))
            if piece.is_done:
                self._early = None if self._begun else piece
            if self._early is not piece:
                yield piece
        if self._early is not None and TurnFinished in kinds:
            yield self._early
            self._early = None

    def _readable(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> Sequence[Piece]:
        """Return the frames in a form that clients can read; the provider's errors stay unchanged."""
        said = (
            shapes.said_in(events) if len(pieces) == 1 else {}
        )  # of several, the one with the text is unknown
        kept = []
        for piece in pieces:
            whole = shapes.shaped(piece, said, self._encoder.has_role)
            if whole is not None and whole is not piece:
                whole = self.shaped(whole)
            if whole is not None:
                kept.append(self._with_head(whole))
        edited = [piece for piece in kept if piece not in pieces]
        if edited:
            self._note_roles(edited)
            self._is_odd = True
        return kept

    def _with_head(self, piece: Piece) -> Piece:
        """Return a chunk with the required members next to its choices: as they were sent before, or empty."""
        payload = piece.payload
        if payload is None or not isinstance(payload.get("choices"), list) or payload.get("error"):
            return piece
        missing: dict[str, Any] = {}
        for name, known in self._members.items():
            given = payload.get(name)
            if given is None:
                missing[name] = known
            elif given is not known:
                self._members[name] = given
        if not missing:
            return piece
        for choice in places.choices_of(payload)[:1]:  # choices may have separate ids
            head = self._encoder.head_of(places.number_of(choice))
            missing = {name: head.get(name) or value for name, value in missing.items()}
        whole = {**missing, **payload, **missing}
        return piece.changed(whole)

    def _note_roles(self, pieces: Sequence[Piece]) -> None:
        """Note the choices whose role the wire sends."""
        for piece in pieces:
            for choice in places.choices_of(piece.payload or {}):
                if places.tells_role(choice):
                    self._encoder.tell_role(places.number_of(choice))

    def shaped(self, piece: Piece) -> Piece | None:
        """Return a frame in the published schema; a frame of another shape gets its choices first."""
        choices = (piece.payload or {}).get("choices")
        return super().shaped(piece) if isinstance(choices, (list, dict)) and choices != {} else piece

    # One frame.

    def _sort(self, piece: Piece) -> bytes:
        """Put a frame into the queue, or return its output if it may be sent now."""
        payload = piece.payload
        if payload is None or not ("choices" in payload or places.has_calls(payload)):
            return piece.raw
        self._take_head(payload)
        calls, ended = places.has_calls(payload), places.finishes(payload)
        if not places.shows_content(payload):
            return self._wait(piece, calls=calls, ended=ended)
        self._is_shown = True
        if not (calls or ended):
            return piece.raw
        held = places.only(payload, *places.CALL_FIELDS)
        parted = piece.changed(held)
        return piece.with_payload(places.shown_of(payload)) + self._wait(parted, calls=calls, ended=ended)

    def _take_head(self, payload: dict[str, Any]) -> None:
        """Note the members next to the choices: written frames have those of the previous frames."""
        labels = payload.get("id"), payload.get("model")
        numbers = [
            number
            for number in map(places.number_of, places.choices_of(payload))
            if self._headed.get(number) != labels
        ]
        if not numbers or _HEAD.isdisjoint(payload) or labels[0] == _MEMBERS["id"]:
            return  # nothing new, or a frame of another shape
        head = {name: value for name, value in payload.items() if name not in places.NO_HEAD}
        if not self._headed:
            self._encoder.set_head(head)
        for number in numbers if self._headed and head.get("id") else ():
            self._encoder.set_head(head, number)
        self._headed.update(dict.fromkeys(numbers, labels))

    def _wait(self, piece: Piece, *, calls: bool, ended: Iterable[int]) -> bytes:
        """Queue a frame that shows nothing; it passes if nothing waits before it and it does nothing."""
        if ended:
            piece = self._supersede(piece, ended)
            self._finished.update(ended)
            self._ends.note(places.endings_of(piece.payload or {}))
        if calls:
            self._tracks.see(piece)
        elif not ended and not self._queue and self._place is None:
            self._is_shown = True
            return piece.raw
        self._tracks.end(ended)
        if self._place is None:
            self._place = len(self._queue)
        self._queue.append(piece)
        self._n_waiting += len(piece.raw)
        if calls and not self._tracks.strict:
            self._is_loose = True
        if self._is_loose or self._n_waiting > self._most:
            self._loosen()
        if self._n_waiting <= self._most:
            return b""
        return self.fail("event_too_large", "too much waits for the end of the turn")

    def _supersede(self, piece: Piece, ended: Iterable[int]) -> Piece:
        """Take superseded reasons of choices out of the waiting frame; its counts move to the new frame.

        A choice has one such frame at most, mostly the last waiting one.
        """
        again = self._finished.intersection(ended)
        for at in reversed(range(len(self._queue) if again else 0)):
            old = self._queue[at]
            payload = old.payload or {}
            if again.isdisjoint(places.finishes(payload)):
                continue
            rest = places.unfinished(payload, again)
            again -= set(places.finishes(payload))
            usage = None if places.finishes(rest) else rest.pop("usage", None)
            if usage and not (piece.payload or {}).get("usage"):
                whole = {**(piece.payload or {}), "usage": usage}
                piece = piece.changed(whole)
            self._n_waiting -= len(old.whole)
            if places.has_content(rest):
                self._queue[at] = old.changed(rest)
                self._n_waiting += len(self._queue[at].whole)
            else:
                del self._queue[at]
                self._place = None if self._place is None else self._place - (at < self._place)
            if not again:
                break
        return piece

    def _loosen(self) -> None:
        """Cut the calls out of the waiting frames, and forget frames that hold nothing else."""
        self._gather(self._queue)
        place, queue = self._place, self._queue[:]
        self._is_loose = True
        self._open_track = None
        self._queue.clear()
        for piece in queue:
            kept = _without_calls(piece)
            if kept is None:
                continue
            is_head = places.has_calls(piece.payload or {}) and not places.finishes(kept.payload or {})
            if is_head and place is not None and place == len(self._queue):
                place += 1  # other content of such a frame, such as the role, comes before the calls
            self._queue.append(kept)
        self._place = place
        self._n_waiting = sum(len(piece.raw) for piece in self._queue)

    # The end of the turn.

    def _settle(self, *, is_done: bool) -> bytes:
        """Return all waiting frames, with the calls of the turn; or end the stream if all of these were withheld."""
        if self._ends.is_error():
            return self._fail_empty_handed()
        if is_done and not (self._finished or self._executed) and self._losses.is_cut():
            return self.fail_incomplete()
        self._calls.sort(key=lambda call: (call.choice, call.index))
        is_other = bool(self._calls) and self._is_legacy != self._tracks.legacy
        if not self._is_loose and (is_other or not self._is_read_by_all()):
            self._loosen()
        out = [self._with_reasons(piece) for piece in self._queue]
        if self._is_loose:
            place = self._place or 0
            out[place:place] = [self._written(call) for call in self._calls]
        missing = sorted(self._executed - self._finished)
        out += [self._encoder.finish(choice, self._call_reason()) for choice in missing]
        self._restart()
        return b"".join(out)

    def leave(self) -> bytes:
        """Release the waiting frames; return those that neither belong to a call nor end the turn."""
        self._loosen()
        kept = [_without_reasons(piece) for piece in self._queue]
        self._restart()
        return b"".join(piece.raw for piece in kept if piece is not None)

    def _is_read_by_all(self) -> bool:
        """Return whether the waiting frames contain exactly the emitted calls."""
        ours: dict[int, list[tuple[str, str, str]]] = {}
        for call in self._calls:
            if not isinstance(call, BuiltinToolCall):
                label = "" if self._tracks.legacy else call.id
                ours.setdefault(call.choice, []).append((label, call.name, argument_text(call)))
        return self._tracks.strict and ours == self._tracks.read()

    def _written(self, call: ToolCall[Any] | CustomToolCall | BuiltinToolCall) -> bytes:
        if self._is_legacy and isinstance(call, ToolCall):
            return self._encoder.legacy_call(call)
        return self._encoder.call(call)

    def _with_reasons(self, piece: Piece) -> bytes:
        """Return a frame with the final reasons of its choices, and without messages that would replace calls."""
        payload = places.without_messages(piece.payload or {}, self._executed)
        choices = [{**choice, **self._reason(choice)} for choice in places.choices_of(payload)]
        if not choices or choices == (piece.payload or {})["choices"]:
            return piece.whole
        return piece.with_payload({**payload, "choices": choices})

    def _reason(self, choice: dict[str, Any]) -> dict[str, str]:
        if turn_reason(choice.get("finish_reason")) is None:
            return {}
        reason, word = self._ends.reason(places.number_of(choice))
        return {"finish_reason": self._call_reason() if reason == "tool_calls" else word}

    def _call_reason(self) -> str:
        return places.LEGACY if self._is_legacy else "tool_calls"

    @property
    def _is_legacy(self) -> bool:
        """Return whether calls are sent as `function_call`, one per choice: as on the wire, or as requested."""
        if self.legacy is None:
            return self._tracks.legacy
        each = Counter(call.choice for call in self._calls)
        return self.legacy and all(n == 1 for n in each.values())


def _without_reasons(piece: Piece) -> Piece | None:
    """Return a frame that ends nothing, None where it holds nothing else."""
    payload = piece.payload or {}
    if not places.finishes(payload):
        return piece if places.has_content(payload) else None
    rest = places.unfinished(payload)
    return piece.changed(rest) if places.has_content(rest) else None


def _is_held(piece: Piece) -> bool:
    payload = piece.payload or {}
    return places.has_calls(payload) or bool(places.finishes(payload))


def _without_calls(piece: Piece) -> Piece | None:
    """Return a frame without its calls, None where it holds nothing else."""
    payload = piece.payload or {}
    if not places.has_calls(payload):
        return piece
    rest = places.rest_of(payload)
    return piece.changed(rest) if places.has_content(rest) else None


# A naive reader's view.


class ChatTracks:
    """A naive reader's view of the fragments of a turn, as long as all readers agree.

    Attributes:
        strict: whether every accumulator that goes by index reads the same calls so far.
    """

    def __init__(self) -> None:
        self.strict = True
        self._fields: set[str] = set()  # fields that held calls
        self._calls: dict[int, list[Track]] = {}  # by choice
        self._ended: set[int] = set()

    def see(self, piece: Piece) -> None:
        """Take a frame with calls."""
        choices = places.choices_of(piece.payload or {})
        for choice in choices:
            self._fields.update(
                field for view in places.views(choice) for field in places.CALL_FIELDS if view.get(field)
            )
        self.strict = self.strict and piece.plain and bool(choices) and all(map(self._choice, choices))

    def end(self, choices: Iterable[int]) -> None:
        """Note that choices ended: a later call comes too late for many loops."""
        self._ended.update(choices)

    @property
    def legacy(self) -> bool:
        """Return whether the calls came as `function_call`, and in no other form."""
        return self._fields == {places.LEGACY}

    def read(self) -> dict[int, list[tuple[str, str, str]]]:
        """Return id, name and text of the calls, by choice."""
        return {
            choice: [(track.id, track.name, track.text) for track in tracks]
            for choice, tracks in self._calls.items()
            if tracks
        }

    def track(self, choice: int, index: int) -> Track | None:
        """Return a call, as long as all readers agree."""
        tracks = self._calls.get(choice, ())
        return tracks[index] if self.strict and 0 <= index < len(tracks) else None

    def _choice(self, choice: Mapping[str, Any]) -> bool:
        delta, number = choice.get("delta"), choice.get("index")
        message = choice.get("message")
        if (
            type(number) is not int
            or number in self._ended
            or (isinstance(message, dict) and places.holds_calls(message))
        ):
            return False
        if not isinstance(delta, dict) or delta.get("toolCalls"):
            return False
        tracks = self._calls.setdefault(number, [])
        listed, legacy = delta.get("tool_calls"), delta.get("function_call")
        if legacy:
            return self.legacy and isinstance(legacy, dict) and _legacy(tracks, legacy)
        if not isinstance(listed, list):
            return not listed
        indices = {
            index for call in listed if isinstance(call, dict) and type(index := call.get("index")) is int
        }
        return len(indices) == len(listed) and all(_fragment(tracks, call) for call in listed)


def _fragment(tracks: list[Track], call: Any) -> bool:
    """Take a fragment; return False if readers could differ about it."""
    index = call.get("index") if isinstance(call, dict) else None
    if type(index) is not int or not 0 <= index <= len(tracks):
        return False
    kind = call.get("type")
    if index == len(tracks):
        if kind not in ("function", "custom"):
            return False
        tracks.append(Track(kind, "input" if kind == "custom" else "arguments"))
        body = call.get(kind)
        return isinstance(body, dict) and tracks[index].begin(call.get("id") or "", body)
    track = tracks[index]
    body = call.get(track.kind)
    return (
        index == len(tracks) - 1  # some clients take a call for over when the next one begins
        and call.get("id") is None
        and ("type" not in call or kind == track.kind)
        and isinstance(body, dict)
        and track.go_on(body)
    )


def _legacy(tracks: list[Track], body: Mapping[str, Any]) -> bool:
    if not tracks:
        tracks.append(Track(places.LEGACY, "arguments"))
        return tracks[0].begin(None, body)
    return tracks[0].go_on(body)
