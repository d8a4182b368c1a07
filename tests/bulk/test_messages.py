"""Conversations as rows: the content of their messages, in any storage."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support import corpora, make_transcripts, tables
from tests.support.conversations import assembled, called, calls, label
from tests.support.examples import examples
from tests.support.histories import SHAPES, Note, happenings, render
from tests.support.together import together
from wholecall import (
    CustomToolCall,
    Limits,
    ServerToolCall,
    ToolCallDropped,
    ToolCallParser,
    Turn,
    parse_arguments,
)
from wholecall.bulk import assemble_messages
from wholecall.history import Encoded, encode_calls, repair_transcript

JSON = dict[str, Any]
FILES = [entry["file"] for entry in make_transcripts.entries()]
# Formats whose messages are read, and the forms they are read as.
FORMS = {
    "chat-completions": "chat-completions",
    "responses": "responses",
    "anthropic": "anthropic",
    "gemini": "gemini",
    "otel": "otel",
    "kimi": "chat-completions",
    "mistral": "chat-completions",
    "cohere-v2": "chat-completions",
    "ollama": "ollama",
    "ag-ui": "ag-ui",
    "bedrock-converse": "bedrock-converse",
    "bedrock-invoke-nova": "bedrock-converse",
    "langchain": "langchain",
    "mistral-conversations": "mistral-conversations",
    "vercel-ui": "vercel-ui",
}
SECRET = "xyzzy-lighthouse"


# --- the report of a repair ------------------------------------------------------------------------------------


def disagreements(messages: list[JSON]) -> list[str]:
    """Return the calls of which rows and the report of a repair do not say the same."""
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

    stripped, made_up = Counter(report.stripped_calls), Counter(report.synthesised)
    return [*(stripped - dropped), *(gone - stripped), *(made_up - unanswered)]


@together("file", FILES)
def test_rows_agree_with_a_check(file: str) -> None:
    """Law 93: a call that a repair removes is dropped, a call that it has to answer has no answer."""
    assert [] == disagreements(make_transcripts.read(make_transcripts.FOLDER / file))


@pytest.mark.sampled(7)
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=40)
@given(happened=happenings)
def test_rows_agree_with_a_check_of_any_history(shape: str, happened: Any) -> None:
    """Law 93: the same of histories that hold orphans, repeated ids, and turns that were cut or aborted."""
    if not all(isinstance(one, Note) for one in happened):
        assert [] == disagreements(render(shape, happened))


@together("file", FILES)
def test_what_was_repaired_needs_no_repair(file: str) -> None:
    """In a repaired transcript each call has a name and an answer, or an answer that says that there is none."""
    path = make_transcripts.repaired_file({"file": file})
    found = calls(*make_transcripts.read(path))

    assert found
    assert not [call for call in found if call["reason"] in ("aborted", "nameless", "unterminated")]


@together("file", FILES)
def test_the_form_is_the_shape(file: str) -> None:
    """`form` names the form of the messages; keys are numbers in order, and nothing has a time."""
    (row,) = assembled(make_transcripts.read(make_transcripts.FOLDER / file))
    keys = [(call["turn"], call["choice"], call["index"]) for call in row["calls"]]

    assert file.partition("/")[0] == row["form"]
    assert sorted(set(keys)) == keys
    assert {(0, None, None)} == {
        (choice, call["started_s"], call["ended_s"])
        for (_, choice, _), call in zip(keys, row["calls"], strict=True)
    }
    assert row["turns"] > max(turn for turn, _, _ in keys)


# --- the output of encoders -----------------------------------------------------------------------------------


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
    """Return the value of a JSON text, or the text where it is not JSON."""
    verdict = parse_arguments(text)
    return text if verdict.arguments is None else verdict.arguments


def _told(event: Any) -> Any:
    """Return the content of a call: arguments, or text."""
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


@pytest.mark.sampled(27)
@pytest.mark.parametrize("format", FORMS)
def test_what_went_in_comes_out(format: str) -> None:
    """Law 94: the calls of a turn, written as messages of a format, are the calls of its row, in their order."""
    expected: list[Any] = []
    found: list[Any] = []
    for turn in turns():
        encoded = encode_calls(turn, format)
        groups = (turn.calls, turn.custom_calls, turn.builtin_calls, turn.dropped)
        events = {one.index: one for group in groups for one in group}
        went = [(_sent_id(index, encoded), events[index]) for index in encoded.by_index]
        if format == "langchain":  # drops are in a separate list, after
            went.sort(key=lambda one: isinstance(one[1], ToolCallDropped))
        if went:
            expected.append((FORMS[format], [(id, _name(one), _sent(one, format)) for id, one in went]))
            (row,) = assembled(encoded.messages)
            theirs = {call.id for call in turn.server_calls} - set(encoded.by_index.values())
            ours = [
                call for call in row["calls"] if call["kind"] != "server" and call["call_id"] not in theirs
            ]
            found.append((row["form"], [(call["call_id"], call["name"], _in_row(call)) for call in ours]))

    assert expected == found
    assert len(found) > 100


def _sent_id(index: int, encoded: Encoded) -> str | None:
    """Return the id that a message has: none where we made it and the provider takes no such id."""
    return None if index in encoded.without_id else encoded.by_index[index]


def _name(event: Any) -> str:
    return event.name


def _sent(event: Any, format: str) -> Any:
    """Return the content of a call: free text is a member where a format has no place for it."""
    told = _told(event)
    is_free = isinstance(event, CustomToolCall) or getattr(event, "kind", "") == "custom"
    return {"input": told} if is_free and format not in _FREE else told


# Telemetry keeps free text as arguments that are a text, like those that are malformed.
_FREE = ("chat-completions", "responses", "otel")


def test_records_have_what_the_provider_executed() -> None:
    """Law 94: OpenTelemetry's record has the calls that a provider executed, too."""
    served = [turn for turn in turns() if turn.server_calls]
    expected = [[call.name for call in turn.server_calls] for turn in served]
    rows = [assembled(encode_calls(turn, "otel").messages)[0] for turn in served]

    assert expected == [[call["name"] for call in row["calls"] if call["kind"] == "server"] for row in rows]
    assert isinstance(served[0].server_calls[0], ServerToolCall)


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


