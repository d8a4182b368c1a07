"""Recordings of LangChain's content-block protocol: the streams of agent servers, and of models in a process."""

from __future__ import annotations

from itertools import zip_longest

from tests.support import encode_langchain_protocol as wire
from tests.support.cases import Built, case, drop, expect, good
from tests.support.encode import ABSENT, JSON, Call, Turn, compact, every, json_array, json_lines, sse
from tests.support.encode_langchain_protocol import (
    block_delta,
    block_finish,
    block_start,
    call_blocks,
    call_chunk,
    envelope,
    finished_call,
    in_order,
    message_finish,
    message_start,
    piece,
    snapshot,
    text_block,
)

__all__: list[str] = []


def placed(messages: list[JSON], *namespace: str, node: str = "model") -> list[JSON]:
    """Return the events of a message in their envelopes."""
    return [envelope(data, namespace=namespace, node=node) for data in messages]


def in_turns(*lives: list[JSON]) -> list[JSON]:
    """Return the events of several lives, one of each at a time."""
    return [event for step in zip_longest(*lives) for event in step if event is not None]


def tool_event(kind: str, call: Call, **more: object) -> JSON:
    """Return an event of a call's execution."""
    data = {"event": kind, "tool_call_id": call.id} | more
    return envelope(data, namespace=["tools:7f"], node="tools", method="tools")


@case("langchain-protocol/single-call", 24)
def single_call() -> Built:
    """Reasoning with a signature, text and one call, whose deltas hold all so far and whose finish has it read."""
    call = Call("toolu_01Vane", "turn_vane", '{"vane":"nørre","degrees":12.5}')
    thought = text_block(0, ["The wind ", "backs."], "reasoning", extras={"signature": "EqQB"})
    blocks = (thought, text_block(1, ["Turning", "."]), call_blocks(2, call, every(6)))
    data = [message_start("lc_run--5e", model="claude-sonnet-4-5"), *in_order(*blocks)]
    data.append(message_finish("tool_use", metadata={"stop_reason": "tool_use", "model_name": "claude"}))
    begun = envelope({"event": "running", "graph_name": "mill"}, node=ABSENT, method="lifecycle")
    values = envelope({"messages": [{"type": "human", "content": "Wind?"}]}, node=ABSENT, method="values")
    found = good(call.id, call.name, {"vane": "nørre", "degrees": 12.5})
    return wire.stream([begun, values, *placed(data)]), expect(found, anomalies=[])


@case("langchain-protocol/parallel-in-pieces", 56, 105)
def parallel_pieces() -> Built:
    """Two calls of one tool whose pieces alternate; one was written with spaces, which its finish has not."""
    calls = [Call("call_m1", "grind", '{"sack": 1, "fine": true}'), Call("call_m2", "grind", '{"sack":2}')]
    one, two = (call_blocks(index, call, every(4), sliced=True) for index, call in enumerate(calls))
    data = [message_start("msg_m", model="gpt-5"), *in_turns(one[:-1], two[:-1])]
    data += [one[-1], two[-1], message_finish("tool_calls")]
    found = (
        good("call_m1", "grind", {"sack": 1, "fine": True}),
        good("call_m2", "grind", {"sack": 2}),
    )
    return wire.stream(placed(data)), expect(*found)


@case("langchain-protocol/no-arguments", 25, 26)
def no_arguments() -> Built:
    """A call without a delta, one that stands for an empty object, one whose finish has nothing, and one more."""
    blocks = [
        call_blocks(0, Call("c1", "stop_mill", "")),
        call_blocks(1, Call("c2", "stop_mill", "{}")),
        [
            block_start(2, call_chunk("c3", "stop_mill", None)),
            block_finish(2, {"type": "tool_call", "id": "c3", "name": "stop_mill", "args": None}),
        ],
        [
            block_start(3, call_chunk("c4", "brake", {}, "tool_call")),
            block_finish(3, finished_call(Call("c4", "brake", '{"hard":true}'))),
        ],
    ]
    data = [message_start("msg_n"), *(event for block in blocks for event in block)]
    found = (
        good("c1", "stop_mill", {}),
        good("c2", "stop_mill", {}),
        good("c3", "stop_mill", {}, "empty"),
        good("c4", "brake", {"hard": True}),
    )
    return wire.stream(placed([*data, message_finish("tool_calls")])), expect(*found)


