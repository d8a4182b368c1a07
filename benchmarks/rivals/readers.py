"""Readers of streams in use today, each used as its documentation says, over a stream in memory.

Every reader gives the same `Result` as wholecall: the text, and the calls with parsed arguments. Readers of
live arguments are fed one call's pieces and come to its arguments. A reader is opened once over the reads of a
stream, as programs make a client once; then each call of it asks for the whole stream again. Nothing is imported
before that.
"""

from __future__ import annotations

import asyncio
import importlib
import importlib.metadata
import importlib.util
import json
import operator
import os
from collections.abc import Callable, Iterable
from functools import partial, reduce
from typing import Any, NamedTuple

import msgspec

from benchmarks import live
from benchmarks.baselines import ours
from benchmarks.naive import NAIVE
from benchmarks.rivals.memory import http_client, http_library, sdk_client
from benchmarks.texts import Result

CHAT, ANTHROPIC, RESPONSES = "chat-completions", "anthropic", "responses"
LIVE = "live arguments"
NAIVE_LOOP, MSGSPEC_LOOP, BEHIND_HTTP = "json.loads loop", "msgspec loop", "wholecall over httpx"
LOOPS = (
    NAIVE_LOOP,
    MSGSPEC_LOOP,
)  # commonly pasted loops, the second with `msgspec.json.decode` for `json.loads`
_ASK = "When is the tide?"
_MESSAGES = [{"role": "user", "content": _ASK}]
# Frameworks are given a tool, as their users do; langchain-anthropic reads calls in another way without a tool.
_TOOL = {
    "name": "write_file",
    "description": "Write a file.",
    "parameters": {"type": "object", "properties": {}},
}
_ANTHROPIC_ASK: dict[str, Any] = {"model": "m", "max_tokens": 64, "messages": _MESSAGES}

Reads = Iterable[Any]  # bytes; pieces of text where arguments are read
Read = Callable[[], Any]


class Reader(NamedTuple):
    """A way to read streams.

    Attributes:
        name: the library, and its way of reading.
        dialect: the wire that it reads.
        packages: the measured distributions, whose versions are reported; the first is the library itself.
        modules: the modules that must be importable.
        open: makes a function that reads the stream once, to its end.
    """

    name: str
    dialect: str
    packages: tuple[str, ...]
    modules: tuple[str, ...]
    open: Callable[[Reads], Read]

    @property
    def installed(self) -> bool:
        """Whether its modules can be imported."""
        return all(importlib.util.find_spec(module) is not None for module in self.modules)

    @property
    def versions(self) -> dict[str, str]:
        """The versions of its distributions."""
        return {package: importlib.metadata.version(package) for package in self.packages}


def _call(id: str, name: str, arguments: str) -> tuple[str, str, Any]:
    return id, name, json.loads(arguments)


# Ours after the HTTP client that the others also pay for, and the commonly pasted loop.


def _behind_http(reads: Reads) -> Read:
    client = http_client(reads, http_library())

    def read() -> Result:
        with client.stream("POST", "http://127.0.0.1/v1", content=b"{}") as response:
            return ours(response.iter_bytes())

    return read


def _naive(reads: Reads, dialect: str) -> Read:
    return partial(NAIVE[dialect], reads, json.loads)


def _msgspec(reads: Reads, dialect: str) -> Read:
    return partial(NAIVE[dialect], reads, msgspec.json.decode)


# The SDK of OpenAI.


def _chat_create(reads: Reads) -> Read:
    client = sdk_client("openai.OpenAI", reads)

    def read() -> Result:
        text: list[str] = []
        calls: dict[int, Any] = {}
        for chunk in client.chat.completions.create(model="m", messages=_MESSAGES, stream=True):
            delta = chunk.choices[0].delta if chunk.choices else None
            if delta is not None and delta.content:
                text.append(delta.content)
            for call in (delta and delta.tool_calls) or ():
                if call.index not in calls:
                    calls[call.index] = (call.id, call.function.name, [])
                calls[call.index][2].append(call.function.arguments or "")
        return Result("".join(text), [_call(id, name, "".join(parts)) for id, name, parts in calls.values()])

    return read


def _chat_stream(reads: Reads) -> Read:
    client = sdk_client("openai.OpenAI", reads)

    def read() -> Result:
        with client.chat.completions.stream(model="m", messages=_MESSAGES) as stream:
            message = stream.get_final_completion().choices[0].message
        return _chat_message(message)

    return read


def _chat_message(message: Any) -> Result:
    calls = message.tool_calls or ()
    found = [_call(call.id, call.function.name, call.function.arguments) for call in calls]
    return Result(message.content or "", found)


