"""The parser's contract: its input, its output, and the things that never happen."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from tests.support.together import together
from wholecall import (
    Limits,
    StreamClosed,
    StreamFault,
    TextDelta,
    ToolCall,
    ToolCallDropped,
    ToolCallParser,
    TurnFinished,
    TurnStarted,
    UnknownDialect,
)
from wholecall.calls.output.turns import Turn

if TYPE_CHECKING:
    from collections.abc import Iterable

    from wholecall.calls.output.events import Event

DONE = b"data: [DONE]\n\n"
EMPTY = Turn(None)
EMPTY_FINISH = TurnFinished(0, 0, "unknown", anomalies=("missing_finish",))


def chunk(delta: object = None, reason: str | None = None, **fields: Any) -> dict[str, Any]:
    """Build a chat chunk of one choice."""
    return {"id": "r1", "choices": [{"index": 0, "delta": delta, "finish_reason": reason}], **fields}


def piece(text: object, index: int = 0, **labels: Any) -> dict[str, Any]:
    """Build a chunk with a piece of a call; a `name` goes where names go."""
    function = {"arguments": text}
    if "name" in labels:
        function["name"] = labels.pop("name")
    return chunk({"tool_calls": [{"index": index, "function": function, **labels}]})


def sse(*payloads: object) -> bytes:
    """Write payloads as server-sent events; bytes are unchanged."""
    return b"".join(
        payload if isinstance(payload, bytes) else b"data: " + json.dumps(payload).encode() + b"\n\n"
        for payload in payloads
    )


HEAD = [piece("", id="c1", name="f"), piece('{"a":')]
END = [chunk({}, "tool_calls"), DONE]
STREAM = sse(*HEAD, piece('"\u00e9"}'), *END)
BODY = {
    "id": "r1",
    "object": "chat.completion",
    "choices": [
        {
            "index": 0,
            "message": {
                "content": "ok",
                "tool_calls": [{"id": "c1", "function": {"name": "f", "arguments": '{"a":1}'}}],
            },
            "finish_reason": "tool_calls",
        }
    ],
}


def parse(data: bytes, size: int | None = None, **options: Any) -> list[Event]:
    """Return all events of a stream that is fed in pieces of the given size."""
    parser = ToolCallParser(**options)
    pieces = [data] if size is None else [data[at : at + size] for at in range(0, len(data), size)]
    return [event for each in pieces for event in parser.feed(each)] + parser.close()


def faults(events: Iterable[Event]) -> list[tuple[str, bool]]:
    """Return kind and fatality of each fault."""
    return [(event.kind, event.fatal) for event in events if isinstance(event, StreamFault)]


def drops(events: Iterable[Event]) -> list[tuple[str | None, str]]:
    """Return id and reason of each call that was dropped."""
    return [(event.id, event.reason) for event in events if isinstance(event, ToolCallDropped)]


def whole(events: Iterable[Event]) -> list[tuple[str, dict[str, Any]]]:
    """Return id and arguments of each call."""
    return [(event.id, event.arguments) for event in events if isinstance(event, ToolCall)]


# Input.


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview])
def test_anything_like_bytes_is_fed(kind: type) -> None:
    """Buffers are read as their bytes, at the first feed and later."""
    parser = ToolCallParser()
    events = parser.feed(kind(STREAM[:9])) + parser.feed(kind(STREAM[9:])) + parser.close()

    assert parse(STREAM) == events


def test_a_buffer_may_be_used_again() -> None:
    """Fed bytes are not looked at later: a caller may read into one buffer."""
    buffer = bytearray(4)
    parser = ToolCallParser()
    events: list[Event] = []
    for at in range(0, len(STREAM), 4):
        part = STREAM[at : at + 4]
        buffer[: len(part)] = part
        events += parser.feed(memoryview(buffer)[: len(part)])

    assert parse(STREAM) == events + parser.close()


@pytest.mark.parametrize("before", [b"", STREAM[:20]], ids=["first", "later"])
def test_text_is_refused_with_advice(before: bytes) -> None:
    """A `str` is a caller's mistake, and the message names the way out; the parser continues."""
    parser = ToolCallParser()
    events = parser.feed(before)

    with pytest.raises(TypeError, match=r"\.encode\(\)"):
        parser.feed("data: {}")  # type: ignore[arg-type]
    assert parse(STREAM) == events + parser.feed(STREAM[len(before) :]) + parser.close()


