"""Recordings whose frames come otherwise wrapped than their dialect says: by another framing, name or envelope."""

from __future__ import annotations

import json

from tests.support import encode as wire
from tests.support import encode_agents, encode_ollama
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, chat_chunk, chat_entry, compact, every, whole

__all__: list[str] = []


def _named(payloads: list[JSON]) -> bytes:
    """Write events that say in their names alone what they are."""
    return b"".join(
        wire.sse({name: value for name, value in payload.items() if name != "type"}, event=payload["type"])
        for payload in payloads
    )


@case("responses/type-in-the-event-name", 118)
def type_in_the_event_name() -> Built:
    """A gateway leaves out the types, and writes the response itself where `response` should hold it."""
    call = Call("call_nm1", "book_berth", '{"harbour":"Vlissingen","nights":2}')
    item = wire.function_call_item(call)
    about: JSON = {"id": "resp_nm", "object": "response", "model": "m-relay-1", "output": []}
    payloads: list[JSON] = [
        {"type": "response.created", **about, "status": "in_progress"},
        {"type": "response.in_progress", **about, "status": "in_progress"},
        {
            "type": "response.output_item.added",
            "output_index": 0,
            "item": item | {"arguments": "", "status": "in_progress"},
        },
        *(
            {
                "type": "response.function_call_arguments.delta",
                "item_id": item["id"],
                "output_index": 0,
                "delta": piece,
            }
            for piece in every(7)(call.arguments)
        ),
        {
            "type": "response.function_call_arguments.done",
            "item_id": item["id"],
            "output_index": 0,
            "arguments": call.arguments,
        },
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", **about, "status": "completed", "output": [item]},
    ]
    found = good(call.id, call.name, {"harbour": "Vlissingen", "nights": 2})
    return _named(payloads), expect(found)


@case("anthropic/type-in-the-event-name", 118)
def messages_type_in_the_event_name() -> Built:
    """A proxy that moves the type of each event into its name."""
    call = Call("toolu_nm1", "raise_bridge", '{"bridge":"Magere Brug","for":"tug"}')
    events = [
        wire.anthropic_start("msg_nm", "claude-sonnet-4-5"),
        *wire.anthropic_call(0, call, every(9)),
        *wire.anthropic_stop("tool_use"),
    ]
    return _named(events), expect(good(call.id, call.name, {"bridge": "Magere Brug", "for": "tug"}))


_ABOUT: JSON = {"id": "chatcmpl-env", "model": "m-relay-2", "created": 1_766_000_000}


@case("chat-completions/enveloped", 120)
def enveloped() -> Built:
    """A gateway puts each chunk into an envelope of its own, and so the end."""
    call = Call("call_ev1", "open_lock", '{"lock":"Orfeo","side":"sea"}')
    entries = [chat_entry(0, id=call.id, type="function", name=call.name, arguments="")]
    entries += [chat_entry(0, arguments=piece) for piece in every(8)(call.arguments)]
    chunks = [chat_chunk({"tool_calls": [entry]}, **_ABOUT) for entry in entries]
    chunks.append(chat_chunk({}, finish="tool_calls", **_ABOUT))
    wrapped = [wire.sse({"data": chunk, "success": True}) for chunk in chunks]
    done = wire.sse({"data": "[DONE]", "success": True})
    return b"".join([*wrapped, done]), expect(good(call.id, call.name, {"lock": "Orfeo", "side": "sea"}))


@case("chat-completions/enveloped-body", 90, 120, suffix="json")
def enveloped_body() -> Built:
    """The same gateway without streaming: a whole body in an envelope."""
    entry = chat_entry(0, id="call_ev2", type="function", name="count_ships", arguments='{"basin":3}')
    message: JSON = {"role": "assistant", "content": None, "tool_calls": [entry]}
    choice: JSON = {"index": 0, "message": message, "finish_reason": "tool_calls"}
    body = _ABOUT | {"object": "chat.completion", "choices": [choice]}
    data = compact({"data": body, "success": True}).encode()
    return data, expect(good("call_ev2", "count_ships", {"basin": 3}))


@case("ollama/undated", 43, 119, suffix="ndjson")
def undated() -> Built:
    """A server that imitates Ollama, and leaves out the dates of its lines."""
    call = Call("call_ud1", "read_gauge", '{"gauge":"Lobith"}')
    data = encode_ollama.render(Turn([call], model="llama3.1:8b"), whole)
    lines = [json.loads(line) for line in data.splitlines()]
    bare = [{name: value for name, value in line.items() if name != "created_at"} for line in lines]
    return wire.json_lines(bare), expect(good(call.id, call.name, {"gauge": "Lobith"}))


@case("chat-completions/comments-as-data", 55, 123, origin="typed")
def comments_as_data() -> Built:
    """A relay that writes comments as data, and ends no event with a blank line."""
    call = Call("call_cd1", "sound_horn", '{"times":3,"at":"fog"}')
    entries = [chat_entry(0, id=call.id, type="function", name=call.name, arguments="")]
    entries += [chat_entry(0, arguments=piece) for piece in every(6)(call.arguments)]
    chunks = [chat_chunk({"tool_calls": [entry]}, **_ABOUT) for entry in entries]
    chunks.append(chat_chunk({}, finish="tool_calls", **_ABOUT))
    lines = [b"data: " + compact(chunk).encode() + b"\n" for chunk in chunks]
    lines[2:2] = [b"data: : RELAY PROCESSING\n"] * 2
    data = b"".join([*lines, b"data: [DONE]\n"])
    return data, expect(good(call.id, call.name, {"times": 3, "at": "fog"}))


