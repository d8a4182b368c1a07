"""AG-UI: frame in, deltas out."""

from __future__ import annotations

import json
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
    CallWhole,
    Delta,
    Finish,
    Noted,
    ReasoningFragment,
    Reread,
    Slot,
    TextFragment,
    TurnEnded,
    TurnOpened,
    UsageSeen,
    WireFault,
)
from wholecall.dialects.agents.ag_ui import AgUiTranslator
from wholecall.framing.frame import Frame

STARTED = {"type": "RUN_STARTED", "threadId": "t", "runId": "r"}
OPENED = TurnOpened("r", "r", restart=True)
SUCCESS = [Finish(0, "stop", "success"), TurnEnded(None)]


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


def over(slot: int | None, id: str | None) -> CallClosed:
    """Return the delta of the end of a call's text."""
    return CallClosed(0, slot, id, waits=True)


def agents(slot: int, **more: Any) -> CallSeen:
    """Return the delta that says that the agent executes a call."""
    return CallSeen(0, slot, None, None, None, "server", **more)


def test_a_run_is_a_turn() -> None:
    """A call has a slot from its start; its end closes nothing, for the run says later who executes it."""
    deltas = translate(STARTED, start("c"), args("c", '{"a"'), args("c", ":1}"), end("c"), finished())

    assert [
        OPENED,
        seen(0, "c"),
        Slot(0, 0, "c", '{"a"'),
        Slot(0, 0, "c", ":1}"),
        over(0, "c"),
        Finish(0, "stop", "success"),
        TurnEnded("r"),
    ] == deltas


def test_calls_take_turns() -> None:
    """The id alone distinguishes calls, whatever its type on the wire (quirks 12 and 56)."""
    deltas = translate(start("a"), start(7, "g"), args("a", "{"), args(7, "{"), args("a", "}"), end("a"))

    assert [
        seen(0, "a"),
        seen(1, "7", "g"),
        Slot(0, 0, "a", "{"),
        Slot(0, 1, "7", "{"),
        Slot(0, 0, "a", "}"),
        over(0, "a"),
    ] == deltas


def test_a_result_makes_the_call_the_agents() -> None:
    """A call whose result comes in the run was executed by the agent; an earlier run's call is kept for comparison."""
    deltas = translate(start("c"), args("c", "{}"), end("c"), result("c"), result("c"), result("old"))
    told = [seen(0, "c"), Slot(0, 0, "c", "{}"), over(0, "c")]

    assert [*told, agents(0), CallClosed(0, 0, None), CallAnswered("old")] == deltas


def test_an_id_may_be_used_again_after_the_result() -> None:
    """Models that number their calls in each step use an id again: it is another call (quirk 64)."""
    deltas = translate(start("c"), result("c"), start("c", "g"), args("c", "{"))

    assert [
        seen(0, "c"),
        agents(0),
        CallClosed(0, 0, None),
        seen(1, "c", "g"),
        Slot(0, 1, "c", "{"),
    ] == deltas


def test_a_repeated_start_is_the_same_call() -> None:
    """Until it is answered, an id names one slot, also after its end."""
    assert [seen(0, "c"), over(0, "c"), seen(0, "c")] == translate(start("c"), end("c"), start("c"))


def test_a_piece_without_a_start_keeps_its_id() -> None:
    """Text is never lost: it waits under its id for a name."""
    deltas = translate(args("c", "{"), args("c", ""), args("c", None), args("c", "}"))

    assert [Slot(0, None, "c", "{"), Slot(0, None, "c", "}")] == deltas


def test_a_piece_without_an_id_names_no_call() -> None:
    """The binder decides its owner: the one open call, or none; an end without an id likewise."""
    one = translate(start("a"), end("a"), start("b"), args(None, "{"), end(None), args("", "}"))

    ended = [Slot(0, None, None, "{"), over(None, None), Slot(0, None, None, "}")]
    assert [seen(0, "a"), over(0, "a"), seen(1, "b"), *ended] == one


