"""Recordings of InvokeModelWithResponseStream whose chunks hold chat completions, Cohere's events, or text."""

from __future__ import annotations

import base64
import json

from tests.support import encode as wire
from tests.support import encode_bedrock as bedrock
from tests.support import encode_cohere as cohere
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, every

__all__: list[str] = []


def damaged(payload: JSON) -> bytes:
    """Return a chunk with one bit of its padding changed on the way."""
    octets = bytearray(bedrock.chunks([payload]))
    octets[-8] ^= 0x01
    return bytes(octets)


# Models with chat completions of their own


@case("bedrock-invoke-chat-completions/single-call", 51, suffix="bin")
def invoke_chat_single() -> Built:
    """Reasoning, then a call; no `[DONE]` ends the stream, the last chunk counts tokens."""
    call = Call("chatcmpl-tool-4b1e", "close_gate", '{"gate":"Süd","slowly":true}')
    turn = Turn([call], reasoning="The south gate is open.", id="5d2f", model="openai.gpt-oss-120b-1:0")
    wanted = good(call.id, call.name, {"gate": "Süd", "slowly": True})
    return bedrock.render_invoke_chat(turn, every(8)), expect(wanted)


@case("bedrock-invoke-chat-completions/parallel-interleaved", 56, suffix="bin")
def invoke_chat_parallel() -> Built:
    """The pieces of two calls alternate in the chunks."""
    one = Call("call_7a", "dim_light", '{"light":"port","percent":40}')
    two = Call("call_7b", "dim_light", '{"light":"starboard","percent":55}')
    deltas = [wire.chat_call_deltas(index, call, every(10)) for index, call in enumerate((one, two))]
    turns = [delta for pair in zip(*deltas, strict=False) for delta in pair]
    turns += deltas[1][len(deltas[0]) :]
    about = {"id": "chatcmpl-77", "model": "qwen.qwen3-coder-480b-a35b-v1:0"}
    payloads = [wire.chat_chunk(delta, **about) for delta in turns]
    return bedrock.chunks([*payloads, wire.chat_chunk({}, finish="tool_calls", **about)]), expect(
        good(one.id, one.name, {"light": "port", "percent": 40}),
        good(two.id, two.name, {"light": "starboard", "percent": 55}),
    )


@case("bedrock-invoke-chat-completions/zero-argument-cut", 26, 51, suffix="bin")
def invoke_chat_zero() -> Built:
    """One call without arguments, one whose text stops, and the connection ends: nothing can be believed."""
    one, two = Call("call_8a", "ping_pilot", ""), Call("call_8b", "page_pilot", '{"channel":12')
    payloads = wire.chat_payloads(Turn([one, two], id="88", model="deepseek.v3-v1:0"), every(6))[:-2]
    lost = [
        drop(one.id, one.name, "unterminated", ""),
        drop(two.id, two.name, "unterminated", two.arguments),
    ]
    return bedrock.chunks(payloads), expect(reason=None, dropped=lost, anomalies=["missing_finish"])


@case("bedrock-invoke-chat-completions/internal-exception", 52, suffix="bin")
def invoke_chat_exception() -> Built:
    """Bedrock fails after the text of a call and before any finish reason."""
    call = Call("call_9", "raise_flag", '{"flag":"Q"}')
    payloads = wire.chat_payloads(Turn([call], id="99", model="openai.gpt-oss-20b-1:0"))[:-2]
    told = {"message": "The system encountered an unexpected error."}
    stream = bedrock.chunks(payloads) + bedrock.exception("internalServerException", told)
    dropped = drop(call.id, call.name, "aborted", call.arguments)
    return stream, expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("bedrock-invoke-chat-completions/zero-argument", 26, suffix="bin")
def invoke_chat_zero_whole() -> Built:
    """Two tools without parameters: no text at all, and an empty object; the server ends the turn."""
    one, two = Call("call_10a", "list_quays", ""), Call("call_10b", "list_cranes", "{}")
    turn = Turn([one, two], text="Both lists.", id="10", model="qwen.qwen3-32b-v1:0")
    return bedrock.render_invoke_chat(turn), expect(
        good(one.id, one.name, {}, "empty"), good(two.id, two.name, {}), text="Both lists."
    )