@case("langchain-protocol/cut-length", 26, 49)
def cut_length() -> Built:
    """The token limit cuts a second call, and a call of the next message before its first argument.

    The bridge finishes all blocks all the same, and makes an empty object of no arguments.
    """
    kept, cut, bare = (
        Call("c1", "hoist", '{"sack":4}'),
        Call("c2", "hoist", '{"sack":'),
        Call("c3", "hoist", ""),
    )
    blocks = call_blocks(0, kept, every(3)), call_blocks(1, cut, every(3), type="invalid_tool_call")
    first = [
        message_start("m1"),
        *in_order(*blocks),
        message_finish("max_tokens"),
    ]
    second = [message_start("m2"), *call_blocks(0, bare), message_finish("length")]
    lost = [drop("c2", "hoist", "unparseable", '{"sack":'), drop("c3", "hoist", "truncated", "{}")]
    return wire.stream(placed([*first, *second])), expect(
        good("c1", "hoist", {"sack": 4}), dropped=lost, reason="length"
    )


@case("langchain-protocol/dropped-connection", 51)
def dropped_connection() -> Built:
    """The connection ends after the finish of the last block: nothing says that the message was done."""
    calls = [Call("c1", "reef", '{"sail":1}'), Call("c2", "reef", '{"sail":2}')]
    blocks = [event for index, call in enumerate(calls) for event in call_blocks(index, call, every(4))]
    lost = drop("c2", "reef", "unterminated", '{"sail":2}')
    return wire.stream(placed([message_start("msg_d"), *blocks])), expect(
        good("c1", "reef", {"sail": 1}), dropped=[lost], anomalies=["missing_finish"]
    )


@case("langchain-protocol/model-call-fails", 52)
def model_call_fails() -> Built:
    """Two agents at work: the model call of one fails inside a call, and the other goes on."""
    one, two = Call("c1", "oil", '{"wheel":"crown"}'), Call("c2", "oil", '{"wheel":"wallower"}')
    first = placed([message_start("m1"), *call_blocks(0, one, every(5))], "tools:a1")
    second = placed([message_start("m2"), *call_blocks(0, two, every(5))], "tools:b2")
    failed = placed([wire.error("overloaded", "rate_limit")], "tools:a1")
    ended = placed([message_finish("tool_calls")], "tools:b2")
    events = [*first[:-1], *second, *failed, *ended]
    lost = drop("c1", "oil", "aborted", '{"wheel":"crown"}')
    return wire.stream(events), expect(
        good("c2", "oil", {"wheel": "wallower"}), dropped=[lost], faults=["provider_error"]
    )


@case("langchain-protocol/run-fails", 52)
def run_fails() -> Built:
    """The run fails inside a call, and its message is never finished."""
    call = Call("c1", "bolt", '{"sack":9}')
    failed = envelope({"event": "failed", "error": "recursion limit"}, node=ABSENT, method="lifecycle")
    begun = placed([message_start("m1"), *call_blocks(0, call)[:-1]], "agent:1")
    lost = drop("c1", "bolt", "aborted", '{"sack":9}')
    return wire.stream([*begun, failed]), expect(reason="error", dropped=[lost], faults=["provider_error"])


@case("langchain-protocol/agents-side-by-side", 56, 115, 116)
def agents_side_by_side() -> Built:
    """Two agents speak in turns under their own namespaces; tools run; the graph above tells their messages again."""
    calls = [Call("c1", "look", '{"at":"millpond"}'), Call("c2", "look", '{"at":"race"}')]
    told = [[message_start(f"m{n}"), *call_blocks(0, call, every(7))] for n, call in enumerate(calls)]
    told = [[*data, message_finish("tool_calls")] for data in told]
    lives = [placed(data, f"agent:{n}") for n, data in enumerate(told)]
    events = in_turns(*lives)
    events += [tool_event("tool-started", calls[0], tool_name="look", input={"at": "millpond"})]
    events += [tool_event("tool-output-delta", calls[0], delta="calm")]
    events += [tool_event("tool-finished", calls[0], output={"content": "calm"})]
    again = [event for data in told for event in placed([data[0], data[1], *data[-2:]], node="agent")]
    human = placed([message_start("h1", role="human"), *text_block(0, ["Look."]), message_finish()])
    found = (good("c1", "look", {"at": "millpond"}), good("c2", "look", {"at": "race"}))
    return wire.stream([*human, *events, *again]), expect(*found, anomalies=[])


