"""Recordings of Gemini's sessions and interactions, and of xAI's own API: payloads of our own in their envelopes."""

from __future__ import annotations

import json

from tests.support import encode_live as live
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import ABSENT, JSON, Call, Turn, every, json_lines

__all__: list[str] = []


def _server(id: str | None, name: str, arguments: JSON) -> JSON:
    found: JSON = {"id": id, "name": name, "arguments": arguments}
    return found if id is not None else found | {"flags": ["id_generated"]}


# Gemini Live


@case("gemini-live/single-call", suffix="ndjson")
def live_single_call() -> Built:
    """A thought, a call, and after its result the spoken answer, all in one turn; speech is told as text."""
    call = Call("fc_7720186", "read_gauge", '{"lock":"Écluse 4","unit":"cm"}')
    messages = [
        live.setup(),
        live.part({"text": "**Reading the gauge**\n\nLock 4 was asked for.", "thought": True}),
        live.tool_call(call),
        {"sessionResumptionUpdate": {"newHandle": "5e7a-handle", "resumable": True}},
        live.content(),
        *(live.audio(text) for text in ("Il y a", " 212", " centimètres.", None)),
        live.content(generationComplete=True),
        live.turn_complete(58),
    ]
    return json_lines(messages), expect(good(call.id, call.name, {"lock": "Écluse 4", "unit": "cm"}))


@case("gemini-live/parallel-calls", 26, suffix="ndjson")
def live_parallel_calls() -> Built:
    """Three calls in one message; one has an empty object, one no arguments: each is ended by its message."""
    calls: list[JSON] = [
        {"id": "fn-1", "name": "open_gate", "args": {"lock": 4, "gate": "upper"}},
        {"id": "fn-2", "name": "list_barges", "args": {}},
        {"id": "fn-3", "name": "ring_bell"},
    ]
    data = json_lines([live.setup(), live.tool_call(*calls)])
    return data, expect(
        good("fn-1", "open_gate", {"lock": 4, "gate": "upper"}),
        good("fn-2", "list_barges", {}),
        good("fn-3", "ring_bell", {}, "empty"),
        anomalies=["missing_finish"],
    )


@case("gemini-live/interrupted-and-taken-back", 94, suffix="ndjson")
def live_taken_back() -> Built:
    """The user interrupts: one call is taken back in its turn, another one in the next; both had come out."""
    messages = [
        live.setup(),
        live.tool_call(
            {"id": "fn-10", "name": "fill_chamber", "args": {"lock": 2}},
            {"id": "fn-11", "name": "log_passage", "args": {"barge": "Zeelandia"}},
        ),
        live.audio("Filling the"),
        live.content(interrupted=True),
        {"toolCallCancellation": {"ids": ["fn-10"]}},
        live.turn_complete(),
        live.content(inputTranscription={"text": "No, wait."}),
        live.audio("Stopped."),
        {"toolCallCancellation": {"ids": ["fn-11", "fn-0"]}},
        live.turn_complete(),
    ]
    return json_lines(messages), expect(
        good("fn-10", "fill_chamber", {"lock": 2}),
        good("fn-11", "log_passage", {"barge": "Zeelandia"}),
        reason="stop",
    )


@case("gemini-live/cut-inside-a-message", 51, suffix="ndjson")
def live_cut() -> Built:
    """The connection breaks inside a message with a call: that one never was; the call before it is whole."""
    last = json_lines(
        [live.tool_call({"id": "fn-21", "name": "open_gate", "args": {"lock": 1, "gate": "lower"}})]
    )
    data = json_lines(
        [live.setup(), live.tool_call({"id": "fn-20", "name": "close_gate", "args": {"lock": 1}})]
    )
    return data + last[:88], expect(
        good("fn-20", "close_gate", {"lock": 1}),
        faults=["undecodable_frame"],
        anomalies=["missing_finish"],
    )


