"""Law 137 with the SDKs of the clients, and an agent that speaks Anthropic's API over a server that does not.

These tests need the extra `sdk`; `pytest -m sdk` runs them.
"""

from __future__ import annotations

import importlib
import json
import re
from collections.abc import Callable
from typing import Any

import pytest

from tests.laws.test_translation import PAIRS, calls_of, recorded, translated
from tests.sdk.test_published_types import checker, flaws
from tests.support.conforming import payloads
from tests.support.loopback import serve
from tests.support.proxy_process import proxied
from tests.support.proxying import DONE, call, frame
from tests.support.translation_table import MEMBERS, PIXEL
from wholecall import collect
from wholecall.repairing.translation.requests import WIRES
from wholecall.serving import Answer

pytestmark = pytest.mark.sdk

JSON = dict[str, Any]
NAMES = {
    "anthropic": ("anthropic.types.beta.message_create_params", "MessageCreateParamsStreaming"),
    "chat-completions": ("openai.types.chat.completion_create_params", "CompletionCreateParamsStreaming"),
    "responses": ("openai.types.responses.response_create_params", "ResponseCreateParamsStreaming"),
}


def mock(body: bytes, content_type: str) -> Any:
    """Return an HTTP client that gets this answer."""
    httpx = importlib.import_module("httpx2")
    answer = lambda _: httpx.Response(200, headers={"content-type": content_type}, content=body)  # noqa: E731
    return httpx.Client(transport=httpx.MockTransport(answer))


def chat(http: Any, *, stream: bool) -> list[Any]:
    """Return the calls of OpenAI's client of chat completions."""
    client = importlib.import_module("openai").OpenAI(api_key="x", base_url="http://h/v1", http_client=http)
    if stream:
        with client.chat.completions.stream(model="m", messages=[]) as events:
            message = events.get_final_completion().choices[0].message
    else:
        message = client.chat.completions.create(model="m", messages=[]).choices[0].message
    return [
        (one.id, one.function.name, json.loads(one.function.arguments)) for one in message.tool_calls or ()
    ]


def responses(http: Any, *, stream: bool) -> list[Any]:
    """Return the calls of OpenAI's client of responses."""
    client = importlib.import_module("openai").OpenAI(api_key="x", base_url="http://h/v1", http_client=http)
    if stream:
        with client.responses.stream(model="m", input="x") as events:
            output = events.get_final_response().output
    else:
        output = client.responses.create(model="m", input="x").output
    found = [item for item in output if item.type == "function_call"]
    return [(item.call_id, item.name, json.loads(item.arguments)) for item in found]


def anthropic(http: Any, *, stream: bool) -> list[Any]:
    """Return the calls of Anthropic's client."""
    client = importlib.import_module("anthropic").Anthropic(
        api_key="x", base_url="http://h", http_client=http
    )
    if stream:
        with client.messages.stream(model="m", max_tokens=9, messages=[]) as events:
            content = events.get_final_message().content
    else:
        content = client.messages.create(model="m", max_tokens=9, messages=[]).content
    return [(item.id, item.name, item.input) for item in content if item.type == "tool_use"]


CLIENTS: dict[str, Callable[..., list[Any]]] = {
    "anthropic": anthropic,
    "chat-completions": chat,
    "responses": responses,
}


@pytest.mark.parametrize("stream", [True, False], ids=["stream", "body"])
@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_the_sdk_gets_the_calls(server: str, client: str, stream: bool) -> None:
    """The client's own SDK gets the calls of each translated answer; cuts and errors are exceptions."""
    found = {}
    for name, data in recorded(server):
        said, error = translated(data, server, client, stream=stream)
        turn = collect([said], client)
        if error is not None or turn.reason in ("length", "content_filter") or turn.custom_calls:
            continue
        expected = calls_of(turn) if "" not in [id for id, *_ in calls_of(turn)] else None
        got = CLIENTS[client](
            mock(said, "text/event-stream" if stream else "application/json"), stream=stream
        )
        if expected is not None and got != expected:
            found[name] = expected, got

    assert {} == found


@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_the_sdks_types_take_every_frame(server: str, client: str) -> None:
    """The strict types of the SDK accept each frame, and each whole body."""
    frames, bodies = checker(client), checker(client, body=True)
    found = {}
    for name, data in recorded(server):
        said, error = translated(data, server, client)
        body, _ = translated(data, server, client, stream=False)
        wrong = [flaw for one in payloads(said) if "error" not in one for flaw in flaws(frames, one)]
        wrong += [] if error is not None else flaws(bodies, json.loads(body))
        if wrong and not collect([said], client).custom_calls:  # the SDK's chunks know no free-text tools
            found[name] = wrong[:3]

    assert {} == found


@pytest.mark.parametrize("wire", NAMES)
def test_every_member_of_the_sdks_request_is_known(wire: str) -> None:
    """The members that law 138 lists are those that the SDK can send."""
    module, name = NAMES[wire]
    published = set(getattr(importlib.import_module(module), name).__annotations__)
    for base in getattr(importlib.import_module(module), name).__orig_bases__:
        published |= set(getattr(base, "__annotations__", ()))

    assert set() == published - MEMBERS[wire].keys()