@case("langchain-protocol/two-messages-in-one-place", 115)
def one_place() -> Built:
    """A node runs two models at once, and nothing but the ids of calls tells their events apart."""
    one, two = Call("c1", "sift", '{"mesh":1}'), Call("c2", "sift", '{"mesh":2}')
    data = [
        message_start("m1"),
        block_start(0, call_chunk(one.id, one.name)),
        piece(0, '{"mesh":'),
        message_start("m2"),
        block_start(0, call_chunk(two.id, two.name)),
        snapshot(0, two.id, two.name, '{"mesh":'),
        piece(0, "1}"),
        block_start(1, call_chunk("c3", "sift")),
        piece(1, '{"mesh":3}'),
        block_finish(0, finished_call(one)),
        block_finish(0, finished_call(two)),
        message_finish("tool_calls"),
    ]
    lost = [drop("c1", "sift", "unterminated", '{"mesh":'), drop("c3", "sift", "incomplete_input", "")]
    found = (good("c2", "sift", {"mesh": 2}), good("c1", "sift", {"mesh": 1}))
    return wire.stream(placed(data)), expect(*found, dropped=lost, faults=["undecodable_frame"])


@case("langchain-protocol/runs-of-one-node", 115, suffix="ndjson")
def runs_of_one_node() -> Built:
    """Two runs of one node inside a process: each event comes with its run, in a pair."""
    calls = [Call("c1", "weigh", '{"sack":1}'), Call("c2", "weigh", '{"sack":2}')]
    lives = []
    for number, call in enumerate(calls):
        data = [message_start(ABSENT), *call_blocks(0, call, every(3), sliced=True)]
        origin = {"langgraph_node": "weigher", "run_id": f"run-{number}", "ls_provider": "openai"}
        pairs = [[event, origin] for event in (*data, message_finish("tool_calls"))]
        lives.append([envelope(pair, node=ABSENT) for pair in pairs])
    events = in_turns(*lives)
    found = (good("c1", "weigh", {"sack": 1}), good("c2", "weigh", {"sack": 2}))
    return json_lines(events), expect(*found)


@case("langchain-protocol/invalid-call", 33, 114)
def invalid_call() -> Built:
    """The relay could not read two of three calls: one that could be recovered, and one that was written for none."""
    odd, none = Call("c1", "dress", "{'stone': 'runner',}"), Call("c3", "lower", "")
    blocks = [
        [block_start(0, call_chunk("c1", "dress")), snapshot(0, "c1", "dress", odd.arguments)],
        call_blocks(1, Call("c2", "dress", '{"stone":"bed"}')),
        [block_start(2, call_chunk("c3", "lower"))],
    ]
    blocks[0].append(block_finish(0, finished_call(odd, "invalid_tool_call")))
    blocks[2].append(block_finish(2, finished_call(none, "invalid_tool_call")))
    data = [message_start("m1"), *in_order(*blocks), message_finish(reason="stop")]
    lost = [drop("c1", "dress", "unparseable", odd.arguments), drop("c3", "lower", "unparseable", "")]
    return wire.stream(placed(data)), expect(good("c2", "dress", {"stone": "bed"}), dropped=lost)


@case("langchain-protocol/server-tools", 96)
def server_tools() -> Built:
    """The provider searches by itself; a call of ours has something that its provider wants back."""
    searched = Call("srvtoolu_1", "web_search", '{"query":"spring tide"}')
    signed = finished_call(Call("c1", "sluice", '{"open":true}')) | {"extras": {"signature": "c2ln"}}
    result = {"type": "server_tool_result", "toolCallId": "srvtoolu_1", "status": "success", "output": []}
    data = [
        message_start("m1"),
        *call_blocks(0, searched, every(8), type="server_tool_call"),
        block_start(1, result),
        block_finish(1, result),
        block_start(2, call_chunk("c1", "sluice")),
        block_finish(2, signed),
        message_finish("tool_use"),
    ]
    progress = envelope({"name": "progress", "payload": {"percent": 5}}, method="custom:progress")
    server = [good("srvtoolu_1", "web_search", {"query": "spring tide"}, None)]
    found = good("c1", "sluice", {"open": True}, extra={"extras": {"signature": "c2ln"}})
    return wire.stream([progress, *placed(data)]), expect(found, server=server, anomalies=[])


@case("langchain-protocol/replayed", 91)
def replayed() -> Built:
    """The client came back inside a call, and the server tells the last events again, numbers and all."""
    call = Call("c1", "log_depth", '{"metres":2.4,"at":"sill"}')
    data = [message_start("m1"), *call_blocks(0, call, every(5), sliced=True), message_finish("tool_calls")]
    events = [envelope(event, seq=40 + number) for number, event in enumerate(data)]
    told = [*events[:5], *events[2:5], events[0], *events[5:]]
    found = good("c1", "log_depth", {"metres": 2.4, "at": "sill"}, flags=[])
    return b"".join(sse(event, "messages") for event in told), expect(found)