@case("bedrock-invoke-chat-completions/length", 49, suffix="bin")
def invoke_chat_length() -> Built:
    """The token limit inside the second call; the first one is complete, and flagged."""
    one, two = Call("call_11a", "log_tide", '{"at":"06:10"}'), Call("call_11b", "log_tide", '{"at":"18:')
    turn = Turn([one, two], id="11", model="openai.gpt-oss-120b-1:0", stopped="length")
    dropped = drop(two.id, two.name, "truncated", two.arguments)
    return bedrock.render_invoke_chat(turn, every(6)), expect(
        good(one.id, one.name, {"at": "06:10"}, flags=["turn_truncated"]), reason="length", dropped=[dropped]
    )


@case("bedrock-invoke-chat-completions/message-and-stop-reason", 40, 41, 95, suffix="bin")
def invoke_chat_mistral() -> Built:
    """Mistral: pieces of text in messages, then whole calls without indices and a reason of another name."""
    calls = [
        Call("v6RMMiRlT7ygYkT4uULjtg", "sound_depth", '{"fairway": "Westerems", "at": [3, 4]}'),
        Call("oVVn2bcpR0m3nCxGYVx0Yw", "sound_horn", "{}"),
    ]
    payloads = [bedrock.mistral_chunk(piece) for piece in ("Ich ", "lote ", "zuerst.")]
    payloads.append(bedrock.mistral_chunk(calls=calls, stop="tool_calls"))
    found = (
        good(calls[0].id, "sound_depth", {"fairway": "Westerems", "at": [3, 4]}),
        good(calls[1].id, "sound_horn", {}),
    )
    return bedrock.chunks(bedrock.measured(payloads)), expect(*found, text="Ich lote zuerst.")


@case("bedrock-invoke-chat-completions/wrong-checksum", 110, suffix="bin")
def invoke_chat_crc() -> Built:
    """One bit of a chunk inside a call changed: nothing from there on is believed."""
    call = Call("call_12", "shift_cargo", '{"from":2,"to":5}')
    payloads = wire.chat_payloads(Turn([call], id="12", model="deepseek.v3-v1:0"), every(6))
    stream = bedrock.chunks(payloads[:4]) + damaged(payloads[4]) + bedrock.chunks(payloads[5:])
    dropped = drop(call.id, call.name, "aborted", call.arguments[:12])
    return stream, expect(reason="error", dropped=[dropped], faults=["bad_crc"])


@case("bedrock-invoke-chat-completions/sdk-lines", 7, 35, 53, suffix="ndjson")
def invoke_chat_lines() -> Built:
    """Chunks as an SDK decodes them, one a line; blank ids, an escape pair cut in two, an empty object between."""
    text = '{"text":"Hoi 🛟","to":"alle"}'
    cut = text.index("🛟")
    pieces = [text[:cut] + "\ud83d", "\udedf" + text[cut + 1 :]]
    about = {"id": "chatcmpl-13", "model": "qwen.qwen3-next-80b-a3b"}
    head = wire.chat_entry(0, id="call_13", type="function", name="call_crew", arguments="")
    more = [wire.chat_entry(0, id="", arguments=piece) for piece in pieces]
    payloads = [wire.chat_chunk({"tool_calls": [entry]}, **about) for entry in (head, *more)]
    payloads = [*payloads[:2], {}, payloads[2], wire.chat_chunk({}, finish="tool_calls", **about)]
    coded = (base64.b64encode(json.dumps(payload).encode()).decode() for payload in payloads)
    found = good("call_13", "call_crew", {"text": "Hoi 🛟", "to": "alle"})
    return wire.json_lines({"chunk": {"bytes": octets}} for octets in coded), expect(found)


