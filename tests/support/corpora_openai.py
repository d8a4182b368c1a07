"""Recordings of OpenAI's further dialects: the Realtime API."""

from __future__ import annotations

import json

from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import ABSENT, JSON, Call, Turn, compact, every, json_lines
from tests.support.encode_openai import (
    RealtimeEvents,
    body_realtime,
    call_item,
    render_realtime,
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
