"""The UI message stream of the Vercel AI SDK, versions 5 to 7 (`toUIMessageStreamResponse`).

    start                    messageId?
    start-step, finish-step, reset-step  -
    tool-input-start         toolCallId, toolName, providerExecuted?, inputEncoding?: json | text
    tool-input-delta         toolCallId, inputTextDelta
    tool-input-available     toolCallId, toolName, input: ANY, providerExecuted?, providerMetadata?
    tool-input-error         toolCallId, toolName, input, errorText
    tool-approval-request    approvalId, toolCallId
    text-delta, reasoning-delta    id, delta
    finish, abort, error     finishReason? | reason? | errorText

The call's id is its slot. `tool-input-available` ends a call, with or without deltas before it. A request for approval
follows the input that it is about, so the end of a call waits for the next event of another kind. The output of a tool
that a server runs is skipped. `reset-step` removes all parts since the last `start-step`, calls included: the step is
run again (quirk 141). `finish` ends the message, and older versions give it no reason. A whole message is
`{id, role, parts}`.

Source: AI SDK documentation, "Stream Protocols", and the SDK's `UIMessageChunk` type.
"""

from __future__ import annotations

from typing import ClassVar

from wholecall.deltas import (
    Delta,
    Finish,
    Piecewise,
    ReasoningFragment,
    StepBegan,
    StepTakenBack,
    TextFragment,
    WireFault,
    by_transport,
)
from wholecall.dialects import report
from wholecall.dialects.decode import wire_text
from wholecall.dialects.frameworks.vercel_calls import Calls, sealed
from wholecall.dialects.frameworks.vercel_ui_views import (
    DECODER,
    PIECES,
    Chunk,
    InputPiece,
    Part,
    TextPiece,
    announced,
)
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.pieces import Key, PieceTranslator, Read
from wholecall.dialects.translator import Events
from wholecall.framing.frame import Frame
from wholecall.types import DropReason

__all__ = ["VercelUITranslator"]

_RESULTS = frozenset({"tool-output-available", "tool-output-error", "tool-output-denied"})
_WAITING = frozenset({"tool-input-available", "tool-approval-request", "reset-step"})  # end no call


_piece = PIECES.decode


def _read(data: str) -> tuple[Key, str]:
    chunk = _piece(data)
    return (type(chunk), chunk.of), chunk.text


