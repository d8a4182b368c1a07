"""Leaked calls in text, sent to the client as structured calls: a step before the rewriters and judges of bodies.

Theory of operation. A separate parser reads the stream with `text=`, and reports for each block the text to show and
the calls in it. Blocks whose text is not decided yet wait. When nothing is held, they pass unchanged if no call began
in them. Else their text is taken out, its shown part follows in a chunk, and the calls are sent as chunks before the
chunk that ends their choice: that is when they are judged. Therefore the rewriters see a stream whose server parses
calls, and correct its reasons as usual. A whole body is read the same way; where a choice's text held a call, its
message gets the call, and the text without it.

Text that began as a call but is not one is shown as text; only calls that the server sent twice are removed.
Each dialect's `LeakWire` defines the places of text and calls on its wire.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from wholecall.calls.output.call_events import ToolCall, ToolCallDropped, ToolCallStarted
from wholecall.calls.output.events import Event, ReasoningDelta, TextDelta
from wholecall.dialects.decode import plain
from wholecall.limits import Limits
from wholecall.repairing import rewriter, table
from wholecall.repairing.encoders.base import argument_text, json_bytes
from wholecall.repairing.pieces import Piece, PieceReader
from wholecall.repairing.wire import Leaked, LeakWire
from wholecall.stream.parser import ToolCallParser

if TYPE_CHECKING:
    from wholecall.calls.tools.tool import Tools
    from wholecall.policy import Policy
    from wholecall.text.options import TextCalls


class _Block(NamedTuple):
    """A waiting block: its bytes, and its frames."""

    raw: bytes
    pieces: list[Piece]


class Leaks:
    """Turn leaked calls of one stream into structured ones.

    Attributes:
        is_mended: whether any output differs from the input.
        dropped: text that began as a call but is not one, since the list was last taken.
    """

    def __init__(
        self, wanted: TextCalls, *, tools: Tools[Any] | None, policy: Policy, limits: Limits
    ) -> None:
        self._parser: ToolCallParser[Any] = ToolCallParser(
            tools=tools, text=wanted, framing="sse", policy=policy, limits=limits
        )
        self._most = rewriter.most_of(limits.max_event_bytes)
        self._pieces = PieceReader(limits, self._most)
        self._waiting: list[_Block] = []
        self._size = 0  # their size
        self._events: list[Event[Any]] = []  # of the waiting blocks
        self._wire: LeakWire | None = None
        self._passes = False
        self._begun: set[tuple[int, int, int]] = set()
        self.is_mended = False
        self.dropped: list[ToolCallDropped] = []

    @property
    def held(self) -> bytes:
        """The waiting blocks."""
        return b"".join(block.raw for block in self._waiting)

    def take(self, blocks: Sequence[bytes]) -> list[bytes]:
        """Take blocks, and return those that may be sent, unchanged or mended."""
        return [out for block in blocks for out in self._block(block)]

    def forget(self) -> None:
        """Forget the text and the reasoning read so far."""
        self._parser.forget()

    def close(self) -> list[bytes]:
        """End the stream, and return the waiting bytes."""
        wire = self._wire
        if self._passes or wire is None:
            return []
        self._events += self._parser.close()
        return list(self._settled(wire))

    def _block(self, raw: bytes) -> Iterable[bytes]:
        if self._passes:
            return [raw]
        parser = self._parser
        events = parser.feed(raw)
        if parser.dialect is None:
            return [raw]
        block = _Block(raw, list(self._pieces.read(raw)))
        self._waiting.append(block)
        self._size += len(raw)
        self._events += events
        wire = self._wire = self._wire or self._new_wire()
        if wire is None or self._size > self._most:
            return self._give_up()
        self._see(block, wire)
        return [] if parser.is_holding else self._settled(wire)

    def _see(self, block: _Block, wire: LeakWire) -> None:
        """Pass a received block to the wire; repeated frames are removed from it."""
        fresh = [piece for piece in block.pieces if wire.see(piece)]
        if len(fresh) < len(block.pieces):
            self._waiting[-1] = _Block(b"".join(piece.raw for piece in fresh), fresh)

    def _new_wire(self) -> LeakWire | None:
        wire = table.WIRES.get(self._parser.dialect or "")
        return None if wire is None or self._parser.is_enveloped else wire.leaks(self._most)

    def _give_up(self) -> list[bytes]:
        """Let all waiting and all further blocks pass."""
        self._passes = True
        waiting, self._waiting, self._size = self._waiting, [], 0
        return [block.raw for block in waiting]

    # The output.

    def _settled(self, wire: LeakWire) -> Iterator[bytes]:
        """Yield the waiting blocks: unchanged, unless a call began in them or is emitted now."""
        waiting, self._waiting, self._size = self._waiting, [], 0
        events, self._events = self._events, []
        starts = [event for event in events if isinstance(event, ToolCallStarted) and self._is_ours(event)]
        self._begun.update((event.turn, event.choice, event.index) for event in starts)
        self.is_mended = self.is_mended or bool(starts)
        ends = [any(map(wire.ends, block.pieces)) for block in waiting]
        before = [block for block, is_end in zip(waiting, ends, strict=True) if not is_end]
        after = [block for block, is_end in zip(waiting, ends, strict=True) if is_end]
        said = _said(wire, events) if starts else iter(())
        for block in before:
            yield from self._gone_on(wire, block, said, is_stripped=bool(starts))
        yield from said
        yield from self._told(wire, events, is_stripped=bool(starts))
        for block in after:
            yield from self._gone_on(wire, block, said, is_stripped=bool(starts))

    def _gone_on(
        self, wire: LeakWire, block: _Block, said: Iterator[bytes], *, is_stripped: bool
    ) -> Iterator[bytes]:
        """Yield a block as it is sent; the shown part of stripped text is at the place of its beginning."""
        out: list[bytes] = []
        for piece in block.pieces:
            rest = wire.stripped(piece) if is_stripped else None
            out += [wire.passing(piece)] if rest is None else [*said, rest]
        as_it_came = len(out) == len(block.pieces) and all(
            one is piece.raw for one, piece in zip(out, block.pieces, strict=True)
        )
        yield from [block.raw] if as_it_came else out

    def _is_ours(self, event: Any) -> bool:
        return self._parser.is_from_text(event)

    def _told(self, wire: LeakWire, events: Iterable[Event[Any]], *, is_stripped: bool) -> Iterator[bytes]:
        """Yield the emitted calls, and the text of dropped calls where it was taken out."""
        for event in events:
            if isinstance(event, ToolCall) and self._is_ours(event):
                yield from self._call(wire, event)
            elif isinstance(event, ToolCallDropped) and self._is_ours(event) and event.reason != "told_twice":
                self.dropped.append(event)
                if self._is_gone(event) or is_stripped:
                    yield wire.said(event.choice, event.raw_arguments, reasoning=False)

    def _is_gone(self, event: ToolCallDropped) -> bool:
        """Return whether the text of a drop was taken out: it began as a call, and its blocks were sent without it."""
        key = event.turn, event.choice, event.index
        if key not in self._begun:
            return False
        self._begun.discard(key)
        return True

    def _call(self, wire: LeakWire, event: ToolCall[Any]) -> list[bytes]:
        call = rewriter.lasting(event, self._parser.turn.response_id)
        return wire.call(event.choice, call.id, event.name, argument_text(event))


def _said(wire: LeakWire, events: Iterable[Event[Any]]) -> Iterator[bytes]:
    for event in events:
        if isinstance(event, (TextDelta, ReasoningDelta)):
            yield wire.said(event.choice, event.text, reasoning=isinstance(event, ReasoningDelta))


# Whole bodies.


def without_leaks(
    data: bytes, wanted: TextCalls, *, tools: Tools[Any] | None, policy: Policy, limits: Limits
) -> bytes:
    """Return the body with its leaked calls as structured calls; the body itself if there are none."""
    parser: ToolCallParser[Any] = ToolCallParser(tools=tools, text=wanted, policy=policy, limits=limits)
    events = [*parser.feed(data), *parser.close()]
    wire = table.WIRES.get(parser.dialect or "")
    if wire is None or parser.is_enveloped:
        return data
    ended = [event for event in events if isinstance(event, (ToolCall, ToolCallDropped))]
    found = Leaked(events, [event for event in ended if parser.is_from_text(event)], parser.turn.response_id)
    payload = plain(data.decode("utf-8-sig", "replace")) if found.is_told() else None
    return json_bytes(wire.body.unleaked(payload, found)) if isinstance(payload, dict) else data