@case("gemini-live/error", 52, suffix="ndjson")
def live_error() -> Built:
    """An error ends the session; the call before it was whole."""
    error = {"code": 1011, "message": "Internal error encountered.", "status": "INTERNAL"}
    messages = [
        live.setup(),
        {"goAway": {"timeLeft": "4.5s"}},
        live.tool_call({"id": "fn-30", "name": "read_gauge", "args": {"lock": 3}}),
        {"error": error},
    ]
    found = good("fn-30", "read_gauge", {"lock": 3})
    return json_lines(messages), expect(found, reason="error", faults=["provider_error"])


@case("gemini-live/pretty-printed-two-channels", 97, 96, suffix="json")
def live_two_channels() -> Built:
    """Pretty-printed messages. A signed call comes as a part and again as a message: it is one; code is the server's."""
    call = Call("fn-40", "post_notice", json.dumps({"text": "水位 +12 \U0001f6a2", "lang": "ja"}))
    signed = {"functionCall": live.function_call(call), "thoughtSignature": "CqYBAVSoXO4lockGateSignature=="}
    code = {"executableCode": {"language": "PYTHON", "code": "print(212 - 200)"}}
    messages = [
        live.setup(),
        live.part(code, {"codeExecutionResult": {"outcome": "OUTCOME_OK", "output": "12\n"}}),
        live.part(signed),
        live.tool_call(call),
        live.turn_complete(40),
    ]
    data = "".join(json.dumps(message, indent=2, ensure_ascii=False) + "\n" for message in messages).encode()
    extra = {"thoughtSignature": "CqYBAVSoXO4lockGateSignature=="}
    return data, expect(
        good("fn-40", "post_notice", {"text": "水位 +12 \U0001f6a2", "lang": "ja"}, extra=extra),
        server=[_server(None, "code_execution", {"input": "print(212 - 200)"})],
    )


@case("gemini-live/text-turns", 88, suffix="ndjson")
def live_text_turns() -> Built:
    """Two turns: a written answer whose usage comes later, and one whose call the provider could not read."""
    messages = [
        live.setup(),
        live.content(inputTranscription={"text": "What is the level?"}),
        live.part({"text": "212 "}),
        live.part({"text": "cm, rising ↗"}),
        live.content(generationComplete=True),
        live.content(turnComplete=True),
        {"usageMetadata": live.usage(91, 12)},
        live.audio("Let me"),
        live.turn_complete(4, turnCompleteReason="MALFORMED_FUNCTION_CALL"),
    ]
    return json_lines(messages), expect(reason="malformed", dropped=[drop(None, None, "unparseable", "")])


# Gemini Interactions


@case("gemini-interactions/single-call", 96)
def interaction_single_call() -> Built:
    """A signed thought, text, one signed call in small pieces, cut inside escapes and characters."""
    call = Call("fc_9b21", "write_log", '{"lock":"Écluse \\u00e0 4","note":"niveau \\ud83c\\udf0a +12"}')
    turn = Turn([call], id="v1_ChZpbnQtMDAx", model="gemini-3-flash-preview")
    events = [
        *live.created(turn),
        *live.step_events(
            0,
            {"type": "thought"},
            *live.thought_deltas("Logging the level.", every(8), "EqoBCkgI-thought-sig"),
        ),
        *live.step_events(
            1, {"type": "model_output"}, {"type": "text", "text": "Je note "}, {"type": "text", "text": "ça."}
        ),
        *live.step_events(
            2, live.call_step(call, signature="EqoBCkgI-call-sig"), *live.argument_deltas(call, every(7))
        ),
        live.completed(turn, "requires_action"),
    ]
    arguments = {"lock": "Écluse à 4", "note": "niveau \U0001f30a +12"}
    extra = {"signature": "EqoBCkgI-call-sig"}
    return live.stream_interaction(events), expect(good(call.id, call.name, arguments, extra=extra))


