"""Recordings of providers that speak another's dialect with habits of their own."""

from __future__ import annotations

from tests.support import encode as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, every

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


def tape(*chunks: JSON, done: bool = True) -> bytes:
    """Return chunks as a stream."""
    return b"".join(wire.sse(chunk) for chunk in chunks) + (wire.done() if done else b"")


@case("chat-completions/groq-executed-tools", 85, 88)
def groq_executed_tools() -> Built:
    """Groq's compound systems: tools that the server ran stand beside the deltas, then a call for the client."""
    about: JSON = {"id": "chatcmpl-gq", "model": "groq/compound", "created": 1_767_000_610}
    ran = {
        "index": 0,
        "type": "search",
        "arguments": '{"query":"lighthouse keeper"}',
        "output": "Title: Keeper {of} the light",
        "search_results": {"results": [{"title": "Keeper", "score": 0.5}]},
    }
    entry = wire.chat_entry(
        0, id="fc_gq", type="function", name="hire", arguments='{"job":"keeper","from":"May"}'
    )
    chunks = [
        wire.chat_chunk({"role": "assistant", "content": None}, **about, x_groq={"id": "req_01gq"}),
        wire.chat_chunk({"reasoning": "I search first."}, **about),
        wire.chat_chunk({"executed_tools": [ran]}, **about),
        wire.chat_chunk({"content": "One post is open."}, **about),
        wire.chat_chunk({"tool_calls": [entry]}, **about),
        wire.chat_chunk({}, finish="tool_calls", **about, x_groq={"usage": wire.chat_usage(90, 31)}),
    ]
    found = good("fc_gq", "hire", {"job": "keeper", "from": "May"})
    server = {"id": None, "name": "search", "arguments": {"query": "lighthouse keeper"}}
    return tape(*chunks), expect(found, server=[server], text="One post is open.")


@case("chat-completions/groq-executed-browser", 121)
def groq_executed_browser() -> Built:
    """gpt-oss on Groq: tools that the server ran are functions with names; each comes again with its output."""
    about: JSON = {"id": "chatcmpl-gb", "model": "openai/gpt-oss-120b", "created": 1_767_000_620}
    asked = [
        {
            "index": 0,
            "type": "function",
            "name": "browser.search",
            "arguments": '{"query":"ebb at Cuxhaven"}',
        },
        {"index": 1, "type": "function", "name": "browser.open", "arguments": '{"id":2}'},
    ]
    ran = [{**tool, "output": "Ebb: 14:07"} for tool in asked]
    chunks = [
        wire.chat_chunk({"role": "assistant", "content": None}, **about, x_groq={"id": "req_01gb"}),
        wire.chat_chunk({"executed_tools": [asked[0]]}, **about),
        wire.chat_chunk({"executed_tools": [ran[0]]}, **about),
        wire.chat_chunk({"executed_tools": [asked[1]]}, **about),
        wire.chat_chunk({"executed_tools": [ran[1]]}, **about),
        wire.chat_chunk({"content": "At seven past two."}, **about),
        wire.chat_chunk({"executed_tools": ran}, finish="stop", **about),
    ]
    server = [
        {"id": None, "name": "browser.search", "arguments": {"query": "ebb at Cuxhaven"}},
        {"id": None, "name": "browser.open", "arguments": {"id": 2}},
    ]
    return tape(*chunks), expect(server=server, text="At seven past two.", reason="stop")


@case("chat-completions/cerebras-error-chunk", 52, 85)
def cerebras_error() -> Built:
    """Cerebras: reasoning and tokens in deltas; an error is a chunk of its own, with a status beside it."""
    about: JSON = {"id": "chatcmpl-cb", "model": "zai-glm-4.7", "created": 1_767_000_620}
    head = wire.chat_entry(id="cb1", type="function", name="cast_off", arguments='{"lines":[')
    error = {
        "message": "Encountered a server error",
        "type": "server_error",
        "param": "",
        "code": "",
        "id": "",
    }
    chunks = [
        wire.chat_chunk({"role": "assistant", "reasoning": "All lines, then.", "tokens": [812, 77]}, **about),
        wire.chat_chunk({"tool_calls": [head]}, **about),
        {"error": error, "status_code": 500},
    ]
    dropped = drop("cb1", "cast_off", "aborted", '{"lines":[')
    return tape(*chunks), expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("chat-completions/together-float-index", 2, 43)
