"""Recordings of what frameworks make of the providers' streams: Vercel's AI SDK and LangChain."""

from __future__ import annotations

import json
from typing import Any

from tests.support import encode_frameworks as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, compact, every, json_lines, sse
from tests.support.encode_frameworks import (
    data_call,
    data_end,
    data_lines,
    invocation,
    lc_call_chunk,
    lc_chunk,
    lc_event,
    lc_serialized,
    ui_available,
    ui_call,
    ui_delta,
    ui_input_start,
    ui_stream,
    ui_text,
)

__all__: list[str] = []

STEP: JSON = {"type": "start-step"}
STEP_END: JSON = {"type": "finish-step"}


def ui_finish(reason: str = "tool-calls") -> list[JSON]:
    """Return the end of a message whose last step ends too."""
    return [STEP_END, {"type": "finish", "finishReason": reason}]


@case("vercel-ui/single-call")
def ui_single_call() -> Built:
    """Reasoning, text and one call with deltas; the server writes the input again as it had come."""
    call = Call("call_Hq3vB81nXw", "book_berth", '{"harbour":"Ystad","nights":3}')
    turn = Turn([call], text="Booking.", reasoning="Three nights at Ystad.", id="msg-71Kc0wPq")
    found = good(call.id, call.name, {"harbour": "Ystad", "nights": 3})
    return wire.render_ui(turn, every(5)), expect(found, anomalies=[])


@case("vercel-ui/parallel-interleaved", 56)
def ui_parallel() -> Built:
    """Two calls of one tool whose deltas alternate, text between them, and a custom data part that says nothing."""
    one, two = (Call(f"toolu_01{n}", "sound_depth", f'{{"at":[{n},5.5]}}') for n in (7, 8))
    lives = [ui_call(call, every(4)) for call in (one, two)]
    mixed = [chunk for pair in zip(*lives, strict=True) for chunk in pair]
    mixed[2:2] = ui_text("text", "t1", ["Sounding…"])
    mixed.insert(7, {"type": "data-progress", "id": "p1", "data": {"percent": 40}, "transient": True})
    chunks = [{"type": "start"}, STEP, *mixed, *ui_finish()]
    return ui_stream(chunks), expect(
        good(one.id, "sound_depth", {"at": [7, 5.5]}), good(two.id, "sound_depth", {"at": [8, 5.5]})
    )


@case("vercel-ui/no-arguments", 26)
def ui_no_arguments() -> Built:
    """One call without any input, one whose only text is an empty object, one that is available without deltas."""
    chunks = [
        {"type": "start", "messageId": "msg-none"},
        STEP,
        ui_input_start("c_null", "raise_anchor"),
        ui_available("c_null", "raise_anchor", None),
        *ui_call(Call("c_empty", "raise_anchor", "{}")),
        ui_available("c_whole", "raise_anchor", {}),
        *ui_finish(),
    ]
    return ui_stream(chunks), expect(
        good("c_null", "raise_anchor", {}, "empty"),
        good("c_empty", "raise_anchor", {}),
        good("c_whole", "raise_anchor", {}),
    )


@case("vercel-ui/steps-and-server-tools", 64, 124)
def ui_steps() -> Built:
    """The provider searches, the server answers a call by itself, and a later step uses its id again."""
    again = Call("functions.tide:0", "tide", '{"day":2}')
    chunks = [
        {"type": "start", "messageId": "msg-steps"},
        STEP,
        *ui_call(Call("srvtoolu_5", "web_search", '{"query":"ebb"}'), providerExecuted=True),
        {"type": "tool-output-available", "toolCallId": "srvtoolu_5", "output": [], "providerExecuted": True},
        *ui_call(Call("functions.tide:0", "tide", '{"day":1}'), every(3)),
        {"type": "tool-output-available", "toolCallId": "functions.tide:0", "output": {"m": 1.2}},
        STEP_END,
        STEP,
        *ui_call(again, every(3)),
        *ui_finish(),
    ]
    found = good("functions.tide:0#2", "tide", {"day": 2}, flags=["duplicate_id"])
    searched = {"id": "srvtoolu_5", "name": "web_search", "arguments": {"query": "ebb"}}
    answered = {"id": "functions.tide:0", "name": "tide", "arguments": {"day": 1}}
    return ui_stream(chunks), expect(found, server=[searched, answered])


