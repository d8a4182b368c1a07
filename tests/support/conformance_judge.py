"""Verdicts of the conformance suite on wholecall's own events, by the rules of `conformance/INTERPRETING.md`."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.corpora import SIDECAR
from tests.support.make_conformance import CONFORMANCE
from wholecall import Policy, ToolCallParser
from wholecall.calls.output.call_events import ToolCall, ToolCallCancelled, ToolCallDropped
from wholecall.calls.output.events import Event, StreamFault, TurnFinished

JSON = dict[str, Any]

SIZE = 1460
# What a caller is told of an answer that is not a whole one, beside the calls that were dropped.
_FAULTS = frozenset({"bad_crc", "provider_error", "undecodable_frame"})


def sidecars(wire: str) -> dict[str, JSON]:
    """Return the sidecars of a wire by the ids of their cases."""
    paths = sorted((CONFORMANCE / "cases" / wire).glob(f"*{SIDECAR}"))
    return {said["id"]: said for said in (json.loads(path.read_bytes()) for path in paths)}


def farewells() -> list[Path]:
    """Return the files of the answers that end conversations."""
    return sorted((CONFORMANCE / "farewells").iterdir())


def bytes_of(case: JSON) -> bytes:
    """Return the bytes of a case."""
    return stream_of(CONFORMANCE / "cases" / f"{case['id']}{SIDECAR}").read_bytes()


def stream_of(sidecar: Path) -> Path:
    """Return the file of the bytes beside a sidecar."""
    name = sidecar.name.removesuffix(SIDECAR)
    (found,) = (path for path in sidecar.parent.glob(f"{name}.*") if path.stem == name and path != sidecar)
    return found


def events_of(case: JSON, policy: Policy, *, knows_tools: bool = True) -> list[Event]:
    """Return wholecall's events of a case, read in packets."""
    tools = [
        {"type": "function", "function": {"name": tool["name"], "parameters": tool["schema"]}}
        for tool in case["request"]["tools"]
    ]
    parser = ToolCallParser(policy=policy, tools=tools if knows_tools else None)
    data = bytes_of(case)
    events: list[Event] = []
    for start in range(0, len(data), SIZE):
        events += parser.feed(data[start : start + SIZE])
    return events + parser.close()


def verdict(case: JSON, events: Sequence[Event]) -> str:
    """Return the verdict on the events of a case."""
    gone = {event.id for event in events if isinstance(event, ToolCallCancelled)}
    calls = [event for event in events if isinstance(event, ToolCall) and event.id not in gone]
    sent, may, n_others = list(case["sent"]), list(case["may"]), 0
    for call in calls:
        taken = _taken(call, sent) or _taken(call, may)
        if taken is None:
            return "unsafe"
        n_others += taken["id"] not in (None, call.id)
    is_said = _is_said(events)
    reached = {
        "calls": not sent and not n_others and not is_said,
        "calls+error": not sent and not n_others and is_said,
        "partial+error": is_said,
        "refuse": is_said and not calls,
    }
    if any(reached[end] for end in case["accept"]):
        return "pass"
    return "refused" if is_said else "lost"


def _taken(call: ToolCall, among: list[JSON]) -> JSON | None:
    """Take a call's equal out of a list, one of the same id before others."""
    equal = [entry for entry in among if entry["name"] == call.name and entry["arguments"] == call.arguments]
    equal.sort(key=lambda entry: entry["id"] not in (None, call.id))
    if equal:
        among.remove(equal[0])
    return equal[0] if equal else None


def _is_said(events: Sequence[Event]) -> bool:
    """Return whether wholecall said that something is missing, or that the answer is not whole."""
    if any(isinstance(event, ToolCallDropped) for event in events):
        return True
    if any(isinstance(event, StreamFault) and event.kind in _FAULTS for event in events):
        return True
    ends = [event for event in events if isinstance(event, TurnFinished)]
    return not ends or ends[-1].reason == "error" or "missing_finish" in ends[-1].anomalies
