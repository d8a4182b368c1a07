"""Recordings to be of Amazon Bedrock: binary event streams, and what SDKs and proxies make of them."""

from __future__ import annotations

import json

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
