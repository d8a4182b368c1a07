"""Recordings of Cohere's dialects: chat version 2 and version 1."""

from __future__ import annotations

import json

from tests.support import encode_cohere as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import JSON, Call, Turn, compact, every, json_lines, sse
from tests.support.encode_cohere import call_payloads, event, message_end, message_start, stream_v2

__all__: list[str] = []


def quay(*, n: int = 3) -> Call:
    """Return a call with pretty-printed arguments, as the Command models write them."""
    return Call(
        "assign_quay_5t0w9zk2m1xa", "assign_quay", json.dumps({"ship": "Håkon VII", "quay": n}, indent=4)
    )


# Version 2


@case("cohere-v2/single-call")
def single_call() -> Built:
    """A plan, then one call in small pieces."""
    call = quay()
    turn = Turn([call], text="I will assign quay 3 to Håkon VII.", id="6d1c0c52-7a1e-4a57-9a0e-2f6a1a3f7c01")
    arguments = {"ship": "Håkon VII", "quay": 3}
    return wire.render_v2(turn, every(5)), expect(good(call.id, call.name, arguments))


@case("cohere-v2/thinking-parallel", 26)
def thinking_parallel() -> Built:
    """Thinking, then three calls; one of them has no arguments, and so no delta at all."""
    calls = [
        Call("list_ships_w3c1", "list_ships", '{"flag": "NO", "limit": 10}'),
        Call("count_berths_8k2d", "count_berths", ""),
        Call("list_ships_p0q7", "list_ships", '{"flag": "FR", "limit": 10}'),
    ]
    turn = Turn(calls, reasoning="Two flags, and the berths.", id="1bbe60bc-652f-42a7-b446-223df4f51019")
    found = (
        good(calls[0].id, "list_ships", {"flag": "NO", "limit": 10}),
        good(calls[1].id, "count_berths", {}, "empty"),
        good(calls[2].id, "list_ships", {"flag": "FR", "limit": 10}),
    )
    return wire.render_v2(turn, every(4)), expect(*found)


@case("cohere-v2/text-with-citations", 35)
def text_with_citations() -> Built:
    """Text in two blocks with a citation between the pieces, named by type only; no call."""
    citation = {"start": 0, "end": 5, "text": "Bølge", "sources": [], "type": "TEXT_CONTENT"}
    payloads = [
        message_start("a7e48140-56c7-47e1-930a-26a8987e7d47"),
        *wire.content(0, "Bølgehøyde: 2,5 m \U0001f30a", every(3)),
        event("citation-start", {"citations": citation}, index=0),
        event("citation-end", index=0),
        *wire.content(1, " og minkende.", every(6)),
        message_end("COMPLETE", 14),
    ]
    return b"".join(sse(payload) for payload in payloads), expect(reason="stop")


@case("cohere-v2/relay-lists-and-same-index", 39, 3)
def relay() -> Built:
    """A relay sends `tool_calls` as a list, drops the event names, and gives every call index 0."""
    payloads = [message_start("c0ffee00-0000-4000-8000-00000000beef")]
    for id, n in (("tow_a", 1), ("tow_b", 2)):
        payloads += call_payloads(0, Call(id, "send_tug", compact({"tug": n})), every(6), ended=n == 1)
    for payload in payloads:
        message = payload.get("delta", {}).get("message", {})
        if isinstance(message.get("tool_calls"), dict):
            message["tool_calls"] = [message["tool_calls"]]
    data = b"".join(sse(payload) for payload in [*payloads, message_end("TOOL_CALL")])
    found = (good("tow_a", "send_tug", {"tug": 1}), good("tow_b", "send_tug", {"tug": 2}))
    return data, expect(*found)


@case("cohere-v2/cut-max-tokens", 49)
def cut_max_tokens() -> Built:
    """The token limit inside the second call; the first one was ended by the wire."""
    calls = [
        Call("log_entry_1", "log_entry", '{"text": "ebb"}'),
        Call("log_entry_2", "log_entry", '{"text": "flo'),
    ]
    payloads = [message_start("f5b7a1de-0f8e-4a0f-8cf8-6f1d6c2a9a10"), *call_payloads(0, calls[0], every(8))]
    payloads += [*call_payloads(1, calls[1], every(8), ended=False), message_end("MAX_TOKENS", 24)]
    cut = drop("log_entry_2", "log_entry", "truncated", '{"text": "flo')
    found = good("log_entry_1", "log_entry", {"text": "ebb"})
    return stream_v2(payloads), expect(found, reason="length", dropped=[cut])


@case("cohere-v2/cut-before-arguments", 49, 26)
def cut_before_arguments() -> Built:
    """The token limit before the first piece: it looks like a call without arguments, and is none."""
    call = Call("open_sluice_k9", "open_sluice", "")
    payloads = [message_start("0b6a6f2e-3a53-4f3b-93d2-4a6f5b0d7e77"), wire.plan("Opening it.")]
    payloads += [*call_payloads(0, call), message_end("MAX_TOKENS", 6)]
    return stream_v2(payloads), expect(reason="length", dropped=[drop(call.id, call.name, "truncated", "")])


