"""Conversations as rows: what their messages say, whatever keeps them."""

from __future__ import annotations

import json
from collections import Counter
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import corpora, make_transcripts, tables
from tests.support.histories import SHAPES, Note, happenings, render
from wholecall import (
    BuiltinToolCall,
    CustomToolCall,
    Limits,
    ServerToolCall,
    ToolCallDropped,
    ToolCallParser,
    Turn,
    parse_arguments,
)
from wholecall.bulk import ASSEMBLED, assemble_batch, assemble_messages
from wholecall.bulk.conversations import row_of_messages
from wholecall.bulk.rows import Judging, Known
from wholecall.history import MISSING_RESULT, encode_calls, repair_transcript

JSON = dict[str, Any]
FILES = [entry["file"] for entry in make_transcripts.entries()]
# Transports whose messages are read, and what they are read as.
FORMS = {
    "chat-completions": "chat-completions",
    "responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "otel": "otel",
    "kimi": "chat-completions",
    "mistral": "chat-completions",
    "cohere-v2": "chat-completions",
    "ollama": "chat-completions",
}
SECRET = "xyzzy-lighthouse"


def assembled(*conversations: Any, **options: Any) -> list[JSON]:
    """Return the rows of conversations that are JSON texts."""
    texts = [json.dumps(one) for one in conversations]
    ids = [str(number) for number in range(len(texts))]
    out = assemble_messages(pa.table({"recording_id": ids, "messages": texts}), **options)
    out.validate(full=True)
    assert out.schema.equals(ASSEMBLED, check_metadata=True)
    return tables.rows(out)


def calls(*messages: JSON, **options: Any) -> list[JSON]:
    """Return the rows of the calls of one conversation."""
    (row,) = assembled(list(messages), **options)
    assert row["trouble"] is None
    found: list[JSON] = row["calls"]
    return found


def said(call: JSON) -> tuple[Any, ...]:
    """Return what the row of a call says, in short."""
    text = call["raw_arguments"] if call["arguments"] is None else call["arguments"]
    return call["outcome"], call["call_id"], call["name"], text, call["reason"], call["answered"]


def label(call: JSON) -> str:
    """Return how the report of a repair names a call."""
    return call["call_id"] or call["name"] or ""


def called(arguments: Any, *, id: str = "c1", **more: Any) -> JSON:
    """Return a message with one call, as chat completions have it."""
    entry = {"id": id, "type": "function", "function": {"name": "read", "arguments": arguments}}
    return {"role": "assistant", "content": None, "tool_calls": [entry], **more}


# --- what a repair says ------------------------------------------------------------------------------------


def agrees(messages: list[JSON]) -> None:
    """See that rows and the report of a repair speak of the same calls."""
    report = repair_transcript(messages).report
    found = calls(*messages)
    dropped = Counter(label(call) for call in found if call["outcome"] == "dropped")
    unanswered = Counter(label(call) for call in found if call["answered"] is False)
    going = {"nameless", "unterminated", "incomplete_input"}
    gone = Counter(
        label(call)
        for call in found
        if call["reason"] == "aborted" or (call["reason"] in going and not call["answered"])
    )

    assert not Counter(report.stripped_calls) - dropped
    assert not gone - Counter(report.stripped_calls)
    assert not Counter(report.synthesised) - unanswered


@pytest.mark.parametrize("file", FILES)
def test_rows_agree_with_a_check(file: str) -> None:
    """Law 92: what a repair takes out is dropped, what it has to answer has no answer."""
    agrees(make_transcripts.read(make_transcripts.FOLDER / file))


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40)
@given(happened=happenings)
def test_rows_agree_with_a_check_of_any_history(shape: str, happened: Any) -> None:
    """Law 92: the same of histories that hold orphans, repeated ids, and turns that were cut or aborted."""
    if not all(isinstance(one, Note) for one in happened):
        agrees(render(shape, happened))


@pytest.mark.parametrize("file", FILES)
def test_what_was_repaired_needs_no_repair(file: str) -> None:
    """Of a repaired transcript each call has an answer or one that says that there is none, and a name."""
    path = make_transcripts.repaired_file({"file": file})
    found = calls(*make_transcripts.read(path))

    assert found
    assert not [call for call in found if call["reason"] in ("aborted", "nameless", "unterminated")]


