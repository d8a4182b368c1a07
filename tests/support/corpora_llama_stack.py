"""Recordings of llama-stack's own inference API, as its providers fill it."""

from __future__ import annotations

from tests.support import encode_llama_stack as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, compact, every, json_lines, sse
from tests.support.encode_llama_stack import call_delta, event, old_event, text, tool_call, written

__all__: list[str] = []


@case("llama-stack/single-call", 113)
def single_call() -> Built:
    """Text, then a call that the model writes as a Python list; the server tells it as an object."""
    call = Call("4f2a-uuid", "get_weather", '{"location":"Þingvellir"}')
    raw = '<|python_tag|>[get_weather(location="Þingvellir")]'
    events = [
        event("start"),
        *(text(piece) for piece in ("Let me ", "look.")),
        *written(raw, every(6)),
        call_delta("succeeded", tool_call(call, spelled=False), reason="end_of_turn"),
        event("complete", reason="end_of_turn", metrics=wire.metrics(24)),
    ]
    found = good(call.id, call.name, {"location": "Þingvellir"})
    return wire.stream(events), expect(found, anomalies=[])


@case("llama-stack/parallel-in-one-text", 113)
def parallel() -> Built:
    """Three calls written as one text; the last of them has arguments that nest."""
    calls = [
        Call("u1", "tide", '{"port":"Brest","day":1}'),
        Call("u2", "tide", '{"port":"Brest","day":2}'),
        Call("u3", "plot", '{"route":{"via":["Ushant"]},"draft":2.5}'),
    ]
    found = (
        good("u1", "tide", {"port": "Brest", "day": 1}),
        good("u2", "tide", {"port": "Brest", "day": 2}),
        good("u3", "plot", {"route": {"via": ["Ushant"]}, "draft": 2.5}),
    )
    return wire.render(Turn(calls, text="Two days."), every(9)), expect(*found, anomalies=[])


@case("llama-stack/no-arguments", 26)
def no_arguments() -> Built:
    """Calls without arguments: an empty object, an empty text beside it, and none at all."""
    bare = {"call_id": "u3", "tool_name": "ping", "arguments": None}
    events = [
        event("start"),
        *written("[ping()]"),
        call_delta("succeeded", tool_call(Call("u1", "ping", "{}"))),
        call_delta("succeeded", tool_call(Call("u2", "ping", ""))),
        call_delta("succeeded", bare),
        call_delta("succeeded", tool_call(Call("u4", "stop", '{"now":true}'))),
        event("complete", reason="end_of_message"),
    ]
    found = (
        good("u1", "ping", {}),
        good("u2", "ping", {}),
        good("u3", "ping", {}, "empty"),
        good("u4", "stop", {"now": True}),
    )
    return wire.stream(events), expect(*found)


@case("llama-stack/relayed-in-pieces", 56, 113)
def relayed() -> Built:
    """A relay of chat completions: pieces of two calls that alternate, with brackets that nobody wrote; no start."""
    one, two = Call("call_a", "add", '{"x": 1, "y": 2}'), Call("call_b", "add", '{"x": 3, "y": 4}')
    pieces = ["add(", "add(", '{"x": 1,', '{"x": 3,', ' "y": 2}', ' "y": 4}']
    events = [event("start"), *(call_delta("in_progress", piece) for piece in pieces)]
    for call in (one, two):
        events += [call_delta("in_progress", ")"), call_delta("succeeded", tool_call(call))]
    events.append(event("complete", reason="end_of_message"))
    found = (good("call_a", "add", {"x": 1, "y": 2}), good("call_b", "add", {"x": 3, "y": 4}))
    return wire.stream(events), expect(*found, anomalies=[])


@case("llama-stack/failed", 113)
def failed() -> Built:
    """Three failures beside a call: nothing could be read, no such tool was asked for, and one told as an object."""
    raw = '[fly_kite(height="high"), get_tide()]'
    unread = {"call_id": "u7", "tool_name": "reef", "arguments": '{"sail": jib}'}
    events = [
        event("start"),
        *written('<function=reef>{"sail": jib}', every(8)),
        call_delta("failed", ""),
        *written(raw),
        call_delta("failed", raw),
        call_delta("succeeded", tool_call(Call("u6", "get_tide", '{"port":"Hull"}'))),
        call_delta("failed", unread),
        event("complete", reason="end_of_turn"),
    ]
    lost = [
        drop(None, None, "unparseable", '<function=reef>{"sail": jib}'),
        drop(None, None, "unparseable", raw),
        drop("u7", "reef", "unparseable", '{"sail": jib}'),
    ]
    return wire.stream(events), expect(good("u6", "get_tide", {"port": "Hull"}), dropped=lost)


@case("llama-stack/cut-length", 49)
def cut_length() -> Built:
    """The token limit cuts code that the server reads all the same; the call before it is whole."""
    code = "for depth in soundings:\n    pri"
    calls = [Call("u1", "note", '{"text":"shoal"}'), Call("u2", "code_interpreter", compact({"code": code}))]
    turn = Turn(calls, stopped="length")
    cut = drop("u2", "code_interpreter", "truncated", compact({"code": code}))
    return wire.render(turn, every(20)), expect(
        good("u1", "note", {"text": "shoal"}), dropped=[cut], reason="length"
    )


