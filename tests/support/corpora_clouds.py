"""Recordings of DashScope, Mistral's conversations, Workers AI, Meta's Llama API and GitHub Copilot."""

from __future__ import annotations

from tests.support import encode_clouds as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import (
    ABSENT,
    JSON,
    Call,
    Turn,
    chat_call_deltas,
    chat_chunk,
    chat_payloads,
    compact,
    done,
    every,
    json_lines,
    sse,
    typed_sse,
)

__all__: list[str] = []

# DashScope


@case("dashscope/single-call", 7, 35, 45, 55)
def dashscope_single() -> Built:
    """Reasoning, then one call in increments whose ids are blank; the reason is the word null until the end."""
    call = Call("call_6f0c1d", "book_berth", '{"harbour":"宁波 \U0001f6a2","metres":310}')
    turn = Turn([call], reasoning="泊位需要三百米。", id="0f6d2f0e-51c9-9a0e-b1d7-7f6a2c9e0a01")
    found = good(call.id, call.name, {"harbour": "宁波 \U0001f6a2", "metres": 310})
    return wire.render_dashscope(turn, every(4)), expect(found)


@case("dashscope/restating", 24)
def dashscope_restating() -> Built:
    """Without increments each frame tells the text and both calls again; each is told once."""
    calls = [
        Call("call_aa01", "weigh_cargo", '{"hold":[1,{"deck":"B"}],"unit":"t"}'),
        Call("call_aa02", "weigh_cargo", '{"hold":[2],"unit":"t"}'),
    ]
    turn = Turn(calls, text="Weighing holds 1 and 2.", id="7c1be3a4-0d52-9d3b-8f77-2f0f8e1f4b02")
    found = (
        good("call_aa01", "weigh_cargo", {"hold": [1, {"deck": "B"}], "unit": "t"}, flags=["snapshots"]),
        good("call_aa02", "weigh_cargo", {"hold": [2], "unit": "t"}, flags=["snapshots"]),
    )
    return wire.render_dashscope_restating(turn, every(7)), expect(*found)


@case("dashscope/no-arguments", 26)
def dashscope_no_arguments() -> Built:
    """Three calls: one never gets any text, one an empty object; both are over with the turn."""
    calls = [
        Call("call_b1", "list_cranes", ""),
        Call("call_b2", "stop_cranes", "{}"),
        Call("call_b3", "lift", '{"t":40}'),
    ]
    found = (
        good("call_b1", "list_cranes", {}, "empty"),
        good("call_b2", "stop_cranes", {}),
        good("call_b3", "lift", {"t": 40}),
    )
    return wire.render_dashscope(Turn(calls, id="b-0003"), every(5)), expect(*found)


@case("dashscope/cut-length", 49)
def dashscope_cut() -> Built:
    """The token limit inside the second of two calls that are told again in each frame."""
    calls = [
        Call("call_c1", "dredge", '{"berth":4}'),
        Call("call_c2", "dredge", '{"berth":5,"depth":"thir'),
    ]
    turn = Turn(calls, id="c-0004", stopped="length")
    found = good("call_c1", "dredge", {"berth": 4}, flags=["turn_truncated"])
    cut = drop("call_c2", "dredge", "truncated", '{"berth":5,"depth":"thir')
    return wire.render_dashscope_restating(turn, every(6)), expect(found, reason="length", dropped=[cut])


@case("dashscope/error", 52)
def dashscope_error() -> Built:
    """The content check stops the stream inside a call: an event `error` with a code."""
    frames = wire.dashscope_payloads(Turn([Call("call_d1", "flood_dock", '{"dock":2}')], id="d-0005"))[:-1]
    data = wire.dashscope_stream(frames)
    data += wire.dashscope_error("DataInspectionFailed", "Output data may contain inappropriate content.")
    lost = drop("call_d1", "flood_dock", "aborted", '{"dock":2}')
    return data, expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("dashscope/dropped-connection", 51)
