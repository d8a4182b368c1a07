"""Bedrock ConverseStream: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.parts import without_parts
from wholecall import ToolCallParser
from wholecall.deltas import (
    OBJECT,
    CallCancelled,
    CallClosed,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.amazon.converse import ConverseTranslator
from wholecall.framing.frame import Frame

UNKNOWN = Noted(0, "unknown_events")
OPENED = TurnOpened(None, restart=True)
Event = tuple[str, Any]


def translate(*events: Event | str | Frame) -> list[Delta]:
    """Translate the events of one stream: padded payloads of the binary stream, frames, texts without a name."""
    translator = ConverseTranslator()
    deltas: list[Delta] = []
    for event in events:
        frame = Frame("", event) if isinstance(event, str) else event
        if isinstance(frame, tuple):
            frame = Frame(frame[0], json.dumps(frame[1] | {"p": "abc"}))
        deltas += translator.translate(frame)
    return without_parts(deltas + translator.close())


def start(index: object, **use: Any) -> Event:
    """Build the start of a tool's block."""
    tool = {"toolUseId": "tooluse_1", "name": "f"} | use
    return "contentBlockStart", {"contentBlockIndex": index, "start": {"toolUse": tool}}


def delta(index: object, **part: Any) -> Event:
    """Build a piece of a block."""
    return "contentBlockDelta", {"contentBlockIndex": index, "delta": part}


def piece(index: object, text: object) -> Event:
    """Build a piece of argument text."""
    return delta(index, toolUse={"input": text})


def stop(index: object) -> Event:
    """Build the end of a block."""
    return "contentBlockStop", {"contentBlockIndex": index}


def reason(value: object) -> Event:
    """Build the end of a message."""
    return "messageStop", {"stopReason": value}


def seen(index: int | None, id_: str | None = "tooluse_1", name: str | None = "f") -> CallSeen:
    """Return the delta of a tool's start."""
    return CallSeen(0, index, None, id_, name, begins=True)


def closed(index: int | None) -> CallClosed:
    """Return the delta of a block's end."""
    return CallClosed(0, index, None, final=False)


STREAM = (
    ("messageStart", {"role": "assistant"}),
    delta(0, text="Let me "),
    stop(0),
    start(1),
    piece(1, ""),
    piece(1, '{"a":'),
    piece(1, '"b"}'),
    stop(1),
    reason("tool_use"),
    ("metadata", {"usage": {"inputTokens": 3, "totalTokens": 5}, "metrics": {"latencyMs": 8}}),
)
DELTAS = [
    OPENED,
    TextFragment(0, "Let me "),
    seen(1),
    Slot(0, 1, None, '{"a":'),
    Slot(0, 1, None, '"b"}'),
    closed(1),
    Finish(0, "tool_calls", "tool_use"),
    TurnEnded(),
    UsageSeen({"inputTokens": 3, "totalTokens": 5}),
]


def test_a_stream() -> None:
    """A call lives in its block, a closed block is not the last word, usage may follow the end."""
    assert DELTAS == translate(*STREAM)


@pytest.mark.parametrize("named", [False, True])
def test_events_of_an_sdk(named: bool) -> None:
    """Decoded by an SDK or a relay, each event is the member of its name, even if the frame has it too."""
    frames = [Frame(name if named else "", json.dumps({name: payload})) for name, payload in STREAM]

    assert DELTAS == translate(*frames)


def test_parallel_calls_and_calls_without_text() -> None:
    """Each block is a separate call; one without any piece has no text."""
    assert [seen(0), closed(0), seen(1, "tooluse_2", "g"), Slot(0, 1, None, "{}"), closed(1)] == translate(
        start(0), stop(0), start(1, toolUseId="tooluse_2", name="g"), piece(1, "{}"), stop(1)
    )


def test_calls_of_the_server() -> None:
    """A tool that Bedrock runs itself is a server's call; only the presence of its result counts (quirk 124)."""
    result = {"toolUseId": "tooluse_1", "type": "nova_grounding_result", "status": "success"}

    call = [CallSeen(0, 0, None, "tooluse_1", "nova_grounding", "server", begins=True), closed(0)]
    assert [*call, CallCancelled("tooluse_1", answered=True)] == translate(
        start(0, name="nova_grounding", type="server_tool_use"),
        stop(0),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": result}}),
        delta(1, toolResult=[{"text": "secret"}]),
        stop(1),
    )
    assert [seen(0)] == translate(start(0, type="tool_use"))