@case("gemini-interactions/parallel-calls", 26, 25)
def interaction_parallel_calls() -> Built:
    """Four calls: in pieces, whole at the start of its step, without any arguments, and with an empty text."""
    calls = [
        Call(f"fc_p{n}", name, "") for n, name in enumerate(("open_gate", "close_gate", "list_locks", "now"))
    ]
    turn = Turn(calls, id="v1_ChZpbnQtMDAy", model="gemini-3-flash-preview")
    pieces = live.argument_deltas(Call("", "", '{"lock":1,"gate":"upper"}'), every(9))
    empty = live.argument_deltas(Call("", "", "{}"))
    events = [
        *live.created(turn),
        *live.step_events(0, live.call_step(calls[0]), *pieces),
        *live.step_events(1, live.call_step(calls[1], arguments={"lock": 1, "gate": "lower"})),
        *live.step_events(2, live.call_step(calls[2])),
        *live.step_events(3, live.call_step(calls[3]), *empty),
        live.completed(turn, "requires_action"),
    ]
    return live.stream_interaction(events), expect(
        good("fc_p0", "open_gate", {"lock": 1, "gate": "upper"}),
        good("fc_p1", "close_gate", {"lock": 1, "gate": "lower"}),
        good("fc_p2", "list_locks", {}, "empty"),
        good("fc_p3", "now", {}),
    )


@case("gemini-interactions/cut-incomplete", 49)
def interaction_incomplete() -> Built:
    """The token limit: the last step was stopped and parses, but a member may be missing; the one before is whole."""
    calls = [Call("fc_c0", "read_gauge", '{"lock":7}'), Call("fc_c1", "fill_chamber", '{"lock":7}')]
    turn = Turn(calls, id="v1_ChZpbnQtMDAz", model="gemini-3-pro-preview", stopped="length")
    cut = drop("fc_c1", "fill_chamber", "truncated", '{"lock":7}')
    found = good("fc_c0", "read_gauge", {"lock": 7})
    return live.render_interaction(turn, every(4)), expect(found, reason="length", dropped=[cut])


@case("gemini-interactions/dropped-connection", 51)
def interaction_dropped_connection() -> Built:
    """The connection ends inside the second call's text; the first one was over when the second began."""
    calls = [Call("fc_d0", "read_gauge", '{"lock":8}'), Call("fc_d1", "drain_chamber", '{"lock":8,"to":')]
    turn = Turn(calls, id="v1_ChZpbnQtMDA0", model="gemini-3-pro-preview")
    events = [
        *live.created(turn),
        *live.step_events(0, live.call_step(calls[0]), *live.argument_deltas(calls[0])),
        *live.step_events(
            1, live.call_step(calls[1]), *live.argument_deltas(calls[1], every(6)), stopped=False
        ),
    ]
    lost = drop("fc_d1", "drain_chamber", "unterminated", '{"lock":8,"to":')
    return live.stream_interaction(events, ended=False), expect(
        good("fc_d0", "read_gauge", {"lock": 8}), dropped=[lost], anomalies=["missing_finish"]
    )


@case("gemini-interactions/error", 52)
def interaction_error() -> Built:
    """An error event inside a call."""
    call = Call("fc_e0", "ring_bell", '{"times":3')
    turn = Turn([call], id="v1_ChZpbnQtMDA1", model="gemini-3-flash-preview")
    error = {"error": {"code": "resource_exhausted", "message": "Quota exceeded."}, "event_type": "error"}
    events = [
        *live.created(turn),
        *live.step_events(0, live.call_step(call), *live.argument_deltas(call), stopped=False),
        error,
    ]
    lost = drop(call.id, call.name, "aborted", '{"times":3')
    return live.stream_interaction(events, ended=False), expect(
        reason="error", dropped=[lost], faults=["provider_error"]
    )


@case("gemini-interactions/cancelled", 94)
def interaction_cancelled() -> Built:
    """An interaction that was cancelled takes back the call that was stopped last; the one before had come out."""
    calls = [Call("fc_x0", "read_gauge", '{"lock":2}'), Call("fc_x1", "open_gate", '{"lock":2}')]
    turn = Turn(calls, id="v1_ChZpbnQtMDA2", model="gemini-3-flash-preview", stopped="cancelled")
    lost = drop("fc_x1", "open_gate", "aborted", '{"lock":2}')
    found = good("fc_x0", "read_gauge", {"lock": 2})
    return live.render_interaction(turn), expect(found, reason="error", dropped=[lost])


