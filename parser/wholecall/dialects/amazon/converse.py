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
and go back as they came; of a streamed image nothing is. Source: AWS, "Bedrock Runtime API", ConverseStream and
ContentBlock.

Covers: Amazon Bedrock ConverseStream, as binary event stream and as SDKs decode it; Converse bodies; tools that
    Bedrock runs itself.
Calls: told apart by block index; each ends with `contentBlockStop`, and what follows.
"""

from __future__ import annotations

from typing import Any, ClassVar

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, pieces, report, translator
from wholecall.dialects.amazon.errors import error_of, exception_in
from wholecall.framing.frame import Frame
from wholecall.types import Kind

# Views.


class _ToolUse(msgspec.Struct, gc=False, rename="camel"):
    """A tool call: its head, a piece of its input, or all of it."""

    tool_use_id: Any = None
    name: Any = None
    type: Any = None
    input: msgspec.Raw = decode.NO_TEXT


class _Signed(msgspec.Struct, gc=False, rename="camel"):
    """Text that may be signed."""

    text: Any = None
    signature: Any = None


class _Reasoning(msgspec.Struct, gc=False, rename="camel"):
    """A piece of reasoning, or (nested) a whole block of it."""

    text: Any = None
    signature: Any = None
    redacted_content: Any = None
    reasoning_text: _Signed | None = None


class _Citations(msgspec.Struct, gc=False, rename="camel"):
    """A whole text with its sources."""

    content: list[_Signed] | None = None


class _Part(msgspec.Struct, gc=False, rename="camel"):
    """The start of a block, a piece of one, or a whole one."""

    text: Any = None
    tool_use: _ToolUse | None = None
    reasoning_content: _Reasoning | None = None
    citations_content: _Citations | None = None
    tool_result: Any = None
    citation: Any = None
    image: Any = None


class _Message(msgspec.Struct, gc=False, rename="camel"):
    """A whole message."""

    content: list[_Part] | None = None


class _Output(msgspec.Struct, gc=False, rename="camel"):
    """The content of the whole body."""

    message: _Message | None = None


class _Member(msgspec.Struct, gc=False, rename="camel"):
    """The content of one event."""

    content_block_index: Any = None
    start: _Part | None = None
    delta: _Part | None = None
    stop_reason: Any = None
    usage: Any = None


class _Event(_Member, gc=False, rename="camel"):
    """A frame: one event, bare or as the member of its name, or the whole body."""

    content_block_delta: _Member | None = None
    content_block_start: _Member | None = None
    content_block_stop: _Member | None = None
    message_start: _Member | None = None
    message_stop: _Member | None = None
    metadata: _Member | None = None
    output: _Output | None = None


_NO_PART = _Part()


# Narrow views of pieces, which most events are.


class _Input(msgspec.Struct, gc=False):
    input: str


class _Thought(msgspec.Struct, gc=False, rename="camel"):
    text: str
    signature: None = None
    redacted_content: None = None
    reasoning_text: None = None


class _Delta(msgspec.Struct, gc=False, rename="camel"):
    text: str = ""
    tool_use: _Input | None = None
    reasoning_content: _Thought | None = None
    citations_content: None = None


class _Alone(msgspec.Struct, gc=False, rename="camel"):
    """An event that holds no other one."""

    content_block_start: None = None
    content_block_stop: None = None
    message_start: None = None
    message_stop: None = None
    metadata: None = None
    output: None = None
    start: None = None


class _Piece(_Alone, gc=False, rename="camel", kw_only=True):
    """A piece of a call's text, of visible text or of reasoning."""

    content_block_index: int
    delta: _Delta
    content_block_delta: None = None


class _WrappedPiece(_Alone, gc=False, rename="camel", kw_only=True):
    """The same as SDKs decode it."""

    content_block_delta: _Piece
    delta: None = None


_bare, _wrapped = msgspec.json.Decoder(_Piece).decode, msgspec.json.Decoder(_WrappedPiece).decode


def _read_bare(data: str) -> tuple[pieces.Key, str]:
    return _read(_bare(data))


def _read_wrapped(data: str) -> tuple[pieces.Key, str]:
    return _read(_wrapped(data).content_block_delta)


def _read(piece: _Piece) -> tuple[pieces.Key, str]:
    said = piece.delta
    if said.tool_use is not None:
        return ("input", piece.content_block_index), said.tool_use.input
    if said.reasoning_content is not None:
        return ("thought", piece.content_block_index), said.reasoning_content.text
    return ("text", piece.content_block_index), said.text


