"""One terminal event to one row: an emitted call, or a dropped call.

Theory of operation. A row holds texts, not values: columns of values would be unified over their rows. The arguments of
a call whose text is strict JSON are the model's own bytes; all others are serialized anew, with the original text in a
separate column. The original text is also kept wherever its meaning differs.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import msgspec

from wholecall import (
    BuiltinToolCall,
    CustomToolCall,
    Limits,
    Policy,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
    parse_arguments,
)

__all__ = ["CALL_OF", "MOST_INT32", "Judging", "as_json", "text_of"]
_private = True

MOST_INT32 = 2**31 - 1


class Judging(msgspec.Struct, frozen=True):
    """Settings for reading recordings and making rows.

    Attributes:
        policy: the policy for judging calls.
        limits: the limits of a stream.
        framing: how bytes are cut into events, by name; None chooses from the first bytes.
        arguments: whether rows hold the texts of arguments; rows hold their sizes in any case.
        hashed: whether rows hold a hash of the bytes.
    """

    policy: Policy = Policy()
    limits: Limits = Limits()
    framing: str | None = None
    arguments: bool = True
    hashed: bool = True


def as_json(value: object) -> str:
    """Return a value of JSON as text; half a surrogate pair, which is not valid UTF-8, stays an escape."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))


def text_of(arguments: object, raw: str, status: str, policy: Policy) -> str:
    """Return arguments as text: the original text if it is strict JSON with the same value."""
    return raw if status == "exact" and not policy.json_safe_ints else as_json(arguments)


def _n_bytes(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _row(
    event: Any, kind: str, name: str | None, text: str | None, raw: str | None, judging: Judging
) -> dict[str, Any]:
    """Return the row of an event with two texts: of the arguments, and the original text."""
    size = _n_bytes((text or "") if raw is None else raw)
    if not judging.arguments:
        text = raw = None
    return {
        "turn": event.turn,
        "choice": min(event.choice, MOST_INT32),
        "index": event.index,
        "outcome": "call",
        "kind": kind,
        "call_id": event.id,
        "name": name,
        "namespace": None,
        "arguments": text,
        "raw_arguments": None if raw == text else raw,
        "status": None,
        "reason": None,
        "flags": (),
        "edits": (),
        "detail": None,
        "n_arguments_bytes": size,
        "started_s": None,
        "ended_s": None,
        "lossy": False,
        "answered": None,
    }


def _whole(row: dict[str, Any], event: Any) -> dict[str, Any]:
    """Complete the row of an emitted call: with its flags, and without an id that the wire did not send."""
    flags = row["flags"] = event.flags
    if flags and "id_generated" in flags:
        row["call_id"] = None
    return row


def _function(event: ToolCall, judging: Judging) -> dict[str, Any]:
    raw = event.raw_arguments
    text = text_of(event.arguments, raw, event.status, judging.policy)
    row = _row(event, "function", event.name, text, raw, judging)
    row["namespace"], row["status"] = event.namespace, event.status
    if event.edits:
        row["edits"] = tuple(edit.kind for edit in event.edits)
    return _whole(row, event)


def _custom(event: CustomToolCall, judging: Judging) -> dict[str, Any]:
    row = _row(event, "custom", event.name, None, event.input, judging)
    row["namespace"] = event.namespace
    return _whole(row, event)


def _builtin(event: BuiltinToolCall, judging: Judging) -> dict[str, Any]:
    return _whole(_row(event, "builtin", event.name, as_json(event.arguments), None, judging), event)


def _server(event: ServerToolCall, judging: Judging) -> dict[str, Any]:
    raw, policy = event.raw_arguments, judging.policy
    status = parse_arguments(raw, policy=policy, limits=judging.limits).status  # omitted in the event
    text = text_of(event.arguments, raw, status, policy)
    return _whole(_row(event, "server", event.name, text, raw, judging), event)


def _dropped(event: ToolCallDropped, judging: Judging) -> dict[str, Any]:
    row = _row(event, event.kind, event.name, None, event.raw_arguments, judging)
    row["outcome"], row["reason"], row["detail"] = "dropped", event.reason, event.detail or None
    return row


# The function that makes the row of each kind of terminal event.
CALL_OF: dict[type, Callable[[Any, Judging], dict[str, Any]]] = {
    ToolCall: _function,
    CustomToolCall: _custom,
    BuiltinToolCall: _builtin,
    ServerToolCall: _server,
    ToolCallDropped: _dropped,
}