def test_a_whole_message_holds_results() -> None:
    """A result in a whole message says that its call was executed, as one in a stream does."""
    call = {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {}}}
    result = {"toolResult": {"toolUseId": "tooluse_1", "content": [{"text": "secret"}]}}
    parser = ToolCallParser("bedrock-converse")
    parser.feed(
        json.dumps({"output": {"message": {"content": [call, result]}}, "stopReason": "tool_use"}).encode()
    )
    parser.close()

    assert ((), ["tooluse_1"]) == (parser.turn.calls, [one.id for one in parser.turn.server_calls])


def test_reasoning() -> None:
    """Text, signature and encrypted blocks are kept with their block."""
    assert [
        ReasoningFragment(0, "Hm", 0),
        ReasoningFragment(0, "", 0, signature="c2ln"),
        ReasoningFragment(0, "", 1, data="c2VhbGVk"),
    ] == translate(
        delta(0, reasoningContent={"text": "Hm"}),
        delta(0, reasoningContent={"signature": "c2ln"}),
        stop(0),
        delta(1, reasoningContent={"redactedContent": "c2VhbGVk"}),
        delta(1, reasoningContent={"text": ""}),
    )


def test_what_is_skipped_and_what_is_unknown() -> None:
    """Citations and images say nothing to us; unknown members are counted."""
    assert [] == translate(
        delta(0, citation={"title": "x"}), delta(0, image={"source": {}}), delta(0, text="")
    )
    assert [UNKNOWN] == translate(delta(0, hologram={}))
    assert [UNKNOWN] == translate(Frame("contentBlockShift", '{"a":1}'))
    assert [UNKNOWN] == translate('{"contentBlockDelta":5}')


def test_a_displaced_block_has_not_ended() -> None:
    """A start ends nothing, whatever stood in its place; only a stop does, of the latest block (quirk 77).

    No message has text in the place of a call that is open: it is another message, whose start was lost.
    """
    other = seen(0, "tooluse_2")
    text: Event = ("contentBlockStart", {"contentBlockIndex": 0, "start": {}})

    again = TurnOpened("message 1", restart=True)
    assert [seen(0), seen(0), other] == translate(start(0), start(0), start(0, toolUseId="tooluse_2"))
    assert [seen(0), again] == translate(start(0), text, stop(0))
    assert [] == translate(text, stop(0))
    assert [seen(0), closed(0)] == translate(text, start(0), stop(0))


def test_a_piece_without_a_start_is_told() -> None:
    """Its text is reported, so that no other call can take it, and each stop with it (quirk 77)."""
    assert [Slot(0, 4, None, "{"), closed(4), closed(4)] == translate(piece(4, "{"), stop(4), stop(4))


def test_labels_of_any_type() -> None:
    """Odd labels lose no event: an id may be a number, an index a string (quirks 7, 9 and 12)."""
    assert [seen(2, "7"), Slot(0, 2, None, "{}"), closed(2)] == translate(
        start("2", toolUseId=7), piece(2.0, "{}"), stop(2)
    )
    assert [seen(None, None, None)] == translate(start(None, toolUseId=" ", name=""))


def test_an_object_as_input_keeps_its_own_text() -> None:
    """Where a value replaces text, the verdict reads the wire's spelling (quirk 22)."""
    event = '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"toolUse":{"input":{"a":1.0, "a":2}}}}}'

    assert [Slot(0, 0, None, '{"a":1.0, "a":2}')] == translate(event)


def test_a_lone_surrogate_loses_no_frame() -> None:
    """Half an escape pair is text like any other until its other half comes (quirk 35)."""
    half = '{"contentBlockIndex":0,"delta":{"toolUse":{"input":"\\ud83d"}}}'

    assert [Slot(0, 0, None, "\ud83d")] == translate(Frame("contentBlockDelta", half))
    assert [TextFragment(0, "\ud83d")] == translate('{"contentBlockDelta":{"delta":{"text":"\\ud83d"}}}')


@pytest.mark.parametrize(
    ("word", "finish"),
    [
        ("end_turn", Finish(0, "stop", "end_turn")),
        ("max_tokens", Finish(0, "length", "max_tokens")),
        ("model_context_window_exceeded", Finish(0, "length", "model_context_window_exceeded")),
        ("guardrail_intervened", Finish(0, "content_filter", "guardrail_intervened")),
        ("malformed_tool_use", Finish(0, "malformed", "malformed_tool_use", drops=True)),
        ("malformed_model_output", Finish(0, "malformed", "malformed_model_output", drops=True)),
        ("fresh", Finish(0, "unknown", "fresh")),
    ],
)
def test_reasons(word: str, finish: Finish) -> None:
    """Each reason in our words; malformed output takes back undecided calls."""
    assert [finish, TurnEnded()] == translate(reason(word))


