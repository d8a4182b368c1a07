"""Answers as values: possible requests, reading of a text, and display while it arrives."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal, Optional, TypedDict

import msgspec
import pydantic
import pytest

from tests.support import encode
from tests.support.encode import Call, sse
from tests.support.together import together
from wholecall import (
    BadSnapshot,
    Limits,
    Output,
    OutputDropped,
    OutputProgress,
    PartialOutput,
    Policy,
    TextDelta,
    Tool,
    ToolCallParser,
    collect,
    parse_output,
)


class Tide(msgspec.Struct):
    """A Struct."""

    port: str


@dataclass
class Berth:
    """A dataclass."""

    port: str


class Place(TypedDict):
    """A TypedDict."""

    port: str


class Model(pydantic.BaseModel):
    """A model."""

    port: str


SCHEMA = {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]}
GEMINI = {"type": "OBJECT", "properties": {"port": {"type": "STRING"}}, "required": ["port"]}
TEXT = '{"port":"Brest"}'
PLAIN = {"port": "Brest"}
SECRET = "rm -rf /"


def frames(*texts: str, reason: str | None = "stop") -> list[bytes]:
    """Return a stream of Chat Completions whose answer comes in these texts."""
    end = [sse(encode.chat_chunk({}, finish=reason))] if reason else []
    return [*(sse(encode.chat_chunk({"content": text})) for text in texts), *end]


@together(
    ("form", "value"),
    [
        (Tide, Tide("Brest")),
        (Berth, Berth("Brest")),
        (Place, PLAIN),
        (Model, Model(port="Brest")),
        (pydantic.TypeAdapter(Model), Model(port="Brest")),
        (Optional[Tide], Tide("Brest")),
        (dict[str, str], PLAIN),
        (Tool(Tide), Tide("Brest")),
        (SCHEMA, PLAIN),
        ({"type": "json_schema", "json_schema": {"name": "tide", "schema": SCHEMA}}, PLAIN),
        ({"type": "json_schema", "name": "tide", "schema": SCHEMA, "strict": True}, PLAIN),
        ({"format": {"type": "json_schema", "schema": SCHEMA}}, PLAIN),
        ({"responseMimeType": "application/json", "responseSchema": GEMINI}, PLAIN),
        ({"response_mime_type": "application/json", "response_json_schema": SCHEMA}, PLAIN),
        ({"type": "json_object"}, PLAIN),
        ("json", PLAIN),
    ],
    ids=lambda form: str(form)[:60],
)
def test_what_may_be_asked_for(form: Any, value: Any) -> None:
    """Types, schemas and the parts of requests that hold one describe an answer; each but `"json"` refuses a number."""
    output, number = parse_output(TEXT, form), parse_output("1", form)

    assert isinstance(output, Output)
    assert (value, PLAIN) == (output.value, output.decoded)
    assert (form == "json") == isinstance(number, Output)


@together(
    ("text", "form", "value"),
    [
        ('[{"port":"Brest"}]', list[Tide], [Tide("Brest")]),
        ('[{"port":"Brest"}]', list[Model], [Model(port="Brest")]),
        ('"ebb"', Literal["ebb", "flood"], "ebb"),
        ("3", int, 3),
        ("null", Optional[Tide], None),
        ("null", "json", None),
        ('"{}"', str, "{}"),
        ('"{}"', "json", "{}"),
        ("[1,2]", {"type": "array", "items": {"type": "integer"}}, [1, 2]),
        ('["ebb"]', {"type": "ARRAY", "items": {"type": "STRING"}}, ["ebb"]),
    ],
)
def test_an_answer_need_not_be_an_object(text: str, form: Any, value: Any) -> None:
    """Lists, strings, numbers and null are values where the type takes them; a string that fits stays one."""
    output = parse_output(text, form)

    assert isinstance(output, Output)
    assert ("exact", value) == (output.status, output.value)


@together(
    ("text", "reason"),
    [
        ('[{"a":1,"a":2},3]', "duplicate_key"),
        ("[1,]", "invalid_json"),
        ("[1][2]", "invalid_json"),
        ("```json\n```", "unparseable"),
        ("```\n{}\n``` and", "invalid_json"),
        ("Here:\n```json\n{}\n```", "invalid_json"),
        (" \n ", "empty"),
        ('"\\ud83d"', "lone_surrogate"),
        ("1e999", "number_out_of_range"),
        ("[" * 200 + "]" * 200, "nesting_too_deep"),
        ("{", "truncated"),
    ],
)
def test_what_is_no_value(text: str, reason: str) -> None:
    """A text that is not one JSON value alone is dropped, whatever the request."""
    assert reason == getattr(parse_output(text, "json"), "reason", None)


def test_the_policy_holds_for_answers() -> None:
    """Recovery, coercion and safe integers are those of arguments; a reason may be required of the turn."""
    strings = '{"port":"Brest","n":"2"}'
    wanted = {"type": "object", "properties": {"n": {"type": "integer"}}}

    assert "invalid_json" == getattr(
        parse_output('{"a":1,}', "json", policy=Policy(recovery="none")), "reason", None
    )
    assert "schema" == getattr(parse_output(strings, wanted), "reason", None)
    coerced = parse_output(strings, wanted, policy=Policy(coerce="schema"))
    assert isinstance(coerced, Output)
    assert (2, "normalised") == (coerced.decoded["n"], coerced.status)
    safe = parse_output("[9007199254740993]", "json", policy=Policy(json_safe_ints=True))
    assert isinstance(safe, Output)
    assert ["9007199254740993"] == safe.decoded
    ended = [*frames(TEXT, reason=None), sse("[DONE]")]
    turns = [collect(ended, output=Tide, policy=policy) for policy in (Policy(), Policy(require_reason=True))]
    assert [Output, OutputDropped] == [type(turn.output) for turn in turns]


@pytest.mark.parametrize("form", [print, 3, {"type": "text"}, {"type": "json_schema"}, object(), "yaml"])
def test_what_describes_no_answer(form: Any) -> None:
    """A form without a description is refused where it is given, before anything is read."""
    with pytest.raises(TypeError, match="give"):
        ToolCallParser(output=form)


def test_a_schema_that_is_none() -> None:
    """A schema that is not a JSON Schema is refused, and the message names the fault in it."""
    with pytest.raises(ValueError, match="JSON Schema is not valid"):
        parse_output("1", {"type": "decimals"})


def test_a_schema_that_refers_to_another_document() -> None:
    """Nothing is fetched, and an unchecked answer would be taken for checked: it is refused."""
    with pytest.raises(ValueError, match="cannot be checked"):
        parse_output("1", {"$ref": "https://example.com/schema.json"})


def test_nothing_is_shown_of_the_text() -> None:
    """Reprs, details and descriptions for a model hold sizes and rules, and none of the model's text."""
    whole = parse_output(json.dumps({"port": SECRET}), Tide)
    drops = [
        parse_output(text, Tide) for text in (json.dumps({SECRET: SECRET}), SECRET, f'{{"port":"{SECRET}"')
    ]
    said = [repr(whole), *(f"{drop!r} {getattr(drop, 'detail', '')}" for drop in drops)]
    said += [drop.describe() for drop in drops if isinstance(drop, OutputDropped)]

    assert "<Output status='exact' decoded={8 characters}>" == repr(whole)
    assert "<OutputDropped reason='unparseable' raw_text={8 characters}>" == repr(drops[1])
    assert 7 == len(said)
    assert [] == [one for one in said if SECRET in one]


