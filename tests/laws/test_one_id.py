"""Recorded calls under one id: the id identifies nothing, and no call is put together from two."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from tests.support import corpora
from wholecall import ToolCallParser
from wholecall.calls.output.call_events import ServerToolCall, ToolCall

Called = Counter[tuple[str, str]]


def _calls(dialect: str, data: bytes) -> list[Any]:
    parser: ToolCallParser[Any] = ToolCallParser(dialect)
    events = [*parser.feed(data), *parser.close()]
    return [event for event in events if isinstance(event, (ToolCall, ServerToolCall))]


def _said(calls: list[Any]) -> Called:
    return Counter((call.name, json.dumps(call.arguments)) for call in calls)


def _under_one_id(entry: dict[str, Any]) -> tuple[list[Any], list[Any]] | None:
    """Return the calls of a recording, and those after each got the id of the first; None if there is nothing to change."""
    data = corpora.recorded(entry)
    before = _calls(entry["dialect"], data)
    changed = data
    for call in before[1:]:
        changed = changed.replace(json.dumps(call.id).encode(), json.dumps(before[0].id).encode())
    return None if changed == data else (before, _calls(entry["dialect"], changed))


@pytest.mark.parametrize(
    "entries", corpora.groups(e for e in corpora.cases() if not e["file"].endswith(".bin"))
)
def test_no_call_is_put_together_from_two(entries: list[dict[str, Any]]) -> None:
    """Law 133: where a recording's calls all have one id, no name comes that it lacks, and the client gets no other call.

    Only the id says who executes a call, so that is not known then.
    """
    wrong = []
    for entry in entries:
        found = _under_one_id(entry)
        if found is None:
            continue
        before, after = found
        names = {call.name for call in after} - {call.name for call in before}
        if names or _said([call for call in after if isinstance(call, ToolCall)]) - _said(before):
            wrong.append(entry["name"])

    assert wrong == []
