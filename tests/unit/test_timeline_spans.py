"""Timelines of texts in which calls are read."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.leaking import HERMES, QUOTED, QWEN, chat, leaked
from wholecall import ReasoningDelta, TextDelta, ToolCallDropped, ToolCallParser, UnknownDialect
from wholecall.timeline import Step, timeline

CUT = 'So: <tool_call>{"name": "ring", "argu'
FAILED = leaked(CUT, finish=None)[: -len(b"data: [DONE]\n\n")] + b'data: {"error": {"message": "gone"}}\n\n'


def steps(data: bytes, text: str | None = "auto") -> list[Step]:
    """Return the steps of a stream."""
    return list(timeline([(None, data)], text=text))


def spans(data: bytes, text: str = "auto") -> list[tuple[str, str]]:
    """Return the parts of a stream's text, neighbours of a kind as one."""
    joined: list[tuple[str, str]] = []
    for span in (span for step in steps(data, text) for span in step.spans):
        if joined and joined[-1][0] == span.kind and span.kind not in {"call", "drop"}:
            joined[-1] = (span.kind, joined[-1][1] + span.text)
        else:
            joined.append((span.kind, span.text))
    return joined


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_each_part_of_a_text_has_its_kind(size: int) -> None:
    """The shown text, the markup, and the call, in order."""
    data = leaked(HERMES + "\n" + QWEN + "\nDone.", size=size)

    assert [
        ("text", "Let me see.\n"),
        ("call", '<tool_call>\n{"name": "ring", "arguments": {"bell": 3}}\n</tool_call>'),
        ("markup", "\n<tool_call>\n"),
        ("call", "<function=ring>\n<parameter=bell>\n4\n</parameter>\n</function>"),
        ("markup", "\n</tool_call>"),
        ("text", "\nDone."),
    ] == spans(data)


@pytest.mark.parametrize(
    ("data", "found"),
    [
        (leaked(CUT, finish="length"), [("text", "So: "), ("drop", CUT[4:])]),
        (FAILED, [("text", "So: "), ("drop", CUT[4:])]),
        (leaked(QUOTED), [("text", QUOTED)]),
        (leaked("<think>Well.</think>Hi"), [("markup", "<think>"), ("reasoning", "Well."), ("markup", "</think>"), ("text", "Hi")]),
        (leaked("Well.", field="reasoning_content"), [("reasoning", "Well.")]),
    ],
)  # fmt: skip
def test_what_is_no_call_is_told_too(data: bytes, found: list[tuple[str, str]]) -> None:
    """A cut or aborted call is a drop, a quoted one is text, and reasoning is reasoning in either channel."""
    assert found == spans(data)


TEXTS = st.lists(
    st.sampled_from([HERMES, QWEN, QUOTED, CUT, "\n", "Hi ", "<tool_", "call>", "</tool_call>", "`"])
)


@given(TEXTS, st.sampled_from(["stop", "length", None]), st.integers(1, 40))
def test_the_parts_are_the_text(texts: list[str], finish: str | None, size: int) -> None:
    """Laid side by side they are the model's whole text, and their shown part is the text of the events."""
    text = "".join(texts)
    found = steps(leaked(text, size=size, finish=finish))
    parts = [span for step in found for span in step.spans]
    events = [event for step in found for event in step.events]

    assert text == "".join(part.text for part in parts)
    for kind, shown in (("text", TextDelta), ("reasoning", ReasoningDelta)):
        assert "".join(part.text for part in parts if part.kind == kind) == "".join(
            event.text for event in events if isinstance(event, shown)
        )
    assert [part.text for part in parts if part.kind == "drop"] == [
        event.raw_arguments for event in events if isinstance(event, ToolCallDropped)
    ]


@given(TEXTS, st.sampled_from(["stop", "length", None]))
def test_the_events_are_those_of_the_parser(texts: list[str], finish: str | None) -> None:
    """To listen changes nothing."""
    data = leaked("".join(texts), finish=finish)
    parser = ToolCallParser(text="auto")
    plain = [event.to_json() for event in [*parser.feed(data), *parser.close()]]

    assert plain == [event.to_json() for step in steps(data) for event in step.events]


def test_a_call_says_its_format_once() -> None:
    """With its first change: later ones do not repeat it, and a call of the wire has none."""
    call: dict[str, Any] = {
        "tool_calls": [{"index": 0, "id": "c1", "function": {"name": "ring", "arguments": "{}"}}]
    }
    changes = [change for step in steps(leaked(QWEN), "qwen_xml") for change in step.changes]

    assert [("settled", "qwen_xml"), ("ended", None)] == [(one.after, one.text_format) for one in changes]
    assert "from_text" in changes[0].flags
    assert {None} == {change.text_format for step in steps(chat(call)) for change in step.changes}


def test_without_text_there_are_no_parts() -> None:
    """Unread texts have no parts."""
    assert [] == [span for step in steps(leaked(HERMES), None) for span in step.spans]


def test_a_format_that_there_is_not() -> None:
    """It is refused with the first step."""
    with pytest.raises(UnknownDialect, match="did you mean 'hermes'"):
        next(timeline([(None, b"")], text="hermez"))
