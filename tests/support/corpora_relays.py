"""Recordings of providers that speak another's dialect with habits of their own."""

from __future__ import annotations

from tests.support import encode as wire
from tests.support.cases import Built, case, expect, good
from tests.support.encode import JSON, Call

__all__: list[str] = []


@case("responses/call-only-in-items", 71, 98)
def call_only_in_items() -> Built:
    """Perplexity: no events of arguments exist; the call is whole in two item events and in the response."""
    call = Call("call_px1", "lookup_ferry", '{"from":"Roscoff","on":"2026-05-02"}')
    item = wire.function_call_item(call)
    about: JSON = {
        "id": "resp_px",
        "object": "response",
        "created_at": 1_767_000_400,
        "model": "sonar-pro",
        "output": [],
    }
    payloads: list[JSON] = [
        {"type": "response.created", "sequence_number": 0, "response": about | {"status": "in_progress"}},
        {"type": "response.reasoning.started", "sequence_number": 1, "thought": "A ferry, then."},
        {"type": "response.skill.loaded", "sequence_number": 2, "name": "travel"},
        {"type": "response.output_item.added", "sequence_number": 3, "output_index": 0, "item": item},
        {"type": "response.output_item.done", "sequence_number": 4, "output_index": 0, "item": item},
        {
            "type": "response.completed",
            "sequence_number": 5,
            "response": about
            | {"status": "completed", "output": [item], "usage": wire.responses_usage(40, 21)},
        },
    ]
    found = good(call.id, call.name, {"from": "Roscoff", "on": "2026-05-02"})
    return wire.typed_sse(payloads), expect(found, anomalies=["unknown_events"])


@case("responses/ids-on-some-events", 69, 73, 75)
def ids_on_some_events() -> Built:
    """A replay of the ChatGPT backend: item ids on some events of a slot only, no numbers, an empty output."""
    calls = [
        Call("call_cx1", "shell", '{"command":["ls","-l"]}'),
        Call("call_cx2", "shell", '{"command":["pwd"]}'),
    ]
    about: JSON = {"id": "resp_cx", "object": "response", "model": "gpt-5.1-codex", "output": []}
    payloads: list[JSON] = [{"type": "response.created", "response": about | {"status": "in_progress"}}]
    for index, call in enumerate(calls):
        item = wire.function_call_item(call)
        bare = {name: value for name, value in item.items() if name != "id"}
        half = len(call.arguments) // 2
        kind = "response.function_call_arguments.delta"
        payloads += [
            {
                "type": "response.output_item.added",
                "output_index": index,
                "item": bare | {"arguments": "", "status": "in_progress"},
            },
            {"type": kind, "output_index": index, "delta": call.arguments[:half]},
            {"type": kind, "output_index": index, "item_id": item["id"], "delta": call.arguments[half:]},
            {"type": "response.output_item.done", "output_index": index, "item": item if index else bare},
        ]
    payloads.append(
        {"type": "response.completed", "response": about | {"status": "completed", "usage": None}}
    )
    found = (
        good("call_cx1", "shell", {"command": ["ls", "-l"]}),
        good("call_cx2", "shell", {"command": ["pwd"]}),
    )
    return wire.typed_sse(payloads), expect(*found)


@case("chat-completions/whole-calls-without-index", 1, 41, 88)
def whole_calls_without_index() -> Built:
    """SambaNova: whole calls without an index in one delta, and the counts in a last chunk without choices."""
    entries = [
        wire.chat_entry(id="call_sn1", name="ring", arguments='{"bell":"port"}', type="function"),
        wire.chat_entry(id="call_sn2", name="ring", arguments='{"bell":"starboard"}', type="function"),
    ]
    about: JSON = {"id": "9f1c-sn", "model": "Meta-Llama-3.3-70B-Instruct", "created": 1_767_000_500}
    usage = wire.chat_usage(33, 18) | {"is_last_response": True, "time_to_first_token": 0.1}
    chunks = [
        wire.chat_chunk({"role": "assistant", "content": ""}, **about, system_fingerprint="fastcoe"),
        wire.chat_chunk({"tool_calls": entries}, **about, system_fingerprint="fastcoe"),
        wire.chat_chunk({}, finish="tool_calls", **about, system_fingerprint="fastcoe"),
        wire.chat_envelope([], usage=usage, **about, system_fingerprint="fastcoe"),
    ]
    found = (good("call_sn1", "ring", {"bell": "port"}), good("call_sn2", "ring", {"bell": "starboard"}))
    return b"".join(wire.sse(chunk) for chunk in chunks) + wire.done(), expect(*found)


@case("chat-completions/whole-calls-function-call-reason", 22, 36, 41, 92)
def whole_calls_in_one_chunk() -> Built:
    """Reka and Fireworks: the model of a whole message as a delta, flat calls with objects, an old reason's word."""
    calls: list[JSON] = [
        {"id": "t-1", "name": "translate", "parameters": {"text": "Wasser 💧", "to": "eu"}},
        {"id": "t-2", "name": "finish", "parameters": {}},
    ]
    about: JSON = {"id": "rk-77", "model": "reka-flash", "created": 1_767_000_600}
    delta = {"role": "assistant", "content": "", "tool_calls": calls}
    data = wire.sse(wire.chat_chunk(delta, finish="function_call", **about)) + wire.done()
    found = (
        good("t-1", "translate", {"text": "Wasser 💧", "to": "eu"}),
        good("t-2", "finish", {}),
    )
    return data, expect(*found)
