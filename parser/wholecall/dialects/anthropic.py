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

Covers: Anthropic Messages, also on Vertex and from compatible servers; server tools, MCP.
Calls: told apart by block index; each ends with `content_block_stop`, and what follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, reasons, report, translator, unread
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.pieces import Runs
from wholecall.framing.frame import Frame, Like
from wholecall.types import Kind

# Views.


class Block(msgspec.Struct, gc=False):
    """A content block, as it starts or whole."""

    type: str | None = None
    id: Any = None
    name: Any = None
    input: msgspec.Raw = decode.NO_TEXT
    caller: Any = None
    toolset_name: Any = None
    server_name: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    data: Any = None
    tool_use_id: Any = None
    citations: Any = None


class _DeltaView(msgspec.Struct, gc=False):
    """A piece of a block, or the changes of `message_delta`."""

    type: str | None = None
    partial_json: Any = None
    text: Any = None
    thinking: Any = None
    signature: Any = None
    stop_reason: Any = None
    container: Any = None


class Message(msgspec.Struct, gc=False):
    """A message, as it starts or as a whole body."""

    id: Any = None
    model: Any = None
    content: list[Block] | None = None
    stop_reason: Any = None
    container: Any = None
    usage: Any = None


class _Event(msgspec.Struct, gc=False):
    """An event of the stream."""

    type: str | None = None
    index: Any = None
    delta: _DeltaView | None = None
    content_block: Block | None = None
    message: Message | None = None
    usage: Any = None
    error: Any = None


_DECODER = msgspec.json.Decoder(_Event)
_BODY_DECODER = msgspec.json.Decoder(Message)  # a whole, non-streamed body is a message at the top level
_NO_DELTA = _DeltaView()


# Narrow views: nearly every event is a piece of a block, its start or its end. They refuse anything odd; refused events
# are read by the wide views.


class InputPiece(msgspec.Struct, gc=False, tag="input_json_delta"):
    """A piece of a call's text."""

    text: str = msgspec.field(name="partial_json")


class TextPiece(msgspec.Struct, gc=False, tag="text_delta"):
    """A piece of text."""

    text: str


class ThinkingPiece(msgspec.Struct, gc=False, tag="thinking_delta"):
    """A piece of reasoning."""

    text: str = msgspec.field(name="thinking")


_AnyPiece = Union[InputPiece, TextPiece, ThinkingPiece]


class Piece(msgspec.Struct, gc=False, tag="content_block_delta"):
    """A piece of a block."""

    index: int
    delta: _AnyPiece
    content_block: None = None
    message: None = None


class _BlockStart(msgspec.Struct, gc=False, tag="content_block_start"):
    """The start of a block."""

    index: int
    content_block: Block
    delta: None = None
    message: None = None


class _BlockStop(msgspec.Struct, gc=False, tag="content_block_stop"):
    """The end of a block."""

    index: int
    delta: None = None
    content_block: None = None
    message: None = None


_common: Callable[[str], Any] = msgspec.json.Decoder(Union[Piece, _BlockStart, _BlockStop]).decode


# Blocks.

# Who executes the call of a block. Client tools that Anthropic defines (bash, computer) are `tool_use` too.
_CALL_BLOCKS: Final[dict[str, Kind]] = {
    "tool_use": "function",
    "server_tool_use": "server",
    "mcp_tool_use": "server",
}
_THOUGHTS = frozenset({"thinking", "redacted_thinking"})
_QUIET_BLOCKS = frozenset({"container_upload", "compaction"})  # of blocks that are kept


class _Growing(msgspec.Struct):
    """A block that is kept, with its later content: members that come in pieces, and those that came whole."""

    value: dict[str, Any]
    pieces: dict[str, list[str]] = {}

    def take(self, delta: dict[str, Any]) -> None:
        """Take the content of a delta: texts are joined, citations listed, anything else replaces the old value."""
        for name, said in delta.items():
            if name == "citation":
                if type(self.value.get("citations")) is not list:
                    self.value["citations"] = []
                self.value["citations"].append(said)
            elif type(said) is str and name != "type":
                self.pieces.setdefault(name, []).append(said)
            elif name != "type":
                self.value[name] = said

    def whole(self) -> dict[str, Any]:
        """Return the block."""
        grown = {
            name: f"{labels.text_label(self.value.get(name)) or ''}{''.join(pieces)}"
            for name, pieces in self.pieces.items()
        }
        return self.value | grown


