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
run again (quirk 141). A `start-step` behind calls, before a `finish-step` or a result, begins their step again, as after
a lost connection: its ids mean the same calls. `finish` ends the message, and older versions give it no reason. A whole
message is `{id, role, parts}`.

Covers: the UI message stream of the Vercel AI SDK, versions 5 to 7, and its stored messages; calls that the server
    ran or that wait for an approval are marked.
Calls: told apart by `toolCallId`; each ends with `tool-input-available`.
Source: AI SDK documentation, "Stream Protocols", and the SDK's `UIMessageChunk` type.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Final, Union

import msgspec

from wholecall import deltas
from wholecall.dialects import decode, labels, pieces, reasons, report, translator, whole_calls
from wholecall.dialects.hidden_text import Pieces
from wholecall.framing.frame import Frame
from wholecall.types import DropReason, Flag, Kind

# Views.


class _Part(msgspec.Struct, gc=False, rename="camel"):
    """A part of a whole message, and the members that it shares with chunks."""

    type: str | None = None
    id: Any = None
    text: Any = None
    state: Any = None
    tool_call_id: Any = None
    tool_name: Any = None
    input: msgspec.Raw = decode.NO_TEXT
    raw_input: msgspec.Raw = decode.NO_TEXT
    input_encoding: Any = None
    provider_executed: Any = None
    provider_metadata: Any = None
    call_provider_metadata: Any = None
    tool_metadata: Any = None
    dynamic: Any = None
    title: Any = None
    error_text: Any = None


class _Chunk(_Part, gc=False, rename="camel"):
    """A chunk of a stream, or a whole message."""

    delta: Any = None
    input_text_delta: Any = None
    message_id: Any = None
    finish_reason: Any = None
    reason: Any = None
    error: Any = None
    role: Any = None
    parts: list[_Part] | None = None


_DECODER = msgspec.json.Decoder(_Chunk)


class _TextPiece(msgspec.Struct, gc=False, tag="text-delta"):
    """A piece of visible text."""

    of: ClassVar[None] = None
    text: str = msgspec.field(name="delta")
    error: None = None
    parts: None = None


class _ReasoningPiece(msgspec.Struct, gc=False, tag="reasoning-delta"):
    """A piece of reasoning that nothing seals."""

    of: str = msgspec.field(name="id")
    text: str = msgspec.field(name="delta")
    provider_metadata: None = msgspec.field(default=None, name="providerMetadata")
    error: None = None
    parts: None = None


class _InputPiece(msgspec.Struct, gc=False, tag="tool-input-delta"):
    """A piece of a call's text."""

    of: str = msgspec.field(name="toolCallId")
    text: str = msgspec.field(name="inputTextDelta")
    error: None = None
    parts: None = None


_piece = msgspec.json.Decoder(Union[_TextPiece, _InputPiece, _ReasoningPiece]).decode


def _read(data: str) -> tuple[pieces.Key, str]:
    chunk = _piece(data)
    return (type(chunk), chunk.of), chunk.text


# Calls.


class Announced(msgspec.Struct, frozen=True):
    """The attributes of a call in an event, in addition to its text."""

    id: str | None
    name: str | None = None
    kind: Kind = "function"
    extra: dict[str, Any] | None = None


