"""Calls that a server leaked as text, told to the client as structured ones: a step before the menders.

Theory of operation. A parser of its own reads the stream with `text=`, and says of each block what of its text is shown
and which calls it holds. Blocks whose text is not decided yet wait. Once nothing is held, they pass as they came if no
call began in them. Else their text is taken out of them, what is shown of it follows in a chunk, and the calls come as
chunks before the one that ends their choice: that is when they are judged. So the menders see a stream whose server
parses calls, and correct its reasons as they do anyway.

What began as a call and is none is shown as the text that it was; only what the server told twice is gone. This is for
Chat Completions; streams of other dialects pass as they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from wholecall.encoders.base import argument_text, server_sent
from wholecall.encoders.chat import CHUNK
from wholecall.limits import Limits
from wholecall.output.events import (
    Event,
    ReasoningDelta,
    TextDelta,
    ToolCall,
    ToolCallDropped,
    ToolCallStarted,
)
from wholecall.repairing.chat_reading import choices_of, finishes, has_content, number_of
from wholecall.repairing.mender import lasting, most_of
from wholecall.repairing.pieces import Piece, PieceReader
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from wholecall.policy import Policy
    from wholecall.text import TextCalls
    from wholecall.tools import Tools

__all__ = ["Leaks"]

_DIALECT: Final = "chat-completions"
_SAID: Final = ("content", "reasoning_content", "reasoning")  # members of a delta that hold what is said
_NO_HEAD: Final = frozenset({"choices", "usage", "error", "object"})


class _Block(NamedTuple):
    """A block that waits: its bytes, and its frames."""

    raw: bytes
    pieces: list[Piece]

    @property
    def ends(self) -> bool:
        """Whether it ends a choice or the stream."""
        return any(piece.is_done or finishes(piece.payload or {}) for piece in self.pieces)


class Leaks:
    """Turns leaked calls of one stream into structured ones.

    Attributes:
        is_mended: whether anything came out otherwise than it came in.
        dropped: what was to be a call and is none, since it was taken last.
    """

    def __init__(
        self, wanted: TextCalls, *, tools: Tools[Any] | None, policy: Policy, limits: Limits
    ) -> None:
        self._parser: ToolCallParser[Any] = ToolCallParser(
            tools=tools, text=wanted, framing="sse", policy=policy, limits=limits
        )
        self._most = most_of(limits.max_event_bytes)
        self._pieces = PieceReader(limits, self._most)
        self._waiting: list[_Block] = []
        self._events: list[Event[Any]] = []  # of the blocks that wait
        self._head: dict[str, Any] = {}
        self._n_calls: dict[int, int] = {}  # by choice: how many indices the server used
        self._passes = False
        self._begun: set[tuple[int, int, int]] = set()
        self.is_mended = False
        self.dropped: list[ToolCallDropped] = []

    @property
    def held(self) -> bytes:
        """The blocks that wait."""
        return b"".join(block.raw for block in self._waiting)

    def take(self, blocks: Sequence[bytes]) -> list[bytes]:
        """Take blocks, and return those that may go on, as they are or mended."""
        return [out for block in blocks for out in self._block(block)]

    def close(self) -> list[bytes]:
        """End the stream, and return what waits."""
        if self._passes:
            return []
        self._events += self._parser.close()
        return list(self._settled())

    def _block(self, raw: bytes) -> Iterable[bytes]:
        if self._passes:
            return [raw]
        parser = self._parser
        events = parser.feed(raw)
        if parser.dialect is None:
            return [raw]
        block = _Block(raw, list(self._pieces.read(raw)))
        self._waiting.append(block)
        self._events += events
        if parser.dialect != _DIALECT or parser.is_enveloped or len(self.held) > self._most:
            return self._give_up()
        self._see(block)
        return [] if parser.is_holding else self._settled()

    def _give_up(self) -> list[bytes]:
        """Let all that waits pass, and all that follows."""
        self._passes = True
        waiting, self._waiting = self._waiting, []
        return [block.raw for block in waiting]

    def _see(self, block: _Block) -> None:
        """Take note of what chunks have in common, and of the indices that the server gives to calls."""
        for piece in block.pieces:
            payload = piece.payload or {}
            if choices_of(payload):
                self._head = {key: value for key, value in payload.items() if key not in _NO_HEAD}
            for choice in choices_of(payload):
                number = number_of(choice)
                for index in _indices(choice):
                    self._n_calls[number] = max(self._n_calls.get(number, 0), index + 1)

    # What goes on.

    def _settled(self) -> Iterator[bytes]:
        """Yield the blocks that waited: as they came, unless a call began in them or is told now."""
        waiting, self._waiting = self._waiting, []
        events, self._events = self._events, []
        starts = [event for event in events if isinstance(event, ToolCallStarted) and self._is_ours(event)]
        begun = bool(starts)
        self._begun.update((event.turn, event.choice, event.index) for event in starts)
        told = list(self._told(events))
        self.is_mended = self.is_mended or begun
        for block in waiting:
            if not block.ends:
                yield from self._stripped(block) if begun else [block.raw]
        if begun:
            yield from self._said(events)
        yield from told
        for block in waiting:
            if block.ends:
                yield from self._stripped(block) if begun else [block.raw]

    def _is_ours(self, event: Any) -> bool:
        return self._parser.is_from_text(event)

    def _told(self, events: Iterable[Event[Any]]) -> Iterator[bytes]:
        """Yield the calls that came out, and the texts of those that did not."""
        for event in events:
            if isinstance(event, ToolCall) and self._is_ours(event):
                yield self._call(event)
            elif isinstance(event, ToolCallDropped) and self._is_ours(event) and event.reason != "told_twice":
                self.dropped.append(event)
                if self._is_gone(event):
                    yield self._delta(event.choice, {"content": event.raw_arguments})

    def _is_gone(self, event: ToolCallDropped) -> bool:
        """Whether the text of a drop was taken out: it began as a call, and its blocks went on without it."""
        key = event.turn, event.choice, event.index
        if key not in self._begun:
            return False
        self._begun.discard(key)
        return True

    def _call(self, event: ToolCall[Any]) -> bytes:
        call = lasting(event, self._parser.turn.response_id)
        index = self._n_calls.get(event.choice, 0)
        self._n_calls[event.choice] = index + 1
        body = {"name": event.name, "arguments": argument_text(event)}
        listed = [{"index": index, "id": call.id, "type": "function", "function": body}]
        return self._delta(event.choice, {"tool_calls": listed})

    def _said(self, events: Iterable[Event[Any]]) -> Iterator[bytes]:
        for event in events:
            if isinstance(event, TextDelta):
                yield self._delta(event.choice, {"content": event.text})
            elif isinstance(event, ReasoningDelta):
                yield self._delta(event.choice, {"reasoning_content": event.text})

    def _delta(self, choice: int, delta: dict[str, Any]) -> bytes:
        body = {"index": choice, "delta": delta, "finish_reason": None}
        return server_sent({**self._head, "object": CHUNK, "choices": [body]})

    def _stripped(self, block: _Block) -> Iterator[bytes]:
        """Yield a block without what it says; nothing if it holds nothing else."""
        for piece in block.pieces:
            payload = piece.payload
            if payload is None or not choices_of(payload):
                yield piece.raw
                continue
            rest = {**payload, "choices": [_without_speech(choice) for choice in choices_of(payload)]}
            if has_content(rest):
                yield piece.with_payload(rest)


def _indices(choice: dict[str, Any]) -> list[int]:
    delta = choice.get("delta")
    listed = delta.get("tool_calls") if isinstance(delta, dict) else None
    calls = [call for call in listed if isinstance(call, dict)] if isinstance(listed, list) else []
    return [index for call in calls if type(index := call.get("index")) is int and index >= 0]


def _without_speech(choice: dict[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta")
    if not isinstance(delta, dict):
        return choice
    return {**choice, "delta": {key: value for key, value in delta.items() if key not in _SAID}}
