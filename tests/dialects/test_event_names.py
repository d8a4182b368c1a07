"""Events whose names alone give their kind, and responses without an outer member (quirk 118)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import bless, corpora
from tests.support.encode import compact
from tests.support.together import together
from wholecall.dialects.table import claimants_by_name

KINDS = {"cohere-v1": "event_type", "gemini-interactions": "event_type"}
DIALECTS = (
    *("responses", "anthropic", "cohere-v2", "cohere-v1", "mistral-conversations", "gemini-interactions"),
    *("ag-ui", "copilot", "vercel-ui", "openai-realtime"),
)


def _payloads(data: bytes) -> list[dict[str, Any]] | None:
    """Return the payloads of events or lines that are JSON objects, None where there are others."""
    lines = [line.removeprefix("data:") for line in data.decode("utf-8", "replace").split("\n")]
    try:
        payloads = [
            json.loads(line) for line in lines if line and not line.startswith(("event:", ": ", "id:"))
        ]
    except ValueError:
        return None
    return payloads if all(isinstance(payload, dict) for payload in payloads) else None


def _renamed(payloads: list[dict[str, Any]], member: str) -> bytes | None:
    """Write events whose types are their names; None where a type is missing, or is a word that is anybody's."""
    kinds = [payload.get(member) for payload in payloads]
    if not all(isinstance(kind, str) and not kind.isalpha() and "error" not in kind for kind in kinds):
        return None
    bare = ({name: value for name, value in payload.items() if name != member} for payload in payloads)
    return "".join(
        f"event: {kind}\ndata: {compact(payload)}\n\n" for kind, payload in zip(kinds, bare, strict=True)
    ).encode()


def _cases() -> list[Any]:
    found = []
    for entry in corpora.cases():
        if entry["dialect"] in DIALECTS:
            member = KINDS.get(entry["dialect"], "type")
            payloads = _payloads(corpora.recorded(entry))
            renamed = _renamed(payloads, member) if payloads else None
            if payloads and renamed is not None:
                told = "".join(f"data: {compact(payload)}\n\n" for payload in payloads).encode()
                found.append(pytest.param(told, renamed, id=entry["name"]))
    return found


@together(("told", "renamed"), _cases())
def test_the_name_of_an_event_stands_for_its_type(told: bytes, renamed: bytes) -> None:
    """A recording whose event names alone give their kind gives the same events."""
    assert bless.parse([told]) == bless.parse([renamed])


@pytest.mark.parametrize("name", ["start", "finish", "error", "message", "done", "data"])
def test_a_name_of_one_word_decides_nothing(name: str) -> None:
    """Any server may use these event names: their kind stays open until an event states it."""
    assert claimants_by_name({"id": "t", "messageId": "m"}, name).best == ()


def test_a_type_outranks_the_name_of_its_event() -> None:
    """A payload's own type is never replaced by the name of its frame."""
    assert claimants_by_name({"type": "progress"}, "message_start").best == ()


def test_a_response_may_stand_in_its_event_without_a_member() -> None:
    """The response itself, where `response` should hold it, begins one turn and ends it; nothing is reported twice."""
    item = {"type": "function_call", "id": "fc_1", "call_id": "c1", "name": "moor", "arguments": '{"at":2}'}
    about = {"object": "response", "id": "r1", "model": "m"}
    events: list[tuple[str, dict[str, Any]]] = [
        ("response.created", {**about, "output": []}),
        ("response.in_progress", {**about, "output": []}),
        ("response.output_item.done", {"output_index": 0, "item": item}),
        ("response.completed", {**about, "status": "completed", "output": [item]}),
    ]
    wrapped = [(name, payload if "item" in payload else {"response": payload}) for name, payload in events]
    forms = [
        "".join(f"event: {name}\ndata: {compact(payload)}\n\n" for name, payload in form).encode()
        for form in (wrapped, events)
    ]
    typed = "".join(f"data: {compact({**payload, 'type': name})}\n\n" for name, payload in events).encode()

    assert bless.parse([forms[0]]) == bless.parse([forms[1]]) == bless.parse([typed])
