"""Recordings of agents that talk to a user interface: AG-UI, and ACP."""

from __future__ import annotations

from tests.support import encode_agents as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, every, json_array, json_lines
from tests.support.encode_agents import (
    acp_call,
    acp_said,
    acp_update,
    ag_ui,
    ag_ui_assistant,
    ag_ui_finished,
    ag_ui_sse,
    ag_ui_started,
)

__all__: list[str] = []

SUCCESS = {"type": "success"}


@case("ag-ui/single-call")
def single_call() -> Built:
    """A run that thinks, speaks, and leaves one call of a frontend tool to the application."""
    call = Call("call_8fV2", "show_chart", '{"harbour":"Ærøskøbing","hours":[0,6.25,12]}')
    turn = Turn([call], text="Here is the tide 🌊.", reasoning="A chart says more.", id="run-01")
    found = good(call.id, call.name, {"harbour": "Ærøskøbing", "hours": [0, 6.25, 12]})
    return wire.render_ag_ui(turn, every(6)), expect(found)


@case("ag-ui/parallel-interleaved", 56, 26)
def parallel() -> Built:
    """Three calls take turns, the second one without arguments; no outcome, as before version 1.0."""
    one = wire.ag_ui_call(Call("tc_a", "set_lamp", '{"colour":"red","on":true}'), every(9), "m1")
    two = wire.ag_ui_call(Call("tc_b", "sound_horn", ""))
    three = wire.ag_ui_call(Call("tc_c", "set_lamp", '{"colour":"green","on":false}'), every(13), "m1")
    mixed = [one[0], three[0], one[1], three[1], two[0], three[2], one[2], two[1], one[3], three[3]]
    payloads = [ag_ui_started("run-02"), *mixed, *one[4:], *three[4:], ag_ui_finished("run-02")]
    found = (
        good("tc_a", "set_lamp", {"colour": "red", "on": True}),
        good("tc_c", "set_lamp", {"colour": "green", "on": False}),
        good("tc_b", "sound_horn", {}, "empty"),
    )
    return ag_ui_sse(payloads), expect(*found)


@case("ag-ui/answered-by-the-agent")
def answered() -> Built:
    """The agent executes one call itself, and its result comes in the run; the next one is the application's."""
    own, left = Call("tc_read", "read_log", '{"last":3}'), Call("tc_ask", "ask_skipper", '{"q":"Go on?"}')
    payloads = [
        ag_ui_started("run-03"),
        ag_ui("STEP_STARTED", stepName="logbook"),
        *wire.ag_ui_call(own, every(4), "m1"),
        wire.ag_ui_result(own.id, "wind 7, fog, calm"),
        ag_ui("STEP_FINISHED", stepName="logbook"),
        ag_ui("STATE_DELTA", delta=[{"op": "replace", "path": "/read", "value": True}]),
        *wire.ag_ui_call(left, every(5), "m2"),
        ag_ui_finished("run-03", SUCCESS | {"pendingToolCallIds": [left.id]}, 31),
    ]
    server = {"id": own.id, "name": own.name, "arguments": {"last": 3}}
    return ag_ui_sse(payloads), expect(good(left.id, left.name, {"q": "Go on?"}), server=[server])


@case("ag-ui/interrupt-for-approval")
def interrupt() -> Built:
    """The run stops for an approval: the gated call is the agent's to execute, the other is not gated."""
    gated, free = Call("tc_1", "dredge", '{"metres":12}'), Call("tc_2", "mark_buoy", '{"n":4}')
    gate = {
        "id": "int-1",
        "reason": "tool_approval",
        "message": "Dredge 12 metres?",
        "toolCallId": gated.id,
        "metadata": {"risk": "high"},
    }
    payloads = [
        ag_ui_started("run-04", protocolVersion="1.0"),
        *wire.ag_ui_call(gated, every(5)),
        *wire.ag_ui_call(free, every(5)),
        ag_ui_finished("run-04", {"type": "interrupt", "interrupts": [gate]}),
    ]
    server = {"id": gated.id, "name": gated.name, "arguments": {"metres": 12}, "flags": ["needs_approval"]}
    return ag_ui_sse(payloads), expect(good(free.id, free.name, {"n": 4}), server=[server], reason="pause")