@case("bedrock-invoke-chat-completions/error-in-a-chunk", 52, suffix="bin")
def invoke_chat_error() -> Built:
    """The model's own error object comes in a chunk, between two calls: what is open goes."""
    one, two = Call("call_14a", "lower_boat", '{"boat":1}'), Call("call_14b", "lower_boat", '{"boat":2')
    payloads = wire.chat_payloads(Turn([one, two], id="14", model="openai.gpt-oss-20b-1:0"))[:-2]
    stream = bedrock.chunks([*payloads, {"error": {"message": "engine died", "code": 500}}])
    dropped = [drop(call.id, call.name, "aborted", call.arguments) for call in (one, two)]
    return stream, expect(reason="error", dropped=dropped, faults=["provider_error"])


# Cohere's models, chat version 1


@case("bedrock-invoke-cohere-v1/single-call", 8, 22, 98, suffix="bin")
def invoke_v1_single() -> Built:
    """A plan, one call as text in pieces, then told again as an object, twice."""
    call = Call("", "query_current", '{"strait":"Pentland Firth","at":"06:40"}')
    turn = Turn([call], text="I will look at the current.", id="5a3e-v1")
    found = good(None, "query_current", {"strait": "Pentland Firth", "at": "06:40"})
    return bedrock.render_invoke_cohere_v1(turn, every(7)), expect(
        found, anomalies=["finish_reason_mismatch"], text=""
    )


@case("bedrock-invoke-cohere-v1/parallel", 8, 22, 98, suffix="bin")
def invoke_v1_parallel() -> Built:
    """Two calls of one tool; nothing opens the stream, and they are told whole only."""
    calls = [Call("", "tow", '{"barge":"Ida","to":"Emden"}'), Call("", "tow", '{"barge":"Ute","to":"Leer"}')]
    payloads = [cohere.generation(calls, "Two tows."), cohere.stream_end("5a3f-v1", "Two tows.", calls)]
    found = (
        good(None, "tow", {"barge": "Ida", "to": "Emden"}),
        good(None, "tow", {"barge": "Ute", "to": "Leer"}),
    )
    return bedrock.chunks(bedrock.measured(payloads)), expect(*found)


@case("bedrock-invoke-cohere-v1/zero-argument", 8, 22, 26, suffix="bin")
def invoke_v1_zero() -> Built:
    """A tool without parameters beside one with some: no text streams, the object is empty."""
    calls = [Call("", "list_moorings", "{}"), Call("", "read_log", '{"day":7}')]
    payloads = [
        cohere.stream_start("5a40-v1"),
        cohere.chunk(0, name="list_moorings"),
        cohere.chunk(1, name="read_log"),
        cohere.chunk(1, text='{"day":7}'),
        cohere.generation(calls),
        cohere.stream_end("5a40-v1", "", calls),
    ]
    found = (good(None, "list_moorings", {}), good(None, "read_log", {"day": 7}))
    return bedrock.chunks(payloads), expect(*found)


@case("bedrock-invoke-cohere-v1/cut-inside-a-message", 51, suffix="bin")
def invoke_v1_cut() -> Built:
    """The connection drops inside the message that would have told the call whole: its looks are not enough."""
    call = Call("", "scuttle", '{"ship":"all"}')
    payloads = cohere.v1_payloads(Turn([call], id="5a41-v1"), every(6))[:-1]
    dropped = drop(None, "scuttle", "unterminated", call.arguments)
    return bedrock.chunks(payloads)[:-11], expect(
        reason=None, dropped=[dropped], faults=["undecodable_frame"], anomalies=["missing_finish"]
    )


@case("bedrock-invoke-cohere-v1/throttled", 52, suffix="bin")
def invoke_v1_throttled() -> Built:
    """Bedrock's exception comes after the first pieces of a call."""
    call = Call("", "bunker", '{"tonnes":120,"oil":"MGO"}')
    payloads = cohere.v1_payloads(Turn([call], id="5a42-v1"), every(9))
    stream = bedrock.chunks(payloads[:3]) + bedrock.exception(
        "throttlingException", {"message": "Slow down."}
    )
    dropped = drop(None, "bunker", "aborted", call.arguments[:9])
    return stream, expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("bedrock-invoke-cohere-v1/max-tokens", 49, suffix="bin")
