"""The guardrail of LiteLLM's proxy, called as the proxy calls it: before a deployment, and round its stream."""

from __future__ import annotations

import asyncio
import importlib
import json
import os
from typing import Any
from unittest.mock import patch

import pytest

from benchmarks.rivals.quirks import FAREWELLS
from tests.support.framework_tests import MARKS
from tests.support.frameworks import _STREAMS, CUTS, HEALTHY, _environment
from tests.support.litellm_proxy import body
from tests.support.loopback import serve
from wholecall.serving import Answer, Loopback

pytestmark = MARKS

CHAT = _STREAMS["chat-completions"]
ASKED = {"role": "user", "content": "When is high water?"}


def calls_of(chunks: list[Any]) -> list[tuple[str, str]]:
    """Return the calls of a stream's chunks, put together by LiteLLM."""
    message = importlib.import_module("litellm").stream_chunk_builder(chunks).choices[0].message
    return [(call.function.name, call.function.arguments) for call in message.tool_calls or ()]


def through(server: Loopback, guardrail: Any) -> list[Any]:
    """Return the chunks of a stream that a proxy with the guardrail hands on."""
    litellm = importlib.import_module("litellm")

    async def ask() -> list[Any]:
        tools = [{"type": "function", "function": {"name": "get_tide", "parameters": {"type": "object"}}}]
        asked = {"model": "openai/gpt-4o", "messages": [ASKED], "tools": tools, "stream": True}
        data = {**asked, "max_retries": 0, "litellm_call_id": "call"}
        response = await litellm.acompletion(**data)
        hook = guardrail.async_post_call_streaming_iterator_hook
        return [chunk async for chunk in hook(user_api_key_dict=None, response=response, request_data=data)]

    with patch.dict(os.environ, _environment(server.url)), patch.object(litellm, "callbacks", [guardrail]):
        return asyncio.run(ask())


def guardrail(**options: Any) -> Any:
    """Return the guardrail, made as the proxy makes it."""
    made = importlib.import_module("wholecall.integrations.litellm").WholeCallGuardrail
    return made(guardrail_name="whole-calls", event_hook="post_call", default_on=True, **options)


@pytest.mark.parametrize("cut", CUTS)
def test_a_stream_goes_on_after_a_cut_call(cut: str) -> None:
    """The client gets the whole call of the model's next turn, in which the model was told of the cut one."""
    with serve(Answer(CHAT[cut]), Answer(CHAT[HEALTHY])) as server:
        chunks = through(server, guardrail())
    first, second = (json.loads(request.body)["messages"] for request in server.requests)

    assert [("get_tide", '{"port": "Brest"}')] == calls_of(chunks)
    assert [ASKED] == first
    assert ["user", "assistant", "tool"] == [message["role"] for message in second]
    assert "was not executed" in second[2]["content"]


def test_a_good_stream_is_asked_for_once() -> None:
    """A whole call passes, and the model is asked once."""
    with serve(Answer(CHAT[HEALTHY]), Answer([FAREWELLS["chat-completions"]])) as server:
        chunks = through(server, guardrail())

    assert ([("get_tide", '{"port": "Brest"}')], 1) == (calls_of(chunks), len(server.requests))


def test_a_model_that_cannot_is_given_up() -> None:
    """After the last attempt the client gets the transport's error."""
    litellm = importlib.import_module("litellm")
    with serve(Answer(CHAT[CUTS[0]])) as server, pytest.raises(litellm.exceptions.MidStreamFallbackError):
        through(server, guardrail(attempts=2))

    assert 2 == len(server.requests)


def test_a_body_that_is_tried_again_tells_the_model() -> None:
    """LiteLLM's router sends the same request after an error; loggers get the name and the reason of the cut call."""
    litellm, metadata = importlib.import_module("litellm"), {}
    asked = {"model": "openai/gpt-4o", "messages": [ASKED], "max_retries": 0, "metadata": metadata}

    async def twice() -> Any:
        with pytest.raises(litellm.exceptions.BadGatewayError, match="withheld: get_tide"):
            await litellm.acompletion(**asked, litellm_call_id="call")
        return await litellm.acompletion(**asked, litellm_call_id="call")

    with serve(body('{"port": "Bre'), body('{"port": "Brest"}')) as server:
        known = patch.dict(os.environ, _environment(server.url))
        with known, patch.object(litellm, "callbacks", [guardrail()]):
            message = asyncio.run(twice()).choices[0].message
    second = json.loads(server.requests[1].body)["messages"]
    (logged,) = metadata["standard_logging_guardrail_information"]

    assert '{"port": "Brest"}' == message.tool_calls[0].function.arguments
    assert ["user", "assistant", "tool"] == [one["role"] for one in second]
    assert {"name": "get_tide", "id": "call_1", "reason": "truncated"} == logged["guardrail_response"]


def test_other_apis_are_not_asked_again() -> None:
    """The chunks of another API's stream pass; after a cut call it ends with the transport's error."""
    made, chunks = guardrail(), []
    made._heard["call"] = hearing = made._hearing.another()
    hearing.dropped.append("a cut call")

    class Logged:
        call_type = "anthropic_messages"

    async def ask() -> None:
        async def stream() -> Any:
            yield b"event: message_start"
            raise ConnectionError("all tool calls were withheld")

        data = {"litellm_logging_obj": Logged(), "litellm_call_id": "call", "messages": [ASKED]}
        hook = made.async_post_call_streaming_iterator_hook
        passed = hook(user_api_key_dict=None, response=stream(), request_data=data)
        chunks.append(await anext(passed))
        await anext(passed)

    with pytest.raises(ConnectionError):
        asyncio.run(ask())

    assert [b"event: message_start"] == chunks


def test_nothing_is_shown_that_cannot_be_taken_back() -> None:
    """Live arguments are refused: the stream of one turn goes on with the next."""
    with pytest.raises(ValueError, match="live_arguments"):
        guardrail(live_arguments=True)
