"""The UI message stream of the Vercel AI SDK: chunk in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from wholecall.deltas import (
    ITEM_DONE,
    CallCancelled,
    CallClosed,
    CallRefused,
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
    WireFault,
)
from wholecall.dialects.frameworks.vercel_ui import VercelUITranslator
from wholecall.framing.frame import Frame
from wholecall.types import Flag, Kind

START = {"type": "start", "messageId": "m"}
OPENED = TurnOpened("m", "m", restart=True)


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = VercelUITranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload, separators=(",", ":"))
        deltas += translator.translate(Frame("message", data))
    return deltas + translator.close()


def chunk(kind: str, id: Any = "c", **more: Any) -> dict[str, Any]:
    """Return a chunk about a call."""
    return {"type": f"tool-{kind}", "toolCallId": id, **more}


def test_a_call_lives_in_the_slot_of_its_id() -> None:
    """The start announces it, deltas are its text, the whole input ends it once something else comes."""
    deltas = translate(
        START,
        chunk("input-start", toolName="f"),
        chunk("input-delta", inputTextDelta='{"a"'),
        chunk("input-delta", inputTextDelta=""),
        chunk("input-delta", inputTextDelta=":1}"),
        chunk("input-available", toolName="f", input={"a": 1}),
        {"type": "finish", "finishReason": "tool-calls"},
        "[DONE]",
    )

    assert [
        OPENED,
        CallSeen(0, "0/c", None, "c", "f", begins=True),
        Slot(0, "0/c", "c", '{"a"'),
        Slot(0, "0/c", "c", ":1}"),
        CallWhole(0, "0/c", None, "c", "f", '{"a":1}', ITEM_DONE),
        CallClosed(0, "0/c", None),
        Finish(0, "tool_calls", "tool-calls"),
        TurnEnded("m"),
        TurnEnded(None, of_transport=True),
    ] == deltas


def test_an_input_is_over_when_the_stream_is() -> None:
    """The wire ended the call: a connection that is lost right after it takes nothing back."""
    assert CallClosed(0, "0/c", None) == translate(chunk("input-available", toolName="f", input={}))[-1]


def test_a_request_for_approval_finds_its_call_open() -> None:
    """It follows the whole input, also that of a second call; for a call that has ended it comes too late."""
    asked = CallSeen(0, "0/c", None, "c", None, flags=("needs_approval",))
    one, two = (chunk("input-available", id, toolName="f", input={"a": 1}) for id in "cd")
    request = chunk("approval-request", approvalId="a")
    deltas = translate(one, two, request, {"type": "finish-step"}, request)

    assert [asked, CallClosed(0, "0/c", None), CallClosed(0, "0/d", None)] == deltas[-3:]
    assert 1 == deltas.count(asked)


def test_steps_free_the_ids_and_a_message_told_again_does_not() -> None:
    """An id of an earlier step is another call (quirk 64); after a repeated start it is the same (quirk 91)."""
    call, step = chunk("input-available", toolName="f", input=None), {"type": "start-step"}
    deltas = translate(START, step, call, step, call, START, step, call, step, call)

    slots = [delta.index for delta in deltas if isinstance(delta, CallClosed)]
    assert ["1/c", "2/c", "1/c", "2/c"] == slots
    assert [OPENED] == [delta for delta in deltas if isinstance(delta, TurnOpened)]


def test_another_message_begins_another_turn() -> None:
    """A start with another id, or after the end, is a new message; one without an id continues."""
    other = {"type": "start", "messageId": "n"}

    assert [OPENED, TurnOpened("n", "n", restart=True)] == translate(START, {"type": "start"}, other)
    assert [OPENED, TurnEnded("m"), OPENED] == translate(START, {"type": "finish"}, START)
    assert [TurnOpened(None, restart=True)] == translate({"type": "start"}, START)


def test_who_executes_is_not_forgotten() -> None:
    """A call of the provider stays one, and a text tool takes free text, where only the start says so."""
    deltas = translate(
        chunk("input-start", toolName="f", providerExecuted=True),
        chunk("input-available", toolName="f", input={"a": 1}),
        chunk("input-start", "t", toolName="g", inputEncoding="text"),
        chunk("input-available", "t", toolName="g", input='x "y"'),
    )

    assert [
        CallSeen(0, "0/c", None, "c", "f", "server", begins=True),
        CallWhole(0, "0/c", None, "c", "f", '{"a":1}', ITEM_DONE, "server"),
        CallClosed(0, "0/c", None),
        CallSeen(0, "0/t", None, "t", "g", "custom", begins=True),
        CallWhole(0, "0/t", None, "t", "g", 'x "y"', ITEM_DONE, "custom"),
        CallClosed(0, "0/t", None),
    ] == deltas


def test_a_refused_input_keeps_its_text_once() -> None:
    """A call that the server could not read, or did not want, ends as such; earlier pieces are not repeated."""
    seen = CallSeen(0, "0/c", None, "c", "f")
    error = chunk("input-error", toolName="f", input="{x", errorText="no")
    wanted = chunk("input-error", toolName="f", input={"a": 1})
    refused = CallRefused(0, "0/c", None, "schema", "the server refused the input", '{"a":1}')

    assert [seen, CallRefused(0, "0/c", None, "unparseable", "no", "{x")] == translate(error)
    assert [seen, refused] == translate(wanted)
    pieces = translate(chunk("input-delta", inputTextDelta="{x"), error)
    assert CallRefused(0, "0/c", None, "unparseable", "no") == pieces[-1]


def test_a_piece_without_a_start_is_known_by_its_id() -> None:
    """Who joins late still learns the id; the whole input brings the name. A number is an id too (quirk 12)."""
    assert [Slot(0, "0/7", "7", "{}")] == translate(chunk("input-delta", 7, inputTextDelta="{}"))


def test_calls_without_an_id_are_told_apart_by_their_ends() -> None:
    """An input without an id is over at once, so the next is another call (quirk 8).

    Of equal ones it is known at the end: those that come in a row are calls if as many began, or not each came twice.
    """
    call = chunk("input-available", None, toolName="f", input={"a": 1})
    whole = CallWhole(0, None, None, None, "f", '{"a":1}', ITEM_DONE, closes=True)
    begun = CallSeen(0, None, None, None, "f", begins=True)

    start, end = chunk("input-start", None, toolName="f"), {"type": "finish", "finishReason": "tool-calls"}
    other = chunk("input-available", None, toolName="g", input={})
    new = msgspec.structs.replace(whole, begins=True)

    assert [begun, whole] == translate(start, call, call)
    assert [begun, whole] == translate(start, call, call, end)[:-2]
    assert [begun, begun, whole, new] == translate(start, start, call, call, end)[:-2]
    assert [whole] == translate(call, call, end)[:-2]
    assert [whole, new] == [
        delta for delta in translate(call, call, other, end)[:-2] if getattr(delta, "name", "") == "f"
    ]


def test_an_input_that_comes_twice_is_one() -> None:
    """The same id, name and input in a row are one call; another input under the id is reported anew."""
    one, other = (chunk("input-available", toolName="f", input={"a": n}) for n in (1, 2))
    told = CallWhole(0, "0/c", None, "c", "f", '{"a":1}', ITEM_DONE)
    again = CallWhole(0, "0/c", None, "c", "f", '{"a":2}', ITEM_DONE, begins=True)
    over = CallClosed(0, "0/c", None)

    assert [told, over] == translate(one, one)
    assert [told, over, again, over] == translate(one, other)


def test_equal_calls_of_one_id_are_one() -> None:
    """The same call again is that call, also if it was begun as often as it came, and has text each time."""
    begun, piece = chunk("input-start", toolName="f"), chunk("input-delta", inputTextDelta='{"a":1}')
    whole, finish = chunk("input-available", toolName="f", input={"a": 1}), {"type": "finish"}
    one = [piece, whole]
    new = CallWhole(0, None, None, None, "f", '{"a":1}', ITEM_DONE, begins=True, closes=True)

    assert new not in translate(START, begun, begun, *one, *one, finish)
    assert new not in translate(START, begun, begun, *one, whole, finish)
    assert new not in translate(START, begun, begun, *one, whole, *one, whole, finish)
    assert new not in translate(START, begun, *one, *one, finish)
    assert new not in translate(START, begun, *one, begun, *one, finish)  # the call is repeated
    assert new not in translate(START, begun, begun, *one, *one, chunk("approval-request"), finish)
    assert new not in translate(START, begun, begun, *one, *one, chunk("output-available"), finish)


def test_text_and_reasoning_are_told_with_their_seals() -> None:
    """Deltas speak, ends of reasoning bring the values that the provider wants back (quirk 96), other parts say
    nothing.
    """
    metadata = {"anthropic": {"signature": "s", "redactedData": "d", "n": 1}, "odd": 2}
    deltas = translate(
        {"type": "text-delta", "id": "t", "delta": "Hi"},
        {"type": "text-delta", "id": "t", "delta": None},
        {"type": "reasoning-start", "id": "r"},
        {"type": "reasoning-delta", "id": "r", "delta": "hm"},
        {"type": "reasoning-end", "id": "r", "providerMetadata": metadata},
        {"type": "data-weather", "data": {"toolCallId": "c"}},
        {"type": "source-url", "sourceId": "s", "url": "u"},
        chunk("output-available", output={"a": 1}),
        {"type": "ping"},
        "{}",
    )

    assert [
        TextFragment(0, "Hi"),
        ReasoningFragment(0, "hm", "r"),
        ReasoningFragment(0, "", "r", signature="s", data="d"),
        CallCancelled("c", answered=True),
    ] == deltas


def test_what_must_be_sent_back_is_kept() -> None:
    """Metadata of providers and tools, and the server's statements about the tool, are extras (quirk 96)."""
    metadata = {"google": {"thoughtSignature": "s"}}
    (seen,) = translate(
        chunk("input-start", toolName="f", providerMetadata=metadata, toolMetadata=None, dynamic=True)
    )

    assert (
        CallSeen(0, "0/c", None, "c", "f", extra={"providerMetadata": metadata, "dynamic": True}, begins=True)
        == seen
    )


