"""The Codex app server: message in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.encode import Call
from tests.support.encode_codex import (
    approval,
    asked,
    item,
    message,
    opening,
    spoken,
    thought,
    turn_completed,
    turn_started,
    usage,
)
from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
    CallRefused,
    CallSeen,
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.agents.codex_app_server import CodexAppServerTranslator
from wholecall.framing.frame import Frame

T = "turn"
OPENED = TurnOpened("1", T)
CLOSED = CallClosed(0, 0, None)
UNKNOWN = Noted(0, "unknown_events")
RUN = {"type": "commandExecution", "id": "c", "command": "ls", "status": "inProgress"}
TEXT = '{"command":"ls"}'
SEEN = CallSeen(0, 0, None, "c", "commandExecution", "server")
FLAGGED = CallSeen(0, 0, None, "c", None, "server", flags=("needs_approval",))


def translate(*messages: dict[str, Any]) -> list[Delta]:
    """Translate the messages of one connection."""
    translator = CodexAppServerTranslator()
    deltas: list[Delta] = []
    for one in messages:
        text = json.dumps(one, separators=(",", ":"))
        deltas += translator.translate(Frame("", text))
    return deltas + translator.close()


def whole(text: str = TEXT, slot: int = 0, id: str = "c", rank: int = ITEM_DONE) -> CallWhole:
    """Return the events for the arguments of an agent's call."""
    return CallWhole(0, slot, None, id, None, text, rank, "server")


def started(told: dict[str, Any] = RUN) -> dict[str, Any]:
    """Build the start of an item."""
    return item("started", T, told)


def completed(told: dict[str, Any] = RUN, status: str = "completed") -> dict[str, Any]:
    """Build the end of an item."""
    return item("completed", T, told | {"status": status})


def test_a_command_is_the_agents_own_call() -> None:
    """The type of the item is its name, and the members that describe the action are its arguments."""
    assert [OPENED, SEEN, whole(), CLOSED] == translate(started(), completed())


@pytest.mark.parametrize(
    ("told", "name", "text"),
    [
        ({"type": "fileChange", "changes": [{"path": "a"}]}, "fileChange", '{"changes":[{"path":"a"}]}'),
        ({"type": "mcpToolCall", "tool": "f", "arguments": {"a": 1}}, "f", '{"a":1}'),
        ({"type": "mcpToolCall", "tool": "f", "arguments": '{"a":1}'}, "f", '{"a":1}'),
        ({"type": "webSearch", "query": "q", "action": None}, "webSearch", '{"query":"q"}'),
        ({"type": "imageView", "path": "a.png"}, "imageView", '{"path":"a.png"}'),
        ({"type": "collabAgentToolCall", "tool": "wait", "receiverThreadIds": ["x"]}, "wait", '{"receiverThreadIds":["x"]}'),
    ],
)  # fmt: skip
def test_what_else_the_agent_does(told: dict[str, Any], name: str, text: str) -> None:
    """Tools have their own names; members that are null say nothing."""
    deltas = translate(completed(told | {"id": "c"}))

    assert [OPENED, CallSeen(0, 0, None, "c", name, "server"), whole(text), CLOSED] == deltas


def test_a_call_without_arguments() -> None:
    """Its end is evidence enough."""
    told = {"type": "mcpToolCall", "id": "c", "tool": "f", "server": "s"}
    seen = CallSeen(0, 0, None, "c", "f", "server", extra={"server": "s"})

    assert [OPENED, seen, CLOSED] == translate(completed(told))


def test_what_a_search_looks_for_is_told_late() -> None:
    """The arguments at its start are a placeholder."""
    start = {"type": "webSearch", "id": "c", "query": "", "action": {"type": "other"}}
    seen = CallSeen(0, 0, None, "c", "webSearch", "server")

    assert [OPENED, seen] == translate(started(start))


def test_a_text_that_changes_is_replaced() -> None:
    """The end of the item is the last word."""
    deltas = translate(started(), completed(RUN | {"command": "ls -l"}))

    assert whole('{"command":"ls -l"}', rank=ITEM_DONE + 1) == deltas[-2]


def test_an_approval_tells_the_call() -> None:
    """Later results change nothing."""
    deltas = translate(started(), approval("commandExecution", 1, T, "c"), completed(status="declined"))

    assert [OPENED, SEEN, whole(), FLAGGED, CLOSED] == deltas


def test_an_approval_for_a_call_that_no_item_told() -> None:
    """The request states its kind, or nothing can be reported."""
    flagged = CallSeen(0, 0, None, "c", "commandExecution", "server", flags=("needs_approval",))

    assert [OPENED, flagged, whole(), CLOSED] == translate(
        approval("commandExecution", 1, T, "c", command="ls")
    )
    assert [OPENED] == translate(approval("fileChange", 1, T, "c"))


def test_the_older_request_names_only_the_thread() -> None:
    """It is about the thread's open turn."""
    old = {"method": "execCommandApproval", "id": 1, "params": {"conversationId": "thr_5c1a", "callId": "c"}}

    assert [OPENED, SEEN, whole(), FLAGGED, CLOSED] == translate(started(), old)


def test_a_call_that_was_declined_unasked_is_dropped() -> None:
    """Quirk 104: it was never executed."""
    refused = CallRefused(0, 0, None, "aborted", "the client declined the call")

    assert [OPENED, SEEN, whole(), refused] == translate(started(), completed(status="declined"))


