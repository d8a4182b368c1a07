"""Recordings of OpenAI's further dialects: the Realtime API and Assistants."""

from __future__ import annotations

import json

from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import ABSENT, JSON, Call, Turn, compact, every, json_lines, sse
from tests.support.encode_openai import (
    RealtimeEvents,
    RunEvents,
    asked_call,
    body_realtime,
    call_item,
    render_assistants,
    render_realtime,
    run_done,
    run_usage,
    spoken_item,
)

__all__: list[str] = []

# Realtime


@case("openai-realtime/text-and-call", suffix="ndjson")
def text_and_call() -> Built:
    """Text, then one call in small pieces; every item is told by the response and by the conversation."""
    call = Call("call_dredge7", "plan_dredging", '{"basin": "Østre havn", "depth_m": 9.5}')
    turn = Turn([call], text="Planlegger mudring … ⚓", id="dredge", model="gpt-realtime")
    found = good(
        call.id, call.name, {"basin": "Østre havn", "depth_m": 9.5}, extra={"item_id": "item_call_dredge7"}
    )
    return render_realtime(turn, every(4)), expect(found)


@case("openai-realtime/parallel-with-empty", 56, 26, suffix="ndjson")
def parallel_with_empty() -> Built:
    """Three calls that stream in turns; one has no arguments at all, and so no delta."""
    calls = [
        Call("call_lift_a", "lift_gate", '{"gate":1,"slowly":true}'),
        Call("call_siren", "stop_siren", ""),
        Call("call_lift_b", "lift_gate", '{"gate":2,"slowly":true}'),
    ]
    wire = RealtimeEvents("resp_gates", "gpt-realtime")
    events = [*wire.session(), wire.created()]
    for index, call in enumerate(calls):
        events += wire.item("added", index, call_item(call, "in_progress", arguments=""))
    for first, third in zip(every(6)(calls[0].arguments), every(6)(calls[2].arguments), strict=True):
        events += [wire.piece(2, calls[2], third), wire.piece(0, calls[0], first)]
    for index, call in reversed(list(enumerate(calls))):
        events += [wire.arguments_done(index, call), *wire.item("done", index, call_item(call))]
    events.append(wire.done([call_item(call) for call in calls]))
    found = (
        good("call_lift_a", "lift_gate", {"gate": 1, "slowly": True}),
        good("call_siren", "stop_siren", {}, "empty"),
        good("call_lift_b", "lift_gate", {"gate": 2, "slowly": True}),
    )
    return json_lines(events), expect(*found)


@case("openai-realtime/interrupted", 94, suffix="ndjson")
def interrupted() -> Built:
    """The user speaks: one call was done, the other is complete by its looks only, and taken back."""
    first, second = (
        Call("call_bow", "fire_thruster", '{"at":"bow"}'),
        Call("call_aft", "fire_thruster", '{"at":"aft"}'),
    )
    wire = RealtimeEvents("resp_thrust", "gpt-realtime")
    events = [
        *wire.session(),
        wire.created(),
        *wire.call(0, first, every(5)),
        *wire.begun(1, second, every(5)),
    ]
    events.append(wire.event("input_audio_buffer.speech_started", audio_start_ms=812, item_id="item_user"))
    details = {"type": "cancelled", "reason": "turn_detected"}
    cut = call_item(second, "incomplete")
    events.append(wire.done([call_item(first), cut], "cancelled", details))
    lost = drop("call_aft", "fire_thruster", "aborted", '{"at":"aft"}')
    return json_lines(events), expect(
        good("call_bow", "fire_thruster", {"at": "bow"}), dropped=[lost], reason="aborted"
    )


@case("openai-realtime/two-in-flight", suffix="ndjson")
def two_in_flight() -> Built:
    """A response outside the conversation runs beside the first one; both call item 0, each in its own turn."""
    spoken, aside = (
        RealtimeEvents("resp_spoken", "gpt-realtime"),
        RealtimeEvents("resp_aside", "gpt-realtime"),
    )
    first, second = (
        Call("call_tide_1", "read_tide", '{"h":6}'),
        Call("call_log_2", "write_log", '{"line":"HW 06:12"}'),
    )
    said = [*spoken.begun(0, first, every(3)), spoken.arguments_done(0, first)]
    said += [*spoken.item("done", 0, call_item(first)), spoken.done([call_item(first)])]
    noted = [*aside.begun(0, second, every(7)), aside.arguments_done(0, second)]
    noted += [*aside.item("done", 0, call_item(second)), aside.done([call_item(second)])]
    events = [*spoken.session(), spoken.created(), aside.created()]
    for left, right in zip(said, noted, strict=False):
        events += [left, right]
    events += [*said[len(noted) :], *noted[len(said) :]]
    return json_lines(events), expect(
        good("call_tide_1", "read_tide", {"h": 6}), good("call_log_2", "write_log", {"line": "HW 06:12"})
    )