def invoke_v1_length() -> Built:
    """The token limit inside a call: it was never told whole."""
    payloads = [
        cohere.stream_start("5a43-v1"),
        cohere.chunk(0, name="write_log"),
        *(cohere.chunk(0, text=piece) for piece in ('{"entry":', '"Fog, all d')),
        cohere.stream_end("5a43-v1", reason="MAX_TOKENS"),
    ]
    dropped = drop(None, "write_log", "truncated", '{"entry":"Fog, all d')
    return bedrock.chunks(bedrock.measured(payloads)), expect(reason="length", dropped=[dropped])


@case("bedrock-invoke-cohere-v1/text-in-sdk-lines", 110, suffix="ndjson")
def invoke_v1_text() -> Built:
    """An answer without calls, as an SDK decodes the chunks; the last line repeats the text, said once."""
    text = "Høyvann kl. 05:12 🌊"
    payloads = [cohere.stream_start("5a44-v1"), *(cohere.spoken(piece) for piece in every(5)(text))]
    payloads.append(cohere.stream_end("5a44-v1", text))
    return bedrock.sdk_lines(bedrock.measured(payloads)), expect(reason="stop", text=text)


# Cohere's models, chat version 2


@case("bedrock-invoke-cohere-v2/single-call", suffix="bin")
def invoke_v2_single() -> Built:
    """A plan, then one call in small pieces."""
    call = Call("set_buoy_q7n2", "set_buoy", '{"buoy": "A3", "light": "Fl(2) 10s"}')
    turn = Turn([call], text="I will set buoy A3.", id="5b01-v2")
    wanted = good(call.id, call.name, {"buoy": "A3", "light": "Fl(2) 10s"})
    return bedrock.render_invoke_cohere_v2(turn, every(6)), expect(wanted, text="")


@case("bedrock-invoke-cohere-v2/parallel-after-thinking", suffix="bin")
def invoke_v2_parallel() -> Built:
    """Thinking, then two calls whose letters are cut between chunks of base64."""
    one = Call("greet_ship_1", "greet_ship", '{"text":"Ahoi, Łódź 🛶"}')
    two = Call("greet_ship_2", "greet_ship", '{"text":"Grüezi"}')
    turn = Turn([one, two], reasoning="Two ships – two greetings.", id="5b02-v2")  # noqa: RUF001
    return bedrock.render_invoke_cohere_v2(turn, every(1)), expect(
        good(one.id, one.name, {"text": "Ahoi, Łódź 🛶"}), good(two.id, two.name, {"text": "Grüezi"})
    )


@case("bedrock-invoke-cohere-v2/zero-argument", 26, suffix="bin")
def invoke_v2_zero() -> Built:
    """Two tools without parameters: no piece at all, and an empty object."""
    one, two = Call("list_fog_1", "list_fog", ""), Call("list_ice_1", "list_ice", "{}")
    return bedrock.render_invoke_cohere_v2(Turn([one, two], id="5b03-v2")), expect(
        good(one.id, one.name, {}, "empty"), good(two.id, two.name, {})
    )


@case("bedrock-invoke-cohere-v2/cut-between-chunks", 51, suffix="bin")
def invoke_v2_cut() -> Built:
    """The connection ends after a whole chunk: one call was ended by the wire, one was not."""
    one, two = Call("reef_1", "reef", '{"sail":"main"}'), Call("reef_2", "reef", '{"sail":"fore"}')
    payloads = cohere.v2_payloads(Turn([one, two], id="5b04-v2"), every(5))[:-2]
    dropped = drop(two.id, two.name, "unterminated", two.arguments)
    return bedrock.chunks(payloads), expect(
        good(one.id, one.name, {"sail": "main"}),
        reason=None,
        dropped=[dropped],
        anomalies=["missing_finish"],
    )