@case("ag-ui/chunks")
def chunks() -> Built:
    """Chunks instead of starts and ends: one without an id goes on with the last one that had one."""
    payloads = [
        ag_ui_started("run-05"),
        ag_ui("TEXT_MESSAGE_CHUNK", messageId="m1", role="assistant", delta="Two "),
        ag_ui("TEXT_MESSAGE_CHUNK", delta="signals."),
        ag_ui("TOOL_CALL_CHUNK", toolCallId="k1", toolCallName="flag", parentMessageId="m1", delta='{"let'),
        ag_ui("TOOL_CALL_CHUNK", delta='ter":'),
        ag_ui("RAW", event={"kind": "heartbeat"}, source="bridge"),
        ag_ui("TOOL_CALL_CHUNK", delta='"Q"}'),
        ag_ui("TOOL_CALL_CHUNK", toolCallId="k2", toolCallName="flag", delta='{"letter"'),
        ag_ui("TOOL_CALL_CHUNK", toolCallId="k2", delta=':"H"}'),
        ag_ui_finished("run-05"),
    ]
    return ag_ui_sse(payloads), expect(
        good("k1", "flag", {"letter": "Q"}), good("k2", "flag", {"letter": "H"})
    )


@case("ag-ui/dropped-connection", 51)
def dropped_connection() -> Built:
    """The connection ends after a call's end and inside the next: nobody said who executes the first one."""
    first = wire.ag_ui_call(Call("tc_1", "open_lock", '{"gate":2}'), every(6))
    second = wire.ag_ui_call(Call("tc_2", "open_lock", '{"gate":3}'), every(6))
    payloads = [ag_ui_started("run-06"), *first, *second[:2]]
    lost = [
        drop("tc_1", "open_lock", "unterminated", '{"gate":2}'),
        drop("tc_2", "open_lock", "unterminated", '{"gate'),
    ]
    return ag_ui_sse(payloads), expect(dropped=lost, reason="malformed", anomalies=["missing_finish"])


@case("ag-ui/run-error", 52)
def run_error() -> Built:
    """The run fails inside a call, after the agent executed another one."""
    done, open_ = Call("tc_1", "sound_depth", '{"at":"pier"}'), Call("tc_2", "moor", '{"berth":9}')
    payloads = [
        ag_ui_started("run-07"),
        *wire.ag_ui_call(done),
        wire.ag_ui_result(done.id, "4.5"),
        *wire.ag_ui_call(open_, every(5))[:-1],
        ag_ui("RUN_ERROR", message="model overloaded", code="overloaded"),
    ]
    server = [{"id": done.id, "name": done.name, "arguments": {"at": "pier"}}]
    lost = drop(open_.id, open_.name, "aborted", '{"berth":9}')
    return ag_ui_sse(payloads), expect(
        server=server, dropped=[lost], reason="error", faults=["provider_error"]
    )


@case("ag-ui/snapshot-tells-calls", 72, 98)
def snapshot() -> Built:
    """A snapshot repeats the history, restates a streamed call, answers another, and tells one not streamed."""
    old, streamed = Call("tc_0", "cast_off", "{}"), Call("tc_1", "log", '{"text":"fog \\ud83c\\udf2b"}')
    own, untold = Call("tc_2", "radar", '{"range":6}'), Call("tc_3", "horn", '{"blasts":2}')
    messages = [
        {"id": "m1", "role": "user", "content": "Cast off."},
        ag_ui_assistant("m2", old),
        {"id": "m3", "role": "user", "content": "Fog!"},
        ag_ui_assistant("m4", streamed, own, untold, content="Careful."),
        {"id": "m5", "role": "tool", "toolCallId": own.id, "content": "clear"},
    ]
    payloads = [
        ag_ui_started("run-08", input={"threadId": wire.THREAD, "runId": "run-08", "messages": messages[:3]}),
        *wire.ag_ui_text("m4", ["Care", "ful."]),
        *wire.ag_ui_call(streamed, every(8), "m4"),
        *wire.ag_ui_call(own, every(8), "m4"),
        ag_ui("MESSAGES_SNAPSHOT", messages=messages),
        ag_ui_finished("run-08", SUCCESS | {"pendingToolCallIds": ["tc_1", "tc_3"]}),
    ]
    found = (good("tc_1", "log", {"text": "fog 🌫"}), good("tc_3", "horn", {"blasts": 2}))
    server = [{"id": "tc_2", "name": "radar", "arguments": {"range": 6}}]
    return ag_ui_sse(payloads), expect(*found, server=server)


@case("ag-ui/whole-run", 90, suffix="json")
def whole_run() -> Built:
    """A run that was not streamed: all of its events as one JSON array, then cancelled."""
    call = Call("tc_w", "weigh_anchor", '{"fathoms":20}')
    payloads = wire.ag_ui_payloads(Turn([call], text="Anchor aweigh.", id="run-09"))[:-1]
    payloads.append(ag_ui_finished("run-09", {"type": "cancelled"}))
    return json_array(payloads), expect(
        dropped=[drop(call.id, call.name, "aborted", call.arguments)], reason="error"
    )