@case("vercel-ui/input-errors", 33)
def ui_input_errors() -> Built:
    """The server could not read one input, and did not want another: both are its refusals, the third is whole."""
    cut = '{"heading": 27'
    chunks = [
        {"type": "start", "messageId": "msg-bad"},
        STEP,
        ui_input_start("c1", "steer"),
        ui_delta("c1", cut),
        {"type": "tool-input-error", "toolCallId": "c1", "toolName": "steer", "input": cut, "dynamic": True}
        | {"errorText": "Invalid input for tool steer: JSON parsing failed"},
        {"type": "tool-input-error", "toolCallId": "c2", "toolName": "stear", "input": {"heading": 270}}
        | {"errorText": "Model tried to call unavailable tool 'stear'"},
        *ui_call(Call("c3", "steer", '{"heading":271}')),
        *ui_finish(),
    ]
    lost = [drop("c1", "steer", "unparseable", cut), drop("c2", "stear", "schema", '{"heading":270}')]
    return ui_stream(chunks), expect(good("c3", "steer", {"heading": 271}), dropped=lost)


@case("vercel-ui/approval-and-extras", 96)
def ui_approval() -> Built:
    """Two calls that wait for a yes, one of them with a signature that must be sent back; the third needs none."""
    signature = {"google": {"thoughtSignature": "c2lnbg=="}}
    chunks = [
        {"type": "start", "messageId": "msg-ask"},
        STEP,
        *ui_text("reasoning", "r1", ["Fire a flare?"], providerMetadata={"anthropic": {"signature": "EqQB"}}),
        ui_available("c1", "fire_flare", {"colour": "rød"}, providerMetadata=signature, dynamic=True),
        {"type": "tool-approval-request", "approvalId": "a1", "toolCallId": "c1"},
        ui_available("c2", "fire_flare", {"colour": "grønn"}),
        {"type": "tool-approval-request", "approvalId": "a2", "toolCallId": "c2"},
        ui_available("c3", "blow_horn", {"seconds": 4}),
        *ui_finish(),
    ]
    return ui_stream(chunks), expect(
        good("c1", "fire_flare", {"colour": "rød"}, flags=["needs_approval"]),
        good("c2", "fire_flare", {"colour": "grønn"}, flags=["needs_approval"]),
        good("c3", "blow_horn", {"seconds": 4}, flags=[]),
    )


@case("vercel-ui/cut-connection", 51)
def ui_cut() -> Built:
    """The connection ends after the first call, inside the second one's last delta; nothing ended the message."""
    calls = [Call("c_a", "write_log", '{"line":"ok"}'), Call("c_b", "write_log", '{"line":"sighted"}')]
    data = wire.render_ui(Turn(calls, id="msg-cut"), every(6))
    data = data[: data.index(b"hted") + 2]
    found = good("c_a", "write_log", {"line": "ok"})
    lost = drop("c_b", "write_log", "unterminated", '{"line":"sig')
    return data, expect(found, dropped=[lost], faults=["undecodable_frame"], anomalies=["missing_finish"])


@case("vercel-ui/cut-length", 49)
def ui_length() -> Built:
    """The token limit falls into the second call: it never becomes available."""
    chunks = [
        {"type": "start", "messageId": "msg-len"},
        STEP,
        *ui_call(Call("c_1", "plot", '{"course":[1,2]}')),
        ui_input_start("c_2", "plot"),
        ui_delta("c_2", '{"course":[3,4]}'),
        *ui_finish("length"),
    ]
    lost = drop("c_2", "plot", "truncated", '{"course":[3,4]}')
    return ui_stream(chunks), expect(good("c_1", "plot", {"course": [1, 2]}), reason="length", dropped=[lost])


