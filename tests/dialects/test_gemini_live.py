"""Gemini Live: message in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.turns import parse
from wholecall.calls.output.call_events import ToolCall, ToolCallCancelled, ToolCallDropped
from wholecall.calls.output.events import TurnFinished
from wholecall.deltas import (
    DONE,
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
    UsageSeen,
    WireFault,
)
from wholecall.dialects.google.gemini_live import GeminiLiveTranslator
from wholecall.framing.frame import Frame
from wholecall.types import Kind, TurnReason

OPENED = TurnOpened(None, restart=True)
COMPLETE = {"serverContent": {"turnComplete": True}}
STOP = [Finish(0, "stop", "turnComplete"), TurnEnded()]


def translate(*messages: dict[str, Any] | str) -> list[Delta]:
    """Translate the messages of one session, to its end."""
    translator = GeminiLiveTranslator()
    deltas: list[Delta] = []
    for message in messages:
        data = message if isinstance(message, str) else json.dumps(message)
        deltas += translator.translate(Frame("", data))
    return deltas + translator.close()


def content(**members: Any) -> dict[str, Any]:
    """Build a message with something of the turn."""
    return {"serverContent": members}


def parts(*found: dict[str, Any]) -> dict[str, Any]:
    """Build a message with parts of the model's turn."""
    return content(modelTurn={"role": "model", "parts": list(found)})


def called(*calls: dict[str, Any]) -> dict[str, Any]:
    """Build a message with calls."""
    return {"toolCall": {"functionCalls": list(calls)}}


def whole(
    slot: int,
    name: str,
    text: str,
    id_: str | None = None,
    *,
    kind: Kind = "function",
    extra: dict[str, Any] | None = None,
) -> list[Delta]:
    """Return the events for a whole call."""
    seen = CallSeen(0, slot, None, id_, name, kind, extra=extra)
    said: list[Delta] = [CallWhole(0, slot, None, id_, name, text, DONE, kind)] if text else []
    return [seen, *said, CallClosed(0, slot, None)]


# Calls.


def test_a_message_ends_its_calls() -> None:
    """Calls are whole and in order, with their own text; those without arguments end at once as well (quirk 26)."""
    message = '{"toolCall":{"functionCalls":[{"id":"a","name":"f","args":{"x":1e2}},{"name":"g"},{"id":0,"name":"h","args":{}}]}}'

    expected = [OPENED, *whole(1, "f", '{"x":1e2}', "a"), *whole(2, "g", ""), *whole(3, "h", "{}", "0")]
    assert expected == translate(message)


def test_a_call_that_comes_twice_is_one() -> None:
    """A part and a message with the same id are one call, in one slot; without ids nothing shows it (quirk 97)."""
    call = {"id": "a", "name": "f", "args": {"x": 1}}
    bare = {"name": "f", "args": {"x": 1}}
    signed = {"functionCall": call, "thoughtSignature": "s"}
    extra = {"thoughtSignature": "s"}

    twice = [*whole(1, "f", '{"x": 1}', "a", extra=extra), *whole(1, "f", '{"x": 1}', "a")]
    assert [OPENED, *twice] == translate(parts(signed), called(call))
    apart = [*whole(1, "f", '{"x": 1}'), *whole(2, "f", '{"x": 1}')]
    assert [OPENED, *apart] == translate(parts({"functionCall": bare}), called(bare))


def test_an_id_is_a_calls_for_one_turn() -> None:
    """The same id in the next turn is another call."""
    call = called({"id": "a", "name": "f", "args": {}})

    told = whole(1, "f", "{}", "a")
    assert [OPENED, *told, *STOP, OPENED, *told] == translate(call, COMPLETE, call)


def test_code_is_the_servers() -> None:
    """Code in the model's turn is run by the provider; its result says nothing of calls."""
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    result = {"codeExecutionResult": {"outcome": "OUTCOME_OK"}}
    found = whole(1, "code_execution", '{"input":"1"}', kind="server", extra={"language": "PYTHON"})

    assert [OPENED, *found] == translate(parts(code, result))