@case("cohere-v2/dropped-connection", 51)
def dropped_connection() -> Built:
    """The connection ends: one call was ended, one has no arguments yet, by its looks."""
    calls = [Call("moor_1", "moor", '{"lines":4}'), Call("cast_off_2", "cast_off", "")]
    payloads = [message_start("9f3f0f52-4f8d-4d8f-9b7f-0d6a3f1c2b3d"), *call_payloads(0, calls[0])]
    data = stream_v2([*payloads, *call_payloads(1, calls[1])], done=False)
    lost = drop("cast_off_2", "cast_off", "unterminated", "")
    return data, expect(good("moor_1", "moor", {"lines": 4}), dropped=[lost], anomalies=["missing_finish"])


@case("cohere-v2/error-at-the-end", 52)
def error_at_the_end() -> Built:
    """The last event is an error: what was not ended is taken back, complete by its looks or not."""
    call = Call("sound_horn_e1", "sound_horn", '{"times":3}')
    payloads = [message_start("77aa1d60-57a4-4d0b-a9a2-c55b2c6a7f3e"), *call_payloads(0, call, ended=False)]
    payloads.append(message_end("ERROR", 5, error="internal error, this has been reported"))
    lost = drop(call.id, call.name, "aborted", '{"times":3}')
    return stream_v2(payloads), expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("cohere-v2/timeout-without-error", 52)
def timeout() -> Built:
    """The reason is a timeout, and nothing else is said: an open call goes, an ended one stays."""
    calls = [
        Call("weigh_1", "weigh_anchor", '{"side":"bow"}'),
        Call("weigh_2", "weigh_anchor", '{"side":"st'),
    ]
    payloads = [message_start("1d6f5a34-6e5e-4f0e-8b1f-6f7c8d9e0a1b"), *call_payloads(0, calls[0], every(3))]
    payloads += [*call_payloads(1, calls[1], every(3), ended=False), message_end("TIMEOUT", 11)]
    lost = drop("weigh_2", "weigh_anchor", "aborted", '{"side":"st')
    found = good("weigh_1", "weigh_anchor", {"side": "bow"})
    return stream_v2(payloads), expect(found, reason="error", dropped=[lost])


@case("cohere-v2/bare-message-error", 52)
def bare_message() -> Built:
    """A gateway's error is a bare message in the middle of a call."""
    call = Call("chart_route_b2", "chart_route", '{"from":"Bergen",')
    payloads = [
        message_start("e2c7a9b8-12d4-4a56-8e90-1f2a3b4c5d6e"),
        *call_payloads(0, call, every(7), ended=False),
    ]
    data = stream_v2(payloads, done=False) + sse({"id": "req-5512", "message": "upstream connect error"})
    lost = drop(call.id, call.name, "aborted", '{"from":"Bergen",')
    return data, expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("cohere-v2/whole-body", 90, 26, suffix="json")
def whole_body() -> Built:
    """A non-streamed response: a plan and two calls, the arguments of one are the text null."""
    calls = [quay(n=7), Call("ring_out_77", "ring_out", "null")]
    turn = Turn(calls, text="Quay 7, then ring out.", id="4c2d8ce1-91e7-4b8e-8f51-9d6f8b7b0a2c")
    found = (
        good(calls[0].id, "assign_quay", {"ship": "Håkon VII", "quay": 7}),
        good(calls[1].id, "ring_out", {}, "empty"),
    )
    return compact(wire.body_v2(turn)).encode(), expect(*found)


# Version 1


def lines(*payloads: JSON) -> bytes:
    """Return a stream of version 1."""
    return json_lines(payloads)


@case("cohere-v1/single-call", 8, 22, 98, suffix="ndjson")
def v1_single_call() -> Built:
    """A plan, one call as text, and then twice as an object: the object is in force."""
    call = Call("", "query_depth", '{\n    "bank": "Dogger",\n    "unit": "fathom"\n}')
    turn = Turn([call], text="I will query the depth.", id="87a52a39-dd54-48fa-80cf-14385235c8bd")
    found = good(None, "query_depth", {"bank": "Dogger", "unit": "fathom"})
    return wire.render_v1(turn, every(6)), expect(found, anomalies=["finish_reason_mismatch"])


@case("cohere-v1/parallel-twice-the-same", 8, 26, 98, suffix="ndjson")
def v1_parallel() -> Built:
    """Three calls, two of them equal and one without arguments; told again, they stay three."""
    calls = [
        Call("", "fetch_buoy", '{"buoy":"K13","field":"vind \U0001f4a8"}'),
        Call("", "fetch_buoy", '{"buoy":"K13","field":"vind \U0001f4a8"}'),
        Call("", "fetch_time", "{}"),
    ]
    turn = Turn(calls, text="Buoys first.", id="0c9a4a3e-2d67-4c4b-bf0d-1f6f7d1f2a55")
    same = {"buoy": "K13", "field": "vind \U0001f4a8"}
    found = (good(None, "fetch_buoy", same), good(None, "fetch_buoy", same), good(None, "fetch_time", {}))
    return wire.render_v1(turn, every(9)), expect(*found)