def _responses_create(reads: Reads) -> Read:
    client = sdk_client("openai.OpenAI", reads)

    def read() -> Result:
        text: list[str] = []
        calls: dict[int, Any] = {}
        for event in client.responses.create(model="m", input=_ASK, stream=True):
            if event.type == "response.function_call_arguments.delta":
                calls[event.output_index][2].append(event.delta)
            elif event.type == "response.output_text.delta":
                text.append(event.delta)
            elif event.type == "response.output_item.added" and event.item.type == "function_call":
                calls[event.output_index] = (event.item.call_id, event.item.name, [])
        return Result("".join(text), [_call(id, name, "".join(parts)) for id, name, parts in calls.values()])

    return read


def _responses_stream(reads: Reads) -> Read:
    client = sdk_client("openai.OpenAI", reads)

    def read() -> Result:
        with client.responses.stream(model="m", input=_ASK) as stream:
            response = stream.get_final_response()
        calls = [item for item in response.output if item.type == "function_call"]
        found = [_call(item.call_id, item.name, item.arguments) for item in calls]
        return Result(response.output_text, found)

    return read


# The SDK of Anthropic.


def _anthropic_create(reads: Reads) -> Read:
    client = sdk_client("anthropic.Anthropic", reads)

    def read() -> Result:
        text: list[str] = []
        calls: dict[int, Any] = {}
        for event in client.messages.create(**_ANTHROPIC_ASK, stream=True):
            if event.type == "content_block_delta" and event.delta.type == "input_json_delta":
                calls[event.index][2].append(event.delta.partial_json)
            elif event.type == "content_block_delta" and event.delta.type == "text_delta":
                text.append(event.delta.text)
            elif event.type == "content_block_start" and event.content_block.type == "tool_use":
                calls[event.index] = (event.content_block.id, event.content_block.name, [])
        return Result("".join(text), [_call(id, name, "".join(parts)) for id, name, parts in calls.values()])

    return read


def _anthropic_stream(reads: Reads) -> Read:
    client = sdk_client("anthropic.Anthropic", reads)

    def read() -> Result:
        with client.messages.stream(**_ANTHROPIC_ASK) as stream:
            content = stream.get_final_message().content
        text = "".join(block.text for block in content if block.type == "text")
        return Result(text, [(b.id, b.name, b.input) for b in content if b.type == "tool_use"])

    return read


# Frameworks.

# The modules of pydantic-ai and langchain that read a dialect.
_PYDANTIC = {
    CHAT: ("openai.OpenAI", "OpenAIChatModel"),
    RESPONSES: ("openai.OpenAI", "OpenAIResponsesModel"),
    ANTHROPIC: ("anthropic.Anthropic", "AnthropicModel"),
}


def _pydantic_ai(reads: Reads, dialect: str) -> Read:
    sdk, name = _PYDANTIC[dialect]
    module, _, kind = sdk.partition(".")
    provider = getattr(importlib.import_module(f"pydantic_ai.providers.{module}"), f"{kind}Provider")
    client = sdk_client(sdk, reads, kind="Async")
    made = getattr(importlib.import_module(f"pydantic_ai.models.{module}"), name)
    model = made("m", provider=provider(**{f"{module}_client": client}))
    ask = importlib.import_module("pydantic_ai.direct").model_request_stream
    messages = [importlib.import_module("pydantic_ai").ModelRequest.user_text_prompt(_ASK)]
    tool = importlib.import_module("pydantic_ai").ToolDefinition(
        name=_TOOL["name"], description=_TOOL["description"], parameters_json_schema=_TOOL["parameters"]
    )
    request = importlib.import_module("pydantic_ai.models").ModelRequestParameters(function_tools=[tool])

    async def read() -> Any:
        async with ask(model, messages, model_request_parameters=request) as stream:
            async for _ in stream:
                pass
            return stream.get()

    def result() -> Result:
        response = asyncio.run(read())
        calls = [(call.tool_call_id, call.tool_name, call.args_as_dict()) for call in response.tool_calls]
        return Result(response.text or "", calls)

    return result


def _langchain(reads: Reads, dialect: str) -> Read:
    if dialect == ANTHROPIC:
        model = importlib.import_module("langchain_anthropic").ChatAnthropic(
            model="m", api_key="unused", max_retries=0
        )
        vars(model)["_client"] = sdk_client("anthropic.Anthropic", reads)  # it does not take an HTTP client
    else:
        model = importlib.import_module("langchain_openai").ChatOpenAI(
            model="m",
            api_key="unused",
            max_retries=0,
            base_url="http://127.0.0.1/v1",
            http_client=http_client(reads, http_library("openai")),
            use_responses_api=dialect == RESPONSES,
        )

    bound = model.bind_tools([{"type": "function", "function": _TOOL}])

    def read() -> Result:
        whole: Any = reduce(operator.add, bound.stream(_ASK))
        return Result(
            str(whole.text), [(call["id"], call["name"], call["args"]) for call in whole.tool_calls]
        )

    return read