@case("vercel-ui/error-in-stream", 52)
def ui_error() -> Built:
    """The server masks its error in the middle of a call; the call before it was whole."""
    chunks = [
        {"type": "start", "messageId": "msg-err"},
        STEP,
        *ui_call(Call("c_ok", "ping_buoy", '{"n":1}')),
        ui_input_start("c_no", "ping_buoy"),
        ui_delta("c_no", '{"n":2}'),
        {"type": "error", "errorText": "An error occurred."},
    ]
    lost = drop("c_no", "ping_buoy", "aborted", '{"n":2}')
    data = b"".join(sse(chunk) for chunk in chunks)
    found = good("c_ok", "ping_buoy", {"n": 1})
    return data, expect(found, reason="error", dropped=[lost], faults=["provider_error"])


@case("vercel-ui/aborted", 94)
def ui_aborted() -> Built:
    """Somebody stops the answer while a call is open, though its text is whole already."""
    chunks = [
        {"type": "start", "messageId": "msg-stop"},
        STEP,
        ui_input_start("c1", "sink"),
        ui_delta("c1", '{"what":"the dinghy"}'),
        {"type": "abort", "reason": "user"},
    ]
    lost = drop("c1", "sink", "aborted", '{"what":"the dinghy"}')
    return ui_stream(chunks), expect(reason="aborted", dropped=[lost])


@case("vercel-ui/restated-otherwise", 35, 70)
def ui_restated() -> Built:
    """The text of the deltas has spaces and escapes, that of the input has neither; a surrogate pair is split."""
    chunks = [
        {"type": "start", "messageId": "msg-re"},
        STEP,
        ui_input_start("c1", "paint", title="Malerei"),
        ui_delta("c1", '{"name": "Måke \\ud83d'),
        ui_delta("c1", '\\udea2", "scale": 2.50}'),
        ui_available("c1", "paint", {"name": "Måke \U0001f6a2", "scale": 2.5}, title="Malerei"),
        *ui_finish("stop"),
    ]
    found = good("c1", "paint", {"name": "Måke \U0001f6a2", "scale": 2.5})
    return ui_stream(chunks), expect(found, anomalies=["finish_reason_mismatch"])


@case("vercel-ui/old-version-text-tool", 46)
def ui_text_tool() -> Built:
    """A tool that takes free text, in a message that ends without a reason."""
    query = "SELECT * FROM tides\nWHERE height > 2"
    chunks = [
        {"type": "start", "messageId": "msg-sql"},
        STEP,
        ui_input_start("c1", "run_sql", inputEncoding="text"),
        *[ui_delta("c1", piece) for piece in every(9)(query)],
        ui_available("c1", "run_sql", query),
        STEP_END,
        {"type": "finish"},
    ]
    found = {"id": "c1", "name": "run_sql", "input": query}
    return ui_stream(chunks), expect(custom=[found], anomalies=["missing_finish"])


@case("vercel-ui/whole-message", 90, suffix="json")
def ui_message() -> Built:
    """A stored message: a call to execute, one that was run, one that waits for a yes, and one that was cut."""
    message = wire.ui_body(
        "msg-whole",
        {"type": "step-start"},
        {"type": "reasoning", "text": "Four things.", "state": "done"},
        {"type": "text", "text": "Straks!", "state": "done"},
        wire.ui_part(Call("c1", "reef", '{"sails":2}'), callProviderMetadata={"openai": {"itemId": "fc_1"}}),
        wire.ui_part(Call("c2", "tack"), "output-available", output="done"),
        wire.ui_part(Call("c3", "jibe", '{"to":"port"}'), "approval-requested", approval={"id": "a1"}),
        wire.ui_part(Call("c4", "reef", '{"sai":""}'), "input-streaming")
        | {"type": "dynamic-tool", "toolName": "reef"},
    )
    found = (
        good("c1", "reef", {"sails": 2}, extra={"callProviderMetadata": {"openai": {"itemId": "fc_1"}}}),
        good("c3", "jibe", {"to": "port"}, flags=["needs_approval"]),
    )
    run = {"id": "c2", "name": "tack", "arguments": {}}
    lost = drop("c4", "reef", "truncated", '{\n    "sai": ""\n   }')
    return json.dumps(message, indent=1, ensure_ascii=False).encode(), expect(
        *found, server=[run], dropped=[lost]
    )


