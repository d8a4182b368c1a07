"""Results of the provider's own tools: after their calls they are left alone, with the user's words they are not."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.together import together
from wholecall.history import check_transcript, repair_transcript

JSON = dict[str, Any]

# By the type of a call, the type of its result.
SERVED = {
    "server_tool_use": ("web_search_tool_result", "bash_code_execution_tool_result"),
    "mcp_tool_use": ("mcp_tool_result",),
}
PAIRS = [(call, result) for call, results in SERVED.items() for result in results]

pairs = together(("call", "result"), PAIRS, ids=str)


def asked(*blocks: JSON) -> JSON:
    """Return a message of the user."""
    return {"role": "user", "content": [*blocks]}


def said(*blocks: JSON) -> JSON:
    """Return a message of the model."""
    return {"role": "assistant", "content": [*blocks]}


def served(call: str, id: str = "srvtoolu_1") -> JSON:
    """Return a call that the provider ran."""
    return {"type": call, "id": id, "name": "x", "input": {"q": "tide"}}


def told(result: str, id: str = "srvtoolu_1", content: str = "5 pm") -> JSON:
    """Return its result."""
    return {"type": result, "tool_use_id": id, "content": [{"type": "text", "text": content}]}


GO = asked({"type": "text", "text": "go"})
DONE = said({"type": "text", "text": "Done."})
USE = {"type": "tool_use", "id": "t1", "name": "f", "input": {}}
OK = {"type": "tool_result", "tool_use_id": "t1", "content": "ok"}


def repaired(*messages: JSON) -> list[JSON]:
    """Return a repaired list, which needs no more repair, and which Anthropic takes as it is."""
    found = repair_transcript(list(messages), shape="anthropic").messages
    assert repair_transcript(found, shape="anthropic").messages is found
    assert [] == list(check_transcript(found, "anthropic"))
    return list(found)


@pairs
def test_sound_pairs_are_left_alone(call: str, result: str) -> None:
    """After its call, in a later message of the model, or still to come: the model's own blocks stay."""
    one, its = served(call), told(result)
    sound = [
        [GO, said(one, its, USE), asked(OK), DONE],
        [GO, said(one, USE), asked(OK), said(its)],
        [GO, said(one)],
        [GO, said(one), said(its)],
        [GO, said(USE, one, its), asked(OK)],
    ]

    assert [] == [one for one in sound if repair_transcript(one).messages is not one]


@pairs
def test_a_result_with_the_users_words_comes_back(call: str, result: str) -> None:
    """Next to results of the client's, after them, alone, with a text, in a later batch or before its call."""
    one, its, sound = served(call), told(result), [GO, said(served(call), told(result), USE), asked(OK)]
    text = {"type": "text", "text": "go on"}

    assert sound == repaired(GO, said(one, USE), asked(its, OK))
    assert sound == repaired(GO, said(one, USE), asked(OK, its))
    assert sound == repaired(GO, said(one, USE), asked(its), asked(OK))
    assert [GO, said(one, its), DONE] == repaired(GO, said(one), asked(its), DONE)
    assert [GO, said(one, its), asked(text)] == repaired(GO, said(one), asked(its, text))
    assert [*sound, DONE, GO] == repaired(GO, said(one, USE), asked(OK), DONE, asked(its, *GO["content"]))
    assert [GO, said(one, its, USE), asked(OK)] == repaired(
        asked(its, *GO["content"]), said(one, USE), asked(OK)
    )


@pairs
def test_a_second_result_and_one_of_no_call_go(call: str, result: str) -> None:
    """Of several the first stays, the model's own before all others; a result that answers nothing is removed."""
    one, its, other = served(call), told(result), told(result, content="6 pm")
    sound = [GO, said(one, its, USE), asked(OK)]

    assert sound == repaired(GO, said(one, its, USE), asked(its, OK))
    assert sound == repaired(GO, said(one, USE), asked(its, other, OK))
    assert [GO, said(one, USE), asked(OK), said(its)] == repaired(
        GO, said(one, USE), asked(other, OK), said(its)
    )
    assert [GO, said(USE), asked(OK)] == repaired(GO, said(USE), asked(OK, told(result, "gone")))


@pairs
def test_each_result_finds_its_own_call(call: str, result: str) -> None:
    """Several calls of a message, and calls of several messages under one id, each get theirs."""
    one, two = served(call, "a"), served(call, "b")
    first, second = told(result, "a"), told(result, "b")
    again = told(result, "a", "later")

    assert [GO, said(one, first, two, second, USE), asked(OK)] == repaired(
        GO, said(one, two, USE), asked(second, OK, first)
    )
    assert [GO, said(one, first), GO, said(one, again), GO] == repaired(
        GO, said(one), asked(first, *GO["content"]), said(one), asked(again, *GO["content"])
    )


@pairs
def test_it_is_said_before_it_is_sent(call: str, result: str) -> None:
    """The check names such a result as the provider's refusal does, and the report describes its repair."""
    broken = [GO, said(served(call), USE), asked(told(result), told(result, "gone"), OK)]
    report = repair_transcript(broken).report

    assert {"orphan_tool_result"} <= {finding.kind for finding in check_transcript(broken, "anthropic")}
    assert (["srvtoolu_1"], ["gone"]) == (report.moved, report.dropped_results)


def test_an_aborted_turn_keeps_the_pair() -> None:
    """A returned pair is whole: an aborted turn loses the client's calls, and half pairs, not this one."""
    aborted = said(served("server_tool_use"), USE) | {"stop_reason": "aborted"}
    pair = [served("server_tool_use"), told("web_search_tool_result")]

    assert [GO, said(*pair) | {"stop_reason": "aborted"}] == repaired(
        GO, aborted, asked(told("web_search_tool_result"), OK)
    )


@pytest.mark.parametrize("kind", ["compaction", "branch_summary", "custom_message"])
def test_no_entry_of_pi_parts_a_pair(kind: str) -> None:
    """The part that pi may send as the user's words follows the result, however stale, and the tree is chained so."""
    use = {"type": "toolCall", "id": "c1", "name": "f", "arguments": {}}
    answer = {"role": "toolResult", "toolCallId": "c1", "toolName": "f", "content": []}
    lines: list[JSON] = [
        {"type": "message", "id": "1", "parentId": None, "message": {"role": "assistant", "content": [use]}},
        {"type": kind, "id": "2", "parentId": "1", "summary": "s", "firstKeptEntryId": "1"},
        {"type": "message", "id": "3", "parentId": "2", "message": answer},
        {"type": "compaction", "id": "4", "parentId": "3", "summary": "t", "firstKeptEntryId": "1"},
    ]
    found = repair_transcript(lines).messages

    assert [("1", None), ("3", "1"), ("2", "3"), ("4", "2")] == [
        (line["id"], line["parentId"]) for line in found
    ]
    assert repair_transcript(found).messages is found