@pytest.mark.parametrize("file", FILES)
def test_the_form_is_the_shape(file: str) -> None:
    """`form` says what the messages were; keys are numbers in order, and nothing has a time."""
    (row,) = assembled(make_transcripts.read(make_transcripts.FOLDER / file))
    keys = [(call["turn"], call["choice"], call["index"]) for call in row["calls"]]

    assert file.partition("/")[0] == row["form"]
    assert sorted(set(keys)) == keys
    assert {(0, None, None)} == {
        (choice, call["started_s"], call["ended_s"])
        for (_, choice, _), call in zip(keys, row["calls"], strict=True)
    }
    assert row["turns"] > max(turn for turn, _, _ in keys)


# --- what encoders write -----------------------------------------------------------------------------------


@cache
def turns() -> list[Turn]:
    """Return the turns of the project's recordings that have calls."""
    found: list[Turn] = []
    for path in corpora.streams():
        parser: ToolCallParser[Any] = ToolCallParser()
        parser.feed(path.read_bytes())
        parser.close()
        found += [turn for turn in parser.turns if turn.calls or turn.custom_calls or turn.dropped]
    return found


def _value(text: str) -> Any:
    """Return what a text says, or the text where that is nothing."""
    verdict = parse_arguments(text)
    return text if verdict.arguments is None else verdict.arguments


def _told(event: Any) -> Any:
    """Return what a call says: arguments, or text."""
    if isinstance(event, ToolCallDropped):
        return event.raw_arguments if event.kind == "custom" else _value(event.raw_arguments)
    return event.arguments if hasattr(event, "arguments") else event.input


def _in_row(call: JSON) -> Any:
    text = call["raw_arguments"] if call["arguments"] is None else call["arguments"]
    if call["kind"] == "custom":
        return text
    value = _value(text)
    wrapped = value.get("INVALID_JSON", value) if isinstance(value, dict) else value
    return _value(wrapped) if isinstance(wrapped, str) else value


@pytest.mark.parametrize("transport", FORMS)
def test_what_went_in_comes_out(transport: str) -> None:
    """Law 93: the calls of a turn, written as messages of a transport, are the calls of its row, in their order."""
    expected: list[Any] = []
    found: list[Any] = []
    for turn in turns():
        encoded = encode_calls(turn, transport)
        groups = (turn.calls, turn.custom_calls, turn.builtin_calls, turn.dropped)
        events = {one.index: one for group in groups for one in group}
        went = [(id, events[index]) for index, id in encoded.by_index.items()]
        if went:
            expected.append((FORMS[transport], [(id, _name(one), _sent(one, transport)) for id, one in went]))
            (row,) = assembled(encoded.messages)
            ours = [call for call in row["calls"] if call["kind"] != "server"]
            found.append((row["form"], [(call["call_id"], call["name"], _in_row(call)) for call in ours]))

    assert expected == found
    assert len(found) > 100


def _name(event: Any) -> str:
    return event.kind if isinstance(event, BuiltinToolCall) else event.name


def _sent(event: Any, transport: str) -> Any:
    """Return what a call says: free text is a member where a transport has no place for it."""
    told = _told(event)
    is_free = isinstance(event, CustomToolCall) or getattr(event, "kind", "") == "custom"
    return {"input": told} if is_free and transport not in _FREE else told


# Telemetry keeps free text as arguments that are a text, like those that are malformed.
_FREE = ("chat-completions", "responses", "otel")


def test_records_have_what_the_provider_executed() -> None:
    """Law 93: OpenTelemetry's record has the calls that a provider executed, too."""
    served = [turn for turn in turns() if turn.server_calls]
    expected = [[call.name for call in turn.server_calls] for turn in served]
    rows = [assembled(encode_calls(turn, "otel").messages)[0] for turn in served]

    assert expected == [[call["name"] for call in row["calls"] if call["kind"] == "server"] for row in rows]
    assert isinstance(served[0].server_calls[0], ServerToolCall)


# --- single calls ------------------------------------------------------------------------------------------