@together(
    "data",
    [
        None,
        1.5,
        {"a": 1},
        5,
        [1],
    ],
)
@together("framing", [None, "sse"])
def test_what_is_no_buffer_is_refused(data: Any, framing: str | None) -> None:
    """Only bytes are bytes, before and after the framing is known."""
    with pytest.raises(TypeError):
        ToolCallParser(framing=framing).feed(data)


@pytest.mark.parametrize("name", ["", "Auto", "gpt", "sse"])
def test_an_unknown_dialect_is_a_callers_mistake(name: str) -> None:
    """A wrong name raises at once and lists the right ones."""
    with pytest.raises(UnknownDialect, match="chat-completions"):
        ToolCallParser(name)


@pytest.mark.parametrize("name", ["", "SSE", "ndjson", "auto"])
def test_an_unknown_framing_is_a_callers_mistake(name: str) -> None:
    """A wrong name raises at once and lists the right ones."""
    with pytest.raises(UnknownDialect, match="se one of: eventstream, jsonarray, jsonl, sse"):
        ToolCallParser(framing=name)


@pytest.mark.parametrize("word", ["", "call", "none", None, ("calls",)])
def test_events_are_wanted_by_one_of_two_words(word: Any) -> None:
    """Any other is a caller's mistake, which raises at once and lists the two."""
    with pytest.raises(ValueError, match="events is 'all' or 'calls', not "):
        ToolCallParser(events=word)


@pytest.mark.parametrize("options", [{"live": True}, {"watch": {"f": "a"}}, {"live": True, "watch": {}}])
def test_live_arguments_need_the_events_of_their_text(options: dict[str, Any]) -> None:
    """Views that show text as it comes are not made without the pieces of text; the two are refused together."""
    with pytest.raises(
        ValueError, match="`live` and `watch` show text as it comes, and events='calls' leaves it out"
    ):
        ToolCallParser(events="calls", **options)


@pytest.mark.parametrize("size", [1, 2, 3, 7, 64, None])
def test_pieces_of_any_size_give_the_same_events(size: int | None) -> None:
    """The list of events depends on the bytes alone."""
    events = parse(STREAM, size)

    assert parse(STREAM) == events
    assert [("c1", {"a": "\u00e9"})] == whole(events)


def test_a_named_dialect_changes_nothing() -> None:
    """A dialect that is named gives the events of the one that is found, `TurnStarted.dialect` included."""
    events = parse(STREAM, dialect="chat-completions")

    assert parse(STREAM) == events
    assert TurnStarted(0, 0, "chat-completions", "r1") == events[0]


# Ends.


@pytest.mark.parametrize("end", ["close", "abort"])
def test_feeding_after_the_end_raises(end: str) -> None:
    """A closed parser takes nothing, and its error gives advice."""
    parser = ToolCallParser()
    getattr(parser, end)()

    with pytest.raises(StreamClosed, match="new parser"):
        parser.feed(b"")
    with pytest.raises(StreamClosed, match="new parser"):
        parser.feed_event({})


@pytest.mark.parametrize("first", ["close", "abort"])
@pytest.mark.parametrize("second", ["close", "abort"])
def test_the_end_comes_once(first: str, second: str) -> None:
    """Both ends are idempotent, alone and together, and the turn stays as it was."""
    parser = ToolCallParser()
    parser.feed(sse(*HEAD))

    assert isinstance(getattr(parser, first)()[-1], TurnFinished)
    turn = parser.turn
    assert [] == getattr(parser, second)()
    assert turn == parser.turn


