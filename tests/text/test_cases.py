"""The runner of cases of calls in text: how it reads a file, compares and counts."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from tests.text.cases import ROWS, Case, Kind, Tally, Wanted, matches, read_cases, score
from tests.text.corrected import CORRECTED

BASE = {
    "format": "hermes",
    "expectation": "assertion",
    "complete": True,
    "tools": [],
    "id": "made/1",
    "expect": {"calls": [], "content": None},
}
CALL = '<tool_call>{"name": "sail", "arguments": {"to": "Oban"}}</tool_call>'
SAIL = {"name": "sail", "arguments": {"to": "Oban"}}


def read(tmp_path: Path, *records: dict[str, Any]) -> list[Case]:
    """Return the cases of a file that holds these records."""
    path = tmp_path / "made.jsonl"
    path.write_text("".join(json.dumps({**BASE, **record}) + "\n" for record in records), "utf-8")
    return list(read_cases(path))


def one(tmp_path: Path, **record: Any) -> Case:
    """Return the case of one record."""
    (case,) = read(tmp_path, record)
    return case


def test_a_case_is_read_whole(tmp_path: Path) -> None:
    """A record gives the text, the format that reads it, the expected calls and content, and their names as tools."""
    case = one(
        tmp_path, input=f"Off.\n{CALL}", expect={"calls": [SAIL], "content": "Off."}, format="hermes_plus"
    )

    assert case == Case(
        id="made/1",
        group="hermes",
        format="hermes",
        kind="assertion",
        text=f"Off.\n{CALL}",
        ended="clean",
        prompt="",
        tools={"sail": None},
        calls=(Wanted("sail", {"to": "Oban"}),),
        content="Off.",
        reasoning=None,
    )
    assert not case.is_stream


def test_a_text_that_is_not_complete_was_cut(tmp_path: Path) -> None:
    """A case that is not complete ended for its length."""
    assert one(tmp_path, input="<tool_call>", complete=False).ended == "length"


def test_declared_tools_come_with_their_schemas(tmp_path: Path) -> None:
    """Declared tools count, without the fields that a Go program left empty; no calls and no tools means none are
    declared.
    """
    tools = [
        {"name": "sail", "parameters": {"type": "", "properties": {"to": {"type": "string"}}}},
        {"name": "moor", "parameters": None},
    ]

    assert {"sail": {"properties": {"to": {"type": "string"}}}, "moor": None} == one(
        tmp_path, input=CALL, tools=tools
    ).tools
    assert one(tmp_path, input="Nothing.").tools is None


@pytest.mark.parametrize(
    ("text", "name"),
    [
        (CALL, "sail"),
        ('{"tool_name": "sail", "parameters": {}}', "sail"),
        ('<minimax:tool_call><invoke name="sail"><parameter name="to">Oban</parameter></invoke>', "sail"),
        ('<steptml:invoke name="sail"><steptml:parameter name="to">Oban</steptml:parameter>', "sail"),
        ("<function=sail>\n<parameter=to>\nOban\n</parameter>", "sail"),
        ("<tool_call>sail\n<arg_key>to</arg_key>", "sail"),
        ("[sail(to='Oban')]", "sail"),
    ],
)
def test_names_that_are_not_stated_are_those_of_the_text(tmp_path: Path, text: str, name: str) -> None:
    """A case that states how many calls there are, but not their names, declares the names in its text."""
    expect = {"call_count": 1, "names": [None], "arguments_subset": {"to": "Oban"}}
    case = one(tmp_path, input=text, expect=expect, expectation="assertion_partial")

    assert {name: None} == case.tools
    assert (Wanted(None, {"to": "Oban"}, some=True),) == case.calls
    assert case.content is None


@pytest.mark.parametrize(
    ("spelling", "text", "reasoning", "prompt"),
    [
        ("hermes", "I reason.</think>Yes.", "I reason.", "<think>"),
        ("hermes", "I reason.", "I reason.", "<think>"),
        ("hermes", "</think>Yes.", None, "<think>"),
        ("hermes", "<think>I reason.</think>Yes.", "I reason.", ""),
        ("hermes", "Yes.", None, ""),
        ("cohere", "So.<|END_THINKING|>Yes.", None, "<|START_THINKING|>"),
        ("gemma4", "<|channel>thought\nSo.<channel|>Yes.", "So.", ""),
        ("inkling", "<|content_text|>Yes.<|end_message|>", None, ""),
        ("harmony", " to=functions.sail<|channel|>commentary", None, "<|start|>assistant"),
        ("muse_atem", "to=self<|message|>So.<|eom|>", "So.", "<|start|>assistant"),
        ("harmony", "<|channel|>final<|message|>Yes.", None, ""),
        ("hermes", "to=Oban", None, ""),
        ("functionary_v32", 'sail\n{"to": "Oban"}', None, ">>>"),
    ],
)
def test_the_prompt_is_what_the_text_goes_on_from(
    tmp_path: Path, spelling: str, text: str, reasoning: str | None, prompt: str
) -> None:
    """A text that begins within reasoning or a header was preceded by its opening."""
    expect: dict[str, Any] = {"calls": [], "content": None, "reasoning": reasoning}

    assert prompt == one(tmp_path, format=spelling, input=text, expect=expect).prompt


def test_a_parser_that_raised_gave_no_call(tmp_path: Path) -> None:
    """Where the other parser raises no call may be emitted, and the content is open."""
    path = tmp_path / "made.jsonl"
    record = {key: value for key, value in BASE.items() if key != "expect"}
    path.write_text(json.dumps({**record, "input": CALL, "expect_error": {}}), "utf-8")
    (case,) = read_cases(path)

    assert matches(case, [], "anything")
    assert not matches(case, [("sail", {})], "anything")


@pytest.mark.parametrize(
    ("calls", "content", "right"),
    [
        ([("sail", {"knots": 1.0, "fast": True})], " Off.\n", True),
        ([("sail", {"fast": True, "knots": 1})], "Off.", True),
        ([("sail", {"knots": True, "fast": True})], "Off.", False),
        ([("sail", {"knots": 1, "fast": True, "to": "Oban"})], "Off.", False),
        ([("moor", {"knots": 1, "fast": True})], "Off.", False),
        ([("sail", {"knots": 1, "fast": True})] * 2, "Off.", False),
        ([], "Off.", False),
        ([("sail", {"knots": 1, "fast": True})], "On.", False),
    ],
)
def test_calls_and_content_are_compared(
    tmp_path: Path, calls: list[tuple[str, Any]], content: str, *, right: bool
) -> None:
    """Names, arguments and their number count, and content without white space round it; 1 is 1.0, but not true."""
    expected = {"name": "sail", "arguments": {"knots": 1, "fast": True}}
    case = one(tmp_path, input="", expect={"calls": [expected], "content": "Off."})

    assert right == matches(case, calls, content)


@pytest.mark.parametrize(
    ("calls", "right"),
    [
        ([("a", {"to": "Oban", "knots": 3}), ("moor", {})], True),
        ([("a", {"to": "Skye"}), ("moor", {})], False),
        ([("a", {}), ("moor", {})], False),
        ([("a", {"to": "Oban"}), ("sail", {})], False),
        ([("a", ["Oban"]), ("moor", {})], False),
    ],
)
def test_partial_cases_state_some_arguments_of_the_first_call(
    tmp_path: Path, calls: list[tuple[str, Any]], *, right: bool
) -> None:
    """A partial case asks for the stated arguments of the first call, and for the names that it states."""
    expect = {"call_count": 2, "names": [None, "moor"], "arguments_subset": {"to": "Oban"}}
    case = one(tmp_path, input="", expect=expect, expectation="assertion_partial")

    assert right == matches(case, calls, "anything")


def test_a_corrected_case_states_what_holds(tmp_path: Path) -> None:
    """A correction replaces the case's expectation, and nothing else: the names are still declared."""
    expect = {"call_count": 1, "names": ["search"]}
    case = one(
        tmp_path,
        input="So: {}",
        id="generic_json/smg/ad7fc51d87",
        expect=expect,
        expectation="assertion_partial",
    )

    assert {"search": None} == case.tools
    assert () == case.calls