class Blocks:
    """The blocks of one message: which of them are calls, and their deltas.

    Text, thinking and calls share the numbers of blocks. Any other block is kept and goes back as it came: results of
    the provider's tools, compactions, blocks of unknown types. The content of its deltas is joined to it, member by
    member. A text with citations is kept with them.
    """

    _calls: set[deltas.Index | None]
    _others: set[deltas.Index | None]
    _skipped: set[deltas.Index | None]
    _growing: dict[deltas.Index | None, _Growing]
    _text: list[deltas.Index | None]

    def __init__(self) -> None:
        self._calls = set()  # open blocks that are calls
        self._others = set()  # open blocks that are not calls: text, thinking, results
        self._skipped = set()  # blocks whose pieces are not a call's, and which go back as they came
        self._growing = {}  # blocks that are kept, until they end
        self._text = []  # the block of text that began last, if no other has begun

    def clear(self) -> None:
        """Forget all blocks, as the message is over."""
        self._calls.clear()
        self._others.clear()
        self._skipped.clear()
        self._growing.clear()
        self._text.clear()

    def start(
        self, index: deltas.Index | None, block: Block, wire: str | dict[str, Any] = ""
    ) -> list[deltas.Delta]:
        """Return the deltas of the start of a block, or of a whole one.

        `wire` is the block as the wire has it, or the text of the event that starts it; without it nothing is kept.
        """
        self._text.clear()
        kind = _CALL_BLOCKS.get(block.type or "")
        if kind is not None:
            return self._start_call(index, block, kind)
        self._others.add(index)
        if block.type == "text":
            return self._start_text(index, block)
        if block.type not in _THOUGHTS:
            return self._start_other(index, block, wire)
        return report.thought(block.thinking, index, signature=block.signature, data=block.data)

    def _start_text(self, index: deltas.Index | None, block: Block) -> list[deltas.Delta]:
        self._text.append(index)
        if block.citations:
            self._growing[index] = _Growing({"type": "text", "citations": decode.listed(block.citations)})
        text = labels.text_label(block.text)
        return [deltas.TextBegan(0)] if not text else [deltas.TextBegan(0), deltas.TextFragment(0, text)]

    def _start_other(
        self, index: deltas.Index | None, block: Block, wire: str | dict[str, Any]
    ) -> list[deltas.Delta]:
        if index in self._calls:  # perhaps its start again, in another form: its pieces would vanish
            return [decode.undecodable(wire if isinstance(wire, str) else decode.dumped(wire))]
        self._skipped.add(index)
        told = decode.member(decode.plain(wire), "content_block") if isinstance(wire, str) else wire
        if isinstance(told, dict) and told:
            self._growing[index] = _Growing(told)
        if block.type in _QUIET_BLOCKS:
            return []
        if not (block.type or "").endswith("tool_result"):
            return report.unknown()
        return report.answered(block.tool_use_id)

    def grow(self, index: deltas.Index | None, delta: object) -> None:
        """Add to a block the content of a delta other than text, thinking or a call: it goes back with it."""
        if not isinstance(delta, dict):
            return
        if index not in self._growing and index in self._text:
            self._growing[index] = _Growing({"type": "text"})
        if (growing := self._growing.get(index)) is not None:
            growing.take(delta)

    def _start_call(self, index: deltas.Index | None, block: Block, kind: Kind) -> list[deltas.Delta]:
        self._skipped.discard(index)
        self._others.discard(index)
        self._calls.add(index)
        id_, name, namespace = (
            labels.id_label(block.id),
            labels.name_label(block.name),
            labels.name_label(block.toolset_name),
        )
        origins = {"caller": block.caller, "server_name": block.server_name}
        extra = {key: value for key, value in origins.items() if value is not None} or None
        text = decode.wire_text(block.input)
        return report.call_start(index, id_, name, text, kind, namespace=namespace, extra=extra)

    def spoken(self, index: deltas.Index | None) -> None:
        """Note that a block with text or thinking is not a call: its start may be lost (quirk 77)."""
        self._others.add(index)

    def piece(self, index: deltas.Index | None, text: object) -> deltas.Slot | None:
        """Return a piece of a call's text; None if it is empty, or belongs to a block of an unknown type."""
        if not text:
            return None  # the first piece is usually empty
        slot = self.slot(index)
        return slot and msgspec.structs.replace(slot, text=text if type(text) is str else decode.dumped(text))

    def slot(self, index: deltas.Index | None) -> deltas.Slot | None:
        """Return the slot for a call's text; None if the block is of an unknown type."""
        return None if index in self._skipped else deltas.Slot(0, index, None, "")

    def stop(self, index: deltas.Index | None) -> list[deltas.Delta]:
        """Report that the block in a slot ended."""
        self._skipped.discard(index)
        self._calls.discard(index)
        closed = report.block_closed(index, self._others)
        growing = self._growing.pop(index, None)
        if growing is None:
            return closed
        kept = deltas.BlockKept(0, growing.whole(), of_text=growing.value.get("type") == "text")
        return closed if kept.of_text and index not in self._text else [*closed, kept]

    def whole(self, blocks: list[Block], wire: object) -> list[deltas.Delta]:
        """Return the deltas of whole blocks, one after the other; `wire` are these as the wire has them."""
        found: list[deltas.Delta] = []
        for index, block in enumerate(blocks):
            told = decode.member(wire, index)
            found += self.start(index, block, told if isinstance(told, dict) else {})
            found += self.stop(index)
        self._skipped.clear()
        return found