def test_an_empty_stream_is_one_empty_turn() -> None:
    """Empty input is not a fault."""
    assert [EMPTY_FINISH] == parse(b"")
    assert [EMPTY_FINISH] == ToolCallParser("chat-completions", framing="sse").close()


def test_abort_drops_what_is_open_and_keeps_what_is_done() -> None:
    """Calls that were emitted stay, open ones are dropped with the caller's reason."""
    parser = ToolCallParser()
    parser.feed(sse(*HEAD, piece("1}"), chunk({}, "tool_calls"), piece('{"b":', 1, id="c2", name="g")))
    events = parser.abort("the user went away")

    assert [("c2", "aborted")] == drops(events)
    assert ["the user went away"] == [event.detail for event in events if isinstance(event, ToolCallDropped)]
    assert [("c1", {"a": 1})] == whole(parser.turn.calls)
    assert ["aborted"] == [event.reason for event in events if isinstance(event, TurnFinished)]


def test_leaving_a_block_with_an_exception_aborts() -> None:
    """The exception propagates, and no open call survives it."""
    parser = ToolCallParser()
    parser.feed(sse(*HEAD))
    with pytest.raises(ZeroDivisionError), parser as entered:
        raise ZeroDivisionError

    assert entered is parser
    assert [("c1", "aborted")] == drops(parser.turn.dropped)
    with pytest.raises(StreamClosed):
        parser.feed(b"")


def test_leaving_a_block_in_peace_ends_nothing() -> None:
    """Closing is the caller's, for its events must be read."""
    with ToolCallParser() as parser:
        parser.feed(STREAM)

    assert TurnFinished(0, 0, "tool_calls", "tool_calls", 1) == parser.close()[-1]


def test_an_exception_after_the_end_changes_nothing() -> None:
    """A stream that was whole stays whole if the block fails later."""
    parser = ToolCallParser()
    parser.feed(STREAM)
    parser.close()
    with pytest.raises(ZeroDivisionError), parser:
        raise ZeroDivisionError

    assert ("tool_calls", ()) == (parser.turn.reason, parser.turn.dropped)


@pytest.mark.parametrize("cut", ["ascii", "character"])
def test_a_stream_that_ends_inside_a_frame_loses_its_open_calls(cut: str) -> None:
    """The cut frame is a fault that ends nothing; calls are unterminated, wherever the cut was (quirk 51)."""
    tail = json.dumps(piece('"\u00e9'), ensure_ascii=False).encode()
    at = tail.index(b"\xc3") + (cut == "character")
    events = parse(sse(*HEAD) + b"data: " + tail[:at])

    assert ("undecodable_frame", False) in faults(events)
    assert [("c1", "unterminated")] == drops(events)


def test_a_last_frame_without_its_blank_line_counts() -> None:
    """The end of the stream ends the last event too (quirk 55)."""
    assert parse(STREAM) == parse(STREAM.rstrip(b"\n"))


def test_bytes_without_a_frame_are_no_stream() -> None:
    """Lost line ends are reported with the usual cause."""
    lines = b"".join(STREAM.split(b"\n"))
    events = parse(b"<html>" + lines)

    assert [("not_sse", False)] == faults(events)
    assert ["iter_lines" in event.detail for event in events if isinstance(event, StreamFault)] == [True]
    assert EMPTY_FINISH == events[-1]


@together(
    ("data", "told"),
    [
        (b"\xef\xbb\xbf", [("not_sse", False)]),
        (b" \r\n\t", [("not_sse", False)]),
        (b"\xef", [("not_sse", False)]),
        (b"hello\n\n", [("not_sse", False)]),
        (b"", []),
        (b"data: {}\n\n", []),
    ],
)
@together("size", [1, None])
def test_only_bytes_without_any_frame_are_no_stream(
    data: bytes, told: list[tuple[str, bool]], size: int | None
) -> None:
    """A stream of nothing is empty; white space that holds no event is bytes without one."""
    assert told == faults(parse(data, size))


