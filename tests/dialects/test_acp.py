"""ACP: frame in, deltas out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from wholecall.deltas import (
    ITEM_DONE,
    CallClosed,
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
from wholecall.dialects.agents.acp import AcpTranslator
from wholecall.framing.frame import Frame

OPENED = TurnOpened("s#1", "s")
CLOSED = CallClosed(0, 0, None)


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the messages of one connection."""
    translator = AcpTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame("", data))
    return deltas + translator.close()


def message(**fields: Any) -> dict[str, Any]:
    """Build a message."""
    return {"jsonrpc": "2.0", **fields}


def update(update: object, session: str = "s", /, **fields: Any) -> dict[str, Any]:
    """Build an update."""
    params = {"sessionId": session, "update": {"sessionUpdate": update, **fields}}
    return message(method="session/update", params=params)


def call(id: object = "c", title: object = "Do", **fields: Any) -> dict[str, Any]:
    """Build the announcement of a call."""
    return update("tool_call", toolCallId=id, title=title, **fields)


def change(id: object = "c", **fields: Any) -> dict[str, Any]:
    """Build an update of a call."""
    return update("tool_call_update", toolCallId=id, **fields)


def said(text: str, session: str = "s") -> dict[str, Any]:
    """Build a piece of text."""
    return update("agent_message_chunk", session, content={"type": "text", "text": text})


def asks(**fields: Any) -> dict[str, Any]:
    """Build a request to permit a call."""
    params = {"sessionId": "s", "toolCall": {"toolCallId": "c", **fields}, "options": []}
    return message(id=0, method="session/request_permission", params=params)


def prompt(id: object, session: str = "s") -> dict[str, Any]:
    """Build the client's request."""
    return message(id=id, method="session/prompt", params={"sessionId": session, "prompt": []})


def answer(id: object = 1, reason: object = "end_turn", **more: Any) -> dict[str, Any]:
    """Build the answer to a prompt."""
    return message(id=id, result={"stopReason": reason, **more})


def failed(id: object) -> dict[str, Any]:
    """Build the answer to a request that failed."""
    return message(id=id, error={"code": -32603, "message": "no"})


def seen(slot: int = 0, id: str | None = "c", name: str | None = "Do", **more: Any) -> CallSeen:
    """Return the delta of a call's labels."""
    more.setdefault("extra", {"title": name} if name else None)
    return CallSeen(0, slot, None, id, name, "server", **more)


def whole(text: str, revision: int = 0, slot: int = 0) -> CallWhole:
    """Return the delta of a call's input."""
    return CallWhole(0, slot, None, "c", None, text, ITEM_DONE + revision, "server")


def test_a_prompt_is_a_turn() -> None:
    """A call is shown, filled and completed; the answer to the prompt ends the turn."""
    deltas = translate(
        call(status="pending"),
        change(status="in_progress", rawInput={"a": 1}),
        change(status="completed", rawOutput={"b": 2}),
        answer(usage={"totalTokens": 3}),
    )

    assert [
        OPENED,
        seen(),
        whole('{"a": 1}'),
        CLOSED,
        UsageSeen({"totalTokens": 3}),
        Finish(0, "stop", "end_turn"),
        TurnEnded("s#1"),
    ] == deltas


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_a_call_may_come_at_once(status: str) -> None:
    """One that is announced when it is over has all in one message; failing is also an end."""
    assert [OPENED, seen(), whole("{}"), CLOSED] == translate(call(status=status, rawInput={}))


def test_input_is_replaced() -> None:
    """Each input replaces the one before, whatever the update calls itself; an equal one says nothing."""
    deltas = translate(
        call(rawInput={}),
        call(rawInput={"a": 1}),
        change(rawInput={"a": 1}),
        change(rawInput={"a": 2}),
        change(rawInput=None),
    )

    assert [
        OPENED,
        seen(),
        whole("{}"),
        seen(name=None, extra={"title": "Do"}),
        whole('{"a": 1}', 1),
        whole('{"a": 2}', 2),
    ] == deltas


