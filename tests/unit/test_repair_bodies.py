"""Whole bodies: the unchanged ones, the rewritten ones, and the ones that become an error."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support import conforming, corpora
from tests.support.together import together
from wholecall import Limits, StreamFault, ToolCallDropped, collect
from wholecall.repairing import repair_body

WHOLE, CUT, LISTED = '{"a":1}', '{"a":', "[1]"

USAGE = {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}


def chat(*arguments: Any, reason: str | None = "tool_calls", **message: Any) -> dict[str, Any]:
    """Return a body of chat completions with calls of these arguments."""
    calls = [
        {"id": f"c{n}", "type": "function", "function": {"name": f"f{n}", "arguments": text}}
        for n, text in enumerate(arguments)
    ]
    whole = {"role": "assistant", "content": None, **({"tool_calls": calls} if calls else {}), **message}
    choice = {"index": 0, "message": whole, "finish_reason": reason}
    return {
        "id": "r",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [choice],
        "usage": USAGE,
    }


def claude(*inputs: Any, reason: str | None = "tool_use") -> dict[str, Any]:
    """Return a body of Anthropic Messages with text, calls and text again."""
    calls = [
        {"type": "tool_use", "id": f"c{n}", "name": f"f{n}", "input": value} for n, value in enumerate(inputs)
    ]
    content = [{"type": "text", "text": "a"}, *calls, {"type": "text", "text": "b"}]
    return {
        "id": "m",
        "type": "message",
        "role": "assistant",
        "model": "m",
        "content": content,
        "stop_reason": reason,
        "usage": {"input_tokens": 1, "output_tokens": 2},
    }


def response(*arguments: Any, status: str = "completed") -> dict[str, Any]:
    """Return a body of Responses with text and calls."""
    calls = [
        {
            "type": "function_call",
            "id": f"fc{n}",
            "call_id": f"c{n}",
            "name": f"f{n}",
            "arguments": text,
            "status": "completed",
        }
        for n, text in enumerate(arguments)
    ]
    message = {
        "type": "message",
        "id": "m",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": "output_text", "text": "a", "annotations": []}],
    }
    head = {"id": "r", "object": "response", "created_at": 1, "model": "m", "status": status, "error": None}
    return {**head, "output": [message, *calls]}


def repaired(body: Any, **options: Any) -> Any:
    """Return the output for a body; the same object if it stays byte for byte."""
    data = json.dumps(body, indent=1).encode()
    found = repair_body(data, **options)
    assert (found.data == data) is not found.report.mended
    return json.loads(found.data) if found.report.mended else body


@together(
    "body",
    [
        chat(WHOLE, '{"b": "\u00e9"}'),
        chat(WHOLE, reason="length"),
        chat(content="a", reason="stop"),
        chat(tool_calls=[], content="a", reason="stop"),
        chat(function_call={"name": "f", "arguments": WHOLE}, reason="function_call"),
        chat(tool_calls=[{"id": "c", "type": "custom", "custom": {"name": "f", "input": "x"}}]),
        claude({"a": 1}, {}),
        claude(reason="end_turn"),
        response(WHOLE, "{}"),
        response(),
        {"error": {"message": "x"}},
        {"choices": "x"},
        {"data": [1]},
        [1],
    ],
)
def test_sound_bodies_stay(body: Any) -> None:
    """A body that clients read correctly, or that is not an answer of ours, is returned byte for byte."""
    assert body is repaired(body)


@pytest.mark.parametrize(
    "data", [b"", b"{", b"<html>", b'{"id":"r","object":"chat.completion","choices":[{"in']
)
def test_what_is_no_json_stays(data: bytes) -> None:
    """So is an unreadable body: clients raise for it."""
    assert (data, None) == ((found := repair_body(data)).data, found.report.error)


def test_recorded_bodies_are_mended_to_what_the_parser_reads() -> None:
    """The calls emitted of every recorded body are the parser's, read again they are the same, and it settles."""
    n_calls = 0
    bodies = {
        entry["name"]: corpora.recorded(entry) for entry in corpora.cases() if entry["file"].endswith(".json")
    }
    for name, data in bodies.items():
        once = repair_body(data, withheld="end")
        calls = [(call.name, call.arguments) for call in collect([data]).calls]
        again = [(call.name, call.arguments) for call in collect([once.data]).calls]
        n_calls += len(calls)

        assert (name, calls) == (name, again)
        assert (name, once.data) == (name, repair_body(once.data, withheld="end").data)
    assert n_calls >= 3


def test_calls_are_mended() -> None:
    """Objects become text, slips are put right, unfit calls go, and the reason matches the emitted calls."""
    body = chat({"a": 1}, '{"a":1,}', CUT, reason="stop", content="x")
    found = repaired(body)
    message = found["choices"][0]["message"]

    assert ["c0", "c1"] == [call["id"] for call in message["tool_calls"]]
    assert [{"a": 1}] * 2 == [json.loads(call["function"]["arguments"]) for call in message["tool_calls"]]
    assert ("x", "tool_calls", USAGE) == (
        message["content"],
        found["choices"][0]["finish_reason"],
        found["usage"],
    )


def test_legacy_calls_stay_legacy() -> None:
    """The older form of a call is mended in its own form."""
    body = chat(function_call={"name": "f", "arguments": {"a": 1}}, reason="stop")
    (choice,) = repaired(body)["choices"]

    assert ({"a": 1}, "function_call") == (
        json.loads(choice["message"]["function_call"]["arguments"]),
        choice["finish_reason"],
    )


