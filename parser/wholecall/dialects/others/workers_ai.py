"""Cloudflare Workers AI (`POST …/ai/run/MODEL`, `stream: true`), its own format.

    data: {"response":null,"tool_calls":[{"id":"c1","type":"function","index":0,"function":{"name":"f"}}]}
    data: {"response":null,"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]}
    data: {"response":null,"tool_calls":[{"id":null,"index":0,"function":{"name":null,"arguments":""}}]}
    data: {"response":"","usage":{…},"p":"padding"}
    data: [DONE]

The index tells calls apart, else the id, else the order. An entry that says nothing ends the call at its index.
Old models send whole calls, flat and without labels: `{"name":"f","arguments":{…}}`. Nothing names a reason.
Models that answer in chat completions do so on the same endpoint, frame by frame (quirk 89). A whole body is
such a frame, alone or as `result` between `success` and `errors`.

Source: Workers AI documentation, "Function calling", and Cloudflare's provider for the AI SDK.
"""

from __future__ import annotations

from typing import Any, Union

import msgspec
from msgspec.structs import replace

from wholecall.deltas import (
    OBJECT,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Index,
    Noted,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
)
from wholecall.dialects.decode import (
    NO_TEXT,
    decode,
    is_done,
    is_noise,
    plain,
    provider_error,
    read,
    wire_text,
)
from wholecall.dialects.labels import id_label, index_label, name_label
from wholecall.dialects.openai.chat import ChatTranslator
from wholecall.dialects.openai.chat_views import ToolCallView, argument_text
from wholecall.dialects.reasons import turn_reason
from wholecall.dialects.translator import ViewTranslator
from wholecall.framing.frame import Frame

__all__ = ["WorkersTranslator"]


class _Frame(msgspec.Struct, gc=False):
    response: msgspec.Raw = NO_TEXT
    tool_calls: Union[list[ToolCallView], ToolCallView, None] = None
    usage: Any = None
    finish_reason: Any = None
    choices: Any = None
    result: msgspec.Raw = NO_TEXT
    errors: Any = None
    error: Any = None
    type: Any = None


_DECODER = msgspec.json.Decoder(_Frame)