_FIELDS = {  # of the view, by the names of events
    "contentBlockDelta": "content_block_delta",
    "contentBlockStart": "content_block_start",
    "contentBlockStop": "content_block_stop",
    "messageStart": "message_start",
    "messageStop": "message_stop",
    "metadata": "metadata",
}
# By the names of events; other events have no name, or another name, and name their kind in the payload.
_READERS: dict[str, pieces.Read] = {
    **dict.fromkeys([*_FIELDS, "error"], pieces.no_piece),
    "contentBlockDelta": _read_bare,
}


# Parts that go back as they came.
#
#     {"toolResult": {"toolUseId", "type", "status", "content": [{"text"}, {"json"}]}}
#     {"citationsContent": {"content": [{"text"}], "citations": [{"title", "location", …}]}}
#     {"image": {"format", "source"}}, and parts of unknown kinds
#
# In a stream a result has its labels in the start of its block and its content in pieces, and citations come between
# the pieces of the text that they are about.


def _is_other(part: _Part) -> bool:
    """Return whether a whole part is more than a call, plain text or a thought."""
    return part.tool_use is None and part.reasoning_content is None and part.text is None


def _is_unknown(part: _Part) -> bool:
    """Return whether the kind of such a part is unknown."""
    known = (part.citations_content, part.tool_result, part.citation, part.image)
    return _is_other(part) and all(one is None for one in known)


def _kept_whole(part: _Part, wire: Any) -> list[deltas.Delta]:
    """Return the kept content of a whole part, as on the wire."""
    if not isinstance(wire, dict) or not wire or not _is_other(part):
        return []
    return [deltas.BlockKept(0, wire, of_text=part.citations_content is not None)]


class _KeptParts:
    """The open blocks of one message that go back as they came."""

    _growing: dict[deltas.Index | None, dict[str, Any]]

    def __init__(self) -> None:
        self._growing = {}

    def start(self, index: deltas.Index | None, part: _Part) -> None:
        """Note the start of a block: only results have one."""
        if isinstance(part.tool_result, dict):
            content = [*decode.listed(part.tool_result.get("content"))]
            self._growing[index] = {"toolResult": {**part.tool_result, "content": content}}

    def grow(self, index: deltas.Index | None, part: _Part) -> None:
        """Add a piece: of a result's content, or a citation to the text of its block."""
        value = self._growing.get(index)
        if value is None and isinstance(part.citation, dict):
            value = self._growing[index] = {"citationsContent": {"citations": []}}
        if value is None:
            return
        if "citationsContent" in value:
            value["citationsContent"]["citations"] += [] if part.citation is None else [part.citation]
        for piece in decode.listed(part.tool_result) if "toolResult" in value else ():
            _add_piece(value["toolResult"]["content"], piece)

    def stop(self, index: deltas.Index | None) -> list[deltas.Delta]:
        """Return the kept content of a block that ended."""
        value = self._growing.pop(index, None)
        return [] if value is None else [deltas.BlockKept(0, value, of_text="citationsContent" in value)]


def _add_piece(content: list[Any], piece: Any) -> None:
    """Add a piece to the content of a result: text continues where text was last."""
    last = content[-1] if content else None
    if isinstance(piece, dict) and isinstance(last, dict) and piece.keys() == last.keys() == {"text"}:
        content[-1] = {"text": f"{last['text']}{piece['text']}"}
    else:
        content.append(piece)


# The stream.