@case("bedrock-invoke-cohere-v2/model-timeout", 52, suffix="bin")
def invoke_v2_timeout() -> Built:
    """The model takes too long inside the second call; the first one was whole."""
    one, two = Call("heave_1", "heave", '{"line":"spring"}'), Call("heave_2", "heave", '{"line":"stern"}')
    payloads = cohere.v2_payloads(Turn([one, two], id="5b05-v2"), every(8))[:-3]
    stream = bedrock.chunks(payloads) + bedrock.exception("modelTimeoutException", {"message": "Timed out."})
    dropped = drop(two.id, two.name, "aborted", two.arguments[:8])
    return stream, expect(
        good(one.id, one.name, {"line": "spring"}),
        reason="error",
        dropped=[dropped],
        faults=["provider_error"],
    )


@case("bedrock-invoke-cohere-v2/chunk-without-base64", 110, suffix="bin")
def invoke_v2_hole() -> Built:
    """A chunk inside a call cannot be read; what is left would still parse, and is not believed."""
    call = Call("clear_deck_1", "clear_deck", '{"deck":"lower, aft"}')
    payloads = cohere.call_payloads(0, call, lambda _: ['{"deck":"lower', '"}'])
    stream = bedrock.chunks([cohere.message_start("5b06-v2"), *payloads[:2]])
    stream += bedrock.event("chunk", {"bytes": "#not base64#", "p": "abc"})
    stream += bedrock.chunks([*payloads[2:], cohere.message_end()])
    dropped = drop(call.id, call.name, "incomplete_input", '{"deck":"lower"}')
    return stream, expect(reason="malformed", dropped=[dropped], faults=["undecodable_frame"])


@case("bedrock-invoke-cohere-v2/length", 49, suffix="bin")
def invoke_v2_length() -> Built:
    """The token limit inside a call that was not ended."""
    call = Call("draw_chart_1", "draw_chart", '{"points":[[1,2],[3')
    payloads = [
        cohere.message_start("5b07-v2"),
        *cohere.call_payloads(0, call, every(7), ended=False),
        cohere.message_end("MAX_TOKENS"),
    ]
    dropped = drop(call.id, call.name, "truncated", call.arguments)
    return bedrock.chunks(bedrock.measured(payloads)), expect(reason="length", dropped=[dropped])


# Models that only complete text


@case("bedrock-invoke-legacy-completions/text", suffix="bin")
def invoke_legacy() -> Built:
    """A model that only completes text: the chunks hold text and a reason."""
    texts = ("The tide", " turns at", " noon – Flut! 🌊")  # noqa: RUF001
    payloads = [wire.legacy_chunk(text, id="cmpl-b1", model="imported") for text in texts]
    payloads.append(wire.legacy_chunk("", finish="stop", id="cmpl-b1", model="imported"))
    return bedrock.chunks(payloads), expect(reason="stop", text="".join(texts))


@case("bedrock-invoke-legacy-completions/llama", 62, suffix="bin")
def invoke_llama() -> Built:
    """Llama: pieces of a generation, one of them a call written as text, which stays text; then the reason."""
    texts = ["\n\n", '{"name": "open_lock",', ' "parameters": {"lock": 3}}', " – ja, 🔓"]  # noqa: RUF001
    return bedrock.chunks(bedrock.measured(bedrock.llama_payloads(texts))), expect(
        reason="stop", text="".join(texts)
    )


@case("bedrock-invoke-legacy-completions/mistral", suffix="bin")
def invoke_mistral_text() -> Built:
    """Mistral's text completion: a list of one output, the reason beside the last text."""
    texts = ["Ebb ", "sets ", "west."]
    payloads = bedrock.measured(bedrock.mistral_payloads(texts))
    return bedrock.chunks(payloads), expect(reason="stop", text="Ebb sets west.")


