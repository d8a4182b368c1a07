"""Amazon Bedrock ConverseStream, and the body of Converse.

    messageStart       role
    contentBlockStart  contentBlockIndex, start{toolUse{toolUseId, name, type}}
    contentBlockDelta  contentBlockIndex, delta{text | toolUse{input} | reasoningContent{text, signature}}
    contentBlockStop   contentBlockIndex
    messageStop        stopReason
    metadata           usage, metrics
    ...Exception       message

In a binary event stream the event's type names the member, and the payload is bare; decoded by an SDK, an
event is an object whose only member is named so. Blocks of text have no start. A call lives in a block whose
index is its slot; `input` are pieces of JSON text, in a whole body it is the value. As in Anthropic Messages,
a stop for length can close a block with a member missing, so `CallClosed` is not final. A start ends nothing: a
block that another one displaces has not ended. When the provider calls its own output malformed, it does not say
which call: those that are not decided yet are dropped.

Nothing names the response or the model. `p` is padding. Usage may come before or after the stop reason. A tool's
result says that its call was executed; citations and images are skipped.
Source: AWS, "Bedrock Runtime API", ConverseStream.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec

from wholecall.deltas import (
    OBJECT,
    CallCancelled,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.amazon.converse_views import Event, Member, Message, Part, Reasoning, ToolUse
from wholecall.dialects.decode import (
    is_blank,
    is_noise,
    plain,
    provider_error,
    wire_text,
)
from wholecall.dialects.detect import CONVERSE_FIELDS
from wholecall.dialects.labels import id_label, index_label, name_label, text_label
from wholecall.dialects.other_blocks import OtherBlocks
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind

__all__ = ["ConverseTranslator", "exception_in", "told_error"]


_NO_PART = Part()


def told_error(frame: Frame) -> WireFault:
    """Return the fatal fault for a frame that is named `error`."""
    told = plain(frame.data)
    error = (told.get("error") or told) if isinstance(told, dict) else None
    return provider_error(error or frame.data)


class ConverseTranslator(ViewTranslator):
    """Events of one ConverseStream to deltas."""

    decoder = msgspec.json.Decoder(Event)

    _others: OtherBlocks
    _calls: dict[int, str | None]
    _n_lost: int

    def __init__(self) -> None:
        self._others = OtherBlocks()
        self._calls = {}  # the ids of the calls that are open, by the index of their block
        self._n_lost = 0  # messages whose start did not come
        self._events: dict[str, Callable[[Member], list[Delta]]] = {
            "contentBlockDelta": self._delta,
            "contentBlockStart": self._block_start,
            "contentBlockStop": self._block_stop,
            "messageStart": self._message_start,
            "messageStop": self._message_stop,
            "metadata": self._metadata,
        }

    def translate(self, frame: Frame) -> list[Delta]:
        """Return the deltas of one event."""
        if frame.event == "error":
            return [told_error(frame)]
        return super().translate(frame)

    def _take(self, event: Event, frame: Frame) -> list[Delta]:
        name = frame.event
        if name not in CONVERSE_FIELDS:
            name = next(
                (name for name, field in CONVERSE_FIELDS.items() if getattr(event, field) is not None), ""
            )
        if not name:
            return self._unknown(event, frame)
        member: Member | None = getattr(event, CONVERSE_FIELDS[name])
        return self._events[name](event if member is None else member)

    def _unknown(self, event: Event, frame: Frame) -> list[Delta]:
        if event.output is not None and event.output.message is not None:
            return self._body(event, event.output.message)
        if is_noise(frame):
            return []
        told = plain(frame.data)
        error = exception_in(told) or (told.get("error") if isinstance(told, dict) else None)
        return [provider_error(error) if error else Noted(0, "unknown_events")]

    # Blocks

    def _delta(self, member: Member) -> list[Delta]:
        return self._part(index_label(member.content_block_index), member.delta or _NO_PART)

    def _part(self, index: Index | None, part: Part) -> list[Delta]:
        if part.tool_use is not None:
            text = wire_text(part.tool_use.input)
            return [Slot(0, index, None, text)] if text else []
        return self._from(index, at_start=False) + self._said(index, part)

    def _said(self, index: Index | None, part: Part) -> list[Delta]:
        self._others.indices.add(index)
        if part.reasoning_content is not None:
            return _reasoning(index, part.reasoning_content)
        if part.citations_content is not None:
            return [delta for cited in part.citations_content.content or () for delta in _text(cited.text)]
        if part.text is not None:
            return _text(part.text)
        quiet = part.tool_result is not None or part.citation is not None or part.image is not None
        return [] if quiet else [Noted(0, "unknown_events")]

    def _block_start(self, member: Member) -> list[Delta]:
        index, part = index_label(member.content_block_index), member.start or _NO_PART
        if part.tool_use is not None:
            id_ = id_label(part.tool_use.tool_use_id)
            deltas = [] if id_ in self._calls.values() else self._from(index, at_start=False)
            if isinstance(index, int):
                self._calls[index] = id_
            return deltas + self._start_call(index, part.tool_use)
        deltas = self._from(index, at_start=True)
        self._others.indices.add(index)
        id_ = id_label(part.tool_result.get("toolUseId")) if isinstance(part.tool_result, dict) else None
        return deltas if id_ is None else [*deltas, CallCancelled(id_, answered=True)]

    def _from(self, index: Index | None, *, at_start: bool) -> list[Delta]:
        """Report that another message began, if a block's index is below that of an open call: blocks come in order."""
        highest = max(self._calls, default=-1)
        if not isinstance(index, int) or index > highest or (index == highest and not at_start):
            return []
        self._forget_blocks()
        self._n_lost += 1
        return [TurnOpened(f"message {self._n_lost}", restart=True)]

    def _start_call(self, index: Index | None, use: ToolUse) -> list[Delta]:
        id_, name = id_label(use.tool_use_id), name_label(use.name)
        self._others.indices.discard(index)
        kind: Kind = "server" if use.type == "server_tool_use" else "function"
        if is_blank(text := wire_text(use.input)):
            return [CallSeen(0, index, None, id_, name, kind, begins=True)]
        return [CallWhole(0, index, None, id_, name, text, OBJECT, kind, begins=True)]

    def _block_stop(self, member: Member) -> list[Delta]:
        index = index_label(member.content_block_index)
        if isinstance(index, int):
            self._calls.pop(index, None)
        return self._others.stop(index)

    # Messages

    def _forget_blocks(self) -> None:
        self._others.indices.clear()
        self._calls.clear()

    def _message_start(self, _member: Member) -> list[Delta]:
        self._forget_blocks()
        return [TurnOpened(None, restart=True)]

    def _message_stop(self, member: Member) -> list[Delta]:
        self._forget_blocks()
        return [*_finish(member.stop_reason), TurnEnded()]

    def _metadata(self, member: Member) -> list[Delta]:
        return [UsageSeen(member.usage)] if isinstance(member.usage, dict) else []

    def _body(self, event: Event, message: Message) -> list[Delta]:
        deltas = self._message_start(event)
        for index, part in enumerate(message.content or ()):
            if part.tool_use is None:
                deltas += self._part(index, part)
            else:
                deltas += self._start_call(index, part.tool_use) + self._others.stop(index)
        return deltas + self._metadata(event) + self._message_stop(event)


def exception_in(told: Any) -> dict[str, Any] | None:
    """Return the error that a decoded payload tells as a member with an exception's name."""
    for name, value in told.items() if isinstance(told, dict) else ():
        if name.endswith("Exception"):
            return {"code": name} | (value if isinstance(value, dict) else {"message": value})
    return None


def _text(text: object) -> list[Delta]:
    return [TextFragment(0, text)] if type(text) is str and text else []


def _reasoning(index: Index | None, block: Reasoning) -> list[Delta]:
    signed = block.reasoning_text or block
    text, signature = text_label(signed.text), text_label(signed.signature)
    sealed = text_label(block.redacted_content)
    if text is signature is sealed is None:
        return []
    return [ReasoningFragment(0, text or "", index, signature=signature, data=sealed)]


def _finish(raw: object) -> list[Delta]:
    known = turn_reason(raw)
    return [] if known is None else [Finish(0, *known, drops=known[0] == "malformed")]
