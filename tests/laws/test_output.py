"""An answer requested as a value is a value once the wire ends it, in every dialect and in any pieces."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import pairwise, product
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from tests.support import corpora, encode
from tests.support.encode import compact, sse
from tests.support.renderers import RENDERERS
from tests.support.together import together
from tests.support.turns import split
from wholecall import (
    Output,
    OutputDropped,
    OutputProgress,
    ToolCallParser,
    Turn,
    collect,
    events,
    parse_output,
)


class Tide(msgspec.Struct):
    """The type of the answer."""

    port: str
    heights: list[float]


TEXT = '{"port": "Br\\u00e9st \U0001f30a \\ud83d\\ude00", "heights": [6.1, 1.4]}'
VALUE = Tide("Br\u00e9st \U0001f30a \U0001f600", [6.1, 1.4])
TEXTS = {  # the result of each at a clean end: the status of an `Output`, or the reason of a drop
    TEXT: "exact",
    f" \n{TEXT}\n": "exact",
    f"```json\n{TEXT}\n```": "normalised",
    json.dumps(TEXT): "normalised",
    TEXT.replace("]}", ",]}"): "recovered",
    f"{TEXT} There you go.": "invalid_json",
    f"There you go: {TEXT}": "invalid_json",
    f"{TEXT}{TEXT}": "multiple_objects",
    f"{TEXT}]": "invalid_json",
    f"[{TEXT}]": "schema",
    '{"port": "Brest"}': "schema",
    '{"port": 1, "heights": []}': "schema",
    '{"port": "a", "port": "b", "heights": []}': "duplicate_key",
    "I do not know.": "unparseable",
    "null": "schema",
    TEXT[:-1]: "truncated",
}
_NO_END = "bedrock-agents, returning control"  # of a turn that hands no call to the client
LINES = sorted(RENDERERS.keys() - {_NO_END})


def named(line: str) -> str:
    """Return the dialect of a way to send it."""
    return line.partition(",")[0]


def sent(line: str, text: str, stopped: str | None = None) -> bytes:
    """Return a stream whose answer is the text."""
    return RENDERERS[line](encode.Turn(text=text, stopped=stopped), encode.every(17))


def word_of(turn: Turn[Any]) -> str | None:
    """Return the status or the reason of the answer of a turn."""
    output = turn.output
    return output.status if isinstance(output, Output) else output.reason if output else None


@together("line", LINES, one_in=4)
def test_every_kind_of_text(line: str) -> None:
    """Law 123: an answer that the wire ended is a value if its text is one, else a drop with the reason."""
    turns = {text: collect([sent(line, text)], named(line), output=Tide) for text in TEXTS}
    made = [turn.output for turn in turns.values() if isinstance(turn.output, Output)]

    assert TEXTS == {text: word_of(turn) for text, turn in turns.items()}
    assert [VALUE] * 5 == [output.value for output in made]
    assert [*TEXTS] == [turn.output.raw_text for turn in turns.values() if turn.output]


@together(
    "line", sorted(line for line in RENDERERS if sent(line, TEXT) != sent(line, TEXT, "length")), one_in=3
)
def test_a_cut_answer_is_none(line: str) -> None:
    """Law 123: a turn that was cut for length, or failed for it, has no value, for any text, where the wire says so."""
    turns = {text: collect([sent(line, text, "length")], named(line), output=Tide) for text in TEXTS}
    words = {"length": "truncated", "error": "aborted"}

    assert {text: words[str(turn.reason)] for text, turn in turns.items()} == {
        text: word_of(turn) for text, turn in turns.items()
    }


@pytest.mark.sampled(59)
@pytest.mark.parametrize("line", sorted(RENDERERS))
def test_a_stream_that_stops(line: str) -> None:
    """Law 123: of a stream that is cut at any byte there is a value only if its end came, and no other than that of all."""
    data = sent(line, TEXT)
    found = [
        collect([data[:size]], named(line), output=Tide)
        for size in range(1, len(data), 1 if line in REFUSED else 5)
    ]
    values = [turn for turn in found if isinstance(turn.output, Output)]

    assert [] == [turn for turn in values if turn.output.value != VALUE or turn.text != TEXT]
    without = {"workers-ai", "snowflake-cortex", "lmstudio", "pydantic-ai"}  # their end may have no reason
    assert [] == [turn for turn in values if turn.reason == "unknown" and named(line) not in without]


@pytest.mark.sampled(17)
@pytest.mark.parametrize("line", LINES)
def test_a_text_that_stops(line: str) -> None:
    """Law 123: no beginning of the text is the value, though the wire ended it."""
    found = {
        word_of(collect([sent(line, TEXT[:size])], named(line), output=Tide)) for size in range(1, len(TEXT))
    }

    assert {"truncated"} == found


@pytest.mark.sampled(45)
@pytest.mark.parametrize("line", LINES)
def test_a_failed_source(line: str) -> None:
    """Law 123: where the source fails before the end there is no value; nor after an abort."""
    data = sent(line, TEXT)
    ends: dict[str, Callable[[ToolCallParser[Any]], Any]] = {
        "failed": lambda p: p.fail("x"),
        "aborted": lambda p: p.abort(),
    }
    words = set()
    for end, size in product(ends.values(), range(1, len(data), 7)):
        parser: ToolCallParser[Any] = ToolCallParser(named(line), output=Tide)
        parser.feed(data[:size])
        is_over = parser.turn.reason is not None or parser.turn.provider_reason is not None
        end(parser)
        words.add((is_over, word_of(parser.turn)))

    assert set() == {word for is_over, word in words if not is_over} - {"aborted", "exact", None}
    assert "aborted" in {word for _, word in words}


# Refusals.


def _chat(**message: Any) -> list[dict[str, Any]]:
    return [
        encode.chat_chunk({"role": "assistant"}),
        encode.chat_chunk(message),
        encode.chat_chunk({}, finish="stop"),
    ]


def _responses(*parts: tuple[str, str]) -> list[dict[str, Any]]:
    item = {"type": "message", "id": "m", "role": "assistant", "content": []}
    said = [
        {"type": f"response.{kind}.delta", "output_index": 0, "item_id": "m", "delta": text}
        for kind, text in parts
    ]
    return [
        {"type": "response.created", "response": {"id": "r", "object": "response", "model": "m"}},
        {"type": "response.output_item.added", "output_index": 0, "item": item},
        *said,
        {
            "type": "response.completed",
            "response": {"id": "r", "object": "response", "status": "completed", "output": []},
        },
    ]


def _anthropic(reason: str) -> list[dict[str, Any]]:
    return [
        {
            "type": "message_start",
            "message": {"id": "m", "type": "message", "role": "assistant", "model": "c", "content": []},
        },
        {"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": TEXT}},
        {"type": "content_block_stop", "index": 0},
        {"type": "message_delta", "delta": {"stop_reason": reason}},
        {"type": "message_stop"},
    ]


def _gemini(reason: str) -> list[dict[str, Any]]:
    content = {"role": "model", "parts": [{"text": TEXT}]}
    return [{"candidates": [{"index": 0, "content": content, "finishReason": reason}], "modelVersion": "g"}]


_BODY = {
    "id": "r",
    "object": "response",
    "status": "completed",
    "output": [{"type": "message", "content": [{"type": "refusal", "refusal": TEXT}]}],
}
REFUSED = {
    "chat-completions": [_chat(refusal=TEXT), [{"id": "c", "object": "chat.completion", "choices": [
        {"index": 0, "message": {"role": "assistant", "content": None, "refusal": TEXT}, "finish_reason": "stop"}]}],
        [*_chat(content=TEXT)[:2], encode.chat_chunk({}, finish="content_filter")]],
    "responses": [_responses(("refusal", TEXT)), [_BODY]],
    "anthropic": [_anthropic("refusal")],
    "gemini": [_gemini(reason) for reason in ("SAFETY", "PROHIBITED_CONTENT", "RECITATION", "BLOCKLIST", "SPII")],
}  # fmt: skip


@pytest.mark.parametrize("dialect", REFUSED)
def test_refusals_are_apart(dialect: str) -> None:
    """Law 123: a refusal is one, with its text, even where that is the JSON that was asked for."""
    turns = [collect(payloads, dialect, output=Tide) for payloads in REFUSED[dialect]]

    assert [(OutputDropped, "refused", TEXT)] * len(turns) == [
        (type(turn.output), turn.output and word_of(turn), turn.output and turn.output.raw_text)
        for turn in turns
    ]


def test_the_same_without_a_refusal() -> None:
    """Law 123: and the same streams that do not call it one give the value, or the test above is blind."""
    streams = {
        "chat-completions": _chat(content=TEXT),
        "responses": _responses(("output_text", TEXT)),
        "anthropic": _anthropic("end_turn"),
        "gemini": _gemini("STOP"),
    }

    assert dict.fromkeys(streams, "exact") == {
        dialect: word_of(collect(payloads, dialect, output=Tide)) for dialect, payloads in streams.items()
    }


# Calls, other messages.


@together("line", LINES)
def test_calls_for_the_client(line: str) -> None:
    """Law 123: a turn that ends in calls for the client has no answer yet, for any text before them."""
    turn = encode.Turn([encode.Call("call_1", "f", '{"a":1}')], text=TEXT)
    found = collect([RENDERERS[line](turn, encode.every(3))], named(line), output=Tide)

    assert found.output is None or not found.calls


def test_the_last_message_counts() -> None:
    """Law 123: text before a tool of the server, or in an earlier message, is not part of the answer."""
    text = [{"type": "text", "text": said} for said in ("Let me look.", TEXT[:9], TEXT[9:])]
    use = {"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}
    result = {"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": []}
    head = {"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn"}
    messages = [
        {"type": "message", "content": [{"type": "output_text", "text": said}]} for said in (TEXT[:9], TEXT)
    ]
    bodies = {
        "anthropic": {**head, "content": [text[0], use, result, *text[1:]]},
        "responses": {**_BODY, "output": messages},
    }

    assert dict.fromkeys(bodies, (VALUE, TEXT)) == {
        dialect: (turn.output.value, turn.output.raw_text)
        for dialect, body in bodies.items()
        if isinstance((turn := collect([body], dialect, output=Tide)).output, Output)
    }


def test_each_choice_has_its_own() -> None:
    """Law 123: of several choices each has its answer."""
    texts = (TEXT, "no", TEXT[:9])
    chunks = [encode.chat_chunk({"content": text}, index=number) for number, text in enumerate(texts)]
    ends = [
        encode.chat_chunk({}, index=number, finish=end)
        for number, end in enumerate(("stop", "stop", "length"))
    ]
    turn = collect([*chunks, *ends], output=Tide)

    assert ["exact", "unparseable", "truncated"] == [word_of(turn.choice(number)) for number in range(3)]


def test_lost_text_is_none() -> None:
    """Law 123: a frame that was lost, or bytes that are not UTF-8, may have been the answer's."""
    whole = [sse(encode.chat_chunk({"content": part})) for part in (TEXT[:12], TEXT[12:])]
    tail = sse(encode.chat_chunk({}, finish="stop"))
    bad = [whole[0].replace(b"Br", b"B\xff"), whole[1]]

    assert ["exact", "incomplete_input", "invalid_utf8"] == [
        word_of(collect([*chunks, tail], output=Tide))
        for chunks in (whole, [*whole, b"data: {broken\n\n"], bad)
    ]


