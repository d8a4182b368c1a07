"""AG-UI: frame in, deltas out."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support import encode_agents
from tests.support.encode import Call, Turn, every
from wholecall import ToolCall, ToolCallParser
from wholecall.deltas import (
    HYDRATION,
    CallAnswered,
    CallClosed,
    CallSeen,
    CallUnread,
    CallWhole,
    Delta,
    Reread,
    Slot,
    TurnOpened,
)
from wholecall.dialects.agents.ag_ui import AgUiTranslator
from wholecall.framing.frame import Frame

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
OPENED = TurnOpened("r", "r", restart=True)


def translate(*payloads: dict[str, Any] | str) -> list[Delta]:
    """Translate the payloads of one stream."""
    translator = AgUiTranslator()
    deltas: list[Delta] = []
    for payload in payloads:
        data = payload if isinstance(payload, str) else json.dumps(payload)
        deltas += translator.translate(Frame("message", data))
    return deltas + translator.close()


def event(kind: str, **fields: Any) -> dict[str, Any]:
    """Build an event."""
    return {"type": kind, **fields}


def start(id: object, name: object = "f", **more: Any) -> dict[str, Any]:
    """Build the start of a call."""
    return event("TOOL_CALL_START", toolCallId=id, toolCallName=name, **more)


def args(id: object, text: object) -> dict[str, Any]:
    """Build a piece of a call's text."""
    return event("TOOL_CALL_ARGS", toolCallId=id, delta=text)


def end(id: object) -> dict[str, Any]:
    """Build the end of a call."""
    return event("TOOL_CALL_END", toolCallId=id)


def chunk(**fields: Any) -> dict[str, Any]:
    """Build a chunk of a call."""
    return event("TOOL_CALL_CHUNK", **fields)


def result(id: object) -> dict[str, Any]:
    """Build the result of a call."""
    return event("TOOL_CALL_RESULT", messageId="m", toolCallId=id, content="{}")


def finished(**fields: Any) -> dict[str, Any]:
    """Build the end of a run."""
    return event("RUN_FINISHED", threadId="t", runId="r", **fields)


def told(id: object, text: object = '{"a":1}', name: str = "f", **more: Any) -> dict[str, Any]:
    """Build the agent's message with one call, as a snapshot holds it."""
    call = {"id": id, "type": "function", "function": {"name": name, "arguments": text}, **more}
    return {"id": "m", "role": "assistant", "toolCalls": [call]}


def snapshot(*messages: object) -> dict[str, Any]:
    """Build a snapshot of the conversation."""
    return event("MESSAGES_SNAPSHOT", messages=messages)


def seen(slot: int, id: str | None = None, name: str | None = "f", **more: Any) -> CallSeen:
    """Return the delta of a call's start."""
    return CallSeen(0, slot, None, id, name, begins=True, **more)


def agents(slot: int, **more: Any) -> CallSeen:
    """Return the delta that says that the agent executes a call."""
    return CallSeen(0, slot, None, None, None, "server", **more)


def snaky(payload: Any) -> Any:
    """Return a payload with all of its members in snake case."""
    if isinstance(payload, list):
        return [snaky(one) for one in payload]
    if not isinstance(payload, dict):
        return payload
    renamed = {
        re.sub("[A-Z]", lambda found: f"_{found[0].lower()}", name): value for name, value in payload.items()
    }
    return {name: snaky(value) for name, value in renamed.items()}


def test_both_spellings_say_the_same() -> None:
    """Labels of calls and messages in snake case, as servers in Python write them, are read like the protocol's."""
    asked = {"id": "a", "role": "assistant", "toolCalls": [told_call("h1"), told_call("h2")]}
    stream = [
        STARTED,
        event("TEXT_MESSAGE_START", messageId="u", role="user"),
        event("TEXT_MESSAGE_CONTENT", messageId="u", delta="When?"),
        *(start("c1"), args("c1", '{"a":'), args("c1", "1}"), end("c1"), result("c1")),
        event("TOOL_CALL_CHUNK", toolCallId="c2", toolCallName="g", delta="{}"),
        event("MESSAGES_SNAPSHOT", messages=[asked, {"role": "tool", "toolCallId": "h1"}]),
        *(start("c3"), end("c3")),
        event("RUN_FINISHED", outcome={"type": "interrupt", "interrupts": [{"toolCallId": "c3"}]}),
    ]

    assert translate(*stream) == translate(*snaky(stream))


def told_call(id: str) -> dict[str, Any]:
    """Build a call of a message in a snapshot."""
    return {"id": id, "type": "function", "function": {"name": "h", "arguments": "{}"}}