def test_a_fatal_fault_is_not_followed_by_another() -> None:
    """A stream that was too large is not also called no stream."""
    limits = Limits(max_line_bytes=9)

    assert [("line_too_long", True)] == faults(parse(b"data: " + b"y" * 99, limits=limits))


@pytest.mark.parametrize("size", [1, 3, None])
def test_data_after_the_end_is_an_anomaly(size: int | None) -> None:
    """Text and calls after `[DONE]` are not taken, and are noted."""
    late = sse(chunk({"content": "x"}), piece('{"b":2}', 1, id="c2", name="g"))
    events = parse(STREAM + late, size)

    assert [("c1", {"a": "\u00e9"})] == whole(events)
    assert TurnFinished(0, 0, "tool_calls", "tool_calls", 1, anomalies=("data_after_end",)) == events[-1]
    assert not [event for event in events if isinstance(event, TextDelta)]


# Framings.

CHUNKS = [*HEAD, piece("1}"), chunk({}, "tool_calls")]
LINES = b"".join(json.dumps(each).encode() + b"\n" for each in CHUNKS)


@together("lead", [b"", b"\xef\xbb\xbf", b"\n \t\r\n", b"\xef\xbb\xbf\n"])
@together("size", [1, 5, None])
@together(
    ("data", "framing"),
    [
        (sse(*CHUNKS), "sse"),
        (LINES, "jsonl"),
        (json.dumps(CHUNKS).encode(), "jsonarray"),
        (json.dumps(CHUNKS, indent=2).encode(), "jsonarray"),
    ],
    ids=["sse", "jsonl", "jsonarray", "pretty"],
)
def test_the_framing_is_found_in_the_first_bytes(
    data: bytes, framing: str, size: int | None, lead: bytes
) -> None:
    """One byte after mark and white space decides, and naming the framing changes nothing (quirk 55)."""
    events = parse(lead + data, size)

    assert [("c1", {"a": 1})] == whole(events)
    assert [] == faults(events)
    assert parse(data, framing=framing) == events


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("size", [1, None])
def test_a_whole_body_is_a_stream_of_one(indent: int | None, size: int | None) -> None:
    """A response that was not streamed is read correctly, pretty-printed or not (quirk 90)."""
    events = parse(json.dumps(BODY, indent=indent).encode(), size)

    assert [("c1", {"a": 1})] == whole(events)
    assert ("ok", "tool_calls", 1) == (
        "".join(event.text for event in events if isinstance(event, TextDelta)),
        *next((event.reason, event.n_calls) for event in events if isinstance(event, TurnFinished)),
    )


@together("indent", [None, 2])
@together("before", [b"", sse(*HEAD)], ids=["alone", "among events"])
@together("size", [1, None])
def test_a_bare_error_body_is_an_error(before: bytes, indent: int | None, size: int | None) -> None:
    """An error object instead of events, or among them, is the provider's error (quirk 52)."""
    error = {"code": 503, "message": "busy"}
    events = parse(before + json.dumps({"error": error}, indent=indent).encode(), size)

    assert [(error, True)] == [
        (event.error, event.fatal) for event in events if isinstance(event, StreamFault)
    ]
    assert "error" == [event.reason for event in events if isinstance(event, TurnFinished)][-1]


# Faults.


