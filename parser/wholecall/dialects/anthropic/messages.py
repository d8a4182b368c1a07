"""Anthropic Messages (`POST /v1/messages`, `stream: true`; Vertex, Bedrock and compatible servers too).

    message_start        message{id, model, content, stop_reason, usage}
    content_block_start  index, content_block{type: tool_use, id, name, input: {}}
    content_block_delta  index, delta{type: input_json_delta, partial_json}
    content_block_stop   index
    message_delta        delta{stop_reason}, usage
    message_stop         -
    ping, error          -, error{type, message}

A call lives in a content block; the block's index is its slot, shared with text and thinking blocks. `partial_json` are
pieces of JSON text. The `input` at the start of a block is a placeholder when it is empty, and the whole value when it
is not and no piece follows. A closed block is not final: a stop for length can close a block with a member missing, so
`CallClosed` is not final.

Compatible servers leave out stops and starts, repeat starts, send a second `message_start`, or put the whole message
into the first one (quirks 77, 90); all of it is reported. A start ends nothing: a block that another one displaces has
not ended. Only the stops of blocks that are not calls are kept back. Results of server tools mean that their calls were
executed, and nothing else. Source: Anthropic API reference, "Streaming Messages".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Union

from wholecall.deltas import Delta, Index, ReasoningFragment, Run, Slot, TextFragment, TurnEnded, TurnOpened
from wholecall.dialects import report
from wholecall.dialects.anthropic.blocks import Blocks, reasoning_deltas
from wholecall.dialects.anthropic.views import (
    BODY_DECODER,
    COMMON,
    DECODER,
    Block,
    BlockStart,
    BlockStop,
    DeltaView,
    Event,
    InputPiece,
    Message,
    TextPiece,
    ThinkingPiece,
    container_deltas,
    finish_deltas,
    usage_deltas,
)
from wholecall.dialects.decode import UNREADABLE, decode, is_noise, member, plain
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.pieces import Runs
from wholecall.dialects.report import ended_together
from wholecall.dialects.translator import MOST_SLOTS, Events, TextTranslator, ViewTranslator, frame_of
from wholecall.dialects.unread import is_read, with_unread
from wholecall.framing.frame import Frame, Like

__all__ = ["AnthropicTranslator"]


_QUIET_DELTAS = frozenset(
    {"citations_delta", "compaction_delta"}
)  # pieces of blocks that go back as they came


_Piece = Union[InputPiece, TextPiece, ThinkingPiece]

_NO_DELTA = DeltaView()
_common = COMMON.decode


class AnthropicTranslator(TextTranslator, ViewTranslator):
    """Frames of one Messages stream to deltas."""

    decoder = DECODER

    DERIVED = frozenset({"_runs", "_slots"})
    _key: str | None
    _blocks: Blocks

    def __init__(self) -> None:
        self._key = None
        self._blocks = Blocks()
        self._runs = Runs()
        self._slots: dict[int, Slot] = {}  # of pieces of calls, since the last frame without such a piece

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one frame; later pieces start again."""
        self._runs.stop()
        self._slots.clear()
        return super().translate(frame)

    def translate_texts(self, texts: list[str], like: Like) -> list[Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        deltas: list[Delta] = []
        runs = self._runs
        kind, index = runs.key
        run: list[str] | None = None  # texts of the last run in `deltas`
        left = iter(texts)
        for text in left:
            try:
                event = _common(text)
            except UNREADABLE:  # a rare event, or an odd one
                deltas += self.told(frame_of(texts, left, like))
                kind, index = runs.key
                continue
            delta = event.delta
            if delta is None:
                kind, index = runs.stop()
                self._slots.clear()
                said = self._block(event, text)
                deltas += said if is_read(said, text) else with_unread(said, frame_of(texts, left, like))
                continue
            piece = delta.text
            if not piece:  # the first piece of a call is usually empty
                continue
            if type(delta) is not kind or event.index != index:
                of = self.goes_on(event.index, type(delta))
                if of is None:
                    kind, index = runs.stop()
                    continue
                kind, index = key = type(delta), event.index
                run = runs.begin(deltas, key, of)
            elif run is None:
                run = []
                deltas.append(Run(runs.of, run))
            run.append(piece)
        return deltas

    def goes_on(self, index: int, kind: type[_Piece]) -> Slot | TextFragment | ReasoningFragment | None:
        """Return the common fields of a text's pieces, at its first piece; None in a block of an unknown type."""
        if kind is InputPiece:
            slot = self._slots.get(index) or self._blocks.slot(index_label(index))
            if slot is None:
                return None
            if len(self._slots) >= MOST_SLOTS:
                self._slots.clear()
            self._slots[index] = slot
            return slot
        self._blocks.spoken(index_label(index))
        if kind is TextPiece:
            return TextFragment(0, "")
        return ReasoningFragment(0, "", index_label(index))

    def _block(self, event: BlockStart | BlockStop, text: str) -> list[Delta]:
        if type(event) is BlockStart:
            return self._blocks.start(index_label(event.index), event.content_block, text)
        return self._blocks.stop(index_label(event.index))

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        known = self.EVENTS.get(event.type)
        return self._unknown(event, frame) if known is None else known(self, event, frame)

    def _unknown(self, event: Event, frame: Frame) -> list[Delta]:
        if event.error is not None:
            return report.error(event.error)
        if event.type == "message":
            return self._body(decode(BODY_DECODER, frame.data) or Message(), frame)
        if is_noise(frame):
            return []
        known = self.EVENTS.get(frame.event) if event.type is None else None
        return report.unknown() if known is None else known(self, event, frame)

    # Blocks

    def _delta(self, event: Event, frame: Frame) -> list[Delta]:
        delta = event.delta or _NO_DELTA
        known = self.DELTAS.get(delta.type)
        if known is not None:
            return known(self, index_label(event.index), delta)
        self._blocks.grow(index_label(event.index), member(plain(frame.data), "delta"))
        return [] if delta.type in _QUIET_DELTAS else report.unknown()

    def _input(self, index: Index | None, delta: DeltaView) -> list[Delta]:
        slot = self._blocks.piece(index, delta.partial_json)
        return [] if slot is None else [slot]

    def _text(self, index: Index | None, delta: DeltaView) -> list[Delta]:
        said = report.text(delta.text)
        if said:
            self._blocks.spoken(index)
        return said

    def _thinking(self, index: Index | None, delta: DeltaView) -> list[Delta]:
        deltas = reasoning_deltas(index, delta.thinking, delta.signature, None)
        if deltas:
            self._blocks.spoken(index)
        return deltas

    def _block_start(self, event: Event, frame: Frame) -> list[Delta]:
        return self._blocks.start(index_label(event.index), event.content_block or Block(), frame.data)

    def _block_stop(self, event: Event, _frame: Frame) -> list[Delta]:
        return self._blocks.stop(index_label(event.index))

    # Messages

    def _message_start(self, event: Event, frame: Frame) -> list[Delta]:
        return self._message(event.message or Message(), frame, "message", "content")

    def _message(self, message: Message, frame: Frame, *path: str) -> list[Delta]:
        deltas = self._begin(id_label(message.id), name_label(message.model))
        if message.content:
            deltas += self._blocks.whole(message.content, member(plain(frame.data), *path))
        deltas += container_deltas(message.container) + usage_deltas(message.usage)
        return deltas + finish_deltas(message.stop_reason)

    def _begin(self, key: str | None, model: str | None) -> list[Delta]:
        self._key = key
        self._blocks.clear()
        return [TurnOpened(key, key, model, restart=True)]

    def _message_delta(self, event: Event, _frame: Frame) -> list[Delta]:
        change = event.delta or _NO_DELTA
        return (
            usage_deltas(event.usage) + container_deltas(change.container) + finish_deltas(change.stop_reason)
        )

    def _message_stop(self, *_: object) -> list[Delta]:
        self._blocks.clear()
        return [TurnEnded(self._key)]

    def _body(self, message: Message, frame: Frame) -> list[Delta]:
        if message.content is None:
            return report.unknown()
        return ended_together(self._message(message, frame, "content") + self._message_stop())

    EVENTS: ClassVar[Events] = {  # each takes the event and its frame
        "content_block_delta": _delta,
        "content_block_start": _block_start,
        "content_block_stop": _block_stop,
        "message_start": _message_start,
        "message_delta": _message_delta,
        "message_stop": _message_stop,
        "error": lambda _self, event, _frame: report.error(event.error),
        "ping": lambda _self, _event, _frame: [],
    }
    DELTAS: ClassVar[Mapping[Any, Callable[[Any, Index | None, DeltaView], list[Delta]]]] = {
        "input_json_delta": _input,
        "text_delta": _text,
        "thinking_delta": _thinking,
        "signature_delta": _thinking,
    }
