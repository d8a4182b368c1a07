"""The UI message stream of the Vercel AI SDK, versions 5 and 6 (`toUIMessageStreamResponse`).

    start                    messageId?
    start-step, finish-step  -
    tool-input-start         toolCallId, toolName, providerExecuted?, inputEncoding?: json | text
    tool-input-delta         toolCallId, inputTextDelta
    tool-input-available     toolCallId, toolName, input: ANY, providerExecuted?, providerMetadata?
    tool-input-error         toolCallId, toolName, input, errorText
    tool-approval-request    approvalId, toolCallId
    text-delta, reasoning-delta    id, delta
    finish, abort, error     finishReason? | reason? | errorText

The call's id is its slot. `tool-input-available` ends a call, with or without deltas before it. A request for
approval follows the input that it is about, so the end of a call waits for the next event of another kind.
What a server that runs the tool says of its output is skipped. `finish` ends the message, and older versions
give it no reason. A whole message is `{id, role, parts}`.

Source: AI SDK documentation, "Stream Protocols", and the SDK's `UIMessageChunk` type.
"""

from __future__ import annotations

from collections.abc import Callable

from wholecall.deltas import (
    CallCancelled,
    Delta,
    Finish,
    Noted,
    TextFragment,
    TurnEnded,
    TurnOpened,
    by_transport,
)
from wholecall.dialects.decode import is_done, is_noise, provider_error, read, wire_text
from wholecall.dialects.frameworks.vercel_calls import Calls, sealed
from wholecall.dialects.frameworks.vercel_ui_views import DECODER, Chunk, Part, announced
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.reasons import NOT_WHOLE, turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame
from wholecall.types import DropReason

__all__ = ["VercelUITranslator"]

_QUIET = frozenset(
    {
        *("text-start", "text-end", "finish-step", "message-metadata", "file", "reasoning-file"),
        *("source-url", "source-document", "tool-approval-response", "ping"),
        *("tool-output-available", "tool-output-error", "tool-output-denied"),
    }
)
_RESULTS = frozenset({"tool-output-available", "tool-output-error", "tool-output-denied"})
_WAITING = frozenset({"tool-input-available", "tool-approval-request"})