@case("responses/executed-by-the-server", 124)
def executed_by_the_server() -> Built:
    """An agent server tells calls and, after them, their results: one is taken back, one has none and stays."""
    calls = [Call("call_ex1", "hoist", '{"flag":"Q"}'), Call("call_ex2", "lower", '{"flag":"B"}')]
    items = [wire.function_call_item(call) for call in calls]
    result: JSON = {"type": "function_call_output", "id": "fco_1", "call_id": "call_ex1", "output": "up"}
    about: JSON = {"id": "resp_ex", "object": "response", "model": "m-agent-1"}
    told = [items[0], result, items[1]]
    payloads: list[JSON] = [{"type": "response.created", "response": about | {"status": "in_progress"}}]
    for index, item in enumerate(told):
        payloads += [
            {"type": f"response.output_item.{what}", "output_index": index, "item": item}
            for what in ("added", "done")
        ]
    payloads.append(
        {"type": "response.completed", "response": about | {"status": "completed", "output": told}}
    )
    found = (good("call_ex1", "hoist", {"flag": "Q"}), good("call_ex2", "lower", {"flag": "B"}))
    return wire.typed_sse(payloads), expect(*found)


@case("responses/executed-body", 90, 124, suffix="json")
def executed_body() -> Built:
    """The same server without streaming: the call that has its result is the server's, the other one ours."""
    items = [
        wire.function_call_item(Call("call_ex3", "hoist", '{"flag":"Q"}')),
        {"type": "function_call_output", "call_id": "call_ex3", "output": "up"},
        wire.function_call_item(Call("call_ex4", "lower", '{"flag":"B"}')),
    ]
    body: JSON = {"id": "resp_eb", "object": "response", "status": "completed", "output": items}
    server = {"id": "call_ex3", "name": "hoist", "arguments": {"flag": "Q"}}
    return compact(body).encode(), expect(good("call_ex4", "lower", {"flag": "B"}), server=[server])


@case("ag-ui/result-under-another-id", 124)
def result_under_another_id() -> Built:
    """A bridge numbers results otherwise than calls: whichever call ran, none may run again."""
    payloads = [
        encode_agents.ag_ui_started("run-other"),
        *encode_agents.ag_ui_call(Call("f9c6", "sound", '{"at":"pier"}')),
        encode_agents.ag_ui_result("0d31", "4 m"),
        *encode_agents.ag_ui_call(Call("f9c7", "moor", '{"at":"pier"}')),
        encode_agents.ag_ui_finished("run-other"),
    ]
    server = {"id": "f9c6", "name": "sound", "arguments": {"at": "pier"}}
    found = good("f9c7", "moor", {"at": "pier"})
    return encode_agents.ag_ui_sse(payloads), expect(found, server=[server])


@case("gemini-interactions/function-result", 124)
def function_result() -> Built:
    """Steps of an agent: a call, its result, and a call that nobody answered."""
    steps: list[JSON] = [
        {"type": "function_call", "id": "fn_1", "name": "hail", "arguments": {"ship": "Alma"}},
        {"type": "function_result", "call_id": "fn_1", "result": "aye"},
        {"type": "function_call", "id": "fn_2", "name": "pilot", "arguments": {"ship": "Alma"}},
    ]
    about: JSON = {"id": "v1_fr", "model": "gemini-3-flash", "status": "in_progress"}
    payloads: list[JSON] = [{"event_type": "interaction.created", "interaction": about}]
    for index, step in enumerate(steps):
        payloads.append({"event_type": "step.start", "index": index, "step": step})
        payloads.append({"event_type": "step.stop", "index": index})
    done = about | {"status": "requires_action"}
    payloads.append({"event_type": "interaction.completed", "interaction": done})
    server = {"id": "fn_1", "name": "hail", "arguments": {"ship": "Alma"}}
    data = b"".join(wire.sse(payload, event=payload["event_type"]) for payload in payloads)
    return data, expect(good("fn_2", "pilot", {"ship": "Alma"}), server=[server])


@case("anthropic/refusal-after-a-result", 124)
def refusal_after_a_result() -> Built:
    """The provider searches and answers itself, begins a call for us, and refuses: what ran stays, the rest goes."""
    search: JSON = {"type": "server_tool_use", "id": "srvtoolu_rf", "name": "web_search"}
    result: JSON = {"type": "web_search_tool_result", "tool_use_id": "srvtoolu_rf", "content": []}
    events: list[JSON] = [
        wire.anthropic_start("msg_rf", "claude-opus-4-6"),
        {"type": "content_block_start", "index": 0, "content_block": search | {"input": {"query": "buoys"}}},
        {"type": "content_block_stop", "index": 0},
        {"type": "content_block_start", "index": 1, "content_block": result},
        {"type": "content_block_stop", "index": 1},
        *wire.anthropic_call(2, Call("toolu_rf", "lay_buoy", '{"at":"54.1,7.9"}'), every(9))[:-1],
        *wire.anthropic_stop("refusal"),
    ]
    server = {"id": "srvtoolu_rf", "name": "web_search", "arguments": {"query": "buoys"}}
    lost = drop("toolu_rf", "lay_buoy", "aborted", '{"at":"54.1,7.9"}')
    return wire.typed_sse(events), expect(server=[server], dropped=[lost], reason="content_filter")