@case("gemini-interactions/server-tools-and-restatement", 98)
def interaction_server_tools() -> Built:
    """The provider's own tools tell objects, at the start or as a delta; the end restates a call that is still one."""
    call = Call("fc_s0", "post_notice", '{"text": "Closed at 6"}')
    turn = Turn([call], id="v1_ChZpbnQtMDA3", model="gemini-3-pro-preview")
    code = {"type": "code_execution_call", "id": "ce_1"}
    mcp = {"type": "mcp_server_tool_call", "id": "mc_1", "name": "tide", "server_name": "harbour"}
    result = {"type": "code_execution_result", "call_id": "ce_1"}
    given = {"code": "print(6)", "language": "python"}
    whole_steps = [
        code | {"arguments": given},
        result | {"result": "6\n"},
        mcp | {"arguments": {"port": "Terneuzen"}},
        live.call_step(call, arguments={"text": "Closed at 6"}),
    ]
    events = [
        *live.created(turn),
        *live.step_events(0, code, {"type": "code_execution_call", "arguments": given}),
        *live.step_events(1, result, {"type": "code_execution_result", "result": "6\n"}),
        *live.step_events(2, mcp | {"arguments": {"port": "Terneuzen"}}),
        *live.step_events(3, live.call_step(call), *live.argument_deltas(call, every(10))),
        live.completed(turn, "requires_action", steps=whole_steps),
    ]
    return live.stream_interaction(events), expect(
        good(call.id, call.name, {"text": "Closed at 6"}),
        server=[_server("ce_1", "code_execution", given), _server("mc_1", "tide", {"port": "Terneuzen"})],
    )


@case("gemini-interactions/whole-body", 90, suffix="json")
def interaction_body() -> Built:
    """A pretty-printed body that was not streamed: a thought, text and two calls."""
    arguments = {"title": "満潮 06:12 🌊", "levels": [4.5, -0.25], "by": None}
    turn = Turn(
        [Call("fc_b0", "create_notice", json.dumps(arguments)), Call("fc_b1", "list_locks", "{}")],
        text="Here it is.",
        reasoning="A notice is wanted.",
        id="v1_ChZpbnQtMDA4",
        model="gemini-3-pro-preview",
    )
    data = json.dumps(live.body_interaction(turn), indent=2, ensure_ascii=False).encode()
    return data, expect(good("fc_b0", "create_notice", arguments), good("fc_b1", "list_locks", {}, "empty"))


@case("gemini-interactions/before-steps", 26, 35)
def interaction_contents() -> Built:
    """The older names: contents instead of steps, each call whole in one delta, one of them without arguments."""
    arguments = {"écluse": "Grote Sluis 🚢", "levels": [3.5, -0.5]}
    calls = [
        Call("fc_k0", "set_levels", json.dumps(arguments, ensure_ascii=False)),
        Call("fc_k1", "horn", ""),
    ]
    turn = Turn(
        calls,
        text="Setting the levels.",
        reasoning="Both gates are shut.",
        id="v1_ChdTMjQ0YWJ5",
        model="gemini-3-flash-preview",
    )
    return live.render_contents(turn, every(7)), expect(
        good("fc_k0", "set_levels", arguments), good("fc_k1", "horn", {})
    )


@case("gemini-interactions/before-steps-unstarted", 46, 98)
def interaction_unstarted() -> Built:
    """Contents that neither start nor stop, as agents send them; the end tells the outputs again, and no reason."""
    call = Call("fc_u0", "open_gate", '{"gate":"upper"}')
    turn = Turn([call], text="Opening.", id="v1_ChdVMjQ0YWJ6", model="antigravity-preview-05-2026")
    search = {"type": "google_search_call", "id": "gs_1", "arguments": {"queries": ["Ijmuiden tide"]}}
    outputs = [{"type": "text", "text": "Opening."}, search, live.content_call(call)]
    events = [
        *live.created(turn)[:1],
        *live.content_events(
            0, *({"type": "text", "text": text} for text in ("Open", "ing.")), stopped=False
        ),
        *live.content_events(1, search, stopped=False),
        *live.content_events(1, {"type": "google_search_result", "call_id": "gs_1"}, stopped=False),
        *live.content_events(2, live.content_call(call), stopped=False),
        live.completed(turn, "in_progress", outputs=outputs),
    ]
    return live.stream_interaction(live.older(events)), expect(
        good(call.id, call.name, {"gate": "upper"}),
        server=[_server("gs_1", "google_search", {"queries": ["Ijmuiden tide"]})],
        anomalies=["missing_finish"],
    )