@case("openai-realtime/index-zero-for-all", 3, 88, suffix="ndjson")
def index_zero_for_all() -> Built:
    """Every item has output index 0 and no delta has one; pings, an idle word for details, usage beside the response."""
    calls = [
        Call("call-7f-0", "set_light", '{"berth":4,"on":true}'),
        Call("call-7f-1", "set_light", '{"berth":5,"on":false}'),
    ]
    wire = RealtimeEvents("9c1e7f02", "grok-voice")
    said = spoken_item("0d1c", "Both lights, one moment.", audio=True)
    events = [wire.session()[0], wire.event("ping", timestamp=1_760_000_000_000), wire.created()]
    events += wire.message(0, said)
    for call in calls:
        events += wire.item("added", 0, call_item(call, "in_progress", role="user", arguments=""))
    events += [wire.piece(ABSENT, call, call.arguments) for call in calls]
    for call in calls:
        events += [wire.arguments_done(0, call), *wire.item("done", 0, call_item(call, role="user"))]
    last = wire.done([said, *(call_item(call, role="user") for call in calls)], details="unimplemented")
    last["usage"], last["response"]["usage"] = last["response"]["usage"], {}
    found = [
        good(call.id, "set_light", arguments)
        for call, arguments in zip(calls, ({"berth": 4, "on": True}, {"berth": 5, "on": False}), strict=True)
    ]
    return json_lines([*events, last]), expect(*found)


@case("openai-realtime/cut-by-the-token-limit", 49, 76, suffix="ndjson")
def cut_by_the_token_limit() -> Built:
    """The token limit inside the second call; the first one was done."""
    first, second = (
        Call("call_pump_1", "start_pump", '{"rpm":900}'),
        Call("call_pump_2", "start_pump", '{"rpm":12'),
    )
    wire = RealtimeEvents("resp_pump", "gpt-realtime")
    events = [*wire.session(), wire.created(), *wire.call(0, first, every(8)), *wire.begun(1, second)]
    cut = call_item(second, "incomplete")
    events += wire.item("done", 1, cut)
    details = {"type": "incomplete", "reason": "max_output_tokens"}
    events.append(wire.done([call_item(first), cut], "incomplete", details))
    lost = drop("call_pump_2", "start_pump", "truncated", '{"rpm":12')
    found = good("call_pump_1", "start_pump", {"rpm": 900})
    return json_lines(events), expect(found, reason="length", dropped=[lost])


@case("openai-realtime/errors-on-the-way", 52, suffix="ndjson")
def errors_on_the_way() -> Built:
    """An error of the session ends no call; a failed response does, and the next response is heard."""
    call, lost, after = (
        Call("call_ballast", "fill_ballast", '{"tank":"port","t":40}'),
        Call("call_drain", "drain_ballast", '{"tank":"port"}'),
        Call("call_trim", "read_trim", "{}"),
    )
    wire = RealtimeEvents("resp_one", "gpt-realtime")
    refused: JSON = {"type": "invalid_request_error", "code": "invalid_value", "message": "Unknown voice."}
    events = [*wire.session(), wire.created(), *wire.begun(0, call, every(9))]
    events.append(wire.event("error", error=refused | {"param": "session.voice", "event_id": "mine_3"}))
    events += [wire.arguments_done(0, call), *wire.item("done", 0, call_item(call)), *wire.begun(1, lost)]
    details = {"type": "failed", "error": {"type": "server_error", "code": "overloaded"}}
    events.append(wire.done([call_item(call)], "failed", details))
    wire.response_id = "resp_two"
    events += [wire.created(), *wire.call(0, after), wire.done([call_item(after)])]
    expected = expect(
        good(call.id, "fill_ballast", {"tank": "port", "t": 40}),
        good(after.id, "read_trim", {}),
        dropped=[drop(lost.id, "drain_ballast", "aborted", '{"tank":"port"}')],
        faults=["provider_error", "provider_error"],
    )
    return json_lines(events), expected


