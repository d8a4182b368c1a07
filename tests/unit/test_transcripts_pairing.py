"""Results and the calls that they answer, where more than one could be meant."""

from __future__ import annotations

from typing import Any

import pytest

from tests.support.histories import Answer, Block, Result, Said, render
from tests.support.together import together
from tests.support.transcript_rules import said
from wholecall.history import MISSING_RESULT, repair_transcript

JSON = dict[str, Any]


def words(shape: str, *happened: Any) -> list[str]:
    """Return a repaired history's calls and results."""
    told = said(shape, list(repair_transcript(render(shape, list(happened)), shape=shape).messages))  # type: ignore[arg-type]
    return [one for one in told if not one.startswith("user")]


def asked(*ids: str, name: str = "read") -> Answer:
    """Return an answer that makes calls."""
    return Answer(tuple(Block("call", id=id, name=name, arguments={"n": 1}) for id in ids), "stop")


def test_a_second_result_answers_no_other_call() -> None:
    """A result that names an id is not taken for one that names none, though the tool is the same."""
    told = words("gemini", asked("c1", ""), Result("c1", "one"), Result("c1", "again"))

    assert ["model calls c1", "model calls read", "c1: one", "read is missing"] == told


def test_an_id_outranks_an_alias() -> None:
    """An id that one call has and that is another call's alias belongs to the call that has it."""
    messages = [
        {"type": "function_call", "id": "x", "call_id": "c1", "name": "f", "arguments": "{}"},
        {"type": "function_call", "call_id": "x", "name": "f", "arguments": "{}"},
        {"type": "function_call_output", "call_id": "x", "output": "one"},
        {"type": "function_call_output", "call_id": "x", "output": "two"},
    ]
    found = repair_transcript(messages)

    assert ["x", "c1"] == [one["call_id"] for one in found.messages[2:]]
    assert ["one", MISSING_RESULT] == [one["output"] for one in found.messages[2:]]


def test_a_name_tells_where_there_is_no_id() -> None:
    """A result without an id goes by its tool, else by its place; one with an unknown id answers nothing."""
    calls = [
        {"id": id, "type": "function", "function": {"name": name, "arguments": "{}"}}
        for id, name in (("c1", "f"), ("c2", "g"), ("c3", "h"))
    ]
    answers: list[JSON] = [
        {"role": "tool", "tool_call_id": "elsewhere", "content": "no"},
        {"role": "tool", "name": "g", "content": "two"},
        {"role": "tool", "name": "unknown", "content": "no"},
        {"role": "tool", "content": "one"},
    ]
    found = repair_transcript([{"role": "assistant", "content": None, "tool_calls": calls}, *answers])

    assert [("c2", "two"), ("c1", "one"), ("c3", MISSING_RESULT)] == [
        (one["tool_call_id"], one["content"]) for one in found.messages[1:]
    ]
    assert ["elsewhere", "unknown"] == found.report.dropped_results


def test_results_without_ids_prefer_calls_without() -> None:
    """Where a tool was called with an id and without one, a result with that id is not used up by another."""
    told = words("gemini", asked("c1", ""), Result("", "blind"), Result("c1", "one"))

    assert ["model calls c1", "model calls read", "read: blind", "c1: one"] == told


@together(
    ("results", "answers"),
    [
        (["real"], ["real"]),
        ([MISSING_RESULT, "real"], ["real"]),
        (["real", MISSING_RESULT], ["real"]),
        ([MISSING_RESULT, MISSING_RESULT], ["missing"]),
        ([MISSING_RESULT, "real", "late"], ["real"]),
        (["real", "late"], ["real"]),
    ],
)
@together("apart", [False, True], ids=["together", "apart"])
def test_the_first_real_result_counts(results: list[str], answers: list[str], apart: bool) -> None:
    """Of several results the first real one counts, whether they come together or not."""
    told = [one for result in results for one in ((Said("and?"),) if apart else ()) + (Result("c1", result),)]

    for shape in ("anthropic", "chat-completions", "responses"):
        said_so = ["c1 is missing" if one == "missing" else f"c1: {one}" for one in answers]
        assert ["model calls c1", *said_so] == words(shape, asked("c1"), *told)


def test_a_real_result_before_a_made_one() -> None:
    """A real result before its call replaces a made one after it, but no real one."""
    for after, stands in ((MISSING_RESULT, "early"), ("late", "late")):
        told = words("anthropic", Result("c1", "early"), asked("c1"), Result("c1", after))
        assert ["model calls c1", f"c1: {stands}"] == told


def test_a_run_answers_the_latest_calls() -> None:
    """Results that come together answer the latest answers' calls in their order; words in between part them."""
    together = words("chat-completions", asked("c1"), asked("c1"), Result("c1", "one"), Result("c1", "two"))
    parted = words(
        "chat-completions", asked("c1"), asked("c1"), Result("c1", "one"), Said("b"), Result("c1", "two")
    )

    assert ["model calls c1", "c1: one", "model calls c1_2", "c1_2: two"] == together
    assert ["model calls c1", "c1: two", "model calls c1_2", "c1_2: one"] == parted


def test_one_result_for_two_calls_of_an_answer() -> None:
    """Of calls that one answer makes under one id the first is answered first."""
    told = words("pi", asked("c1", "c1"), Result("c1", "one"))

    assert ["model calls c1", "model calls c1_2", "c1: one", "c1_2 is missing"] == told


def test_a_blank_part_parts_no_results() -> None:
    """An empty message is not between two results."""
    told = words(
        "chat-completions", asked("c1"), asked("c1"), Result("c1", "one"), Said(" "), Result("c1", "two")
    )

    assert ["model calls c1", "c1: one", "model calls c1_2", "c1_2: two"] == told


def test_results_are_gathered_from_messages_of_results() -> None:
    """Where results are in separate messages, one after the other, they are put into the first."""
    found = repair_transcript(render("anthropic", [asked("c1", "c2"), Result("c1"), Result("c2")]))

    assert [2, 1] == [len(found.messages), len(found.report.dropped_messages)]
    assert ["c2"] == found.report.moved


@pytest.mark.parametrize("ids", [(None, None), ("m1", "m2")], ids=["without ids", "with ids"])
def test_lines_of_different_answers_are_different_turns(ids: tuple[str | None, str | None]) -> None:
    """A made result is after its own turn, before the next answer, though only results part the two."""
    blocks = [{"type": "tool_use", "id": id, "name": "f", "input": {"n": 1}} for id in ("t1", "t2", "t3")]
    results = [{"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ("t1", "t3")]
    said_by = [{"role": "assistant", **({"id": id} if id else {})} for id in ids]
    lines = [
        {
            "type": "assistant",
            "uuid": "1",
            "parentUuid": None,
            "message": said_by[0] | {"content": blocks[:2]},
        },
        {"type": "user", "uuid": "2", "parentUuid": "1", "message": {"role": "user", "content": results[:1]}},
        {
            "type": "assistant",
            "uuid": "3",
            "parentUuid": "2",
            "message": said_by[1] | {"content": blocks[2:]},
        },
        {"type": "user", "uuid": "4", "parentUuid": "3", "message": {"role": "user", "content": results[1:]}},
    ]
    found = repair_transcript(lines).messages

    assert ["1", "2", None, "3", "4"] == [one["uuid"] if len(one["uuid"]) == 1 else None for one in found]
    assert [None, "1", "2", found[2]["uuid"], "3"] == [one["parentUuid"] for one in found]