def test_calls_without_ids() -> None:
    """A start without an id has a slot all the same; the id is minted later (quirk 8)."""
    deltas = translate(start(None), args(None, "{}"), end(None), start("null", "g"), args(None, "[]"))
    first = [seen(0), Slot(0, None, None, "{}"), over(None, None)]

    assert [*first, seen(1, None, "g"), Slot(0, None, None, "[]")] == deltas


def test_an_object_as_text_is_its_text() -> None:
    """A piece that is not a string is reported as the JSON text that it means (quirk 22)."""
    assert [seen(0, "c"), Slot(0, 0, "c", '{"a":1}')] == translate(start("c"), args("c", {"a": 1}))


def test_chunks_open_go_on_and_return() -> None:
    """A chunk with a new id opens a call, with a known id returns to it, without an id continues it."""
    deltas = translate(
        chunk(toolCallId="a", toolCallName="f", delta='{"x"'),
        chunk(delta=":1}"),
        chunk(toolCallId="b", toolCallName="g"),
        chunk(delta=""),
        chunk(delta="{}"),
        chunk(toolCallId="a", delta=" "),
        chunk(delta=" "),
    )

    assert [
        seen(0, "a"),
        Slot(0, 0, "a", '{"x"'),
        Slot(0, 0, "a", ":1}"),
        seen(1, "b", "g"),
        Slot(0, 1, "b", "{}"),
        Slot(0, 0, "a", " "),
        Slot(0, 0, "a", " "),
    ] == deltas


def test_chunks_without_any_id() -> None:
    """A name opens a call, the same one continues with it; text before has neither id nor slot."""
    deltas = translate(chunk(delta="{"), chunk(toolCallName="f", delta="{"), chunk(delta="}"))
    more = translate(chunk(toolCallName="f"), chunk(toolCallName="f", delta="{}"), chunk(toolCallName="g"))

    assert [Slot(0, None, None, "{"), seen(0), Slot(0, 0, None, "{"), Slot(0, 0, None, "}")] == deltas
    assert [seen(0), seen(0), Slot(0, 0, None, "{}"), seen(1, None, "g")] == more


def test_an_end_also_ends_what_chunks_go_on_with() -> None:
    """After the end of its call a chunk without an id has nothing to continue with."""
    deltas = translate(chunk(toolCallId="a", toolCallName="f"), end("a"), chunk(delta="{"))

    assert [seen(0, "a"), over(0, "a"), Slot(0, None, None, "{")] == deltas


def test_what_belongs_to_a_call_is_kept() -> None:
    """Which subagent called, the producer's metadata, and the values that the provider wants back (quirk 96)."""
    deltas = translate(
        start("c", subagentRunId="s1", metadata={"k": 1}),
        event("REASONING_ENCRYPTED_VALUE", subtype="tool-call", entityId="c", encryptedValue="seal"),
        event("REASONING_ENCRYPTED_VALUE", subtype="tool-call", entityId="d", encryptedValue="seal"),
    )

    assert [
        seen(0, "c", extra={"subagentRunId": "s1", "metadata": {"k": 1}}),
        CallSeen(0, 0, None, None, None, extra={"encryptedValue": "seal"}),
    ] == deltas


def test_text_and_reasoning() -> None:
    """Deltas of messages are text or reasoning, under both names that reasoning has had."""
    deltas = translate(
        event("REASONING_MESSAGE_CONTENT", messageId="r1", delta="hm"),
        event("REASONING_MESSAGE_CHUNK", messageId="r1", delta=""),
        event("THINKING_TEXT_MESSAGE_CONTENT", delta="hm"),
        event("REASONING_ENCRYPTED_VALUE", subtype="message", entityId="r1", encryptedValue="seal"),
        event("REASONING_ENCRYPTED_VALUE", subtype="message", entityId="r1", encryptedValue=""),
        event("TEXT_MESSAGE_START", messageId="m1", role="assistant"),
        event("TEXT_MESSAGE_CONTENT", messageId="m1", delta="A"),
        event("TEXT_MESSAGE_CONTENT", messageId="m1", delta=5),
        event("TEXT_MESSAGE_END", messageId="m1"),
    )

    assert [
        ReasoningFragment(0, "hm", "r1", "r1"),
        ReasoningFragment(0, "hm"),
        ReasoningFragment(0, "", "r1", "r1", data="seal"),
        TextFragment(0, "A"),
    ] == deltas