@examples(2)
@given(value=_values)
def test_no_value_raises(value: Any) -> None:
    """Law 95: whatever a text of JSON holds, there is a row, without a fault of ours."""
    (row,) = assembled(value)

    assert not (row["trouble"] or "").startswith("internal")


@settings(max_examples=100)
@given(data=st.binary(max_size=60))
def test_no_bytes_raise(data: bytes) -> None:
    """Law 95: whatever bytes are in the column, there is a row."""
    for bytes_ in (data, b'[{"role":"assistant","content":"' + data):
        (row,) = tables.rows(assemble_messages(pa.table({"recording_id": ["r"], "messages": [bytes_]})))

        assert not (row["trouble"] or "").startswith("internal")


@together(
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
    """Unreadable input is reported with its reason, without any of its text."""
    out = assemble_messages(pa.table({"recording_id": ["r"], "messages": pa.array([text], pa.string())}))

    assert [trouble] == out["trouble"].to_pylist()
    assert SECRET not in str(out.to_pylist())


def test_options_change_what_they_say() -> None:
    """Texts of arguments are left out on request; a text beyond the limit is not read."""
    (call,) = calls(called('{"a":1}'), arguments=False)
    (row,) = assembled([called('{"a":1}')], limits=Limits(max_stream_bytes=20))

    assert (None, None, 7) == (call["arguments"], call["raw_arguments"], call["n_arguments_bytes"])
    assert ("it has more than 20 bytes", []) == (row["trouble"], row["calls"])
