"""Deltas that most translators report, one function each: a list, empty where the wire has nothing to report.

Values are the wire's own: a value that is not a text, a name or counts where one was due is treated as absent.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from wholecall import deltas
from wholecall.dialects import decode, labels, reasons
from wholecall.types import Kind, TurnReason


def text(value: object, choice: int = 0) -> list[deltas.Delta]:
    """Return visible text."""
    return [deltas.TextFragment(choice, value)] if type(value) is str and value else []


def thought(
    value: object,
    block: deltas.Index | None = None,
    choice: int = 0,
    *,
    id: str | None = None,
    signature: object = None,
    data: object = None,
) -> list[deltas.Delta]:
    """Return a piece of reasoning, or its seal; nothing if there is neither."""
    thinks, signed, sealed = labels.text_label(value), labels.text_label(signature), labels.text_label(data)
    if thinks is signed is sealed is None:
        return []
    return [deltas.ReasoningFragment(choice, thinks or "", block, id, signed, sealed)]


def usage(counts: Any) -> list[deltas.Delta]:
    """Return token counts."""
    return [deltas.UsageSeen(counts)] if isinstance(counts, dict) and counts else []


def counts(**counts: object) -> list[deltas.Delta]:
    """Return token counts that are in separate members; those that are None are absent."""
    return usage({name: count for name, count in counts.items() if count is not None})


def finish(raw: object, choice: int = 0, *, drops_at: TurnReason | None = None) -> list[deltas.Delta]:
    """Return why a choice ended; broken off, or with the reason `drops_at`, it leaves no open call."""
    known = reasons.turn_reason(raw)
    return [] if known is None else [deltas.Finish(choice, *known, drops=known[0] in ("aborted", drops_at))]


def error(payload: Any, *, fatal: bool = True) -> list[deltas.Delta]:
    """Return the fault for an error that the provider reports: a fatal one, unless the stream outlives it."""
    return [replace(decode.provider_error(payload), fatal=fatal)]


def failure(*, fatal: bool = True, **members: object) -> list[deltas.Delta]:
    """Return the fault for an error whose `members` are in an event next to others."""
    return error({name: value for name, value in members.items() if value is not None}, fatal=fatal)


def unknown(choice: int = 0) -> list[deltas.Delta]:
    """Report an event that the dialect does not know."""
    return [deltas.Noted(choice, "unknown_events")]


# Calls in slots.


def call_start(
    slot: deltas.Index | None,
    id: str | None,
    name: str | None,
    text: str = "",
    kind: Kind = "function",
    *,
    namespace: str | None = None,
    extra: dict[str, Any] | None = None,
) -> list[deltas.Delta]:
    """Return the start of a call's block; an empty value in it is a placeholder for pieces to come (quirk 25)."""
    if decode.is_blank(text):
        return [deltas.CallSeen(0, slot, None, id, name, kind, namespace, extra=extra, begins=True)]
    return [
        deltas.CallWhole(
            0, slot, None, id, name, text, deltas.OBJECT, kind, namespace, extra=extra, begins=True
        )
    ]


def seen(
    slot: deltas.Index | None, id: str | None, name: str | None, kind: Kind = "function"
) -> list[deltas.Delta]:
    """Return the labels of a call that is open, or opens with them; nothing if there are no labels."""
    return [] if id is name is None else [deltas.CallSeen(0, slot, None, id, name, kind)]


def piece(
    slot: deltas.Index | None, text: str, kind: Kind = "function", *, whole: bool = False
) -> list[deltas.Delta]:
    """Return a piece of a call's text; or its `whole` value, where an empty one is a placeholder (quirk 25)."""
    if whole:
        return (
            []
            if decode.is_blank(text)
            else [deltas.CallWhole(0, slot, None, None, None, text, deltas.OBJECT, kind)]
        )
    return [deltas.Slot(0, slot, None, text)] if text else []


def whole_call(
    slot: deltas.Index | None,
    id: str | None,
    name: str | None,
    text: str,
    kind: Kind = "function",
    *,
    final: bool = True,
) -> list[deltas.Delta]:
    """Return a call that came whole, and ends; if that is not `final`, the turn's reason decides whether it was cut."""
    told: list[deltas.Delta] = [deltas.CallSeen(0, slot, None, id, name, kind)]
    if text:
        told.append(deltas.CallWhole(0, slot, None, id, name, text, deltas.ITEM_DONE, kind))
    return told + closed(slot, final=final)


def closed(slot: deltas.Index | None, *, final: bool = True) -> list[deltas.Delta]:
    """Report that the wire ended a call."""
    return [deltas.CallClosed(0, slot, None, final=final)]


def block_closed(index: deltas.Index | None, others: set[deltas.Index | None]) -> list[deltas.Delta]:
    """Report that a block ended, if it may be a call's; `others` are the open blocks that are not.

    A closed call is not final: a cut turn can close a call with a member missing, so the later events decide.
    """
    if index in others:
        others.discard(index)
        return []
    return [deltas.CallClosed(0, index, None, final=False)]


def arguments_of(members: Mapping[str, msgspec.Raw]) -> str:
    """Return the arguments of an action: the member of that name, or an object of the members that say something."""
    if "arguments" in members:
        return decode.wire_text(members["arguments"])
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


def answered(id: object) -> list[deltas.Delta]:
    """Report a call's result in the stream: a call of any kind was executed elsewhere."""
    label = labels.id_label(id)
    return [] if label is None else [deltas.CallCancelled(label, answered=True)]


# Deltas of one frame, which know of each other.


def restated_together(told: list[deltas.Delta], others: Iterable[str] = ()) -> list[deltas.Delta]:
    """Give each restated call the ids of all calls that the message restates, and `others`.

    A call whose own id is among them is restated by that id only.
    """
    wholes = [delta for delta in told if isinstance(delta, deltas.CallWhole)]
    ids = frozenset(others).union(whole.id for whole in wholes if whole.id is not None)
    if not wholes or len(ids) < 2:
        return told
    return [
        replace(delta, restated_ids=ids) if isinstance(delta, deltas.CallWhole) else delta for delta in told
    ]


def ended_together(told: list[deltas.Delta]) -> list[deltas.Delta]:
    """Mark each finish if the end of its turn follows in the same frame."""
    if not told or type(told[-1]) is not deltas.TurnEnded:
        return told
    return [replace(delta, ends=True) if isinstance(delta, deltas.Finish) else delta for delta in told]