@case("cohere-v1/objects-only", 22)
def v1_objects_only() -> Built:
    """As server-sent events, and without chunks: the calls are only told whole, with their plan."""
    calls = [Call("", "hail", '{"ship":"Ariel"}'), Call("", "hail", '{"ship":"Cutty Sark"}')]
    id = "3f1c2d4e-5b6a-4978-8877-665544332211"
    payloads = [
        wire.stream_start(id),
        wire.generation(calls, "Hailing both."),
        wire.stream_end(id, "", calls),
    ]
    found = (good(None, "hail", {"ship": "Ariel"}), good(None, "hail", {"ship": "Cutty Sark"}))
    return b"".join(sse(payload, payload["event_type"]) for payload in payloads), expect(*found)


@case("cohere-v1/text-and-search", suffix="ndjson")
def v1_text() -> Built:
    """Text in pieces between searches and citations; the last line tells it again, and it is said once."""
    id, text = "51b0c9de-1111-4222-8333-944455556666", "Høyvann kl. 05:12."
    search = {
        "is_finished": False,
        "event_type": "search-results",
        "documents": [{"id": "doc_0", "title": "Tides"}],
    }
    payloads = [wire.stream_start(id), search, *(wire.spoken(piece) for piece in every(4)(text))]
    payloads.append(
        {"is_finished": False, "event_type": "citation-generation", "citations": [{"start": 0, "end": 7}]}
    )
    return lines(*payloads, wire.stream_end(id, text)), expect(reason="stop")


@case("cohere-v1/cut-max-tokens", 49, suffix="ndjson")
def v1_cut() -> Built:
    """The token limit inside the second call: no call was told whole, so none is trusted."""
    id = "d4f0a9c2-7e21-4d35-9c1b-3a0d5e6f7a8b"
    payloads = [
        wire.stream_start(id),
        wire.chunk(0, name="stow", text='{"hold": 2}'),
        wire.chunk(1, name="stow"),
        wire.chunk(1, text='{"hold": '),
    ]
    drops = [drop(None, "stow", "truncated", '{"hold": 2}'), drop(None, "stow", "truncated", '{"hold": ')]
    return lines(*payloads, wire.stream_end(id, "", reason="MAX_TOKENS")), expect(
        reason="length", dropped=drops
    )


@case("cohere-v1/dropped-connection", 51, suffix="ndjson")
def v1_dropped() -> Built:
    """The connection ends before the calls were told whole: complete by its looks is not enough."""
    payloads = [
        wire.stream_start("aa11bb22-cc33-4d44-8e55-ff6677889900"),
        wire.chunk(0, name="jettison"),
        wire.chunk(0, text='{"cargo":"all"}'),
    ]
    lost = drop(None, "jettison", "unterminated", '{"cargo":"all"}')
    return lines(*payloads), expect(reason=None, dropped=[lost], anomalies=["missing_finish"])


@case("cohere-v1/error-limit", 52, suffix="ndjson")
def v1_error() -> Built:
    """The reason of the last line is a failure: an open call goes."""
    id = "6b7c8d9e-0f1a-4b2c-9d3e-4f5a6b7c8d9e"
    payloads = [wire.stream_start(id), wire.chunk(0, name="reef"), wire.chunk(0, text='{"sails":2}')]
    lost = drop(None, "reef", "aborted", '{"sails":2}')
    return lines(*payloads, wire.stream_end(id, "", reason="ERROR_LIMIT")), expect(
        reason="error", dropped=[lost]
    )


@case("cohere-v1/lost-chunk-healed", 101, suffix="ndjson")
def v1_healed() -> Built:
    """A chunk cannot be read; the object that tells the call again has all of it."""
    id, call = "12ab34cd-56ef-4a78-9b90-c1d2e3f4a5b6", Call("", "steer", '{"course":"NNW","for":45}')
    head, broken, tail = (
        wire.chunk(0, name="steer"),
        compact(wire.chunk(0, text='{"cou'))[:-9],
        wire.chunk(0, text=":45}"),
    )
    data = lines(wire.stream_start(id), head) + broken.encode() + b"\n"
    data += lines(tail, wire.generation([call]), wire.stream_end(id, "", [call]))
    found = good(None, "steer", {"course": "NNW", "for": 45})
    return data, expect(found, faults=["undecodable_frame"])


@case("cohere-v1/whole-body", 90, suffix="json")
def v1_body() -> Built:
    """A non-streamed response, pretty-printed, with text and one call."""
    turn = Turn(
        [Call("", "dry_dock", '{"weeks":1.5}')],
        text="Into the dock.",
        id="fe98dc76-ba54-4321-8fed-cba987654321",
    )
    found = good(None, "dry_dock", {"weeks": 1.5})
    return json.dumps(wire.body_v1(turn), indent=1).encode(), expect(found)