# The data stream protocol. Its lines are no JSON, and no suffix is made for them.


@case("vercel-data/single-call", suffix="ndjson")
def data_single_call() -> Built:
    """Reasoning with its seals, text and one call with deltas."""
    call = Call("call_9PzDk2", "haul_net", '{"depth":40,"catch":["sild","torsk"]}')
    parts = wire.data_parts(Turn([call], text="Hauling.", reasoning="Forty metres.", id="msg-d1"), every(6))
    parts[4:4] = [("j", {"signature": "EuYBCkQ"}), ("i", {"data": "Jx8n=="})]
    found = good(call.id, call.name, {"depth": 40, "catch": ["sild", "torsk"]})
    return data_lines(*parts), expect(found, anomalies=[])


@case("vercel-data/parallel-calls", 41, 53, suffix="ndjson")
def data_parallel() -> Built:
    """Two calls without deltas, and two that alternate; data and annotations between them, CRLF and a blank line."""
    lives = [data_call(Call(f"call_p{n}", "mark", f'{{"buoy":{n}}}'), every(5)) for n in (3, 4)]
    mixed = [part for pair in zip(*lives, strict=True) for part in pair]
    whole = [("9", invocation(f"call_p{n}", "mark", {"buoy": n})) for n in (1, 2)]
    others = [("2", [{"toolCallId": "call_p9"}]), ("8", [{"note": "9:{}"}])]
    data = data_lines(("f", {"messageId": "msg-d2"}), *whole, *others, *mixed, *data_end())
    found = [good(f"call_p{n}", "mark", {"buoy": n}) for n in (1, 2, 3, 4)]
    return data.replace(b"\n", b"\r\n", 4) + b"\n", expect(*found)


@case("vercel-data/no-arguments", 26, suffix="ndjson")
def data_no_arguments() -> Built:
    """One call whose arguments are an empty object, one where they are missing."""
    absent = {"toolCallId": "c_2", "toolName": "sound_horn"}
    parts = [*data_call(Call("c_1", "sound_horn")), ("b", absent), ("9", absent), *data_end()]
    return data_lines(*parts), expect(good("c_1", "sound_horn", {}), good("c_2", "sound_horn", {}, "empty"))


@case("vercel-data/two-steps", 64, 124, suffix="ndjson")
def data_two_steps() -> Built:
    """The server runs the call of the first step, and the second step uses its id again before it speaks."""
    parts = [
        ("f", {"messageId": "msg-d4"}),
        *data_call(Call("functions.ebb:0", "ebb", '{"port":"Tromsø"}'), every(4)),
        ("a", {"toolCallId": "functions.ebb:0", "result": "04:12"}),
        data_end()[0],
        ("f", {"messageId": "msg-d5"}),
        *data_call(Call("functions.ebb:0", "ebb", '{"port":"Bodø"}'), every(4)),
        ("0", "Ebb \u2028 at 04:12 \U0001f319"),
        *data_end("stop"),
    ]
    found = (
        good("functions.ebb:0", "ebb", {"port": "Tromsø"}),
        good("functions.ebb:0#2", "ebb", {"port": "Bodø"}, flags=["duplicate_id"]),
    )
    return data_lines(*parts), expect(*found, anomalies=["finish_reason_mismatch"])


