"""Amazon Bedrock ConverseStream, and the body of Converse.

    messageStart       role
    contentBlockStart  contentBlockIndex, start{toolUse{toolUseId, name, type}}
    contentBlockDelta  contentBlockIndex, delta{text | toolUse{input} | reasoningContent{text, signature}}
    contentBlockStop   contentBlockIndex
    messageStop        stopReason
    metadata           usage, metrics
    ...Exception       message

In a binary event stream the event's type names the member, and the payload is bare; decoded by an SDK, an event is an
object whose only member is named so. Blocks of text have no start. A call lives in a block whose index is its slot;
`input` are pieces of JSON text, in a whole body it is the value. As in Anthropic Messages, a stop for length can close
a block with a member missing, so `CallClosed` is not final. A start ends nothing: a block that another one displaces
has not ended. When the provider calls its own output malformed, it does not name the call: those that are not decided
yet are dropped.

Nothing names the response or the model. `p` is padding. Usage may come before or after the stop reason. A tool's result
means that its call was executed. Results, texts with citations, and in a whole body images and unknown parts are kept,
and go back as they came; of a streamed image nothing is. Source: AWS, "Bedrock Runtime API", ConverseStream.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from wholecall.deltas import (
    Delta,
    Index,
    Piecewise,
    ReasoningFragment,
    Slot,
    TextBegan,
    TextFragment,
    TurnOpened,
)
from wholecall.dialects import report
from wholecall.dialects.amazon.converse_kept import KeptParts, is_other, is_unknown, kept_whole
from wholecall.dialects.amazon.converse_views import (
    PIECE,
    WRAPPED_PIECE,
    Event,
    Member,
    Message,
    Part,
    Piece,
    ToolUse,
)
from wholecall.dialects.amazon.errors import error_of, exception_in
from wholecall.dialects.decode import member, plain, wire_text
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.other_blocks import OtherBlocks
from wholecall.dialects.pieces import PieceTranslator, Read, no_piece
from wholecall.dialects.runs import Key
from wholecall.dialects.translator import Events
from wholecall.framing.frame import Frame
from wholecall.types import Kind

__all__ = ["ConverseTranslator"]

_NO_PART = Part()
_FIELDS = {  # of the view, by the names of events
    "contentBlockDelta": "content_block_delta",
    "contentBlockStart": "content_block_start",
    "contentBlockStop": "content_block_stop",
    "messageStart": "message_start",
    "messageStop": "message_stop",
    "metadata": "metadata",
}


_bare, _wrapped = PIECE.decode, WRAPPED_PIECE.decode


def _read_bare(data: str) -> tuple[Key, str]:
    return _read(_bare(data))


def _read_wrapped(data: str) -> tuple[Key, str]:
    return _read(_wrapped(data).content_block_delta)


def _read(piece: Piece) -> tuple[Key, str]:
    said = piece.delta
    if said.tool_use is not None:
        return ("input", piece.content_block_index), said.tool_use.input
    if said.reasoning_content is not None:
        return ("thought", piece.content_block_index), said.reasoning_content.text
    return ("text", piece.content_block_index), said.text


# By the names of events; other events have no name, or another name, and name their kind in the payload.
_READERS: dict[str, Read] = {
    **dict.fromkeys([*_FIELDS, "error"], no_piece),
    "contentBlockDelta": _read_bare,
}


class ConverseTranslator(PieceTranslator):
    """Events of one ConverseStream to deltas."""

    decoder = msgspec.json.Decoder(Event)

    _others: OtherBlocks
    _kept: KeptParts
    _calls: dict[int, str | None]

    def _clear(self) -> None:
        self._others = OtherBlocks()
        self._kept = KeptParts()
        self._calls = {}  # the ids of the calls that are open, by the index of their block

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one event."""
        return [error_of(frame)] if frame.event == "error" else super().translate(frame)

    def _reader(self, event: str) -> Read:
        return _READERS.get(event, _read_wrapped)

    def in_common(self, key: Key) -> Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, index = key[0], index_label(key[1])
        if kind == "input":
            return Slot(0, index, None, "")
        if self._is_lower(index) or (kind == "text" and index not in self._others.indices):
            return None  # another message, or a text that begins
        self._others.indices.add(index)
        return TextFragment(0, "") if kind == "text" else ReasoningFragment(0, "", index)

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        field = _FIELDS.get(frame.event)
        if field is None and event.output is not None and event.output.message is not None:
            return self._body(event, event.output.message, frame.data)
        if field is None:
            field = next((field for field in self.EVENTS if getattr(event, field) is not None), "")
        if not field:
            return self._other(event, frame, frame.event)
        inner: Member | None = getattr(event, field)
        return self.EVENTS[field](self, event if inner is None else inner)

    def _other(self, event: Event, frame: Frame, kind: str) -> list[Delta]:
        payload = plain(frame.data)
        error = exception_in(payload) or member(payload, "error")
        return report.error(error) if error else super()._other(event, frame, kind)

    def _body(self, event: Event, message: Message, text: str) -> list[Delta]:
        deltas = self._begin()
        parts = message.content or ()
        wire = member(plain(text), "output", "message", "content") if any(map(is_other, parts)) else None
        for index, part in enumerate(parts):
            if part.tool_use is None:
                deltas += self._part(index, part) + kept_whole(part, member(wire, index))
                deltas += report.answered(member(part.tool_result, "toolUseId"))
            else:
                deltas += self._start_call(index, part.tool_use) + self._others.stop(index)
        return deltas + self._metadata(event) + self._message_stop(event)

    def _message_start(self, _member: Member) -> list[Delta]:
        return self._begin()

    def _message_stop(self, event: Member) -> list[Delta]:
        self._clear()
        return report.finish(event.stop_reason, drops_at="malformed") + self._end()

    def _metadata(self, event: Member) -> list[Delta]:
        return report.usage(event.usage)

    # Blocks

    def _delta(self, event: Member) -> list[Delta]:
        return self._part(index_label(event.content_block_index), event.delta or _NO_PART)

    def _part(self, index: Index | None, part: Part) -> list[Delta]:
        if part.tool_use is not None:
            return report.piece(index, wire_text(part.tool_use.input))
        deltas = self._from(index)
        if index not in self._others.indices and (
            part.text is not None or part.citations_content is not None
        ):
            deltas.append(TextBegan(0))
        self._others.indices.add(index)
        self._kept.grow(index, part)
        return deltas + _said(index, part)

    def _start(self, event: Member) -> list[Delta]:
        index, part = index_label(event.content_block_index), event.start or _NO_PART
        if part.tool_use is None:
            deltas = self._from(index, at_start=True)
            self._others.indices.add(index)
            self._kept.start(index, part)
            return deltas + report.answered(member(part.tool_result, "toolUseId"))
        id_ = id_label(part.tool_use.tool_use_id)
        deltas = [] if id_ in self._calls.values() else self._from(index)
        if isinstance(index, int):
            self._calls[index] = id_
        return deltas + self._start_call(index, part.tool_use)

    def _from(self, index: Index | None, *, at_start: bool = False) -> list[Delta]:
        """Report that another message began, if a block's index is below that of an open call: blocks come in order."""
        if not self._is_lower(index, at_start=at_start):
            return []
        self._clear()
        self._n_turns += 1
        return [TurnOpened(f"message {self._n_turns}", restart=True)]

    def _is_lower(self, index: Index | None, *, at_start: bool = False) -> bool:
        highest = max(self._calls, default=-1)
        return isinstance(index, int) and (index < highest or (index == highest and at_start))

    def _start_call(self, index: Index | None, use: ToolUse) -> list[Delta]:
        self._others.indices.discard(index)
        kind: Kind = "server" if use.type == "server_tool_use" else "function"
        id_, name = id_label(use.tool_use_id), name_label(use.name)
        return report.call_start(index, id_, name, wire_text(use.input), kind)

    def _stop(self, event: Member) -> list[Delta]:
        index = index_label(event.content_block_index)
        if isinstance(index, int):
            self._calls.pop(index, None)
        return self._others.stop(index) + self._kept.stop(index)

    EVENTS: ClassVar[Events] = {
        "content_block_delta": _delta,
        "content_block_start": _start,
        "content_block_stop": _stop,
        "message_start": _message_start,
        "message_stop": _message_stop,
        "metadata": _metadata,
    }


def _said(index: Index | None, part: Part) -> list[Delta]:
    """Return the deltas of a part that is not a call's."""
    if (thought := part.reasoning_content) is not None:
        signed = thought.reasoning_text or thought
        return report.thought(signed.text, index, signature=signed.signature, data=thought.redacted_content)
    if part.citations_content is not None:
        return [delta for cited in part.citations_content.content or () for delta in report.text(cited.text)]
    if part.text is not None:
        return report.text(part.text)
    return report.unknown() if is_unknown(part) else []