@case("openai-realtime/dropped-connection", 51, suffix="ndjson")
def dropped_connection() -> Built:
    """The socket closes after `arguments.done`: the text is whole, but the item was not ended."""
    call = Call("call_anchor", "drop_anchor", '{"chain_m":55}')
    wire = RealtimeEvents("resp_anchor", "gpt-realtime")
    events = [*wire.session(), wire.created(), *wire.begun(0, call, every(5)), wire.arguments_done(0, call)]
    lost = drop("call_anchor", "drop_anchor", "unterminated", '{"chain_m":55}')
    return json_lines(events), expect(reason=None, dropped=[lost], anomalies=["missing_finish"])


@case("openai-realtime/only-in-the-end", 72, 75, suffix="ndjson")
def only_in_the_end() -> Built:
    """A gateway sends the finished response alone; one of its calls has no `call_id`."""
    calls = [Call("call_buoy", "light_buoy", '{"id":"B7"}'), Call("b8", "light_buoy", '{"id":"B8"}')]
    wire = RealtimeEvents("resp_buoys", "gpt-realtime")
    output = [call_item(calls[0]), call_item(calls[1], call_id=ABSENT)]
    found = (good("call_buoy", "light_buoy", {"id": "B7"}), good("item_b8", "light_buoy", {"id": "B8"}))
    return json_lines([wire.session()[0], wire.created(), wire.done(output)]), expect(*found)


@case("openai-realtime/whole-response", 90, suffix="json")
def whole_response() -> Built:
    """A response on its own, pretty-printed, as a log holds it."""
    call = Call("call_crane", "swing_crane", compact({"to": "kai 4 🏗", "deg": -12.5}))
    turn = Turn([call], text="Swinging.", id="crane", model="gpt-realtime")
    return json.dumps(body_realtime(turn), ensure_ascii=False, indent=2).encode(), expect(
        good(call.id, "swing_crane", {"to": "kai 4 🏗", "deg": -12.5})
    )


# Assistants


@case("openai-assistants/text-and-call")
def run_text_and_call() -> Built:
    """A step that writes, then a step with one call; the run asks for its output."""
    call = Call("call_pilot_9", "book_pilot", '{"vessel": "M/S Fjördur", "eta": "05:40"}')
    turn = Turn([call], text="Ein Lotse für die Fjördur … 🚢", id="pilot", model="gpt-4o")
    found = good(call.id, call.name, {"vessel": "M/S Fjördur", "eta": "05:40"})
    return render_assistants(turn, every(5)), expect(found)


@case("openai-assistants/parallel-with-empty", 56, 26)
def run_parallel() -> Built:
    """Three calls in one step whose pieces take turns; one of them has no arguments."""
    calls = [
        Call("call_rope_1", "order_rope", '{"mm":48,"m":220}'),
        Call("call_stock", "count_stock", ""),
        Call("call_rope_2", "order_rope", '{"mm":32,"m":110}'),
    ]
    wire = RunEvents("run_rope", "gpt-4o")
    data = wire.begun() + wire.opened("step_rope")
    for index, call in enumerate(calls):
        data += wire.call("step_rope", index, Call(call.id, call.name, ""))
    for first, third in zip(every(4)(calls[0].arguments), every(4)(calls[2].arguments), strict=True):
        entries = [
            {"index": 2, "function": {"arguments": third}},
            {"index": 0, "function": {"arguments": first}},
        ]
        data += wire.piece("step_rope", *entries)
    data += wire.run("requires_action", required_action=wire.asked(calls)) + run_done()
    found = (
        good("call_rope_1", "order_rope", {"mm": 48, "m": 220}),
        good("call_stock", "count_stock", {}, "empty"),
        good("call_rope_2", "order_rope", {"mm": 32, "m": 110}),
    )
    return data, expect(*found)


@case("openai-assistants/after-the-outputs", 98)
def after_the_outputs() -> Built:
    """The stream after the outputs were submitted: the step's call was executed already, and is not told again."""
    call = Call("call_fuel_3", "bunker_fuel", '{"tonnes":12}')
    wire = RunEvents("run_fuel", "gpt-4o")
    executed = asked_call(call, output="ok, 12 t")
    data = wire.step("completed", "step_fuel", [executed], usage=run_usage(14)) + wire.run("queued")
    data += wire.run("in_progress") + wire.opened("step_said", writes=True)
    data += wire.message("said", "Twelve tonnes are aboard.", every(6))
    data += wire.step("completed", "step_said", None, usage=run_usage(8))
    return data + wire.run("completed", usage=run_usage(22)) + run_done(), expect(reason="stop")