@case("ag-ui/two-runs", 64)
def two_runs() -> Built:
    """Two runs in one stream use the same id; so do two steps of the second one."""
    call, again = Call("functions.ping:0", "ping", '{"n":1}'), Call("functions.ping:0", "ping", '{"n":2}')
    payloads = [
        *wire.ag_ui_payloads(Turn([call], id="run-10")),
        ag_ui_started("run-11"),
        *wire.ag_ui_call(call),
        wire.ag_ui_result(call.id, "pong"),
        *wire.ag_ui_call(again),
        ag_ui_finished("run-11"),
    ]
    server = [{"id": call.id, "name": "ping", "arguments": {"n": 1}}]
    found = (
        good(call.id, "ping", {"n": 1}),
        good("functions.ping:0#2", "ping", {"n": 2}, flags=["duplicate_id"]),
    )
    return ag_ui_sse(payloads), expect(*found, server=server)


# ACP


def seen(id: str, name: str, arguments: JSON, *flags: str) -> JSON:
    """Return an expected call that the agent executes."""
    return {"id": id, "name": name, "arguments": arguments, "flags": list(flags)}


@case("acp/single-call", suffix="ndjson")
def acp_single() -> Built:
    """A prompt with thoughts, text and one call; what the agent tells of its session is no part of the turn."""
    call = Call("call_001", "Reading tides.py", '{"path":"tides.py","lines":[1,40]}')
    turn = Turn([call], text="Ich lese die Datei 📄.", reasoning="Which file?", id="sess_aa01")
    commands = acp_update("available_commands_update", "sess_aa01", availableCommands=[])
    data = json_lines([commands, *wire.acp_payloads(turn, every(7))])
    return data, expect(
        server=[seen(call.id, call.name, {"path": "tides.py", "lines": [1, 40]})], reason="stop"
    )


@case("acp/parallel-out-of-order", 56, 26, suffix="ndjson")
def acp_parallel() -> Built:
    """Three calls run at once and end in another order, one of them failed, one without any input."""
    calls = [
        acp_call(
            "c1", "Search", kind="search", status="pending", rawInput={"pattern": "knots?", "in": "*.log"}
        ),
        acp_call("c2", "Run tests", kind="execute", status="in_progress", locations=[]),
        acp_call("c3", "Fetch", kind="fetch", status="pending", rawInput={"url": "https://example.org/ø"}),
    ]
    ends = [
        acp_update("tool_call_update", toolCallId="c3", status="failed", rawOutput="404"),
        acp_update("tool_call_update", toolCallId="c1", status="completed"),
        acp_update("tool_call_update", toolCallId="c2", status="completed", content=[]),
    ]
    server = [
        seen("c1", "Search", {"pattern": "knots?", "in": "*.log"}),
        seen("c2", "Run tests", {}),
        seen("c3", "Fetch", {"url": "https://example.org/ø"}),
    ]
    return json_lines([*calls, *ends, wire.acp_answer(4, tokens=12)]), expect(server=server, reason="stop")


@case("acp/input-is-replaced", 24, 25, suffix="ndjson")
def acp_replaced() -> Built:
    """The agent announces the call twice, and its input grows from an empty object; the last one counts."""
    meta = {"claudeCode": {"toolName": "Bash"}}
    about: JSON = {"kind": "execute", "status": "pending", "content": [], "_meta": meta}
    payloads = [
        acp_call("toolu_01", "Terminal", rawInput={}, **about),
        acp_call("toolu_01", "`git di`", rawInput={"command": "git di"}, **about),
        acp_update(
            "tool_call_update", toolCallId="toolu_01", title="`git diff`", rawInput={"command": "git diff"}
        ),
        acp_update(
            "tool_call_update", toolCallId="toolu_01", status="completed", rawInput={"command": "git diff"}
        ),
        wire.acp_answer(2),
    ]
    return json_lines(payloads), expect(
        server=[seen("toolu_01", "Terminal", {"command": "git diff"})], reason="stop"
    )


