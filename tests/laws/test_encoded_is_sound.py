"""Laws of encoded turns: with their results they are sound, and no cut goes unnoticed."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace

from tests.support.events import call, custom, drop, turn
from tests.support.examples import examples
from wholecall import Turn
from wholecall.calls.output.turns import ReasoningBlock
from wholecall.history import Conversation, check_transcript, repair_transcript
from wholecall.history.checking import RULES
from wholecall.history.conversation import _SHAPES

JSON = dict[str, Any]
# OpenTelemetry accepts a record: it is not sent again.
FORMATS = sorted(_SHAPES.keys() - {"otel"})

_ids = st.sampled_from(("c1", "c1", "c2", "call/1", "x" * 70, "functions.f:0", None))
_names = st.sampled_from(("f", "f", "get_tide"))
_texts = st.sampled_from(("Let me look.", "so", "", "\n"))
_calls = st.builds(
    call, st.sampled_from(("{}", '{"port": "Brest"}', '{"n": 1.50}', "")), _ids, _names, st.just(0)
)
_drops = st.builds(
    drop,
    st.sampled_from(('{"port": "Br', '{"n": "two"}', "")),
    _ids,
    _names,
    st.just(0),
    st.sampled_from(("truncated", "schema", "invalid_json", "aborted")),
)
_customs = st.builds(custom, st.sampled_from(("ls", "{")), st.sampled_from(("c1", "c3")), _names)
_thoughts = st.sampled_from(
    (
        ReasoningBlock("Hm."),
        ReasoningBlock("Hm.", signature="c2ln"),
        ReasoningBlock(data="c2VhbGVk", id="rs_1"),
    )
)
_turns = st.lists(st.one_of(_texts, _thoughts, _calls, _calls, _drops, _customs), max_size=5)


def sent(pieces: list[Any], format: str) -> Turn:
    """Return the turn of some pieces, its calls numbered, at most three of them."""
    numbered = [
        piece if isinstance(piece, (str, ReasoningBlock)) else replace(piece, index=number)
        for number, piece in enumerate(pieces)
    ]
    return turn(*numbered, dialect=format)


USERS: dict[str, JSON] = {
    "gemini": {"role": "user", "parts": [{"text": "go on"}]},
    "bedrock-converse": {"role": "user", "content": [{"text": "go on"}]},
    "mistral-conversations": {"type": "message.input", "role": "user", "content": "go on"},
    "langchain": {"type": "human", "content": "go on"},
    "vercel-ui": {"id": "u", "role": "user", "parts": [{"type": "text", "text": "go on"}]},
}


def conversation(turns: list[list[Any]], format: str, order: list[int], failed: bool) -> list[JSON]:
    """Return some turns as messages, each call with a result, the results of a turn in any order."""
    user = USERS.get(RULES[format].view.name, {"role": "user", "content": "go on"})
    talk, messages = Conversation(format), [user]
    for pieces in turns:
        said = sent(pieces, format)
        ran = [*said.calls, *said.custom_calls]
        added = talk.add(said, {one.index: ValueError("no") if failed else "5 pm" for one in ran})
        messages += _shuffled(added, order)
        if added and not _results(messages[-1]):
            messages.append(user)
    return messages


_MEMBERS = ("content", "parts", "tool_calls", "invalid_tool_calls", "toolCalls")
_RESULT_TYPES = ("tool_result", "function_call_output", "custom_tool_call_output", "function.result", "tool")
_CALL_TYPES = (
    *("tool_use", "function_call", "custom_tool_call", "function.call"),
    *("tool_call", "invalid_tool_call"),
)


def _is_result(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    named = "toolResult" in block or "functionResponse" in block
    return named or block.get("role") == "tool" or block.get("type") in _RESULT_TYPES


def _is_call(block: Any) -> bool:
    if not isinstance(block, dict):
        return False
    named = any(name in block for name in ("toolUse", "functionCall", "function", "custom"))
    return named or block.get("type") in _CALL_TYPES


def _results(message: JSON) -> bool:
    """Return whether a message is, or holds, results."""
    return _is_result(message) or any(
        map(
            _is_result,
            message["content"] if isinstance(message.get("content"), list) else message.get("parts", ()),
        )
    )


def _shuffled(added: list[JSON], order: list[int]) -> list[JSON]:
    """Return the messages with all results in another order, be they messages or blocks."""
    results = [message for message in added if _is_result(message)]
    rest = [message for message in added if not _is_result(message)]
    if not results and rest and _results(rest[-1]):
        member = "parts" if "parts" in rest[-1] else "content"
        rest[-1] = {**rest[-1], member: _in_order(rest[-1][member], order)}
    return [*rest, *_in_order(results, order)]


def _in_order(things: list[Any], order: list[int]) -> list[Any]:
    keys = {number: order[number % len(order)] for number in range(len(things))}
    return [things[number] for number in sorted(keys, key=lambda number: (keys[number], number))]


def _without(messages: list[JSON], index: int, member: str | None, place: int) -> list[JSON]:
    """Return the messages without one of them, or without one block of one of them."""
    before, message, after = messages[:index], messages[index], messages[index + 1 :]
    if member is None:
        return before + after
    left = message[member][:place] + message[member][place + 1 :]
    cut = {**message, member: left}
    if not left:
        del cut[member]
    empty = not any(cut.get(name) for name in _MEMBERS)
    return before + ([] if empty else [cut]) + after


def _unanswered(messages: list[JSON], index: int, place: int) -> list[JSON]:
    """Return the messages with a part of the AI SDK that lost its output."""
    part = messages[index]["parts"][place]
    kept = {name: value for name, value in part.items() if name not in ("output", "errorText")}
    parts = [*messages[index]["parts"]]
    parts[place] = {**kept, "state": "input-available"}
    return [*messages[:index], {**messages[index], "parts": parts}, *messages[index + 1 :]]


def cuts(messages: list[JSON]) -> Iterator[list[JSON]]:
    """Yield the messages without each single call and each single result."""
    for index, message in enumerate(messages):
        if _is_result(message) or _is_call(message):
            yield _without(messages, index, None, 0)
            continue
        for member in _MEMBERS:
            blocks = message[member] if isinstance(message.get(member), list) else []
            for place, block in enumerate(blocks):
                if "toolCallId" in block:  # a call that holds its result
                    yield _unanswered(messages, index, place)
                elif _is_result(block) or _is_call(block):
                    yield _without(messages, index, member, place)


talks = st.tuples(
    st.lists(_turns, min_size=1, max_size=2),
    st.lists(st.integers(0, 3), min_size=4, max_size=4),
    st.booleans(),
)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("format", FORMATS)
@examples(1 / 4)
@given(talk=talks)
@example(
    talk=(
        [[call("{}", "functions.f:0", "f", 0)], [call("{}", "functions.f:0", "get_tide", 0)]],
        [0] * 4,
        False,
    )
)
def test_encoded_turns_are_sound(format: str, talk: tuple[list[list[Any]], list[int], bool]) -> None:
    """Turns that encode wrote, with their results, come back from repair as the same object (law 124)."""
    messages = conversation(talk[0], format, *talk[1:])
    found = [repair_transcript(messages), repair_transcript(messages, shape=RULES[format].view.name)]  # type: ignore[arg-type]

    assert [messages] * 2 == [one.messages for one in found]
    assert all(one.messages is messages for one in found)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("format", FORMATS)
@examples(1 / 4)
@given(talk=talks)
def test_nothing_is_cut_unnoticed(format: str, talk: tuple[list[list[Any]], list[int], bool]) -> None:
    """Without any single call or result they are broken, and repair reports it (law 124)."""
    messages = conversation(talk[0], format, *talk[1:])
    unnoticed = [cut for cut in cuts(messages) if not repair_transcript(cut).report.changed]

    assert [] == unnoticed


def _damaged(messages: list[JSON], places: list[int]) -> list[JSON]:
    """Return messages of which some are lost, duplicated, or moved; so are blocks of those that have blocks."""
    for number, place in enumerate(places):
        if not messages:
            break
        at = place % len(messages)
        lists = [name for name in _MEMBERS if isinstance(messages[at].get(name), list)]
        if lists and number % 2:
            inner = _moved(messages[at][lists[0]], place, number)
            messages = [*messages[:at], {**messages[at], lists[0]: inner}, *messages[at + 1 :]]
        else:
            messages = _moved(messages, place, number)
    return messages


def _moved(things: list[Any], place: int, kind: int) -> list[Any]:
    if not things:
        return things
    at = place % len(things)
    rest = [*things[:at], *things[at + 1 :]]
    if kind % 3 == 0:
        return rest
    again = things if kind % 3 == 1 else rest
    to = place * 7 % (len(again) + 1)
    return [*again[:to], things[at], *again[to:]]


_PAIRS = frozenset(
    {"unanswered_tool_call", "orphan_tool_result", "duplicate_tool_result", "duplicate_tool_call_id"}
)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("format", FORMATS)
@examples(1 / 2)
@given(talk=talks, places=st.lists(st.integers(0, 40), min_size=1, max_size=6))
@example(talk=([[call("{}", "c1")], [call("{}", None), call("{}", "c1")]], [0, 0, 0, 0], False), places=[17])
@example(talk=([[call("{}", "c1")], [call("{}", "c1")]], [0, 0, 0, 0], False), places=[27, 1, 3, 0, 10])
def test_what_was_damaged_is_mended(
    format: str, talk: tuple[list[list[Any]], list[int], bool], places: list[int]
) -> None:
    """After any loss, duplication or move: repaired once they are sound, in pairs for their provider (law 125)."""
    shape: Any = RULES[format].view.name
    damaged = _damaged(conversation(talk[0], format, *talk[1:]), places)
    before = copy.deepcopy(damaged)
    mended = repair_transcript(damaged, shape=shape).messages
    found = {finding.kind for finding in check_transcript(mended, format)}

    assert before == damaged
    assert repair_transcript(mended, shape=shape).messages is mended
    assert set() == found & _PAIRS
    assert [] == _twice_in_a_row(mended) or shape != "bedrock-converse"


def _twice_in_a_row(messages: list[JSON]) -> list[Any]:
    return [one for one, other in pairwise(messages) if one.get("role") == other.get("role")]