def test_a_line_of_a_typed_answer() -> None:
    """The log line of an answer holds the decoded value, and not the caller's object."""
    output = parse_output(TEXT, Tide)

    assert PLAIN == json.loads(output.to_json())["decoded"]
    assert {"type", "turn", "choice", "decoded", "raw_text", "status", "edits", "flags"} == json.loads(
        output.to_json()
    ).keys()


def test_the_events_of_an_answer() -> None:
    """An answer's last event is just before `TurnFinished`, and is `Turn.output`; without `output=` it has none."""
    parser: ToolCallParser[Any] = ToolCallParser(output=Tide)
    told = [event for data in frames(TEXT) for event in parser.feed(data)] + parser.close()
    plain = collect(frames(TEXT))

    assert ["turn_started", "text_delta", "output", "turn_finished"] == [event.type for event in told]
    assert told[2] == parser.turn.output
    assert (TEXT, None) == (plain.text, plain.output)


@pytest.mark.parametrize(("size", "reason"), [(20, None), (16, None), (15, "arguments_too_large")])
def test_a_text_beyond_the_limit(size: int, reason: str | None) -> None:
    """A text of more bytes than a call may have is dropped, with its beginning."""
    limits = Limits(max_arguments_bytes=size, max_raw_bytes=4)
    parser: ToolCallParser[Any] = ToolCallParser(output=Tide, limits=limits, live=True)
    told = [event for data in frames(*TEXT) for event in parser.feed(data)] + parser.close()
    output = parser.turn.output

    assert reason == getattr(output, "reason", None)
    assert output is not None
    assert (TEXT if reason is None else TEXT[:4]) == output.raw_text
    assert ["Brest"] == [event.value for event in told if isinstance(event, OutputProgress) and event.closed]