# However it comes.


def _log(line: str, chunks: list[bytes], **options: Any) -> tuple[list[bytes], Turn[Any]]:
    parser: ToolCallParser[Any] = ToolCallParser(named(line), output=Tide, **options)
    told = [event for chunk in chunks for event in parser.feed(chunk)] + parser.close()
    return [event.to_json() for event in told], parser.turn


@pytest.mark.sampled(21)
@pytest.mark.parametrize("line", LINES)
@pytest.mark.parametrize("stopped", [None, "length"])
def test_split_invariance(line: str, stopped: str | None, rng: Random) -> None:
    """Law 123: the same bytes give the same events and the same answer, in any pieces, forgotten or moved meanwhile."""
    for text in (TEXT, f"```json\n{TEXT}\n```"):
        data = sent(line, text, stopped)
        expected = _log(line, [data], live=True)
        cuts = [[bytes([octet]) for octet in data], split(data, sorted(rng.sample(range(1, len(data)), 5)))]

        assert [expected] * 2 == [_log(line, chunks, live=True) for chunks in cuts]
        assert expected[1] == collect(cuts[1], named(line), output=Tide)
        assert expected[1].output == _moved(line, cuts[1]).output
        assert [expected[1].output] == [
            event
            for event in events(cuts[0], named(line), output=Tide)
            if isinstance(event, (Output, OutputDropped))
        ]