def together_float_index() -> Built:
    """Together: the index is a number with a fraction of zero, and the reason is eos."""
    about: JSON = {"id": "o1-together", "model": "Qwen/Qwen3-235B-A22B", "created": 1_767_000_630}
    calls = [Call("call_tg1", "light", '{"lamp":"red"}'), Call("call_tg2", "light", '{"lamp":"green"}')]
    deltas = [
        delta for n, call in enumerate(calls) for delta in wire.chat_call_deltas(float(n), call, every(6))
    ]
    chunks = [wire.chat_chunk(delta, **about) for delta in deltas]
    found = (good("call_tg1", "light", {"lamp": "red"}), good("call_tg2", "light", {"lamp": "green"}))
    return tape(*chunks, wire.chat_chunk({}, finish="eos", **about)), expect(
        *found, anomalies=["finish_reason_mismatch"]
    )


@case("chat-completions/foundry-choices-by-chunk", 14, 39, 40, 41)
def foundry_choices() -> Built:
    """Foundry Local: each chunk has an id and a choice of its own, and everything twice; the call is whole in one."""
    call: JSON = {
        "id": "call_fl",
        "type": "function",
        "function": {"name": "toll", "arguments": '{"bell":2}'},
    }
    said: list[JSON] = [
        {"role": "assistant", "content": "Tolling.", "tool_calls": []},
        {"role": "assistant", "content": "", "tool_calls": [call]},
        {"role": "assistant", "content": "", "tool_calls": []},
    ]
    chunks = [
        wire.chat_chunk(
            delta,
            index=number,
            finish="tool_calls" if number == 2 else None,
            id=f"chat.id.{number}",
            model="phi-4-mini",
            created=1_767_000_640,
            choice={"message": delta},
        )
        for number, delta in enumerate(said)
    ]
    return tape(*chunks), expect(good("call_fl", "toll", {"bell": 2}, choice=1), reason=None, text="Tolling.")


@case("chat-completions/choices-scatter-a-call", 14, 51)
def choices_scatter() -> Built:
    """Each chunk has a choice of its own, and the call comes in pieces: no piece of it counts as the whole."""
    deltas = wire.chat_call_deltas(0, Call("call_sc", "flood_dock", '{"dock":4,"to":"6 m"}'), every(11))
    chunks = [wire.chat_chunk(delta, index=number, id=f"c{number}") for number, delta in enumerate(deltas)]
    dropped = [
        drop("call_sc", "flood_dock", "ambiguous", "") | {"choice": 0},
        drop(None, None, "nameless", '{"dock":4,"') | {"choice": 1},
        drop(None, None, "nameless", 'to":"6 m"}') | {"choice": 2},
    ]
    return tape(*chunks), expect(reason="malformed", dropped=dropped)


@case("chat-completions/xai-whole-call", 41)
def xai_whole_call() -> Built:
    """xAI: the whole call beside role and text, no reason until the end, sources at the top level."""
    about: JSON = {"id": "9c1d-xai", "model": "grok-4-fast", "created": 1_767_000_650}
    entry = wire.chat_entry(
        0, id="call_49412873", type="function", name="ask_pilot", arguments='{"about":"the bar"}'
    )
    delta = {"role": "assistant", "content": "One call.", "tool_calls": [entry]}
    choice = {"index": 0, "delta": delta}
    last = wire.chat_chunk({}, finish="tool_calls", **about, citations=["https://example.org/bar"])
    data = tape(wire.chat_envelope([choice], **about), last)
    return data, expect(good("call_49412873", "ask_pilot", {"about": "the bar"}), text="One call.")


@case("chat-completions/mistral-whole-calls", 22, 41, 42, 95)
def mistral_whole_calls() -> Built:
    """Mistral: thinking in a list of parts, then whole calls with the reason; one has an object, one no index."""
    about: JSON = {"id": "5a0b-mst", "model": "magistral-medium-2509", "created": 1_767_000_660}
    thought = {"type": "thinking", "thinking": [{"type": "text", "text": "Two locks."}], "closed": True}
    entries: list[JSON] = [
        wire.chat_entry(0, id="kT2pQ8xWv", name="lock", arguments={"name": "Süd", "gates": [1, 2]}),
        wire.chat_entry(id="bH5rM1yZc", name="lock", arguments='{"name":"Nord","gates":[]}'),
    ]
    chunks = [
        wire.chat_chunk({"role": "assistant", "content": [thought]}, **about, p="abcdefgh"),
        wire.chat_chunk({"content": [{"type": "text", "text": "Süd first."}]}, **about, p="abc"),
        wire.chat_chunk({"content": "", "tool_calls": entries}, finish="tool_calls", **about, p="abcd"),
    ]
    found = (
        good("kT2pQ8xWv", "lock", {"name": "Süd", "gates": [1, 2]}),
        good("bH5rM1yZc", "lock", {"name": "Nord", "gates": []}),
    )
    return tape(*chunks), expect(*found, text="Süd first.")