def test_a_score_counts_by_group_and_kind(tmp_path: Path) -> None:
    """Cases count by group and kind: all, those with the right calls, and those with the right content too."""
    expect = {"calls": [SAIL], "content": "Off."}
    stream = {"input": CALL, "expect": expect, "expectation": "observed_stream_in_passing_test"}
    cases = read(
        tmp_path,
        {"input": CALL, "expect": expect},
        {"input": f"Off.{CALL}", "expect": expect, "format": "hermes_plus"},
        {"input": "none", "expect": expect},
        {**stream, "format": "glm47"},
    )

    def reader(case: Case) -> tuple[list[tuple[str, Any]], str]:
        return ([("sail", {"to": "Oban"})] if CALL in case.text else []), case.text.removesuffix(CALL)

    expected: dict[tuple[str, Kind], Tally] = {
        ("hermes", "assertion"): Tally(3, 2, 1),
        ("glm", "stream"): Tally(1, 1, 0),
    }
    assert expected == score(cases, reader)


def test_a_spelling_of_the_cases_stands_in_one_row() -> None:
    """Each spelling of a format is counted in one row only."""
    assert {} == {
        spelling: count
        for spelling, count in Counter(spelling for row in ROWS for spelling in row.formats).items()
        if count > 1
    }


@pytest.mark.cases
def test_the_file_has_the_cases_of_the_table(vectors_dir: Path) -> None:
    """Every row has as many cases of each kind as its figures say, and every correction is one of a case."""
    cases = list(read_cases(vectors_dir / "text_cases.jsonl"))
    expected = {(row.group, kind): every for row in ROWS for kind, (_, every) in row.least.items()}

    assert expected == Counter((case.group, case.kind) for case in cases)
    assert {"assertion": 370, "partial": 127, "observed": 1347, "stream": 250} == Counter(
        case.kind for case in cases
    )
    assert set(CORRECTED) <= {case.id for case in cases}
