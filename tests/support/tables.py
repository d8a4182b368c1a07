"""Expected tables of recordings, derived from events and turns; and tables of bodies."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from typing import Any

import pyarrow as pa

from tests.support import corpora
from wholecall import Event, ToolCallParser, Turn
from wholecall.bulk import CALLS, RECORDINGS

_KINDS = {"tool_call": "function", "custom_tool_call": "custom", "server_tool_call": "server"}
_OWN = {"exact", None}  # the statuses for which the model's own text is shown, if that text was read


@cache
def bodies() -> pa.Table:
    """Return the project's recordings as a table: `recording_id` and `body`."""
    names = [path.relative_to(corpora.RECORDINGS).as_posix() for path in corpora.streams()]
    return pa.table({"recording_id": names, "body": [path.read_bytes() for path in corpora.streams()]})


def rows(table: Any) -> list[dict[str, Any]]:
    """Return the rows of a table of any types."""
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def shown(row: dict[str, Any], *but: str) -> dict[str, Any]:
    """Return a row without some columns."""
    return {name: value for name, value in row.items() if name not in but}


def by_events(data: bytes) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the rows of the calls of a stream, and the event counts of its recording's row."""
    parser: ToolCallParser[Any] = ToolCallParser()
    events: list[Event[Any]] = [*parser.feed(data), *parser.close()]
    told = [json.loads(event.to_json()) for event in events]
    calls = [_call(event) for event in told if event["type"].endswith(("_call", "_call_dropped"))]
    calls.sort(key=lambda call: (call["turn"], call["choice"], call["index"]))
    for call in calls:
        if call["outcome"] == "call" and not _stands(call, parser.turns):
            call["outcome"] = "cancelled"
    return calls, _recording(told, calls)


def _call(event: dict[str, Any]) -> dict[str, Any]:
    raw = event.get("input", event.get("raw_arguments"))
    value = event.get("arguments")
    text = None if value is None else _text(value, raw, event.get("status"))
    is_dropped = event["type"] == "tool_call_dropped"
    flags = event.get("flags", [])
    kind = event["kind"] if is_dropped else _KINDS.get(event["type"], "builtin")
    return {
        **{name: event[name] for name in ("turn", "choice", "index")},
        "outcome": "dropped" if is_dropped else "call",
        "kind": kind,
        "call_id": None if "id_generated" in flags else event["id"],
        "name": event.get("name", event.get("kind")),
        "namespace": event.get("namespace"),
        "arguments": text,
        "raw_arguments": raw if raw != text else None,
        "status": event.get("status"),
        "reason": event.get("reason"),
        "flags": flags,
        "edits": [edit["kind"] for edit in event.get("edits", [])],
        "detail": event.get("detail") or None,
        "n_arguments_bytes": len((text if raw is None else raw).encode()),
        "started_s": None,
        "ended_s": None,
        "lossy": False,
        "answered": None,
    }


def _text(value: object, raw: str | None, status: str | None) -> str:
    """Return the text of arguments: their own one where nothing was changed to read it."""
    if raw is not None and status in _OWN and _loaded(raw) == value:
        return raw
    return json.dumps(value, separators=(",", ":"), ensure_ascii=False)


def _loaded(text: str) -> object:
    try:
        return json.loads(text)
    except ValueError:
        return None


def _stands(call: dict[str, Any], turns: Sequence[Turn[Any]]) -> bool:
    """Return whether a turn still has an emitted call."""
    turn = turns[call["turn"]].choice(call["choice"])
    lists: list[Sequence[Any]] = [turn.calls, turn.custom_calls, turn.builtin_calls, turn.server_calls]
    return any(one.index == call["index"] for calls in lists for one in calls)


def _recording(told: list[dict[str, Any]], calls: list[dict[str, Any]]) -> dict[str, Any]:
    began = [event for event in told if event["type"] == "turn_started"]
    ended = [event for event in told if event["type"] == "turn_finished"]
    last = max(ended, key=lambda event: (event["turn"], -event["choice"]))
    whole = [call for call in calls if call["outcome"] != "dropped"]
    return {
        **{name: _last(event[of] for event in began) for name, of in _NAMED.items()},
        "turns": len(began),
        "n_calls": len(whole),
        "n_dropped": len(calls) - len(whole),
        "n_cancelled": sum(call["outcome"] == "cancelled" for call in calls),
        "n_server": sum(call["kind"] == "server" for call in whole),
        "finish": last["reason"],
        "provider_finish": last["provider_reason"],
        "faults": [event["kind"] for event in told if event["type"] == "stream_fault"],
        "anomalies": [word for event in ended for word in event["anomalies"]],
    }


_NAMED = {"dialect": "dialect", "response_id": "id", "model": "model"}


def _last(values: Any) -> Any:
    """Return the last value that is one."""
    return next((value for value in reversed(list(values)) if value), None)


assert set(_NAMED) <= set(RECORDINGS.names)
assert "outcome" in CALLS.names