def dashscope_dropped() -> Built:
    """No frame named a reason: a text that looks complete is not trusted."""
    frames = wire.dashscope_payloads(Turn([Call("call_e1", "scuttle", '{"ship":"Vigo"}')], id="e-0006"))
    lost = drop("call_e1", "scuttle", "unterminated", '{"ship":"Vigo"}')
    return wire.dashscope_stream(frames[:-1]), expect(
        reason="malformed", dropped=[lost], anomalies=["missing_finish"]
    )


@case("dashscope/text-of-old-models", 24)
def dashscope_text() -> Built:
    """An old model answers with `output.text`, told again in each frame; no call."""
    text = "涨潮时间:五点十二分。"
    frames = [
        {
            "output": {"finish_reason": "stop" if n == len(text) else "null", "text": text[:n]},
            "usage": {"input_tokens": 9, "output_tokens": n, "total_tokens": 9 + n},
            "request_id": "f-0007",
        }
        for n in (2, 4, 8, len(text))
    ]
    return wire.dashscope_stream(frames), expect(reason="stop")


@case("dashscope/whole-body", 90, suffix="json")
def dashscope_body() -> Built:
    """A non-streamed response as the SDK prints it, with an empty code and message: no error."""
    calls = [Call("call_g1", "tow", '{"from":"A","to":"B"}'), Call("call_g2", "tow", '{"from":"B","to":"C"}')]
    body = wire.body_dashscope(Turn(calls, text="Towing twice.", id="g-0008"))
    found = (
        good("call_g1", "tow", {"from": "A", "to": "B"}),
        good("call_g2", "tow", {"from": "B", "to": "C"}),
    )
    return wire.body_text(body), expect(*found)


# Mistral's conversations


@case("mistral-conversations/single-call", 13, 15, 95)
def conversation_single() -> Built:
    """Thinking, text, then one call; every event repeats its id and name."""
    call = Call("Kx7Pq2mZ9", "chart_route", '{"from":"Brest","à":"Nantes","via":["Île de Sein"]}')
    turn = Turn([call], text="Je trace la route.", reasoning="Il faut une carte.", id="conv_0a1b")
    arguments = {"from": "Brest", "à": "Nantes", "via": ["Île de Sein"]}
    return wire.render_conversation(turn, every(6)), expect(good(call.id, call.name, arguments))


@case("mistral-conversations/interleaved", 56, 26)
def conversation_interleaved() -> Built:
    """Two equal calls and one without arguments take turns; entries are told apart by their ids alone."""
    one, two = (
        wire.conversation_call(ABSENT, Call(id, "read_gauge", '{"gauge":"Dover","hours":6}'), every(9))
        for id in ("Aa1Bb2Cc3", "Dd4Ee5Ff6")
    )
    idle = wire.conversation_call(ABSENT, Call("Gg7Hh8Ii9", "reset_gauges", ""))
    events = [wire.conversation_start("conv_2c3d")]
    events += [event for pair in zip(one, two, strict=True) for event in pair]
    events += [*idle, wire.conversation_end(31)]
    same = {"gauge": "Dover", "hours": 6}
    found = (
        good("Aa1Bb2Cc3", "read_gauge", same),
        good("Dd4Ee5Ff6", "read_gauge", same),
        good("Gg7Hh8Ii9", "reset_gauges", {}, "empty"),
    )
    return typed_sse(events), expect(*found)


@case("mistral-conversations/connector-and-call", 93)
def conversation_connector() -> Built:
    """Mistral searches by itself, speaks, refers to what it found, and calls a function of the client."""
    reference = {
        "type": "tool_reference",
        "tool": "web_search",
        "title": "Tides",
        "url": "https://tides.test",
    }
    events = [
        wire.conversation_start("conv_4e5f"),
        *wire.execution(0, "tool_exec_1", "web_search", ['{"query":', '"spring tide Brest"}']),
        wire.said("Spring tide on Friday", output=1),
        wire.said(reference, output=1, part=1),
        wire.said(".", output=1, part=2),
        *wire.conversation_call(2, Call("Pp1Qq2Rr3", "close_lock", '{"lock":1}')),
        wire.conversation_end(44),
    ]
    searched = good("tool_exec_1", "web_search", {"query": "spring tide Brest"}, None)
    return typed_sse(events), expect(good("Pp1Qq2Rr3", "close_lock", {"lock": 1}), server=[searched])