@case("gemini-interactions/before-steps-cut", 51)
def interaction_contents_cut() -> Built:
    """The connection ends when a call's content has come, but has not stopped: the one before it has."""
    calls = [Call("fc_v0", "read_gauge", '{"lock":5}'), Call("fc_v1", "fill_chamber", '{"lock":5}')]
    turn = Turn(calls, id="v1_ChdWMjQ0YWJ7", model="gemini-3-flash-preview")
    events = [
        *live.created(turn),
        *live.content_events(0, live.content_call(calls[0]), kind="function_call"),
        *live.content_events(1, live.content_call(calls[1]), kind="function_call", stopped=False),
    ]
    lost = drop("fc_v1", "fill_chamber", "unterminated", '{"lock":5}')
    return live.stream_interaction(live.older(events), ended=False), expect(
        good("fc_v0", "read_gauge", {"lock": 5}), dropped=[lost], anomalies=["missing_finish"]
    )


@case("gemini-interactions/before-steps-body", 90, suffix="json")
def interaction_outputs() -> Built:
    """A body that was not streamed, with its outputs."""
    turn = Turn(
        [Call("fc_w0", "list_locks", '{"river":"Maas"}')],
        text="These are the locks.",
        reasoning="A list.",
        id="v1_ChdXMjQ0YWJ8",
        model="gemini-2.5-flash",
    )
    data = json.dumps(live.body_contents(turn), ensure_ascii=False).encode()
    return data, expect(good("fc_w0", "list_locks", {"river": "Maas"}))


# xAI's own API


def _grok(n: int, *calls: Call, text: str = "", reasoning: str = "", stopped: str | None = None) -> Turn:
    about = {"id": f"4b7d{n:04d}-6f0e-4a1c-9c55-0d1f2e3a4b5c", "model": "grok-4-fast-reasoning"}
    return Turn(calls, text, reasoning, stopped=stopped, **about)


@case("xai-grpc/single-call", suffix="ndjson")
def xai_single_call() -> Built:
    """Reasoning in pieces, then one whole call; its reason comes in a chunk of its own."""
    call = Call("call_71830264", "book_pilot", '{"ship":"Sørlandet","at":"06:40","tugs":2}')
    turn = _grok(1, call, reasoning="A pilot is wanted for the Sørlandet.")
    return live.render_xai(turn, every(9)), expect(
        good(call.id, call.name, {"ship": "Sørlandet", "at": "06:40", "tugs": 2})
    )


@case("xai-grpc/parallel-calls", 26, 27, suffix="ndjson")
def xai_parallel_calls() -> Built:
    """Four calls in two chunks: one with an empty object, one encoded twice, one without arguments and type."""
    calls = [
        Call("call_p1", "book_tug", '{"n":1}'),
        Call("call_p2", "list_ships", "{}"),
        Call("call_p3", "book_tug", '"{\\"n\\":2}"'),
        Call("call_p4", "now", ""),
    ]
    turn = _grok(2, *calls)
    chunks = [
        live.xai_chunk(turn, tool_calls=[live.xai_call(call) for call in calls[:2]]),
        live.xai_chunk(turn, tool_calls=[live.xai_call(calls[2]), live.xai_call(calls[3], type=ABSENT)]),
        live.xai_chunk(turn, reason="REASON_TOOL_CALLS"),
    ]
    return json_lines(chunks), expect(
        good("call_p1", "book_tug", {"n": 1}),
        good("call_p2", "list_ships", {}),
        good("call_p3", "book_tug", {"n": 2}, "normalised"),
        good("call_p4", "now", {}, "empty"),
    )