def test_a_snapshot_restates_calls() -> None:
    """The whole text of a known call, in its slot; an empty one restates nothing."""
    deltas = translate(start("c"), start("d"), args("c", '{"a"'), snapshot(told("c"), told("d", "{}")))

    assert [
        seen(0, "c"),
        seen(1, "d"),
        Slot(0, 0, "c", '{"a"'),
        CallWhole(0, 0, None, "c", "f", '{"a":1}', HYDRATION, restated_ids=frozenset("cd")),
        CallWhole(0, 1, None, "d", "f", "", HYDRATION, restated_ids=frozenset("cd")),
    ] == deltas


def test_a_snapshot_says_who_was_silent() -> None:
    """A call without text has no arguments if the snapshot gives all text that came elsewhere."""
    text, silent = told("d", '{"b":2}'), told("c", "")
    odd = [start("c"), start("d"), args(None, '{"b":2}'), end("c"), end("d")]

    def calls(*messages: object) -> list[tuple[str, str]]:
        frames = [f"data: {json.dumps(payload)}\n\n" for payload in (*odd, snapshot(*messages), finished())]
        parser = ToolCallParser("ag-ui")
        found = [*parser.feed("".join(frames).encode()), *parser.close()]
        return [(event.id, event.raw_arguments) for event in found if isinstance(event, ToolCall)]

    assert [("c", ""), ("d", '{"b":2}')] == calls(silent, text)
    assert [] == calls(silent, told("d", ""))


@pytest.mark.parametrize(
    ("messages", "ids"),
    [
        pytest.param([told("c"), {"role": "user", "content": "x"}], ["c"], id="before the user"),
        pytest.param([told("c"), {"role": "tool", "toolCallId": "c", "content": "x"}], ["c"], id="answered"),
        pytest.param([told(None)], [], id="without an id"),
        pytest.param([told("old")], ["old"], id="of the input"),
        pytest.param([{"role": "assistant", "toolCalls": None}, None], [], id="no calls"),
    ],
)
def test_the_history_in_a_snapshot_is_no_call(messages: list[object], ids: list[str]) -> None:
    """A call from before this run is never emitted again; it is kept for comparison with later announcements."""
    started = {**STARTED, "input": {"messages": [told("old")]}}
    kept = [CallAnswered(id_, "f", '{"a":1}') for id_ in ["old", *ids]]

    assert [OPENED, *kept] == translate(started, snapshot(*messages))


def test_a_snapshot_answers_calls() -> None:
    """A tool's message in a snapshot is a result as good as an event."""
    answer = {"id": "m2", "role": "tool", "toolCallId": "c", "content": "x"}
    deltas = translate(start("c"), snapshot(told("c"), answer))

    whole = CallWhole(0, 0, None, "c", "f", '{"a":1}', HYDRATION)
    assert [seen(0, "c"), whole, agents(0), CallClosed(0, 0, None)] == deltas


def test_a_call_without_a_function() -> None:
    """A snapshot may hold a call of which nothing is known yet."""
    message = {"role": "assistant", "toolCalls": [{"id": "c"}]}

    assert [CallWhole(0, 0, None, "c", None, "", HYDRATION)] == translate(snapshot(message))


def test_nothing_is_to_be_executed_before_the_run_is_over() -> None:
    """Until then a result may come: a run that breaks off anywhere, also after a call's end, gives no call."""
    turn = Turn([Call("c", "f", '{"a":1}'), Call("d", "g")], text="Aye.")
    whole_run = encode_agents.render_ag_ui(turn, every(3))
    last = whole_run.index(b'data: {"type":"RUN_FINISHED"')

    for place in (*range(0, last + 1, 40), last):
        parser = ToolCallParser("ag-ui")
        found = [*parser.feed(whole_run[:place]), *parser.close()]
        assert not any(isinstance(event, ToolCall) for event in found), place