def test_a_dropped_call_is_no_answer() -> None:
    """Of a turn whose call was dropped there is no answer either: the call is the fault."""
    calls = [{"tool_calls": [encode.chat_entry(0, id="c", name="f", arguments='{"a":')]}]
    chunks = [
        encode.chat_chunk({"content": TEXT}),
        *map(encode.chat_chunk, calls),
        encode.chat_chunk({}, finish="tool_calls"),
    ]
    turn = collect(chunks, output=Tide)

    assert (1, None) == (len(turn.dropped), turn.output)


def test_a_paused_turn_has_none_yet() -> None:
    """A turn that continues in the next one has no answer yet."""
    head = {"id": "m", "type": "message", "role": "assistant", "model": "c"}
    body = {**head, "stop_reason": "pause_turn", "content": [{"type": "text", "text": TEXT}]}

    assert None is collect([body], "anthropic", output=Tide).output


def test_calls_written_as_text_are_calls() -> None:
    """With `text=` a call in the text is a call, and the turn has no answer."""
    text = '<tool_call>\n{"name": "f", "arguments": {}}\n</tool_call>'
    turn = collect(frames(text), text="hermes", output=Tide)

    assert (1, None) == (len(turn.calls), turn.output)
    assert isinstance(collect(frames(TEXT), text="hermes", output=Tide).output, Output)


# While it arrives.


def test_previews() -> None:
    """A preview shows the input so far, a list as a tuple; it is not an executable mapping, and gone with the turn."""
    parser: ToolCallParser[Any] = ToolCallParser(output=list[Tide], live=True)
    shown: list[Any] = []
    first = TextDelta(0, 0, "")
    for data in frames('[{"port":"Br', 'est"},{"port":', '"Oslo"}]', reason=None):
        parser.feed(data)
        preview = parser.partial(first)
        assert isinstance(preview, PartialOutput)
        shown.append((preview.value, preview.open_path, preview.complete))
    parser.close()

    assert [
        (({"port": "Br"},), (0, "port"), False),
        (({"port": "Brest"}, {}), (1,), False),
        (({"port": "Brest"}, {"port": "Oslo"}), None, True),
    ] == shown
    assert None is parser.partial(first)


def test_previews_are_asked_for() -> None:
    """Without `live` or without `output` there are no previews of answers, and the message explains that."""
    for options in ({"output": Tide}, {"live": True}):
        with pytest.raises(ValueError, match="output="):
            ToolCallParser(**options).partial(TextDelta(0, 0, ""))  # type: ignore[arg-type]


def test_progress_begins_anew_after_a_call_of_the_server() -> None:
    """A preview shown before a tool of the server, or another message, is void: `resets` counts."""
    item = {"type": "message", "id": "m", "role": "assistant", "content": []}

    def said(index: int, text: str) -> list[dict[str, Any]]:
        return [
            {"type": "response.output_item.added", "output_index": index, "item": item},
            {"type": "response.output_text.delta", "output_index": index, "item_id": "m", "delta": text},
        ]

    events = [
        {"type": "response.created", "response": {"id": "r", "object": "response", "model": "m"}},
        *said(0, '{"port":"Oslo"}'),
        *said(1, TEXT),
        {
            "type": "response.completed",
            "response": {"id": "r", "object": "response", "status": "completed", "output": []},
        },
    ]
    parser: ToolCallParser[Any] = ToolCallParser("responses", output=Tide, live=True)
    told = [event for payload in events for event in parser.feed_event(payload)] + parser.close()
    closed = [
        (event.resets, event.value) for event in told if isinstance(event, OutputProgress) and event.closed
    ]

    assert [(0, "Oslo"), (1, "Brest")] == closed
    assert isinstance(parser.turn.output, Output)
    assert TEXT == parser.turn.output.raw_text


def test_a_moved_parser_needs_its_output() -> None:
    """A snapshot is restored with an `output` if its parser had one, and only then."""
    asked, plain = ToolCallParser(output=Tide), ToolCallParser()

    for parser, output in ((asked, None), (plain, Tide)):
        with pytest.raises(BadSnapshot, match="`output`"):
            ToolCallParser.restore(parser.snapshot(), output=output)
    other = ToolCallParser(output="json")
    for data in frames(TEXT):
        other.feed(data)
    other.close()
    with pytest.raises(BadSnapshot, match="answer that it took"):
        ToolCallParser.restore(other.snapshot(), output=int)


def test_calls_of_a_turn_are_as_without_it() -> None:
    """Asking for an answer does not change calls and texts."""
    turn = encode.Turn([Call("c", "f", '{"a":1}')], text="Let me look.")
    data = encode.render_chat(turn, encode.every(4))

    assert collect([data]) == collect([data], output=Tide)
