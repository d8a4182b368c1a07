"""Recordings to be of Amazon Bedrock: binary event streams, and what SDKs and proxies make of them."""

from __future__ import annotations

import base64
import json

from tests.support import encode as wire
from tests.support import encode_bedrock as bedrock
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import Call, Turn, every

__all__: list[str] = []

# ConverseStream


@case("bedrock-converse/single-call", suffix="bin")
def converse_single() -> Built:
    """A sentence, then one call in small pieces; every payload is padded, usage comes last."""
    call = Call("tooluse_kT1lSgateQ2", "read_gauge", '{"station": "Ems-Mitte", "since": "06:00"}')
    turn = Turn([call], text="I will read the gauge.")
    wanted = good(call.id, call.name, {"station": "Ems-Mitte", "since": "06:00"})
    return bedrock.render_converse(turn, every(7)), expect(wanted)


@case("bedrock-converse/parallel-after-reasoning", suffix="bin")
def converse_parallel() -> Built:
    """Signed reasoning and text, then two calls whose blocks follow each other."""
    left = Call("tooluse_9sLockA", "open_lock", '{"lock":"Anderten","chamber":1}')
    right = Call("tooluse_9sLockB", "open_lock", '{"lock":"Anderten","chamber":2}')
    turn = Turn([left, right], text="Both chambers.", reasoning="Two barges wait, so both chambers open.")
    calls = (
        good(left.id, "open_lock", {"lock": "Anderten", "chamber": 1}),
        good(right.id, "open_lock", {"lock": "Anderten", "chamber": 2}),
    )
    return bedrock.render_converse(turn, every(11)), expect(*calls)


@case("bedrock-converse/zero-argument", 26, suffix="bin")
def converse_zero() -> Built:
    """Three tools without parameters: no piece at all, one empty piece, one empty object."""
    events = [
        ("messageStart", {"role": "assistant"}),
        *bedrock.converse_call(0, Call("tooluse_z0", "list_ferries", "")),
        *bedrock.converse_call(1, Call("tooluse_z1", "list_tugs", ""), lambda text: [text]),
        *bedrock.converse_call(2, Call("tooluse_z2", "list_pilots", "{}")),
        *bedrock.converse_stop("tool_use"),
    ]
    calls = (
        good("tooluse_z0", "list_ferries", {}, "empty"),
        good("tooluse_z1", "list_tugs", {}, "empty"),
        good("tooluse_z2", "list_pilots", {}, "exact"),
    )
    return bedrock.converse_stream(events), expect(*calls)


