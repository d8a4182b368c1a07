"""Calls that a server leaked as text into Responses streams, which restate each text up to four times."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tests.support.together import together
from tests.unit.test_leaks import QWEN, repaired
from tests.unit.test_text_layer import CALL, calls
from wholecall import Limits, collect
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.repairing import repair_body

LOG = "corpora/recordings/responses"
NOISE = {"type": "response.custom.progress"}


def event(kind: str, **members: Any) -> dict[str, Any]:
    """Return an event of a response."""
    return {"type": f"response.{kind}", **members}


def message(text: str, at: int, kind: str = "message") -> dict[str, Any]:
    """Return a finished item that says a text."""
    if kind == "reasoning":
        return {
            "type": kind,
            "id": f"rs_{at}",
            "summary": [],
            "content": [{"type": "reasoning_text", "text": text}],
        }
    part = {"type": "output_text", "text": text, "annotations": [], "logprobs": []}
    return {"type": kind, "id": f"msg_{at}", "role": "assistant", "status": "completed", "content": [part]}


def spoken(text: str, at: int = 0, size: int = 5) -> list[dict[str, Any]]:
    """Return the events of a message, its text in pieces."""
    item = message(text, at)
    [part] = item["content"]
    place = {"item_id": item["id"], "output_index": at, "content_index": 0}
    pieces = [text[cut : cut + size] for cut in range(0, len(text), size)]
    return [
        event("output_item.added", output_index=at, item={**item, "status": "in_progress", "content": []}),
        event("content_part.added", **place, part={**part, "text": ""}),
        *(event("output_text.delta", **place, delta=piece, logprobs=[]) for piece in pieces),
        event("output_text.done", **place, text=text, logprobs=[]),
        event("content_part.done", **place, part=part),
        event("output_item.done", output_index=at, item=item),
    ]


def called(at: int, name: str = "go") -> list[dict[str, Any]]:
    """Return the events of a call that the server parsed."""
    item = {
        "type": "function_call",
        "id": f"fc_{at}",
        "call_id": f"call_{at}",
        "name": name,
        "arguments": '{"a":1}',
    }
    place = {"item_id": item["id"], "output_index": at}
    return [
        event("output_item.added", output_index=at, item={**item, "arguments": "", "status": "in_progress"}),
        event("function_call_arguments.delta", **place, delta='{"a"'),
        event("function_call_arguments.delta", **place, delta=":1}"),
        event("function_call_arguments.done", **place, arguments='{"a":1}'),
        event("output_item.done", output_index=at, item={**item, "status": "completed"}),
    ]


def response(*groups: list[dict[str, Any]], output: list[Any] | None = None, start: int | None = 0) -> bytes:
    """Return a stream of events, numbered from `start`; the finished response lists the items that are done."""
    events = [one for group in groups for one in group]
    done = [one["item"] for one in events if one["type"] == "response.output_item.done"]
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m"}
    events = [
        event("created", response={**head, "status": "in_progress", "output": []}),
        *events,
        event(
            "completed",
            response={**head, "status": "completed", "output": done if output is None else output},
        ),
    ]
    numbered = (
        events if start is None else [{**one, "sequence_number": start + n} for n, one in enumerate(events)]
    )
    return sse(numbered)


def sse(events: list[dict[str, Any]]) -> bytes:
    """Return events as a server sends them."""
    return b"".join(
        b"event: %s\ndata: %s\n\n" % (one["type"].encode(), json.dumps(one).encode()) for one in events
    )


def events_of(data: bytes) -> list[dict[str, Any]]:
    """Return the payloads of a stream."""
    return [json.loads(line[6:]) for line in data.split(b"\n") if line.startswith(b"data: {")]


def texts(data: bytes) -> dict[str, str]:
    """Return the text of the first message in each kind of event."""
    told: dict[str, str] = {"deltas": ""}
    for one in events_of(data):
        kind = one["type"].removeprefix("response.")
        if kind == "output_text.delta" and one["output_index"] == 0:
            told["deltas"] += one["delta"]
        found = {
            "output_text.done": lambda one: one["text"],
            "content_part.done": lambda one: one["part"]["text"],
            "output_item.done": lambda one: one["item"]["content"][0]["text"],
            "completed": lambda one: one["response"]["output"][0]["content"][0]["text"],
        }
        if kind in found and one.get("output_index", 0) == 0:
            told[kind] = found[kind](one)
    return told


@together("leak", [CALL, QWEN], ids=["hermes", "qwen"])
@together("start", [0, 3, None])
@together(("before", "after"), [("", ""), ("Let me look. ", ""), ("One moment, please: ", " Done.")])
def test_a_leaked_call_is_structured(leak: str, start: int | None, before: str, after: str) -> None:
    """The call is a separate item, the text omits it everywhere, and the numbers have no gap."""
    data = response(spoken(f"{before}{leak}{after}"), start=start)
    out = repaired(data)
    turn = collect([out])
    told = events_of(out)
    final = told[-1]["response"]["output"]

    assert ([("dredge", {"metres": 4})], before + after) == (calls(turn), turn.text)
    assert {before + after} == set(texts(out).values())
    assert ["message", "function_call"] == [item["type"] for item in final]
    assert [(start or 0) + at for at in range(len(told))] == [one["sequence_number"] for one in told]
    assert [out] * 2 == [repaired(data, size) for size in (1, 17)]


@together("start", [0, 3])
@together("text", ["Go. a < b", "```\n" + CALL + "\n```", "<tool", "x" * 400])
def test_without_a_call_nothing_changes(start: int, text: str) -> None:
    """A stream without a leaked call goes out byte for byte, however it is cut."""
    data = response(spoken(text), called(1), start=start)

    assert [data] * 3 == [repaired(data, size) for size in (None, 1, 17)]


@together("path", sorted(Path(LOG).glob("*.sse")), ids=lambda path: path.stem)
def test_recordings_pass_as_without_text(path: Path) -> None:
    """No recording has a leak, and the search for leaks changes no output."""
    data = path.read_bytes()

    assert repaired(data, text=None) == repaired(data, text="auto")


def test_a_number_that_counts_nothing_stays() -> None:
    """Where every event has the number 0, so have ours."""
    data = sse([{**one, "sequence_number": 0} for one in events_of(response(spoken(CALL)))])
    out = repaired(data)

    assert [("dredge", {"metres": 4})] == calls(collect([out]))
    assert {0} == {one["sequence_number"] for one in events_of(out)}


def test_a_call_of_the_server_stays() -> None:
    """Calls that the server parsed keep their place and their labels next to one that it leaked."""
    turn = collect([repaired(response(spoken(CALL), called(1)))])

    assert [("go", "call_1"), ("dredge", None)] == [
        (call.name, call.id if call.name == "go" else None) for call in turn.calls
    ]


def test_a_call_that_came_twice_comes_once() -> None:
    """Of a call that the server parsed and leaked, the structured one stays, and the text is removed."""
    text = 'So. <tool_call>{"name": "go", "arguments": {"a": 1}}</tool_call>'
    out = repaired(response(spoken(text), called(1)))

    assert (["call_1"], {"So. "}) == ([call.id for call in collect([out]).calls], set(texts(out).values()))


def test_what_is_lost_after_a_leak_is_known_to_be() -> None:
    """A gap in the server's numbers stays a gap: a call with a hole in it is not emitted."""
    place = {"item_id": "fc_1", "output_index": 1}
    item = {"type": "function_call", "id": "fc_1", "call_id": "call_1", "name": "go", "arguments": ""}
    pieces = [
        event("function_call_arguments.delta", **place, delta=text) for text in ('{"a":1', ',"b":2', "}")
    ]
    begun = event("output_item.added", output_index=1, item=item)
    whole = events_of(response(spoken(CALL), [begun, *pieces], output=[]))
    lost = [one for one in whole if one.get("delta") != ',"b":2']
    found = [calls(collect([repaired(sse(events))])) for events in (whole, lost)]

    assert [[("go", {"a": 1, "b": 2}), ("dredge", {"metres": 4})], [("dredge", {"metres": 4})]] == found