# The stream.

# Pieces of blocks that go back as they came.
_QUIET_DELTAS = frozenset({"citations_delta", "compaction_delta"})


class AnthropicTranslator(translator.TextTranslator, translator.ViewTranslator):
    """Frames of one Messages stream to deltas."""

    decoder = _DECODER

    PIECES: ClassVar[Pieces] = {'"input_json_delta"': "delta.partial_json"}
    DERIVED = frozenset({"_runs"})
    _key: str | None
    _blocks: Blocks

    def __init__(self) -> None:
        self._key = None
        self._blocks = Blocks()
        self._runs = Runs()

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one frame; later pieces start again."""
        self._runs.stop()
        return super().translate(frame)

    def translate_texts(self, texts: list[str], like: Like) -> list[deltas.Delta]:
        """Return the deltas of frames in a row; pieces of one text that nothing interrupts are one `Run`."""
        told: list[deltas.Delta] = []
        runs = self._runs
        known = runs.known
        kind, index = runs.key
        run: list[str] | None = None  # texts of the last run in `told`
        left = iter(texts)
        for text in left:
            try:
                event = _common(text)
            except decode.UNREADABLE:  # a rare event, or an odd one
                told += self.told(translator.frame_of(texts, left, like))
                kind, index = runs.key
                continue
            delta = event.delta
            if delta is None:
                kind, index = runs.stop()
                said = self._block(event, text)
                told += (
                    said
                    if unread.is_read(said, text)
                    else unread.with_unread(said, translator.frame_of(texts, left, like))
                )
                continue
            piece = delta.text
            if not piece:  # the first piece of a call is usually empty
                continue
            if type(delta) is not kind or event.index != index:
                key = type(delta), event.index
                of = known.get(key) or runs.learn(key, self.goes_on(event.index, type(delta)))
                if of is None:
                    kind, index = runs.stop()
                    continue
                kind, index = key
                runs.key, runs.of, run = key, of, [piece]
                told.append(deltas.Run(of, run))
            elif run is None:
                run = [piece]
                told.append(deltas.Run(runs.of, run))
            else:
                run.append(piece)
        return told

    def goes_on(
        self, index: int, kind: type[_AnyPiece]
    ) -> deltas.Slot | deltas.TextFragment | deltas.ReasoningFragment | None:
        """Return the common fields of a text's pieces, at its first piece; None in a block of an unknown type."""
        if kind is InputPiece:
            return self._blocks.slot(labels.index_label(index))
        self._blocks.spoken(labels.index_label(index))
        if kind is TextPiece:
            return deltas.TextFragment(0, "")
        return deltas.ReasoningFragment(0, "", labels.index_label(index))

    def _block(self, event: _BlockStart | _BlockStop, text: str) -> list[deltas.Delta]:
        if type(event) is _BlockStart:
            return self._blocks.start(labels.index_label(event.index), event.content_block, text)
        return self._blocks.stop(labels.index_label(event.index))

    def _take(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        known = self.EVENTS.get(event.type)
        return self._unknown(event, frame) if known is None else known(self, event, frame)

    def _unknown(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        if event.error is not None:
            return report.error(event.error)
        if event.type == "message":
            return self._body(decode.decode(_BODY_DECODER, frame.data) or Message(), frame)
        if decode.is_noise(frame):
            return []
        known = self.EVENTS.get(frame.event) if event.type is None else None
        return report.unknown() if known is None else known(self, event, frame)

    # Blocks

    def _delta(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        delta = event.delta or _NO_DELTA
        known = self.DELTAS.get(delta.type)
        if known is not None:
            return known(self, labels.index_label(event.index), delta)
        self._blocks.grow(labels.index_label(event.index), decode.member(decode.plain(frame.data), "delta"))
        return [] if delta.type in _QUIET_DELTAS else report.unknown()

    def _input(self, index: deltas.Index | None, delta: _DeltaView) -> list[deltas.Delta]:
        slot = self._blocks.piece(index, delta.partial_json)
        return [] if slot is None else [slot]

    def _text(self, index: deltas.Index | None, delta: _DeltaView) -> list[deltas.Delta]:
        said = report.text(delta.text)
        if said:
            self._blocks.spoken(index)
        return said

    def _thinking(self, index: deltas.Index | None, delta: _DeltaView) -> list[deltas.Delta]:
        told = report.thought(delta.thinking, index, signature=delta.signature)
        if told:
            self._blocks.spoken(index)
        return told

    def _block_start(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        return self._blocks.start(labels.index_label(event.index), event.content_block or Block(), frame.data)

    def _block_stop(self, event: _Event, _frame: Frame) -> list[deltas.Delta]:
        return self._blocks.stop(labels.index_label(event.index))

    # Messages

    def _message_start(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        return self._message(event.message or Message(), frame, "message", "content")

    def _message(self, message: Message, frame: Frame, *path: str) -> list[deltas.Delta]:
        told = self._begin(labels.id_label(message.id), labels.name_label(message.model))
        if message.content:
            told += self._blocks.whole(message.content, decode.member(decode.plain(frame.data), *path))
        told += _container_deltas(message.container) + usage_deltas(message.usage)
        return told + finish_deltas(message.stop_reason)

    def _begin(self, key: str | None, model: str | None) -> list[deltas.Delta]:
        self._key = key
        self._blocks.clear()
        return [deltas.TurnOpened(key, key, model, restart=True)]

    def _message_delta(self, event: _Event, _frame: Frame) -> list[deltas.Delta]:
        change = event.delta or _NO_DELTA
        return (
            usage_deltas(event.usage)
            + _container_deltas(change.container)
            + finish_deltas(change.stop_reason)
        )

    def _message_stop(self, *_: object) -> list[deltas.Delta]:
        self._blocks.clear()
        return [deltas.TurnEnded(self._key)]

    def _body(self, message: Message, frame: Frame) -> list[deltas.Delta]:
        if message.content is None:
            return report.unknown()
        return report.ended_together(self._message(message, frame, "content") + self._message_stop())

    EVENTS: ClassVar[translator.Events] = {  # each takes the event and its frame
        "content_block_delta": _delta,
        "content_block_start": _block_start,
        "content_block_stop": _block_stop,
        "message_start": _message_start,
        "message_delta": _message_delta,
        "message_stop": _message_stop,
        "error": lambda _self, event, _frame: report.error(event.error),
        "ping": lambda _self, _event, _frame: [],
    }
    DELTAS: ClassVar[Mapping[Any, Callable[[Any, deltas.Index | None, _DeltaView], list[deltas.Delta]]]] = {
        "input_json_delta": _input,
        "text_delta": _text,
        "thinking_delta": _thinking,
        "signature_delta": _thinking,
    }


def finish_deltas(raw: object) -> list[deltas.Delta]:
    """Return the stop reason, if there is one; a refusal takes back the calls that were begun."""
    known = reasons.turn_reason(raw)
    if known is None:
        return []
    reason, provider_reason = known
    return [deltas.Finish(0, reason, provider_reason, drops=provider_reason == "refusal")]


def usage_deltas(usage: object) -> list[deltas.Delta]:
    """Return the token counts: `message_start` counts the input, `message_delta` the output (quirk 88)."""
    if not isinstance(usage, dict):
        return []
    return [deltas.UsageSeen({name: count for name, count in usage.items() if count is not None})]


def _container_deltas(container: object) -> list[deltas.Delta]:
    """Return the container in which the provider ran code: the next request names it, so that its state is there."""
    id_ = labels.id_label(decode.member(container, "id"))
    return [] if id_ is None else [deltas.CarriesOn({"container": id_})]