def test_input_keeps_its_own_text() -> None:
    """The verdict reads the wire's text, number spellings included."""
    params = '{"sessionId":"s","update":{"sessionUpdate":"tool_call","toolCallId":"c","title":"Do","rawInput":{"n": 1.0}}}'
    text = '{"jsonrpc":"2.0","method":"session/update","params":' + params + "}"

    assert [OPENED, seen(), whole('{"n": 1.0}')] == translate(text)


@pytest.mark.parametrize(
    ("titles", "name"),
    [(("Do", "Done"), "Do"), (("", "Do"), "read"), ((None, None), "read")],
)
def test_the_first_title_is_the_name(titles: tuple[object, object], name: str) -> None:
    """A later title would be another name, so it goes to `extra`; the kind replaces a missing one."""
    first, second = titles
    deltas = translate(call(title=first, kind="read"), change(title=second, kind="read"))

    assert [name, None] == [delta.name for delta in deltas if isinstance(delta, CallSeen)]
    last = deltas[-1]
    assert isinstance(last, CallSeen)
    assert {"kind": "read", **({"title": second} if second else {})} == last.extra


def test_a_name_may_come_late() -> None:
    """An update may be the first word on a call, and know nothing but its id."""
    assert [OPENED, seen(name=None), seen(extra={"title": "Do"})] == translate(change(), change(title="Do"))


def test_what_else_is_known_of_a_call() -> None:
    """Locations and an agent's additions are kept (quirk 96)."""
    more = {"locations": [{"path": "a.py"}], "_meta": {"claudeCode": {"toolName": "Read"}}}

    assert [OPENED, seen(extra={"title": "Do", "kind": "read", **more})] == translate(
        call(kind="read", **more)
    )


def test_calls_run_side_by_side() -> None:
    """The id distinguishes calls, also where it is a number; without any, each announcement is a call (quirk 8)."""
    deltas = translate(call("a"), call(2), change("a", status="completed"), call(None), call(None))

    assert [
        OPENED,
        seen(0, "a"),
        seen(1, "2"),
        CLOSED,
        seen(2, None),
        seen(3, None),
    ] == deltas


def test_a_call_that_needs_permission_is_told_when_it_is_asked() -> None:
    """The input must be known when the client decides; without any input there is nothing to report yet."""
    flagged: dict[str, Any] = {"name": None, "flags": ("needs_approval",), "extra": None}

    assert [OPENED, seen(), seen(**flagged), whole('{"a": 1}'), CLOSED] == translate(
        call(), asks(rawInput={"a": 1})
    )
    assert [OPENED, seen(), whole('{"a": 1}'), seen(**flagged), CLOSED] == translate(
        call(rawInput={"a": 1}), asks()
    )
    assert [OPENED, seen(), whole("{}"), seen(**flagged)] == translate(call(rawInput={}), asks())
    assert [OPENED, seen(flags=("needs_approval",))] == translate(asks(title="Do"))


def test_text_and_thoughts() -> None:
    """Only text is reported; images, empty pieces and odd shapes are not, and begin no turn."""
    deltas = translate(
        update("agent_message_chunk", content={"type": "image", "data": "iVBO"}),
        update("agent_message_chunk", content=["x"]),
        update("agent_thought_chunk", content={"type": "text", "text": "hm"}),
        said(""),
        said("Aye"),
    )

    assert [OPENED, ReasoningFragment(0, "hm"), TextFragment(0, "Aye")] == deltas


@pytest.mark.parametrize(
    "quiet",
    [
        update("user_message_chunk", content={"type": "text", "text": "me"}),
        update("plan", entries=[]),
        update("available_commands_update", availableCommands=[]),
        update("usage_update", used=1, size=2),
        update("state_update", state="running"),
        message(id=1, method="initialize", params={"protocolVersion": 1}),
        message(id=1, method="fs/read_text_file", params={"sessionId": "s", "path": "a"}),
        message(method="session/cancel", params={"sessionId": "s"}),
        message(id=1, result={"protocolVersion": 1}),
        message(id=1, result=None),
        message(id=1, result=[]),
        "[DONE]",
    ],
    ids=str,
)
def test_quiet_messages(quiet: dict[str, Any] | str) -> None:
    """An update that is not part of an answer says nothing."""
    assert [] == translate(quiet)


