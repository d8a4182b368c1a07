"""Calls whose arguments are plain text between a tag with the tool's name and a closer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.texts import texts
from tests.support.together import together
from tests.text.reading import calls, merged, read, spelled
from wholecall.text.outputs import Unread

TOOLS: dict[str, Any] = {
    "bash": {"type": "object", "properties": {"command": {"type": "string"}}},
    "view": {"type": "object", "properties": {"path": {"type": "string"}}},
    "find": {"type": "object", "properties": {"command": {"type": "string"}, "depth": {"type": "integer"}}},
    "free": None,
}
BODIES = (
    "ls",
    "cat > a.md <<'E'\none\n\ntwo\nE",
    'echo "</tool>" > a.md',
    "grep -rn '<tool: bash>' docs | head",
    "a line with <tool: view> and </tool> in it",
    '  printf "{}"',
    "[ -f a.md ] && echo yes",
    "é\r\nß",
)
IN_DOUBT = ("x\n</tool>\ny", "</tool>\n</tool>", "x</tool>\ny", "<tool: view>\na.md", "x\n</tool> y")


def written(body: str, tool: str = "bash") -> str:
    """Return a call as the model writes it."""
    return f"<tool: {tool}>\n{body}\n</tool>\n"


@together("format_", ["cwm", "auto"])
@together("body", BODIES)
def test_a_plain_text_is_the_argument_as_it_stands(body: str, format_: str) -> None:
    """Law 103: markup in the middle of a line is text of the body, which comes back character for character."""
    outputs = read(format_, list(f"I do.\n{written(body)}{written('a.md', 'view')}"), tools=TOOLS)

    assert [("bash", {"command": body}), ("view", {"path": "a.md"})] == [
        (name, json.loads(arguments)) for name, arguments in calls(outputs)
    ]


@together("format_", ["cwm", "auto"])
@together("body", IN_DOUBT)
def test_a_body_with_two_ends_is_a_drop(body: str, format_: str) -> None:
    """Law 102: markup where the body may end is no part of a call, and no part of the body runs alone."""
    outputs = read(format_, list(written(body)), tools=TOOLS)

    assert [] == calls(outputs)
    assert ["ambiguous"] == [output.reason for output in outputs if isinstance(output, Unread)]


@pytest.mark.parametrize(
    ("tool", "body", "arguments"),
    [
        ("view", "a.md", {"path": "a.md"}),
        ("find", ". -name a", {"command": ". -name a"}),
        ("free", "ls", {"command": "ls"}),
        ("find", '{"command": ".", "depth": 2}', {"command": ".", "depth": 2}),
        ("free", "", {}),
    ],
)
def test_a_plain_text_is_the_only_parameter_or_the_command(
    tool: str, body: str, arguments: dict[str, Any]
) -> None:
    """The tool's only parameter is the text, else `command` is; an object is the arguments themselves."""
    outputs = read("cwm", [written(body, tool)], tools=TOOLS)

    assert [(tool, arguments)] == [(name, json.loads(said)) for name, said in calls(outputs)]


def test_no_cut_of_a_case_gives_another_call() -> None:
    """Laws 77, 78 and 80: every case in characters, and broken off at every place, gives no other call."""
    for case in (case for case in texts() if case["format"] == "cwm"):
        tools = {tool["name"]: tool["parameters"] for tool in case["tools"]}
        options: dict[str, Any] = {"tools": tools, "prompt": case.get("prompt", "")}
        for format_ in ("cwm", "auto"):
            whole = merged(read(format_, [case["text"]], **options))

            assert whole == merged(read(format_, list(case["text"]), window=0, **options)), case["name"]
            assert case["text"] == spelled(whole), case["name"]
            for end in range(len(case["text"])):
                found = calls(read(format_, [case["text"][:end]], "length", **options))
                assert found == calls(whole)[: len(found)], (case["name"], end)
