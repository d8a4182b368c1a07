"""Single calls of conversations, and records of all kinds: the content of their rows."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import tables
from tests.support.conversations import assembled, called, calls, said
from tests.support.together import together
from wholecall import parse_arguments
from wholecall.bulk import assemble_batch
from wholecall.bulk.conversations import row_of_messages
from wholecall.bulk.rows import Judging, Known
from wholecall.history import MISSING_RESULT

# --- single calls ------------------------------------------------------------------------------------------

ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


@together(
    "text",
    ['{"a": 1.0}', "{'a': 1,}", "```json\n{}\n```", "", "[1]", '{"a": ', '{"a":"\\ud83d"}', '{"a":1,"a":2}'],
)
def test_text_gets_the_verdict_of_parse_arguments(text: str) -> None:
    """Status, reason, edits, flags and arguments are those of `parse_arguments`; exact text stays as it is."""
    verdict = parse_arguments(text)
    (call,) = calls(called(text), ANSWER)
    value = None if call["arguments"] is None else json.loads(call["arguments"])
    whole = verdict.status != "dropped"

    assert (verdict.arguments, verdict.reason) == (value, call["reason"])
    assert (verdict.status if whole else None, list(verdict.flags)) == (call["status"], call["flags"])
    assert [edit.kind for edit in verdict.edits] == call["edits"]
    assert ("call" if whole else "dropped") == call["outcome"]
    assert text == (call["arguments"] if verdict.status == "exact" else call["raw_arguments"])


def test_an_object_has_no_status() -> None:
    """Arguments that were kept as an object have an unknown text: it is written anew, and has no status."""
    use = {"type": "tool_use", "id": "t", "name": "read", "input": {"b": 1, "a": [None, "\u00e9"]}}
    (call,) = calls({"role": "assistant", "content": [use]})

    assert ("call", '{"b":1,"a":[null,"\u00e9"]}', None, None) == (
        call["outcome"],
        call["arguments"],
        call["raw_arguments"],
        call["status"],
    )
    assert len('{"b":1,"a":[null,"\u00e9"]}'.encode()) == call["n_arguments_bytes"]


@pytest.mark.parametrize(
    ("input", "outcome", "text"),
    [
        ({"INVALID_JSON": '{"a": '}, "dropped", '{"a": '),
        ({"INVALID_JSON": '{"a": 1}'}, "call", '{"INVALID_JSON":"{\\"a\\": 1}"}'),
        ({"INVALID_JSON": '{"a": ', "b": 1}, "call", '{"INVALID_JSON":"{\\"a\\": ","b":1}'),
        ([1], "dropped", "[1]"),
        ({"a": float("nan")}, "dropped", '{"a":NaN}'),
    ],
)
def test_what_an_object_may_hold(input: Any, outcome: str, text: str) -> None:
    """Malformed wrapped text is the text of a drop; wrapped text that is not a JSON object is a drop, too."""
    use = {"type": "tool_use", "id": "t", "name": "read", "input": input}
    row = row_of_messages([{"role": "assistant", "content": [use]}], Known("r", "r"), Judging())
    (call,) = row.calls

    assert (outcome, text) == (call["outcome"], call["arguments"] or call["raw_arguments"])


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (called("{}", finish_reason="aborted"), "aborted"),
        (called('{"a":', finish_reason="length"), "truncated"),
        (
            {
                "role": "assistant",
                "content": [{"type": "tool_use", "id": "c1", "name": "read", "input": {"a": 1}}],
                "stop_reason": "max_tokens",
            },
            "truncated",
        ),
        (
            {
                "role": "assistant",
                "content": [
                    {
                        "type": "toolCall",
                        "id": "c1",
                        "name": "read",
                        "arguments": {"a": 1},
                        "partialJson": "{",
                    }
                ],
            },
            "unterminated",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": "read"}}]},
            "incomplete_input",
        ),
        (
            {"role": "assistant", "tool_calls": [{"id": "c1", "function": {"name": " ", "arguments": "{}"}}]},
            "nameless",
        ),
    ],
)
def test_what_speaks_against_a_call(message: dict[str, Any], reason: str) -> None:
    """A call of a turn that was cut or aborted, or one that never was whole, is a drop."""
    (call,) = calls(message)

    assert ("dropped", reason, False) == (call["outcome"], call["reason"], call["answered"])


def test_answers() -> None:
    """A call with a result is answered; a result that was made to fill a gap does not count."""
    messages = [
        called("{}"),
        ANSWER,
        called("{}", id="c2"),
        {**ANSWER, "tool_call_id": "c2", "content": MISSING_RESULT},
        called("{}", id="c3"),
    ]

    assert [True, False, False] == [call["answered"] for call in calls(*messages)]
    assert [0, 1, 2] == [call["turn"] for call in calls(*messages)]


def test_raw_recordings_have_no_answers() -> None:
    """`answered` is null where the bytes of one response were read."""
    found = [
        call["answered"] for row in tables.rows(assemble_batch(tables.bodies())) for call in row["calls"]
    ]

    assert {None} == set(found)


# --- records -----------------------------------------------------------------------------------------------

STEP = {
    "step_id": 2,
    "source": "agent",
    "message": "Both.",
    "tool_calls": [
        {"tool_call_id": "p", "function_name": "price", "arguments": {"of": "tea"}},
        {"tool_call_id": "q", "function_name": "price", "arguments": {}},
    ],
    "observation": {"results": [{"source_call_id": "p", "content": "3"}, {"content": "somebody came in"}]},
    "metrics": {"prompt_tokens": 5, "completion_tokens": 6},
}
TRAJECTORY = {
    "schema_version": "ATIF-v1.7",
    "agent": {"name": "clerk", "version": "1", "model_name": "m-1"},
    "steps": [
        {"step_id": 1, "source": "user", "message": "Prices?", "timestamp": "2026-10-11T10:30:00Z"},
        STEP,
        {**STEP, "step_id": 3, "is_copied_context": True},
    ],
    "subagent_trajectories": [{"trajectory_id": "s", "steps": [{**STEP, "step_id": 1, "message": ""}]}],
}


def test_trajectories() -> None:
    """Of ATIF: calls with the results of their step, then those of subagents; copied steps were reported elsewhere."""
    (row,) = assembled(TRAJECTORY)
    pair = [("call", "p", "price", '{"of":"tea"}', None, True), ("call", "q", "price", "{}", None, False)]

    assert [*pair, *pair] == [said(call) for call in row["calls"]]
    assert ("atif", "m-1", 2, 10, 12) == tuple(
        row[name] for name in ("form", "model", "turns", "input_tokens", "output_tokens")
    )
    assert "2026-10-11T10:30:00+00:00" == row["recorded_at"].isoformat()
    assert [said(call) for call in row["calls"]][:2] == [
        said(call) for call in calls(*TRAJECTORY["steps"][:2])
    ]


def test_records_of_telemetry() -> None:
    """Of OpenTelemetry: arguments of any kind, calls of the provider with theirs, results in separate messages."""
    parts = [
        {"type": "reasoning", "content": "hm"},
        {"type": "tool_call", "id": "a", "name": "f", "arguments": {"x": 1}},
        {"type": "tool_call", "id": "b", "name": "f", "arguments": '{"x": 1}'},
        {"type": "tool_call", "id": "c", "name": "f", "arguments": '{"x":'},
        {
            "type": "server_tool_call",
            "id": "s",
            "name": "web",
            "server_tool_call": {"type": "w", "arguments": {"q": 1}},
        },
        {"type": "server_tool_call_response", "id": "s", "server_tool_call_response": {}},
    ]
    result = {"type": "tool_call_response", "id": "a", "response": "y"}
    (row,) = assembled(
        [
            {"role": "assistant", "parts": parts, "finish_reason": "tool_call"},
            {"role": "tool", "parts": [result]},
        ]
    )

    assert ("otel", "tool_calls", 1) == (row["form"], row["finish"], row["n_server"])
    assert [
        ("call", "a", "f", '{"x":1}', None, True),
        ("call", "b", "f", '{"x": 1}', None, False),
        ("dropped", "c", "f", '{"x":', "truncated", False),
        ("call", "s", "web", '{"q":1}', None, True),
    ] == [said(call) for call in row["calls"]]


def test_items_of_every_kind() -> None:
    """Of Responses: free text, tools of the provider that the client runs, and those that it runs itself."""
    items = [
        {"type": "custom_tool_call", "call_id": "u", "name": "py", "input": "print(1)"},
        {"type": "shell_call", "call_id": "v", "action": {"commands": ["ls"]}},
        {"type": "web_search_call", "id": "w", "status": "completed", "action": {"query": "q"}},
        {"type": "mcp_call", "id": "x", "name": "t", "arguments": '{"q":1}', "output": "y"},
        {"type": "shell_call_output", "call_id": "v", "output": []},
    ]
    found = calls(*items)

    assert ["custom", "builtin", "server", "server"] == [call["kind"] for call in found]
    assert [
        ("call", "u", "py", "print(1)", None, False),
        ("call", "v", "shell", '{"action":{"commands":["ls"]}}', None, True),
        ("call", "w", "web_search", '{"action":{"query":"q"}}', None, None),
        ("call", "x", "t", '{"q":1}', None, None),
    ] == [said(call) for call in found]
