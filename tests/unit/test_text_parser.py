"""`TextParser` and `read_text`: the same machine for a text without a wire."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from tests.support.together import together
from wholecall import StreamClosed, TextCalls, TextParser, Turn, UnknownDialect, read_text, text_formats
from wholecall.calls.output.call_events import ToolCall, ToolCallDropped
from wholecall.calls.output.events import TextDelta
from wholecall.text import Block, Format

CALL = '<tool_call>{"name": "dredge", "arguments": {"metres": 4}}</tool_call>'


def calls(turn: Turn[Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return names and arguments."""
    return [(call.name, call.arguments) for call in turn.calls]


def test_pieces_give_what_the_whole_gives() -> None:
    """Fed by characters, a text gives the turn that it gives whole."""
    text = f"Go. {CALL} Done."
    parser: TextParser[Any] = TextParser("hermes")
    for piece in text:
        parser.feed(piece)
    parser.close()

    assert read_text(text, "hermes") == parser.turn
    assert ("text", "Go.  Done.", [("dredge", {"metres": 4})]) == (
        parser.turn.dialect,
        parser.turn.text,
        calls(parser.turn),
    )


def test_events_come_as_soon_as_they_are_sure() -> None:
    """Text that cannot become a marker is not held."""
    parser: TextParser[Any] = TextParser("hermes")

    assert [["a < b "], [], ["<tools>"]] == [
        [event.text for event in parser.feed(piece) if isinstance(event, TextDelta)]
        for piece in ("a < b ", "<tool", "s>")
    ]


@pytest.mark.parametrize(
    ("ended", "reasons", "reason"),
    [
        ("clean", ["truncated"], "malformed"),
        ("length", ["truncated"], "length"),
        ("open", ["unterminated"], "malformed"),
    ],
)
def test_how_a_text_ended_says_why_a_call_is_cut(ended: Any, reasons: list[str], reason: str) -> None:
    """A call that the end cut is a drop."""
    turn = read_text(CALL[:40], "hermes", ended=ended)

    assert (reasons, reason) == ([drop.reason for drop in turn.dropped], reason)
    assert CALL[:40] == turn.dropped[0].raw_arguments


def test_the_prompt_is_read_and_not_shown() -> None:
    """A section that the prompt opened is open: here, reasoning."""
    turn = read_text(f"I could. {CALL}</think>No.", "hermes", prompt="<|im_start|>assistant\n<think>\n")

    assert ([], "No.", f"I could. {CALL}") == (calls(turn), turn.text, turn.reasoning.text)


def test_a_header_can_begin_in_the_prompt() -> None:
    """A recipient is a recipient wherever the header began."""
    turn = read_text(
        'to=functions.dredge<|message|>{"metres":4}<|call|>', "harmony", prompt="<|start|>assistant "
    )

    assert [("dredge", {"metres": 4})] == calls(turn)


class Dredge(BaseModel):
    """Dig deeper."""

    metres: int
    place: str


def test_tools_type_calls() -> None:
    """Values of tags are of the types that the tool wants, and the call's value is the tool's own."""
    text = '<invoke name="Dredge"><parameter name="metres">4</parameter><parameter name="place">4</parameter></invoke>'
    [call] = read_text(text, "anthropic", tools=[Dredge]).calls

    assert Dredge(metres=4, place="4") == call.value


def test_weak_shapes_want_tools() -> None:
    """Bare JSON is a call only where its tool is declared."""
    text = '{"name": "dredge", "arguments": {"metres": 4}}'

    assert [[], [("dredge", {"metres": 4})]] == [
        calls(read_text(text, "llama3_json")),
        calls(read_text(text, "llama3_json", tools={"dredge": {"type": "object"}})),
    ]


def test_a_format_of_your_own() -> None:
    """A `Format` may replace a name."""
    own = Format(name="house", calls=(Block(opens=("@@call",), closes=("@@end",)),))
    text = 'x @@call{"name": "go", "arguments": {}}@@end'
    turns = [read_text(text, TextCalls(format=own)), read_text(text, own)]

    assert [([("go", {})], {"text_format": "house"})] * 2 == [
        (calls(turn), turn.calls[0].extra) for turn in turns
    ]


@together("name", text_formats())
def test_every_format_leaves_prose_alone(name: str) -> None:
    """Text without a marker is output unchanged."""
    text = "If a < b, then [1, 2] and {x: 1} are fine; `code` too.\n\nNext: 5 > 3 | 2.\n"

    assert ((), text) == (read_text(text, name).calls, read_text(text, name).text)


def test_a_closed_parser_takes_nothing() -> None:
    """Closing twice gives nothing, feeding then is a mistake."""
    parser: TextParser[Any] = TextParser("hermes")
    parser.feed(CALL)

    assert [[ToolCall], []] == [
        [type(event) for event in parser.close() if isinstance(event, (ToolCall, ToolCallDropped))]
        for _ in "12"
    ]
    with pytest.raises(StreamClosed):
        parser.feed("x")


def test_an_abort_drops() -> None:
    """No call of an aborted text is emitted."""
    parser: TextParser[Any] = TextParser("hermes")
    parser.feed(CALL)

    assert ["aborted"] == [event.reason for event in parser.abort() if isinstance(event, ToolCallDropped)]


def test_mistakes_are_named() -> None:
    """Bytes are not text, and a format has to exist."""
    with pytest.raises(TypeError, match="str"):
        TextParser("hermes").feed(b"x")  # type: ignore[arg-type]
    with pytest.raises(UnknownDialect, match="hermes"):
        read_text("x", "hermse")