def test_a_call_in_pieces_is_not_a_call_without_arguments() -> None:
    """Values at paths are built as in `gemini`; only a last piece ends the call, no end of the turn (quirk 67)."""
    begun = called({"id": "a", "name": "f", "willContinue": True})
    piece = called({"partialArgs": [{"jsonPath": "$.x", "numberValue": 1}], "willContinue": True})
    seen, text = CallSeen(0, 1, None, "a", "f"), '{"x":1'
    cut = "the answer ended before this call did"

    ended = [Slot(0, 1, None, '{"x":1}'), CallClosed(0, 1, None)]
    assert [OPENED, seen, *ended] == translate(begun, piece, called({}))
    assert [OPENED, seen, CallRefused(0, 1, None, "truncated", cut, text), *STOP] == translate(
        begun, piece, COMPLETE
    )
    stopped = [CallRefused(0, 1, None, "aborted", cut, text), Finish(0, "aborted", "interrupted", drops=True)]
    assert [OPENED, seen, *stopped] == translate(begun, piece, content(interrupted=True))
    assert [OPENED, seen, CallRefused(0, 1, None, "unterminated", cut, text)] == translate(begun, piece)


def test_calls_are_taken_back_by_their_ids() -> None:
    """Invalid ids are left out; a cancellation opens no turn and says nothing else."""
    off = {"toolCallCancellation": {"ids": ["a", None, "", 7]}}

    assert [CallCancelled("a"), CallCancelled("7")] == translate(off)
    assert [] == translate({"toolCallCancellation": {"ids": "a"}}, {"toolCallCancellation": {}})


# Turns.


def test_speech_is_text() -> None:
    """The model's speech is its transcription; parts may be text, thoughts or media; the user's words are not
    reported.
    """
    media = {"inlineData": {"mimeType": "audio/pcm", "data": "AAAA"}}
    both = content(modelTurn={"parts": [media, {"text": "x"}]}, outputTranscription={"text": "y"})
    thought = parts({"text": "hm", "thought": True})
    heard = content(inputTranscription={"text": "hello"}, outputTranscription={})

    assert [OPENED, ReasoningFragment(0, "hm"), TextFragment(0, "x"), TextFragment(0, "y")] == translate(
        heard, thought, both
    )


def test_a_turn_ends_with_its_completion() -> None:
    """It begins with the first output, not with the session; a completion with nothing before it is an empty turn."""
    usage = {"totalTokenCount": 5}
    text = content(outputTranscription={"text": "x"}, generationComplete=False)
    done = content(generationComplete=True)
    last = COMPLETE | {"usageMetadata": usage}

    one = [OPENED, TextFragment(0, "x"), UsageSeen(usage), *STOP]
    assert [*one, OPENED, *STOP] == translate({"setupComplete": {}}, content(), text, done, last, COMPLETE)


def test_a_completion_in_one_message_with_its_words() -> None:
    """Text counts before the end; the next message begins another turn."""
    message = content(outputTranscription={"text": "x"}, turnComplete=True)
    turn = [OPENED, TextFragment(0, "x"), *STOP]

    assert [*turn, *turn] == translate(message, message)


def test_an_interruption_takes_back_what_is_open() -> None:
    """The turn is over only with its completion, which says no more."""
    stopped = Finish(0, "aborted", "interrupted", drops=True)

    assert [OPENED, stopped, *STOP] == translate(content(interrupted=True), COMPLETE)
    assert [OPENED, stopped, *STOP] == translate(content(interrupted=True, turnComplete=True))
    assert [] == translate(content(interrupted=False, turnComplete=False))


@pytest.mark.parametrize(
    ("word", "reason", "told"),
    [
        (None, "stop", "turnComplete"),
        ("TURN_COMPLETE_REASON_UNSPECIFIED", "stop", "turnComplete"),
        ("NEED_MORE_INPUT", "stop", "NEED_MORE_INPUT"),
        ("RESPONSE_REJECTED", "content_filter", "RESPONSE_REJECTED"),
        ("SOMETHING_NEW", "unknown", "SOMETHING_NEW"),
    ],
)
def test_why_a_turn_is_complete(word: str | None, reason: TurnReason, told: str) -> None:
    """The provider's word is kept; without one the completion itself is the reason."""
    assert [OPENED, Finish(0, reason, told), TurnEnded()] == translate(
        content(turnComplete=True, turnCompleteReason=word)
    )


def test_a_call_that_the_provider_could_not_read() -> None:
    """The turn's reason says that there was one; nothing of it is reported (quirk 68)."""
    word = "MALFORMED_FUNCTION_CALL"
    refused = CallRefused(
        0, 1, None, "unparseable", "the provider could not read the call that the model wrote"
    )

    expected = [OPENED, refused, Finish(0, "malformed", word), TurnEnded()]
    assert expected == translate(content(turnComplete=True, turnCompleteReason=word))