def _litellm(reads: Reads) -> Read:
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")  # it asks the network for prices otherwise
    litellm: Any = importlib.import_module("litellm")
    litellm.suppress_debug_info = True
    ask = {"model": "openai/m", "messages": _MESSAGES, "stream": True, "max_retries": 0, "api_key": "unused"}
    client = sdk_client("openai.OpenAI", reads)

    def read() -> Result:
        chunks = list(litellm.completion(**ask, base_url="http://127.0.0.1/v1", client=client))
        return _chat_message(litellm.stream_chunk_builder(chunks, messages=_MESSAGES).choices[0].message)

    return read


def _llmstream(reads: Reads) -> Read:
    iter_events = importlib.import_module("llmstream").iter_events

    def read() -> Result:
        text: list[str] = []
        calls: list[tuple[str, str, Any]] = []
        for event in iter_events(reads):
            if event.type == "delta":
                text.append(event.text)
            elif event.type == "tool_call_complete":
                calls.append((event.id, event.name, event.arguments))
        return Result("".join(text), calls)

    return read


def _parser(deltas: Reads, module: str) -> Read:
    return partial(live.RIVALS[module], deltas)


def _of(make: Callable[..., Read], dialect: str) -> Callable[[Reads], Read]:
    return partial(make, dialect=dialect)


_OPENAI = (("openai",), ("openai",))
_CLAUDE = (("anthropic",), ("anthropic",))
_PYDANTIC_OPENAI = (("pydantic-ai-slim",), ("pydantic_ai", "openai"))
_PYDANTIC_CLAUDE = (("pydantic-ai-slim",), ("pydantic_ai", "anthropic"))
_LANG_OPENAI = (("langchain-core", "langchain-openai"), ("langchain_openai",))
_LANG_CLAUDE = (("langchain-core", "langchain-anthropic"), ("langchain_anthropic",))
_LLMSTREAM = (("llmstream",), ("llmstream",))

READERS: tuple[Reader, ...] = (
    *(
        reader
        for dialect in (CHAT, ANTHROPIC, RESPONSES)
        for reader in (
            Reader(BEHIND_HTTP, dialect, (), (http_library(),), _behind_http),
            Reader(NAIVE_LOOP, dialect, (), (), _of(_naive, dialect)),
            Reader(MSGSPEC_LOOP, dialect, ("msgspec",), (), _of(_msgspec, dialect)),
        )
    ),
    Reader("llmstream", CHAT, *_LLMSTREAM, _llmstream),
    Reader("openai create()", CHAT, *_OPENAI, _chat_create),
    Reader("openai .stream()", CHAT, *_OPENAI, _chat_stream),
    Reader("pydantic-ai", CHAT, *_PYDANTIC_OPENAI, _of(_pydantic_ai, CHAT)),
    Reader("langchain", CHAT, *_LANG_OPENAI, _of(_langchain, CHAT)),
    Reader("litellm", CHAT, ("litellm",), ("litellm",), _litellm),
    Reader("llmstream", ANTHROPIC, *_LLMSTREAM, _llmstream),
    Reader("anthropic create()", ANTHROPIC, *_CLAUDE, _anthropic_create),
    Reader("anthropic .stream()", ANTHROPIC, *_CLAUDE, _anthropic_stream),
    Reader("pydantic-ai", ANTHROPIC, *_PYDANTIC_CLAUDE, _of(_pydantic_ai, ANTHROPIC)),
    Reader("langchain", ANTHROPIC, *_LANG_CLAUDE, _of(_langchain, ANTHROPIC)),
    Reader("openai create()", RESPONSES, *_OPENAI, _responses_create),
    Reader("openai .stream()", RESPONSES, *_OPENAI, _responses_stream),
    Reader("pydantic-ai", RESPONSES, *_PYDANTIC_OPENAI, _of(_pydantic_ai, RESPONSES)),
    Reader("langchain", RESPONSES, *_LANG_OPENAI, _of(_langchain, RESPONSES)),
    Reader("jiter", LIVE, ("jiter",), ("jiter",), partial(_parser, module="jiter")),
    Reader(
        "partial-json-parser",
        LIVE,
        ("partial-json-parser",),
        ("partial_json_parser",),
        partial(_parser, module="partial_json_parser"),
    ),
    Reader("json_repair", LIVE, ("json_repair",), ("json_repair",), partial(_parser, module="json_repair")),
)