ANSWER = {"role": "tool", "tool_call_id": "c1", "content": "ok"}


@pytest.mark.parametrize(
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
    """Of arguments that were kept as an object nobody knows the text: it is written anew, and has no status."""
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
    """Wrapped text that is malformed is the text of a drop; what is no object of JSON is one."""
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
def test_what_speaks_against_a_call(message: JSON, reason: str) -> None:
    """A call of a turn that was cut or aborted, or one that never was whole, is a drop."""
    (call,) = calls(message)

    assert ("dropped", reason, False) == (call["outcome"], call["reason"], call["answered"])


def test_answers() -> None:
    """Answered is what a result follows; one that was made to fill a gap is none."""
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
    """Of ATIF: calls with the results of their step, those of subagents behind; copied steps were said elsewhere."""
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
    """Of OpenTelemetry: arguments of any kind, calls of the provider with theirs, results in messages of their own."""
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


# --- whatever comes ----------------------------------------------------------------------------------------

_names = st.sampled_from(
    (
        *("role", "content", "tool_calls", "function", "arguments", "name", "id", "type", "parts", "message"),
        *(
            "messages",
            "input",
            "steps",
            "schema_version",
            "source",
            "step_id",
            "observation",
            "results",
            "payload",
        ),
        *("parentId", "uuid", "usage", "timestamp", "stop_reason", "model", "call_id", "isSidechain"),
    )
)
_words = st.sampled_from(
    (
        *(
            "assistant",
            "user",
            "tool",
            "agent",
            "model",
            "tool_use",
            "tool_call",
            "tool_result",
            "function_call",
        ),
        *(
            "response_item",
            "message",
            "ATIF-v1.7",
            "toolCall",
            "server_tool_call",
            "aborted",
            "length",
            '{"a":',
            "",
        ),
    )
)
_values = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), _words, st.text(max_size=3)),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_names, inner, max_size=6)),
    max_leaves=30,
)


@settings(max_examples=300)
@given(value=_values)
def test_no_value_raises(value: Any) -> None:
    """Law 94: whatever a text of JSON holds, there is a row, without a fault of ours."""
    (row,) = assembled(value)

    assert not (row["trouble"] or "").startswith("internal")


@settings(max_examples=100)
@given(data=st.binary(max_size=60))
def test_no_bytes_raise(data: bytes) -> None:
    """Law 94: whatever bytes stand in the column, there is a row."""
    for bytes_ in (data, b'[{"role":"assistant","content":"' + data):
        (row,) = tables.rows(assemble_messages(pa.table({"recording_id": ["r"], "messages": [bytes_]})))

        assert not (row["trouble"] or "").startswith("internal")


@pytest.mark.parametrize(
    ("text", "trouble"),
    [
        (None, "its messages are null"),
        (f'["{SECRET}', "its messages are no JSON"),
        ("[" * 10_000, "its messages are no JSON"),
        (f'"{SECRET}"', "it holds no list of messages, each an object"),
        (f'["{SECRET}"]', "it holds no list of messages, each an object"),
        (
            f'[{{"{SECRET}": 1}}]',
            "none of its messages is of a known kind; a table of conversations needs the column that holds them",
        ),
        (
            f'[{{"role": "assistant", "content": [1, "{SECRET}"]}}]',
            "a content block is of type int, not a dict",
        ),
        ("[]", None),
    ],
)
def test_troubles(text: str | None, trouble: str | None) -> None:
    """What cannot be read says why, without any of its text."""
    out = assemble_messages(pa.table({"recording_id": ["r"], "messages": pa.array([text], pa.string())}))

    assert [trouble] == out["trouble"].to_pylist()
    assert SECRET not in str(out.to_pylist())


def test_options_change_what_they_say() -> None:
    """Texts of arguments are left out if nobody wants them; a text beyond the limit is not read."""
    (call,) = calls(called('{"a":1}'), arguments=False)
    (row,) = assembled([called('{"a":1}')], limits=Limits(max_stream_bytes=20))

    assert (None, None, 7) == (call["arguments"], call["raw_arguments"], call["n_arguments_bytes"])
    assert ("it has more than 20 bytes", []) == (row["trouble"], row["calls"])