class Calls:
    """The calls of one message, in either protocol of the AI SDK.

    The id of a call is its key in one step of a message. A message may run through several steps, as servers call the
    model again with the results of their tools, and an id may come again in a later step (quirk 64). Repeated from its
    beginning, a message has the same slots (quirk 91), and so has a step that begins again before it is over.

    Calls are bound by their ids as blocks are by their numbers: text with an unknown id belongs to the open call, and
    an input under another id to the open call of that name with the same input.
    """

    _step: int
    _is_over: bool
    _open: dict[str, str]
    _filled: set[str]
    _whole: set[str]
    _has_whole: bool
    _kinds: dict[str, Kind]
    _n_begun: int
    _n_whole: int
    _times: dict[str, list[int]]
    _guarded: set[str]
    _again: whole_calls.Repeats
    _last: list[Union[str, None]]

    def __init__(self) -> None:
        self._step = 0
        self._is_over = False  # the step has ended, or a result of one of its calls came
        self._open = {}  # ids to slots
        self._filled = set()  # slots that hold text
        self._whole = set()  # ids of calls that were sent whole in this step
        self._has_whole = False  # a call was sent whole
        self._kinds = {}  # of slots: members that a later event leaves out still count
        self._n_begun = 0  # calls without an id that had a beginning
        self._n_whole = 0  # whole inputs of calls without an id
        self._times = {}  # by id, "" for none: how often each different input in a row came
        self._guarded = set()  # ids that an approval or a result names: their calls are not only the client's
        self._again = whole_calls.Repeats()  # in a row
        self._last = []  # the last whole input: id, name and text

    @property
    def step(self) -> int:
        """The number of the step at hand."""
        return self._step

    @property
    def has_calls(self) -> bool:
        """Whether any call came."""
        return self._has_whole or bool(self._open)

    def end_step(self) -> None:
        """Note that another step may begin."""
        self._is_over = True

    def begin_step(self) -> list[deltas.Delta]:
        """Begin another step, if the last one is over: else that one begins again."""
        return self.next_step() if self._is_over else []

    def next_step(self) -> list[deltas.Delta]:
        """Free the ids; open calls keep their slots."""
        new = self.no_repeats()
        if self._times or self._open:
            new.append(deltas.StepBegan(0, self._step + 1))
        self._step += 1
        self._is_over = False
        for kept in (self._whole, self._times, self._guarded):
            kept.clear()
        return new

    def taken_back(self) -> Calls:
        """Return the calls of the step that follows one whose calls are all taken back."""
        calls = Calls()
        calls._step, calls._has_whole = self._step + 1, self._has_whole
        return calls

    def asked(self, id_: str | None) -> list[deltas.Delta]:
        """Report that a call waits for an approval; each other one under its id may wait, too."""
        self.guard(id_)
        return self.flagged(Announced(id_), ("needs_approval",)) if id_ in self._open else []

    def guard(self, id_: str | None) -> None:
        """Treat no other call of this id as one of the client's, as it is unknown which call is meant."""
        self._guarded.add(id_ or "")

    def answered(self, id_: str | None) -> list[deltas.Delta]:
        """Report the result of a call."""
        self.guard(id_)
        self.end_step()
        return report.answered(id_)

    def begun(self, call: Announced) -> list[deltas.Delta]:
        """Report that a call begins."""
        self._whole.discard(call.id or "")
        if call.id is None:
            self._n_begun, self._last = self._n_begun + 1, []
        slot, kind = self._slot(call)
        return [deltas.CallSeen(0, slot, None, call.id, call.name, kind, extra=call.extra, begins=True)]

    def flagged(self, call: Announced, flags: tuple[Flag, ...]) -> list[deltas.Delta]:
        """Report more about a call."""
        slot, kind = self._slot(call)
        return [deltas.CallSeen(0, slot, None, call.id, call.name, kind, flags=flags, extra=call.extra)]

    def piece(self, id_: str | None, text: object) -> list[deltas.Delta]:
        """Report a piece of a call's text."""
        return [msgspec.structs.replace(self.text_of(id_), text=decode.dumped(text))] if text else []

    def text_of(self, id_: str | None) -> deltas.Slot:
        """Note that text of a call comes; return the common fields of its pieces."""
        slot, _ = self._slot(Announced(id_))
        if slot is not None:
            self._filled.add(slot)
        return deltas.Slot(0, slot, id_, "")

    def whole(
        self, call: Announced, text: str, flags: tuple[Flag, ...] = (), *, listed: bool = False
    ) -> list[deltas.Delta]:
        """Report all of a call; one with an id is not closed by that. Another input under its id is another call.

        `listed`: in a whole message, which lists no call twice.
        """
        if not (listed and call.id is None) and self._is_known(call, text):
            said = deltas.CallWhole(
                0, None, None, call.id, call.name, text, deltas.ITEM_DONE, call.kind, extra=call.extra
            )
            self._again.add(said)
            return []
        before = self.closed(call.id) if call.id in self._whole else []
        again = call.id in self._whole and call.id not in self._open
        slot, kind = self._slot(call)
        if call.id is not None:
            self._whole.add(call.id)
        self._has_whole = True
        whole = deltas.CallWhole(
            0, slot, None, call.id, call.name, text, deltas.ITEM_DONE, kind, flags=flags, extra=call.extra
        )
        return [*before, msgspec.structs.replace(whole, begins=again, closes=slot is None)]

    def closed(self, id_: str | None) -> list[deltas.Delta]:
        """Report that a call is over."""
        slot = self._forget(id_)
        return [] if slot is None else [deltas.CallClosed(0, slot, None)]

    def refused(self, call: Announced, text: str, reason: DropReason, detail: str) -> list[deltas.Delta]:
        """Report that the wire itself refuses a call; the text counts only if no piece of it came."""
        slot, kind = self._slot(call)
        seen = deltas.CallSeen(0, slot, None, call.id, call.name, kind, extra=call.extra)
        kept = "" if slot in self._filled else text
        self._forget(call.id)
        return [seen, deltas.CallRefused(0, slot, None, reason, detail, kept)]

    def ended(self, finish: list[deltas.Delta]) -> list[deltas.Delta]:
        """Return why the message ended, preceded by the effects on its calls."""
        whole = not any(isinstance(end, deltas.Finish) and end.reason in reasons.NOT_WHOLE for end in finish)
        return [*(self.no_repeats() if whole else ()), *self._untold(), *finish]

    def _untold(self) -> list[deltas.Delta]:
        """Refuse calls that were begun and never sent whole, though others were: text alone shows where one ends."""
        detail = "the input of other calls was told, and that of this one was not"
        slots = self.unsure() if self._has_whole else []
        return [deltas.CallRefused(0, slot, None, "incomplete_input", detail) for slot in slots]

    def unsure(self) -> list[str]:
        """Return the slots of calls that were begun and not sent whole, if their text does not show where it ends."""
        begun = (slot for id_, slot in self._open.items() if id_ not in self._whole)
        return [slot for slot in begun if slot not in self._filled or self._kinds.get(slot) == "custom"]

    def no_repeats(self) -> list[deltas.Delta]:
        """Return the calls that were taken for repeats, and are not, once the message is over.

        Without ids each input is a call if as many came as calls began. Else, where the inputs under an id differ, the
        id does not distinguish calls (quirk 64), and they are calls if not each came twice.
        """
        new = [call for call in self._again.take() if self._is_new(call)]
        return [msgspec.structs.replace(call, id=None, begins=True, closes=True) for call in new]

    def _is_new(self, call: deltas.CallWhole) -> bool:
        if call.id is None and self._n_begun:
            return self._n_begun == self._n_whole
        id_ = call.id or ""
        if id_ in self._guarded:
            return False
        return whole_calls.says_nothing(self._times[id_])

    def _is_known(self, call: Announced, text: str) -> bool:
        """Return whether an input comes twice in a row, with no beginning between."""
        last, self._last = self._last, [call.id, call.name, text]
        known = last == self._last and (call.id is None or call.id in self._whole)
        self._n_whole += call.id is None
        times = self._times.setdefault(call.id or "", [])
        if known and times:
            times[-1] += 1
        else:
            times.append(1)
        return known

    def _slot(self, call: Announced) -> tuple[str | None, Kind]:
        if call.id is None:
            return None, call.kind
        slot = self._open.setdefault(call.id, f"{self._step}/{call.id}")
        if call.kind != "function":
            self._kinds[slot] = call.kind
        return slot, self._kinds.get(slot, "function")

    def _forget(self, id_: str | None) -> str | None:
        slot = self._open.pop(id_, None) if id_ is not None else None
        if slot is not None:
            self._filled.discard(slot)
        return slot


