"""An unmodified client against a server that leaks calls as text, through the transport."""

from __future__ import annotations

import json
from typing import Any

import pytest

import wholecall.transport
from tests.support.loopback import serve
from tests.unit.test_leaks import QWEN
from tests.unit.test_leaks_responses import response, spoken
from tests.unit.test_text_layer import CALL, chat
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk

TOOL: Any = {"type": "function", "function": {"name": "dredge", "parameters": {"type": "object"}}}


def _client(url: str, **options: Any) -> Any:
    import openai  # noqa: PLC0415 - an extra

    http = wholecall.transport.client(text="auto", **options)
    return openai.OpenAI(api_key="none", base_url=url, http_client=http, max_retries=0)


def _asked(client: Any, **options: Any) -> Any:
    return client.chat.completions.create(
        model="m", messages=[{"role": "user", "content": "Dig."}], tools=[TOOL], **options
    )


@pytest.mark.parametrize("leak", [CALL, QWEN], ids=["hermes", "qwen"])
def test_a_streamed_leak_arrives_structured(leak: str) -> None:
    """The client's loop finds the call in `tool_calls`, and a text without it."""
    pieces = [f"Go. {leak}"[at : at + 7] for at in range(0, len(leak) + 4, 7)]
    with serve(Answer([chat(*pieces)], "text/event-stream")) as server, _client(server.url) as client:
        chunks = list(_asked(client, stream=True))
    deltas = [choice.delta for chunk in chunks for choice in chunk.choices]
    [call] = [call for delta in deltas for call in delta.tool_calls or ()]

    assert ("dredge", {"metres": 4}) == (call.function.name, json.loads(call.function.arguments))
    assert "Go. " == "".join(delta.content or "" for delta in deltas)
    assert "tool_calls" == [choice.finish_reason for chunk in chunks for choice in chunk.choices][-1]


def test_a_whole_answer_arrives_structured() -> None:
    """The same where the answer is not streamed."""
    message = {"role": "assistant", "content": f"Go. {CALL}"}
    body = {"id": "x", "object": "chat.completion", "created": 1, "model": "m",
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}  # fmt: skip
    with (
        serve(Answer([json.dumps(body).encode()], "application/json")) as server,
        _client(server.url) as client,
    ):
        [choice] = _asked(client).choices
    [call] = choice.message.tool_calls

    assert ("dredge", "Go. ", "tool_calls") == (
        call.function.name,
        choice.message.content,
        choice.finish_reason,
    )


def test_a_response_arrives_structured() -> None:
    """The helper of Responses builds its snapshot from pieces, and compares it with the restated text at the end."""
    stream = response(spoken(f"Go. {QWEN}"))
    with serve(*[Answer([stream], "text/event-stream")] * 2) as server, _client(server.url) as client:
        events = list(client.responses.create(model="m", input="Dig.", stream=True))
        with client.responses.stream(model="m", input="Dig.") as helper:
            final = helper.get_final_response()
    said = "".join(one.delta for one in events if one.type == "response.output_text.delta")
    [call] = [item for item in final.output if item.type == "function_call"]

    assert ("Go. ", "Go. ") == (said, final.output_text)
    assert ("dredge", {"metres": 4}) == (call.name, json.loads(call.arguments))
    assert "response.function_call_arguments.done" in {one.type for one in events}