# Messages.


def test_both_spellings() -> None:
    """An SDK's object has snake case, and null for absent members."""
    words = content(
        outputTranscription={"text": "x"}, turnComplete=True, turnCompleteReason="NEED_MORE_INPUT"
    )
    camel = [called({"id": "a", "name": "f", "args": {"x": 1}}), words | {"usageMetadata": {"n": 1}}]
    snake = [
        {
            "server_content": None,
            "tool_call": {"function_calls": [{"id": "a", "name": "f", "args": {"x": 1}}]},
        },
        {
            "tool_call": None,
            "usage_metadata": {"n": 1},
            "server_content": {
                "model_turn": None,
                "output_transcription": {"text": "x"},
                "turn_complete": True,
                "turn_complete_reason": "NEED_MORE_INPUT",
            },
        },
    ]

    assert translate(*camel) == translate(*snake)
    assert [CallCancelled("a")] == translate({"tool_call_cancellation": {"ids": ["a"]}})


def test_other_messages() -> None:
    """Those of the session say nothing, errors are fatal, and unknown ones are counted once a turn is open."""
    quiet = [
        {"goAway": {"timeLeft": "9s"}},
        {"sessionResumptionUpdate": {}},
        {"voiceActivity": {"type": "x"}},
    ]
    text = content(outputTranscription={"text": "x"})
    error = {"code": 1007, "message": "no"}
    fatal = WireFault("provider_error", "1007: no", error=error, fatal=True)

    assert [OPENED, TextFragment(0, "x")] == translate({"novelty": 1}, *quiet, text, *quiet, "{}")
    assert Noted(0, "unknown_events") == translate(text, {"novelty": 1})[-1]
    assert [fatal] == translate({"error": error})


def test_an_error_shows_what_was_built() -> None:
    """The pieces of an open call are reported before the fault that drops it."""
    begun = called({"name": "f", "willContinue": True})
    piece = called({"partialArgs": [{"jsonPath": "$.x", "numberValue": 1}], "willContinue": True})
    told = translate(begun, piece, {"error": {"message": "no"}})

    assert Slot(0, 1, None, '{"x":1') == told[2]


def test_odd_frames_lose_nothing_but_themselves() -> None:
    """A lone surrogate is text, labels of a wrong type are none, and an unreadable frame is a hole (quirk 35)."""
    surrogate = '{"serverContent":{"outputTranscription":{"text":"\\ud83d"}}}'
    odd = '{"toolCall":{"functionCalls":[{"id":[1],"name":"f","args":{"x":"\\ud83d"}}]}}'
    fault = WireFault("undecodable_frame", "a frame holds no JSON object", raw='{"tool', hole=True)

    assert [OPENED, TextFragment(0, "\ud83d")] == translate(surrogate)
    assert [OPENED, *whole(1, "f", '{"x":"\\ud83d"}')] == translate(odd)
    assert [fault] == translate('{"tool')


def test_an_end_mark_ends_an_open_turn() -> None:
    """Proxies add it; without a turn it says nothing."""
    text = content(outputTranscription={"text": "x"})

    assert [OPENED, TextFragment(0, "x"), TurnEnded(of_transport=True)] == translate(text, "[DONE]", "[DONE]")
    assert [] == translate({"setupComplete": {}}, "[DONE]")


# The emitted calls.


def test_a_session_comes_out() -> None:
    """A call is emitted with its message, before the turn is over, and may be taken back in the next one."""
    call = json.dumps(called({"id": "a", "name": "f", "args": {}}))
    lines = [call, json.dumps(COMPLETE), json.dumps({"toolCallCancellation": {"ids": ["a"]}})]
    (early,) = [e for e in parse([f"{call}\n".encode()], "auto") if isinstance(e, ToolCall)]
    events = parse(["\n".join(lines).encode()], "auto")

    assert early in events
    assert [ToolCallCancelled(0, 0, "a")] == [e for e in events if isinstance(e, ToolCallCancelled)]
    assert TurnFinished(0, 0, "tool_calls", "turnComplete", 1) == events[-1]
    assert [] == [e for e in events if isinstance(e, ToolCallDropped)]