@case("acp/asks-permission", suffix="ndjson")
def acp_permission() -> Built:
    """The agent asks before it acts: the call is told then; the log holds the client's side, too."""
    asked: JSON = {"toolCallId": "call_rm", "title": "Remove build/", "rawInput": {"path": "build/"}}
    payloads = [
        wire.acp_prompt(7, "Clean up."),
        acp_call("call_rm", "Remove", kind="delete", status="pending"),
        wire.acp_asked(0, asked | {"status": "pending"}),
        {"jsonrpc": "2.0", "id": 0, "result": {"outcome": {"outcome": "selected", "optionId": "once"}}},
        {"jsonrpc": "2.0", "id": 1, "method": "fs/read_text_file", "params": {"sessionId": wire.SESSION}},
        wire.acp_failed(1, -32002, "Resource not found"),
        acp_update("tool_call_update", toolCallId="call_rm", status="completed", rawOutput={"removed": 3}),
        wire.acp_answer(7),
    ]
    server = [seen("call_rm", "Remove", {"path": "build/"}, "needs_approval")]
    return json_lines(payloads), expect(server=server, reason="stop")


@case("acp/cancelled", 94, suffix="ndjson")
def acp_cancelled() -> Built:
    """The client cancels: the open call is dropped, and what the agent says of it later changes nothing."""
    payloads = [
        acp_call("c1", "Compile", kind="execute", status="in_progress", rawInput={"target": "all"}),
        {"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": wire.SESSION}},
        wire.acp_answer(5, "cancelled"),
        acp_update("tool_call_update", toolCallId="c1", status="failed"),
    ]
    lost = drop("c1", "Compile", "aborted", '{"target":"all"}')
    return json_lines(payloads), expect(dropped=[lost], reason="error")


@case("acp/dropped-connection", 51, suffix="ndjson")
def acp_dropped() -> Built:
    """The agent's process dies inside a message: one call was completed before, one was not."""
    payloads = [
        acp_said("On it."),
        acp_call("c1", "List", kind="search", status="completed", rawInput={"dir": "."}),
        acp_call("c2", "Edit", kind="edit", status="pending", rawInput={"file": "a.py", "to": "b"}),
        acp_update("tool_call_update", toolCallId="c2", status="completed"),
    ]
    data = json_lines(payloads)[:-14]
    lost = drop("c2", "Edit", "unterminated", '{"file":"a.py","to":"b"}')
    return data, expect(
        server=[seen("c1", "List", {"dir": "."})],
        dropped=[lost],
        reason="malformed",
        faults=["undecodable_frame"],
        anomalies=["missing_finish"],
    )


@case("acp/prompt-fails", 52, suffix="ndjson")
def acp_fails() -> Built:
    """The prompt is answered with an error while a call runs."""
    payloads = [
        wire.acp_prompt(9, "Deploy."),
        acp_call("c1", "Deploy", kind="execute", status="in_progress", rawInput={"to": "harbour"}),
        wire.acp_failed(9, -32603, "Internal error"),
    ]
    lost = drop("c1", "Deploy", "aborted", '{"to":"harbour"}')
    return json_lines(payloads), expect(dropped=[lost], reason="error", faults=["provider_error"])


@case("acp/two-sessions", 64, suffix="ndjson")
def acp_sessions() -> Built:
    """Two sessions on one connection use the same ids at the same time, and one of them is asked again."""
    payloads = [
        wire.acp_prompt(1, "Left?", "sess_a"),
        wire.acp_prompt(2, "Right?", "sess_b"),
        acp_call("1", "Look", session="sess_a", kind="read", rawInput={"side": "port"}),
        acp_call("1", "Look", session="sess_b", kind="read", rawInput={"side": "starboard"}),
        acp_update("tool_call_update", "sess_a", toolCallId="1", status="completed"),
        wire.acp_answer(2),
        acp_said("Clear.", session="sess_a"),
        wire.acp_answer(1),
        wire.acp_prompt(3, "Again?", "sess_a"),
        acp_call("1", "Look", session="sess_a", kind="read", status="completed", rawInput={"side": "aft"}),
        wire.acp_answer(3, "max_turn_requests"),
    ]
    sides = ("port", "starboard", "aft")
    return json_lines(payloads), expect(
        server=[seen("1", "Look", {"side": side}) for side in sides], reason="pause"
    )


@case("acp/whole-log", 90, suffix="json")
def acp_whole_log() -> Built:
    """A log of a session as one JSON array, cut for length by the model inside its last call."""
    payloads = [
        acp_said("Writing."),
        acp_call("c1", "Write notes.md", kind="edit", status="pending", locations=[{"path": "notes.md"}]),
        wire.acp_answer(6, "max_tokens", 512),
    ]
    return json_array(payloads), expect(
        dropped=[drop("c1", "Write notes.md", "truncated", "")], reason="length"
    )
