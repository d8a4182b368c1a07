"""Other string values of arguments under a seed: in the bytes and in the expectation alike, or nowhere."""

from __future__ import annotations

import json
from random import Random
from typing import Any

import pytest

from tests.support.conform_suite import TIDE, case_of, chat, chunk
from wholecall.grading.conform.cases import Case
from wholecall.grading.conform.values import exchanged_values, has_values

TEXT = '{"port":"Quimper Corniguel","at":"bay"}'
CALL = {**TIDE, "arguments": json.loads(TEXT), "arguments_text": TEXT}


def pieces_of(text: str, size: int) -> bytes:
    """Return a chat stream with one call whose argument text is cut into pieces of some characters."""
    head = {"index": 0, "id": "call_tide", "type": "function"}
    calls = [{**head, "function": {"name": "get_tide", "arguments": ""}}]
    calls += [{"index": 0, "function": {"arguments": text[n : n + size]}} for n in range(0, len(text), size)]
    events = [chunk({"tool_calls": [call]}) for call in calls]
    return b"".join([*events, chunk({}, "tool_calls"), b"data: [DONE]\n\n"])


def joined(case: Case) -> str:
    """Return the argument text of a chat stream, its pieces put together."""
    events = [json.loads(line[6:]) for line in case.data.split(b"\n\n") if line[6:7] == b"{"]
    deltas = [event["choices"][0]["delta"] for event in events]
    return "".join(call["function"]["arguments"] for delta in deltas for call in delta.get("tool_calls", ()))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_a_value_in_pieces_is_the_one_that_is_expected(size: int) -> None:
    """However the text is cut, its pieces make the new value; keys stay."""
    case = case_of(pieces_of(TEXT, size), sent=[CALL])
    other = exchanged_values(case, Random(1))
    [call] = other.sent

    assert call.arguments == json.loads(joined(other)) != CALL["arguments"]
    assert call.arguments_text == joined(other)
    assert list(CALL["arguments"]) == list(call.arguments)
    assert len(case.data) == len(other.data)


@pytest.mark.parametrize("dumped", [1, 2])
def test_a_value_in_json_in_json(dumped: int) -> None:
    """A text that was encoded once more than it should be holds the new value, too."""
    text = TEXT
    for _ in range(dumped):
        text = json.dumps(text)
    other = exchanged_values(case_of(pieces_of(text, 5), sent=[CALL]), Random(1))
    found: Any = joined(other)
    for _ in range(dumped + 1):
        found = json.loads(found)

    assert other.sent[0].arguments == found != CALL["arguments"]


def test_a_value_in_an_object() -> None:
    """Arguments that are an object on the wire are changed there."""
    event = {"delta": {"type": "tool_use", "name": "get_tide", "input": CALL["arguments"]}}
    data = b"data: " + json.dumps(event).encode() + b"\n\n"
    other = exchanged_values(case_of(data, sent=[CALL]), Random(1))

    assert other.sent[0].arguments == json.loads(other.data[6:])["delta"]["input"] != CALL["arguments"]


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ('{"xyz":"xyz abc"}', "xyz"),
        ('{"a":"true mind","b":true}', "true"),
        ('{"a":"pier 5 north","b":5}', "5"),
        ('{"a":"caf\\u00e9 dock"}', "caf\u00e9"),
        ('{"a":"one\\nmany"}', "\n"),
        ('{"a":"<|call|>","b":"dock"}', "<|call|>"),
    ],
)
def test_what_means_something_stays(text: str, kept: str) -> None:
    """Letters of keys, literals, numbers, escapes and markers are exchanged nowhere."""
    value = json.loads(text)
    call = {**TIDE, "arguments": value, "arguments_text": text}
    [other] = exchanged_values(case_of(pieces_of(text, 3), sent=[call]), Random(1)).sent

    assert kept in json.dumps(other.arguments, ensure_ascii=False).replace("\\n", "\n")
    assert other.arguments != value


@pytest.mark.parametrize(
    "data",
    [
        chat(),
        chunk({"content": TEXT}) + chat(),
        pieces_of('{"port":"Quimper","at":"bay"}', 4),
        chunk({"parsed": {"port": "Quimper Corniguel"}}) + pieces_of(TEXT, 4),
    ],
)
def test_a_value_that_is_not_understood_stays(data: bytes) -> None:
    """A value that is not in the argument text, or also elsewhere, is changed nowhere, and that is told."""
    case = case_of(data, sent=[CALL])

    assert has_values(case)
    assert case is exchanged_values(case, Random(1))


def test_arguments_without_a_text_have_no_values() -> None:
    """Numbers are not changed, and nothing is said to be kept."""
    case = case_of(chat(), sent=[{**TIDE, "arguments": {"n": 5, "ok": True}}])

    assert not has_values(case)
    assert case is exchanged_values(case, Random(1))