@case("vercel-data/cut-inside-a-line", 51, suffix="ndjson")
def data_cut() -> Built:
    """The connection ends inside the line that would have ended the call, though its deltas are whole."""
    data = wire.render_data(Turn([Call("call_c", "flood", '{"tank":2}')], id="msg-d6"), every(3))
    lost = drop("call_c", "flood", "unterminated", '{"tank":2}')
    return data[: data.index(b'"args"') + 9], expect(
        reason="malformed", dropped=[lost], faults=["undecodable_frame"], anomalies=["missing_finish"]
    )


@case("vercel-data/cut-length", 49, suffix="ndjson")
def data_length() -> Built:
    """The token limit: the call in the middle never came whole, and its line was never sent."""
    cut = data_call(Call("call_l2", "write", '{"page":1}'), every(4))[:-1]
    parts = [("f", {"messageId": "msg-d7"}), *data_call(Call("call_l1", "write", '{"page":0}')), *cut]
    lost = drop("call_l2", "write", "truncated", '{"page":1}')
    return data_lines(*parts, *data_end("length")), expect(
        good("call_l1", "write", {"page": 0}), reason="length", dropped=[lost]
    )


@case("vercel-data/error-line", 52, suffix="ndjson")
def data_error() -> Built:
    """The server says that something went wrong, and how the step ended."""
    cut = data_call(Call("call_e", "dive", '{"m":30}'), every(3))[:-1]
    parts = [
        ("f", {"messageId": "msg-d8"}),
        ("0", "Down."),
        *cut,
        ("3", "Too many requests"),
        *data_end("error"),
    ]
    lost = drop("call_e", "dive", "aborted", '{"m":30}')
    return data_lines(*parts), expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("vercel-data/old-version", 83, suffix="ndjson")
def data_old() -> Built:
    """Version 3 sends OpenAI's calls as they are, their arguments as text, and no step begins."""
    entry = {"id": "call_o1", "type": "function"}
    function = {"name": "weigh", "arguments": '{"kg": 1.50}'}
    parts = [
        ("0", "Weighing."),
        ("7", {"tool_calls": [entry | {"function": function}]}),
        ("1", {"function_call": {"name": "weigh", "arguments": '{"kg": 2}'}}),
        ("d", {"finishReason": "stop", "usage": {"promptTokens": None, "completionTokens": None}}),
    ]
    found = (good("call_o1", "weigh", {"kg": 1.5}), good(None, "weigh", {"kg": 2}))
    return data_lines(*parts), expect(*found, anomalies=["finish_reason_mismatch"])


@case("vercel-data/whole-message", 90, suffix="json")
def data_message() -> Built:
    """A stored message: a call to execute, one that was run, and one that was cut; each is told twice."""
    calls = [
        invocation("call_m1", "hoist", {"flag": "Q"}, state="call", step=0),
        invocation("call_m2", "hoist", {"flag": "H"}, state="result", step=0, result="ok"),
        invocation("call_m3", "hoist", {"flag": ""}, state="partial-call", step=0),
    ]
    body = wire.data_body("msg-d9", "Flags \u2691", *calls, thought="Two flags, or three.")
    run = {"id": "call_m2", "name": "hoist", "arguments": {"flag": "H"}}
    lost = drop("call_m3", "hoist", "truncated", '{"flag":""}')
    return json.dumps(body, separators=(",", ":")).encode(), expect(
        good("call_m1", "hoist", {"flag": "Q"}), server=[run], dropped=[lost]
    )


# LangChain's messages


def lc_stream(*chunks: JSON, event: str = "data") -> bytes:
    """Return chunks as a stream that just ends."""
    return b"".join(sse(chunk, event) for chunk in chunks)


@case("langchain/single-call")
def lc_single_call() -> Built:
    """LangServe: reasoning, text and one call in pieces, then the reason, the counts and the end."""
    call = Call("call_Lc01", "gauge_wind", '{"mast":"fore","knots":[12,31.5]}')
    turn = Turn([call], text="Checking.", reasoning="Fore mast first.", id="5e1f", model="gpt-4o-mini")
    found = good(call.id, call.name, {"mast": "fore", "knots": [12, 31.5]})
    return wire.render_langchain(turn, every(7)), expect(found, anomalies=[])


