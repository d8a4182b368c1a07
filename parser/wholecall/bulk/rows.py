"""The row of one recording: its metadata, its content, its calls, and the counts over them.

Theory of operation. A row is a dictionary by column, next to the rows of its calls, one for each terminal event;
`streams` fills it from the events of a stream, `conversations` from messages. Rows hold texts, not values: columns of
values would be unified over their rows. The arguments of a call whose text is strict JSON are the model's own bytes;
all others are serialized anew, with the original text in a separate column. The original text is also kept wherever its
meaning differs.

Nothing here knows of Arrow. Reading is *guarded*: a fault of ours costs its row, and the trouble states only the type
of an exception.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import msgspec

import wholecall
from wholecall.bulk.failures import is_ours

_private = True

MOST_INT32 = 2**31 - 1
MOST_CHARACTERS = 2**28  # of all texts of a row: of four bytes each they still fit into one column of Arrow
SURROGATE = re.compile("[\ud800-\udfff]")  # half a surrogate pair: not valid UTF-8, and not text to Arrow
_MOST_INT64 = 2**63 - 1


class Judging(msgspec.Struct, frozen=True):
    """Settings for reading recordings and making rows.

    Attributes:
        policy: the policy for judging calls.
        limits: the limits of a stream.
        framing: how bytes are cut into events, by name; None chooses from the first bytes.
        arguments: whether rows hold the texts of arguments; rows hold their sizes in any case.
        hashed: whether rows hold a hash of the bytes.
    """

    policy: wholecall.Policy = wholecall.Policy()
    limits: wholecall.Limits = wholecall.Limits()
    framing: str | None = None
    arguments: bool = True
    hashed: bool = True


class Known(msgspec.Struct, frozen=True):
    """The known facts about a recording in addition to its bytes.

    Attributes:
        recording_id: its name in every table.
        source: its file or table, never an absolute path.
        source_index: its number in its source.
        provider: the provider that answered.
        model: the requested model; the model that the response states outranks it.
        dialect: the name of the wire format; None, or an unknown name, detects it from the bytes.
        form: the format of its file.
        status_code: the HTTP status.
        recorded_at: the time of recording; without a zone in UTC.
        name: its `Recording.name`: messages about it begin with this, which the row leaves out.
    """

    recording_id: str
    source: str
    source_index: int = 0
    provider: str | None = None
    model: str | None = None
    dialect: str | None = None
    form: str | None = None
    status_code: int | None = None
    recorded_at: datetime | None = None
    name: str | None = None


class Row(msgspec.Struct):
    """The result of one recording.

    Attributes:
        recording: its values by column of `RECORDINGS`.
        calls: the values of each of its calls by column of `CALLS`, without `recording_id`; by turn, choice and index.
    """

    recording: dict[str, Any]
    calls: list[dict[str, Any]]

    def __repr__(self) -> str:
        return f"Row(recording_id={self.recording['recording_id']!r}, calls=<{len(self.calls)}>)"


# --- the row of a call -----------------------------------------------------------------------------------


def as_json(value: object) -> str:
    """Return a value of JSON as text; half a surrogate pair, which is not valid UTF-8, stays an escape."""
    try:
        return msgspec.json.encode(value).decode()
    except UnicodeEncodeError:
        return json.dumps(value, separators=(",", ":"))


def text_of(arguments: object, raw: str, status: str, policy: wholecall.Policy) -> str:
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


def _function(event: wholecall.ToolCall, judging: Judging) -> dict[str, Any]:
    raw = event.raw_arguments
    text = text_of(event.arguments, raw, event.status, judging.policy)
    row = _row(event, "function", event.name, text, raw, judging)
    row["namespace"], row["status"] = event.namespace, event.status
    if event.edits:
        row["edits"] = tuple(edit.kind for edit in event.edits)
    return _whole(row, event)


def _custom(event: wholecall.CustomToolCall, judging: Judging) -> dict[str, Any]:
    row = _row(event, "custom", event.name, None, event.input, judging)
    row["namespace"] = event.namespace
    return _whole(row, event)


def _builtin(event: wholecall.BuiltinToolCall, judging: Judging) -> dict[str, Any]:
    return _whole(_row(event, "builtin", event.name, as_json(event.arguments), None, judging), event)


def _server(event: wholecall.ServerToolCall, judging: Judging) -> dict[str, Any]:
    raw, policy = event.raw_arguments, judging.policy
    status = wholecall.parse_arguments(
        raw, policy=policy, limits=judging.limits
    ).status  # omitted in the event
    text = text_of(event.arguments, raw, status, policy)
    return _whole(_row(event, "server", event.name, text, raw, judging), event)


def _dropped(event: wholecall.ToolCallDropped, judging: Judging) -> dict[str, Any]:
    row = _row(event, event.kind, event.name, None, event.raw_arguments, judging)
    row["outcome"], row["reason"], row["detail"] = "dropped", event.reason, event.detail or None
    return row


# The function that makes the row of each kind of terminal event.
CALL_OF: dict[type, Callable[[Any, Judging], dict[str, Any]]] = {
    wholecall.ToolCall: _function,
    wholecall.CustomToolCall: _custom,
    wholecall.BuiltinToolCall: _builtin,
    wholecall.ServerToolCall: _server,
    wholecall.ToolCallDropped: _dropped,
}


# --- the row of a recording ------------------------------------------------------------------------------


class _TooLarge(Exception):
    """The texts of a recording do not fit into a row."""


def grown(n_characters: int, call: Mapping[str, Any]) -> int:
    """Return how many characters the calls of a row have with one more call; too many end the row (see `guarded`)."""
    n_characters += len(call["arguments"] or "") + len(call["raw_arguments"] or "")
    if n_characters > MOST_CHARACTERS:
        raise _TooLarge
    return n_characters


def guarded(known: Known, read: Callable[[], Row]) -> Row:
    """Return the row that a function reads; any failure becomes the trouble of a row without calls."""
    try:
        return read()
    except _TooLarge:
        return troubled(known, f"its calls have more than {MOST_CHARACTERS:,} characters")
    except Exception as error:
        if not is_ours(error):
            raise
        return troubled(known, f"internal: {type(error).__name__}")


def troubled(known: Known, trouble: str) -> Row:
    """Return the row of a recording that could not be read.

    Args:
        known: the known facts about it.
        trouble: why; without any text of the input.
    """
    return Row(unread(known) | {"trouble": trouble}, [])


def unread(known: Known) -> dict[str, Any]:
    """Return the row of a recording before it is read."""
    status = known.status_code
    return {
        "recording_id": known.recording_id,
        "source": known.source,
        "source_index": known.source_index,
        "content_hash": None,
        "provider": known.provider,
        "model": known.model,
        "dialect": None,
        "response_id": None,
        "form": known.form,
        "status_code": status if status is not None and abs(status) <= MOST_INT32 else None,
        "recorded_at": known.recorded_at,
        "bytes": 0,
        "chunks": 0,
        "turns": 0,
        "n_calls": 0,
        "n_dropped": 0,
        "n_cancelled": 0,
        "n_server": 0,
        "finish": None,
        "provider_finish": None,
        "faults": [],
        "anomalies": [],
        "input_tokens": None,
        "output_tokens": None,
        "usage": None,
        "first_text_s": None,
        "first_call_s": None,
        "last_s": None,
        "trouble": None,
        "lossy": False,
    }


def sum_up(recording: dict[str, Any], calls: Sequence[dict[str, Any]]) -> None:
    """Write the summary of the calls into the row of a recording."""
    if SURROGATE.search(recording["recording_id"]):  # which is in the rows of the calls, too
        for call in calls:
            call["lossy"] = True
    outcomes = [call["outcome"] for call in calls]
    recording["n_dropped"] = outcomes.count("dropped")
    recording["n_calls"] = len(calls) - recording["n_dropped"]
    recording["n_cancelled"] = outcomes.count("cancelled")
    recording["n_server"] = sum(call["kind"] == "server" and call["outcome"] != "dropped" for call in calls)


def summed(counts: Iterable[int | None]) -> int | None:
    """Return the sum of the known values, None if there are none, or if no column holds it."""
    known = [count for count in counts if count is not None]
    return sum(known) if known and sum(known) <= _MOST_INT64 else None
