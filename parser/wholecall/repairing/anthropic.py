"""Anthropic Messages: the rewriter of its blocks, its leaks, and its whole bodies.

Theory of operation. A block of type `tool_use` is a call that the client executes; blocks of server tools pass.
`message_delta` waits until the calls before it have been written, because it decides about the last of them; its reason
is corrected if necessary.

Clients keep the blocks of a message in a list: each start appends to it, and numbers are places in it. Therefore every
block, call or not, gets as its number the count of starts before it. A repeated start is withheld, and so is any frame
that belongs to no block; text without a start gets one. If a message begins before the previous one has ended, clients
take both for one message: therefore its start is withheld, and its numbers continue. A stream that begins in the middle
gets a start. Clients only read events whose name is their type, so every frame gets that name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Final

from wholecall.calls.output.call_events import ToolCall
from wholecall.calls.output.events import Event
from wholecall.dialects.reasons import turn_reason
from wholecall.limits import Limits
from wholecall.repairing.encoders.anthropic import TEXT, THINKING, AnthropicEncoder, error_of
from wholecall.repairing.encoders.base import Executable, server_sent
from wholecall.repairing.items import ItemRewriter, Role, begins_with
from wholecall.repairing.pieces import Piece
from wholecall.repairing.schema import BODIES, END_WORDS
from wholecall.repairing.strict import Track
from wholecall.repairing.wire import Body, Leaked, LeakWire, placed
from wholecall.repairing.withholding import Losses, Withheld
from wholecall.types import TurnReason

_ENDS: Final = {"message_start": Role.BEGINS, "message_stop": Role.ENDS}
_CALL: Final = "tool_use"
_SPOKEN: Final = frozenset({"text", "thinking", "redacted_thinking"})
_PLACEHOLDERS: Final[tuple[Any, ...]] = ({}, None)
# The missing start, for deltas without one.
_STARTS: Final[dict[Any, dict[str, Any]]] = {"text_delta": TEXT, "thinking_delta": THINKING}
_DELTAS: Final = {"text": "text_delta", "thinking": "thinking_delta"}  # by the member with the text
_KINDS: Final = frozenset(_DELTAS.values())
_INSIDE: Final = frozenset(
    {"content_block_start", "content_block_delta", "content_block_stop", "message_delta"}
)


class AnthropicRewriter(ItemRewriter[AnthropicEncoder]):
    """The rewriter of one Messages stream."""

    goes_on_after_cuts = True
    text_frames = begins_with("content_block_delta")

    def __init__(self, limits: Limits, *, live: bool, withheld: Withheld = "auto") -> None:
        super().__init__(AnthropicEncoder(), limits, live=live, withheld=withheld)
        self._blocks: dict[Any, str] = {}  # by the wire's number: the type of the block that has it
        self._starts: dict[Any, Any] = {}  # the blocks of their starts
        self._numbers: dict[Any, int] = {}  # and ours, while it is open
        self._has_begun = False  # a message
        self._is_over = False
        self._has_reason = False
        self._begin_tracks()

    def is_sound(self, payload: dict[str, Any]) -> bool:
        """Return whether a frame follows the published schema, and belongs to a block open under its own number."""
        return super().is_sound(payload) and payload.get("index") in self._numbers

    def take(self, pieces: Sequence[Piece], events: Sequence[Event[Any]]) -> bytes:
        """Take frames; the first frame of a message that never began has a start before it."""
        pieces = list(map(self._typed, pieces))
        start = b""
        if not self._has_begun and any(piece.kind in _INSIDE for piece in pieces):
            self._has_begun = True
            start = self._encoder.start()
        return start + super().take(pieces, events)

    def _is_named(self, piece: Piece) -> bool:
        return piece.event in self._edits

    def _is_speech(self, piece: Piece) -> bool:
        index = _hashable((piece.payload or {}).get("index"))
        if not piece.kind.startswith("content_block_") or self._blocks.get(index) not in _SPOKEN:
            return False
        if not piece.kind.endswith("_delta"):
            self._note_spoken(index, begins=piece.kind.endswith("_start"))
        return True

    def _is_end(self, piece: Piece) -> bool:
        return piece.kind in {"message_delta", "message_stop"}

    @property
    def _has_ended(self) -> bool:
        return self._is_over

    @property
    def _is_running(self) -> bool:
        return self._has_begun and not self._is_over

    def _role(self, piece: Piece) -> Role:
        payload = piece.payload or {}
        kind, index = piece.kind, _hashable(payload.get("index"))
        if kind == "ping":
            return Role.LIVES
        if kind in _ENDS:
            self._blocks.clear()
            return _ENDS[kind]
        if kind == "content_block_start":
            block = payload.get("content_block")
            self._blocks[index] = str(block.get("type")) if isinstance(block, dict) else ""
            return Role.OPENS if self._blocks[index] == _CALL else Role.PASSES
        if kind == "content_block_delta" and index not in self._blocks:
            delta = payload.get("delta")
            if isinstance(delta, dict) and delta.get("type") == "input_json_delta":
                self._blocks[index] = _CALL  # its start is missing
                return Role.OPENS
        is_block = kind in {"content_block_delta", "content_block_stop"}
        return Role.BELONGS if is_block and self._blocks.get(index) == _CALL else Role.PASSES

    # A naive reader's view.

    def _begin_tracks(self) -> None:
        self._tracks: dict[Any, Track] = {}
        self._stopped: set[Any] = set()

    def _track(self, piece: Piece) -> bool:
        payload = piece.payload or {}
        kind, index = piece.kind, _hashable(payload.get("index"))
        if piece.event != kind or type(index) is not int or index in self._stopped:
            return False
        if kind == "content_block_start":
            expected = self._encoder.next_index + len(self._tracks)
            block = payload["content_block"]
            if index in self._tracks or index != expected or block.get("input") not in _PLACEHOLDERS:
                return False
            if self._stopped != self._tracks.keys():
                return False  # the previous one is still open: some clients read one block at a time
            track = self._tracks[index] = Track(_CALL, "text")
            return track.begin(block.get("id") or "", {"name": block.get("name"), "text": ""})
        if index not in self._tracks:
            return False
        if kind == "content_block_stop":
            self._stopped.add(index)
            return True
        delta = payload.get("delta")
        return isinstance(delta, dict) and self._tracks[index].add(delta.get("partial_json"))

    def _heard(self, piece: Piece) -> tuple[object, Track | None] | None:
        payload = piece.payload or {}
        delta = payload.get("delta")
        if piece.kind != "content_block_delta" or not isinstance(delta, dict):
            return None
        return delta.get("partial_json"), self._tracks.get(_hashable(payload.get("index")))

    def _read(self) -> list[tuple[str, str, str]]:
        if self._stopped != self._tracks.keys():
            return [("", "", "")]  # a call without an end
        # Without any text the placeholder at the start counts: that is how the API itself sends no arguments.
        return [(track.id, track.name, track.text or "{}") for track in self._tracks.values()]

    # The output.

    def _passing(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        kind = piece.kind
        edit = self._edits.get(kind)
        if piece.event != kind and (edit is not None or kind == "error"):
            piece = piece._replace(event=kind).changed(payload)
        return piece.raw if edit is None else edit(self, piece)

    def _message_started(self, piece: Piece) -> bytes:
        """Begin or continue a message; whole calls in it are written as blocks instead."""
        payload = piece.payload or {}
        message = payload.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        blocks: list[Any] = content if isinstance(content, list) else []
        kept = [block for block in blocks if not (isinstance(block, dict) and block.get("type") == _CALL)]
        is_first, goes_on = not self._has_begun, self._has_begun and not self._is_over
        self._numbers.clear()
        self._starts.clear()
        self._has_begun, self._is_over = True, False
        if not goes_on:
            self._forget_turn()
            self._has_reason = False
        if is_first:
            self._encoder.next_index = len(kept)
            return self._with_content(piece, kept)
        start = b"" if goes_on else self._with_content(piece, [])
        return start + b"".join(map(self._encoder.whole, kept))

    def _with_content(self, piece: Piece, blocks: list[Any]) -> bytes:
        payload = piece.payload or {}
        message = payload.get("message")
        content = message.get("content") if isinstance(message, dict) else None
        if not content or (isinstance(content, list) and len(content) == len(blocks)):
            return piece.raw
        assert isinstance(message, dict)
        return piece.with_payload({**payload, "message": {**message, "content": blocks}})

    def _block_started(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        index, block = _hashable(payload.get("index")), payload.get("content_block")
        if index in self._starts and self._starts[index] == block:
            return b""  # the start of a message that it may begin follows later
        self._starts[index] = block
        self._numbers[index] = self._encoder.next_index
        self._encoder.next_index += 1
        return self._numbered(piece)

    def _block_delta(self, piece: Piece) -> bytes:
        payload = piece.payload or {}
        index, delta = _hashable(payload.get("index")), payload.get("delta")
        if index in self._numbers:
            return self._numbered(piece)
        start = _STARTS.get(_hashable(delta.get("type"))) if isinstance(delta, dict) else None
        if start is None:
            return b""
        self._numbers[index] = self._encoder.next_index
        return self._encoder.open(start) + self._numbered(piece)

    def _block_stopped(self, piece: Piece) -> bytes:
        index = _hashable((piece.payload or {}).get("index"))
        if index not in self._numbers:
            return b""
        numbered = self._numbered(piece)
        del self._numbers[index]
        return numbered

    def _numbered(self, piece: Piece) -> bytes:
        """Return a frame with our number of its block."""
        payload = piece.payload or {}
        index = payload.get("index")
        number = self._numbers[_hashable(index)]
        if type(index) is int and index == number:
            return piece.raw
        self._is_shifted = True
        return piece.with_payload({**payload, "index": number})

    def _with_reason(self, piece: Piece) -> bytes:
        """Return the reason, corrected for the emitted calls; a cut and any other reason stay."""
        payload = piece.payload or {}
        delta = payload.get("delta")
        if not isinstance(delta, dict) or delta.get("stop_reason") is None:
            return piece.raw
        if (known := turn_reason(delta["stop_reason"])) is None:  # such as `""`
            return piece.with_payload({**payload, "delta": {**delta, "stop_reason": None}})
        self._has_reason = True
        executed = bool(self._executed)
        if self._losses.is_error(known[0], executed=executed):
            return self._fail_empty_handed()
        reason = self._losses.reason(known[0], executed=executed)
        word = END_WORDS["anthropic"].fitting(known[1], known[0], reason)
        if word == known[1]:
            return piece.raw
        return piece.with_payload({**payload, "delta": {**delta, "stop_reason": word}})

    def _message_stopped(self, piece: Piece) -> bytes:
        self._is_over = True
        if self._has_reason:
            return piece.raw
        if self._losses.is_error("stop", executed=bool(self._executed)):
            return self._fail_empty_handed()
        return (self._encoder.finish("tool_use") if self._executed else b"") + piece.raw

    # Handlers of each event: functions, because bound methods would hold us in a cycle.
    _edits: ClassVar[dict[Any, Callable[[Any, Piece], bytes]]] = {
        "message_start": _message_started,
        "content_block_start": _block_started,
        "content_block_delta": _block_delta,
        "content_block_stop": _block_stopped,
        "message_delta": _with_reason,
        "message_stop": _message_stopped,
    }


def _hashable(index: object) -> Any:
    return index if isinstance(index, (int, str)) else None


# Leaks.


class AnthropicLeaks(LeakWire):
    """Content blocks; text goes to the block of its kind that began last."""

    def __init__(self, most: int) -> None:
        super().__init__(most)
        self._blocks: dict[str, int] = {}  # by their kind
        self._next = 0

    def see(self, piece: Piece) -> bool:
        """Take note of the numbers of blocks."""
        payload = piece.payload or {}
        index, block = payload.get("index"), payload.get("content_block")
        if type(index) is int:
            self._next = max(self._next, index + 1)
            if piece.kind == "content_block_start" and isinstance(block, dict):
                self._blocks[str(block.get("type"))] = index
        return True

    def ends(self, piece: Piece) -> bool:
        """Return whether a frame ends the message."""
        return piece.kind in ("message_delta", "message_stop")

    def stripped(self, piece: Piece) -> bytes | None:
        """Return nothing for a piece of text, and the start of a block without its text."""
        payload = piece.payload or {}
        delta, block = payload.get("delta"), payload.get("content_block")
        if piece.kind == "content_block_delta" and isinstance(delta, dict) and delta.get("type") in _KINDS:
            return b""
        if piece.kind == "content_block_start" and isinstance(block, dict) and block.get("text"):
            return piece.with_payload({**payload, "content_block": {**block, "text": ""}})
        return None

    def said(self, choice: int, text: str, *, reasoning: bool) -> bytes:  # noqa: ARG002 - there is one
        """Return a piece of text in the last block of its kind."""
        kind = "thinking" if reasoning else "text"
        if kind not in self._blocks:  # a delta without a start gets one from the rewriter
            self._blocks[kind], self._next = self._next, self._next + 1
        delta = {"type": _DELTAS[kind], kind: text}
        return _event("content_block_delta", index=self._blocks[kind], delta=delta)

    def call(self, choice: int, id: str, name: str, arguments: str) -> list[bytes]:  # noqa: ARG002 - as above
        """Return the frames of a call's block."""
        index, self._next = self._next, self._next + 1
        block = {"type": _CALL, "id": id, "name": name, "input": {}}
        delta = {"type": "input_json_delta", "partial_json": arguments}
        return [
            _event("content_block_start", index=index, content_block=block),
            _event("content_block_delta", index=index, delta=delta),
            _event("content_block_stop", index=index),
        ]