@case("langchain/parallel-calls", 56)
def lc_parallel() -> Built:
    """Two calls whose pieces alternate; the indices are words, and the chunks are written as LC-JSON."""
    heads = [lc_call_chunk(f"lc_tc_{n}", id=f"toolu_{n}", name="trim", args="") for n in (0, 1)]
    pieces = [lc_call_chunk(f"lc_tc_{n}", args=text) for text in ('{"sail"', ":7}") for n in (0, 1)]
    chunks = [lc_chunk(*heads), *[lc_chunk(piece) for piece in pieces]]
    last = lc_chunk(response_metadata={"stop_reason": "tool_use", "model_name": "claude-sonnet-4-5"})
    data = lc_stream(*[lc_serialized(chunk) for chunk in [*chunks, last]])
    found = (good("toolu_0", "trim", {"sail": 7}), good("toolu_1", "trim", {"sail": 7}))
    return data, expect(*found)


@case("langchain/no-arguments", 26, suffix="ndjson")
def lc_no_arguments() -> Built:
    """JSON lines: a call without any text, and one whose whole text is an empty object."""
    chunks = [
        lc_chunk(lc_call_chunk(0, id="c1", name="all_hands", args=None), id="run-na"),
        lc_chunk(lc_call_chunk(1, id="c2", name="all_hands", args="{}"), id="run-na"),
        lc_chunk(id="run-na", response_metadata={"finish_reason": "tool_calls"}),
    ]
    found = (good("c1", "all_hands", {}, "empty"), good("c2", "all_hands", {}))
    return json_lines(chunks), expect(*found)


@case("langchain/cut-length", 49, 84)
def lc_length() -> Built:
    """The token limit inside a string: LangChain closes its brackets in `tool_calls`, which is a guess."""
    guess = {"name": "erase", "args": {"path": "/srv/l"}, "id": "c1", "type": "tool_call"}
    chunks = [
        lc_chunk(lc_call_chunk(0, id="c1", name="erase", args='{"path": "/srv'), tool_calls=[guess]),
        lc_chunk(lc_call_chunk(0, args="/l"), tool_calls=[guess | {"name": ""}]),
        lc_chunk(response_metadata={"finish_reason": "length"}, chunk_position="last"),
        lc_chunk(type="ai", tool_calls=[guess], response_metadata={"finish_reason": "length"}),
    ]
    lost = drop("c1", "erase", "truncated", '{"path": "/srv/l')
    return lc_stream(*chunks), expect(reason="length", dropped=[lost])


@case("langchain/error-event", 52)
def lc_error() -> Built:
    """LangServe tells an error in an event of its own while a call is open."""
    chunk = lc_chunk(lc_call_chunk(0, id="c1", name="dock", args='{"pier":4}'))
    error = sse({"status_code": 500, "message": "Internal Server Error"}, "error")
    lost = drop("c1", "dock", "aborted", '{"pier":4}')
    return lc_stream(chunk) + error, expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("langchain/cut-connection", 51)
def lc_cut() -> Built:
    """The stream just ends after a call whose text is whole: nobody said that it was."""
    chunks = [
        lc_chunk(lc_call_chunk(0, id="c1", name="undock", args='{"pier":4')),
        lc_chunk(lc_call_chunk(0, args="}")),
    ]
    lost = drop("c1", "undock", "unterminated", '{"pier":4}')
    return lc_stream(*chunks), expect(
        reason="malformed", dropped=[lost], faults=[], anomalies=["missing_finish"]
    )


