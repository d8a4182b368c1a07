"""Positions of results, and messages that may be in between."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.histories import Answer, Block, Result, Said, render
from tests.support.transcript_rules import said
from wholecall.history import Repaired, repair_transcript

JSON = dict[str, Any]


def asked(*ids: str) -> Answer:
    """Return an answer that makes calls."""
    return Answer(tuple(Block("call", id=id, arguments={"n": 1}) for id in ids), "stop")


def repaired(shape: str, *happened: Any) -> tuple[list[str], Repaired]:
    """Return a repaired history's content, and the repair's result."""
    found = repair_transcript(render(shape, list(happened)), shape=shape)  # type: ignore[arg-type]
    assert repair_transcript(found.messages, shape=shape).messages is found.messages  # type: ignore[arg-type]
    return said(shape, list(found.messages)), found


@pytest.mark.parametrize(
    "shape", ["responses", "codex", "anthropic", "gemini", "claude-code", "pi", "chat-completions"]
)
def test_a_made_result_stands_before_the_next_turn(shape: str) -> None:
    """A result is made after those of its turn, and not after those of the next one."""
    words, _ = repaired(shape, asked("c1", "c2"), Result("c2"), asked("c3"), Result("c3"))

    assert [
        *("model calls c1", "model calls c2", "c2: done", "c1 is missing"),
        *("model calls c3", "c3: done"),
    ] == words


@pytest.mark.parametrize("shape", ["anthropic", "gemini"])
def test_a_strangers_result_is_not_in_the_way(shape: str) -> None:
    """A displaced message between a turn and its results goes, and leaves these in place."""
    history = [asked("c1"), Said("x"), asked("c2"), Result("c1"), Result("c2"), Said("y")]
    words, found = repaired(shape, *history)

    assert [
        *("model calls c1", "c1: done", "user: x"),
        *("model calls c2", "c2: done", "user: y"),
    ] == words
    assert ["c1"] == found.report.moved


@pytest.mark.parametrize("shape", ["anthropic", "gemini", "claude-code"])
def test_one_message_with_results_of_two_turns(shape: str) -> None:
    """A message that holds displaced results of two turns goes to neither: its results go to their own."""
    history = [asked("c1"), Said("x"), asked("c2"), Said("y"), Result("c1"), Result("c2", glued=True)]
    messages = render(shape, list(history))
    if shape == "claude-code":  # one line with both
        last = messages.pop()
        messages[-1]["message"]["content"] += last["message"]["content"]
    found = repair_transcript(messages)

    assert [
        *("model calls c1", "c1: done", "user: x"),
        *("model calls c2", "c2: done", "user: y"),
    ] == said(shape, list(found.messages))
    assert [len(messages) - 1] == found.report.dropped_messages


@pytest.mark.parametrize("shape", ["anthropic", "gemini"])
def test_blanks_before_a_result_are_not_in_the_way(shape: str) -> None:
    """A blank that is taken out, and a result that is dropped, move nothing that is after them."""
    blank, found = repaired(shape, asked("c1"), Said(" "), Result("c1", glued=True))
    orphan, other = repaired(shape, asked("c1"), Result("c9", name="exec"), Result("c1", glued=True))

    assert ["model calls c1", "c1: done"] == blank == orphan
    assert ([], []) == (found.report.moved, other.report.moved)


def test_a_strangers_result_at_the_head() -> None:
    """A result of another turn at the head of a message parts none of this turn's from its place."""
    history = [asked("c1"), Said("x"), asked("c2"), Result("c1"), Result("c2", glued=True)]
    words, found = repaired("anthropic", *history)

    assert ["model calls c1", "c1: done", "user: x", "model calls c2", "c2: done"] == words
    assert ["c1"] == found.report.moved


# Messages of several shapes in one list.


def _use(id: str) -> JSON:
    return {"type": "tool_use", "id": id, "name": "read", "input": {"n": 1}}


def _block(id: str) -> JSON:
    return {"type": "tool_result", "tool_use_id": id, "content": "done"}


def _message(id: str) -> JSON:
    return {"role": "tool", "tool_call_id": id, "content": "done"}


def _moved(shape: str, *messages: JSON) -> list[JSON]:
    """Return a list that only lacked order; all of its results are still there."""
    found = repair_transcript(messages, shape=shape)  # type: ignore[arg-type]

    assert repair_transcript(found.messages, shape=shape).messages is found.messages  # type: ignore[arg-type]
    assert ([], []) == (found.report.synthesised, found.report.dropped_results)
    return list(found.messages)


def test_results_that_are_messages_gather_in_none() -> None:
    """Among blocks, results that are messages are right after their turn, before the message that gathers."""
    asks, says = {"role": "assistant", "content": [_use("c1"), _use("c2"), _use("c3")]}, {"role": "user"}
    first, words = says | {"content": [_block("c2")]}, says | {"content": "go on"}

    assert [asks, _message("c3"), _message("c1"), first, words] == _moved(
        "anthropic", asks, _message("c3"), first, words, _message("c1")
    )


@pytest.mark.parametrize("shape", ["chat-completions", "responses", "pi"])
def test_a_result_that_is_a_block_stays_one(shape: str) -> None:
    """Among results that are messages, a block that has to move gets its own message."""
    asks, said_with = {"role": "assistant", "content": [_use("c1")]}, [{"type": "text", "text": "go on"}]

    assert [
        {"role": "user", "content": said_with},
        asks,
        {"role": "user", "content": [_block("c1")]},
    ] == _moved(shape, {"role": "user", "content": [*said_with, _block("c1")]}, asks)