def _event(kind: str, **members: Any) -> bytes:
    return server_sent({"type": kind, **members}, kind)


# Whole bodies.


def _claims(payload: dict[str, Any]) -> list[TurnReason]:
    known = turn_reason(payload.get("stop_reason"))
    return [] if known is None else [known[0]]


def _rewritten(payload: dict[str, Any], calls: Sequence[Executable], losses: Losses) -> dict[str, Any]:
    content = payload.get("content")
    if not isinstance(content, list):
        return payload
    told = [_block_label(block) for block in content if _is_call_block(block)]
    ours = [call for call in calls if isinstance(call, ToolCall)]
    edited = dict(payload)
    if told != [(call.id, call.name, call.arguments) for call in ours]:
        edited["content"] = placed(content, _is_call_block, list(map(_call_block, ours)))
    known = turn_reason(payload.get("stop_reason"))
    claimed = "stop" if known is None else known[0]
    reason = losses.reason(claimed, executed=bool(ours))
    if known is not None or reason == "tool_calls":
        edited["stop_reason"] = END_WORDS["anthropic"].fitting(known[1] if known else "", claimed, reason)
    elif edited.get("stop_reason") is not None:  # such as `""`
        edited["stop_reason"] = None
    return edited


def _is_call_block(block: object) -> bool:
    return isinstance(block, dict) and block.get("type") == _CALL


def _call_block(call: ToolCall[Any]) -> dict[str, Any]:
    return {"type": _CALL, "id": call.id, "name": call.name, "input": call.arguments}


def _block_label(block: dict[str, Any]) -> tuple[object, object, object]:
    return block.get("id"), block.get("name"), block.get("input")


def _unleaked(payload: dict[str, Any], found: Leaked) -> dict[str, Any]:
    """Write the text into the first block of text, and the calls after all blocks."""
    content = payload.get("content")
    blocks = [block for block in content if isinstance(block, dict)] if isinstance(content, list) else []
    texts = [block for block in blocks if block.get("type") == "text"]
    text, kept = found.text(0), []
    for block in blocks:
        if block not in texts:
            kept.append(block)
        elif block is texts[0] and text:
            kept.append({**block, "text": text})
    calls = map(_call_block, found.calls(0))
    return {**payload, "content": [*kept, *calls]}


BODY: Final = Body(_claims, _rewritten, error_of, _unleaked, schema=BODIES["anthropic"])