# An agent.

SYSTEM = "You are a harbour master."
TOOLS = [
    {
        "name": "get_tide",
        "description": "the tide of a port",
        "input_schema": {"type": "object", "properties": {"port": {"type": "string"}}, "required": ["port"]},
        "cache_control": {"type": "ephemeral"},
    },
    {"name": "look", "description": "a picture", "input_schema": {"type": "object", "properties": {}}},
]


def turns() -> list[Answer]:
    """Return the answers of an engine to the four requests of a task."""
    usage = {"prompt_tokens": 20, "completion_tokens": 5, "total_tokens": 25}
    counts = {"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "qwen"}
    last = b"data: " + json.dumps({**counts, "choices": [], "usage": usage}).encode() + b"\n\n"
    thought = frame({"role": "assistant", "reasoning_content": "Two ports, so two calls."})
    first = [
        *(thought, frame({"content": "I look"}), frame({"content": " both up."})),
        *(call('{"port": "Bre', name="get_tide", id="call_a"), call('st"}', name=None, id=None)),
        *(
            call("", name="get_tide", id="call_b", index=1),
            call('{"port":"Kiel"}', name=None, id=None, index=1),
        ),
        *(frame({}, "tool_calls"), last, DONE),
    ]
    second = [call("", name="look", id="functions.look:0"), frame({}, "tool_calls"), last, DONE]
    broken = [call('{"port": "Bre', name="get_tide", id="call_c"), frame({}, "length"), last, DONE]
    end = [frame({"role": "assistant", "content": "High at five."}), frame({}, "stop"), last, DONE]
    return [Answer(pieces) for pieces in (first, second, broken, end)]


def run_tool(block: Any) -> JSON:
    """Return the result of a call."""
    if block.name == "look":
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        return {
            "type": "tool_result",
            "tool_use_id": block.id,
            "content": [{"type": "image", "source": source}],
        }
    failed = block.input["port"] == "Kiel"
    content = "no such port" if failed else "17:04"
    return {"type": "tool_result", "tool_use_id": block.id, "content": content, "is_error": failed}


def run_agent(client: Any) -> tuple[list[Any], list[JSON]]:
    """Run a task as agents do: thinking on, a system prompt with marks of caches, tools, until no call comes."""
    messages: list[JSON] = [{"role": "user", "content": [{"type": "text", "text": "When is high tide?"}]}]
    said: list[Any] = []
    while not said or said[-1].stop_reason in ("tool_use", "max_tokens"):
        with client.messages.stream(
            model="qwen",
            max_tokens=4096,
            system=[{"type": "text", "text": SYSTEM, "cache_control": {"type": "ephemeral"}}],
            thinking={"type": "enabled", "budget_tokens": 2048},
            metadata={"user_id": "u"},
            tools=TOOLS,
            messages=messages,
        ) as stream:
            said.append(stream.get_final_message())
        content = [block.model_dump(mode="json", exclude_none=True) for block in said[-1].content]
        messages += [{"role": "assistant", "content": content}] if content else []
        results = [run_tool(block) for block in said[-1].content if block.type == "tool_use"]
        messages.append({"role": "user", "content": results or "Go on."})
    return said, messages


def test_an_agent_of_anthropics_runs_a_task_on_an_engine() -> None:
    """Over sockets: four turns with thoughts, two calls at once, a picture, a failure and a cut; then the answer."""
    module = importlib.import_module("anthropic")
    with serve(*turns()) as engine, proxied(f"chat={engine.url}", "--serve", "anthropic") as url:
        with module.Anthropic(api_key="sk-test", base_url=url, max_retries=0) as client:
            said, _ = run_agent(client)
        asked = [json.loads(request.body) for request in engine.requests]
        sent = {request.headers.get("authorization") for request in engine.requests}

    assert ["tool_use", "tool_use", "max_tokens", "end_turn"] == [message.stop_reason for message in said]
    assert ["thinking", "text", "tool_use", "tool_use"] == [block.type for block in said[0].content]
    assert [{"port": "Brest"}, {"port": "Kiel"}] == [block.input for block in said[0].content[2:]]
    assert ("High at five.", 20, 5) == (
        said[-1].content[0].text,
        said[-1].usage.input_tokens,
        said[-1].usage.output_tokens,
    )
    assert {"Bearer sk-test"} == sent
    roles = [message["role"] for message in asked[-1]["messages"]]
    assert ["system", "user", "assistant", "tool", "tool", "assistant", "tool", "user", "user"] == roles
    assert ["call_a", "call_b", "functions.look:0"] == [
        message["tool_call_id"] for message in asked[-1]["messages"] if message["role"] == "tool"
    ]


def test_an_engine_that_refuses_makes_the_sdk_raise_its_own_error() -> None:
    """The status and the message are the engine's, and the exception that of the client's SDK."""
    module = importlib.import_module("anthropic")
    refusal = Answer([b'{"error":{"message":"too long","code":400}}'], "application/json", 400)
    with (
        serve(refusal) as engine,
        proxied(f"chat={engine.url}", "--serve", "anthropic") as url,
        module.Anthropic(api_key="sk-test", base_url=url, max_retries=0) as client,
        pytest.raises(module.BadRequestError, match=re.escape("too long")),
    ):
        client.messages.create(model="m", max_tokens=5, messages=[{"role": "user", "content": "hi"}])


def test_counting_tokens_is_refused_in_the_clients_words() -> None:
    """Agents then count by themselves."""
    module = importlib.import_module("anthropic")
    with (
        proxied("chat=http://127.0.0.1:9", "--serve", "anthropic") as url,
        module.Anthropic(api_key="sk-test", base_url=url, max_retries=0) as client,
        pytest.raises(module.NotFoundError, match="has no equal there"),
    ):
        client.messages.count_tokens(model="m", messages=[{"role": "user", "content": "hi"}])


# A task in each direction.

QUESTION = "When is high tide at Brest?"
DESCRIBED = {"name": "get_tide", "description": "the tide of a port"}
TIDE = TOOLS[0]["input_schema"]


def of_anthropic(url: str) -> tuple[list[Any], str]:
    """Run a task by Anthropic's SDK; return the arguments of its calls, and the last text."""
    client = importlib.import_module("anthropic").Anthropic(api_key="sk-test", base_url=url, max_retries=0)
    messages: list[JSON] = [{"role": "user", "content": QUESTION}]
    tools: Any = [{**DESCRIBED, "input_schema": TIDE}]
    found: list[Any] = []
    with client:
        while True:
            said = client.messages.create(model="m", max_tokens=99, messages=messages, tools=tools)
            calls = [block for block in said.content if block.type == "tool_use"]
            if not calls:
                return found, said.content[-1].text
            found += [call.input for call in calls]
            results = [{"type": "tool_result", "tool_use_id": call.id, "content": "17:04"} for call in calls]
            messages += [{"role": "assistant", "content": said.content}, {"role": "user", "content": results}]


def of_chat(url: str) -> tuple[list[Any], str]:
    """The same by OpenAI's SDK, on chat completions."""
    client = importlib.import_module("openai").OpenAI(api_key="sk-test", base_url=f"{url}/v1", max_retries=0)
    messages: list[Any] = [{"role": "user", "content": QUESTION}]
    tools: Any = [{"type": "function", "function": {**DESCRIBED, "parameters": TIDE}}]
    found: list[Any] = []
    with client:
        while True:
            with client.chat.completions.stream(model="m", messages=messages, tools=tools) as stream:
                said = stream.get_final_completion().choices[0].message
            if not said.tool_calls:
                return found, said.content
            found += [json.loads(call.function.arguments) for call in said.tool_calls]
            messages.append(said.to_dict())
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": "17:04"} for call in said.tool_calls
            ]


