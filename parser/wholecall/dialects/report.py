"""Deltas that most translators report, one function each: a list, empty where the wire has nothing to report.

Values are the wire's own: a value that is not a text, a name or counts where one was due is treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from wholecall.deltas import (
    ITEM_DONE,
    OBJECT,
    CallCancelled,
    CallClosed,
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
    UsageSeen,
)
from wholecall.dialects.decode import is_blank, provider_error, wire_text
from wholecall.dialects.labels import id_label, text_label
from wholecall.dialects.reasons import turn_reason
from wholecall.types import Kind, TurnReason


def text(value: object, choice: int = 0) -> list[Delta]:
    """Return visible text."""
    return [TextFragment(choice, value)] if type(value) is str and value else []


def thought(
    value: object,
    block: Index | None = None,
    choice: int = 0,
    *,
    id: str | None = None,
    signature: object = None,
    data: object = None,
) -> list[Delta]:
    """Return a piece of reasoning, or its seal; nothing if there is neither."""
    thinks, signed, sealed = text_label(value), text_label(signature), text_label(data)
    if thinks is signed is sealed is None:
        return []
    return [ReasoningFragment(choice, thinks or "", block, id, signed, sealed)]


def usage(counts: Any) -> list[Delta]:
    """Return token counts."""
    return [UsageSeen(counts)] if isinstance(counts, dict) and counts else []


def counts(**counts: object) -> list[Delta]:
    """Return token counts that are in separate members; those that are None are absent."""
    return usage({name: count for name, count in counts.items() if count is not None})


def finish(raw: object, choice: int = 0, *, drops_at: TurnReason | None = None) -> list[Delta]:
    """Return why a choice ended; with the reason `drops_at` the provider takes back the open calls."""
    known = turn_reason(raw)
    return [] if known is None else [Finish(choice, *known, drops=known[0] == drops_at)]


def error(payload: Any, *, fatal: bool = True) -> list[Delta]:
    """Return the fault for an error that the provider reports: a fatal one, unless the stream outlives it."""
    return [replace(provider_error(payload), fatal=fatal)]


def failure(*, fatal: bool = True, **members: object) -> list[Delta]:
    """Return the fault for an error whose `members` are in an event next to others."""
    return error({name: value for name, value in members.items() if value is not None}, fatal=fatal)


def unknown(choice: int = 0) -> list[Delta]:
    """Report an event that the dialect does not know."""
    return [Noted(choice, "unknown_events")]


# Calls in slots.


def call_start(
    slot: Index | None,
    id: str | None,
    name: str | None,
    text: str = "",
    kind: Kind = "function",
    *,
    namespace: str | None = None,
    extra: dict[str, Any] | None = None,
) -> list[Delta]:
    """Return the start of a call's block; an empty value in it is a placeholder for pieces to come (quirk 25)."""
    if is_blank(text):
        return [CallSeen(0, slot, None, id, name, kind, namespace, extra=extra, begins=True)]
    return [CallWhole(0, slot, None, id, name, text, OBJECT, kind, namespace, extra=extra, begins=True)]


def seen(slot: Index | None, id: str | None, name: str | None, kind: Kind = "function") -> list[Delta]:
    """Return the labels of a call that is open, or opens with them; nothing if there are no labels."""
    return [] if id is name is None else [CallSeen(0, slot, None, id, name, kind)]


def piece(slot: Index | None, text: str, kind: Kind = "function", *, whole: bool = False) -> list[Delta]:
    """Return a piece of a call's text; or its `whole` value, where an empty one is a placeholder (quirk 25)."""
    if whole:
        return [] if is_blank(text) else [CallWhole(0, slot, None, None, None, text, OBJECT, kind)]
    return [Slot(0, slot, None, text)] if text else []


def whole_call(
    slot: Index | None,
    id: str | None,
    name: str | None,
    text: str,
    kind: Kind = "function",
    *,
    final: bool = True,
) -> list[Delta]:
    """Return a call that came whole, and ends; if that is not `final`, the turn's reason decides whether it was cut."""
    deltas: list[Delta] = [CallSeen(0, slot, None, id, name, kind)]
    if text:
        deltas.append(CallWhole(0, slot, None, id, name, text, ITEM_DONE, kind))
    return deltas + closed(slot, final=final)


def closed(slot: Index | None, *, final: bool = True) -> list[Delta]:
    """Report that the wire ended a call."""
    return [CallClosed(0, slot, None, final=final)]


def block_closed(index: Index | None, others: set[Index | None]) -> list[Delta]:
    """Report that a block ended, if it may be a call's; `others` are the open blocks that are not.

    A closed call is not final: a cut turn can close a call with a member missing, so the later events decide.
    """
    if index in others:
        others.discard(index)
        return []
    return [CallClosed(0, index, None, final=False)]


def arguments_of(members: Mapping[str, msgspec.Raw]) -> str:
    """Return the arguments of an action: the member of that name, or an object of the members that say something."""
    if "arguments" in members:
        return wire_text(members["arguments"])
    raws = {name: bytes(raw) for name, raw in members.items()}
    said = [
        f'"{name}":{raw.decode("utf-8", "surrogatepass")}'
        for name, raw in raws.items()
        if raw not in (b"", b"null")
    ]
    return f"{{{','.join(said)}}}" if said else ""


def extra(**members: object) -> dict[str, Any] | None:
    """Return the other members of a call that are not empty, None if there are none."""
    return {name: value for name, value in members.items() if value} or None


def answered(id: object) -> list[Delta]:
    """Report a call's result in the stream: a call of any kind was executed elsewhere."""
    label = id_label(id)
    return [] if label is None else [CallCancelled(label, answered=True)]


# Deltas of one frame, which know of each other.


def restated_together(deltas: list[Delta], others: Iterable[str] = ()) -> list[Delta]:
    """Give each restated call the ids of all calls that the message restates, and `others`.

    A call whose own id is among them is restated by that id only.
    """
    wholes = [delta for delta in deltas if isinstance(delta, CallWhole)]
    ids = frozenset(others).union(whole.id for whole in wholes if whole.id is not None)
    if not wholes or len(ids) < 2:
        return deltas
    return [replace(delta, restated_ids=ids) if isinstance(delta, CallWhole) else delta for delta in deltas]


def ended_together(deltas: list[Delta]) -> list[Delta]:
    """Mark each finish if the end of its turn follows in the same frame."""
    if not deltas or type(deltas[-1]) is not TurnEnded:
        return deltas
    return [replace(delta, ends=True) if isinstance(delta, Finish) else delta for delta in deltas]