class VercelUITranslator(ViewTranslator):
    """Frames of one stream to deltas."""

    decoder = DECODER

    DERIVED = frozenset({"_chunks"})
    _key: str | None
    _open: bool
    _calls: Calls
    _waiting: list[str]

    def __init__(self) -> None:
        self._key = None
        self._open = False
        self._calls = Calls()
        self._waiting = []  # calls that are whole, but may still need an approval
        self._chunks: dict[str | None, Callable[[Chunk], list[Delta]]] = {
            "tool-input-delta": self._input_delta,
            "text-delta": self._text,
            "reasoning-delta": self._reasoning,
            "reasoning-start": self._reasoning,
            "reasoning-end": self._reasoning,
            "tool-input-start": self._input_start,
            "tool-input-available": self._input,
            "tool-input-error": self._input_error,
            "tool-approval-request": self._approval,
            "start": self._start,
            "start-step": self._step,
            "finish": self._finish,
            "abort": self._abort,
            "error": self._error,
        }

    def close(self) -> list[Delta]:
        """Report that the calls are over whose whole input was the last that came."""
        return self._end_waiting()

    def _slowly(self, frame: Frame) -> list[Delta]:
        if is_done(frame.data):
            return self._end_waiting() + by_transport(self._end())
        chunks, _, deltas = read(DECODER, frame)
        if deltas:
            return self._end_waiting() + deltas
        return [delta for chunk in chunks for delta in self._take(chunk, frame)]

    def _take(self, chunk: Chunk, frame: Frame) -> list[Delta]:
        if chunk.type is None and frame.event in self._chunks:
            chunk.type = frame.event
        deltas: list[Delta] = []
        if chunk.type in _RESULTS and (id_ := id_label(chunk.tool_call_id)) is not None:
            self._calls.guard(id_)
            deltas = [CallCancelled(id_, answered=True)]
        if chunk.type not in _WAITING:
            deltas += self._end_waiting()
        known = self._chunks.get(chunk.type)
        if known is not None:
            return deltas + known(chunk)
        if chunk.error:
            return [*deltas, provider_error(chunk.error)]
        if chunk.type is None and chunk.parts is not None:
            return deltas + self._body(chunk)
        quiet = chunk.type in _QUIET or (chunk.type or "").startswith("data-") or is_noise(frame)
        return deltas if quiet else [*deltas, Noted(0, "unknown_events")]

    # Messages.

    def _start(self, chunk: Chunk) -> list[Delta]:
        id_ = id_label(chunk.message_id)
        is_torn = id_ != self._key and bool(self._calls.unsure())
        self._calls = Calls()
        if self._open and not is_torn and (id_ is None or self._key in (None, id_)):
            return []  # streams that were merged into one start more than once, but not within a call
        self._key, self._open = id_, True
        return [TurnOpened(id_, id_, restart=True)]

    def _step(self, _chunk: Chunk) -> list[Delta]:
        return self._calls.next_step()

    def _finish(self, chunk: Chunk) -> list[Delta]:
        known = turn_reason(chunk.finish_reason)
        told = [] if known is not None and known[0] in NOT_WHOLE else self._calls.no_repeats()
        told += self._calls.untold()
        told += [] if known is None else [Finish(0, *known, drops=known[0] == "error")]
        return told + self._end()

    def _abort(self, chunk: Chunk) -> list[Delta]:
        reason = text_label(chunk.reason) or "abort"
        return [Finish(0, "aborted", reason, drops=True), *self._end()]

    def _end(self) -> list[Delta]:
        key, self._key, self._open = self._key, None, False
        return [TurnEnded(key)]

    def _error(self, chunk: Chunk) -> list[Delta]:
        return [provider_error(chunk.error_text or chunk.error)]

    def _body(self, message: Chunk) -> list[Delta]:
        id_ = id_label(message.id)
        self._calls = Calls()
        deltas: list[Delta] = [TurnOpened(id_, id_, restart=True)]
        for number, part in enumerate(message.parts or ()):
            deltas += self._part(number, part)
        self._key = id_
        return deltas + self._end()

    # Text and calls.

    def _text(self, chunk: Chunk) -> list[Delta]:
        text = text_label(chunk.delta)
        return [TextFragment(0, text)] if text else []

    def _reasoning(self, chunk: Chunk) -> list[Delta]:
        return sealed(id_label(chunk.id), text_label(chunk.delta), chunk.provider_metadata)

    def _input_start(self, chunk: Chunk) -> list[Delta]:
        return self._calls.begun(announced(chunk))

    def _input_delta(self, chunk: Chunk) -> list[Delta]:
        return self._calls.piece(id_label(chunk.tool_call_id), chunk.input_text_delta)

    def _input(self, chunk: Chunk) -> list[Delta]:
        call = announced(chunk)
        deltas = self._calls.whole(call, wire_text(chunk.input))
        if call.id is not None:
            self._waiting.append(call.id)
        return deltas

    def _end_waiting(self) -> list[Delta]:
        waiting, self._waiting = self._waiting, []
        return [delta for id_ in waiting for delta in self._calls.closed(id_)]

    def _input_error(self, part: Part) -> list[Delta]:
        """A text could not be read by the server; a value that it could read, it did not want."""
        text = wire_text(part.input) or wire_text(part.raw_input)
        reason: DropReason = "schema" if bytes(part.input)[:1] in (b"{", b"[") else "unparseable"
        detail = text_label(part.error_text) or "the server refused the input"
        return self._calls.refused(announced(part), text, reason, detail)

    def _approval(self, chunk: Chunk) -> list[Delta]:
        return self._calls.asked(id_label(chunk.tool_call_id))

    def _part(self, number: int, part: Part) -> list[Delta]:
        kind = part.type or ""
        if kind == "step-start":
            self._calls.next_step()
        elif kind == "text":
            text = text_label(part.text)
            return [TextFragment(0, text)] if text else []
        elif kind == "reasoning":
            return sealed(number, text_label(part.text), part.provider_metadata)
        elif kind == "dynamic-tool" or kind.startswith("tool-"):
            return self._whole_call(part)
        elif kind not in _QUIET and not kind.startswith("data-"):
            return [Noted(0, "unknown_events")]
        return []

    def _whole_call(self, part: Part) -> list[Delta]:
        call, text = announced(part), wire_text(part.input)
        if part.state == "input-streaming":  # the SDK closes the brackets of what has come so far
            return self._calls.refused(call, text, "truncated", "the input was still coming")
        if part.state == "output-error" and not text:
            return self._input_error(part)
        waits = isinstance(part.state, str) and part.state.startswith("approval-")
        deltas = self._calls.whole(call, text, ("needs_approval",) if waits else (), listed=True)
        return deltas + self._calls.closed(call.id)