def test_what_came_before_does_not_come_again() -> None:
    """Events that a relay sends twice are seen once, before and after a leak."""
    events = events_of(response(spoken(f"So. {CALL} Done."), called(1)))
    twice = [one for at, one in enumerate(events) for one in ([events[at - 3], one] if at > 3 else [one])]
    once, again = repaired(sse(events)), repaired(sse(twice))

    assert once == again


def test_two_messages_say_what_they_said() -> None:
    """The leak is removed from the message that contained it."""
    out = repaired(response(spoken("First, ", 0), spoken(f"then {CALL}", 1)))
    final = events_of(out)[-1]["response"]["output"]

    assert ["First, ", "then "] == [item["content"][0]["text"] for item in final[:2]]
    assert [("dredge", {"metres": 4})] == calls(collect([out]))


def test_items_are_known_by_their_ids() -> None:
    """A finished response that leaves out an item restates the others without the leak all the same."""
    out = repaired(response(spoken("Hm. ", 0), spoken(f"Go. {CALL}", 1), output=[message(f"Go. {CALL}", 1)]))
    final = events_of(out)[-1]["response"]["output"]

    assert ["Go. "] == [item["content"][0]["text"] for item in final if item["type"] == "message"]


def test_a_text_that_only_the_end_tells_is_mended_there() -> None:
    """Some servers send no pieces: then the finished response has the remaining text, and the call comes before it."""
    out = repaired(response(output=[message(f"Go. {CALL}", 0)]))
    final = events_of(out)[-1]["response"]["output"]

    assert ("Go. ", [("dredge", {"metres": 4})]) == (final[0]["content"][0]["text"], calls(collect([out])))


