"""Hostile streams from a case folder, and the faults of a result."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import Event, StreamFault, TurnFinished

MIB = 1024 * 1024


def cases_of(folder: Path) -> list[dict[str, Any]]:
    """Return the hostile streams of a case folder."""
    spec = importlib.util.spec_from_file_location("limits_cases", folder / "limits_cases.py")
    assert spec is not None
    assert spec.loader is not None
    module: ModuleType = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    cases: list[dict[str, Any]] = module.cases()
    return cases


def _codes(event: Event) -> set[str]:
    if isinstance(event, ToolCallDropped):
        return {event.reason}
    if isinstance(event, StreamFault):
        return {event.kind}
    if isinstance(event, TurnFinished):
        return set(event.anomalies)
    if isinstance(event, ToolCall):
        return {*event.flags, *(edit.kind for edit in event.edits)}
    return set()


def _batches(chunks: Iterable[bytes]) -> Iterator[list[Event]]:
    parser = ToolCallParser()
    for chunk in chunks:
        yield parser.feed(chunk)
    yield parser.close()


def complaints(case: dict[str, Any], chunks: Iterable[bytes]) -> list[str]:
    """Run one hostile stream without keeping its events: some give a million."""
    codes: set[str] = set()
    calls = 0
    for events in _batches(chunks):
        calls += sum(isinstance(event, ToolCall) for event in events)
        codes = codes.union(*map(_codes, events))
    wrong = []
    if case["codes"] and not codes & set(case["codes"]):
        wrong.append(f"codes {sorted(codes)}, none of {case['codes']}")
    if case["calls"] not in (None, calls):
        wrong.append(f"{calls} calls, not {case['calls']}")
    return wrong