@case("mistral-conversations/null-ids-and-approval", 9)
def conversation_null_ids() -> Built:
    """The word null where an id should be, and a call that waits for a person's approval."""
    events = [
        wire.conversation_start("conv_6g7h"),
        wire.entry(0, "fc_n1", "null", "ring_bell", '{"times":2}'),
        wire.entry(1, "fc_n2", "Ss4Tt5Uu6", "raise_flag", '{"flag":"', confirmation_status="pending"),
        wire.entry(1, "fc_n2", "Ss4Tt5Uu6", "raise_flag", 'N"}', confirmation_status="pending"),
        wire.conversation_end(12),
    ]
    found = (
        good(None, "ring_bell", {"times": 2}),
        good("Ss4Tt5Uu6", "raise_flag", {"flag": "N"}, flags=["needs_approval"]),
    )
    return typed_sse(events), expect(*found)


@case("mistral-conversations/error", 52)
def conversation_error() -> Built:
    """An error inside a call, after a tool of Mistral's that was done."""
    events = [
        wire.conversation_start("conv_8i9j"),
        *wire.execution(0, "tool_exec_2", "code_interpreter", ['{"code":"2+2"}']),
        *wire.conversation_call(1, Call("Vv7Ww8Xx9", "burn_chart", '{"chart":"all"}')),
        {"type": "conversation.response.error", "message": "Service unavailable", "code": 3505},
    ]
    lost = drop("Vv7Ww8Xx9", "burn_chart", "aborted", '{"chart":"all"}')
    server = [good("tool_exec_2", "code_interpreter", {"code": "2+2"}, None)]
    return typed_sse(events), expect(reason="error", server=server, dropped=[lost], faults=["provider_error"])


@case("mistral-conversations/dropped-connection", 51)
def conversation_dropped() -> Built:
    """The stream ends before the response was done: one call looks whole, one has a half, one nothing."""
    events = [
        wire.conversation_start("conv_0k1l"),
        *wire.conversation_call(0, Call("Yy1", "purge", '{"tank":3}'), every(5)),
        *wire.conversation_call(1, Call("Yy2", "purge", '{"tank":'), every(5)),
        *wire.conversation_call(2, Call("Yy3", "purge_all", "")),
    ]
    lost = [
        drop("Yy1", "purge", "unterminated", '{"tank":3}'),
        drop("Yy2", "purge", "unterminated", '{"tank":'),
        drop("Yy3", "purge_all", "unterminated", ""),
    ]
    return typed_sse(events), expect(reason="malformed", dropped=lost, anomalies=["missing_finish"])


@case("mistral-conversations/whole-body", 90, 22, suffix="json")
def conversation_body() -> Built:
    """A non-streamed response: text, a handoff, a tool of Mistral's, and two calls, one with an object."""
    handoff = {
        "type": "agent.handoff",
        "id": "ah_1",
        "previous_agent_name": "desk",
        "next_agent_name": "pilot",
    }
    ran = {
        "type": "tool.execution",
        "id": "tool_exec_3",
        "name": "web_search",
        "arguments": '{"query":"fog"}',
    }
    calls = [Call("Zz1", "sound_horn", '{"times":3}'), Call("Zz2", "slow_down", "")]
    body = wire.body_conversation(Turn(calls, text="Fog ahead.", id="conv_2m3n"), handoff, ran | {"info": {}})
    body["outputs"][3]["arguments"] = {"times": 3}
    found = (good("Zz1", "sound_horn", {"times": 3}), good("Zz2", "slow_down", {}, "empty"))
    server = [good("tool_exec_3", "web_search", {"query": "fog"}, None)]
    return wire.body_text(body), expect(*found, server=server)


