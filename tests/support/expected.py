"""Expectations of a case of the corpora, held against its events.

`corpora/README.md` lists the members of an expectation.
"""

from __future__ import annotations

import hashlib
import json
from typing import Any

from wholecall.calls.output.call_events import (
    BuiltinToolCall,
    CustomToolCall,
    ServerToolCall,
    ToolCall,
    ToolCallDropped,
)
from wholecall.calls.output.events import Event, ReasoningDelta, StreamFault, TextDelta, TurnFinished

KINDS = {
    "calls": ToolCall,
    "dropped": ToolCallDropped,
    "custom": CustomToolCall,
    "server": ServerToolCall,
    "builtin": BuiltinToolCall,
}
TEXTS: dict[str, type[TextDelta | ReasoningDelta]] = {"text": TextDelta, "reasoning": ReasoningDelta}
# An expectation's member, and the event's field where the name differs.
FIELDS = {"raw": "raw_arguments"}


def _digest(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def _as_expected(event: Any, member: str, wanted: Any) -> bool:
    if member == "id" and wanted is None and not isinstance(event, ToolCallDropped):
        return bool(event.id)
    if member == "flags":
        return set(wanted) <= set(event.flags)
    if member == "edits":
        return set(wanted) == {edit.kind for edit in event.edits}
    if member == "arguments_sha256":
        return wanted == _digest(event.arguments)
    if member == "raw_sha256":
        return wanted == _digest(event.raw_arguments)
    return wanted == getattr(event, FIELDS.get(member, member))


def of_kind(events: list[Event], kind: type) -> list[Any]:
    """Return the events of a class in the order of turn, choice and first appearance."""
    found: list[Any] = [event for event in events if isinstance(event, kind)]
    return sorted(found, key=lambda event: (event.turn, event.choice, event.index))


def differences(events: list[Event], expected: dict[str, Any]) -> list[str]:
    """Return the differences of the events from an expectation; nothing if there are none."""
    found_wrong = _of_calls(events, expected)
    ends = [event for event in events if isinstance(event, TurnFinished)]
    if "reason" in expected and ends[-1].reason != expected["reason"]:
        found_wrong.append(f"turn reason {ends[-1].reason}, not {expected['reason']}")
    for member, kind in TEXTS.items():
        text = "".join(event.text for event in events if isinstance(event, kind))
        if expected.get(member, text) != text:
            found_wrong.append(f"{member} {text!r}, not {expected[member]!r}")
    missing = set(expected.get("anomalies", ())) - {anomaly for end in ends for anomaly in end.anomalies}
    found_wrong += [f"no anomaly {anomaly}" for anomaly in sorted(missing)]
    faults = {event.kind for event in events if isinstance(event, StreamFault)}
    if faults != set(expected.get("faults", ())):
        found_wrong.append(f"faults {sorted(faults)}, not {expected.get('faults', [])}")
    return found_wrong


def _of_calls(events: list[Event], expected: dict[str, Any]) -> list[str]:
    found_wrong = []
    for name, kind in KINDS.items():
        found, wanted = of_kind(events, kind), expected.get(name, [])
        if len(found) != len(wanted):
            found_wrong.append(f"{len(found)} {name} instead of {len(wanted)}")
        for number, (event, members) in enumerate(zip(found, wanted, strict=False)):
            wrong = [member for member in members if not _as_expected(event, member, members[member])]
            found_wrong += [
                f"{name}[{number}].{member}: {members[member]!r}, not {event!r}" for member in wrong
            ]
    return found_wrong
