"""Calls that a server leaked as text, through the repairer: structured for the client, the text without them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.unit.test_text_layer import ANTHROPIC, CALL, REASONED, SAME, TOOLS, calls, chat, read
from wholecall import collect
from wholecall.calls.output.call_events import ToolCallDropped
from wholecall.repairing import Repairer, repair_body

QWEN = "<tool_call>\n<function=dredge>\n<parameter=metres>\n4\n</parameter>\n</function>\n</tool_call>"


def repaired(data: bytes, size: int | None = None, **options: Any) -> bytes:
    """Return the output for a stream in reads of this size."""
    repairer = Repairer(**{"text": "hermes", **options})
    step = size or len(data)
    out = b"".join(repairer.feed(data[at : at + step]) for at in range(0, len(data), step))
    return out + repairer.close()


@pytest.mark.parametrize(
    "data",
    [
        chat("Go. ", "a < b ", "<b>hi</b>", " <tool", "s>"),
        chat("<think>Hm.</think>", "Yes."),
        chat(f"```\n{CALL}\n```"),
        chat(CALL[:30], finish="length"),
        chat(REASONED, "No."),
        chat({"tool_calls": [SAME]}, finish="tool_calls"),
    ],
)
def test_without_a_call_nothing_changes(data: bytes) -> None:
    """A stream without a leaked call goes out as without `text`, byte for byte, however it is cut."""
    expected = repaired(data, text=None)

    assert [expected] * 3 == [repaired(data, size) for size in (None, 1, 17)]


@pytest.mark.parametrize("leak", [CALL, QWEN], ids=["hermes", "qwen"])
def test_a_leaked_call_is_structured(leak: str) -> None:
    """The client gets the call in its chunk, the text around it, and the reason that fits."""
    data = chat(*(f"Go. {leak} Done."[at : at + 5] for at in range(0, 120, 5)))
    out = repaired(data)
    turn = collect([out])

    assert ([("dredge", {"metres": 4})], "Go.  Done.", "tool_calls") == (
        calls(turn),
        turn.text,
        turn.provider_reason,
    )
    assert [out] * 2 == [repaired(data, size) for size in (1, 17)]
    assert b"from_text" not in out
    assert () == turn.calls[0].flags


def test_a_call_that_came_twice_comes_once() -> None:
    """Of a call that the server parsed and leaked, the structured one stays, with its id, and the text is removed."""
    turn = collect([repaired(chat(f"Go. {CALL}", {"tool_calls": [SAME]}, finish="tool_calls"))])

    assert (["call_1"], "Go. ") == ([call.id for call in turn.calls], turn.text)


def test_indices_go_on_behind_those_of_the_server() -> None:
    """A leaked call next to another structured one has a separate index."""
    other = {**SAME, "function": {"name": "go", "arguments": "{}"}}
    turn = collect([repaired(chat(CALL, {"tool_calls": [other]}, finish="tool_calls"))])

    assert {"go", "dredge"} == {call.name for call in turn.calls}


def test_a_call_that_fits_no_tool_is_text_again() -> None:
    """Text that is not a call is shown unchanged, and reported."""
    dropped: list[ToolCallDropped] = []
    out = repaired(chat(CALL.replace("4", "[]")), tools=TOOLS, on_dropped=dropped.append)

    assert CALL.replace("4", "[]") == collect([out]).text
    assert ["schema"] == [drop.reason for drop in dropped]


def test_a_cut_call_beside_a_whole_one_is_text() -> None:
    """A chunk holds the end of a call and the beginning of one that is cut: the latter is shown unchanged."""
    turn = collect([repaired(chat(CALL[:20], CALL[20:] + CALL[:30], finish="length"))])

    assert ([("dredge", {"metres": 4})], CALL[:30]) == (calls(turn), turn.text)


def test_a_whole_body_is_mended() -> None:
    """A body that is not streamed gets its calls where clients look for them."""
    message = {"role": "assistant", "content": f"Go. {CALL}"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
    found = repair_body(json.dumps(body).encode(), text="hermes")
    [choice] = json.loads(found.data)["choices"]
    [call] = choice["message"]["tool_calls"]

    assert ("Go. ", "tool_calls", True) == (
        choice["message"]["content"],
        choice["finish_reason"],
        found.report.mended,
    )
    assert ("dredge", {"metres": 4}) == (call["function"]["name"], json.loads(call["function"]["arguments"]))


def test_a_body_without_a_call_stays() -> None:
    """Byte for byte."""
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": {"role": "assistant", "content": "a < b"}, "finish_reason": "stop"}]}  # fmt: skip
    data = json.dumps(body, indent=1).encode()

    assert data == repair_body(data, text="hermes").data


def test_the_report_counts_what_was_mended() -> None:
    """A stream with a leaked call is mended, one without is not."""
    reports = []
    for data in (chat(CALL, finish="tool_calls"), chat("Go.")):
        repairer = Repairer(text="hermes")
        repairer.feed(data)
        repairer.close()
        reports.append((repairer.report.mended, repairer.report.n_calls))

    assert [(True, 1), (False, 0)] == reports


def test_read_without_text_it_was_text() -> None:
    """The streams above really leak: without `text` there is no call in them."""
    assert [] == calls(read(chat(CALL), text=None))


def test_an_anthropic_stream_is_mended() -> None:
    """The call becomes a block after the text's, and the reason is the one that clients act on."""
    out = repaired(ANTHROPIC)
    turn = collect([out])

    assert ([("dredge", {"metres": 4})], "", "tool_use") == (calls(turn), turn.text, turn.provider_reason)
    assert [out] * 2 == [repaired(ANTHROPIC, size) for size in (1, 17)]