def test_messages_of_others_are_no_answer() -> None:
    """Some agents repeat the user's text; chunks without an id continue the last message."""
    deltas = translate(
        event("TEXT_MESSAGE_START", messageId="u", role="user"),
        event("TEXT_MESSAGE_CONTENT", messageId="u", delta="me"),
        event("TEXT_MESSAGE_CHUNK", messageId="s", role="system", delta="be kind"),
        event("TEXT_MESSAGE_CHUNK", delta=" to all"),
        event("TEXT_MESSAGE_CHUNK", messageId="a", delta="Aye"),
        event("TEXT_MESSAGE_CHUNK", messageId="a", delta=","),
        event("TEXT_MESSAGE_CHUNK", delta=" aye"),
        event("TEXT_MESSAGE_START", messageId="u", role=["odd"]),
        event("TEXT_MESSAGE_CONTENT", messageId="u", delta="!"),
    )

    assert ["Aye", ",", " aye", "!"] == [delta.text for delta in deltas if isinstance(delta, TextFragment)]
    assert 4 == len(deltas)


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


def test_a_snapshot_tells_what_was_not_streamed() -> None:
    """An unanswered call after the user's last message is new, in the wire's own text."""
    call = '{"id":"n","function":{"name":"f","arguments":{"a": 1.0}},"encryptedValue":"seal"}'
    text = '{"type":"MESSAGES_SNAPSHOT","messages":[{"role":"user"},{"toolCalls":[' + call + "]}]}"

    assert [
        CallWhole(0, 0, None, "n", "f", '{"a": 1.0}', HYDRATION, extra={"encryptedValue": "seal"})
    ] == translate(text)


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


def test_pending_calls_are_the_applications() -> None:
    """A list of pending calls leaves the others to the agent; an empty one says nothing."""
    listed = {"type": "success", "pendingToolCallIds": ["b"]}
    empty = {"type": "success", "pendingToolCallIds": []}

    assert [seen(0, "a"), seen(1, "b"), agents(0), *SUCCESS] == translate(
        start("a"), start("b"), finished(outcome=listed)
    )
    assert [seen(0, "a"), *SUCCESS] == translate(start("a"), finished(outcome=empty))


def test_an_interrupt_names_calls_that_need_approval() -> None:
    """The agent executes them once they are approved; the turn is a pause."""
    outcome = {"type": "interrupt", "interrupts": [{"id": "i", "toolCallId": "a"}, {"id": "j"}]}
    deltas = translate(start("a"), start("b"), finished(outcome=outcome))

    assert [
        seen(0, "a"),
        seen(1, "b"),
        agents(0, flags=("needs_approval",)),
        Finish(0, "pause", "interrupt"),
        TurnEnded(None),
    ] == deltas


@pytest.mark.parametrize(
    ("outcome", "finish"),
    [
        (None, Finish(0, "stop", "success")),
        ("interrupt", Finish(0, "pause", "interrupt")),
        ({"type": "cancelled"}, Finish(0, "error", "cancelled", drops=True)),
        ({"type": "new"}, Finish(0, "unknown", "new")),
        ([1], Finish(0, "stop", "success")),
    ],
)
def test_the_outcome_is_the_reason(outcome: object, finish: Finish) -> None:
    """Absent means success; a cancelled run drops the calls it began; an early draft had a word, not an object."""
    assert [finish, TurnEnded(None)] == translate(finished(outcome=outcome))


