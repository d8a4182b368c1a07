"""Old calls made short, in every shape: the shrunk parts, and all that is not shrunk."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.histories import SHAPES, Answer, Block, Happening, Result, Said, happenings, render
from tests.support.transcript_rules import said
from wholecall.history import repair_transcript, shrink_arguments, shrink_transcript

EVERY = sorted(SHAPES)
LONG = {"path": "notes.md", "text": "word " * 200, "n": 1}


def turn(id: str, arguments: Any = LONG) -> tuple[Happening, ...]:
    """Return a call and its result."""
    return (
        Said("a"),
        Answer((Block("text", "x"), Block("call", id=id, arguments=arguments)), "stop"),
        Result(id),
    )


def arguments_of(messages: Any) -> list[Any]:
    """Return the arguments of all calls, as they are carried."""
    return [value for value in _members(list(messages)) if value is not None]


def _members(value: Any) -> list[Any]:
    if isinstance(value, dict):
        own = [value[key] for key in ("arguments", "input", "args") if key in value]
        return own or [found for inner in value.values() for found in _members(inner)]
    return [found for inner in value for found in _members(inner)] if isinstance(value, list) else []


@pytest.mark.parametrize("shape", EVERY)
def test_old_calls_are_shrunk(shape: str) -> None:
    """Arguments of all calls but the last ones are cut as `shrink_arguments` cuts them, in the form they have."""
    messages = render(shape, [*turn("c1"), *turn("c2"), *turn("c3")])
    before = copy.deepcopy(messages)
    found = shrink_transcript(messages, keep_recent=1)
    whole = arguments_of(messages)
    short = [shrink_arguments(raw).text for raw in whole[:2]]

    assert before == messages
    assert [*short, whole[2]] == arguments_of(found.messages)
    assert whole[2] is arguments_of(found.messages)[2]
    assert (True, ["c1", "c2"], [], True) == (found.changed, found.shrunk, found.invalid, found.fits)
    assert 2 * shrink_arguments(whole[0]).elided == found.elided > 0
    assert said(shape, messages) == said(shape, list(found.messages))


@pytest.mark.parametrize("shape", EVERY)
def test_what_is_not_shrunk_is_the_same(shape: str) -> None:
    """Messages without a shrunk call are the same objects; so is a list in which no call was shrunk."""
    messages = render(shape, [*turn("c1", {"n": 1}), *turn("c2"), *turn("c3")])
    found = shrink_transcript(messages, keep_recent=1)
    changed = [old is not new for old, new in zip(messages, found.messages, strict=True)]

    assert 1 == sum(changed)
    assert shrink_transcript(messages, keep_recent=2).messages is messages
    assert shrink_transcript(messages, keep_recent=99).messages is messages
    assert shrink_transcript(found.messages, keep_recent=1).messages is found.messages


@pytest.mark.parametrize("shape", EVERY)
@given(happened=happenings, keep=st.integers(0, 3))
def test_shrinking_is_no_repair(shape: str, happened: list[Happening], keep: int) -> None:
    """Whatever else is wrong with a transcript stays as it is, and shrinking twice is shrinking once (law 26)."""
    messages = render(shape, happened)
    before = copy.deepcopy(messages)
    found = shrink_transcript(messages, keep_recent=keep, threshold=0, max_leaf=1, marker="", shape=shape)  # type: ignore[arg-type]
    again = shrink_transcript(
        found.messages, keep_recent=keep, threshold=0, max_leaf=1, marker="", shape=shape
    )  # type: ignore[arg-type]

    assert before == messages
    assert again.messages is found.messages
    assert said(shape, messages) == said(shape, list(found.messages))
    assert len(messages) == len(found.messages)
    if not found.changed:
        assert found.messages is messages


def test_blanks_beside_a_shrunk_call_stay() -> None:
    """A message with blank blocks is written without a change but to its call."""
    call = {"type": "tool_use", "id": "t", "name": "f", "input": LONG}
    blanks = [{"type": "text", "text": ""}, call, {"type": "text", "text": " "}]
    messages = [{"role": "assistant", "content": blanks}]
    found = shrink_transcript(messages, keep_recent=0)
    short = {**call, "input": shrink_arguments(LONG).text}

    assert [{"role": "assistant", "content": [blanks[0], short, blanks[2]]}] == found.messages


def test_free_text_is_not_shrunk() -> None:
    """Free text and the input of the provider's own tools are left alone; calls without arguments too."""
    messages = [
        {"type": "custom_tool_call", "call_id": "a", "name": "p", "input": "x" * 900},
        {"type": "apply_patch_call", "call_id": "b", "operation": {"diff": "x" * 900}},
        {"type": "function_call", "call_id": "c", "name": "f", "arguments": ""},
        {"type": "function_call", "call_id": "d", "name": "f"},
    ]

    found = shrink_transcript(messages, keep_recent=0)

    assert found.messages is messages
    assert [] == found.invalid


def test_malformed_text_is_reported() -> None:
    """Text that is not JSON stays as it is and is reported, for a repair to wrap."""
    text = '{"text": "' + "x" * 900
    messages = render("chat-completions", [*turn("c1", text), *turn("c2")])
    found = shrink_transcript(messages, keep_recent=0)

    assert (["c2"], ["c1"]) == (found.shrunk, found.invalid)
    assert text == arguments_of(found.messages)[0]
    assert repair_transcript(found.messages, strict_json_arguments=True).report.coerced == ["c1"]


def test_a_budget_holds_for_each_call() -> None:
    """`max_bytes` is the allowance of each old call, and the report says whether all of them fit."""
    messages = render("anthropic", [*turn("c1"), *turn("c2", {"n": 10**50})])

    assert shrink_transcript(messages, keep_recent=0, max_bytes=100).fits
    assert not shrink_transcript(messages, keep_recent=0, max_bytes=20).fits
    assert not shrink_transcript([*messages[3:], *messages[:3]], keep_recent=0, max_bytes=50).fits
    assert not shrink_transcript(messages[-3:], keep_recent=0, max_bytes=20).changed


@pytest.mark.parametrize(
    ("options", "mistake"),
    [
        ({"keep_recent": -1}, ValueError),
        ({"keep_recent": 0, "max_leaf": -1}, ValueError),
        ({"keep_recent": 0, "protect": "path"}, TypeError),
        ({"keep_recent": 0, "shape": "openai"}, ValueError),
    ],
)
def test_options_are_checked(options: dict[str, Any], mistake: type[Exception]) -> None:
    """A mistake in an option shows, whether or not there is a call."""
    with pytest.raises(mistake):
        shrink_transcript([], **options)