class VercelUITranslator(PieceTranslator):
    """Frames of one stream to deltas."""

    decoder = DECODER
    QUIET = _RESULTS | {
        *("text-start", "text-end", "finish-step", "message-metadata", "file", "reasoning-file"),
        *("source-url", "source-document", "tool-approval-response", "custom", "steering-message"),
    }

    _calls: Calls
    _waiting: list[str]

    def _clear(self) -> None:
        self._calls = Calls()
        self._waiting = []  # calls that are whole, but may still need an approval

    def close(self) -> list[Delta]:
        """Report that the calls are over whose whole input was the last that came."""
        waiting, self._waiting = self._waiting, []
        return [delta for id_ in waiting for delta in self._calls.closed(id_)]

    def _slowly(self, frame: Frame) -> list[Delta]:
        deltas = super()._slowly(frame)
        return self.close() + deltas if deltas and isinstance(deltas[0], WireFault) else deltas

    def _done(self) -> list[Delta]:
        return self.close() + by_transport(self._end())

    def _reader(self, _event: str) -> Read:
        return _read

    def in_common(self, key: Key) -> Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, of = key
        if self._waiting:
            return None
        if kind is TextPiece:
            return TextFragment(0, "")
        return (
            self._calls.text_of(id_label(of))
            if kind is InputPiece
            else ReasoningFragment(0, "", id_label(of))
        )

    def _take(self, chunk: Chunk, frame: Frame) -> list[Delta]:
        kind, id_ = self._kind(chunk, frame), id_label(chunk.tool_call_id)
        deltas: list[Delta] = []
        if kind in _RESULTS and id_ is not None:
            self._calls.guard(id_)
            deltas = report.answered(id_)
        if kind not in _WAITING:
            deltas += self.close()
        return deltas + super()._take(chunk, frame)

    def _other(self, chunk: Chunk, frame: Frame, kind: str) -> list[Delta]:
        if chunk.type is None and chunk.parts is not None:
            begun = self._begin(id_label(chunk.id))
            said = [delta for part in enumerate(chunk.parts) for delta in self._part(*part)]
            return begun + said + self._end()
        return [] if kind.startswith("data-") else super()._other(chunk, frame, kind)

    # Messages.

    def _start(self, chunk: Chunk) -> list[Delta]:
        id_ = id_label(chunk.message_id)
        is_torn = id_ != self._key and bool(self._calls.unsure())
        has_calls = self._calls.has_calls
        self._clear()  # a merged stream starts more than once, but not within a call
        opened = self._begin(id_) if is_torn else self._opened(id_)
        return opened if opened or not has_calls else [StepBegan(0, 0)]

    def _step_again(self, _chunk: Chunk) -> list[Delta]:
        """Take back all that came since the step began: the server runs it again."""
        self._waiting.clear()
        self._calls = self._calls.taken_back()
        return [StepTakenBack(0, self._calls.step)]

    def _finish(self, chunk: Chunk) -> list[Delta]:
        return self._calls.ended(report.finish(chunk.finish_reason, drops_at="error")) + self._end()

    def _abort(self, chunk: Chunk) -> list[Delta]:
        return [Finish(0, "aborted", text_label(chunk.reason) or "abort", drops=True), *self._end()]

    # Text and calls.

    def _reasoning(self, chunk: Chunk) -> list[Delta]:
        return sealed(id_label(chunk.id), chunk.delta, chunk.provider_metadata)

    def _input_delta(self, chunk: Chunk) -> list[Delta]:
        return self._calls.piece(id_label(chunk.tool_call_id), chunk.input_text_delta)

    def _input(self, chunk: Chunk) -> list[Delta]:
        call = announced(chunk)
        deltas = self._calls.whole(call, wire_text(chunk.input))
        if call.id is not None:
            self._waiting.append(call.id)
        return deltas

    def _input_error(self, part: Part) -> list[Delta]:
        """Report a refused input: a text that the server could not read, or a value that it did not accept."""
        text = wire_text(part.input) or wire_text(part.raw_input)
        reason: DropReason = "schema" if bytes(part.input)[:1] in (b"{", b"[") else "unparseable"
        detail = text_label(part.error_text) or "the server refused the input"
        return self._calls.refused(announced(part), text, reason, detail)

    EVENTS: ClassVar[Events] = {
        "tool-input-delta": _input_delta,
        "text-delta": lambda _self, chunk: report.text(chunk.delta),
        "reasoning-delta": _reasoning,
        "reasoning-start": _reasoning,
        "reasoning-end": _reasoning,
        "tool-input-start": lambda self, chunk: self._calls.begun(announced(chunk)),
        "tool-input-available": _input,
        "tool-input-error": _input_error,
        "tool-approval-request": lambda self, chunk: self._calls.asked(id_label(chunk.tool_call_id)),
        "start": _start,
        "start-step": lambda self, _chunk: self._calls.next_step(),
        "reset-step": _step_again,
        "finish": _finish,
        "abort": _abort,
        "error": lambda _self, chunk: report.error(chunk.error_text or chunk.error),
    }

    # Parts of a whole message.

    def _part(self, number: int, part: Part) -> list[Delta]:
        kind = part.type or ""
        if kind == "text":
            return report.text(part.text)
        if kind == "reasoning":
            return sealed(number, part.text, part.provider_metadata)
        if kind == "dynamic-tool" or kind.startswith("tool-"):
            return self._whole_call(part)
        if kind == "step-start":
            return self._calls.next_step()
        known = kind in self.QUIET or kind.startswith("data-")
        return [] if known else report.unknown()

    def _whole_call(self, part: Part) -> list[Delta]:
        call, text = announced(part), wire_text(part.input)
        if part.state == "input-streaming":  # the SDK closes the brackets of the text so far
            return self._calls.refused(call, text, "truncated", "the input was still coming")
        if part.state == "output-error" and not text:
            return self._input_error(part)
        waits = isinstance(part.state, str) and part.state.startswith("approval-")
        deltas = self._calls.whole(call, text, ("needs_approval",) if waits else (), listed=True)
        return deltas + self._calls.closed(call.id)