@case("llama-stack/cut-before-the-call", 49, 113)
def cut_unread() -> Built:
    """The token limit cuts what the model writes, and the server says no more of it."""
    events = [event("start"), *written('[tide(port="Hu', every(4)), event("complete", reason="out_of_tokens")]
    cut = drop(None, None, "nameless", '[tide(port="Hu')
    return wire.stream(events), expect(dropped=[cut], reason="length")


@case("llama-stack/dropped-connection", 51, 113)
def dropped_connection() -> Built:
    """The connection ends while the model writes its second call; it was done with the first one."""
    events = [event("start"), *written("[heave()", every(3))]
    events.append(call_delta("succeeded", tool_call(Call("u1", "heave", '{"to":"port"}'))))
    events += written('[heave(to="st', every(5))
    lost = drop(None, None, "nameless", '[heave(to="st')
    return wire.stream(events), expect(
        good("u1", "heave", {"to": "port"}), dropped=[lost], anomalies=["missing_finish"]
    )


@case("llama-stack/dropped-behind-a-call", 51)
def dropped_behind_a_call() -> Built:
    """The connection ends after a call: the server read it whole, though nothing says that the answer was done."""
    events = [event("start"), *written('[heave(to="port")]', every(5))]
    events.append(call_delta("succeeded", tool_call(Call("u1", "heave", '{"to":"port"}'))))
    return wire.stream(events), expect(
        good("u1", "heave", {"to": "port"}), reason="tool_calls", anomalies=["missing_finish"]
    )


@case("llama-stack/error", 52)
def error() -> Built:
    """The server fails while the model writes a second call."""
    events = [
        event("start"),
        *written("[a(), b("),
        call_delta("succeeded", tool_call(Call("u1", "a", '{"n":1}'))),
        *written("b("),
        {"error": {"message": "500: Internal server error: An unexpected error occurred."}},
    ]
    lost = drop(None, None, "aborted", "b(")
    return wire.stream(events), expect(
        good("u1", "a", {"n": 1}), reason="error", dropped=[lost], faults=["provider_error"]
    )


@case("llama-stack/first-version")
def first_version() -> Built:
    """The first versions: text is the delta itself, a call its content, and success has another word."""
    call = Call("u1", "brave_search", '{"query":"neap tide"}')
    told = {"content": tool_call(call, spelled=False), "parse_status": "success"}
    events = [
        old_event("start", ""),
        old_event("progress", "Searching"),
        old_event("progress", {"content": "", "parse_status": "started"}),
        old_event("progress", {"content": 'brave_search.call(query="neap', "parse_status": "in_progress"}),
        old_event("progress", {"content": ' tide")', "parse_status": "in_progress"}, reason="end_of_message"),
        old_event("progress", told, reason="end_of_message"),
        old_event("complete", "", reason="end_of_message"),
    ]
    return wire.stream(events), expect(good("u1", "brave_search", {"query": "neap tide"}), anomalies=[])


@case("llama-stack/calls-in-the-last-events", 117)
def calls_in_complete() -> Built:
    """A relay of another gateway tells whole calls in events that say the answer is complete."""
    calls = [
        Call("call_1", "list_pods", '{"namespace":"lighthouse"}'),
        Call("call_2", "list_pods", '{"all":true}'),
    ]
    events = [event("start"), text("Listing.")]
    events += [call_delta("succeeded", tool_call(call), kind="complete") for call in calls]
    events.append(event("complete", reason="end_of_turn"))
    found = (
        good("call_1", "list_pods", {"namespace": "lighthouse"}),
        good("call_2", "list_pods", {"all": True}),
    )
    return wire.stream(events), expect(*found, anomalies=[])


@case("llama-stack/two-answers", suffix="ndjson")
def two_answers() -> Built:
    """A log of two answers, one after the other, without what is null."""
    first = wire.payloads(Turn([Call("u1", "sound", '{"at":1}')]))
    second = wire.payloads(Turn([Call("u1", "sound", '{"at":2}')]))
    events: list[JSON] = [wire.trimmed(payload) for payload in (*first, *second)]
    found = (good("u1", "sound", {"at": 1}), good("u1", "sound", {"at": 2}))
    return json_lines(events), expect(*found, anomalies=[])


@case("llama-stack/whole-body", 90, 26, suffix="json")
def whole_body() -> Built:
    """A non-streamed answer: text, a call with the text that its arguments were read from, and one without any."""
    turn = Turn([Call("u1", "berth", '{"n": 3}'), Call("u2", "berths", "")], text="Looking.")
    found = (good("u1", "berth", {"n": 3}), good("u2", "berths", {}))
    return compact(wire.body(turn)).encode(), expect(*found, anomalies=[])


@case("llama-api/then-llama-stack", 89, 113)
def after_text() -> Built:
    """A log without what is null begins like Meta's API; the first call tells that it is llama-stack's."""
    call = Call("u1", "tack", '{"to":"starboard"}')
    events = [event("start"), text("Tacking."), *written('[tack(to="starboard")]', every(7))]
    events += [call_delta("succeeded", tool_call(call)), event("complete", reason="end_of_turn")]
    data = b"".join(sse(wire.trimmed(payload)) for payload in events)
    return data, expect(good("u1", "tack", {"to": "starboard"}), anomalies=[])
