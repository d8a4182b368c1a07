"""Recorded calls under one id: the id identifies nothing, and no call is put together from two."""

from __future__ import annotations

import itertools
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


def _with_ids(entry: dict[str, Any], ids: dict[Any, Any]) -> bytes:
    """Return a recording in which calls have other ids."""
    data = corpora.recorded(entry)
    for old, new in ids.items():
        data = data.replace(json.dumps(old).encode(), json.dumps(new).encode())
    return data


def _puts_together(before: list[Any], after: list[Any]) -> bool:
    """Return whether a call came that is put together from several, or a name that the recording lacks."""
    ours = [call for call in after if isinstance(call, ToolCall)]
    return bool({call.name for call in after} - {call.name for call in before} or _said(ours) - _said(before))


@pytest.mark.sampled(9)
@pytest.mark.parametrize(
    "entries", corpora.groups(e for e in corpora.cases() if not e["file"].endswith(".bin"))
)
def test_no_call_is_put_together_from_two(entries: list[dict[str, Any]]) -> None:
    """Law 133: where calls of a recording have one id, no name comes that it lacks, and the client gets no other call.

    All calls have one id, or two of them. Only the id says who executes a call, so that is not known then.
    """
    wrong = []
    for entry in entries:
        before = _calls(entry["dialect"], corpora.recorded(entry))
        ids = [*dict.fromkeys(call.id for call in before)]
        shared = [dict.fromkeys(ids, ids[0])] if ids else []
        shared += ({second: first} for first, second in itertools.combinations(ids, 2))
        if any(
            _puts_together(before, _calls(entry["dialect"], _with_ids(entry, changes))) for changes in shared
        ):
            wrong.append(entry["name"])

    assert wrong == []