@case("langchain/graph-messages", 24, 91, 124)
def lc_graph() -> Built:
    """LangGraph: each message so far again and again, a tool's message between them, then the finished one."""
    call, about = {"id": "c1", "name": "fetch_chart"}, {"langgraph_node": "agent"}
    texts = ("", '{"no":', '{"no":"DK 1', '{"no":"DK 128"}')
    parts = [
        lc_chunk(lc_call_chunk(0, args=text, **call), id="run-g7", content="Vær så god"[: 3 * n])
        for n, text in enumerate(texts)
    ]
    done = {
        "content": "Vær så g",
        "type": "ai",
        "id": "run-g7",
        "tool_calls": [call | {"args": {"no": "DK 128"}}],
    }
    done["response_metadata"] = {"finish_reason": "tool_calls"}
    tool = {"type": "tool", "content": "{}", "tool_call_id": "c1", "id": "t1"}
    frames = [sse({"run-g7": {"metadata": about}}, "messages/metadata")]
    frames += [sse(compact([part]), "messages/partial") for part in parts]
    frames += [sse(compact([done]), "messages/complete"), sse(compact([tool]), "messages/complete")]
    after = lc_chunk(id="run-2", content="Done.", response_metadata={"finish_reason": "stop"})
    frames += [sse(compact([after, about]), "messages"), sse({"a": 1}, "values"), sse({}, "end")]
    return b"".join(frames), expect(good("c1", "fetch_chart", {"no": "DK 128"}), reason="stop", anomalies=[])


@case("langchain/graph-lines", 122, suffix="ndjson")
def lc_graph_lines() -> Built:
    """A program writes down what its graph yields: modes and chunks, one of them in a graph within the graph."""
    origin = {"langgraph_step": 1, "langgraph_node": "agent", "thread_id": "7"}
    call = {"id": "toolu_gl", "name": "chart_route"}
    chunks = [
        lc_chunk(lc_call_chunk(0, **call), tool_calls=[call | {"args": {}}]),
        lc_chunk(lc_call_chunk(0, id="", args='{"from":"Esbjerg",')),
        lc_chunk(lc_call_chunk(0, id="", args='"to":"Harwich"}')),
        lc_chunk(response_metadata={"status": "completed", "model_name": "gpt-5.1"}),
    ]
    lines: list[Any] = [["updates", {"agent": {"messages": []}}]]
    lines += [["messages", [lc_serialized(chunk), origin]] for chunk in chunks[:2]]
    lines += [[["agent:4f"], "messages", [lc_serialized(chunk), origin]] for chunk in chunks[2:]]
    data = b"".join(compact(line).encode() + b"\n" for line in lines)
    return data, expect(good("toolu_gl", "chart_route", {"from": "Esbjerg", "to": "Harwich"}))


@case("langchain/whole-message", 90, suffix="json")
def lc_whole() -> Built:
    """LangServe's answer to one request: blocks of content, two calls, and one that could not be read."""
    calls = [Call("c1", "sign", '{"name":"Åse"}'), Call("c2", "seal")]
    broken = {"name": "post", "args": '{"to": "Kiel', "id": "c3", "error": "Unterminated string"}
    content = [
        {"type": "thinking", "thinking": "Sign it.", "signature": "Eu0="},
        {"type": "text", "text": "Ja."},
    ]
    message = wire.lc_message(Turn(calls, id="w1"), content=content, invalid_tool_calls=[broken])
    answer = {"output": message, "metadata": {"run_id": "r", "feedback_tokens": []}}
    found = (good("c1", "sign", {"name": "Åse"}), good("c2", "seal", {}))
    lost = drop("c3", "post", "truncated", '{"to": "Kiel')
    return json.dumps(answer, ensure_ascii=False).encode(), expect(*found, dropped=[lost])


# Events of LangChain's runs


def lc_events(*events: JSON) -> bytes:
    """Return events, one a line."""
    return json_lines(events)


def streamed(*calls: JSON, run: str = "r1", **more: Any) -> JSON:
    """Return the event of a chunk, whose own id is not known yet."""
    return lc_event("chat_model_stream", run, {"chunk": lc_chunk(*calls, **({"id": None} | more))})