def test_an_anthropic_body_is_mended() -> None:
    """A body that is not streamed is mended alike."""
    body = {"id": "m", "type": "message", "role": "assistant", "model": "c", "stop_reason": "end_turn",
            "content": [{"type": "text", "text": f"Go. {CALL}"}], "usage": {"input_tokens": 1, "output_tokens": 1}}  # fmt: skip
    found = json.loads(repair_body(json.dumps(body).encode(), text="hermes").data)

    assert [("text", "Go. "), ("tool_use", {"metres": 4})] == [
        (block["type"], block.get("text", block.get("input"))) for block in found["content"]
    ]
    assert "tool_use" == found["stop_reason"]


def gemini(*texts: str, reason: str | None = "STOP") -> bytes:
    """Return a stream of Gemini with these pieces of text, and its end."""
    frames: list[dict[str, Any]] = [
        {"content": {"role": "model", "parts": [{"text": text}]}, "index": 0} for text in texts
    ]
    if reason is not None:
        frames.append({"content": {"role": "model"}, "finishReason": reason, "index": 0})
    responses = [{"candidates": [frame], "responseId": "r"} for frame in frames]
    return b"".join(b"data: " + json.dumps(response).encode() + b"\r\n\r\n" for response in responses)


@pytest.mark.parametrize("leak", [CALL, QWEN], ids=["hermes", "qwen"])
def test_a_gemini_stream_is_mended(leak: str) -> None:
    """The call becomes a separate part, without an id, as the wire had none; the text around it stays."""
    data = gemini(*(f"Go. {leak} Done."[at : at + 5] for at in range(0, 120, 5)))
    out = repaired(data)
    turn = collect([out])

    assert ([("dredge", {"metres": 4})], "Go.  Done.", "STOP") == (
        calls(turn),
        turn.text,
        turn.provider_reason,
    )
    assert [out] * 2 == [repaired(data, size) for size in (1, 17)]
    assert b'"id"' not in out


def test_a_gemini_stream_without_a_call_stays() -> None:
    """The stream is sent as without `text`, also where its text could be a marker's."""
    for data in (gemini("Go. ", "a < b ", " <tool", "s>"), gemini(f"```\n{CALL}\n```")):
        assert data == repaired(data)


def test_a_gemini_body_is_mended() -> None:
    """A whole response is mended alike; signatures and thoughts stay."""
    parts = [{"text": "Hm.", "thought": True}, {"text": f"Go. {CALL}", "thoughtSignature": "c2ln"}]
    body = {"candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}]}
    found = repair_body(json.dumps(body).encode(), text="hermes")
    [candidate] = json.loads(found.data)["candidates"]

    assert [
        parts[0],
        {"text": "Go. ", "thoughtSignature": "c2ln"},
        {"functionCall": {"name": "dredge", "args": {"metres": 4}}},
    ] == candidate["content"]["parts"]