@case("chat-completions/mistral-relayed-pieces", 9, 18, 19)
def mistral_relayed_pieces() -> Built:
    """A model of another maker after Mistral: pieces have an empty name, and the word null for an id."""
    about: JSON = {"id": "5a0c-mst", "model": "glm-4.6", "created": 1_767_000_670}
    texts = ('{"knots"', ": 4.5, ", '"for": "an hour"}')
    head = wire.chat_entry(0, id="chatcmpl-tool-9d", name="steam", arguments="")
    tail = [wire.chat_entry(0, id="null", name="", arguments=text) for text in texts]
    chunks = [wire.chat_chunk({"tool_calls": [entry]}, **about) for entry in (head, *tail)]
    found = good("chatcmpl-tool-9d", "steam", {"knots": 4.5, "for": "an hour"})
    return tape(*chunks, wire.chat_chunk({"content": ""}, finish="tool_calls", **about)), expect(found)


@case("chat-completions/moonshot-usage-in-choice", 64, 88)
def moonshot_usage() -> Built:
    """Moonshot: ids are a tool's name with a number, and the counts stand in the choice."""
    about: JSON = {"id": "chatcmpl-ms", "model": "kimi-k2-thinking", "created": 1_767_000_680}
    calls = [
        Call("functions.buoy:0", "buoy", '{"n":1}'),
        Call("functions.buoy:1", "buoy", '{"n":2}'),
    ]
    deltas = [delta for n, call in enumerate(calls) for delta in wire.chat_call_deltas(n, call, every(4))]
    last = wire.chat_chunk({}, finish="tool_calls", choice={"usage": wire.chat_usage(51, 28)}, **about)
    found = (good("functions.buoy:0", "buoy", {"n": 1}), good("functions.buoy:1", "buoy", {"n": 2}))
    return tape(*(wire.chat_chunk(delta, **about) for delta in deltas), last), expect(*found)


@case("chat-completions/tgi-wrapped-arguments", 7, 39, 60)
def tgi_wrapped() -> Built:
    """Old TGI: `tool_calls` is one object, and the text wraps the arguments in the grammar's own object."""
    about: JSON = {"id": "", "model": "meta-llama/Llama-3.1-70B-Instruct", "created": 1_767_000_690}
    texts = ('{"function": {"_name": "hail_tug",', ' "tug": "Bugsier 9"}', "}")
    entries = [wire.chat_entry(0, id="", type="function", name="hail_tug", arguments=text) for text in texts]
    chunks = [wire.chat_chunk({"role": "assistant", "tool_calls": entry}, **about) for entry in entries]
    wrapped = {"function": {"_name": "hail_tug", "tug": "Bugsier 9"}}
    return tape(*chunks, wire.chat_chunk({"content": ""}, finish="eos_token", **about)), expect(
        good(None, "hail_tug", wrapped)
    )


@case("chat-completions/openrouter-reasoning-details", 53, 96)
def openrouter_reasoning() -> Built:
    """OpenRouter: comments, reasoning told in details too, an encrypted one that belongs to the call."""
    about: JSON = {
        "id": "gen-17",
        "model": "google/gemini-3-pro",
        "created": 1_767_000_700,
        "provider": "Google",
    }
    text = {
        "type": "reasoning.text",
        "text": "Check the bar.",
        "signature": None,
        "format": "unknown",
        "index": 0,
    }
    sealed = {"type": "reasoning.encrypted", "data": "Q29kZWQ=", "id": "tool_sound_x1", "index": 1}
    entry = wire.chat_entry(0, id="tool_sound_x1", type="function", name="sound", arguments='{"at":"bar"}')
    native: JSON = {"native_finish_reason": None}
    chunks = [
        wire.chat_chunk(
            {"role": "assistant", "content": "", "reasoning": text["text"], "reasoning_details": [text]},
            choice=native,
            **about,
        ),
        wire.chat_chunk(
            {"role": "assistant", "content": "", "tool_calls": [entry], "reasoning_details": [sealed]},
            choice=native,
            **about,
        ),
        wire.chat_chunk(
            {"role": "assistant", "content": ""},
            finish="tool_calls",
            choice={"native_finish_reason": "STOP"},
            **about,
        ),
    ]
    data = b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n" + tape(*chunks)
    return data, expect(good("tool_sound_x1", "sound", {"at": "bar"}), text="")