class ConverseTranslator(pieces.PieceTranslator):
    """Events of one ConverseStream to deltas."""

    decoder = msgspec.json.Decoder(_Event)

    _others: set[deltas.Index | None]
    _kept: _KeptParts
    _calls: dict[int, str | None]

    def _clear(self) -> None:
        self._others = set()  # indices of open blocks that are not calls
        self._kept = _KeptParts()
        self._calls = {}  # the ids of the calls that are open, by the index of their block

    def translate(self, frame: Frame) -> list[deltas.Delta]:
        """Return the deltas of one event."""
        return [error_of(frame)] if frame.event == "error" else super().translate(frame)

    def _reader(self, event: str) -> pieces.Read:
        return _READERS.get(event, _read_wrapped)

    def in_common(self, key: pieces.Key) -> deltas.Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, index = key[0], labels.index_label(key[1])
        if kind == "input":
            return deltas.Slot(0, index, None, "")
        if self._is_lower(index) or (kind == "text" and index not in self._others):
            return None  # another message, or a text that begins
        self._others.add(index)
        return deltas.TextFragment(0, "") if kind == "text" else deltas.ReasoningFragment(0, "", index)

    def _take(self, event: _Event, frame: Frame) -> list[deltas.Delta]:
        field = _FIELDS.get(frame.event)
        if field is None and event.output is not None and event.output.message is not None:
            return self._body(event, event.output.message, frame.data)
        if field is None:
            field = next((field for field in self.EVENTS if getattr(event, field) is not None), "")
        if not field:
            return self._other(event, frame, frame.event)
        inner: _Member | None = getattr(event, field)
        return self.EVENTS[field](self, event if inner is None else inner)

    def _other(self, event: _Event, frame: Frame, kind: str) -> list[deltas.Delta]:
        payload = decode.plain(frame.data)
        error = exception_in(payload) or decode.member(payload, "error")
        return report.error(error) if error else super()._other(event, frame, kind)

    def _body(self, event: _Event, message: _Message, text: str) -> list[deltas.Delta]:
        told = self._begin()
        parts = message.content or ()
        wire = (
            decode.member(decode.plain(text), "output", "message", "content")
            if any(map(_is_other, parts))
            else None
        )
        for index, part in enumerate(parts):
            if part.tool_use is None:
                told += self._part(index, part) + _kept_whole(part, decode.member(wire, index))
                told += report.answered(decode.member(part.tool_result, "toolUseId"))
            else:
                told += self._start_call(index, part.tool_use) + report.block_closed(index, self._others)
        return told + self._metadata(event) + self._message_stop(event)

    def _message_start(self, _member: _Member) -> list[deltas.Delta]:
        return self._begin()

    def _message_stop(self, event: _Member) -> list[deltas.Delta]:
        self._clear()
        return report.finish(event.stop_reason, drops_at="malformed") + self._end()

    def _metadata(self, event: _Member) -> list[deltas.Delta]:
        return report.usage(event.usage)

    # Blocks

    def _delta(self, event: _Member) -> list[deltas.Delta]:
        return self._part(labels.index_label(event.content_block_index), event.delta or _NO_PART)

    def _part(self, index: deltas.Index | None, part: _Part) -> list[deltas.Delta]:
        if part.tool_use is not None:
            return report.piece(index, decode.wire_text(part.tool_use.input))
        told = self._from(index)
        if index not in self._others and (part.text is not None or part.citations_content is not None):
            told.append(deltas.TextBegan(0))
        self._others.add(index)
        self._kept.grow(index, part)
        return told + _said(index, part)

    def _start(self, event: _Member) -> list[deltas.Delta]:
        index, part = labels.index_label(event.content_block_index), event.start or _NO_PART
        if part.tool_use is None:
            told = self._from(index, at_start=True)
            self._others.add(index)
            self._kept.start(index, part)
            return told + report.answered(decode.member(part.tool_result, "toolUseId"))
        id_ = labels.id_label(part.tool_use.tool_use_id)
        told = [] if id_ in self._calls.values() else self._from(index)
        if isinstance(index, int):
            self._calls[index] = id_
        return told + self._start_call(index, part.tool_use)

    def _from(self, index: deltas.Index | None, *, at_start: bool = False) -> list[deltas.Delta]:
        """Report that another message began, if a block's index is below that of an open call: blocks come in order."""
        if not self._is_lower(index, at_start=at_start):
            return []
        self._clear()
        self._n_turns += 1
        return [deltas.TurnOpened(f"message {self._n_turns}", restart=True)]

    def _is_lower(self, index: deltas.Index | None, *, at_start: bool = False) -> bool:
        highest = max(self._calls, default=-1)
        return isinstance(index, int) and (index < highest or (index == highest and at_start))

    def _start_call(self, index: deltas.Index | None, use: _ToolUse) -> list[deltas.Delta]:
        self._others.discard(index)
        kind: Kind = "server" if use.type == "server_tool_use" else "function"
        id_, name = labels.id_label(use.tool_use_id), labels.name_label(use.name)
        return report.call_start(index, id_, name, decode.wire_text(use.input), kind)

    def _stop(self, event: _Member) -> list[deltas.Delta]:
        index = labels.index_label(event.content_block_index)
        if isinstance(index, int):
            self._calls.pop(index, None)
        return report.block_closed(index, self._others) + self._kept.stop(index)

    EVENTS: ClassVar[translator.Events] = {
        "content_block_delta": _delta,
        "content_block_start": _start,
        "content_block_stop": _stop,
        "message_start": _message_start,
        "message_stop": _message_stop,
        "metadata": _metadata,
    }


def _said(index: deltas.Index | None, part: _Part) -> list[deltas.Delta]:
    """Return the deltas of a part that is not a call's."""
    if (thought := part.reasoning_content) is not None:
        signed = thought.reasoning_text or thought
        return report.thought(signed.text, index, signature=signed.signature, data=thought.redacted_content)
    if part.citations_content is not None:
        return [delta for cited in part.citations_content.content or () for delta in report.text(cited.text)]
    if part.text is not None:
        return report.text(part.text)
    return report.unknown() if _is_unknown(part) else []