@case("langchain-events/single-call", suffix="ndjson")
def ev_single_call() -> Built:
    """A chain around a model around a call; the end tells the message again."""
    call = Call("call_ev1", "light_lamp", '{"side":"port","hours":10.0}')
    inner = wire.render_langchain_events(Turn([call], text="Lamps.", id="ev1"), every(6))
    outer = [
        lc_event(f"chain_{kind}", "r0", {"output": {"messages": []}}, "Graph") for kind in ("start", "end")
    ]
    found = good(call.id, call.name, {"side": "port", "hours": 10.0})
    return lc_events(outer[0]) + inner + lc_events(outer[1]), expect(found, anomalies=[])


@case("langchain-events/parallel-runs", 89, suffix="ndjson")
def ev_parallel() -> Built:
    """Two runs side by side, each a turn, with two calls in the second; a tool runs in between."""
    first, second = (
        lc_call_chunk(0, id="a1", name="north", args='{"n":'),
        lc_call_chunk(0, id="b1", name="south"),
    )
    data = lc_events(
        streamed(first, run="ra"),
        streamed(second, run="rb"),
        lc_event("tool_start", "rt", {"input": {"n": 0}}, "north"),
        streamed(lc_call_chunk(0, args='{"s":2}'), run="rb"),
        streamed(lc_call_chunk(0, args="1}"), run="ra"),
        streamed(lc_call_chunk(1, id="b2", name="south", args='{"s":3}'), run="rb"),
        lc_event(
            "chat_model_end", "ra", {"output": lc_chunk(response_metadata={"finish_reason": "tool_calls"})}
        ),
        lc_event(
            "chat_model_end", "rb", {"output": lc_chunk(response_metadata={"finish_reason": "tool_calls"})}
        ),
    )
    found = (good("a1", "north", {"n": 1}), good("b1", "south", {"s": 2}), good("b2", "south", {"s": 3}))
    return data, expect(*found)


@case("langchain-events/no-arguments")
def ev_no_arguments() -> Built:
    """As server-sent events: a call without text, in a run that ends with a message that only repeats it."""
    told = {"name": "fog_horn", "args": {}, "id": "c1", "type": "tool_call"}
    end = lc_chunk(type="ai", tool_calls=[told], response_metadata={"finish_reason": "tool_calls"})
    events = [
        streamed(lc_call_chunk(0, id="c1", name="fog_horn", args="")),
        lc_event("chat_model_end", "r1", {"output": end}),
    ]
    return b"".join(sse(event) for event in events), expect(good("c1", "fog_horn", {}, "empty"))


@case("langchain-events/cut", 51, suffix="ndjson")
def ev_cut() -> Built:
    """The stream ends before the run does, although the text of its call is whole."""
    data = lc_events(streamed(lc_call_chunk(0, id="c1", name="scuttle", args='{"ship":"Ægir"}')))
    lost = drop("c1", "scuttle", "unterminated", '{"ship":"Ægir"}')
    return data, expect(reason="malformed", dropped=[lost], anomalies=["missing_finish"])


@case("langchain-events/error")
def ev_error() -> Built:
    """The server tells an error in an event of its own; the run never ends."""
    chunk = streamed(lc_call_chunk(0, id="c1", name="steer_by", args='{"star":"Vega"}'))
    error = sse({"message": "Rate limit reached", "type": "RateLimitError"}, "error")
    lost = drop("c1", "steer_by", "aborted", '{"star":"Vega"}')
    return sse(chunk) + error, expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("langchain-events/not-streamed", 90, suffix="json")
def ev_whole() -> Built:
    """A JSON array of events of a model that does not stream: only the end has the message."""
    turn = Turn([Call("c1", "moor", '{"rope":"🧵"}')], text="Mooring.", id="ev6")
    events = [
        lc_event("chat_model_start", "r1", {"input": {"messages": []}}),
        lc_event("chat_model_end", "r1", {"output": wire.lc_message(turn)}),
    ]
    return json.dumps(events).encode(), expect(good("c1", "moor", {"rope": "🧵"}))
