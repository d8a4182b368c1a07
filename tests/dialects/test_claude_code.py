"""Claude Code's lines: line in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import (
    anthropic_close,
    anthropic_delta,
    anthropic_open,
    anthropic_start,
    anthropic_stop,
)
from tests.support.encode_claude_code import assistant, event, request, result, tools_call, user
from wholecall.deltas import (
    ITEM_DONE,
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
from wholecall.dialects.agents.claude_code import ClaudeCodeTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("1", "m", "model-1")
UNKNOWN = Noted(0, "unknown_events")
SAID = {"type": "text", "text": "hi"}


def translate(*lines: dict[str, Any] | str, ends: bool = False) -> list[Delta]:
    """Translate the lines of one session, without their token counts."""
    translator = ClaudeCodeTranslator()
    deltas: list[Delta] = []
    for line in lines:
        data = line if isinstance(line, str) else json.dumps(line)
        deltas += translator.translate(Frame("", data))
    deltas += translator.close() if ends else []
    return [delta for delta in deltas if not isinstance(delta, UsageSeen)]


def use(id: object = "c", given: object = None, name: object = "f") -> dict[str, Any]:
    """Build a call's whole block."""
    return {"type": "tool_use", "id": id, "name": name, "input": {"a": 1} if given is None else given}


def whole(
    slot: Any = "call 1", id: str | None = "c", text: str = '{"a": 1}', name: str | None = "f"
) -> CallWhole:
    """Return the events for a whole call of the agent."""
    return CallWhole(0, slot, None, id, name, text, ITEM_DONE, "server")


def begun(id: str = "m", parent: Any = None) -> dict[str, Any]:
    """Build the event that begins a message."""
    return event(anthropic_start(id), parent)


def opened(index: int = 0, id: str = "c") -> dict[str, Any]:
    """Build the event that begins a call's block."""
    return event(anthropic_open(index, use(id, {})))


def piece(text: str, index: int = 0) -> dict[str, Any]:
    """Build a piece of a call."""
    return event(anthropic_delta(index, "input_json_delta", text))


def ended(reason: str = "tool_use") -> list[dict[str, Any]]:
    """Build the events that end a message."""
    return [event(payload) for payload in anthropic_stop(reason)]


SEEN = CallSeen(0, 0, None, "c", "f", "server", begins=True)


def test_a_call_in_a_whole_line_waits_for_its_result() -> None:
    """The agent executes it, so it is a server's; its result says that it was."""
    deltas = translate(assistant("m", use()), user("c"))

    assert [OPENED, whole(), CallClosed(0, "call 1", None)] == deltas


def test_lines_of_one_message_are_one_turn() -> None:
    """Each block has a line; the next message ends the turn, whose reason is never given."""
    deltas = translate(assistant("m", SAID), assistant("m", use()), assistant("n", SAID))
    finish = Finish(0, "tool_calls", None)

    expected = [OPENED, TextFragment(0, "hi"), whole(), finish, TurnEnded("1")]
    assert [*expected, TurnOpened("2", "n", "model-1", restart=True), TextFragment(0, "hi")] == deltas


def test_the_result_ends_the_last_message() -> None:
    """It says why."""
    deltas = translate(assistant("m", SAID), result("hi"))

    assert [OPENED, TextFragment(0, "hi"), Finish(0, "stop", "end_turn"), TurnEnded("1")] == deltas


def test_a_line_repeats_a_block_whose_events_came() -> None:
    """Text is not said twice; a call's line is the last word on it, in the slot of its block."""
    deltas = translate(begun(), opened(), piece('{"a"'), assistant("m", SAID), assistant("m", use()))

    assert [TurnOpened("1", "m", "model-1"), SEEN, Slot(0, 0, None, '{"a"'), whole(0)] == deltas


def test_an_empty_input_says_nothing_against_events() -> None:
    """Quirk 136: the agent writes it for unreadable input."""
    deltas = translate(begun(), opened(), piece('{"a"'), assistant("m", use(given={})))

    assert [OPENED, SEEN, Slot(0, 0, None, '{"a"')] == deltas


def test_the_end_of_a_streamed_message_waits_for_what_follows() -> None:
    """A call that needs a permission is reported with it; the stream's end says that nothing follows."""
    block = [opened(), piece('{"a": 1}'), event(anthropic_close(0))]
    told = [OPENED, SEEN, Slot(0, 0, None, '{"a": 1}'), CallClosed(0, 0, None, final=False, waits=True)]

    assert told == translate(begun(), *block, *ended())
    assert [*told, Finish(0, "tool_calls", "tool_use"), TurnEnded("1")] == translate(
        begun(), *block, *ended(), ends=True
    )


def test_a_message_that_another_one_displaces_has_not_ended() -> None:
    """Quirk 127: its calls end as those of a lost connection."""
    assert [OPENED, SEEN, TurnOpened("2", "n", "model-1", restart=True)] == translate(
        begun(), opened(), begun("n")
    )


def test_events_that_break_off_before_the_result_are_no_calls() -> None:
    """The user interrupted the model."""
    deltas = translate(begun(), opened(), result("", "error_during_execution", reason=None))
    fault = {"type": "error_during_execution"}

    assert [OPENED, SEEN] == deltas[:2]
    assert fault == deltas[2].error  # type: ignore[union-attr]
    assert [Finish(0, "aborted", "error_during_execution", drops=True), TurnEnded("1")] == deltas[3:]