def test_a_stop_without_a_reason_ends_the_turn() -> None:
    """The wire ended the message all the same (quirk 45)."""
    assert [seen(0), TurnEnded(), closed(0)] == translate(start(0), reason(None), stop(0))


def test_usage_may_come_before_the_end() -> None:
    """Usage is usage wherever it is; metrics alone say nothing (quirk 88)."""
    assert [UsageSeen({"totalTokens": 5}), Finish(0, "stop", "end_turn"), TurnEnded()] == translate(
        ("metadata", {"usage": {"totalTokens": 5}}), reason("end_turn")
    )
    assert [] == translate(("metadata", {"metrics": {"latencyMs": 1}}))


def test_a_second_message_begins_anew() -> None:
    """The kinds of the first turn's blocks are forgotten: a stop may be a call's again (quirk 77)."""
    assert [TextFragment(0, "x"), OPENED, closed(0)] == translate(
        delta(0, text="x"), ("messageStart", {}), stop(0)
    )


@pytest.mark.parametrize(
    ("frame", "detail", "error"),
    [
        (
            Frame("error", '{"code":"throttlingException","message":"slow"}'),
            "throttlingException: slow",
            {"code": "throttlingException", "message": "slow"},
        ),
        (Frame("error", '{"error":{"message":"no"}}'), "no", {"message": "no"}),
        (Frame("error", "busy"), "busy", "busy"),
        (
            Frame("", '{"modelStreamErrorException":{"message":"oh","originalStatusCode":424}}'),
            "modelStreamErrorException: oh",
            {"code": "modelStreamErrorException", "message": "oh", "originalStatusCode": 424},
        ),
        (Frame("", '{"validationException":"bad"}'), "validationException: bad", None),
        (Frame("", '{"error":{"code":429,"message":"slow"}}'), "429: slow", {"code": 429, "message": "slow"}),
    ],
)
def test_errors_are_fatal(frame: Frame, detail: str, error: Any) -> None:
    """An exception is reported under its type, in a separate frame or as a member (quirk 52)."""
    error = error or {"code": "validationException", "message": "bad"}

    assert [WireFault("provider_error", detail, error=error, fatal=True)] == translate(frame)


def test_frames_that_cannot_be_read() -> None:
    """They may have held argument text; keep-alives and `[DONE]` have not (quirk 53)."""
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw='{"contentBl', hole=True)

    assert [fault] == translate('{"contentBl')
    assert [fault] == translate(Frame("contentBlockDelta", '{"contentBl'))
    assert [] == translate("{}", "", "[DONE]")


BODY = """{
  "output": {"message": {"role": "assistant", "content": [
    {"reasoningContent": {"reasoningText": {"text": "Hm", "signature": "c2ln"}}},
    {"text": "Both."},
    {"citationsContent": {"content": [{"text": "As said"}], "citations": [{"title": "x"}]}},
    {"toolUse": {"toolUseId": "tooluse_1", "name": "f", "input": {"a": 1.0, "a": 1}}},
    {"toolUse": {"toolUseId": "tooluse_2", "name": "g", "input": {}}},
    {"toolResult": {"toolUseId": "tooluse_2"}}
  ]}},
  "stopReason": "tool_use", "usage": {"totalTokens": 9}, "metrics": {"latencyMs": 1}
}"""


def test_a_whole_body() -> None:
    """One turn; an input is taken as its own text, an empty one is not text; a result says that its call was
    executed.
    """
    assert [
        OPENED,
        ReasoningFragment(0, "Hm", 0, signature="c2ln"),
        TextFragment(0, "Both."),
        TextFragment(0, "As said"),
        CallWhole(0, 3, None, "tooluse_1", "f", '{"a": 1.0, "a": 1}', OBJECT, begins=True),
        closed(3),
        seen(4, "tooluse_2", "g"),
        closed(4),
        CallCancelled("tooluse_2", answered=True),
        UsageSeen({"totalTokens": 9}),
        Finish(0, "tool_calls", "tool_use"),
        TurnEnded(),
    ] == translate(BODY)