def test_faults_stand_where_they_happened() -> None:
    """A skipped event is reported between its neighbours, whatever the chunks were."""
    large = b"data: " + b"x" * 200 + b"\n\n"
    limits = Limits(max_event_bytes=150, max_raw_bytes=3)
    data = large + sse(chunk({"content": "a"}), large, large, chunk({"content": "b"}), large, *END)
    events = parse(data, limits=limits)
    order = [
        event.text if isinstance(event, TextDelta) else event.raw
        for event in events
        if isinstance(event, (TextDelta, StreamFault))
    ]

    assert ["xxx", "a", "xxx", "xxx", "b", "xxx"] == order
    for size in [*range(1, 20), 64, 100, 500, 1000]:
        assert events == parse(data, size, limits=limits)


def test_a_fatal_fault_of_the_framing_ends_the_stream() -> None:
    """Open calls are dropped, and nothing after the fault is taken."""
    limits = Limits(max_stream_bytes=len(sse(*HEAD)) + 3)
    for size in (1, 7, None):
        events = parse(STREAM, size, limits=limits)
        assert [("stream_too_large", True)] == faults(events)
        assert [("c1", "aborted")] == drops(events)
        assert "error" == [event.reason for event in events if isinstance(event, TurnFinished)][-1]


def test_nothing_is_told_behind_a_fatal_fault() -> None:
    """Fragments, text and ends that follow a provider's error cause no event until the end (quirk 52)."""
    parser = ToolCallParser()
    parser.feed(sse(*HEAD, piece("1"), {"error": {"message": "down"}}))

    assert [] == parser.feed(sse(piece("}"), chunk({"content": "x"}), *END, {"error": {"message": "again"}}))
    assert [TurnFinished] == [type(event) for event in parser.close()]


@pytest.mark.parametrize("size", [1, 5, None])
def test_invalid_utf8_drops_its_call_alone(size: int | None) -> None:
    """Bytes that are not text cost the call in whose arguments they stood, not its neighbour (quirk 35)."""
    frame = sse(piece('BAD"}')).replace(b"BAD", b"\xff")
    other = piece('{"b":2}', 1, id="c2", name="g")
    events = parse(sse(*HEAD, other, piece('"'), frame, piece(" ", 1), *END), size)

    assert [("invalid_utf8", False)] == faults(events)
    assert [("c1", "invalid_utf8")] == drops(events)
    assert [("c2", {"b": 2})] == whole(events)


def test_invalid_utf8_outside_arguments_drops_nothing() -> None:
    """A broken character in text is a fault only; a broken character that the server sent itself is not (quirk 35)."""
    broken = sse(chunk({"content": "BAD"})).replace(b"BAD", b"\xff")
    honest = sse(*HEAD, piece('"BAD"}'), *END).replace(b"BAD", "\ufffd".encode())

    assert ([("invalid_utf8", False)], []) == (faults(parse(broken)), drops(parse(broken)))
    assert ([], [("c1", {"a": "\ufffd"})]) == (faults(parse(honest)), whole(parse(honest)))


def test_invalid_utf8_in_the_decisive_frame_is_not_lost() -> None:
    """A frame that waited for the dialect keeps its blemish; so does one whose dialect never came."""
    decisive = sse(piece('{"a":"BAD"}', id="c1", name="f"), *END).replace(b"BAD", b"\xff")

    assert [("c1", "invalid_utf8")] == drops(parse(b"data: {}\n\n" + decisive))
    assert [("invalid_utf8", False), ("undecodable_frame", False)] == faults(parse(b"data: \xff\n\n"))


@pytest.mark.parametrize("hole", [b"data: {broken\n\n", b"data: 12\n\n"])
def test_an_undecodable_frame_inside_a_call_is_a_hole(hole: bytes) -> None:
    """A call whose text may have lost a piece is dropped though its text parses (quirk 31)."""
    events = parse(sse(*HEAD, hole, piece("1}"), *END))

    assert [("undecodable_frame", False)] == faults(events)
    assert [("c1", "incomplete_input")] == drops(events)


# Decoded payloads.


class Dumps:
    """An SDK's object, as pydantic models look from outside."""

    def __init__(self, value: object) -> None:
        self.value = value

    def model_dump(self) -> object:
        """Return builtins."""
        return self.value