_RUN = frozenset({"output-available", "output-error", "output-denied"})  # nothing is left to execute
_CAMEL: Final = {field.name: field.encode_name for field in msgspec.structs.fields(_Part)}
_EXTRA: Final = ("provider_metadata", "call_provider_metadata", "tool_metadata", "dynamic", "title")


def _announced(part: _Part) -> Announced:
    """Return the attributes of a call in a chunk or a part, without the input."""
    kind: Kind = "custom" if part.input_encoding == "text" else "function"
    if part.provider_executed is True or labels.text_label(part.state) in _RUN:
        kind = "server"
    name = labels.name_label(part.tool_name)
    if name is None and part.state is not None and (part.type or "").startswith("tool-"):
        name = labels.name_label((part.type or "").removeprefix("tool-"))  # as in a whole message
    said = {_CAMEL[field]: getattr(part, field) for field in _EXTRA}
    extra = {member: value for member, value in said.items() if value is not None}
    return Announced(labels.id_label(part.tool_call_id), name, kind, extra or None)


# Seals of reasoning.

_SIGNATURES = ("signature", "thoughtSignature")
_SEALED = ("redactedData", "reasoningEncryptedContent")


def _sealed(block: Any, text: object, metadata: object) -> list[deltas.Delta]:
    """Return a piece of reasoning, with the values that its provider wants back; nothing if there is neither."""
    kept = list(_members(metadata))
    signature = next((value for name, value in kept if name in _SIGNATURES), None)
    data = next((value for name, value in kept if name in _SEALED), None)
    return report.thought(text, block, signature=signature, data=data)