def test_a_call_that_fits_no_tool_is_text_again() -> None:
    """Text that is not a call is shown unchanged, in every event that restates it, and reported."""
    dropped: list[ToolCallDropped] = []
    text = CALL.replace('"metres"', '"depth"')
    tools = [{"name": "dredge", "parameters": {"type": "object", "required": ["metres"]}}]
    out = repaired(response(spoken(text)), tools=tools, on_dropped=dropped.append)

    assert ({"deltas": text, "completed": text}, ["schema"]) == (
        {name: said for name, said in texts(out).items() if name in ("deltas", "completed")},
        [drop.reason for drop in dropped],
    )


@together("odd", [[], {}, "x", None, True, -1, 2**70, 1.5])
@together("member", ["output_index", "content_index", "item_id", "sequence_number", "delta", "text"])
def test_odd_labels_do_no_harm(member: str, odd: Any) -> None:
    """Whatever replaces a number, a label or a text, nothing raises, and any other cut gives the same."""
    events = [
        {**one, member: odd} if member in one else one for one in events_of(response(spoken(CALL), called(1)))
    ]
    data = sse(events)

    assert repaired(data) == repaired(data, 17)


def test_what_is_too_long_to_be_restated_is_not_kept() -> None:
    """A text longer than an event may be is sent without its call, and events that restate a little of it stay."""
    item, text = message("x", 0), "x" * 3000 + CALL
    pieces = [one for one in spoken(text, size=50) if not one["type"].endswith(".done")]
    out = repaired(response(pieces, output=[item]), limits=Limits(max_event_bytes=2000))
    turn = collect([out])

    assert ("x" * 3000, [("dredge", {"metres": 4})]) == (turn.text, calls(turn))
    assert item == events_of(out)[-1]["response"]["output"][0]


def test_a_whole_body_is_mended() -> None:
    """A body that is not streamed gets its calls as items after the message."""
    body = {
        "id": "resp_1",
        "object": "response",
        "status": "completed",
        "output": [message(f"Go. {CALL}", 0)],
    }
    found = repair_body(json.dumps(body).encode(), text="hermes")
    said, call = json.loads(found.data)["output"]

    assert ("Go. ", "function_call", "dredge", {"metres": 4}) == (
        said["content"][0]["text"], call["type"], call["name"], json.loads(call["arguments"])
    )  # fmt: skip
    assert found.report.mended


def test_a_body_without_a_call_stays() -> None:
    """Byte for byte."""
    head = {"id": "resp_1", "object": "response", "created_at": 1, "model": "m", "status": "completed"}
    body = {**head, "output": [message("a < b", 0)]}
    data = json.dumps(body, indent=1).encode()

    assert data == repair_body(data, text="hermes").data