@case("langchain-protocol/bare", 24)
def bare() -> Built:
    """A model's own events, without an envelope: a snapshot replaces a text, pieces follow it."""
    data = [
        message_start("m1", model="gemini-3-flash"),
        *text_block(0, ["Aye", "."]),
        block_start(1, call_chunk(None, "chart")),
        snapshot(1, "c1", None, '{"from":"Vlie"}'),
        snapshot(1, "c1", "chart", '{"from":"Texel"'),
        piece(1, ',"to":"Hull"}'),
        block_finish(1, finished_call(Call("c1", "chart", '{"from":"Texel","to":"Hull"}'))),
        message_finish("STOP"),
    ]
    found = good("c1", "chart", {"from": "Texel", "to": "Hull"}, flags=["done_mismatch"])
    return b"".join(sse(event) for event in data), expect(found, anomalies=[])


@case("langchain-protocol/before-deltas-had-types", 19)
def older_server() -> Built:
    """An older server: blocks under another name, deltas in the shape of blocks with null labels, a reason beside."""
    call = Call("c1", "ring_bell", '{"strokes":8}')
    data: list[JSON] = [
        {"event": "message-start", "role": "ai", "message_id": "m1"},
        {"event": "content-block-start", "index": 0, "content_block": {"type": "text", "text": ""}},
        {
            "event": "content-block-delta",
            "index": 0,
            "content_block": {"type": "text", "text": "Eight bells."},
        },
        {"event": "content-block-start", "index": 1, "content_block": call_chunk("c1", "ring_bell")},
        {"event": "content-block-delta", "index": 1, "content": call_chunk(None, None, '{"strokes":')},
        {"event": "content-block-delta", "index": 1, "content": call_chunk(None, None, "8}")},
        {"event": "content-block-finish", "index": 1, "contentBlock": finished_call(call)},
        {"event": "message-finish", "reason": "tool_use", "usage": {"output_tokens": 12}},
    ]
    found = good("c1", "ring_bell", {"strokes": 8}, flags=[])
    return wire.stream(placed(data)), expect(found, anomalies=[])


@case("langchain-protocol/blocks-never-finished", 77)
def never_finished() -> Built:
    """A relay leaves the finishes out: the end of the message is all that ends its calls."""
    calls = [Call("c1", "splice", '{"rope":1}'), Call("c2", "splice", '{"rope":')]
    blocks = [call_blocks(0, calls[0], every(4)), [block_start(1, call_chunk("c2", "splice"))]]
    blocks[1] += [piece(1, '{"rope":'), block_delta(1, {"type": "block-delta", "fields": {"type": "text"}})]
    data = [message_start("m1"), *blocks[0][:-1], *blocks[1], message_finish("tool_calls")]
    cut = drop("c2", "splice", "truncated", '{"rope":')
    return wire.stream(placed(data)), expect(good("c1", "splice", {"rope": 1}), dropped=[cut])


@case("langchain-protocol/whole-log", 90, suffix="json")
def whole_log() -> Built:
    """A run as a list of events, as it is kept: a message that was whole from the beginning, and its tool's answer."""
    call = Call("c1", "moor", '{"bollard":3}')
    data = [
        message_start("m1", model="gpt-5"),
        *text_block(0, ["Mooring."]),
        block_start(1, call_chunk("c1", "moor", {}, "tool_call")),
        block_finish(1, finished_call(call)),
        message_finish("tool_calls"),
    ]
    answer = [
        message_start("t1", role="tool", tool_call_id="c1"),
        *text_block(0, ["Moored."]),
        message_finish(),
    ]
    events = [*placed(data), *placed(answer, node="tools")]
    return json_array(events), expect(good("c1", "moor", {"bollard": 3}), anomalies=[])


@case("langchain-protocol/answers-to-commands", suffix="ndjson")
def answers_to_commands() -> Built:
    """A WebSocket: answers to the client's commands stand among the events, and one command failed."""
    turn = Turn([Call("c1", "haul", '{"net":1}')], id="ws")
    answers: list[JSON] = [
        {"type": "success", "id": 1, "result": {"subscription_id": "sub_1"}},
        {"type": "error", "id": 2, "error": "no_such_interrupt", "message": "nothing waits"},
    ]
    events = [envelope(data, seq=number) for number, data in enumerate(wire.message_data(turn, every(4)))]
    lines = [answers[0], *events[:3], answers[1], *events[3:]]
    return b"".join(compact(line).encode() + b"\n" for line in lines), expect(
        good("c1", "haul", {"net": 1}), faults=["provider_error"]
    )