@pytest.mark.parametrize(
    ("payload", "deltas"),
    [
        ({"type": "abort"}, [Finish(0, "aborted", "abort", drops=True), TurnEnded(None)]),
        ({"type": "finish", "finishReason": "length"}, [Finish(0, "length", "length"), TurnEnded(None)]),
        ({"type": "finish", "finishReason": "error"}, [Finish(0, "error", "error", drops=True), TurnEnded()]),
        ({"type": "finish"}, [TurnEnded()]),
        (
            {"type": "error", "errorText": "no"},
            [WireFault("provider_error", "no", error="no", fatal=True)],
        ),
        (
            {"error": {"message": "no"}},
            [WireFault("provider_error", "no", error={"message": "no"}, fatal=True)],
        ),
        ({"type": "tool-newer"}, [Noted(0, "unknown_events")]),
        ({"kind": "x"}, [Noted(0, "unknown_events")]),
        ("{", [WireFault("undecodable_frame", "a frame holds no JSON object", raw="{", hole=True)]),
        ('{"type":"text-delta","id":"t","delta":"\\ud83d"}', [TextFragment(0, "\ud83d")]),
        ('{"type":5,"delta":"x"}', [Noted(0, "unknown_events")]),
    ],
)
def test_ends_errors_and_odd_frames(payload: Any, deltas: list[Delta]) -> None:
    """An abort takes back open calls, an error is fatal, unknown chunks are counted, broken chunks are holes."""
    assert deltas == translate(payload)


