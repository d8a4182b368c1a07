"""What both protocols of the Vercel AI SDK share: calls that are known by their ids, and seals of reasoning.

The id of a call is its key in one step of a message. A message may run through several steps, as servers call
the model again with what their tools gave, and an id may come again in a later one (quirk 64).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    ReasoningFragment,
    Slot,
)
from wholecall.dialects.decode import dumped
from wholecall.vocabulary import DropReason, Flag, Kind

__all__ = ["Announced", "Calls", "sealed"]

_SIGNATURES = ("signature", "thoughtSignature")
_SEALED = ("redactedData", "reasoningEncryptedContent")


class Announced(msgspec.Struct, frozen=True):
    """What an event says of a call beside its text."""

    id: str | None
    name: str | None = None
    kind: Kind = "function"
    extra: dict[str, Any] | None = None


class Calls:
    """The calls of one message, by their ids; told again from its beginning, it has the same slots (quirk 91)."""

    _step: int
    _anonymous: int
    _open: dict[str | None, str]
    _filled: set[str]
    _kinds: dict[str, Kind]

    def __init__(self) -> None:
        self._step = 0
        self._anonymous = 0  # calls without an id that have ended
        self._open = {}  # ids to slots
        self._filled = set()  # slots that hold text
        self._kinds = {}  # of slots: what a later event leaves out still counts

    def next_step(self) -> None:
        """Let ids be free again; what is open stays where it is."""
        self._step += 1

    def has(self, id_: str | None) -> bool:
        """Whether a call with this id is open."""
        return id_ in self._open

    def seen(self, call: Announced, flags: tuple[Flag, ...] = ()) -> list[Delta]:
        """Say that there is a call, or more about it."""
        slot = self._slot(call.id)
        kind = call.kind if call.kind != "function" else self._kinds.get(slot, "function")
        self._kinds[slot] = kind
        return [CallSeen(0, slot, None, call.id, call.name, kind, flags=flags, extra=call.extra)]

    def piece(self, id_: str | None, text: object) -> list[Delta]:
        """Say a piece of a call's text."""
        if not text:
            return []
        deltas = [] if id_ in self._open else self.seen(Announced(id_))
        slot = self._slot(id_)
        self._filled.add(slot)
        return [*deltas, Slot(0, slot, None, dumped(text))]

    def whole(self, call: Announced, text: str, flags: tuple[Flag, ...] = ()) -> list[Delta]:
        """Say all of a call; it is not closed by that."""
        deltas = self.seen(call, flags)
        slot = self._slot(call.id)
        if text:
            kind = self._kinds[slot]
            deltas.append(CallWhole(0, slot, None, call.id, call.name, text, ITEM_DONE, kind))
        return deltas

    def closed(self, id_: str | None) -> list[Delta]:
        """Say that a call is over."""
        return [CallClosed(0, self._forget(id_), None)]

    def refused(self, call: Announced, text: str, reason: DropReason, detail: str) -> list[Delta]:
        """Say that the wire itself refuses a call; the text counts only if no piece of it came."""
        deltas = self.seen(call)
        kept = "" if self._slot(call.id) in self._filled else text
        return [*deltas, CallRefused(0, self._forget(call.id), None, reason, detail, kept)]

    def _slot(self, id_: str | None) -> str:
        named = f"#{self._anonymous}" if id_ is None else f"/{id_}"
        return self._open.setdefault(id_, f"{self._step}{named}")

    def _forget(self, id_: str | None) -> str:
        slot = self._slot(id_)
        self._anonymous += id_ is None
        del self._open[id_]
        self._filled.discard(slot)
        return slot


def sealed(block: Any, text: str | None, metadata: object) -> list[Delta]:
    """Return a piece of reasoning, with what its provider wants back untouched; nothing if there is neither."""
    kept = list(_members(metadata))
    signature = next((value for name, value in kept if name in _SIGNATURES), None)
    data = next((value for name, value in kept if name in _SEALED), None)
    if not text and signature is data is None:
        return []
    return [ReasoningFragment(0, text or "", block, signature=signature, data=data)]


def _members(metadata: object) -> Iterator[tuple[str, str]]:
    """Yield what each provider added to a part, if it is text."""
    for added in metadata.values() if isinstance(metadata, dict) else ():
        for name, value in added.items() if isinstance(added, dict) else ():
            if isinstance(value, str) and value:
                yield name, value
