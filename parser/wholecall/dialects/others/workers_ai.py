"""Cloudflare Workers AI (`POST …/ai/run/MODEL`, `stream: true`), its own format.

    data: {"response":null,"tool_calls":[{"id":"c1","type":"function","index":0,"function":{"name":"f"}}]}
    data: {"response":null,"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}
    data: {"response":null,"tool_calls":[{"id":null,"index":0,"function":{"name":null,"arguments":""}}]}
    data: {"response":"","usage":{…},"p":"padding"}
    data: [DONE]

The index distinguishes calls, else the id, else the order. An empty entry ends the call at its index. Old models send
whole calls, flat and without labels: `{"name":"f","arguments":{…}}`. Nothing names a reason. Models that answer in chat
completions do so on the same endpoint, frame by frame (quirk 89). A whole body is such a frame, alone or as `result`
between `success` and `errors`.

Covers: Cloudflare Workers AI: streamed and flat calls, its REST envelope, models that answer in chat completions.
Calls: told apart by index and id; each ends with `[DONE]`.
Source: Workers AI documentation, "Function calling", and Cloudflare's provider for the AI SDK.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar, Union

import msgspec
from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects import at, decode, labels, report, translator
from wholecall.dialects.hidden_text import Pieces
from wholecall.dialects.openai.chat.chunks import ToolCallView, argument_text
from wholecall.dialects.openai.chat.translator import ChatTranslator
from wholecall.framing.frame import Frame


class _Frame(translator.EventView, gc=False):
    response: msgspec.Raw = decode.NO_TEXT
    tool_calls: Union[list[ToolCallView], None] = None
    usage: Any = None
    finish_reason: Any = None
    choices: Any = None
    result: msgspec.Raw = decode.NO_TEXT
    errors: Any = None


class _Call(msgspec.Struct):
    slot: int
    id: Union[str, None] = None
    filled: bool = False


class WorkersTranslator(translator.TurnTranslator):
    """Frames of one stream, which is one turn, to deltas."""

    decoder = msgspec.json.Decoder(_Frame)
    PIECES: ClassVar[Pieces] = {
        '"tool_calls":': "|".join(f"tool_calls:{path}" for path in at.CHAT_PIECES),
        '"function":': "|".join(["choices", *(f"tool_calls.{path}" for path in at.CHAT_PIECES)]),
    }

    _lone: bool
    _n_slots: int
    _calls: dict[deltas.Index, _Call]
    _over: dict[deltas.Index, int]
    _latest: deltas.Index
    _guest: ChatTranslator

    def _clear(self) -> None:
        self._lone = False  # the only input so far is a frame that may be a whole body
        self._n_slots = 0
        self._calls = {}  # the open calls, by their labels on the wire
        self._over = {}  # the slots of the calls that were closed, by their ids and labels
        self._latest = 0
        self._guest = ChatTranslator()

    def lose(self) -> None:
        """Note that a frame was lost: a body was not alone."""
        self._lone = False

    def close(self) -> list[deltas.Delta]:
        """Report the end of a lone body that did not come as a server-sent event: it has no end mark."""
        return self._body_ends() if self._lone else []

    def _body_ends(self, before: Collection[deltas.Index] = ()) -> list[deltas.Delta]:
        """Return the end of a whole body, and so of each call that it lists; others began `before` it."""
        listed = [label for label in self._calls if label not in before]
        return [*(end for label in listed for end in self._close(label)), deltas.TurnEnded()]

    def _done(self) -> list[deltas.Delta]:
        self._lone = False
        return [deltas.TurnEnded(of_transport=True)]

    def _other(self, view: _Frame, frame: Frame, kind: str) -> list[deltas.Delta]:
        if view.errors or frame.event == "error":
            return self._fail(decode.member(view.errors, 0) or view.errors or decode.plain(frame.data))
        if result := decode.wire_text(view.result):
            before = set(self._calls)
            return [*self._body(result), *self._body_ends(before)]
        if view.choices:
            return self._chat(frame)
        if not bytes(view.response) and view.tool_calls is view.usage is None:
            return [] if view.choices is not None else super()._other(view, frame, kind)
        opened = self._opened()
        self._lone = bool(opened) and frame.event == "" and isinstance(view.usage, dict)
        calls = [delta for call in view.tool_calls or () for delta in self._call(call)]
        is_ours = bool(bytes(view.response)) or view.tool_calls is not None
        ends = (report.finish(view.finish_reason) if is_ours else []) + report.usage(view.usage)
        return opened + report.text(decode.wire_text(view.response)) + calls + ends

    def _body(self, result: str) -> list[deltas.Delta]:
        """Return the deltas of a whole body; results are only at its top level."""
        view = decode.decode(self.decoder, result)
        if view is None:
            return self._opened() + report.text(result)
        return self._take(replace(view, result=decode.NO_TEXT), Frame("message", result))

    def _chat(self, frame: Frame) -> list[deltas.Delta]:
        """Return a frame of chat completions: of the same turn, unless that has calls; then another answer began."""
        self._lone = False
        told, was_open, self._open = self._guest.translate(frame), self._open, True
        if self._n_slots:
            return [
                replace(d, key="chat", restart=True) if isinstance(d, deltas.TurnOpened) else d for d in told
            ]
        return [delta for delta in told if not (was_open and isinstance(delta, deltas.TurnOpened))]

    def _call(self, entry: ToolCallView) -> list[deltas.Delta]:
        id_, name = labels.id_label(entry.id), labels.name_label((entry.function or entry).name)
        text, whole = argument_text(entry.function, entry)
        label = self._label(labels.index_label(entry.index), id_, name)
        if id_ is name is None and not text:
            return self._close(label)
        told: list[deltas.Delta] = []
        before = self._calls.get(label)
        if before is not None and name and id_ and before.id not in (None, id_):
            told += [end for end in self._close(label) if before.filled]  # another's index (quirk 3)
        call = self._calls.get(label) or self._begun(label, "" if name else id_ or label)
        call.id, call.filled = id_ or call.id, call.filled or bool(text)
        told += report.seen(call.slot, id_, name)
        if text:
            value = deltas.CallWhole(0, call.slot, None, None, None, text, deltas.OBJECT)
            told.append(value if whole else deltas.Slot(0, call.slot, None, text))
        flat = entry.function is None and entry.index is None and name is not None
        return told + (self._close(label, final=bool(text)) if whole or flat else [])

    def _label(self, index: deltas.Index | None, id_: str | None, name: str | None) -> deltas.Index:
        """Return the labels that distinguish an entry from others: without any label it belongs to the last call."""
        otherwise = self._latest if name is None else f"call {self._n_slots}"
        self._latest = next((label for label in (index, id_) if label is not None), otherwise)
        return self._latest

    def _begun(self, label: deltas.Index, known: deltas.Index) -> _Call:
        """Return a new call; the id of a closed call, or else its index, without a name, restates that call.

        {"index":0,"function":{"arguments":"{}"}}    again, after the call at index 0 was closed
        """
        slot = self._over.get(known, self._n_slots)
        self._n_slots = max(self._n_slots, slot + 1)
        return self._calls.setdefault(label, _Call(slot))

    def _close(self, label: deltas.Index, *, final: bool = True) -> list[deltas.Delta]:
        call = self._calls.pop(label, None)
        if call is None:
            return []
        self._over[label] = call.slot
        if call.id is not None:
            self._over[call.id] = call.slot
        return report.closed(call.slot, final=final)