def _moved(line: str, chunks: list[bytes]) -> Turn[Any]:
    """Return the turn of a parser that forgets and moves before each chunk, and once more at the end."""
    parser: ToolCallParser[Any] = ToolCallParser(named(line), output=Tide, live=True)
    for chunk in chunks:
        parser.feed(chunk)
        parser.forget()
        parser = ToolCallParser.restore(parser.snapshot(), output=Tide)
    parser.close()
    return ToolCallParser.restore(parser.snapshot(), output=Tide).turn


@together("line", LINES)
def test_progress_grows_into_the_value(line: str) -> None:
    """Law 123: previews only grow, and the members that progress reported last are the decoded answer."""
    parser: ToolCallParser[Any] = ToolCallParser(named(line), output=Tide, live=True)
    members: dict[Any, Any] = {}
    strings = [""]
    for octet in sent(line, TEXT):
        for event in parser.feed(bytes([octet])):
            if isinstance(event, OutputProgress):
                members.update({event.path[0]: event.value} if event.closed and len(event.path) == 1 else {})
                preview = parser.partial(event)
                strings.append("" if preview is None else preview.value.get("port", ""))
    parser.close()

    assert isinstance(parser.turn.output, Output)
    assert parser.turn.output.decoded == members
    assert all(later.startswith(earlier) for earlier, later in pairwise(strings))