def test_unknown_messages_are_counted() -> None:
    """An update of an unknown or an odd type, and a message of another protocol."""
    unknown = Noted(0, "unknown_events")

    assert [unknown] * 4 == translate(update("mood"), update(None), update(["plan"]), {"kind": "x"})


@pytest.mark.parametrize(
    ("reason", "finish"),
    [
        ("max_tokens", Finish(0, "length", "max_tokens")),
        ("max_turn_requests", Finish(0, "pause", "max_turn_requests")),
        ("refusal", Finish(0, "content_filter", "refusal", drops=True)),
        ("cancelled", Finish(0, "error", "cancelled", drops=True)),
    ],
)
def test_stop_reasons(reason: str, finish: Finish) -> None:
    """A refused or a cancelled prompt drops the calls it began."""
    assert [OPENED, TextFragment(0, "x"), finish, TurnEnded("s#1")] == translate(said("x"), answer(1, reason))


def test_a_state_may_end_the_turn() -> None:
    """In the second version a prompt is answered at once, and a state says when the agent is done."""
    deltas = translate(
        prompt(1), message(id=1, result={}), said("x"), update("state_update", stopReason="end_turn")
    )

    assert [OPENED, TextFragment(0, "x"), Finish(0, "stop", "end_turn"), TurnEnded("s#1")] == deltas


def test_each_prompt_is_a_turn_of_its_own() -> None:
    """The next prompt begins anew; a late word on a call of the last one does not (quirk 94)."""
    deltas = translate(call(), answer(1), change(status="completed"), call(), answer(2))

    end = [Finish(0, "stop", "end_turn"), TurnEnded("s#1")]
    again = [TurnOpened("s#2", "s", restart=True), seen(), Finish(0, "stop", "end_turn"), TurnEnded("s#2")]
    assert [OPENED, seen(), *end, *again] == deltas


def test_sessions_take_turns() -> None:
    """A message of another session switches to its turn; an answer ends its own prompt's turn."""
    deltas = translate(
        prompt(1, "s"), prompt(2, "z"), said("x"), said("y", "z"), said("X"), answer(2), said("Y")
    )

    assert [
        OPENED,
        TextFragment(0, "x"),
        TurnOpened("z#1", "z"),
        TextFragment(0, "y"),
        TurnOpened("s#1"),
        TextFragment(0, "X"),
        TurnOpened("z#1"),
        Finish(0, "stop", "end_turn"),
        TurnEnded("z#1"),
        TurnOpened("s#1"),
        TextFragment(0, "Y"),
    ] == deltas


def test_an_answer_without_a_session_is_still_an_answer() -> None:
    """A prompt to which the agent says nothing is an empty turn."""
    assert [TurnOpened("None#1", None), Finish(0, "stop", "end_turn"), TurnEnded("None#1")] == translate(
        answer()
    )


def test_errors_of_prompts_are_fatal() -> None:
    """Other requests may fail, on both sides, without any harm to the answer (quirk 52)."""
    error = {"code": -32603, "message": "no"}
    fatal = WireFault("provider_error", "-32603: no", error=error, fatal=True)
    harmless = WireFault("provider_error", "-32603: no", error=error)

    assert [fatal] == translate(prompt(1), failed(1))
    assert [] == translate(prompt(1), failed(2))
    assert [fatal] == translate(prompt(1), failed(None))
    assert [OPENED, TextFragment(0, "x"), fatal] == translate(said("x"), failed(7))
    assert [harmless] == translate(failed(7))


def test_odd_frames() -> None:
    """A lone surrogate and a result of a wrong type lose no frame; an unreadable frame is a hole (quirk 35)."""
    text = json.dumps(change(title="Do", rawInput={"a": "\ud83c"}))
    deltas = translate(text, '{"jsonrpc":"2.0","id":1,"result":5}', '{"jsonrpc":"2.0","meth')

    *first, last = deltas
    assert [OPENED, seen(), whole('{"a": "\\ud83c"}')] == first
    assert isinstance(last, WireFault)
    assert ("undecodable_frame", True) == (last.kind, last.hole)