class Converts:
    """An SDK's object of another make."""

    def to_dict(self) -> object:
        """Return builtins, with another object inside."""
        return {"id": "r1", "choices": [{"index": 0, "delta": Dumps(chunk()["choices"][0]["delta"])}]}


def fed(*payloads: object, **options: Any) -> list[Event]:
    """Return all events of a stream of decoded payloads."""
    parser = ToolCallParser(**options)
    return [event for payload in payloads for event in parser.feed_event(payload)] + parser.close()


def test_a_list_holds_payloads() -> None:
    """A decoded JSON array is fed as its elements one by one."""
    payloads = [*HEAD, piece("1}"), chunk({}, "tool_calls")]
    parser = ToolCallParser()

    assert fed(*payloads) == parser.feed_event(payloads) + parser.close()


def test_decoded_payloads_are_frames() -> None:
    """Dicts, and objects that dump themselves, cause the events that their bytes would cause."""
    chunks = [*HEAD, piece("1}"), chunk({}, "tool_calls")]
    expected = parse(sse(*chunks))

    assert expected == fed(*chunks)
    assert expected == fed(*map(Dumps, chunks))
    assert expected == fed(*[{**each, "choices": Dumps(each["choices"])} for each in chunks])
    assert parse(sse(chunk())) == fed(Converts())


def test_structs_are_payloads_too() -> None:
    """Types that msgspec can turn into builtins need no own method."""
    finish = TurnFinished(0, 0, "stop")

    assert [("unknown_dialect", False)] == faults(fed({"kind": finish}))


def test_an_object_that_cannot_be_dumped_is_a_callers_mistake() -> None:
    """An object without builtins raises, and the parser continues."""
    parser = ToolCallParser()

    with pytest.raises(TypeError):
        parser.feed_event(object())
    assert [TurnStarted(0, 0, "chat-completions", "r1")] == parser.feed_event(chunk({}))


def test_a_whole_body_is_fed_at_once() -> None:
    """A response that was not streamed is one payload (quirk 90)."""
    events = fed(BODY)

    assert [("c1", {"a": 1})] == whole(events)
    assert parse(json.dumps(BODY).encode()) == events


def test_a_payload_may_have_an_event_name() -> None:
    """Where the transport names events, the name counts as in SSE (quirk 52)."""
    parser = ToolCallParser("chat-completions")
    events = parser.feed_event({"message": "busy"}, event="error")

    assert [("provider_error", True)] == faults(events)


@pytest.mark.parametrize("payload", [None, [], "text", 5])
def test_a_payload_that_is_no_object_never_raises(payload: object) -> None:
    """JSON of any other shape is at most a fault."""
    assert {("undecodable_frame", False)} >= set(faults(fed(payload)))


def test_an_object_is_written_without_escapes() -> None:
    """Arguments that come as an object are dumped compact, and keep their characters (quirk 22)."""
    events = fed(piece({"a": "\u00e9", "b": [1, 2]}, id="c1", name="f"), chunk({}, "tool_calls"))

    assert ['{"a":"\u00e9","b":[1,2]}'] == [
        event.raw_arguments for event in events if isinstance(event, ToolCall)
    ]


def test_lone_surrogates_pass_the_object_door() -> None:
    """Halves of a character may come in two payloads (quirk 35)."""
    halves = [piece('{"a":"\ud83d', id="c1", name="f"), piece('\ude00"}'), chunk({}, "tool_calls")]

    assert [("c1", {"a": "\U0001f600"})] == whole(fed(*halves))


def test_bytes_and_payloads_may_take_turns() -> None:
    """Both doors lead to the same turn."""
    parser = ToolCallParser()
    events = parser.feed(sse(*HEAD)) + parser.feed_event(piece("1}")) + parser.feed(sse(*END))

    assert [("c1", {"a": 1})] == whole(events + parser.close())


