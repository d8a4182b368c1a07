"""Tests of the sameness of two calls, and of a stream's memory for it."""

from __future__ import annotations

import json

import pytest

from tests.support.together import together
from wholecall import Limits, ToolCall, ToolCallParser
from wholecall.deltas import CallAnswered
from wholecall.machine import sameness
from wholecall.machine.call import Call
from wholecall.machine.sameness import Said, Told, repeats

A, B = '{"a":1}', '{"a":2}'


@together(
    ("said", "again"),
    [
        pytest.param([("c", A), ("c", '{ "a": 1.0 }')], {1: 0}, id="the same value in another spelling"),
        pytest.param([("c", A), ("d", A)], {}, id="other ids"),
        pytest.param([(None, A), (None, A)], {}, id="no ids"),
        pytest.param([("c", ""), ("c", A)], {0: 1}, id="a head, and the whole call"),
        pytest.param([("c", A), ("c", "")], {1: 0}, id="a whole call, and its head"),
        pytest.param([("c", ""), ("c", "")], {1: 0}, id="two heads"),
        pytest.param([("c", A), ("c", B)], {}, id="another value"),
        pytest.param([("c", A), ("c", A), ("c", B)], {}, id="an id that identifies nothing"),
        pytest.param([("c", A), ("c", B), ("c", A), ("c", B)], {2: 0, 3: 1}, id="a list that came twice"),
        pytest.param([("c", ""), ("c", A), ("c", B)], {}, id="no head of two calls"),
    ],
)
def test_repeats(said: list[tuple[str | None, str]], again: dict[int, int]) -> None:
    """Equal calls of one id are one, unless different ones show that it identifies nothing."""
    assert again == repeats([Said(id, "f", text) for id, text in said])


def test_names_are_compared() -> None:
    """Calls of two names are never the same, and show that their id identifies nothing."""
    assert {} == repeats([Said("c", "f", A), Said("c", "g", A), Said("c", "f", "")])


def _stream(answer: str, names: str = "f", ids: str | None = "abc") -> bytes:
    calls = [
        {"index": index, "type": "function", "function": {"name": name, "arguments": A}}
        | ({} if ids is None else {"id": ids[index]})
        for index, name in enumerate(names)
    ]
    chunks = [
        {"delta": {"role": "assistant", "content": None}, "finish_reason": None},
        {"delta": {"tool_calls": calls}, "finish_reason": None},
        {"delta": {}, "finish_reason": "tool_calls"},
    ]
    said = [{"id": answer, "model": "m", "choices": [{"index": 0, **chunk}]} for chunk in chunks]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in said) + b"data: [DONE]\n\n"


def test_turns_that_are_forgotten_are_not_remembered() -> None:
    """A call of a turn that is no longer kept is not recognized: memory is bounded by the turns that are kept."""
    streams = [_stream(answer) for answer in "abca"]

    def answers(limits: Limits) -> list[int]:
        parser = ToolCallParser("chat-completions", limits=limits)
        events = [*parser.feed(b"".join(streams)), *parser.close()]
        return [event.turn for event in events if isinstance(event, ToolCall)]

    assert [0, 1, 2] == answers(Limits())
    assert [0, 1, 2, 3] == answers(Limits(max_turns=2))


@together("names", ["f", "ff", "fg", "fgh", "ffg"])
@together("ids", [None, "abc"])
def test_an_answer_that_comes_again_has_no_new_call(names: str, ids: str | None) -> None:
    """The calls of a response that was sent twice are emitted once, with ids or without, whatever they have in common."""
    parser = ToolCallParser("chat-completions")
    events = [*parser.feed(_stream("a", names, ids) * 2), *parser.close()]

    assert [(0, name) for name in names] == [
        (event.turn, event.name) for event in events if isinstance(event, ToolCall)
    ]


def test_one_id_of_several_calls() -> None:
    """Calls of two names or values show that their id identifies nothing; calls without text have only names."""
    head = Said("c", "f", "")

    assert [False] * 4 == [
        sameness.is_shared(calls)
        for calls in ([], [head, head], [head, Said("c", "f", A)], [Said("c", " f", A), Said("c", "f", A)])
    ]
    assert [True] * 3 == [
        sameness.is_shared(calls)
        for calls in (
            [head, Said("c", "g", "")],
            [Said("c", "f", A), Said("c", "f", B)],
            [head, Said("c", "f", A), Said("c", "f", "{")],
        )
    ]


@together(
    ("one", "other", "same"),
    [
        pytest.param(Said("c", "f", ""), Said("d", "f", "{}"), True, id="no text is an empty object"),
        pytest.param(Said("c", "f", "{"), Said("c", "f", "{"), True, id="one text without a value"),
        pytest.param(Said("c", "f", "{"), Said("c", "f", "{ "), False, id="two texts without a value"),
        pytest.param(Said("c", "f", A), Said("c", "g", A), False, id="another name"),
        pytest.param(Said("c", "f", A, A), Said("c", "f", '{"a": 1}', '{"a": 1}'), False, id="free texts"),
        pytest.param(Said("c", "f", None, {"a": 1}), Said("c", "f", None, {"a": 2}), False, id="values"),
        pytest.param(
            Said("c", "f", None, {"a": 1}), Said("c", "f", '{"a":1.0}'), True, id="a value and a text"
        ),
    ],
)
def test_the_same_call(one: Said, other: Said, *, same: bool) -> None:
    """One name, and one value in any spelling; the value of a custom tool is its text."""
    assert [same, same] == [one.is_same(other), other.is_same(one)]


def test_a_snapshot_keeps_what_came_out() -> None:
    """A parser that continues elsewhere knows the calls that were emitted before."""
    parser = ToolCallParser("chat-completions")
    parser.feed(_stream("a"))
    moved = ToolCallParser.restore(parser.snapshot())
    events = [*moved.feed(_stream("a")), *moved.close()]

    assert [] == [event for event in events if isinstance(event, ToolCall)]
    assert ("repeated_call",) == moved.turn.anomalies


def test_answers_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among calls that were answered before they came, the oldest are forgotten beyond a number and a size."""
    monkeypatch.setattr(sameness, "_MOST_ANSWERS", 2)
    monkeypatch.setattr(sameness, "_LONGEST_ANSWERS", 10)
    told = Told()

    def kept(*answers: tuple[str, str]) -> list[str]:
        for id, text in answers:
            told.answer(CallAnswered(id, "f", text))
        return list(told.answers)

    assert ["b", "c"] == kept(("a", ""), ("b", ""), ("c", ""))
    assert ["c", "d"] == kept(("d", "1234567890"))
    assert ["e"] == kept(("e", "1"), ("e", "1"))
    assert [] == kept(("f", "12345678901"))


def test_an_answer_is_of_one_call() -> None:
    """An answer counts for the next call of its id, name and value, and for no other."""
    call = Call(0, 0, "function")
    call.id = "c"
    call.put(A)
    told = Told()
    told.answer(CallAnswered("c", "f", '{"a": 1}'))

    assert (False, True, False) == tuple(told.takes_answer(call, name) for name in ("g", "f", "f"))
    told.answer(CallAnswered("c", "f", B))
    assert not told.takes_answer(call, "f")
