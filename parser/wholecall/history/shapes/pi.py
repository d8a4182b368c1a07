"""Sessions of pi, and of openclaw, which uses pi's: entries in a tree, or the bare messages of an agent.

An entry is `{"type": "message", "id", "parentId", "timestamp", "message"}`; results are messages of the role
`toolResult`. Entries of another type are not part of the conversation, except for those that an extension wrote, and
summaries, which a later summary may keep: then they are sent as the user's words, therefore none may separate a call
from its result.
Source: pi's description of its session format, version 3; older files have no ids.
"""

from __future__ import annotations

import hashlib
from typing import Any

from wholecall.history.parts import Line, Message, Part, rebuild
from wholecall.history.shapes.base import MISSING_RESULT, Links, Shape
from wholecall.history.shapes.blocks import block_types, read_message

_OWN_BLOCKS = frozenset({"toolCall", "toolUse", "functionCall", "toolResult"})
_SAID = ("custom_message", "compaction", "branch_summary")
_OWN_ROLES = frozenset({"toolResult", "bashExecution", "branchSummary", "compactionSummary"})


def _inner(entry: Message) -> Message | None:
    """Return the message of an entry; a bare message is its own."""
    message = entry.get("message")
    if entry.get("type") == "message" and isinstance(message, dict):
        return message
    return entry if "role" in entry else None


def _read(entry: Message) -> Line:
    message = _inner(entry)
    if message is not None:
        return read_message(message)
    if entry.get("type") in _SAID:
        return Line("user", [Part("other", entry)])
    return Line("other", [])


def _write(entry: Message, parts: list[Part], left: list[Part]) -> Message:
    message = _inner(entry) or entry
    written = rebuild(message, parts, left)
    return written if message is entry else {**entry, "message": written}


def _result(call: Part, _block: Message) -> Message:
    said = [{"type": "text", "text": MISSING_RESULT}]
    return {
        "role": "toolResult",
        "toolCallId": call.id,
        "toolName": call.name,
        "content": said,
        "isError": True,
    }


def _carrier(results: list[Any], near: Message) -> Message:
    """Return a result as a message, or as an entry if the call is one; times are those of the call."""
    message: Message = results[0]
    called = _inner(near)
    if called is not None and "timestamp" in called:
        message = {**message, "timestamp": called["timestamp"]}
    if called is near:
        return message
    entry: Message = {"type": "message"}
    return {**entry, **_time(near), "message": message}


def _time(entry: Message) -> Message:
    return {"timestamp": entry["timestamp"]} if "timestamp" in entry else {}


def _is_own(entry: Message) -> bool:
    if entry.get("type") in ("message", "custom_message") and ("message" in entry or "customType" in entry):
        return True
    return entry.get("type") == "session" or str(entry.get("role")) in _OWN_ROLES


def _is_like(message: Message) -> bool:
    return "stopReason" in message or bool(block_types(message) & _OWN_BLOCKS)


def _mint(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:8]


PI = Shape(
    name="pi",
    read=_read,
    write=_write,
    result=_result,
    carrier=_carrier,
    is_own=_is_own,
    is_like=_is_like,
    links=Links("id", "parentId", ("firstKeptEntryId", "fromId", "targetId"), _mint),
)