def _members(metadata: object) -> Iterator[tuple[str, str]]:
    """Yield each provider's additions to a part, if they are text."""
    for added in metadata.values() if isinstance(metadata, dict) else ():
        for name, value in added.items() if isinstance(added, dict) else ():
            if isinstance(value, str) and value:
                yield name, value


# The stream.

_RESULTS = frozenset({"tool-output-available", "tool-output-error", "tool-output-denied"})
_WAITING = frozenset({"tool-input-available", "tool-approval-request", "reset-step"})  # end no call


class VercelUITranslator(pieces.PieceTranslator):
    """Frames of one stream to deltas."""

    decoder = _DECODER
    PIECES: ClassVar[Pieces] = {'"tool-input-delta"': "inputTextDelta"}
    QUIET = _RESULTS | {
        *("text-start", "text-end", "message-metadata", "file", "reasoning-file"),
        *("source-url", "source-document", "tool-approval-response", "custom", "steering-message"),
    }

    _calls: Calls
    _waiting: list[str]

    def _clear(self) -> None:
        self._calls = Calls()
        self._waiting = []  # calls that are whole, but may still need an approval

    def close(self) -> list[deltas.Delta]:
        """Report that the calls are over whose whole input was the last that came."""
        waiting, self._waiting = self._waiting, []
        return [delta for id_ in waiting for delta in self._calls.closed(id_)]

    def _slowly(self, frame: Frame) -> list[deltas.Delta]:
        told = super()._slowly(frame)
        return self.close() + told if told and isinstance(told[0], deltas.WireFault) else told

    def _done(self) -> list[deltas.Delta]:
        return self.close() + deltas.by_transport(self._end())

    def _reader(self, _event: str) -> pieces.Read:
        return _read

    def in_common(self, key: pieces.Key) -> deltas.Piecewise | None:
        """Return the common fields of a text's pieces, as for every such translator."""
        kind, of = key
        if self._waiting:
            return None
        if kind is _TextPiece:
            return deltas.TextFragment(0, "")
        return (
            self._calls.text_of(labels.id_label(of))
            if kind is _InputPiece
            else deltas.ReasoningFragment(0, "", labels.id_label(of))
        )

    def _take(self, chunk: _Chunk, frame: Frame) -> list[deltas.Delta]:
        kind, id_ = self._kind(chunk, frame), labels.id_label(chunk.tool_call_id)
        told: list[deltas.Delta] = []
        if kind in _RESULTS and id_ is not None:
            told = self._calls.answered(id_)
        if kind not in _WAITING:
            told += self.close()
        return told + super()._take(chunk, frame)

    def _other(self, chunk: _Chunk, frame: Frame, kind: str) -> list[deltas.Delta]:
        if chunk.type is None and chunk.parts is not None:
            begun = self._begin(labels.id_label(chunk.id))
            said = [delta for part in enumerate(chunk.parts) for delta in self._part(*part)]
            return begun + said + self._end()
        return [] if kind.startswith("data-") else super()._other(chunk, frame, kind)

    # Messages.

    def _start(self, chunk: _Chunk) -> list[deltas.Delta]:
        id_ = labels.id_label(chunk.message_id)
        is_torn = id_ != self._key and bool(self._calls.unsure())
        has_calls = self._calls.has_calls
        self._clear()  # a merged stream starts more than once, but not within a call
        opened = self._begin(id_) if is_torn else self._opened(id_)
        return opened if opened or not has_calls else [deltas.StepBegan(0, 0)]

    def _step_over(self, _chunk: _Chunk) -> list[deltas.Delta]:
        self._calls.end_step()
        return []

    def _step_again(self, _chunk: _Chunk) -> list[deltas.Delta]:
        """Take back all that came since the step began: the server runs it again."""
        self._waiting.clear()
        self._calls = self._calls.taken_back()
        return [deltas.StepTakenBack(0, self._calls.step)]

    def _finish(self, chunk: _Chunk) -> list[deltas.Delta]:
        return self._calls.ended(report.finish(chunk.finish_reason, drops_at="error")) + self._end()

    def _abort(self, chunk: _Chunk) -> list[deltas.Delta]:
        return [
            deltas.Finish(0, "aborted", labels.text_label(chunk.reason) or "abort", drops=True),
            *self._end(),
        ]

    # Text and calls.

    def _reasoning(self, chunk: _Chunk) -> list[deltas.Delta]:
        return _sealed(labels.id_label(chunk.id), chunk.delta, chunk.provider_metadata)

    def _input_delta(self, chunk: _Chunk) -> list[deltas.Delta]:
        return self._calls.piece(labels.id_label(chunk.tool_call_id), chunk.input_text_delta)

    def _input(self, chunk: _Chunk) -> list[deltas.Delta]:
        call = _announced(chunk)
        told = self._calls.whole(call, decode.wire_text(chunk.input))
        if call.id is not None:
            self._waiting.append(call.id)
        return told

    def _input_error(self, part: _Part) -> list[deltas.Delta]:
        """Report a refused input: a text that the server could not read, or a value that it did not accept."""
        text = decode.wire_text(part.input) or decode.wire_text(part.raw_input)
        reason: DropReason = "schema" if bytes(part.input)[:1] in (b"{", b"[") else "unparseable"
        detail = labels.text_label(part.error_text) or "the server refused the input"
        return self._calls.refused(_announced(part), text, reason, detail)

    EVENTS: ClassVar[translator.Events] = {
        "tool-input-delta": _input_delta,
        "text-delta": lambda _self, chunk: report.text(chunk.delta),
        "reasoning-delta": _reasoning,
        "reasoning-start": _reasoning,
        "reasoning-end": _reasoning,
        "tool-input-start": lambda self, chunk: self._calls.begun(_announced(chunk)),
        "tool-input-available": _input,
        "tool-input-error": _input_error,
        "tool-approval-request": lambda self, chunk: self._calls.asked(labels.id_label(chunk.tool_call_id)),
        "start": _start,
        "start-step": lambda self, _chunk: self._calls.begin_step(),
        "finish-step": _step_over,
        "reset-step": _step_again,
        "finish": _finish,
        "abort": _abort,
        "error": lambda _self, chunk: report.error(chunk.error_text or chunk.error),
    }

    # Parts of a whole message.

    def _part(self, number: int, part: _Part) -> list[deltas.Delta]:
        kind = part.type or ""
        if kind == "text":
            return report.text(part.text)
        if kind == "reasoning":
            return _sealed(number, part.text, part.provider_metadata)
        if kind == "dynamic-tool" or kind.startswith("tool-"):
            return self._whole_call(part)
        if kind == "step-start":
            return self._calls.next_step()
        known = kind in self.QUIET or kind.startswith("data-")
        return [] if known else report.unknown()

    def _whole_call(self, part: _Part) -> list[deltas.Delta]:
        call, text = _announced(part), decode.wire_text(part.input)
        if part.state == "input-streaming":  # the SDK closes the brackets of the text so far
            return self._calls.refused(call, text, "truncated", "the input was still coming")
        if part.state == "output-error" and not text:
            return self._input_error(part)
        waits = isinstance(part.state, str) and part.state.startswith("approval-")
        told = self._calls.whole(call, text, ("needs_approval",) if waits else (), listed=True)
        return told + self._calls.closed(call.id)