def came(*payloads: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """Return names and arguments of a run's emitted calls."""
    parser = ToolCallParser("ag-ui")
    frames = "".join(f"data: {json.dumps(payload)}\n\n" for payload in (STARTED, *payloads, finished()))
    found = [*parser.feed(frames.encode()), *parser.close()]
    return [(event.name, event.arguments) for event in found if isinstance(event, ToolCall)]


ONE = [start(None), args(None, '{"a":1}'), end(None)]
OTHER = [start(None, "g"), args(None, '{"b":2}'), end(None)]


def test_calls_that_are_told_twice_without_ids() -> None:
    """Where no id distinguishes calls, a run whose calls all come again gives the first ones (quirk 91)."""
    one, other = ("f", {"a": 1}), ("g", {"b": 2})

    assert [one, other] == came(*ONE, *OTHER, *ONE, *OTHER)
    assert [one] == came(*ONE, *ONE)
    assert [one, other, one] == came(*ONE, *OTHER, *ONE)


def test_calls_of_one_id_are_told_apart() -> None:
    """An id that all calls share says nothing: starts, ends and texts distinguish them (quirk 64)."""
    first, second = ("f", {"a": 1}), ("f", {"b": 2})
    heads, ends = [start("x"), start("x")], [end("x"), end("x")]
    texts = [args("x", '{"a":1}'), args("x", '{"b":2}')]

    assert [first, second] == came(heads[0], texts[0], ends[0], heads[1], texts[1], ends[1])
    assert [first, second] == came(
        chunk(toolCallId="x", toolCallName="f", delta='{"a":1}'), *heads[1:], texts[1]
    )
    assert [first, second] == came(*heads, *texts, *ends)  # in whichever order
    assert [] == came(start("x"), start("x", "g"), *texts, *ends)


def test_text_without_an_id_is_the_next_calls() -> None:
    """Where only the ends have the right ids, their order decides whose text came (quirk 7)."""
    heads = [start("c"), start("d", "g")]

    assert [("f", {"a": 1}), ("g", {"b": 2})] == came(
        *heads, args(None, '{"a":1}'), end("c"), args(None, '{"b":2}'), end("d")
    )
    assert [("f", {"b": 2}), ("g", {"a": 1})] == came(
        *heads, args(None, '{"a":1}'), end("d"), args(None, '{"b":2}'), end("c")
    )


def reread(*payloads: dict[str, Any]) -> list[Reread]:
    """Return the parts of a run that are to be reread."""
    return [delta for delta in translate(STARTED, *payloads, finished()) if isinstance(delta, Reread)]


def test_documented_runs_are_not_read_anew() -> None:
    """While every id is that of a continuing call, nothing is read at the end."""
    calls = [start("c"), start("d"), args("c", '{"a"'), args("d", "{}"), end("d"), args("c", ":1}"), end("c")]

    assert [] == reread(*calls)
    assert [] == reread(*calls, snapshot(told("c"), told("d", "{}")))
    assert [] == reread(chunk(toolCallId="c", toolCallName="f", delta="{"), chunk(delta="}"))


@pytest.mark.parametrize(
    "odd",
    [
        [start(None), args(None, "{}"), end(None)],
        [start("c"), start("c"), args("c", "{}"), end("c")],
        [start("c"), end("c"), args("c", "{}")],
        [start("c"), args("c", "{}"), end("c"), end("c")],
        [start("c"), args("x", "{}"), end("c")],
        [
            chunk(toolCallId="c", toolCallName="f", delta="{"),
            chunk(toolCallId="c", toolCallName="f", delta="}"),
        ],
    ],
)
def test_odd_runs_are_read_at_their_end(odd: list[dict[str, Any]]) -> None:
    """All pieces of an odd run are repeated; a call for another executor leaves it as it is."""
    (read,) = reread(*odd)

    assert len(odd) <= len(read.pieces)
    assert [] == reread(*odd, result("nobody's"))


def test_a_snapshot_behind_an_oddity_waits() -> None:
    """It is reported at the end, with the pieces; a call that continues after it leaves no order to read."""
    odd = [start(None), args(None, "{}"), end(None)]
    (read,), (late,) = reread(*odd, snapshot(told("c"))), reread(*odd, snapshot(told("c")), start(None))

    assert (3, ["c"]) == (len(read.pieces), [whole.id for whole in read.listed])
    assert (0, ["c"]) == (len(late.pieces), [whole.id for whole in late.listed])


@pytest.mark.parametrize("text", ["", '{"a":1}'])
def test_the_calls_of_a_snapshot_that_waits_are_not_unread(text: str) -> None:
    """A snapshot that is reported at the end of the run holds no call that the dialect does not know."""
    translator = AgUiTranslator()
    run = [STARTED, start(None), args(None, "{}"), end(None), snapshot(told("c", text))]
    deltas = [one for payload in run for one in translator.told(Frame("message", json.dumps(payload)))]

    assert [] == [one for one in deltas if isinstance(one, CallUnread)]


def test_a_call_without_an_id_that_ended_has_no_arguments() -> None:
    """A call without an id whose end came before another call of its name is not the head of that call."""
    parser = ToolCallParser("ag-ui")
    run = [
        STARTED,
        start(None),
        end(None),
        start(None),
        args("c", '{"a":1}'),
        end(None),
        event("RUN_FINISHED"),
    ]
    events = [one for payload in run for one in parser.feed_event(payload)] + parser.close()

    assert ["{}", '{"a":1}'] == sorted(
        (json.dumps(one.arguments, separators=(",", ":")) for one in events if isinstance(one, ToolCall)),
        key=len,
    )


def test_the_book_of_a_run_is_bounded() -> None:
    """Continuing text is one piece; of more than the book holds nothing is read anew."""
    (long,) = reread(start(None), *[args(None, text) for text in ['{"a":"', *["b"] * 9000, '"}']])

    assert ["S", "T", "T"] == [piece.mark for piece in long.pieces]
    assert [] == reread(*[start(None)] * 5000)
    assert [] == reread(start(None), args(None, '{"a":"'), *[args(None, "b" * 1000)] * 5000, args(None, '"}'))