@case("chat-completions/gigachat-object", 22, 83, 90)
def gigachat_object() -> Built:
    """GigaChat: every chunk calls itself a whole completion; the one call has an object and no id."""
    about: JSON = {"created": 1_767_000_710, "model": "GigaChat-2-Max:2.0.28", "object": "chat.completion"}
    call = {"name": "open_bridge", "arguments": {"bridge": "Дворцовый", "at": "01:20"}}
    deltas: list[JSON] = [
        {"role": "assistant", "content": "Разведу "},
        {"content": "мост."},
        {"content": "", "function_call": call, "functions_state_id": "77d3fb14-457a-46ba-937e-8d856156d003"},
    ]
    chunks: list[JSON] = [{"choices": [{"delta": delta, "index": 0}]} | about for delta in deltas]
    chunks[-1]["choices"][0]["finish_reason"] = "function_call"
    found = good(None, "open_bridge", {"bridge": "Дворцовый", "at": "01:20"})
    return tape(*chunks), expect(found, text="Разведу мост.")


@case("chat-completions/watsonx-events", 15, 27, 54)
def watsonx_events() -> Built:
    """watsonx: numbered events named message, a name in every piece, arguments encoded twice, usage at the end."""
    about: JSON = {
        "id": "chatcmpl-wx",
        "model_id": "ibm/granite-4-h-small",
        "model": "ibm/granite-4-h-small",
        "created": 1_767_000_720,
        "created_at": "2026-01-02T03:04:05.006Z",
        "model_version": "4.0.0",
    }
    coded = wire.compact('{"weir": "Klosterwehr", "cm": 30}')
    texts = ("", coded[:17], coded[17:])
    entries = [
        wire.chat_entry(0, id="chatcmpl-tool-wx", type="function", name="raise_weir", arguments=text)
        for text in texts
    ]
    deltas: list[JSON] = [{"role": "assistant", "tool_calls": [entry]} for entry in entries]
    choices: list[list[JSON]] = [[{"index": 0, "finish_reason": None, "delta": delta}] for delta in deltas]
    choices += [
        [{"index": 0, "finish_reason": "tool_calls", "delta": {"role": "assistant", "content": ""}}],
        [],
    ]
    chunks: list[JSON] = [about | {"choices": listed} for listed in choices]
    chunks[-1]["usage"] = {"completion_tokens": 25, "prompt_tokens": 217, "total_tokens": 242}
    data = b"".join(
        b"id: %d\nevent: message\ndata: %s\n\n" % (number, wire.compact(chunk).encode())
        for number, chunk in enumerate(chunks, 1)
    )
    found = good(
        "chatcmpl-tool-wx",
        "raise_weir",
        {"weir": "Klosterwehr", "cm": 30},
        "normalised",
        edits=["double_encoded"],
    )
    return data, expect(found)


@case("chat-completions/oracle-generic", 1, 95)
def oracle_generic() -> Built:
    """Oracle's generic form: no list of choices, camelCase, calls told apart by id and else by order."""
    told: list[JSON] = [
        {
            "index": 0,
            "message": {"role": "ASSISTANT", "content": [{"type": "TEXT", "text": "Weighing both."}]},
        },
        _oracle({"type": "FUNCTION", "id": "call_or1", "name": "weigh", "arguments": '{"bale":'}),
        _oracle({"type": "FUNCTION", "arguments": "41}"}),
        _oracle({"type": "FUNCTION", "id": "call_or2", "name": "weigh", "arguments": '{"bale":42}'}),
        {"index": 0, "message": {"role": "ASSISTANT"}, "finishReason": "tool_calls", "pad": "aaaa"},
    ]
    found = (good("call_or1", "weigh", {"bale": 41}), good("call_or2", "weigh", {"bale": 42}))
    return tape(*told, done=False), expect(*found, text="Weighing both.")


def _oracle(call: JSON) -> JSON:
    return {"index": 0, "message": {"role": "ASSISTANT", "toolCalls": [call]}, "pad": "aa"}