@case("bedrock-invoke-legacy-completions/titan", suffix="bin")
def invoke_titan() -> Built:
    """Titan: the index counts the chunks and is no choice, and the reason is FINISH."""
    texts = ["\nBot: The", " lock opens", " at seven."]
    payloads = bedrock.measured(bedrock.titan_payloads(texts))
    return bedrock.chunks(payloads), expect(reason="stop", text="".join(texts))


@case("bedrock-invoke-legacy-completions/titan-whole", 41, 49, suffix="bin")
def invoke_titan_whole() -> Built:
    """Titan often sends one chunk with everything in it; this one ends at the token limit."""
    payloads = bedrock.measured(bedrock.titan_payloads(["\nBot: High water is at"], "LENGTH"))
    return bedrock.chunks(payloads), expect(reason="length", text="\nBot: High water is at")


@case("bedrock-invoke-legacy-completions/length", 49, suffix="bin")
def invoke_llama_length() -> Built:
    """A generation that ends at the token limit."""
    return bedrock.chunks(bedrock.llama_payloads(["Twelve", " lo"], "length")), expect(
        reason="length", text="Twelve lo"
    )


@case("bedrock-invoke-legacy-completions/cut-inside-a-message", 51, suffix="bin")
def invoke_llama_cut() -> Built:
    """The connection drops inside a message: what was said stays said, and nothing ended the turn."""
    stream = bedrock.chunks(bedrock.llama_payloads(["Fog", " lifts", " soon"])[:3])
    return stream[:-5], expect(
        reason=None, text="Fog lifts", faults=["undecodable_frame"], anomalies=["missing_finish"]
    )


@case("bedrock-invoke-legacy-completions/service-unavailable", 52, suffix="bin")
def invoke_mistral_exception() -> Built:
    """Bedrock's exception ends the stream between two pieces of text."""
    stream = bedrock.chunks(bedrock.mistral_payloads(["Gale ", "warning"])[:1])
    stream += bedrock.exception("serviceUnavailableException", {"message": "Try again."})
    return stream, expect(reason="error", text="Gale ", faults=["provider_error"])


@case("bedrock-invoke-legacy-completions/wrong-checksum", 110, suffix="bin")
def invoke_titan_crc() -> Built:
    """One bit of the second chunk changed: its text is not told, nor anything after it."""
    payloads = bedrock.titan_payloads(["Wind", " is", " fair"])
    stream = bedrock.chunks(payloads[:1]) + damaged(payloads[1]) + bedrock.chunks(payloads[2:])
    return stream, expect(reason="error", text="Wind", faults=["bad_crc"])


@case("bedrock-invoke-legacy-completions/sdk-lines", 110, suffix="ndjson")
def invoke_llama_lines() -> Built:
    """Chunks as an SDK decodes them, one a line."""
    return bedrock.sdk_lines(bedrock.llama_payloads(["All", " clear"])), expect(
        reason="stop", text="All clear"
    )


# The same models' whole responses, which come without chunks


@case("legacy-completions/llama-body", 90, suffix="json")
def llama_body() -> Built:
    """A whole response of Llama, pretty-printed."""
    body: JSON = {"generation": "\n\nAt 05:12.", "prompt_token_count": 25, "generation_token_count": 8}
    data = json.dumps(body | {"stop_reason": "stop"}, indent=2).encode()
    return data, expect(reason="stop", text="\n\nAt 05:12.")


@case("legacy-completions/mistral-body", 49, 90, suffix="json")
def mistral_body() -> Built:
    """A whole response of Mistral's text completion, cut by the token limit."""
    data = wire.compact(bedrock.mistral_payloads(["The quay was bui"], "length")[0]).encode()
    return data, expect(reason="length", text="The quay was bui")


@case("legacy-completions/titan-body", 90, suffix="json")
def titan_body() -> Built:
    """A whole response of Titan holds its text in a list of results; its reasons are words of its own."""
    result = {"tokenCount": 9, "outputText": "\nBot: No.", "completionReason": "CONTENT_FILTERED"}
    data = wire.compact({"inputTextTokenCount": 11, "results": [result]}).encode()
    return data, expect(reason="content_filter", text="\nBot: No.")