def of_responses(url: str) -> tuple[list[Any], str]:
    """The same by OpenAI's SDK, on responses."""
    client = importlib.import_module("openai").OpenAI(api_key="sk-test", base_url=f"{url}/v1", max_retries=0)
    items: list[Any] = [{"role": "user", "content": QUESTION}]
    tools: Any = [{"type": "function", **DESCRIBED, "parameters": TIDE, "strict": False}]
    found: list[Any] = []
    with client:
        while True:
            with client.responses.stream(model="m", input=items, tools=tools, store=False) as stream:
                said = stream.get_final_response()
            calls = [item for item in said.output if item.type == "function_call"]
            if not calls:
                return found, said.output_text
            found += [json.loads(call.arguments) for call in calls]
            items += [item.to_dict() for item in said.output]
            items += [
                {"type": "function_call_output", "call_id": call.call_id, "output": "17:04"} for call in calls
            ]


AGENTS = {"anthropic": of_anthropic, "chat-completions": of_chat, "responses": of_responses}


def engine_of(wire: str) -> list[Answer]:
    """Return the answers of an engine that speaks a wire: a call, then text."""
    called = [call('{"port":', name="get_tide", id="call_a"), call('"Brest"}', name=None, id=None)]
    turns = [
        [*called, frame({}, "tool_calls"), DONE],
        [frame({"content": "At 17:04."}), frame({}, "stop"), DONE],
    ]
    if wire == "chat-completions":
        return [Answer(pieces) for pieces in turns]
    return [Answer([translated(b"".join(pieces), "chat-completions", wire)[0]]) for pieces in turns]


@pytest.mark.parametrize(("server", "client"), PAIRS)
def test_a_task_runs_in_each_direction(server: str, client: str) -> None:
    """The client's SDK gets the call and the text, and the engine the key, the call and its result in its own words."""
    with serve(*engine_of(server)) as engine, proxied(f"{server}={engine.url}", "--serve", client) as url:
        found = AGENTS[client](url)
    asked, answered = engine.requests
    key = "x-api-key" if server == "anthropic" else "authorization"

    assert ([{"port": "Brest"}], "At 17:04.") == found
    assert {"sk-test"} == {request.headers[key].removeprefix("Bearer ") for request in (asked, answered)}
    assert b"17:04" in answered.body
    assert b"call_a" in answered.body
    assert asked.path == answered.path == f"/v1{WIRES[server].endpoint}"