# Visible state.


def test_a_turn_is_a_snapshot() -> None:
    """A turn shows its content so far and does not change when the stream continues."""
    parser = ToolCallParser()
    assert (EMPTY, ()) == (parser.turn, parser.turns)

    parser.feed(sse(chunk({"content": "a"}), *HEAD))
    before = parser.turn
    assert ("a", (), None, "r1", "chat-completions") == (
        before.text,
        before.calls,
        before.reason,
        before.response_id,
        before.dialect,
    )

    parser.feed(sse(chunk({"content": "b"}), piece("1}"), *END))
    parser.close()
    assert ("a", (), None) == (before.text, before.calls, before.reason)
    assert ("ab", "tool_calls", "tool_calls") == (
        parser.turn.text,
        parser.turn.reason,
        parser.turn.provider_reason,
    )
    assert [("c1", {"a": 1})] == whole(parser.turn.calls)
    assert (parser.turn,) == parser.turns


def test_turns_are_all_turns_of_the_stream() -> None:
    """A second message is a second turn; `turn` is the current one (quirk 91)."""
    starts = [{"type": "message_start", "message": {"id": name, "content": []}} for name in ("m1", "m2")]
    parser = ToolCallParser()

    parser.feed(sse(starts[0]))
    assert ["m1"] == [turn.response_id for turn in parser.turns]
    parser.feed(sse(starts[1]))
    assert ["m1", "m2"] == [turn.response_id for turn in parser.turns]
    assert "m2" == parser.turn.response_id
    parser.close()
    assert ["unknown", "unknown"] == [turn.reason for turn in parser.turns]


def test_faults_before_the_first_turn_belong_to_it() -> None:
    """A fault that came early is found in the turn that followed."""
    parser = ToolCallParser()
    parser.feed(sse(b"data: {broken\n\n", *HEAD, piece("1}"), *END))
    parser.close()

    assert [("undecodable_frame", False)] == faults(parser.turn.faults)
    assert [("c1", {"a": 1})] == whole(parser.turn.calls)


def test_frames_that_wait_for_a_dialect_are_bounded() -> None:
    """The oldest go first; the rest is translated in order."""
    data = sse({"error": "old"}, b"data: broken\n\n", chunk({"content": "x"}))

    assert [("provider_error", True)] == faults(parse(data))[:1]
    assert [("undecodable_frame", False)] == faults(parse(data, limits=Limits(max_pending_frames_bytes=430)))


def test_usage_before_the_first_choices_is_of_the_same_turn() -> None:
    """A chunk with token counts alone may come first (quirks 54 and 88)."""
    parser = ToolCallParser("chat-completions")
    parser.feed(sse({"choices": [], "usage": {"n": 1}}, chunk({"content": "x"}, "stop"), DONE))
    parser.close()

    assert [("r1", {"n": 1})] == [(turn.response_id, turn.usage) for turn in parser.turns]


def test_a_repr_tells_the_state_and_no_secret() -> None:
    """Argument text stays out of logs."""
    parser = ToolCallParser()
    assert "<ToolCallParser unknown open turns=0>" == repr(parser)

    events = parser.feed(sse(piece('{"a":"secret"}', id="c1", name="f"), chunk({"content": "secret"})))
    assert "<ToolCallParser chat-completions open turns=1>" == repr(parser)
    events += parser.close()
    assert "<ToolCallParser chat-completions closed turns=1>" == repr(parser)
    assert not [shown for shown in map(repr, [parser, parser.turn, *events]) if "secret" in shown]