# Workers AI


@case("workers-ai/single-call", 35)
def workers_single() -> Built:
    """Text, then one call whose end is an entry that says nothing."""
    call = Call("chatcmpl-tool-51aa", "send_pilot", '{"ship":"Sjøbjørn","at":"05:10"}')
    turn = Turn([call], text="Sending a pilot \U0001f6a4.")
    found = good(call.id, call.name, {"ship": "Sjøbjørn", "at": "05:10"})
    return wire.render_workers(turn, every(3)), expect(found, anomalies=["missing_finish"])


@case("workers-ai/flat-calls", 8, 22)
def workers_flat() -> Built:
    """An old model tells calls whole, flat and without labels; two are equal and are two."""
    calls = [
        {"name": "open_gate", "arguments": {"gate": 7}},
        {"name": "open_gate", "arguments": {"gate": 7}},
        {"name": "all_gates", "arguments": {}},
    ]
    data = wire.workers_stream([wire.workers_frame(*calls), wire.workers_frame(response="")])
    same = good(None, "open_gate", {"gate": 7})
    return data, expect(same, same, good(None, "all_gates", {}))


@case("workers-ai/parallel-on-one-index", 3, 26)
def workers_one_index() -> Built:
    """Every call has index 0, and only ids and ends tell them apart; one has no arguments."""
    frames = [
        wire.workers_frame(wire.workers_call(0, id="w_1", type="function", name="trim")),
        wire.workers_frame(wire.workers_call(0, arguments='{"sail":')),
        wire.workers_frame(wire.workers_call(0, arguments='"jib"}')),
        wire.workers_frame(wire.workers_call(0, id="w_2", type="function", name="furl_all")),
        wire.workers_frame(wire.workers_call(0, id=None, type=None, name=None, arguments="")),
        wire.workers_frame(wire.workers_call(0, id="w_3", type="function", name="trim")),
        wire.workers_frame(wire.workers_call(0, arguments='{"sail":"main"}')),
        wire.workers_frame(usage={"prompt_tokens": 70, "completion_tokens": 33, "total_tokens": 103}),
    ]
    found = (
        good("w_1", "trim", {"sail": "jib"}),
        good("w_2", "furl_all", {}, "empty"),
        good("w_3", "trim", {"sail": "main"}),
    )
    return wire.workers_stream(frames), expect(*found)


@case("workers-ai/dropped-connection", 51)
def workers_dropped() -> Built:
    """The connection ends after one call was ended, and one was not, however whole it looks."""
    turn = Turn([Call("w_4", "bail", '{"pump":1}'), Call("w_5", "bail", '{"pump":2}')])
    frames = wire.workers_payloads(turn)[:-2]
    lost = drop("w_5", "bail", "unterminated", '{"pump":2}')
    return wire.workers_stream(frames, ended=False), expect(
        good("w_4", "bail", {"pump": 1}), dropped=[lost], anomalies=["missing_finish"]
    )


@case("workers-ai/cut-relabelled", 48)
def workers_cut() -> Built:
    """The token limit cuts a call, and nothing says so but its text: it was ended like any other."""
    turn = Turn([Call("w_6", "write_log", '{"text":"fog at six, wind fro')], text="Noted.")
    cut = drop("w_6", "write_log", "truncated", '{"text":"fog at six, wind fro')
    return wire.render_workers(turn, every(8)), expect(reason="malformed", dropped=[cut])


@case("workers-ai/error", 52)
def workers_error() -> Built:
    """An error inside a call."""
    frames = wire.workers_payloads(Turn([Call("w_7", "drop_anchor", '{"bow":true}')]))[:-2]
    frames.append({"errors": [{"message": "AiError: Internal server error", "code": 3043}]})
    lost = drop("w_7", "drop_anchor", "aborted", '{"bow":true}')
    return wire.workers_stream(frames, ended=False), expect(
        reason="error", dropped=[lost], faults=["provider_error"]
    )