@case("openai-assistants/code-that-openai-runs")
def code_that_openai_runs() -> Built:
    """Code in pieces, with quotes and line ends; then the answer."""
    code = 'tide = [1.2, 0.4]\nprint("høy: %.1f" % max(tide))\n'
    wire = RunEvents("run_code", "gpt-4o")
    kind = "code_interpreter"
    told = {
        "id": "call_code_5",
        "type": kind,
        kind: {"input": code, "outputs": [{"type": "logs", "logs": "høy: 1.2"}]},
    }
    data = wire.begun() + wire.opened("step_code") + wire.code("step_code", 0, "call_code_5", code, every(7))
    data += wire.step("completed", "step_code", [told], usage=run_usage(30)) + wire.opened(
        "step_said", writes=True
    )
    data += wire.message("said", "Høyvann: 1,2 m.", every(3)) + wire.step("completed", "step_said", None)
    return data + wire.run("completed", usage=run_usage(41)) + run_done(), expect(
        reason="stop", server=[{"id": "call_code_5", "name": kind, "arguments": {"input": code}, "flags": []}]
    )


@case("openai-assistants/cut-by-the-token-limit", 49, 76)
def run_cut() -> Built:
    """The run ends incomplete inside the second call: it asks for neither output, so neither call is made."""
    calls = [Call("call_log_a", "log_draught", '{"m":6.1}'), Call("call_log_b", "log_draught", '{"m":6.')]
    wire = RunEvents("run_log", "gpt-4o")
    data = wire.begun() + wire.opened("step_log")
    data += wire.call("step_log", 0, calls[0], every(4)) + wire.call("step_log", 1, calls[1], every(4))
    data += wire.run("incomplete", incomplete_details={"reason": "max_completion_tokens"}) + run_done()
    lost = [drop(call.id, call.name, "truncated", call.arguments) for call in calls]
    return data, expect(reason="length", dropped=lost)


@case("openai-assistants/failed-run", 52)
def failed_run() -> Built:
    """The step and the run fail after a call that is complete by its looks."""
    call = Call("call_horn_1", "sound_horn", '{"blasts":5}')
    wire = RunEvents("run_horn", "gpt-4o")
    error = {"code": "rate_limit_exceeded", "message": "You exceeded your current quota."}
    data = wire.begun() + wire.opened("step_horn") + wire.call("step_horn", 0, call, every(6))
    data += wire.step("failed", "step_horn", [], last_error=error) + wire.run("failed", last_error=error)
    lost = drop(call.id, call.name, "aborted", '{"blasts":5}')
    return data + run_done(), expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("openai-assistants/dropped-connection", 51)
def run_dropped() -> Built:
    """The connection ends before the run asks for anything."""
    call = Call("call_moor_2", "moor", '{"bollard":17}')
    wire = RunEvents("run_moor", "gpt-4o")
    data = wire.begun() + wire.opened("step_moor") + wire.call("step_moor", 0, call, every(4))
    lost = drop(call.id, call.name, "unterminated", '{"bollard":17}')
    return data, expect(reason=None, dropped=[lost], anomalies=["missing_finish"])


@case("openai-assistants/error-event", 52)
def error_event() -> Built:
    """The server's own error event in the middle of a call."""
    call = Call("call_chart_4", "fetch_chart", '{"no":"INT 1')
    wire = RunEvents("run_chart", "gpt-4o")
    error = {"code": None, "message": "The server had an error.", "param": None, "type": "server_error"}
    data = wire.begun() + wire.opened("step_chart") + wire.call("step_chart", 0, call, every(6))
    lost = drop(call.id, call.name, "aborted", call.arguments)
    return data + sse(error, "error"), expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("openai-assistants/polled-run", 90, suffix="json")
def polled_run() -> Built:
    """A run that was not streamed, and waits for two outputs."""
    calls = [
        Call("call_flag_1", "hoist", '{"flag":"Q"}'),
        Call("call_flag_2", "hoist", '{"flag":"H","half":true}'),
    ]
    wire = RunEvents("run_flags", "gpt-4o")
    run = wire.run_object("requires_action", required_action=wire.asked(calls))
    found = (
        good("call_flag_1", "hoist", {"flag": "Q"}),
        good("call_flag_2", "hoist", {"flag": "H", "half": True}),
    )
    return json.dumps(run, indent=2).encode(), expect(*found)
