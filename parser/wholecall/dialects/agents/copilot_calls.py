"""The calls of one turn of a Copilot agent, and who executes them.

A call is *listed* by a message, and *decided* once it is known who executes it; later events of it change nothing. An
id names its call for as long as the turn lasts. Where turns have no marks, and may be several answers, the id of a call
that was listed and decided is free for another one (quirk 64).
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from wholecall.deltas import (
    DONE,
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Slot,
    WireFault,
)
from wholecall.dialects.agents.copilot_views import Data, Request
from wholecall.dialects.decode import dumped, wire_text
from wholecall.dialects.labels import id_label, name_label
from wholecall.types import DropReason, Flag, Kind

__all__ = ["Calls"]

_EXTRA: Final = {
    field.name: field.encode_name
    for view in (Request, Data)
    for field in msgspec.structs.fields(view)
    if field.name.startswith(("mcp_", "tool_title", "intention_", "request_id", "session_id"))
}


class _Call:
    """The state of a call."""

    slot: int
    id: str | None
    kind: Kind
    seen: bool
    named: bool
    text: str
    is_listed: bool
    whole: bool
    decided: bool
    waits: bool

    def __init__(self, slot: int, id: str | None) -> None:
        self.slot = slot
        self.id = id
        self.kind = "function"
        self.seen = self.named = False
        self.text = ""  # of a free-text tool, as it was last sent
        self.is_listed = False  # listed by a message
        self.whole = False  # its whole text is known, from any event
        self.decided = False
        self.waits = False  # waits for a permission


class Calls:
    """The calls of one turn.

    Attributes:
        requested: the client is to execute one of them.
        cut: the model's answer was cut.
    """

    _marked: bool
    _n_calls: int
    _by_id: dict[str | None, _Call]
    _left: dict[int, _Call]
    _in_pieces: dict[int, _Call]
    _unnamed: dict[int, _Call]
    requested: bool
    cut: bool

    def __init__(self, *, marked: bool) -> None:
        self._marked = marked  # whether the turn is marked
        self._n_calls = 0
        self._by_id = {}
        self._left = {}  # calls that are not decided, by their slots
        self._in_pieces = {}  # the undecided calls whose content is not complete
        self._unnamed = {}  # and the calls without an id
        self.requested = False
        self.cut = False

    def has(self, id_: str | None) -> bool:
        """Return whether the id names a call of this turn."""
        return id_ in self._by_id

    def is_over(self, id_: str | None) -> bool:
        """Return whether there is nothing more to learn of the call of this id."""
        return self._by_id[id_].decided

    # The model's output.

    def piece(self, data: Data) -> list[Delta]:
        """Report a piece of a call's input; the first one opens the call."""
        id_, name, text = id_label(data.tool_call_id), name_label(data.tool_name), data.input_delta
        call = self._announced(id_) if id_ is not None else self._sole()
        if call is None:
            return [_UNOWNED] if text else []
        deltas: list[Delta] = []
        if not call.seen or (name is not None and not call.named):
            call.seen, call.named = True, name is not None
            call.kind = "custom" if data.tool_type == "custom" else call.kind
            deltas.append(CallSeen(0, call.slot, None, id_, name, call.kind))
        return [*deltas, Slot(0, call.slot, None, dumped(text))] if text else deltas

    def request_by_message(self, request: Request) -> list[Delta]:
        """Report the call that a message lists: all of it, with or without pieces before."""
        call = self._announced(id_label(request.tool_call_id))
        call.is_listed = True
        if call.decided:
            return []
        if request.type == "custom":
            call.kind = "custom"
        return self._whole(call, name_label(request.name), request, DONE)

    # The outcome of a call.

    def start(self, data: Data) -> list[Delta]:
        """Report that the execution of a call begins, by the agent or the client."""
        return self._whole(self._meant(data), name_label(data.tool_name), data, ITEM_DONE)

    def request(self, data: Data) -> list[Delta]:
        """Report that the client is to execute a call."""
        call = self._decided(self._meant(data))
        self.requested = True
        flags: tuple[Flag, ...] = ("turn_truncated",) if self.cut else ()
        whole = self._whole(call, name_label(data.tool_name), data, ITEM_DONE, flags)
        return [*whole, CallClosed(0, call.slot, None)]

    def complete(self, id_: str | None) -> list[Delta]:
        """Report that an open call was executed, and that the client was not asked to."""
        return self._agents_own(self._by_id[id_])

    def wait(self, id_: str | None) -> list[Delta]:
        """Note that an open call waits for a permission."""
        self._by_id[id_].waits = True
        return []

    def permit(self, id_: str | None) -> list[Delta]:
        """Note that an open call waits no longer."""
        self._by_id[id_].waits = False
        return []

    def deny(self, id_: str | None) -> list[Delta]:
        """Report that an open call may not be executed."""
        slot = self._decided(self._by_id[id_]).slot
        return [CallRefused(0, slot, None, "aborted", "the call was denied")]

    def settle(self, reason: DropReason, detail: str) -> list[Delta]:
        """Report all calls that are left: as the agent's own if they are whole, else dropped for this reason."""
        deltas: list[Delta] = []
        for call in list(self._left.values()):
            if call.whole:
                deltas += self._agents_own(call)
            else:
                slot = self._decided(call).slot
                deltas.append(CallRefused(0, slot, None, reason, detail))
        return deltas

    def give_up(self) -> None:
        """Let the end of the turn decide about the calls that are left."""
        for call in list(self._left.values()):
            self._decided(call)

    def _decided(self, call: _Call) -> _Call:
        call.decided = True
        for calls in (self._left, self._in_pieces, self._unnamed):
            calls.pop(call.slot, None)
        return call

    def _agents_own(self, call: _Call) -> list[Delta]:
        slot = self._decided(call).slot
        flags: tuple[Flag, ...] = ("needs_approval",) if call.waits else ()
        said: Delta = CallSeen(0, slot, None, None, None, "server", flags=flags)
        if call.kind == "custom":
            if not call.whole:
                return [CallRefused(0, slot, None, "incomplete_input", "nothing tells all of the input")]
            text, call.text = dumped({"input": call.text}), ""
            said = CallWhole(0, slot, None, None, None, text, ITEM_DONE + 1, "server", flags=flags)
        return [said, CallClosed(0, slot, None)]

    def _whole(
        self, call: _Call, name: str | None, request: Request | Data, rank: int, flags: tuple[Flag, ...] = ()
    ) -> list[Delta]:
        text, extra = wire_text(request.arguments), _extra(request)
        slot, id_, kind = call.slot, call.id, call.kind
        call.whole = True
        self._in_pieces.pop(slot, None)
        if kind == "custom" and text:
            call.text = text
        if not text:
            return [CallSeen(0, slot, None, id_, name, kind, flags=flags, extra=extra)]
        return [CallWhole(0, slot, None, id_, name, text, rank, kind, flags=flags, extra=extra)]

    # Which call is meant.

    def _announced(self, id_: str | None) -> _Call:
        call = self._by_id.get(id_)
        another = call is not None and call.decided and call.is_listed and not self._marked
        return self._open(id_) if call is None or another else call

    def _meant(self, data: Data) -> _Call:
        id_ = id_label(data.tool_call_id)
        unnamed = next(iter(self._unnamed.values()), None) if id_ is None else None
        return self._by_id.get(id_) or unnamed or self._open(id_)

    def _sole(self) -> _Call | None:
        return next(iter(self._in_pieces.values())) if len(self._in_pieces) == 1 else None

    def _open(self, id_: str | None) -> _Call:
        call = _Call(self._n_calls, id_)
        self._n_calls += 1
        self._left[call.slot] = self._in_pieces[call.slot] = call
        if id_ is not None:
            self._by_id[id_] = call
        else:
            self._unnamed[call.slot] = call
        return call


def _extra(request: Request | Data) -> dict[str, Any] | None:
    said = {wire: getattr(request, name, None) for name, wire in _EXTRA.items()}
    return {wire: value for wire, value in said.items() if value} or None


_UNOWNED = WireFault("undecodable_frame", "a piece of input names none of the open calls", hole=True)