class WorkersTranslator(ViewTranslator):
    """Frames of one stream to deltas."""

    decoder = _DECODER

    _open: bool
    _lone: bool
    _n_slots: int
    _slots: dict[Index, int]
    _ids: dict[Index, str | None]
    _filled: set[Index]
    _over: dict[str, int]
    _latest: Index
    _guest: ChatTranslator

    def __init__(self) -> None:
        self._open = False
        self._lone = False  # all that came is a frame that may be a whole body
        self._n_slots = 0
        self._slots = {}  # of the open calls, by what the wire calls them
        self._ids = {}  # of the open calls
        self._filled = set()  # labels of the open calls that have text
        self._over = {}  # the slots of the calls that were closed, by their ids
        self._latest = 0
        self._guest = ChatTranslator()

    def close(self) -> list[Delta]:
        """Report that a lone body, which came as no server-sent event, was all there is: it has no end mark."""
        return [TurnEnded()] if self._lone else []

    def _slowly(self, frame: Frame) -> list[Delta]:
        self._lone = False
        if is_done(frame.data):
            return [TurnEnded(of_transport=True)]
        views, texts, deltas = read(_DECODER, frame)
        for view, text in zip(views, texts, strict=True):
            deltas += self._take(view, Frame(frame.event, text))
        return deltas

    def _take(self, view: _Frame, frame: Frame) -> list[Delta]:
        if view.error or view.errors or frame.event == "error":
            return [provider_error(view.error or _first(view.errors) or plain(frame.data))]
        if result := wire_text(view.result):
            return self._body(result)
        if view.choices:
            return self._chat(frame)
        if not bytes(view.response) and view.tool_calls is view.usage is view.finish_reason is None:
            noise = is_noise(frame) or view.type == "ping" or view.choices is not None
            return [] if noise else [Noted(0, "unknown_events")]
        self._lone = frame.event == "" and not self._open and isinstance(view.usage, dict)
        return self._begin() + self._said(view)

    def _body(self, result: str) -> list[Delta]:
        """A whole body; what lies deeper is no result."""
        view = decode(_DECODER, result)
        if view is None:
            return [*self._begin(), TextFragment(0, result), TurnEnded()]
        return [*self._take(replace(view, result=NO_TEXT), Frame("message", result)), TurnEnded()]

    def _begin(self) -> list[Delta]:
        if self._open:
            return []
        self._open = True
        return [TurnOpened(None)]

    def _chat(self, frame: Frame) -> list[Delta]:
        """A frame of chat completions belongs to the same turn, unless that has calls of its own: then another answer began."""
        self._lone = False
        deltas = self._guest.translate(frame)
        if self._n_slots:
            return [replace(d, key="chat", restart=True) if isinstance(d, TurnOpened) else d for d in deltas]
        if self._open:
            return [delta for delta in deltas if not isinstance(delta, TurnOpened)]
        self._open = True
        return deltas

    def _said(self, view: _Frame) -> list[Delta]:
        text, calls = wire_text(view.response), view.tool_calls
        deltas: list[Delta] = [TextFragment(0, text)] if text else []
        for call in [calls] if isinstance(calls, ToolCallView) else calls or ():
            deltas += self._call(call)
        if (known := turn_reason(view.finish_reason)) is not None:
            deltas.append(Finish(0, *known))
        if isinstance(view.usage, dict):
            deltas.append(UsageSeen(view.usage))
        return deltas

    # Calls.

    def _call(self, call: ToolCallView) -> list[Delta]:
        id_, name = id_label(call.id), name_label((call.function or call).name)
        text, whole = argument_text(call.function, call)
        label = self._label(index_label(call.index), id_, name)
        if id_ is name is None and not text:
            return self._close(label)
        deltas: list[Delta] = []
        if name and id_ and self._ids.get(label, id_) not in (None, id_):
            is_filled = label in self._filled
            ended = self._close(label)  # as another call took the index over (quirk 3)
            deltas += ended if is_filled else []  # which ends none without text
        slot = self._slot(label, id_)
        if id_ or name:
            self._ids[label] = id_ or self._ids.get(label)
            deltas.append(CallSeen(0, slot, None, id_, name))
        if text:
            self._filled.add(label)
            told = CallWhole(0, slot, None, None, None, text, OBJECT) if whole else Slot(0, slot, None, text)
            deltas.append(told)
        flat = call.function is None and call.index is None and name is not None
        return deltas + (self._close(label, final=bool(text)) if whole or flat else [])

    def _label(self, index: Index | None, id_: str | None, name: str | None) -> Index:
        """Return what tells an entry from others: without any label it belongs to the last call."""
        label: Index | None = id_ if index is None else index
        if label is None:
            label = self._latest if name is None else f"call {self._n_slots}"
        self._latest = label
        return label

    def _slot(self, label: Index, id_: str | None) -> int:
        """Return the slot of the call that is open under a label; the id of one that is over restates it."""
        slot = self._slots.get(label)
        if slot is None and id_ is not None:
            slot = self._over.get(id_)
        if slot is None:
            slot, self._n_slots = self._n_slots, self._n_slots + 1
        self._slots[label] = slot
        return slot

    def _close(self, label: Index, *, final: bool = True) -> list[Delta]:
        slot, id_ = self._slots.pop(label, None), self._ids.pop(label, None)
        self._filled.discard(label)
        if slot is None:
            return []
        if id_ is not None:
            self._over[id_] = slot
        return [CallClosed(0, slot, None, final=final)]


def _first(errors: object) -> object:
    return errors[0] if isinstance(errors, list) else errors