def test_an_outcome_without_a_type_is_no_reason() -> None:
    """The run ended for an unknown reason (quirk 46)."""
    assert [TurnEnded(None)] == translate(finished(outcome={"type": None}))


def test_usage_is_summed_over_models() -> None:
    """A run has one entry for each model; numbers add up, labels do not."""
    usage = [{"model": "a", "inputTokens": 3, "outputTokens": 1}, {"model": "b", "inputTokens": 4}, None]

    counts = UsageSeen({"inputTokens": 7, "outputTokens": 1})
    assert [counts, *SUCCESS] == translate(finished(usage=usage))
    assert [*SUCCESS] == translate(finished(usage=[]))


def test_a_second_run_begins_anew() -> None:
    """Ids, slots and histories belong to their run."""
    deltas = translate(STARTED, start("a"), finished(), {**STARTED, "runId": "r2"}, start("b"), start("a"))

    assert [TurnOpened("r2", "r2", restart=True), seen(0, "b"), seen(1, "a")] == deltas[-3:]


def test_errors_are_fatal() -> None:
    """A failed run, with the tokens that it used, and an error object from any intermediary (quirk 52)."""
    error = {"message": "busy", "code": "overloaded"}
    deltas = translate(event("RUN_ERROR", **error, usage=[{"inputTokens": 3}]))
    between = translate({"error": {"message": "busy"}})

    fault = WireFault("provider_error", "overloaded: busy", error=error, fatal=True)
    assert [UsageSeen({"inputTokens": 3}), fault] == deltas
    assert [WireFault("provider_error", "busy", error={"message": "busy"}, fatal=True)] == between
    assert ["the provider reports an error"] == [
        fault.detail for fault in translate(event("RUN_ERROR")) if isinstance(fault, WireFault)
    ]


@pytest.mark.parametrize(
    "kind", ["RAW", "CUSTOM", "STATE_SNAPSHOT", "STATE_DELTA", "STEP_STARTED", "SUBAGENT_ERROR", "ping"]
)
def test_quiet_events(kind: str) -> None:
    """State, steps and the producer's additions are not part of the answer."""
    assert [] == translate(event(kind, delta=[{"op": "add"}], message="x", event={"type": "TOOL_CALL_START"}))


def test_unknown_events_are_counted() -> None:
    """An event of an unknown type changes nothing, at any position of its type."""
    assert [Noted(0, "unknown_events")] == translate(event("TOOL_CALL_PAUSED", toolCallId="c"))
    named = AgUiTranslator().translate(Frame("TOOL_CALL_START", '{"toolCallId":"c","toolCallName":"f"}'))
    assert [seen(0, "c")] == named


def test_odd_frames() -> None:
    """A split surrogate and a label of a wrong type lose no frame; an unreadable frame is a hole (quirk 35)."""
    deltas = translate(
        '{"type":"TOOL_CALL_START","toolCallId":"c","toolCallName":"f","messages":3}',
        '{"type":"TOOL_CALL_ARGS","toolCallId":"c","delta":"\\ud83c"}',
        '{"type":"TOOL_CALL_ARGS","toolCa',
        "[DONE]",
    )

    hole = WireFault("undecodable_frame", "a frame holds no JSON object", raw=deltas[2].raw, hole=True)  # type: ignore[union-attr]
    assert [seen(0, "c"), Slot(0, 0, "c", "\ud83c"), hole] == deltas


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


def test_the_book_of_a_run_is_bounded() -> None:
    """Continuing text is one piece; of more than the book holds nothing is read anew."""
    (long,) = reread(start(None), *[args(None, text) for text in ['{"a":"', *["b"] * 9000, '"}']])

    assert ["S", "T", "T"] == [piece.mark for piece in long.pieces]
    assert [] == reread(*[start(None)] * 5000)
    assert [] == reread(start(None), args(None, '{"a":"'), *[args(None, "b" * 1000)] * 5000, args(None, '"}'))