def test_a_permission_tells_the_call() -> None:
    """The agent still executes it; asked twice, it is reported once."""
    asked = request("r", subtype="can_use_tool", tool_name="f", input={"a": 1}, tool_use_id="c")
    seen = CallSeen(0, "call 1", None, "c", None, "server", flags=("needs_approval",))

    assert [OPENED, whole(), seen, CallClosed(0, "call 1", None)] == translate(
        assistant("m", use()), asked, asked, user("c")
    )


def test_a_permission_for_a_call_that_no_message_told() -> None:
    """The request holds all that is needed."""
    asked = request("r", subtype="can_use_tool", tool_name="f", input={"a": 1}, tool_use_id="c")
    seen = CallSeen(0, "call 1", None, "c", "f", "server", flags=("needs_approval",))

    assert [TurnOpened("1"), seen, whole(name=None), CallClosed(0, "call 1", None)] == translate(asked)


def test_a_permission_without_an_id_is_of_no_call() -> None:
    """Its owner cannot be known."""
    assert [] == translate(request("r", subtype="can_use_tool", tool_name="f", input={"a": 1}))


def test_a_tool_that_the_client_serves_is_the_clients_call() -> None:
    """Under the id of the request, together with the data that the answer needs."""
    deltas = translate(tools_call("r", "harbour", "g", {"a": 1}))
    extra = {"server_name": "harbour", "message_id": 4}
    seen = CallSeen(0, "request r", None, "r", "g", extra=extra)
    text = CallWhole(0, "request r", None, "r", None, '{"a": 1}', ITEM_DONE)

    assert [TurnOpened("1"), seen, text, CallClosed(0, "request r", None)] == deltas


@pytest.mark.parametrize("id", ["r", "another"])
def test_a_request_that_is_taken_back(id: str) -> None:
    """Only tools that the client was to execute are calls."""
    asked = request("another", subtype="can_use_tool", tool_name="f", tool_use_id="c")
    deltas = translate(tools_call("r", "s", "g"), asked, {"type": "control_cancel_request", "request_id": id})

    assert ([CallCancelled("r")] if id == "r" else []) == [d for d in deltas if isinstance(d, CallCancelled)]


@pytest.mark.parametrize("subtype", ["hook_callback", "initialize", "mcp_message"])
def test_other_requests_are_no_calls(subtype: str) -> None:
    """They concern the session."""
    message = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}

    assert [] == translate(request("r", subtype=subtype, message=message))


def test_sub_agents_have_turns_of_their_own() -> None:
    """Quirk 112: a result belongs to the message that holds its call, whatever the last speaker."""
    deltas = translate(assistant("m", use()), assistant("n", SAID, parent="c"), user("c"))
    other = TurnOpened("2", "n", "model-1")

    assert [
        OPENED,
        whole(),
        other,
        TextFragment(0, "hi"),
        TurnOpened("1"),
        CallClosed(0, "call 1", None),
    ] == deltas


def test_a_call_is_told_once_however_often_its_line_comes() -> None:
    """The same holds after its result."""
    assert [OPENED, whole(), CallClosed(0, "call 1", None)] == translate(
        assistant("m", use()), assistant("m", use()), user("c"), assistant("m", use())
    )


def test_a_thought_is_sealed() -> None:
    """Values that must be sent back stay with it."""
    block = {"type": "thinking", "thinking": "so", "signature": "sig"}

    assert [OPENED, ReasoningFragment(0, "so", 1, signature="sig")] == translate(assistant("m", block))


def test_a_lone_result_is_the_whole_answer() -> None:
    """`--output-format json` gives nothing else."""
    deltas = translate(result("hi"))

    assert [TextFragment(0, "hi"), Finish(0, "stop", "end_turn"), TurnEnded("1")] == deltas[1:]


def test_errors_do_not_end_the_session() -> None:
    """Whatever failed, the next prompt may follow."""
    lines = [
        event({"type": "error", "error": {"type": "overloaded_error"}}),
        assistant("m", SAID) | {"error": "overloaded"},
        result("no", "success", is_error=True),
        result("", "error_max_turns", errors=["Too many turns."]),
    ]
    faults = [delta for delta in translate(*lines) if isinstance(delta, WireFault)]

    assert [False] * 4 == [fault.fatal for fault in faults]
    assert ["overloaded_error", "overloaded", "success: no", "error_max_turns: Too many turns."] == [
        fault.detail for fault in faults
    ]


@pytest.mark.parametrize("kind", ["system", "rate_limit_event", "control_response", "keep_alive"])
def test_lines_about_the_session_say_nothing(kind: str) -> None:
    """They are not part of an answer."""
    assert [] == translate({"type": kind, "session_id": "s"})


def test_unknown_lines_and_blocks_are_noted() -> None:
    """A later version may say more than is read here."""
    blocks = assistant("m", {"type": "hologram"})

    assert [UNKNOWN] == translate({"type": "hologram"})
    assert [OPENED, UNKNOWN] == translate(blocks)
    assert [TurnOpened("1"), UNKNOWN] == translate(event({"type": "hologram"}))