@case("workers-ai/then-chat-completions", 89)
def workers_chat() -> Built:
    """The first frames are Workers AI's own, the model's are those of chat completions: one turn."""
    call = Call("w_8", "hail", '{"ship":"Ariel"}')
    frames = [wire.workers_frame(response="Hailing."), *chat_payloads(Turn([call]), every(5))]
    return wire.workers_stream(frames), expect(good("w_8", "hail", {"ship": "Ariel"}))


@case("workers-ai/whole-body-of-the-rest-api", 90, 22, suffix="json")
def workers_envelope() -> Built:
    """A non-streamed response in Cloudflare's envelope."""
    result = wire.workers_frame({"name": "berth_free", "arguments": {"n": 3}}, response=None)
    return wire.body_text(wire.envelope(result)), expect(good(None, "berth_free", {"n": 3}))


@case("workers-ai/whole-body-of-a-binding", 90, 26, suffix="json")
def workers_body() -> Built:
    """A non-streamed response without any envelope: calls with text, and nothing that ends them but its end."""
    turn = Turn([Call("w_9", "berth_free", '{"n":4}'), Call("w_10", "berths", "")], text="Looking.")
    found = (good("w_9", "berth_free", {"n": 4}), good("w_10", "berths", {}, "empty"))
    return wire.body_text(wire.body_workers(turn)), expect(*found)


# Meta's Llama API


@case("llama-api/single-call")
def llama_single() -> Built:
    """One call; its pieces have no label at all."""
    call = Call("7f0c2d1e", "plot_course", '{"to":"Tromsø","knots":12.5}')
    return wire.render_llama(Turn([call], id="AXsZ1"), every(5)), expect(
        good(call.id, call.name, {"to": "Tromsø", "knots": 12.5})
    )


@case("llama-api/parallel", 1, 13, 26)
def llama_parallel() -> Built:
    """Three calls, one without arguments, one whose every piece has the id; text comes first."""
    payloads = [
        wire.llama_event("start"),
        wire.llama_text("Three things ⚓"),
        wire.llama_call("id_1", "count_lines"),
        wire.llama_call("id_2", "coil", ""),
        wire.llama_call("id_2", arguments='{"line":"bow",'),
        wire.llama_call("id_2", arguments='"turns":9}'),
        wire.llama_call("id_3", "coil"),
        wire.llama_call(arguments='{"line":"bow","turns":9}'),
        wire.llama_event("complete", stop_reason="tool_calls"),
        wire.llama_event("metrics", metrics=wire.llama_metrics(51)),
    ]
    same = {"line": "bow", "turns": 9}
    found = (
        good("id_1", "count_lines", {}, "empty"),
        good("id_2", "coil", same),
        good("id_3", "coil", same),
    )
    return wire.llama_stream(payloads), expect(*found)


@case("llama-api/cut-length", 49)
def llama_cut() -> Built:
    """The token limit inside the second call; the first is complete, and flagged."""
    calls = [Call("id_4", "splice", '{"rope":1}'), Call("id_5", "splice", '{"rope":')]
    turn = Turn(calls, id="AXsZ3", stopped="length")
    found = good("id_4", "splice", {"rope": 1}, flags=["turn_truncated"])
    cut = drop("id_5", "splice", "truncated", '{"rope":')
    return wire.render_llama(turn, every(4)), expect(found, reason="length", dropped=[cut])


@case("llama-api/error", 52)
def llama_error() -> Built:
    """An event `error` inside a call, with a problem's title and detail."""
    payloads = wire.llama_payloads(Turn([Call("id_6", "cut_cable", '{"cable":"A"}')], id="AXsZ4"))[:-2]
    problem = {"title": "Internal Server Error", "detail": "Please try again.", "status": 500}
    lost = drop("id_6", "cut_cable", "aborted", '{"cable":"A"}')
    data = wire.llama_stream(payloads) + sse(problem, "error")
    return data, expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("llama-api/dropped-connection", 51)