def test_blocks_are_mended() -> None:
    """Input as text becomes an object; an unfit call goes, and the content around the calls keeps its place."""
    found = repaired(claude('{"a":1}', LISTED, reason="end_turn"))

    assert ["text", "tool_use", "text"] == [block["type"] for block in found["content"]]
    assert ({"a": 1}, "tool_use") == (found["content"][1]["input"], found["stop_reason"])


def test_items_are_mended() -> None:
    """The same for the items of a response; labels of an item stay."""
    found = repaired(response('{"a":1,}', CUT))

    assert ["message", "function_call"] == [item["type"] for item in found["output"]]
    assert ("fc0", "c0", WHOLE) == tuple(
        found["output"][1][member] for member in ("id", "call_id", "arguments")
    )


@together("withheld", ["auto", "error"])
@together(
    ("body", "error"),
    [
        (chat(LISTED), {"type": "server_error", "param": None, "code": "calls_withheld"}),
        (chat(CUT, reason="stop"), {"type": "server_error", "param": None, "code": "calls_withheld"}),
        (claude(LISTED), {"type": "api_error"}),
        (response(LISTED), {"type": "server_error", "param": None, "code": "calls_withheld"}),
    ],
    ids=["chat", "chat cut", "anthropic", "responses"],
)
def test_a_success_without_its_calls_is_an_error(withheld: str, body: Any, error: Any) -> None:
    """It names the tool and the reason, in the form of its dialect."""
    dropped: list[ToolCallDropped] = []
    found = repaired(body, withheld=withheld, on_dropped=dropped.append)
    (drop,) = dropped

    assert {**error, "message": f"all tool calls were withheld: f0 ({drop.reason})"} == found["error"]
    assert ("error" if "api_error" in error.values() else None) == found.get("type")


@pytest.mark.parametrize(
    ("body", "place", "expected"),
    [
        (chat(CUT), ("choices", 0, "finish_reason"), "length"),
        (chat(LISTED), ("choices", 0, "finish_reason"), "stop"),
        (claude(CUT), ("stop_reason",), "max_tokens"),
        (claude(LISTED), ("stop_reason",), "end_turn"),
        (response(CUT), ("incomplete_details", "reason"), "max_output_tokens"),
        (response(LISTED), ("status",), "completed"),
    ],
)
def test_an_end_may_be_chosen(body: Any, place: Any, expected: str) -> None:
    """With `withheld="end"` the body has a reason that fits, and no call."""
    value = found = repaired(body, withheld="end")
    for member in place:
        value = value[member]

    assert expected == value
    assert "f0" not in json.dumps(found)


def test_a_cut_of_anthropic_says_so() -> None:
    """By default too: agents ask the model to continue after `max_tokens`."""
    assert "max_tokens" == repaired(claude(CUT))["stop_reason"]


@pytest.mark.parametrize(
    "body", [chat(CUT, reason="length"), claude(LISTED, reason="refusal"), response(CUT, status="incomplete")]
)
def test_reasons_that_say_what_happened_stay(body: Any) -> None:
    """A body that admits a cut is not an error; its unfit call is gone."""
    found = repaired(body, withheld="error")

    assert "error" not in found or found["error"] is None
    assert "f0" not in json.dumps(found)


def test_limits_are_errors() -> None:
    """A body that is too large to be judged must not pass unjudged."""
    faults: list[StreamFault] = []
    data = json.dumps(chat('{"a":"' + "x" * 2000 + '"}')).encode()
    found = repair_body(data, limits=Limits(max_line_bytes=1000), on_fault=faults.append)

    assert ("line_too_long", "line_too_long") == (
        found.report.error,
        json.loads(found.data)["error"]["code"],
    )
    assert ["line_too_long"] == [fault.kind for fault in faults]


def test_a_body_of_many_lines_is_no_way_round_the_limits() -> None:
    """Nor may one whose lines are short, but which is too large as a whole."""
    data = json.dumps(chat(CUT, content="x" * 2000), indent=1).encode()
    found = repair_body(data, limits=Limits(max_event_bytes=1000))

    assert ("event_too_large", b"f0" in data, b"f0" in found.data) == (found.report.error, True, False)


def test_a_report_says_what_became_of_it() -> None:
    """Its numbers are those of streams; a repr shows no body."""
    found = repair_body(json.dumps(chat(WHOLE, CUT)).encode())

    assert ("chat-completions", True, 1, 1, True, None, USAGE) == (
        found.report.dialect,
        found.report.ended,
        found.report.n_calls,
        found.report.n_withheld,
        found.report.mended,
        found.report.error,
        found.report.usage,
    )
    assert "f0" not in repr(found)


@together("dialect", conforming.BODIES)
@together("beside", [{"success": True}, {"code": 0, "message": "ok"}])
def test_a_body_leaves_its_envelope_where_it_was_asked_for(dialect: str, beside: dict[str, Any]) -> None:
    """A gateway's envelope goes, if its content is in the dialect that the client asked for; else the body is
    unchanged.
    """
    sound = conforming.BODIES[dialect][-1]
    came = json.dumps({**beside, "data": sound}).encode()
    found = repair_body(came, expected=dialect)
    other = next(name for name in conforming.BODIES if name != dialect)

    assert (sound, True, dialect, False) == (
        json.loads(found.data),
        found.report.mended,
        found.report.dialect,
        found.report.unread,
    )
    assert [came] * 2 == [repair_body(came, expected=asked).data for asked in (other, None)]
    assert json.dumps(sound).encode() == repair_body(json.dumps(sound).encode(), expected=dialect).data