def test_an_input_is_over_before_a_frame_that_cannot_be_read() -> None:
    """The hole does not affect a call that was whole."""
    kinds = [type(delta) for delta in translate(chunk("input-available", toolName="f", input={}), "{")]

    assert [CallWhole, CallClosed, WireFault] == kinds


def test_a_stored_message_says_what_is_still_to_do() -> None:
    """A call that was run is the server's, a call still arriving is cut, and a part of an unknown type is counted."""

    def part(state: Any, kind: str = "tool-f", **more: Any) -> dict[str, Any]:
        return {"type": kind, "toolCallId": "c", "state": state, **more}

    def told(*parts: Any) -> list[Delta]:
        deltas = translate({"id": "m", "role": "assistant", "parts": list(parts)})
        assert [OPENED, TurnEnded("m")] == [deltas[0], deltas[-1]]
        return deltas[1:-1]

    def whole(kind: Kind = "function", *flags: Flag) -> CallWhole:
        return CallWhole(0, "0/c", None, "c", "f", "", ITEM_DONE, kind, flags=flags)

    seen, over = CallSeen(0, "0/c", None, "c", "f"), CallClosed(0, "0/c", None)
    assert [whole(), over] == told(part("input-available", input=None))
    assert [whole("server"), over] == told(part("output-denied", "dynamic-tool", toolName="f"))
    assert [whole("function", "needs_approval"), over] == told(part("approval-responded"))
    ran = CallSeen(0, "0/c", None, "c", "f", "server")
    cut = CallRefused(0, "0/c", None, "truncated", "the input was still coming", "{}")
    assert [seen, cut] == told(part("input-streaming", input={}))
    unread = CallRefused(0, "0/c", None, "unparseable", "no", "{x")
    assert [ran, unread] == told(part("output-error", rawInput="{x", errorText="no"))
    assert [whole(), over] == told({"type": "file"}, {"type": "data-x"}, part([]))
    assert [Noted(0, "unknown_events")] == told({"type": "hologram"})
    spoken = [{"type": "step-start"}, {"type": "text", "text": "a"}, {"type": "reasoning", "text": "b"}]
    assert [TextFragment(0, "a"), ReasoningFragment(0, "b", 2)] == told(*spoken)