@case("xai-grpc/server-tool-then-call", 98, suffix="ndjson")
def xai_server_tool() -> Built:
    """The provider searches, its result restates the call, and in the third round the client gets one."""
    search = Call("call_s1", "web_search", '{"query":"tide Bergen today"}')
    call = Call("call_s2", "post_notice", '{"text":"High water 06:12 🌊"}')
    turn = _grok(3)
    server = live.xai_call(search, type="TOOL_CALL_TYPE_WEB_SEARCH_TOOL")
    told = live.xai_call(search, type="TOOL_CALL_TYPE_WEB_SEARCH_TOOL", status="TOOL_CALL_STATUS_COMPLETED")
    sealed = "qBsbOpXt0iGLuYsVE7NyapPz"
    chunks = [
        live.xai_chunk(turn, tool_calls=[server], encrypted_content=sealed),
        live.xai_chunk(turn, reason="REASON_TOOL_CALLS"),
        live.xai_chunk(
            turn, 1, role="ROLE_TOOL", tool_calls=[told], content="High water at 06:12, says the port."
        ),
        live.xai_chunk(turn, 2, content="Posting it."),
        live.xai_chunk(turn, 2, tool_calls=[live.xai_call(call)]),
        live.xai_chunk(turn, 2, reason="REASON_TOOL_CALLS", tokens=41),
    ]
    return json_lines(chunks), expect(
        good(call.id, call.name, {"text": "High water 06:12 🌊"}),
        server=[_server("call_s1", "web_search", {"query": "tide Bergen today"})],
    )


@case("xai-grpc/cut-max-len", 49, suffix="ndjson")
def xai_cut() -> Built:
    """The token limit: the first call is whole in its chunk; the second has no arguments, which may be the cut's doing."""
    calls = [Call("call_c1", "moor", '{"quay":4}'), Call("call_c2", "cast_off", "")]
    turn = _grok(4, *calls, stopped="length")
    lost = drop("call_c2", "cast_off", "truncated", "")
    return live.render_xai(turn), expect(
        good("call_c1", "moor", {"quay": 4}), reason="length", dropped=[lost]
    )


@case("xai-grpc/dropped-connection", 51, suffix="ndjson")
def xai_dropped_connection() -> Built:
    """The connection ends in the second round: the reason of the first one was not the answer's."""
    turn = _grok(5)
    search = live.xai_call(
        Call("call_d1", "x_search", '{"query":"fog"}'), type="TOOL_CALL_TYPE_X_SEARCH_TOOL"
    )
    chunks = [
        live.xai_chunk(turn, tool_calls=[search]),
        live.xai_chunk(turn, reason="REASON_TOOL_CALLS"),
        live.xai_chunk(turn, 2, tool_calls=[live.xai_call(Call("call_d2", "sound_horn", ""))]),
    ]
    return json_lines(chunks), expect(
        reason="malformed",
        server=[_server("call_d1", "x_search", {"query": "fog"})],
        dropped=[drop("call_d2", "sound_horn", "unterminated", "")],
        anomalies=["missing_finish"],
    )


@case("xai-grpc/error", 52, suffix="ndjson")
def xai_error() -> Built:
    """A relay tells the status of the connection as a last line; the call before it had come out."""
    turn = _grok(6)
    call = Call("call_e1", "read_gauge", '{"lock":5}')
    error = {"error": {"code": 14, "message": "upstream connect error", "status": "UNAVAILABLE"}}
    chunks = [
        live.xai_chunk(turn, content="Reading."),
        live.xai_chunk(turn, tool_calls=[live.xai_call(call)]),
        error,
    ]
    return json_lines(chunks), expect(
        good(call.id, call.name, {"lock": 5}), reason="error", faults=["provider_error"]
    )


@case("xai-grpc/whole-body", 90, suffix="json")
def xai_body() -> Built:
    """A pretty-printed response that was not streamed: reasoning, text, two calls, letters of many scripts."""
    arguments = {"title": "Прилив 06:12 🌊", "lines": ["a\tb", "\u2028"], "draft": True}
    calls = [Call("call_b1", "create_notice", json.dumps(arguments)), Call("call_b2", "list_ships", "{}")]
    turn = _grok(7, *calls, text="Вот объявление.", reasoning="A notice.")
    data = json.dumps(live.body_xai(turn), indent=2, ensure_ascii=False).encode()
    return data, expect(good("call_b1", "create_notice", arguments), good("call_b2", "list_ships", {}))