def test_a_text_alone() -> None:
    """Law 123: the text alone is judged as in a stream, and one that was cut is dropped as there."""
    found = {text: parse_output(text, Tide) for text in TEXTS}
    cut = [parse_output(TEXT, Tide, ended=ended) for ended in ("length", "open")]

    assert TEXTS == {
        text: output.status if isinstance(output, Output) else output.reason for text, output in found.items()
    }
    assert ["truncated", "unterminated"] == [one.reason for one in cut if isinstance(one, OutputDropped)]
    assert compact(json.loads(TEXT)) == compact(
        found[TEXT].decoded if isinstance(found[TEXT], Output) else None
    )


@together("paths", corpora.groups(corpora.streams()), one_in=5)
def test_recordings_say_the_same(paths: list[Path]) -> None:
    """Law 123: asking for a value changes no other event of a recording; a value is the text of an ended turn."""
    for path in paths:
        data = path.read_bytes()
        asked: ToolCallParser[Any] = ToolCallParser(output="json")
        told = [*asked.feed(data), *asked.close()]
        plain: ToolCallParser[Any] = ToolCallParser()
        others = [event for event in told if not isinstance(event, (Output, OutputDropped))]
        values = [turn for turn in asked.turns if isinstance(turn.output, Output)]

        assert [event.to_json() for event in [*plain.feed(data), *plain.close()]] == [
            event.to_json() for event in others
        ], path.name
        assert [] == [turn for turn in values if turn.reason not in ("stop", "unknown") or turn.calls], (
            path.name
        )