DYNAMIC = {"type": "dynamicToolCall", "id": "d", "tool": "f", "arguments": {"a": 1}}


def test_a_tool_of_the_client_is_told_when_it_is_asked() -> None:
    """Once: the item before it is a notice, the item after it is the call's result."""
    ask = asked(7, T, Call("d", "f", '{"a":1}'), namespace="n")
    seen = CallSeen(0, 0, None, "d", "f", extra={"request_id": 7, "namespace": "n"})
    text = CallWhole(0, 0, None, "d", None, '{"a":1}', ITEM_DONE)

    assert [OPENED, seen, text, CLOSED] == translate(started(DYNAMIC), ask, ask, completed(DYNAMIC))


def test_a_request_of_number_0_can_be_answered() -> None:
    """The server counts from 0."""
    (_, seen, _) = translate(asked(0, T, Call("d", "f", "")))

    assert CallSeen(0, 0, None, "d", "f", extra={"request_id": 0}) == seen


def test_a_tool_of_the_client_that_was_executed_before() -> None:
    """Its end without a request is the past: it is not to be executed again."""
    seen = CallSeen(0, 0, None, "d", "f", "server")

    assert [OPENED, seen, whole('{"a":1}', id="d"), CLOSED] == translate(completed(DYNAMIC))
    assert [OPENED] == translate(started(DYNAMIC))


def test_pieces_are_not_said_again() -> None:
    """An item that came in pieces says nothing new when it is over."""
    thoughts = [ReasoningFragment(0, "so ", "r"), ReasoningFragment(0, "so", "r")]

    assert [OPENED, TextFragment(0, "a"), TextFragment(0, "b")] == translate(*spoken(T, "m", ["a", "b"]))
    assert [OPENED, *thoughts] == translate(*thought(T, "r", ["so ", "so"]))


def test_items_without_pieces_say_all_at_once() -> None:
    """Their ends hold the text."""
    deltas = translate(
        completed({"type": "agentMessage", "id": "m", "text": "hi"}),
        completed({"type": "reasoning", "id": "r", "summary": ["a", "b"], "content": []}),
    )

    assert [OPENED, TextFragment(0, "hi"), ReasoningFragment(0, "a\nb", "r")] == deltas


@pytest.mark.parametrize(
    ("status", "finish"),
    [
        ("completed", Finish(0, "stop", "completed")),
        ("interrupted", Finish(0, "aborted", "interrupted", drops=True)),
        ("failed", Finish(0, "error", "failed", drops=True)),
    ],
)
def test_the_end_of_a_turn(status: str, finish: Finish) -> None:
    """Open calls of a turn that broke off are dropped, and later frames belong to no turn."""
    assert [OPENED, finish, TurnEnded("1")] == translate(
        turn_started(T), turn_completed(T, status), completed()
    )


def test_a_turn_that_waits_for_its_client_ends_for_calls() -> None:
    """As the reason of a model that called would be."""
    deltas = translate(asked(7, T, Call("d", "f", "")), turn_completed(T))

    assert Finish(0, "tool_calls", "completed") in deltas


def test_threads_have_turns_side_by_side() -> None:
    """Quirk 112: an id is one turn's."""
    other = item("started", "turn-x", RUN, "thr_9")
    deltas = translate(started(), other, completed())

    assert [
        OPENED,
        SEEN,
        whole(),
        TurnOpened("2", "turn-x"),
        SEEN,
        whole(),
        TurnOpened("1"),
        CLOSED,
    ] == deltas


def test_the_answer_about_a_thread_names_its_model() -> None:
    """Turns do not."""
    assert [TurnOpened("1", T, "model-9")] == translate(*opening("model-9"), turn_started(T))


def test_counts_are_those_of_the_last_answer() -> None:
    """The thread's own would count earlier turns, too."""
    assert [OPENED, UsageSeen({"totalTokens": 67, "inputTokens": 64, "outputTokens": 3})] == translate(
        usage(T, 3)
    )


def test_an_error_is_told_once() -> None:
    """The end of the turn repeats the one for which nothing is tried again."""
    error = {"message": "no", "codexErrorInfo": "other"}
    for retry, n in ((True, 2), (False, 1)):
        deltas = translate(
            message("error", turnId=T, error=error, willRetry=retry), turn_completed(T, "failed", error)
        )
        faults = [delta for delta in deltas if isinstance(delta, WireFault)]

        assert [False] * n == [fault.fatal for fault in faults]


@pytest.mark.parametrize(
    "quiet",
    [
        {"method": "account/rateLimits/updated", "params": {}},
        {"method": "codex/event/exec_command_begin", "params": {"msg": {"call_id": "c"}}},
        {"method": "item/commandExecution/outputDelta", "params": {"itemId": "c", "delta": "x"}},
        {"id": 3, "result": {"turn": {"id": T}}},
        {"id": 3, "result": {"decision": "accept"}},
        started({"type": "userMessage", "id": "u"}),
    ],
)
def test_what_is_no_answer_says_nothing(quiet: dict[str, Any]) -> None:
    """A server says much about itself, and more with each version."""
    assert [] == translate(quiet)


def test_what_is_unknown_is_noted() -> None:
    """An item of a new type may be a call."""
    assert [OPENED, UNKNOWN] == translate(completed({"type": "hologram", "id": "h"}))
    assert [UNKNOWN] == translate({"hologram": 1})
    assert [False] == [
        d.fatal for d in translate({"id": 1, "error": {"code": 1}}) if isinstance(d, WireFault)
    ]