@case("chat-completions/oracle-cohere", 8, 22, 36, 98)
def oracle_cohere() -> Built:
    """Oracle's Cohere form: flat, whole calls without ids, and a last frame that repeats it all with a history."""
    calls = [
        {"name": "grade_tea", "parameters": {"lot": "B7", "leaf": ["FTGFOP"]}},
        {"name": "list_lots", "parameters": {}},
    ]
    told: list[JSON] = [
        {"apiFormat": "COHERE", "text": "Grading "},
        {"apiFormat": "COHERE", "text": "lot B7.", "pad": "aaa"},
        {"apiFormat": "COHERE", "toolCalls": calls},
        {
            "apiFormat": "COHERE",
            "text": "Grading lot B7.",
            "toolCalls": calls,
            "finishReason": "COMPLETE",
            "chatHistory": [{"role": "USER", "message": "Grade lot B7."}],
        },
    ]
    found = (
        good(None, "grade_tea", {"lot": "B7", "leaf": ["FTGFOP"]}),
        good(None, "list_lots", {}),
    )
    return tape(*told, done=False), expect(
        *found, text="Grading lot B7.", anomalies=["finish_reason_mismatch"]
    )


@case("chat-completions/litellm-provider-fields", 87, 96)
def litellm_provider_fields() -> Built:
    """LiteLLM: what a provider wants back stands beside the function of a call, and is kept."""
    about: JSON = {"id": "chatcmpl-ll", "model": "gemini/gemini-3-flash", "created": 1_767_000_730}
    fields = {"thought_signature": "c2lnbmVkLWJ5LWdlbWluaQ=="}
    entry = wire.chat_entry(
        0,
        id="call_ll",
        type="function",
        name="set_sail",
        arguments='{"sail":"jib"}',
        provider_specific_fields=fields,
    )
    chunks = [wire.chat_chunk({"role": "assistant", "content": None, "tool_calls": [entry]}, **about)]
    chunks.append(wire.chat_chunk({"provider_specific_fields": None}, finish="tool_calls", **about))
    found = good("call_ll", "set_sail", {"sail": "jib"}, extra={"provider_specific_fields": fields})
    return tape(*chunks), expect(found)


@case("anthropic/first-piece-lost", 31, 77)
def anthropic_first_piece_lost() -> Built:
    """Messages of vLLM: the server lost the first piece of one call; what is left does not say what it was."""
    whole, torn = Call("toolu_vl1", "haul", '{"net":"port"}'), Call("toolu_vl2", "haul", '"net":"starboard"}')
    events = [
        wire.anthropic_start("msg_vl", "Qwen/Qwen3-Coder-30B"),
        *wire.anthropic_call(0, whole, every(5)),
        *wire.anthropic_call(1, torn, every(5)),
        *wire.anthropic_stop("tool_use"),
    ]
    dropped = drop("toolu_vl2", "haul", None, torn.arguments)
    return wire.typed_sse(events), expect(good("toolu_vl1", "haul", {"net": "port"}), dropped=[dropped])


@case("responses/items-never-done", 56, 71, 76)
def items_never_done() -> Built:
    """An open server: no numbers, no end of any item; the finished response closes what has come."""
    calls = [
        Call("call_op1", "plot", '{"mark":"Elbe 1"}'),
        Call("call_op2", "plot", '{"mark":"Elbe 2"}'),
    ]
    about: JSON = {"id": "resp_op", "object": "response", "model": "openai/gpt-oss-20b"}
    items = [wire.function_call_item(call) for call in calls]
    kind = "response.function_call_arguments.delta"
    payloads: list[JSON] = [{"type": "response.created", "response": about | {"status": "in_progress"}}]
    payloads += [
        {"type": "response.output_item.added", "output_index": index, "item": item | {"arguments": ""}}
        for index, item in enumerate(items)
    ]
    payloads += [
        {"type": kind, "output_index": index, "item_id": items[index]["id"], "delta": piece}
        for pieces in zip(*(every(6)(call.arguments) for call in calls), strict=True)
        for index, piece in enumerate(pieces)
    ]
    payloads.append({"type": "response.completed", "response": about | {"status": "completed"}})
    found = (good("call_op1", "plot", {"mark": "Elbe 1"}), good("call_op2", "plot", {"mark": "Elbe 2"}))
    return wire.typed_sse(payloads), expect(*found)
