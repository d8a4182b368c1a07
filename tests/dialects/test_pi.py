"""pi's events: event in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import Call
from tests.support.encode_pi import ended, executed, reply, result, started, tool_call, update, updates
from wholecall.deltas import (
    OBJECT,
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
from wholecall.dialects.agents.pi import PiTranslator
from wholecall.framing.frame import Frame

CALL = Call("c", "f", '{"a": 1}')
BLOCK = tool_call(CALL)
OPENED = TurnOpened(None, None, "model-1", restart=True)
SEEN = CallSeen(0, 0, None, "c", "f", "server", begins=True)
LEARNT = CallSeen(0, 0, None, "c", "f", "server")
CLOSED = CallClosed(0, 0, None, final=False)
UNKNOWN = Noted(0, "unknown_events")


def translate(*events: dict[str, Any]) -> list[Delta]:
    """Translate the events of one agent, without their token counts."""
    translator = PiTranslator()
    deltas = [delta for one in events for delta in translator.translate(Frame("", json.dumps(one)))]
    return [delta for delta in deltas + translator.close() if not isinstance(delta, UsageSeen)]


def finished(reason: str, wire: str, *, drops: bool = False) -> list[Delta]:
    """Return the end of a message."""
    return [Finish(0, reason, wire, drops=drops), TurnEnded(None)]  # type: ignore[arg-type]


def test_a_call_is_what_its_pieces_are() -> None:
    """Its labels are in the message so far; the agent's reading of the text says nothing."""
    deltas = translate(
        started(reply([])), *updates(0, [], BLOCK, ['{"a"', ": 1}"]), *ended(reply([BLOCK], "toolUse"))
    )
    pieces: list[Delta] = [Slot(0, 0, None, '{"a"'), Slot(0, 0, None, ": 1}")]

    assert [OPENED, SEEN, *pieces, LEARNT, CLOSED, *finished("tool_calls", "toolUse")] == deltas


def test_the_reading_of_cut_pieces_is_no_text() -> None:
    """Quirk 24: the agent closes text that the model left open."""
    half = tool_call(Call("c", "f", '{"a": "on"}'))
    deltas = translate(
        started(reply([])), *updates(0, [], half, ['{"a": "on']), *ended(reply([half], "length"))
    )

    assert [] == [delta for delta in deltas if isinstance(delta, CallWhole)]
    assert finished("length", "length") == deltas[-2:]


@pytest.mark.parametrize(("given", "n"), [({"a": 1}, 1), ({}, 0)])
def test_a_call_without_pieces_is_its_object(given: dict[str, Any], n: int) -> None:
    """An empty one is a placeholder."""
    block = BLOCK | {"arguments": given}
    deltas = translate(started(reply([])), *updates(0, [], block, []))
    text = CallWhole(0, 0, None, None, None, '{"a": 1}', OBJECT, "server")

    assert [OPENED, SEEN, LEARNT, *[text] * n, CLOSED] == deltas


def test_labels_may_come_with_the_end() -> None:
    """Some agents leave out the message so far."""
    start = {"type": "message_update", "assistantMessageEvent": {"type": "toolcall_start", "contentIndex": 0}}
    deltas = translate(started(reply([])), start, update("toolcall_end", 0, [], toolCall=BLOCK))

    assert CallSeen(0, 0, None, None, None, "server", begins=True) == deltas[1]
    assert LEARNT == deltas[2]


def test_text_and_thoughts_come_in_pieces() -> None:
    """Their ends repeat them; without pieces the ends are all there is."""
    thought, text = {"type": "thinking", "thinking": "so"}, {"type": "text", "text": "hi"}
    said = [ReasoningFragment(0, "so", 0), TextFragment(0, "hi")]

    for pieces in ((["so"], ["hi"]), ([], [])):
        events = [*updates(0, [], thought, pieces[0]), *updates(1, [thought], text, pieces[1])]
        assert [OPENED, *said] == translate(started(reply([])), *events)


def test_the_end_of_a_message_seals_its_thoughts() -> None:
    """Values that must go back are only there."""
    thought = {"type": "thinking", "thinking": "so", "thinkingSignature": "sig"}
    deltas = translate(started(reply([])), *updates(0, [], thought, ["so"]), *ended(reply([thought])))

    assert [OPENED, ReasoningFragment(0, "so", 0), ReasoningFragment(0, "", 0, signature="sig")] == deltas[:3]


def test_the_end_of_a_message_without_pieces_is_all_of_it() -> None:
    """A log may hold nothing else."""
    content = [{"type": "thinking", "thinking": "so"}, {"type": "text", "text": "hi"}, BLOCK]
    deltas = translate(*ended(reply(content, "toolUse")))
    text = CallWhole(0, 2, None, None, None, '{"a": 1}', OBJECT, "server")
    said = [OPENED, ReasoningFragment(0, "so", 0), TextFragment(0, "hi")]

    assert [*said, CallSeen(0, 2, None, "c", "f", "server", begins=True)] == deltas[:4]
    assert [text, CallClosed(0, 2, None, final=False), *finished("tool_calls", "toolUse")] == deltas[5:]


def test_the_end_of_the_work_is_read_only_where_nothing_came_before() -> None:
    """It repeats all messages."""
    message = reply([{"type": "text", "text": "hi"}])
    end = {"type": "agent_end", "messages": [{"role": "user", "content": "x"}, message, message]}
    whole = [OPENED, TextFragment(0, "hi"), *finished("stop", "stop")]

    assert whole * 2 == translate(end)
    assert whole == translate(*ended(message), end)


@pytest.mark.parametrize("reason", ["error", "aborted"])
def test_an_answer_that_failed_takes_its_calls_back(reason: str) -> None:
    """The session continues."""
    message = reply([BLOCK], reason, errorMessage="529 overloaded")
    deltas = translate(started(message), *updates(0, [], BLOCK, ['{"a"'])[:2], *ended(message))
    faults = [delta for delta in deltas if isinstance(delta, WireFault)]

    assert [(False, f"{reason}: 529 overloaded")] == [(fault.fatal, fault.detail) for fault in faults]
    assert finished(reason, reason, drops=True) == deltas[-2:]


def test_a_command_that_failed_fails_no_answer() -> None:
    """Nor does an extension; an error without an owner is the end."""
    failed = {"type": "response", "command": "x", "success": False, "error": "no"}
    faults = [*translate(failed), *translate({"error": "no"})]

    assert [False, True] == [fault.fatal for fault in faults if isinstance(fault, WireFault)]
    assert [] == translate({"type": "extension_error", "error": "no"})


def test_what_is_no_message_of_the_model_says_nothing() -> None:
    """Prompts, results and the execution of calls."""
    user = {"type": "message_start", "message": {"role": "user", "content": "x", "timestamp": 1}}

    assert [] == translate(user, *executed(CALL), *result(CALL), {"type": "turn_start"}, {"type": "session"})


def test_unknown_events_are_noted() -> None:
    """An agent of a later version may say more."""
    assert [UNKNOWN] == translate({"type": "hologram"})
    assert [UNKNOWN] == translate(update("hologram", 0, []))
    assert [] == translate(update("done", 0, []))