def llama_dropped() -> Built:
    """The connection ends before the event `complete`."""
    payloads = wire.llama_payloads(Turn([Call("id_7", "heave", '{"to":"port"}')], id="AXsZ5"), every(6))
    lost = drop("id_7", "heave", "unterminated", '{"to":"port"}')
    return wire.llama_stream(payloads[:-2]), expect(
        reason="malformed", dropped=[lost], anomalies=["missing_finish"]
    )


@case("llama-api/text-as-lines", suffix="ndjson")
def llama_text() -> Built:
    """Text alone, as JSON lines; the counts come after the reason."""
    turn = Turn(text="Høyvann 05:12 \U0001f30a og 17:38.", id="AXsZ6")
    return json_lines(wire.llama_payloads(turn, every(5))), expect(reason="stop")


@case("llama-api/whole-body", 90, 22, suffix="json")
def llama_body() -> Built:
    """A non-streamed response: two calls, one with an object."""
    calls = [Call("id_8", "berth", '{"n":1}'), Call("id_9", "berth", '{"n":2}')]
    body = wire.body_llama(Turn(calls, text="Berthing both.", id="AXsZ7"))
    body["completion_message"]["tool_calls"][1]["function"]["arguments"] = {"n": 2}
    return compact(body).encode(), expect(good("id_8", "berth", {"n": 1}), good("id_9", "berth", {"n": 2}))


# GitHub Copilot speaks chat completions


@case("chat-completions/copilot-extras", 54, 57)
def copilot_extras() -> Built:
    """Copilot: frames without choices for references and errors; Claude's text is choice 0, its call choice 1."""
    call = Call("toolu_vrtx_01Cop", "open_file", '{"path":"src/keel.py","line":12}')
    about: JSON = {"id": "msg_vrtx_01Cop", "model": "claude-sonnet-4", "created": 1766600300}
    reference = {"type": "github.repository", "id": "octo/keel", "is_implicit": True, "metadata": {}}
    failed = {"type": "agent", "code": "search_failed", "message": "no index", "identifier": "search"}
    frames: list[JSON] = [{"choices": None, "copilot_references": [reference]}]
    frames += [chat_chunk({"role": "assistant", "content": text}, **about) for text in ("Opening ", "it.")]
    frames.append({"choices": None, "copilot_errors": [failed]})
    frames += [chat_chunk(delta, index=1, **about) for delta in chat_call_deltas(0, call, every(8))]
    frames.append({"choices": [], "copilot_annotations": {"CodeVulnerability": []}} | about)
    frames += [chat_chunk({"content": None}, finish="tool_calls", index=n, **about) for n in (0, 1)]
    data = b"".join(map(sse, frames)) + done()
    found = good(call.id, call.name, {"path": "src/keel.py", "line": 12}, choice=1)
    return data, expect(found, reason="tool_calls")


@case("chat-completions/copilot-body-without-indices", 57, 90, suffix="json")
def copilot_body() -> Built:
    """Copilot: a whole answer of Claude's in two choices without an index, text in one, calls in the other."""
    calls = [
        {"id": f"toolu_bdrk_{n}", "type": "function", "function": {"name": "grep", "arguments": text}}
        for n, text in enumerate(('{"pattern":"keel"}', '{"pattern":"mast"}'))
    ]
    choices = [
        {"finish_reason": "tool_calls", "message": {"role": "assistant", "content": "Searching."}},
        {"finish_reason": "tool_calls", "message": {"role": "assistant", "tool_calls": calls}},
    ]
    usage = {"prompt_tokens": 61, "completion_tokens": 40, "total_tokens": 101}
    body = {"id": "msg_bdrk_01", "created": 1766600400, "model": "claude-sonnet-4"} | {
        "choices": choices,
        "usage": usage,
    }
    found = [
        good(f"toolu_bdrk_{n}", "grep", {"pattern": pattern}, choice=0)
        for n, pattern in enumerate(("keel", "mast"))
    ]
    return wire.body_text(body), expect(*found)