ARGUMENTS = ("{}", '{"a":1}', "", '{"b":2}')
RESTATED = [
    {"type": "function_call", "call_id": f"c{n}", "name": "f", "arguments": a}
    for n, a in enumerate(ARGUMENTS)
]
CALLS = [{"id": f"c{n}", "function": {"name": "f", "arguments": a}} for n, a in enumerate(ARGUMENTS)]
IN_ONE_FRAME = {
    "finished response": {"type": "response.completed", "response": {"id": "r", "output": RESTATED}},
    "whole response": {"object": "response", "id": "r", "status": "completed", "output": RESTATED},
    "whole completion": {
        "object": "chat.completion",
        "choices": [{"index": 0, "message": {"tool_calls": CALLS}, "finish_reason": "tool_calls"}],
    },
}


@pytest.mark.parametrize("payload", IN_ONE_FRAME.values(), ids=list(IN_ONE_FRAME))
@pytest.mark.parametrize("named", [False, True], ids=["detected", "named"])
def test_calls_that_end_in_one_frame_end_in_order(payload: dict[str, Any], named: bool) -> None:
    """A finish whose turn ends in the same frame waits for that end, so empty calls are in their places."""
    dialect = "chat-completions" if "choices" in payload else "responses"
    parser = ToolCallParser(dialect if named else "auto")
    events = parser.feed(sse(payload)) + parser.close()

    assert [0, 1, 2, 3] == [event.index for event in events if isinstance(event, ToolCall)]


@pytest.mark.parametrize(
    ("named", "data", "found"),
    [
        ("anthropic", b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n', "chat-completions"),
        ("responses", b'data: {"type":"message_start","message":{"id":"m"}}\n\n', "anthropic"),
        ("gemini", b'data: {"choices":[{"delta":{}}]}\n\ndata: [DONE]\n\n', "chat-completions"),
    ],
)
def test_a_stream_of_another_dialect_than_the_one_named_is_a_fault(
    named: str, data: bytes, found: str
) -> None:
    """The fault says which of them it looks like; the dialect stays the one that was named."""
    parser = ToolCallParser(named)
    events = parser.feed(data) + parser.close()

    said = f"the stream was read as {named!r}, and looks like {found!r}"
    assert [("unknown_dialect", said)] == [
        (event.kind, event.detail) for event in events if isinstance(event, StreamFault)
    ]
    assert named == parser.dialect


def test_unknown_events_before_the_first_known_one_are_no_other_dialect() -> None:
    """A dialect that was named is right as soon as one frame says something in it."""
    parser = ToolCallParser("anthropic")
    odd = b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n'
    start = b'data: {"type":"message_start","message":{"id":"m","content":[]}}\n\n'

    assert [] == [
        event for event in parser.feed(odd + start) + parser.close() if isinstance(event, StreamFault)
    ]


def test_a_misnamed_stream_is_a_fault_whatever_is_replaced_in_it() -> None:
    """Law 1: a byte that is not UTF-8 takes frames a longer way, which knows a wrong name as well."""
    data = b'data: {"x":"\xff"}\n\ndata: {"type":"message_start","message":{"id":"m"}}\n\n'
    parsers = [ToolCallParser("responses") for _ in range(2)]
    told = [
        [*parser.feed(data[:place]), *parser.feed(data[place:]), *parser.close()]
        for parser, place in zip(parsers, (0, data.index(b"data", 1)), strict=True)
    ]

    assert told[0] == told[1]
    assert ["invalid_utf8", "unknown_dialect"] == [
        event.kind for event in told[0] if isinstance(event, StreamFault)
    ]


def test_a_stream_that_failed_says_so_once() -> None:
    """`fail` is an end like `abort`, with a fatal fault and its reason."""
    parser = ToolCallParser()
    parser.feed(b'data: {"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n')

    kinds = [type(event).__name__ for event in parser.fail("ReadTimeout")]

    assert (["StreamFault", "TurnFinished"], []) == (kinds, parser.fail("again") + parser.close())
    assert ("error", ["ReadTimeout"]) == (parser.turn.reason, [fault.detail for fault in parser.turn.faults])
    with pytest.raises(StreamClosed):
        parser.feed(b"x")