@case("bedrock-converse/cut-inside-a-message", 51, suffix="bin")
def converse_cut() -> Built:
    """The connection drops inside a binary message of the second call; the first one was whole before."""
    first = Call("tooluse_cutA", "note_draught", '{"metres":4.1}')
    second = Call("tooluse_cutB", "note_cargo", '{"tonnes":820,"goods":"gravel"}')
    stream = bedrock.converse_stream(bedrock.converse_events(Turn([first, second]), every(6))[:-3])
    seen = second.arguments[: len(second.arguments) // 6 * 6]  # the last piece is the cut one
    return stream[:-9], expect(
        good(first.id, first.name, {"metres": 4.1}),
        dropped=[drop(second.id, second.name, "unterminated", seen)],
        faults=["undecodable_frame"],
        reason=None,
        anomalies=["missing_finish"],
    )


@case("bedrock-converse/stream-exception", 52, suffix="bin")
def converse_exception() -> Built:
    """The model fails inside a call: a message of type exception ends the stream."""
    call = Call("tooluse_exc7", "book_berth", '{"ship":"Amazone","length":86}')
    events = bedrock.converse_events(Turn([call]), every(8))
    told = {"message": "The model stream failed.", "originalStatusCode": 424, "originalMessage": "reset"}
    stream = bedrock.converse_stream(events[:4]) + bedrock.exception("modelStreamErrorException", told)
    dropped = drop(call.id, call.name, "aborted", call.arguments[:16])
    return stream, expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("bedrock-converse/unmodelled-error", 52, suffix="bin")
def converse_error() -> Built:
    """An error that tells itself only in headers comes between two blocks: the closed call was not decided yet."""
    call = Call("tooluse_err3", "ring_bell", '{"times":2}')
    events = bedrock.converse_events(Turn([call]))
    stream = bedrock.converse_stream(events[:4]) + bedrock.error("InternalFailure", "Something broke.")
    dropped = drop(call.id, call.name, "aborted", call.arguments)
    return stream, expect(reason="error", dropped=[dropped], faults=["provider_error"])


@case("bedrock-converse/length-closes-the-block", 49, suffix="bin")
def converse_length() -> Built:
    """The token limit closes the block of a call whose text parses by accident, with a member missing."""
    call = Call("tooluse_len5", "set_signal", '{"light":"red"}')
    turn = Turn([call], text="Stopping traffic.", stopped="length")
    dropped = drop(call.id, call.name, "truncated", call.arguments)
    return bedrock.render_converse(turn, every(4)), expect(reason="length", dropped=[dropped])


@case("bedrock-converse/malformed-tool-use", suffix="bin")
def converse_malformed() -> Built:
    """Bedrock calls the tool use malformed: what is not decided by then is dropped, though its text parses."""
    good_one = Call("tooluse_mA", "check_tide", '{"at":"noon"}')
    bad_one = Call("tooluse_mB", "check_wind", '{"at":"noon"}')
    events = bedrock.converse_events(Turn([good_one, bad_one]), every(5))[:-2]
    events += bedrock.converse_stop("malformed_tool_use")
    return bedrock.converse_stream(events), expect(
        good(good_one.id, good_one.name, {"at": "noon"}),
        dropped=[drop(bad_one.id, bad_one.name, "aborted", bad_one.arguments)],
    )


@case("bedrock-converse/wrong-checksum", suffix="bin")
def converse_crc() -> Built:
    """One bit of a payload changed on the way; the text would still parse, and is not believed."""
    call = Call("tooluse_crc1", "open_sluice", '{"centimetres":15}')
    events = bedrock.converse_events(Turn([call]))
    damaged = bytearray(bedrock.converse_stream(events))
    damaged[damaged.index(b"15}")] ^= 0x08  # 15 becomes 95
    dropped = drop(call.id, call.name, "aborted", "")
    return bytes(damaged), expect(reason="error", dropped=[dropped], faults=["bad_crc"])


@case("bedrock-converse/server-tool", 88, suffix="bin")
def converse_server() -> Built:
    """Nova searches by itself, in the order of blocks that it likes; usage comes before the stop reason."""
    result = {"toolUseId": "tooluse_web1", "type": "nova_grounding_result", "status": "success"}
    web = {"location": {"web": {"url": "https://example.org/locks", "domain": "example.org"}}}
    stop, metadata = bedrock.converse_stop("end_turn")
    events = [
        ("messageStart", {"role": "assistant"}),
        *bedrock.converse_call(
            0, Call("tooluse_web1", "nova_grounding", '{"query":"locks"}'), type="server_tool_use"
        ),
        ("contentBlockStart", {"contentBlockIndex": 1, "start": {"toolResult": result}}),
        ("contentBlockDelta", {"contentBlockIndex": 1, "delta": {"toolResult": [{"text": "[hidden]"}]}}),
        ("contentBlockStop", {"contentBlockIndex": 1}),
        *bedrock.converse_text(2, "There are twelve locks.", every(9)),
        ("contentBlockDelta", {"contentBlockIndex": 3, "delta": {"citation": web}}),
        ("contentBlockStop", {"contentBlockIndex": 3}),
        metadata,
        stop,
    ]
    found = {"id": "tooluse_web1", "name": "nova_grounding", "arguments": {"query": "locks"}}
    return bedrock.converse_stream(events), expect(reason="stop", server=[found])


@case("bedrock-converse/sdk-lines", 35, suffix="ndjson")
def converse_lines() -> Built:
    """Events as an SDK decodes them, one a line; an escape pair is cut in two, the first block was not stopped."""
    first = Call("tooluse_ln1", "name_boat", '{"name":"Æsa 🚢","flag":"é"}')
    second = Call("tooluse_ln2", "paint_boat", '{"colour":"blau"}')
    cut = first.arguments.index("🚢")
    halves = ["\ud83d", "\udea2"]
    pieces = [first.arguments[:cut] + halves[0], halves[1] + first.arguments[cut + 1 :]]
    events = [
        ("messageStart", {"role": "assistant"}),
        *bedrock.converse_text(0, "Ahoi… "),
        *bedrock.converse_call(1, first, lambda _: pieces)[:-1],
        *bedrock.converse_call(2, second, every(5)),
        *bedrock.converse_stop("tool_use"),
    ]
    lines = [json.dumps({name: payload}).encode() + b"\n" for name, payload in events]
    return b"".join(lines), expect(
        good(first.id, first.name, {"name": "Æsa 🚢", "flag": "é"}),
        good(second.id, second.name, {"colour": "blau"}),
    )


@case("bedrock-converse/whole-body", 22, 26, 90, suffix="json")
def converse_body() -> Built:
    """The body of Converse, pretty-printed: inputs are objects, one of them is empty."""
    calls = [
        Call("tooluse_b1", "moor", '{"berth": 7, "lines": ["bow", "stern"]}'),
        Call("tooluse_b2", "sound_horn", "{}"),
    ]
    body = bedrock.body_converse(Turn(calls, text="Mooring now.", reasoning="Berth 7 is free."))
    return json.dumps(body, indent=2).encode(), expect(
        good("tooluse_b1", "moor", {"berth": 7, "lines": ["bow", "stern"]}),
        good("tooluse_b2", "sound_horn", {}, "empty"),
    )


# InvokeModelWithResponseStream: Anthropic's models


@case("bedrock-invoke-anthropic/single-call", suffix="bin")
def invoke_anthropic_single() -> Built:
    """A sentence and a call; the last chunk holds what Bedrock measured."""
    call = Call("toolu_bdrk_01Buoy", "move_buoy", '{"buoy": "E7", "metres": -12.5}')
    turn = Turn([call], text="Moving it.", id="bdrk_01buoy", model="claude-sonnet-4-5-20250929")
    wanted = good(call.id, call.name, {"buoy": "E7", "metres": -12.5})
    return bedrock.render_invoke_anthropic(turn, every(9)), expect(wanted)


@case("bedrock-invoke-anthropic/parallel-after-thinking", suffix="bin")
def invoke_anthropic_parallel() -> Built:
    """Signed thinking, then two calls with letters of two to four bytes, some cut between chunks of base64."""
    one = Call("toolu_bdrk_01Ka", "greet_crew", '{"text":"Grüß Gott, Łódź 🛶","to":"日本"}')
    two = Call("toolu_bdrk_01Kb", "greet_crew", '{"text":"Ahoj","to":"Plzeň"}')
    turn = Turn([one, two], reasoning="Two crews – two greetings.", id="bdrk_01crew", model="claude-opus-4-5")  # noqa: RUF001
    return bedrock.render_invoke_anthropic(turn, every(3)), expect(
        good(one.id, one.name, {"text": "Grüß Gott, Łódź 🛶", "to": "日本"}),
        good(two.id, two.name, {"text": "Ahoj", "to": "Plzeň"}),
    )


@case("bedrock-invoke-anthropic/zero-argument", 26, suffix="bin")
def invoke_anthropic_zero() -> Built:
    """A tool without parameters: its block holds one empty piece."""
    call = Call("toolu_bdrk_01Zero", "whistle", "")
    turn = Turn([call], id="bdrk_01zero", model="claude-haiku-4-5-20251001")
    wanted = good(call.id, call.name, {}, "empty")
    return bedrock.render_invoke_anthropic(turn, lambda text: [text]), expect(wanted)


@case("bedrock-invoke-anthropic/cut-between-chunks", 51, suffix="bin")
def invoke_anthropic_cut() -> Built:
    """The connection ends after a whole chunk, with the block closed and no stop reason in sight."""
    call = Call("toolu_bdrk_01Cut", "weigh_anchor", '{"chain":7}')
    turn = Turn([call], id="bdrk_01cut", model="claude-haiku-4-5-20251001")
    events = wire.anthropic_payloads(turn, every(4))[:-2]
    dropped = drop(call.id, call.name, "unterminated", call.arguments)
    return bedrock.chunks(events), expect(reason=None, dropped=[dropped], anomalies=["missing_finish"])


@case("bedrock-invoke-anthropic/throttled", 52, suffix="bin")
def invoke_anthropic_throttled() -> Built:
    """Bedrock's own exception comes inside the second of two calls."""
    first = Call("toolu_bdrk_01Ta", "fuel", '{"litres":400}')
    second = Call("toolu_bdrk_01Tb", "fuel", '{"litres":650}')
    events = wire.anthropic_payloads(
        Turn([first, second], id="bdrk_01slow", model="claude-opus-4-5"), every(8)
    )
    told = {"message": "Too many tokens, please wait before trying again."}
    stream = bedrock.chunks(events[:-4]) + bedrock.exception("throttlingException", told)
    dropped = drop(second.id, second.name, "aborted", second.arguments[:8])
    done = good(first.id, first.name, {"litres": 400})
    return stream, expect(done, reason="error", dropped=[dropped], faults=["provider_error"])


@case("bedrock-invoke-anthropic/chunk-without-base64", suffix="bin")
def invoke_anthropic_hole() -> Built:
    """A chunk in the middle of a call cannot be read; what is left would still parse, and is not believed."""
    call = Call("toolu_bdrk_01Hole", "delete_log", '{"path":"/var/log/tide/old"}')
    events = wire.anthropic_payloads(Turn([call], id="bdrk_01hole", model="claude-opus-4-5"))[:-4]
    head, lost, tail = '{"path":"/var/log', "/tide/old", '"}'
    stream = bedrock.chunks([*events[:3], wire.anthropic_delta(0, "input_json_delta", head)])
    stream += bedrock.event("chunk", {"bytes": "*" + base64.b64encode(lost.encode()).decode(), "p": "abcde"})
    rest = [wire.anthropic_delta(0, "input_json_delta", tail), wire.anthropic_close(0)]
    stream += bedrock.chunks([*rest, *wire.anthropic_stop("tool_use")])
    dropped = drop(call.id, call.name, "incomplete_input", head + tail)
    return stream, expect(reason="malformed", dropped=[dropped], faults=["undecodable_frame"])


@case("bedrock-invoke-anthropic/sdk-lines", 77, suffix="ndjson")
def invoke_anthropic_lines() -> Built:
    """Chunks as an SDK decodes them, one a line; the first message is empty, no block is stopped."""
    one = Call("toolu_bdrk_01La", "coil_rope", '{"metres":30}')
    two = Call("toolu_bdrk_01Lb", "splice_rope", '{"eye":true}')
    events = [
        {"type": "message_start"},
        *wire.anthropic_call(0, one, every(6))[:-1],
        *wire.anthropic_call(1, two, every(6))[:-1],
        *wire.anthropic_stop("tool_use"),
    ]
    chunks = [{"chunk": {"bytes": base64.b64encode(json.dumps(event).encode()).decode()}} for event in events]
    return wire.json_lines(chunks), expect(
        good(one.id, one.name, {"metres": 30}), good(two.id, two.name, {"eye": True})
    )


# InvokeModelWithResponseStream: Amazon's Nova


@case("bedrock-invoke-nova/single-call", 61, suffix="bin")
def invoke_nova_single() -> Built:
    """Nova thinks aloud in its text, then calls; usage and what Bedrock measured come last."""
    call = Call("0f6b1c2e-51aa-4d1f-9d7c-2b0a7e1f3c55", "get_water_level", '{"gauge":"Porta"}')
    turn = Turn([call], text="<thinking> The gauge is Porta. </thinking>\n\n")
    return bedrock.render_invoke_nova(turn, every(12)), expect(good(call.id, call.name, {"gauge": "Porta"}))


@case("bedrock-invoke-nova/parallel-sparse", 4, suffix="bin")
def invoke_nova_parallel() -> Built:
    """The calls' blocks have indices far from each other; each comes in one piece, with spaces in its JSON."""
    one = Call("7d3a5c10-0001-4f00-8a11-aaaaaaaaaaaa", "get_level", '{"gauge": "Minden", "unit": "cm"}')
    two = Call("7d3a5c10-0002-4f00-8a11-bbbbbbbbbbbb", "get_flow", '{"gauge": "Minden"}')
    events = [
        ("messageStart", {"role": "assistant"}),
        *bedrock.converse_text(0, "Level and flow.", every(5)),
        *bedrock.converse_call(24, one),
        *bedrock.converse_call(31, two),
        *bedrock.converse_stop("tool_use"),
    ]
    return bedrock.chunks({name: payload} for name, payload in events), expect(
        good(one.id, one.name, {"gauge": "Minden", "unit": "cm"}), good(two.id, two.name, {"gauge": "Minden"})
    )


@case("bedrock-invoke-nova/zero-argument", 26, suffix="bin")
def invoke_nova_zero() -> Built:
    """Two tools without parameters: an empty object, and nothing at all."""
    one = Call("c4d1f6aa-1000-4b00-9000-000000000001", "list_locks", "{}")
    two = Call("c4d1f6aa-1000-4b00-9000-000000000002", "list_weirs", "")
    return bedrock.render_invoke_nova(Turn([one, two])), expect(
        good(one.id, one.name, {}, "exact"), good(two.id, two.name, {}, "empty")
    )


@case("bedrock-invoke-nova/cut-inside-a-chunk", 51, suffix="bin")
def invoke_nova_cut() -> Built:
    """The connection drops inside the binary message that would have closed the block."""
    call = Call("e5e5e5e5-2222-4c4c-8d8d-333333333333", "set_depth", '{"metres":2.8}')
    stream = bedrock.chunks(bedrock.nova_payloads(Turn([call]), every(10))[:-2])
    dropped = drop(call.id, call.name, "unterminated", call.arguments)
    return stream[:-1], expect(
        reason=None, dropped=[dropped], faults=["undecodable_frame"], anomalies=["missing_finish"]
    )


@case("bedrock-invoke-nova/model-timeout", 52, suffix="bin")
def invoke_nova_timeout() -> Built:
    """The model takes too long after the first text: nothing was called, and the turn failed."""
    payloads = bedrock.nova_payloads(Turn(text="One moment, I look at the charts."), every(11))
    stream = bedrock.chunks(payloads[:3])
    stream += bedrock.exception("modelTimeoutException", {"message": "Model has timed out."})
    return stream, expect(reason="error", faults=["provider_error"])


@case("bedrock-invoke-nova/chunk-not-utf-8", suffix="bin")
def invoke_nova_utf8() -> Built:
    """A chunk inside a call holds bytes that are not UTF-8: its text is lost, and with it the call."""
    call = Call("b0b0b0b0-4444-4a4a-8b8b-555555555555", "name_quay", '{"name":"K\u00e4the"}')
    payloads = bedrock.nova_payloads(Turn([call]), every(11))
    coded = wire.compact(payloads[3]).encode("latin-1")
    assert b"the" in coded
    dropped = drop(call.id, call.name, "incomplete_input", call.arguments[:11])
    stream = bedrock.chunks([*payloads[:3], coded.replace(b"the", b"\xe4the"), *payloads[4:]])
    return stream, expect(reason="malformed", dropped=[dropped], faults=["invalid_utf8"])


@case("bedrock-invoke-nova/length", 49, suffix="bin")
def invoke_nova_length() -> Built:
    """The first call was whole when the second began, the second one was cut by the token limit."""
    one = Call("a1a1a1a1-6666-4d4d-8e8e-777777777777", "plot", '{"x":[1,2]}')
    two = Call("a1a1a1a1-6666-4d4d-8e8e-888888888888", "plot", '{"x":[3,')
    dropped = drop(two.id, two.name, "truncated", two.arguments)
    return bedrock.render_invoke_nova(Turn([one, two], stopped="length"), every(5)), expect(
        good(one.id, one.name, {"x": [1, 2]}), reason="length", dropped=[dropped]
    )
